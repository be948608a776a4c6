/*
 * Brokers that answer what no broker should, readers that go at the worst time, and batches that
 * are broken.
 */
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_partition *p;

static void begin(void)
{
    open_readers();
    p = &world_topic("t", 2)->partitions[0];
}

/* ---- Answers that contradict themselves ----------------------------------------------------- */

static void name_twice(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    if (api == KRC_API_FETCH && r->topic_count > 0)
        for (int i = 1; i < 4; i++)
            r->topics[r->topic_count++] = r->topics[0];
}

START_TEST(a_partition_that_is_answered_twice)
{
    put_plain(p, 5);
    world.edit = name_twice;
    read_from("t", 0, 0);
    sim_run(100);
    check_handed_out("records 0-4\n"
                     "caught up 5\n");
}
END_TEST

static void name_another(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    if (api == KRC_API_FETCH && r->topic_count > 0 && sim.requests[api] == 1)
        r->topics[0].partitions[0].index = 77;
}

/* The one that was asked for is left out of the first answer, and comes with the next. */
START_TEST(a_partition_that_nobody_asked_for)
{
    put_plain(p, 5);
    world.edit = name_another;
    read_from("t", 0, 0);
    sim_run(2000);
    ck_assert_int_eq(readers.records, 5);
}
END_TEST

static void name_below_zero(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    if (api == KRC_API_METADATA && sim.requests[api] == 1)
        r->topics[0].partitions[0].index = -5;
}

START_TEST(metadata_with_a_partition_below_zero)
{
    put_plain(p, 5);
    world.edit = name_below_zero;
    read_from("t", 0, 0);
    sim_run(500);
    krc_metadata_refresh(&sim.cluster);
    sim_run(1000);
    ck_assert_int_eq(readers.records, 5);
}
END_TEST

/* Another port under the same id: the connection is another one. */
static void move_broker(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    for (int32_t i = 0; api == KRC_API_METADATA && i < r->broker_count; i++)
        r->brokers[i].port += sim.requests[api];
}

START_TEST(brokers_that_move)
{
    put_plain(p, 5);
    world.edit = move_broker;
    read_from("t", 0, 0);
    for (int i = 0; i < 5; i++) {
        sim_run(1000);
        krc_metadata_refresh(&sim.cluster);
    }
    put_plain(p, 5);
    sim_run(1000);
    ck_assert_int_eq(readers.records, 10);
    ck_assert_int_ge(krc_node_find(&sim.cluster, 1)->port, 9092 + 5);
}
END_TEST

/* ---- Readers that go ------------------------------------------------------------------------ */

/* Whatever is under way; and another one comes at once. */
static void close_amid(struct reader *r, const char *said_first)
{
    sim.delay_ms = 50;
    sim_run_until(said_first);
    krc_tracker_close(&r->tracker);
    r->remote = NULL;
    r->start = 2;
    forget_trace();
    sim_run(2000);
    ck_assert_int_eq(said("records 2-4"), 1);
    ck_assert_int_eq(said("records 0"), 0);
    ck_assert_int_eq(said("caught up 5"), 1);
}

START_TEST(closed_amid_a_fetch)
{
    put_plain(p, 5);
    close_amid(read_from("t", 0, 0), "Fetch");
}
END_TEST

START_TEST(closed_amid_a_question)
{
    put_plain(p, 5);
    close_amid(read_from("t", 0, KRC_EARLIEST), "ListOffsets");
}
END_TEST

START_TEST(closed_amid_a_groups_question)
{
    put_plain(p, 5);
    struct reader *r = read_from("t", 0, KRC_STORED);
    r->asks_group = true;
    close_amid(r, "OffsetFetch");
}
END_TEST

/* All is given back, whatever the moment; a sanitizer sees what is not. */
START_TEST(closed_at_any_time)
{
    for (int ms = 0; ms < 120; ms++) {
        sim.delay_ms = 5;
        sim.shows_metadata = true;
        put_plain(p, 5);
        put_txn(p, 3, 2);
        read_stored("t", 0, 3, 0);
        read_from("t", 1, KRC_STORED)->asks_group = true;
        sim_run(ms);
        close_readers();
        begin();
    }
}
END_TEST

/* Brokers go while pieces of theirs are at hand. */
START_TEST(a_broker_goes_with_its_pieces_at_hand)
{
    put_plain(p, 5);
    put_plain(p, 5);
    sim.settings.partition_max_bytes = sim.settings.fetch_max_bytes = (int32_t)p->log.len / 2;
    struct reader *r = read_from("t", 0, 0);
    sim_run_until("Fetch n1 t-0@0");
    r->is_held = true;
    sim_run(100);
    ck_assert_int_eq(r->remote->piece_count, 2);
    p->leader = 2;
    sim_down(1);
    sim_run(5000);
    ck_assert_ptr_null(krc_node_find(&sim.cluster, 1));
    r->is_held = false;
    krc_remote_ready(r->remote);
    sim_run(2000);
    ck_assert_int_eq(readers.records, 10);
}
END_TEST

