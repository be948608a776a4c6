/*
 * Commits of many threads: each is in the store when its call returns, and a failure reaches all
 * whose commits went together.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "replay/committer.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

enum { THREADS = 8, COMMITS = 60 };

static struct krc_store *store;
static struct krc_committer committer;
static krc_error error;

static void setup(void)
{
    tempdir_make();
    int rc = krc_store_open(&store, tempdir_path("krc.db"), KRC_STORE_CREATE, &error);
    ck_assert_msg(rc == KRC_OK, "%s", error.message);
    krc_committer_init(&committer, store, "g", &(struct krc_new_cluster){.id = ""});
}

static void teardown(void)
{
    krc_committer_free(&committer);
    krc_store_close(store);
    tempdir_remove();
}

static char topic_name[] = "t";

static struct krc_commit commit_at(struct krc_ledger *ledger, int64_t offset)
{
    return (struct krc_commit){
        .ledger = ledger,
        .point = {.offset = offset, .epoch = -1, .account = {.to = offset, .delivered = offset}},
        .sink = {.history = 1, .file_offset = 0, .length = 10 * offset, .max_timestamp_ms = -1}};
}

static void expect(int32_t partition, int64_t offset)
{
    struct krc_stored row;
    struct krc_stored_sink sink;
    ck_assert_int_eq(krc_store_load(store, "g", "t", partition, &row, &error), 1);
    ck_assert_int_eq(krc_store_load_sink(store, "t", partition, &sink, &error), 1);
    ck_assert_int_eq(row.offset, offset);
    ck_assert_int_eq(row.account.delivered, offset);
    ck_assert_int_eq(sink.length, 10 * offset);
}

/* The check library is not for other threads: they return the first code that is not 0. */
struct worker {
    pthread_t thread;
    struct krc_place place;
    struct krc_ledger ledger;
    int resets; /* that go with each commit */
    int rc;
    krc_error error;
};

/* Resets with a long reason, each one offset further than the one before. */
static void add_resets(struct krc_ledger *ledger, int64_t from, int count)
{
    struct krc_event event = {.type = KRC_EVENT_RESET};
    memset(event.message, 'x', sizeof event.message - 1);
    for (int64_t i = from; i < from + count; i++) {
        struct krc_offset_update update = {.reset = true, .from = i, .to = i + 1};
        krc_ledger_reset(ledger, &event, &update);
    }
}

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int64_t i = 1; i <= COMMITS && w->rc == KRC_OK; i++) {
        struct krc_commit commit = commit_at(&w->ledger, i);
        add_resets(&w->ledger, 0, w->resets);
        w->rc = krc_committer_commit(&committer, &commit, &w->error);
        krc_ledger_committed(&w->ledger, &w->ledger, &commit.point);
    }
    return NULL;
}

static void start(struct worker *workers, int resets)
{
    for (int i = 0; i < THREADS; i++) {
        workers[i] =
            (struct worker){.place = {.topic = topic_name, .partition = i}, .resets = resets};
        krc_ledger_init(&workers[i].ledger, &workers[i].place);
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

static void join(struct worker *workers)
{
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        krc_ledger_free(&workers[i].ledger);
    }
}

START_TEST(each_thread_finds_its_own)
{
    static struct worker workers[THREADS];
    start(workers, 0);
    join(workers);
    for (int i = 0; i < THREADS; i++) {
        ck_assert_msg(workers[i].rc == KRC_OK, "%s", workers[i].error.message);
        expect(i, COMMITS);
    }
}
END_TEST

START_TEST(it_outlives_the_process)
{
    struct krc_place place = {.topic = topic_name, .partition = 0};
    struct krc_ledger ledger;
    krc_ledger_init(&ledger, &place);
    struct krc_commit commit = commit_at(&ledger, 5);
    ck_assert_int_eq(krc_committer_commit(&committer, &commit, &error), KRC_OK);
    krc_store_close(store);
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("krc.db"), KRC_STORE_CREATE, &error),
                     KRC_OK);
    expect(0, 5);
}
END_TEST

static int count_reset(void *arg, const char *group, const char *topic, int32_t partition,
                       const struct krc_store_reset *reset)
{
    int *count = arg;
    ck_assert_str_eq(group, "g");
    ck_assert_str_eq(topic, "t");
    ck_assert_int_eq(partition, 3);
    ck_assert_int_eq(reset->to, 20 + *count);
    ++*count;
    return 0;
}

START_TEST(resets_go_with_it)
{
    struct krc_place place = {.topic = topic_name, .partition = 3};
    struct krc_ledger ledger;
    int count = 0;
    krc_ledger_init(&ledger, &place);
    add_resets(&ledger, 19, 2);
    struct krc_commit commit = commit_at(&ledger, 21);
    ck_assert_int_eq(krc_committer_commit(&committer, &commit, &error), KRC_OK);
    ck_assert_int_eq(krc_store_each_reset(store, "g", count_reset, &count, &error), 0);
    ck_assert_int_eq(count, 2);
    expect(3, 21);
    krc_ledger_free(&ledger);
}
END_TEST

/* Between pause and resume the store is this thread's alone. */
START_TEST(paused)
{
    static struct worker workers[THREADS];
    struct krc_stored row;
    krc_committer_pause(&committer);
    start(workers, 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(krc_store_load(store, "g", "t", i, &row, &error), 0);
    krc_committer_resume(&committer);
    join(workers);
    for (int i = 0; i < THREADS; i++)
        expect(i, COMMITS);
}
END_TEST

static void limit_pages(int pages)
{
    char command[64];
    snprintf(command, sizeof command, "PRAGMA max_page_count = %d", pages);
    ck_assert_int_eq(sqlite3_exec(krc_store_connection(store), command, NULL, NULL, NULL),
                     SQLITE_OK);
}

/* The resets need pages of their own. */
START_TEST(a_store_without_room)
{
    static struct worker workers[THREADS];
    limit_pages(1); /* which means: as many as there are */
    start(workers, 60);
    join(workers);
    for (int i = 0; i < THREADS; i++) {
        struct krc_stored row;
        ck_assert_int_eq(workers[i].rc, KRC_E_NO_SPACE);
        ck_assert_int_eq(workers[i].error.code, KRC_E_NO_SPACE);
        ck_assert_int_eq(krc_store_load(store, "g", "t", i, &row, &error), 0);
    }
    limit_pages(1000000);
    start(workers, 60);
    join(workers);
    for (int i = 0; i < THREADS; i++)
        expect(i, COMMITS);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        each_thread_finds_its_own, it_outlives_the_process, resets_go_with_it,
        paused,                    a_store_without_room,
    };
    return run_tests("replay: committer", tests, sizeof tests / sizeof *tests, setup, teardown);
}
