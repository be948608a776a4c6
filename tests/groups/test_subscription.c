/*
 * What members send each other: the bytes that Kafka's classes wrote, and others by hand.
 */
#include "tests/groups/text.h"

#define BYTES(...)                                              \
    (struct krc_bytes)                                          \
    {                                                           \
        (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]) \
        {                                                       \
            __VA_ARGS__                                         \
        }                                                       \
    }

static struct krc_arena arena;
static struct krc_buffer out;
static krc_error error;

static void setup(void)
{
    arena = (struct krc_arena){0};
    out = (struct krc_buffer){0};
}

static void teardown(void)
{
    krc_arena_free(&arena);
    krc_buffer_free(&out);
}

/* ---- Golden bytes ---------------------------------------------------------------------------- */

/* "null", or x and hexadecimal digits. */
static struct krc_bytes parse_hex(const char *text)
{
    struct krc_bytes bytes = {0};
    if (strcmp(text, "null") == 0)
        return bytes;
    uint8_t *data = take(&arena, strlen(text), 1);
    for (const char *hex = text + 1; *hex != '\0'; hex += 2) {
        unsigned byte;
        ck_assert_int_eq(sscanf(hex, "%2x", &byte), 1);
        data[bytes.len++] = (uint8_t)byte;
    }
    bytes.data = data;
    return bytes;
}

static void print_data(FILE *text, struct krc_bytes data)
{
    fputs(data.data == NULL ? " null" : " x", text);
    for (size_t i = 0; i < data.len; i++)
        fprintf(text, "%02x", data.data[i]);
}

static const char *text_of_subscription(const struct krc_subscription *s)
{
    static char text[MOST_TEXT];
    FILE *in = fmemopen(text, sizeof text, "w");
    for (int32_t i = 0; i < s->topic_count; i++)
        fprintf(in, "%s%.*s", i > 0 ? "," : "", (int)s->topics[i].len,
                (const char *)s->topics[i].data);
    if (s->topic_count == 0)
        fputc('-', in);
    print_data(in, s->user_data);
    fputc(' ', in);
    print_partitions(in, s->owned, s->owned_count);
    fprintf(in, " %d ", s->generation);
    fprintf(in, "%.*s", s->rack.len > 0 ? (int)s->rack.len : 1,
            s->rack.len > 0 ? (const char *)s->rack.data : "-");
    fclose(in);
    return text;
}

static const char *text_of_assignment(const struct krc_assignment *a)
{
    static char text[MOST_TEXT];
    FILE *in = fmemopen(text, sizeof text, "w");
    print_partitions(in, a->topics, a->topic_count);
    print_data(in, a->user_data);
    fclose(in);
    return text;
}

static void check_out(struct krc_bytes expected)
{
    ck_assert_uint_eq(out.len, expected.len);
    if (expected.len > 0)
        ck_assert_mem_eq(out.data, expected.data, expected.len);
}

/* subscription version, topics data owned generation rack, bytes, the same as Kafka reads it */
static void check_subscription(const char *line)
{
    char topics[256], data[64], owned[512], rack[32], hex[1024], expected[1024];
    struct krc_subscription s = {0};
    int16_t version;
    ck_assert_int_eq(sscanf(line, "%*s %hd %255s %63s %511s %d %31s %1023s %1023[^\n]", &version,
                            topics, data, owned, &s.generation, rack, hex, expected),
                     8);
    s.topic_count = parse_names(topics, &s.topics, &arena);
    s.user_data = parse_hex(data);
    s.owned_count = parse_partitions(owned, &s.owned, &arena);
    if (strcmp(rack, "-") != 0)
        s.rack = bytes_of(rack);
    ck_assert_int_eq(krc_subscription_write(&out, version, &s, &error), KRC_OK);
    check_out(parse_hex(hex));
    ck_assert_int_eq(krc_subscription_read(parse_hex(hex), &s, &arena, &error), KRC_OK);
    ck_assert_str_eq(text_of_subscription(&s), expected);
}

/* assignment version, assigned data, bytes, the same as Kafka reads it */
static void check_assignment(const char *line)
{
    char assigned[512], data[64], hex[1024], expected[1024];
    struct krc_assignment a = {0};
    int16_t version;
    ck_assert_int_eq(sscanf(line, "%*s %hd %511s %63s %1023s %1023[^\n]", &version, assigned, data,
                            hex, expected),
                     5);
    a.topic_count = parse_partitions(assigned, &a.topics, &arena);
    a.user_data = parse_hex(data);
    ck_assert_int_eq(krc_assignment_write(&out, version, &a, &error), KRC_OK);
    check_out(parse_hex(hex));
    ck_assert_int_eq(krc_assignment_read(parse_hex(hex), &a, &arena, &error), KRC_OK);
    ck_assert_str_eq(text_of_assignment(&a), expected);
}

START_TEST(bytes_are_those_of_kafka)
{
    char *line = NULL;
    size_t room = 0;
    int lines = 0;
    FILE *in = fopen("tests/groups/golden/bytes", "r");
    ck_assert_ptr_nonnull(in);
    while (getline(&line, &room, in) > 0) {
        out.len = 0;
        if (strncmp(line, "subscription ", 13) == 0)
            check_subscription(line);
        else if (strncmp(line, "assignment ", 11) == 0)
            check_assignment(line);
        else
            continue; /* of user data: test_assign.c */
        lines++;
    }
    ck_assert_int_eq(lines, 80);
    free(line);
    fclose(in);
}
END_TEST

