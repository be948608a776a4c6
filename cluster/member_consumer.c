/*
 * KIP-848: a heartbeat says what is new with us, and its answer what we may have.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cluster/cluster.h"
#include "cluster/member_parts.h"

enum { INTERVAL_LEAST_MS = 100 }; /* between heartbeats, whatever the coordinator says */

/* ---- The answer ----------------------------------------------------------------------------- */

static bool keep_assignment(struct krc_membership *member,
                            const struct krc_consumer_group_heartbeat_response *r)
{
    size_t count = 0;
    for (int32_t t = 0; t < r->assignment_count; t++)
        count += (size_t)r->assignment[t].partition_count;
    if (!krc_member_assign_anew(member, count))
        return false;
    for (int32_t t = 0; t < r->assignment_count; t++)
        for (int32_t i = 0; i < r->assignment[t].partition_count; i++)
            if (!krc_member_assign(member, (struct krc_bytes){NULL, 0}, &r->assignment[t].id,
                                  r->assignment[t].partitions[i]))
                return false;
    return true;
}

static enum krc_call_verdict accept(struct krc_membership *member,
                                    const struct krc_consumer_group_heartbeat_response *r)
{
    if (r->member_id.data != NULL && !krc_member_name_us(member, r->member_id))
        return KRC_CALL_RETRY;
    member->epoch = r->member_epoch;
    member->interval_ms =
        r->heartbeat_interval_ms > INTERVAL_LEAST_MS ? r->heartbeat_interval_ms : INTERVAL_LEAST_MS;
    if (r->assignment_count >= 0 && !keep_assignment(member, r))
        return KRC_CALL_RETRY;
    if (r->assignment_count >= 0 || member->state == KRC_MEMBER_JOINING)
        member->event = krc_member_judge_assignment(member);
    return KRC_CALL_DONE;
}

/* A static member whose predecessor did not say goodbye waits until the coordinator forgets it. */
static enum krc_call_verdict wait_for_predecessor(struct krc_membership *member)
{
    char text[200];
    snprintf(text, sizeof text, "another member with group.instance.id=%s is in the group, or was "
             "a moment ago: waiting until it is gone", member->settings.instance_id);
    if (!member->told_waiting)
        krc_cluster_note(member->cluster, "", text);
    member->told_waiting = true;
    return KRC_CALL_RETRY;
}

static enum krc_call_verdict heard(struct krc_call *call, const struct krc_answer *answer,
                                   int16_t *code)
{
    struct krc_membership *member = call->arg;
    const struct krc_consumer_group_heartbeat_response *r = answer->response;
    *code = r->error_code;
    switch (r->error_code) {
    case 0:
        return accept(member, r);
    case KRC_KAFKA_UNKNOWN_MEMBER_ID:
    case KRC_KAFKA_FENCED_MEMBER_EPOCH:
        member->event = KRC_MEMBER_ON_FENCED;
        return KRC_CALL_DONE;
    case KRC_KAFKA_UNRELEASED_INSTANCE_ID:
        return wait_for_predecessor(member);
    default:
        break;
    }
    enum krc_call_verdict verdict = krc_call_judge(call, r->error_code);
    if (verdict == KRC_CALL_DONE)
        krc_member_deny(member, r->error_code, r->error_message);
    return verdict;
}

/* ---- The request ---------------------------------------------------------------------------- */

/* The sorted partitions that are held, by topic. */
static bool put_held(struct krc_membership *member, struct krc_consumer_group_heartbeat_request *r)
{
    r->topics = krc_arena_take(&member->arena, (member->held_count + 1) * sizeof *r->topics);
    int32_t *partitions =
        krc_arena_take(&member->arena, (member->held_count + 1) * sizeof *partitions);
    if (r->topics == NULL || partitions == NULL)
        return false;
    r->topic_count = 0;
    for (size_t i = 0; i < member->held_count; i++) {
        const struct krc_held *held = &member->held[i];
        if (i == 0 || held->topic != held[-1].topic)
            r->topics[r->topic_count++] = (struct krc_consumer_group_heartbeat_topic){
                .id = held->topic->id, .partitions = &partitions[i]};
        partitions[i] = held->partition;
        r->topics[r->topic_count - 1].partition_count++;
    }
    return true;
}

static bool put_subscription(struct krc_membership *member,
                             struct krc_consumer_group_heartbeat_request *r)
{
    r->rack_id = krc_bytes_or_null(member->settings.rack);
    r->rebalance_timeout_ms = (int32_t)member->settings.max_poll_interval_ms;
    r->server_assignor = krc_bytes_or_null(member->settings.server_assignor);
    r->subscribed_topic_names =
        krc_arena_take(&member->arena, (member->topic_count + 1) * sizeof(struct krc_bytes));
    if (r->subscribed_topic_names == NULL)
        return false;
    for (size_t i = 0; i < member->topic_count; i++)
        r->subscribed_topic_names[i] = krc_bytes_of(member->topics[i]);
    r->subscribed_topic_name_count = (int32_t)member->topic_count;
    return true;
}

static void invent_id(struct krc_membership *member)
{
    char id[33];
    snprintf(id, sizeof id, "%016llx%016llx", (unsigned long long)krc_random(member->cluster),
             (unsigned long long)krc_random(member->cluster));
    member->member_id = strdup(id);
}

/* A broker takes in nobody who asks for no topic.  Once it has, new ones come with metadata. */
static bool has_topics(struct krc_membership *member)
{
    if (member->epoch == KRC_MEMBER_JOINS)
        (void)krc_member_find_topics(member);
    if (member->topic_count == 0)
        krc_metadata_refresh(member->cluster);
    return member->topic_count > 0;
}

void krc_member_beat_consumer(struct krc_membership *member)
{
    struct krc_consumer_group_heartbeat_request *r = &member->request.consumer;
    if (member->member_id == NULL)
        invent_id(member);
    bool ok = member->member_id != NULL && has_topics(member);
    krc_call_drop(&member->call);
    krc_arena_reset(&member->arena);
    *r = (struct krc_consumer_group_heartbeat_request){
        .group = krc_bytes_of(member->settings.group),
        .member_epoch = member->epoch,
        .instance_id = krc_bytes_or_null(member->settings.instance_id),
        .rebalance_timeout_ms = -1,
        .subscribed_topic_name_count = -1,
        .topic_count = -1};
    if (ok && (member->tells_all || member->epoch == KRC_MEMBER_JOINS))
        ok = put_subscription(member, r);
    if (ok && (member->tells_all || member->tells_held || member->epoch == KRC_MEMBER_JOINS))
        ok = put_held(member, r);
    member->beat_ms = member->cluster->now_ms + member->cluster->settings.retry_backoff_ms;
    if (!ok)
        return; /* memory, or topics, may be there a little later */
    r->member_id = krc_bytes_of(member->member_id);
    member->tells_all = false;
    member->tells_held = false;
    krc_member_send(member, KRC_API_CONSUMER_GROUP_HEARTBEAT, r, 0, heard);
}
