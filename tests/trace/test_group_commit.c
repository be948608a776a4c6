/*
 * Commits of a member: they are made again as long as what they are of is held, and never
 * afterwards.
 */
#include <string.h>

#include "tests/support/owner.h"
#include "tests/support/run.h"

static struct world_partition *p0;

static void begin(bool is_classic)
{
    owner_open(is_classic);
    p0 = &world.topics[0].partitions[0];
    if (!is_classic)
        group.interval_ms = 3000;
    owner_join("t");
    if (!is_classic) {
        owner_until(KRC_MEMBER_STABLE);
        group_target(1, "t-0 t-1 t-2 t-3");
        sim_run(5000);
    }
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
    forget_trace();
}

static void end(void)
{
    owner_close();
}

static void nothing(void)
{
}

BOTH(a_commit)
{
    owner_reads("t-0 t-2", 5);
    owner_commits("t-0 t-2");
    sim_run(100);
    ck_assert_int_eq(said("committed t-0:5"), 1);
    ck_assert_int_eq(said("committed t-2:5"), 1);
    ck_assert_int_eq(p0->committed, 5);
    ck_assert_int_eq(sim.requests[KRC_API_OFFSET_COMMIT], 1);
    (void)is_classic;
}

static void say_nothing_of_it(enum krc_api_name api, void *response)
{
    if (api == KRC_API_OFFSET_COMMIT)
        ((struct krc_offset_commit_response *)response)->topic_count = 0;
}

/* What the answer has no word of is not taken for committed. */
BOTH(an_answer_without_the_partition)
{
    world.edit = say_nothing_of_it;
    owner_reads("t-0", 5);
    owner_commits("t-0");
    sim_run(100);
    ck_assert_int_eq(said("commit t-0:5 KRC_E_REFUSED"), 1);
    (void)is_classic;
}

/* The coordinator is asked again, and looked for where it has gone. */
BOTH(the_coordinator_is_not_there)
{
    static const int16_t codes[] = {KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS,
                                    KRC_KAFKA_COORDINATOR_NOT_AVAILABLE,
                                    KRC_KAFKA_NOT_COORDINATOR, KRC_KAFKA_REQUEST_TIMED_OUT};
    for (int i = 0; i < 4; i++) {
        forget_trace();
        owner_reads("t-0", 5 + i);
        world_fail(KRC_API_OFFSET_COMMIT, 0, codes[i], 2);
        owner_commits("t-0");
        sim_run(3000);
        ck_assert_int_eq(p0->committed, 5 + i);
        ck_assert_int_eq(said("committed t-0"), 1);
    }
    forget_trace();
    owner_reads("t-0", 20);
    group_move(2);
    owner_commits("t-0");
    sim_run(3000);
    ck_assert_int_eq(said("OffsetCommit n2"), 1);
    ck_assert_int_eq(p0->committed, 20);
    sim_fate(KRC_API_OFFSET_COMMIT, SIM_DONE, 1);
    owner_reads("t-0", 30);
    owner_commits("t-0");
    sim_run(3000);
    ck_assert_int_eq(said("committed t-0:30"), 1);
    ck_assert_int_eq(group.backward_commits, 0);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    (void)is_classic;
}

BOTH(refused)
{
    static const int16_t codes[] = {KRC_KAFKA_OFFSET_METADATA_TOO_LARGE,
                                    KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED,
                                    KRC_KAFKA_INVALID_COMMIT_OFFSET_SIZE};
    for (int i = 0; i < 3; i++) {
        forget_trace();
        owner_reads("t-0 t-1", 5 + i);
        world_fail(KRC_API_OFFSET_COMMIT, 0, codes[i], 1);
        owner_commits("t-0 t-1");
        sim_run(3000);
        ck_assert_int_eq(said("commit t-0"), 1);
        ck_assert_int_eq(said("committed t-1"), 1); /* the other is kept */
        ck_assert_ptr_nonnull(strstr(sim.trace, "KRC_E_REFUSED"));
    }
    (void)is_classic;
}

