#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/support/build.h"
#include "tests/support/run.h"

static struct krc_batch_header parse(const struct krc_buffer *bytes)
{
    struct krc_batch_header header;
    krc_error error;
    int rc = krc_batch_parse(bytes->data, bytes->len, &header, &error);
    ck_assert_msg(rc == 1, "%d: %s", rc, rc < 0 ? error.message : "too few bytes");
    return header;
}

/* Parses what must be refused with `code` and a message that contains `text`. */
static void refuse(const uint8_t *bytes, size_t len, int code, const char *text)
{
    struct krc_batch_header header;
    krc_error error;
    ck_assert_int_eq(krc_batch_parse(bytes, len, &header, &error), code);
    ck_assert_msg(strstr(error.message, text) != NULL, "%s", error.message);
}

START_TEST(every_field_of_a_header)
{
    struct krc_buffer b = {0};
    build_plain_batch(&b,
                      &(struct build_batch){.base_offset = 0x123456789a,
                                            .last_delta = 7,
                                            .leader_epoch = 11,
                                            .log_append_time = true,
                                            .transactional = true,
                                            .delete_horizon = true,
                                            .base_timestamp = 1000,
                                            .max_timestamp = 2000,
                                            .producer_id = 0x1122334455667788,
                                            .producer_epoch = 13,
                                            .base_sequence = 17},
                      3);
    struct krc_batch_header h = parse(&b);
    ck_assert_int_eq(h.base_offset, 0x123456789a);
    ck_assert_int_eq(h.last_offset, 0x123456789a + 7);
    ck_assert_int_eq(h.size, b.len);
    ck_assert_int_eq(h.magic, 2);
    ck_assert_int_eq(h.codec, KRC_NONE);
    ck_assert_int_eq(h.timestamp_type, KRC_LOG_APPEND_TIME);
    ck_assert(h.transactional && !h.control && h.has_delete_horizon);
    ck_assert_int_eq(h.leader_epoch, 11);
    ck_assert_int_eq(h.base_timestamp, 1000);
    ck_assert_int_eq(h.max_timestamp, 2000);
    ck_assert_int_eq(h.producer_id, 0x1122334455667788);
    ck_assert_int_eq(h.producer_epoch, 13);
    ck_assert_int_eq(h.base_sequence, 17);
    ck_assert_int_eq(h.count, 3);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &h, NULL), KRC_OK);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(an_emptied_batch_keeps_its_offsets) /* case 2 */
{
    struct krc_buffer b = {0};
    build_batch(&b, &(struct build_batch){.base_offset = 37, .last_delta = 17,
                                          .base_timestamp = -1, .max_timestamp = -1});
    ck_assert_uint_eq(b.len, 61);
    struct krc_batch_header h = parse(&b);
    ck_assert_int_eq(h.last_offset + 1, 55);
    ck_assert_int_eq(h.count, 0);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &h, NULL), KRC_OK);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(too_few_bytes_are_no_error)
{
    struct krc_buffer b = {0};
    build_plain_batch(&b, &(struct build_batch){.base_offset = 5}, 1);
    struct krc_batch_header h;
    for (size_t len = 0; len < KRC_BATCH_HEADER_V2; len++) {
        uint8_t *exact = malloc(len + 1); /* so that a sanitizer sees a read beyond */
        memcpy(exact, b.data, len);
        ck_assert_int_eq(krc_batch_parse(exact, len, &h, NULL), 0);
        ck_assert_int_eq(h.size, len < 12 ? 0 : b.len);
        free(exact);
    }
    ck_assert_int_eq(krc_batch_parse(b.data, KRC_BATCH_LOOK, &h, NULL), 1);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(broken_headers_of_magic_2) /* case 14 and its kin */
{
    static const struct {
        int at;
        uint8_t bytes[8];
        int len;
        int code;
        const char *text;
    } cases[] = {
        {8, {0xff, 0xff, 0xff, 0xff}, 4, KRC_E_CORRUPT, "its length field says -1"},
        {8, {0, 0, 0, 9}, 4, KRC_E_CORRUPT, "its length field says 9"},
        {8, {0, 0, 0, 48}, 4, KRC_E_CORRUPT, "its length field says 48"},
        {8, {0x7f, 0xff, 0xff, 0xff}, 4, KRC_E_CORRUPT, "its length field says 2147483647"},
        {8, {0, 0, 0, 49}, 4, KRC_E_CORRUPT, "a record count of 2 does not fit 0 bytes"},
        {16, {3}, 1, KRC_E_UNSUPPORTED, "magic 3, is newer"},
        {16, {0xff}, 1, KRC_E_CORRUPT, "there is no magic -1"},
        {21, {0, 5}, 2, KRC_E_CORRUPT, "there is no compression codec 5"},
        {21, {0, 6}, 2, KRC_E_CORRUPT, "there is no compression codec 6"},
        {21, {0, 7}, 2, KRC_E_CORRUPT, "there is no compression codec 7"},
        {23, {0xff, 0xff, 0xff, 0xff}, 4, KRC_E_CORRUPT, "its last offset delta is -1"},
        {57, {0xff, 0xff, 0xff, 0xff}, 4, KRC_E_CORRUPT, "a record count of -1 does not fit"},
        {57, {0, 0, 0, 3}, 4, KRC_E_CORRUPT, "a record count of 3 does not fit its offsets"},
        {57, {0, 0, 0, 0}, 4, KRC_E_CORRUPT, "a record count of 0 does not fit"},
        {0, {0x80}, 1, KRC_E_CORRUPT, "no batch lies at such an offset"},
        {0, {0x7f, 255, 255, 255, 255, 255, 255, 255}, 8, KRC_E_CORRUPT, "no batch lies at"},
        {0, {0x7f, 255, 255, 255, 255, 255, 255, 254}, 8, KRC_E_CORRUPT, "its last offset delta"},
    };
    struct krc_buffer b = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b.len = 0;
        build_plain_batch(&b, &(struct build_batch){.base_offset = 10}, 2);
        memcpy(b.data + cases[i].at, cases[i].bytes, (size_t)cases[i].len);
        refuse(b.data, b.len, cases[i].code, cases[i].text);
    }
    krc_buffer_free(&b);
}
END_TEST

