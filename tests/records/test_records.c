#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "records/records.h"
#include "tests/support/build.h"
#include "tests/support/run.h"

enum { LIMIT = 1 << 20 };

static struct krc_codecs *codecs;
static struct krc_buffer b, scratch, payload;
static struct krc_records records;
static krc_error error;

static void setup(void)
{
    codecs = krc_codecs_new();
    ck_assert_ptr_nonnull(codecs);
    b = scratch = payload = (struct krc_buffer){0};
}

static void teardown(void)
{
    krc_codecs_free(codecs);
    krc_buffer_free(&b);
    krc_buffer_free(&scratch);
    krc_buffer_free(&payload);
}

static int open_batch(size_t limit)
{
    struct krc_batch_header header;
    ck_assert_int_eq(krc_batch_parse(b.data, b.len, &header, &error), 1);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &header, &error), KRC_OK);
    return krc_records_open(&records, b.data, &header, codecs, limit, &scratch, &error);
}

static void must_open(void)
{
    int rc = open_batch(LIMIT);
    ck_assert_msg(rc == KRC_OK, "%s", error.message);
}

static void check_text(struct krc_bytes bytes, const char *wanted)
{
    ck_assert_int_eq(bytes.data == NULL, wanted == NULL);
    if (wanted != NULL) {
        ck_assert_uint_eq(bytes.len, strlen(wanted));
        ck_assert_mem_eq(bytes.data, wanted, bytes.len);
    }
}

START_TEST(compaction_took_the_last_record) /* case 1 */
{
    build_plain_batch(&b, &(struct build_batch){.last_delta = 3}, 3);
    must_open();
    ck_assert_int_eq(records.header.last_offset, 3);
    ck_assert_int_eq(records.first_offset, 0);
    ck_assert_int_eq(records.last_offset, 2);
    ck_assert_int_eq(records.count, 3);
    struct krc_record record;
    for (int i = 0; i < 3; i++) {
        ck_assert(krc_records_next(&records, &record));
        ck_assert_int_eq(record.offset, i);
    }
    ck_assert(!krc_records_next(&records, &record));
    ck_assert(!krc_records_next(&records, &record));
    ck_assert_int_eq(krc_records_count_between(&records, 3, 4), 0);
}
END_TEST

START_TEST(an_emptied_batch_has_no_records) /* case 2 */
{
    build_batch(&b, &(struct build_batch){.base_offset = 37, .last_delta = 17,
                                          .base_timestamp = -1, .max_timestamp = -1});
    must_open();
    struct krc_record record;
    ck_assert_int_eq(records.count, 0);
    ck_assert_int_eq(records.max_timestamp, -1);
    ck_assert(!krc_records_next(&records, &record));
    ck_assert_int_eq(krc_records_count_between(&records, 0, INT64_MAX), 0);
}
END_TEST

static const struct krc_bytes null;

START_TEST(null_and_empty_are_distinct) /* case 15 */
{
    const struct krc_header headers[] = {
        {build_text("a"), null}, {build_text("a"), build_text("")},
        {build_text("a"), build_text("x")}, {build_text(""), null}};
    const struct build_record wanted[] = {
        {.key = null, .value = build_text("")},
        {.offset_delta = 1, .key = build_text(""), .value = null},
        {.offset_delta = 5, .key = build_text("k"), .value = build_text("v"),
         .headers = headers, .header_count = 4}};
    static const int all[] = {KRC_NONE, KRC_GZIP, KRC_LZ4, KRC_ZSTD};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        b.len = 0;
        build_batch(&b, &(struct build_batch){.base_offset = 100, .leader_epoch = 4,
                                              .codec = all[i], .records = wanted, .count = 3});
        must_open();
        struct krc_record r;
        ck_assert(krc_records_next(&records, &r));
        check_text(r.key, NULL);
        check_text(r.value, "");
        ck_assert_int_eq(r.header_count, 0);
        ck_assert_int_eq(r.leader_epoch, 4);
        ck_assert(krc_records_next(&records, &r));
        check_text(r.key, "");
        check_text(r.value, NULL);
        ck_assert(krc_records_next(&records, &r));
        check_text(r.key, "k");
        check_text(r.value, "v");
        ck_assert_int_eq(r.offset, 105);
        ck_assert_int_eq(r.header_count, 4);
        static const char *const keys[] = {"a", "a", "a", ""};
        static const char *const values[] = {NULL, "", "x", NULL};
        struct krc_bytes rest = r.headers;
        struct krc_header header;
        for (int h = 0; h < 4; h++) {
            ck_assert(krc_header_next(&rest, &header));
            check_text(header.key, keys[h]);
            check_text(header.value, values[h]);
        }
        ck_assert(!krc_header_next(&rest, &header));
        ck_assert(!krc_records_next(&records, &r));
    }
}
END_TEST

