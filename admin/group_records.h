/*
 * Records of the group log, __consumer_offsets.  What is read are views into the record; arrays are
 * taken from the arena.
 *
 * A value begins with its version.  KRC_E_UNSUPPORTED: a later one; KRC_E_CORRUPT: not as its
 * version has it.
 */
#ifndef KRC_ADMIN_GROUP_RECORDS_H
#define KRC_ADMIN_GROUP_RECORDS_H

#include "base/arena.h"
#include "base/error.h"

/* Types of records, by their keys.  KIP-848's are those of "consumer" groups.  Share groups,
 * streams, and what else a coordinator notes for itself say nothing of offsets and members. */
enum krc_group_record {
    KRC_OFFSET_COMMIT_OLD = 0, /* the same as the next */
    KRC_OFFSET_COMMIT = 1,
    KRC_CLASSIC_GROUP = 2,
    KRC_CONSUMER_GROUP = 3,
    KRC_CONSUMER_MEMBER = 5,
    KRC_CONSUMER_TARGET = 6,
    KRC_CONSUMER_ASSIGNMENT = 8,
};

struct krc_group_key {
    int16_t type;
    struct krc_bytes group;
    struct krc_bytes topic; /* of a commit */
    int32_t partition;
    struct krc_bytes member; /* of a member's, else empty */
};

/* 1 one of the types above, 0 another. */
int krc_group_key_read(struct krc_bytes bytes, struct krc_group_key *key,
                       krc_error *error) KRC_MUST_USE;

struct krc_offset_commit {
    int64_t offset;
    int32_t leader_epoch; /* -1: unknown */
    struct krc_bytes metadata;
    int64_t commit_time_ms;
    struct krc_uuid topic_id; /* all zero: unknown */
};
int krc_offset_commit_read(struct krc_bytes value, struct krc_offset_commit *commit,
                           krc_error *error) KRC_MUST_USE;

struct krc_classic_member {
    struct krc_bytes id, client_id, host;
    struct krc_bytes instance_id; /* data NULL: none */
    struct krc_bytes assignment;  /* of consumers, as groups/subscription.h has it */
};
struct krc_classic_group {
    struct krc_bytes protocol_type; /* "consumer", "connect", ... */
    struct krc_classic_member *members;
    int32_t member_count;
};
int krc_classic_group_read(struct krc_bytes value, struct krc_classic_group *group,
                           struct krc_arena *arena, krc_error *error) KRC_MUST_USE;

struct krc_assigned_topic {
    struct krc_bytes name;
    struct krc_uuid id; /* of "consumer" groups, in place of the name */
    int32_t *partitions;
    int32_t partition_count;
};

/* The epoch of a "consumer" group, or of its target assignment. */
int krc_group_epoch_read(struct krc_bytes value, int32_t *epoch, krc_error *error) KRC_MUST_USE;

struct krc_consumer_member {
    struct krc_bytes client_id, host;
    struct krc_bytes instance_id; /* data NULL: none */
};
int krc_consumer_member_read(struct krc_bytes value, struct krc_consumer_member *member,
                             krc_error *error) KRC_MUST_USE;

struct krc_consumer_assignment {
    int32_t member_epoch;
    int8_t state; /* 0: it has what the target assignment gives it */
    struct krc_assigned_topic *topics;
    int32_t topic_count;
};
int krc_consumer_assignment_read(struct krc_bytes value,
                                 struct krc_consumer_assignment *assignment,
                                 struct krc_arena *arena, krc_error *error) KRC_MUST_USE;

#endif
