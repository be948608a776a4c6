/*
 * Rows in and out: one prepared statement each, as schema.c has the columns.
 */
#include <stdio.h>
#include <string.h>

#include "store/private.h"

#define OFFSET_COLUMNS                                                                          \
    "SELECT o.group_id, o.topic, o.partition, o.history, o.offset, o.leader_epoch, o.metadata," \
    " o.commit_time_ms, o.settled, h.topic_id, h.from_offset, h.to_offset, h.delivered,"        \
    " h.aborted, h.control, h.absent, h.lost, h.skipped"                                        \
    " FROM @offsets o LEFT JOIN @histories h USING (group_id, topic, partition, history)"

static const char *const statements[KRC_STATEMENTS] = {
    [KRC_LOAD_OFFSET] = OFFSET_COLUMNS
        " WHERE o.group_id = ? AND o.topic = ? AND o.partition = ?",
    [KRC_EACH_OFFSET] = OFFSET_COLUMNS
        " WHERE o.group_id = coalesce(?, o.group_id) ORDER BY o.group_id, o.topic, o.partition",
    [KRC_PUT_OFFSET] = "REPLACE INTO @offsets (group_id, topic, partition, history, offset,"
        " leader_epoch, metadata, commit_time_ms, settled) VALUES (?,?,?,?,?,?,?,?,?)",
    [KRC_PUT_HISTORY] = "REPLACE INTO @histories (group_id, topic, partition, history, topic_id,"
        " from_offset, to_offset, delivered, aborted, control, absent, lost, skipped)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [KRC_DELETE_OFFSET] = "DELETE FROM @offsets"
        " WHERE group_id = ? AND topic = ? AND partition = ?",
    [KRC_DELETE_HISTORIES] = "DELETE FROM @histories"
        " WHERE group_id = ? AND topic = ? AND partition = ?",
    [KRC_LOAD_EPOCHS] = "SELECT leader_epoch, first_offset FROM @epochs"
        " WHERE group_id = ? AND topic = ? AND partition = ? ORDER BY first_offset, leader_epoch",
    [KRC_PUT_EPOCH] = "INSERT INTO @epochs (group_id, topic, partition, leader_epoch, first_offset)"
        " VALUES (?,?,?,?,?)",
    [KRC_DELETE_EPOCHS] = "DELETE FROM @epochs"
        " WHERE group_id = ? AND topic = ? AND partition = ?",
    [KRC_LOAD_CLUSTER] = "SELECT cluster_id FROM @clusters WHERE group_id = ?",
    [KRC_PUT_CLUSTER] = "REPLACE INTO @clusters (group_id, cluster_id) VALUES (?,?)",
    [KRC_MOVE_OFFSETS] =
        "UPDATE @offsets SET leader_epoch = NULL, settled = 0 WHERE group_id = ?",
    [KRC_MOVE_HISTORIES] = "UPDATE @histories SET topic_id = NULL WHERE group_id = ?",
    [KRC_MOVE_EPOCHS] = "DELETE FROM @epochs WHERE group_id = ?",
    [KRC_ADD_RESET] = "INSERT INTO @resets (group_id, topic, partition, time_ms, history,"
        " from_offset, to_offset, lost_from, lost_to, reason) VALUES (?,?,?,?,?,?,?,?,?,?)",
    [KRC_EACH_RESET] = "SELECT group_id, topic, partition, time_ms, history, from_offset,"
        " to_offset, lost_from, lost_to, reason FROM @resets"
        " WHERE group_id = coalesce(?, group_id) ORDER BY group_id, topic, partition, id",
    [KRC_LOAD_SINK] = "SELECT history, file_offset, length, max_timestamp_ms FROM @sinks"
        " WHERE topic = ? AND partition = ? ORDER BY history DESC LIMIT 1",
    [KRC_PUT_SINK] = "REPLACE INTO @sinks (topic, partition, history, file_offset, length,"
        " max_timestamp_ms) VALUES (?,?,?,?,?,?)",
    [KRC_HAS_SINK] = "SELECT 1 WHERE EXISTS (SELECT 1 FROM @sinks)"
        " OR EXISTS (SELECT 1 FROM @settings)",
    [KRC_GET_SETTING] = "SELECT value FROM @settings WHERE name = ?",
    [KRC_SET_SETTING] = "REPLACE INTO @settings (name, value) VALUES (?,?)",
};

