/*
 * A broker's list of aborted transactions.
 */
#include <check.h>
#include <string.h>

#include "tests/support/run.h"
#include "txnfilter/aborted.h"

static struct krc_aborted list[1024];
static struct krc_aborted_list aborted;

static void nothing(void)
{
}

static void begin(size_t count)
{
    krc_aborted_begin(&aborted, list, count);
}

static bool drops(int64_t producer, int64_t last_offset)
{
    return krc_aborted_drops(&aborted, producer, last_offset);
}

START_TEST(commits_between) /* data of producer 1 at 1, 3, 5; COMMIT 2, ABORT 4, COMMIT 6 */
{
    list[0] = (struct krc_aborted){1, 3};
    begin(1);
    ck_assert(!drops(1, 1));
    krc_aborted_marker(&aborted, 1, 2);
    ck_assert(drops(1, 3));
    krc_aborted_marker(&aborted, 1, 4);
    ck_assert(!drops(1, 5));
    krc_aborted_marker(&aborted, 1, 6);
    ck_assert(!drops(1, 7));
}
END_TEST

START_TEST(an_abort_marker_nobody_names) /* ABORT 5; data 10-11, ABORT 12; ABORT 13; data 14 */
{
    list[0] = (struct krc_aborted){1, 10};
    begin(1);
    krc_aborted_marker(&aborted, 1, 5);
    ck_assert(drops(1, 11));
    krc_aborted_marker(&aborted, 1, 12);
    krc_aborted_marker(&aborted, 1, 13);
    ck_assert(!drops(1, 14));
}
END_TEST

START_TEST(an_empty_list)
{
    begin(0);
    krc_aborted_marker(&aborted, 1, 5);
    ck_assert(!drops(1, 6));
}
END_TEST

/* One that began before the fetch, one whose data is compacted away. */
START_TEST(entries_without_data_here)
{
    list[0] = (struct krc_aborted){2, 50};
    list[1] = (struct krc_aborted){1, 3};
    list[2] = (struct krc_aborted){1, 120};
    begin(3);
    ck_assert(drops(1, 100)); /* began at 3 */
    ck_assert(!drops(3, 100));
    krc_aborted_marker(&aborted, 1, 101);
    ck_assert(!drops(1, 102));
    krc_aborted_marker(&aborted, 1, 110);
    ck_assert(drops(1, 125));
}
END_TEST

/* ---- Against a log whose transactions are known ---------------------------------------------- */

static uint32_t seed = 5;
static uint32_t random_below(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * most >> 32);
}

enum { OFFSETS = 4000, PRODUCERS = 12 };

static struct {
    int64_t producer;
    bool marker, aborts;   /* markers: */
    bool dropped;          /* data: */
} log_at[OFFSETS];

/* Fills the log, and the list as the broker makes it; returns the list's length. */
static size_t make_log(void)
{
    int64_t first[PRODUCERS];
    size_t count = 0;
    memset(first, -1, sizeof first);
    for (int64_t i = 0; i < OFFSETS; i++) {
        int64_t p = random_below(PRODUCERS);
        log_at[i].producer = p;
        log_at[i].marker = random_below(8) == 0;
        log_at[i].aborts = random_below(2);
        if (!log_at[i].marker && first[p] < 0)
            first[p] = i;
        if (!log_at[i].marker)
            continue;
        for (int64_t j = first[p] < 0 ? i : first[p]; j < i; j++)
            if (log_at[j].producer == p)
                log_at[j].dropped = log_at[i].aborts;
        if (first[p] >= 0 && log_at[i].aborts)
            list[count++] = (struct krc_aborted){p, first[p]};
        first[p] = -1;
    }
    return count;
}

static void shuffle(size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = random_below((uint32_t)i);
        struct krc_aborted swapped = list[i - 1];
        list[i - 1] = list[j];
        list[j] = swapped;
    }
}

START_TEST(as_the_log_has_it)
{
    size_t count = make_log();
    ck_assert_uint_gt(count, 50);
    ck_assert_uint_lt(count, 1024);
    shuffle(count);
    begin(count);
    for (int64_t i = 0; i < OFFSETS; i++) {
        if (log_at[i].marker)
            krc_aborted_marker(&aborted, log_at[i].producer, i);
        else
            ck_assert_int_eq(drops(log_at[i].producer, i), log_at[i].dropped);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {commits_between, an_abort_marker_nobody_names, an_empty_list,
                                  entries_without_data_here, as_the_log_has_it};
    return run_tests("txnfilter/aborted", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
