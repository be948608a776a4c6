/*
 * JSON lines against texts written by hand, and against Python, which says of every sequence of
 * bytes whether it is UTF-8 and what a JSON text means.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/json.h"
#include "tests/support/build.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static struct krc_buffer out, prefix, text, headers;
static krc_error error;

static void setup(void)
{
    tempdir_make();
    ck_assert_int_eq(krc_json_prefix(&prefix, "t", 0, &error), KRC_OK);
}

static void teardown(void)
{
    krc_buffer_free(&out);
    krc_buffer_free(&prefix);
    krc_buffer_free(&text);
    krc_buffer_free(&headers);
    tempdir_remove();
}

static struct krc_bytes bytes_of(const struct krc_buffer *buffer)
{
    static const uint8_t none[1];
    return (struct krc_bytes){buffer->data != NULL ? buffer->data : none, buffer->len};
}

static void expect(const void *wanted, size_t len)
{
    ck_assert_msg(out.len == len && memcmp(out.data, wanted, len) == 0,
                  "expected\n%.*s\ngot\n%.*s", (int)len, (const char *)wanted, (int)out.len,
                  (const char *)out.data);
}

/* ---- Numbers and strings --------------------------------------------------------------------- */

static void check_number(int64_t number)
{
    char wanted[32];
    int n = snprintf(wanted, sizeof wanted, "%" PRId64, number);
    out.len = 0;
    ck_assert_int_eq(krc_json_number(&out, number, &error), KRC_OK);
    expect(wanted, (size_t)n);
}

START_TEST(numbers)
{
    int64_t power = 1;
    for (int i = 0; i < 19; i++, power *= i < 19 ? 10 : 1) {
        for (int64_t near = power - 1; near <= power + 1; near++) {
            check_number(near);
            check_number(-near);
        }
    }
    check_number(INT64_MAX);
    check_number(INT64_MIN);
}
END_TEST

static void check_string(struct krc_bytes in, const char *wanted)
{
    out.len = 0;
    ck_assert_int_eq(krc_json_string(&out, in, &error), KRC_OK);
    expect(wanted, strlen(wanted));
}

START_TEST(escapes)
{
    static const char *const controls[0x20] = {
        "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007",
        "\\b",     "\\t",     "\\n",     "\\u000b", "\\f",     "\\r",     "\\u000e", "\\u000f",
        "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017",
        "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f",
    };
    char wanted[64];
    for (int c = 0; c < 0x80; c++) {
        /* alone, and at each place in a word */
        for (int at = 0; at < 9; at++) {
            uint8_t in[10] = "aaaaaaaaa";
            char plain[3] = {(char)c, '\0', '\0'};
            if (c == '"' || c == '\\')
                snprintf(plain, sizeof plain, "\\%c", c);
            in[at] = (uint8_t)c;
            snprintf(wanted, sizeof wanted, "\"%.*s%s%.*s\"", at, "aaaaaaaaa",
                     c < 0x20 ? controls[c] : plain, 8 - at, "aaaaaaaaa");
            check_string((struct krc_bytes){in, 9}, wanted);
        }
    }
    check_string(build_text(""), "\"\"");
    check_string(build_text("\xc3\xa9 \xe2\x9c\x93 \xf0\x9f\x98\x80\""),
                 "\"\xc3\xa9 \xe2\x9c\x93 \xf0\x9f\x98\x80\\\"\"");
}
END_TEST

START_TEST(a_name_that_is_no_text)
{
    static const uint8_t bad[] = {'a', 0xff};
    ck_assert_int_eq(krc_json_string(&out, (struct krc_bytes){bad, 2}, &error), KRC_E_INVALID);
    ck_assert_int_eq(krc_json_prefix(&out, "a\xff", 0, &error), KRC_E_INVALID);
}
END_TEST

/* Texts are looked at by words and blocks: each special character at each place, and another one
 * at each place behind it. */