START_TEST(more_records_than_views_are_kept)
{
    static const int all[] = {KRC_NONE, KRC_LZ4};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        b.len = 0;
        build_plain_batch(&b, &(struct build_batch){.base_offset = 100, .codec = all[i]},
                          KRC_VIEWS + 3);
        must_open();
        struct krc_record record;
        char key[24];
        for (int64_t offset = 100; offset < 100 + KRC_VIEWS + 3; offset++) {
            ck_assert(krc_records_next(&records, &record));
            ck_assert_int_eq(record.offset, offset);
            snprintf(key, sizeof key, "k%lld", (long long)offset);
            check_text(record.key, key);
        }
        ck_assert(!krc_records_next(&records, &record));
        ck_assert_int_eq(krc_records_count_between(&records, 101, 100 + KRC_VIEWS + 1), KRC_VIEWS);
    }
}
END_TEST

/* Base and delta add up to more than an offset can be. */
START_TEST(an_offset_beyond_all)
{
    const struct build_record record = {.offset_delta = 1000, .value = build_text("v")};
    build_records(&payload, &record, 1);
    build_batch_of(&b, &(struct build_batch){.base_offset = INT64_MAX - 100, .last_delta = 5,
                                             .count = 1},
                   (struct krc_bytes){payload.data, payload.len});
    ck_assert_int_eq(open_batch(LIMIT), KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "an offset out of order"));
}
END_TEST

/* Opens a batch of two records with these times, and returns theirs. */
static void timestamps(const struct build_batch *batch, const int64_t deltas[2], int64_t got[2])
{
    const struct build_record two[] = {
        {.timestamp_delta = deltas[0], .value = build_text("")},
        {.offset_delta = 1, .timestamp_delta = deltas[1], .value = build_text("")}};
    struct build_batch whole = *batch;
    whole.records = two;
    whole.count = 2;
    b.len = 0;
    build_batch(&b, &whole);
    must_open();
    for (int i = 0; i < 2; i++) {
        struct krc_record record;
        ck_assert(krc_records_next(&records, &record));
        got[i] = record.timestamp_ms;
    }
}

START_TEST(timestamps_as_the_protocol_has_them)
{
    int64_t got[2];
    timestamps(&(struct build_batch){.base_timestamp = 1000, .max_timestamp = 77},
               (const int64_t[]){-5, INT64_C(5000000000)}, got);
    ck_assert_int_eq(got[0], 995);
    ck_assert_int_eq(got[1], INT64_C(5000001000));
    ck_assert_int_eq(records.max_timestamp, INT64_C(5000001000)); /* not the stored one */
    ck_assert_int_eq(records.timestamp_type, KRC_CREATE_TIME);
    timestamps(&(struct build_batch){.base_timestamp = -1, .max_timestamp = -1},
               (const int64_t[]){0, 0}, got);
    ck_assert_int_eq(got[0], -1);
    ck_assert_int_eq(records.max_timestamp, -1);
    timestamps(&(struct build_batch){.base_timestamp = 10, .max_timestamp = 20,
                                     .log_append_time = true},
               (const int64_t[]){1, 2}, got);
    ck_assert_int_eq(got[0], 20);
    ck_assert_int_eq(got[1], 20);
    ck_assert_int_eq(records.max_timestamp, 20);
    ck_assert_int_eq(records.timestamp_type, KRC_LOG_APPEND_TIME);
    timestamps(&(struct build_batch){.base_timestamp = 5000, .delete_horizon = true},
               (const int64_t[]){-4000, -3000}, got);
    ck_assert_int_eq(got[0], 1000);
    ck_assert_int_eq(got[1], 2000);
    timestamps(&(struct build_batch){.base_timestamp = INT64_MAX}, (const int64_t[]){1, 0}, got);
    ck_assert_int_eq(got[0], INT64_MIN); /* nonsense, but defined */
}
END_TEST

