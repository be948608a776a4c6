/*
 * The classic protocol, as the coordinator speaks it.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "groups/subscription.h"
#include "tests/support/coordinator.h"

/* ---- Assignments as bytes ------------------------------------------------------------------- */

static group_parts set_of(const struct krc_topic_partitions *topics, int32_t count)
{
    group_parts set = 0;
    for (int32_t t = 0; t < count; t++)
        for (int32_t i = 0; i < topics[t].partition_count; i++)
            set |= (group_parts)1 << group_bit(world_find(topics[t].topic),
                                               topics[t].partitions[i]);
    return set;
}

static group_parts parse_assignment(struct krc_bytes bytes)
{
    struct krc_assignment assignment = {0};
    struct krc_arena arena = {0};
    if (bytes.len > 0)
        ck_assert_int_eq(krc_assignment_read(bytes, &assignment, &arena, NULL), KRC_OK);
    group_parts set = set_of(assignment.topics, assignment.topic_count);
    krc_arena_free(&arena);
    return set;
}

/* By topic, as both kinds of message have them. */
static int32_t list_parts(group_parts set, struct krc_topic_partitions topics[WORLD_TOPICS],
                          int32_t partitions[WORLD_TOPICS][WORLD_PARTITIONS])
{
    int32_t count = 0;
    for (int t = 0; t < world.topic_count; t++) {
        struct krc_topic_partitions *topic = &topics[count];
        *topic = (struct krc_topic_partitions){.topic = build_text(world.topics[t].name),
                                               .partitions = partitions[t]};
        for (int p = 0; p < WORLD_PARTITIONS; p++)
            if (set >> (t * WORLD_PARTITIONS + p) & 1)
                topic->partitions[topic->partition_count++] = p;
        count += topic->partition_count > 0;
    }
    return count;
}

static void write_assignment(struct group_member *member, group_parts set)
{
    struct krc_topic_partitions topics[WORLD_TOPICS];
    int32_t partitions[WORLD_TOPICS][WORLD_PARTITIONS];
    struct krc_assignment assignment = {.topics = topics};
    assignment.topic_count = list_parts(set, topics, partitions);
    member->assignment.len = 0;
    ck_assert_int_eq(krc_assignment_write(&member->assignment, 0, &assignment, NULL), KRC_OK);
    member->has = set;
}

/* What another client says of itself; one that has partitions still owns them. */
static void write_subscription(struct group_member *member, struct krc_buffer *out,
                               const char *topics)
{
    static const char *const protocols[GROUP_PROTOCOLS] = {"range", "roundrobin", "sticky",
                                                           "cooperative-sticky"};
    struct krc_bytes names[WORLD_TOPICS];
    struct krc_topic_partitions owned[WORLD_TOPICS];
    int32_t partitions[WORLD_TOPICS][WORLD_PARTITIONS];
    struct krc_subscription s = {.topics = names, .owned = owned, .generation = group.epoch};
    for (; *topics != '\0'; topics += strspn(topics, " ")) {
        names[s.topic_count++] =
            (struct krc_bytes){(const uint8_t *)topics, strcspn(topics, " ")};
        topics += strcspn(topics, " ");
    }
    s.owned_count = list_parts(member->has, owned, partitions);
    out->len = 0;
    ck_assert_int_eq(krc_subscription_write(out, 2, &s, NULL), KRC_OK);
    member->protocol_count = GROUP_PROTOCOLS;
    for (int i = 0; i < GROUP_PROTOCOLS; i++)
        memcpy(member->protocols[i].name, protocols[i], strlen(protocols[i]) + 1);
}

/* ---- Rebalances ----------------------------------------------------------------------------- */

static bool is_in(const struct group_member *member)
{
    return member->is_there && !member->is_pending;
}

static int count_members(void)
{
    int count = 0;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        count += is_in(&group.members[i]);
    return count;
}

static bool offers(const struct group_member *member, const char *protocol)
{
    for (int i = 0; i < member->protocol_count; i++)
        if (strcmp(member->protocols[i].name, protocol) == 0)
            return true;
    return false;
}

static bool all_offer(const char *protocol)
{
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (is_in(&group.members[i]) && !offers(&group.members[i], protocol))
            return false;
    return true;
}

/* The first that all offer, in the order of that member who is no script's, if there is one. */
static void choose_protocol(void)
{
    const struct group_member *chooser = NULL;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (is_in(&group.members[i]) && (chooser == NULL || chooser->is_scripted))
            chooser = &group.members[i];
    for (int i = 0; i < chooser->protocol_count; i++)
        if (all_offer(chooser->protocols[i].name)) {
            memcpy(group.protocol, chooser->protocols[i].name, sizeof group.protocol);
            return;
        }
    ck_abort_msg("no protocol that all members offer");
}

