#include "protocol/describe_groups.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { MEMBER_LEAST = 7, GROUP_LEAST = 12 };

/* What an answer says that was not asked for the operations allowed. */
enum { OPERATIONS_NOT_ASKED = INT32_MIN };

/*
 * DescribeGroups request:
 *      [string]  group ids
 *      bool      wants the operations allowed  v3+
 */
void krc_describe_groups_request(struct krc_wire *w, void *request)
{
    struct krc_describe_groups_request *r = request;
    krc_wire_string_array(w, &r->groups, &r->group_count);
    if (w->version >= 3)
        krc_wire_bool(w, &(bool){false});
    krc_wire_tags(w);
}

/*
 * A member:
 *      string  member id
 *      string  instance id, nullable  v4+
 *      string  client id
 *      string  host of the client
 *      bytes   metadata
 *      bytes   assignment
 */
static void member(struct krc_wire *w, void *element)
{
    struct krc_described_member *m = element;
    krc_wire_string(w, &m->member_id);
    if (w->version >= 4)
        krc_wire_nullable_string(w, &m->instance_id);
    krc_wire_string(w, &m->client_id);
    krc_wire_string(w, &m->client_host);
    krc_wire_bytes(w, &m->metadata);
    krc_wire_bytes(w, &m->assignment);
    krc_wire_tags(w);
}

/*
 * A group:
 *      int16     error code
 *      string    error message, nullable  v6+
 *      string    group id
 *      string    state
 *      string    protocol type
 *      string    protocol name
 *      [member]
 *      int32     operations allowed  v3+
 */
static void group(struct krc_wire *w, void *element)
{
    struct krc_described_group *g = element;
    krc_wire_i16(w, &g->error_code);
    if (w->version >= 6)
        krc_wire_nullable_string(w, &g->error_message);
    krc_wire_string(w, &g->group);
    krc_wire_string(w, &g->state);
    krc_wire_string(w, &g->protocol_type);
    krc_wire_string(w, &g->protocol_name);
    krc_wire_array(w, &g->members, &g->member_count, sizeof *g->members, MEMBER_LEAST, member);
    if (w->version >= 3)
        krc_wire_i32(w, &(int32_t){OPERATIONS_NOT_ASKED});
    krc_wire_tags(w);
}

/*
 * DescribeGroups response:
 *      int32    throttle time in ms
 *      [group]
 */
void krc_describe_groups_response(struct krc_wire *w, void *response)
{
    struct krc_describe_groups_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->groups, &r->group_count, sizeof *r->groups, GROUP_LEAST, group);
    krc_wire_tags(w);
}
