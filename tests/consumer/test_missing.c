/*
 * What is not in the log, or not yet: missing segments, compacted offsets, log starts, torn tails,
 * records beyond the high watermark; and offsets that are positions.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/saw.h"
#include "tests/support/tempdir.h"

START_TEST(a_marker_whose_data_retention_removed) /* 23 */
{
    make_marker(10, 1, ABORT);
    make_plain(11, 2);
    make_marker(13, 2, COMMIT);
    make_batch(14, 1, 1);
    make_marker(15, 1, COMMIT);
    make_segment(10);
    see_committed();
    check_saw("11-12 14", "10-16: delivered 3, control 3");
}
END_TEST

START_TEST(a_transaction_over_segments)
{
    make_batch(0, 5, 1);
    make_batch(5, 5, 2);
    make_segment(0);
    make_batch(10, 5, 1);
    make_plain(15, 5);
    make_segment(10);
    make_marker(20, 1, COMMIT);
    make_marker(21, 2, ABORT);
    make_segment(20);
    see_committed();
    check_saw("0-4 10-19", "0-22: delivered 15, aborted 5, control 2");
    see_from(12, "isolation.level", "read_committed");
    check_saw("12-19", "12-22: delivered 8, control 2");
}
END_TEST

static void three_segments_less_one(void)
{
    make_plain(0, 10);
    make_segment(0);
    make_plain(20, 10);
    make_segment(20);
}

START_TEST(a_missing_segment_is_lost)
{
    three_segments_less_one();
    see_committed();
    check_saw("0-9 20-29", "0-30: delivered 20, lost 10");
    ck_assert_str_eq(saw.events.text, "lost 10 20");
    check_says(saw.events.messages, "offsets 10 to 19");
    check_says(saw.events.messages, "segments are missing");
    see_from(15, "isolation.level", "read_committed");
    check_saw("20-29", "15-30: delivered 10, lost 5");
}
END_TEST

START_TEST(a_gap_in_a_compacted_log_is_absent)
{
    three_segments_less_one();
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n1\nt 0 20\n");
    see_committed();
    check_saw("0-9 20-29", "0-30: delivered 20, absent 10");
    ck_assert_str_eq(saw.events.text, "");
}
END_TEST

/* A hole in a batch before the gap shows that the log was compacted. */
START_TEST(traces_of_compaction)
{
    struct build_record record = {.offset_delta = 3, .value = build_text("v")};
    build_batch(&make_bytes, &(struct build_batch){.records = &record, .count = 1});
    make_plain(8, 2);
    make_segment(0);
    see_committed();
    check_saw("3 8-9", "0-10: delivered 3, absent 7");
    make_plain(0, 4);
    make_plain(8, 2);
    make_segment(0);
    see_committed();
    check_saw("0-3 8-9", "0-10: delivered 6, lost 4");
    build_plain_batch(&make_bytes, &(struct build_batch){.delete_horizon = true}, 4);
    make_plain(8, 2);
    make_segment(0);
    see_committed();
    check_saw("0-3 8-9", "0-10: delivered 6, absent 4");
}
END_TEST

START_TEST(a_log_start_below_the_first_segment)
{
    make_plain(10, 5);
    make_segment(10);
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 5\n");
    see_committed();
    check_saw("10-14", "5-15: delivered 5, lost 5");
    ck_assert_str_eq(saw.events.text, "lost 5 10");
    check_says(saw.events.messages, "offsets 5 to 9");
    check_says(saw.events.messages, "remote storage");
}
END_TEST

START_TEST(a_log_start_inside_a_batch)
{
    make_plain(0, 10);
    make_segment(0);
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 3\n");
    see_committed();
    check_saw("3-9", "3-10: delivered 7");
    see_from(0, "isolation.level", "read_committed");
    check_saw("3-9", "0-10: delivered 7, lost 3");
    ck_assert_str_eq(saw.events.text, "reset 0 3");
}
END_TEST

START_TEST(one_partition_in_two_folders)
{
    krc *handle = NULL;
    krc_error error;
    krc_config *config = krc_config_new();
    make_plain(0, 1);
    make_segment(0);
    tempdir_mkdir("other");
    tempdir_mkdir("other/t-0");
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("data"), &error), KRC_OK);
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("other"), &error), KRC_OK);
    ck_assert_int_eq(krc_open(&handle, config, &error), KRC_E_AMBIGUOUS);
    ck_assert_ptr_null(handle);
    check_says(error.message, tempdir_path("data/t-0"));
    check_says(error.message, tempdir_path("other/t-0"));
    krc_config_free(config);
}
END_TEST

START_TEST(a_torn_tail_ends_the_log)
{
    make_plain(0, 5);
    make_plain(5, 5);
    make_bytes.len -= 7;
    make_segment(0);
    see_committed();
    check_saw("0-4", "0-5: delivered 5");
    ck_assert_str_eq(saw.events.text, "note 5 5");
    ck_assert_int_eq(saw.at.log_end_offset, 5);
    make_plain(0, 5);
    for (int i = 0; i < 100; i++)
        build_int(&make_bytes, 0, 8);
    make_segment(0);
    see_committed();
    check_saw("0-4", "0-5: delivered 5");
}
END_TEST

START_TEST(a_high_watermark_inside_a_batch)
{
    make_plain(0, 10);
    make_segment(0);
    tempdir_write_text("data/replication-offset-checkpoint", "0\n1\nt 0 4\n");
    see_committed();
    check_saw("0-9", "0-10: delivered 10");
    ck_assert_str_eq(saw.events.text, "note 4 10");
    check_says(saw.events.messages, "6 records lie at or beyond");
}
END_TEST

/* Offsets of Kafka 0.7 are positions: a message has one, the other bytes have none. */
START_TEST(kafka_0_7)
{
    build_message_07(&make_bytes, KRC_NONE, build_text("one"));
    size_t second = make_bytes.len;
    build_message_07(&make_bytes, KRC_NONE, build_text("three"));
    size_t third = make_bytes.len;
    build_message_07(&make_bytes, KRC_NONE, build_text("seven"));
    tempdir_write("data/t-0/00000000000000000000.kafka", make_bytes.data, make_bytes.len);
    char delivered[64], account[64];
    snprintf(delivered, sizeof delivered, "0 %zu %zu", second, third);
    snprintf(account, sizeof account, "0-%zu: delivered 3, absent %zu", make_bytes.len,
             make_bytes.len - 3);
    see_from(KRC_EARLIEST, "log.format", "0.7");
    check_saw(delivered, account);
    krc *handle = consume_open(tempdir_path("data"), "log.format", "0.7", NULL);
    krc_batch *first;
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    ck_assert_int_eq(krc_poll(handle, 0, &first), 1);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 3, &saw.error), KRC_OK);
    struct krc_account acked = consume_position(handle, "t", 0).account;
    ck_assert_str_eq(account_text(&acked), "0-3: delivered 1, absent 2");
    krc_close(handle);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_marker_whose_data_retention_removed,
        a_transaction_over_segments,
        a_missing_segment_is_lost,
        a_gap_in_a_compacted_log_is_absent,
        traces_of_compaction,
        a_log_start_below_the_first_segment,
        a_log_start_inside_a_batch,
        one_partition_in_two_folders,
        a_torn_tail_ends_the_log,
        a_high_watermark_inside_a_batch,
        kafka_0_7,
    };
    return run_tests("consumer/missing", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
