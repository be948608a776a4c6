/*
 * Lag to the last stable offset.  What Kafka's consumer read of the fixture is held against it in
 * tests/cmd/offsets.sh.
 */
#include <krc-tools.h>
#include <string.h>

#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static krc_error error;

static struct krc_lag lag_of(int64_t committed)
{
    return (struct krc_lag){.topic = "t", .committed = committed};
}

static void measure(struct krc_lag *lags, size_t count, bool exact)
{
    krc *handle = consume_open(tempdir_path("data"), NULL);
    ck_assert_int_eq(krc_measure_lag(handle, lags, count, exact, &error), KRC_OK);
    krc_close(handle);
}

static void check(const struct krc_lag *lag, int64_t offsets, int64_t records, int64_t undecided)
{
    ck_assert_int_eq(lag->offsets, offsets);
    ck_assert_int_eq(lag->records, records);
    ck_assert_int_eq(lag->undecided, undecided);
}

/* CASES: 10 records in an open transaction, and 1,000 plain ones behind it. */
START_TEST(what_is_undecided_is_no_lag)
{
    make_plain(0, 5);
    make_batch(5, 10, 70);
    make_plain(15, 1000);
    make_segment(0);
    struct krc_lag lags[] = {lag_of(5), lag_of(3), lag_of(20)};
    measure(lags, 3, true);
    check(&lags[0], 0, 0, 1010);
    check(&lags[1], 2, 2, 1010);
    check(&lags[2], 0, 0, 1010);
}
END_TEST

/* Markers, an aborted transaction, and the end of a batch that compaction took. */
START_TEST(what_is_never_delivered_is_no_lag)
{
    make_plain(0, 5);
    make_batch(5, 10, 70);
    make_marker(15, 70, ABORT);
    make_batch(16, 2, 71);
    make_marker(18, 71, COMMIT);
    build_batch(&make_bytes, &(struct build_batch){.base_offset = 19, .last_delta = 7});
    make_segment(0);
    struct krc_lag lags[] = {lag_of(18), lag_of(17), lag_of(5), lag_of(4), lag_of(27), lag_of(99)};
    measure(lags, 6, true);
    check(&lags[0], 0, 0, 0);
    check(&lags[1], 10, 1, 0);
    check(&lags[2], 22, 2, 0);
    check(&lags[3], 23, 3, 0);
    check(&lags[4], 0, 0, 0);
    check(&lags[5], -1, -1, 0); /* there is nothing before it that could have been read */
    for (size_t i = 0; i < 6; i++)
        ck_assert_int_eq(lags[i].range, i < 5 ? KRC_IN_RANGE : KRC_BEYOND_END);
    measure(lags, 6, false);
    check(&lags[5], -1, -1, 0);
    check(&lags[0], 0, -1, 0);
    check(&lags[1], 10, -1, 0);
    check(&lags[3], 23, -1, 0);
}
END_TEST

/* Where they lie is known without reading, broken or not. */
START_TEST(ranges_of_a_log)
{
    struct krc_lag lags[] = {lag_of(0), lag_of(6), lag_of(7), lag_of(20), lag_of(21), lag_of(-1),
                             lag_of(0), lag_of(8)};
    const enum krc_range ranges[] = {KRC_BELOW_START, KRC_BELOW_START,   KRC_IN_RANGE,
                                     KRC_IN_RANGE,    KRC_BEYOND_END,    KRC_RANGE_UNKNOWN,
                                     KRC_RANGE_UNKNOWN, KRC_RANGE_UNKNOWN};
    make_plain(0, 20);
    make_bytes.data[80] ^= 1;
    make_segment(0);
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 7\n");
    tempdir_write_text("data/t-0/partition.metadata",
                       "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n");
    lags[6].partition = 1;
    lags[7].topic_id.bytes[0] = 9;
    krc *handle = consume_open(tempdir_path("data"), NULL);
    ck_assert_int_eq(krc_locate_committed(handle, lags, 8, &error), KRC_OK);
    krc_close(handle);
    for (size_t i = 0; i < 8; i++)
        ck_assert_msg(lags[i].range == ranges[i], "%zu: %d", i, lags[i].range);
    ck_assert_int_eq(lags[6].error.code, KRC_E_NOT_FOUND);
    ck_assert(lags[7].is_recreated);
    ck_assert_int_eq(lags[3].log.log_start_offset, 7);
    ck_assert_int_eq(lags[3].log.log_end_offset, 20);
}
END_TEST

START_TEST(one_broken_log_leaves_the_others)
{
    struct krc_lag lags[] = {lag_of(0), lag_of(0), lag_of(0)};
    make_plain(0, 5);
    make_segment(0);
    tempdir_mkdir("data/t-1");
    make_plain(0, 200); /* its inside is broken, which only reading shows */
    make_bytes.data[200] ^= 1;
    make_plain(200, 1);
    tempdir_write("data/t-1/00000000000000000000.log", make_bytes.data, make_bytes.len);
    lags[1].partition = 1;
    lags[2].partition = 2;
    measure(lags, 3, true);
    check(&lags[0], 5, 5, 0);
    ck_assert_int_eq(lags[1].error.code, KRC_E_CORRUPT);
    check(&lags[1], -1, -1, 0);
    ck_assert_int_eq(lags[2].error.code, KRC_E_NOT_FOUND);
    check(&lags[2], -1, -1, -1);
}
END_TEST

START_TEST(nothing_is_measured_of_nothing)
{
    make_segment(0);
    measure(NULL, 0, true);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        what_is_undecided_is_no_lag,
        what_is_never_delivered_is_no_lag,
        ranges_of_a_log,
        one_broken_log_leaves_the_others,
        nothing_is_measured_of_nothing,
    };
    return run_tests("admin: lag", tests, sizeof tests / sizeof *tests, make_setup, make_teardown);
}
