#include "protocol/describe_configs.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { RESOURCE_LEAST = 4, RESULT_LEAST = 7, ENTRY_LEAST = 7, SYNONYM_LEAST = 4 };

/*
 * A resource to ask about:
 *      int8      type
 *      string    name
 *      [string]  keys, null: all
 */
static void resource(struct krc_wire *w, void *element)
{
    struct krc_describe_configs_resource *r = element;
    krc_wire_i8(w, &r->type);
    krc_wire_string(w, &r->name);
    krc_wire_nullable_string_array(w, &r->keys, &r->key_count);
    krc_wire_tags(w);
}

/*
 * DescribeConfigs request:
 *      [resource]
 *      bool        wants synonyms       v1+
 *      bool        wants documentation  v3+
 */
void krc_describe_configs_request(struct krc_wire *w, void *request)
{
    struct krc_describe_configs_request *r = request;
    krc_wire_array(w, &r->resources, &r->resource_count, sizeof *r->resources, RESOURCE_LEAST,
                   resource);
    if (w->version >= 1)
        krc_wire_bool(w, &(bool){false});
    if (w->version >= 3)
        krc_wire_bool(w, &(bool){false});
    krc_wire_tags(w);
}

/*
 * Where else a value is set; read over, and never written:
 *      string  name
 *      string  value, nullable
 *      int8    source
 */
static void synonyms(struct krc_wire *w)
{
    int32_t count = 0;
    krc_wire_count(w, &count, SYNONYM_LEAST);
    for (int32_t i = 0; i < count; i++) {
        krc_wire_string(w, &(struct krc_bytes){0});
        krc_wire_nullable_string(w, &(struct krc_bytes){0});
        krc_wire_i8(w, &(int8_t){0});
        krc_wire_tags(w);
    }
}

/*
 * A property:
 *      string     name
 *      string     value, nullable
 *      bool       is read only
 *      bool       is the default           v0
 *      int8       source                   v1+
 *      bool       is sensitive
 *      [synonym]                           v1+
 *      int8       type                     v3+
 *      string     documentation, nullable  v3+
 */
static void entry(struct krc_wire *w, void *element)
{
    struct krc_config_entry *e = element;
    krc_wire_string(w, &e->name);
    krc_wire_nullable_string(w, &e->value);
    krc_wire_bool(w, &(bool){false});
    krc_wire_i8(w, &(int8_t){0});
    krc_wire_bool(w, &(bool){false});
    if (w->version >= 1)
        synonyms(w);
    if (w->version >= 3) {
        krc_wire_i8(w, &(int8_t){0});
        krc_wire_nullable_string(w, &(struct krc_bytes){0});
    }
    krc_wire_tags(w);
}

/*
 * A resource's answer:
 *      int16       error code
 *      string      error message, nullable
 *      int8        type
 *      string      name
 *      [property]
 */
static void result(struct krc_wire *w, void *element)
{
    struct krc_config_result *r = element;
    krc_wire_i16(w, &r->error_code);
    krc_wire_nullable_string(w, &r->error_message);
    krc_wire_i8(w, &r->type);
    krc_wire_string(w, &r->name);
    krc_wire_array(w, &r->entries, &r->entry_count, sizeof *r->entries, ENTRY_LEAST, entry);
    krc_wire_tags(w);
}

/*
 * DescribeConfigs response:
 *      int32     throttle time in ms
 *      [result]
 */
void krc_describe_configs_response(struct krc_wire *w, void *response)
{
    struct krc_describe_configs_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->results, &r->result_count, sizeof *r->results, RESULT_LEAST, result);
    krc_wire_tags(w);
}
