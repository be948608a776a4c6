#include "tests/support/coordinator.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct group group;

/* ---- Small things --------------------------------------------------------------------------- */

void *group_take_memory(size_t count, size_t size)
{
    void *memory = krc_arena_take(&world.arena, (count + 1) * size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

bool group_is(const char *text, struct krc_bytes bytes)
{
    return strlen(text) == bytes.len && memcmp(text, bytes.data, bytes.len) == 0;
}

void group_copy(char *to, size_t size, struct krc_bytes from)
{
    ck_assert_uint_lt(from.len, size);
    memcpy(to, from.data == NULL ? (const uint8_t *)"" : from.data, from.len);
    to[from.len] = '\0';
}

void group_say(char *text, size_t size, const char *format, ...)
{
    va_list args;
    size_t len = strlen(text);
    va_start(args, format);
    vsnprintf(text + len, size - len, format, args);
    va_end(args);
}

int32_t group_bit(const struct world_topic *topic, int32_t partition)
{
    return topic == NULL || partition < 0 || partition >= WORLD_PARTITIONS
               ? -1
               : (int32_t)(topic - world.topics) * WORLD_PARTITIONS + partition;
}

group_parts group_set(const char *text)
{
    group_parts set = 0;
    while (*text != '\0') {
        const char *dash = strchr(text, '-');
        struct krc_bytes name = {(const uint8_t *)text, (size_t)(dash - text)};
        set |= (group_parts)1 << group_bit(world_find(name), atoi(dash + 1));
        text += strcspn(text, " ");
        text += strspn(text, " ");
    }
    return set;
}

const char *group_text(group_parts set)
{
    static char texts[4][256];
    static int turn;
    char *text = texts[turn++ % 4];
    text[0] = '\0';
    for (int i = 0; i < WORLD_TOPICS * WORLD_PARTITIONS; i++)
        if (set >> i & 1)
            group_say(text, sizeof texts[0], "%s%s-%d", text[0] == '\0' ? "" : ",",
                      world.topics[i / WORLD_PARTITIONS].name, i % WORLD_PARTITIONS);
    return text[0] == '\0' ? "-" : text;
}

/* ---- Members -------------------------------------------------------------------------------- */

struct group_member *group_m(int number)
{
    return &group.members[number - 1];
}

const char *group_name(const struct group_member *member)
{
    static const char *const names[GROUP_MEMBERS] = {"m1", "m2", "m3", "m4",
                                                     "m5", "m6", "m7", "m8"};
    return member == NULL ? "?" : names[member - group.members];
}

struct group_member *group_find(struct krc_bytes id)
{
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (group.members[i].is_there && group_is(group.members[i].id, id))
            return &group.members[i];
    return NULL;
}

struct group_member *group_find_instance(struct krc_bytes id)
{
    for (int i = 0; i < GROUP_MEMBERS && id.data != NULL; i++)
        if (group.members[i].is_there && group_is(group.members[i].instance, id))
            return &group.members[i];
    return NULL;
}

struct group_member *group_add(void)
{
    int i = 0;
    while (i < GROUP_MEMBERS && group.members[i].is_there)
        i++;
    ck_assert_int_lt(i, GROUP_MEMBERS);
    struct group_member *member = &group.members[i];
    *member = (struct group_member){.is_there = true};
    snprintf(member->id, sizeof member->id, "member-%d", ++group.next_id);
    return member;
}

static void free_member(struct group_member *member)
{
    for (int i = 0; i < GROUP_PROTOCOLS; i++)
        krc_buffer_free(&member->protocols[i].metadata);
    krc_buffer_free(&member->assignment);
    *member = (struct group_member){.is_there = false};
}

void group_forget(struct group_member *member)
{
    free_member(member);
    if (group.is_classic)
        group_left_classic();
    else
        group_reconcile_all();
}

int16_t group_check_member(struct krc_bytes id, struct krc_bytes instance,
                           struct group_member **member)
{
    struct group_member *holder = group_find_instance(instance);
    *member = group_find(id);
    if (instance.data != NULL && holder == NULL)
        return KRC_KAFKA_UNKNOWN_MEMBER_ID;
    if (instance.data != NULL && holder != *member)
        return KRC_KAFKA_FENCED_INSTANCE_ID;
    return *member == NULL || (*member)->is_pending ? KRC_KAFKA_UNKNOWN_MEMBER_ID : 0;
}

/* ---- The script ----------------------------------------------------------------------------- */

void group_open(bool is_classic)
{
    group = (struct group){.is_classic = is_classic, .leader = -1, .interval_ms = 1000};
    group.epoch = is_classic ? 0 : 1;
}

void group_close(void)
{
    for (int i = 0; i < GROUP_MEMBERS; i++)
        free_member(&group.members[i]);
}

int group_join(const char *topics)
{
    struct group_member *member = group_add();
    member->is_scripted = true;
    if (group.is_classic)
        group_join_classic(member, topics);
    else
        member->epoch = group.epoch;
    return (int)(member - group.members) + 1;
}

void group_remove(int number)
{
    ck_assert(group_m(number)->is_there);
    group_forget(group_m(number));
}

void group_target(int number, const char *set)
{
    group_m(number)->target = group_set(set);
    if (group.is_classic)
        return;
    group.epoch++;
    group_reconcile_all();
}

void group_take_over(int number)
{
    snprintf(group_m(number)->id, sizeof group_m(number)->id, "member-%d", ++group.next_id);
}

void group_move(int32_t node)
{
    world.coordinator = node;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        group.members[i].joins = group.members[i].syncs = false;
}

/* ---- OffsetCommit --------------------------------------------------------------------------- */

static int16_t check_commit(const struct broker_request *r, struct group_member **member)
{
    const struct krc_offset_commit_request *request = r->frame.body;
    bool is_empty = true;
    *member = NULL;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        is_empty &= !group.members[i].is_there;
    if (request->member_epoch < 0 && is_empty)
        return 0;
    int16_t code = group_check_member(request->member_id, request->instance_id, member);
    if (code != 0)
        return code;
    if (!group.is_classic && r->frame.version < 9)
        return KRC_KAFKA_UNSUPPORTED_VERSION;
    if (request->member_epoch != (group.is_classic ? group.epoch : (*member)->epoch))
        return group.is_classic ? KRC_KAFKA_ILLEGAL_GENERATION : KRC_KAFKA_STALE_MEMBER_EPOCH;
    return group.is_classic && group.state == GROUP_COMPLETING ? KRC_KAFKA_REBALANCE_IN_PROGRESS
                                                               : 0;
}

static void note_commit(const struct group_member *member, struct world_topic *topic,
                        const struct krc_offset_commit_request_partition *from)
{
    struct world_partition *p = &topic->partitions[from->index];
    group_parts bit = (group_parts)1 << group_bit(topic, from->index);
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (&group.members[i] != member && member != NULL)
            group.foreign_commits += ((group.members[i].has | group.members[i].gives) & bit) != 0;
    group.backward_commits += from->committed_offset < p->committed;
    p->committed = from->committed_offset;
    p->committed_epoch = from->committed_leader_epoch;
    group_copy(p->committed_text, sizeof p->committed_text, from->metadata);
}

static int16_t commit_one(const struct group_member *member, struct world_topic *topic,
                          const struct krc_offset_commit_request_partition *from, int16_t code)
{
    int16_t fault = world_fault(KRC_API_OFFSET_COMMIT, from->index);
    if (code == 0)
        code = fault;
    if (code == 0 && (topic == NULL || from->index < 0 || from->index >= topic->count))
        code = KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    if (code == 0)
        note_commit(member, topic, from);
    return code;
}

static void answer_commit(struct broker_request *r, struct krc_offset_commit_response *response)
{
    const struct krc_offset_commit_request *request = r->frame.body;
    struct group_member *member = NULL;
    int16_t code = r->error_code != 0 ? r->error_code : check_commit(r, &member);
    response->topics = group_take_memory((size_t)request->topic_count, sizeof *response->topics);
    for (int32_t t = 0; t < request->topic_count; t++) {
        const struct krc_offset_commit_request_topic *from = &request->topics[t];
        struct krc_offset_commit_topic *to = &response->topics[response->topic_count++];
        struct world_topic *topic =
            r->frame.version >= 10 ? world_find_id(&from->id) : world_find(from->name);
        to->name = from->name;
        to->id = from->id;
        to->partitions = group_take_memory((size_t)from->partition_count, sizeof *to->partitions);
        for (int32_t i = 0; i < from->partition_count; i++)
            to->partitions[to->partition_count++] = (struct krc_offset_commit_partition){
                .index = from->partitions[i].index,
                .error_code = commit_one(member, topic, &from->partitions[i], code)};
    }
}

static void describe_commit(const struct broker_request *r, char *text, size_t size)
{
    const struct krc_offset_commit_request *request = r->frame.body;
    if (request->member_id.len > 0)
        group_say(text, size, " %s/%d", group_name(group_find(request->member_id)),
                  (int)request->member_epoch);
    for (int32_t t = 0; t < request->topic_count; t++) {
        const struct krc_offset_commit_request_topic *from = &request->topics[t];
        const struct world_topic *topic =
            r->frame.version >= 10 ? world_find_id(&from->id) : world_find(from->name);
        for (int32_t i = 0; i < from->partition_count; i++)
            group_say(text, size, " %s-%d:%lld", topic == NULL ? "?" : topic->name,
                      (int)from->partitions[i].index,
                      (long long)from->partitions[i].committed_offset);
    }
}

/* ---- Requests ------------------------------------------------------------------------------- */

bool group_knows(enum krc_api_name api)
{
    return api == KRC_API_JOIN_GROUP || api == KRC_API_SYNC_GROUP || api == KRC_API_HEARTBEAT ||
           api == KRC_API_LEAVE_GROUP || api == KRC_API_OFFSET_COMMIT ||
           api == KRC_API_CONSUMER_GROUP_HEARTBEAT || api == KRC_API_CONSUMER_GROUP_DESCRIBE ||
           api == KRC_API_DESCRIBE_GROUPS;
}

void group_describe(struct broker_request *r)
{
    char *text = r->says;
    size_t size = sizeof r->says;
    const struct krc_heartbeat_request *beat = r->frame.body;
    const struct krc_leave_group_request *leave = r->frame.body;
    switch (r->frame.api) {
    case KRC_API_JOIN_GROUP:
        group_describe_join(r->frame.body, text, size);
        break;
    case KRC_API_SYNC_GROUP:
        group_describe_sync(r->frame.body, text, size);
        break;
    case KRC_API_HEARTBEAT:
        group_say(text, size, " %s/%d", group_name(group_find(beat->member_id)),
                  (int)beat->generation_id);
        break;
    case KRC_API_LEAVE_GROUP:
        group_say(text, size, " %s", group_name(group_find(leave->member_id)));
        break;
    case KRC_API_CONSUMER_GROUP_HEARTBEAT:
        group_describe_beat(r->frame.body, text, size);
        break;
    case KRC_API_OFFSET_COMMIT:
        describe_commit(r, text, size);
        break;
    default: /* those who only look say nothing */
        break;
    }
}

void group_take(struct broker_request *r)
{
    r->error_code = world_fault(r->frame.api, -1);
    if (r->error_code == 0 && r->node != world.coordinator)
        r->error_code = KRC_KAFKA_NOT_COORDINATOR;
    if (r->error_code != 0)
        return;
    switch (r->frame.api) {
    case KRC_API_JOIN_GROUP:
        group_take_join(r);
        break;
    case KRC_API_SYNC_GROUP:
        group_take_sync(r);
        break;
    case KRC_API_HEARTBEAT:
        group_take_heartbeat(r);
        break;
    case KRC_API_LEAVE_GROUP:
        group_take_leave(r);
        break;
    default: /* is looked at when it is answered */
        break;
    }
}

/* Requests wait for other members. */
bool group_has_news(const struct broker_request *r)
{
    if (r->error_code != 0 || r->node != world.coordinator)
        return true;
    const struct group_member *member = group_find(build_text(r->member_id));
    if (r->frame.api == KRC_API_JOIN_GROUP)
        return member == NULL || !member->joins;
    return r->frame.api != KRC_API_SYNC_GROUP || member == NULL || !member->syncs;
}

void group_answer(struct broker_request *r, void *response)
{
    if (r->error_code == 0 && r->node != world.coordinator)
        r->error_code = KRC_KAFKA_NOT_COORDINATOR;
    switch (r->frame.api) {
    case KRC_API_JOIN_GROUP:
        group_answer_join(r, response);
        break;
    case KRC_API_SYNC_GROUP:
        group_answer_sync(r, response);
        break;
    case KRC_API_HEARTBEAT:
        ((struct krc_heartbeat_response *)response)->error_code = r->error_code;
        break;
    case KRC_API_LEAVE_GROUP:
        ((struct krc_leave_group_response *)response)->error_code = r->error_code;
        break;
    case KRC_API_CONSUMER_GROUP_HEARTBEAT:
        group_beat(r, response);
        break;
    case KRC_API_CONSUMER_GROUP_DESCRIBE:
        group_tell_consumer(r, response);
        break;
    case KRC_API_DESCRIBE_GROUPS:
        group_tell_classic(r, response);
        break;
    default:
        answer_commit(r, response);
    }
}
