/*
 * Every API in every version, both ways, with random values: what is written reads the same.
 */
#include "tests/support/exchange.h"
#include "tests/support/messages.h"
#include "tests/support/run.h"

enum { ROUNDS = 12 };

static void check_same(const struct exchange *x, void *a, void *b)
{
    char *text_a = message_text(x->api, x->response, x->version, a);
    char *text_b = message_text(x->api, x->response, x->version, b);
    ck_assert_msg(strcmp(text_a, text_b) == 0, "%s v%d:\n%s---\n%s", krc_apis[x->api].name,
                  x->version, text_a, text_b);
    free(text_a);
    free(text_b);
}

/* A copy of its own size, so that a sanitizer sees each byte too far. */
static int read_copy(const struct exchange *x, const uint8_t *frame, size_t len,
                     struct krc_arena *arena)
{
    void *message;
    uint8_t *copy = malloc(len);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, frame, len);
    krc_put_be32(copy, (uint32_t)(len - 4));
    int rc = exchange_read(x, copy, len, &message, arena);
    free(copy);
    return rc;
}

static void check_other_lengths(const struct exchange *x, struct krc_buffer *frame)
{
    struct krc_arena arena = {0};
    for (size_t len = 4; len < frame->len; len++) {
        ck_assert_int_eq(read_copy(x, frame->data, len, &arena), KRC_E_CORRUPT);
        krc_arena_reset(&arena);
    }
    ck_assert_int_eq(read_copy(x, frame->data, frame->len, &arena), KRC_OK);
    ck_assert_int_eq(krc_buffer_append(frame, "", 1, NULL), KRC_OK);
    ck_assert_int_eq(read_copy(x, frame->data, frame->len, &arena), KRC_E_CORRUPT);
    krc_arena_free(&arena);
}

static void check_round(const struct exchange *x, uint64_t seed)
{
    struct krc_arena arena = {0};
    struct krc_buffer frame = {0}, again = {0};
    void *message = message_make(x->api, x->response, x->version, MESSAGE_RANDOM, seed, &arena);
    void *back;
    exchange_write(x, &frame, message);
    ck_assert_int_eq(exchange_read(x, frame.data, frame.len, &back, &arena), KRC_OK);
    check_same(x, message, back);
    exchange_write(x, &again, back);
    ck_assert_uint_eq(frame.len, again.len);
    ck_assert_mem_eq(frame.data, again.data, frame.len);
    check_other_lengths(x, &frame);
    krc_buffer_free(&frame);
    krc_buffer_free(&again);
    krc_arena_free(&arena);
}

static void check_rounds(const struct exchange *x)
{
    for (uint64_t seed = 1; seed <= ROUNDS; seed++)
        check_round(x, seed);
}

START_TEST(what_is_written_reads_the_same_and_no_part_of_it_is_enough)
{
    exchange_each(check_rounds);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {what_is_written_reads_the_same_and_no_part_of_it_is_enough};
    return run_tests("messages", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