static void choose_leader(void)
{
    if (group.leader >= 0 && is_in(&group.members[group.leader]))
        return;
    group.leader = 0;
    while (!is_in(&group.members[group.leader]))
        group.leader++;
}

static group_parts owned_by(const struct group_member *member)
{
    struct krc_subscription s;
    struct krc_arena arena = {0};
    const struct krc_buffer *metadata = &member->protocols[0].metadata;
    ck_assert_int_eq(krc_subscription_read((struct krc_bytes){metadata->data, metadata->len}, &s,
                                           &arena, NULL),
                     KRC_OK);
    group_parts owned = set_of(s.owned, s.owned_count);
    krc_arena_free(&arena);
    return owned;
}

/* What is kept through the rebalance by one who is no script's, and only then given up. */
static group_parts kept_by_others(const struct group_member *member)
{
    group_parts kept = 0;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (&group.members[i] != member && is_in(&group.members[i]) &&
            !group.members[i].is_scripted)
            kept |= owned_by(&group.members[i]);
    return strcmp(group.protocol, "cooperative-sticky") == 0 ? kept : 0;
}

/* The script's leader gives what the script says. */
static void assign_by_script(void)
{
    group_parts sets[GROUP_MEMBERS];
    for (int i = 0; i < GROUP_MEMBERS; i++)
        sets[i] = group.members[i].target & ~kept_by_others(&group.members[i]);
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (is_in(&group.members[i])) {
            write_assignment(&group.members[i], sets[i]);
            group.members[i].syncs = false;
        }
    group.state = GROUP_STABLE;
}

static void complete_join(void)
{
    group.epoch++;
    group.state = GROUP_COMPLETING;
    choose_leader();
    choose_protocol();
    for (int i = 0; i < GROUP_MEMBERS; i++)
        group.members[i].joins = group.members[i].syncs = false;
    if (group.members[group.leader].is_scripted)
        assign_by_script();
}

static void go_on(void)
{
    if (count_members() == 0) {
        group.state = GROUP_EMPTY;
        group.epoch++;
        group.leader = -1;
        return;
    }
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (is_in(&group.members[i]) && !group.members[i].joins &&
            (!group.members[i].is_scripted || group.members[i].is_stuck))
            return;
    complete_join();
}

/* Whoever waits for its share has to join again. */
void group_rebalance(void)
{
    group.state = GROUP_PREPARING;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        group.members[i].syncs = false;
    go_on();
}

void group_left_classic(void)
{
    if (group.state == GROUP_PREPARING)
        go_on();
    else
        group_rebalance();
}

void group_join_classic(struct group_member *member, const char *topics)
{
    write_subscription(member, &member->protocols[0].metadata, topics);
    for (int i = 1; i < GROUP_PROTOCOLS; i++)
        build_append(&member->protocols[i].metadata, member->protocols[0].metadata.data,
                     member->protocols[0].metadata.len);
    group_rebalance();
}

/* ---- JoinGroup ------------------------------------------------------------------------------ */

static bool is_same(const struct krc_buffer *a, struct krc_bytes b)
{
    return a->len == b.len && memcmp(a->data, b.data, b.len) == 0;
}

/* Whether anything was new. */
static bool keep_protocols(struct group_member *member,
                           const struct krc_join_group_request *request)
{
    bool changed = member->protocol_count != request->protocol_count;
    ck_assert_int_le(request->protocol_count, GROUP_PROTOCOLS);
    member->protocol_count = request->protocol_count;
    for (int i = 0; i < request->protocol_count; i++) {
        const struct krc_join_group_protocol *from = &request->protocols[i];
        struct krc_buffer *metadata = &member->protocols[i].metadata;
        changed |= !is_same(metadata, from->metadata);
        group_copy(member->protocols[i].name, sizeof member->protocols[i].name, from->name);
        metadata->len = 0;
        build_append(metadata, from->metadata.data, from->metadata.len);
    }
    return changed;
}

static void say_id(struct broker_request *r, const struct group_member *member)
{
    memcpy(r->member_id, member->id, sizeof r->member_id);
}

static void join(struct broker_request *r, struct group_member *member, bool is_new)
{
    bool changed = keep_protocols(member, r->frame.body);
    bool leads = member == &group.members[group.leader < 0 ? 0 : group.leader] && !is_new;
    say_id(r, member);
    member->is_pending = false;
    if (!is_new && !changed && group.state != GROUP_PREPARING &&
        (group.state == GROUP_COMPLETING || !leads))
        return; /* it is told of the present generation */
    member->joins = true;
    if (group.state == GROUP_PREPARING)
        go_on();
    else
        group_rebalance();
}

