/* DescribeTopicPartitions: partitions with their eligible leader replicas (Kafka 3.7 and later). */
#ifndef KRC_PROTOCOL_DESCRIBE_TOPIC_PARTITIONS_H
#define KRC_PROTOCOL_DESCRIBE_TOPIC_PARTITIONS_H

#include "protocol/wire.h"

struct krc_topic_cursor {
    struct krc_bytes topic; /* data NULL: the cursor is null */
    int32_t partition;
};

struct krc_describe_topic_partitions_request {
    struct krc_bytes *topics;
    int32_t topic_count;
    int32_t response_partition_limit;
    struct krc_topic_cursor cursor; /* where to go on */
};

struct krc_described_partition {
    int16_t error_code;
    int32_t index;
    int32_t leader_id, leader_epoch;
    int32_t *replicas, *in_sync, *eligible, *last_known_eligible, *offline;
    int32_t replica_count, in_sync_count, eligible_count, last_known_eligible_count, offline_count;
};

struct krc_described_topic {
    int16_t error_code;
    struct krc_bytes name; /* nullable */
    struct krc_uuid id;
    bool is_internal;
    struct krc_described_partition *partitions;
    int32_t partition_count;
    int32_t authorized_operations;
};

struct krc_describe_topic_partitions_response {
    int32_t throttle_time_ms;
    struct krc_described_topic *topics;
    int32_t topic_count;
    struct krc_topic_cursor next; /* data NULL: that was all */
};

void krc_describe_topic_partitions_request(struct krc_wire *w, void *request);
void krc_describe_topic_partitions_response(struct krc_wire *w, void *response);

#endif
