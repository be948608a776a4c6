#include "protocol/sasl_authenticate.h"

/*
 * SaslAuthenticate request:
 *      bytes  the mechanism's message
 */
void krc_sasl_authenticate_request(struct krc_wire *w, void *request)
{
    struct krc_sasl_authenticate_request *r = request;
    krc_wire_bytes(w, &r->auth_bytes);
    krc_wire_tags(w);
}

/*
 * SaslAuthenticate response:
 *      int16   error code
 *      string  error message, nullable
 *      bytes   the mechanism's message
 *      int64   lifetime of the session in ms  v1+
 */
void krc_sasl_authenticate_response(struct krc_wire *w, void *response)
{
    struct krc_sasl_authenticate_response *r = response;
    krc_wire_i16(w, &r->error_code);
    krc_wire_nullable_string(w, &r->error_message);
    krc_wire_bytes(w, &r->auth_bytes);
    krc_wire_i64_since(w, 1, &r->session_lifetime_ms, 0);
    krc_wire_tags(w);
}
