/*
 * Corrupt batches and markers: the position holds, or they are skipped when that was asked for; and
 * nothing that they leave undecided is delivered.
 */
#include <check.h>
#include <string.h>

#include "base/bytes.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/saw.h"
#include "tests/support/tempdir.h"

static void break_crc(size_t at)
{
    memset(make_bytes.data + at + 17, 0xa5, 4);
}

START_TEST(a_broken_batch_holds_the_position) /* 12 */
{
    make_plain(0, 5);
    size_t at = make_plain(5, 5);
    make_plain(10, 5);
    break_crc(at);
    make_segment(0);
    see_committed();
    check_saw("0-4 !KRC_E_CORRUPT", "0-5: delivered 5");
    ck_assert_int_eq(saw.at.position, 5);
    check_says(saw.error.message, "00000000000000000000.log");
    check_says(saw.error.message, "5 to 9");
    ck_assert_str_eq(saw.error.topic, "t");
    ck_assert_int_eq(saw.error.partition, 0);
    ck_assert_int_eq(saw.error.offset, 5);
    ck_assert_int_eq(saw.error.file_position, (int64_t)at);
    see_from(5, "isolation.level", "read_committed");
    check_saw("!KRC_E_CORRUPT", "5-5");
    see_from(7, "isolation.level", "read_committed");
    check_saw("!KRC_E_CORRUPT", "7-7");
    see_from(10, "isolation.level", "read_uncommitted");
    check_saw("10-14", "10-15: delivered 5");
    see_from(10, "isolation.level", "read_committed"); /* what is open there cannot be told */
    check_saw("!KRC_E_CORRUPT", "10-10");
    check_says(saw.error.message, "5 to 9");
}
END_TEST

START_TEST(a_broken_batch_is_skipped_when_told)
{
    make_plain(0, 5);
    break_crc(make_plain(5, 5));
    make_plain(10, 5);
    make_segment(0);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-4 10-14", "0-15: delivered 10, skipped 5");
    ck_assert_str_eq(saw.events.text, "skipped 5 10");
    check_says(saw.events.messages, "5 to 9");
    see_from(7, "skip.corrupt.batches", "true");
    check_saw("10-14", "7-15: delivered 5, skipped 3");
    krc *handle = consume_open(tempdir_path("data"), "skip.corrupt.batches", "true", NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, 7);
    see(handle);
    krc_close(handle);
    check_saw("0-4", "0-7: delivered 5, skipped 2");
}
END_TEST

START_TEST(a_broken_batch_may_lie_about_its_last_offset)
{
    make_plain(0, 5);
    size_t at = make_plain(5, 5);
    make_plain(10, 5);
    krc_put_be32(make_bytes.data + at + 23, 1000);
    make_segment(0);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-4 10-14", "0-15: delivered 10, skipped 5");
}
END_TEST

/* No checksum covers the base offset: its neighbours show that it is wrong. */
START_TEST(a_base_offset_may_be_wrong)
{
    make_plain(0, 5);
    size_t at = make_plain(5, 5);
    make_plain(10, 5);
    krc_put_be64(make_bytes.data + at, 4096 + 5);
    make_segment(0);
    see_committed();
    check_saw("0-4 !KRC_E_CORRUPT", "0-5: delivered 5");
    check_says(saw.error.message, "its base offset, which no checksum covers, is wrong");
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-4 10-14", "0-15: delivered 10, skipped 5");
}
END_TEST

/* Nothing follows the log's last batch; but the high watermark may be known. */
START_TEST(the_last_base_offset_may_be_wrong)
{
    for (int mark = 0; mark < 3; mark++) {
        make_plain(0, 5);
        size_t at = make_plain(5, 5);
        krc_put_be64(make_bytes.data + at, 4096 + 5);
        make_segment(0);
        if (mark > 0)
            tempdir_write_text("data/replication-offset-checkpoint",
                               mark == 1 ? "0\n1\nt 0 10\n" : "0\n1\nt 0 9\n");
        see_committed();
        if (mark == 1) {
            check_saw("0-4 !KRC_E_CORRUPT", "0-5: delivered 5");
            check_says(saw.error.message, "its base offset, which no checksum covers, is wrong");
            see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
            check_saw("0-4", "0-5: delivered 5");
        } else { /* it may be true */
            check_saw("0-4 4101-4105", "0-4106: delivered 10, lost 4096");
        }
    }
}
END_TEST

/* What follows a broken batch decides where the log ends, wherever its header says that it ends:
 * else the position would be out of range at the next start. */
static void check_end(int64_t end)
{
    struct krc_log_offsets offsets;
    krc *handle = consume_open(tempdir_path("data"), "skip.corrupt.batches", "true", NULL);
    ck_assert_int_eq(krc_log_offsets(handle, "t", 0, &offsets, NULL), KRC_OK);
    ck_assert_int_eq(offsets.log_end_offset, end);
    krc_close(handle);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    ck_assert_int_eq(saw.at.position, end);
    see_from(end, "skip.corrupt.batches", "true");
    ck_assert_int_eq(saw.at.position, end);
    ck_assert_str_eq(saw.events.text, "");
}

