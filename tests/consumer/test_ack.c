/*
 * Acknowledging, committing, and going on from there.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"
#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static krc_error error;
static krc *handle;
static krc_batch *batches[2048];

static void open_with_store(void)
{
    handle = consume_open(tempdir_path("data"), "offset.store.file", tempdir_path("krc.db"), NULL);
}

static void poll_batches(int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_msg(krc_poll(handle, 0, &batches[i]) == 1, "batch %d", i);
}

static int ack(int64_t offset)
{
    return krc_ack(handle, "t", 0, offset, &error);
}

/* Acknowledges, and compares the account of what is acknowledged. */
static void check_ack(int64_t offset, const char *account)
{
    ck_assert_msg(ack(offset) == KRC_OK, "%s", error.message);
    struct krc_position at = consume_position(handle, "t", 0);
    ck_assert_str_eq(account_text(&at.account), account);
    ck_assert_int_eq(at.acknowledged, at.account.to);
}

/* ---- krc_ack --------------------------------------------------------------------------------- */

/* Records 0, 2, 5 and 9 of a batch of ten; a marker; records 11 to 15; an aborted batch. */
static void make_holes(void)
{
    static const int32_t deltas[] = {0, 2, 5, 9};
    struct build_record records[4];
    for (int i = 0; i < 4; i++)
        records[i] = (struct build_record){.offset_delta = deltas[i], .value = build_text("v")};
    build_batch(&make_bytes, &(struct build_batch){.leader_epoch = 3, .records = records,
                                                   .count = 4});
    make_marker(10, 7, ABORT);
    make_plain(11, 5);
    make_batch(16, 3, 7);
    make_marker(19, 7, ABORT);
    make_segment(0);
}

START_TEST(inside_a_batch)
{
    make_holes();
    open_with_store();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    poll_batches(2);
    check_ack(0, "0-0");
    check_ack(1, "0-1: delivered 1");
    check_ack(2, "0-2: delivered 1, absent 1");
    check_ack(3, "0-3: delivered 2, absent 1");
    check_ack(5, "0-5: delivered 2, absent 3");
    check_ack(6, "0-6: delivered 3, absent 3");
    ck_assert_int_eq(consume_position(handle, "t", 0).leader_epoch, 3);
    check_ack(10, "0-11: delivered 4, control 1, absent 6"); /* and the marker behind it */
    check_ack(12, "0-12: delivered 5, control 1, absent 6");
    ck_assert_int_eq(ack(11), KRC_E_INVALID);
    check_says(error.message, "offset 11 cannot be acknowledged: 12 to 16 can");
    check_ack(16, "0-16: delivered 9, control 1, absent 6");
    ck_assert_int_eq(ack(17), KRC_E_INVALID);
    check_says(error.message, "offset 17 cannot be acknowledged: 16 to 16 can");
    ck_assert_int_eq(krc_poll(handle, 0, &batches[2]), 0);
    check_ack(consume_position(handle, "t", 0).position,
              "0-20: delivered 9, aborted 3, control 2, absent 6");
    ck_assert_int_eq(krc_ack(handle, "t", 1, 0, &error), KRC_E_NOT_FOUND);
    check_says(error.message, "t-1 is not assigned");
    krc_close(handle);
}
END_TEST

START_TEST(inside_a_released_batch)
{
    make_holes();
    open_with_store();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    poll_batches(2);
    krc_release(batches[0]);
    check_ack(5, "0-0"); /* its inside is forgotten: only up to where it began */
    krc_release(batches[1]);
    check_ack(13, "0-11: delivered 4, control 1, absent 6");
    check_ack(16, "0-16: delivered 9, control 1, absent 6");
    krc_close(handle);
}
END_TEST

