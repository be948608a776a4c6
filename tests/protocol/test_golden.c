/*
 * Frames that Kafka wrote: golden/README says which, and which values they hold.
 */
#include <ctype.h>
#include <stdio.h>

#include "tests/support/exchange.h"
#include "tests/support/messages.h"
#include "tests/support/run.h"

enum { MOST_FRAME = 8192 };

struct golden {
    struct exchange exchange;
    char variant[8];
    uint8_t frame[MOST_FRAME];
    size_t len;
};

static void parse(struct golden *golden, enum krc_api_name api, const char *line)
{
    char direction[16];
    int version, at;
    ck_assert_int_eq(sscanf(line, "%15s %d %7s %n", direction, &version, golden->variant, &at), 3);
    golden->exchange = (struct exchange){api, strcmp(direction, "response") == 0, (int16_t)version};
    golden->len = 0;
    for (const char *hex = line + at; isxdigit((unsigned char)*hex); hex += 2) {
        unsigned byte;
        ck_assert_uint_lt(golden->len, MOST_FRAME);
        ck_assert_int_eq(sscanf(hex, "%2x", &byte), 1);
        golden->frame[golden->len++] = (uint8_t)byte;
    }
}

static void check_written(const struct golden *golden, const void *expected)
{
    struct krc_buffer out = {0};
    exchange_write(&golden->exchange, &out, expected);
    ck_assert_uint_eq(out.len, golden->len);
    ck_assert_mem_eq(out.data, golden->frame, out.len);
    krc_buffer_free(&out);
}

static void check_read(const struct golden *golden, void *expected)
{
    const struct exchange *x = &golden->exchange;
    struct krc_arena arena = {0};
    void *message;
    ck_assert_int_eq(exchange_read(x, golden->frame, golden->len, &message, &arena), KRC_OK);
    char *is = message_text(x->api, x->response, x->version, message);
    char *shall_be = message_text(x->api, x->response, x->version, expected);
    ck_assert_str_eq(is, shall_be);
    free(is);
    free(shall_be);
    krc_arena_free(&arena);
}

static void check_line(const struct golden *golden)
{
    const struct exchange *x = &golden->exchange;
    enum message_values values = strcmp(golden->variant, "bare") == 0 ? MESSAGE_BARE : MESSAGE_FULL;
    struct krc_arena arena = {0};
    void *expected = message_make(x->api, x->response, x->version, values, 0, &arena);
    if (strcmp(golden->variant, "rich") != 0)
        check_written(golden, expected);
    check_read(golden, expected);
    krc_arena_free(&arena);
}

/* Checks a file, and how many lines it has with full values: one each way for each version. */
static void check_file(enum krc_api_name api, const char *file)
{
    static struct golden golden;
    char path[100], *line = NULL;
    size_t room = 0;
    int full = 0;
    snprintf(path, sizeof path, "tests/protocol/golden/%s", file);
    FILE *in = fopen(path, "r");
    ck_assert_ptr_nonnull(in);
    while (getline(&line, &room, in) > 0) {
        parse(&golden, api, line);
        check_line(&golden);
        full += strcmp(golden.variant, "full") == 0;
    }
    ck_assert_int_eq(full, 2 * (krc_apis[api].highest - krc_apis[api].lowest + 1));
    free(line);
    fclose(in);
}

START_TEST(frames_are_those_of_kafka)
{
#define CHECK_FILE(NAME, name, text, key, lowest, highest, flexible) \
    check_file(KRC_API_##NAME, #name);
    KRC_APIS(CHECK_FILE)
#undef CHECK_FILE
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {frames_are_those_of_kafka};
    return run_tests("golden", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
