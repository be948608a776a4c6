#include "consumer/cluster_check.h"

#include <string.h>

#include "consumer/ledger.h"

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

int krc_take_cluster(struct krc_store *store, const krc_config *config, const char *cluster_id,
                     krc_error *error)
{
    const char *group = krc_store_group(config);
    int rc = krc_check_cluster(store, group, cluster_id, error);
    return rc == KRC_E_MISMATCH && config->moved_cluster ? move(store, group, cluster_id, error)
                                                         : rc;
}

int krc_claim_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                      krc_error *error)
{
    int rc = krc_check_cluster(store, group, cluster_id, error);
    return rc == 1 ? krc_store_put_cluster(store, group, cluster_id, error) : rc;
}