START_TEST(a_giant_count_without_payload) /* case 14 */
{
    struct krc_buffer b = {0};
    build_batch_of(&b, &(struct build_batch){.last_delta = INT32_MAX - 1, .count = INT32_MAX},
                   (struct krc_bytes){0});
    refuse(b.data, b.len, KRC_E_CORRUPT, "a record count of 2147483647 does not fit 0 bytes");
    krc_buffer_free(&b);
}
END_TEST

START_TEST(broken_headers_name_their_offsets)
{
    struct krc_buffer b = {0};
    build_plain_batch(&b, &(struct build_batch){.base_offset = 10}, 2);
    krc_put_be32(b.data + 57, 99);
    struct krc_batch_header h;
    krc_error error;
    ck_assert_int_eq(krc_batch_parse(b.data, b.len, &h, &error), KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "batch of offsets 10 to 11: "
                                    "a record count of 99 does not fit its offsets");
    ck_assert_int_eq(error.offset, 10);
    ck_assert_int_eq(h.size, b.len); /* enough to skip it */
    ck_assert_int_eq(h.last_offset, 11);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(a_wrong_checksum_names_the_batch) /* case 12 */
{
    struct krc_buffer b = {0};
    build_plain_batch(&b, &(struct build_batch){.base_offset = 40}, 3);
    uint32_t right = krc_be32(b.data + 17);
    memcpy(b.data + 17, "\xde\xad\xbe\xef", 4);
    struct krc_batch_header h = parse(&b);
    krc_error error;
    ck_assert_int_eq(krc_batch_check_crc(b.data, &h, &error), KRC_E_CORRUPT);
    char wanted[200];
    snprintf(wanted, sizeof wanted,
             "batch of offsets 40 to 42: its checksum is 0xdeadbeef, but its bytes give 0x%08x: "
             "they were damaged",
             right);
    ck_assert_str_eq(error.message, wanted);
    ck_assert_int_eq(error.offset, 40);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(garbage_in_a_compressed_batch_is_not_seen_here) /* case 5 */
{
    struct krc_buffer b = {0};
    build_batch_of(&b,
                   &(struct build_batch){.codec = KRC_GZIP, .transactional = true,
                                         .producer_id = 1, .last_delta = 9, .count = 10},
                   build_text("garbage"));
    struct krc_batch_header h = parse(&b);
    ck_assert_int_eq(h.codec, KRC_GZIP);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &h, NULL), KRC_OK);
    krc_buffer_free(&b);
}
END_TEST

