/*
 * A consumer as a member of a group, against brokers on real sockets.
 */
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "tests/support/consume.h"
#include "tests/support/coordinator.h"
#include "tests/support/run.h"
#include "tests/support/serve.h"
#include "tests/support/tempdir.h"

enum { SOON_MS = 10000 }; /* nothing here takes so long */

static struct world_partition *p;
static krc *handle;
static krc_config *config;
static krc_error error;
static const char *const t = "t";

static void set(const char *name, const char *value)
{
    ck_assert_msg(krc_config_set(config, name, value, &error) == 0, "%s", error.message);
}

static void begin(bool is_classic)
{
    tempdir_make();
    world_open();
    group_open(is_classic);
    group.interval_ms = 20;
    p = world_topic("t", 2)->partitions;
    world_topic("u", 2);
    serve_begin();
    config = krc_config_new();
    ck_assert_ptr_nonnull(config);
    set("bootstrap.servers", serve_address());
    set("group.id", "g");
    set("group.protocol", is_classic ? "classic" : "consumer");
    set("partition.assignment.strategy", "cooperative-sticky");
    set("heartbeat.interval.ms", "20");
    set("retry.backoff.ms", "10");
    handle = NULL;
}

static void end(void)
{
    krc_close(handle);
    krc_config_free(config);
    serve_end();
    ck_assert_int_eq(group.foreign_commits, 0);
    group_close();
    world_close();
    tempdir_remove();
}

static void nothing(void)
{
}

static void open_consumer(void)
{
    ck_assert_msg(krc_open(&handle, config, &error) == 0, "%s", error.message);
}

/* ---- The group, which the brokers' thread looks at, too -------------------------------------- */

static bool is_there(int number)
{
    serve_lock();
    bool there = group_m(number)->is_there;
    serve_unlock();
    return there;
}

static group_parts has(int number)
{
    serve_lock();
    group_parts set = group_m(number)->has;
    serve_unlock();
    return set;
}

static void give(int number, const char *set)
{
    serve_lock();
    if (!group.is_classic)
        group_target(number, set);
    serve_unlock();
}

static int another(const char *set)
{
    serve_lock();
    int number = group_join("t");
    if (!group.is_classic)
        group_target(number, set);
    serve_unlock();
    return number;
}

static int64_t committed(int partition)
{
    serve_lock();
    int64_t offset = p[partition].committed;
    serve_unlock();
    return offset;
}

/* ---- Polling -------------------------------------------------------------------------------- */

static krc_batch *came; /* while something else was waited for; NULL */

static void poll_once(void)
{
    krc_batch *batch;
    int rc = krc_poll(handle, 10, &batch);
    ck_assert_msg(rc >= 0, "%s", krc_last_error(handle)->message);
    ck_assert(batch == NULL || came == NULL);
    came = batch != NULL ? batch : came;
}

/* Polls until the event comes of that partition; a batch that comes is the next one then. */
static struct krc_event wait_for(enum krc_event_type type, int32_t partition)
{
    struct krc_event event;
    for (int i = 0; i < SOON_MS / 10; i++) {
        poll_once();
        while (krc_event_next(handle, &event) == 1)
            if (event.type == type && event.partition == partition)
                return event;
    }
    ck_abort_msg("no event %d of partition %d", (int)type, (int)partition);
}

/* The next batch, of that partition and from that offset on. */
static krc_batch *next_batch(int32_t partition, int64_t first)
{
    krc_batch *batch = came;
    struct krc_batch_info info;
    struct krc_record record;
    came = NULL;
    for (int i = 0; i < SOON_MS / 10 && batch == NULL; i++)
        ck_assert_int_ge(krc_poll(handle, 10, &batch), 0);
    ck_assert_ptr_nonnull(batch);
    krc_batch_info(batch, &info);
    ck_assert_int_eq(info.partition, partition);
    ck_assert_int_eq(krc_next(batch, &record), 1);
    ck_assert_int_eq(record.offset, first);
    return batch;
}

static void poll_until(bool (*over)(void))
{
    for (int i = 0; i < SOON_MS / 10 && !over(); i++)
        poll_once();
    ck_assert(over());
}

static bool we_are_there(void)
{
    return is_there(1);
}

/* As the only member, with both partitions. */
static void join(void)
{
    open_consumer();
    ck_assert_msg(krc_join(handle, &t, 1, &error) == 0, "%s", error.message);
    poll_until(we_are_there);
    give(1, "t-0 t-1");
    wait_for(KRC_EVENT_ASSIGNED, 1);
    struct krc_position position;
    ck_assert_int_eq(krc_position(handle, "t", 0, &position), KRC_OK);
}