/* A static member that comes again: nobody is rebalanced for it. */
static void replace(struct broker_request *r, struct group_member *member)
{
    snprintf(member->id, sizeof member->id, "member-%d", ++group.next_id);
    (void)keep_protocols(member, r->frame.body);
    say_id(r, member);
    if (group.state == GROUP_STABLE && all_offer(group.protocol))
        return;
    member->joins = true;
    if (group.state == GROUP_PREPARING)
        go_on();
    else
        group_rebalance();
}

void group_take_join(struct broker_request *r)
{
    const struct krc_join_group_request *request = r->frame.body;
    struct group_member *member = group_find(request->member_id);
    struct group_member *holder = group_find_instance(request->instance_id);
    if (request->member_id.len > 0 && holder != NULL && holder != member) {
        r->error_code = KRC_KAFKA_FENCED_INSTANCE_ID;
    } else if (request->member_id.len > 0 && member == NULL) {
        r->error_code = KRC_KAFKA_UNKNOWN_MEMBER_ID;
    } else if (member != NULL) {
        join(r, member, member->is_pending);
    } else if (holder != NULL) {
        replace(r, holder);
    } else {
        member = group_add();
        if (request->instance_id.data != NULL)
            group_copy(member->instance, sizeof member->instance, request->instance_id);
        member->is_pending = r->frame.version >= 4 && request->instance_id.data == NULL;
        say_id(r, member);
        if (member->is_pending)
            r->error_code = KRC_KAFKA_MEMBER_ID_REQUIRED;
        else
            join(r, member, true);
    }
}

static const struct krc_buffer *metadata_of(const struct group_member *member)
{
    int i = 0;
    while (strcmp(member->protocols[i].name, group.protocol) != 0)
        i++;
    return &member->protocols[i].metadata;
}

static void list_members(struct krc_join_group_response *response)
{
    response->members = group_take_memory(GROUP_MEMBERS, sizeof *response->members);
    for (int i = 0; i < GROUP_MEMBERS; i++) {
        const struct group_member *from = &group.members[i];
        if (!is_in(from))
            continue;
        struct krc_join_group_member *to = &response->members[response->member_count++];
        *to = (struct krc_join_group_member){.member_id = build_text(from->id)};
        if (from->instance[0] != '\0')
            to->instance_id = build_text(from->instance);
        to->metadata = (struct krc_bytes){metadata_of(from)->data, metadata_of(from)->len};
    }
}

/* Nobody waits for ever: who has not joined is not in the group any more. */
static void end_wait(void)
{
    for (int i = 0; i < GROUP_MEMBERS && group.state == GROUP_PREPARING; i++)
        if (is_in(&group.members[i]) && !group.members[i].joins &&
            (!group.members[i].is_scripted || group.members[i].is_stuck))
            group_forget(&group.members[i]);
}

void group_answer_join(struct broker_request *r, struct krc_join_group_response *response)
{
    struct group_member *member = group_find(build_text(r->member_id));
    response->generation_id = -1;
    response->error_code = r->error_code;
    response->protocol_type = build_text("consumer");
    response->protocol_name = build_text(r->frame.version >= 7 ? group.protocol : "");
    response->leader = build_text("");
    response->member_id = build_text(r->member_id);
    if (r->error_code != 0)
        return;
    if (member != NULL && member->joins)
        end_wait();
    if (member == NULL || group.state == GROUP_PREPARING) {
        response->error_code =
            member == NULL ? KRC_KAFKA_UNKNOWN_MEMBER_ID : KRC_KAFKA_REBALANCE_IN_PROGRESS;
        return;
    }
    const struct group_member *leader = &group.members[group.leader];
    bool is_same_generation = group.state == GROUP_STABLE && !leader->is_scripted;
    response->generation_id = group.epoch;
    response->protocol_name = build_text(group.protocol);
    response->leader = build_text(leader->id);
    if (leader == member && (!is_same_generation || r->frame.version >= 9)) {
        response->skip_assignment = is_same_generation;
        list_members(response);
    } else if (leader == member) {
        response->leader = build_text("who it was before");
    }
}

/* ---- SyncGroup, Heartbeat, LeaveGroup ------------------------------------------------------- */

