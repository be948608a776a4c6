/*
 * How much is fetched ahead, whose turn it is, and what lies between batches.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_topic *topic;
static struct world_partition *p, *q;
static size_t batch_size;

static void begin(void)
{
    open_readers();
    topic = world_topic("t", 4);
    p = &topic->partitions[0];
    q = &topic->partitions[1];
}

/* So many batches of 10 records, one of which fills an answer. */
static void fill(struct world_partition *partition, int batches)
{
    for (int i = 0; i < batches; i++)
        put_plain(partition, 10);
    batch_size = partition->log.len / (size_t)batches;
    sim.settings.fetch_max_bytes = sim.settings.partition_max_bytes = (int32_t)batch_size;
}

/* Nobody takes what comes of the first fetch, nor anything after it, until it is let go. */
static void hold(struct reader *r)
{
    char first[32];
    snprintf(first, sizeof first, "t-%d@0", (int)r->place.partition);
    sim_run_until(first);
    r->is_held = true;
}

static void let_go(struct reader *r)
{
    r->is_held = false;
    krc_remote_ready(r->remote);
}

/* ---- Back pressure -------------------------------------------------------------------------- */

START_TEST(two_answers_wait_for_a_slow_reader)
{
    fill(p, 9);
    struct reader *r = read_from("t", 0, 0);
    hold(r);
    sim_run(5000);
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n1 t-0@10\n");
    let_go(r);
    sim_run(100);
    ck_assert_int_eq(readers.records, 90);
}
END_TEST

/* What one partition does not take holds up the connection; another broker's goes on. */
START_TEST(a_slow_reader_of_one_broker)
{
    fill(p, 9);
    fill(q, 9);
    q->leader = 2;
    hold(read_from("t", 0, 0));
    read_from("t", 1, 0);
    sim_run(1000);
    ck_assert_int_eq(said("Fetch n1"), 2);
    ck_assert_int_eq(readers.records, 90);
}
END_TEST

/* buffered.max.bytes, over all brokers. */
START_TEST(so_much_is_kept_in_all)
{
    fill(p, 9);
    fill(q, 9);
    q->leader = 2;
    sim.settings.buffered_max_bytes = 2500;
    sim.settings.fetch_max_bytes = sim.settings.partition_max_bytes = 1000;
    struct reader *r[] = {read_from("t", 0, 0), read_from("t", 1, 0)};
    hold(r[0]);
    hold(r[1]);
    sim_run(1000);
    ck_assert_int_eq(sim.requests[KRC_API_FETCH], 2); /* a third might be too much */
    ck_assert_uint_le(sim.cluster.frames->held, 2500);
    let_go(r[0]);
    let_go(r[1]);
    sim_run(1000);
    ck_assert_int_eq(readers.records, 180);
    ck_assert_uint_eq(sim.cluster.frames->held, 0);
}
END_TEST

START_TEST(a_paused_partition_holds_nobody_up)
{
    fill(p, 9);
    fill(q, 9);
    struct reader *r = read_from("t", 0, 0);
    hold(r);
    read_from("t", 1, 0);
    sim_run(1000);
    ck_assert_int_lt(readers.records, 90);
    reader_pause(r, true);
    sim_run(1000);
    ck_assert_int_eq(readers.records, 90);
    reader_pause(r, false);
    sim_run(1000);
    ck_assert_int_eq(readers.records, 180);
}
END_TEST

/* A limit below what one answer may hold: one at a time. */
START_TEST(one_answer_at_a_time)
{
    fill(p, 9);
    sim.settings.buffered_max_bytes = 1;
    struct reader *r = read_from("t", 0, 0);
    hold(r);
    sim_run(1000);
    ck_assert_int_eq(sim.requests[KRC_API_FETCH], 1);
    let_go(r);
    sim_run(1000);
    ck_assert_int_eq(readers.records, 90);
}
END_TEST

/* ---- Turns ---------------------------------------------------------------------------------- */