/* ---- A member ------------------------------------------------------------------------------- */

BOTH(reads_and_commits)
{
    put_plain(&p[0], 5);
    put_plain(&p[0], 5);
    p[0].committed = 5;
    p[0].committed_epoch = 0;
    join();
    krc_batch *batch = next_batch(0, 5);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 8, &error), 0);
    krc_release(batch);
    ck_assert_msg(krc_commit(handle, &error) == 0, "%s", error.message);
    ck_assert_int_eq(committed(0), 8);
    int requests = serve_requests(KRC_API_OFFSET_COMMIT);
    ck_assert_int_eq(krc_commit(handle, &error), 0);
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_COMMIT), requests); /* nothing is new */
    ck_assert_int_eq(krc_ack(handle, "t", 0, 10, &error), 0);
    ck_assert_msg(krc_leave(handle, &error) == 0, "%s", error.message);
    ck_assert_int_eq(committed(0), 10);
    ck_assert(!is_there(1));
    ck_assert_int_eq(krc_leave(handle, &error), 0);
    (void)is_classic;
}

/* What is acknowledged after the event, too, is committed by the next poll. */
BOTH(revoked)
{
    put_plain(&p[1], 5);
    join();
    krc_release(next_batch(1, 0));
    int number = another("t-1");
    give(1, "t-0");
    wait_for(KRC_EVENT_REVOKED, 1);
    ck_assert_int_eq(krc_ack(handle, "t", 1, 5, &error), 0);
    ck_assert_int_eq(committed(1), -1);
    serve_lock();
    put_plain(&p[1], 5);
    serve_unlock();
    krc_batch *batch;
    for (int i = 0; i < SOON_MS / 10 && has(number) == 0; i++) {
        ck_assert_int_eq(krc_poll(handle, 10, &batch), 0); /* nothing of it */
        ck_assert_ptr_null(batch);
    }
    ck_assert_int_eq(has(number), group_set("t-1"));
    ck_assert_int_eq(committed(1), 5);
    ck_assert_int_eq(krc_ack(handle, "t", 1, 5, &error), KRC_E_NOT_FOUND);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 0, &error), KRC_OK);
    (void)is_classic;
}

BOTH(a_batch_that_is_out_holds_it)
{
    put_plain(&p[1], 5);
    join();
    krc_batch *out = next_batch(1, 0), *batch;
    int number = another("t-1");
    give(1, "t-0");
    wait_for(KRC_EVENT_REVOKED, 1);
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(krc_poll(handle, 10, &batch), 0);
    ck_assert_int_eq(has(number), 0);
    ck_assert_int_eq(krc_ack(handle, "t", 1, 5, &error), 0);
    krc_release(out);
    for (int i = 0; i < SOON_MS / 10 && has(number) == 0; i++)
        ck_assert_int_eq(krc_poll(handle, 10, &batch), 0);
    ck_assert_int_eq(has(number), group_set("t-1"));
    ck_assert_int_eq(committed(1), 5);
    (void)is_classic;
}

/* The commit before is refused: what was done is done again, elsewhere. */
BOTH(revoked_and_refused)
{
    put_plain(&p[1], 5);
    join();
    krc_release(next_batch(1, 0));
    ck_assert_int_eq(krc_ack(handle, "t", 1, 5, &error), 0);
    serve_lock();
    world_fail(KRC_API_OFFSET_COMMIT, 1, KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, 100);
    serve_unlock();
    int number = another("t-1");
    give(1, "t-0");
    check_says(wait_for(KRC_EVENT_NOTE, -1).message, "TOPIC_AUTHORIZATION_FAILED");
    for (int i = 0; i < SOON_MS / 10 && has(number) == 0; i++)
        ck_assert_int_eq(krc_poll(handle, 10, &(krc_batch *){NULL}), 0);
    ck_assert_int_eq(has(number), group_set("t-1"));
    ck_assert_int_eq(committed(1), -1);
    (void)is_classic;
}

BOTH(fenced)
{
    put_plain(&p[0], 5);
    join();
    krc_release(next_batch(0, 0));
    ck_assert_int_eq(krc_ack(handle, "t", 0, 5, &error), 0);
    serve_lock();
    group_remove(1);
    p[0].committed = 3; /* by whoever has it now */
    serve_unlock();
    ck_assert_int_eq(krc_commit(handle, &error), KRC_E_FENCED);
    wait_for(KRC_EVENT_FENCED, 0);
    ck_assert_int_eq(committed(0), 3);
    poll_until(we_are_there);
    give(1, "t-0");
    krc_release(next_batch(0, 3)); /* from where the other was */
    (void)is_classic;
}

