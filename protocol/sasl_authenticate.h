/* SaslAuthenticate: a message of the mechanism to the broker, and the broker's to us. */
#ifndef KRC_PROTOCOL_SASL_AUTHENTICATE_H
#define KRC_PROTOCOL_SASL_AUTHENTICATE_H

#include "protocol/wire.h"

struct krc_sasl_authenticate_request {
    struct krc_bytes auth_bytes; /* not null */
};

struct krc_sasl_authenticate_response {
    int16_t error_code;
    struct krc_bytes error_message; /* nullable */
    struct krc_bytes auth_bytes;
    int64_t session_lifetime_ms; /* v1+; 0: the session does not end */
};

void krc_sasl_authenticate_request(struct krc_wire *w, void *request);
void krc_sasl_authenticate_response(struct krc_wire *w, void *response);

#endif
