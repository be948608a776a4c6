#include "tests/support/expected.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LINE = 1 << 20 };
#define FIXTURES "tests/golden/fixtures/"

void expected_open(struct expected *expected, const char *path)
{
    char full[512];
    snprintf(full, sizeof full, FIXTURES "expected/%s", path);
    *expected = (struct expected){.file = gzopen(full, "rb"), .line = malloc(LINE)};
    ck_assert_msg(expected->file != NULL, "cannot open %s", full);
    ck_assert_ptr_nonnull(expected->line);
}

void expected_close(struct expected *expected)
{
    gzclose(expected->file);
    free(expected->line);
    krc_buffer_free(&expected->bytes);
}

static int64_t number(const char *line, const char *name, int64_t absent)
{
    const char *at = strstr(line, name);
    return at == NULL ? absent : strtoll(at + strlen(name), NULL, 10);
}

/* Reads null or a base64 string at `*at` and moves behind it. */
static struct krc_bytes base64(struct expected *expected, const char **at)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *start = expected->bytes.data + expected->bytes.len, *to = start;
    if (**at != '"') {
        *at += strlen("null");
        return (struct krc_bytes){0};
    }
    uint32_t bits = 0;
    int have = 0;
    for ((*at)++; **at != '"'; (*at)++) {
        const char *digit = **at == '=' ? NULL : strchr(digits, **at);
        if (digit == NULL)
            continue;
        bits = bits << 6 | (uint32_t)(digit - digits);
        if ((have += 6) >= 8)
            *to++ = (uint8_t)(bits >> (have -= 8));
    }
    (*at)++;
    expected->bytes.len = (size_t)(to - expected->bytes.data);
    return (struct krc_bytes){start, (size_t)(to - start)};
}

static struct krc_bytes named_base64(struct expected *expected, const char *name)
{
    const char *at = strstr(expected->line, name);
    ck_assert_msg(at != NULL, "no %s in %s", name, expected->line);
    at += strlen(name);
    return base64(expected, &at);
}

static void read_headers(struct expected *expected)
{
    const char *at = strstr(expected->line, "\"headers\":[") + strlen("\"headers\":[");
    expected->header_count = 0;
    for (; *at == '[' || *at == ','; at++) { /* [["key","value"],["key",null]] */
        if (*at == ',')
            at++;
        at++;
        ck_assert_int_lt(expected->header_count, 16);
        struct krc_header *header = &expected->headers[expected->header_count++];
        header->key = base64(expected, &at);
        at++;
        header->value = base64(expected, &at);
    }
}

bool expected_next(struct expected *expected)
{
    if (gzgets(expected->file, expected->line, LINE) == NULL)
        return false;
    const char *line = expected->line;
    expected->bytes.len = 0;
    ck_assert_int_eq(krc_buffer_reserve(&expected->bytes, strlen(line) + 1, NULL), KRC_OK);
    expected->is_record = strstr(line, "\"offset\":") != NULL;
    expected->partition = (int32_t)number(line, "\"partition\":", 0);
    expected->offset = number(line, "\"offset\":", -1);
    expected->timestamp = number(line, "\"timestamp\":", -1);
    expected->leader_epoch = number(line, "\"leaderEpoch\":", -1);
    expected->log_start = number(line, "\"logStart\":", -1);
    expected->end = number(line, "\"end\":", -1);
    expected->position = number(line, "\"position\":", -1);
    expected->timestamp_type = strstr(line, "\"LogAppendTime\"")  ? KRC_LOG_APPEND_TIME
                               : strstr(line, "\"CreateTime\"") ? KRC_CREATE_TIME
                                                                  : KRC_NO_TIMESTAMP;
    if (expected->is_record) {
        expected->key = named_base64(expected, "\"key\":");
        expected->value = named_base64(expected, "\"value\":");
        read_headers(expected);
    }
    return true;
}

static void check_bytes(struct krc_bytes got, struct krc_bytes wanted, const char *line)
{
    ck_assert_msg((got.data == NULL) == (wanted.data == NULL), "null or not: %s", line);
    ck_assert_msg(got.len == wanted.len, "%zu bytes instead of %zu: %s", got.len, wanted.len,
                  line);
    ck_assert_msg(got.len == 0 || memcmp(got.data, wanted.data, got.len) == 0, "bytes: %s", line);
}

void expected_check(const struct expected *expected, const struct krc_record *record,
                    int timestamp_type)
{
    ck_assert_msg(expected->is_record, "record %lld is too many", (long long)record->offset);
    ck_assert_int_eq(record->offset, expected->offset);
    ck_assert_int_eq(record->timestamp_ms, expected->timestamp);
    ck_assert_int_eq(timestamp_type, expected->timestamp_type);
    if (expected->leader_epoch >= 0)
        ck_assert_int_eq(record->leader_epoch, expected->leader_epoch);
    check_bytes(record->key, expected->key, expected->line);
    check_bytes(record->value, expected->value, expected->line);
    ck_assert_int_eq(record->header_count, expected->header_count);
    struct krc_bytes rest = record->headers;
    struct krc_header header;
    for (int32_t i = 0; i < expected->header_count; i++) {
        ck_assert(krc_header_next(&rest, &header));
        check_bytes(header.key, expected->headers[i].key, expected->line);
        check_bytes(header.value, expected->headers[i].value, expected->line);
    }
    ck_assert(!krc_header_next(&rest, &header));
}

struct krc_buffer fixture_read(const char *path)
{
    char full[512];
    struct krc_buffer buffer = {0};
    snprintf(full, sizeof full, FIXTURES "%s", path);
    FILE *file = fopen(full, "rb");
    ck_assert_msg(file != NULL, "cannot open %s", full);
    for (;;) {
        ck_assert_int_eq(krc_buffer_reserve(&buffer, buffer.len + LINE, NULL), KRC_OK);
        size_t n = fread(buffer.data + buffer.len, 1, LINE, file);
        if (n == 0)
            break;
        buffer.len += n;
    }
    fclose(file);
    return buffer;
}
