/* DescribeGroups: the states and members of classic groups. */
#ifndef KRC_PROTOCOL_DESCRIBE_GROUPS_H
#define KRC_PROTOCOL_DESCRIBE_GROUPS_H

#include "protocol/wire.h"

struct krc_describe_groups_request {
    struct krc_bytes *groups;
    int32_t group_count;
    /* operations allowed: never asked for */
};

struct krc_described_member {
    struct krc_bytes member_id;
    struct krc_bytes instance_id; /* v4+, nullable */
    struct krc_bytes client_id;
    struct krc_bytes client_host;
    struct krc_bytes metadata, assignment; /* empty unless the group is stable */
};

struct krc_described_group {
    int16_t error_code;
    struct krc_bytes error_message; /* v6+, nullable */
    struct krc_bytes group;
    struct krc_bytes state;         /* "Dead" (until v5): there is no such group */
    struct krc_bytes protocol_type; /* "consumer" */
    struct krc_bytes protocol_name; /* "" unless the group is stable */
    struct krc_described_member *members;
    int32_t member_count;
};

struct krc_describe_groups_response {
    int32_t throttle_time_ms;
    struct krc_described_group *groups;
    int32_t group_count;
};

void krc_describe_groups_request(struct krc_wire *w, void *request);
void krc_describe_groups_response(struct krc_wire *w, void *response);

#endif
