/*
 * The table of records.
 */
#include <sqlite3.h>
#include <stdlib.h>

#include "replay/json.h"
#include "replay/sink.h"

struct krc_insert {
    sqlite3 *db;
    sqlite3_stmt *statement;
};

static const char table[] =
    "CREATE TABLE IF NOT EXISTS records(topic TEXT, partition INT, history INT, offset INT,"
    " timestamp INT, timestamp_type TEXT, leader_epoch INT, key BLOB, value BLOB, headers TEXT,"
    " PRIMARY KEY(topic,partition,history,offset)) WITHOUT ROWID";

static const char insert_row[] = "INSERT INTO records VALUES(?,?,?,?,?,?,?,?,?,?)";

static int failed(sqlite3 *db, const char *what, krc_error *error)
{
    int code = sqlite3_errcode(db) & 0xff;
    return krc_fail(error,
                    code == SQLITE_FULL    ? KRC_E_NO_SPACE
                    : code == SQLITE_NOMEM ? KRC_E_NOMEM
                    : code == SQLITE_IOERR ? KRC_E_IO
                                           : KRC_E_STORE,
                    "cannot %s in %s: %s", what, sqlite3_db_filename(db, "main"),
                    sqlite3_errmsg(db));
}

int krc_insert_open(struct krc_insert **out, struct krc_store *store, krc_error *error)
{
    struct krc_insert *insert = malloc(sizeof *insert);
    if (insert == NULL)
        return krc_fail_nomem(error, sizeof *insert);
    *insert = (struct krc_insert){.db = krc_store_connection(store)};
    int rc = KRC_OK;
    if (sqlite3_exec(insert->db, table, NULL, NULL, NULL) != SQLITE_OK)
        rc = failed(insert->db, "make the table records", error);
    else if (sqlite3_prepare_v3(insert->db, insert_row, -1, SQLITE_PREPARE_PERSISTENT,
                                &insert->statement, NULL) != SQLITE_OK)
        rc = failed(insert->db, "use the table records, which is not krc's,", error);
    if (rc < 0) {
        krc_insert_close(insert);
        return rc;
    }
    *out = insert;
    return KRC_OK;
}

void krc_insert_close(struct krc_insert *insert)
{
    if (insert == NULL)
        return;
    sqlite3_finalize(insert->statement);
    free(insert);
}

/* Null bytes are bound as NULL, empty ones as an empty blob. */
static void bind_bytes(sqlite3_stmt *s, int i, struct krc_bytes bytes)
{
    sqlite3_bind_blob64(s, i, bytes.data, bytes.len, SQLITE_STATIC);
}

int krc_insert_row(struct krc_insert *insert, const struct krc_log_place *place, int32_t history,
                   const struct krc_record *record, enum krc_timestamp_type type,
                   struct krc_bytes headers, krc_error *error)
{
    sqlite3_stmt *s = insert->statement;
    sqlite3_bind_text(s, 1, place->topic, -1, SQLITE_STATIC);
    sqlite3_bind_int(s, 2, place->partition);
    sqlite3_bind_int(s, 3, history);
    sqlite3_bind_int64(s, 4, record->offset);
    sqlite3_bind_int64(s, 5, record->timestamp_ms);
    sqlite3_bind_text(s, 6, krc_timestamp_type_name(type), -1, SQLITE_STATIC);
    if (record->leader_epoch < 0)
        sqlite3_bind_null(s, 7);
    else
        sqlite3_bind_int(s, 7, record->leader_epoch);
    bind_bytes(s, 8, record->key);
    bind_bytes(s, 9, record->value);
    sqlite3_bind_text(s, 10, (const char *)headers.data, (int)headers.len, SQLITE_STATIC);
    int rc = sqlite3_step(s);
    if (rc != SQLITE_DONE)
        rc = failed(insert->db, "insert a record", error);
    else
        rc = KRC_OK;
    sqlite3_reset(s);
    return rc;
}
