/*
 * Handles that are closed while connections are made, with batches out and events unread, in
 * callbacks, and after a failed open; folders, and replays.  AddressSanitizer detects what is used
 * after it was freed (VARIANT=asan).
 */
#include <arpa/inet.h>
#include <semaphore.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/teardown.h"
#include "tests/support/tempdir.h"

static void nothing(void)
{
}

static struct world_partition *first(void)
{
    return teardown.topic->partitions;
}

/* ---- Connections ---------------------------------------------------------------------------- */

/* A port where nobody answers.  The kernel accepts connections, as far as `backlog` goes. */
static int listen_mute(int backlog, char *address, size_t size)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
    ck_assert_int_eq(listen(fd, backlog), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    snprintf(address, size, "127.0.0.1:%d", ntohs(at.sin_port));
    return fd;
}

static enum krc_conn_state state_of_server(void)
{
    const struct krc_node *server = teardown.handle->net->cluster.nodes.servers[0];
    const struct krc_conn *conn = server->conns[KRC_FOR_QUESTIONS];
    return conn == NULL ? KRC_CONN_CLOSED : conn->state;
}

static void until_server_is(enum krc_conn_state state)
{
    for (int ms = 0; ms < TEARDOWN_MS && state_of_server() != state; ms++)
        teardown_turn();
    ck_assert_int_eq(state_of_server(), state);
}

CLOSED_DURING(a_tls_handshake)
{
    char address[32];
    int fd = listen_mute(4, address, sizeof address);
    teardown_set("bootstrap.servers", address);
    teardown_set("security.protocol", "SSL");
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    for (int i = 0; i < 50; i++) /* the ClientHello is sent, and stays unanswered */
        teardown_turn();
    until_server_is(KRC_CONN_CONNECTING);
    close(fd);
}

/* Other connections fill the backlog, so the kernel leaves this one unanswered. */
CLOSED_DURING(a_connection_attempt)
{
    char address[32];
    int fd = listen_mute(0, address, sizeof address), others[4];
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    for (int i = 0; i < 4; i++) {
        others[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)!connect(others[i], (struct sockaddr *)&at, len);
    }
    teardown_set("bootstrap.servers", address);
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    until_server_is(KRC_CONN_CONNECTING);
    for (int i = 0; i < 4; i++)
        close(others[i]);
    close(fd);
}

static void use_names(void)
{
    char name[32];
    snprintf(name, sizeof name, "localhost%s", strchr(serve_address(), ':'));
    teardown_set("bootstrap.servers", name);
}

CLOSED_DURING(a_name_lookup)
{
    use_names();
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    krc_loop_turn(teardown.handle->net->loop, 0, false);
    ck_assert_int_ne(state_of_server(), KRC_CONN_CLOSED);
}

enum { POOL = 4 }; /* threads in libuv's pool */
static sem_t released;

static void occupy(uv_work_t *work)
{
    (void)work;
    sem_wait(&released);
}

CLOSED_DURING(a_name_lookup_that_is_queued)
{
    uv_loop_t others;
    uv_work_t works[POOL];
    sem_init(&released, 0, 0);
    uv_loop_init(&others);
    for (int i = 0; i < POOL; i++)
        uv_queue_work(&others, &works[i], occupy, NULL);
    use_names();
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    krc_loop_turn(teardown.handle->net->loop, 0, false);
    ck_assert_int_eq(state_of_server(), KRC_CONN_RESOLVING);
    krc_close(teardown.handle); /* while the pool is occupied */
    teardown.handle = NULL;
    for (int i = 0; i < POOL; i++)
        sem_post(&released);
    uv_run(&others, UV_RUN_DEFAULT);
    uv_loop_close(&others);
    sem_destroy(&released);
}

static void use_sasl(const char *mechanism)
{
    world.sasl = (struct world_sasl){.mechanism = mechanism, .message = build_text("?")};
    teardown_set("security.protocol", "SASL_PLAINTEXT");
    teardown_set("sasl.mechanism", mechanism);
}

static void hold_sasl(enum krc_api_name api)
{
    use_sasl("PLAIN");
    teardown_set("sasl.username", "u");
    teardown_set("sasl.password", "secret");
    serve_hold(api);
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    teardown_until(api, 1);
}

CLOSED_DURING(a_sasl_handshake)
{
    hold_sasl(KRC_API_SASL_HANDSHAKE);
}

CLOSED_DURING(a_sasl_exchange)
{
    hold_sasl(KRC_API_SASL_AUTHENTICATE);
}

CLOSED_DURING(a_token_fetch)
{
    use_sasl("OAUTHBEARER");
    teardown_set("sasl.oauthbearer.token.command", "sleep 60");
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    until_server_is(KRC_CONN_AUTHENTICATING);
}

/* ---- What the application still holds ------------------------------------------------------- */

CLOSED_DURING(batches_that_are_out)
{
    for (int i = 0; i < 4; i++)
        put_plain(first(), 3);
    teardown_assign(0, KRC_NO_END);
    for (int ms = 0; ms < TEARDOWN_MS && teardown.batch_count < 3; ms++)
        teardown_turn();
    krc_release(teardown.batches[1]);
    ck_assert_int_eq(krc_unassign(teardown.handle, "t", 0), 0);
}

