#include "protocol/join_group.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { PROTOCOL_LEAST = 3, MEMBER_LEAST = 4 };

/*
 * A protocol that the member can do:
 *      string  name
 *      bytes   metadata
 */
static void protocol(struct krc_wire *w, void *element)
{
    struct krc_join_group_protocol *p = element;
    krc_wire_string(w, &p->name);
    krc_wire_bytes(w, &p->metadata);
    krc_wire_tags(w);
}

/*
 * JoinGroup request:
 *      string      group id
 *      int32       session time-out in ms
 *      int32       rebalance time-out in ms
 *      string      member id
 *      string      instance id, nullable  v5+
 *      string      protocol type
 *      [protocol]
 *      string      reason, nullable       v8+
 */
void krc_join_group_request(struct krc_wire *w, void *request)
{
    struct krc_join_group_request *r = request;
    krc_wire_string(w, &r->group);
    krc_wire_i32(w, &r->session_timeout_ms);
    krc_wire_i32(w, &r->rebalance_timeout_ms);
    krc_wire_string(w, &r->member_id);
    if (w->version >= 5)
        krc_wire_nullable_string(w, &r->instance_id);
    krc_wire_string(w, &r->protocol_type);
    krc_wire_array(w, &r->protocols, &r->protocol_count, sizeof *r->protocols, PROTOCOL_LEAST,
                   protocol);
    if (w->version >= 8)
        krc_wire_nullable_string(w, &r->reason);
    krc_wire_tags(w);
}

/*
 * A member:
 *      string  member id
 *      string  instance id, nullable  v5+
 *      bytes   metadata
 */
static void member(struct krc_wire *w, void *element)
{
    struct krc_join_group_member *m = element;
    krc_wire_string(w, &m->member_id);
    if (w->version >= 5)
        krc_wire_nullable_string(w, &m->instance_id);
    krc_wire_bytes(w, &m->metadata);
    krc_wire_tags(w);
}

/*
 * JoinGroup response:
 *      int32     throttle time in ms
 *      int16     error code
 *      int32     generation
 *      string    protocol type, nullable  v7+
 *      string    protocol name, nullable v7+
 *      string    member id of the leader
 *      bool      assignments stay as they are  v9+
 *      string    member id
 *      [member]
 */
void krc_join_group_response(struct krc_wire *w, void *response)
{
    struct krc_join_group_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_i16(w, &r->error_code);
    krc_wire_i32(w, &r->generation_id);
    if (w->version >= 7) {
        krc_wire_nullable_string(w, &r->protocol_type);
        krc_wire_nullable_string(w, &r->protocol_name);
    } else {
        krc_wire_string(w, &r->protocol_name);
    }
    krc_wire_string(w, &r->leader);
    if (w->version >= 9)
        krc_wire_bool(w, &r->skip_assignment);
    krc_wire_string(w, &r->member_id);
    krc_wire_array(w, &r->members, &r->member_count, sizeof *r->members, MEMBER_LEAST, member);
    krc_wire_tags(w);
}
