/*
 * Leaders that move, replicas that are read from instead, and positions that a new leader's log has
 * to bear out.
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

static struct reader *catch_up(void)
{
    put_plain(p, 5);
    struct reader *r = read_from("t", 0, 0);
    sim_run(100);
    ck_assert_int_eq(said("caught up 5"), 1);
    forget_trace();
    return r;
}

/* ---- Another leader ------------------------------------------------------------------------- */

/* Metadata says for ever what it said at first. */
static void stay_behind(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    if (api != KRC_API_METADATA)
        return;
    r->topics[0].partitions[0].leader_id = 1;
    r->topics[0].partitions[0].leader_epoch = 0;
}

/* KIP-951: the old leader names the new one. */
START_TEST(the_old_leader_names_the_new_one)
{
    catch_up();
    world.edit = stay_behind;
    world_lead(p, 2);
    put_plain(p, 5);
    sim_run(100);
    check_trace("OffsetForLeaderEpoch n2 t-0 e0\n"
                "Fetch n2 t-0@5\n"
                "Fetch n2 t-0@10\n"
                "records 5-9\n"
                "caught up 10\n");
}
END_TEST

START_TEST(the_new_leader_is_a_new_broker)
{
    catch_up();
    world.node_count = 3;
    world.nodes[3].is_up = true;
    world_lead(p, 3);
    put_plain(p, 5);
    sim_run(100);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
}
END_TEST

/* Before Fetch 16 only metadata tells. */
START_TEST(metadata_names_the_new_one)
{
    world_versions(KRC_API_FETCH, 4, 11);
    catch_up();
    sim.shows_metadata = true;
    world_lead(p, 2);
    put_plain(p, 5);
    sim_run(200);
    check_trace("Metadata\n"
                "OffsetForLeaderEpoch n2 t-0 e0\n"
                "Fetch n2 t-0@5\n"
                "Fetch n2 t-0@10\n"
                "records 5-9\n"
                "caught up 10\n");
}
END_TEST

START_TEST(the_leader_is_gone)
{
    catch_up();
    world_lead(p, 2);
    sim_down(1);
    put_plain(p, 5);
    sim_run(500);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
}
END_TEST

/* The same one in another epoch: it may have lost its log's end meanwhile. */
START_TEST(the_same_leader_again)
{
    catch_up();
    world_lead(p, 1);
    put_plain(p, 5);
    sim_run(1000);
    ck_assert_int_eq(said("OffsetForLeaderEpoch n1 t-0 e0"), 1);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
}
END_TEST

START_TEST(nobody_leads_for_a_while)
{
    catch_up();
    p->leader = -1;
    sim_run(10000);
    check_handed_out("note of t\n"); /* once */
    ck_assert_int_ge(sim.requests[KRC_API_METADATA], 4);
    ck_assert_int_le(sim.requests[KRC_API_METADATA], 20);
    world_lead(p, 2);
    put_plain(p, 5);
    sim_run(2000);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
}
END_TEST

/* ---- What the new leader's log bears out ---------------------------------------------------- */

/* 10 and 11 were read of the old leader, and never reached the new one. */
START_TEST(the_new_leader_has_less)
{
    catch_up();
    put_plain(p, 5);
    put_plain(p, 2);
    sim_run(100);
    forget_trace();
    world_truncate(p, 10);
    world_lead(p, 2);
    put_plain(p, 5);
    sim_run(100);
    check_trace("OffsetForLeaderEpoch n2 t-0 e0\n"
                "truncated 12 10\n"
                "Fetch n2 t-0@10\n"
                "Fetch n2 t-0@15\n"
                "records 10-14\n"
                "caught up 15\n");
}
END_TEST

/* The log from `from` on is another replica's: written in `epoch`, before a leader of the epoch
 * after the present one was elected, who has it. */
static void elect_other(int64_t from, int32_t epoch, int32_t count, int32_t node)
{
    int32_t newest = p->epoch;
    world_truncate(p, from);
    p->epoch = epoch;
    if (count > 0)
        put_plain(p, count);
    p->epoch = newest;
    world_lead(p, node);
}

/* 10-19 of epoch 0 were never read: the other replica, which had not got them, led in epoch 1. */
START_TEST(two_unclean_elections)
{
    catch_up();
    put_plain(p, 5);
    sim_run(100);
    world_lead(p, 2);
    put_plain(p, 15);
    sim_run(600);
    ck_assert_int_eq(said("caught up 25"), 1);
    forget_trace();
    elect_other(10, 0, 10, 1);
    put_plain(p, 5);
    sim_run(300);
    check_trace("OffsetForLeaderEpoch n1 t-0 e1\n"
                "truncated 25 10\n"
                "Fetch n1 t-0@10\n"
                "Fetch n1 t-0@25\n"
                "records 10-19\n"
                "records 20-24\n"
                "caught up 25\n");
}
END_TEST

