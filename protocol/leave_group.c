#include "protocol/leave_group.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { REQUEST_MEMBER_LEAST = 3, MEMBER_LEAST = 5 };

/*
 * A member that leaves, from v3 on:
 *      string  member id
 *      string  instance id, nullable
 *      string  reason, nullable  v5+
 */
static void request_member(struct krc_wire *w, struct krc_leave_group_request *r)
{
    krc_wire_string(w, &r->member_id);
    krc_wire_nullable_string(w, &r->instance_id);
    if (w->version >= 5)
        krc_wire_nullable_string(w, &r->reason);
    krc_wire_tags(w);
}

/*
 * LeaveGroup request:
 *      string    group id
 *      string    member id  v1-2
 *      [member]             v3+
 */
void krc_leave_group_request(struct krc_wire *w, void *request)
{
    struct krc_leave_group_request *r = request;
    krc_wire_string(w, &r->group);
    if (w->version <= 2) {
        krc_wire_string(w, &r->member_id);
    } else {
        int32_t count = krc_wire_count_of_one(w, REQUEST_MEMBER_LEAST);
        for (int32_t i = 0; i < count; i++)
            request_member(w, i == 0 ? r : &(struct krc_leave_group_request){0});
    }
    krc_wire_tags(w);
}

/*
 * What came of a member:
 *      string  member id
 *      string  instance id, nullable
 *      int16   error code
 */
static void member(struct krc_wire *w, void *element)
{
    struct krc_leave_group_member *m = element;
    krc_wire_string(w, &m->member_id);
    krc_wire_nullable_string(w, &m->instance_id);
    krc_wire_i16(w, &m->error_code);
    krc_wire_tags(w);
}

/*
 * LeaveGroup response:
 *      int32     throttle time in ms
 *      int16     error code
 *      [member]  v3+
 */
void krc_leave_group_response(struct krc_wire *w, void *response)
{
    struct krc_leave_group_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_i16(w, &r->error_code);
    if (w->version >= 3)
        krc_wire_array(w, &r->members, &r->member_count, sizeof *r->members, MEMBER_LEAST, member);
    krc_wire_tags(w);
}
