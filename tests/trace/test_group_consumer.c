/*
 * A member of a group of KIP-848: what its heartbeats say, and when partitions come and go.
 */
#include <string.h>

#include "tests/support/owner.h"
#include "tests/support/run.h"

static void begin(void)
{
    owner_open(false);
    group.interval_ms = 3000;
}

/* As the only member, which has these. */
static void stable_with(const char *set)
{
    owner_join("t u");
    owner_until(KRC_MEMBER_STABLE);
    group_target(1, set);
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    forget_trace();
}

/* ---- Epochs --------------------------------------------------------------------------------- */

START_TEST(alone)
{
    owner_join("u t");
    sim_run(10);
    group_target(1, "t-0 u-1");
    sim_run(8000);
    check_trace("in JOINING\n"
                "FindCoordinator\n"
                "ConsumerGroupHeartbeat n1 0 wants t,u holds -\n"
                "in STABLE\n"
                "ConsumerGroupHeartbeat n1 2\n"
                "ConsumerGroupHeartbeat n1 3 holds t-0,u-1\n" /* at once */
                "has t-0 from 0\n"
                "has u-1 from 0\n"
                "ConsumerGroupHeartbeat n1 3\n");
}
END_TEST

START_TEST(in_every_version)
{
    for (int16_t version = 0; version <= 1; version++) {
        if (version > 0)
            begin();
        world_versions(KRC_API_CONSUMER_GROUP_HEARTBEAT, version, version);
        stable_with("t-0 t-1");
        ck_assert_str_eq(owner_has(), "t-0,t-1");
        krc_member_leave(owner.member);
        sim_run(100);
        check_trace("ConsumerGroupHeartbeat n1 -1\n"
                    "in OUT\n"
                    "lost t-0\n"
                    "lost t-1\n");
        ck_assert(krc_member_has_left(owner.member));
        ck_assert(!group_m(1)->is_there);
        if (version < 1)
            owner_close();
    }
}
END_TEST

/* What goes is committed and let go before the heartbeat that says what is left; then comes what
 * is new, in the next epoch. */
START_TEST(taken_away)
{
    stable_with("t-0 t-1 t-2");
    owner_reads("t-1 t-2", 7);
    group_join("t");
    group_target(2, "t-1");
    group_target(1, "t-0 t-2 t-3");
    sim_run(6000);
    check_trace("ConsumerGroupHeartbeat n1 3\n"
                "in YIELDING\n"
                "yields t-1\n"
                "OffsetCommit n1 m1/3 t-1:7\n"
                "committed t-1:7\n"
                "gave up t-1\n"
                "ConsumerGroupHeartbeat n1 3 holds t-0,t-2\n"
                "in STABLE\n"
                "has t-3 from 0\n"
                "ConsumerGroupHeartbeat n1 5 holds t-0,t-2,t-3\n"
                "ConsumerGroupHeartbeat n1 5\n");
    ck_assert_int_eq(group_m(2)->has, group_set("t-1"));
}
END_TEST

START_TEST(giving_up_takes_long)
{
    stable_with("t-0 t-1");
    owner.is_slow = true;
    owner_reads("t-1", 7);
    group_target(1, "t-0");
    group_join("t");
    group_target(2, "t-1");
    sim_run(20000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_YIELDING);
    ck_assert_int_eq(group_m(2)->has, 0);
    ck_assert_int_ge(said("ConsumerGroupHeartbeat"), 5);
    ck_assert_ptr_null(strstr(sim.trace, "holds")); /* not to be taken for an answer */
    owner.is_slow = false;
    sim_run(5000);
    ck_assert_int_eq(group_m(2)->has, group_set("t-1"));
    ck_assert_int_eq(world.topics[0].partitions[1].committed, 7);
}
END_TEST

