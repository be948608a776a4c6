/*
 * Bytes by hand: what Kafka never writes, and what it writes seldom.
 */
#include "protocol/api.h"
#include "tests/support/run.h"

#define WIRE(...) wire_of((const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})
#define RESPONSE(api, version, response, ...)                                       \
    read_response(KRC_API_##api, version, response, (const uint8_t[]){__VA_ARGS__}, \
                  sizeof(const uint8_t[]){__VA_ARGS__})

static struct krc_arena arena;
static struct krc_buffer out;
static krc_error error;

static void teardown(void)
{
    krc_arena_free(&arena);
    krc_buffer_free(&out);
}

/* Flexible, to be read. */
static struct krc_wire wire_of(const uint8_t *bytes, size_t len)
{
    return (struct krc_wire){.flexible = true, .in = krc_cursor(bytes, len), .arena = &arena};
}

static int read_response(enum krc_api_name api, int16_t version, void *response,
                         const uint8_t *bytes, size_t len)
{
    krc_arena_reset(&arena);
    return krc_response_read(bytes, len, api, version, response, &arena, &error);
}

static void check_string(struct krc_wire w, int rc, const char *expected)
{
    struct krc_bytes v;
    krc_wire_string(&w, &v);
    ck_assert_int_eq(w.rc, rc);
    if (rc == KRC_OK) {
        ck_assert_uint_eq(v.len, strlen(expected));
        ck_assert_mem_eq(v.data, expected, v.len);
        ck_assert_uint_eq(krc_left(&w.in), 0);
    } else {
        ck_assert_ptr_null(v.data);
    }
}

START_TEST(compact_strings)
{
    check_string(WIRE(4, 'a', 'b', 'c'), KRC_OK, "abc");
    check_string(WIRE(1), KRC_OK, "");
    check_string(WIRE(0), KRC_E_CORRUPT, NULL); /* null */
    check_string(WIRE(4, 'a', 'b'), KRC_E_CORRUPT, NULL);
    check_string(WIRE(0x84, 0x80, 0x80, 0x80, 0x00, 'a', 'b', 'c'), KRC_OK, "abc");
    check_string(WIRE(0x84, 0x80, 0x80, 0x80, 0x10, 'a', 'b', 'c'), KRC_E_CORRUPT, NULL);
    check_string(WIRE(0x84, 0x80, 0x80, 0x80, 0x80, 0x00, 'a', 'b'), KRC_E_CORRUPT, NULL);
    check_string(WIRE(0xff, 0xff, 0xff, 0xff, 0x0f, 'a', 'b', 'c'), KRC_E_CORRUPT, NULL);

    struct krc_bytes v;
    struct krc_wire w = WIRE(0, 1);
    krc_wire_nullable_string(&w, &v);
    ck_assert_ptr_null(v.data);
    krc_wire_nullable_string(&w, &v);
    ck_assert_ptr_nonnull(v.data);
    ck_assert_uint_eq(v.len, 0);
    ck_assert_int_eq(w.rc, KRC_OK);
}
END_TEST

START_TEST(strings_with_a_plain_length)
{
    struct krc_wire w = WIRE(0, 1, 'a', 0xff, 0xff, 0xff, 0xfe);
    struct krc_bytes v;
    w.flexible = false;
    krc_wire_string(&w, &v);
    ck_assert_uint_eq(v.len, 1);
    krc_wire_nullable_string(&w, &v);
    ck_assert_ptr_null(v.data);
    ck_assert_int_eq(w.rc, KRC_OK);
    krc_wire_nullable_string(&w, &v); /* -2 */
    ck_assert_int_eq(w.rc, KRC_E_CORRUPT);
}
END_TEST

START_TEST(null_bytes_are_corrupt_where_kafka_knows_none)
{
    struct krc_bytes v;
    struct krc_wire w = WIRE(0, 1, 0);
    krc_wire_nullable_bytes(&w, &v);
    ck_assert_ptr_null(v.data);
    krc_wire_bytes(&w, &v);
    ck_assert_ptr_nonnull(v.data);
    ck_assert_int_eq(w.rc, KRC_OK);
    krc_wire_bytes(&w, &v);
    ck_assert_int_eq(w.rc, KRC_E_CORRUPT);
}
END_TEST

