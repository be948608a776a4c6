/* ConsumerGroupDescribe: the states and members of consumer groups (KIP-848). */
#ifndef KRC_PROTOCOL_CONSUMER_GROUP_DESCRIBE_H
#define KRC_PROTOCOL_CONSUMER_GROUP_DESCRIBE_H

#include "protocol/wire.h"

struct krc_consumer_group_describe_request {
    struct krc_bytes *groups;
    int32_t group_count;
    /* operations allowed: never asked for */
};

struct krc_consumer_group_topic {
    struct krc_uuid id;
    struct krc_bytes name;
    int32_t *partitions;
    int32_t partition_count;
};

struct krc_consumer_group_assignment {
    struct krc_consumer_group_topic *topics;
    int32_t topic_count;
};

struct krc_consumer_group_member {
    struct krc_bytes member_id;
    struct krc_bytes instance_id; /* nullable */
    struct krc_bytes rack_id;     /* nullable */
    int32_t member_epoch;
    struct krc_bytes client_id;
    struct krc_bytes client_host;
    struct krc_bytes *subscribed_topic_names;
    int32_t subscribed_topic_name_count;
    struct krc_bytes subscribed_topic_regex; /* nullable */
    struct krc_consumer_group_assignment assignment, target;
    int8_t member_type; /* v1+, else -1; 0: classic, 1: consumer */
};

struct krc_consumer_group {
    int16_t error_code;
    struct krc_bytes error_message; /* nullable */
    struct krc_bytes group;
    struct krc_bytes state;
    int32_t group_epoch, assignment_epoch;
    struct krc_bytes assignor;
    struct krc_consumer_group_member *members;
    int32_t member_count;
};

struct krc_consumer_group_describe_response {
    int32_t throttle_time_ms;
    struct krc_consumer_group *groups;
    int32_t group_count;
};

void krc_consumer_group_describe_request(struct krc_wire *w, void *request);
void krc_consumer_group_describe_response(struct krc_wire *w, void *response);

#endif
