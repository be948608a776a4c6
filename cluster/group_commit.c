#include "cluster/group_commit.h"

#include "cluster/cluster.h"

/* ---- The answer ----------------------------------------------------------------------------- */

static bool still_held(const struct krc_group_commit *commit)
{
    const struct krc_membership *member = commit->member;
    if (member == NULL)
        return true;
    if (member->losses != commit->losses)
        return false; /* what we hold by now, others may have had in between */
    for (size_t i = 0; i < commit->count; i++)
        if (!krc_member_holds(member, commit->entries[i].topic, commit->entries[i].partition))
            return false;
    return true;
}

/* The coordinator may be a generation ahead of what we know, or be about to begin one in which we
 * keep what we hold: then the same is committed again as a member of that. */
static bool is_of_another_generation(int16_t code)
{
    return code == KRC_KAFKA_ILLEGAL_GENERATION || code == KRC_KAFKA_STALE_MEMBER_EPOCH ||
           code == KRC_KAFKA_REBALANCE_IN_PROGRESS;
}

static bool is_fenced(int16_t code)
{
    return code == KRC_KAFKA_UNKNOWN_MEMBER_ID || code == KRC_KAFKA_FENCED_INSTANCE_ID ||
           code == KRC_KAFKA_FENCED_MEMBER_EPOCH;
}

/* Whether we may be, or become, a member of that generation. */
static bool may_catch_up(const struct krc_group_commit *commit, int16_t code)
{
    const struct krc_membership *member = commit->member;
    return code != KRC_KAFKA_ILLEGAL_GENERATION ||
           member->epoch != commit->request.member_epoch ||
           member->state == KRC_MEMBER_JOINING || member->state == KRC_MEMBER_SYNCING;
}

/* It may be there again, as another one. */
static bool is_gone(int16_t code)
{
    return code == KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION || code == KRC_KAFKA_UNKNOWN_TOPIC_ID;
}

static enum krc_call_verdict judge(struct krc_group_commit *commit, int16_t code)
{
    struct krc_membership *member = commit->member;
    if (commit->once && is_gone(code)) {
        commit->call.rc = KRC_E_REFUSED;
        return KRC_CALL_DONE;
    }
    if (member != NULL && is_of_another_generation(code) && may_catch_up(commit, code)) {
        krc_member_hurry(member);
        return KRC_CALL_RETRY;
    }
    if (member != NULL && (is_fenced(code) || is_of_another_generation(code))) {
        krc_member_hurry(member); /* a heartbeat is told the same */
        commit->call.rc = KRC_E_FENCED;
        return KRC_CALL_DONE;
    }
    return krc_call_judge(&commit->call, code);
}

static struct krc_commit_entry *entry_of(const struct krc_group_commit *commit,
                                         const struct krc_topic *topic, int32_t partition)
{
    for (size_t i = 0; topic != NULL && i < commit->count; i++)
        if (commit->entries[i].topic == topic && commit->entries[i].partition == partition)
            return &commit->entries[i];
    return NULL;
}

/* The worst that is said of a partition decides: what may be asked again, before what is
 * refused. */
static int16_t worse(int16_t a, int16_t b)
{
    if (a == 0 || b == 0)
        return a != 0 ? a : b;
    return krc_kafka_error_retriable(b) && !krc_kafka_error_retriable(a) ? b : a;
}

static int16_t take_entries(struct krc_group_commit *commit, struct krc_cluster *cluster,
                            const struct krc_offset_commit_response *r, int16_t version)
{
    for (size_t i = 0; i < commit->count; i++) /* what nothing is said of */
        commit->entries[i].error_code = KRC_KAFKA_UNKNOWN_SERVER_ERROR;
    for (int32_t t = 0; t < r->topic_count; t++) {
        const struct krc_topic *topic = version >= 10
                                            ? krc_topic_find_id(cluster, &r->topics[t].id)
                                            : krc_topic_find(cluster, r->topics[t].name);
        for (int32_t i = 0; i < r->topics[t].partition_count; i++) {
            const struct krc_offset_commit_partition *p = &r->topics[t].partitions[i];
            struct krc_commit_entry *entry = entry_of(commit, topic, p->index);
            if (entry != NULL)
                entry->error_code = p->error_code;
        }
    }
    int16_t worst = 0;
    for (size_t i = 0; i < commit->count; i++)
        worst = worse(worst, commit->entries[i].error_code);
    return worst;
}

static enum krc_call_verdict committed(struct krc_call *call, const struct krc_answer *answer,
                                       int16_t *code)
{
    struct krc_group_commit *commit = call->arg;
    *code = take_entries(commit, commit->coordinator->cluster, answer->response, answer->version);
    if (*code == 0)
        return KRC_CALL_DONE;
    enum krc_call_verdict verdict = judge(commit, *code);
    if (verdict != KRC_CALL_DONE && !still_held(commit)) {
        call->rc = KRC_E_FENCED;
        return KRC_CALL_DONE;
    }
    if (commit->member != NULL)
        commit->request.member_epoch = commit->member->epoch;
    return verdict;
}

