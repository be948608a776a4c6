/*
 * Keeps totals of a topic in the application's own SQLite database, and the offsets with them in
 * the same transaction: whatever happens, each record is counted once.
 *
 *     own_database HOST:PORT|LOG-FOLDER TOPIC totals.db
 */
#include <krc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static int run_sql(sqlite3 *db, const char *sql, krc_error *error)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return KRC_OK;
    snprintf(error->message, sizeof error->message, "%s: %s", sql, sqlite3_errmsg(db));
    return error->code = KRC_E_STORE;
}

/* One batch: its sums, and that it is done with, become true together. */
static int count(sqlite3 *db, krc *consumer, krc_batch *batch, krc_error *error)
{
    struct krc_batch_info info;
    struct krc_record record;
    long long records = 0, bytes = 0;
    krc_batch_info(batch, &info);
    while (krc_next(batch, &record) == 1) {
        records++;
        bytes += (long long)record.value.len;
    }
    krc_release(batch);
    char *sql = sqlite3_mprintf("INSERT INTO totals VALUES (%Q, %d, %lld, %lld) "
                                "ON CONFLICT DO UPDATE SET records = records + excluded.records, "
                                "bytes = bytes + excluded.bytes",
                                info.topic, (int)info.partition, records, bytes);
    int rc = run_sql(db, "BEGIN IMMEDIATE", error);
    if (rc >= 0)
        rc = run_sql(db, sql, error);
    if (rc >= 0)
        rc = krc_ack(consumer, info.topic, info.partition, info.next_offset, error);
    if (rc >= 0)
        rc = krc_commit(consumer, error);
    if (rc >= 0)
        rc = run_sql(db, "COMMIT", error);
    sqlite3_free(sql);
    return rc;
}

static int assign(krc *consumer, const char *topic, krc_error *error)
{
    struct krc_partition p;
    int rc = krc_load_topics(consumer, &topic, 1, error);
    for (size_t i = 0; rc >= 0 && krc_source_partition(consumer, i, &p); i++)
        if (strcmp(p.topic, topic) == 0)
            rc = krc_assign(consumer, topic, p.partition, KRC_STORED, KRC_PRESENT_END, error);
    return rc;
}

static int read_all(sqlite3 *db, krc *consumer, krc_error *error)
{
    krc_batch *batch;
    int rc;
    while ((rc = krc_poll(consumer, -1, &batch)) == 1) {
        rc = count(db, consumer, batch, error);
        if (rc < 0)
            return rc;
    }
    if (rc < 0)
        *error = *krc_last_error(consumer);
    return rc;
}

static int run(sqlite3 *db, char **argv, krc_error *error)
{
    krc *consumer = NULL;
    krc_config *config = krc_config_new();
    if (config == NULL)
        return KRC_E_NOMEM;
    const char *source = strchr(argv[1], '/') != NULL ? "log.dirs" : "bootstrap.servers";
    int rc = krc_config_set(config, source, argv[1], error);
    if (rc >= 0)
        rc = krc_open(&consumer, config, error);
    if (rc >= 0)
        rc = krc_store_sqlite_attach(consumer, db, error);
    if (rc >= 0)
        rc = assign(consumer, argv[2], error);
    if (rc >= 0)
        rc = read_all(db, consumer, error);
    krc_close(consumer);
    krc_config_free(config);
    return rc;
}

static int print_total(void *arg, int columns, char **values, char **names)
{
    (void)arg;
    (void)columns;
    (void)names;
    printf("%s-%s: %s records, %s bytes\n", values[0], values[1], values[2], values[3]);
    return 0;
}

int main(int argc, char **argv)
{
    krc_error error = {0};
    sqlite3 *db = NULL;
    if (argc != 4 || sqlite3_open(argv[3], &db) != SQLITE_OK) {
        fprintf(stderr, "usage: %s HOST:PORT|LOG-FOLDER TOPIC DATABASE\n", argv[0]);
        return 2;
    }
    int rc = run_sql(db, "CREATE TABLE IF NOT EXISTS totals (topic, partition, records, bytes, "
                         "PRIMARY KEY (topic, partition))", &error);
    if (rc >= 0)
        rc = run(db, argv, &error);
    if (rc >= 0)
        sqlite3_exec(db, "SELECT * FROM totals ORDER BY 1, 2", print_total, NULL, NULL);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", krc_code_name(rc), error.message);
    sqlite3_close(db);
    return rc < 0;
}
