/*
 * The leader of a classic group: all members with their subscriptions, as JoinGroup's answer has
 * them, and what each of them gets.
 */
#ifndef KRC_CLUSTER_ROSTER_H
#define KRC_CLUSTER_ROSTER_H

#include "cluster/cluster.h"
#include "groups/assign.h"

struct krc_roster {
    struct krc_arena arena;
    struct krc_assign_member *members;
    int32_t member_count;
    struct krc_assign_topic *topics; /* that any of them subscribes to, sorted; their partition
                                        counts as of the plan */
    int32_t topic_count;
};

/* The topics are asked for.  KRC_E_CORRUPT: a subscription that is none. */
int krc_roster_new(struct krc_roster **roster, struct krc_cluster *cluster,
                   const struct krc_join_group_response *answer, krc_error *error) KRC_MUST_USE;
void krc_roster_free(struct krc_roster *roster);

/* Whether metadata has said something of each topic. */
bool krc_roster_is_known(const struct krc_roster *roster, const struct krc_cluster *cluster);

/* Whether a topic has another number of partitions than in the plan. */
bool krc_roster_is_old(const struct krc_roster *roster, const struct krc_cluster *cluster);

/* Plans, by `assignor`; what each member is told is appended to `bytes`, and `list`, which has room
 * for all of them, has views of that. */
int krc_roster_plan(struct krc_roster *roster, const struct krc_cluster *cluster,
                    const struct krc_assignor *assignor, struct krc_buffer *bytes,
                    struct krc_sync_group_assignment *list, krc_error *error) KRC_MUST_USE;

#endif
