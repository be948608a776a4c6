/*
 * The store's tables in a database that is an application's.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/private.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static sqlite3 *db;
static krc_error error;

static sqlite3 *connect_again(void)
{
    sqlite3 *another;
    ck_assert_int_eq(sqlite3_open(tempdir_path("app.db"), &another), SQLITE_OK);
    return another;
}

static void sql(const char *text)
{
    ck_assert_msg(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", text,
                  sqlite3_errmsg(db));
}

static void setup(void)
{
    tempdir_make();
    db = connect_again();
    sql("CREATE TABLE results (value INT); PRAGMA user_version = 77;"
        "CREATE TABLE offsets (mine TEXT); CREATE TABLE sinks (mine TEXT)");
}

static void teardown(void)
{
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK); /* no statement was left */
    tempdir_remove();
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
    sqlite3 *another = connect_again();
    ck_assert_msg(sqlite3_exec(another, query, each_column, text, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(another));
    ck_assert_str_eq(text, expected);
    sqlite3_close(another);
}

#define OK(call)                                                     \
    do {                                                             \
        int ok_rc_ = (call);                                         \
        ck_assert_msg(ok_rc_ == 0, "%s: %d %s", #call, ok_rc_, error.message); \
    } while (0)

static struct krc_store *attached(void)
{
    struct krc_store *store;
    OK(krc_store_attach(&store, db, &error));
    return store;
}

static void check_refused(int code, const char *words)
{
    struct krc_store *store;
    ck_assert_int_eq(krc_store_attach(&store, db, &error), code);
    ck_assert_ptr_null(store);
    check_says(error.message, words);
    check_says(error.message, tempdir_path("app.db"));
}

static int put(struct krc_store *store, int32_t partition, int64_t offset, int64_t delivered)
{
    struct krc_stored stored = {.offset = offset, .leader_epoch = 3, .history = 1,
                                .commit_time_ms = 1, .metadata = "m",
                                .account = {.to = offset, .delivered = delivered}};
    return krc_store_put(store, "g", "t", partition, &stored, &error);
}

static void commit_one(struct krc_store *store, int32_t partition, int64_t offset)
{
    OK(krc_store_begin(store, &error));
    OK(put(store, partition, offset, offset));
    OK(krc_store_commit(store, &error));
}

static int64_t offset_of(struct krc_store *store, int32_t partition)
{
    struct krc_stored stored;
    int rc = krc_store_load(store, "g", "t", partition, &stored, &error);
    ck_assert_int_ge(rc, 0);
    return rc == 0 ? -1 : stored.offset;
}

/* ---- Tables -------------------------------------------------------------------------------- */

/* They lie beside the application's, whatever those are named, and the header stays its own. */
START_TEST(tables_beside_the_applications)
{
    static const char names[] = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'index')"
                                " AND name NOT LIKE 'sqlite_%' ORDER BY name";
    krc_store_close(attached());
    check_stored(names, "krc_clusters krc_epochs krc_histories krc_offsets krc_resets krc_resets_of krc_schema offsets "
                        "results sinks");
    check_stored("SELECT version FROM krc_schema", "2");
    check_stored("SELECT user_version, application_id"
                 " FROM pragma_user_version, pragma_application_id", "77 0");
    struct krc_store *store = attached(); /* and are found again */
    commit_one(store, 0, 5);
    krc_store_close(store);
    check_stored("SELECT version FROM krc_schema", "2");
    check_stored("SELECT group_id, topic, partition, offset, leader_epoch, metadata"
                 " FROM krc_offsets", "g t 0 5 3 m");
    check_stored("SELECT count(*) FROM offsets", "0");
}
END_TEST

START_TEST(rows_come_back)
{
    struct krc_store *store = attached();
    struct krc_store_reset reset = {.time_ms = 9, .history = 1, .from = 5, .to = 8, .lost_from = 5,
                                    .lost_to = 8, .reason = "gone"};
    commit_one(store, 0, 5);
    commit_one(store, 7, 1);
    OK(krc_store_begin(store, &error));
    OK(krc_store_add_reset(store, "g", "t", 0, &reset, &error));
    OK(krc_store_delete(store, "g", "t", 7, &error));
    OK(krc_store_commit(store, &error));
    ck_assert_int_eq(offset_of(store, 0), 5);
    ck_assert_int_eq(offset_of(store, 7), -1);
    ck_assert_int_eq(krc_store_has_sink(store, &error), 0);
    krc_store_close(store);
    check_stored("SELECT from_offset, to_offset, reason FROM krc_resets", "5 8 gone");
    check_stored("SELECT partition, to_offset, delivered FROM krc_histories", "0 5 5");
}
END_TEST

