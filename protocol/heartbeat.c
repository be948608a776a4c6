#include "protocol/heartbeat.h"

/*
 * Heartbeat request:
 *      string  group id
 *      int32   generation
 *      string  member id
 *      string  instance id, nullable  v3+
 */
void krc_heartbeat_request(struct krc_wire *w, void *request)
{
    struct krc_heartbeat_request *r = request;
    krc_wire_string(w, &r->group);
    krc_wire_i32(w, &r->generation_id);
    krc_wire_string(w, &r->member_id);
    if (w->version >= 3)
        krc_wire_nullable_string(w, &r->instance_id);
    krc_wire_tags(w);
}

/*
 * Heartbeat response:
 *      int32  throttle time in ms
 *      int16  error code
 */
void krc_heartbeat_response(struct krc_wire *w, void *response)
{
    struct krc_heartbeat_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_i16(w, &r->error_code);
    krc_wire_tags(w);
}
