/*
 * Answers that are split, late, lost, doubled, wrong or huge, and brokers of all versions: what is
 * handed out is the same.
 */
#include <string.h>

#include "protocol/api.h"
#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_partition *p;

/* A log that begins at 5, with a bit of everything; read from 3. */
static void begin(void)
{
    open_readers();
    p = &world_topic("t", 2)->partitions[0];
    put_plain(p, 5);
    put_plain(p, 5);
    put_txn(p, 1, 3);
    put_abort(p, 1);
    put(p, (struct build_batch){.codec = KRC_GZIP}, 3);
    put_txn(p, 1, 2);
    put_commit(p, 1);
    world_delete(p, 5);
}

static const char handed_out[] = "reset 3 5\n"
                                 "records 5-9\n"
                                 "passed 10-12 aborted\n"
                                 "passed 13-13 control\n"
                                 "records 14-16\n"
                                 "records 17-18\n"
                                 "passed 19-19 control\n"
                                 "caught up 20\n";

static void read_it(void)
{
    read_stored("t", 0, 3, 0);
    sim_run_until("caught up");
    check_handed_out(handed_out);
}

START_TEST(whole)
{
    read_it();
}
END_TEST

START_TEST(split_at_every_byte)
{
    sim.splits = true;
    read_it();
}
END_TEST

START_TEST(late)
{
    sim.delay_ms = 5000;
    read_it();
}
END_TEST

/* ---- What goes wrong on the way ------------------------------------------------------------- */

static const enum krc_api_name apis[] = {KRC_API_API_VERSIONS, KRC_API_METADATA,
                                         KRC_API_OFFSET_FOR_LEADER_EPOCH, KRC_API_FETCH,
                                         KRC_API_LIST_OFFSETS};

static void spoil_each(enum sim_fate fate, int times)
{
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        sim.settings.request_timeout_ms = 1000;
        sim_fate(apis[i], fate, times);
        read_it();
        ck_assert_int_ge(sim.requests[apis[i]], times);
        close_readers();
        begin();
    }
}

START_TEST(lost)
{
    spoil_each(SIM_LOST, 1);
    spoil_each(SIM_LOST, 5);
}
END_TEST

START_TEST(cut_off)
{
    spoil_each(SIM_CUT, 1);
}
END_TEST

START_TEST(doubled)
{
    spoil_each(SIM_DOUBLED, 1);
}
END_TEST

START_TEST(to_another_request)
{
    spoil_each(SIM_WRONG_ID, 1);
}
END_TEST

/* The request times out. */
START_TEST(never)
{
    spoil_each(SIM_SILENT, 2);
}
END_TEST

START_TEST(out_of_order)
{
    struct world_partition *q = &world.topics[0].partitions[1];
    put_plain(q, 3);
    sim.is_reversed = true;
    sim.delay_ms = 10;
    read_from("t", 0, KRC_EARLIEST);
    read_stored("t", 1, 2, 0);
    sim_run_until("OffsetForLeaderEpoch n1 t-1 e0\n"
                  "ListOffsets n1 t-0 -2c\n");
    sim_run(20);
    const struct krc_conn *conn = krc_node_find(&sim.cluster, 1)->conns[KRC_FOR_QUESTIONS];
    ck_assert_ptr_nonnull(strstr(conn->error, "a response answers no request"));
    sim.is_reversed = false;
    sim_run(2000);
    ck_assert_int_eq(said("records 5-9"), 1);
    ck_assert_int_eq(said("t-1 records 2-2"), 1);
    ck_assert_int_eq(said("caught up 20"), 1);
}
END_TEST

/* ---- What is too much ----------------------------------------------------------------------- */

START_TEST(a_size_over_the_limit)
{
    sim_fate(KRC_API_FETCH, SIM_HUGE, 1);
    struct reader *r = read_stored("t", 0, 5, 0);
    sim_run(5000);
    check_handed_out("fails at 5: KRC_E_TOO_LARGE\n");
    ck_assert_ptr_nonnull(strstr(r->error.message, "receive.message.max.bytes"));
    ck_assert_uint_eq(sim.cluster.frames->held, 0);
    ck_assert_int_le(sim.cluster.frames->idle_count, 2);
}
END_TEST

static void cut_batches(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    for (int32_t i = 0; api == KRC_API_FETCH && i < r->topic_count; i++)
        for (int32_t n = 0; n < r->topics[i].partition_count; n++)
            if (r->topics[i].partitions[n].records.len > 60)
                r->topics[i].partitions[n].records.len = 60;
}

/* However much is asked for. */
START_TEST(a_batch_that_never_comes_whole)
{
    world.edit = cut_batches;
    struct reader *r = read_stored("t", 0, 5, 0);
    sim_run(5000);
    check_handed_out("fails at 5: KRC_E_TOO_LARGE\n");
    ck_assert_ptr_nonnull(strstr(r->error.message, "sends only a part of the batch at offset 5: "
                                                   "the batch has "));
    ck_assert_ptr_null(strstr(r->error.message, "receive.message.max.bytes"));
}
END_TEST

/* One partition's batch does not fit: the other one is read all the same. */
START_TEST(a_batch_over_the_limit)
{
    static uint8_t large[20000];
    struct build_record record = {.value = {large, sizeof large}};
    struct world_partition *q = &world.topics[0].partitions[1];
    build_batch(&q->log, &(struct build_batch){.records = &record, .count = 1});
    q->end = 1;
    sim.settings.receive_max_bytes = 10000;
    sim.settings.fetch_max_bytes = sim.settings.partition_max_bytes = 8000;
    read_from("t", 0, 5);
    read_from("t", 1, 0);
    sim_run(20000);
    ck_assert_int_eq(said("t-1 fails at 0: KRC_E_TOO_LARGE"), 1);
    ck_assert_int_eq(said("caught up 20"), 1);
    ck_assert_int_eq(readers.records, 10);
}
END_TEST

