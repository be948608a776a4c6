/*
 * A member of a classic group: what it says to the coordinator, and when partitions come and go.
 */
#include <string.h>

#include "tests/support/owner.h"
#include "tests/support/run.h"

static void begin(void)
{
    owner_open(true);
}

static void stable_with_all(void)
{
    owner_join("t");
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
    forget_trace();
}

/* ---- Generations ---------------------------------------------------------------------------- */

START_TEST(alone)
{
    owner_join("t");
    sim_run(4000);
    check_trace("in JOINING\n"
                "FindCoordinator\n"
                "JoinGroup n1 - cooperative-sticky:t\n" /* MEMBER_ID_REQUIRED */
                "JoinGroup n1 m1 cooperative-sticky:t\n"
                "SyncGroup n1 m1/1 m1:t-0,t-1,t-2,t-3\n"
                "in SYNCING\n"
                "in STABLE\n"
                "has t-0 from 0\n"
                "has t-1 from 0\n"
                "has t-2 from 0\n"
                "has t-3 from 0\n"
                "Heartbeat n1 m1/1\n");
}
END_TEST

START_TEST(in_every_version)
{
    static const enum krc_api_name apis[] = {KRC_API_JOIN_GROUP, KRC_API_SYNC_GROUP,
                                             KRC_API_HEARTBEAT, KRC_API_LEAVE_GROUP,
                                             KRC_API_OFFSET_COMMIT};
    for (int16_t version = 0; version <= 10; version++) {
        if (version > 0)
            begin();
        for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
            const struct krc_api_info *api = &krc_apis[apis[i]];
            int16_t v = version < api->lowest    ? api->lowest
                        : version > api->highest ? api->highest
                                                 : version;
            world_versions(apis[i], v, v);
        }
        stable_with_all();
        int number = group_join("t");
        owner_reads("t-0 t-1 t-2 t-3", 3);
        sim_run(10000);
        ck_assert_str_eq(owner_has(), "t-0,t-1");
        ck_assert_int_eq(group_m(number)->has, group_set("t-2 t-3"));
        ck_assert_int_eq(world.topics[0].partitions[3].committed, 3);
        krc_member_leave(owner.member);
        sim_run(100);
        ck_assert(krc_member_has_left(owner.member));
        ck_assert(!group_m(1)->is_there);
        if (version < 10)
            owner_close();
    }
}
END_TEST

/* What is to go is committed and given up, then asked for by the other. */
START_TEST(another_comes)
{
    stable_with_all();
    owner_reads("t-0 t-3", 7);
    group_join("t");
    sim_run(10000);
    check_trace("Heartbeat n1 m1/1\n"
                "JoinGroup n1 m1 cooperative-sticky:t owns t-0,t-1,t-2,t-3/1\n"
                "in JOINING\n"
                "SyncGroup n1 m1/2 m1:t-0,t-1 m2:-\n"
                "in SYNCING\n"
                "in YIELDING\n"
                "yields t-2\n"
                "gave up t-2\n"
                "yields t-3\n"
                "OffsetCommit n1 m1/2 t-3:7\n"
                "committed t-3:7\n"
                "gave up t-3\n"
                "JoinGroup n1 m1 cooperative-sticky:t owns t-0,t-1/2\n"
                "in JOINING\n"
                "SyncGroup n1 m1/3 m1:t-0,t-1 m2:t-2,t-3\n"
                "in SYNCING\n"
                "in STABLE\n"
                "Heartbeat n1 m1/3\n"
                "Heartbeat n1 m1/3\n");
}
END_TEST

