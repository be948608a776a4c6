/* ListOffsets: offsets by time, and a partition's begin and end. */
#ifndef KRC_PROTOCOL_LIST_OFFSETS_H
#define KRC_PROTOCOL_LIST_OFFSETS_H

#include "protocol/wire.h"

enum {
    KRC_TIMESTAMP_LATEST = -1,
    KRC_TIMESTAMP_EARLIEST = -2,
    KRC_TIMESTAMP_MAX = -3, /* v7+ */
};

struct krc_list_offsets_request_partition {
    int32_t index;
    int32_t current_leader_epoch; /* v4+; -1: unknown */
    int64_t timestamp;
};

struct krc_list_offsets_request_topic {
    struct krc_bytes name;
    struct krc_list_offsets_request_partition *partitions;
    int32_t partition_count;
};

struct krc_list_offsets_request {
    /* replica id: always -1 */
    int8_t isolation_level; /* v2+ */
    struct krc_list_offsets_request_topic *topics;
    int32_t topic_count;
    int32_t timeout_ms; /* v10+ */
};

struct krc_list_offsets_partition {
    int32_t index;
    int16_t error_code;
    int64_t timestamp; /* -1: none */
    int64_t offset;    /* -1: none */
    int32_t leader_epoch; /* v4+, else -1 */
};

struct krc_list_offsets_topic {
    struct krc_bytes name;
    struct krc_list_offsets_partition *partitions;
    int32_t partition_count;
};

struct krc_list_offsets_response {
    int32_t throttle_time_ms; /* v2+ */
    struct krc_list_offsets_topic *topics;
    int32_t topic_count;
};

void krc_list_offsets_request(struct krc_wire *w, void *request);
void krc_list_offsets_response(struct krc_wire *w, void *response);

#endif
