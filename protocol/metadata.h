/* Metadata: brokers, topics, partitions and their leaders. */
#ifndef KRC_PROTOCOL_METADATA_H
#define KRC_PROTOCOL_METADATA_H

#include "protocol/wire.h"

struct krc_metadata_request_topic {
    struct krc_uuid id;    /* v10+ */
    struct krc_bytes name; /* nullable v10+ */
};

struct krc_metadata_request {
    struct krc_metadata_request_topic *topics;
    int32_t topic_count; /* -1: all */
    bool allow_auto_topic_creation;
    bool include_cluster_authorized_operations; /* v8-10 */
    bool include_topic_authorized_operations;   /* v8+ */
};

struct krc_metadata_broker {
    int32_t node_id;
    struct krc_bytes host;
    int32_t port;
    struct krc_bytes rack; /* nullable */
};

struct krc_metadata_partition {
    int16_t error_code;
    int32_t index;
    int32_t leader_id;    /* -1: none */
    int32_t leader_epoch; /* v7+, else -1 */
    int32_t *replicas, *in_sync, *offline; /* offline: v5+ */
    int32_t replica_count, in_sync_count, offline_count;
};

struct krc_metadata_topic {
    int16_t error_code;
    struct krc_bytes name; /* nullable v12+ */
    struct krc_uuid id;    /* v10+, else zero */
    bool is_internal;
    struct krc_metadata_partition *partitions; /* writing */
    int32_t partition_count;
    struct krc_wire_rows rows; /* reading: of partitions */
    int32_t authorized_operations; /* v8+ */
};

struct krc_metadata_response {
    int32_t throttle_time_ms;
    struct krc_metadata_broker *brokers; /* writing */
    int32_t broker_count;
    struct krc_wire_rows broker_rows; /* reading */
    struct krc_bytes cluster_id; /* nullable */
    int32_t controller_id;
    struct krc_metadata_topic *topics; /* writing */
    int32_t topic_count;
    struct krc_wire_rows rows; /* reading: of topics */
    int32_t cluster_authorized_operations; /* v8-10 */
    int16_t error_code;                    /* v13+ */
};

void krc_metadata_request(struct krc_wire *w, void *request);
void krc_metadata_response(struct krc_wire *w, void *response);

#endif
