/*
 * The public consumer against brokers on real sockets.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "store/store.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/serve.h"
#include "tests/support/tempdir.h"

enum { SOON_MS = 10000 }; /* nothing here takes so long */

static struct world_topic *topic;
static struct world_partition *p0, *p1;
static krc *handle;
static krc_config *config;
static krc_error error;

static void begin(void)
{
    tempdir_make();
    world_open();
    topic = world_topic("t", 2);
    p0 = &topic->partitions[0];
    p1 = &topic->partitions[1];
    serve_begin();
    config = krc_config_new();
    ck_assert_ptr_nonnull(config);
    ck_assert_int_eq(krc_config_set(config, "bootstrap.servers", serve_address(), &error), 0);
    handle = NULL;
}

static void end(void)
{
    krc_close(handle);
    krc_config_free(config);
    serve_end();
    world_close();
    tempdir_remove();
}

static void set(const char *name, const char *value)
{
    ck_assert_msg(krc_config_set(config, name, value, &error) == 0, "%s", error.message);
}

static void open_consumer(void)
{
    ck_assert_msg(krc_open(&handle, config, &error) == 0, "%s", error.message);
}

static void change_store(const char *path)
{
    set("offset.store.file", path);
}

/* The next batch's offsets: of its first and last record. */
static krc_batch *next_batch(int32_t partition, int64_t first, int64_t last)
{
    krc_batch *batch;
    struct krc_batch_info info;
    struct krc_record record, at_last = {.offset = -1};
    int64_t from = -1;
    ck_assert_int_eq(krc_poll(handle, SOON_MS, &batch), 1);
    krc_batch_info(batch, &info);
    while (krc_next(batch, &record) == 1) {
        if (from < 0)
            from = record.offset;
        at_last = record;
    }
    ck_assert_int_eq(info.partition, partition);
    ck_assert_int_eq(from, first);
    ck_assert_int_eq(at_last.offset, last);
    return batch;
}

static void take_batch(int32_t partition, int64_t first, int64_t last)
{
    krc_release(next_batch(partition, first, last));
}

static void nothing_within(int timeout_ms)
{
    krc_batch *batch;
    ck_assert_int_eq(krc_poll(handle, timeout_ms, &batch), 0);
    ck_assert_ptr_null(batch);
}

/* Polls until the event comes; no batch may. */
static struct krc_event wait_for(enum krc_event_type type)
{
    struct krc_event event;
    krc_batch *batch;
    for (int i = 0; i < SOON_MS / 10; i++) {
        ck_assert_int_eq(krc_poll(handle, 10, &batch), 0);
        while (krc_event_next(handle, &event) == 1)
            if (event.type == type)
                return event;
    }
    ck_abort_msg("no event %d", (int)type);
}

static struct krc_position position(int32_t partition)
{
    return consume_position(handle, "t", partition);
}

/* ---- Reading -------------------------------------------------------------------------------- */

START_TEST(to_the_present_end)
{
    put_plain(p0, 5);
    put_txn(p0, 1, 3);
    put_abort(p0, 1);
    put_txn(p0, 2, 2);
    put_plain(p0, 4);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "0-4");
    ck_assert(krc_ended(handle));
    struct krc_position at = position(0);
    ck_assert_int_eq(at.position, 9);
    ck_assert_int_eq(at.last_stable_offset, 9);
    ck_assert_int_eq(at.high_watermark, 15);
    ck_assert_int_eq(at.log_end_offset, -1);
    ck_assert_int_eq(at.lag, 0);
    ck_assert_int_eq(at.undecided, 6);
    ck_assert_str_eq(consume_account(handle, "t", 0), "0-9: delivered 5, aborted 3, control 1");
}
END_TEST

START_TEST(a_poll_that_never_waits)
{
    krc_batch *batch = NULL;
    put_plain(p0, 5);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    for (int i = 0; i < SOON_MS && batch == NULL; i++) {
        ck_assert_int_ge(krc_poll(handle, 0, &batch), 0);
        usleep(1000);
    }
    ck_assert_ptr_nonnull(batch);
    krc_release(batch);
}
END_TEST

START_TEST(caught_up_behind_a_marker)
{
    put_txn(p0, 1, 3);
    put_commit(p0, 1);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    take_batch(0, 0, 2);
    ck_assert_int_eq(wait_for(KRC_EVENT_CAUGHT_UP).from, 4);
    serve_lock();
    put_plain(p0, 2);
    serve_unlock();
    take_batch(0, 4, 5);
    ck_assert_int_eq(wait_for(KRC_EVENT_CAUGHT_UP).from, 6);
}
END_TEST