static void take_plan(const struct krc_sync_group_request *request)
{
    for (int i = 0; i < GROUP_MEMBERS; i++) {
        struct group_member *member = &group.members[i];
        if (!is_in(member))
            continue;
        member->assignment.len = 0;
        for (int32_t k = 0; k < request->assignment_count; k++)
            if (group_is(member->id, request->assignments[k].member_id))
                build_append(&member->assignment, request->assignments[k].assignment.data,
                             request->assignments[k].assignment.len);
        member->has = parse_assignment(
            (struct krc_bytes){member->assignment.data, member->assignment.len});
        member->syncs = false;
    }
    group.state = GROUP_STABLE;
}

void group_take_sync(struct broker_request *r)
{
    const struct krc_sync_group_request *request = r->frame.body;
    struct group_member *member;
    r->error_code = group_check_member(request->member_id, request->instance_id, &member);
    if (r->error_code == 0 && request->generation_id != group.epoch)
        r->error_code = KRC_KAFKA_ILLEGAL_GENERATION;
    if (r->error_code == 0 && group.state == GROUP_PREPARING)
        r->error_code = KRC_KAFKA_REBALANCE_IN_PROGRESS;
    if (r->error_code == 0 && r->frame.version >= 5 &&
        (!group_is("consumer", request->protocol_type) ||
         !group_is(group.protocol, request->protocol_name)))
        r->error_code = KRC_KAFKA_INCONSISTENT_GROUP_PROTOCOL;
    if (r->error_code != 0)
        return;
    say_id(r, member);
    if (group.state == GROUP_STABLE)
        return;
    member->syncs = true;
    if (member == &group.members[group.leader])
        take_plan(request);
}

void group_answer_sync(struct broker_request *r, struct krc_sync_group_response *response)
{
    const struct group_member *member = group_find(build_text(r->member_id));
    response->error_code = r->error_code != 0        ? r->error_code
                           : member == NULL          ? KRC_KAFKA_UNKNOWN_MEMBER_ID
                           : group.state != GROUP_STABLE ? KRC_KAFKA_REBALANCE_IN_PROGRESS
                                                         : 0;
    response->assignment = build_text("");
    response->protocol_type = build_text("consumer");
    response->protocol_name = build_text(group.protocol);
    if (response->error_code == 0)
        response->assignment =
            (struct krc_bytes){member->assignment.data, member->assignment.len};
}

void group_take_heartbeat(struct broker_request *r)
{
    const struct krc_heartbeat_request *request = r->frame.body;
    struct group_member *member;
    r->error_code = group_check_member(request->member_id, request->instance_id, &member);
    if (r->error_code == 0 && request->generation_id != group.epoch)
        r->error_code = KRC_KAFKA_ILLEGAL_GENERATION;
    if (r->error_code == 0 && group.state == GROUP_PREPARING)
        r->error_code = KRC_KAFKA_REBALANCE_IN_PROGRESS;
}

void group_take_leave(struct broker_request *r)
{
    const struct krc_leave_group_request *request = r->frame.body;
    struct group_member *member = group_find(request->member_id);
    if (member == NULL)
        r->error_code = KRC_KAFKA_UNKNOWN_MEMBER_ID;
    else
        group_forget(member);
}

/* ---- As text -------------------------------------------------------------------------------- */

static void describe_protocol(const struct krc_join_group_protocol *from, char *text, size_t size)
{
    struct krc_subscription s;
    struct krc_arena arena = {0};
    ck_assert_int_eq(krc_subscription_read(from->metadata, &s, &arena, NULL), KRC_OK);
    group_say(text, size, " %.*s:", (int)from->name.len, (const char *)from->name.data);
    for (int32_t i = 0; i < s.topic_count; i++)
        group_say(text, size, "%s%.*s", i == 0 ? "" : ",", (int)s.topics[i].len,
                  (const char *)s.topics[i].data);
    if (s.owned_count > 0)
        group_say(text, size, " owns %s/%d", group_text(set_of(s.owned, s.owned_count)),
                  (int)s.generation);
    krc_arena_free(&arena);
}

void group_describe_join(const struct krc_join_group_request *request, char *text, size_t size)
{
    group_say(text, size, " %s",
              request->member_id.len == 0 ? "-" : group_name(group_find(request->member_id)));
    for (int32_t i = 0; i < request->protocol_count; i++)
        describe_protocol(&request->protocols[i], text, size);
}

void group_describe_sync(const struct krc_sync_group_request *request, char *text, size_t size)
{
    group_say(text, size, " %s/%d", group_name(group_find(request->member_id)),
              (int)request->generation_id);
    for (int32_t i = 0; i < request->assignment_count; i++)
        group_say(text, size, " %s:%s", group_name(group_find(request->assignments[i].member_id)),
                  group_text(parse_assignment(request->assignments[i].assignment)));
}
