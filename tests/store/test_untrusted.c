/*
 * A store that somebody else has prepared: what its schema calls, and what may be written to it.
 */
#include <check.h>

#include "store/private.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
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

int main(void)
{
    const TTest *const tests[] = {functions_in_triggers, each_mode_is_on_its_guard};
    return run_tests("store/untrusted", tests, sizeof tests / sizeof *tests, tempdir_make,
                     tempdir_remove);
}