START_TEST(connections_that_end)
{
    put_plain(p0, 5);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    take_batch(0, 0, 4);
    for (int i = 0; i < 3; i++) {
        serve_drop();
        nothing_within(20);
        serve_lock();
        put_plain(p0, 1);
        serve_unlock();
        take_batch(0, 5 + i, 5 + i);
    }
}
END_TEST

/* Sending is what finds out, and libraries do not end their programs with SIGPIPE. */
START_TEST(connections_that_were_reset)
{
    put_plain(p0, 5);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    take_batch(0, 0, 4);
    serve_reset();
    ck_assert_int_eq(krc_seek(handle, "t", 0, KRC_EARLIEST, &error), KRC_OK);
    take_batch(0, 0, 4);
}
END_TEST

START_TEST(two_partitions_take_turns)
{
    int seen[2] = {0, 0}, most = 0;
    put_plain(p0, 1);
    char size[24];
    snprintf(size, sizeof size, "%d", (int)p0->log.len + 1);
    for (int i = 0; i < 20; i++) {
        put_plain(p0, 1);
        put_plain(p1, 1);
    }
    set("max.partition.fetch.bytes", size);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    consume_assign(handle, "t", 1, KRC_EARLIEST, KRC_NO_END);
    while (seen[0] + seen[1] < 30) {
        krc_batch *batch;
        struct krc_batch_info info;
        ck_assert_int_eq(krc_poll(handle, SOON_MS, &batch), 1);
        krc_batch_info(batch, &info);
        seen[info.partition]++;
        most = abs(seen[0] - seen[1]) > most ? abs(seen[0] - seen[1]) : most;
        krc_release(batch);
    }
    ck_assert_int_le(most, 4);
}
END_TEST

/* ---- What the application asks for ---------------------------------------------------------- */

START_TEST(seek_and_pause)
{
    for (int i = 0; i < 4; i++)
        put_plain(p0, 5);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    take_batch(0, 0, 4);
    ck_assert_int_eq(krc_seek(handle, "t", 0, 12, &error), 0);
    take_batch(0, 12, 14);
    ck_assert_int_eq(krc_pause(handle, "t", 0), 0);
    nothing_within(100);
    ck_assert_int_eq(krc_resume(handle, "t", 0), 0);
    take_batch(0, 15, 19);
    ck_assert_int_eq(krc_seek(handle, "t", 0, KRC_EARLIEST, &error), 0);
    take_batch(0, 0, 4);
    ck_assert_int_eq(krc_seek(handle, "t", 0, KRC_LATEST, &error), 0);
    ck_assert_int_eq(wait_for(KRC_EVENT_CAUGHT_UP).from, 20);
    ck_assert_int_eq(krc_seek(handle, "t", 0, -7, &error), KRC_E_INVALID);
    ck_assert_int_eq(krc_seek(handle, "t", 9, 0, &error), KRC_E_NOT_FOUND);
    ck_assert_int_eq(krc_pause(handle, "u", 0), KRC_E_NOT_FOUND);
}
END_TEST

START_TEST(seek_after_the_end)
{
    put_plain(p0, 5);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "0-4");
    ck_assert_int_eq(krc_seek(handle, "t", 0, 3, &error), 0);
    ck_assert(!krc_ended(handle));
    ck_assert_str_eq(consume_all(handle), "3-4");
}
END_TEST

START_TEST(unassigned_while_batches_are_out)
{
    put_plain(p0, 5);
    put_plain(p1, 5);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    krc_batch *batch = next_batch(0, 0, 4);
    ck_assert_int_eq(krc_unassign(handle, "t", 0), 0);
    ck_assert_int_eq(krc_unassign(handle, "t", 0), KRC_E_NOT_FOUND);
    struct krc_batch_info info;
    krc_batch_info(batch, &info);
    ck_assert_str_eq(info.topic, "t");
    consume_assign(handle, "t", 1, KRC_EARLIEST, KRC_NO_END);
    take_batch(1, 0, 4);
    krc_release(batch);
    consume_assign(handle, "t", 0, 2, KRC_NO_END);
    take_batch(0, 2, 4);
}
END_TEST

