/* ApiVersions: which requests, in which versions, a broker answers. */
#ifndef KRC_PROTOCOL_API_VERSIONS_H
#define KRC_PROTOCOL_API_VERSIONS_H

#include "protocol/wire.h"

struct krc_api_versions_request {
    /* v3+; letters, digits, '-' and '.', of which the last two neither begin nor end them */
    struct krc_bytes software_name, software_version;
};

struct krc_api_range {
    int16_t key, lowest, highest;
};

struct krc_api_versions_response {
    int16_t error_code; /* UNSUPPORTED_VERSION: the body is of version 0, and may hold the range of
                           ApiVersions itself */
    struct krc_api_range *ranges;
    int32_t range_count;
    int32_t throttle_time_ms; /* v1+ */
};

void krc_api_versions_request(struct krc_wire *w, void *request);
void krc_api_versions_response(struct krc_wire *w, void *response);

#endif