/* Of assignors of which one is not cooperative, all is given up first. */
START_TEST(another_comes_to_an_eager_one)
{
    owner_assignors("range cooperative-sticky");
    stable_with_all();
    owner_reads("t-0 t-3", 7);
    group_join("t");
    sim_run(10000);
    check_trace("Heartbeat n1 m1/1\n"
                "in RETURNING\n"
                "yields t-0\n"
                "yields t-1\n"
                "yields t-2\n"
                "yields t-3\n"
                "OffsetCommit n1 m1/1 t-0:7\n"
                "committed t-0:7\n"
                "gave up t-0\n"
                "gave up t-1\n"
                "gave up t-2\n"
                "OffsetCommit n1 m1/1 t-3:7\n"
                "committed t-3:7\n"
                "gave up t-3\n"
                "JoinGroup n1 m1 range:t cooperative-sticky:t\n"
                "in JOINING\n"
                "SyncGroup n1 m1/2 m1:t-0,t-1 m2:t-2,t-3\n"
                "in SYNCING\n"
                "in STABLE\n"
                "has t-0 from 7\n"
                "has t-1 from 0\n"
                "Heartbeat n1 m1/2\n"
                "Heartbeat n1 m1/2\n");
}
END_TEST

/* The application takes its time, and the coordinator hears of us meanwhile. */
START_TEST(giving_up_takes_long)
{
    stable_with_all();
    owner.is_slow = true;
    owner_reads("t-2 t-3", 9);
    group_join("t");
    sim_run(20000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_YIELDING);
    ck_assert_int_ge(said("Heartbeat n1 m1/2"), 4);
    ck_assert_int_eq(said("JoinGroup"), 1);
    owner.is_slow = false;
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
    ck_assert_int_eq(world.topics[0].partitions[2].committed, 9);
    ck_assert_int_eq(world.topics[0].partitions[3].committed, 9);
}
END_TEST

/* A rebalance of others, while we give up for the last one, is joined once we have. */
START_TEST(rebalanced_while_giving_up)
{
    stable_with_all();
    owner.is_slow = true;
    group_join("t");
    owner_until(KRC_MEMBER_YIELDING);
    group_rebalance();
    sim_run(10000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_YIELDING);
    owner.is_slow = false;
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
    ck_assert_int_eq(group.epoch, 3);
}
END_TEST

START_TEST(rebalanced_while_giving_up_all)
{
    owner_assignors("range");
    stable_with_all();
    owner.is_slow = true;
    group_join("t");
    owner_until(KRC_MEMBER_RETURNING);
    sim_run(10000);
    ck_assert_int_ge(said("Heartbeat n1 m1/1"), 3);
    ck_assert_int_eq(said("JoinGroup"), 0);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_RETURNING);
    owner.is_slow = false;
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
}
END_TEST