START_TEST(released_out_of_order)
{
    struct krc_record record;
    for (int i = 0; i < 20; i++)
        make_plain(i * 3, 3);
    make_segment(0);
    open_with_store();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    poll_batches(20);
    for (int i = 0; i < 20; i += 2)
        krc_release(batches[i]);
    for (int i = 1; i < 20; i += 2) { /* those still held are whole */
        for (int r = 0; r < 3; r++) {
            char value[16];
            ck_assert_int_eq(krc_next(batches[i], &record), 1);
            ck_assert_int_eq(record.offset, i * 3 + r);
            snprintf(value, sizeof value, "v%d", i * 3 + r);
            ck_assert_uint_eq(record.value.len, strlen(value));
            ck_assert_mem_eq(record.value.data, value, record.value.len);
        }
        ck_assert_int_eq(krc_next(batches[i], &record), 0);
    }
    check_ack(4, "0-4: delivered 4");
    check_ack(7, "0-6: delivered 6");
    for (int i = 19; i > 0; i -= 2)
        krc_release(batches[i]);
    check_ack(60, "0-60: delivered 60");
    krc_close(handle);
}
END_TEST

/* Most borders are forgotten: it counts up to one that is not far before. */
static void check_ack_about(int64_t offset)
{
    ck_assert_int_eq(ack(offset), KRC_OK);
    struct krc_position at = consume_position(handle, "t", 0);
    ck_assert_int_le(at.acknowledged, offset);
    ck_assert_int_ge(at.acknowledged, offset - 400);
    ck_assert_int_eq(at.account.delivered, at.acknowledged);
}

START_TEST(many_without_an_acknowledgement)
{
    enum { MANY = 1500 };
    for (int i = 0; i < MANY; i++)
        make_plain(i * 2, 2);
    make_segment(0);
    open_with_store();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    for (int i = 0; i < MANY; i++) {
        poll_batches(1);
        krc_release(batches[0]);
    }
    check_ack_about(1501);
    check_ack_about(2900);
    check_ack(2 * MANY, "0-3000: delivered 3000");
    krc_close(handle);
}
END_TEST

START_TEST(many_that_are_held)
{
    enum { MANY = 1100 };
    for (int i = 0; i < MANY; i++)
        make_plain(i * 2, 2);
    make_segment(0);
    open_with_store();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    poll_batches(MANY);
    check_ack(3, "0-3: delivered 3");
    check_ack(2001, "0-2001: delivered 2001");
    krc_close(handle); /* releases what is held */
}
END_TEST

/* What is held among many that were released stays exact. */
START_TEST(one_that_is_held_among_many)
{
    enum { MANY = 1500 };
    for (int i = 0; i < MANY; i++)
        make_plain(i * 2, 2);
    make_segment(0);
    open_with_store();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    for (int i = 0; i < MANY; i++) {
        poll_batches(1);
        if (i != 1)
            krc_release(batches[0]);
    }
    check_ack(1, "0-0");
    check_ack(3, "0-3: delivered 3");
    krc_close(handle);
}
END_TEST

/* The leader epoch is that of the record before what is acknowledged. */
START_TEST(leader_epochs)
{
    build_plain_batch(&make_bytes, &(struct build_batch){.leader_epoch = 3}, 5);
    build_plain_batch(&make_bytes, &(struct build_batch){.base_offset = 5, .leader_epoch = 4}, 5);
    make_segment(0);
    open_with_store();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    poll_batches(2);
    ck_assert_int_eq(consume_position(handle, "t", 0).leader_epoch, -1);
    check_ack(5, "0-5: delivered 5");
    ck_assert_int_eq(consume_position(handle, "t", 0).leader_epoch, 3);
    check_ack(7, "0-7: delivered 7");
    ck_assert_int_eq(consume_position(handle, "t", 0).leader_epoch, 4);
    krc_close(handle);
    open_with_store();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    poll_batches(2);
    krc_release(batches[1]);
    check_ack(7, "0-5: delivered 5");
    ck_assert_int_eq(consume_position(handle, "t", 0).leader_epoch, 3);
    krc_close(handle);
}
END_TEST

/* ---- krc_commit ------------------------------------------------------------------------------ */

static struct krc_stored stored_row(void)
{
    struct krc_store *store;
    struct krc_stored row;
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("krc.db"), KRC_STORE_EXISTING, &error), 0);
    ck_assert_int_eq(krc_store_load(store, "default", "t", 0, &row, &error), 1);
    row.metadata = NULL;
    krc_store_close(store);
    return row;
}

/* Goes on at the stored offset, reads so many batches, and commits all but their last `less`
 * offsets. */
