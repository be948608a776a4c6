/*
 * KIP-848, as the coordinator speaks it.
 */
#include <check.h>
#include <string.h>

#include "tests/support/coordinator.h"

static group_parts set_of(const struct krc_consumer_group_heartbeat_topic *topics, int32_t count)
{
    group_parts set = 0;
    for (int32_t t = 0; t < count; t++)
        for (int32_t i = 0; i < topics[t].partition_count; i++)
            set |= (group_parts)1
                   << group_bit(world_find_id(&topics[t].id), topics[t].partitions[i]);
    return set;
}

/* What others have not let go of yet. */
static group_parts taken_by_others(const struct group_member *member)
{
    group_parts set = 0;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (&group.members[i] != member && group.members[i].is_there)
            set |= group.members[i].has | group.members[i].gives;
    return set;
}

/* What it has and is not to have is given up first; then comes what is free.  `owned` NULL: it did
 * not say. */
static void compute_next(struct group_member *member, const group_parts *owned)
{
    group_parts kept = member->has & member->target, excess = member->has & ~member->target;
    int32_t epoch = member->epoch;
    if (excess != 0 && (owned == NULL || (*owned & excess) != 0)) {
        member->has = kept;
        member->gives = excess;
    } else {
        member->has = kept | (member->target & ~kept & ~taken_by_others(member));
        member->gives = 0;
        epoch = group.epoch;
    }
    if (epoch != member->epoch) {
        member->previous = member->epoch;
        member->epoch = epoch;
    }
}

static void reconcile(struct group_member *member, const group_parts *owned)
{
    if (member->gives != 0 && (owned == NULL || (*owned & member->gives) != 0))
        return;
    member->gives = 0;
    compute_next(member, owned);
}

/* The script's members follow at once. */
void group_reconcile_all(void)
{
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < GROUP_MEMBERS; i++) {
            struct group_member *member = &group.members[i];
            group_parts owned = member->has;
            if (!member->is_there || !member->is_scripted || member->is_stuck)
                continue;
            reconcile(member, &owned);
            owned = member->has;
            reconcile(member, &owned);
        }
}

/* ---- Who speaks ----------------------------------------------------------------------------- */

static struct group_member *take_in(const struct krc_consumer_group_heartbeat_request *request)
{
    struct group_member *member = group_add();
    if (request->member_id.len > 0)
        group_copy(member->id, sizeof member->id, request->member_id);
    if (request->instance_id.data != NULL)
        group_copy(member->instance, sizeof member->instance, request->instance_id);
    group.epoch++;
    return member;
}

/* A full request that joins. */
static int16_t join(const struct krc_consumer_group_heartbeat_request *request,
                    struct group_member **out)
{
    struct group_member *holder = group_find_instance(request->instance_id);
    struct group_member *member = holder != NULL ? holder : group_find(request->member_id);
    bool is_full = request->rebalance_timeout_ms != -1 && request->topic_count == 0 &&
                   request->subscribed_topic_name_count > 0;
    if (!is_full)
        return KRC_KAFKA_INVALID_REQUEST;
    if (holder != NULL && holder->epoch != KRC_MEMBER_LEAVES_FOR_NOW)
        return KRC_KAFKA_UNRELEASED_INSTANCE_ID;
    if (member == NULL)
        member = take_in(request);
    else if (holder != NULL)
        group_copy(member->id, sizeof member->id, request->member_id);
    member->epoch = member->previous = 0;
    *out = member;
    return 0;
}

/* An epoch before is accepted where the answer with the newer one may have been lost. */
static int16_t check_epoch(const struct group_member *member, int32_t epoch,
                           const group_parts *owned)
{
    bool may_have_missed = epoch == member->previous && owned != NULL &&
                           (*owned & ~member->has) == 0;
    return epoch == member->epoch || (epoch < member->epoch && may_have_missed)
               ? 0
               : KRC_KAFKA_FENCED_MEMBER_EPOCH;
}

