/*
 * Committed offsets of a store, in and out.  Where a log is at hand, they have to be of its
 * cluster: offsets of one mean nothing in another.
 */
#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "consumer/cluster_check.h"
#include "consumer/handle.h"
#include <krc-tools.h>

bool krc_source_has(const krc *source, const char *topic, int32_t partition, struct krc_uuid *id)
{
    struct krc_cluster_here here = krc_handle_here(source);
    struct krc_uuid unused;
    return krc_topic_id_here(&here, topic, partition, id != NULL ? id : &unused);
}

/* ---- Out of a store -------------------------------------------------------------------------- */

struct loading {
    krc_committed_list *list;
    krc_groups *groups;
    struct krc_store *store;
    const krc *source;
    bool only_one;  /* a group was named: what is wrong with it fails all */
    char *group;    /* that the rows are of now; NULL: none yet */
    bool is_other;  /* of another cluster: left out... */
    bool has_moved; /* ... or moved from there, where topic ids and leader epochs were others */
    krc_error *error;
};

static int leave_out(struct loading *l, const char *group)
{
    struct krc_group failed = {.id = group, .error = *l->error};
    l->is_other = true;
    return krc_groups_add(l->groups, &failed, l->error);
}

static int enter_group(struct loading *l, const char *group)
{
    free(l->group);
    l->group = strdup(group);
    l->is_other = l->has_moved = false;
    if (l->group == NULL)
        return krc_fail_nomem(l->error, strlen(group));
    int rc = l->source == NULL ? KRC_OK
                               : krc_check_cluster(l->store, group, krc_cluster_name(l->source),
                                                   l->error);
    if (rc == KRC_E_MISMATCH && l->source->config->moved_cluster)
        l->has_moved = true;
    else if (rc == KRC_E_MISMATCH && !l->only_one)
        return leave_out(l, group);
    else
        KRC_TRY(rc);
    return KRC_OK;
}

static int load_row(void *arg, const char *group, const char *topic, int32_t partition,
                    const struct krc_stored *stored)
{
    struct loading *l = arg;
    struct krc_committed row = {
        .group = group,
        .topic = topic,
        .partition = partition,
        .leader_epoch = stored->leader_epoch,
        .offset = stored->offset,
        .metadata = stored->metadata,
        .history = stored->history,
        .commit_time_ms = stored->commit_time_ms,
        .topic_id = stored->topic_id,
    };
    if (l->group == NULL || strcmp(l->group, group) != 0)
        KRC_TRY(enter_group(l, group));
    if (l->is_other)
        return 0;
    if (l->has_moved) {
        row.leader_epoch = -1;
        row.topic_id = (struct krc_uuid){{0}};
    }
    int rc = krc_committed_add(l->list, &row, l->error);
    return rc < 0 ? rc : 0;
}

int krc_committed_load(krc_committed_list *list, krc_groups *groups, const char *store,
                       const char *group, const krc *source, krc_error *error)
{
    struct loading loading = {
        .list = list, .groups = groups, .source = source, .only_one = group != NULL,
        .error = error};
    KRC_TRY(krc_store_open(&loading.store, store, KRC_STORE_READ_ONLY, error));
    int rc = krc_store_each(loading.store, group, load_row, &loading, error);
    krc_store_close(loading.store);
    free(loading.group);
    return rc;
}

/* ---- Into a store ---------------------------------------------------------------------------- */

struct saving {
    struct krc_store *store;
    const krc_committed_list *list;
    const struct krc_committed_place *to;
    const char *cluster; /* "": none is at hand, or its id is not known */
    krc_error *error;
};

static int check_carried(void *arg, const char *group, const char *topic, int32_t partition,
                         const struct krc_stored *stored)
{
    struct saving *s = arg;
    (void)stored;
    if (krc_committed_find(s->list, group, topic, partition) != NULL)
        return 0;
    return krc_fail(s->error, KRC_E_MISMATCH,
                    "group \"%s\" in %s cannot move to another cluster: %s-%d would stay behind; "
                    "nothing was changed; use another store or group", group, s->to->store, topic,
                    (int)partition);
}

/* The whole group leaves the cluster that its rows were read from. */
static int replace_cluster(struct saving *s, const char *group)
{
    if (s->cluster[0] == '\0')
        return krc_fail(s->error, KRC_E_MISMATCH,
                        "group \"%s\" in %s cannot move to a cluster whose id is not known; use "
                        "another store or group", group, s->to->store);
    KRC_TRY(krc_store_each(s->store, group, check_carried, s, s->error));
    return krc_store_move(s->store, group, s->cluster, s->error);
}

/* What was read from a cluster that nobody noted may be of another one than this. */
static int compare_topic_ids(const struct saving *s, const char *group)
{
    if (s->to->source == NULL)
        return KRC_OK;
    struct krc_cluster_here here = krc_handle_here(s->to->source);
    return here.moved ? KRC_OK : krc_compare_topic_ids(s->store, group, &here, false, s->error);
}

static int take_cluster(struct saving *s, const char *group)
{
    int rc = krc_check_cluster(s->store, group, s->cluster, s->error);
    if (rc < 0 && rc != KRC_E_MISMATCH)
        return rc;
    if (s->to->replaces && (rc != 0 || s->cluster[0] == '\0'))
        return replace_cluster(s, group);
    if (rc == KRC_E_MISMATCH && s->to->source->config->moved_cluster)
        return krc_store_move(s->store, group, s->cluster, s->error);
    if (rc != 1)
        return rc;
    KRC_TRY(compare_topic_ids(s, group));
    return krc_store_put_cluster(s->store, group, s->cluster, s->error);
}

