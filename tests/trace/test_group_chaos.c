/*
 * Whatever goes wrong while members come and go: nobody commits what another has, no committed
 * offset goes back, and once it is calm, our member has what it was assigned.
 */
#include <stdio.h>
#include <string.h>

#include "tests/support/owner.h"
#include "tests/support/run.h"

enum { PARTS = 4, STEPS = 120, RUNS = 60 };

static uint64_t state;

static uint32_t below(uint32_t most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % most;
}

static bool is_ours(const struct group_member *member)
{
    return member->is_there && !member->is_scripted;
}

/* ---- The group ------------------------------------------------------------------------------ */

/* Who is to have what: one of those that are there, or nobody. */
static void spread(void)
{
    group_parts targets[GROUP_MEMBERS] = {0};
    for (int p = 0; p < PARTS; p++)
        targets[below(GROUP_MEMBERS)] |= (group_parts)1 << p;
    for (int i = 0, to = 0; i < GROUP_MEMBERS; i++) {
        struct group_member *member = &group.members[i];
        member->target = 0;
        if (member->is_there)
            for (int share = 0; share < 3 && to < GROUP_MEMBERS; share++)
                member->target |= targets[to++];
    }
    if (group.is_classic) {
        group_rebalance();
    } else {
        group.epoch++;
        group_reconcile_all();
    }
}

static int count_others(void)
{
    int count = 0;
    for (int i = 0; i < GROUP_MEMBERS; i++)
        count += group.members[i].is_there && group.members[i].is_scripted;
    return count;
}

static void others_go_on(void)
{
    for (int i = 0; i < GROUP_MEMBERS; i++)
        for (int p = 0; p < PARTS; p++)
            if (group.members[i].is_there && group.members[i].is_scripted &&
                group.members[i].has >> p & 1)
                world.topics[0].partitions[p].committed += below(3);
}

static void change_members(void)
{
    int number = 1 + (int)below(GROUP_MEMBERS);
    switch (below(4)) {
    case 0:
        if (count_others() < 3)
            group_join("t");
        break;
    case 1: /* ours too */
        if (group_m(number)->is_there)
            group_remove(number);
        break;
    case 2:
        if (group_m(number)->is_there && group_m(number)->is_scripted)
            group_m(number)->is_stuck = !group_m(number)->is_stuck;
        break;
    default:
        spread();
    }
}

/* ---- Us ------------------------------------------------------------------------------------- */

/* Some is read, and may be committed. */
static void read_some(void)
{
    for (size_t i = 0; i < owner.member->held_count; i++) {
        const struct krc_held *held = &owner.member->held[i];
        if (held->phase != KRC_HELD_OURS)
            continue;
        owner.positions[held->partition] += below(4);
        if (owner.commits || below(2) == 0)
            continue;
        char name[16];
        snprintf(name, sizeof name, "t-%d", (int)held->partition);
        owner_commits(name);
    }
}

static void behave(void)
{
    switch (below(6)) {
    case 0:
        owner.is_slow = !owner.is_slow;
        break;
    case 1:
        owner.is_absent = !owner.is_absent;
        break;
    default:
        read_some();
    }
}

/* ---- What goes wrong ------------------------------------------------------------------------ */

static const enum krc_api_name apis[] = {
    KRC_API_JOIN_GROUP,    KRC_API_SYNC_GROUP,       KRC_API_HEARTBEAT,
    KRC_API_OFFSET_COMMIT, KRC_API_FIND_COORDINATOR, KRC_API_CONSUMER_GROUP_HEARTBEAT,
    KRC_API_METADATA,      KRC_API_LEAVE_GROUP};

static void spoil(void)
{
    static const enum sim_fate fates[] = {SIM_LOST, SIM_DONE, SIM_CUT, SIM_SILENT, SIM_DOUBLED};
    sim_fate(apis[below(8)], fates[below(5)], 1);
}

