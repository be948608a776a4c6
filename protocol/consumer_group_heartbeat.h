/* ConsumerGroupHeartbeat: all that a member of a consumer group tells and hears (KIP-848). */
#ifndef KRC_PROTOCOL_CONSUMER_GROUP_HEARTBEAT_H
#define KRC_PROTOCOL_CONSUMER_GROUP_HEARTBEAT_H

#include "protocol/wire.h"

enum {
    KRC_MEMBER_JOINS = 0,
    KRC_MEMBER_LEAVES = -1,
    KRC_MEMBER_LEAVES_FOR_NOW = -2, /* a static one, which is to come back */
};

struct krc_consumer_group_heartbeat_topic {
    struct krc_uuid id;
    int32_t *partitions;
    int32_t partition_count;
};

/* What may be null is so where it is what the last heartbeat said. */
struct krc_consumer_group_heartbeat_request {
    struct krc_bytes group;
    struct krc_bytes member_id;   /* chosen by the member; in v0 "" for the broker to choose */
    int32_t member_epoch;         /* or one of those above */
    struct krc_bytes instance_id; /* nullable */
    struct krc_bytes rack_id;     /* nullable */
    int32_t rebalance_timeout_ms; /* -1: unchanged */
    struct krc_bytes *subscribed_topic_names;
    int32_t subscribed_topic_name_count;               /* -1: null */
    struct krc_bytes subscribed_topic_regex;           /* v1+, nullable; "": none any more */
    struct krc_bytes server_assignor;                  /* nullable */
    struct krc_consumer_group_heartbeat_topic *topics; /* whose partitions the member has */
    int32_t topic_count;                               /* -1: null */
};

struct krc_consumer_group_heartbeat_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    struct krc_bytes error_message; /* nullable */
    struct krc_bytes member_id;     /* nullable */
    int32_t member_epoch;
    int32_t heartbeat_interval_ms;
    struct krc_consumer_group_heartbeat_topic *assignment; /* what the member may have now */
    int32_t assignment_count;                              /* -1: null, unchanged */
};

void krc_consumer_group_heartbeat_request(struct krc_wire *w, void *request);
void krc_consumer_group_heartbeat_response(struct krc_wire *w, void *response);

#endif
