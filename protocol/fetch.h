/* Fetch: record batches, and what is known of transactions among them. */
#ifndef KRC_PROTOCOL_FETCH_H
#define KRC_PROTOCOL_FETCH_H

#include "protocol/wire.h"

struct krc_fetch_request_partition {
    int32_t index;
    int32_t current_leader_epoch; /* v9+; -1: unknown */
    int64_t fetch_offset;
    int32_t last_fetched_epoch;   /* v12+; -1: unknown */
    int64_t log_start_offset;     /* v5+; consumers: -1 */
    int32_t max_bytes;
};

struct krc_fetch_request_topic {
    struct krc_bytes name; /* v4-12 */
    struct krc_uuid id;    /* v13+ */
    struct krc_fetch_request_partition *partitions;
    int32_t partition_count;
};

struct krc_fetch_forgotten_topic {
    struct krc_bytes name; /* v7-12 */
    struct krc_uuid id;    /* v13+ */
    int32_t *partitions;
    int32_t partition_count;
};

struct krc_fetch_request {
    /* replica id: always -1, a consumer (v4-14) */
    int32_t max_wait_ms, min_bytes, max_bytes;
    int8_t isolation_level; /* 1: read_committed */
    int32_t session_id, session_epoch; /* v7+ */
    struct krc_fetch_request_topic *topics;
    int32_t topic_count;
    struct krc_fetch_forgotten_topic *forgotten; /* v7+ */
    int32_t forgotten_count;
    struct krc_bytes rack; /* v11+, "" for none */
};

struct krc_fetch_aborted {
    int64_t producer_id, first_offset;
};

struct krc_fetch_partition {
    int32_t index;
    int16_t error_code;
    int64_t high_watermark;
    int64_t last_stable_offset;
    int64_t log_start_offset; /* v5+, else -1 */
    struct krc_fetch_aborted *aborted;
    int32_t aborted_count;          /* -1: null */
    int32_t preferred_read_replica; /* v11+, else -1 */
    struct krc_bytes records;
    /* v12+, tagged; -1 where absent */
    int32_t diverging_epoch;
    int64_t diverging_end_offset;
    int32_t leader_id, leader_epoch; /* the present leader, after a leader error */
};

struct krc_fetch_topic {
    struct krc_bytes name; /* v4-12 */
    struct krc_uuid id;    /* v13+ */
    struct krc_fetch_partition *partitions;
    int32_t partition_count;
};

struct krc_fetch_endpoint {
    int32_t node_id;
    struct krc_bytes host;
    int32_t port;
    struct krc_bytes rack; /* nullable */
};

struct krc_fetch_response {
    int32_t throttle_time_ms;
    int16_t error_code; /* v7+ */
    int32_t session_id; /* v7+ */
    struct krc_fetch_topic *topics;
    int32_t topic_count;
    struct krc_fetch_endpoint *endpoints; /* v16+, tagged: where the new leaders are */
    int32_t endpoint_count;
};

void krc_fetch_request(struct krc_wire *w, void *request);
void krc_fetch_response(struct krc_wire *w, void *response);

#endif
