/* OffsetFetch: a group's committed offsets. */
#ifndef KRC_PROTOCOL_OFFSET_FETCH_H
#define KRC_PROTOCOL_OFFSET_FETCH_H

#include "protocol/wire.h"

struct krc_offset_fetch_request_topic {
    struct krc_bytes name; /* v1-9 */
    struct krc_uuid id;    /* v10+ */
    int32_t *partitions;
    int32_t partition_count;
};

/* One group is asked for, in every version. */
struct krc_offset_fetch_request {
    struct krc_bytes group;
    struct krc_offset_fetch_request_topic *topics;
    int32_t topic_count;        /* -1: all (v2+) */
    bool require_stable;        /* v7+ */
    struct krc_bytes member_id; /* v9+, nullable: by no member of a consumer group */
    int32_t member_epoch;       /* v9+; where the member id is null, -1 goes in its stead */
};

struct krc_offset_fetch_partition {
    int32_t index;
    int64_t committed_offset;       /* -1: none */
    int32_t committed_leader_epoch; /* v5+, else -1 */
    struct krc_bytes metadata;      /* nullable */
    int16_t error_code;
};

struct krc_offset_fetch_topic {
    struct krc_bytes name; /* v1-9 */
    struct krc_uuid id;    /* v10+ */
    struct krc_offset_fetch_partition *partitions;
    int32_t partition_count;
};

/* v8 and later answer with an array of groups, whose first element is meant. */
struct krc_offset_fetch_response {
    int32_t throttle_time_ms; /* v3+ */
    struct krc_bytes group;   /* v8+ */
    int16_t error_code;       /* v2+ */
    struct krc_offset_fetch_topic *topics;
    int32_t topic_count;
};

void krc_offset_fetch_request(struct krc_wire *w, void *request);
void krc_offset_fetch_response(struct krc_wire *w, void *response);

#endif
