/* DescribeProducers: who writes to a partition, and the transactions open in it. */
#ifndef KRC_PROTOCOL_DESCRIBE_PRODUCERS_H
#define KRC_PROTOCOL_DESCRIBE_PRODUCERS_H

#include "protocol/wire.h"

struct krc_describe_producers_request_topic {
    struct krc_bytes name;
    int32_t *partitions;
    int32_t partition_count;
};

struct krc_describe_producers_request {
    struct krc_describe_producers_request_topic *topics;
    int32_t topic_count;
};

struct krc_described_producer {
    int64_t producer_id;
    int32_t producer_epoch;
    int32_t last_sequence;  /* -1: none */
    int64_t last_timestamp; /* -1: none */
    int32_t coordinator_epoch;
    int64_t current_txn_start_offset; /* -1: no transaction is open */
};

struct krc_describe_producers_partition {
    int32_t index;
    int16_t error_code;
    struct krc_bytes error_message; /* nullable */
    struct krc_described_producer *producers;
    int32_t producer_count;
};

struct krc_describe_producers_topic {
    struct krc_bytes name;
    struct krc_describe_producers_partition *partitions;
    int32_t partition_count;
};

struct krc_describe_producers_response {
    int32_t throttle_time_ms;
    struct krc_describe_producers_topic *topics;
    int32_t topic_count;
};

void krc_describe_producers_request(struct krc_wire *w, void *request);
void krc_describe_producers_response(struct krc_wire *w, void *response);

#endif