CLOSED_DURING(unread_events)
{
    teardown_assign(0, KRC_NO_END);
    teardown_read();
    for (int i = 0; i < KRC_EVENTS_KEPT + 3; i++)
        krc_note_topic(teardown.handle, "t", "a note");
}

/* ---- Callbacks that close ------------------------------------------------------------------- */

static int closes;

static void close_it(krc *consumer)
{
    closes++;
    krc_close(consumer);
    teardown.handle = NULL;
}

static void close_at_batch(void *arg, krc *consumer, krc_batch *batch)
{
    (void)arg, (void)batch; /* which is out */
    close_it(consumer);
}

static void close_at_event(void *arg, krc *consumer, const struct krc_event *event)
{
    (void)arg, (void)event;
    close_it(consumer);
}

static void close_at_failure(void *arg, krc *consumer, const krc_error *why)
{
    (void)arg;
    ck_assert_int_lt(why->code, 0);
    close_it(consumer);
}

static void close_at_commit(void *arg, const krc_error *why)
{
    (void)arg;
    ck_assert_msg(why->code == KRC_OK, "%s", why->message);
    close_it(teardown.handle);
}

static void commit_at_batch(void *arg, krc *consumer, krc_batch *batch)
{
    (void)arg, (void)batch;
    ck_assert_int_eq(krc_ack(consumer, "t", 0, 5, &teardown.error), 0);
    ck_assert_int_eq(krc_commit_async(consumer, close_at_commit, NULL, &teardown.error), 0);
}

static void run_until_closed(const struct krc_callbacks *callbacks)
{
    closes = 0;
    ck_assert_msg(teardown_try_to_open(callbacks) == 0, "%s", teardown.error.message);
    consume_assign(teardown.handle, "t", 0, 0, KRC_NO_END);
    uv_run(&teardown.loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(closes, 1);
}

START_TEST(closed_in_callbacks)
{
    static const struct krc_callbacks callbacks[] = {
        {.batch = close_at_batch}, {.event = close_at_event}, {.failed = close_at_failure}};
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++) {
        teardown_begin(true);
        if (callbacks[i].failed != NULL)
            teardown.topic->error_code = KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED;
        run_until_closed(&callbacks[i]);
        teardown_end();
    }
}
END_TEST

START_TEST(closed_in_a_commit_callback)
{
    static const char *const names[] = {"group.id", "offset.store.file"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        teardown_begin(true);
        teardown_set(names[i], i == 0 ? "g" : tempdir_path("store.db"));
        run_until_closed(&(struct krc_callbacks){.batch = commit_at_batch});
        teardown_end();
    }
}
END_TEST

/* Within krc_poll, krc_close only has krc_poll return KRC_E_STATE. */
START_TEST(closed_in_a_commit_callback_of_krc_poll)
{
    krc_batch *batch;
    int rc = 0;
    teardown_begin(false);
    teardown_set("group.id", "g");
    teardown_assign(KRC_STORED, KRC_NO_END);
    teardown_read();
    krc *consumer = teardown.handle;
    commit_at_batch(NULL, consumer, NULL);
    for (int ms = 0; ms < TEARDOWN_MS && rc == 0; ms++)
        rc = krc_poll(consumer, 1, &batch);
    ck_assert_int_eq(rc, KRC_E_STATE);
    krc_close(consumer);
    teardown_end();
}
END_TEST

/* ---- What could not be opened --------------------------------------------------------------- */

static void check_not_opened(const char *protocol, const char *name, const char *value)
{
    for (int embedded = 0; embedded <= 1; embedded++) {
        const struct krc_callbacks callbacks = {.arg = NULL};
        teardown_begin(embedded);
        teardown_set("security.protocol", protocol);
        teardown_set(name, value);
        ck_assert_int_lt(teardown_try_to_open(&callbacks), 0);
        teardown.handle = NULL;
        teardown_end();
    }
}

START_TEST(not_opened)
{
    check_not_opened("PLAINTEXT", "bootstrap.servers", "");
    check_not_opened("PLAINTEXT", "offset.store.file", "/nowhere/store.db");
    check_not_opened("SASL_PLAINTEXT", "sasl.mechanism", "PLAIN");
    check_not_opened("SSL", "ssl.truststore.location", "/nowhere/ca.pem");
}
END_TEST

/* ---- Folders -------------------------------------------------------------------------------- */

static const char fixture[] = "tests/golden/fixtures/kafka-4.3.1";

static krc_batch *next_of_folder(krc *folder)
{
    krc_batch *batch;
    ck_assert_int_eq(krc_poll(folder, 0, &batch), 1);
    return batch;
}