/*
 * A statement being filled in.  It remembers its first failure: the parameters are bound one
 * after the other, and asked about once.
 */
struct query {
    struct krc_store *store;
    sqlite3_stmt *statement;
    int bound;
    int rc;
};

static struct query query(struct krc_store *store, enum krc_statement which)
{
    struct query q = {.store = store};
    if (store->statements[which] == NULL)
        q.rc = sqlite3_prepare_v3(store->db, krc_store_sql(store, statements[which]).text, -1,
                                  SQLITE_PREPARE_PERSISTENT, &store->statements[which], NULL);
    q.statement = store->statements[which];
    return q;
}

static void bind_number(struct query *q, int64_t number)
{
    if (q->rc == SQLITE_OK)
        q->rc = sqlite3_bind_int64(q->statement, ++q->bound, number);
}

/* -1 is how the structs say "none", NULL how tables do. */
static void bind_known(struct query *q, int64_t number)
{
    if (number != -1)
        bind_number(q, number);
    else if (q->rc == SQLITE_OK)
        q->rc = sqlite3_bind_null(q->statement, ++q->bound);
}

static void bind_text(struct query *q, const char *text)
{
    if (q->rc == SQLITE_OK)
        q->rc = sqlite3_bind_text(q->statement, ++q->bound, text, -1, SQLITE_STATIC);
}

static void bind_topic_id(struct query *q, const struct krc_uuid *id)
{
    static const struct krc_uuid unknown;
    bool known = memcmp(id, &unknown, sizeof unknown) != 0;
    if (q->rc == SQLITE_OK)
        q->rc = sqlite3_bind_blob(q->statement, ++q->bound, known ? id->bytes : NULL,
                                  sizeof id->bytes, SQLITE_STATIC);
}

static void bind_partition(struct query *q, const char *group, const char *topic,
                           int32_t partition)
{
    if (group != NULL)
        bind_text(q, group);
    bind_text(q, topic);
    bind_number(q, partition);
}

/* 1 a row, 0 the end.  A failure is told before the statement is reset and forgets it. */
static int step(struct query *q, const char *doing, krc_error *error)
{
    if (q->rc == SQLITE_OK)
        q->rc = sqlite3_step(q->statement);
    if (q->rc == SQLITE_ROW) {
        q->rc = SQLITE_OK;
        return 1;
    }
    return q->rc == SQLITE_DONE ? 0 : krc_store_fail(q->store, error, doing);
}

/* A statement that is not reset would hold its snapshot of the file. */
static void finish(struct query *q)
{
    sqlite3_reset(q->statement);
}

static int run(struct query *q, const char *doing, krc_error *error)
{
    int rc = sqlite3_get_autocommit(q->store->db)
                 ? krc_fail(error, KRC_E_STATE, "cannot %s in the offset store %s: no transaction "
                            "is open", doing, q->store->path)
                 : step(q, doing, error);
    finish(q);
    return rc;
}

static int64_t known(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(row, column);
}

static const char *text(sqlite3_stmt *row, int column)
{
    const char *value = (const char *)sqlite3_column_text(row, column);
    return value == NULL ? "" : value;
}

/* Keeps a text beyond its row, until the next call. */
static int keep_text(struct krc_store *store, const char **value, krc_error *error)
{
    store->text.len = 0;
    KRC_TRY(krc_buffer_append(&store->text, *value, strlen(*value) + 1, error));
    *value = (const char *)store->text.data;
    return KRC_OK;
}