START_TEST(tables_of_the_same_name)
{
    sql("CREATE TABLE krc_resets (mine TEXT)");
    check_refused(KRC_E_STORE, "table krc_resets already exists");
    check_stored("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'krc_%'", "1");
    ck_assert_int_eq(sqlite3_get_autocommit(db), 1);
    sql("DROP TABLE krc_resets; CREATE TABLE krc_schema (mine TEXT)");
    check_refused(KRC_E_STORE, "no such column: version");
    sql("DROP TABLE krc_schema");
    krc_store_close(attached());
    sql("UPDATE krc_schema SET version = 3");
    check_refused(KRC_E_STORE, "have version 3 in krc_schema, this krc knows 2");
    sql("DELETE FROM krc_schema");
    check_refused(KRC_E_STORE, "already exists");
}
END_TEST

START_TEST(tables_of_version_1_are_upgraded)
{
    struct krc_store *store = attached();
    struct krc_stored_epoch epochs[2] = {{3, 0}, {5, 7}}, found[4];
    commit_one(store, 0, 9);
    krc_store_close(store);
    sql("DROP TABLE krc_epochs; DROP TABLE krc_clusters; UPDATE krc_schema SET version = 1");
    sql("CREATE TABLE krc_clusters (mine TEXT)");
    check_refused(KRC_E_STORE, "table krc_clusters already exists");
    check_stored("SELECT version, (SELECT count(*) FROM sqlite_schema WHERE name = 'krc_epochs')"
                 " FROM krc_schema", "1 0");
    sql("DROP TABLE krc_clusters");
    store = attached();
    check_stored("SELECT version FROM krc_schema", "2");
    check_stored("SELECT topic, partition, offset FROM krc_offsets", "t 0 9");
    OK(krc_store_begin(store, &error));
    OK(krc_store_put_epochs(store, "g", "t", 0, epochs, 2, &error));
    OK(krc_store_put_cluster(store, "g", "somewhere", &error));
    OK(krc_store_commit(store, &error));
    ck_assert_int_eq(krc_store_load_epochs(store, "g", "t", 0, found, 4, &error), 2);
    check_stored("SELECT leader_epoch, first_offset FROM krc_epochs", "3 0 5 7");
    check_stored("SELECT group_id, cluster_id FROM krc_clusters", "g somewhere");
    krc_store_close(store);
}
END_TEST

START_TEST(tables_that_are_gone)
{
    static const char *const tables[] = {"krc_offsets", "krc_histories", "krc_resets",
                                         "krc_epochs", "krc_clusters"};
    char text[128];
    krc_store_close(attached());
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        snprintf(text, sizeof text, "ALTER TABLE %s RENAME TO other", tables[i]);
        sql(text);
        snprintf(text, sizeof text, "has no table \"%s\"", tables[i]);
        check_refused(KRC_E_STORE, text);
        snprintf(text, sizeof text, "ALTER TABLE other RENAME TO %s", tables[i]);
        sql(text);
        krc_store_close(attached());
    }
}
END_TEST

/* Whether the schema is trusted, and what may be modified, stays as the application has it. */
START_TEST(settings_of_the_application)
{
    int trusts, defends;
    krc_store_close(attached());
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &trusts);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, -1, &defends);
    sqlite3 *other = connect_again();
    int others_trust, others_defend;
    sqlite3_db_config(other, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &others_trust);
    sqlite3_db_config(other, SQLITE_DBCONFIG_DEFENSIVE, -1, &others_defend);
    sqlite3_close(other);
    ck_assert_int_eq(trusts, others_trust);
    ck_assert_int_eq(defends, others_defend);
}
END_TEST

START_TEST(databases_that_cannot_be_attached)
{
    struct krc_store *store;
    sql("BEGIN");
    check_refused(KRC_E_STATE, "inside a transaction: end it first");
    sql("ROLLBACK; PRAGMA query_only = ON");
    check_refused(KRC_E_IO, "may only be read");
    sql("PRAGMA query_only = OFF");
    check_stored("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'krc_%'", "0");
    sqlite3_close(db);
    OK(krc_store_open(&store, tempdir_path("krc.db"), KRC_STORE_CREATE, &error));
    krc_store_close(store);
    ck_assert_int_eq(sqlite3_open(tempdir_path("krc.db"), &db), SQLITE_OK);
    ck_assert_int_eq(krc_store_attach(&store, db, &error), KRC_E_STORE);
    check_says(error.message, "is an offset store itself");
}
END_TEST

START_TEST(a_database_in_memory)
{
    sqlite3_close(db);
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    struct krc_store *store = attached();
    commit_one(store, 0, 5);
    ck_assert_int_eq(offset_of(store, 0), 5);
    krc_store_close(store);
    store = attached();
    ck_assert_int_eq(offset_of(store, 0), 5);
    krc_store_close(store);
}
END_TEST

/* ---- Transactions -------------------------------------------------------------------------- */

