/* OffsetForLeaderEpoch: where a leader epoch ends in the leader's log. */
#ifndef KRC_PROTOCOL_OFFSET_FOR_LEADER_EPOCH_H
#define KRC_PROTOCOL_OFFSET_FOR_LEADER_EPOCH_H

#include "protocol/wire.h"

struct krc_epoch_request_partition {
    int32_t index;
    int32_t current_leader_epoch;
    int32_t leader_epoch; /* that is asked about */
};

struct krc_epoch_request_topic {
    struct krc_bytes name;
    struct krc_epoch_request_partition *partitions;
    int32_t partition_count;
};

struct krc_offset_for_leader_epoch_request {
    /* replica id: always -1 */
    struct krc_epoch_request_topic *topics;
    int32_t topic_count;
};

struct krc_epoch_partition {
    int16_t error_code;
    int32_t index;
    int32_t leader_epoch; /* the largest one at or below the one asked about; -1: unknown */
    int64_t end_offset;   /* -1: unknown */
};

struct krc_epoch_topic {
    struct krc_bytes name;
    struct krc_epoch_partition *partitions;
    int32_t partition_count;
};

struct krc_offset_for_leader_epoch_response {
    int32_t throttle_time_ms;
    struct krc_epoch_topic *topics;
    int32_t topic_count;
};

void krc_offset_for_leader_epoch_request(struct krc_wire *w, void *request);
void krc_offset_for_leader_epoch_response(struct krc_wire *w, void *response);

#endif
