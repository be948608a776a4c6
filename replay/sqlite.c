/*
 * The table of records.
 */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "replay/json.h"
#include "replay/sink.h"

struct krc_insert {
    struct krc_store *store;
    sqlite3_stmt *statement;
};

static const char table[] =
    "CREATE TABLE IF NOT EXISTS records(topic TEXT, partition INT, history INT, offset INT,"
    " timestamp INT, timestamp_type TEXT, leader_epoch INT, key BLOB, value BLOB, headers TEXT,"
    " PRIMARY KEY(topic,partition,history,offset)) WITHOUT ROWID";

static const char insert_row[] = "INSERT INTO records VALUES(?,?,?,?,?,?,?,?,?,?)";

int krc_insert_open(struct krc_insert **out, struct krc_store *store, krc_error *error)
{
    KRC_TRY(krc_store_require_sinks_table(store, "records", error));
    struct krc_insert *insert = malloc(sizeof *insert);
    if (insert == NULL)
        return krc_fail_nomem(error, sizeof *insert);
    *insert = (struct krc_insert){.store = store};
    sqlite3 *db = krc_store_connection(store);
    int rc = KRC_OK;
    if (sqlite3_exec(db, table, NULL, NULL, NULL) != SQLITE_OK)
        rc = krc_store_fail(store, error, "make the table records");
    else if (sqlite3_prepare_v3(db, insert_row, -1, SQLITE_PREPARE_PERSISTENT, &insert->statement,
                                NULL) != SQLITE_OK)
        rc = krc_store_fail(store, error, "use the table records, which is not krc's,");
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

static bool bind_number(sqlite3_stmt *s, int i, int64_t number)
{
    return sqlite3_bind_int64(s, i, number) == SQLITE_OK;
}

static bool bind_text(sqlite3_stmt *s, int i, const char *text, size_t len)
{
    return sqlite3_bind_text64(s, i, text, len, SQLITE_STATIC, SQLITE_UTF8) == SQLITE_OK;
}

/* Null bytes are bound as NULL, empty ones as an empty blob. */
static bool bind_bytes(sqlite3_stmt *s, int i, struct krc_bytes bytes)
{
    return sqlite3_bind_blob64(s, i, bytes.data, bytes.len, SQLITE_STATIC) == SQLITE_OK;
}

int krc_insert_row(struct krc_insert *insert, const struct krc_place *place, int32_t history,
                   const struct krc_record *record, enum krc_timestamp_type type,
                   struct krc_bytes headers, krc_error *error)
{
    sqlite3_stmt *s = insert->statement;
    const char *type_name = krc_timestamp_type_name(type);
    /* one that cannot be bound, a value too large for SQLite, would keep the last row's */
    bool bound = bind_text(s, 1, place->topic, strlen(place->topic)) &&
                 bind_number(s, 2, place->partition) && bind_number(s, 3, history) &&
                 bind_number(s, 4, record->offset) && bind_number(s, 5, record->timestamp_ms) &&
                 bind_text(s, 6, type_name, strlen(type_name)) &&
                 (record->leader_epoch < 0 ? sqlite3_bind_null(s, 7) == SQLITE_OK
                                           : bind_number(s, 7, record->leader_epoch)) &&
                 bind_bytes(s, 8, record->key) && bind_bytes(s, 9, record->value) &&
                 bind_text(s, 10, (const char *)headers.data, headers.len);
    int rc = bound && sqlite3_step(s) == SQLITE_DONE
                 ? KRC_OK
                 : krc_store_fail(insert->store, error, "insert a record");
    sqlite3_reset(s);
    return rc;
}

int krc_delete_rows(struct krc_store *store, const char *topic, int32_t partition, int64_t from,
                    krc_error *error)
{
    static const char sql[] =
        "DELETE FROM records WHERE topic = ? AND partition = ? AND offset >= ?";
    sqlite3_stmt *s = NULL;
    bool ok = sqlite3_prepare_v2(krc_store_connection(store), sql, -1, &s, NULL) == SQLITE_OK &&
              bind_text(s, 1, topic, strlen(topic)) && bind_number(s, 2, partition) &&
              bind_number(s, 3, from) && sqlite3_step(s) == SQLITE_DONE;
    int rc = ok ? KRC_OK : krc_store_fail(store, error, "delete records");
    sqlite3_finalize(s);
    return rc;
}