START_TEST(released_in_another_order)
{
    krc_batch *held[6];
    for (int i = 0; i < 6; i++)
        put_plain(p0, 2);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    for (int i = 0; i < 6; i++)
        held[i] = next_batch(0, 2 * i, 2 * i + 1);
    for (int i = 0; i < 6; i++)
        krc_release(held[(i * 5 + 3) % 6]);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 12, &error), 0);
    ck_assert_int_eq(position(0).acknowledged, 12);
}
END_TEST

/* Batches that are not released hold their answers: nothing more is fetched. */
START_TEST(held_batches_stop_the_fetching)
{
    krc_batch *held[200];
    int count = 0;
    put_plain(p0, 1);
    char size[24];
    snprintf(size, sizeof size, "%d", (int)p0->log.len);
    set("fetch.max.bytes", "1024");
    set("max.partition.fetch.bytes", size);
    set("buffered.max.bytes", "8192");
    for (int i = 0; i < 199; i++)
        put_plain(p0, 1);
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    while (krc_poll(handle, 300, &held[count]) == 1)
        count++;
    ck_assert_int_gt(count, 2);
    ck_assert_int_lt(count, 100);
    for (int i = 0; i < count; i++)
        krc_release(held[i]);
    take_batch(0, count, count);
}
END_TEST

static void *wake(void *arg)
{
    usleep(20000);
    krc_wakeup(arg);
    return NULL;
}

START_TEST(woken_from_another_thread)
{
    pthread_t thread;
    krc_batch *batch;
    open_consumer();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    pthread_create(&thread, NULL, wake, handle);
    ck_assert_int_eq(krc_poll(handle, -1, &batch), 0);
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(partitions_that_are_found)
{
    put_plain(p0, 2);
    topic->count = 1;
    set("metadata.max.age.ms", "50");
    open_consumer();
    ck_assert_int_eq(krc_subscribe(handle, "^t$", KRC_LATEST, KRC_NO_END, &error), 0);
    ck_assert_int_eq(wait_for(KRC_EVENT_CAUGHT_UP).from, 2);
    serve_lock();
    topic->count = 2;
    put_plain(p1, 3);
    serve_unlock();
    take_batch(1, 0, 2);
    struct krc_event event;
    do
        ck_assert_int_eq(krc_event_next(handle, &event), 1);
    while (event.type != KRC_EVENT_ASSIGNED);
    ck_assert_int_eq(event.partition, 1);
    ck_assert_int_eq(krc_subscribe(handle, "^(", KRC_LATEST, KRC_NO_END, &error), KRC_E_INVALID);
}
END_TEST

/* ---- Questions ------------------------------------------------------------------------------ */

START_TEST(offsets_are_listed)
{
    put_plain(p0, 5);
    put_txn(p0, 1, 2);
    p0->start = 3;
    open_consumer();
    const char *name = "t", *nobody = "nobody";
    ck_assert_msg(krc_load_topics(handle, &name, 1, &error) == 0, "%s", error.message);
    struct krc_log_offsets log;
    ck_assert_msg(krc_log_offsets(handle, "t", 0, &log, &error) == 0, "%s", error.message);
    ck_assert_int_eq(log.log_start_offset, 3);
    ck_assert_int_eq(log.last_stable_offset, 5);
    ck_assert_int_eq(log.high_watermark, 7);
    ck_assert_int_eq(log.log_end_offset, -1);
    struct krc_partition partition;
    ck_assert(krc_source_partition(handle, 1, &partition));
    ck_assert_int_eq(partition.partition, 1);
    ck_assert_int_eq(partition.leader, 1);
    ck_assert(!krc_source_partition(handle, 2, &partition));
    ck_assert_int_eq(krc_log_offsets(handle, "t", 5, &log, &error), KRC_E_NOT_FOUND);
    ck_assert_int_eq(krc_load_topics(handle, &nobody, 1, &error), KRC_E_NOT_FOUND);
    check_says(error.message, "nobody");
}
END_TEST

START_TEST(a_broker_that_is_mute)
{
    set("default.api.timeout.ms", "200");
    for (int i = 1; i < WORLD_NODES; i++)
        world.nodes[i].is_mute = true;
    open_consumer();
    const char *name = "t";
    ck_assert_int_eq(krc_load_topics(handle, &name, 1, &error), KRC_E_TIMEOUT);
    check_says(error.message, serve_address());
    check_says(error.message, "does not answer");
}
END_TEST

/* ---- Committing ----------------------------------------------------------------------------- */

/* Of ten records the first five, into a new store. */
static void commit_five(void)
{
    put_plain(p0, 5);
    put_plain(p0, 5);
    change_store(tempdir_path("store.db"));
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    take_batch(0, 0, 4);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 5, &error), 0);
    ck_assert_msg(krc_commit(handle, &error) == 0, "%s", error.message);
    krc_close(handle);
}

