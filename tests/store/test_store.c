#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/private.h"

static char folder[] = "/tmp/krc-store-XXXXXX";
static char path[64];
static krc_error error;

static void setup(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/krc.db", folder);
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", folder, folder);
    ck_assert_int_eq(system(command), 0);
}

#define OK(call)                                                     \
    do {                                                             \
        int ok_rc_ = (call);                                         \
        ck_assert_msg(ok_rc_ == 0, "%s: %d %s", #call, ok_rc_, error.message); \
    } while (0)

/* The call fails with this code, and the sentence has these words. */
#define FAILS(call, expected, words)                                                   \
    do {                                                                               \
        int fails_rc_ = (call);                                                        \
        ck_assert_msg(fails_rc_ == (expected), "%s: %d %s", #call, fails_rc_, error.message); \
        ck_assert_int_eq(error.code, (expected));                                      \
        ck_assert_msg(strstr(error.message, (words)) != NULL, "%s", error.message);    \
        ck_assert_msg(strstr(error.message, path) != NULL, "%s", error.message);       \
    } while (0)

static struct krc_store *opened(enum krc_store_mode mode)
{
    struct krc_store *store;
    OK(krc_store_open(&store, path, mode, &error));
    return store;
}

static struct krc_stored stored_at(int64_t offset)
{
    return (struct krc_stored){.offset = offset, .leader_epoch = -1, .history = 1,
                               .commit_time_ms = -1, .account = {.from = offset, .to = offset}};
}

static int put(struct krc_store *store, const char *topic, int32_t partition, int64_t offset)
{
    struct krc_stored stored = stored_at(offset);
    return krc_store_put(store, "g", topic, partition, &stored, &error);
}

static void make_one(int64_t offset)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    OK(krc_store_begin(store, &error));
    OK(put(store, "t", 0, offset));
    OK(krc_store_commit(store, &error));
    krc_store_close(store);
}

static int64_t offset_of(struct krc_store *store, const char *topic, int32_t partition)
{
    struct krc_stored stored;
    int rc = krc_store_load(store, "g", topic, partition, &stored, &error);
    ck_assert_msg(rc >= 0, "%s", error.message);
    return rc == 1 ? stored.offset : -1;
}

/* Names, sizes and bytes of everything in the folder, as one text. */
static char *picture(void)
{
    char command[160], *text = calloc(1, 65536);
    snprintf(command, sizeof command, "cd %s && for f in $(ls -A); do ls -l $f; cksum $f; done",
             folder);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    ck_assert_uint_gt(fread(text, 1, 65535, pipe), 0);
    pclose(pipe);
    return text;
}

static void stays_untouched(int code, const char *words)
{
    char *before = picture();
    struct krc_store *store;
    for (int mode = KRC_STORE_CREATE; mode <= KRC_STORE_READ_ONLY; mode++) {
        FAILS(krc_store_open(&store, path, (enum krc_store_mode)mode, &error), code, words);
        ck_assert_ptr_null(store);
        char *after = picture();
        ck_assert_str_eq(before, after);
        free(after);
    }
    free(before);
}

static void write_at(long position, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "r+");
    if (file == NULL)
        file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, position, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
    ck_assert_int_eq(fclose(file), 0);
}

static void read_at(long position, void *bytes, size_t len)
{
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, position, SEEK_SET), 0);
    ck_assert_uint_eq(fread(bytes, 1, len, file), len);
    fclose(file);
}

/* What an independent reader of the file says. */
static void shell_says(const char *sql, const char *expected)
{
    char command[512], line[512] = "";
    snprintf(command, sizeof command, "sqlite3 %s \"%s\"", path, sql);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t len = fread(line, 1, sizeof line - 1, pipe);
    pclose(pipe);
    if (len > 0 && line[len - 1] == '\n')
        line[len - 1] = '\0';
    ck_assert_str_eq(line, expected);
}

START_TEST(a_new_file_names_its_owner)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    uint8_t header[100];
    read_at(0, header, sizeof header);
    ck_assert_mem_eq(header + 60, "\0\0\0\2", 4);
    ck_assert_mem_eq(header + 68, "krcs", 4);
    krc_store_close(store);
    shell_says("PRAGMA journal_mode", "wal");
    shell_says("PRAGMA integrity_check", "ok");
}
END_TEST