static int commits; /* that were told of */
static krc_error commit_error;

static void note_commit(void *arg, const krc_error *why)
{
    (void)arg;
    commits++;
    commit_error = *why;
}

static bool is_committed(void)
{
    return committed(0) == 5;
}

static bool is_told(void)
{
    return commits == 1;
}

BOTH(commits_in_the_background)
{
    commits = 0;
    put_plain(&p[0], 5);
    join();
    krc_release(next_batch(0, 0));
    ck_assert_int_eq(krc_ack(handle, "t", 0, 5, &error), 0);
    ck_assert_int_eq(krc_commit_async(handle, note_commit, NULL, &error), 0);
    poll_until(is_told);
    ck_assert_int_eq(commit_error.code, KRC_OK);
    ck_assert_int_eq(committed(0), 5);
    struct krc_position position;
    ck_assert_int_eq(krc_position(handle, "t", 0, &position), 0);
    ck_assert_int_eq(position.committed, 5);
    int requests = serve_requests(KRC_API_OFFSET_COMMIT);
    commits = 0;
    ck_assert_int_eq(krc_commit_async(handle, note_commit, NULL, &error), 0);
    poll_until(is_told);
    ck_assert_int_eq(commit_error.code, KRC_OK);
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_COMMIT), requests); /* nothing is new */
    (void)is_classic;
}

static bool all_is_told(void)
{
    return committed(0) == 10;
}

/* The store has it, and the group is told after, without anybody's waiting: once what it was told
 * before is answered. */
BOTH(a_store_that_the_group_is_told_of)
{
    commits = 0;
    put_plain(&p[0], 5);
    put_plain(&p[0], 5);
    set("offset.store.file", tempdir_path("offsets.db"));
    set("commit.to.group", "true");
    open_consumer();
    ck_assert_int_eq(krc_assign(handle, "t", 0, KRC_STORED, KRC_NO_END, &error), 0);
    krc_release(next_batch(0, 0));
    serve_hold(KRC_API_OFFSET_COMMIT);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 5, &error), 0);
    ck_assert_int_eq(krc_commit_async(handle, note_commit, NULL, &error), 0);
    poll_until(is_told);
    ck_assert_int_eq(commit_error.code, KRC_OK);
    poll_until(is_committed);
    krc_release(next_batch(0, 5));
    ck_assert_int_eq(krc_ack(handle, "t", 0, 10, &error), 0);
    ck_assert_int_eq(krc_commit_async(handle, note_commit, NULL, &error), 0);
    for (int i = 0; i < 20; i++)
        poll_once();
    ck_assert_int_eq(commits, 2);
    ck_assert_int_eq(committed(0), 5);
    serve_hold(KRC_API_COUNT);
    poll_until(all_is_told);
    (void)is_classic;
}

/* The answer to a commit comes when the partition was lost, and is ours again. */
BOTH(committed_before_it_was_fenced)
{
    put_plain(&p[0], 5);
    join();
    krc_release(next_batch(0, 0));
    ck_assert_int_eq(krc_ack(handle, "t", 0, 5, &error), 0);
    commits = 0;
    serve_hold(KRC_API_OFFSET_COMMIT);
    ck_assert_int_eq(krc_commit_async(handle, note_commit, NULL, &error), 0);
    ck_assert_int_eq(krc_commit_async(handle, note_commit, NULL, &error), KRC_E_BUSY);
    poll_until(is_committed);
    serve_lock();
    group_remove(1);
    p[0].committed = 3; /* by somebody who began before it */
    serve_unlock();
    wait_for(KRC_EVENT_FENCED, 0);
    poll_until(we_are_there);
    give(1, "t-0");
    wait_for(KRC_EVENT_ASSIGNED, 0);
    ck_assert_int_eq(commits, 0);
    serve_hold(KRC_API_COUNT);
    krc_release(next_batch(0, 3)); /* from where the other was */
    ck_assert_int_eq(commits, 1);
    struct krc_position position;
    ck_assert_int_eq(krc_position(handle, "t", 0, &position), 0);
    ck_assert_int_eq(position.committed, 3);
    ck_assert_int_eq(krc_ack(handle, "t", 0, 5, &error), 0);
    ck_assert_msg(krc_commit(handle, &error) == 0, "%s", error.message);
    ck_assert_int_eq(committed(0), 5);
    (void)is_classic;
}

