/* Heartbeat: a member of a classic group is alive, and hears whether the group rebalances. */
#ifndef KRC_PROTOCOL_HEARTBEAT_H
#define KRC_PROTOCOL_HEARTBEAT_H

#include "protocol/wire.h"

struct krc_heartbeat_request {
    struct krc_bytes group;
    int32_t generation_id;
    struct krc_bytes member_id;
    struct krc_bytes instance_id; /* v3+, nullable */
};

struct krc_heartbeat_response {
    int32_t throttle_time_ms;
    int16_t error_code;
};

void krc_heartbeat_request(struct krc_wire *w, void *request);
void krc_heartbeat_response(struct krc_wire *w, void *response);

#endif