static void run(int count, int64_t less)
{
    open_with_store();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    poll_batches(count);
    ck_assert_int_eq(ack(consume_position(handle, "t", 0).position - less), KRC_OK);
    ck_assert_msg(krc_commit(handle, &error) == KRC_OK, "%s", error.message);
    struct krc_position at = consume_position(handle, "t", 0);
    ck_assert_int_eq(at.committed, at.acknowledged);
    krc_close(handle);
}

START_TEST(accounts_join_across_runs)
{
    make_plain(0, 10);
    make_batch(10, 5, 7);
    make_plain(15, 5);
    make_marker(20, 7, ABORT);
    make_plain(21, 9);
    make_segment(0);
    run(1, 4);
    struct krc_stored row = stored_row();
    ck_assert_int_eq(row.offset, 6);
    ck_assert_str_eq(account_text(&row.account), "0-6: delivered 6");
    run(1, 0); /* the rest of the first batch */
    row = stored_row();
    ck_assert_int_eq(row.offset, 10);
    run(1, 2); /* over the aborted batch, into the next */
    row = stored_row();
    ck_assert_int_eq(row.offset, 18);
    ck_assert_str_eq(account_text(&row.account), "0-18: delivered 13, aborted 5");
    run(2, 0);
    row = stored_row();
    ck_assert_str_eq(account_text(&row.account),
                     "0-30: delivered 24, aborted 5, control 1");
    ck_assert_int_eq(row.history, 1);
    ck_assert(row.settled);
}
END_TEST

/* What is committed goes on where it was, batch for batch and offset for offset. */
START_TEST(every_place_to_stop)
{
    make_holes();
    for (int64_t stop = 0; stop <= 16; stop++) {
        unlink(tempdir_path("krc.db"));
        open_with_store();
        consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
        poll_batches(2);
        ck_assert_int_eq(ack(stop), KRC_OK);
        ck_assert_int_eq(krc_commit(handle, &error), KRC_OK);
        krc_close(handle);
        open_with_store();
        consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
        consume_all(handle);
        ck_assert_int_eq(krc_commit(handle, &error), KRC_OK);
        krc_close(handle);
        struct krc_stored row = stored_row();
        ck_assert_int_eq(row.offset, 20);
        ck_assert_str_eq(account_text(&row.account),
                         "0-20: delivered 9, aborted 3, control 2, absent 6");
    }
}
END_TEST

START_TEST(settled_or_not)
{
    make_plain(0, 5);
    make_batch(5, 5, 7);
    make_plain(10, 5);
    make_segment(0);
    run(1, 0); /* then an open transaction */
    ck_assert(stored_row().settled);
    handle = consume_open(tempdir_path("data"), "offset.store.file", tempdir_path("krc.db"),
                          "isolation.level", "read_uncommitted", NULL);
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "5-14");
    ck_assert_int_eq(krc_commit(handle, &error), KRC_OK);
    krc_close(handle);
    ck_assert(!stored_row().settled);
    /* The transaction is still open: nothing behind it in read_committed. */
    make_plain(15, 5);
    make_segment(15);
    open_with_store();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "");
    krc_close(handle);
}
END_TEST

START_TEST(nothing_new_commits_nothing)
{
    make_plain(0, 5);
    make_segment(0);
    run(1, 0);
    int64_t time = stored_row().commit_time_ms;
    open_with_store();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    ck_assert_int_eq(krc_commit(handle, &error), KRC_OK); /* not polled yet */
    ck_assert_str_eq(consume_all(handle), "");
    ck_assert_int_eq(krc_commit(handle, &error), KRC_OK);
    krc_close(handle);
    ck_assert_int_eq(stored_row().commit_time_ms, time);
}
END_TEST

START_TEST(no_store)
{
    make_plain(0, 5);
    make_segment(0);
    handle = consume_open(tempdir_path("data"), NULL);
    ck_assert_int_eq(krc_commit(handle, &error), KRC_E_STATE);
    check_says(error.message, "neither offset.store.file nor");
    ck_assert_int_eq(krc_assign(handle, "t", 0, KRC_STORED, KRC_NO_END, &error), KRC_E_STATE);
    check_says(error.message, "t-0 cannot start at the stored offset: offset.store.file");
    krc_close(handle);
}
END_TEST

