/* SaslHandshake: names the mechanism, whose messages follow: after version 1 in SaslAuthenticate,
 * after version 0 as frames without a header. */
#ifndef KRC_PROTOCOL_SASL_HANDSHAKE_H
#define KRC_PROTOCOL_SASL_HANDSHAKE_H

#include "protocol/wire.h"

struct krc_sasl_handshake_request {
    struct krc_bytes mechanism;
};

struct krc_sasl_handshake_response {
    int16_t error_code;           /* UNSUPPORTED_SASL_MECHANISM: it is none of those below */
    struct krc_bytes *mechanisms; /* that the listener takes */
    int32_t mechanism_count;
};

void krc_sasl_handshake_request(struct krc_wire *w, void *request);
void krc_sasl_handshake_response(struct krc_wire *w, void *response);

#endif