/* A consumer that is closed leaves; its partitions are there for others at once. */
BOTH(closed)
{
    join();
    krc_close(handle);
    handle = NULL;
    ck_assert(!is_there(1));
    (void)is_classic;
}

/* Nobody answers: it is not waited for long. */
BOTH(closed_without_an_answer)
{
    join();
    serve_lock();
    for (int i = 1; i < WORLD_NODES; i++)
        world.nodes[i].is_mute = true;
    serve_unlock();
    krc_close(handle);
    handle = NULL;
    (void)is_classic;
}

BOTH(connections_that_end)
{
    put_plain(&p[0], 5);
    join();
    krc_release(next_batch(0, 0));
    for (int i = 0; i < 3; i++) {
        serve_drop();
        serve_lock();
        put_plain(&p[0], 1);
        serve_unlock();
        krc_release(next_batch(0, 5 + i));
        ck_assert_int_eq(krc_ack(handle, "t", 0, 6 + i, &error), 0);
        ck_assert_msg(krc_commit(handle, &error) == 0, "%s", error.message);
    }
    ck_assert_int_eq(committed(0), 8);
    ck_assert(is_there(1));
    (void)is_classic;
}

BOTH(a_static_member_comes_again)
{
    set("group.instance.id", "i");
    join();
    ck_assert_msg(krc_leave(handle, &error) == 0, "%s", error.message);
    ck_assert(is_there(1));
    ck_assert_int_eq(serve_requests(KRC_API_LEAVE_GROUP), 0);
    krc_close(handle);
    open_consumer();
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), 0);
    wait_for(KRC_EVENT_ASSIGNED, 1);
    ck_assert(!is_there(2));
    (void)is_classic;
}

/* The application comes too late: it has left, and joins again when it comes. */
BOTH(late)
{
    set("max.poll.interval.ms", "200");
    set("session.timeout.ms", "150");
    join();
    usleep(250000); /* of the application's, whose length is what is tested */
    wait_for(KRC_EVENT_FENCED, 0);
    poll_until(we_are_there);
    (void)is_classic;
}

START_TEST(by_a_regular_expression)
{
    const char *regex = "^[tu]$";
    begin(true);
    open_consumer();
    ck_assert_int_eq(krc_join(handle, &regex, 1, &error), 0);
    wait_for(KRC_EVENT_ASSIGNED, 1);
    struct krc_position position;
    ck_assert_int_eq(krc_position(handle, "t", 0, &position), 0);
    ck_assert_int_eq(krc_position(handle, "u", 0, &position), 0);
    end();
}
END_TEST

/* ---- Embedded ------------------------------------------------------------------------------- */

struct application {
    int assigned, revoked, records;
    int other; /* the other member's number */
    bool is_over;
};

static void on_batch(void *arg, krc *consumer, krc_batch *batch)
{
    struct application *app = arg;
    struct krc_record record;
    struct krc_batch_info info;
    krc_batch_info(batch, &info);
    while (krc_next(batch, &record) == 1)
        app->records++;
    ck_assert_int_eq(krc_ack(consumer, "t", info.partition, info.next_offset, &error), 0);
    krc_release(batch);
    if (app->records < 5 || app->other != 0)
        return;
    ck_assert_int_eq(krc_commit(consumer, &error), KRC_E_STATE);
    ck_assert_int_eq(krc_leave(consumer, &error), KRC_E_STATE);
    app->other = another("t-1");
    give(1, "t-0");
}

static void on_event(void *arg, krc *consumer, const struct krc_event *event)
{
    struct application *app = arg;
    (void)consumer;
    app->assigned += event->type == KRC_EVENT_ASSIGNED;
    app->revoked += event->type == KRC_EVENT_REVOKED;
}

static void on_failed(void *arg, krc *consumer, const krc_error *why)
{
    (void)arg, (void)consumer;
    ck_abort_msg("%s", why->message);
}

/* Closes once the other has what it is to have. */
static void look(uv_timer_t *timer)
{
    struct application *app = timer->data;
    if (!is_there(1))
        return;
    serve_lock();
    bool unspread = !group.is_classic && group_m(1)->target == 0;
    serve_unlock();
    if (unspread && app->other == 0)
        give(1, "t-0 t-1");
    if (app->other == 0 || has(app->other) != group_set("t-1"))
        return;
    app->is_over = true;
    uv_close((uv_handle_t *)timer, NULL);
    krc_close(handle);
    handle = NULL;
}

