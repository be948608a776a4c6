/*
 * The leader of a classic group spreads the partitions over its members: Kafka's assignors, by
 * their names.
 *
 *      range               each topic is cut into as many runs as it has subscribers
 *      roundrobin          partitions are dealt out one by one
 *      sticky              evenly, and who had a partition keeps it unless evenness demands it
 *      cooperative-sticky  the same, and a partition that moves is first given up, then given
 *
 * The same input gives what Kafka's own assignors make of it, and where theirs hangs on the order
 * of a hash table, the members' ids decide.  Racks are not looked at.
 */
#ifndef KRC_GROUPS_ASSIGN_H
#define KRC_GROUPS_ASSIGN_H

#include "groups/subscription.h"

struct krc_assign_member {
    struct krc_bytes id;
    struct krc_bytes instance_id; /* data NULL: not a static member */
    struct krc_subscription subscription;
};

struct krc_assign_topic {
    struct krc_bytes name;
    int32_t partition_count;
};

struct krc_plan;

struct krc_assignor {
    const char *name;
    bool cooperative; /* members hold what they own while the group is rebalanced (KIP-429) */

    /* A subscription's user data, appended to `out`, and what is read out of that and other
     * members' subscriptions.  NULL: the assignor does not ask what members owned. */
    int (*user_data)(struct krc_buffer *out, struct krc_claims *owned, krc_error *error);
    int (*claims)(const struct krc_subscription *subscription, struct krc_claims *claims,
                  struct krc_arena *arena, krc_error *error);

    int (*order)(const void *a, const void *b); /* of members, by pointers to pointers to them */
    int (*assign)(struct krc_plan *plan, krc_error *error);
};

/* NULL: none has the name. */
const struct krc_assignor *krc_assignor_find(struct krc_bytes name);

/* The user data of a member that was last assigned `owned`, in that generation, or nothing yet:
 * KRC_NO_GENERATION.  Appends to `out`, and `user_data` is a view of that, null where the assignor
 * has none to send.  KRC_E_NOMEM. */
int krc_assignor_user_data(const struct krc_assignor *assignor, struct krc_claims *owned,
                           struct krc_buffer *out, struct krc_bytes *user_data,
                           krc_error *error) KRC_MUST_USE;

/*
 * One assignment for each member, in the order of the members: topics and partitions sorted, names
 * views of the topics', arrays the arena's.  A topic that is not listed, or that has no partitions,
 * is assigned to nobody.  No topic may be listed twice.
 * KRC_E_NOMEM, also where the arena's limit is met; KRC_E_TOO_LARGE: over 2^31 - 1 partitions.
 */
int krc_group_assign(const struct krc_assignor *assignor, const struct krc_assign_member *members,
                     int32_t member_count, const struct krc_assign_topic *topics,
                     int32_t topic_count, struct krc_assignment *assignments,
                     struct krc_arena *arena, krc_error *error) KRC_MUST_USE;

#endif
