/*
 * Small logs that broke other clients, read offline: what is delivered, what becomes of every
 * offset, and what is said.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

/* ---- Making logs ----------------------------------------------------------------------------- */

static void header_only(int64_t base, int32_t last_delta)
{
    build_batch_of(&make_bytes,
                   &(struct build_batch){.base_offset = base,
                                         .last_delta = last_delta,
                                         .base_timestamp = -1,
                                         .max_timestamp = -1},
                   (struct krc_bytes){0});
}

static void break_crc(size_t at)
{
    memset(make_bytes.data + at + 17, 0xa5, 4);
}

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

/* ---- Reading them ---------------------------------------------------------------------------- */

static struct {
    char delivered[1024], account[256];
    struct consume_events events;
    struct krc_position at;
    krc_error error;
} saw;

static void look_at(krc *handle)
{
    snprintf(saw.delivered, sizeof saw.delivered, "%s", consume_all(handle));
    saw.error = *krc_last_error(handle);
    saw.at = consume_position(handle, "t", 0);
    snprintf(saw.account, sizeof saw.account, "%s", consume_account(handle, "t", 0));
    consume_events(handle, &saw.events);
}

static void read_from(int64_t start, const char *name, const char *value)
{
    krc *handle = consume_open(tempdir_path("data"), name, value, NULL);
    consume_assign(handle, "t", 0, start, KRC_NO_END);
    look_at(handle);
    krc_close(handle);
}

static void read_committed(void)
{
    read_from(KRC_EARLIEST, "isolation.level", "read_committed");
}

static void check_saw(const char *delivered, const char *account)
{
    ck_assert_str_eq(saw.delivered, delivered);
    ck_assert_str_eq(saw.account, account);
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
    read_committed();
    check_saw("0-2", "0-4: delivered 3, absent 1");
    read_from(3, "isolation.level", "read_committed");
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
    read_committed();
    check_saw("0-36", "0-55: delivered 37, absent 18");
    make_plain(0, 37);
    header_only(37, 17);
    make_plain(55, 2);
    make_segment(0);
    read_committed();
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
    read_committed();
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
    read_committed();
    check_saw("0-1 5", "0-7: delivered 3, aborted 1, control 3");
    read_from(KRC_EARLIEST, "isolation.level", "read_uncommitted");
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
    read_committed();
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
    read_committed();
    check_saw("0 7", "0-8: delivered 2, aborted 5, control 1");
    read_from(KRC_EARLIEST, "isolation.level", "read_uncommitted");
    check_saw("0 !KRC_E_CORRUPT", "0-1: delivered 1");
}
END_TEST

START_TEST(a_marker_of_a_later_epoch) /* 8 */
{
    make_batch(0, 3, 9);
    build_marker(&make_bytes, 3, 9, 6, ABORT);
    make_plain(4, 1);
    make_segment(0);
    read_committed();
    check_saw("4", "0-5: delivered 1, aborted 3, control 1");
}
END_TEST

/* ---- Corrupt batches ------------------------------------------------------------------------- */

START_TEST(a_broken_batch_holds_the_position) /* 12 */
{
    make_plain(0, 5);
    size_t at = make_plain(5, 5);
    make_plain(10, 5);
    break_crc(at);
    make_segment(0);
    read_committed();
    check_saw("0-4 !KRC_E_CORRUPT", "0-5: delivered 5");
    ck_assert_int_eq(saw.at.position, 5);
    check_says(saw.error.message, "00000000000000000000.log");
    check_says(saw.error.message, "5 to 9");
    ck_assert_str_eq(saw.error.topic, "t");
    ck_assert_int_eq(saw.error.partition, 0);
    ck_assert_int_eq(saw.error.offset, 5);
    ck_assert_int_eq(saw.error.file_position, (int64_t)at);
    read_from(5, "isolation.level", "read_committed");
    check_saw("!KRC_E_CORRUPT", "5-5");
    read_from(7, "isolation.level", "read_committed");
    check_saw("!KRC_E_CORRUPT", "7-7");
    read_from(10, "isolation.level", "read_uncommitted");
    check_saw("10-14", "10-15: delivered 5");
    read_from(10, "isolation.level", "read_committed"); /* what is open there cannot be told */
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
    read_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-4 10-14", "0-15: delivered 10, skipped 5");
    ck_assert_str_eq(saw.events.text, "skipped 5 10");
    check_says(saw.events.messages, "5 to 9");
    read_from(7, "skip.corrupt.batches", "true");
    check_saw("10-14", "7-15: delivered 5, skipped 3");
    krc *handle = consume_open(tempdir_path("data"), "skip.corrupt.batches", "true", NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, 7);
    look_at(handle);
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
    read_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("0-4 10-14", "0-15: delivered 10, skipped 5");
}
END_TEST

