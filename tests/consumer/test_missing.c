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

/* What is missing may have held any marker. */
START_TEST(a_hole_leaves_open_transactions_in_doubt)
{
    for (int segments = 0; segments < 2; segments++) {
        make_batch(0, 2, 1);
        make_batch(2, 2, 2);
        make_marker(4, 2, COMMIT);
        make_batch(5, 2, 3);
        if (segments)
            make_segment(0);
        make_marker(20, 1, ABORT);
        make_batch(21, 2, 1);
        make_marker(23, 3, COMMIT);
        make_marker(24, 1, COMMIT);
        make_segment(segments ? 20 : 0);
        see_committed();
        check_saw("2-3 21-22", "0-25: delivered 4, control 4, lost 13, skipped 4");
        ck_assert_str_eq(saw.events.text, "skipped 0 2; skipped 5 7; lost 7 20");
        check_says(saw.events.messages, "transaction of producer 1 whose end is not to be told");
        see_from(6, "isolation.level", "read_committed");
        check_saw("21-22", "6-25: delivered 2, control 3, lost 13, skipped 1");
    }
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n1\nt 0 20\n");
    see_committed();
    check_saw("2-3 5-6 21-22", "0-25: delivered 6, aborted 2, control 4, absent 13");
}
END_TEST

START_TEST(a_hole_behind_the_last_stable_offset)
{
    make_batch(0, 2, 1);
    make_segment(0);
    make_plain(10, 5);
    make_segment(10);
    see_committed();
    check_saw("10-14", "0-15: delivered 5, lost 8, skipped 2");
    make_batch(10, 2, 1); /* this is no more in doubt, but open */
    make_segment(10);
    make_segment(20); /* is empty */
    see_committed();
    check_saw("", "0-20: lost 16, skipped 4");
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

/* A running broker writes it once it has compacted the log. */
START_TEST(a_cleaner_checkpoint_that_comes_later)
{
    three_segments_less_one();
    krc *handle = consume_open(tempdir_path("data"), NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n1\nt 0 20\n");
    see(handle);
    krc_close(handle);
    check_saw("0-9 20-29", "0-30: delivered 20, absent 10");
}
END_TEST

/* A hole in a batch shows that the log was compacted. */
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
    make_plain(0, 4); /* the other way round, as compaction begins at the log's start */
    build_plain_batch(&make_bytes,
                      &(struct build_batch){.base_offset = 8, .delete_horizon = true}, 2);
    make_segment(0);
    see_committed();
    check_saw("0-3 8-9", "0-10: delivered 6, absent 4");
}
END_TEST

/* A bit that was damaged shows nothing. */
START_TEST(a_false_trace_of_compaction)
{
    make_plain(0, 4);
    make_plain(8, 2);
    size_t at = make_plain(10, 90);
    make_plain(100, 2);
    make_bytes.data[at + 22] ^= 1 << 6; /* it has a delete horizon */
    make_segment(0);
    see_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-3 8-9 100-101", "0-102: delivered 8, lost 4, skipped 90");
}
END_TEST

START_TEST(a_log_start_below_the_first_segment)
{
    make_plain(10, 5);
    make_segment(10);
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 5\n");
    see_committed(); /* segments were deleted since */
    check_saw("10-14", "10-15: delivered 5");
    ck_assert_str_eq(saw.events.text, "");
    tempdir_mkdir("data/remote-log-index-cache");
    see_committed();
    check_saw("10-14", "5-15: delivered 5, lost 5");
    ck_assert_str_eq(saw.events.text, "lost 5 10");
    check_says(saw.events.messages, "offsets 5 to 9");
    check_says(saw.events.messages, "remote storage");
}
END_TEST

/* A broker that stopped cleanly has no index of a segment that it deleted. */
START_TEST(indexes_without_their_segment)
{
    make_plain(10, 5);
    make_segment(10);
    make_plain(20, 5);
    make_segment(20);
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n1\nt 0 20\n");
    tempdir_write_text("data/t-0/00000000000000000003.timeindex", "");
    tempdir_write_text("data/t-0/00000000000000000003.index", "");
    tempdir_write_text("data/t-0/00000000000000000017.index", "");
    tempdir_write_text("data/t-0/00000000000000000020.index", "");
    see_committed(); /* it deletes segments */
    check_saw("10-14 20-24", "10-25: delivered 10, absent 5");
    tempdir_write_text("data/.kafka_cleanshutdown", "");
    see_committed();
    check_saw("10-14 20-24", "3-25: delivered 10, lost 12");
    ck_assert_str_eq(saw.events.text, "lost 3 10; lost 15 20");
    check_says(saw.events.messages, "an index of theirs is there, so a segment is missing");
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 12\n");
    see_committed();
    check_saw("12-14 20-24", "12-25: delivered 8, lost 5");
}
END_TEST

/* A broker that was killed amid compaction takes the .swap segments when it starts. */
START_TEST(segments_that_were_being_swapped_in)
{
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n1\nt 0 20\n");
    make_plain(0, 10);
    make_segment(0);
    make_plain(10, 10);
    make_segment(10);
    make_plain(20, 5);
    make_segment(20);
    make_plain(3, 2);
    make_plain(18, 2);
    tempdir_write("data/t-0/00000000000000000000.log.swap", make_bytes.data, make_bytes.len);
    see_committed();
    check_saw("3-4 18-24", "0-25: delivered 9, absent 16");
    remove(tempdir_path("data/t-0/00000000000000000000.log")); /* renamed to .deleted */
    see_committed();
    check_saw("3-4 18-24", "0-25: delivered 9, absent 16");
    remove(tempdir_path("data/t-0/00000000000000000010.log"));
    see_committed();
    check_saw("3-4 18-24", "0-25: delivered 9, absent 16");
    make_bytes.len = 0;
    make_plain(0, 10);
    make_segment(0);
    make_plain(10, 10);
    make_segment(10);
    tempdir_write_text("data/t-0/00000000000000000000.index.cleaned", "");
    see_committed();
    check_saw("0-24", "0-25: delivered 25"); /* they were not whole yet */
}
END_TEST

/* A running broker takes .swap off while it is read. */
START_TEST(a_swap_that_is_done_meanwhile)
{
    make_plain(0, 10);
    tempdir_write("data/t-0/00000000000000000000.log.swap", make_bytes.data, make_bytes.len);
    make_bytes.len = 0;
    make_plain(10, 5);
    make_segment(10);
    krc *handle = consume_open(tempdir_path("data"), NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    char from[512], to[512];
    snprintf(from, sizeof from, "%s", tempdir_path("data/t-0/00000000000000000000.log.swap"));
    snprintf(to, sizeof to, "%s", tempdir_path("data/t-0/00000000000000000000.log"));
    ck_assert_int_eq(rename(from, to), 0);
    see(handle);
    krc_close(handle);
    check_saw("0-14", "0-15: delivered 15");
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

static void see_until(int64_t until)
{
    krc *handle = consume_open(tempdir_path("data"), NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, until);
    see(handle);
    krc_close(handle);
}

/* [5, 10) was there, by the checkpoint: that is said, and lost where it matters. */
START_TEST(an_end_before_the_high_watermark)
{
    make_plain(0, 5);
    make_segment(0);
    tempdir_write_text("data/replication-offset-checkpoint", "0\n1\nt 0 10\n");
    see_committed();
    check_saw("0-4", "0-5: delivered 5");
    ck_assert_str_eq(saw.events.text, "note 5 5");
    check_says(saw.events.messages, "by its checkpoints it had offsets up to 10");
    see_until(7);
    check_saw("0-4", "0-7: delivered 5, lost 2");
    ck_assert_str_eq(saw.events.text, "lost 5 7");
    see_until(20);
    check_saw("0-4", "0-10: delivered 5, lost 5");
    see_until(5);
    check_saw("0-4", "0-5: delivered 5");
    tempdir_write_text("data/.kafka_cleanshutdown", "");
    see_committed();
    check_saw("0-4", "0-10: delivered 5, lost 5");
    ck_assert_str_eq(saw.events.text, "lost 5 10");
    see_from(10, "isolation.level", "read_committed"); /* who has read it all has lost nothing */
    check_saw("", "10-10");
    see_from(11, "isolation.level", "read_committed");
    check_says(saw.events.messages, "beyond the log end");
}
END_TEST

/* Its marker may have been in what is missing: it is undecided no longer. */
START_TEST(an_open_transaction_before_a_missing_end)
{
    make_plain(0, 2);
    make_batch(2, 2, 1);
    make_plain(4, 2);
    make_segment(0);
    tempdir_write_text("data/replication-offset-checkpoint", "0\n1\nt 0 10\n");
    see_committed();
    check_saw("0-1", "0-2: delivered 2");
    see_until(10);
    check_saw("0-1 4-5", "0-10: delivered 4, lost 4, skipped 2");
    ck_assert_str_eq(saw.events.text, "skipped 2 4; lost 6 10");
    tempdir_write_text("data/.kafka_cleanshutdown", "");
    see_committed();
    check_saw("0-1 4-5", "0-10: delivered 4, lost 4, skipped 2");
    ck_assert_int_eq(saw.at.last_stable_offset, 10);
    see_from(4, "isolation.level", "read_committed");
    check_saw("4-5", "4-10: delivered 2, lost 4");
    see_until(5);
    check_saw("0-1 4", "0-5: delivered 3, skipped 2");
}
END_TEST

START_TEST(no_segment_is_left)
{
    tempdir_write_text("data/t-0/leader-epoch-checkpoint", "0\n0\n");
    tempdir_write_text("data/recovery-point-offset-checkpoint", "0\n1\nt 0 10\n");
    see_committed();
    check_saw("", "0-0");
    check_says(saw.events.messages, "the log ends at offset 0");
    see_until(10);
    check_saw("", "0-10: lost 10");
    check_says(saw.events.messages, "recovery point");
}
END_TEST

START_TEST(a_log_start_beyond_the_end)
{
    make_plain(0, 10);
    make_segment(0);
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 400\n");
    see_committed();
    check_saw("", "400-400");
    check_says(saw.events.messages, "the checkpointed log start offset 400 lies beyond the log's end: "
                                    "offsets 0 to 9 are there");
}
END_TEST

/* A batch with that time in all its records. */
static void make_at(int64_t base, int32_t count, int64_t time)
{
    build_plain_batch(&make_bytes,
                      &(struct build_batch){.base_offset = base,
                                            .base_timestamp = time,
                                            .max_timestamp = time}, count);
}

static int64_t offset_at(int64_t time)
{
    int64_t offset = -1;
    krc *handle = consume_open(tempdir_path("data"), NULL);
    struct krc_offset_query query = {
        .topic = "t", .kind = KRC_OFFSET_FOR_TIME, .timestamp_ms = time};
    ck_assert_int_eq(krc_list_offsets(handle, &query, 1, &saw.error), KRC_OK);
    offset = query.offset;
    krc_close(handle);
    return offset;
}

START_TEST(a_time_behind_a_hole)
{
    make_at(0, 5, 1000);
    make_segment(0);
    make_at(20, 5, 5000);
    make_segment(20);
    ck_assert_int_eq(offset_at(3000), 5);
    ck_assert_int_eq(offset_at(1000), 0);
    ck_assert_int_eq(offset_at(6000), 25);
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n1\nt 0 20\n");
    ck_assert_int_eq(offset_at(3000), 20); /* compaction left nothing of that time */
}
END_TEST

/* Offset 10 has the time 1000, after a batch of the time 5000 that the index lacks. */
START_TEST(a_timeindex_that_says_otherwise)
{
    struct krc_buffer index = {0};
    make_at(0, 5, 500);
    make_at(5, 5, 5000);
    make_at(10, 5, 1000);
    make_at(15, 5, 6000);
    make_segment(0);
    build_int(&index, 1000, 8);
    build_int(&index, 14, 4);
    tempdir_write("data/t-0/00000000000000000000.timeindex", index.data, index.len);
    krc_buffer_free(&index);
    ck_assert_int_eq(offset_at(3000), 5);
    ck_assert_int_eq(offset_at(5500), 15);
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
        a_hole_leaves_open_transactions_in_doubt,
        a_hole_behind_the_last_stable_offset,
        a_gap_in_a_compacted_log_is_absent,
        a_cleaner_checkpoint_that_comes_later,
        traces_of_compaction,
        a_false_trace_of_compaction,
        a_log_start_below_the_first_segment,
        indexes_without_their_segment,
        segments_that_were_being_swapped_in,
        a_swap_that_is_done_meanwhile,
        an_end_before_the_high_watermark,
        an_open_transaction_before_a_missing_end,
        no_segment_is_left,
        a_log_start_beyond_the_end,
        a_time_behind_a_hole,
        a_timeindex_that_says_otherwise,
        a_log_start_inside_a_batch,
        one_partition_in_two_folders,
        a_torn_tail_ends_the_log,
        a_high_watermark_inside_a_batch,
        kafka_0_7,
    };
    return run_tests("consumer/missing", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
