/*
 * Calls of a cluster that are waited for, and joining a group of it.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/group_commit.h"
#include "consumer/config_values.h"
#include "consumer/net.h"

int krc_net_call(struct krc_net *net, struct krc_call *call, krc_error *error)
{
    int64_t deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
    int rc = KRC_OK;
    krc_call_begin(&net->cluster, call);
    while (rc >= 0 && call->state != KRC_CALL_TOLD)
        rc = krc_net_wait(net, deadline_ms, "there was no answer", error);
    if (call->state == KRC_CALL_TOLD && call->rc < 0)
        rc = krc_call_explain(call, error);
    krc_call_drop(call);
    return rc;
}

int krc_net_commit(struct krc_net *net, struct krc_group_commit *commit, krc_error *error)
{
    int64_t deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
    int rc = krc_group_commit_begin(commit, &net->cluster, error);
    while (rc >= 0 && commit->call.state != KRC_CALL_TOLD)
        rc = krc_net_wait(net, deadline_ms, "the group's coordinator did not answer", error);
    if (commit->call.state == KRC_CALL_TOLD && commit->call.rc < 0)
        rc = krc_group_commit_explain(commit, error);
    krc_group_commit_end(commit);
    return rc;
}

/* Of partition.assignment.strategy, which was checked when it was set. */
static int assignors_of(const krc_config *config, const struct krc_assignor **list)
{
    const char *text = krc_config_text(config, "partition.assignment.strategy");
    struct krc_bytes name;
    int count = 0;
    while (count < KRC_ASSIGNORS_MOST && (list[count] = krc_next_assignor(&text, &name)) != NULL)
        count++;
    return count;
}

static struct krc_member_settings settings_of(const krc_config *c)
{
    struct krc_member_settings settings = {
        .group = c->group_id,
        .instance_id = krc_config_text(c, "group.instance.id"),
        .rack = c->client_rack,
        .server_assignor = krc_config_text(c, "group.remote.assignor"),
        .is_classic = c->group_protocol == 0,
        .exclude_internal_topics = c->exclude_internal_topics != 0,
        .session_timeout_ms = c->session_timeout_ms,
        .heartbeat_interval_ms = c->heartbeat_interval_ms,
        .max_poll_interval_ms = c->max_poll_interval_ms,
    };
    settings.assignor_count = assignors_of(c, settings.assignors);
    return settings;
}

int krc_net_join(struct krc_net *net, const char *const *topics, size_t count, krc_error *error)
{
    struct krc_member_settings settings = settings_of(net->config);
    struct krc_membership *member;
    KRC_TRY(krc_member_open(&member, &net->cluster, &settings, error));
    int rc = KRC_OK;
    for (size_t i = 0; rc >= 0 && i < count; i++)
        rc = krc_member_subscribe(member, topics[i], error);
    if (rc < 0) {
        krc_member_close(member);
        return rc;
    }
    net->cluster.now_ms = krc_loop_now_ms();
    krc_member_join(member);
    return KRC_OK;
}

/* ---- What the group has committed ----------------------------------------------------------- */

struct fetching {
    struct krc_net *net;
    struct krc_net_committed *list;
    size_t count;
    struct krc_offset_fetch_request request;
    struct krc_arena arena;
};

static struct krc_net_committed *find(const struct fetching *f, const struct krc_topic *topic,
                                      int32_t partition)
{
    for (size_t i = 0; topic != NULL && i < f->count; i++)
        if (f->list[i].topic == topic && f->list[i].partition == partition)
            return &f->list[i];
    return NULL;
}

/* An error code of the partition's. */
static int16_t take_one(struct krc_net_committed *c, const struct krc_offset_fetch_partition *from,
                        bool by_id)
{
    static const struct krc_uuid none;
    if (c == NULL || from->error_code != 0)
        return from->error_code;
    c->offset = from->committed_offset;
    c->epoch = from->committed_leader_epoch;
    c->topic_id = by_id ? c->topic->id : none;
    free(c->metadata);
    c->metadata = from->metadata.data == NULL
                      ? NULL
                      : strndup((const char *)from->metadata.data, from->metadata.len);
    return 0;
}

static enum krc_call_verdict take_all(struct krc_call *call, const struct krc_answer *answer,
                                      int16_t *code)
{
    struct fetching *f = call->arg;
    const struct krc_offset_fetch_response *r = answer->response;
    bool by_id = answer->version >= 10;
    *code = r->error_code;
    for (int32_t t = 0; *code == 0 && t < r->topic_count; t++) {
        const struct krc_topic *topic =
            by_id ? krc_topic_find_id(&f->net->cluster, &r->topics[t].id)
                  : krc_topic_find(&f->net->cluster, r->topics[t].name);
        for (int32_t i = 0; *code == 0 && i < r->topics[t].partition_count; i++)
            *code = take_one(find(f, topic, r->topics[t].partitions[i].index),
                             &r->topics[t].partitions[i], by_id);
    }
    return krc_call_judge(call, *code);
}

static bool put_request(struct fetching *f)
{
    struct krc_offset_fetch_request *r = &f->request;
    r->group = krc_bytes_of(f->net->config->group_id);
    r->require_stable = true;
    r->topics = krc_arena_take(&f->arena, (f->count + 1) * sizeof *r->topics);
    for (size_t i = 0; r->topics != NULL && i < f->count; i++)
        r->topics[r->topic_count++] = (struct krc_offset_fetch_request_topic){
            .name = krc_bytes_of(f->list[i].topic->name),
            .id = f->list[i].topic->id,
            .partitions = &f->list[i].partition,
            .partition_count = 1};
    return r->topics != NULL;
}

static bool all_have_ids(const struct fetching *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (krc_uuid_is_zero(&f->list[i].topic->id))
            return false;
    return true;
}

int krc_net_fetch_committed(struct krc_net *net, struct krc_net_committed *list, size_t count,
                            krc_error *error)
{
    struct fetching f = {.net = net, .list = list, .count = count};
    for (size_t i = 0; i < count; i++) {
        list[i].offset = -1;
        list[i].epoch = -1;
    }
    int rc = count == 0 || put_request(&f) ? KRC_OK : krc_fail_nomem(error, count);
    if (rc >= 0 && count > 0) {
        struct krc_call call = {
            .coordinator = krc_coordinator_of(&net->cluster, KRC_GROUP, net->config->group_id),
            .node_id = -1,
            .api = KRC_API_OFFSET_FETCH,
            .highest = all_have_ids(&f) ? 0 : 9,
            .request = &f.request,
            .take = take_all,
            .arg = &f};
        rc = call.coordinator == NULL ? krc_fail_nomem(error, 1) : krc_net_call(net, &call, error);
    }
    krc_arena_free(&f.arena);
    return rc;
}