static int control_type(const struct krc_buffer *b, krc_error *error)
{
    struct krc_batch_header h = parse(b);
    int type = 77;
    int rc = krc_batch_control_type(b->data, &h, &type, error);
    return rc < 0 ? rc : type;
}

/* A control batch whose only record has this key. */
static void control_batch(struct krc_buffer *b, const uint8_t *key, size_t len, int codec)
{
    struct build_record record = {.key = {key, len}, .value = build_text("")};
    b->len = 0;
    build_batch(b, &(struct build_batch){.control = true, .transactional = true, .codec = codec,
                                         .base_offset = 3, .producer_id = 1, .records = &record,
                                         .count = 1});
}

START_TEST(types_of_control_batches)
{
    struct krc_buffer b = {0};
    krc_error error;
    build_marker(&b, 9, 1, 0, KRC_CONTROL_ABORT);
    ck_assert_int_eq(control_type(&b, &error), KRC_CONTROL_ABORT);
    b.len = 0;
    build_marker(&b, 9, 1, 0, KRC_CONTROL_COMMIT);
    ck_assert_int_eq(control_type(&b, &error), KRC_CONTROL_COMMIT);
    control_batch(&b, (const uint8_t[]){0, 9, 0, 1, 5, 5}, 6, KRC_NONE); /* longer, newer */
    ck_assert_int_eq(control_type(&b, &error), KRC_CONTROL_COMMIT);
    control_batch(&b, (const uint8_t[]){0, 0, 0, 2}, 4, KRC_NONE);
    ck_assert_int_eq(control_type(&b, &error), 2);
    control_batch(&b, (const uint8_t[]){0, 0, 0xff, 0xff}, 4, KRC_NONE); /* not NONE by accident */
    ck_assert_int_eq(control_type(&b, &error), 0xffff);
    b.len = 0;
    build_batch(&b, &(struct build_batch){.control = true, .last_delta = 2, .producer_id = 1});
    ck_assert_int_eq(control_type(&b, &error), KRC_CONTROL_NONE);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(broken_control_batches)
{
    struct krc_buffer b = {0};
    krc_error error;
    control_batch(&b, (const uint8_t[]){0, 0, 0}, 3, KRC_NONE);
    ck_assert_int_eq(control_type(&b, &error), KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "batch of offsets 3 to 3: "
                                    "its control record's key is too short to tell a type");
    control_batch(&b, (const uint8_t[]){0x80, 0, 0, 1}, 4, KRC_NONE);
    ck_assert_int_eq(control_type(&b, &error), KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "its control record's key has version -32768"));
    control_batch(&b, (const uint8_t[]){0, 0, 0, 1}, 4, KRC_GZIP);
    ck_assert_int_eq(control_type(&b, &error), KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "a control batch is compressed"));
    b.len = 0;
    build_batch_of(&b, &(struct build_batch){.control = true, .count = 1},
                   (struct krc_bytes){(const uint8_t *)"\x0c\x00\x00\x00\x08\x00", 6});
    ck_assert_int_eq(control_type(&b, &error), KRC_E_CORRUPT); /* ends inside the key */
    ck_assert_ptr_nonnull(strstr(error.message, "too short to tell"));
    krc_buffer_free(&b);
}
END_TEST

