#include "protocol/sync_group.h"

/* The bytes that one takes at the least, in whichever version that is. */
enum { ASSIGNMENT_LEAST = 3 };

/*
 * A member's assignment:
 *      string  member id
 *      bytes   assignment
 */
static void assignment(struct krc_wire *w, void *element)
{
    struct krc_sync_group_assignment *a = element;
    krc_wire_string(w, &a->member_id);
    krc_wire_bytes(w, &a->assignment);
    krc_wire_tags(w);
}

/*
 * SyncGroup request:
 *      string        group id
 *      int32         generation
 *      string        member id
 *      string        instance id, nullable    v3+
 *      string        protocol type, nullable  v5+
 *      string        protocol name, nullable  v5+
 *      [assignment]
 */
void krc_sync_group_request(struct krc_wire *w, void *request)
{
    struct krc_sync_group_request *r = request;
    krc_wire_string(w, &r->group);
    krc_wire_i32(w, &r->generation_id);
    krc_wire_string(w, &r->member_id);
    if (w->version >= 3)
        krc_wire_nullable_string(w, &r->instance_id);
    if (w->version >= 5) {
        krc_wire_nullable_string(w, &r->protocol_type);
        krc_wire_nullable_string(w, &r->protocol_name);
    }
    krc_wire_array(w, &r->assignments, &r->assignment_count, sizeof *r->assignments,
                   ASSIGNMENT_LEAST, assignment);
    krc_wire_tags(w);
}

/*
 * SyncGroup response:
 *      int32   throttle time in ms
 *      int16   error code
 *      string  protocol type, nullable  v5+
 *      string  protocol name, nullable  v5+
 *      bytes   assignment
 */
void krc_sync_group_response(struct krc_wire *w, void *response)
{
    struct krc_sync_group_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_i16(w, &r->error_code);
    if (w->version >= 5) {
        krc_wire_nullable_string(w, &r->protocol_type);
        krc_wire_nullable_string(w, &r->protocol_name);
    }
    krc_wire_bytes(w, &r->assignment);
    krc_wire_tags(w);
}