/* The one text of the one row that there is, if any. */
static int load_text(struct query *q, const char *doing, const char **value, krc_error *error)
{
    int rc = step(q, doing, error);
    if (rc == 1) {
        *value = text(q->statement, 0);
        int kept = keep_text(q->store, value, error);
        rc = kept < 0 ? kept : rc;
    }
    finish(q);
    return rc;
}

/* ---- Offsets and histories ----------------------------------------------------------------- */

static int read_stored(struct krc_store *store, sqlite3_stmt *row, struct krc_stored *stored,
                       krc_error *error)
{
    KRC_TRY(krc_store_check_row(store, row, KRC_OFFSETS_ROW, 0, NULL, error));
    KRC_TRY(krc_store_check_row(store, row, KRC_HISTORIES_ROW, 9, NULL, error));
    *stored = (struct krc_stored){
        .history = sqlite3_column_int(row, 3),
        .offset = sqlite3_column_int64(row, 4),
        .leader_epoch = (int32_t)known(row, 5),
        .metadata = text(row, 6),
        .commit_time_ms = known(row, 7),
        .settled = sqlite3_column_int(row, 8) != 0,
        .account = {
            .from = sqlite3_column_int64(row, 10),
            .to = sqlite3_column_int64(row, 11),
            .delivered = sqlite3_column_int64(row, 12),
            .aborted = sqlite3_column_int64(row, 13),
            .control = sqlite3_column_int64(row, 14),
            .absent = sqlite3_column_int64(row, 15),
            .lost = sqlite3_column_int64(row, 16),
            .skipped = sqlite3_column_int64(row, 17),
        },
    };
    if (sqlite3_column_bytes(row, 9) == sizeof stored->topic_id)
        memcpy(&stored->topic_id, sqlite3_column_blob(row, 9), sizeof stored->topic_id);
    return KRC_OK;
}

int krc_store_load(struct krc_store *store, const char *group, const char *topic,
                   int32_t partition, struct krc_stored *stored, krc_error *error)
{
    struct query q = query(store, KRC_LOAD_OFFSET);
    bind_partition(&q, group, topic, partition);
    int rc = step(&q, "read an offset", error);
    if (rc == 1) {
        int kept = read_stored(store, q.statement, stored, error);
        if (kept >= 0)
            kept = keep_text(store, &stored->metadata, error);
        rc = kept < 0 ? kept : rc;
    }
    finish(&q);
    return rc;
}

int krc_store_put_account(struct krc_store *store, const char *group, const char *topic,
                          int32_t partition, const struct krc_stored *stored, krc_error *error)
{
    const struct krc_account *account = &stored->account;
    struct query q = query(store, KRC_PUT_HISTORY);
    bind_partition(&q, group, topic, partition);
    bind_number(&q, stored->history);
    bind_topic_id(&q, &stored->topic_id);
    bind_number(&q, account->from);
    bind_number(&q, account->to);
    bind_number(&q, account->delivered);
    bind_number(&q, account->aborted);
    bind_number(&q, account->control);
    bind_number(&q, account->absent);
    bind_number(&q, account->lost);
    bind_number(&q, account->skipped);
    return run(&q, "write an account", error);
}

int krc_store_put(struct krc_store *store, const char *group, const char *topic,
                  int32_t partition, const struct krc_stored *stored, krc_error *error)
{
    struct query q = query(store, KRC_PUT_OFFSET);
    bind_partition(&q, group, topic, partition);
    bind_number(&q, stored->history);
    bind_number(&q, stored->offset);
    bind_known(&q, stored->leader_epoch);
    bind_text(&q, stored->metadata == NULL ? "" : stored->metadata);
    bind_known(&q, stored->commit_time_ms);
    bind_number(&q, stored->settled);
    KRC_TRY(run(&q, "write an offset", error));
    return krc_store_put_account(store, group, topic, partition, stored, error);
}