/* The log holds epoch 1, of which nothing was read: what was read of epoch 0 decides. */
START_TEST(an_election_that_was_not_seen)
{
    catch_up();
    elect_other(5, 0, 0, 1);
    p->epoch = 2;
    world_lead(p, 2); /* epoch 3 */
    put_plain(p, 15);
    sim_run(1000);
    ck_assert_int_eq(said("caught up 20"), 1);
    forget_trace();
    elect_other(5, 1, 25, 1);
    put_plain(p, 1);
    sim_run(200);
    check_trace("OffsetForLeaderEpoch n1 t-0 e3\n"
                "OffsetForLeaderEpoch n1 t-0 e0\n"
                "truncated 20 5\n"
                "Fetch n1 t-0@5\n"
                "Fetch n1 t-0@31\n"
                "records 5-29\n"
                "records 30-30\n"
                "caught up 31\n");
}
END_TEST

/* More epochs than are kept apart: from one that is not, reading goes on a little before. */
START_TEST(an_election_after_many)
{
    catch_up();
    for (int i = 0; i < 40; i++) {
        world_lead(p, 1 + i % 2);
        put_plain(p, 2);
        sim_run(600);
    }
    ck_assert_int_eq(said("caught up 85"), 1);
    forget_trace();
    elect_other(25, 5, 60, 1);
    put_plain(p, 1);
    sim_run(600);
    int64_t to = readers.list[0].tracker.offsets.start;
    ck_assert_int_le(to, 17); /* where epoch 5 ended in what was read */
    ck_assert_int_ge(to, 5);
    ck_assert_int_eq(said("truncated 85"), 1);
    ck_assert_int_eq(said("caught up 86"), 1);
}
END_TEST

/* What was fetched of the old leader and not read yet is of no use. */
START_TEST(what_is_at_hand_is_dropped)
{
    struct reader *r = catch_up();
    r->is_held = true;
    put_plain(p, 2);
    put_txn(p, 7, 3);
    put_abort(p, 7);
    sim_run(100);
    ck_assert_int_eq(r->remote->piece_count, 1);
    world_truncate(p, 7);
    world_lead(p, 2);
    put_plain(p, 3);
    sim_run(1000);
    ck_assert_int_eq(r->remote->piece_count, 0);
    forget_trace();
    r->is_held = false;
    krc_remote_ready(r->remote);
    sim_run(100);
    check_trace("OffsetForLeaderEpoch n2 t-0 e0\n"
                "Fetch n2 t-0@5\n"
                "Fetch n2 t-0@10\n"
                "records 5-6\n"
                "records 7-9\n"
                "caught up 10\n");
}
END_TEST

/* It changes again while the first is being asked. */
START_TEST(the_leader_changes_twice)
{
    catch_up();
    sim.delay_ms = 20;
    world_lead(p, 2);
    sim_run_until("OffsetForLeaderEpoch n2");
    world_lead(p, 1);
    put_plain(p, 5);
    sim_run(1000);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
}
END_TEST

/* A log that does not know the position's epoch any more: the fetch tells. */
static void know_no_epoch(enum krc_api_name api, void *response)
{
    struct krc_offset_for_leader_epoch_response *r = response;
    if (api == KRC_API_OFFSET_FOR_LEADER_EPOCH)
        r->topics[0].partitions[0].leader_epoch = -1;
    if (api == KRC_API_OFFSET_FOR_LEADER_EPOCH)
        r->topics[0].partitions[0].end_offset = -1;
}

START_TEST(the_epoch_is_unknown)
{
    catch_up();
    world.edit = know_no_epoch;
    world_lead(p, 2);
    put_plain(p, 5);
    sim_run(100);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
}
END_TEST

/* A broker before OffsetForLeaderEpoch 3 is not asked. */
START_TEST(epochs_are_not_to_be_asked_for)
{
    world_versions(KRC_API_OFFSET_FOR_LEADER_EPOCH, 0, 2);
    catch_up();
    world_lead(p, 2);
    put_plain(p, 5);
    sim_run(100);
    check_trace("Fetch n2 t-0@5\n"
                "Fetch n2 t-0@10\n"
                "records 5-9\n"
                "caught up 10\n");
}
END_TEST

/* Brokers lag behind one another: an older epoch says nothing. */
START_TEST(older_metadata)
{
    catch_up();
    world_lead(p, 2);
    sim_run(600);
    forget_trace();
    world.edit = stay_behind;
    krc_metadata_refresh(&sim.cluster);
    put_plain(p, 5);
    sim_run(600);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
    ck_assert_int_eq(readers.list[0].topic->partitions[0].leader_id, 2);
}
END_TEST