START_TEST(counting_between_offsets)
{
    const struct build_record some[] = {{.offset_delta = 2}, {.offset_delta = 3},
                                        {.offset_delta = 9}};
    build_batch(&b, &(struct build_batch){.base_offset = 100, .last_delta = 20, .records = some,
                                          .count = 3});
    must_open();
    struct krc_record record;
    ck_assert(krc_records_next(&records, &record)); /* makes no difference */
    ck_assert_int_eq(krc_records_count_between(&records, 0, 1000), 3);
    ck_assert_int_eq(krc_records_count_between(&records, 102, 110), 3);
    ck_assert_int_eq(krc_records_count_between(&records, 103, 109), 1);
    ck_assert_int_eq(krc_records_count_between(&records, 104, 109), 0);
    ck_assert_int_eq(krc_records_count_between(&records, 109, 121), 1);
    ck_assert_int_eq(krc_records_count_between(&records, 0, 102), 0);
    ck_assert_int_eq(krc_records_count_between(&records, 110, 121), 0);
    ck_assert(krc_records_next(&records, &record));
    ck_assert_int_eq(record.offset, 103);
}
END_TEST

START_TEST(a_control_batch_opens_as_any_other)
{
    build_marker(&b, 9, 1, 0, KRC_CONTROL_COMMIT);
    must_open();
    struct krc_record record;
    ck_assert(krc_records_next(&records, &record));
    ck_assert_uint_eq(record.key.len, 4);
    ck_assert_mem_eq(record.key.data, "\0\0\0\1", 4);
}
END_TEST

/* A batch of offsets 10 to 14 that says it has `count` records and has this payload. */
static void refuse(int32_t count, const char *bytes, size_t len, const char *message)
{
    b.len = 0;
    build_batch_of(&b, &(struct build_batch){.base_offset = 10, .last_delta = 4, .count = count},
                   (struct krc_bytes){(const uint8_t *)bytes, len});
    ck_assert_int_eq(open_batch(LIMIT), KRC_E_CORRUPT);
    char wanted[200];
    snprintf(wanted, sizeof wanted, "batch of offsets 10 to 14: %s", message);
    ck_assert_str_eq(error.message, wanted);
    ck_assert_int_eq(error.offset, 10);
}
#define REFUSE(count, literal, message) refuse(count, literal, sizeof(literal) - 1, message)

/* Records as bytes: length, attributes, timestamp, offset, key length, value length, headers. */
START_TEST(broken_records) /* case 14 and its kin */
{
#define OK "\x0c\0\0\0\1\1\0"
    REFUSE(1, "\x0c\0\0\0\1\1", "record 1 of 1, behind offset 9, has a wrong length");
    REFUSE(1, "\0", "record 1 of 1, behind offset 9, has a wrong length");
    REFUSE(1, "\1\0\0\0\1\1\0", "record 1 of 1, behind offset 9, has a wrong length");
    REFUSE(2, OK "\x7e\0\0\2\1\1\0", "record 2 of 2, behind offset 10, has a wrong length");
    REFUSE(2, OK, "record 2 of 2, behind offset 10, has a wrong length");
    REFUSE(1, "\2\0", "record 1 of 1, behind offset 9, has a wrong timestamp");
    REFUSE(1, "\4\0\0", "record 1 of 1, behind offset 9, has a wrong offset");
    REFUSE(1, "\x0c\0\0\0\3\1\0", "record 1 of 1, behind offset 9, has a wrong key length");
    REFUSE(1, "\x0c\0\0\0\x7e\1\0", "record 1 of 1, behind offset 9, has a wrong key length");
    REFUSE(1, "\x0c\0\0\0\1\3\0", "record 1 of 1, behind offset 9, has a wrong value length");
    REFUSE(1, "\x0c\0\0\0\1\4\0", "record 1 of 1, behind offset 9, has a wrong value length");
    REFUSE(1, "\x0c\0\0\0\1\1\1", "record 1 of 1, behind offset 9, has a wrong header count");
    REFUSE(1, "\x0a\0\0\0\1\1", "record 1 of 1, behind offset 9, has a wrong header count");
    REFUSE(1, "\x0e\0\0\0\1\1\0x",
           "record 1 of 1, behind offset 9, has headers that do not fill its length");
    REFUSE(1, "\x10\0\0\0\1\1\2\0",
           "record 1 of 1, behind offset 9, has a wrong length");
    REFUSE(1, "\x0e\0\0\0\1\1\2\0",
           "record 1 of 1, behind offset 9, has headers that do not fill its length");
    REFUSE(1, "\x10\0\0\0\1\1\2\1\1", /* a header with a null key */
           "record 1 of 1, behind offset 9, has headers that do not fill its length");
    REFUSE(1, "\x10\0\0\0\1\1\2\0\3", /* a header's value of length -2 */
           "record 1 of 1, behind offset 9, has headers that do not fill its length");
    REFUSE(2, OK OK, "record 2 of 2, behind offset 10, has an offset out of order");
    REFUSE(1, "\x0c\0\0\1\1\1\0", "record 1 of 1, behind offset 9, has an offset out of order");
    REFUSE(1, "\x0c\0\0\x0a\1\1\0", "record 1 of 1, behind offset 9, has an offset out of order");
    REFUSE(1, OK OK, "7 bytes lie behind its 1 records");
}
END_TEST

