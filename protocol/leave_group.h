/* LeaveGroup: a member leaves a classic group. */
#ifndef KRC_PROTOCOL_LEAVE_GROUP_H
#define KRC_PROTOCOL_LEAVE_GROUP_H

#include "protocol/wire.h"

/* One member leaves, in every version. */
struct krc_leave_group_request {
    struct krc_bytes group;
    struct krc_bytes member_id;   /* "": whoever has the instance id (v3+) */
    struct krc_bytes instance_id; /* v3+, nullable */
    struct krc_bytes reason;      /* v5+, nullable */
};

struct krc_leave_group_member {
    struct krc_bytes member_id;
    struct krc_bytes instance_id; /* nullable */
    int16_t error_code;
};

struct krc_leave_group_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    struct krc_leave_group_member *members; /* v3+; none where the error is the group's */
    int32_t member_count;
};

void krc_leave_group_request(struct krc_wire *w, void *request);
void krc_leave_group_response(struct krc_wire *w, void *response);

#endif
