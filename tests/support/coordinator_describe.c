/* What the coordinator tells those who are not members: all groups are the one there is. */
#include <check.h>
#include <string.h>

#include "tests/support/coordinator.h"

/* All of a topic's partitions of a set. */
static struct krc_consumer_group_topic topic_of(const struct world_topic *topic, group_parts set)
{
    struct krc_consumer_group_topic to = {
        .id = topic->id,
        .name = build_text(topic->name),
        .partitions = group_take_memory(WORLD_PARTITIONS, sizeof *to.partitions)};
    for (int32_t i = 0; i < topic->count; i++)
        if (set >> group_bit(topic, i) & 1)
            to.partitions[to.partition_count++] = i;
    return to;
}

static struct krc_consumer_group_member consumer_member(const struct group_member *from)
{
    struct krc_consumer_group_member to = {.member_id = build_text(from->id),
                                           .member_epoch = from->epoch,
                                           .client_id = build_text(group_name(from)),
                                           .client_host = build_text("/127.0.0.1"),
                                           .member_type = -1};
    to.assignment.topics = group_take_memory(WORLD_TOPICS, sizeof *to.assignment.topics);
    for (int t = 0; t < world.topic_count; t++)
        to.assignment.topics[to.assignment.topic_count++] = topic_of(&world.topics[t], from->has);
    return to;
}

void group_tell_consumer(struct broker_request *r,
                         struct krc_consumer_group_describe_response *response)
{
    const struct krc_consumer_group_describe_request *request = r->frame.body;
    struct krc_consumer_group *to = group_take_memory(1, sizeof *to);
    *to = (struct krc_consumer_group){
        .error_code = r->error_code, .group = request->groups[0], .state = build_text("")};
    response->groups = to;
    response->group_count = 1;
    if (to->error_code == 0 && group.is_classic)
        to->error_code = KRC_KAFKA_GROUP_ID_NOT_FOUND;
    if (to->error_code != 0)
        return;
    to->members = group_take_memory(GROUP_MEMBERS, sizeof *to->members);
    for (int i = 0; i < GROUP_MEMBERS; i++)
        if (group.members[i].is_there)
            to->members[to->member_count++] = consumer_member(&group.members[i]);
    to->state = build_text(to->member_count == 0 ? "Empty" : "Stable");
}

void group_tell_classic(struct broker_request *r, struct krc_describe_groups_response *response)
{
    const struct krc_describe_groups_request *request = r->frame.body;
    struct krc_described_group *to = group_take_memory(1, sizeof *to);
    *to = (struct krc_described_group){.error_code = r->error_code,
                                       .group = request->groups[0],
                                       .state = build_text("Dead"),
                                       .protocol_type = build_text("consumer")};
    response->groups = to;
    response->group_count = 1;
    if (to->error_code != 0 || !group.is_classic)
        return;
    to->members = group_take_memory(GROUP_MEMBERS, sizeof *to->members);
    for (int i = 0; i < GROUP_MEMBERS; i++) {
        const struct group_member *from = &group.members[i];
        if (from->is_there)
            to->members[to->member_count++] = (struct krc_described_member){
                .member_id = build_text(from->id),
                .client_id = build_text(group_name(from)),
                .client_host = build_text("/127.0.0.1"),
                .assignment = {from->assignment.data, from->assignment.len}};
    }
    to->state = build_text(to->member_count == 0 ? "Empty" : "Stable");
}

void group_tell_names(struct broker_request *r, struct krc_list_groups_response *response)
{
    response->error_code = world_fault(KRC_API_LIST_GROUPS, -1);
    if (response->error_code != 0 || r->node != world.coordinator)
        return;
    response->groups = group_take_memory(1, sizeof *response->groups);
    response->groups[0] = (struct krc_listed_group){.group = build_text("g"),
                                                    .protocol_type = build_text("consumer")};
    response->group_count = 1;
}