START_TEST(groups_are_apart)
{
    make_plain(0, 5);
    make_segment(0);
    run(1, 0);
    handle = consume_open(tempdir_path("data"), "offset.store.file", tempdir_path("krc.db"),
                          "group.id", "other", NULL);
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "0-4");
    krc_close(handle);
}
END_TEST

/* ---- Two at once ----------------------------------------------------------------------------- */

/* A handle that has read and acknowledged so many batches. */
static krc *begun(int count)
{
    open_with_store();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    poll_batches(count);
    ck_assert_int_eq(ack(consume_position(handle, "t", 0).position), KRC_OK);
    return handle;
}

/* The slower of two, which have begun at the same offset, commits last. */
START_TEST(the_slower_of_two)
{
    make_plain(0, 10);
    make_plain(10, 10);
    make_segment(0);
    krc *slow = begun(1), *fast = begun(2);
    ck_assert_int_eq(krc_commit(fast, &error), KRC_OK);
    struct krc_stored row = stored_row();
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(krc_commit(slow, &error), KRC_E_MISMATCH);
        check_says(error.message, "t-0: the committed offset of group \"default\" in the offset "
                                  "store is 20, expected none");
    }
    krc_close(slow);
    krc_close(fast);
    struct krc_stored after = stored_row();
    ck_assert_mem_eq(&row, &after, sizeof row);
}
END_TEST

/* As a reset, or an import, or a reader that is gone would have it. */
static void move_to(int64_t offset, int32_t history)
{
    struct krc_store *store;
    struct krc_stored row = stored_row();
    row.offset = offset;
    row.history = history;
    row.account = (struct krc_account){.from = offset, .to = offset};
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("krc.db"), KRC_STORE_EXISTING, &error), 0);
    ck_assert_int_eq(krc_store_begin(store, &error), 0);
    ck_assert_int_eq(krc_store_put(store, "default", "t", 0, &row, &error), 0);
    ck_assert_int_eq(krc_store_commit(store, &error), 0);
    krc_store_close(store);
}

START_TEST(moved_while_it_is_read)
{
    static const struct {
        int64_t offset;
        int32_t history;
    } moves[] = {{3, 1}, {10, 2}, {900, 1}};
    make_plain(0, 10);
    make_plain(10, 10);
    make_segment(0);
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        krc_close(begun(0));
        krc *reader = i == 0 ? begun(1) : begun(0);
        if (i == 0)
            ck_assert_int_eq(krc_commit(reader, &error), KRC_OK);
        poll_batches(1);
        ck_assert_int_eq(ack(consume_position(reader, "t", 0).position), KRC_OK);
        move_to(moves[i].offset, moves[i].history);
        ck_assert_int_eq(krc_commit(reader, &error), KRC_E_MISMATCH);
        krc_close(reader);
        ck_assert_int_eq(stored_row().offset, moves[i].offset);
        move_to(10, 1);
    }
}
END_TEST

START_TEST(a_store_that_is_none)
{
    krc *none = NULL;
    krc_config *config = krc_config_new();
    tempdir_write_text("krc.db", "this is no database, and it is a bit longer than a page header.");
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("data"), &error), KRC_OK);
    ck_assert_int_eq(
        krc_config_set(config, "offset.store.file", tempdir_path("krc.db"), &error), KRC_OK);
    ck_assert_int_eq(krc_open(&none, config, &error), KRC_E_STORE);
    check_says(error.message, tempdir_path("krc.db"));
    ck_assert_ptr_null(none);
    krc_config_free(config);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        inside_a_batch,
        inside_a_released_batch,
        released_out_of_order,
        many_without_an_acknowledgement,
        many_that_are_held,
        one_that_is_held_among_many,
        leader_epochs,
        accounts_join_across_runs,
        every_place_to_stop,
        settled_or_not,
        nothing_new_commits_nothing,
        no_store,
        groups_are_apart,
        the_slower_of_two,
        moved_while_it_is_read,
        a_store_that_is_none,
    };
    return run_tests("consumer/ack", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