int krc_store_delete(struct krc_store *store, const char *group, const char *topic,
                     int32_t partition, krc_error *error)
{
    struct query offset = query(store, KRC_DELETE_OFFSET);
    bind_partition(&offset, group, topic, partition);
    KRC_TRY(run(&offset, "delete an offset", error));
    struct query histories = query(store, KRC_DELETE_HISTORIES);
    bind_partition(&histories, group, topic, partition);
    KRC_TRY(run(&histories, "delete accounts", error));
    return krc_store_put_epochs(store, group, topic, partition, NULL, 0, error);
}

int krc_store_each(struct krc_store *store, const char *group, krc_store_each_fn *each, void *arg,
                   krc_error *error)
{
    struct query q = query(store, KRC_EACH_OFFSET);
    struct krc_stored stored;
    bind_text(&q, group);
    int rc;
    while ((rc = step(&q, "read offsets", error)) == 1) {
        rc = read_stored(store, q.statement, &stored, error);
        if (rc == KRC_OK)
            rc = each(arg, text(q.statement, 0), text(q.statement, 1),
                      sqlite3_column_int(q.statement, 2), &stored);
        if (rc != 0)
            break;
    }
    finish(&q);
    return rc;
}

/* ---- Leader epochs -------------------------------------------------------------------------- */

int krc_store_load_epochs(struct krc_store *store, const char *group, const char *topic,
                          int32_t partition, struct krc_stored_epoch *list, int max,
                          krc_error *error)
{
    int count = 0, rc;
    if (store->version < 2)
        return 0;
    struct query q = query(store, KRC_LOAD_EPOCHS);
    bind_partition(&q, group, topic, partition);
    struct krc_row_key key = {group, topic, partition};
    while ((rc = step(&q, "read leader epochs", error)) == 1 && count < max) {
        rc = krc_store_check_row(store, q.statement, KRC_EPOCHS_ROW, 0, &key, error);
        if (rc < 0)
            break;
        list[count++] = (struct krc_stored_epoch){
            .epoch = sqlite3_column_int(q.statement, 0),
            .first_offset = sqlite3_column_int64(q.statement, 1),
        };
    }
    finish(&q);
    return rc < 0 ? rc : count;
}

int krc_store_put_epochs(struct krc_store *store, const char *group, const char *topic,
                         int32_t partition, const struct krc_stored_epoch *list, int count,
                         krc_error *error)
{
    struct query before = query(store, KRC_DELETE_EPOCHS);
    bind_partition(&before, group, topic, partition);
    KRC_TRY(run(&before, "write leader epochs", error));
    for (int i = 0; i < count; i++) {
        struct query q = query(store, KRC_PUT_EPOCH);
        bind_partition(&q, group, topic, partition);
        bind_number(&q, list[i].epoch);
        bind_number(&q, list[i].first_offset);
        KRC_TRY(run(&q, "write leader epochs", error));
    }
    return KRC_OK;
}

/* ---- Clusters ------------------------------------------------------------------------------- */

int krc_store_load_cluster(struct krc_store *store, const char *group, const char **cluster_id,
                           krc_error *error)
{
    if (store->version < 2)
        return 0;
    struct query q = query(store, KRC_LOAD_CLUSTER);
    bind_text(&q, group);
    return load_text(&q, "read a cluster id", cluster_id, error);
}

int krc_store_put_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                          krc_error *error)
{
    struct query q = query(store, KRC_PUT_CLUSTER);
    bind_text(&q, group);
    bind_text(&q, cluster_id);
    return run(&q, "write a cluster id", error);
}

int krc_store_move(struct krc_store *store, const char *group, const char *cluster_id,
                   krc_error *error)
{
    for (int i = KRC_MOVE_OFFSETS; i <= KRC_MOVE_EPOCHS; i++) {
        struct query q = query(store, (enum krc_statement)i);
        bind_text(&q, group);
        KRC_TRY(run(&q, "move offsets to another cluster", error));
    }
    return krc_store_put_cluster(store, group, cluster_id, error);
}