START_TEST(a_broken_batch_does_not_move_the_end)
{
    make_plain(0, 5);
    size_t at = make_plain(5, 50);
    make_plain(55, 5);
    krc_put_be32(make_bytes.data + at + 23, 1000); /* its last offset */
    make_segment(0);
    check_end(60);

    at = make_plain(0, 50);
    make_plain(50, 50);
    memmove(make_bytes.data + at + 100, make_bytes.data + at + 101, make_bytes.len - 101);
    make_bytes.len--; /* a byte is missing inside */
    make_segment(0);
    check_end(100);

    make_plain(0, 5);
    make_plain(5, 50);
    at = make_plain(55, 50);
    make_bytes.data[at + 10] ^= 1; /* its length */
    make_plain(105, 5);
    make_segment(0);
    check_end(110);
}
END_TEST

/* How far the broken ones reach is not to be told: no offset between them is in a missing file. */
START_TEST(broken_batches_side_by_side)
{
    make_plain(0, 5);
    break_crc(make_plain(5, 5));
    break_crc(make_plain(10, 5));
    make_plain(15, 5);
    make_segment(0);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-4 15-19", "0-20: delivered 10, skipped 10");
    ck_assert_str_eq(saw.events.text, "skipped 5 15");
}
END_TEST

/* Nothing tells which offsets were in it, so that it may be any that come next. */
START_TEST(a_broken_batch_at_the_end)
{
    make_plain(0, 5);
    size_t at = make_plain(5, 5);
    krc_put_be64(make_bytes.data + at, (uint64_t)-5);
    make_segment(0);
    see_committed();
    check_saw("0-4 !KRC_E_CORRUPT", "0-5: delivered 5");
    see_from(5, "isolation.level", "read_committed");
    check_saw("!KRC_E_CORRUPT", "5-5");
    see_from(5, "skip.corrupt.batches", "true");
    check_saw("", "5-5");
    ck_assert_str_eq(saw.events.text, "skipped 5 5");
}
END_TEST

/* A hole behind a broken batch is a hole, not part of it. */
START_TEST(a_broken_batch_before_a_gap)
{
    make_plain(0, 5);
    break_crc(make_plain(5, 5));
    make_plain(20, 5);
    make_segment(0);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-4 20-24", "0-25: delivered 10, lost 10, skipped 5");
}
END_TEST

START_TEST(a_broken_inside)
{
    make_plain(0, 5);
    size_t at = make_plain(5, 5);
    make_bytes.data[make_bytes.len - 1] = 2; /* a header count that has no headers */
    build_fix_crc(make_bytes.data + at);
    make_plain(10, 5);
    make_segment(0);
    see_committed();
    check_saw("0-4 !KRC_E_CORRUPT", "0-5: delivered 5");
    ck_assert_int_eq(saw.error.offset, 5);
    ck_assert_int_eq(saw.error.file_position, (int64_t)at);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-4 10-14", "0-15: delivered 10, skipped 5");
    ck_assert_str_eq(saw.events.text, "skipped 5 10");
}
END_TEST

/* What a broken marker would have decided is never delivered. */
START_TEST(a_broken_marker)
{
    make_batch(0, 5, 1);
    break_crc(make_marker(5, 1, ABORT));
    make_batch(6, 2, 1);
    make_marker(8, 1, COMMIT);
    make_plain(9, 1);
    make_segment(0);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("6-7 9", "0-10: delivered 3, control 1, skipped 6");
    ck_assert_str_eq(saw.events.text, "skipped 0 5; skipped 5 6");
    check_says(saw.events.messages, "transaction of producer 1");
    see_committed();
    check_saw("!KRC_E_CORRUPT", "0-0");
    check_says(saw.error.message, "5 to 5");
    ck_assert_int_eq(saw.at.position, 0);
}
END_TEST

/* Two producers: the broken batch may have been the marker of either. */
START_TEST(a_broken_marker_leaves_every_open_transaction_in_doubt)
{
    make_batch(0, 2, 1);
    make_batch(2, 2, 2);
    make_marker(4, 2, COMMIT);
    make_batch(5, 2, 2);
    break_crc(make_marker(7, 1, COMMIT));
    make_plain(8, 2);
    make_marker(10, 2, ABORT);
    make_segment(0);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("2-3 8-9", "0-11: delivered 4, control 2, skipped 5");
    see_from(8, "skip.corrupt.batches", "true");
    check_saw("8-9", "8-11: delivered 2, control 1");
}
END_TEST

/* Makes the length of the batch at `from` lead to `to`. */
static void lead(size_t from, size_t to)
{
    krc_put_be32(make_bytes.data + from + 8, (uint32_t)(to - from - KRC_BATCH_PREFIX));
}