int krc_group_commit_explain(const struct krc_group_commit *commit, krc_error *error)
{
    const struct krc_call *call = &commit->call;
    if (call->rc == KRC_E_FENCED)
        return krc_fail(error, call->rc, "the group has taken partitions away before their offsets "
                        "were committed (%s)", krc_kafka_error_name(call->error_code));
    if (commit->member == NULL && call->error_code == KRC_KAFKA_UNKNOWN_MEMBER_ID)
        return krc_fail(error, call->rc, "group %s has members, and takes no commits from others",
                        commit->coordinator->key);
    for (size_t i = 0; i < commit->count; i++) {
        const struct krc_commit_entry *e = &commit->entries[i];
        if (e->error_code == 0)
            continue;
        (void)krc_fail(error, call->rc, "%s-%d: offset %lld cannot be committed to group %s: the "
                       "coordinator answers %s (%s)", e->topic->name, (int)e->partition,
                       (long long)e->offset, commit->coordinator->key,
                       krc_kafka_error_name(e->error_code), krc_kafka_error_text(e->error_code));
        krc_error_at(error, e->topic->name, e->partition, e->offset, -1);
        return call->rc;
    }
    return krc_call_explain(call, error);
}

/* ---- The request ---------------------------------------------------------------------------- */

static size_t same_topic(const struct krc_group_commit *commit, size_t from)
{
    size_t i = from;
    while (i < commit->count && commit->entries[i].topic == commit->entries[from].topic)
        i++;
    return i - from;
}

static bool put_entries(struct krc_group_commit *commit)
{
    struct krc_offset_commit_request *r = &commit->request;
    size_t count = commit->count + 1;
    r->topics = krc_arena_take(&commit->arena, count * sizeof *r->topics);
    struct krc_offset_commit_request_partition *partitions =
        krc_arena_take(&commit->arena, count * sizeof *partitions);
    if (r->topics == NULL || partitions == NULL)
        return false;
    for (size_t i = 0; i < commit->count; i++) {
        const struct krc_commit_entry *e = &commit->entries[i];
        partitions[i] = (struct krc_offset_commit_request_partition){
            .index = e->partition,
            .committed_offset = e->offset,
            .committed_leader_epoch = e->epoch,
            .metadata = krc_bytes_of(e->metadata == NULL ? "" : e->metadata)};
    }
    for (size_t i = 0; i < commit->count; i += same_topic(commit, i))
        r->topics[r->topic_count++] = (struct krc_offset_commit_request_topic){
            .name = krc_bytes_of(commit->entries[i].topic->name),
            .id = commit->entries[i].topic->id,
            .partitions = &partitions[i],
            .partition_count = (int32_t)same_topic(commit, i)};
    return true;
}

/* From version 10 on topics are named by their ids. */
static bool all_have_ids(const struct krc_group_commit *commit)
{
    for (size_t i = 0; i < commit->count; i++)
        if (krc_uuid_is_zero(&commit->entries[i].topic->id))
            return false;
    return true;
}

/* The member may be somebody else before the request is answered. */
static bool put_member(struct krc_group_commit *commit)
{
    const struct krc_membership *member = commit->member;
    if (member == NULL)
        return true;
    size_t len = strlen(member->member_id);
    uint8_t *id = krc_arena_take(&commit->arena, len + 1);
    if (id == NULL)
        return false;
    memcpy(id, member->member_id, len);
    commit->request.member_id = (struct krc_bytes){id, len};
    commit->request.member_epoch = member->epoch;
    commit->request.instance_id = krc_bytes_or_null(member->settings.instance_id);
    return true;
}

int krc_group_commit_begin(struct krc_group_commit *commit, struct krc_cluster *cluster,
                           krc_error *error)
{
    struct krc_membership *member = commit->member;
    commit->losses = member == NULL ? 0 : member->losses;
    if (!still_held(commit))
        return krc_fail(error, KRC_E_FENCED, "the group has taken partitions away before their "
                        "offsets were committed");
    commit->request = (struct krc_offset_commit_request){
        .group = krc_bytes_of(commit->coordinator->key),
        .member_epoch = -1,
        .member_id = krc_bytes_of("")};
    if (!put_member(commit) || !put_entries(commit))
        return krc_fail_nomem(error, commit->count * sizeof *commit->entries);
    commit->call = (struct krc_call){.coordinator = commit->coordinator,
                                     .node_id = -1,
                                     .purpose = KRC_FOR_QUESTIONS,
                                     .api = KRC_API_OFFSET_COMMIT,
                                     .highest = all_have_ids(commit) ? 0 : 9,
                                     .request = &commit->request,
                                     .again = commit->once ? KRC_IF_ANSWERED : KRC_ALWAYS,
                                     .take = committed,
                                     .arg = commit};
    krc_call_begin(cluster, &commit->call);
    return KRC_OK;
}

void krc_group_commit_end(struct krc_group_commit *commit)
{
    krc_call_drop(&commit->call);
    krc_arena_free(&commit->arena);
}