START_TEST(inside_the_applications_transaction)
{
    struct krc_store *store = attached();
    sql("BEGIN; INSERT INTO results VALUES (1)");
    commit_one(store, 0, 5);
    commit_one(store, 1, 6);
    ck_assert_int_eq(sqlite3_get_autocommit(db), 0);
    ck_assert_int_eq(offset_of(store, 0), 5); /* which others do not see yet */
    check_stored("SELECT (SELECT count(*) FROM results), (SELECT count(*) FROM krc_offsets)",
                 "0 0");
    sql("COMMIT");
    check_stored("SELECT (SELECT count(*) FROM results), (SELECT count(*) FROM krc_offsets)",
                 "1 2");
    sql("BEGIN; INSERT INTO results VALUES (2)");
    commit_one(store, 0, 9);
    sql("ROLLBACK");
    ck_assert_int_eq(offset_of(store, 0), 5);
    check_stored("SELECT count(*) FROM results", "1");
    commit_one(store, 0, 10); /* in one of its own */
    ck_assert_int_eq(sqlite3_get_autocommit(db), 1);
    krc_store_close(store);
    check_stored("SELECT offset FROM krc_offsets", "10 6");
}
END_TEST

/* What fails takes back what it wrote, and nothing of the application's. */
START_TEST(a_failure_inside_it)
{
    struct krc_store *store = attached();
    commit_one(store, 0, 5);
    sql("BEGIN; INSERT INTO results VALUES (1)");
    commit_one(store, 1, 6);
    OK(krc_store_begin(store, &error));
    OK(put(store, 0, 7, 7));
    ck_assert_int_eq(put(store, 2, 9, 8), KRC_E_STORE); /* an account that does not add up */
    check_says(error.message, "account_adds_up");
    krc_store_rollback(store);
    ck_assert_int_eq(sqlite3_get_autocommit(db), 0);
    sql("INSERT INTO results VALUES (2)");
    commit_one(store, 3, 8);
    sql("COMMIT");
    krc_store_close(store);
    check_stored("SELECT value FROM results", "1 2");
    check_stored("SELECT partition, offset FROM krc_offsets", "0 5 1 6 3 8");
}
END_TEST

START_TEST(a_locked_database)
{
    struct krc_store *store = attached();
    sqlite3 *another = connect_again();
    ck_assert_int_eq(sqlite3_exec(another, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(krc_store_begin(store, &error), KRC_E_BUSY);
    check_says(error.message, "another connection has it locked; try again");
    sql("BEGIN"); /* reads at first, and cannot write then */
    OK(krc_store_begin(store, &error));
    ck_assert_int_eq(put(store, 0, 5, 5), KRC_E_BUSY);
    krc_store_rollback(store);
    ck_assert_int_eq(sqlite3_get_autocommit(db), 0);
    sqlite3_exec(another, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(another);
    sql("INSERT INTO results VALUES (1)");
    commit_one(store, 0, 5);
    sql("COMMIT");
    krc_store_close(store);
    check_stored("SELECT value, offset FROM results, krc_offsets", "1 5");
}
END_TEST

/* A full database: SQLite rolls the application's transaction back by itself. */
START_TEST(no_room)
{
    struct krc_store *store = attached();
    commit_one(store, 0, 5);
    sql("PRAGMA max_page_count = 1; BEGIN; INSERT INTO results VALUES (1)");
    int rc = krc_store_begin(store, &error);
    for (int32_t partition = 1; rc == 0 && partition < 10000; partition++)
        rc = put(store, partition, 7, 7);
    ck_assert_int_eq(rc, KRC_E_NO_SPACE);
    krc_store_rollback(store);
    ck_assert_int_eq(sqlite3_get_autocommit(db), 1);
    ck_assert_int_eq(offset_of(store, 0), 5);
    sql("PRAGMA max_page_count = 1000000");
    commit_one(store, 0, 6);
    krc_store_close(store);
    check_stored("SELECT count(*) FROM results", "0");
    check_stored("SELECT partition, offset FROM krc_offsets", "0 6");
}
END_TEST

/* Killed before the application's COMMIT, both are gone; behind it, both are there. */
START_TEST(killed_in_mid_transaction)
{
    static const char *const ends[][3] = {
        {"SELECT 1", "SELECT count(*) FROM results", "0"},
        {"COMMIT", "SELECT value, offset FROM results, krc_offsets", "1 5"},
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        pid_t child = fork();
        if (child == 0) {
            db = connect_again();
            struct krc_store *store = attached();
            sql("BEGIN; INSERT INTO results VALUES (1)");
            commit_one(store, 0, 5);
            sql(ends[i][0]);
            _exit(0);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        check_stored(ends[i][1], ends[i][2]);
        check_stored("SELECT count(*) FROM krc_offsets", ends[i][0][0] == 'S' ? "0" : "1");
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        tables_beside_the_applications, rows_come_back, tables_of_the_same_name,
        tables_of_version_1_are_upgraded, tables_that_are_gone, settings_of_the_application,
        databases_that_cannot_be_attached, a_database_in_memory,
        inside_the_applications_transaction, a_failure_inside_it, a_locked_database, no_room,
        killed_in_mid_transaction,
    };
    return run_tests("store/attach", tests, sizeof tests / sizeof *tests, setup, teardown);
}