/* Whether offsets of the row's are not those of the topic that is stored. */
static bool is_another_topic(const struct krc_stored *stored, const struct krc_uuid *topic_id)
{
    return krc_uuid_differs(&stored->topic_id, topic_id);
}

/* The offset will be read in the topic that is there now, whose id goes with it. */
static int find_topic_id(const struct saving *s, const struct krc_committed *row,
                         struct krc_uuid *topic_id)
{
    char given[KRC_UUID_LETTERS + 1], found[KRC_UUID_LETTERS + 1];
    *topic_id = row->topic_id;
    if (s->to->source == NULL)
        return KRC_OK;
    struct krc_uuid there;
    (void)krc_source_has(s->to->source, row->topic, row->partition, &there);
    if (krc_uuid_differs(&there, topic_id)) {
        krc_uuid_format(topic_id, given);
        krc_uuid_format(&there, found);
        return krc_fail(s->error, KRC_E_MISMATCH,
                        "%s-%d: offset %lld is of topic id %s, and the topic here has id %s: it "
                        "was recreated, or this is another cluster; leave the topic id out, if "
                        "the offset holds here", row->topic, (int)row->partition,
                        (long long)row->offset, given, found);
    }
    if (!krc_uuid_is_zero(&there))
        *topic_id = there;
    return KRC_OK;
}

/* The position that a row asks for, given the one there is. */
static struct krc_stored moved(const struct krc_stored *before, const struct krc_committed *row,
                               const struct krc_uuid *topic_id, int64_t now_ms)
{
    struct krc_stored after = *before;
    bool is_another = is_another_topic(before, topic_id);
    after.history += is_another;
    after.offset = row->offset;
    after.leader_epoch = is_another && krc_uuid_is_zero(&row->topic_id) ? -1 : row->leader_epoch;
    after.commit_time_ms = now_ms;
    after.settled = false;
    after.account = (struct krc_account){.from = row->offset, .to = row->offset};
    return after;
}

static int add_reset(const struct saving *s, const struct krc_committed *row, int64_t from,
                     int32_t history)
{
    struct krc_store_reset reset = {
        .time_ms = s->to->now_ms,
        .history = history,
        .from = from,
        .to = row->offset,
        .lost_from = row->offset,
        .lost_to = row->offset,
        .reason = s->to->reason,
    };
    KRC_TRY(krc_store_add_reset(s->store, row->group, row->topic, row->partition, &reset,
                                s->error));
    return krc_store_put_epochs(s->store, row->group, row->topic, row->partition, NULL, 0,
                                s->error);
}

/* A reader may have gone on since the list was made: it is not moved back unseen. */
static int check_unmoved(const struct saving *s, const struct krc_committed *row, int64_t found)
{
    if (s->to->before == NULL)
        return KRC_OK;
    const struct krc_committed *before =
        krc_committed_find(s->to->before, row->group, row->topic, row->partition);
    int64_t expected = before == NULL ? -1 : before->offset;
    if (found == expected)
        return KRC_OK;
    return krc_fail(s->error, KRC_E_MISMATCH,
                    "%s-%d: the committed offset of group \"%s\" in %s is %lld, and was %lld (-1: "
                    "none) before: another process commits for this group; nothing was changed; "
                    "stop it, and try again", row->topic, (int)row->partition, row->group,
                    s->to->store, (long long)found, (long long)expected);
}

static int save_row(const struct saving *s, const struct krc_committed *row)
{
    struct krc_uuid topic_id;
    struct krc_stored stored = {.offset = -1, .history = 1, .leader_epoch = -1, .metadata = ""};
    KRC_TRY(find_topic_id(s, row, &topic_id));
    KRC_TRY(krc_store_load(s->store, row->group, row->topic, row->partition, &stored, s->error));
    int64_t from = stored.offset;
    KRC_TRY(check_unmoved(s, row, from));
    if (from != row->offset || is_another_topic(&stored, &topic_id)) {
        stored = moved(&stored, row, &topic_id, s->to->now_ms);
        KRC_TRY(add_reset(s, row, from, stored.history));
    } else if (row->leader_epoch >= 0) {
        stored.leader_epoch = row->leader_epoch;
    }
    if (row->metadata != NULL)
        stored.metadata = row->metadata;
    if (!krc_uuid_is_zero(&topic_id))
        stored.topic_id = topic_id;
    return krc_store_put(s->store, row->group, row->topic, row->partition, &stored, s->error);
}

static int refuse_sink(const struct saving *s)
{
    int has_sink = krc_store_has_sink(s->store, s->error);
    if (has_sink <= 0)
        return has_sink;
    return krc_fail(s->error, KRC_E_STATE,
                    "%s belongs to a sink, which stands where its offsets are: if they moved, "
                    "records would be written twice or left out; replay into another place",
                    s->to->store);
}

static int save_rows(struct saving *s)
{
    const struct krc_committed *row, *before = NULL;
    KRC_TRY(krc_store_begin(s->store, s->error));
    KRC_TRY(refuse_sink(s));
    for (size_t i = 0; (row = krc_committed_at(s->list, i)) != NULL; before = row, i++) {
        if (before == NULL || strcmp(before->group, row->group) != 0)
            KRC_TRY(take_cluster(s, row->group));
        KRC_TRY(save_row(s, row));
    }
    return krc_store_commit(s->store, s->error);
}

int krc_committed_save(const krc_committed_list *list, const struct krc_committed_place *to,
                       krc_error *error)
{
    struct saving saving = {.list = list, .to = to, .error = error};
    saving.cluster = to->source == NULL ? "" : krc_cluster_name(to->source);
    KRC_TRY(krc_store_open(&saving.store, to->store, KRC_STORE_CREATE, error));
    int rc = save_rows(&saving);
    if (rc < 0)
        krc_store_rollback(saving.store);
    krc_store_close(saving.store);
    return rc;
}
