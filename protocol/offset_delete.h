/* OffsetDelete: forgets offsets of a group. */
#ifndef KRC_PROTOCOL_OFFSET_DELETE_H
#define KRC_PROTOCOL_OFFSET_DELETE_H

#include "protocol/wire.h"

struct krc_offset_delete_request_topic {
    struct krc_bytes name;
    int32_t *partitions;
    int32_t partition_count;
};

struct krc_offset_delete_request {
    struct krc_bytes group;
    struct krc_offset_delete_request_topic *topics;
    int32_t topic_count;
};

struct krc_offset_delete_partition {
    int32_t index;
    int16_t error_code;
};

struct krc_offset_delete_topic {
    struct krc_bytes name;
    struct krc_offset_delete_partition *partitions;
    int32_t partition_count;
};

struct krc_offset_delete_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    struct krc_offset_delete_topic *topics;
    int32_t topic_count;
};

void krc_offset_delete_request(struct krc_wire *w, void *request);
void krc_offset_delete_response(struct krc_wire *w, void *response);

#endif
