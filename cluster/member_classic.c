/*
 * The classic protocol: JoinGroup, in which the coordinator waits for all members, SyncGroup, in
 * which one of them says who gets what, and heartbeats.
 */
#include <stdlib.h>

#include "cluster/member_parts.h"
#include "cluster/roster.h"

enum { SUBSCRIPTION_VERSION = KRC_SUBSCRIPTION_NEWEST };

/* Where an assignor of ours asks that all is given up before, the group cannot spare us that,
 * whichever it chooses. */
bool krc_member_is_cooperative(const struct krc_membership *member)
{
    for (int i = 0; i < member->settings.assignor_count; i++)
        if (!member->settings.assignors[i]->cooperative)
            return false;
    return true;
}

static enum krc_member_event rebalance(const struct krc_membership *member)
{
    return krc_member_is_cooperative(member) ? KRC_MEMBER_ON_REBALANCE
                                             : KRC_MEMBER_ON_REBALANCE_EAGER;
}

/* Of the error codes that all three answers may have. */
static enum krc_call_verdict judge(struct krc_membership *member, int16_t code)
{
    switch (code) {
    case KRC_KAFKA_REBALANCE_IN_PROGRESS:
        member->event = rebalance(member);
        return KRC_CALL_DONE;
    case KRC_KAFKA_UNKNOWN_MEMBER_ID: /* we are to be somebody else */
        krc_member_forget_name(member);
        member->event = KRC_MEMBER_ON_FENCED;
        return KRC_CALL_DONE;
    case KRC_KAFKA_ILLEGAL_GENERATION: /* as somebody else, we would be in the group twice */
        member->event = KRC_MEMBER_ON_FENCED;
        return KRC_CALL_DONE;
    default:
        break;
    }
    enum krc_call_verdict verdict = krc_call_judge(&member->call, code);
    if (verdict == KRC_CALL_DONE && code != 0)
        krc_member_deny(member, code, (struct krc_bytes){NULL, 0});
    return verdict;
}

/* ---- JoinGroup ------------------------------------------------------------------------------ */

static bool is_us(const struct krc_membership *member, struct krc_bytes id)
{
    return krc_bytes_compare(id, krc_bytes_of(member->member_id)) == 0;
}

static enum krc_call_verdict accept(struct krc_membership *member,
                                    const struct krc_join_group_response *r)
{
    krc_error error;
    struct krc_roster *roster = NULL;
    if (!krc_member_name_us(member, r->member_id))
        return KRC_CALL_RETRY;
    if (is_us(member, r->leader)) {
        int rc = krc_roster_new(&roster, member->cluster, r, &error);
        if (rc == KRC_E_NOMEM)
            return KRC_CALL_RETRY;
        if (rc < 0) {
            krc_member_deny(member, KRC_KAFKA_INCONSISTENT_GROUP_PROTOCOL,
                            krc_bytes_of(error.message));
            member->call.rc = KRC_E_REFUSED;
            return KRC_CALL_DONE;
        }
    }
    krc_roster_free(member->roster);
    member->roster = roster;
    member->skips_assignment = r->skip_assignment;
    member->epoch = r->generation_id;
    member->assignor = krc_assignor_find(r->protocol_name);
    member->event = KRC_MEMBER_ON_ACCEPTED;
    return KRC_CALL_DONE;
}

static enum krc_call_verdict joined(struct krc_call *call, const struct krc_answer *answer,
                                    int16_t *code)
{
    struct krc_membership *member = call->arg;
    const struct krc_join_group_response *r = answer->response;
    *code = r->error_code;
    switch (r->error_code) {
    case 0:
        return accept(member, r);
    case KRC_KAFKA_MEMBER_ID_REQUIRED:
        if (member->member_id != NULL) /* it was given one before */
            krc_backoff_repeat(member->cluster, &member->backoff);
        member->event = KRC_MEMBER_ON_NAMED;
        return krc_member_name_us(member, r->member_id) ? KRC_CALL_DONE : KRC_CALL_RETRY;
    default:
        return judge(member, r->error_code);
    }
}

/* What is held, or was assigned last, by topic; both lists are sorted so. */
struct claimed {
    const char *topic;
    int32_t partition;
};

static int by_place(const void *left, const void *right)
{
    const struct claimed *a = left, *b = right;
    int order = strcmp(a->topic, b->topic);
    return order != 0 ? order : (a->partition > b->partition) - (a->partition < b->partition);
}