START_TEST(none_is_not_made_by_those_who_only_look)
{
    struct krc_store *store;
    FAILS(krc_store_open(&store, path, KRC_STORE_EXISTING, &error), KRC_E_NOT_FOUND,
          "there is no offset store");
    FAILS(krc_store_open(&store, path, KRC_STORE_READ_ONLY, &error), KRC_E_NOT_FOUND,
          "there is no offset store");
    ck_assert_int_ne(access(path, F_OK), 0);
    write_at(0, "", 0); /* an empty file is none, too */
    FAILS(krc_store_open(&store, path, KRC_STORE_READ_ONLY, &error), KRC_E_NOT_FOUND,
          "there is no offset store");
    krc_store_close(opened(KRC_STORE_CREATE));
    krc_store_close(opened(KRC_STORE_EXISTING));
}
END_TEST

START_TEST(names_are_taken_as_they_stand)
{
    ck_assert_int_eq(chdir(folder), 0);
    static const char *const names[] = {":memory:", "file:a?mode=ro#b%41", "a b'c"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct krc_store *store;
        OK(krc_store_open(&store, names[i], KRC_STORE_CREATE, &error));
        krc_store_close(store);
        ck_assert_int_eq(access(names[i], F_OK), 0);
    }
    struct krc_store *store;
    ck_assert_int_eq(krc_store_open(&store, "", KRC_STORE_CREATE, &error), KRC_E_INVALID);
    ck_assert_str_eq(error.message, "the offset store has no name: name a file");
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(an_offset_comes_back_as_it_went)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    struct krc_stored in = {
        .offset = INT64_MAX, .leader_epoch = 7, .history = 3,
        .topic_id = {.bytes = {1, 2, 3}},
        .commit_time_ms = 1700000000000, .settled = true, .metadata = "it's \"ü\"",
        .account = {.from = 10, .to = 31, .delivered = 1, .aborted = 2, .control = 3, .absent = 4,
                    .lost = 5, .skipped = 6},
    };
    struct krc_stored out;
    ck_assert_int_eq(krc_store_load(store, "g", "t", 1, &out, &error), 0);
    OK(krc_store_begin(store, &error));
    OK(krc_store_put(store, "g", "t", 1, &in, &error));
    OK(put(store, "t", 2, 5));
    OK(krc_store_commit(store, &error));
    krc_store_close(store);

    store = opened(KRC_STORE_READ_ONLY);
    ck_assert_int_eq(krc_store_load(store, "g", "t", 1, &out, &error), 1);
    ck_assert_str_eq(out.metadata, in.metadata);
    out.metadata = in.metadata;
    ck_assert_int_eq(out.offset, in.offset);
    ck_assert_int_eq(out.leader_epoch, 7);
    ck_assert_int_eq(out.history, 3);
    ck_assert_mem_eq(&out.topic_id, &in.topic_id, 16);
    ck_assert_int_eq(out.commit_time_ms, in.commit_time_ms);
    ck_assert(out.settled);
    ck_assert_mem_eq(&out.account, &in.account, sizeof in.account);
    ck_assert_int_eq(krc_store_load(store, "g", "t", 2, &out, &error), 1);
    ck_assert_str_eq(out.metadata, "");
    ck_assert_int_eq(out.leader_epoch, -1);
    ck_assert_int_eq(out.commit_time_ms, -1);
    ck_assert(!out.settled);
    krc_store_close(store);
    shell_says("SELECT * FROM offsets",
               "g|t|1|3|9223372036854775807|7|it's \"ü\"|1700000000000|1\n"
               "g|t|2|1|5||||0");
    shell_says("SELECT hex(topic_id), from_offset, to_offset, delivered, aborted, control, absent,"
               " lost, skipped FROM histories WHERE partition = 1",
               "01020300000000000000000000000000|10|31|1|2|3|4|5|6");
}
END_TEST

