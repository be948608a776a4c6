#include "consumer/cluster_check.h"

#include <string.h>

#include "base/place.h"

const char *krc_cluster_id_here(const struct krc_cluster_here *here)
{
    if (here->net != NULL)
        return here->net->cluster.cluster_id;
    for (size_t i = 0; i < here->places->count; i++)
        if (here->places->list[i].cluster_id[0] != '\0')
            return here->places->list[i].cluster_id;
    return "";
}

bool krc_topic_id_here(const struct krc_cluster_here *here, const char *topic, int32_t partition,
                       struct krc_uuid *id)
{
    *id = (struct krc_uuid){{0}};
    if (here->net != NULL) {
        const struct krc_topic *found = krc_topic_having(&here->net->cluster, topic, partition);
        if (found != NULL)
            *id = found->id;
        return found != NULL;
    }
    const struct krc_log_place *place = krc_log_places_get(here->places, topic, partition);
    if (place != NULL)
        *id = place->topic_id;
    return place != NULL;
}

int krc_check_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                      krc_error *error)
{
    const char *known;
    if (cluster_id[0] == '\0')
        return 0;
    int rc = krc_store_load_cluster(store, group, &known, error);
    if (rc <= 0)
        return rc < 0 ? rc : 1;
    if (strcmp(known, cluster_id) == 0)
        return 0;
    return krc_fail(error, KRC_E_MISMATCH,
                    "the offsets of group \"%s\" in the offset store were read from cluster "
                    "\"%s\", and this is cluster \"%s\": use another store or group; if the topics "
                    "moved here with their offsets, say so (--moved-cluster, "
                    "offset.store.moved.cluster=true)", group, known, cluster_id);
}

static int move(struct krc_store *store, const char *group, const char *cluster_id,
                krc_error *error)
{
    KRC_TRY(krc_store_begin(store, error));
    int rc = krc_store_move(store, group, cluster_id, error);
    if (rc >= 0)
        rc = krc_store_commit(store, error);
    if (rc < 0)
        krc_store_rollback(store);
    return rc;
}

/* ---- By topic ids ---------------------------------------------------------------------------- */

struct comparison {
    const struct krc_cluster_here *here;
    size_t same, other, unknown; /* partitions, by their topics' ids */
};

static int compare(void *arg, const char *group, const char *topic, int32_t partition,
                   const struct krc_stored *stored)
{
    struct comparison *c = arg;
    struct krc_uuid id;
    (void)group;
    if (!krc_topic_id_here(c->here, topic, partition, &id))
        return 0;
    if (krc_uuid_is_zero(&id) || krc_uuid_is_zero(&stored->topic_id))
        c->unknown++;
    else if (krc_uuid_equal(&id, &stored->topic_id))
        c->same++;
    else
        c->other++;
    return 0;
}

int krc_compare_topic_ids(struct krc_store *store, const char *group,
                          const struct krc_cluster_here *here, bool needs_proof, krc_error *error)
{
    struct comparison c = {.here = here};
    KRC_TRY(krc_store_each(store, group, compare, &c, error));
    if (c.same > 0 || (c.other == 0 && (c.unknown == 0 || !needs_proof)))
        return KRC_OK;
    return krc_fail(error, KRC_E_MISMATCH,
                    "which cluster the offsets of group \"%s\" were read from is not known, and %s "
                    "those of cluster \"%s\": use another store, group or target; if the topics "
                    "moved here with their offsets, or it is the same cluster, say so "
                    "(--moved-cluster, offset.store.moved.cluster=true)%s", group,
                    c.other > 0 ? "all topic ids differ from"
                                : "there are no topic ids to be compared with",
                    krc_cluster_id_here(here),
                    c.other > 0 ? "; if all topics were recreated, reset the group" : "");
}

/* ---- Reading on ------------------------------------------------------------------------------ */

int krc_take_cluster(struct krc_store *store, const char *group,
                     const struct krc_cluster_here *here, krc_error *error)
{
    const char *cluster_id = krc_cluster_id_here(here);
    int rc = krc_check_cluster(store, group, cluster_id, error);
    if (rc == 1) {
        int compared = krc_compare_topic_ids(store, group, here, false, error);
        rc = compared < 0 ? compared : rc;
    }
    return rc == KRC_E_MISMATCH && here->moved ? move(store, group, cluster_id, error) : rc;
}

int krc_claim_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                      krc_error *error)
{
    int rc = krc_check_cluster(store, group, cluster_id, error);
    return rc == 1 ? krc_store_put_cluster(store, group, cluster_id, error) : rc;
}