static bool put_claims(struct krc_membership *member, struct claimed *list, size_t count,
                       struct krc_claims *claims)
{
    claims->topics = krc_arena_take(&member->arena, (count + 1) * sizeof *claims->topics);
    int32_t *partitions = krc_arena_take(&member->arena, (count + 1) * sizeof *partitions);
    if (claims->topics == NULL || partitions == NULL)
        return false;
    qsort(list, count, sizeof *list, by_place);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(list[i].topic, list[i - 1].topic) != 0)
            claims->topics[claims->topic_count++] = (struct krc_topic_partitions){
                .topic = krc_bytes_of(list[i].topic), .partitions = &partitions[i]};
        partitions[i] = list[i].partition;
        claims->topics[claims->topic_count - 1].partition_count++;
    }
    return true;
}

static bool claim_held(struct krc_membership *member, struct krc_claims *claims)
{
    struct claimed *list =
        krc_arena_take(&member->arena, (member->held_count + 1) * sizeof *list);
    for (size_t i = 0; list != NULL && i < member->held_count; i++)
        list[i] = (struct claimed){member->held[i].topic->name, member->held[i].partition};
    return list != NULL && put_claims(member, list, member->held_count, claims);
}

static bool claim_assigned(struct krc_membership *member, struct krc_claims *claims)
{
    struct claimed *list =
        krc_arena_take(&member->arena, (member->assigned_count + 1) * sizeof *list);
    for (size_t i = 0; list != NULL && i < member->assigned_count; i++)
        list[i] = (struct claimed){member->assigned[i].name, member->assigned[i].partition};
    return list != NULL && put_claims(member, list, member->assigned_count, claims);
}

/* Appends our subscription, as one assignor wants it. */
static int put_subscription(struct krc_membership *member, const struct krc_assignor *assignor,
                            krc_error *error)
{
    struct krc_claims held = {.generation = member->epoch}, last = held;
    struct krc_subscription s = {.generation = member->epoch,
                                 .rack = krc_bytes_or_null(member->settings.rack)};
    struct krc_buffer data = {0};
    s.topics = krc_arena_take(&member->arena, (member->topic_count + 1) * sizeof *s.topics);
    if (s.topics == NULL || !claim_held(member, &held) || !claim_assigned(member, &last))
        return krc_fail_nomem(error, sizeof s);
    for (size_t i = 0; i < member->topic_count; i++)
        s.topics[s.topic_count++] = krc_bytes_of(member->topics[i]);
    s.owned = held.topics;
    s.owned_count = held.topic_count;
    int rc = krc_assignor_user_data(assignor, &last, &data, &s.user_data, error);
    if (rc >= 0)
        rc = krc_subscription_write(&member->bytes, SUBSCRIPTION_VERSION, &s, error);
    krc_buffer_free(&data);
    return rc;
}

static bool put_protocols(struct krc_membership *member, struct krc_join_group_request *r)
{
    krc_error error;
    int count = member->settings.assignor_count;
    r->protocols = krc_arena_take(&member->arena, (size_t)(count + 1) * sizeof *r->protocols);
    if (r->protocols == NULL)
        return false;
    for (int i = 0; i < count; i++) {
        size_t before = member->bytes.len;
        if (put_subscription(member, member->settings.assignors[i], &error) < 0)
            return false;
        r->protocols[r->protocol_count++] = (struct krc_join_group_protocol){
            .name = krc_bytes_of(member->settings.assignors[i]->name),
            .metadata = {NULL, member->bytes.len - before}};
    }
    const uint8_t *at = member->bytes.data; /* which stays from here on */
    for (int i = 0; i < count; i++) {
        r->protocols[i].metadata.data = at;
        at += r->protocols[i].metadata.len;
    }
    return true;
}

/* Before the next attempt, should there be no memory for this one. */
static void begin_request(struct krc_membership *member)
{
    krc_call_drop(&member->call);
    krc_arena_reset(&member->arena);
    member->bytes.len = 0;
    member->beat_ms = member->cluster->now_ms + member->cluster->settings.retry_backoff_ms;
}

void krc_member_join_classic(struct krc_membership *member)
{
    struct krc_join_group_request *r = &member->request.join;
    begin_request(member);
    if (!krc_member_knows_topics(member)) {
        krc_metadata_refresh(member->cluster);
        return;
    }
    (void)krc_member_find_topics(member);
    *r = (struct krc_join_group_request){
        .group = krc_bytes_of(member->settings.group),
        .session_timeout_ms = (int32_t)member->settings.session_timeout_ms,
        .rebalance_timeout_ms = (int32_t)member->settings.max_poll_interval_ms,
        .member_id = krc_bytes_of(member->member_id == NULL ? "" : member->member_id),
        .instance_id = krc_bytes_or_null(member->settings.instance_id),
        .protocol_type = krc_bytes_of("consumer")};
    if (put_protocols(member, r))
        krc_member_send(member, KRC_API_JOIN_GROUP, r, r->rebalance_timeout_ms, joined);
}