/* ---- Resets -------------------------------------------------------------------------------- */

int krc_store_add_reset(struct krc_store *store, const char *group, const char *topic,
                        int32_t partition, const struct krc_store_reset *reset, krc_error *error)
{
    struct query q = query(store, KRC_ADD_RESET);
    bind_partition(&q, group, topic, partition);
    bind_known(&q, reset->time_ms);
    bind_number(&q, reset->history);
    bind_known(&q, reset->from);
    bind_number(&q, reset->to);
    bind_number(&q, reset->lost_from);
    bind_number(&q, reset->lost_to);
    bind_text(&q, reset->reason);
    return run(&q, "write a reset", error);
}

int krc_store_each_reset(struct krc_store *store, const char *group,
                         krc_store_each_reset_fn *each, void *arg, krc_error *error)
{
    struct query q = query(store, KRC_EACH_RESET);
    bind_text(&q, group);
    int rc;
    while ((rc = step(&q, "read resets", error)) == 1) {
        struct krc_store_reset reset = {
            .time_ms = known(q.statement, 3),
            .history = sqlite3_column_int(q.statement, 4),
            .from = known(q.statement, 5),
            .to = sqlite3_column_int64(q.statement, 6),
            .lost_from = sqlite3_column_int64(q.statement, 7),
            .lost_to = sqlite3_column_int64(q.statement, 8),
            .reason = text(q.statement, 9),
        };
        rc = each(arg, text(q.statement, 0), text(q.statement, 1),
                  sqlite3_column_int(q.statement, 2), &reset);
        if (rc != 0)
            break;
    }
    finish(&q);
    return rc;
}

/* ---- Sinks and settings -------------------------------------------------------------------- */

int krc_store_load_sink(struct krc_store *store, const char *topic, int32_t partition,
                        struct krc_stored_sink *sink, krc_error *error)
{
    struct query q = query(store, KRC_LOAD_SINK);
    bind_partition(&q, NULL, topic, partition);
    int rc = step(&q, "read a sink", error), valid = KRC_OK;
    struct krc_row_key key = {NULL, topic, partition};
    if (rc == 1)
        valid = krc_store_check_row(store, q.statement, KRC_SINKS_ROW, 0, &key, error);
    if (valid < 0)
        rc = valid;
    if (rc == 1)
        *sink = (struct krc_stored_sink){
            .history = sqlite3_column_int(q.statement, 0),
            .file_offset = sqlite3_column_int64(q.statement, 1),
            .length = sqlite3_column_int64(q.statement, 2),
            .max_timestamp_ms = known(q.statement, 3),
        };
    finish(&q);
    return rc;
}

int krc_store_put_sink(struct krc_store *store, const char *topic, int32_t partition,
                       const struct krc_stored_sink *sink, krc_error *error)
{
    struct query q = query(store, KRC_PUT_SINK);
    bind_partition(&q, NULL, topic, partition);
    bind_number(&q, sink->history);
    bind_number(&q, sink->file_offset);
    bind_number(&q, sink->length);
    bind_known(&q, sink->max_timestamp_ms);
    return run(&q, "write a sink", error);
}

int krc_store_has_sink(struct krc_store *store, krc_error *error)
{
    if (store->attached)
        return 0;
    struct query q = query(store, KRC_HAS_SINK);
    int rc = step(&q, "read sinks", error);
    finish(&q);
    return rc;
}

int krc_store_get_setting(struct krc_store *store, const char *name, const char **value,
                          krc_error *error)
{
    struct query q = query(store, KRC_GET_SETTING);
    bind_text(&q, name);
    return load_text(&q, "read a setting", value, error);
}

int krc_store_set_setting(struct krc_store *store, const char *name, const char *value,
                          krc_error *error)
{
    struct query q = query(store, KRC_SET_SETTING);
    bind_text(&q, name);
    bind_text(&q, value);
    return run(&q, "write a setting", error);
}