/* Each gets its share, whatever comes first in a request. */
static void check_turns(void)
{
    for (int i = 0; i < 4; i++)
        fill(&topic->partitions[i], 20);
    for (int i = 0; i < 4; i++)
        read_from("t", i, 0);
    sim_run(50);
    for (int i = 0; readers.records < 600; i++) {
        int64_t least = INT64_MAX, most = 0;
        ck_assert_int_lt(i, 1000);
        sim_run(1);
        for (int k = 0; k < 4; k++) {
            int64_t at = reader_position(&readers.list[k]);
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
        ck_assert_int_le(most - least, 30);
    }
    sim_run(2000);
    ck_assert_int_eq(readers.records, 800);
}

START_TEST(turns_in_a_session)
{
    check_turns();
}
END_TEST

START_TEST(turns_without_a_session)
{
    world.has_sessions = false;
    check_turns();
}
END_TEST

/* ---- Between batches ------------------------------------------------------------------------ */

START_TEST(an_emptied_batch)
{
    put_plain(p, 37);
    put_emptied(p, 18);
    put_plain(p, 1);
    read_from("t", 0, 30);
    sim_run(100);
    check_handed_out("records 30-36\n"
                     "passed 37-54 absent\n"
                     "records 55-55\n"
                     "caught up 56\n");
}
END_TEST

/* Compaction took the last record: offset 3 is absent, and no batch is asked for twice. */
START_TEST(a_batch_without_its_last_record)
{
    put(p, (struct build_batch){.last_delta = 3}, 3);
    read_from("t", 0, 0);
    sim_run(100);
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n1 t-0@4\n"
                "records 0-2\n"
                "caught up 4\n");
    reader_seek(&readers.list[0], 3);
    sim_run(600);
    check_handed_out("passed 3-3 absent\n"
                     "caught up 4\n");
}
END_TEST

static void read_gap(const char *cleanup)
{
    topic->cleanup = cleanup;
    put_plain(p, 5);
    put_hole(p, 5);
    put_plain(p, 5);
    read_from("t", 0, 0);
    sim_run(100);
    ck_assert_int_eq(said("DescribeConfigs"), 1);
}

START_TEST(a_gap_in_a_compacted_log)
{
    read_gap("compact,delete");
    check_handed_out("records 0-4\n"
                     "passed 5-9 absent\n"
                     "records 10-14\n"
                     "caught up 15\n");
}
END_TEST

START_TEST(a_gap_in_a_log_that_is_not)
{
    read_gap("delete");
    check_handed_out("records 0-4\n"
                     "lost 5 10\n"
                     "passed 5-9 lost\n"
                     "records 10-14\n"
                     "caught up 15\n");
}
END_TEST

START_TEST(a_gap_and_the_broker_does_not_tell)
{
    read_gap(NULL);
    check_handed_out("records 0-4\n"
                     "passed 5-9 absent\n"
                     "records 10-14\n"
                     "note 0 15\n"
                     "caught up 15\n");
}
END_TEST

/* Compaction's traces say it, without a question. */
START_TEST(a_gap_behind_traces_of_compaction)
{
    put(p, (struct build_batch){.last_delta = 4}, 3);
    put_hole(p, 5);
    put_plain(p, 5);
    read_from("t", 0, 0);
    sim_run(100);
    ck_assert_int_eq(said("DescribeConfigs"), 0);
    check_handed_out("records 0-2\n"
                     "passed 5-9 absent\n"
                     "records 10-14\n"
                     "caught up 15\n");
}
END_TEST

/* A hole that reaches to the end is passed, where the log is compacted. */
static void read_hole(const char *cleanup)
{
    topic->cleanup = cleanup;
    put_plain(p, 5);
    put_hole(p, 5);
    read_from("t", 0, 0);
    sim_run(1500);
}

START_TEST(a_hole_to_the_end)
{
    read_hole("compact");
    check_handed_out("records 0-4\n"
                     "passed 5-9 absent\n"
                     "caught up 10\n");
    put_plain(p, 1);
    sim_run(10);
    check_handed_out("records 10-10\n"
                     "caught up 11\n");
}
END_TEST

START_TEST(a_hole_to_the_end_that_should_not_be)
{
    read_hole("delete");
    check_handed_out("records 0-4\n");
    ck_assert_int_lt(sim.requests[KRC_API_FETCH], 8);
}
END_TEST