START_TEST(a_store_goes_on)
{
    commit_five();
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "5-9");
    /* the position was validated before the first fetch */
    ck_assert_int_ge(serve_requests(KRC_API_OFFSET_FOR_LEADER_EPOCH), 1);
}
END_TEST

static void (*edit_of_server)(enum krc_api_name api, void *response);

static void be_another_cluster(enum krc_api_name api, void *response)
{
    edit_of_server(api, response);
    if (api == KRC_API_METADATA)
        ((struct krc_metadata_response *)response)->cluster_id = build_text("elsewhere");
}

/* A topic of the same name in another cluster, where another id does not matter either. */
START_TEST(a_store_knows_its_cluster)
{
    krc_batch *batch;
    commit_five();
    serve_lock();
    world_recreate(&world.topics[0]);
    put_plain(p0, 8);
    edit_of_server = world.edit;
    world.edit = be_another_cluster;
    serve_unlock();
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    ck_assert_int_eq(krc_poll(handle, SOON_MS, &batch), KRC_E_MISMATCH);
    check_says(krc_last_error(handle)->message,
               "were read from cluster \"world\", and this is cluster \"elsewhere\"");
    krc_close(handle);
    open_consumer(); /* of several partitions, it is told once */
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    consume_assign(handle, "t", 1, KRC_STORED, KRC_PRESENT_END);
    ck_assert_int_eq(krc_poll(handle, SOON_MS, &batch), KRC_E_MISMATCH);
    ck_assert_str_eq(consume_all(handle), "");
    krc_close(handle);
    set("offset.store.moved.cluster", "true");
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "5-7");
    krc_close(handle);
    set("offset.store.moved.cluster", "false"); /* the store was told */
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "5-7");
}
END_TEST

static int ignore_rows(void *arg, const char *group, const char *name, int32_t partition,
                       const struct krc_stored *row)
{
    (void)group, (void)row;
    *(int *)arg += strcmp(name, "t") == 0 && partition == 0;
    return 0;
}

/* A store in which nothing says of which cluster it is, as before there was a table for that. */
static void forget_cluster(void)
{
    struct krc_store *store;
    int rows = 0;
    ck_assert_int_eq(krc_store_open(&store, tempdir_path("store.db"), KRC_STORE_EXISTING, &error),
                     0);
    ck_assert_int_eq(sqlite3_exec(krc_store_connection(store), "DELETE FROM clusters", NULL, NULL,
                                  NULL), SQLITE_OK);
    ck_assert_int_eq(krc_store_each(store, NULL, ignore_rows, &rows, &error), 0);
    ck_assert_int_eq(rows, 1);
    krc_store_close(store);
}

/* Topic ids tell it then; and what they say is found out once. */
START_TEST(a_store_that_knows_no_cluster)
{
    krc_batch *batch;
    commit_five();
    forget_cluster();
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "5-9");
    krc_close(handle);
    serve_lock();
    world_recreate(&world.topics[0]);
    put_plain(p0, 8);
    serve_unlock();
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    ck_assert_int_eq(krc_poll(handle, SOON_MS, &batch), KRC_E_MISMATCH);
    check_says(krc_last_error(handle)->message, "all topic ids differ from those of cluster "
                                                "\"world\"");
    krc_close(handle);
    set("offset.store.moved.cluster", "true");
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "5-7");
}
END_TEST

static int committed_calls;

static void committed(void *arg, const krc_error *why)
{
    ck_assert_ptr_eq(arg, &committed_calls);
    ck_assert_msg(why->code == KRC_OK, "%s", why->message);
    committed_calls++;
}

START_TEST(commits_in_the_background)
{
    put_plain(p0, 5);
    put_plain(p0, 5);
    change_store(tempdir_path("store.db"));
    committed_calls = 0;
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    take_batch(0, 0, 4);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 5, &error), 0);
    ck_assert_msg(krc_commit_async(handle, committed, &committed_calls, &error) == 0, "%s",
                  error.message);
    take_batch(0, 5, 9);
    for (int i = 0; i < SOON_MS / 10 && committed_calls == 0; i++)
        nothing_within(10);
    ck_assert_int_eq(committed_calls, 1);
    ck_assert_int_eq(position(0).committed, 5);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 10, &error), 0);
    ck_assert_int_eq(krc_commit_async(handle, committed, &committed_calls, &error), 0);
    ck_assert_int_eq(krc_commit(handle, &error), 0); /* after the one that is under way */
    ck_assert_int_eq(position(0).committed, 10);
    krc_close(handle); /* its callback does not come any more */
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "");
    ck_assert_int_eq(position(0).position, 10);
}
END_TEST

