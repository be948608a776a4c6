#include "tests/support/exchange.h"

#include <check.h>

#include "tests/support/frames.h"
#include "tests/support/rows.h"

enum { SIZE = 4 };

void exchange_write(const struct exchange *x, struct krc_buffer *out, const void *message)
{
    if (x->response)
        frame_write_response(out, x->api, x->version, EXCHANGE_ID, message);
    else
        ck_assert_int_eq(
            krc_request_write(out, x->api, x->version, EXCHANGE_ID, "krc", message, NULL), KRC_OK);
}

static int read_response(const struct exchange *x, const uint8_t *frame, size_t len, void **message,
                         struct krc_arena *arena)
{
    int32_t correlation_id;
    krc_error error = {0};
    *message = krc_arena_take(arena, krc_apis[x->api].response_size);
    int rc = krc_response_read(frame, len, x->api, x->version, *message, arena, &error);
    ck_assert_int_eq(rc, error.code);
    if (rc == KRC_OK) {
        ck_assert(krc_response_correlation(frame, len, &correlation_id));
        ck_assert_int_eq(correlation_id, EXCHANGE_ID);
        rows_load(x->api, *message, arena);
    }
    return rc;
}

static int read_request(const struct exchange *x, const uint8_t *frame, size_t len, void **message,
                        struct krc_arena *arena)
{
    struct frame_request request;
    int rc = frame_read_request(frame, len, &request, arena);
    if (rc == KRC_OK) {
        ck_assert_int_eq(request.api, x->api);
        ck_assert_int_eq(request.version, x->version);
        ck_assert_int_eq(request.correlation_id, EXCHANGE_ID);
        ck_assert_uint_eq(request.client_id.len, 3);
        ck_assert_mem_eq(request.client_id.data, "krc", 3);
        *message = request.body;
    }
    return rc;
}

int exchange_read(const struct exchange *x, const uint8_t *frame, size_t len, void **message,
                  struct krc_arena *arena)
{
    ck_assert_uint_ge(len, SIZE);
    ck_assert_uint_eq(krc_be32(frame), len - SIZE);
    return (x->response ? read_response : read_request)(x, frame + SIZE, len - SIZE, message,
                                                        arena);
}

void exchange_each(void (*check)(const struct exchange *x))
{
    for (int api = 0; api < KRC_API_COUNT; api++)
        for (int16_t version = krc_apis[api].lowest; version <= krc_apis[api].highest; version++)
            for (int response = 0; response <= 1; response++)
                check(&(struct exchange){(enum krc_api_name)api, response, version});
}
