/* FindCoordinator: which broker keeps a group's offsets. */
#ifndef KRC_PROTOCOL_FIND_COORDINATOR_H
#define KRC_PROTOCOL_FIND_COORDINATOR_H

#include "protocol/wire.h"

/* One key is asked for, in every version. */
struct krc_find_coordinator_request {
    struct krc_bytes key;
    int8_t key_type; /* v1+; 0: group, 1: transaction */
};

/* v4 and later answer with an array, whose first element is meant. */
struct krc_find_coordinator_response {
    int32_t throttle_time_ms; /* v1+ */
    struct krc_bytes key;     /* v4+ */
    int16_t error_code;
    struct krc_bytes error_message; /* v1+, nullable */
    int32_t node_id;
    struct krc_bytes host;
    int32_t port;
};

void krc_find_coordinator_request(struct krc_wire *w, void *request);
void krc_find_coordinator_response(struct krc_wire *w, void *response);

#endif
