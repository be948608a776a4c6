#include "protocol/list_groups.h"

/* The bytes that one takes at the least, in whichever version that is. */
enum { GROUP_LEAST = 3 };

/*
 * ListGroups request:
 *      [string]  states  v4+
 *      [string]  types   v5+
 */
void krc_list_groups_request(struct krc_wire *w, void *request)
{
    struct krc_list_groups_request *r = request;
    if (w->version >= 4)
        krc_wire_string_array(w, &r->states, &r->state_count);
    if (w->version >= 5)
        krc_wire_string_array(w, &r->types, &r->type_count);
    krc_wire_tags(w);
}

/*
 * A group:
 *      string  group id
 *      string  protocol type
 *      string  state  v4+
 *      string  type   v5+
 */
static void group(struct krc_wire *w, void *element)
{
    struct krc_listed_group *g = element;
    krc_wire_string(w, &g->group);
    krc_wire_string(w, &g->protocol_type);
    if (w->version >= 4)
        krc_wire_string(w, &g->state);
    if (w->version >= 5)
        krc_wire_string(w, &g->type);
    krc_wire_tags(w);
}

/*
 * ListGroups response:
 *      int32    throttle time in ms
 *      int16    error code
 *      [group]
 */
void krc_list_groups_response(struct krc_wire *w, void *response)
{
    struct krc_list_groups_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_i16(w, &r->error_code);
    krc_wire_array(w, &r->groups, &r->group_count, sizeof *r->groups, GROUP_LEAST, group);
    krc_wire_tags(w);
}
