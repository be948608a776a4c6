#include <assert.h>
#include <stdio.h>

#include "store/private.h"

/*
 * The tables, as docs/store.md explains them.  SQLite keeps these comments: `.schema` shows them.
 * NULL stands for what is unknown; every time is in milliseconds since 1970-01-01 UTC.
 */
const char krc_store_schema[] =
    "CREATE TABLE @offsets (           -- where each group stands\n"
    "  group_id TEXT NOT NULL,\n"
    "  topic TEXT NOT NULL,\n"
    "  partition INT NOT NULL CHECK (partition BETWEEN 0 AND 0x7fffffff),\n"
    "  history INT NOT NULL           -- the stretch in which offsets mean the same records\n"
    "    CHECK (history BETWEEN 1 AND 0x7fffffff),\n"
    "  offset INT NOT NULL            -- committed: the next to read\n"
    "    CHECK (offset >= 0),\n"
    "  leader_epoch INT               -- of the record before it\n"
    "    CHECK (leader_epoch BETWEEN 0 AND 0x7fffffff),\n"
    "  metadata TEXT NOT NULL,\n"
    "  commit_time_ms INT,\n"
    "  settled INT NOT NULL           -- 1: every transaction that began below is decided\n"
    "    CHECK (settled IN (0, 1)),\n"
    "  PRIMARY KEY (group_id, topic, partition)\n"
    ") STRICT, WITHOUT ROWID;\n"

    "CREATE TABLE @histories (         -- what became of each offset in [from_offset, to_offset)\n"
    "  group_id TEXT NOT NULL,\n"
    "  topic TEXT NOT NULL,\n"
    "  partition INT NOT NULL,\n"
    "  history INT NOT NULL,\n"
    "  topic_id BLOB                  -- 16 bytes\n"
    "    CHECK (length(topic_id) = 16),\n"
    "  from_offset INT NOT NULL,\n"
    "  to_offset INT NOT NULL,\n"
    "  delivered INT NOT NULL,\n"
    "  aborted INT NOT NULL,\n"
    "  control INT NOT NULL,\n"
    "  absent INT NOT NULL,\n"
    "  lost INT NOT NULL,\n"
    "  skipped INT NOT NULL,\n"
    "  PRIMARY KEY (group_id, topic, partition, history),\n"
    "  CONSTRAINT account_adds_up CHECK (\n"
    "    delivered + aborted + control + absent + lost + skipped = to_offset - from_offset)\n"
    ") STRICT, WITHOUT ROWID;\n"

    "CREATE TABLE @resets (            -- each move that reading in order does not explain\n"
    "  id INTEGER PRIMARY KEY,        -- in the order they happened\n"
    "  time_ms INT,\n"
    "  group_id TEXT NOT NULL,\n"
    "  topic TEXT NOT NULL,\n"
    "  partition INT NOT NULL,\n"
    "  history INT NOT NULL,          -- the one it leads to\n"
    "  from_offset INT,\n"
    "  to_offset INT NOT NULL,\n"
    "  lost_from INT NOT NULL,       -- [lost_from, lost_to) was gone; empty: nothing or unknown\n"
    "  lost_to INT NOT NULL,\n"
    "  reason TEXT NOT NULL\n"
    ") STRICT;\n"
    "CREATE INDEX @resets_of ON @resets (group_id, topic, partition);\n";

/* What version 2 adds to version 1. */
const char krc_store_schema_2[] =
    "CREATE TABLE @epochs (            -- leader epochs of what was read, newest history\n"
    "  group_id TEXT NOT NULL,\n"
    "  topic TEXT NOT NULL,\n"
    "  partition INT NOT NULL,\n"
    "  leader_epoch INT NOT NULL      -- -1: unknown\n"
    "    CHECK (leader_epoch BETWEEN -1 AND 0x7fffffff),\n"
    "  first_offset INT NOT NULL      -- the first that was read in it\n"
    "    CHECK (first_offset >= 0),\n"
    "  PRIMARY KEY (group_id, topic, partition, leader_epoch)\n"
    ") STRICT, WITHOUT ROWID;\n"

    "CREATE TABLE @clusters (          -- where a group's rows were read\n"
    "  group_id TEXT NOT NULL PRIMARY KEY,\n"
    "  cluster_id TEXT NOT NULL\n"
    ") STRICT, WITHOUT ROWID;\n";

const char krc_store_sink_schema[] =
    "CREATE TABLE @sinks (             -- how far an exactly-once sink has come\n"
    "  topic TEXT NOT NULL,\n"
    "  partition INT NOT NULL,\n"
    "  history INT NOT NULL,\n"
    "  file_offset INT NOT NULL,      -- the first offset in the newest file\n"
    "  length INT NOT NULL,           -- bytes of it that are committed\n"
    "  max_timestamp_ms INT,          -- the largest of any batch\n"
    "  PRIMARY KEY (topic, partition, history)\n"
    ") STRICT, WITHOUT ROWID;\n"

    "CREATE TABLE @settings (          -- how a sink was begun\n"
    "  name TEXT NOT NULL PRIMARY KEY,\n"
    "  value TEXT NOT NULL\n"
    ") STRICT, WITHOUT ROWID;\n";

const char krc_store_version_schema[] =
    "CREATE TABLE @schema (version INT NOT NULL) STRICT;\n";

/* ---- Whether they are there ----------------------------------------------------------------- */

static int fail_lacking(struct krc_store *store, krc_error *error, const char *table)
{
    return krc_fail(error, KRC_E_STORE,
                    "%s has no table \"%s\", without which it cannot be an offset store: restore "
                    "it from a copy, or use another file", store->path, table);
}

int krc_store_require(struct krc_store *store, const char *tables, krc_error *error)
{
    char sql[512];
    int len = snprintf(sql, sizeof sql,
                       "WITH wanted(t) AS (VALUES %s) SELECT t FROM wanted WHERE NOT EXISTS (SELECT"
                       " 1 FROM main.sqlite_schema WHERE type = 'table' AND lower(name) = t)",
                       tables);
    assert((size_t)len < sizeof sql);
    return krc_store_refuse_found(store, sql, fail_lacking, error);
}

int krc_store_require_tables(struct krc_store *store, krc_error *error)
{
    char tables[160];
    snprintf(tables, sizeof tables, "('@offsets'), ('@histories'), ('@resets')%s%s",
             store->version < 2 ? "" : ", ('@epochs'), ('@clusters')",
             store->attached ? "" : ", ('sinks'), ('settings')");
    return krc_store_require(store, tables, error);
}

int krc_store_require_sinks_table(struct krc_store *store, const char *table, krc_error *error)
{
    char tables[128];
    sqlite3_int64 is_begun;
    KRC_TRY(krc_store_query_number(store, "SELECT EXISTS (SELECT 1 FROM offsets)", &is_begun,
                                   error));
    snprintf(tables, sizeof tables, "('%s')", table);
    return is_begun ? krc_store_require(store, tables, error) : KRC_OK;
}