START_TEST(specials_at_every_place)
{
    static const char *const specials[][2] = {
        {"\"", "\\\""}, {"\\", "\\\\"}, {"\n", "\\n"}, {"\x01", "\\u0001"},
        {"\xc3\xa9", "\xc3\xa9"}, {"\x7f", "\x7f"}};
    static const char filler[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/";
    enum { SPECIALS = sizeof specials / sizeof *specials, PLACES = 40 };
    for (int i = 0; i < SPECIALS * SPECIALS * PLACES * PLACES; i++) {
        const char *const *first = specials[i % SPECIALS];
        const char *const *second = specials[i / SPECIALS % SPECIALS];
        int a = i / SPECIALS / SPECIALS % PLACES, b = i / SPECIALS / SPECIALS / PLACES;
        char in[256], wanted[512];
        int n = snprintf(in, sizeof in, "%.*s%s%.*s%s%.40s", a, filler, first[0], b, filler,
                         second[0], filler);
        snprintf(wanted, sizeof wanted, "\"%.*s%s%.*s%s%.40s\"", a, filler, first[1], b, filler,
                 second[1], filler);
        check_string((struct krc_bytes){(const uint8_t *)in, (size_t)n}, wanted);
    }
}
END_TEST

/* ---- Long texts: they go piece by piece, and no character is cut ----------------------------- */

enum { PIECE = 64 << 10 };

static void fill(size_t len, const char *tail)
{
    text.len = 0;
    for (size_t i = 0; i < len; i++)
        build_append(&text, "a", 1);
    build_append(&text, tail, strlen(tail));
}

static void check_value(const char *before, struct krc_bytes wanted, const char *behind)
{
    struct krc_buffer line = {0};
    struct krc_record record = {.leader_epoch = 1, .value = bytes_of(&text)};
    build_append(&line, before, strlen(before));
    build_append(&line, wanted.data, wanted.len);
    build_append(&line, behind, strlen(behind));
    out.len = 0;
    ck_assert_int_eq(krc_json_line(&out, &prefix, &record, KRC_CREATE_TIME, false, &error),
                     KRC_OK);
    expect(line.data, line.len);
    krc_buffer_free(&line);
}

#define LINE "{\"topic\":\"t\",\"partition\":0,\"offset\":0,\"timestamp\":0," \
             "\"timestampType\":\"CreateTime\",\"leaderEpoch\":1,\"key\":null,"

START_TEST(characters_across_pieces)
{
    static const char *const characters[] = {"b", "\xc3\xa9", "\xe2\x9c\x93", "\xf0\x9f\x98\x80"};
    for (size_t len = 2 * PIECE - 5; len <= 2 * PIECE + 1; len++) {
        for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
            fill(len, characters[i]);
            build_append(&text, "zz", 2);
            check_value(LINE "\"value\":\"", bytes_of(&text), "\",\"headers\":[]}\n");
        }
    }
}
END_TEST

static void check_is_base64(void)
{
    static const char start[] = LINE "\"valueBase64\":\"";
    struct krc_record record = {.leader_epoch = 1, .value = bytes_of(&text)};
    out.len = 0;
    ck_assert_int_eq(krc_json_line(&out, &prefix, &record, KRC_CREATE_TIME, false, &error),
                     KRC_OK);
    ck_assert_uint_eq(out.len, strlen(start) + (text.len + 2) / 3 * 4 +
                                   strlen("\",\"headers\":[]}\n"));
    ck_assert_int_eq(memcmp(out.data, start, strlen(start)), 0);
}

START_TEST(long_texts_that_are_none)
{
    static const char *const bad[] = {"\xff", "\xc3", "\xe2\x9c", "\xf0\x9f\x98", "\x80",
                                      "\xed\xa0\x80"};
    for (size_t len = PIECE - 4; len <= PIECE + 1; len++) {
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            fill(len, bad[i]);
            check_is_base64();
            build_append(&text, "zz", 2);
            check_is_base64();
        }
    }
    text.len = 0;
    for (size_t i = 0; i < PIECE + 9; i++)
        build_append(&text, "\x80", 1);
    check_is_base64();
}
END_TEST

START_TEST(a_long_text_of_escapes)
{
    struct krc_buffer wanted = {0};
    text.len = 0;
    for (size_t i = 0; i < 3 * PIECE / 2; i++) {
        build_append(&text, "\x01", 1);
        build_append(&wanted, "\\u0001", 6);
    }
    check_value(LINE "\"value\":\"", bytes_of(&wanted), "\",\"headers\":[]}\n");
    krc_buffer_free(&wanted);
}
END_TEST

/* ---- Lines ----------------------------------------------------------------------------------- */

static void add_header(struct krc_bytes key, struct krc_bytes value)
{
    build_varint(&headers, (int64_t)key.len);
    build_append(&headers, key.data, key.len);
    build_varint(&headers, value.data == NULL ? -1 : (int64_t)value.len);
    if (value.data != NULL)
        build_append(&headers, value.data, value.len);
}

static void check_line(const struct krc_record *record, enum krc_timestamp_type type, bool base64,
                       const char *wanted)
{
    out.len = 0;
    ck_assert_int_eq(krc_json_line(&out, &prefix, record, type, base64, &error), KRC_OK);
    expect(wanted, strlen(wanted));
}