/* CASES.md 24: it is paused for longer than its session; others have gone on. */
BOTH(paused_for_too_long)
{
    owner_reads("t-0", 5);
    owner.is_absent = true;
    sim_down(1); /* as if nothing of ours ran */
    sim_down(2);
    sim_run(50000);
    group_remove(1);
    p0->committed = 20;
    sim_up(1);
    sim_up(2);
    owner_commits("t-0");
    owner.is_absent = false;
    sim_run(10000);
    ck_assert_int_eq(p0->committed, 20);
    ck_assert_int_eq(said("commit t-0:5 KRC_E_FENCED"), 1);
    ck_assert_int_eq(said("lost t-0"), 1);
    (void)is_classic;
}

/* It has the partition again when the answer comes: but another had it in between. */
BOTH(lost_and_had_again)
{
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS, 1);
    owner_reads("t-0", 5);
    owner_commits("t-0");
    sim_run(5); /* it is to be sent again in 100 ms */
    group_remove(1);
    p0->committed = 20;
    for (int i = 0; i < 6; i++) {
        krc_member_hurry(owner.member);
        sim_run(5);
        if (!is_classic && group_m(1)->is_there && group_m(1)->target == 0)
            group_target(1, "t-0 t-1 t-2 t-3");
    }
    ck_assert_int_eq(said("OffsetCommit"), 1);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
    sim_run(10000);
    ck_assert_int_eq(said("OffsetCommit"), 2);
    ck_assert_int_eq(said("commit t-0:5 KRC_E_FENCED"), 1);
    ck_assert_int_eq(p0->committed, 20);
}

/* The answer to another request comes while it waits to be sent again. */
BOTH(heartbeats_in_between)
{
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS, 3);
    owner_reads("t-0", 5);
    owner_commits("t-0");
    for (int i = 0; i < 50; i++) {
        krc_member_hurry(owner.member);
        sim_run(50);
    }
    ck_assert_int_eq(said("committed t-0:5"), 1);
    (void)is_classic;
}

/* It is not ours, or we are nobody. */
BOTH(what_is_not_held)
{
    owner_reads("t-0", 5);
    krc_member_leave(owner.member);
    owner_commits("t-0");
    ck_assert_int_eq(said("commit t-0:5 KRC_E_FENCED"), 1);
    sim_run(5000);
    ck_assert_int_eq(sim.requests[KRC_API_OFFSET_COMMIT], 0);
    (void)is_classic;
}

/* A member that was told of it before its heartbeat was. */
BOTH(fenced_by_the_commit)
{
    static const int16_t codes[] = {KRC_KAFKA_UNKNOWN_MEMBER_ID, KRC_KAFKA_FENCED_INSTANCE_ID,
                                    KRC_KAFKA_FENCED_MEMBER_EPOCH};
    for (int i = 0; i < 3; i++) {
        forget_trace();
        world_fail(KRC_API_OFFSET_COMMIT, 0, codes[i], 1);
        owner_reads("t-0", 5 + i);
        owner_commits("t-0");
        sim_run(100);
        ck_assert_ptr_nonnull(strstr(sim.trace, "KRC_E_FENCED"));
        ck_assert_int_eq(p0->committed, -1);
        krc_error error;
        ck_assert_int_eq(owner.commit.call.rc, KRC_E_FENCED);
        ck_assert_int_eq(krc_group_commit_explain(&owner.commit, &error), KRC_E_FENCED);
        ck_assert_ptr_nonnull(strstr(error.message, krc_kafka_error_name(codes[i])));
    }
    (void)is_classic;
}

/* ---- Other generations ---------------------------------------------------------------------- */

/* The group is about to begin another generation: the commit waits for it. */
START_TEST(between_join_and_sync)
{
    begin(true);
    int number = group_join("u");
    owner_until(KRC_MEMBER_SYNCING); /* it waits for metadata of u */
    forget_trace();
    owner_reads("t-0", 5);
    owner_commits("t-0");
    sim_run(3000);
    ck_assert_int_eq(said("OffsetCommit n1 m1/2 t-0:5"), 2); /* REBALANCE_IN_PROGRESS */
    ck_assert_int_eq(said("committed t-0:5"), 1);
    ck_assert_int_eq(group_m(number)->has, group_set("u-0 u-1 u-2 u-3"));
    owner_close();
}
END_TEST