START_TEST(folders_being_read)
{
    krc *folder = consume_open(fixture, NULL);
    consume_assign(folder, "txns-open", 0, KRC_EARLIEST, KRC_NO_END);
    consume_assign(folder, "compacted", 0, KRC_EARLIEST, KRC_NO_END);
    krc_batch *batch = next_of_folder(folder);
    next_of_folder(folder);
    krc_release(batch);
    next_of_folder(folder);
    krc_close(folder);
}
END_TEST

START_TEST(folders_without_the_partition_of_a_batch)
{
    krc *folder = consume_open(fixture, NULL);
    consume_assign(folder, "compacted", 0, KRC_EARLIEST, KRC_NO_END);
    next_of_folder(folder);
    ck_assert_int_eq(krc_unassign(folder, "compacted", 0), 0);
    krc_close(folder);
}
END_TEST

START_TEST(folders_with_unread_events)
{
    krc *folder = consume_open(fixture, NULL);
    consume_assign(folder, "txns-open", 0, KRC_EARLIEST, KRC_NO_END);
    while (!krc_ended(folder)) {
        krc_batch *batch;
        ck_assert_int_ge(krc_poll(folder, 0, &batch), 0);
    }
    ck_assert_uint_gt(folder->event_count, 0);
    krc_close(folder);
}
END_TEST

START_TEST(folders_with_uncommitted_offsets)
{
    tempdir_make();
    krc *folder = consume_open(fixture, "offset.store.file", tempdir_path("store.db"), NULL);
    consume_assign(folder, "compacted", 0, KRC_STORED, KRC_NO_END);
    next_of_folder(folder);
    struct krc_position at = consume_position(folder, "compacted", 0);
    ck_assert_int_eq(krc_ack(folder, "compacted", 0, at.position, &teardown.error), 0);
    krc_close(folder);
    tempdir_remove();
}
END_TEST

START_TEST(folders_after_errors)
{
    struct krc_log_offsets log;
    krc_batch *batch;
    tempdir_make();
    tempdir_mkdir("bad-0");
    tempdir_write_text("bad-0/00000000000000000000.log",
                       "this is longer than a header of a batch, and none: 0123456789 0123456789");
    krc *folder = consume_open(tempdir_path("."), NULL);
    consume_assign(folder, "bad", 0, KRC_EARLIEST, KRC_NO_END);
    ck_assert_int_lt(krc_log_offsets(folder, "none", 0, &log, &teardown.error), 0);
    ck_assert_int_lt(krc_poll(folder, 0, &batch), 0);
    krc_close(folder);
    tempdir_remove();
}
END_TEST

/* ---- Replays -------------------------------------------------------------------------------- */

static void note(void *arg, const struct krc_event *event)
{
    int *notes = arg;
    *notes += event->type == KRC_EVENT_NOTE;
}

/* Of both partitions, by a thread each. */
static int replay(int *notes)
{
    const struct krc_replay_partition parts[] = {
        {.topic = "t", .partition = 0, .start = KRC_EARLIEST, .until = KRC_NO_END},
        {.topic = "t", .partition = 1, .start = KRC_EARLIEST, .until = KRC_NO_END}};
    const krc_replay_options options = {.to = tempdir_path("out"),
                                        .jobs = 2,
                                        .partitions = parts,
                                        .partition_count = 2,
                                        .event = note,
                                        .arg = notes};
    *notes = 0;
    return krc_replay(teardown.config, &options, &teardown.error);
}

START_TEST(replays_with_requests_in_flight)
{
    static const enum krc_api_name apis[] = {KRC_API_METADATA, KRC_API_FIND_COORDINATOR,
                                             KRC_API_OFFSET_COMMIT};
    int notes;
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        teardown_begin(false);
        put_plain(first() + 1, 5);
        teardown_set("default.api.timeout.ms", "100");
        teardown_set("group.id", "g");
        teardown_set("commit.to.group", "true");
        serve_hold(apis[i]);
        /* a commit to the group that fails is only noted */
        ck_assert_int_eq(replay(&notes), apis[i] == KRC_API_METADATA ? KRC_E_TIMEOUT : KRC_OK);
        ck_assert_int_eq(notes > 0, apis[i] != KRC_API_METADATA);
        ck_assert_int_ge(serve_requests(apis[i]), 1);
        teardown_end();
    }
}
END_TEST

START_TEST(replays_of_missing_topics)
{
    int notes;
    teardown_begin(false);
    teardown.topic->error_code = KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    ck_assert_int_eq(replay(&notes), KRC_E_NOT_FOUND);
    ck_assert_int_eq(notes, 0); /* it is an error, and told once */
    teardown_end();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_tls_handshake, a_connection_attempt, a_name_lookup, a_name_lookup_that_is_queued,
        a_sasl_handshake, a_sasl_exchange, a_token_fetch, batches_that_are_out, unread_events,
        closed_in_callbacks, closed_in_a_commit_callback, closed_in_a_commit_callback_of_krc_poll,
        not_opened, folders_being_read, folders_without_the_partition_of_a_batch,
        folders_with_unread_events, folders_with_uncommitted_offsets, folders_after_errors,
        replays_with_requests_in_flight, replays_of_missing_topics,
    };
    return run_tests("consumer/closing", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
