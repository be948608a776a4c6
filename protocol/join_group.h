/* JoinGroup: becomes or stays a member of a classic group, and waits for the others. */
#ifndef KRC_PROTOCOL_JOIN_GROUP_H
#define KRC_PROTOCOL_JOIN_GROUP_H

#include "protocol/wire.h"

struct krc_join_group_protocol {
    struct krc_bytes name;     /* "cooperative-sticky" */
    struct krc_bytes metadata; /* the member's subscription */
};

struct krc_join_group_request {
    struct krc_bytes group;
    int32_t session_timeout_ms, rebalance_timeout_ms;
    struct krc_bytes member_id;     /* "": none yet */
    struct krc_bytes instance_id;   /* v5+, nullable */
    struct krc_bytes protocol_type; /* "consumer" */
    struct krc_join_group_protocol *protocols;
    int32_t protocol_count;
    struct krc_bytes reason; /* v8+, nullable */
};

struct krc_join_group_member {
    struct krc_bytes member_id;
    struct krc_bytes instance_id; /* v5+, nullable */
    struct krc_bytes metadata;
};

struct krc_join_group_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    int32_t generation_id;
    struct krc_bytes protocol_type; /* v7+, nullable */
    struct krc_bytes protocol_name; /* nullable v7+ */
    struct krc_bytes leader;        /* its member id */
    bool skip_assignment;           /* v9+: the leader is to leave the assignments as they are */
    struct krc_bytes member_id;
    struct krc_join_group_member *members; /* of the leader's response alone */
    int32_t member_count;
};

void krc_join_group_request(struct krc_wire *w, void *request);
void krc_join_group_response(struct krc_wire *w, void *response);

#endif
