/*
 * Markers that were met ahead: the fate of a batch is the type of its producer's next one.
 */
#include <check.h>
#include <string.h>

#include "tests/support/run.h"
#include "txnfilter/markers.h"

static struct krc_markers markers;

static void setup(void)
{
    markers = (struct krc_markers){0};
}

static void teardown(void)
{
    krc_markers_free(&markers);
}

static void add(int64_t producer, int64_t offset, bool commit)
{
    ck_assert_int_eq(krc_markers_add(&markers, producer, offset, commit, NULL), KRC_OK);
}

static void doubt(int64_t offset)
{
    ck_assert_int_eq(krc_markers_doubt(&markers, offset, offset + 1, NULL), KRC_OK);
}

static int fate(int64_t producer, int64_t offset)
{
    return krc_markers_fate(&markers, producer, offset);
}

START_TEST(the_next_marker_decides)
{
    ck_assert_int_eq(fate(1, 0), KRC_TXN_UNDECIDED);
    add(1, 2, true); /* data at 1, 3, 5 of producer 1 */
    add(1, 4, false);
    add(1, 6, true);
    ck_assert_int_eq(fate(1, 1), KRC_TXN_COMMITTED);
    ck_assert_int_eq(fate(1, 3), KRC_TXN_ABORTED);
    ck_assert_int_eq(fate(1, 5), KRC_TXN_COMMITTED);
    ck_assert_int_eq(fate(1, 7), KRC_TXN_UNDECIDED);
    ck_assert_int_eq(fate(2, 1), KRC_TXN_UNDECIDED);
}
END_TEST

START_TEST(markers_without_data)
{
    add(1, 5, false);
    add(1, 12, false);
    add(1, 13, false);
    add(1, 14, false);
    add(1, 17, true);
    krc_markers_forget_below(&markers, 10);
    ck_assert_int_eq(fate(1, 10), KRC_TXN_ABORTED);
    ck_assert_int_eq(fate(1, 15), KRC_TXN_COMMITTED);
    krc_markers_forget_below(&markers, 18);
    ck_assert_int_eq(fate(1, 18), KRC_TXN_UNDECIDED);
    add(1, 20, false);
    ck_assert_int_eq(fate(1, 18), KRC_TXN_ABORTED);
}
END_TEST

/* A place that could not be read may have held anybody's marker. */
START_TEST(doubts)
{
    add(1, 5, true);
    doubt(7);
    add(2, 8, false);
    add(1, 9, true);
    ck_assert_int_eq(fate(1, 3), KRC_TXN_COMMITTED); /* decided before the doubt */
    ck_assert_int_eq(fate(1, 6), KRC_TXN_DOUBTFUL);
    ck_assert_int_eq(fate(2, 6), KRC_TXN_DOUBTFUL);
    ck_assert_int_eq(fate(3, 6), KRC_TXN_DOUBTFUL);
    ck_assert_int_eq(fate(1, 8), KRC_TXN_COMMITTED); /* began behind it */
    ck_assert_int_eq(fate(3, 8), KRC_TXN_UNDECIDED);
    krc_markers_forget_below(&markers, 8);
    ck_assert_int_eq(fate(2, 8), KRC_TXN_ABORTED);
    for (int64_t offset = 100; offset < 200; offset++)
        doubt(offset);
    ck_assert_int_eq(fate(1, 150), KRC_TXN_DOUBTFUL);
    krc_markers_forget_below(&markers, 200);
    ck_assert_int_eq(fate(1, 200), KRC_TXN_UNDECIDED);
}
END_TEST

/* ---- Against a list of all that was added ---------------------------------------------------- */

enum { OFFSETS = 20000, PRODUCERS = 40 };

static struct {
    int64_t producer; /* -1: no marker there, -2: unreadable */
    bool commit;
} log_at[OFFSETS];

static uint32_t seed = 3;
static uint32_t random_below(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * most >> 32);
}

static int model_fate(int64_t producer, int64_t offset, int64_t ahead)
{
    for (; offset < ahead; offset++) {
        if (log_at[offset].producer == -2)
            return KRC_TXN_DOUBTFUL;
        if (log_at[offset].producer == producer)
            return log_at[offset].commit ? KRC_TXN_COMMITTED : KRC_TXN_ABORTED;
    }
    return KRC_TXN_UNDECIDED;
}

static void walk_on(int64_t offset)
{
    uint32_t kind = random_below(100);
    log_at[offset].producer = kind < 50 ? (int64_t)random_below(PRODUCERS) : kind == 99 ? -2 : -1;
    log_at[offset].commit = random_below(2);
    if (log_at[offset].producer >= 0)
        add(log_at[offset].producer, offset, log_at[offset].commit);
    else if (log_at[offset].producer == -2)
        doubt(offset);
}

START_TEST(as_the_list_says)
{
    int64_t reader = 0, ahead = 0;
    while (ahead < OFFSETS) {
        for (uint32_t steps = random_below(300); steps > 0 && ahead < OFFSETS; steps--)
            walk_on(ahead++);
        while (reader < ahead && random_below(20) != 0) {
            krc_markers_forget_below(&markers, reader);
            int64_t producer = random_below(PRODUCERS + 2);
            ck_assert_int_eq(fate(producer, reader), model_fate(producer, reader, ahead));
            reader += 1 + random_below(5);
        }
    }
}
END_TEST

/* The ring is as long as the longest stretch between the two cursors; its places are used again. */
START_TEST(memory_is_bounded_by_the_distance)
{
    for (int64_t offset = 0; offset < 100000; offset++) {
        add(offset % 7, offset, true);
        krc_markers_forget_below(&markers, offset - 50);
    }
    ck_assert_uint_le(markers.capacity, 64);
    ck_assert_uint_le(markers.chains.capacity, 16);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_next_marker_decides, markers_without_data, doubts,
                                  as_the_list_says, memory_is_bounded_by_the_distance};
    return run_tests("txnfilter/markers", tests, sizeof tests / sizeof *tests, setup, teardown);
}
