#include "tests/support/joined.h"

#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/tempdir.h"

struct joined joined;

static const char *const topics[] = {"t", "u"};
static int looks;

/* ---- A run ---------------------------------------------------------------------------------- */

/* KIP-848: whoever joins gets all. */
bool joined_look(void *arg)
{
    (void)arg;
    serve_lock();
    for (int i = 1; i <= GROUP_MEMBERS; i++)
        if (!group.is_classic && group_m(i)->is_there && group_m(i)->target == 0)
            group_target(i, "t-0 t-1 u-0");
    serve_unlock();
    if (joined.script != NULL)
        joined.script();
    return ++looks > JOINED_LOOKS;
}

static void note(void *arg, const struct krc_event *event)
{
    (void)arg;
    size_t len = strlen(joined.notes);
    snprintf(joined.notes + len, sizeof joined.notes - len, "%s-%d: %s\n", event->topic,
             (int)event->partition, event->message);
}

int joined_replay(void)
{
    looks = 0;
    joined.notes[0] = '\0';
    int rc = krc_replay(joined.config, &joined.options, &joined.error);
    ck_assert_int_le(looks, JOINED_LOOKS);
    return rc;
}

void joined_ok(int rc)
{
    ck_assert_msg(rc == 0, "%s", joined.error.message);
}

void joined_set(const char *name, const char *value)
{
    joined_ok(krc_config_set(joined.config, name, value, &joined.error));
}

void joined_begin(bool is_classic)
{
    tempdir_make();
    snprintf(joined.out, sizeof joined.out, "%s", tempdir_path("out"));
    snprintf(joined.database, sizeof joined.database, "%s/krc.db", joined.out);
    world_open();
    group_open(is_classic);
    group.interval_ms = 20;
    joined.p = world_topic("t", 2)->partitions;
    put_plain(&joined.p[0], JOINED_RECORDS);
    put_plain(&joined.p[1], JOINED_RECORDS);
    put_plain(&world_topic("u", 1)->partitions[0], JOINED_RECORDS);
    serve_begin();
    joined.config = krc_config_new();
    ck_assert_ptr_nonnull(joined.config);
    joined_set("bootstrap.servers", serve_address());
    joined_set("group.id", "g");
    joined_set("group.protocol", is_classic ? "classic" : "consumer");
    joined_set("heartbeat.interval.ms", "20");
    joined_set("retry.backoff.ms", "10");
    joined.options = (krc_replay_options){.to = joined.out,
                                          .join = true,
                                          .topics = topics,
                                          .topic_count = 2,
                                          .stop = joined_look,
                                          .event = note};
    joined.script = NULL;
}

void joined_end(void)
{
    krc_config_free(joined.config);
    serve_end();
    ck_assert_int_eq(group.foreign_commits, 0);
    ck_assert_int_eq(group.backward_commits, 0);
    group_close();
    world_close();
    tempdir_remove();
}

/* ---- What came of it ------------------------------------------------------------------------ */

static void read_file(const char *name, char *text, size_t size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", joined.out, name);
    FILE *file = fopen(path, "rb");
    size_t len = file == NULL ? 0 : fread(text, 1, size - 1, file);
    text[len] = '\0';
    if (file != NULL)
        fclose(file);
}

void joined_expect_file(const char *name, int from, int to)
{
    char text[8192], offset[32];
    const char *at = text;
    read_file(name, text, sizeof text);
    for (int i = from; i < to; i++) {
        snprintf(offset, sizeof offset, "\"offset\":%d,", i);
        at = strstr(at, offset);
        ck_assert_msg(at != NULL, "%s has no offset %d", name, i);
        at = strchr(at, '\n');
        ck_assert_ptr_nonnull(at);
    }
    ck_assert_str_eq(from == to ? at : at + 1, "");
}

void joined_expect_all(void)
{
    joined_expect_file("t-0.00000000000000000000.jsonl", 0, JOINED_RECORDS);
    joined_expect_file("t-1.00000000000000000000.jsonl", 0, JOINED_RECORDS);
    joined_expect_file("u-0.00000000000000000000.jsonl", 0, JOINED_RECORDS);
    ck_assert_int_eq(joined.p[0].committed, JOINED_RECORDS);
    ck_assert_int_eq(joined.p[1].committed, JOINED_RECORDS);
    for (int i = 1; i <= GROUP_MEMBERS; i++)
        ck_assert(!group_m(i)->is_there);
}

void joined_expect_lineage(int partition, const char *begin)
{
    const char *text = joined.p[partition].committed_text;
    ck_assert_msg(strncmp(text, begin, strlen(begin)) == 0, "%s", text);
}

int joined_query(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_open(joined.database, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    int value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : -1;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}
