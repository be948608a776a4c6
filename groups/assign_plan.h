/*
 * What an assignor works on: members and topics have numbers, and so have partitions, those of a
 * topic in a row.  It sets each partition's owner.
 */
#ifndef KRC_GROUPS_ASSIGN_PLAN_H
#define KRC_GROUPS_ASSIGN_PLAN_H

#include "groups/assign.h"

enum { KRC_NOBODY = -1 };

struct krc_plan_topic {
    struct krc_bytes name;
    int32_t first; /* its partition 0 */
    int32_t partition_count;
    int32_t *subscribers; /* members, in their order */
    int32_t subscriber_count;
};

struct krc_plan {
    const struct krc_assignor *assignor;
    const struct krc_assign_member **members; /* in the assignor's order */
    int32_t member_count;
    struct krc_plan_topic *topics; /* by name; those with partitions and subscribers */
    int32_t topic_count;
    int32_t partition_count;
    int32_t *owner; /* of each partition: a member, or KRC_NOBODY */
    struct krc_arena *arena;
};

/* NULL: no such topic. */
struct krc_plan_topic *krc_plan_find(const struct krc_plan *plan, struct krc_bytes name);

/* `count` zeroed elements, for as long as the plan's arena. */
int krc_plan_take(const struct krc_plan *plan, void *list, int32_t count, size_t size,
                  krc_error *error) KRC_MUST_USE;

/* The assignors, each in its file. */
int krc_assign_range(struct krc_plan *plan, krc_error *error);
int krc_assign_round_robin(struct krc_plan *plan, krc_error *error);
int krc_assign_sticky(struct krc_plan *plan, krc_error *error);

#endif
