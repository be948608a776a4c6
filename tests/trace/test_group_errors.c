/*
 * Each error code of JoinGroup, SyncGroup, Heartbeat, ConsumerGroupHeartbeat, OffsetCommit and
 * FindCoordinator leads to what it leads to in Kafka's own consumer: AbstractCoordinator's
 * handlers, AbstractHeartbeatRequestManager.onErrorResponse, ConsumerCoordinator's
 * OffsetCommitResponseHandler, CommitRequestManager (Kafka 4.x); but for what errors.h calls
 * retriable, which is asked again here even where Kafka gives up, and UNRELEASED_INSTANCE_ID, whose
 * end is waited for.
 */
#include <string.h>

#include "tests/support/owner.h"
#include "tests/support/run.h"

enum outcome {
    AGAIN,  /* the same is asked again, and nothing is lost */
    LOOK,   /* so, of a coordinator that is looked for */
    ANEW,   /* all is lost, and it joins as somebody new */
    REJOIN, /* all is lost, and it joins under its id */
    STEP,   /* the next request follows at once */
    STOP,   /* it is no member, and the application is told */
    FENCED, /* a commit: it is lost */
    REFUSED,
};

struct row {
    int16_t code;
    enum outcome outcome;
};

static const struct row join[] = {
    {KRC_KAFKA_COORDINATOR_NOT_AVAILABLE, LOOK}, {KRC_KAFKA_NOT_COORDINATOR, LOOK},
    {KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS, AGAIN}, {KRC_KAFKA_UNKNOWN_MEMBER_ID, ANEW},
    {KRC_KAFKA_ILLEGAL_GENERATION, REJOIN}, {KRC_KAFKA_REBALANCE_IN_PROGRESS, STEP},
};

static const struct row sync[] = {
    {KRC_KAFKA_COORDINATOR_NOT_AVAILABLE, LOOK}, {KRC_KAFKA_NOT_COORDINATOR, LOOK},
    {KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS, AGAIN}, {KRC_KAFKA_UNKNOWN_MEMBER_ID, ANEW},
    {KRC_KAFKA_ILLEGAL_GENERATION, REJOIN}, {KRC_KAFKA_REBALANCE_IN_PROGRESS, STEP},
};

static const struct row consumer[] = {
    {KRC_KAFKA_COORDINATOR_NOT_AVAILABLE, LOOK}, {KRC_KAFKA_NOT_COORDINATOR, LOOK},
    {KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS, AGAIN}, {KRC_KAFKA_UNKNOWN_MEMBER_ID, ANEW},
    {KRC_KAFKA_FENCED_MEMBER_EPOCH, ANEW}, {KRC_KAFKA_UNRELEASED_INSTANCE_ID, AGAIN},
};

static const struct row commit[] = {
    {KRC_KAFKA_COORDINATOR_NOT_AVAILABLE, LOOK}, {KRC_KAFKA_NOT_COORDINATOR, LOOK},
    {KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS, AGAIN}, {KRC_KAFKA_UNKNOWN_MEMBER_ID, FENCED},
    {KRC_KAFKA_FENCED_INSTANCE_ID, FENCED}, {KRC_KAFKA_FENCED_MEMBER_EPOCH, FENCED},
    {KRC_KAFKA_ILLEGAL_GENERATION, FENCED}, {KRC_KAFKA_REBALANCE_IN_PROGRESS, AGAIN},
    {KRC_KAFKA_STALE_MEMBER_EPOCH, AGAIN},
};

static const int16_t codes[] = {
#define CODE(NAME, code, retriable, meaning) code,
    KRC_KAFKA_ERRORS(CODE)
#undef CODE
};

enum { CODES = sizeof codes / sizeof *codes };

static enum outcome find(const struct row *rows, size_t count, int16_t code, enum outcome others)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].code == code)
            return rows[i].outcome;
    return krc_kafka_error_retriable(code) ? AGAIN : others;
}