static void refuse(void)
{
    static const int16_t codes[] = {
        KRC_KAFKA_NOT_COORDINATOR,     KRC_KAFKA_COORDINATOR_NOT_AVAILABLE,
        KRC_KAFKA_UNKNOWN_MEMBER_ID,   KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS,
        KRC_KAFKA_ILLEGAL_GENERATION,  KRC_KAFKA_REBALANCE_IN_PROGRESS,
        KRC_KAFKA_FENCED_MEMBER_EPOCH, KRC_KAFKA_STALE_MEMBER_EPOCH};
    enum krc_api_name api = apis[below(6)];
    int16_t code = codes[below(group.is_classic && api != KRC_API_OFFSET_COMMIT ? 6 : 4)];
    if (api == KRC_API_OFFSET_COMMIT)
        world_fail(api, (int32_t)below(PARTS), codes[below(8)], 1 + (int)below(3));
    else if (api != KRC_API_FIND_COORDINATOR || krc_kafka_error_retriable(code))
        world_fail(api, -1, code, 1 + (int)below(2));
}

static void go_wrong(void)
{
    switch (below(6)) {
    case 0:
        group_move(1 + (int32_t)below(2));
        break;
    case 1:
        sim_down(1 + (int32_t)below(2));
        break;
    case 2:
        sim_up(1);
        sim_up(2);
        break;
    case 3:
        sim.delay_ms = (int64_t)below(100);
        break;
    case 4:
        refuse();
        break;
    default:
        spoil();
    }
}

/* ---- Runs ----------------------------------------------------------------------------------- */

/* Sessions of those that we were end, too. */
static void calm_down(void)
{
    const char *id = owner.member->member_id;
    memset(world.faults, 0, sizeof world.faults);
    memset(sim.fates, 0, sizeof sim.fates);
    sim.delay_ms = 0;
    owner.is_slow = owner.is_absent = false;
    sim_up(1);
    sim_up(2);
    for (int i = 0; i < GROUP_MEMBERS; i++) {
        group.members[i].is_stuck = false;
        if (is_ours(&group.members[i]) && (id == NULL || strcmp(group.members[i].id, id) != 0))
            group_remove(i + 1);
    }
}

static void pass(int64_t ms)
{
    for (; ms > 0; ms -= 1000) {
        forget_trace();
        sim_run(1000);
    }
}

static void check_end(uint64_t seed)
{
    const struct group_member *us = NULL;
    group_parts all = 0;
    for (int i = 0; i < GROUP_MEMBERS; i++) {
        const struct group_member *member = &group.members[i];
        ck_assert_msg((all & member->has) == 0, "seed %d", (int)seed);
        all |= member->has;
        if (is_ours(member)) {
            ck_assert_msg(us == NULL, "seed %d: we are there twice", (int)seed);
            us = member;
        }
    }
    ck_assert_msg(owner.member->state == KRC_MEMBER_STABLE && us != NULL,
                  "seed %d: in %s (%d):\n%s", (int)seed,
                  krc_member_state_name(owner.member->state), owner.member->error_code, sim.trace);
    ck_assert_msg(strcmp(owner_has(), group_text(us->has)) == 0, "seed %d: has %s, not %s:\n%s",
                  (int)seed, owner_has(), group_text(us->has), sim.trace);
    ck_assert(group.is_classic || us->has == us->target);
    ck_assert_msg(group.backward_commits == 0, "seed %d", (int)seed);
    ck_assert_msg(group.foreign_commits == 0, "seed %d", (int)seed);
}

static void run_once(uint64_t seed, bool is_classic, const char *assignors)
{
    state = seed;
    owner_open(is_classic);
    owner_assignors(assignors);
    sim.settings.request_timeout_ms = 2000;
    owner.settings.max_poll_interval_ms = below(2) == 0 ? 10000 : 300000;
    owner.is_quiet = true;
    for (int p = 0; p < PARTS; p++)
        world.topics[0].partitions[p].committed = 0;
    if (below(2) == 0)
        group_join("t"); /* it leads */
    owner_join("t");
    for (int i = 0; i < STEPS; i++) {
        if (below(3) == 0)
            change_members();
        if (below(3) == 0)
            go_wrong();
        behave();
        others_go_on();
        sim_run((int64_t)below(below(4) == 0 ? 4000 : 500));
        forget_trace();
    }
    calm_down();
    pass(320000);
    calm_down();
    spread();
    pass(320000);
    check_end(seed);
    owner_close();
}

START_TEST(kip_848)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        run_once(seed, false, "range");
}
END_TEST

START_TEST(classic_cooperative)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        run_once(seed, true, "cooperative-sticky");
}
END_TEST

START_TEST(classic_eager)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        run_once(seed, true, "range");
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {kip_848, classic_cooperative, classic_eager};
    return run_tests("group/chaos", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