START_TEST(messages_of_magic_0_and_1)
{
    struct krc_buffer b = {0};
    build_message(&b, 0, 5, 0, 8, build_text("k"), build_text("v")); /* bit 3 means nothing here */
    struct krc_batch_header h = parse(&b);
    ck_assert_int_eq(h.last_offset, 5);
    ck_assert_int_eq(h.timestamp_type, KRC_NO_TIMESTAMP);
    ck_assert_int_eq(h.max_timestamp, -1);
    ck_assert_int_eq(h.count, 1);
    ck_assert_int_eq(h.leader_epoch, -1);
    ck_assert_int_eq(h.producer_id, -1);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &h, NULL), KRC_OK);
    b.len = 0;
    build_message(&b, 1, 6, 1234, KRC_GZIP | 8, (struct krc_bytes){0}, build_text("v"));
    h = parse(&b);
    ck_assert_int_eq(h.timestamp_type, KRC_LOG_APPEND_TIME);
    ck_assert_int_eq(h.max_timestamp, 1234);
    ck_assert_int_eq(h.count, -1);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &h, NULL), KRC_OK);
    b.data[12] ^= 1;
    h = parse(&b);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &h, NULL), KRC_E_CORRUPT);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(broken_messages_of_magic_0_and_1)
{
    struct krc_buffer b = {0};
    for (int magic = 0; magic <= 1; magic++) {
        b.len = 0;
        build_message(&b, magic, 5, 0, KRC_ZSTD, build_text(""), build_text(""));
        refuse(b.data, b.len, KRC_E_CORRUPT, "zstd does not occur in message format");
        b.data[17] = 5;
        refuse(b.data, b.len, KRC_E_CORRUPT, "there is no compression codec 5");
        b.data[11] -= 1; /* one byte less than the smallest */
        refuse(b.data, b.len, KRC_E_CORRUPT, "its length field says");
        b.data[11] += 1;
        struct krc_batch_header h;
        ck_assert_int_eq(krc_batch_parse(b.data, magic == 0 ? 17 : 25, &h, NULL), 0);
        ck_assert_int_eq(h.size, b.len);
    }
    krc_buffer_free(&b);
}
END_TEST

static void refuse_07(struct krc_buffer *b, int64_t offset, const char *text)
{
    struct krc_batch_header h;
    krc_error error;
    ck_assert_int_eq(krc_batch_parse_07(b->data, b->len, offset, &h, &error), KRC_E_CORRUPT);
    ck_assert_msg(strstr(error.message, text) != NULL, "%s", error.message);
}

START_TEST(messages_of_kafka_07)
{
    /* magic 0, CRC-32 of "123456789" as every catalogue has it */
    static const uint8_t plain[] = {0, 0, 0, 14, 0, 0xcb, 0xf4, 0x39, 0x26,
                                    '1', '2', '3', '4', '5', '6', '7', '8', '9'};
    struct krc_batch_header h;
    krc_error error;
    ck_assert_int_eq(krc_batch_parse_07(plain, sizeof plain, 1000, &h, &error), 1);
    ck_assert_int_eq(h.size, sizeof plain);
    ck_assert_int_eq(h.base_offset, 1000);
    ck_assert_int_eq(h.last_offset, 1017);
    ck_assert_int_eq(krc_batch_check_crc(plain, &h, &error), KRC_OK);
    for (size_t len = 0; len < 9; len++)
        ck_assert_int_eq(krc_batch_parse_07(plain, len, 0, &h, &error), 0);

    struct krc_buffer b = {0};
    build_message_07(&b, KRC_GZIP, build_text("x"));
    ck_assert_int_eq(krc_batch_parse_07(b.data, b.len, 0, &h, &error), 1);
    ck_assert_int_eq(h.codec, KRC_GZIP);
    ck_assert_int_eq(h.count, -1);
    ck_assert_int_eq(krc_batch_check_crc(b.data, &h, &error), KRC_OK);
    refuse_07(&b, -1, "no message lies at such an offset");
    refuse_07(&b, INT64_MAX, "no message lies at such an offset");
    b.data[5] = 3;
    refuse_07(&b, 0, "Kafka 0.7 has no compression codec 3");
    b.data[4] = 2;
    refuse_07(&b, 0, "Kafka 0.7 has no magic 2: is this a log of that version?");
    b.data[4] = 1;
    krc_put_be32(b.data, 5); /* no room for attributes */
    refuse_07(&b, 0, "its length field says 5");
    krc_put_be32(b.data, 4);
    refuse_07(&b, 0, "its length field says 4");
    krc_buffer_free(&b);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        every_field_of_a_header,
        an_emptied_batch_keeps_its_offsets,
        too_few_bytes_are_no_error,
        broken_headers_of_magic_2,
        a_giant_count_without_payload,
        broken_headers_name_their_offsets,
        a_wrong_checksum_names_the_batch,
        garbage_in_a_compressed_batch_is_not_seen_here,
        types_of_control_batches,
        broken_control_batches,
        messages_of_magic_0_and_1,
        broken_messages_of_magic_0_and_1,
        messages_of_kafka_07,
    };
    return run_tests("records: batch", tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