BOTH(embedded)
{
    struct application app = {0};
    const struct krc_callbacks callbacks = {
        .arg = &app, .batch = on_batch, .event = on_event, .failed = on_failed};
    uv_loop_t loop;
    uv_timer_t timer = {.data = &app};
    put_plain(&p[1], 5);
    uv_loop_init(&loop);
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, look, 10, 10);
    ck_assert_int_eq(krc_open_embedded(&handle, config, &loop, &callbacks, &error), 0);
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    ck_assert(app.is_over);
    ck_assert_int_eq(app.assigned, 2);
    ck_assert_int_eq(app.revoked, 1);
    ck_assert_int_eq(committed(1), 5); /* before it was given up */
    (void)is_classic;
}

/* ---- What is refused ------------------------------------------------------------------------ */

BOTH(calls_that_are_no_use)
{
    const char *bad = "^(";
    open_consumer();
    ck_assert_int_eq(krc_leave(handle, &error), KRC_E_STATE);
    ck_assert_int_eq(krc_join(handle, &bad, 1, &error), KRC_E_INVALID);
    krc_close(handle);
    join();
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), KRC_E_STATE);
    ck_assert_int_eq(krc_assign(handle, "t", 0, 0, KRC_NO_END, &error), KRC_E_STATE);
    ck_assert_int_eq(krc_subscribe(handle, "t", 0, KRC_NO_END, &error), KRC_E_STATE);
    krc_close(handle);
    open_consumer();
    ck_assert_int_eq(krc_assign(handle, "t", 0, 0, KRC_NO_END, &error), KRC_OK);
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), KRC_E_STATE);
    krc_close(handle);
    set("offset.store.file", tempdir_path("store.db"));
    open_consumer();
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), KRC_E_STATE);
    krc_close(handle);
    set("offset.store.file", "");
    set("group.id", "");
    open_consumer();
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), KRC_E_STATE);
    check_says(error.message, "group.id");
    (void)is_classic;
}

BOTH(the_group_will_not_have_us)
{
    krc_batch *batch;
    int rc = 0;
    world_fail(is_classic ? KRC_API_JOIN_GROUP : KRC_API_CONSUMER_GROUP_HEARTBEAT, -1,
               KRC_KAFKA_GROUP_MAX_SIZE_REACHED, 1);
    open_consumer();
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), 0);
    for (int i = 0; i < SOON_MS / 10 && rc == 0; i++)
        rc = krc_poll(handle, 10, &batch);
    ck_assert_int_eq(rc, KRC_E_REFUSED);
    check_says(krc_last_error(handle)->message, "GROUP_MAX_SIZE_REACHED");
    ck_assert_int_eq(krc_poll(handle, 10, &batch), KRC_E_REFUSED);
}

START_TEST(a_broker_without_the_protocol)
{
    krc_batch *batch;
    begin(false);
    world_versions(KRC_API_CONSUMER_GROUP_HEARTBEAT, -1, -1);
    open_consumer();
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), 0);
    ck_assert_int_eq(krc_poll(handle, SOON_MS, &batch), KRC_E_UNSUPPORTED);
    check_says(krc_last_error(handle)->message, "group.protocol=classic");
    end();
}
END_TEST

START_TEST(a_folder_has_no_groups)
{
    handle = consume_open("tests/golden/fixtures/kafka-4.3.1", NULL);
    ck_assert_int_eq(krc_join(handle, &t, 1, &error), KRC_E_INVALID);
    krc_close(handle);
}
END_TEST

int main(void)
{
    const TTest *const cases[] = {reads_and_commits,
                                  revoked,
                                  a_batch_that_is_out_holds_it,
                                  revoked_and_refused,
                                  fenced,
                                  commits_in_the_background,
                                  a_store_that_the_group_is_told_of,
                                  committed_before_it_was_fenced,
                                  closed,
                                  closed_without_an_answer,
                                  connections_that_end,
                                  a_static_member_comes_again,
                                  late,
                                  by_a_regular_expression,
                                  embedded,
                                  calls_that_are_no_use,
                                  the_group_will_not_have_us,
                                  a_broker_without_the_protocol,
                                  a_folder_has_no_groups};
    return run_tests("consumer/group", cases, sizeof cases / sizeof *cases, nothing, nothing);
}
