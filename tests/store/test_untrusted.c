/*
 * A store that somebody else has prepared: what its schema calls, and what may be written to it.
 */
#include <check.h>
#include <stdio.h>

#include "store/private.h"
#include "tests/support/consume.h"
#include "tests/support/tempdir.h"

static krc_error error;

static struct krc_store *opened(enum krc_store_mode mode)
{
    struct krc_store *store;
    ck_assert_msg(krc_store_open(&store, tempdir_path("krc.db"), mode, &error) == 0, "%s",
                  error.message);
    return store;
}

/* Through a connection of its own, as another program would. */
static void prepare(const char *sql)
{
    sqlite3 *db;
    krc_store_close(opened(KRC_STORE_CREATE));
    ck_assert_int_eq(sqlite3_open(tempdir_path("krc.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static int calls;

static void spy(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count, (void)values;
    calls++;
    sqlite3_result_int(context, 1);
}

/* SQLite does not know that the function is harmless. */
START_TEST(functions_in_triggers)
{
    struct krc_stored stored = {.offset = 5, .leader_epoch = -1, .history = 1,
                                .commit_time_ms = -1, .account = {.from = 5, .to = 5}};
    prepare("CREATE TRIGGER evil BEFORE INSERT ON offsets BEGIN SELECT spy(); END");
    struct krc_store *store = opened(KRC_STORE_EXISTING);
    ck_assert_int_eq(sqlite3_create_function(store->db, "spy", 0, SQLITE_UTF8, NULL, spy, NULL,
                                             NULL), SQLITE_OK);
    ck_assert_int_eq(krc_store_begin(store, &error), KRC_OK);
    ck_assert_int_eq(krc_store_put(store, "g", "t", 0, &stored, &error), KRC_E_STORE);
    check_says(error.message, "unsafe use of spy()");
    ck_assert_int_eq(calls, 0);
    krc_store_rollback(store);
    krc_store_close(store);
}
END_TEST

START_TEST(each_mode_is_on_its_guard)
{
    prepare("");
    for (int mode = KRC_STORE_CREATE; mode <= KRC_STORE_READ_ONLY; mode++) {
        int trusts = -1, defends = -1;
        struct krc_store *store = opened((enum krc_store_mode)mode);
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, -1, &trusts);
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, -1, &defends);
        ck_assert_int_eq(trusts, 0);
        ck_assert_int_eq(defends, 1);
        krc_store_close(store);
    }
}
END_TEST

/* ---- Rows that krc does not write ----------------------------------------------------------- */

/* A table in the place of krc's, of the same columns without types and checks. */
static void replace_table(const char *table, const char *change)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "INSERT INTO offsets VALUES ('g', 't', 3, 1, 20, 5, '', 7, 1);"
             "INSERT INTO histories VALUES ('g', 't', 3, 1, NULL, 0, 20, 20, 0, 0, 0, 0, 0);"
             "INSERT INTO epochs VALUES ('g', 't', 3, 5, 0); INSERT INTO sinks VALUES"
             " ('t', 3, 1, 0, 20, NULL); CREATE TABLE other AS SELECT * FROM %s; DROP TABLE %s;"
             " ALTER TABLE other RENAME TO %s; %s", table, table, table, change);
    prepare(sql);
}

static int ignore(void *arg, const char *group, const char *topic, int32_t partition,
                  const struct krc_stored *stored)
{
    (void)arg, (void)group, (void)topic, (void)partition, (void)stored;
    return 0;
}

/* The first failure of all that loads rows. */
static int load_all(struct krc_store *store)
{
    struct krc_stored row;
    struct krc_stored_epoch epochs[20];
    struct krc_stored_sink sink;
    KRC_TRY(krc_store_each(store, NULL, ignore, NULL, &error));
    KRC_TRY(krc_store_load(store, "g", "t", 3, &row, &error));
    KRC_TRY(krc_store_load_epochs(store, "g", "t", 3, epochs, 20, &error));
    return krc_store_load_sink(store, "t", 3, &sink, &error);
}

static const struct {
    const char *table, *change, *says; /* NULL: nothing is wrong with it */
} changes[] = {
    {"offsets", "UPDATE offsets SET leader_epoch = NULL, commit_time_ms = -5", NULL},
    {"offsets", "UPDATE offsets SET offset = 'x20'", "offset is x20"},
    {"offsets", "UPDATE offsets SET offset = NULL", "offset is NULL"},
    {"offsets", "UPDATE offsets SET offset = 2.5", "offset is 2.5"},
    {"offsets", "UPDATE offsets SET offset = -5", "offset is -5"},
    {"offsets", "UPDATE offsets SET history = 0", "history is 0"},
    {"offsets", "UPDATE offsets SET leader_epoch = 3000000000", "leader_epoch is 3000000000"},
    {"offsets", "UPDATE offsets SET settled = 2", "settled is 2"},
    {"offsets", "UPDATE offsets SET metadata = NULL", "metadata is NULL"},
    {"offsets", "UPDATE offsets SET topic = x'74'", "topic is t"},
    {"offsets", "UPDATE offsets SET group_id = 'g' || char(0) || 'h'", "group_id is g"},
    {"histories", "UPDATE histories SET topic_id = x'01'", "topic_id is"},
    {"histories", "UPDATE histories SET from_offset = 'x'", "from_offset is x"},
    {"histories", "UPDATE histories SET lost = -1", "lost is -1"},
    {"histories", "DELETE FROM histories", "from_offset is NULL"},
    {"epochs", "UPDATE epochs SET leader_epoch = -1", NULL},
    {"epochs", "UPDATE epochs SET first_offset = -5", "first_offset is -5"},
    {"epochs", "UPDATE epochs SET leader_epoch = -2", "leader_epoch is -2"},
    {"sinks", "UPDATE sinks SET max_timestamp_ms = -9, file_offset = -1", NULL},
    {"sinks", "UPDATE sinks SET length = 'x20'", "length is x20"},
};

START_TEST(rows_of_others)
{
    const char *says = changes[_i].says;
    replace_table(changes[_i].table, changes[_i].change);
    struct krc_store *store = opened(KRC_STORE_READ_ONLY);
    int rc = load_all(store);
    krc_store_close(store);
    ck_assert_msg(rc == (says == NULL ? 1 : KRC_E_STORE), "%d: %s", rc, error.message);
    if (says != NULL) {
        check_says(error.message, says);
        check_says(error.message, changes[_i].table);
        check_says(error.message, "-3: ");
        check_says(error.message, "restore the store from a copy, or correct the row");
    }
}
END_TEST

/* New tables refuse them themselves. */
START_TEST(epochs_that_are_none)
{
    static const char *const rows[] = {"'g', 't', 0, -2, 0", "'g', 't', 0, 1, -5"};
    struct krc_store *store = opened(KRC_STORE_CREATE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "INSERT INTO epochs VALUES (%s)", rows[i]);
        ck_assert_int_eq(sqlite3_exec(store->db, sql, NULL, NULL, NULL),
                         SQLITE_CONSTRAINT_CHECK);
    }
    krc_store_close(store);
}
END_TEST

int main(void)
{
    TCase *tc = tcase_create("store/untrusted");
    Suite *suite = suite_create("store/untrusted");
    suite_add_tcase(suite, tc);
    tcase_add_checked_fixture(tc, tempdir_make, tempdir_remove);
    tcase_add_test(tc, functions_in_triggers);
    tcase_add_test(tc, each_mode_is_on_its_guard);
    tcase_add_loop_test(tc, rows_of_others, 0, sizeof changes / sizeof *changes);
    tcase_add_test(tc, epochs_that_are_none);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
