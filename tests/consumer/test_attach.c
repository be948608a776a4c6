/*
 * Offsets in the application's own database: committed with its results, or not at all.
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static sqlite3 *db;
static krc_error error;

static void sql(const char *text)
{
    ck_assert_msg(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", text,
                  sqlite3_errmsg(db));
}

/* Ten batches of ten records, and the application's table. */
static void setup(void)
{
    make_setup();
    for (int i = 0; i < 10; i++)
        make_plain(10 * i, 10);
    make_segment(0);
    ck_assert_int_eq(sqlite3_open(tempdir_path("app.db"), &db), SQLITE_OK);
    sql("CREATE TABLE results (kafka_offset INT, value BLOB)");
}

static void teardown(void)
{
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    make_teardown();
}

static int each_column(void *arg, int count, char **values, char **names)
{
    char *text = arg;
    (void)names;
    for (int i = 0; i < count; i++)
        sprintf(text + strlen(text), "%s%s", *text == '\0' ? "" : " ", values[i] ? values[i] : "-");
    return 0;
}

/* What another connection sees: all rows and columns, a blank between. */
static void check_stored(const char *query, const char *expected)
{
    char text[4096] = "";
    sqlite3 *another;
    ck_assert_int_eq(sqlite3_open(tempdir_path("app.db"), &another), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(another, query, each_column, text, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(another));
    ck_assert_str_eq(text, expected);
    sqlite3_close(another);
}

/* How many results, of how many offsets, and the committed offset. */
#define STATE                                                                    \
    "SELECT count(*), count(DISTINCT kafka_offset),"                             \
    " (SELECT offset FROM krc_offsets WHERE group_id = 'default') FROM results"

static int attach(krc *handle)
{
    return krc_store_sqlite_attach(handle, db, &error);
}

static krc *open_attached(const char *group)
{
    krc *handle = consume_open(tempdir_path("data"), "group.id", group, NULL);
    ck_assert_msg(attach(handle) == KRC_OK, "%s", error.message);
    return handle;
}

static krc *open_at_stored(void)
{
    krc *handle = open_attached("");
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    return handle;
}

static void keep_record(const struct krc_record *record)
{
    sqlite3_stmt *insert;
    ck_assert_int_eq(sqlite3_prepare_v2(db, "INSERT INTO results VALUES (?,?)", -1, &insert, NULL),
                     SQLITE_OK);
    sqlite3_bind_int64(insert, 1, record->offset);
    sqlite3_bind_blob(insert, 2, record->value.data, (int)record->value.len, SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(insert), SQLITE_DONE);
    sqlite3_finalize(insert);
}

/* One batch's records and its offset, without the transaction around them; false at the end. */
static bool take_batch(krc *handle)
{
    krc_batch *batch;
    struct krc_batch_info info;
    struct krc_record record;
    int rc = krc_poll(handle, 0, &batch);
    ck_assert_msg(rc >= 0, "%s", krc_last_error(handle)->message);
    if (rc == 0)
        return false;
    while (krc_next(batch, &record) == 1)
        keep_record(&record);
    krc_batch_info(batch, &info);
    ck_assert_int_eq(krc_ack(handle, info.topic, info.partition, info.next_offset, &error), 0);
    krc_release(batch);
    ck_assert_msg(krc_commit(handle, &error) == KRC_OK, "%s", error.message);
    return true;
}

static void take_and(krc *handle, const char *end)
{
    sql("BEGIN IMMEDIATE");
    ck_assert(take_batch(handle));
    sql(end);
}

static void take_all(krc *handle)
{
    bool took;
    do {
        sql("BEGIN IMMEDIATE");
        took = take_batch(handle);
        sql("COMMIT");
    } while (took);
}

/* ---- Together, or not at all --------------------------------------------------------------- */

START_TEST(results_and_offsets_together)
{
    krc *handle = open_at_stored();
    sql("BEGIN IMMEDIATE");
    ck_assert(take_batch(handle));
    check_stored(STATE, "0 0 -");
    sql("COMMIT");
    check_stored(STATE, "10 10 10");
    take_and(handle, "COMMIT");
    check_stored(STATE, "20 20 20");
    krc_close(handle);
    handle = open_at_stored(); /* goes on where it was */
    take_all(handle);
    krc_close(handle);
    check_stored(STATE, "100 100 100");
    check_stored("SELECT from_offset, to_offset, delivered FROM krc_histories", "0 100 100");
}
END_TEST

START_TEST(a_transaction_that_is_rolled_back)
{
    krc *handle = open_at_stored();
    take_and(handle, "COMMIT");
    take_and(handle, "ROLLBACK");
    check_stored(STATE, "10 10 10");
    krc_close(handle); /* it is ahead of what is stored: begin anew from there */
    handle = open_at_stored();
    take_all(handle);
    krc_close(handle);
    check_stored(STATE, "100 100 100");
    check_stored("SELECT from_offset, to_offset, delivered FROM krc_histories", "0 100 100");
}
END_TEST

/* Processes that take three batches each, and die in the middle of the fourth's transaction: before
 * or behind krc_commit. */
START_TEST(killed_again_and_again)
{
    for (int run = 0; run < 3; run++) {
        pid_t child = fork();
        if (child == 0) {
            ck_assert_int_eq(sqlite3_open(tempdir_path("app.db"), &db), SQLITE_OK);
            krc *handle = open_at_stored();
            for (int i = 0; i < 3; i++)
                take_and(handle, "COMMIT");
            sql("BEGIN IMMEDIATE");
            if (run == 1)
                sql("INSERT INTO results VALUES (-1, NULL)");
            else
                (void)take_batch(handle);
            _exit(0);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    check_stored(STATE, "90 90 90");
    krc *handle = open_at_stored();
    take_all(handle);
    krc_close(handle);
    check_stored(STATE, "100 100 100");
    check_stored("SELECT min(kafka_offset), max(kafka_offset), typeof(max(value)) FROM results",
                 "0 99 blob");
}
END_TEST

START_TEST(without_a_transaction)
{
    krc *handle = open_at_stored();
    ck_assert(take_batch(handle));
    ck_assert_int_eq(sqlite3_get_autocommit(db), 1);
    krc_close(handle);
    check_stored(STATE, "10 10 10");
}
END_TEST

/* A commit that fails leaves the application's transaction as it was, and may be tried again. */
START_TEST(a_commit_that_fails)
{
    krc_batch *batch;
    krc *handle = open_at_stored();
    sql("CREATE TEMP TRIGGER no BEFORE INSERT ON krc_histories"
        " BEGIN SELECT raise(ABORT, 'not now'); END");
    sql("BEGIN IMMEDIATE; INSERT INTO results VALUES (7, NULL)");
    ck_assert_int_eq(krc_poll(handle, 0, &batch), 1);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 10, &error), KRC_OK);
    ck_assert_int_eq(krc_commit(handle, &error), KRC_E_STORE);
    check_says(error.message, "not now");
    ck_assert_int_eq(sqlite3_get_autocommit(db), 0);
    ck_assert_int_eq(consume_position(handle, "t", 0).committed, -1);
    sql("DROP TRIGGER no; INSERT INTO results VALUES (8, NULL)");
    ck_assert_int_eq(krc_commit(handle, &error), KRC_OK);
    sql("COMMIT");
    ck_assert_int_eq(consume_position(handle, "t", 0).committed, 10);
    krc_close(handle);
    check_stored(STATE, "2 2 10");
}
END_TEST

/* ---- Several handles, resets, and what cannot be ------------------------------------------- */

START_TEST(two_handles_in_one_transaction)
{
    krc *one = open_at_stored(), *two = open_attached("other");
    consume_assign(two, "t", 0, 50, KRC_NO_END);
    sql("BEGIN IMMEDIATE");
    ck_assert(take_batch(one) && take_batch(two) && take_batch(one));
    sql("COMMIT");
    sql("BEGIN IMMEDIATE");
    ck_assert(take_batch(two));
    sql("ROLLBACK");
    krc_close(one);
    krc_close(two);
    check_stored("SELECT group_id, offset FROM krc_offsets", "default 20 other 60");
    check_stored("SELECT count(*) FROM results", "30");
}
END_TEST

/* The log begins above the stored offset: what was lost is written with the offset it leads to. */
START_TEST(a_reset_is_stored_with_its_offset)
{
    krc *handle = open_at_stored();
    take_and(handle, "COMMIT");
    krc_close(handle);
    ck_assert_int_eq(unlink(tempdir_path("data/t-0/%020d.log", 0)), 0);
    make_plain(30, 10);
    make_segment(30);
    handle = open_at_stored();
    take_and(handle, "ROLLBACK");
    krc_close(handle);
    check_stored("SELECT count(*) FROM krc_resets", "0");
    handle = open_at_stored();
    take_and(handle, "COMMIT");
    krc_close(handle);
    check_stored("SELECT from_offset, to_offset, lost_from, lost_to FROM krc_resets",
                 "10 30 10 30");
    check_stored("SELECT offset, lost FROM krc_offsets JOIN krc_histories USING (topic)", "40 20");
}
END_TEST

START_TEST(states_that_do_not_fit)
{
    krc *handle = open_attached("");
    ck_assert_int_eq(attach(handle), KRC_E_STATE);
    check_says(error.message, "has an offset store already");
    krc_close(handle);
    handle = consume_open(tempdir_path("data"), "offset.store.file", tempdir_path("krc.db"), NULL);
    ck_assert_int_eq(attach(handle), KRC_E_STATE);
    check_says(error.message, "has an offset store already");
    krc_close(handle);
    handle = consume_open(tempdir_path("data"), NULL);
    consume_assign(handle, "t", 0, 0, KRC_NO_END);
    ck_assert_int_eq(attach(handle), KRC_E_STATE);
    check_says(error.message, "after a partition was assigned: attach it first");
    krc_close(handle);
    handle = consume_open(tempdir_path("data"), NULL);
    sql("BEGIN");
    ck_assert_int_eq(attach(handle), KRC_E_STATE);
    check_says(error.message, "inside a transaction");
    sql("ROLLBACK; UPDATE krc_schema SET version = 3");
    ck_assert_int_eq(attach(handle), KRC_E_STORE);
    sql("UPDATE krc_schema SET version = 2");
    ck_assert_int_eq(attach(handle), KRC_OK); /* what failed has left no trace */
    krc_close(handle);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        results_and_offsets_together, a_transaction_that_is_rolled_back, killed_again_and_again,
        without_a_transaction, a_commit_that_fails, two_handles_in_one_transaction,
        a_reset_is_stored_with_its_offset, states_that_do_not_fit,
    };
    return run_tests("consumer/attach", tests, sizeof tests / sizeof *tests, setup, teardown);
}
