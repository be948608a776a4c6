/*
 * What members of a classic group of protocol type "consumer" tell each other through the broker,
 * which does not look inside: a member's subscription, and the assignment that the leader makes.
 *
 * Source of the format: Kafka's ConsumerProtocolSubscription and ConsumerProtocolAssignment, and
 * the user data of its assignors.  A version goes ahead of both.  A newer one is read as the newest
 * known, for later versions only add fields.
 */
#ifndef KRC_GROUPS_SUBSCRIPTION_H
#define KRC_GROUPS_SUBSCRIPTION_H

#include "protocol/wire.h"

enum { KRC_SUBSCRIPTION_NEWEST = 3, KRC_NO_GENERATION = -1 };

struct krc_topic_partitions {
    struct krc_bytes topic;
    int32_t *partitions;
    int32_t partition_count;
};

struct krc_subscription {
    struct krc_bytes *topics;
    int32_t topic_count;
    struct krc_bytes user_data;         /* the assignor's, nullable */
    struct krc_topic_partitions *owned; /* v1+ */
    int32_t owned_count;
    int32_t generation;    /* v2+; in which it owned them, or KRC_NO_GENERATION */
    struct krc_bytes rack; /* v3+, nullable */
};

struct krc_assignment {
    struct krc_topic_partitions *topics;
    int32_t topic_count;
    struct krc_bytes user_data; /* nullable */
};

/* What a member says that it owned, and in which generation. */
struct krc_claims {
    struct krc_topic_partitions *topics;
    int32_t topic_count;
    int32_t generation; /* or KRC_NO_GENERATION */
};

/* Names and user data are views into `bytes`, arrays are the arena's.  KRC_E_CORRUPT,
 * KRC_E_NOMEM. */
int krc_subscription_read(struct krc_bytes bytes, struct krc_subscription *subscription,
                          struct krc_arena *arena, krc_error *error) KRC_MUST_USE;
int krc_assignment_read(struct krc_bytes bytes, struct krc_assignment *assignment,
                        struct krc_arena *arena, krc_error *error) KRC_MUST_USE;

/* Append to `out`, or leave it as it is.  Topics and partitions of a subscription are sorted first,
 * in place, for Kafka sends them so.  KRC_E_INVALID: a name is too long; KRC_E_NOMEM. */
int krc_subscription_write(struct krc_buffer *out, int16_t version,
                           struct krc_subscription *subscription, krc_error *error) KRC_MUST_USE;
int krc_assignment_write(struct krc_buffer *out, int16_t version, struct krc_assignment *assignment,
                         krc_error *error) KRC_MUST_USE;

/* The user data of "sticky".  What cannot be read claims nothing; KRC_E_NOMEM alone is an error. */
int krc_sticky_data_read(struct krc_bytes bytes, struct krc_claims *claims, struct krc_arena *arena,
                         krc_error *error) KRC_MUST_USE;
int krc_sticky_data_write(struct krc_buffer *out, struct krc_claims *claims,
                          krc_error *error) KRC_MUST_USE;

/* The user data of "cooperative-sticky", a generation; KRC_NO_GENERATION where there is none. */
int32_t krc_cooperative_data_read(struct krc_bytes bytes);
int krc_cooperative_data_write(struct krc_buffer *out, int32_t generation,
                               krc_error *error) KRC_MUST_USE;

/* By their bytes, as strcmp. */
int krc_bytes_compare(struct krc_bytes a, struct krc_bytes b);

#endif