/* ---- SyncGroup ------------------------------------------------------------------------------ */

static bool keep_assignment(struct krc_membership *member, const struct krc_assignment *from)
{
    static const struct krc_uuid none;
    size_t count = 0;
    for (int32_t t = 0; t < from->topic_count; t++)
        count += (size_t)from->topics[t].partition_count;
    if (!krc_member_assign_anew(member, count))
        return false;
    for (int32_t t = 0; t < from->topic_count; t++) {
        const struct krc_topic_partitions *topic = &from->topics[t];
        if (!krc_topic_name_is_good(member->cluster, topic->topic))
            continue; /* the group's leader may be anybody */
        for (int32_t i = 0; i < topic->partition_count; i++)
            if (!krc_member_assign(member, topic->topic, &none, topic->partitions[i]))
                return false;
    }
    return true;
}

static enum krc_call_verdict take_share(struct krc_membership *member, struct krc_bytes bytes)
{
    struct krc_assignment assignment = {0};
    struct krc_arena arena = {0};
    krc_error error;
    int rc = bytes.len == 0 ? KRC_OK : krc_assignment_read(bytes, &assignment, &arena, &error);
    bool kept = rc >= 0 && keep_assignment(member, &assignment);
    krc_arena_free(&arena);
    if (rc == KRC_E_CORRUPT) {
        krc_member_deny(member, KRC_KAFKA_INCONSISTENT_GROUP_PROTOCOL,
                        krc_bytes_of(error.message));
        member->call.rc = KRC_E_REFUSED;
        return KRC_CALL_DONE;
    }
    if (kept)
        member->event = krc_member_judge_assignment(member);
    return kept ? KRC_CALL_DONE : KRC_CALL_RETRY;
}

static enum krc_call_verdict synced(struct krc_call *call, const struct krc_answer *answer,
                                    int16_t *code)
{
    const struct krc_sync_group_response *r = answer->response;
    *code = r->error_code;
    return r->error_code == 0 ? take_share(call->arg, r->assignment)
                              : judge(call->arg, r->error_code);
}

static bool is_leader(const struct krc_membership *member)
{
    return member->roster != NULL && member->assignor != NULL;
}

/* The plan, of the leader. */
static bool put_plan(struct krc_membership *member, struct krc_sync_group_request *r)
{
    krc_error error;
    size_t count = (size_t)member->roster->member_count;
    r->assignments = krc_arena_take(&member->arena, (count + 1) * sizeof *r->assignments);
    if (r->assignments == NULL || krc_roster_plan(member->roster, member->cluster, member->assignor,
                                                  &member->bytes, r->assignments, &error) < 0)
        return false;
    r->assignment_count = member->skips_assignment ? 0 : (int32_t)count;
    return true;
}

void krc_member_sync_classic(struct krc_membership *member)
{
    struct krc_sync_group_request *r = &member->request.sync;
    begin_request(member);
    if (is_leader(member) && !krc_roster_is_known(member->roster, member->cluster)) {
        krc_metadata_refresh(member->cluster);
        return;
    }
    *r = (struct krc_sync_group_request){
        .group = krc_bytes_of(member->settings.group),
        .generation_id = member->epoch,
        .member_id = krc_bytes_of(member->member_id),
        .instance_id = krc_bytes_or_null(member->settings.instance_id),
        .protocol_type = krc_bytes_of("consumer"),
        .protocol_name =
            krc_bytes_or_null(member->assignor == NULL ? NULL : member->assignor->name)};
    if (!is_leader(member) || put_plan(member, r))
        krc_member_send(member, KRC_API_SYNC_GROUP, r, member->settings.max_poll_interval_ms,
                        synced);
}

bool krc_member_plan_is_old(const struct krc_membership *member)
{
    return is_leader(member) && krc_roster_is_old(member->roster, member->cluster);
}

/* ---- Heartbeat ------------------------------------------------------------------------------ */

static enum krc_call_verdict heard(struct krc_call *call, const struct krc_answer *answer,
                                   int16_t *code)
{
    const struct krc_heartbeat_response *r = answer->response;
    *code = r->error_code;
    return judge(call->arg, r->error_code);
}

void krc_member_beat_classic(struct krc_membership *member)
{
    struct krc_heartbeat_request *r = &member->request.beat;
    begin_request(member);
    *r = (struct krc_heartbeat_request){
        .group = krc_bytes_of(member->settings.group),
        .generation_id = member->epoch,
        .member_id = krc_bytes_of(member->member_id),
        .instance_id = krc_bytes_or_null(member->settings.instance_id)};
    krc_member_send(member, KRC_API_HEARTBEAT, r, 0, heard);
}