START_TEST(the_group_of_the_cluster)
{
    put_plain(p0, 10);
    p0->committed = 7;
    p0->committed_epoch = 0;
    set("group.id", "g");
    open_consumer();
    consume_assign(handle, "t", 0, KRC_STORED, KRC_PRESENT_END);
    consume_assign(handle, "t", 1, KRC_STORED, KRC_PRESENT_END);
    ck_assert_str_eq(consume_all(handle), "7-9");
    ck_assert_int_eq(position(1).position, 0);
}
END_TEST

/* At once, and not when the cluster answers. */
START_TEST(topics_that_cannot_be)
{
    static const char *const names[] = {"../../t", "/t", ".", "..", "", "a b", "t\x1b[2J"};
    set("group.id", "g");
    open_consumer();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const topics[] = {"t", names[i]};
        ck_assert_int_eq(krc_assign(handle, names[i], 0, 0, KRC_NO_END, &error), KRC_E_INVALID);
        check_says(error.message, "is not a valid topic name");
        ck_assert_int_eq(krc_subscribe(handle, names[i], 0, KRC_NO_END, &error), KRC_E_INVALID);
        ck_assert_int_eq(krc_load_topics(handle, topics, 2, &error), KRC_E_INVALID);
        ck_assert_int_eq(krc_join(handle, topics, 2, &error), KRC_E_INVALID);
        for (const char *c = error.message; *c != '\0'; c++)
            ck_assert(*c >= ' ');
    }
    ck_assert_int_eq(serve_requests(KRC_API_METADATA), 0);
    const char *const topics[] = {"t"}; /* nothing of it stays */
    ck_assert_int_eq(krc_join(handle, topics, 1, &error), KRC_OK);
}
END_TEST

START_TEST(neither_store_nor_group)
{
    open_consumer();
    ck_assert_int_eq(krc_assign(handle, "t", 0, KRC_STORED, KRC_NO_END, &error), KRC_E_STATE);
    ck_assert_int_eq(krc_subscribe(handle, "t", KRC_STORED, KRC_NO_END, &error), KRC_E_STATE);
    ck_assert_int_eq(krc_commit(handle, &error), KRC_E_STATE);
    ck_assert_int_eq(krc_commit_async(handle, NULL, NULL, &error), KRC_E_STATE);
}
END_TEST

/* ---- Embedded ------------------------------------------------------------------------------- */

struct application {
    int64_t records;
    int batches, ended, events, failed;
    krc_batch *held[64];
    bool holds, closes_at_batch;
};

static void on_batch(void *arg, krc *consumer, krc_batch *batch)
{
    struct application *app = arg;
    struct krc_record record;
    while (krc_next(batch, &record) == 1)
        app->records++;
    if (app->holds)
        app->held[app->batches] = batch;
    else
        krc_release(batch);
    app->batches++;
    if (app->closes_at_batch)
        krc_close(consumer);
}

static void on_event(void *arg, krc *consumer, const struct krc_event *event)
{
    struct application *app = arg;
    (void)consumer;
    app->events += event->type == KRC_EVENT_CAUGHT_UP;
}

static void on_failed(void *arg, krc *consumer, const krc_error *why)
{
    struct application *app = arg;
    (void)consumer;
    ck_assert_int_lt(why->code, 0);
    app->failed++;
}

static void on_ended(void *arg, krc *consumer)
{
    struct application *app = arg;
    for (int i = 0; app->holds && i < app->batches; i++)
        krc_release(app->held[i]);
    app->ended++;
    krc_close(consumer);
}

static void run_embedded(struct application *app, int64_t until)
{
    uv_loop_t loop;
    krc_batch *batch;
    const struct krc_callbacks callbacks = {.arg = app,
                                            .batch = on_batch,
                                            .event = on_event,
                                            .failed = on_failed,
                                            .ended = on_ended};
    krc *embedded;
    uv_loop_init(&loop);
    ck_assert_msg(krc_open_embedded(&embedded, config, &loop, &callbacks, &error) == 0, "%s",
                  error.message);
    ck_assert_int_eq(krc_poll(embedded, 0, &batch), KRC_E_STATE);
    ck_assert_int_eq(krc_subscribe(embedded, "t", KRC_EARLIEST, until, &error), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&loop), 0); /* nothing of it is left there */
}

