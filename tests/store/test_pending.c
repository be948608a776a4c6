/*
 * Commits that a group has yet to confirm: what stood before is kept, and comes back.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/store.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static struct krc_store *store;
static krc_error error;

static void setup(void)
{
    tempdir_make();
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("krc.db"), KRC_STORE_CREATE, &error), 0);
    ck_assert_int_eq(krc_store_allow_pending(store, &error), 0);
    ck_assert_int_eq(krc_store_allow_pending(store, &error), 0); /* as each run does */
}

static void teardown(void)
{
    krc_store_close(store);
    tempdir_remove();
}

/* Partition 1's rows, after reading [from, to). */
static void put(int32_t partition, int64_t from, int64_t to)
{
    struct krc_stored row = {.offset = to, .leader_epoch = 3, .history = 1, .settled = true,
                             .commit_time_ms = -1,
                             .account = {.from = from, .to = to, .delivered = to - from}};
    struct krc_stored_sink sink = {.history = 1, .file_offset = from, .length = 10 * to,
                                   .max_timestamp_ms = -1};
    ck_assert_int_eq(krc_store_put(store, "g", "t", partition, &row, &error), 0);
    ck_assert_int_eq(krc_store_put_sink(store, "t", partition, &sink, &error), 0);
}

static void keep_and_put(int32_t partition, int64_t stretch, int64_t to)
{
    struct krc_pending pending = {.topic = "t", .partition = partition, .stretch = stretch,
                                  .member_id = "m-1", .is_classic = partition == 1};
    ck_assert_int_eq(krc_store_begin(store, &error), 0);
    ck_assert_int_eq(krc_store_keep(store, &pending, &error), 0);
    put(partition, stretch, to);
    ck_assert_int_eq(krc_store_commit(store, &error), 0);
}

static void end(int32_t partition, bool taken)
{
    ck_assert_int_eq(krc_store_begin(store, &error), 0);
    ck_assert_int_eq(taken ? krc_store_confirm(store, "t", partition, &error)
                           : krc_store_put_back(store, "t", partition, &error), 0);
    ck_assert_int_eq(krc_store_commit(store, &error), 0);
}

/* -1: no row at all. */
static void expect(int32_t partition, int64_t from, int64_t to)
{
    struct krc_stored row;
    struct krc_stored_sink sink;
    int there = to >= 0;
    ck_assert_int_eq(krc_store_load(store, "g", "t", partition, &row, &error), there);
    ck_assert_int_eq(krc_store_load_sink(store, "t", partition, &sink, &error), there);
    if (!there)
        return;
    ck_assert_int_eq(row.offset, to);
    ck_assert_int_eq(row.account.from, from);
    ck_assert_int_eq(row.account.to, to);
    ck_assert_int_eq(row.leader_epoch, 3);
    ck_assert_int_eq(sink.length, 10 * to);
    ck_assert_int_eq(sink.file_offset, from);
}

static struct krc_pending seen[4];
static size_t seen_count;

static int see(void *arg, const struct krc_pending *pending)
{
    (void)arg;
    ck_assert_str_eq(pending->topic, "t");
    ck_assert_str_eq(pending->member_id, "m-1");
    ck_assert_int_eq(pending->is_classic, pending->partition == 1);
    ck_assert_uint_lt(seen_count, 4);
    seen[seen_count++] = *pending;
    return 0;
}

static void expect_pending(size_t count)
{
    seen_count = 0;
    ck_assert_int_eq(krc_store_each_pending(store, see, NULL, &error), 0);
    ck_assert_uint_eq(seen_count, count);
}

START_TEST(the_first_commit_is_put_back_to_nothing)
{
    keep_and_put(1, 100, 150);
    expect(1, 100, 150);
    expect_pending(1);
    ck_assert_int_eq(seen[0].from, -1);
    ck_assert_int_eq(seen[0].to, 150);
    ck_assert_int_eq(seen[0].stretch, 100);
    end(1, false);
    expect(1, -1, -1);
    expect_pending(0);
}
END_TEST

START_TEST(a_confirmed_one_stays)
{
    keep_and_put(1, 100, 150);
    end(1, true);
    expect(1, 100, 150);
    expect_pending(0);
}
END_TEST

START_TEST(a_later_one_is_put_back_to_the_one_before)
{
    keep_and_put(1, 100, 150);
    end(1, true);
    keep_and_put(1, 100, 200);
    expect_pending(1);
    ck_assert_int_eq(seen[0].from, 150);
    end(1, false);
    expect(1, 100, 150);
}
END_TEST

