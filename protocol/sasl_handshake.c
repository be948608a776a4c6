#include "protocol/sasl_handshake.h"

/*
 * SaslHandshake request:
 *      string  mechanism
 */
void krc_sasl_handshake_request(struct krc_wire *w, void *request)
{
    struct krc_sasl_handshake_request *r = request;
    krc_wire_string(w, &r->mechanism);
}

/*
 * SaslHandshake response:
 *      int16     error code
 *      [string]  mechanisms
 */
void krc_sasl_handshake_response(struct krc_wire *w, void *response)
{
    struct krc_sasl_handshake_response *r = response;
    krc_wire_i16(w, &r->error_code);
    krc_wire_string_array(w, &r->mechanisms, &r->mechanism_count);
}