START_TEST(lines)
{
    static const struct krc_bytes null;
    const struct krc_bytes bytes = build_text("\xff\xfe");
    struct krc_record record = {.offset = INT64_MAX, .timestamp_ms = INT64_MIN,
                                .leader_epoch = INT32_MAX, .key = build_text(""),
                                .value = bytes, .header_count = 4};
    add_header(build_text("h"), null);
    add_header(build_text(""), build_text(""));
    add_header(build_text("h"), bytes);
    add_header(bytes, build_text("v\n"));
    record.headers = bytes_of(&headers);
    ck_assert_int_eq(krc_json_prefix(&prefix, "a\"b", INT32_MAX, &error), KRC_OK);
    check_line(&record, KRC_LOG_APPEND_TIME, false,
               "{\"topic\":\"a\\\"b\",\"partition\":2147483647,\"offset\":9223372036854775807,"
               "\"timestamp\":-9223372036854775808,\"timestampType\":\"LogAppendTime\","
               "\"leaderEpoch\":2147483647,\"key\":\"\",\"valueBase64\":\"//4=\",\"headers\":["
               "{\"key\":\"h\",\"value\":null},{\"key\":\"\",\"value\":\"\"},"
               "{\"key\":\"h\",\"valueBase64\":\"//4=\"},"
               "{\"keyBase64\":\"//4=\",\"value\":\"v\\n\"}]}\n");
    check_line(&record, KRC_CREATE_TIME, true,
               "{\"topic\":\"a\\\"b\",\"partition\":2147483647,\"offset\":9223372036854775807,"
               "\"timestamp\":-9223372036854775808,\"timestampType\":\"CreateTime\","
               "\"leaderEpoch\":2147483647,\"key\":\"\",\"value\":\"//4=\",\"headers\":["
               "{\"key\":\"aA==\",\"value\":null},{\"key\":\"\",\"value\":\"\"},"
               "{\"key\":\"aA==\",\"value\":\"//4=\"},{\"key\":\"//4=\",\"value\":\"dgo=\"}]}\n");
    record = (struct krc_record){.timestamp_ms = -1, .leader_epoch = -1};
    ck_assert_int_eq(krc_json_prefix(&prefix, "t", 0, &error), KRC_OK);
    check_line(&record, KRC_NO_TIMESTAMP, false,
               "{\"topic\":\"t\",\"partition\":0,\"offset\":0,\"timestamp\":-1,"
               "\"timestampType\":\"NoTimestampType\",\"leaderEpoch\":null,\"key\":null,"
               "\"value\":null,\"headers\":[]}\n");
}
END_TEST

/* RFC 4648, section 10 */
START_TEST(base64)
{
    static const char *const known[][2] = {{"", ""},         {"f", "Zg=="},
                                           {"fo", "Zm8="},   {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char wanted[256];
        struct krc_record record = {.leader_epoch = 1, .value = build_text(known[i][0])};
        snprintf(wanted, sizeof wanted, LINE "\"value\":\"%s\",\"headers\":[]}\n", known[i][1]);
        check_line(&record, KRC_CREATE_TIME, true, wanted);
    }
}
END_TEST

/* ---- As Python reads it ---------------------------------------------------------------------- */

/* A value in hexadecimal, a blank, and its line. */
static void write_case(FILE *file, const uint8_t *value, size_t len)
{
    struct krc_record record = {.leader_epoch = 1, .value = {value, len}};
    out.len = 0;
    ck_assert_int_eq(krc_json_line(&out, &prefix, &record, KRC_CREATE_TIME, false, &error),
                     KRC_OK);
    for (size_t i = 0; i < len; i++)
        fprintf(file, "%02x", value[i]);
    fputc(' ', file);
    fwrite(out.data, 1, out.len, file);
}

/* The sequence inside a text, at each place in a word in turn; cut off, too. */
static void write_sequence(FILE *file, const uint8_t *sequence, size_t len)
{
    static size_t turn;
    uint8_t value[24] = "abcdefghijklmnopqrstuvw";
    size_t at = turn++ % 9;
    memcpy(value + at, sequence, len);
    write_case(file, value, at + len);
    write_case(file, value, 20);
}

START_TEST(every_sequence_of_bytes)
{
    static const uint8_t tails[] = {0x7f, 0x80, 0xbf, 0xc0};
    FILE *file = fopen(tempdir_path("cases"), "wb");
    ck_assert_ptr_nonnull(file);
    for (unsigned pair = 0; pair < 1 << 16; pair++) {
        uint8_t two[] = {(uint8_t)(pair >> 8), (uint8_t)pair};
        write_sequence(file, two, 2);
    }
    for (unsigned lead = 0xdf; lead <= 0xf8; lead++) {
        for (unsigned i = 0; i < 256 * 16; i++) {
            uint8_t four[] = {(uint8_t)lead, (uint8_t)(i >> 4), tails[i >> 2 & 3], tails[i & 3]};
            write_sequence(file, four, i & 3 ? 4 : 3);
        }
    }
    ck_assert_int_eq(fclose(file), 0);
    char command[512];
    snprintf(command, sizeof command, "python3 -B tests/replay/json_cases.py %s",
             tempdir_path("cases"));
    ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        numbers,
        escapes,
        a_name_that_is_no_text,
        specials_at_every_place,
        characters_across_pieces,
        long_texts_that_are_none,
        a_long_text_of_escapes,
        lines,
        base64,
        every_sequence_of_bytes,
    };
    return run_tests("replay: JSON", tests, sizeof tests / sizeof *tests, setup, teardown);
}
