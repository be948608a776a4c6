#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "records/records.h"
#include "tests/support/build.h"
#include "tests/support/run.h"

enum { LIMIT = 1 << 20, APPEND_TIME = 8 };

static struct krc_codecs *codecs;
static struct krc_buffer b, set, scratch;
static struct krc_records records;
static krc_error error;
static const struct krc_bytes null;

static void setup(void)
{
    codecs = krc_codecs_new();
    ck_assert_ptr_nonnull(codecs);
    b = set = scratch = (struct krc_buffer){0};
}

static void teardown(void)
{
    krc_codecs_free(codecs);
    krc_buffer_free(&b);
    krc_buffer_free(&set);
    krc_buffer_free(&scratch);
}

static int open_message(void)
{
    struct krc_batch_header header;
    ck_assert_int_eq(krc_batch_parse(b.data, b.len, &header, &error), 1);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &header, &error), KRC_OK);
    return krc_records_open(&records, b.data, &header, codecs, LIMIT, &scratch, &error);
}

static void must_open(void)
{
    int rc = open_message();
    ck_assert_msg(rc == KRC_OK, "%s", error.message);
}

static void refuse(const char *message)
{
    ck_assert_int_eq(open_message(), KRC_E_CORRUPT);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
}

static void wrap(int magic, int64_t offset, int attributes)
{
    b.len = 0;
    build_wrapper(&b, magic, offset, 9000, attributes, (struct krc_bytes){set.data, set.len});
}

/* A set of messages at these offsets, with the times 1000, 1001, … */
static void make_set(int magic, const int64_t *offsets, int count)
{
    set.len = 0;
    for (int i = 0; i < count; i++)
        build_message(&set, magic, offsets[i], 1000 + i, 0, build_text("k"), build_text("v"));
}

static void check_offsets(const int64_t *wanted, int count)
{
    struct krc_record record;
    ck_assert_int_eq(records.count, count);
    ck_assert_int_eq(records.first_offset, wanted[0]);
    ck_assert_int_eq(records.last_offset, wanted[count - 1]);
    for (int i = 0; i < count; i++) {
        ck_assert(krc_records_next(&records, &record));
        ck_assert_int_eq(record.offset, wanted[i]);
        ck_assert_int_eq(record.leader_epoch, -1);
        ck_assert_int_eq(record.header_count, 0);
        ck_assert_uint_eq(record.headers.len, 0);
    }
    ck_assert(!krc_records_next(&records, &record));
}

START_TEST(offsets_inside_a_wrapper) /* case 11 */
{
    static const int64_t inner[] = {0, 1, 2, 10}, at_20[] = {10, 11, 12, 20};
    make_set(1, inner, 4);
    wrap(1, 20, KRC_GZIP);
    must_open();
    check_offsets(at_20, 4);
    ck_assert_int_eq(krc_records_count_between(&records, 11, 20), 2);
    wrap(1, 0, KRC_GZIP);
    must_open();
    check_offsets(inner, 4);
    wrap(1, 10, KRC_GZIP);
    must_open();
    check_offsets(inner, 4);
    wrap(1, 5, KRC_GZIP);
    refuse("batch of offsets 5 to 5: its last message inside has offset 10");
    ck_assert_int_eq(error.offset, 5);
}
END_TEST

START_TEST(offsets_inside_magic_0_are_their_own)
{
    static const int64_t inner[] = {17, 18, 20};
    make_set(0, inner, 3);
    wrap(0, 20, KRC_LZ4);
    must_open();
    check_offsets(inner, 3);
    wrap(0, 25, KRC_LZ4);
    must_open();
    check_offsets(inner, 3);
    wrap(0, 19, KRC_LZ4);
    refuse("its last message inside has offset 20");
}
END_TEST

