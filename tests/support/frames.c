#include "tests/support/frames.h"

#include <check.h>

static bool find_api(int16_t key, int16_t version, enum krc_api_name *api)
{
    for (int i = 0; i < KRC_API_COUNT; i++) {
        const struct krc_api_info *info = &krc_apis[i];
        *api = (enum krc_api_name)i;
        if (info->key == key)
            return version >= info->lowest && version <= info->highest;
    }
    return false;
}

int frame_read_request(const uint8_t *frame, size_t len, struct frame_request *request,
                       struct krc_arena *arena)
{
    struct krc_wire w = {.in = krc_cursor(frame, len), .arena = arena};
    int16_t key;
    krc_wire_i16(&w, &key);
    krc_wire_i16(&w, &request->version);
    krc_wire_i32(&w, &request->correlation_id);
    krc_wire_nullable_string(&w, &request->client_id);
    if (w.rc != KRC_OK)
        return w.rc;
    if (!find_api(key, request->version, &request->api))
        return KRC_E_UNSUPPORTED;
    const struct krc_api_info *info = &krc_apis[request->api];
    w.version = request->version;
    w.flexible = w.version >= info->first_flexible;
    krc_wire_tags(&w);
    request->body = krc_arena_take(arena, info->request_size);
    if (request->body == NULL)
        return KRC_E_NOMEM;
    info->request(&w, request->body);
    if (w.rc == KRC_OK && krc_left(&w.in) != 0)
        return KRC_E_CORRUPT;
    return w.rc;
}

void frame_write_response(struct krc_buffer *out, enum krc_api_name api, int16_t version,
                          int32_t correlation_id, const void *response)
{
    const struct krc_api_info *info = &krc_apis[api];
    struct krc_wire w = {.writing = true,
                         .flexible = version >= info->first_flexible,
                         .version = version,
                         .out = out};
    size_t start = out->len;
    krc_wire_i32(&w, &(int32_t){0}); /* the size, once it is known */
    krc_wire_i32(&w, &correlation_id);
    if (api != KRC_API_API_VERSIONS)
        krc_wire_tags(&w);
    info->response(&w, (void *)(uintptr_t)response);
    ck_assert_int_eq(w.rc, KRC_OK);
    krc_put_be32(out->data + start, (uint32_t)(out->len - start - 4));
}
