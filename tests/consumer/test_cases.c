/*
 * Small logs that broke other clients, read offline: what is delivered, what becomes of every
 * offset, and what is said.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/saw.h"
#include "tests/support/tempdir.h"

static void header_only(int64_t base, int32_t last_delta)
{
    build_batch_of(&make_bytes,
                   &(struct build_batch){.base_offset = base,
                                         .last_delta = last_delta,
                                         .base_timestamp = -1,
                                         .max_timestamp = -1},
                   (struct krc_bytes){0});
}

/* ---- Batches --------------------------------------------------------------------------------- */

START_TEST(a_batch_whose_last_record_was_compacted) /* 1 */
{
    struct build_record records[3];
    for (int32_t i = 0; i < 3; i++)
        records[i] = (struct build_record){.offset_delta = i, .value = build_text("v")};
    build_batch(&make_bytes,
                &(struct build_batch){.last_delta = 3, .records = records, .count = 3});
    make_segment(0);
    see_committed();
    check_saw("0-2", "0-4: delivered 3, absent 1");
    see_from(3, "isolation.level", "read_committed");
    check_saw("", "3-4: absent 1");
    ck_assert_int_eq(saw.at.position, 4);
}
END_TEST

START_TEST(an_emptied_batch_is_not_the_end) /* 2 */
{
    make_plain(0, 37);
    header_only(37, 17);
    ck_assert_uint_eq(krc_be32(make_bytes.data + make_bytes.len - 61 + 8), 61 - 12);
    make_segment(0);
    see_committed();
    check_saw("0-36", "0-55: delivered 37, absent 18");
    make_plain(0, 37);
    header_only(37, 17);
    make_plain(55, 2);
    make_segment(0);
    see_committed();
    check_saw("0-36 55-56", "0-57: delivered 39, absent 18");
}
END_TEST

START_TEST(an_emptied_control_batch)
{
    make_plain(0, 2);
    build_batch_of(&make_bytes,
                   &(struct build_batch){
                       .base_offset = 2, .producer_id = 1, .transactional = true, .control = true},
                   (struct krc_bytes){0});
    make_plain(3, 1);
    make_segment(0);
    see_committed();
    check_saw("0-1 3", "0-4: delivered 3, control 1");
}
END_TEST

START_TEST(commits_and_aborts_of_one_producer) /* 3 */
{
    make_plain(0, 1);
    make_batch(1, 1, 1);
    make_marker(2, 1, COMMIT);
    make_batch(3, 1, 1);
    make_marker(4, 1, ABORT);
    make_batch(5, 1, 1);
    make_marker(6, 1, COMMIT);
    make_segment(0);
    see_committed();
    check_saw("0-1 5", "0-7: delivered 3, aborted 1, control 3");
    see_from(KRC_EARLIEST, "isolation.level", "read_uncommitted");
    check_saw("0-1 3 5", "0-7: delivered 4, control 3");
}
END_TEST

START_TEST(markers_without_data) /* 4 */
{
    make_plain(0, 5);
    make_marker(5, 1, ABORT);
    make_batch(6, 4, 2);
    make_batch(10, 2, 1);
    make_marker(12, 1, ABORT);
    make_marker(13, 1, ABORT);
    make_marker(14, 1, ABORT);
    make_batch(15, 2, 1);
    make_marker(17, 1, COMMIT);
    make_marker(18, 2, COMMIT);
    make_segment(0);
    see_committed();
    check_saw("0-4 6-9 15-16", "0-19: delivered 11, aborted 2, control 6");
}
END_TEST

START_TEST(an_aborted_batch_is_not_decompressed) /* 5 */
{
    make_plain(0, 1);
    build_batch_of(&make_bytes,
                   &(struct build_batch){.base_offset = 1,
                                         .codec = KRC_GZIP,
                                         .transactional = true,
                                         .producer_id = 1,
                                         .last_delta = 4,
                                         .count = 5},
                   build_text("this is no gzip stream"));
    make_marker(6, 1, ABORT);
    make_plain(7, 1);
    make_segment(0);
    see_committed();
    check_saw("0 7", "0-8: delivered 2, aborted 5, control 1");
    see_from(KRC_EARLIEST, "isolation.level", "read_uncommitted");
    check_saw("0 !KRC_E_CORRUPT", "0-1: delivered 1");
}
END_TEST

START_TEST(a_marker_of_a_later_epoch) /* 8 */
{
    make_batch(0, 3, 9);
    build_marker(&make_bytes, 3, 9, 6, ABORT);
    make_plain(4, 1);
    make_segment(0);
    see_committed();
    check_saw("4", "0-5: delivered 1, aborted 3, control 1");
}
END_TEST

/* ---- Open transactions ----------------------------------------------------------------------- */

/* A snapshot that names one producer. */
static void snapshot(int64_t offset, int64_t producer, int64_t transaction_start)
{
    struct krc_buffer file = {0};
    char path[64];
    build_int(&file, 1, 2);
    build_int(&file, 0, 4);
    build_int(&file, 1, 4);
    build_int(&file, producer, 8);
    build_int(&file, 5, 2);
    build_int(&file, 0, 4);
    build_int(&file, offset - 1, 8);
    build_int(&file, 0, 4);
    build_int(&file, 1700000000000, 8);
    build_int(&file, 0, 4);
    build_int(&file, transaction_start, 8);
    krc_put_be32(file.data + 2, krc_crc32c(0, file.data + 6, file.len - 6));
    snprintf(path, sizeof path, "data/t-0/%020lld.snapshot", (long long)offset);
    tempdir_write(path, file.data, file.len);
    krc_buffer_free(&file);
}