/* ---- Followers ------------------------------------------------------------------------------ */

static void follow(int32_t node)
{
    sim.settings.rack = "r";
    put_plain(p, 5);
    p->preferred = node;
    read_from("t", 0, 0);
}

START_TEST(a_follower_is_read_from)
{
    follow(2);
    sim_run(100);
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n2 t-0@0\n"
                "Fetch n2 t-0@5\n"
                "records 0-4\n"
                "caught up 5\n");
}
END_TEST

/* Which one, the leader is asked again after metadata.max.age.ms. */
START_TEST(a_follower_for_a_time)
{
    sim.settings.metadata_max_age_ms = 2000;
    follow(2);
    sim_run(1900);
    ck_assert_int_eq(said("Fetch n1"), 1);
    sim_run(700);
    ck_assert_int_eq(said("Fetch n1"), 2);
    p->preferred = -1;
    forget_trace();
    sim_run(3000);
    put_plain(p, 5);
    sim_run(600);
    ck_assert_int_eq(said("Fetch n1 t-0@10"), 1);
    ck_assert_int_eq(said("records 5-9"), 1);
}
END_TEST

START_TEST(out_of_range_at_a_follower)
{
    follow(2);
    sim_run_until("Fetch n2");
    world_fail(KRC_API_FETCH, 0, KRC_KAFKA_OFFSET_OUT_OF_RANGE, 1);
    sim_run(100);
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n2 t-0@0\n"
                "Fetch n1 t-0@0\n"
                "Fetch n2 t-0@0\n"
                "Fetch n2 t-0@5\n"
                "records 0-4\n"
                "caught up 5\n");
}
END_TEST

/* The leader names it all the same: without hurry, until it names another one, or none. */
static void check_unhurried(void)
{
    int fetches = sim.requests[KRC_API_FETCH];
    sim_run(10000);
    ck_assert_int_lt(sim.requests[KRC_API_FETCH] - fetches, 100);
    p->preferred = -1;
    put_plain(p, 5);
    sim_run(3000);
    ck_assert_int_eq(said("records 5-9"), 1);
}

START_TEST(a_follower_that_is_gone)
{
    follow(2);
    sim_run(100);
    sim_down(2);
    check_unhurried();
}
END_TEST

/* Its connection is lost; the leader does not cease to name it. */
START_TEST(a_follower_that_comes_back)
{
    follow(2);
    sim_run(100);
    sim_down(2);
    sim_up(2);
    put_plain(p, 5);
    sim_run(2000);
    ck_assert_int_eq(said("records 5-9"), 1);
}
END_TEST

START_TEST(a_follower_that_nobody_knows)
{
    follow(3);
    sim_run(1000);
    ck_assert_int_ge(sim.requests[KRC_API_METADATA], 2);
    check_unhurried();
}
END_TEST

/* A new leader has a word of its own about who is to be read from. */
START_TEST(a_follower_under_a_new_leader)
{
    follow(2);
    sim_run(100);
    world.node_count = 3;
    world.nodes[3].is_up = true;
    forget_trace();
    world_lead(p, 3);
    put_plain(p, 5);
    sim_run(1000);
    ck_assert_int_ge(said("Fetch n3 t-0@5"), 1);
    ck_assert_int_eq(said("records 5-9"), 1);
}
END_TEST

START_TEST(a_follower_that_is_none_any_more)
{
    follow(2);
    sim_run(100);
    p->preferred = -1; /* it answers NOT_LEADER_OR_FOLLOWER */
    put_plain(p, 5);
    sim_run(1000);
    ck_assert_int_eq(said("records 5-9"), 1);
    ck_assert_int_ge(said("Fetch n1 t-0@"), 2);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_old_leader_names_the_new_one,
        the_new_leader_is_a_new_broker,
        metadata_names_the_new_one,
        the_leader_is_gone,
        the_same_leader_again,
        nobody_leads_for_a_while,
        the_new_leader_has_less, two_unclean_elections, an_election_that_was_not_seen,
        an_election_after_many,
        what_is_at_hand_is_dropped,
        the_leader_changes_twice,
        the_epoch_is_unknown,
        epochs_are_not_to_be_asked_for,
        older_metadata,
        a_follower_is_read_from,
        a_follower_for_a_time,
        out_of_range_at_a_follower,
        a_follower_that_is_gone,
        a_follower_that_comes_back,
        a_follower_that_nobody_knows,
        a_follower_under_a_new_leader,
        a_follower_that_is_none_any_more,
    };
    return run_tests("leaders", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