START_TEST(embedded_to_the_end)
{
    struct application app = {0};
    for (int i = 0; i < 10; i++) {
        put_plain(p0, 3);
        put_plain(p1, 2);
    }
    run_embedded(&app, KRC_PRESENT_END);
    ck_assert_int_eq(app.records, 50);
    ck_assert_int_eq(app.ended, 1);
    ck_assert_int_eq(app.events, 2);
    ck_assert_int_eq(app.failed, 0);
}
END_TEST

START_TEST(embedded_that_holds)
{
    struct application app = {.holds = true};
    for (int i = 0; i < 10; i++)
        put_plain(p0, 3);
    run_embedded(&app, KRC_PRESENT_END);
    ck_assert_int_eq(app.records, 30);
    ck_assert_int_eq(app.ended, 1);
}
END_TEST

START_TEST(embedded_closed_in_a_callback)
{
    struct application app = {.closes_at_batch = true};
    put_plain(p0, 3);
    put_plain(p0, 3);
    run_embedded(&app, KRC_NO_END);
    ck_assert_int_eq(app.batches, 1);
    ck_assert_int_eq(app.ended, 0);
}
END_TEST

/* ---- Replay --------------------------------------------------------------------------------- */

static bool stop_now;

static bool may_stop(void *arg)
{
    (void)arg;
    return stop_now;
}

static void on_progress(void *arg, const struct krc_replay_progress *progress)
{
    int64_t *wanted = arg;
    if (progress->records >= *wanted)
        stop_now = true;
}

static void replay(const char *to, bool follow, int jobs, int64_t wanted)
{
    const struct krc_replay_partition parts[] = {
        {.topic = "t", .partition = 0, .start = KRC_EARLIEST, .until = KRC_NO_END},
        {.topic = "t", .partition = 1, .start = KRC_EARLIEST, .until = KRC_NO_END}};
    krc_replay_options options = {.to = to,
                                  .format = KRC_REPLAY_RAW,
                                  .jobs = jobs,
                                  .follow = follow,
                                  .partitions = parts,
                                  .partition_count = 2,
                                  .stop = may_stop,
                                  .arg = &wanted,
                                  .progress = on_progress};
    stop_now = false;
    ck_assert_msg(krc_replay(config, &options, &error) == 0, "%s", error.message);
}

static size_t lines_in(const char *path)
{
    struct krc_buffer file = tempdir_read(path);
    size_t lines = 0;
    for (size_t i = 0; i < file.len; i++)
        lines += file.data[i] == '\n';
    krc_buffer_free(&file);
    return lines;
}

START_TEST(replayed_and_followed)
{
    for (int i = 0; i < 5; i++) {
        put_plain(p0, 3);
        put_plain(p1, 2);
    }
    const char *to = tempdir_path("out");
    replay(to, false, 2, INT64_MAX);
    ck_assert_uint_eq(lines_in("out/t-0.raw"), 15);
    ck_assert_uint_eq(lines_in("out/t-1.raw"), 10);
    put_plain(p0, 4);
    replay(tempdir_path("out"), true, 1, 4);
    ck_assert_uint_eq(lines_in("out/t-0.raw"), 19);
    ck_assert_uint_eq(lines_in("out/t-1.raw"), 10);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {
        to_the_present_end, a_poll_that_never_waits, caught_up_behind_a_marker,
        connections_that_end, connections_that_were_reset, two_partitions_take_turns,
        seek_and_pause, seek_after_the_end,
        unassigned_while_batches_are_out, released_in_another_order,
        held_batches_stop_the_fetching, woken_from_another_thread, partitions_that_are_found,
        offsets_are_listed, a_broker_that_is_mute, a_store_goes_on,
        a_store_knows_its_cluster, a_store_that_knows_no_cluster, commits_in_the_background,
        the_group_of_the_cluster, topics_that_cannot_be, neither_store_nor_group, embedded_to_the_end,
        embedded_that_holds, embedded_closed_in_a_callback, replayed_and_followed};
    return run_tests("consumer/online", cases, sizeof cases / sizeof *cases, begin, end);
}