#define FIND(rows, code, others) find(rows, sizeof(rows) / sizeof *(rows), code, others)

#define CHECK(condition)                                                            \
    ck_assert_msg(condition, "%s: not so: %s:\n%s", krc_kafka_error_name(code), #condition, \
                  sim.trace)

static void nothing(void)
{
}

static void stable(bool is_classic)
{
    owner_open(is_classic);
    group.interval_ms = 3000;
    owner_join("t");
    owner_until(KRC_MEMBER_STABLE);
    if (!is_classic)
        group_target(1, "t-0 t-1 t-2 t-3");
    sim_run(3500);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
    forget_trace();
}

static void check_outcome(int16_t code, enum outcome outcome)
{
    CHECK((owner.member->state == KRC_MEMBER_REFUSED) == (outcome == STOP));
    CHECK(said("lost") == (outcome == ANEW || outcome == REJOIN || outcome == STOP ? 4 : 0));
    CHECK((said("FindCoordinator") > 0) == (outcome == LOOK));
    CHECK((owner.member->state == KRC_MEMBER_STABLE) == (outcome != STOP));
    CHECK((strcmp(owner_has(), "t-0,t-1,t-2,t-3") == 0) == (outcome != STOP));
    if (outcome == STOP) {
        krc_error error;
        CHECK(krc_member_explain(owner.member, &error) == KRC_E_REFUSED);
        CHECK(strstr(error.message, krc_kafka_error_name(code)) != NULL);
    }
}

/* Of a member whose group is rebalanced. */
static void check_classic(enum krc_api_name api, int16_t code, enum outcome outcome)
{
    stable(true);
    world_fail(api, -1, code, 1);
    if (api != KRC_API_HEARTBEAT)
        group_rebalance();
    sim_run(outcome == ANEW ? 310000 : 10000); /* a member that nobody speaks for is waited for */
    check_outcome(code, outcome);
    if (outcome == ANEW)
        CHECK(said("JoinGroup n1 - ") == 1);
    if (outcome == REJOIN)
        CHECK(said("JoinGroup n1 - ") == 0 && said("JoinGroup n1 m1 ") >= 1);
    owner_close();
}

/* MEMBER_ID_REQUIRED is the answer to each first JoinGroup. */
START_TEST(of_join_group)
{
    for (int i = 0; i < CODES; i++)
        if (codes[i] != 0 && codes[i] != KRC_KAFKA_MEMBER_ID_REQUIRED)
            check_classic(KRC_API_JOIN_GROUP, codes[i], FIND(join, codes[i], STOP));
}
END_TEST

START_TEST(of_sync_group)
{
    for (int i = 0; i < CODES; i++)
        if (codes[i] != 0)
            check_classic(KRC_API_SYNC_GROUP, codes[i], FIND(sync, codes[i], STOP));
}
END_TEST

START_TEST(of_heartbeat)
{
    for (int i = 0; i < CODES; i++)
        if (codes[i] != 0)
            check_classic(KRC_API_HEARTBEAT, codes[i], FIND(sync, codes[i], STOP));
}
END_TEST

START_TEST(of_consumer_group_heartbeat)
{
    for (int i = 0; i < CODES; i++) {
        int16_t code = codes[i];
        if (code == 0)
            continue;
        stable(false);
        world_fail(KRC_API_CONSUMER_GROUP_HEARTBEAT, -1, code, 1);
        sim_run(10000);
        check_outcome(code, FIND(consumer, code, STOP));
        owner_close();
    }
}
END_TEST