/* Files are named by them. */
START_TEST(a_topic_that_cannot_be)
{
    keep_and_put(1, 0, 10);
    ck_assert_int_eq(sqlite3_exec(krc_store_connection(store),
                                  "UPDATE pending SET topic = '../../t';"
                                  "UPDATE offsets SET topic = '../../t'", NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(krc_store_each_pending(store, see, NULL, &error), KRC_E_STORE);
    ck_assert_ptr_nonnull(strstr(error.message, "is damaged (it has a topic whose name is not"));
}
END_TEST

/* Text or a negative number would be 0, or nothing. */
START_TEST(an_offset_before_that_cannot_be)
{
    static const char *const values[] = {"'x'", "-1", "2.5"};
    keep_and_put(1, 100, 150);
    end(1, true);
    keep_and_put(1, 100, 200);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char sql[64];
        snprintf(sql, sizeof sql, "UPDATE pending_offsets SET offset = %s", values[i]);
        ck_assert_int_eq(sqlite3_exec(krc_store_connection(store), sql, NULL, NULL, NULL),
                         SQLITE_OK);
        ck_assert_int_eq(krc_store_each_pending(store, see, NULL, &error), KRC_E_STORE);
        ck_assert_ptr_nonnull(strstr(error.message, "a pending offset that is not valid"));
    }
}
END_TEST

START_TEST(partitions_do_not_meet)
{
    keep_and_put(1, 0, 10);
    keep_and_put(2, 0, 20);
    expect_pending(2);
    end(1, false);
    expect(1, -1, -1);
    expect(2, 0, 20);
    expect_pending(1);
    ck_assert_int_eq(seen[0].partition, 2);
}
END_TEST

START_TEST(pending_outlives_its_process)
{
    keep_and_put(1, 100, 150);
    krc_store_close(store);
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("krc.db"), KRC_STORE_EXISTING, &error),
                     0);
    expect_pending(1);
    end(1, false);
    expect(1, -1, -1);
}
END_TEST

static int64_t stretches(void)
{
    sqlite3_stmt *row;
    ck_assert_int_eq(sqlite3_prepare_v2(krc_store_connection(store),
                                        "SELECT count(*) FROM stretches WHERE from_offset = 100"
                                        " AND to_offset = 150 AND delivered = 50",
                                        -1, &row, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return count;
}

/* An account that ends with its stretch is kept aside, and comes back with a commit that is put
 * back. */
START_TEST(ended_stretches_are_kept)
{
    keep_and_put(1, 100, 150);
    end(1, true);
    ck_assert_int_eq(stretches(), 0);
    keep_and_put(1, 400, 450);
    ck_assert_int_eq(stretches(), 1);
    end(1, false);
    expect(1, 100, 150);
    ck_assert_int_eq(stretches(), 0);
    keep_and_put(1, 500, 550);
    end(1, true);
    keep_and_put(1, 500, 600);
    end(1, true);
    expect(1, 500, 600);
    ck_assert_int_eq(stretches(), 1);
}
END_TEST

static int count_reset(void *arg, const char *group, const char *topic, int32_t partition,
                       const struct krc_store_reset *reset)
{
    (void)group, (void)topic, (void)partition;
    *(int64_t *)arg = *(int64_t *)arg * 1000 + reset->to;
    return 0;
}

/* Where they led to. */
static int64_t resets(void)
{
    int64_t list = 0;
    ck_assert_int_eq(krc_store_each_reset(store, "g", count_reset, &list, &error), 0);
    return list;
}

static void keep_and_reset(int64_t to, int64_t end)
{
    struct krc_pending pending = {.topic = "t", .partition = 1, .stretch = 100, .member_id = "m"};
    struct krc_store_reset reset = {.history = 1, .from = -1, .to = to, .reason = "it is gone"};
    ck_assert_int_eq(krc_store_begin(store, &error), 0);
    ck_assert_int_eq(krc_store_keep(store, &pending, &error), 0);
    put(1, 100, end);
    ck_assert_int_eq(krc_store_add_reset(store, "g", "t", 1, &reset, &error), 0);
    ck_assert_int_eq(krc_store_add_reset(store, "g", "t", 2, &reset, &error), 0);
    ck_assert_int_eq(krc_store_commit(store, &error), 0);
}

/* Those of the commit, and of its partition, alone. */
START_TEST(resets_go_with_it)
{
    keep_and_reset(110, 150);
    ck_assert_int_eq(resets(), 110110);
    end(1, false);
    ck_assert_int_eq(resets(), 110);
    keep_and_reset(120, 150);
    end(1, true);
    ck_assert_int_eq(resets(), 120110120); /* sorted by partition */
    keep_and_reset(130, 200);
    end(1, false);
    ck_assert_int_eq(resets(), 120110120130);
}
END_TEST

START_TEST(two_at_a_time_are_refused)
{
    keep_and_put(1, 100, 150);
    ck_assert_int_eq(krc_store_begin(store, &error), 0);
    struct krc_pending again = {.topic = "t", .partition = 1, .stretch = 100, .member_id = ""};
    ck_assert_int_eq(krc_store_keep(store, &again, &error), KRC_E_STORE);
    krc_store_rollback(store);
    expect_pending(1);
}
END_TEST

int main(void)
{
    const TTest *tests[] = {the_first_commit_is_put_back_to_nothing, a_confirmed_one_stays,
                            a_later_one_is_put_back_to_the_one_before, a_topic_that_cannot_be,
                            an_offset_before_that_cannot_be, partitions_do_not_meet,
                            pending_outlives_its_process, ended_stretches_are_kept,
                            resets_go_with_it, two_at_a_time_are_refused};
    return run_tests("store/pending", tests, sizeof tests / sizeof *tests, setup, teardown);
}