/* What is appended while the end is being asked for was not there when nothing was found. */
START_TEST(appended_after_an_empty_answer)
{
    world.missing_stable = -1;
    topic->cleanup = "compact";
    put_plain(p, 5);
    read_from("t", 0, 5);
    sim_run_until("ListOffsets n1 t-0 -1c");
    sim_fate(KRC_API_FETCH, SIM_SILENT, 1);
    put_plain(p, 5);
    sim_run(60000);
    ck_assert_int_eq(said("passed"), 0);
    ck_assert_int_eq(said("records 5-9"), 1);
}
END_TEST

/* Another partition's records crowd a partition out: its part of the answer is empty, and that is
 * no hole. */
START_TEST(crowded_out)
{
    topic->cleanup = "compact";
    fill(p, 20);
    fill(q, 20);
    read_from("t", 0, 0);
    read_from("t", 1, 0);
    sim_run(2000);
    ck_assert_int_eq(readers.records, 400);
    ck_assert_int_eq(said("passed"), 0);
    ck_assert_int_eq(said("t-1 passed"), 0);
}
END_TEST

/* ---- Old messages --------------------------------------------------------------------------- */

/* Plain ones of both formats, and a compressed set of offsets 4 to 6. */
static void put_old(void)
{
    struct krc_buffer set = {0};
    build_message(&p->log, 0, 0, -1, 0, build_text("k0"), build_text("v0"));
    build_message(&p->log, 0, 1, -1, 0, build_text("k1"), build_text("v1"));
    build_message(&p->log, 1, 2, 50, 0, build_text("k2"), build_text("v2"));
    build_message(&p->log, 1, 3, 50, 0, build_text("k3"), build_text("v3"));
    build_message(&set, 1, 0, 50, 0, build_text("k4"), build_text("v4"));
    build_message(&set, 1, 1, 50, 0, build_text("k5"), build_text("v5"));
    build_message(&set, 1, 2, 50, 0, build_text("k6"), build_text("v6"));
    build_wrapper(&p->log, 1, 6, 50, KRC_GZIP, (struct krc_bytes){set.data, set.len});
    krc_buffer_free(&set);
    p->end = 7;
}

START_TEST(old_messages)
{
    put_old();
    put_plain(p, 2);
    read_from("t", 0, 1);
    sim_run(100);
    check_handed_out("records 1-1\n"
                     "records 2-2\n"
                     "records 3-3\n"
                     "records 4-6\n"
                     "records 7-8\n"
                     "caught up 9\n");
    reader_seek(&readers.list[0], 5);
    sim_run(600);
    check_handed_out("records 5-6\n"
                     "records 7-8\n"
                     "caught up 9\n");
}
END_TEST

/* ---- What is not visible -------------------------------------------------------------------- */

static int64_t stable;

static void tell_stable(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    if (api == KRC_API_FETCH && r->topic_count > 0)
        r->topics[0].partitions[0].last_stable_offset = stable;
}

/* A broker that sends more than is stable is not believed, nor asked without end. */
START_TEST(batches_beyond_the_last_stable_offset)
{
    put_plain(p, 5);
    put_plain(p, 5);
    world.edit = tell_stable;
    stable = 5;
    read_from("t", 0, 0);
    sim_run(3000);
    check_handed_out("records 0-4\n"
                     "caught up 5\n");
    ck_assert_int_lt(sim.requests[KRC_API_FETCH], 100);
    stable = 10;
    sim_run(3000);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
}
END_TEST

START_TEST(read_uncommitted)
{
    sim.settings.read_committed = false;
    reader_set("isolation.level", "read_uncommitted");
    put_txn(p, 1, 3);
    put_abort(p, 1);
    put_txn(p, 1, 2);
    put_plain(p, 5);
    p->high = 6; /* not all replicas have the rest */
    read_from("t", 0, 0);
    sim_run(100);
    check_handed_out("records 0-2\n"
                     "passed 3-3 control\n"
                     "records 4-5\n"
                     "caught up 6\n");
    p->high = -1;
    sim_run(100);
    check_handed_out("records 6-10\n"
                     "caught up 11\n");
}
END_TEST

/* ---- Ends that are asked for ---------------------------------------------------------------- */