/* A hole behind a broken batch is a hole, not part of it. */
START_TEST(a_broken_batch_before_a_gap)
{
    make_plain(0, 5);
    break_crc(make_plain(5, 5));
    make_plain(20, 5);
    make_segment(0);
    read_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
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
    read_committed();
    check_saw("0-4 !KRC_E_CORRUPT", "0-5: delivered 5");
    ck_assert_int_eq(saw.error.offset, 5);
    ck_assert_int_eq(saw.error.file_position, (int64_t)at);
    read_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
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
    read_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("6-7 9", "0-10: delivered 3, control 1, skipped 6");
    ck_assert_str_eq(saw.events.text, "skipped 0 5; skipped 5 6");
    check_says(saw.events.messages, "transaction of producer 1");
    read_committed();
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
    read_from(KRC_EARLIEST, "skip.corrupt.batches", "true");
    check_saw("2-3 8-9", "0-11: delivered 4, control 2, skipped 5");
    read_from(8, "skip.corrupt.batches", "true");
    check_saw("8-9", "8-11: delivered 2, control 1");
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
        read_committed();
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
    read_from(KRC_EARLIEST, "receive.message.max.bytes", "1024");
    check_saw("0-4 !KRC_E_TOO_LARGE", "0-5: delivered 5");
    check_says(saw.error.message, "receive.message.max.bytes");
    ck_assert_int_eq(saw.error.file_position, (int64_t)at);
    build_plain_batch(&make_bytes, &(struct build_batch){.codec = KRC_ZSTD}, 200);
    make_segment(0);
    read_from(KRC_EARLIEST, "decompressed.batch.max.bytes", "1000");
    check_saw("!KRC_E_TOO_LARGE", "0-0");
    check_says(saw.error.message, "decompressed.batch.max.bytes");
}
END_TEST

/* ---- What is missing ------------------------------------------------------------------------- */

START_TEST(a_marker_whose_data_retention_removed) /* 23 */
{
    make_marker(10, 1, ABORT);
    make_plain(11, 2);
    make_marker(13, 2, COMMIT);
    make_batch(14, 1, 1);
    make_marker(15, 1, COMMIT);
    make_segment(10);
    read_committed();
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
    read_committed();
    check_saw("0-4 10-19", "0-22: delivered 15, aborted 5, control 2");
    read_from(12, "isolation.level", "read_committed");
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
    read_committed();
    check_saw("0-9 20-29", "0-30: delivered 20, lost 10");
    ck_assert_str_eq(saw.events.text, "lost 10 20");
    check_says(saw.events.messages, "offsets 10 to 19");
    check_says(saw.events.messages, "segments are missing");
    read_from(15, "isolation.level", "read_committed");
    check_saw("20-29", "15-30: delivered 10, lost 5");
}
END_TEST