START_TEST(times_inside_a_wrapper)
{
    static const int64_t inner[] = {0, 1};
    struct krc_record record;
    make_set(1, inner, 2);
    wrap(1, 1, KRC_GZIP);
    must_open();
    ck_assert_int_eq(records.timestamp_type, KRC_CREATE_TIME);
    ck_assert_int_eq(records.max_timestamp, 1001);
    ck_assert(krc_records_next(&records, &record));
    ck_assert_int_eq(record.timestamp_ms, 1000);
    wrap(1, 1, KRC_GZIP | APPEND_TIME);
    must_open();
    ck_assert_int_eq(records.timestamp_type, KRC_LOG_APPEND_TIME);
    ck_assert_int_eq(records.max_timestamp, 9000);
    ck_assert(krc_records_next(&records, &record));
    ck_assert_int_eq(record.timestamp_ms, 9000);
    make_set(0, inner, 2);
    wrap(0, 1, KRC_GZIP);
    must_open();
    ck_assert_int_eq(records.timestamp_type, KRC_NO_TIMESTAMP);
    ck_assert_int_eq(records.max_timestamp, -1);
    ck_assert(krc_records_next(&records, &record));
    ck_assert_int_eq(record.timestamp_ms, -1);
}
END_TEST

START_TEST(a_message_alone)
{
    struct krc_record record;
    build_message(&b, 1, 7, 1234, 0, null, build_text(""));
    must_open();
    ck_assert(krc_records_next(&records, &record));
    ck_assert_int_eq(record.offset, 7);
    ck_assert_int_eq(record.timestamp_ms, 1234);
    ck_assert_ptr_null(record.key.data);
    ck_assert_ptr_nonnull(record.value.data);
    ck_assert_uint_eq(record.value.len, 0);
    ck_assert(!krc_records_next(&records, &record));
    b.len = 0;
    build_message(&b, 0, 8, 0, 0, build_text(""), null);
    must_open();
    ck_assert(krc_records_next(&records, &record));
    ck_assert_int_eq(record.timestamp_ms, -1);
    ck_assert_ptr_nonnull(record.key.data);
    ck_assert_ptr_null(record.value.data);
}
END_TEST

START_TEST(broken_messages)
{
    static const uint32_t lengths[] = {2, 0, (uint32_t)-1, (uint32_t)-2, 0x7fffffff};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        b.len = 0;
        build_message(&b, 0, 3, 0, 0, build_text("k"), build_text("v"));
        krc_put_be32(b.data + 18, lengths[i]);
        build_fix_crc(b.data);
        refuse("batch of offsets 3 to 3: its key and value do not fill the message");
    }
}
END_TEST

START_TEST(broken_sets)
{
    static const int64_t two[] = {0, 1}, twice[] = {1, 1}, negative[] = {-1, 0};
    set.len = 0;
    wrap(1, 4, KRC_GZIP);
    refuse("batch of offsets 4 to 4: a compressed message holds no messages");
    b.len = 0;
    build_message(&b, 1, 4, 0, KRC_GZIP, null, null);
    refuse("a compressed message has no value");
    b.len = 0;
    build_message(&b, 1, 4, 0, KRC_GZIP, null, build_text("garbage"));
    refuse("batch of offsets 4 to 4: its gzip data are broken");
    make_set(1, two, 2);
    set.len--;
    wrap(1, 4, KRC_GZIP);
    refuse("inside it, it ends in the middle of a message");
    set.len = 10;
    wrap(1, 4, KRC_GZIP);
    refuse("inside it, it ends in the middle of a message");
    make_set(0, two, 2);
    wrap(1, 4, KRC_GZIP);
    refuse("inside it, a message of magic 0 lies in one of magic 1");
    make_set(1, two, 2);
    set.data[set.len - 1] ^= 1;
    wrap(1, 4, KRC_GZIP);
    refuse("inside it, batch of offsets 1 to 1: its checksum is");
    make_set(1, twice, 2);
    wrap(1, 4, KRC_GZIP);
    refuse("inside it, offset 1 follows 1");
    make_set(1, negative, 2);
    wrap(1, 4, KRC_GZIP);
    refuse("inside it, batch of offsets -1 to -1: no batch lies at such an offset");
    make_set(1, two, 2);
    krc_put_be32(set.data + 26, 2); /* a key that takes the value's length */
    build_fix_crc(set.data);
    wrap(1, 4, KRC_GZIP);
    refuse("inside it, key and value do not fill the message at 0");
    set.len = 0;
    build_wrapper(&set, 1, 0, 0, KRC_GZIP, build_text("x"));
    wrap(1, 4, KRC_GZIP);
    refuse("inside it, a compressed message lies in a compressed one");
}
END_TEST

