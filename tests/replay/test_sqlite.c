/*
 * Rows of the table of records.
 */
#include <check.h>
#include <sqlite3.h>
#include <string.h>

#include "replay/sink.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static krc_error error;
static struct krc_store *store;
static struct krc_insert *insert;

static void open_table(void)
{
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("out.db"), KRC_STORE_CREATE, &error), 0);
    ck_assert_int_eq(krc_insert_open(&insert, store, &error), KRC_OK);
}

static void close_table(void)
{
    krc_insert_close(insert);
    krc_store_close(store);
}

static int put_value(int64_t offset, const char *value)
{
    char topic[] = "t";
    struct krc_place place = {.topic = topic};
    struct krc_record record = {
        .offset = offset, .value = {(const uint8_t *)value, strlen(value)}};
    struct krc_bytes headers = {(const uint8_t *)"[]", 2};
    return krc_insert_row(insert, &place, 1, &record, KRC_CREATE_TIME, headers, &error);
}

static int64_t number(const char *sql)
{
    sqlite3_stmt *statement;
    ck_assert_int_eq(
        sqlite3_prepare_v2(krc_store_connection(store), sql, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    int64_t result = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return result;
}

/* It must not be left out, and not be taken for the record's before it either. */
START_TEST(a_value_that_sqlite_does_not_take)
{
    char value[300];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    open_table();
    ck_assert_int_eq(put_value(1, "one"), KRC_OK);
    sqlite3_limit(krc_store_connection(store), SQLITE_LIMIT_LENGTH, 200);
    ck_assert_int_eq(put_value(2, value), KRC_E_TOO_LARGE);
    check_says(error.message, "cannot insert a record");
    check_says(error.message, "no value so large");
    ck_assert_int_eq(put_value(3, "three"), KRC_OK);
    ck_assert_int_eq(number("SELECT count(*) FROM records"), 2);
    ck_assert_int_eq(number("SELECT value = CAST('three' AS BLOB) FROM records WHERE offset = 3"),
                     1);
    close_table();
}
END_TEST

START_TEST(a_table_that_is_not_krcs)
{
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("out.db"), KRC_STORE_CREATE, &error), 0);
    ck_assert_int_eq(sqlite3_exec(krc_store_connection(store), "CREATE TABLE records(what)", NULL,
                                  NULL, NULL), SQLITE_OK);
    insert = NULL;
    ck_assert_int_eq(krc_insert_open(&insert, store, &error), KRC_E_STORE);
    check_says(error.message, "the table records, which is not krc's,");
    close_table();
}
END_TEST

/* A new, empty one would hold less than the offsets say. */
START_TEST(a_table_that_is_gone)
{
    struct krc_stored stored = {.offset = 1, .leader_epoch = -1, .history = 1,
                                .account = {.to = 1, .delivered = 1}};
    open_table();
    close_table();
    open_table();
    ck_assert_int_eq(krc_store_begin(store, &error), 0);
    ck_assert_int_eq(put_value(0, "one"), KRC_OK);
    ck_assert_int_eq(krc_store_put(store, "g", "t", 0, &stored, &error), 0);
    ck_assert_int_eq(krc_store_commit(store, &error), 0);
    close_table();
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("out.db"), KRC_STORE_CREATE, &error), 0);
    ck_assert_int_eq(sqlite3_exec(krc_store_connection(store), "DROP TABLE records", NULL, NULL,
                                  NULL), SQLITE_OK);
    insert = NULL;
    ck_assert_int_eq(krc_insert_open(&insert, store, &error), KRC_E_STORE);
    check_says(error.message, tempdir_path("out.db"));
    check_says(error.message, "has no table \"records\"");
    close_table();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_value_that_sqlite_does_not_take, a_table_that_is_not_krcs,
                                  a_table_that_is_gone};
    return run_tests("replay: sqlite", tests, sizeof tests / sizeof *tests, tempdir_make,
                     tempdir_remove);
}