START_TEST(of_offset_commit)
{
    for (int i = 0; i < 2 * CODES; i++) {
        int16_t code = codes[i / 2];
        enum outcome outcome = FIND(commit, code, REFUSED);
        if (code == 0)
            continue;
        stable(i % 2 == 0);
        world_fail(KRC_API_OFFSET_COMMIT, 0, code, 1);
        owner_reads("t-0", 5);
        owner_commits("t-0");
        sim_run(10000);
        CHECK(said("committed t-0:5") == (outcome == AGAIN || outcome == LOOK));
        CHECK(said("commit t-0:5 KRC_E_FENCED") == (outcome == FENCED));
        CHECK(said("commit t-0:5 KRC_E_REFUSED") == (outcome == REFUSED));
        CHECK((said("FindCoordinator") > 0) == (outcome == LOOK));
        owner_close();
    }
}
END_TEST

/* Before it has joined: there is nobody to ask. */
START_TEST(of_find_coordinator)
{
    for (int i = 0; i < 2 * CODES; i++) {
        int16_t code = codes[i / 2];
        bool again = krc_kafka_error_retriable(code);
        if (code == 0)
            continue;
        owner_open(i % 2 == 0);
        world_fail(KRC_API_FIND_COORDINATOR, -1, code, 1);
        owner_join("t");
        sim_run(5000);
        CHECK((owner.member->state == KRC_MEMBER_STABLE) == again);
        CHECK((owner.member->state == KRC_MEMBER_REFUSED) == !again);
        owner_close();
    }
}
END_TEST

/* What was refused once is asked for again with the next commit. */
START_TEST(of_find_coordinator_for_a_commit)
{
    static const int16_t code = KRC_KAFKA_GROUP_AUTHORIZATION_FAILED;
    struct krc_commit_entry entry = {.partition = 1, .offset = 5, .epoch = -1};
    struct krc_group_commit by_nobody = {.entries = &entry, .count = 1};
    krc_error error;
    owner_open(true);
    sim_start("n1");
    entry.topic = krc_topic_want(&sim.cluster, "t");
    by_nobody.coordinator = krc_coordinator_of(&sim.cluster, KRC_GROUP, "g");
    sim_run(1000);
    world_fail(KRC_API_FIND_COORDINATOR, -1, code, 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(krc_group_commit_begin(&by_nobody, &sim.cluster, &error), KRC_OK);
        sim_run(2000);
        ck_assert_int_eq(by_nobody.call.state, KRC_CALL_TOLD);
        ck_assert_int_eq(by_nobody.call.rc, i == 0 ? KRC_E_REFUSED : KRC_OK);
        krc_group_commit_end(&by_nobody);
    }
    ck_assert_int_eq(world.topics[0].partitions[1].committed, 5);
    owner_close();
}
END_TEST

/* Bytes that are no assignment. */
static void spoil_assignment(enum krc_api_name api, void *response)
{
    if (api == KRC_API_SYNC_GROUP)
        ((struct krc_sync_group_response *)response)->assignment = build_text("\1\2\3\4\5\6\7\1");
}

START_TEST(of_bytes_that_are_no_assignment)
{
    krc_error error;
    owner_open(true);
    world.edit = spoil_assignment;
    owner_join("t");
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_REFUSED);
    ck_assert_int_eq(krc_member_explain(owner.member, &error), KRC_E_REFUSED);
    owner_close();
}
END_TEST

static void spoil_subscription(enum krc_api_name api, void *response)
{
    struct krc_join_group_response *r = response;
    if (api == KRC_API_JOIN_GROUP && r->member_count > 0)
        r->members[0].metadata = build_text("\1\2\3\4\5\6\7\1");
}

START_TEST(of_bytes_that_are_no_subscription)
{
    owner_open(true);
    world.edit = spoil_subscription;
    owner_join("t");
    sim_run(5000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_REFUSED);
    owner_close();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {of_join_group,
                                  of_sync_group,
                                  of_heartbeat,
                                  of_consumer_group_heartbeat,
                                  of_offset_commit,
                                  of_find_coordinator,
                                  of_find_coordinator_for_a_commit,
                                  of_bytes_that_are_no_assignment,
                                  of_bytes_that_are_no_subscription};
    return run_tests("group/errors", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
