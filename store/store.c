#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/private.h"

enum { BUSY_MS = 10000, BUSY_AT_END_MS = 1000, BUSY_LOOK_MS = 20 };
#define SWITCH_TRIES 100

/* SQLite knows ENOSPC by itself (SQLITE_FULL), but no other limit, and keeps errno not always. */
static int fail_io(struct krc_store *store, krc_error *error, const char *doing)
{
    int number = sqlite3_system_errno(store->db);
    if (number == 0 && (errno == EDQUOT || errno == EFBIG))
        number = errno;
    if (number == ENOSPC || number == EDQUOT || number == EFBIG)
        return krc_fail(error, KRC_E_NO_SPACE,
                        "cannot %s in the offset store %s: there is no room (%s); make some and "
                        "try again", doing, store->path, strerror(number));
    /* the folder is there, else it had been told: SQLite tried to read what it could not make */
    if ((sqlite3_errcode(store->db) & 0xff) == SQLITE_CANTOPEN && number == ENOENT)
        return krc_fail(error, KRC_E_IO,
                        "cannot %s in the offset store %s: a file beside it cannot be made; see "
                        "whether there is room on the disk and the folder may be written to", doing,
                        store->path);
    errno = number;
    if (number != 0)
        return krc_fail_errno(error, "cannot %s in the offset store %s", doing, store->path);
    return krc_fail(error, KRC_E_IO, "cannot %s in the offset store %s: %s", doing, store->path,
                    sqlite3_errmsg(store->db));
}

int krc_store_fail_damaged(struct krc_store *store, krc_error *error, const char *finding)
{
    const char *newline = finding == NULL ? NULL : strrchr(finding, '\n');
    return krc_fail(error, KRC_E_STORE,
                    "the offset store %s is damaged (%s): restore it from a copy, or save what "
                    "\"sqlite3 FILE .recover\" can read", store->path,
                    newline == NULL ? finding : newline + 1);
}