START_TEST(varints_of_too_many_bytes) /* case 14 */
{
#define WRONG(what) "record 1 of 1, behind offset 9, has a wrong " what
    REFUSE(1, "\x8c\x80\x80\x80\x80\0\0\0\0\1\1\0", WRONG("length"));
    REFUSE(1, "\x20\0\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0\0\1\1\0", WRONG("timestamp"));
    REFUSE(1, "\x16\0\0\x80\x80\x80\x80\x80\0\1\1\0", WRONG("offset"));
    REFUSE(1, "\x16\0\0\0\x80\x80\x80\x80\x80\0\1\0", WRONG("key length"));
    REFUSE(1, "\x16\0\0\0\1\x80\x80\x80\x80\x80\0\0", WRONG("value length"));
    REFUSE(1, "\x16\0\0\0\1\1\x80\x80\x80\x80\x80\0", WRONG("header count"));
    REFUSE(1, "\x14\0\0\x80\x80\x80\x80\x10\1\1\0", WRONG("offset")); /* 33 bits */
    REFUSE(1, "\x14\0\0\0\1\1\xff\xff\xff\xff\x0f", WRONG("header count")); /* INT32_MIN */
    /* as long as they may be, they are right */
    b.len = 0;
    build_batch_of(&b, &(struct build_batch){.count = 1},
                   (struct krc_bytes){(const uint8_t *)"\x9e\x80\x80\x80\0\0\x82\x80\x80\x80\x80"
                                                       "\x80\x80\x80\x80\0\0\1\1\0",
                                      20});
    must_open();
    struct krc_record record;
    ck_assert(krc_records_next(&records, &record));
    ck_assert_int_eq(record.timestamp_ms, 1);
}
END_TEST

START_TEST(a_giant_header_count_ends_at_the_first_missing_header)
{
    REFUSE(1, "\x14\0\0\0\1\1\xfe\xff\xff\xff\x0f",
           "record 1 of 1, behind offset 9, has headers that do not fill its length");
}
END_TEST

START_TEST(garbage_in_a_compressed_batch) /* the other half of case 5 */
{
    build_batch_of(&b, &(struct build_batch){.base_offset = 10, .codec = KRC_GZIP,
                                             .last_delta = 9, .count = 10},
                   build_text("garbage"));
    ck_assert_int_eq(open_batch(LIMIT), KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "batch of offsets 10 to 19: its gzip data are broken");
    ck_assert_int_eq(error.offset, 10);
}
END_TEST

START_TEST(a_batch_over_the_limit_names_batch_and_property)
{
    build_plain_batch(&b, &(struct build_batch){.base_offset = 10, .codec = KRC_LZ4}, 500);
    ck_assert_int_eq(open_batch(1000), KRC_E_TOO_LARGE);
    ck_assert_str_eq(error.message,
                     "batch of offsets 10 to 509: decompressed it is larger than 1000 bytes: "
                     "raise decompressed.batch.max.bytes to read it");
    must_open();
    ck_assert_int_eq(records.count, 500);
}
END_TEST

START_TEST(bytes_behind_a_gzip_stream_are_counted)
{
    const struct build_record one = {.value = build_text("v")};
    struct krc_buffer plain = {0};
    build_records(&plain, &one, 1);
    build_compress(&payload, KRC_GZIP, (struct krc_bytes){plain.data, plain.len});
    build_append(&payload, "tail", 4);
    build_batch_of(&b, &(struct build_batch){.codec = KRC_GZIP, .count = 1},
                   (struct krc_bytes){payload.data, payload.len});
    must_open();
    ck_assert_uint_eq(records.trailing, 4);
    krc_buffer_free(&plain);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        compaction_took_the_last_record,
        an_emptied_batch_has_no_records,
        null_and_empty_are_distinct,
        more_records_than_views_are_kept,
        an_offset_beyond_all,
        timestamps_as_the_protocol_has_them,
        counting_between_offsets,
        a_control_batch_opens_as_any_other,
        broken_records,
        varints_of_too_many_bytes,
        a_giant_header_count_ends_at_the_first_missing_header,
        garbage_in_a_compressed_batch,
        a_batch_over_the_limit_names_batch_and_property,
        bytes_behind_a_gzip_stream_are_counted,
    };
    return run_tests("records: records", tests, sizeof tests / sizeof tests[0], setup, teardown);
}