START_TEST(a_gap_in_a_compacted_log_is_absent)
{
    three_segments_less_one();
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n1\nt 0 20\n");
    read_committed();
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
    read_committed();
    check_saw("3 8-9", "0-10: delivered 3, absent 7");
    make_plain(0, 4);
    make_plain(8, 2);
    make_segment(0);
    read_committed();
    check_saw("0-3 8-9", "0-10: delivered 6, lost 4");
    build_plain_batch(&make_bytes, &(struct build_batch){.delete_horizon = true}, 4);
    make_plain(8, 2);
    make_segment(0);
    read_committed();
    check_saw("0-3 8-9", "0-10: delivered 6, absent 4");
}
END_TEST

START_TEST(a_log_start_below_the_first_segment)
{
    make_plain(10, 5);
    make_segment(10);
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 5\n");
    read_committed();
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
    read_committed();
    check_saw("3-9", "3-10: delivered 7");
    read_from(0, "isolation.level", "read_committed");
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
    read_committed();
    check_saw("0-4", "0-5: delivered 5");
    ck_assert_str_eq(saw.events.text, "note 5 5");
    ck_assert_int_eq(saw.at.log_end_offset, 5);
    make_plain(0, 5);
    for (int i = 0; i < 100; i++)
        build_int(&make_bytes, 0, 8);
    make_segment(0);
    read_committed();
    check_saw("0-4", "0-5: delivered 5");
}
END_TEST

START_TEST(a_high_watermark_inside_a_batch)
{
    make_plain(0, 10);
    make_segment(0);
    tempdir_write_text("data/replication-offset-checkpoint", "0\n1\nt 0 4\n");
    read_committed();
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
    read_from(KRC_EARLIEST, "log.format", "0.7");
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

/* ---- Open transactions ----------------------------------------------------------------------- */

START_TEST(an_open_transaction_holds_all_behind_it) /* 20 */
{
    make_plain(0, 5);
    make_batch(5, 10, 1);
    make_plain(15, 1000);
    make_segment(0);
    read_committed();
    check_saw("0-4", "0-5: delivered 5");
    ck_assert_int_eq(saw.at.undecided, 1010);
    ck_assert_int_eq(saw.at.last_stable_offset, 5);
    ck_assert_int_eq(saw.at.log_end_offset, 1015);
    read_from(500, "isolation.level", "read_committed");
    check_saw("", "500-500");
    read_from(KRC_LATEST, "isolation.level", "read_committed");
    check_saw("", "5-5");
    read_from(KRC_LATEST, "isolation.level", "read_uncommitted");
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
    read_committed();
    check_saw("5-9", "5-10: delivered 5");
    for (int64_t start = 10; start < 50; start += 13) {
        read_from(start, "isolation.level", "read_committed");
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
    read_committed();
    check_saw("", "10-10");
    ck_assert_int_eq(saw.at.last_stable_offset, 10);
    ck_assert_int_eq(saw.at.undecided, 5);
    read_from(12, "isolation.level", "read_committed");
    check_saw("", "12-12");
    read_from(KRC_EARLIEST, "isolation.level", "read_uncommitted");
    check_saw("10-14", "10-15: delivered 5");
}
END_TEST

START_TEST(a_removed_transaction_that_ended)
{
    make_plain(10, 5);
    make_marker(15, 7, ABORT);
    make_segment(10);
    snapshot(15, 7, 3); /* from before the marker */
    read_committed();
    check_saw("10-14", "10-16: delivered 5, control 1");
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
        read_committed();
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
    read_committed();
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
        a_broken_batch_holds_the_position,
        a_broken_batch_is_skipped_when_told,
        a_broken_batch_may_lie_about_its_last_offset,
        a_broken_batch_before_a_gap,
        a_broken_inside,
        a_broken_marker,
        a_broken_marker_leaves_every_open_transaction_in_doubt,
        values_no_batch_may_have,
        limits,
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
        an_open_transaction_holds_all_behind_it,
        several_open_transactions,
        times_and_what_is_visible,
        a_removed_transaction_that_is_open,
        a_removed_transaction_that_ended,
        a_snapshot_that_lies,
        a_snapshot_that_the_log_refutes,
    };
    return run_tests("consumer/cases", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