START_TEST(an_open_transaction_holds_all_behind_it) /* 20 */
{
    make_plain(0, 5);
    make_batch(5, 10, 1);
    make_plain(15, 1000);
    make_segment(0);
    see_committed();
    check_saw("0-4", "0-5: delivered 5");
    ck_assert_int_eq(saw.at.undecided, 1010);
    ck_assert_int_eq(saw.at.last_stable_offset, 5);
    ck_assert_int_eq(saw.at.log_end_offset, 1015);
    see_from(500, "isolation.level", "read_committed");
    check_saw("", "500-500");
    see_from(KRC_LATEST, "isolation.level", "read_committed");
    check_saw("", "5-5");
    see_from(KRC_LATEST, "isolation.level", "read_uncommitted");
    check_saw("", "1015-1015");
}
END_TEST

/* The earliest of those that are open counts, wherever reading begins. */
START_TEST(several_open_transactions)
{
    for (int64_t p = 1; p <= 8; p++)
        make_batch(p * 5, 5, p * 1000);
    make_marker(45, 1000, COMMIT);
    make_plain(46, 4);
    make_segment(5);
    see_committed();
    check_saw("5-9", "5-10: delivered 5");
    for (int64_t start = 10; start < 50; start += 13) {
        see_from(start, "isolation.level", "read_committed");
        ck_assert_str_eq(saw.delivered, "");
        ck_assert_int_eq(saw.at.last_stable_offset, 10);
        ck_assert_int_eq(saw.at.undecided, 40);
    }
}
END_TEST

static int64_t offset_for_time(int64_t time, const char *level)
{
    int64_t offset;
    krc *handle = consume_open(tempdir_path("data"), "isolation.level", level, NULL);
    int rc = krc_offset_for_time(handle, "t", 0, time, &offset, &saw.error);
    ck_assert_msg(rc == 0, "%s", saw.error.message);
    krc_close(handle);
    return offset;
}

/* Times lead to no offset below the log start or beyond what is visible. */
START_TEST(times_and_what_is_visible)
{
    for (int64_t i = 0; i < 4; i++)
        build_plain_batch(&make_bytes,
                          &(struct build_batch){.base_offset = i * 5,
                                                .base_timestamp = 1000 + i,
                                                .max_timestamp = 1000 + i,
                                                .producer_id = i == 2 ? 7 : 0,
                                                .transactional = i == 2},
                          5);
    make_segment(0);
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 3\n");
    ck_assert_int_eq(offset_for_time(0, "read_committed"), 3);
    ck_assert_int_eq(offset_for_time(1001, "read_committed"), 5);
    ck_assert_int_eq(offset_for_time(1003, "read_committed"), 10);
    ck_assert_int_eq(offset_for_time(1003, "read_uncommitted"), 15);
    ck_assert_int_eq(offset_for_time(1004, "read_uncommitted"), 20);
}
END_TEST

/* The transaction's data is gone by retention: only the snapshot knows that it is open. */
START_TEST(a_removed_transaction_that_is_open)
{
    make_plain(10, 5);
    make_segment(10);
    snapshot(15, 7, 3);
    see_committed();
    check_saw("", "10-10");
    ck_assert_int_eq(saw.at.last_stable_offset, 10);
    ck_assert_int_eq(saw.at.undecided, 5);
    see_from(12, "isolation.level", "read_committed");
    check_saw("", "12-12");
    see_from(KRC_EARLIEST, "isolation.level", "read_uncommitted");
    check_saw("10-14", "10-15: delivered 5");
}
END_TEST

START_TEST(a_removed_transaction_that_ended)
{
    make_plain(10, 5);
    make_marker(15, 7, ABORT);
    make_segment(10);
    snapshot(15, 7, 3); /* from before the marker */
    see_committed();
    check_saw("10-14", "10-16: delivered 5, control 1");
}
END_TEST

/* The transaction may have ended in a segment that is gone, too. */
START_TEST(a_snapshot_of_before_the_first_segment)
{
    make_plain(10, 5);
    make_segment(10);
    snapshot(8, 7, 3);
    see_committed();
    check_saw("10-14", "10-15: delivered 5");
}
END_TEST

START_TEST(a_snapshot_that_lies)
{
    static const int64_t lies[][2] = {{8, 11}, {8, 13}, {1, 11}, {8, -1}, {8, 500}};
    make_plain(10, 5);
    make_batch(15, 2, 1);
    make_marker(17, 1, COMMIT);
    make_segment(10);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        snapshot(18, lies[i][0], lies[i][1]);
        see_committed();
        check_saw("10-16", "10-18: delivered 7, control 1");
    }
}
END_TEST

/* A marker in the log ends what the snapshot, newer than it, says to be open. */
START_TEST(a_snapshot_that_the_log_refutes)
{
    make_plain(10, 5);
    make_batch(15, 2, 1);
    make_marker(17, 1, COMMIT);
    make_segment(10);
    snapshot(18, 1, 3);
    see_committed();
    check_saw("10-16", "10-18: delivered 7, control 1");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_batch_whose_last_record_was_compacted,
        an_emptied_batch_is_not_the_end,
        an_emptied_control_batch,
        commits_and_aborts_of_one_producer,
        markers_without_data,
        an_aborted_batch_is_not_decompressed,
        a_marker_of_a_later_epoch,
        an_open_transaction_holds_all_behind_it,
        several_open_transactions,
        times_and_what_is_visible,
        a_removed_transaction_that_is_open,
        a_removed_transaction_that_ended,
        a_snapshot_of_before_the_first_segment,
        a_snapshot_that_lies,
        a_snapshot_that_the_log_refutes,
    };
    return run_tests("consumer/cases", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