/* ---- By hand --------------------------------------------------------------------------------- */

static int read_subscription(struct krc_bytes bytes, struct krc_subscription *s)
{
    return krc_subscription_read(bytes, s, &arena, &error);
}

START_TEST(newer_versions_are_read_as_the_newest)
{
    struct krc_subscription s;
    ck_assert_int_eq(read_subscription(BYTES(0, 9, 0, 0, 0, 1, 0, 1, 'a', 0xff, 0xff, 0xff, 0xff, 0,
                                             0, 0, 0, 0, 0, 0, 7, 0, 1, 'r', 1, 2, 3),
                                       &s),
                     KRC_OK);
    ck_assert_str_eq(text_of_subscription(&s), "a null - 7 r");
    struct krc_assignment a;
    ck_assert_int_eq(
        krc_assignment_read(BYTES(0x7f, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1), &a, &arena, &error),
        KRC_OK);
    ck_assert_str_eq(text_of_assignment(&a), "- x");
}
END_TEST

START_TEST(other_bytes_are_corrupt)
{
    struct krc_subscription s;
    const struct krc_bytes whole = BYTES(0, 2, 0, 0, 0, 1, 0, 1, 'a', 0xff, 0xff, 0xff, 0xff, 0, 0,
                                         0, 1, 0, 1, 'a', 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 7);
    ck_assert_int_eq(read_subscription(whole, &s), KRC_OK);
    ck_assert_str_eq(text_of_subscription(&s), "a null a:5 7 -");
    for (size_t len = 0; len < whole.len; len++)
        ck_assert_int_eq(read_subscription((struct krc_bytes){whole.data, len}, &s), KRC_E_CORRUPT);
    ck_assert_int_eq(read_subscription((struct krc_bytes){0}, &s), KRC_E_CORRUPT);
    /* a byte behind a known version, a negative version, null topics, more topics than bytes */
    ck_assert_int_eq(read_subscription(BYTES(0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0), &s),
                     KRC_E_CORRUPT);
    ck_assert_int_eq(read_subscription(BYTES(0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0), &s),
                     KRC_E_CORRUPT);
    ck_assert_int_eq(read_subscription(BYTES(0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0), &s),
                     KRC_E_CORRUPT);
    ck_assert_int_eq(read_subscription(BYTES(0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0), &s),
                     KRC_E_CORRUPT);
    ck_assert_int_eq(error.code, KRC_E_CORRUPT);
}
END_TEST

START_TEST(limits_hold)
{
    struct krc_arena small = {.limit = 64};
    struct krc_assignment a;
    const struct krc_bytes many = BYTES(0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1,
                                        0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff);
    ck_assert_int_eq(krc_assignment_read(many, &a, &arena, &error), KRC_OK);
    ck_assert_int_eq(krc_assignment_read(many, &a, &small, &error), KRC_E_NOMEM);
    krc_arena_free(&small);

    char *name = calloc(1, 40000);
    struct krc_subscription s = {.topics = &(struct krc_bytes){(uint8_t *)name, 40000},
                                 .topic_count = 1};
    ck_assert_int_eq(krc_cooperative_data_write(&out, 1, &error), KRC_OK);
    ck_assert_int_eq(krc_subscription_write(&out, 3, &s, &error), KRC_E_INVALID);
    ck_assert_uint_eq(out.len, 4);
    free(name);
}
END_TEST

START_TEST(user_data_that_says_nothing)
{
    struct krc_claims claims;
    const struct krc_bytes whole = BYTES(0, 0, 0, 1, 0, 1, 'a', 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 8);
    ck_assert_int_eq(krc_sticky_data_read(whole, &claims, &arena, &error), KRC_OK);
    ck_assert_int_eq(claims.topic_count, 1);
    ck_assert_int_eq(claims.topics[0].partitions[0], 3);
    ck_assert_int_eq(claims.generation, 8);
    for (size_t len = 0; len < whole.len; len++) {
        struct krc_bytes part = {whole.data, len};
        ck_assert_int_eq(krc_sticky_data_read(part, &claims, &arena, &error), KRC_OK);
        ck_assert_int_eq(claims.generation, KRC_NO_GENERATION);
        ck_assert_int_eq(claims.topic_count, len >= whole.len - 4); /* the oldest format */
    }
    ck_assert_int_eq(krc_cooperative_data_read(BYTES(0, 0, 1, 2)), 258);
    ck_assert_int_eq(krc_cooperative_data_read(BYTES(0, 0, 1)), KRC_NO_GENERATION);
    ck_assert_int_eq(krc_cooperative_data_read((struct krc_bytes){0}), KRC_NO_GENERATION);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {bytes_are_those_of_kafka, newer_versions_are_read_as_the_newest,
                                  other_bytes_are_corrupt, limits_hold,
                                  user_data_that_says_nothing};
    return run_tests("subscription", tests, sizeof tests / sizeof *tests, setup, teardown);
}