/* ---- Throttling ----------------------------------------------------------------------------- */

static int32_t throttle_ms;

static void throttle(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    if (api != KRC_API_FETCH || throttle_ms == 0)
        return;
    r->throttle_time_ms = throttle_ms;
    r->session_id = 0;
    r->topic_count = 0;
    throttle_ms = 0;
}

/* The broker answers at once, with nothing, and is left alone for so long. */
START_TEST(throttled)
{
    world.edit = throttle;
    throttle_ms = 3000;
    read_from("t", 0, 5);
    sim_run_until("Fetch");
    sim_run(2990);
    check_trace("Fetch n1 t-0@5\n");
    sim_run(20);
    ck_assert_int_eq(said("Fetch n1 t-0@5\n"), 1);
    ck_assert_int_eq(said("caught up 20"), 1);
}
END_TEST

static void throttle_questions(enum krc_api_name api, void *response)
{
    if (api == KRC_API_LIST_OFFSETS && sim.requests[api] == 1)
        ((struct krc_list_offsets_response *)response)->throttle_time_ms = 2000;
}

START_TEST(throttled_questions)
{
    world.edit = throttle_questions;
    world_fail(KRC_API_LIST_OFFSETS, 0, KRC_KAFKA_OFFSET_NOT_AVAILABLE, 1);
    read_from("t", 0, KRC_EARLIEST);
    sim_run_until("ListOffsets");
    sim_run(1990);
    ck_assert_int_eq(sim.requests[KRC_API_LIST_OFFSETS], 1);
    sim_run(100);
    ck_assert_int_eq(said("caught up 20"), 1);
}
END_TEST

/* ---- Versions ------------------------------------------------------------------------------- */

START_TEST(each_version)
{
    for (int api = 0; api < KRC_API_COUNT; api++)
        for (int16_t v = krc_apis[api].lowest; v <= krc_apis[api].highest; v++) {
            world_versions((enum krc_api_name)api, 0, v);
            read_it();
            close_readers();
            begin();
        }
}
END_TEST

/* Kafka 0.11: no sessions, no leader epochs, no topic ids. */
START_TEST(an_old_broker)
{
    world_versions(KRC_API_FETCH, 0, 5);
    world_versions(KRC_API_LIST_OFFSETS, 0, 2);
    world_versions(KRC_API_METADATA, 0, 4);
    world_versions(KRC_API_OFFSET_FETCH, 0, 3);
    world_versions(KRC_API_FIND_COORDINATOR, 0, 1);
    world_versions(KRC_API_API_VERSIONS, 0, 1);
    world_versions(KRC_API_OFFSET_FOR_LEADER_EPOCH, 0, 0);
    world_versions(KRC_API_DESCRIBE_CONFIGS, 0, 0);
    read_it();
}
END_TEST

static void tell_nothing(enum krc_api_name api, void *response)
{
    if (api == KRC_API_API_VERSIONS && sim.requests[api] == 1)
        ((struct krc_api_versions_response *)response)->range_count = 0;
}

START_TEST(greetings_in_an_unknown_version)
{
    world_versions(KRC_API_API_VERSIONS, 0, 2);
    sim.shows_greetings = sim.shows_metadata = true;
    read_from("t", 0, 20);
    sim_run_until("Metadata");
    check_trace("ApiVersions n1\n"
                "ApiVersions n1\n"
                "Metadata\n");
}
END_TEST

START_TEST(greetings_in_a_version_that_is_only_refused)
{
    world.edit = tell_nothing;
    world_versions(KRC_API_API_VERSIONS, 0, 0);
    sim.shows_greetings = sim.shows_metadata = true;
    read_from("t", 0, 20);
    sim_run_until("Metadata");
    check_trace("ApiVersions n1\n"
                "ApiVersions n1\n"
                "Metadata\n");
}
END_TEST

/* ---- What is no broker ---------------------------------------------------------------------- */

static void check_hopeless(const char *why)
{
    char text[600];
    read_from("t", 0, 0);
    sim_run(3000);
    krc_cluster_describe(&sim.cluster, text, sizeof text);
    ck_assert(krc_cluster_hopeless(&sim.cluster));
    ck_assert_msg(strstr(text, why) != NULL, "%s", text);
}

START_TEST(a_broker_that_is_too_old)
{
    world_versions(KRC_API_FETCH, 0, 3);
    check_hopeless("older than Kafka 0.11");
}
END_TEST

START_TEST(a_web_server)
{
    sim_fate(KRC_API_API_VERSIONS, SIM_HTTP, 100);
    check_hopeless("HTTP");
}
END_TEST

START_TEST(a_listener_with_tls)
{
    sim_fate(KRC_API_API_VERSIONS, SIM_TLS, 100);
    check_hopeless("TLS");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        whole,
        split_at_every_byte,
        late,
        lost,
        cut_off,
        doubled,
        to_another_request,
        never,
        out_of_order,
        a_size_over_the_limit,
        a_batch_that_never_comes_whole,
        a_batch_over_the_limit,
        throttled,
        throttled_questions,
        each_version,
        an_old_broker,
        greetings_in_an_unknown_version,
        greetings_in_a_version_that_is_only_refused,
        a_broker_that_is_too_old,
        a_web_server,
        a_listener_with_tls,
    };
    return run_tests("answers", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