/* ---- Batches that are broken ---------------------------------------------------------------- */

static void put_broken(void)
{
    put_plain(p, 5);
    size_t at = p->log.len;
    put_plain(p, 5);
    p->log.data[at + 70] ^= 1;
    put_plain(p, 5);
}

START_TEST(a_broken_batch)
{
    put_broken();
    struct reader *r = read_from("t", 0, 0);
    sim_run(2000);
    check_handed_out("records 0-4\n"
                     "fails at 5: KRC_E_CORRUPT\n");
    ck_assert_ptr_nonnull(strstr(r->error.message, "t-0, from n1:9092"));
    ck_assert_ptr_nonnull(strstr(r->error.message, "5 to 9"));
}
END_TEST

START_TEST(a_broken_batch_is_skipped)
{
    put_broken();
    reader_set("skip.corrupt.batches", "true");
    struct reader *r = read_from("t", 0, 0);
    sim_run(2000);
    check_handed_out("records 0-4\n"
                     "skipped 5 10\n"
                     "passed 5-9 skipped\n"
                     "records 10-14\n"
                     "caught up 15\n");
    ck_assert_str_eq(reader_account(r), "0-15: delivered 10, skipped 5");
}
END_TEST

/* The broken one says that it ends where others follow. */
START_TEST(a_broken_batch_that_lies)
{
    put_broken();
    struct krc_batch_header h;
    ck_assert_int_eq(krc_batch_parse(p->log.data, p->log.len, &h, NULL), 1);
    krc_put_be32(p->log.data + h.size + 23, 8); /* last offset delta */
    reader_set("skip.corrupt.batches", "true");
    read_from("t", 0, 0);
    sim_run(2000);
    check_handed_out("records 0-4\n"
                     "skipped 5 10\n"
                     "passed 5-9 skipped\n"
                     "records 10-14\n"
                     "caught up 15\n");
}
END_TEST

/* The log with other bytes, as a fetch has them. */
static struct krc_buffer spoiled;

static void send_spoiled(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    for (int32_t t = 0; api == KRC_API_FETCH && t < r->topic_count; t++) {
        struct krc_bytes *records = &r->topics[t].partitions[0].records;
        if (records->len > 0)
            records->data = spoiled.data + (records->data - p->log.data);
    }
}

static size_t size_at(size_t at)
{
    struct krc_batch_header h;
    ck_assert_int_eq(krc_batch_parse(p->log.data + at, p->log.len - at, &h, NULL), 1);
    return (size_t)h.size;
}

static void spoil(void)
{
    spoiled.len = 0;
    build_append(&spoiled, p->log.data, p->log.len);
    world.edit = send_spoiled;
    reader_set("skip.corrupt.batches", "true");
}

/* A length is believed only where a batch follows: the good one inside of it is not passed by. */
START_TEST(a_broken_batch_whose_length_lies)
{
    for (int i = 0; i < 3; i++)
        put_plain(p, 5);
    spoil();
    size_t size = size_at(0);
    krc_put_be32(spoiled.data + size + 8, (uint32_t)(size + 70 - KRC_BATCH_PREFIX));
    krc_put_be32(spoiled.data + size + 23, (uint32_t)-1); /* last offset delta */
    read_from("t", 0, 0);
    sim_run(2000);
    check_handed_out("records 0-4\n"
                     "skipped 5 10\n"
                     "passed 5-9 skipped\n"
                     "records 10-14\n"
                     "caught up 15\n");
    krc_buffer_free(&spoiled);
}
END_TEST

/* Each claims nearly all the rest of the answer, which is checksummed for it. */
START_TEST(broken_batches_that_claim_too_much)
{
    enum { PAIRS = 1000 };
    for (int i = 0; i < 2 * PAIRS; i++)
        put_plain(p, 1);
    spoil();
    for (size_t at = 0; at < spoiled.len; at += size_at(at) + size_at(at + size_at(at)))
        krc_put_be32(spoiled.data + at + 8, (uint32_t)(spoiled.len - at - KRC_BATCH_HEADER_V2));
    struct reader *r = read_from("t", 0, 0);
    sim.is_quiet = true;
    sim_run(2000);
    ck_assert_int_eq(r->error.code, KRC_E_CORRUPT);
    ck_assert_msg(strstr(r->error.message, "cannot be read beyond offset") != NULL, "%s",
                  r->error.message);
    ck_assert_int_lt(readers.records, 40);
    krc_buffer_free(&spoiled);
}
END_TEST