START_TEST(each_history_keeps_its_account)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    OK(krc_store_begin(store, &error));
    for (int32_t history = 1; history <= 2; history++) {
        struct krc_stored stored = stored_at(10);
        stored.history = history;
        stored.account = (struct krc_account){.from = 0, .to = 10, .delivered = 10};
        OK(krc_store_put(store, "g", "t", 0, &stored, &error));
    }
    OK(krc_store_commit(store, &error));
    shell_says("SELECT history, delivered FROM histories", "1|10\n2|10");
    shell_says("SELECT history FROM offsets", "2");
    OK(krc_store_begin(store, &error));
    OK(krc_store_delete(store, "g", "t", 0, &error));
    OK(krc_store_commit(store, &error));
    ck_assert_int_eq(offset_of(store, "t", 0), -1);
    shell_says("SELECT count(*) FROM histories", "0");
    krc_store_close(store);
}
END_TEST

START_TEST(an_account_that_does_not_add_up_is_refused)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    struct krc_stored stored = stored_at(5);
    stored.account.delivered = 1;
    OK(krc_store_begin(store, &error));
    FAILS(krc_store_put(store, "g", "t", 0, &stored, &error), KRC_E_STORE, "account_adds_up");
    krc_store_rollback(store);
    ck_assert_int_eq(offset_of(store, "t", 0), -1);
    krc_store_close(store);
}
END_TEST

static int note_offset(void *arg, const char *group, const char *topic, int32_t partition,
                       const struct krc_stored *stored)
{
    char line[128];
    snprintf(line, sizeof line, "%s/%s/%d=%lld ", group, topic, partition,
             (long long)stored->offset);
    strcat(arg, line);
    return strcmp(topic, "stop") == 0 ? 42 : 0;
}

START_TEST(offsets_are_walked_in_order)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    struct krc_stored stored = stored_at(3);
    char seen[512] = "";
    OK(krc_store_begin(store, &error));
    OK(put(store, "b", 10, 1));
    OK(put(store, "b", 2, 2));
    OK(put(store, "a", 0, 3));
    OK(krc_store_put(store, "f", "stop", 0, &stored, &error));
    OK(krc_store_commit(store, &error));
    OK(krc_store_each(store, "g", note_offset, seen, &error));
    ck_assert_str_eq(seen, "g/a/0=3 g/b/2=2 g/b/10=1 ");
    seen[0] = '\0';
    ck_assert_int_eq(krc_store_each(store, NULL, note_offset, seen, &error), 42);
    ck_assert_str_eq(seen, "f/stop/0=3 ");
    krc_store_close(store);
}
END_TEST

static int note_reset(void *arg, const char *group, const char *topic, int32_t partition,
                      const struct krc_store_reset *reset)
{
    char line[256];
    snprintf(line, sizeof line, "%s/%s/%d %lld h%d %lld>%lld [%lld,%lld) %s;", group, topic,
             partition, (long long)reset->time_ms, reset->history, (long long)reset->from,
             (long long)reset->to, (long long)reset->lost_from, (long long)reset->lost_to,
             reset->reason);
    strcat(arg, line);
    return 0;
}

START_TEST(resets_come_back_in_order)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    struct krc_store_reset lost = {1700000000000, 1, 5, 15, 5, 15, "below the log start"};
    struct krc_store_reset first = {-1, 2, -1, 0, 0, 0, "made again"};
    char seen[1024] = "";
    OK(krc_store_begin(store, &error));
    OK(krc_store_add_reset(store, "g", "t", 0, &lost, &error));
    OK(krc_store_add_reset(store, "g", "t", 0, &first, &error));
    OK(krc_store_add_reset(store, "f", "t", 9, &lost, &error));
    OK(krc_store_commit(store, &error));
    OK(krc_store_each_reset(store, NULL, note_reset, seen, &error));
    ck_assert_str_eq(seen, "f/t/9 1700000000000 h1 5>15 [5,15) below the log start;"
                           "g/t/0 1700000000000 h1 5>15 [5,15) below the log start;"
                           "g/t/0 -1 h2 -1>0 [0,0) made again;");
    seen[0] = '\0';
    OK(krc_store_each_reset(store, "f", note_reset, seen, &error));
    ck_assert_str_eq(seen, "f/t/9 1700000000000 h1 5>15 [5,15) below the log start;");
    krc_store_close(store);
}
END_TEST

