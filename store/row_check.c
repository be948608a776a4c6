/*
 * Rows as they come in: where a table is not as krc made it, SQLite would take what it finds there
 * for a 0.
 */
#include <stdio.h>
#include <string.h>

#include "store/private.h"

struct column {
    const char *name;
    int type; /* of SQLite; a text has no NUL in it, a BLOB is a topic's id */
    bool may_be_null;
    int64_t least, most; /* of a number */
};

#define NUMBER(column, least, most) {#column, SQLITE_INTEGER, false, least, most}
#define COUNT(column) NUMBER(column, 0, INT64_MAX)
#define TEXT(column) {#column, SQLITE_TEXT, false, 0, 0}

static const struct column offsets[] = {
    TEXT(group_id),
    TEXT(topic),
    NUMBER(partition, 0, INT32_MAX),
    NUMBER(history, 1, INT32_MAX),
    COUNT(offset),
    {"leader_epoch", SQLITE_INTEGER, true, 0, INT32_MAX},
    TEXT(metadata),
    {"commit_time_ms", SQLITE_INTEGER, true, INT64_MIN, INT64_MAX},
    NUMBER(settled, 0, 1),
}, histories[] = {
    {"topic_id", SQLITE_BLOB, true, 0, 0},
    COUNT(from_offset), COUNT(to_offset), COUNT(delivered), COUNT(aborted), COUNT(control),
    COUNT(absent), COUNT(lost), COUNT(skipped),
}, epochs[] = {
    NUMBER(leader_epoch, -1, INT32_MAX),
    COUNT(first_offset),
}, sinks[] = {
    NUMBER(history, 1, INT32_MAX),
    NUMBER(file_offset, -1, INT64_MAX),
    COUNT(length),
    {"max_timestamp_ms", SQLITE_INTEGER, true, INT64_MIN, INT64_MAX},
};

static const struct {
    const char *name;
    const struct column *columns;
    int count;
} tables[] = {
    [KRC_OFFSETS_ROW] = {"offsets", offsets, sizeof offsets / sizeof *offsets},
    [KRC_HISTORIES_ROW] = {"histories", histories, sizeof histories / sizeof *histories},
    [KRC_EPOCHS_ROW] = {"epochs", epochs, sizeof epochs / sizeof *epochs},
    [KRC_SINKS_ROW] = {"sinks", sinks, sizeof sinks / sizeof *sinks},
};

static bool is_valid(sqlite3_stmt *row, int at, const struct column *column)
{
    int type = sqlite3_column_type(row, at);
    if (type == SQLITE_NULL)
        return column->may_be_null;
    if (type != column->type)
        return false;
    if (type == SQLITE_BLOB)
        return sqlite3_column_bytes(row, at) == sizeof((struct krc_uuid *)0)->bytes;
    if (type == SQLITE_TEXT) {
        const char *text = (const char *)sqlite3_column_text(row, at);
        return text != NULL && strlen(text) == (size_t)sqlite3_column_bytes(row, at);
    }
    int64_t number = sqlite3_column_int64(row, at);
    return number >= column->least && number <= column->most;
}

static const char *text_of(sqlite3_stmt *row, int at)
{
    const char *text = (const char *)sqlite3_column_text(row, at);
    return text == NULL ? "NULL" : text;
}

static int refuse(struct krc_store *store, sqlite3_stmt *row, const char *table,
                  const char *column, int at, const struct krc_row_key *key, krc_error *error)
{
    struct krc_row_key own = {text_of(row, 0), text_of(row, 1), sqlite3_column_int(row, 2)};
    if (key == NULL)
        key = &own;
    bool has_group = key->group != NULL;
    return krc_fail(error, KRC_E_STORE,
                    "the offset store %s has a row in table \"%s%s\" that is not valid "
                    "(%s%s%s%s-%d: %s is %.40s): restore the store from a copy, or correct the "
                    "row", store->path, store->attached ? "krc_" : "", table,
                    has_group ? "group \"" : "", has_group ? key->group : "",
                    has_group ? "\", " : "", key->topic, (int)key->partition, column,
                    text_of(row, at));
}

/* Nothing is converted before the last column was looked at, for that changes its type. */
int krc_store_check_row(struct krc_store *store, sqlite3_stmt *row, enum krc_row_kind kind,
                        int first, const struct krc_row_key *key, krc_error *error)
{
    for (int i = 0; i < tables[kind].count; i++) {
        const struct column *column = &tables[kind].columns[i];
        if (!is_valid(row, first + i, column))
            return refuse(store, row, tables[kind].name, column->name, first + i, key, error);
    }
    return KRC_OK;
}
