#include "protocol/api.h"

/* clang-format off */
#define DESCRIBE_API(NAME, api, text, key, lowest, highest, flexible)                   \
    {text, key, lowest, highest, flexible, krc_##api##_request, krc_##api##_response,   \
     sizeof(struct krc_##api##_request), sizeof(struct krc_##api##_response)},
/* clang-format on */
const struct krc_api_info krc_apis[KRC_API_COUNT] = {KRC_APIS(DESCRIBE_API)};
#undef DESCRIBE_API

int16_t krc_api_version(enum krc_api_name api, int16_t broker_lowest, int16_t broker_highest)
{
    const struct krc_api_info *info = &krc_apis[api];
    int16_t lowest = info->lowest > broker_lowest ? info->lowest : broker_lowest;
    int16_t highest = info->highest < broker_highest ? info->highest : broker_highest;
    return lowest <= highest ? highest : -1;
}

/* A description takes pointers that it reads through or writes to, as the wire's mode says. */
static void *only_read(const void *p)
{
    return (void *)(uintptr_t)p;
}

/* Request header v1, and v2 with the tags: the client id keeps its int16 length in both. */
static void write_request_header(struct krc_wire *w, const struct krc_api_info *info,
                                 int32_t correlation_id, const char *client_id)
{
    struct krc_bytes client = {(const uint8_t *)client_id,
                               client_id != NULL ? strlen(client_id) : 0};
    bool flexible = w->flexible;
    w->flexible = false;
    krc_wire_i16(w, &(int16_t){info->key});
    krc_wire_i16(w, &w->version);
    krc_wire_i32(w, &correlation_id);
    krc_wire_nullable_string(w, &client);
    w->flexible = flexible;
    krc_wire_tags(w);
}

int krc_request_write(struct krc_buffer *out, enum krc_api_name api, int16_t version,
                      int32_t correlation_id, const char *client_id, const void *request,
                      krc_error *error)
{
    const struct krc_api_info *info = &krc_apis[api];
    struct krc_wire w = {.writing = true,
                         .flexible = version >= info->first_flexible,
                         .version = version,
                         .out = out};
    size_t start = out->len;
    krc_wire_i32(&w, &(int32_t){0}); /* the size, once it is known */
    write_request_header(&w, info, correlation_id, client_id);
    info->request(&w, only_read(request));
    size_t size = out->len - start - sizeof(int32_t);
    if (w.rc == KRC_OK && size <= INT32_MAX) {
        krc_put_be32(out->data + start, (uint32_t)size);
        return KRC_OK;
    }
    out->len = start;
    if (w.rc == KRC_E_NOMEM)
        return krc_fail(error, w.rc, "out of memory for a %s request", info->name);
    return krc_fail(error, KRC_E_INVALID,
                    "a %s request of version %d cannot carry a name, list or null in it",
                    info->name, version);
}

bool krc_response_correlation(const uint8_t *frame, size_t len, int32_t *correlation_id)
{
    struct krc_cursor c = krc_cursor(frame, len);
    *correlation_id = krc_get_i32(&c);
    return !c.failed;
}

/* A broker that does not know a version of ApiVersions itself says so in the oldest; the error
 * code comes first in all of them. */
static bool is_refusal(enum krc_api_name api, struct krc_cursor body)
{
    return api == KRC_API_API_VERSIONS && krc_get_i16(&body) == KRC_KAFKA_UNSUPPORTED_VERSION;
}

/*
 * What a response may take in memory: an entry of few bytes may need many there, and a response of
 * such entries alone would multiply what receive.message.max.bytes allows.  Entries that brokers
 * send take two or three times their bytes; those with the shortest names more, but there are few.
 */
enum { TIMES = 4, BESIDES = 1 << 20 };

static size_t limit_of(const struct krc_arena *arena, size_t len)
{
    size_t limit = arena->total + TIMES * len + BESIDES;
    return arena->limit != 0 && arena->limit < limit ? arena->limit : limit;
}

static int read_failed(const struct krc_wire *w, const struct krc_api_info *info,
                       const uint8_t *frame, size_t len, krc_error *error)
{
    if (w->rc == KRC_E_NOMEM && w->arena->is_over)
        return krc_fail(error, KRC_E_CORRUPT,
                        "a %s response of %zu bytes lists what takes over %zu bytes of memory: "
                        "the limit is %d times its size, which no broker needs",
                        info->name, len, w->arena->limit, TIMES);
    if (w->rc == KRC_E_NOMEM)
        return krc_fail(error, w->rc,
                        "no memory for what a %s response of %zu bytes lists, beyond %zu bytes",
                        info->name, len, w->arena->total);
    return krc_fail(error, KRC_E_CORRUPT,
                    "a %s response of %zu bytes is not of version %d: its byte %td does not fit",
                    info->name, len, w->version, w->in.p - frame);
}

int krc_response_read(const uint8_t *frame, size_t len, enum krc_api_name api, int16_t version,
                      void *response, struct krc_arena *arena, krc_error *error)
{
    const struct krc_api_info *info = &krc_apis[api];
    struct krc_wire w = {.flexible = version >= info->first_flexible,
                         .version = version,
                         .in = krc_cursor(frame, len),
                         .arena = arena};
    int32_t correlation_id;
    size_t limit = arena->limit;
    arena->limit = limit_of(arena, len);
    memset(response, 0, info->response_size);
    krc_wire_i32(&w, &correlation_id);
    if (api != KRC_API_API_VERSIONS)
        krc_wire_tags(&w);
    if (is_refusal(api, w.in)) {
        w.version = 0;
        w.flexible = false;
    }
    info->response(&w, response);
    int rc = w.rc == KRC_OK && krc_left(&w.in) == 0
                 ? KRC_OK
                 : read_failed(&w, info, frame, len, error);
    arena->limit = limit;
    return rc;
}