START_TEST(sinks_and_settings)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    struct krc_stored_sink old = {1, 0, 999, 77}, new = {2, 500, 123, -1}, out;
    const char *value;
    ck_assert_int_eq(krc_store_load_sink(store, "t", 0, &out, &error), 0);
    ck_assert_int_eq(krc_store_has_sink(store, &error), 0);
    ck_assert_int_eq(krc_store_get_setting(store, "format", &value, &error), 0);
    OK(krc_store_begin(store, &error));
    OK(krc_store_put_sink(store, "t", 0, &new, &error));
    OK(krc_store_put_sink(store, "t", 0, &old, &error));
    ck_assert_int_eq(krc_store_has_sink(store, &error), 1);
    OK(krc_store_set_setting(store, "format", "raw", &error));
    OK(krc_store_set_setting(store, "format", "jsonl", &error));
    OK(krc_store_commit(store, &error));
    ck_assert_int_eq(krc_store_load_sink(store, "t", 0, &out, &error), 1);
    ck_assert_int_eq(out.history, 2);
    ck_assert_int_eq(out.file_offset, 500);
    ck_assert_int_eq(out.length, 123);
    ck_assert_int_eq(out.max_timestamp_ms, -1);
    ck_assert_int_eq(krc_store_get_setting(store, "format", &value, &error), 1);
    ck_assert_str_eq(value, "jsonl");
    shell_says("SELECT max_timestamp_ms FROM sinks WHERE history = 1", "77");
    krc_store_close(store);
}
END_TEST

START_TEST(transactions_are_whole)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    FAILS(put(store, "t", 0, 1), KRC_E_STATE, "no transaction is open");
    FAILS(krc_store_commit(store, &error), KRC_E_STATE, "no transaction");
    OK(krc_store_begin(store, &error));
    FAILS(krc_store_begin(store, &error), KRC_E_STATE, "is open already");
    OK(put(store, "t", 0, 1));
    krc_store_rollback(store);
    krc_store_rollback(store);
    ck_assert_int_eq(offset_of(store, "t", 0), -1);
    krc_store_close(store);
    krc_store_close(NULL);

    make_one(5);
    store = opened(KRC_STORE_READ_ONLY);
    FAILS(krc_store_begin(store, &error), KRC_E_IO, "it may only be read");
    krc_store_close(store);
}
END_TEST

