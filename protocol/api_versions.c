#include "protocol/api_versions.h"

/*
 * ApiVersions request:
 *      compact string  client software name     v3+
 *      compact string  client software version  v3+
 */
void krc_api_versions_request(struct krc_wire *w, void *request)
{
    struct krc_api_versions_request *r = request;
    if (w->version >= 3) {
        krc_wire_string(w, &r->software_name);
        krc_wire_string(w, &r->software_version);
    }
    krc_wire_tags(w);
}

/*
 * A range of versions:
 *      int16  api key
 *      int16  lowest version
 *      int16  highest version
 */
enum { RANGE_LEAST = 6 };

static void range(struct krc_wire *w, void *element)
{
    struct krc_api_range *r = element;
    krc_wire_i16(w, &r->key);
    krc_wire_i16(w, &r->lowest);
    krc_wire_i16(w, &r->highest);
    krc_wire_tags(w);
}

/*
 * ApiVersions response:
 *      int16    error code
 *      [range]  the requests that are answered
 *      int32    throttle time in ms  v1+
 *      tags of features, which are the brokers' own business
 */
void krc_api_versions_response(struct krc_wire *w, void *response)
{
    struct krc_api_versions_response *r = response;
    krc_wire_i16(w, &r->error_code);
    krc_wire_array(w, &r->ranges, &r->range_count, sizeof *r->ranges, RANGE_LEAST, range);
    if (w->version >= 1)
        krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_tags(w);
}
