#include "protocol/find_coordinator.h"

enum { KEY_LEAST = 1, COORDINATOR_LEAST = 14 };

/*
 * FindCoordinator request:
 *      string    key       v0-3
 *      int8      key type  v1+
 *      [string]  keys      v4+
 */
void krc_find_coordinator_request(struct krc_wire *w, void *request)
{
    struct krc_find_coordinator_request *r = request;
    if (w->version <= 3)
        krc_wire_string(w, &r->key);
    if (w->version >= 1)
        krc_wire_i8(w, &r->key_type);
    if (w->version >= 4) {
        int32_t count = krc_wire_count_of_one(w, KEY_LEAST);
        for (int32_t i = 0; i < count; i++)
            krc_wire_string(w, i == 0 ? &r->key : &(struct krc_bytes){0});
    }
    krc_wire_tags(w);
}

/*
 * A coordinator, from v4 on:
 *      string  key
 *      int32   node id
 *      string  host
 *      int32   port
 *      int16   error code
 *      string  error message, nullable
 */
static void coordinator(struct krc_wire *w, struct krc_find_coordinator_response *r)
{
    krc_wire_string(w, &r->key);
    krc_wire_i32(w, &r->node_id);
    krc_wire_string(w, &r->host);
    krc_wire_i32(w, &r->port);
    krc_wire_i16(w, &r->error_code);
    krc_wire_nullable_string(w, &r->error_message);
    krc_wire_tags(w);
}

/* The same until v3. */
static void only_coordinator(struct krc_wire *w, struct krc_find_coordinator_response *r)
{
    krc_wire_i16(w, &r->error_code);
    if (w->version >= 1)
        krc_wire_nullable_string(w, &r->error_message);
    krc_wire_i32(w, &r->node_id);
    krc_wire_string(w, &r->host);
    krc_wire_i32(w, &r->port);
}

/*
 * FindCoordinator response:
 *      int32          throttle time in ms      v1+
 *      int16          error code               v0-3
 *      string         error message, nullable  v1-3
 *      int32          node id                  v0-3
 *      string         host                     v0-3
 *      int32          port                     v0-3
 *      [coordinator]                           v4+
 */
void krc_find_coordinator_response(struct krc_wire *w, void *response)
{
    struct krc_find_coordinator_response *r = response;
    if (w->version >= 1)
        krc_wire_i32(w, &r->throttle_time_ms);
    if (w->version <= 3) {
        only_coordinator(w, r);
    } else {
        int32_t count = krc_wire_count_of_one(w, COORDINATOR_LEAST);
        for (int32_t i = 0; i < count; i++)
            coordinator(w, i == 0 ? r : &(struct krc_find_coordinator_response){0});
    }
    krc_wire_tags(w);
}