static void read_until(int64_t start, int64_t until, const char *handed_out)
{
    read_to("t", 0, start, until);
    sim_run(2000);
    check_handed_out(handed_out);
}

START_TEST(to_the_end_of_nothing)
{
    read_until(0, KRC_PRESENT_END, "caught up 0\n"
                                   "end 0\n");
}
END_TEST

START_TEST(to_an_offset_within_a_batch)
{
    put_plain(p, 5);
    read_until(1, 3, "records 1-2\n"
                     "caught up 3\n"
                     "end 3\n");
}
END_TEST

START_TEST(to_the_end_behind_an_aborted_transaction)
{
    put_plain(p, 2);
    put_txn(p, 1, 3);
    put_abort(p, 1);
    read_until(0, KRC_PRESENT_END, "records 0-1\n"
                                   "passed 2-4 aborted\n"
                                   "passed 5-5 control\n"
                                   "caught up 6\n"
                                   "end 6\n");
}
END_TEST

START_TEST(to_the_end_before_an_open_transaction)
{
    put_plain(p, 2);
    put_txn(p, 1, 3);
    put_plain(p, 3);
    read_until(0, KRC_PRESENT_END, "records 0-1\n"
                                   "caught up 2\n"
                                   "end 2\n");
}
END_TEST

START_TEST(to_an_end_before_the_start)
{
    put_plain(p, 9);
    read_until(7, 5, "caught up 7\n"
                     "end 7\n");
}
END_TEST

/* ---- Out of range behind what is at hand ---------------------------------------------------- */

/* DeleteRecords passes a slow reader: what is at hand is read, the rest is lost, and the broker is
 * not asked without end meanwhile. */
START_TEST(deleted_behind_what_is_at_hand)
{
    fill(p, 9);
    struct reader *r = read_from("t", 0, 0);
    sim.delay_ms = 50;
    sim_run_until("Fetch n1 t-0@0");
    r->is_held = true;
    sim_run_until("Fetch n1 t-0@10");
    world_delete(p, 50);
    forget_trace();
    sim.delay_ms = 0;
    sim_run(5000);
    ck_assert_int_lt(sim.requests[KRC_API_FETCH], 50);
    forget_trace();
    let_go(r);
    sim_run(3000);
    check_handed_out("records 0-9\n"
                     "reset 10 50\n"
                     "records 50-59\n"
                     "records 60-69\n"
                     "records 70-79\n"
                     "records 80-89\n"
                     "caught up 90\n");
    ck_assert_str_eq(reader_account(r), "0-90: delivered 50, lost 40");
}
END_TEST

START_TEST(deleted_while_caught_up)
{
    put_plain(p, 5);
    read_from("t", 0, 0);
    sim_run(100);
    forget_trace();
    put_hole(p, 5);
    world_delete(p, 10);
    put_plain(p, 1);
    sim_run(450);
    check_trace("ListOffsets n1 t-0 -2\n"
                "reset 5 10\n"
                "Fetch n1 t-0@10\n"
                "Fetch n1 t-0@11\n"
                "records 10-10\n"
                "caught up 11\n");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        two_answers_wait_for_a_slow_reader,
        a_slow_reader_of_one_broker,
        so_much_is_kept_in_all,
        a_paused_partition_holds_nobody_up,
        one_answer_at_a_time,
        turns_in_a_session,
        turns_without_a_session,
        an_emptied_batch,
        a_batch_without_its_last_record,
        a_gap_in_a_compacted_log,
        a_gap_in_a_log_that_is_not,
        a_gap_and_the_broker_does_not_tell,
        a_gap_behind_traces_of_compaction,
        a_hole_to_the_end,
        a_hole_to_the_end_that_should_not_be,
        appended_after_an_empty_answer,
        crowded_out,
        old_messages,
        batches_beyond_the_last_stable_offset,
        read_uncommitted,
        to_the_end_of_nothing,
        to_an_offset_within_a_batch,
        to_the_end_behind_an_aborted_transaction,
        to_the_end_before_an_open_transaction,
        to_an_end_before_the_start,
        deleted_behind_what_is_at_hand,
        deleted_while_caught_up,
    };
    return run_tests("flow", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