/* ---- Groups --------------------------------------------------------------------------------- */

static struct reader *read_group(void)
{
    put_plain(p, 10);
    p->committed = 5;
    struct reader *r = read_from("t", 0, KRC_STORED);
    r->asks_group = true;
    return r;
}

static void check_group(const char *handed_out)
{
    read_group();
    sim_run(5000);
    check_handed_out(handed_out);
}

static const char from_5[] = "records 5-9\ncaught up 10\n";

START_TEST(the_coordinator_is_not_there_yet)
{
    world_fail(KRC_API_FIND_COORDINATOR, -1, KRC_KAFKA_COORDINATOR_NOT_AVAILABLE, 3);
    check_group(from_5);
}
END_TEST

/* Whoever waits is told after five seconds, and then every thirty. */
START_TEST(the_coordinator_never_comes)
{
    world_fail(KRC_API_FIND_COORDINATOR, -1, KRC_KAFKA_COORDINATOR_NOT_AVAILABLE, 1000);
    read_group();
    sim_run(4900);
    ck_assert_int_eq(said("note of "), 0);
    sim_run(60000);
    ck_assert_int_eq(said("note of "), 2);
}
END_TEST

START_TEST(the_coordinator_loads)
{
    world_fail(KRC_API_OFFSET_FETCH, -1, KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS, 2);
    check_group(from_5);
}
END_TEST

START_TEST(the_coordinator_is_another_one)
{
    world_fail(KRC_API_OFFSET_FETCH, -1, KRC_KAFKA_NOT_COORDINATOR, 1);
    check_group(from_5);
    ck_assert_int_eq(sim.requests[KRC_API_FIND_COORDINATOR], 2);
}
END_TEST

/* A transaction's offsets are on their way. */
START_TEST(offsets_that_are_not_stable)
{
    world_fail(KRC_API_OFFSET_FETCH, 0, KRC_KAFKA_UNSTABLE_OFFSET_COMMIT, 3);
    check_group(from_5);
}
END_TEST

/* A transaction that nobody ends: whoever waits is told after five seconds, and then every thirty. */
START_TEST(offsets_that_never_are_stable)
{
    char text[1000];
    p->is_pending = true;
    read_group();
    sim_run(4900);
    ck_assert_int_eq(said("note of "), 0);
    krc_cluster_describe(&sim.cluster, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "the committed offset of t-0 is pending in a transaction"));
    sim_run(60000);
    ck_assert_int_eq(said("note of "), 2);
    ck_assert_ptr_nonnull(strstr(sim.noted, "of t-0 is pending in a transaction that is still open"));
    p->is_pending = false;
    sim_run(5000);
    ck_assert_int_eq(readers.records, 5);
    krc_cluster_describe(&sim.cluster, text, sizeof text);
    ck_assert_ptr_null(strstr(text, "pending"));
}
END_TEST

START_TEST(a_group_that_we_may_not_read)
{
    world_fail(KRC_API_FIND_COORDINATOR, -1, KRC_KAFKA_GROUP_AUTHORIZATION_FAILED, 9);
    check_group("fails at -1: KRC_E_REFUSED\n");
}
END_TEST

START_TEST(offsets_that_we_may_not_read)
{
    world_fail(KRC_API_OFFSET_FETCH, 0, KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, 9);
    check_group("fails at -1: KRC_E_REFUSED\n");
}
END_TEST

START_TEST(the_coordinator_goes)
{
    struct reader *r = read_group();
    world.coordinator = 2;
    sim_run_until("FindCoordinator");
    sim_run(1);
    sim_down(2);
    sim_run(1000);
    ck_assert_int_eq(reader_position(r), -1);
    world.coordinator = 1;
    sim_run(5000);
    check_handed_out(from_5);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_partition_that_is_answered_twice,
        a_partition_that_nobody_asked_for,
        metadata_with_a_partition_below_zero,
        brokers_that_move,
        closed_amid_a_fetch,
        closed_amid_a_question,
        closed_amid_a_groups_question,
        closed_at_any_time,
        a_broker_goes_with_its_pieces_at_hand,
        a_broken_batch,
        a_broken_batch_is_skipped,
        a_broken_batch_that_lies,
        a_broken_batch_whose_length_lies,
        broken_batches_that_claim_too_much,
        the_coordinator_is_not_there_yet,
        the_coordinator_never_comes,
        the_coordinator_loads,
        the_coordinator_is_another_one,
        offsets_that_are_not_stable,
        offsets_that_never_are_stable,
        a_group_that_we_may_not_read,
        offsets_that_we_may_not_read,
        the_coordinator_goes,
    };
    return run_tests("abuse", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