/* Whoever believes it does not see what lies between. */
START_TEST(a_length_that_leads_over_a_marker)
{
    for (int segments = 0; segments < 2; segments++) {
        make_batch(0, 2, 1);
        size_t wrong = make_plain(2, 50);
        make_marker(52, 1, ABORT);
        make_batch(53, 2, 1);
        lead(wrong, make_bytes.len);
        if (segments)
            make_segment(0);
        make_marker(55, 1, COMMIT);
        make_segment(segments ? 55 : 0);
        see_committed();
        check_saw("!KRC_E_CORRUPT", "0-0");
        check_says(saw.error.message, "is corrupt at offsets 2 to 51");
        see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
        check_saw("53-54", "0-56: delivered 2, control 2, skipped 52");
    }
}
END_TEST

START_TEST(a_marker_whose_length_lies)
{
    make_batch(0, 5, 1);
    size_t marker = make_marker(5, 1, ABORT);
    make_plain(6, 400);
    lead(marker, make_bytes.len);
    make_plain(406, 1);
    make_segment(0);
    see_committed();
    check_saw("!KRC_E_CORRUPT", "0-0");
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("6-406", "0-407: delivered 401, skipped 6");
}
END_TEST

/* Its checksum is right, but it is no marker that a broker would write. */
START_TEST(a_marker_that_is_too_large)
{
    static const uint8_t key[4] = {0, 0, 0, COMMIT}, value[5000];
    struct build_record record = {.key = {key, sizeof key}, .value = {value, sizeof value}};
    make_batch(0, 5, 1);
    build_batch(&make_bytes, &(struct build_batch){.base_offset = 5, .producer_id = 1,
                                                   .transactional = true, .control = true,
                                                   .records = &record, .count = 1});
    make_plain(6, 5);
    make_segment(0);
    see_committed();
    check_saw("!KRC_E_CORRUPT", "0-0");
    check_says(saw.error.message, "no marker is so large");
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("6-10", "0-11: delivered 5, control 1, skipped 5");
}
END_TEST

START_TEST(values_no_batch_may_have) /* 14 */
{
    static const struct {
        size_t at, size;
        int64_t value;
        bool fix_crc;
    } wrong[] = {{8, 4, -1, false},          {8, 4, 9, false},  {8, 4, 0x7fffffff, false},
                 {57, 4, 0x7fffffff, true},  {57, 4, -1, true}, {16, 1, 3, false},
                 {23, 4, -5, true}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        make_plain(0, 5);
        size_t at = make_plain(5, 5);
        struct krc_buffer value = {0};
        build_int(&value, wrong[i].value, (int)wrong[i].size);
        memcpy(make_bytes.data + at + wrong[i].at, value.data, value.len);
        krc_buffer_free(&value);
        if (wrong[i].fix_crc)
            build_fix_crc(make_bytes.data + at);
        make_plain(10, 5);
        make_segment(0);
        see_committed();
        ck_assert_msg(strcmp(saw.delivered, "0-4 !KRC_E_CORRUPT") == 0 ||
                          strcmp(saw.delivered, "0-4 !KRC_E_UNSUPPORTED") == 0,
                      "%zu: %s", i, saw.delivered);
        ck_assert_int_eq(saw.at.position, 5);
    }
}
END_TEST

START_TEST(limits)
{
    make_plain(0, 5);
    size_t at = make_plain(5, 200);
    make_segment(0);
    see_from(KRC_EARLIEST, "receive.message.max.bytes", "1024");
    check_saw("0-4 !KRC_E_TOO_LARGE", "0-5: delivered 5");
    check_says(saw.error.message, "receive.message.max.bytes");
    ck_assert_int_eq(saw.error.file_position, (int64_t)at);
    build_plain_batch(&make_bytes, &(struct build_batch){.codec = KRC_ZSTD}, 200);
    make_segment(0);
    see_from(KRC_EARLIEST, "decompressed.batch.max.bytes", "1000");
    check_saw("!KRC_E_TOO_LARGE", "0-0");
    check_says(saw.error.message, "decompressed.batch.max.bytes");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_broken_batch_holds_the_position,
        a_broken_batch_is_skipped_when_told,
        a_broken_batch_may_lie_about_its_last_offset,
        a_base_offset_may_be_wrong,
        the_last_base_offset_may_be_wrong,
        a_broken_batch_does_not_move_the_end,
        broken_batches_side_by_side,
        a_broken_batch_at_the_end,
        a_broken_batch_before_a_gap,
        a_broken_inside,
        a_broken_marker,
        a_broken_marker_leaves_every_open_transaction_in_doubt,
        a_length_that_leads_over_a_marker,
        a_marker_whose_length_lies,
        a_marker_that_is_too_large,
        values_no_batch_may_have,
        limits,
    };
    return run_tests("consumer/corrupt", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
