/*
 * The store's tables in an application's own database.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/private.h"

static char *name_of(sqlite3 *db)
{
    const char *file = sqlite3_db_filename(db, "main");
    return strdup(file == NULL || file[0] == '\0' ? "in memory" : file);
}

/* An offset store as krc makes it has tables of its own, for other readers. */
static int refuse_own(struct krc_store *store, krc_error *error)
{
    sqlite3_int64 application;
    KRC_TRY(krc_store_query_number(store, "PRAGMA main.application_id", &application, error));
    if (application != KRC_STORE_APPLICATION_ID)
        return KRC_OK;
    return krc_fail(error, KRC_E_STORE,
                    "the database %s is an offset store itself, and not an application's: give its "
                    "name as offset.store.file", store->path);
}

/* The version of the tables, 0: there are none. */
static int read_version(struct krc_store *store, sqlite3_int64 *version, krc_error *error)
{
    KRC_TRY(krc_store_query_number(
        store, "SELECT 1 FROM main.sqlite_schema WHERE name = '@schema'", version, error));
    return *version == 0 ? KRC_OK
                         : krc_store_query_number(store, "SELECT version FROM @schema", version,
                                                  error);
}

/* From version 1, in the transaction that is open. */
static int upgrade(struct krc_store *store, krc_error *error)
{
    char update[80];
    snprintf(update, sizeof update, "UPDATE @schema SET version = %d", KRC_STORE_SCHEMA_VERSION);
    KRC_TRY(krc_store_execute(store, krc_store_schema_2, "upgrade the tables", error));
    return krc_store_execute(store, update, "upgrade the tables", error);
}

static int check_version(struct krc_store *store, sqlite3_int64 version, krc_error *error)
{
    if (version == KRC_STORE_SCHEMA_VERSION)
        return KRC_OK;
    return krc_fail(error, KRC_E_STORE,
                    "the offset tables in %s have version %lld in krc_schema, this krc knows %d: "
                    "use the krc that made them", store->path, (long long)version,
                    KRC_STORE_SCHEMA_VERSION);
}

/* Unless another connection was faster. */
static int make_in_transaction(struct krc_store *store, krc_error *error)
{
    static const char doing[] = "make the tables";
    char insert[80];
    sqlite3_int64 version;
    KRC_TRY(read_version(store, &version, error));
    if (version == 1)
        return upgrade(store, error);
    if (version != 0)
        return check_version(store, version, error);
    snprintf(insert, sizeof insert, "INSERT INTO @schema VALUES (%d)", KRC_STORE_SCHEMA_VERSION);
    KRC_TRY(krc_store_execute(store, krc_store_schema, doing, error));
    KRC_TRY(krc_store_execute(store, krc_store_schema_2, doing, error));
    KRC_TRY(krc_store_execute(store, krc_store_version_schema, doing, error));
    return krc_store_execute(store, insert, doing, error);
}

static int make(struct krc_store *store, krc_error *error)
{
    KRC_TRY(krc_store_begin(store, error));
    int rc = make_in_transaction(store, error);
    if (rc >= 0)
        rc = krc_store_commit(store, error);
    if (rc < 0)
        krc_store_rollback(store);
    return rc;
}

/* Tables that are made in the application's transaction would go with it. */
static int require_tables(struct krc_store *store, krc_error *error)
{
    sqlite3_int64 version;
    if (!sqlite3_get_autocommit(store->db))
        return krc_fail(error, KRC_E_STATE,
                        "cannot attach to %s inside a transaction: end it first", store->path);
    KRC_TRY(refuse_own(store, error));
    KRC_TRY(read_version(store, &version, error));
    store->version = (int)version;
    if (version == 1 || version == KRC_STORE_SCHEMA_VERSION)
        KRC_TRY(krc_store_require_tables(store, error));
    store->version = KRC_STORE_SCHEMA_VERSION;
    return version <= 1 ? make(store, error) : check_version(store, version, error);
}

int krc_store_attach(struct krc_store **store, struct sqlite3 *db, krc_error *error)
{
    *store = NULL;
    struct krc_store *s = calloc(1, sizeof *s);
    if (s == NULL || (s->path = name_of(db)) == NULL) {
        free(s);
        return krc_fail_nomem(error, sizeof *s);
    }
    s->db = db;
    s->attached = true;
    int rc = require_tables(s, error);
    if (rc < 0)
        krc_store_close(s);
    else
        *store = s;
    return rc;
}