/* The other is stuck: the coordinator waits for it, and then no more. */
START_TEST(another_is_stuck)
{
    stable_with_all();
    owner.settings.max_poll_interval_ms = 20000;
    int number = group_join("t");
    owner_until(KRC_MEMBER_STABLE);
    sim_run(5000);
    group_m(number)->is_stuck = true;
    group_rebalance();
    sim_run(10000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_JOINING);
    sim_run(300000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
}
END_TEST

/* ---- Leading and following ------------------------------------------------------------------ */

/* Topics of others are asked for before their partitions are spread. */
START_TEST(leads_for_topics_of_others)
{
    stable_with_all();
    sim.shows_metadata = true;
    group_join("u");
    sim_run(5000);
    check_trace("Heartbeat n1 m1/1\n"
                "JoinGroup n1 m1 cooperative-sticky:t owns t-0,t-1,t-2,t-3/1\n"
                "in JOINING\n"
                "in SYNCING\n"
                "Metadata\n"
                "SyncGroup n1 m1/2 m1:t-0,t-1,t-2,t-3 m2:u-0,u-1,u-2,u-3\n"
                "in STABLE\n");
}
END_TEST

/* One that nobody has is given to nobody, and spread once it is there. */
START_TEST(leads_for_a_topic_that_is_made_later)
{
    stable_with_all();
    group_join("t v");
    sim_run(20000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_int_eq(group_m(2)->has, group_set("t-2 t-3"));
    world_topic("v", 2);
    sim_run(20000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_int_eq(group_m(2)->has & group_set("v-0 v-1"), group_set("v-0 v-1"));
}
END_TEST

START_TEST(leads_while_partitions_are_added)
{
    world.topics[0].count = 2;
    owner_join("t");
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
    world.topics[0].count = 4;
    forget_trace();
    sim_run(sim.settings.metadata_max_age_ms + 5000);
    ck_assert_int_eq(said("JoinGroup"), 1);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
}
END_TEST

START_TEST(leads_eagerly_while_partitions_are_added)
{
    owner_assignors("range");
    world.topics[0].count = 2;
    owner_join("t");
    owner_until(KRC_MEMBER_STABLE);
    owner_reads("t-0", 5);
    world.topics[0].count = 4;
    forget_trace();
    sim_run(sim.settings.metadata_max_age_ms + 5000);
    ck_assert_int_eq(said("committed t-0:5"), 1);
    ck_assert_int_eq(said("JoinGroup"), 1);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
}
END_TEST

START_TEST(follows)
{
    group_join("t");
    group_target(1, "t-0 t-1 t-3");
    owner_join("t");
    owner_until(KRC_MEMBER_SYNCING);
    group_m(2)->target = group_set("t-2");
    sim_run(5000);
    group_target(2, "t-2 t-3");
    forget_trace();
    group_rebalance();
    sim_run(5000);
    check_trace("Heartbeat n1 m2/2\n"
                "JoinGroup n1 m2 cooperative-sticky:t\n"
                "in JOINING\n"
                "SyncGroup n1 m2/3\n"
                "in SYNCING\n"
                "in STABLE\n"
                "has t-2 from 0\n"
                "has t-3 from 0\n"
                "Heartbeat n1 m2/3\n");
}
END_TEST

/* A leader knows topics that we have not heard of. */
START_TEST(follows_to_a_topic_that_is_new)
{
    group_join("t");
    owner_join("t v");
    owner_until(KRC_MEMBER_STABLE);
    world_topic("v", 2);
    world.is_hidden = true;
    group_target(2, "v-0 v-1");
    group_rebalance();
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "-");
    world.is_hidden = false;
    sim_run(5000);
    ck_assert_str_eq(owner_has(), "v-0,v-1");
}
END_TEST

START_TEST(by_a_regular_expression)
{
    owner_join("^t");
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_int_eq(said("JoinGroup n1 m1 cooperative-sticky:t\n"), 1);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
    world_topic("tt", 2);
    forget_trace();
    sim_run(sim.settings.metadata_max_age_ms + 5000);
    ck_assert_int_eq(said("JoinGroup n1 m1 cooperative-sticky:t,tt owns t-0,t-1,t-2,t-3/1\n"), 1);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3,tt-0,tt-1");
}
END_TEST

/* Who follows finds topics, too, and says so; its own names are kept beside them. */
START_TEST(by_a_regular_expression_and_names)
{
    group_join("u");
    group_target(1, "u-0 u-1 u-2 u-3");
    owner_join("u ^tt");
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_int_eq(said("JoinGroup n1 m2 cooperative-sticky:u\n"), 1);
    world_topic("tt", 2);
    forget_trace();
    sim_run(sim.settings.metadata_max_age_ms + 5000);
    ck_assert_int_eq(said("JoinGroup n1 m2 cooperative-sticky:tt,u"), 1);
}
END_TEST

START_TEST(by_what_is_no_regular_expression)
{
    krc_error error;
    sim_start("n1");
    ck_assert_int_eq(krc_member_open(&owner.member, &sim.cluster, &owner.settings, &error), 0);
    ck_assert_int_eq(krc_member_subscribe(owner.member, "^(", &error), KRC_E_INVALID);
    ck_assert_ptr_nonnull(strstr(error.message, "^("));
}
END_TEST

/* ---- Who is not known any more -------------------------------------------------------------- */

START_TEST(session_is_over)
{
    stable_with_all();
    owner_reads("t-0", 5);
    group_remove(1);
    sim_run(5000);
    check_trace("Heartbeat n1 ?/1\n"
                "in DROPPING\n"
                "lost t-0\n"
                "lost t-1\n"
                "lost t-2\n"
                "lost t-3\n"
                "JoinGroup n1 - cooperative-sticky:t\n"
                "in JOINING\n"
                "JoinGroup n1 m1 cooperative-sticky:t\n"
                "SyncGroup n1 m1/3 m1:t-0,t-1,t-2,t-3\n"
                "in SYNCING\n"
                "in STABLE\n"
                "has t-0 from 0\n"
                "has t-1 from 0\n"
                "has t-2 from 0\n"
                "has t-3 from 0\n");
}
END_TEST

/* The coordinator has gone on, but knows the id: as another one we would be in the group twice. */
START_TEST(generation_is_over)
{
    stable_with_all();
    world_fail(KRC_API_HEARTBEAT, -1, KRC_KAFKA_ILLEGAL_GENERATION, 1);
    sim_run(5000);
    ck_assert_int_eq(said("lost"), 4);
    ck_assert_int_eq(said("JoinGroup n1 m1 cooperative-sticky:t\n"), 1);
    ck_assert_int_eq(said("JoinGroup n1 -"), 0);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert(!group_m(2)->is_there);
}
END_TEST

START_TEST(not_known_at_any_request)
{
    static const enum krc_api_name apis[] = {KRC_API_JOIN_GROUP, KRC_API_SYNC_GROUP,
                                             KRC_API_HEARTBEAT};
    static const int16_t codes[] = {KRC_KAFKA_UNKNOWN_MEMBER_ID, KRC_KAFKA_ILLEGAL_GENERATION};
    for (int i = 0; i < 6; i++) {
        if (i > 0)
            begin();
        stable_with_all();
        world_fail(apis[i % 3], -1, codes[i / 3], 1);
        group_rebalance();
        sim_run(310000); /* a member that nobody speaks for is waited for so long */
        ck_assert_int_eq(said("lost"), 4);
        ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
        ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
        if (i < 5)
            owner_close();
    }
}
END_TEST

/* Something is being given up when it is too late for that. */
START_TEST(session_is_over_while_giving_up)
{
    stable_with_all();
    owner.is_slow = true;
    owner_reads("t-2", 4);
    group_join("t");
    owner_until(KRC_MEMBER_YIELDING);
    group_remove(1);
    forget_trace();
    sim_run(5000);
    ck_assert_int_eq(said("lost"), 4);
    ck_assert_int_eq(said("OffsetCommit"), 0);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
}
END_TEST

/* ---- Static members ------------------------------------------------------------------------- */

/* Nobody is rebalanced for one that comes again. */
START_TEST(static_comes_again)
{
    owner.settings.instance_id = "i";
    stable_with_all();
    int number = group_join("t");
    sim_run(10000);
    ck_assert_str_eq(owner_has(), "t-0,t-1");
    int32_t epoch = group.epoch;
    krc_member_leave(owner.member);
    forget_trace();
    sim_run(1000);
    check_trace("in OUT\n"
                "lost t-0\n"
                "lost t-1\n"); /* and no LeaveGroup */
    ck_assert(krc_member_has_left(owner.member));
    krc_member_close(owner.member);
    owner_join("t");
    sim_run(5000);
    ck_assert_int_eq(group_m(number)->has, group_set("t-2 t-3"));
    ck_assert_str_eq(owner_has(), "t-0,t-1");
    ck_assert_int_le(group.epoch, epoch + 1);
}
END_TEST

START_TEST(static_whose_place_is_taken)
{
    owner.settings.instance_id = "i";
    stable_with_all();
    group_take_over(1);
    sim_run(5000);
    check_trace("Heartbeat n1 ?/1\n"
                "in REFUSED\n"
                "lost t-0\n"
                "lost t-1\n"
                "lost t-2\n"
                "lost t-3\n");
    krc_error error;
    ck_assert_int_eq(krc_member_explain(owner.member, &error), KRC_E_REFUSED);
    ck_assert_ptr_nonnull(strstr(error.message, "FENCED_INSTANCE_ID"));
}
END_TEST

/* ---- The application ------------------------------------------------------------------------ */

/* It leaves of its own accord, and comes as somebody new. */
START_TEST(late_and_back)
{
    stable_with_all();
    group_join("t");
    sim_run(10000);
    owner.is_absent = true;
    forget_trace();
    sim_run(300000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_AWAY);
    ck_assert_int_eq(said("LeaveGroup n1 m1"), 1);
    ck_assert_str_eq(owner_has(), "-");
    int beats = said("Heartbeat");
    sim_run(60000);
    ck_assert_int_eq(said("Heartbeat"), beats);
    owner.is_absent = false;
    forget_trace();
    sim_run(3000);
    check_trace("lost t-0\n"
                "lost t-1\n"
                "JoinGroup n1 - cooperative-sticky:t\n"
                "in JOINING\n"
                "JoinGroup n1 m1 cooperative-sticky:t\n"
                "SyncGroup n1 m1/5\n" /* the other leads */
                "in SYNCING\n"
                "in STABLE\n");
}
END_TEST

START_TEST(static_that_is_late_stays)
{
    owner.settings.instance_id = "i";
    stable_with_all();
    owner.is_absent = true;
    sim_run(300000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_AWAY);
    ck_assert_int_eq(sim.requests[KRC_API_LEAVE_GROUP], 0);
    ck_assert(group_m(1)->is_there);
    owner.is_absent = false;
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert(!group_m(2)->is_there);
}
END_TEST

/* It comes back before the coordinator could be told that it was gone. */
START_TEST(late_without_a_coordinator)
{
    stable_with_all();
    sim_down(1);
    sim_down(2);
    owner.is_absent = true;
    sim_run(310000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_AWAY);
    owner.is_absent = false;
    sim_run(5000);
    sim_up(1);
    sim_up(2);
    sim_run(320000); /* what it was is waited for */
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
    ck_assert_int_eq(sim.requests[KRC_API_LEAVE_GROUP], 1);
}
END_TEST

/* The coordinator waits for others with our JoinGroup; a broker reads one request at a time. */
START_TEST(leaves_while_it_joins)
{
    stable_with_all();
    int number = group_join("t");
    sim_run(10000);
    group_m(number)->is_stuck = true;
    group_rebalance();
    owner_until(KRC_MEMBER_JOINING);
    sim_run(1000);
    krc_member_leave(owner.member);
    sim_run(1000);
    ck_assert_int_eq(said("LeaveGroup n1 m1"), 1);
    ck_assert(krc_member_has_left(owner.member));
    ck_assert(!group_m(1)->is_there);
    ck_assert_str_eq(owner_has(), "-");
}
END_TEST

START_TEST(leaves_before_it_has_joined)
{
    sim_start("n1");
    sim_down(1);
    owner_join("t");
    sim_run(1000);
    krc_member_leave(owner.member);
    ck_assert(krc_member_has_left(owner.member));
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_OUT);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {alone, in_every_version, another_comes,
                                  another_comes_to_an_eager_one, giving_up_takes_long,
                                  rebalanced_while_giving_up, rebalanced_while_giving_up_all,
                                  another_is_stuck, leads_for_topics_of_others,
                                  leads_for_a_topic_that_is_made_later,
                                  leads_while_partitions_are_added,
                                  leads_eagerly_while_partitions_are_added, follows,
                                  follows_to_a_topic_that_is_new, by_a_regular_expression,
                                  by_a_regular_expression_and_names,
                                  by_what_is_no_regular_expression, session_is_over,
                                  generation_is_over, not_known_at_any_request,
                                  session_is_over_while_giving_up, static_comes_again,
                                  static_whose_place_is_taken, late_and_back,
                                  static_that_is_late_stays, late_without_a_coordinator,
                                  leaves_while_it_joins, leaves_before_it_has_joined};
    return run_tests("group/classic", tests, sizeof tests / sizeof *tests, begin, owner_close);
}