/* What is taken away and given again meanwhile is let go first, and begun anew. */
START_TEST(taken_away_and_given_again)
{
    stable_with("t-0 t-1");
    owner.is_slow = true;
    owner_reads("t-1", 7);
    group_target(1, "t-0");
    owner_until(KRC_MEMBER_YIELDING);
    group_target(1, "t-0 t-1");
    sim_run(10000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_YIELDING);
    owner.is_slow = false;
    forget_trace();
    sim_run(10000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
    ck_assert_int_eq(said("has t-1 from 7"), 1);
}
END_TEST

START_TEST(more_is_taken_while_giving_up)
{
    stable_with("t-0 t-1 t-2");
    owner.is_slow = true;
    group_target(1, "t-0 t-1");
    owner_until(KRC_MEMBER_YIELDING);
    sim_run(4000);
    group_target(1, "t-3");
    sim_run(10000);
    owner.is_slow = false;
    sim_run(15000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-3");
}
END_TEST

/* Others have not let go yet: it comes when they have. */
START_TEST(not_released_yet)
{
    stable_with("t-0");
    int number = group_join("t");
    group_target(number, "t-1");
    group_m(number)->is_stuck = true;
    group_target(number, "");
    group_target(1, "t-0 t-1");
    sim_run(10000);
    ck_assert_str_eq(owner_has(), "t-0");
    group_remove(number);
    sim_run(5000);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
}
END_TEST

/* ---- Topics --------------------------------------------------------------------------------- */

START_TEST(a_topic_that_is_new)
{
    stable_with("t-0");
    ck_assert_int_eq(krc_member_subscribe(owner.member, "v", NULL), KRC_OK);
    world_topic("v", 2);
    world.is_hidden = true;
    group_target(1, "t-0 v-1");
    sim_run(5000);
    ck_assert_str_eq(owner_has(), "t-0");
    int beats = sim.requests[KRC_API_CONSUMER_GROUP_HEARTBEAT];
    int asked = sim.requests[KRC_API_METADATA];
    sim_run(60000);
    ck_assert_int_le(sim.requests[KRC_API_CONSUMER_GROUP_HEARTBEAT], beats + 21);
    ck_assert_int_le(sim.requests[KRC_API_METADATA], asked + 700);
    world.is_hidden = false;
    sim_run(5000);
    ck_assert_str_eq(owner_has(), "t-0,v-1");
    ck_assert_int_eq(said("ConsumerGroupHeartbeat n1 4 holds t-0,v-1"), 1);
}
END_TEST

/* The topic is not there any more, and the coordinator knows first. */
START_TEST(a_topic_that_is_deleted)
{
    stable_with("t-0 u-0");
    owner_reads("u-0", 5);
    world.is_hidden = true; /* u */
    group_target(1, "t-0");
    sim_run(10000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0");
}
END_TEST

/* Matched here: to a broker, which matches whole names, "^t" would mean something else. */
START_TEST(by_a_regular_expression)
{
    owner_join("^t");
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_int_eq(said("ConsumerGroupHeartbeat n1 0 wants t holds -"), 1);
    world_topic("tt", 2);
    krc_metadata_want(&sim.cluster);
    sim_run(1000);
    ck_assert_int_eq(said("ConsumerGroupHeartbeat n1 2 wants t,tt holds -"), 1);
    group_target(1, "t-0 tt-1");
    sim_run(10000);
    ck_assert_str_eq(owner_has(), "t-0,tt-1");
}
END_TEST

START_TEST(by_two_regular_expressions)
{
    krc_error error;
    owner_join("^t");
    ck_assert_int_eq(krc_member_subscribe(owner.member, "^u", &error), KRC_OK);
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_int_eq(said("ConsumerGroupHeartbeat n1 0 wants t,u holds -"), 1);
}
END_TEST

/* A broker takes in nobody who asks for nothing. */
START_TEST(by_one_that_matches_nothing_yet)
{
    owner_join("^later");
    sim_run(30000);
    ck_assert_int_eq(said("ConsumerGroupHeartbeat"), 0);
    world_topic("later-1", 1);
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_int_eq(said("ConsumerGroupHeartbeat n1 0 wants later-1 holds -"), 1);
}
END_TEST

START_TEST(of_a_broker_without_it)
{
    krc_error error;
    world_versions(KRC_API_CONSUMER_GROUP_HEARTBEAT, -1, -1);
    owner_join("t");
    sim_run(1000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_REFUSED);
    ck_assert_int_eq(krc_member_explain(owner.member, &error), KRC_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(error.message, "group.protocol=classic"));
}
END_TEST

/* ---- Errors --------------------------------------------------------------------------------- */

/* All that was said before is said again, and nothing that is held is lost. */
START_TEST(whatever_fails_all_is_said_again)
{
    static const int16_t codes[] = {KRC_KAFKA_COORDINATOR_NOT_AVAILABLE,
                                    KRC_KAFKA_NOT_COORDINATOR,
                                    KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS};
    stable_with("t-0 t-1");
    for (int i = 0; i < 5; i++) {
        forget_trace();
        if (i < 3)
            world_fail(KRC_API_CONSUMER_GROUP_HEARTBEAT, -1, codes[i], 1);
        else
            sim_fate(KRC_API_CONSUMER_GROUP_HEARTBEAT, i == 3 ? SIM_LOST : SIM_DONE, 1);
        sim_run(4000);
        ck_assert_int_eq(said("ConsumerGroupHeartbeat n1 3 wants t,u holds t-0,t-1\n"), 1);
        ck_assert_int_ge(said("FindCoordinator"), i != 2);
        ck_assert_int_le(said("FindCoordinator"), 3);
        ck_assert_int_eq(said("lost"), 0);
        ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    }
}
END_TEST

START_TEST(the_coordinator_moves)
{
    stable_with("t-0 t-1");
    group_move(2);
    sim_run(4000);
    check_trace("ConsumerGroupHeartbeat n1 3\n"
                "FindCoordinator\n"
                "ConsumerGroupHeartbeat n2 3 wants t,u holds t-0,t-1\n");
}
END_TEST

START_TEST(the_coordinator_is_gone)
{
    stable_with("t-0 t-1");
    sim_down(1);
    group_move(2);
    sim_run(5000);
    check_trace("FindCoordinator\n"
                "ConsumerGroupHeartbeat n2 3\n" /* it was not in the middle of anything */
                "ConsumerGroupHeartbeat n2 3\n");
}
END_TEST

/* It takes requests, and answers none: it is looked for after two seconds, and what it owes is asked
 * of who has its place. */
START_TEST(the_coordinator_is_asleep)
{
    stable_with("t-0 t-1");
    world.nodes[1].is_mute = true;
    sim_run(1000);
    group_move(2);
    sim_run(5000 + 2 * KRC_CONN_PATIENCE_MS);
    ck_assert_int_ge(said("ConsumerGroupHeartbeat n2 3"), 1);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
    ck_assert_int_eq(said("lost"), 0);
}
END_TEST

/* Others say that it still coordinates: it is asked for no more often than it may be connected
 * to. */
START_TEST(the_coordinator_is_out_of_reach)
{
    stable_with("t-0 t-1");
    sim_down(1);
    sim_run(10000);
    ck_assert_int_le(said("FindCoordinator"), 40);
    sim_up(1);
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_int_eq(said("lost"), 0);
    ck_assert_int_ge(said("ConsumerGroupHeartbeat n1 3"), 1);
}
END_TEST

/* The answer that took something away was lost: it is told again. */
START_TEST(the_answer_that_takes_away_is_lost)
{
    stable_with("t-0 t-1");
    group_target(1, "t-0");
    sim_fate(KRC_API_CONSUMER_GROUP_HEARTBEAT, SIM_DONE, 1);
    sim_run(8000);
    ck_assert_str_eq(owner_has(), "t-0");
    ck_assert_int_eq(group_m(1)->gives, 0);
    ck_assert_int_eq(group_m(1)->epoch, owner.member->epoch);
    ck_assert_int_eq(said("lost"), 0);
}
END_TEST

/* So with the one that gives, in a newer epoch: the coordinator knows the one before. */
START_TEST(the_answer_that_gives_is_lost)
{
    stable_with("t-0 t-1");
    group_target(1, "t-0 t-1 t-2");
    sim_fate(KRC_API_CONSUMER_GROUP_HEARTBEAT, SIM_DONE, 1);
    sim_run(8000);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2");
    ck_assert_int_eq(group_m(1)->epoch, owner.member->epoch);
    ck_assert_int_eq(said("lost"), 0);
}
END_TEST

/* ---- Who is not known any more -------------------------------------------------------------- */

START_TEST(fenced)
{
    stable_with("t-0 t-1");
    owner_reads("t-0", 5);
    group_remove(1);
    sim_run(3500);
    check_trace("ConsumerGroupHeartbeat n1 3\n"
                "in DROPPING\n"
                "lost t-0\n"
                "lost t-1\n"
                "ConsumerGroupHeartbeat n1 0 wants t,u holds -\n"
                "in JOINING\n"
                "in STABLE\n");
    ck_assert_int_eq(world.topics[0].partitions[0].committed, -1);
}
END_TEST

START_TEST(fenced_in_each_state)
{
    static const int16_t codes[] = {KRC_KAFKA_UNKNOWN_MEMBER_ID, KRC_KAFKA_FENCED_MEMBER_EPOCH};
    static const enum krc_member_state states[] = {KRC_MEMBER_JOINING, KRC_MEMBER_STABLE,
                                                   KRC_MEMBER_YIELDING};
    for (int i = 0; i < 6; i++) {
        if (i > 0)
            begin();
        stable_with("t-0 t-1");
        owner.is_slow = true;
        if (states[i % 3] == KRC_MEMBER_YIELDING)
            group_target(1, "t-0");
        if (states[i % 3] == KRC_MEMBER_JOINING)
            world_fail(KRC_API_CONSUMER_GROUP_HEARTBEAT, -1, codes[i / 3], 1);
        sim_run(4000);
        world_fail(KRC_API_CONSUMER_GROUP_HEARTBEAT, -1, codes[i / 3], 1);
        sim_run(10000);
        ck_assert_int_ge(said("in DROPPING"), 1);
        ck_assert_int_ge(said("lost t-1"), 1);
        ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
        ck_assert_ptr_nonnull(strstr(owner_has(), "t-0"));
        if (i < 5)
            owner_close();
    }
}
END_TEST

/* The application does not let go for a while: it is not joined before. */
START_TEST(fenced_while_the_application_is_busy)
{
    stable_with("t-0 t-1");
    group_remove(1);
    owner.is_absent = true;
    sim_run(60000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_DROPPING);
    ck_assert_int_eq(said("ConsumerGroupHeartbeat"), 1);
    ck_assert_str_eq(owner_has(), "-");
    owner.is_absent = false;
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
}
END_TEST

/* ---- Static members ------------------------------------------------------------------------- */

START_TEST(static_comes_again)
{
    owner.settings.instance_id = "i";
    stable_with("t-0 t-1");
    krc_member_leave(owner.member);
    sim_run(1000);
    check_trace("ConsumerGroupHeartbeat n1 -2\n"
                "in OUT\n"
                "lost t-0\n"
                "lost t-1\n");
    krc_member_close(owner.member);
    owner_join("t u");
    sim_run(5000);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
    ck_assert(!group_m(2)->is_there);
}
END_TEST

/* Whoever had its place did not say goodbye: it waits until the coordinator knows. */
START_TEST(static_whose_place_is_not_released)
{
    owner.settings.instance_id = "i";
    stable_with("t-0 t-1");
    krc_member_close(owner.member); /* killed */
    memset(owner.positions, 0xFF, sizeof owner.positions);
    owner_join("t u");
    sim_run(20000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_JOINING);
    ck_assert_int_ge(said("ConsumerGroupHeartbeat n1 0"), 5);
    ck_assert_int_eq(said("note of "), 1);
    group_remove(1);
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
}
END_TEST

START_TEST(static_whose_place_is_taken)
{
    krc_error error;
    owner.settings.instance_id = "i";
    stable_with("t-0");
    group_take_over(1);
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_REFUSED);
    ck_assert_str_eq(owner_has(), "-");
    ck_assert_int_eq(krc_member_explain(owner.member, &error), KRC_E_REFUSED);
    ck_assert_ptr_nonnull(strstr(error.message, "FENCED_INSTANCE_ID"));
}
END_TEST

/* The last request that is lost is no news of a coordinator. */
START_TEST(closed_amid_silence)
{
    sim_fate(KRC_API_FIND_COORDINATOR, SIM_SILENT, 1);
    owner_join("t");
    sim_run(10000);
    ck_assert_int_eq(sim.requests[KRC_API_FIND_COORDINATOR], 1);
    forget_trace();
    krc_cluster_close(&sim.cluster);
    sim.is_open = false;
    ck_assert_int_eq(said("note of "), 0);
}
END_TEST

/* ---- The application ------------------------------------------------------------------------ */

START_TEST(late_and_back)
{
    stable_with("t-0");
    owner.is_absent = true;
    sim_run(310000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_AWAY);
    ck_assert_int_eq(said("note of "), 1);
    ck_assert_int_eq(said("ConsumerGroupHeartbeat n1 -1"), 1);
    ck_assert(!group_m(1)->is_there);
    owner.is_absent = false;
    forget_trace();
    sim_run(1000);
    check_trace("lost t-0\n"
                "ConsumerGroupHeartbeat n1 0 wants t,u holds -\n"
                "in JOINING\n"
                "in STABLE\n");
}
END_TEST

START_TEST(static_that_is_late_and_back)
{
    owner.settings.instance_id = "i";
    stable_with("t-0");
    owner.is_absent = true;
    sim_run(310000);
    ck_assert_int_eq(said("ConsumerGroupHeartbeat n1 -2"), 1);
    owner.is_absent = false;
    sim_run(1000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0");
}
END_TEST

/* It is back before the coordinator could be told that it was gone. */
START_TEST(late_without_a_coordinator)
{
    stable_with("t-0");
    sim_down(1);
    sim_down(2);
    owner.is_absent = true;
    sim_run(310000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_AWAY);
    owner.is_absent = false;
    sim_run(5000);
    sim_up(1);
    sim_up(2);
    sim_run(10000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    int there = 0;
    for (int i = 1; i <= GROUP_MEMBERS; i++)
        there += group_m(i)->is_there;
    ck_assert_int_eq(there, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {alone,
                                  in_every_version,
                                  taken_away,
                                  giving_up_takes_long,
                                  taken_away_and_given_again,
                                  more_is_taken_while_giving_up,
                                  not_released_yet,
                                  a_topic_that_is_new,
                                  a_topic_that_is_deleted,
                                  by_a_regular_expression,
                                  by_two_regular_expressions, by_one_that_matches_nothing_yet,
                                  of_a_broker_without_it,
                                 
                                  whatever_fails_all_is_said_again,
                                  the_coordinator_moves,
                                  the_coordinator_is_gone,
                                  the_coordinator_is_asleep,
                                  the_coordinator_is_out_of_reach,
                                  the_answer_that_takes_away_is_lost,
                                  the_answer_that_gives_is_lost,
                                  fenced,
                                  fenced_in_each_state,
                                  fenced_while_the_application_is_busy,
                                  static_comes_again,
                                  static_whose_place_is_not_released,
                                  static_whose_place_is_taken,
                                  closed_amid_silence,
                                  late_and_back,
                                  static_that_is_late_and_back,
                                  late_without_a_coordinator};
    return run_tests("group/consumer", tests, sizeof tests / sizeof *tests, begin, owner_close);
}