int krc_store_fail(struct krc_store *store, krc_error *error, const char *doing)
{
    switch (sqlite3_errcode(store->db) & 0xff) {
    case SQLITE_NOMEM:
        return krc_fail(error, KRC_E_NOMEM, "out of memory: cannot %s in the offset store %s",
                        doing, store->path);
    case SQLITE_FULL:
        return krc_fail(error, KRC_E_NO_SPACE,
                        "cannot %s in the offset store %s: there is no room on the disk; make "
                        "some and try again", doing, store->path);
    case SQLITE_TOOBIG:
        return krc_fail(error, KRC_E_TOO_LARGE,
                        "cannot %s in the offset store %s: SQLite takes no value so large", doing,
                        store->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        if (store->attached)
            return krc_fail(error, KRC_E_BUSY,
                            "cannot %s in the offset store %s: another connection has it locked; "
                            "try again", doing, store->path);
        return krc_fail(error, KRC_E_BUSY,
                        "cannot %s in the offset store %s: another process has kept it locked "
                        "for %d s; try again", doing, store->path, store->waited_ms / 1000);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return krc_store_fail_damaged(store, error, sqlite3_errmsg(store->db));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return fail_io(store, error, doing);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return krc_fail(error, KRC_E_IO,
                        "cannot %s in the offset store %s: it may only be read; check the "
                        "permissions of the file and its folder", doing, store->path);
    default:
        return krc_fail(error, KRC_E_STORE, "cannot %s in the offset store %s: %s", doing,
                        store->path, sqlite3_errmsg(store->db));
    }
}

struct krc_sql krc_store_sql(const struct krc_store *store, const char *sql)
{
    struct krc_sql named;
    const char *prefix = store->attached ? "krc_" : "";
    char *to = named.text;
    assert(strlen(sql) < sizeof named.text - 256); /* none has so many names */
    for (; *sql != '\0'; sql++)
        if (*sql == '@')
            to = stpcpy(to, prefix);
        else
            *to++ = *sql;
    *to = '\0';
    return named;
}

int krc_store_execute(struct krc_store *store, const char *sql, const char *doing,
                      krc_error *error)
{
    if (sqlite3_exec(store->db, krc_store_sql(store, sql).text, NULL, NULL, NULL) != SQLITE_OK)
        return krc_store_fail(store, error, doing);
    return KRC_OK;
}

int krc_store_query_number(struct krc_store *store, const char *sql, sqlite3_int64 *number,
                           krc_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(store->db, krc_store_sql(store, sql).text, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    *number = rc == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    int failed = rc != SQLITE_ROW && rc != SQLITE_DONE ? krc_store_fail(store, error, "read") : 0;
    sqlite3_finalize(statement);
    return failed;
}

int krc_store_refuse_found(struct krc_store *store, const char *sql, krc_store_refuse_fn *refuse,
                           krc_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(store->db, krc_store_sql(store, sql).text, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    int failed = KRC_OK;
    if (rc == SQLITE_ROW)
        failed = refuse(store, error, (const char *)sqlite3_column_text(statement, 0));
    else if (rc != SQLITE_DONE)
        failed = krc_store_fail(store, error, "read");
    sqlite3_finalize(statement);
    return failed;
}

/* ---- Making one ---------------------------------------------------------------------------- */

/* Makes the tables unless another process was faster. */
static int make_tables(struct krc_store *store, krc_error *error)
{
    sqlite3_int64 version;
    char numbers[80];
    snprintf(numbers, sizeof numbers, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             KRC_STORE_APPLICATION_ID, KRC_STORE_SCHEMA_VERSION);
    KRC_TRY(krc_store_execute(store, "BEGIN IMMEDIATE", "make the tables", error));
    KRC_TRY(krc_store_query_number(store, "PRAGMA user_version", &version, error));
    if (version == 0) {
        KRC_TRY(krc_store_execute(store, krc_store_schema, "make the tables", error));
        KRC_TRY(krc_store_execute(store, krc_store_schema_2, "make the tables", error));
        KRC_TRY(krc_store_execute(store, krc_store_sink_schema, "make the tables", error));
        KRC_TRY(krc_store_execute(store, numbers, "make the tables", error));
    }
    return krc_store_execute(store, "COMMIT", "make the tables", error);
}

/*
 * The switch needs the file for itself, and SQLite does not wait for that: between tries, a
 * transaction waits for whoever is making or switching the same file.
 */
static int switch_to_wal(struct krc_store *store, krc_error *error)
{
    for (int i = 0; i < SWITCH_TRIES; i++) {
        int rc = sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (rc == SQLITE_OK)
            return KRC_OK;
        if ((rc & 0xff) != SQLITE_BUSY)
            break;
        KRC_TRY(krc_store_execute(store, "BEGIN IMMEDIATE; COMMIT", "begin", error));
    }
    return krc_store_fail(store, error, "begin");
}

/* Else a power cut might bring back the journal that undoes the making, or forget the name. */
static int sync_folder(struct krc_store *store, krc_error *error)
{
    char *folder = krc_store_folder(sqlite3_db_filename(store->db, "main"));
    if (folder == NULL)
        return krc_fail_nomem(error, strlen(store->path));
    int rc = KRC_OK;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        rc = krc_fail_errno(error, "cannot flush the folder of the offset store %s", store->path);
    if (fd >= 0)
        close(fd);
    free(folder);
    return rc;
}

/*
 * The tables are made with a rollback journal and only then is the file switched to WAL: so the
 * main file's own header names its owner from the first moment, whatever happens to the log.
 */
static int make(struct krc_store *store, krc_error *error)
{
    KRC_TRY(make_tables(store, error));
    KRC_TRY(switch_to_wal(store, error));
    return sync_folder(store, error);
}

/* From version 1, unless another process was faster. */
static int upgrade_tables(struct krc_store *store, krc_error *error)
{
    sqlite3_int64 version;
    char number[40];
    snprintf(number, sizeof number, "PRAGMA user_version = %d", KRC_STORE_SCHEMA_VERSION);
    KRC_TRY(krc_store_query_number(store, "PRAGMA user_version", &version, error));
    store->version = KRC_STORE_SCHEMA_VERSION;
    if (version == 1) {
        KRC_TRY(krc_store_execute(store, krc_store_schema_2, "upgrade the tables", error));
        KRC_TRY(krc_store_execute(store, number, "upgrade the tables", error));
    }
    return krc_store_commit(store, error);
}

static int upgrade(struct krc_store *store, krc_error *error)
{
    if (store->version == KRC_STORE_SCHEMA_VERSION)
        return KRC_OK;
    KRC_TRY(krc_store_begin(store, error));
    int rc = upgrade_tables(store, error);
    if (rc < 0)
        krc_store_rollback(store);
    return rc;
}

/* ---- Opening ------------------------------------------------------------------------------- */

/* "./" keeps SQLite from reading names such as "file:a?b" and ":memory:" as anything but names. */
static char *plain_name(const char *path)
{
    char *name = NULL;
    if (asprintf(&name, "%s%s", path[0] == '/' ? "" : "./", path) < 0)
        return NULL;
    return name;
}

/* A URI for a file that no one writes to. */
static char *immutable_uri(const char *name)
{
    static const char parameters[] = "?immutable=1";
    char *uri = malloc(3 * strlen(name) + sizeof "file:" + sizeof parameters);
    if (uri == NULL)
        return NULL;
    char *p = stpcpy(uri, "file:");
    for (; *name != '\0'; name++)
        p += sprintf(p, strchr("?#%", *name) != NULL ? "%%%02X" : "%c", (unsigned char)*name);
    memcpy(p, parameters, sizeof parameters);
    return uri;
}

/* The file may be somebody else's: its triggers, views and checks may call only functions without
 * side effects, and no statement may write past SQLite's own checks. */
static int distrust(sqlite3 *db)
{
    int rc = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return rc == SQLITE_OK ? sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) : rc;
}

/* Of SQLite: whether a lock is tried once more, `tries` times having been in vain.  When there is
 * to be an end, all calls together wait for a second. */
static int on_busy(void *arg, int tries)
{
    struct krc_store *store = arg;
    bool ends = krc_is_interrupted(store->interrupt);
    if ((tries == 0 && !ends) || ends != store->ends)
        store->waited_ms = 0;
    store->ends = ends;
    if (store->waited_ms >= (ends ? BUSY_AT_END_MS : BUSY_MS))
        return 0;
    int ms = tries < BUSY_LOOK_MS ? tries + 1 : BUSY_LOOK_MS;
    sqlite3_sleep(ms);
    store->waited_ms += ms;
    return 1;
}

static int connect(struct krc_store *store, const char *name, int flags)
{
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(name, &store->db, flags, NULL);
    if (rc == SQLITE_OK)
        rc = distrust(store->db); /* before the schema is read */
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_busy_handler(store->db, on_busy, store);
    return sqlite3_exec(store->db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
}

/*
 * A reader makes files of shared memory beside the store, as a writer does, and only who may write
 * clears them away: so it is a writer that does not write, where it can be.  In a folder where
 * those files cannot be made, the store is read as it stands, which is the whole truth as long as
 * the log beside it is empty.
 */
static int connect_to_read(struct krc_store *store, const char *name, krc_error *error)
{
    bool local = krc_store_require_local(store->path, NULL) == KRC_OK;
    int rc = connect(store, name, local ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    if (rc == SQLITE_OK)
        return krc_store_execute(store, "PRAGMA query_only = ON", "read", error);
    if ((rc & 0xff) != SQLITE_CANTOPEN && (rc & 0xff) != SQLITE_READONLY)
        return krc_store_fail(store, error, "read");
    if (krc_store_has_log(store->path))
        return krc_fail(error, KRC_E_IO,
                        "cannot read the offset store %s: its newest commits are in %s-wal, and "
                        "its folder may not be written to, which reading them needs; copy both "
                        "to another folder", store->path, store->path);
    sqlite3_close(store->db);
    store->db = NULL;
    char *uri = immutable_uri(name);
    if (uri == NULL)
        return krc_fail_nomem(error, strlen(name));
    rc = connect(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    free(uri);
    return rc == SQLITE_OK ? KRC_OK : krc_store_fail(store, error, "read");
}

static int connect_to_write(struct krc_store *store, const char *name, krc_error *error)
{
    KRC_TRY(krc_store_require_local(store->path, error));
    if (connect(store, name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) != SQLITE_OK)
        return krc_store_fail(store, error, "begin");
    if (sqlite3_db_readonly(store->db, "main"))
        return krc_fail(error, KRC_E_IO,
                        "cannot write to the offset store %s: you may only read it; check its "
                        "permissions", store->path);
    KRC_TRY(krc_store_execute(store, "PRAGMA synchronous = FULL", "begin", error));
    sqlite3_int64 version, wal;
    KRC_TRY(krc_store_query_number(store, "PRAGMA user_version", &version, error));
    KRC_TRY(krc_store_query_number(
        store, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &wal, error));
    return version == 0 || !wal ? make(store, error) : KRC_OK;
}

/*
 * SQLite's own check of the small tables: their size goes with the number of partitions.  A sink's
 * records in the same file are not read here.
 */
static int check_tables(struct krc_store *store, krc_error *error)
{
    static const char sql[] =
        "SELECT quick_check FROM (SELECT 'offsets' AS t UNION ALL SELECT 'histories'"
        " UNION ALL SELECT 'sinks' UNION ALL SELECT 'settings'"
        " UNION ALL SELECT name FROM sqlite_schema WHERE name IN ('epochs', 'clusters')),"
        " pragma_quick_check(t) WHERE quick_check <> 'ok'";
    return krc_store_refuse_found(store, sql, krc_store_fail_damaged, error);
}

static int fail_none(const struct krc_store *store, krc_error *error)
{
    return krc_fail(error, KRC_E_NOT_FOUND,
                    "there is no offset store %s: nothing was committed to it yet", store->path);
}

/* Where the making was cut off just before its end, SQLite has undone it now. */
static int require_tables(struct krc_store *store, krc_error *error)
{
    sqlite3_int64 version;
    KRC_TRY(krc_store_query_number(store, "PRAGMA user_version", &version, error));
    store->version = (int)version;
    if (version == 0)
        return fail_none(store, error);
    KRC_TRY(krc_store_require_tables(store, error));
    return check_tables(store, error);
}

static int open_file(struct krc_store *store, enum krc_store_mode mode, krc_error *error)
{
    int there = krc_store_examine(store->path, error);
    if (there < 0)
        return there;
    if (!there && mode != KRC_STORE_CREATE)
        return fail_none(store, error);
    char *name = plain_name(store->path);
    if (name == NULL)
        return krc_fail_nomem(error, strlen(store->path));
    bool had_log = krc_store_has_log(store->path);
    int rc = mode == KRC_STORE_READ_ONLY ? connect_to_read(store, name, error)
                                         : connect_to_write(store, name, error);
    free(name);
    if (rc == KRC_OK)
        rc = require_tables(store, error);
    if (rc == KRC_OK && mode != KRC_STORE_READ_ONLY)
        rc = upgrade(store, error);
    /* closing would merge the log into a file that was refused */
    if (rc < 0 && had_log && store->db != NULL)
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return rc;
}

int krc_store_open(struct krc_store **store, const char *path, enum krc_store_mode mode,
                   krc_error *error)
{
    return krc_store_open_until(store, path, mode, NULL, error);
}

int krc_store_open_until(struct krc_store **store, const char *path, enum krc_store_mode mode,
                         const struct krc_interrupt *interrupt, krc_error *error)
{
    *store = NULL;
    if (path[0] == '\0')
        return krc_fail(error, KRC_E_INVALID, "the offset store has no name: name a file");
    struct krc_store *s = calloc(1, sizeof *s);
    if (s == NULL || (s->path = strdup(path)) == NULL) {
        free(s);
        return krc_fail_nomem(error, strlen(path));
    }
    s->interrupt = interrupt;
    int rc = open_file(s, mode, error);
    if (rc < 0)
        krc_store_close(s);
    else
        *store = s;
    return rc;
}

void krc_store_close(struct krc_store *store)
{
    if (store == NULL)
        return;
    for (int i = 0; i < KRC_STATEMENTS; i++)
        sqlite3_finalize(store->statements[i]);
    if (!store->attached)
        sqlite3_close(store->db);
    krc_buffer_free(&store->text);
    free(store->path);
    free(store);
}

struct sqlite3 *krc_store_connection(struct krc_store *store)
{
    return store->db;
}

/* ---- Transactions -------------------------------------------------------------------------- */

/*
 * Inside the application's transaction ours is a savepoint: what fails in its middle is taken back
 * as a whole, and theirs goes on as if nothing had been tried.
 */
int krc_store_begin(struct krc_store *store, krc_error *error)
{
    bool is_open = !sqlite3_get_autocommit(store->db);
    if (is_open && !store->attached)
        return krc_fail(error, KRC_E_STATE, "a transaction in the offset store %s is open already",
                        store->path);
    store->nested = is_open;
    return krc_store_execute(store, is_open ? "SAVEPOINT krc_store" : "BEGIN IMMEDIATE",
                             "begin a transaction", error);
}

int krc_store_commit(struct krc_store *store, krc_error *error)
{
    if (sqlite3_get_autocommit(store->db))
        return krc_fail(error, KRC_E_STATE, "no transaction in the offset store %s is open",
                        store->path);
    return krc_store_execute(store, store->nested ? "RELEASE krc_store" : "COMMIT", "commit",
                             error);
}

/* SQLite may have rolled back by itself, on a full disk for one. */
void krc_store_rollback(struct krc_store *store)
{
    const char *sql = store->nested ? "ROLLBACK TO krc_store; RELEASE krc_store" : "ROLLBACK";
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, sql, NULL, NULL, NULL);
}

/* Nothing is to be done where the last process closed the store. */
int krc_store_flush(struct krc_store *store, krc_error *error)
{
    return krc_store_execute(store, "PRAGMA wal_checkpoint(PASSIVE)", "flush commits", error);
}
