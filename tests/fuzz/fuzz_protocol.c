/*
 * Messages: what is read and written again reads the same, and takes no more memory than allowed.
 *
 * The first byte is the key of an API, the second picks version and direction; a body follows.
 */
#include <stdlib.h>

#include "protocol/api.h"
#include "tests/support/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 1 << 18 };

static void must(bool ok)
{
    if (!ok)
        abort();
}

struct pick {
    enum krc_api_name api;
    int16_t version;
    bool response;
};

/* False: there is no such API. */
static bool pick_from(uint8_t key, uint8_t byte, struct pick *pick)
{
    for (int api = 0; api < KRC_API_COUNT; api++) {
        int versions = krc_apis[api].highest - krc_apis[api].lowest + 1;
        if (krc_apis[api].key == key) {
            *pick = (struct pick){.api = (enum krc_api_name)api,
                                  .version = (int16_t)(krc_apis[api].lowest + byte / 2 % versions),
                                  .response = byte & 1};
            return true;
        }
    }
    return false;
}

static krc_wire_fn *description_of(const struct pick *pick)
{
    const struct krc_api_info *info = &krc_apis[pick->api];
    return pick->response ? info->response : info->request;
}

/* Reads a body that may not fill `bytes`; NULL where it is refused. */
static void *read_body(const struct pick *pick, struct krc_bytes bytes, struct krc_arena *arena)
{
    const struct krc_api_info *info = &krc_apis[pick->api];
    struct krc_wire w = {.flexible = pick->version >= info->first_flexible,
                         .version = pick->version,
                         .in = krc_cursor(bytes.data, bytes.len),
                         .arena = arena};
    void *message =
        krc_arena_take(arena, pick->response ? info->response_size : info->request_size);
    must(message != NULL);
    description_of(pick)(&w, message);
    must(arena->total <= LIMIT);
    return w.rc == KRC_OK ? message : NULL;
}

static void write_body(const struct pick *pick, void *message, struct krc_buffer *out)
{
    struct krc_wire w = {.writing = true,
                         .flexible = pick->version >= krc_apis[pick->api].first_flexible,
                         .version = pick->version,
                         .out = out};
    must(krc_buffer_reserve(out, 1, NULL) == KRC_OK); /* a body may be empty */
    description_of(pick)(&w, message);
    must(w.rc == KRC_OK);
}

static void load_rows(const struct pick *pick, void *message, struct krc_arena *lists)
{
    if (pick->response)
        rows_load(pick->api, message, lists);
}

static void check_body(const struct pick *pick, struct krc_bytes bytes)
{
    struct krc_arena arena = {.limit = LIMIT}, arena_again = {.limit = LIMIT}, lists = {0};
    struct krc_buffer out = {0}, out_again = {0};
    void *message = read_body(pick, bytes, &arena);
    if (message != NULL) {
        load_rows(pick, message, &lists);
        write_body(pick, message, &out);
        message = read_body(pick, (struct krc_bytes){out.data, out.len}, &arena_again);
        must(message != NULL);
        load_rows(pick, message, &lists);
        write_body(pick, message, &out_again);
        must(out.len == out_again.len && memcmp(out.data, out_again.data, out.len) == 0);
    }
    krc_buffer_free(&out);
    krc_buffer_free(&out_again);
    krc_arena_free(&arena);
    krc_arena_free(&arena_again);
    krc_arena_free(&lists);
}

/* The whole frame, which is refused where the body is, or where it goes on behind it. */
static void check_response(const struct pick *pick, struct krc_bytes body)
{
    const uint8_t header[] = {0, 0, 0, 1, 0}; /* the last: no tags */
    bool tags =
        pick->version >= krc_apis[pick->api].first_flexible && pick->api != KRC_API_API_VERSIONS;
    struct krc_arena arena = {.limit = LIMIT};
    struct krc_buffer frame = {0};
    void *response = malloc(krc_apis[pick->api].response_size);
    krc_error error;
    must(response != NULL);
    must(krc_buffer_append(&frame, header, tags ? 5 : 4, NULL) == KRC_OK);
    must(krc_buffer_append(&frame, body.data, body.len, NULL) == KRC_OK);
    int rc = krc_response_read(frame.data, frame.len, pick->api, pick->version, response, &arena,
                               &error);
    must(rc == KRC_OK || rc == KRC_E_CORRUPT || rc == KRC_E_NOMEM);
    free(response);
    krc_buffer_free(&frame);
    krc_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pick pick;
    if (size < 2 || !pick_from(data[0], data[1], &pick))
        return 0;
    struct krc_bytes body = {data + 2, size - 2};
    if (pick.response)
        check_response(&pick, body);
    check_body(&pick, body);
    return 0;
}
