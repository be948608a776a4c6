/*
 * Commits that a group has yet to confirm: the rows are written as if it had, and those that they
 * replace are kept beside them, to be put back should it refuse.
 */
#include "base/names.h"
#include "store/private.h"

static const char tables[] =
    "CREATE TABLE IF NOT EXISTS pending ( -- what a group has not confirmed yet\n"
    "  topic TEXT NOT NULL,\n"
    "  partition INT NOT NULL,\n"
    "  stretch INT NOT NULL,              -- where this sink took the partition over\n"
    "  member_id TEXT NOT NULL,           -- as whom it asked the group\n"
    "  is_classic INT NOT NULL,           -- the protocol of that\n"
    "  last_reset INT,                    -- the newest row of resets before\n"
    "  PRIMARY KEY (topic, partition)\n"
    ") STRICT, WITHOUT ROWID;\n"
    /* what stood before, as in the tables of which the names they have */
    "CREATE TABLE IF NOT EXISTS pending_offsets AS SELECT * FROM offsets LIMIT 0;\n"
    "CREATE TABLE IF NOT EXISTS pending_histories AS SELECT * FROM histories LIMIT 0;\n"
    "CREATE TABLE IF NOT EXISTS pending_sinks AS SELECT * FROM sinks LIMIT 0;\n"
    /* accounts of stretches that have ended */
    "CREATE TABLE IF NOT EXISTS stretches AS SELECT * FROM histories LIMIT 0;\n";

#define OF_PARTITION " WHERE topic = ?1 AND partition = ?2"
#define KEEP(table) "INSERT INTO pending_" table " SELECT * FROM " table OF_PARTITION
#define PUT_BACK(table) \
    "DELETE FROM " table OF_PARTITION, \
    "INSERT INTO " table " SELECT * FROM pending_" table OF_PARTITION
#define FORGET "DELETE FROM pending" OF_PARTITION, "DELETE FROM pending_offsets" OF_PARTITION, \
    "DELETE FROM pending_histories" OF_PARTITION, "DELETE FROM pending_sinks" OF_PARTITION

static const char *const keep[] = {
    "INSERT INTO pending VALUES (?1, ?2, ?3, ?4, ?5, (SELECT max(id) FROM resets))",
    KEEP("offsets"), KEEP("histories"), KEEP("sinks"),
    "INSERT INTO stretches SELECT * FROM histories" OF_PARTITION " AND from_offset <> ?3", NULL};
static const char *const put_back[] = {
    "DELETE FROM stretches" OF_PARTITION
    " AND from_offset IN (SELECT from_offset FROM pending_histories" OF_PARTITION ")",
    "DELETE FROM resets" OF_PARTITION
    " AND id > (SELECT coalesce(last_reset, 0) FROM pending" OF_PARTITION ")",
    PUT_BACK("offsets"), PUT_BACK("histories"), PUT_BACK("sinks"), FORGET, NULL};
static const char *const forget[] = {FORGET, NULL};

/* Where a partition was not there before, `from` is null. */
static const char each_pending[] =
    "SELECT p.topic, p.partition, p.stretch, p.member_id, p.is_classic, b.offset, o.offset"
    " FROM pending p"
    " JOIN offsets o USING (topic, partition) LEFT JOIN pending_offsets b USING (topic, partition)"
    " ORDER BY p.topic, p.partition";

int krc_store_allow_pending(struct krc_store *store, krc_error *error)
{
    return krc_store_execute(store, tables, "make the tables", error);
}

int krc_store_require_pending(struct krc_store *store, krc_error *error)
{
    return krc_store_require(store, "('pending'), ('pending_offsets'), ('pending_histories'),"
                             " ('pending_sinks'), ('stretches')", error);
}

/* Those that the statement has. */
static int bind(sqlite3_stmt *statement, const struct krc_pending *p)
{
    int count = sqlite3_bind_parameter_count(statement);
    int rc = sqlite3_bind_text(statement, 1, p->topic, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_int(statement, 2, p->partition);
    if (rc == SQLITE_OK && count >= 3)
        rc = sqlite3_bind_int64(statement, 3, p->stretch);
    if (rc == SQLITE_OK && count >= 4)
        rc = sqlite3_bind_text(statement, 4, p->member_id, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK && count >= 5)
        rc = sqlite3_bind_int(statement, 5, p->is_classic);
    return rc;
}

/* The tables of what stood before have no types. */
static bool is_offset(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_INTEGER &&
           sqlite3_column_int64(row, column) >= 0;
}

static int run(struct krc_store *store, const char *sql, const struct krc_pending *p,
               krc_error *error)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = bind(statement, p);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    int failed = rc == SQLITE_DONE ? KRC_OK
                                   : krc_store_fail(store, error, "write a pending commit");
    sqlite3_finalize(statement);
    return failed;
}

static int run_all(struct krc_store *store, const char *const *sql, const struct krc_pending *p,
                   krc_error *error)
{
    for (; *sql != NULL; sql++)
        KRC_TRY(run(store, *sql, p, error));
    return KRC_OK;
}

int krc_store_keep(struct krc_store *store, const struct krc_pending *pending, krc_error *error)
{
    return run_all(store, keep, pending, error);
}

int krc_store_put_back(struct krc_store *store, const char *topic, int32_t partition,
                       krc_error *error)
{
    struct krc_pending pending = {.topic = topic, .partition = partition};
    return run_all(store, put_back, &pending, error);
}

int krc_store_confirm(struct krc_store *store, const char *topic, int32_t partition,
                      krc_error *error)
{
    struct krc_pending pending = {.topic = topic, .partition = partition};
    return run_all(store, forget, &pending, error);
}

int krc_store_each_pending(struct krc_store *store, krc_store_pending_fn *each, void *arg,
                           krc_error *error)
{
    sqlite3_stmt *row = NULL;
    int rc = sqlite3_prepare_v2(store->db, each_pending, -1, &row, NULL), told = 0;
    while (rc == SQLITE_OK && told == 0 && (rc = sqlite3_step(row)) == SQLITE_ROW) {
        bool has_from = sqlite3_column_type(row, 5) != SQLITE_NULL;
        struct krc_pending pending = {
            .topic = (const char *)sqlite3_column_text(row, 0),
            .partition = sqlite3_column_int(row, 1),
            .stretch = sqlite3_column_int64(row, 2),
            .member_id = (const char *)sqlite3_column_text(row, 3),
            .is_classic = sqlite3_column_int(row, 4) != 0,
            .from = has_from ? sqlite3_column_int64(row, 5) : -1,
            .to = sqlite3_column_int64(row, 6),
        };
        bool has_texts = pending.topic != NULL && pending.member_id != NULL;
        told = has_texts ? krc_check_topic_name(pending.topic, error) : krc_fail_nomem(error, 1);
        if (told == KRC_E_INVALID)
            told = krc_store_fail_damaged(store, error,
                                          "it has a topic whose name is not valid");
        if (told == KRC_OK && (!is_offset(row, 6) || (has_from && !is_offset(row, 5))))
            told = krc_store_fail_damaged(store, error, "it has a pending offset that is not valid");
        if (told == KRC_OK)
            told = each(arg, &pending);
        rc = SQLITE_OK;
    }
    if (rc != SQLITE_OK && rc != SQLITE_DONE)
        told = krc_store_fail(store, error, "read pending commits");
    sqlite3_finalize(row);
    return told;
}
