/* SyncGroup: the leader of a classic group hands out assignments, each member gets its own. */
#ifndef KRC_PROTOCOL_SYNC_GROUP_H
#define KRC_PROTOCOL_SYNC_GROUP_H

#include "protocol/wire.h"

struct krc_sync_group_assignment {
    struct krc_bytes member_id;
    struct krc_bytes assignment;
};

struct krc_sync_group_request {
    struct krc_bytes group;
    int32_t generation_id;
    struct krc_bytes member_id;
    struct krc_bytes instance_id;                  /* v3+, nullable */
    struct krc_bytes protocol_type, protocol_name; /* v5+, nullable */
    struct krc_sync_group_assignment *assignments; /* of the leader alone */
    int32_t assignment_count;
};

struct krc_sync_group_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    struct krc_bytes protocol_type, protocol_name; /* v5+, nullable */
    struct krc_bytes assignment;
};

void krc_sync_group_request(struct krc_wire *w, void *request);
void krc_sync_group_response(struct krc_wire *w, void *response);

#endif
