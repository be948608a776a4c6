/* ListGroups: the groups that a broker coordinates. */
#ifndef KRC_PROTOCOL_LIST_GROUPS_H
#define KRC_PROTOCOL_LIST_GROUPS_H

#include "protocol/wire.h"

/* Older brokers do not filter. */
struct krc_list_groups_request {
    struct krc_bytes *states; /* v4+; none: all */
    int32_t state_count;
    struct krc_bytes *types; /* v5+; none: all */
    int32_t type_count;
};

struct krc_listed_group {
    struct krc_bytes group;
    struct krc_bytes protocol_type; /* "consumer"; "" where only offsets are kept */
    struct krc_bytes state;         /* v4+ */
    struct krc_bytes type;          /* v5+, "classic" or "consumer" */
};

struct krc_list_groups_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    struct krc_listed_group *groups;
    int32_t group_count;
};

void krc_list_groups_request(struct krc_wire *w, void *request);
void krc_list_groups_response(struct krc_wire *w, void *response);

#endif