START_TEST(lists_of_strings)
{
    struct krc_wire w = WIRE(3, 2, 'a', 1, 0, 0);
    struct krc_bytes *list;
    int32_t count;
    krc_wire_string_array(&w, &list, &count);
    ck_assert_int_eq(count, 2);
    ck_assert_uint_eq(list[0].len, 1);
    ck_assert_uint_eq(list[0].data[0], 'a');
    ck_assert_uint_eq(list[1].len, 0);
    krc_wire_nullable_string_array(&w, &list, &count);
    ck_assert_int_eq(count, -1);
    ck_assert_int_eq(w.rc, KRC_OK);
    krc_wire_string_array(&w, &list, &count);
    ck_assert_int_eq(w.rc, KRC_E_CORRUPT);
}
END_TEST

START_TEST(a_string_is_at_most_as_long_as_kafka_allows)
{
    static uint8_t bytes[3 + 32768] = {0x80, 0x80, 0x02}; /* 32,767 and 1 */
    struct krc_wire w = wire_of(bytes, sizeof bytes);
    struct krc_bytes v;
    krc_wire_string(&w, &v);
    ck_assert_uint_eq(v.len, 32767);
    bytes[0]++;
    w = wire_of(bytes, sizeof bytes);
    krc_wire_string(&w, &v);
    ck_assert_int_eq(w.rc, KRC_E_CORRUPT);
}
END_TEST

START_TEST(after_a_failure_all_is_nothing)
{
    struct krc_wire w = WIRE(0, 0, 0, 7, 0, 0);
    int32_t n, *list;
    int64_t n64 = 1;
    bool b = true;
    krc_wire_i32(&w, &n);
    ck_assert_int_eq(n, 7);
    krc_wire_i32(&w, &n);
    krc_wire_i64(&w, &n64);
    krc_wire_bool(&w, &b); /* of which there is a byte */
    krc_wire_i32_array(&w, &list, &n);
    ck_assert(n == 0 && n64 == 0 && !b && list == NULL);
    ck_assert_int_eq(w.rc, KRC_E_CORRUPT);
    ck_assert_uint_eq(arena.total, 0);
}
END_TEST

static void check_count(struct krc_wire w, bool flexible, int rc, int32_t expected)
{
    int32_t *list, count;
    w.flexible = flexible;
    krc_wire_nullable_i32_array(&w, &list, &count);
    ck_assert_int_eq(w.rc, rc);
    if (rc == KRC_OK)
        ck_assert_int_eq(count, expected);
    else
        ck_assert_int_eq(count, 0);
    ck_assert_int_eq(list != NULL, count > 0);
}

START_TEST(counts_are_held_against_the_bytes_left)
{
    check_count(WIRE(0, 0, 0, 1, 0, 0, 0, 9), false, KRC_OK, 1);
    check_count(WIRE(2, 0, 0, 0, 9), true, KRC_OK, 1);
    check_count(WIRE(0), true, KRC_OK, -1);
    check_count(WIRE(0xff, 0xff, 0xff, 0xff), false, KRC_OK, -1);
    size_t taken = arena.total;
    check_count(WIRE(0, 0, 0, 2, 0, 0, 0, 9, 0, 0, 0), false, KRC_E_CORRUPT, 0);
    check_count(WIRE(0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 9), false, KRC_E_CORRUPT, 0);
    check_count(WIRE(0x80, 0, 0, 0), false, KRC_E_CORRUPT, 0);
    check_count(WIRE(0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 9), true, KRC_E_CORRUPT, 0);
    check_count(WIRE(3, 0, 0, 0, 9), true, KRC_E_CORRUPT, 0);
    ck_assert_uint_eq(arena.total, taken);
}
END_TEST

/* Knows tag 1, which is an int16. */
static bool tag_one(struct krc_wire *w, uint32_t tag, void *message)
{
    if (tag == 1)
        krc_wire_i16(w, message);
    return tag == 1;
}

static void check_tags(struct krc_wire w, int rc, int16_t expected)
{
    static const uint32_t tags[] = {1};
    int16_t value = -1;
    krc_wire_known_tags(&w, tags, 1, tag_one, &value);
    ck_assert_int_eq(w.rc, rc);
    if (rc == KRC_OK) {
        ck_assert_int_eq(value, expected);
        ck_assert_uint_eq(krc_left(&w.in), 0);
    }
}