static int open_07(int64_t offset)
{
    struct krc_batch_header header;
    ck_assert_int_eq(krc_batch_parse_07(b.data, b.len, offset, &header, &error), 1);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &header, &error), KRC_OK);
    return krc_records_open(&records, b.data, &header, codecs, LIMIT, &scratch, &error);
}

static void wrap_07(void)
{
    b.len = 0;
    build_message_07(&b, KRC_GZIP, (struct krc_bytes){set.data, set.len});
}

static void refuse_07(const char *message)
{
    ck_assert_int_eq(open_07(500), KRC_E_CORRUPT);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
}

START_TEST(messages_of_kafka_07)
{
    static const char *const texts[] = {"one", "", "three"};
    struct krc_record record;
    for (int i = 0; i < 3; i++)
        build_message_07(&set, KRC_NONE, build_text(texts[i]));
    wrap_07();
    ck_assert_int_eq(open_07(500), KRC_OK);
    ck_assert_int_eq(records.count, 3);
    ck_assert_int_eq(records.timestamp_type, KRC_NO_TIMESTAMP);
    ck_assert_int_eq(records.header.last_offset + 1, 500 + (int64_t)b.len);
    for (int i = 0; i < 3; i++) {
        ck_assert(krc_records_next(&records, &record));
        ck_assert_int_eq(record.offset, 500);
        ck_assert_int_eq(record.timestamp_ms, -1);
        ck_assert_ptr_null(record.key.data);
        ck_assert_uint_eq(record.value.len, strlen(texts[i]));
        ck_assert_mem_eq(record.value.data, texts[i], record.value.len);
    }
    ck_assert(!krc_records_next(&records, &record));
    b.len = 0;
    build_message_07(&b, KRC_NONE, build_text("alone"));
    ck_assert_int_eq(open_07(0), KRC_OK);
    ck_assert(krc_records_next(&records, &record));
    ck_assert_mem_eq(record.value.data, "alone", 5);
    ck_assert(!krc_records_next(&records, &record));
}
END_TEST

START_TEST(broken_messages_of_kafka_07)
{
    wrap_07();
    refuse_07("a compressed message holds no messages");
    b.len = 0;
    build_message_07(&b, KRC_NONE, build_text("x"));
    build_append(&set, b.data, b.len);
    set.len--;
    wrap_07();
    refuse_07("inside it, it ends in the middle of a message");
    set.data[set.len++] = 'y';
    wrap_07();
    refuse_07("inside it, batch of offsets 500 to 509: its checksum is");
    set.data[4] = 9;
    wrap_07();
    refuse_07("inside it, batch of offsets 500 to 509: Kafka 0.7 has no magic 9");
    set.len = 0;
    build_message_07(&set, KRC_GZIP, build_text("x"));
    wrap_07();
    refuse_07("inside it, a compressed message lies in a compressed one");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        offsets_inside_a_wrapper,
        offsets_inside_magic_0_are_their_own,
        times_inside_a_wrapper,
        a_message_alone,
        broken_messages,
        broken_sets,
        messages_of_kafka_07,
        broken_messages_of_kafka_07,
    };
    return run_tests("records: legacy", tests, sizeof tests / sizeof tests[0], setup, teardown);
}