/* We are asked to join again, and keep what we hold. */
START_TEST(while_it_joins)
{
    begin(true);
    int number = group_join("t");
    sim_run(20000);
    group_m(number)->is_stuck = true;
    group_rebalance();
    owner_until(KRC_MEMBER_JOINING);
    owner_reads("t-0", 5);
    owner_commits("t-0");
    sim_run(1000);
    ck_assert_int_eq(p0->committed, 5); /* of the old generation, and still of it */
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_ILLEGAL_GENERATION, 100);
    owner_reads("t-0", 6);
    owner_commits("t-0");
    sim_run(2000);
    ck_assert_ptr_null(strstr(sim.trace, " t-0:6 "));
    ck_assert_int_eq(said("committed t-0:6"), 0);
    memset(world.faults, 0, sizeof world.faults);
    group_m(number)->is_stuck = false;
    group_remove(number);
    sim_run(5000);
    ck_assert_int_ge(said("OffsetCommit n1 m1/4 t-0:6"), 1);
    ck_assert_int_eq(said("committed t-0:6"), 1);
    ck_assert_int_eq(p0->committed, 6);
    owner_close();
}
END_TEST

/* The coordinator has another generation, and we are in none of it. */
START_TEST(of_a_generation_that_is_over)
{
    begin(true);
    owner_reads("t-0", 5);
    group.epoch++;
    owner_commits("t-0");
    sim_run(100);
    ck_assert_int_eq(said("commit t-0:5 KRC_E_FENCED"), 1);
    ck_assert_int_eq(p0->committed, -1);
    owner_close();
}
END_TEST

/* KIP-848: the answer with the newer epoch was lost, or has not come yet. */
START_TEST(of_an_epoch_that_is_over)
{
    begin(false);
    owner_reads("t-0", 5);
    group_target(1, "t-0 t-1 t-2");
    sim_run(5000); /* revoked, and in another epoch */
    group_target(1, "t-0 t-1 t-2 t-3");
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_STALE_MEMBER_EPOCH, 1);
    int32_t epoch = owner.member->epoch;
    forget_trace();
    owner_commits("t-0");
    sim_run(1000);
    ck_assert_int_eq(said("committed t-0:5"), 1);
    ck_assert_int_ge(said("ConsumerGroupHeartbeat"), 2); /* which is hurried */
    ck_assert_int_le(said("ConsumerGroupHeartbeat"), 3);
    ck_assert_int_gt(owner.member->epoch, epoch);
    owner_close();
}
END_TEST

START_TEST(of_an_epoch_whose_partitions_went)
{
    begin(false);
    owner.is_slow = true;
    owner_reads("t-0", 5);
    group_target(1, "t-1");
    owner_until(KRC_MEMBER_YIELDING);
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_STALE_MEMBER_EPOCH, 100);
    owner_commits("t-0");
    sim_run(2000);
    ck_assert_int_eq(said("commit"), 0);
    group_remove(1); /* our session is over amid that */
    sim_run(6000);
    ck_assert_int_eq(said("commit t-0:5 KRC_E_FENCED"), 1);
    ck_assert_int_eq(p0->committed, -1);
    owner_close();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_commit,
                                  an_answer_without_the_partition,
                                  the_coordinator_is_not_there,
                                  refused,
                                  paused_for_too_long,
                                  lost_and_had_again,
                                  heartbeats_in_between,
                                  what_is_not_held,
                                  fenced_by_the_commit,
                                  between_join_and_sync,
                                  while_it_joins,
                                  of_a_generation_that_is_over,
                                  of_an_epoch_that_is_over,
                                  of_an_epoch_whose_partitions_went};
    return run_tests("group/commit", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