START_TEST(tags_that_are_not_known_are_skipped)
{
    check_tags(WIRE(0), KRC_OK, -1);
    check_tags(WIRE(1, 1, 2, 0, 7), KRC_OK, 7);
    check_tags(WIRE(3, 0, 1, 9, 1, 2, 0, 7, 0x80, 0x01, 3, 1, 2, 3), KRC_OK, 7);
    check_tags(WIRE(1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0), KRC_OK, -1);
}
END_TEST

START_TEST(tags_rise_and_stay_within_their_size)
{
    check_tags(WIRE(2, 1, 2, 0, 7, 1, 2, 0, 7), KRC_E_CORRUPT, 0); /* twice the same */
    check_tags(WIRE(2, 5, 0, 4, 0), KRC_E_CORRUPT, 0);
    check_tags(WIRE(1, 1, 3, 0, 7, 0), KRC_E_CORRUPT, 0); /* a byte too many */
    check_tags(WIRE(1, 1, 1, 0, 7), KRC_E_CORRUPT, 0);    /* one too few: 7 is not its own */
    check_tags(WIRE(1, 9, 5, 1, 2, 3, 4), KRC_E_CORRUPT, 0);
    check_tags(WIRE(2, 1, 2, 0, 7), KRC_E_CORRUPT, 0);
    check_tags(WIRE(0xff, 0xff, 0xff, 0xff, 0x0f), KRC_E_CORRUPT, 0);
}
END_TEST

START_TEST(a_refused_version_is_answered_in_the_oldest)
{
    struct krc_api_versions_response r;
    for (int16_t version = 0; version <= 4; version++) {
        ck_assert_int_eq(
            RESPONSE(API_VERSIONS, version, &r, 0, 0, 0, 1, 0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 3),
            KRC_OK);
        ck_assert_int_eq(r.error_code, KRC_KAFKA_UNSUPPORTED_VERSION);
        ck_assert_int_eq(r.range_count, 1);
        ck_assert_int_eq(r.ranges[0].key, 18);
        ck_assert_int_eq(r.ranges[0].highest, 3);
    }
    ck_assert_int_eq(RESPONSE(API_VERSIONS, 3, &r, 0, 0, 0, 1, 0, 35, 0, 0, 0, 0), KRC_OK);
    ck_assert_int_eq(r.range_count, 0);
    ck_assert_int_eq(RESPONSE(API_VERSIONS, 3, &r, 0, 0, 0, 1, 0, 35, 0, 0, 0, 0, 0),
                     KRC_E_CORRUPT);
    ck_assert_int_eq(RESPONSE(API_VERSIONS, 3, &r, 0, 0, 0, 1, 0, 35), KRC_E_CORRUPT);
    ck_assert_int_eq(RESPONSE(API_VERSIONS, 3, &r, 0, 0, 0, 1, 0, 34, 0, 0, 0, 0), KRC_E_CORRUPT);
}
END_TEST

START_TEST(a_coordinator_is_answered_for)
{
    struct krc_find_coordinator_response r;
    ck_assert_int_eq(RESPONSE(FIND_COORDINATOR, 4, &r, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0),
                     KRC_E_CORRUPT); /* for no key */
}
END_TEST

START_TEST(no_assignment_is_not_an_empty_one)
{
    struct krc_consumer_group_heartbeat_response r;
    ck_assert_int_eq(RESPONSE(CONSUMER_GROUP_HEARTBEAT, 1, &r, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
                              0, 0, 0, 0, 7, 0, 0, 0, 5, 0xff, 0),
                     KRC_OK);
    ck_assert_int_eq(r.member_epoch, 7);
    ck_assert_int_eq(r.assignment_count, -1);
    ck_assert_int_eq(RESPONSE(CONSUMER_GROUP_HEARTBEAT, 1, &r, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0,
                              0, 0, 0, 0, 7, 0, 0, 0, 5, 1, 1, 0, 0),
                     KRC_OK);
    ck_assert_int_eq(r.assignment_count, 0);
}
END_TEST

START_TEST(an_error_says_which_response_and_where)
{
    struct krc_list_offsets_response r;
    ck_assert_int_eq(RESPONSE(LIST_OFFSETS, 1, &r, 0, 0, 0, 1, 0, 0, 0, 9), KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "a ListOffsets response of 8 bytes is not of version 1: "
                                    "its byte 8 does not fit");
}
END_TEST

