/* OffsetCommit: keeps offsets for a group. */
#ifndef KRC_PROTOCOL_OFFSET_COMMIT_H
#define KRC_PROTOCOL_OFFSET_COMMIT_H

#include "protocol/wire.h"

struct krc_offset_commit_request_partition {
    int32_t index;
    int64_t committed_offset;
    int32_t committed_leader_epoch; /* v6+; -1: unknown */
    struct krc_bytes metadata;      /* nullable */
};

struct krc_offset_commit_request_topic {
    struct krc_bytes name; /* v3-9 */
    struct krc_uuid id;    /* v10+ */
    struct krc_offset_commit_request_partition *partitions;
    int32_t partition_count;
};

struct krc_offset_commit_request {
    struct krc_bytes group;
    int32_t member_epoch;         /* or generation of a classic group; -1: by no member */
    struct krc_bytes member_id;   /* "": by no member */
    struct krc_bytes instance_id; /* v7+, nullable */
    /* retention time: always -1, as the broker has it (v3-4) */
    struct krc_offset_commit_request_topic *topics;
    int32_t topic_count;
};

struct krc_offset_commit_partition {
    int32_t index;
    int16_t error_code;
};

struct krc_offset_commit_topic {
    struct krc_bytes name; /* v3-9 */
    struct krc_uuid id;    /* v10+ */
    struct krc_offset_commit_partition *partitions;
    int32_t partition_count;
};

struct krc_offset_commit_response {
    int32_t throttle_time_ms;
    struct krc_offset_commit_topic *topics;
    int32_t topic_count;
};

void krc_offset_commit_request(struct krc_wire *w, void *request);
void krc_offset_commit_response(struct krc_wire *w, void *response);

#endif