static int16_t leave(const struct krc_consumer_group_heartbeat_request *request)
{
    struct group_member *member;
    int16_t code = group_check_member(request->member_id, request->instance_id, &member);
    if (code != 0)
        return code;
    if (request->member_epoch == KRC_MEMBER_LEAVES_FOR_NOW) {
        ck_assert_ptr_nonnull(request->instance_id.data);
        member->epoch = KRC_MEMBER_LEAVES_FOR_NOW;
    } else {
        group.epoch++;
        group_forget(member);
    }
    return 0;
}

/* ---- The answer ----------------------------------------------------------------------------- */

static void put_assignment(struct krc_consumer_group_heartbeat_response *response, group_parts set)
{
    response->assignment = group_take_memory(WORLD_TOPICS, sizeof *response->assignment);
    response->assignment_count = 0;
    for (int t = 0; t < world.topic_count; t++) {
        struct krc_consumer_group_heartbeat_topic *to =
            &response->assignment[response->assignment_count];
        *to = (struct krc_consumer_group_heartbeat_topic){
            .id = world.topics[t].id,
            .partitions = group_take_memory(WORLD_PARTITIONS, sizeof *to->partitions)};
        for (int p = 0; p < WORLD_PARTITIONS; p++)
            if (set >> (t * WORLD_PARTITIONS + p) & 1)
                to->partitions[to->partition_count++] = p;
        response->assignment_count += to->partition_count > 0;
    }
}

static int16_t beat(const struct krc_consumer_group_heartbeat_request *request,
                    struct krc_consumer_group_heartbeat_response *response)
{
    struct group_member *member;
    group_parts owned = set_of(request->topics, request->topic_count);
    const group_parts *said = request->topic_count >= 0 ? &owned : NULL;
    int16_t code = request->member_epoch == KRC_MEMBER_JOINS
                       ? join(request, &member)
                       : group_check_member(request->member_id, request->instance_id, &member);
    if (code == 0 && request->member_epoch != KRC_MEMBER_JOINS)
        code = check_epoch(member, request->member_epoch, said);
    if (code != 0)
        return code;
    bool is_full = request->member_epoch == KRC_MEMBER_JOINS ||
                   (request->rebalance_timeout_ms != -1 && said != NULL &&
                    request->subscribed_topic_name_count >= 0);
    group_parts before = member->has;
    reconcile(member, said);
    group_reconcile_all();
    response->member_id = build_text(member->id);
    response->member_epoch = member->epoch;
    if (is_full || member->has != before)
        put_assignment(response, member->has);
    return 0;
}

void group_beat(struct broker_request *r, struct krc_consumer_group_heartbeat_response *response)
{
    const struct krc_consumer_group_heartbeat_request *request = r->frame.body;
    response->assignment_count = -1;
    response->heartbeat_interval_ms = group.interval_ms;
    response->error_code = r->error_code;
    if (r->error_code == 0)
        response->error_code =
            request->member_epoch < 0 ? leave(request) : beat(request, response);
}

/* ---- As text -------------------------------------------------------------------------------- */

/* A topic that is not there any more has no name. */
static void describe_held(const struct krc_consumer_group_heartbeat_request *request, char *text,
                          size_t size)
{
    group_parts set = 0;
    for (int32_t t = 0; t < request->topic_count; t++)
        if (world_find_id(&request->topics[t].id) != NULL)
            set |= set_of(&request->topics[t], 1);
    group_say(text, size, " holds %s", group_text(set));
}

void group_describe_beat(const struct krc_consumer_group_heartbeat_request *request, char *text,
                         size_t size)
{
    group_say(text, size, " %d", (int)request->member_epoch);
    for (int32_t i = 0; i < request->subscribed_topic_name_count; i++)
        group_say(text, size, "%s%.*s", i == 0 ? " wants " : ",",
                  (int)request->subscribed_topic_names[i].len,
                  (const char *)request->subscribed_topic_names[i].data);
    if (request->topic_count >= 0)
        describe_held(request, text, size);
}