START_TEST(foreign_files_stay_untouched)
{
    struct krc_store *store;
    write_at(0, "just a text", 11);
    stays_untouched(KRC_E_STORE, "not even a SQLite file");
    char zeros[8192] = {0};
    write_at(0, zeros, sizeof zeros);
    stays_untouched(KRC_E_STORE, "not even a SQLite file");
    unlink(path);
    shell_says("CREATE TABLE theirs(x); INSERT INTO theirs VALUES (1)", "");
    stays_untouched(KRC_E_STORE, "a SQLite file of another program");
    unlink(path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    FAILS(krc_store_open(&store, path, KRC_STORE_CREATE, &error), KRC_E_STORE, "is no file");
}
END_TEST

START_TEST(a_newer_store_stays_untouched)
{
    make_one(5);
    write_at(60, "\0\0\0\3", 4);
    stays_untouched(KRC_E_STORE, "made by a newer krc: its tables are version 3, this krc knows 2");
}
END_TEST

static void make_version_1(void)
{
    make_one(5);
    shell_says("DROP TABLE epochs; DROP TABLE clusters; PRAGMA user_version = 1", "");
}

START_TEST(version_1_is_read_as_it_is_and_upgraded_to_be_written)
{
    struct krc_stored_epoch epoch = {4, 0};
    const char *cluster;
    make_version_1();
    struct krc_store *store = opened(KRC_STORE_READ_ONLY);
    ck_assert_int_eq(offset_of(store, "t", 0), 5);
    ck_assert_int_eq(krc_store_load_epochs(store, "g", "t", 0, &epoch, 1, &error), 0);
    ck_assert_int_eq(krc_store_load_cluster(store, "g", &cluster, &error), 0);
    krc_store_close(store);
    shell_says("PRAGMA user_version", "1");
    store = opened(KRC_STORE_EXISTING);
    shell_says("PRAGMA user_version", "2");
    ck_assert_int_eq(offset_of(store, "t", 0), 5);
    OK(krc_store_begin(store, &error));
    OK(krc_store_put_epochs(store, "g", "t", 0, &epoch, 1, &error));
    OK(krc_store_put_cluster(store, "g", "c", &error));
    OK(krc_store_commit(store, &error));
    ck_assert_int_eq(krc_store_load_cluster(store, "g", &cluster, &error), 1);
    ck_assert_str_eq(cluster, "c");
    OK(krc_store_begin(store, &error));
    OK(krc_store_delete(store, "g", "t", 0, &error));
    OK(krc_store_commit(store, &error));
    ck_assert_int_eq(krc_store_load_epochs(store, "g", "t", 0, &epoch, 1, &error), 0);
    krc_store_close(store);
}
END_TEST

START_TEST(an_upgrade_that_fails_leaves_version_1)
{
    struct krc_store *store;
    make_version_1();
    shell_says("CREATE VIEW clusters AS SELECT 1", "");
    FAILS(krc_store_open(&store, path, KRC_STORE_EXISTING, &error), KRC_E_STORE,
          "cannot upgrade the tables");
    shell_says("PRAGMA user_version", "1");
    shell_says("SELECT count(*) FROM sqlite_schema WHERE name = 'epochs'", "0");
}
END_TEST

START_TEST(damaged_stores_stay_untouched)
{
    struct stat st;
    struct krc_store_reset reset = {1, 1, 2, 3, 2, 3, "why"};
    make_one(5);
    struct krc_store *healthy = opened(KRC_STORE_EXISTING);
    OK(krc_store_begin(healthy, &error));
    OK(krc_store_add_reset(healthy, "g", "t", 0, &reset, &error));
    OK(krc_store_commit(healthy, &error));
    krc_store_close(healthy);
    ck_assert_int_eq(stat(path, &st), 0);
    char original_schema[8];
    read_at(100, original_schema, 8);
    write_at(60, "\0\0\0\0", 4);
    stays_untouched(KRC_E_STORE, "is damaged");
    write_at(60, "\0\0\0\2", 4);
    krc_store_close(opened(KRC_STORE_EXISTING));

    char page[4096];
    memset(page, 0x5a, sizeof page);
    write_at(100, page, 8); /* the schema's page */
    stays_untouched(KRC_E_STORE, "is damaged (");
    write_at(100, original_schema, 8);
    for (long at = 4096; at < st.st_size; at += 4096) { /* every page but the schema's in turn */
        char original[4096];
        read_at(at, original, sizeof original);
        write_at(at, page, sizeof page);
        struct krc_store *store;
        int rc = krc_store_open(&store, path, KRC_STORE_EXISTING, &error);
        if (rc == 0) { /* the pages of the resets, which may be many, are read when asked for */
            char seen[1024];
            FAILS(krc_store_each_reset(store, NULL, note_reset, seen, &error), KRC_E_STORE,
                  "is damaged (");
            krc_store_close(store);
        } else {
            stays_untouched(KRC_E_STORE, "is damaged (");
        }
        write_at(at, original, sizeof original);
    }
    ck_assert_int_eq(truncate(path, st.st_size - 4096), 0);
    stays_untouched(KRC_E_STORE, "is damaged: it has ");
    ck_assert_int_eq(truncate(path, 99), 0);
    stays_untouched(KRC_E_STORE, "not even a SQLite file");
}
END_TEST

START_TEST(the_log_of_a_damaged_store_is_not_merged)
{
    make_one(5);
    pid_t child = fork();
    if (child == 0) { /* ends without closing: its commit stays in the log */
        struct krc_store *store = opened(KRC_STORE_EXISTING);
        OK(krc_store_begin(store, &error));
        OK(put(store, "t", 0, 6));
        OK(krc_store_commit(store, &error));
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    char log[80], page[4096];
    struct stat before, after;
    struct krc_store *store;
    snprintf(log, sizeof log, "%s-wal", path);
    ck_assert_int_eq(stat(log, &before), 0);
    memset(page, 0x5a, sizeof page);
    ck_assert_int_eq(stat(path, &after), 0);
    long last = after.st_size - 4096; /* no page that the log holds anew */
    write_at(last, page, sizeof page);
    FAILS(krc_store_open(&store, path, KRC_STORE_EXISTING, &error), KRC_E_STORE, "is damaged (");
    ck_assert_int_eq(stat(log, &after), 0);
    ck_assert_int_eq(before.st_size, after.st_size);
    char still[4096];
    read_at(last, still, sizeof still);
    ck_assert_mem_eq(still, page, sizeof page);
}
END_TEST

START_TEST(a_store_without_its_tables_is_refused)
{
    static const char *const tables[] = {"offsets", "histories", "resets", "epochs",
                                         "clusters", "sinks", "settings"};
    char sql[128], words[64];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        ck_assert(unlink(path) == 0 || errno == ENOENT);
        make_one(5);
        snprintf(words, sizeof words, "has no table \"%s\"", tables[i]);
        snprintf(sql, sizeof sql, "ALTER TABLE %s RENAME TO other", tables[i]);
        shell_says(sql, "");
        stays_untouched(KRC_E_STORE, words);
        snprintf(sql, sizeof sql, "CREATE VIEW %s AS SELECT * FROM other", tables[i]);
        shell_says(sql, "");
        stays_untouched(KRC_E_STORE, words);
    }
}
END_TEST

/* Runs `body` as a user to whom permissions apply. */
static void as_user(void (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && seteuid(65534) != 0)
            _exit(1);
        body();
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static void read_only_folder(void)
{
    struct krc_store *store = opened(KRC_STORE_READ_ONLY);
    ck_assert_int_eq(offset_of(store, "t", 0), 5);
    krc_store_close(store);
    FAILS(krc_store_open(&store, path, KRC_STORE_CREATE, &error), KRC_E_IO, "cannot");
}

static void unread_log(void)
{
    struct krc_store *store;
    FAILS(krc_store_open(&store, path, KRC_STORE_READ_ONLY, &error), KRC_E_IO,
          "copy both to another folder");
}

static void unreadable(void)
{
    struct krc_store *store;
    FAILS(krc_store_open(&store, path, KRC_STORE_READ_ONLY, &error), KRC_E_IO,
          "Permission denied");
    FAILS(krc_store_open(&store, path, KRC_STORE_CREATE, &error), KRC_E_IO, "Permission denied");
}

START_TEST(a_read_only_folder_can_be_read)
{
    char log[80];
    make_one(5);
    ck_assert_int_eq(chmod(path, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    as_user(read_only_folder);
    snprintf(log, sizeof log, "%s-wal", path);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    FILE *file = fopen(log, "w");
    ck_assert_int_eq(fputs("commits", file) >= 0, 1);
    fclose(file);
    ck_assert_int_eq(chmod(log, 0444), 0);
    ck_assert_int_eq(chmod(folder, 0555), 0);
    as_user(unread_log);
    ck_assert_int_eq(chmod(path, 0000), 0);
    as_user(unreadable);
}
END_TEST

START_TEST(a_missing_folder_is_named)
{
    struct krc_store *store;
    snprintf(path, sizeof path, "%s/none/krc.db", folder);
    FAILS(krc_store_open(&store, path, KRC_STORE_CREATE, &error), KRC_E_NOT_FOUND,
          "No such file or directory");
}
END_TEST

START_TEST(two_processes_write_at_once)
{
    enum { PROCESSES = 3, COMMITS = 40 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        struct krc_store *store = opened(KRC_STORE_CREATE); /* they make it at once, too */
        for (int64_t n = 1; n <= COMMITS; n++) {
            OK(krc_store_begin(store, &error));
            int64_t shared = offset_of(store, "shared", 0);
            OK(put(store, "shared", 0, shared < 0 ? 1 : shared + 1));
            OK(put(store, "own", i, n));
            OK(krc_store_commit(store, &error));
        }
        krc_store_close(store);
        _exit(0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_int_eq(status, 0);
    }
    struct krc_store *store = opened(KRC_STORE_READ_ONLY);
    ck_assert_int_eq(offset_of(store, "shared", 0), PROCESSES * COMMITS);
    for (int i = 0; i < PROCESSES; i++)
        ck_assert_int_eq(offset_of(store, "own", i), COMMITS);
    krc_store_close(store);
}
END_TEST

START_TEST(a_second_handle_does_not_drop_the_locks_of_the_first)
{
    make_one(5);
    struct krc_store *first = opened(KRC_STORE_EXISTING), *second;
    ck_assert_int_eq(offset_of(first, "t", 0), 5);
    OK(krc_store_begin(first, &error));
    OK(put(first, "t", 0, 6));
    second = opened(KRC_STORE_EXISTING);
    ck_assert_int_eq(offset_of(second, "t", 0), 5);
    sqlite3_busy_timeout(krc_store_connection(second), 1);
    FAILS(krc_store_begin(second, &error), KRC_E_BUSY, "another process has kept it locked");
    krc_store_close(second);
    /* Were the lock on the file gone, the shell would take itself for the last one out, and
     * remove the log. */
    shell_says("SELECT offset FROM offsets", "5");
    char log[80];
    snprintf(log, sizeof log, "%s-wal", path);
    ck_assert_int_eq(access(log, F_OK), 0);
    OK(krc_store_commit(first, &error));
    shell_says("SELECT offset FROM offsets", "6");
    krc_store_close(first);
}
END_TEST

START_TEST(killed_in_mid_transaction_the_old_state_stands)
{
    make_one(5);
    pid_t child = fork();
    if (child == 0) {
        struct krc_store *store = opened(KRC_STORE_EXISTING);
        OK(krc_store_begin(store, &error));
        for (int32_t partition = 0; partition < 2000; partition++)
            OK(put(store, "t", partition, 6));
        OK(sqlite3_db_cacheflush(store->db)); /* pages that are not committed reach the log */
        kill(getpid(), SIGKILL);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct krc_store *store = opened(KRC_STORE_CREATE);
    ck_assert_int_eq(offset_of(store, "t", 0), 5);
    ck_assert_int_eq(offset_of(store, "t", 1), -1);
    OK(krc_store_begin(store, &error));
    OK(put(store, "t", 1, 7));
    OK(krc_store_commit(store, &error));
    krc_store_close(store);
    shell_says("PRAGMA integrity_check", "ok");
}
END_TEST

/* A power cut while the file was being made: a page of zeros, and the journal that undoes it. */
START_TEST(a_making_that_was_cut_off_is_made_again)
{
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db;
        sqlite3_open(path, &db);
        sqlite3_exec(db, "BEGIN; CREATE TABLE t(x)", NULL, NULL, NULL);
        sqlite3_db_cacheflush(db);
        kill(getpid(), SIGKILL);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    char page[4096] = {0}, journal[80];
    snprintf(journal, sizeof journal, "%s-journal", path);
    ck_assert_int_eq(access(journal, F_OK), 0);
    write_at(0, page, sizeof page);
    make_one(5);
    shell_says("SELECT offset FROM offsets", "5");
    shell_says("SELECT count(*) FROM sqlite_schema WHERE name = 't'", "0");
}
END_TEST

static void fill(struct krc_store *store, int *rc)
{
    OK(krc_store_begin(store, &error));
    *rc = 0;
    for (int32_t partition = 0; partition < 5000 && *rc == 0; partition++)
        *rc = put(store, "filling", partition, 9);
    if (*rc == 0)
        *rc = krc_store_commit(store, &error);
}

START_TEST(a_full_disk_is_said_and_got_over)
{
    make_one(5);
    struct krc_store *store = opened(KRC_STORE_EXISTING);
    int rc;
    ck_assert_int_eq(sqlite3_exec(store->db, "PRAGMA max_page_count = 20", NULL, NULL, NULL), 0);
    fill(store, &rc);
    FAILS(rc, KRC_E_NO_SPACE, "there is no room on the disk; make some and try again");
    krc_store_rollback(store);
    ck_assert_int_eq(offset_of(store, "t", 0), 5);
    ck_assert_int_eq(offset_of(store, "filling", 0), -1);
    ck_assert_int_eq(sqlite3_exec(store->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL),
                     0);
    fill(store, &rc);
    OK(rc);
    ck_assert_int_eq(offset_of(store, "filling", 4999), 9);
    krc_store_close(store);
}
END_TEST

START_TEST(a_file_size_limit_is_a_full_disk)
{
    make_one(5);
    struct krc_store *store = opened(KRC_STORE_EXISTING);
    struct rlimit before, small;
    int rc;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 50000;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    fill(store, &rc);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    FAILS(rc, KRC_E_NO_SPACE, "there is no room (File too large); make some and try again");
    krc_store_rollback(store);
    ck_assert_int_eq(offset_of(store, "t", 0), 5);
    fill(store, &rc);
    OK(rc);
    krc_store_close(store);
    shell_says("SELECT count(*) FROM offsets", "5001");
}
END_TEST

START_TEST(ten_thousand_partitions_are_one_short_transaction)
{
    struct krc_store *store = opened(KRC_STORE_CREATE);
    OK(krc_store_begin(store, &error));
    for (int32_t partition = 0; partition < 10000; partition++)
        OK(put(store, "t", partition, partition));
    OK(krc_store_commit(store, &error));
    /* what does not change is not written: one more commit is a few pages of log */
    int pages = 0;
    OK(sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL));
    OK(krc_store_begin(store, &error));
    OK(put(store, "t", 5000, 77));
    OK(krc_store_commit(store, &error));
    OK(sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, NULL));
    ck_assert_int_ge(pages, 2);
    ck_assert_int_le(pages, 4);
    krc_store_close(store);
    store = opened(KRC_STORE_READ_ONLY);
    ck_assert_int_eq(offset_of(store, "t", 5000), 77);
    ck_assert_int_eq(offset_of(store, "t", 9999), 9999);
    krc_store_close(store);
}
END_TEST

START_TEST(network_file_systems_are_known)
{
    ck_assert_str_eq(krc_store_network_file_system(0x6969, NULL), "NFS");
    ck_assert_str_eq(krc_store_network_file_system(0xff534d42, NULL), "CIFS");
    ck_assert_str_eq(krc_store_network_file_system(0xffffffffff534d42, NULL), "CIFS");
    ck_assert_str_eq(krc_store_network_file_system(0x01021997, ""), "9p");
    ck_assert_str_eq(krc_store_network_file_system(0x65735546, "fuse.sshfs"), "sshfs");
    ck_assert_ptr_null(krc_store_network_file_system(0x65735546, "fuse.fuse-overlayfs"));
    ck_assert_ptr_null(krc_store_network_file_system(0x65735546, "fuseblk"));
    ck_assert_ptr_null(krc_store_network_file_system(0x65735546, NULL));
    ck_assert_ptr_null(krc_store_network_file_system(0xef53, "fuse.sshfs")); /* ext4 */
    ck_assert_ptr_null(krc_store_network_file_system(0x01021994, NULL));     /* tmpfs */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store");
    TCase *tc = tcase_create("store");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, a_new_file_names_its_owner);
    tcase_add_test(tc, none_is_not_made_by_those_who_only_look);
    tcase_add_test(tc, names_are_taken_as_they_stand);
    tcase_add_test(tc, an_offset_comes_back_as_it_went);
    tcase_add_test(tc, each_history_keeps_its_account);
    tcase_add_test(tc, an_account_that_does_not_add_up_is_refused);
    tcase_add_test(tc, offsets_are_walked_in_order);
    tcase_add_test(tc, resets_come_back_in_order);
    tcase_add_test(tc, sinks_and_settings);
    tcase_add_test(tc, transactions_are_whole);
    tcase_add_test(tc, foreign_files_stay_untouched);
    tcase_add_test(tc, a_newer_store_stays_untouched);
    tcase_add_test(tc, version_1_is_read_as_it_is_and_upgraded_to_be_written);
    tcase_add_test(tc, an_upgrade_that_fails_leaves_version_1);
    tcase_add_test(tc, damaged_stores_stay_untouched);
    tcase_add_test(tc, the_log_of_a_damaged_store_is_not_merged);
    tcase_add_test(tc, a_store_without_its_tables_is_refused);
    tcase_add_test(tc, a_read_only_folder_can_be_read);
    tcase_add_test(tc, a_missing_folder_is_named);
    tcase_add_test(tc, two_processes_write_at_once);
    tcase_add_test(tc, a_second_handle_does_not_drop_the_locks_of_the_first);
    tcase_add_test(tc, killed_in_mid_transaction_the_old_state_stands);
    tcase_add_test(tc, a_making_that_was_cut_off_is_made_again);
    tcase_add_test(tc, a_full_disk_is_said_and_got_over);
    tcase_add_test(tc, a_file_size_limit_is_a_full_disk);
    tcase_add_test(tc, ten_thousand_partitions_are_one_short_transaction);
    tcase_add_test(tc, network_file_systems_are_known);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