START_TEST(memory_has_a_limit)
{
    struct krc_list_offsets_response r;
    arena.limit = 64;
    ck_assert_int_eq(
        RESPONSE(LIST_OFFSETS, 1, &r, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        KRC_OK); /* two topics without partitions */
    ck_assert_int_eq(RESPONSE(LIST_OFFSETS, 1, &r, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0,
                              0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                     KRC_E_CORRUPT);
    ck_assert_str_eq(error.message, "a ListOffsets response of 26 bytes lists what takes over 64 "
                                    "bytes of memory: the limit is 4 times its size, which no "
                                    "broker needs");
    ck_assert_int_eq(r.topic_count, 0);
    arena.limit = 0;
}
END_TEST

static void append(struct krc_buffer *frame, const void *bytes, size_t len)
{
    ck_assert_int_eq(krc_buffer_append(frame, bytes, len, NULL), KRC_OK);
}

/* An answer of `count` times the same entry behind a head, read; its arena is not reset. */
static int read_many(enum krc_api_name api, int16_t version, void *response, const void *head,
                     size_t head_len, const void *entry, size_t entry_len, int count,
                     const void *tail, size_t tail_len)
{
    static struct krc_buffer frame;
    frame.len = 0;
    append(&frame, head, head_len);
    for (int i = 0; i < count; i++)
        append(&frame, entry, entry_len);
    append(&frame, tail, tail_len);
    krc_arena_reset(&arena);
    return krc_response_read(frame.data, frame.len, api, version, response, &arena, &error);
}

/* Groups that are three bytes, and 64 in memory; and such as brokers list. */
START_TEST(entries_of_few_bytes_are_refused_in_great_numbers)
{
    struct krc_list_groups_response r;
    static const uint8_t head[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xc1, 0x9a, 0x0c};
    static const uint8_t small[] = {1, 1, 0};
    static const uint8_t usual[] = "\x0bmy-group-7\x09""consumer";
    ck_assert_int_eq(read_many(KRC_API_LIST_GROUPS, 3, &r, head, sizeof head, small, sizeof small,
                               200000, "", 1),
                     KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "a ListGroups response of 600015 bytes lists what "
                                                "takes over 3448636 bytes of memory"));
    ck_assert_uint_le(arena.total, 4 * 600015 + (1 << 20));
    ck_assert_int_eq(read_many(KRC_API_LIST_GROUPS, 3, &r, head, sizeof head, usual, sizeof usual,
                               200000, "", 1),
                     KRC_OK);
    ck_assert_int_eq(r.group_count, 200000);
    ck_assert_int_eq(arena.limit, 0);
    krc_arena_free(&arena);
}
END_TEST

/* Metadata is checked, and then walked. */
START_TEST(partitions_of_metadata_take_no_memory)
{
    struct krc_metadata_response r;
    struct krc_metadata_topic topic;
    struct krc_metadata_partition p;
    struct krc_arena mine = {0};
    static const uint8_t head[] = {0, 0, 0, 1, 0,  0, 0, 0, 0, 1, 0, 0, 0, 0, 1,   2,
                                   0, 0, 2, 't', 0, 0xc1, 0x9a, 0x0c};
    static const uint8_t one[] = {0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2,
                                  3, 0, 0, 0, 1, 0, 0, 0, 2, 2, 0, 0, 0, 2, 1, 0};
    static const uint8_t tail[] = {0, 0, 0, 5, 0, 0, 0, 0, 9, 0};
    ck_assert_int_eq(read_many(KRC_API_METADATA, 9, &r, head, sizeof head, one, sizeof one, 200000,
                               tail, sizeof tail),
                     KRC_OK);
    ck_assert_uint_le(arena.total, 1024);
    ck_assert_int_eq(r.cluster_authorized_operations, 9);
    ck_assert(krc_wire_next(&r.rows, &topic, &mine));
    ck_assert_int_eq(topic.partition_count, 200000);
    ck_assert_int_eq(topic.authorized_operations, 5);
    for (int round = 0; round < 2; round++) {
        struct krc_wire_rows rows = topic.rows;
        for (int i = 0; i < 200000; i++) {
            ck_assert(krc_wire_next(&rows, &p, &mine));
            ck_assert_int_eq(p.index, 7);
            ck_assert_int_eq(p.replicas[1], 2);
            ck_assert_int_eq(p.in_sync[0], 2);
            ck_assert_int_eq(p.offline_count, 0);
            krc_arena_reset(&mine);
        }
        ck_assert(!krc_wire_next(&rows, &p, &mine));
    }
    ck_assert(!krc_wire_next(&r.rows, &topic, &mine));
    krc_arena_free(&mine);
    krc_arena_free(&arena);
}
END_TEST

static void check_refused(enum krc_api_name api, int16_t version, const void *request)
{
    out.len = 0;
    ck_assert_int_eq(krc_buffer_append(&out, "before", 6, NULL), KRC_OK);
    ck_assert_int_eq(krc_request_write(&out, api, version, 1, "krc", request, &error),
                     KRC_E_INVALID);
    ck_assert_uint_eq(out.len, 6);
}

START_TEST(what_a_version_cannot_carry_is_not_written)
{
    static const uint8_t name[32768];
    struct krc_offset_fetch_request all = {.topic_count = -1};
    struct krc_find_coordinator_request longest = {.key = {name, sizeof name}};
    check_refused(KRC_API_OFFSET_FETCH, 1, &all);
    check_refused(KRC_API_FIND_COORDINATOR, 0, &longest);
    check_refused(KRC_API_FIND_COORDINATOR, 6, &longest);
    ck_assert_str_eq(error.message, "a FindCoordinator request of version 6 cannot carry a name, "
                                    "list or null in it");
}
END_TEST

START_TEST(a_request_without_a_client_id)
{
    const uint8_t frame[] = {0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff};
    struct krc_api_versions_request request = {0};
    out.len = 0;
    ck_assert_int_eq(krc_request_write(&out, KRC_API_API_VERSIONS, 0, 1, NULL, &request, &error),
                     KRC_OK);
    ck_assert_uint_eq(out.len, sizeof frame);
    ck_assert_mem_eq(out.data, frame, sizeof frame);
}
END_TEST

START_TEST(an_epoch_without_a_member_is_none)
{
    /* version 9: of group "g", by no member, about no topic, with what is not stable */
    const uint8_t body[] = {2, 2, 'g', 0, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0};
    struct krc_offset_fetch_request request = {.group = {(const uint8_t *)"g", 1},
                                               .member_epoch = 7};
    out.len = 0;
    ck_assert_int_eq(krc_request_write(&out, KRC_API_OFFSET_FETCH, 9, 1, NULL, &request, &error),
                     KRC_OK);
    ck_assert_uint_ge(out.len, sizeof body);
    ck_assert_mem_eq(out.data + out.len - sizeof body, body, sizeof body);
}
END_TEST

START_TEST(the_highest_version_that_both_have)
{
    ck_assert_int_eq(krc_api_version(KRC_API_FETCH, 4, 17), 17);
    ck_assert_int_eq(krc_api_version(KRC_API_FETCH, 4, 30), 18);
    ck_assert_int_eq(krc_api_version(KRC_API_FETCH, 0, 4), 4);
    ck_assert_int_eq(krc_api_version(KRC_API_FETCH, 0, 3), -1);
    ck_assert_int_eq(krc_api_version(KRC_API_FETCH, 19, 30), -1);
}
END_TEST

START_TEST(the_correlation_id_of_a_response)
{
    int32_t id;
    ck_assert(krc_response_correlation((const uint8_t *)"\xff\xff\xff\xfe", 4, &id));
    ck_assert_int_eq(id, -2);
    ck_assert(!krc_response_correlation((const uint8_t *)"\0\0\0", 3, &id));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        compact_strings,
        strings_with_a_plain_length,
        null_bytes_are_corrupt_where_kafka_knows_none,
        lists_of_strings,
        a_string_is_at_most_as_long_as_kafka_allows,
        after_a_failure_all_is_nothing,
        counts_are_held_against_the_bytes_left,
        tags_that_are_not_known_are_skipped,
        tags_rise_and_stay_within_their_size,
        a_refused_version_is_answered_in_the_oldest,
        a_coordinator_is_answered_for,
        no_assignment_is_not_an_empty_one,
        an_error_says_which_response_and_where,
        memory_has_a_limit,
        entries_of_few_bytes_are_refused_in_great_numbers,
        partitions_of_metadata_take_no_memory,
        what_a_version_cannot_carry_is_not_written,
        a_request_without_a_client_id,
        an_epoch_without_a_member_is_none,
        the_highest_version_that_both_have,
        the_correlation_id_of_a_response,
    };
    return run_tests("wire", tests, sizeof tests / sizeof *tests, NULL, teardown);
}
