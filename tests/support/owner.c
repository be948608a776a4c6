#include "tests/support/owner.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups/assign.h"

struct owner owner;

static const char *name_of(const struct krc_topic *topic, int32_t partition)
{
    static char texts[2][48];
    static int turn;
    char *text = texts[turn++ % 2];
    snprintf(text, sizeof texts[0], "%s-%d", topic->name, (int)partition);
    return text;
}

static int place_of(const struct krc_topic *topic, int32_t partition)
{
    return group_bit(world_find(krc_bytes_of(topic->name)), partition);
}

/* ---- Committing ----------------------------------------------------------------------------- */

static void add_entry(struct krc_topic *topic, int32_t partition)
{
    ck_assert_uint_lt(owner.commit.count, OWNER_ENTRIES);
    owner.entries[owner.commit.count++] =
        (struct krc_commit_entry){.topic = topic,
                                  .partition = partition,
                                  .offset = owner.positions[place_of(topic, partition)],
                                  .epoch = 0};
}

static void begin_commit(void)
{
    owner.commit.member = owner.member;
    owner.commit.coordinator = owner.member->coordinator;
    owner.commit.entries = owner.entries;
}

static void tell_commit(int rc)
{
    for (size_t i = 0; i < owner.commit.count; i++) {
        const struct krc_commit_entry *e = &owner.entries[i];
        bool done = rc >= 0 || (rc == KRC_E_REFUSED && e->error_code == 0);
        if (done)
            owner.committed[place_of(e->topic, e->partition)] = e->offset;
        sim_say("%s %s:%lld%s%s", done ? "committed" : "commit", name_of(e->topic, e->partition),
                (long long)e->offset, done ? "" : " ", done ? "" : krc_code_name(rc));
    }
    krc_group_commit_end(&owner.commit);
    owner.commits = false;
}

static void send_commit(void)
{
    krc_error error;
    int rc = krc_group_commit_begin(&owner.commit, &sim.cluster, &error);
    owner.commits = true;
    if (rc < 0)
        tell_commit(rc);
}

void owner_commits(const char *partitions)
{
    ck_assert(!owner.commits);
    owner.commit = (struct krc_group_commit){.member = NULL};
    begin_commit();
    for (; *partitions != '\0'; partitions += strspn(partitions, " ")) {
        char name[16];
        size_t len = strcspn(partitions, "-");
        snprintf(name, sizeof name, "%.*s", (int)len, partitions);
        struct krc_topic *topic = krc_topic_find(&sim.cluster, krc_bytes_of(name));
        ck_assert_ptr_nonnull(topic);
        add_entry(topic, atoi(partitions + len + 1));
        partitions += strcspn(partitions, " ");
    }
    send_commit();
}

/* ---- What is held --------------------------------------------------------------------------- */

static void begin(struct krc_held *held)
{
    struct world_topic *topic = world_find(krc_bytes_of(held->topic->name));
    int place = place_of(held->topic, held->partition);
    int64_t from = topic->partitions[held->partition].committed;
    ck_assert_int_eq(owner.positions[place], -1);
    owner.positions[place] = owner.committed[place] = from < 0 ? 0 : from;
    sim_say("has %s from %lld", name_of(held->topic, held->partition),
            (long long)owner.positions[place]);
    krc_member_begun(held);
}

static void let_go(struct krc_held *held, const char *how)
{
    sim_say("%s %s", how, name_of(held->topic, held->partition));
    owner.positions[place_of(held->topic, held->partition)] = -1;
    krc_member_let_go(owner.member, held);
}

/* What was read is committed first, which is tried once. */
static void give_up(struct krc_held *held)
{
    int place = place_of(held->topic, held->partition);
    if (!held->seen)
        sim_say("yields %s", name_of(held->topic, held->partition));
    held->seen = true;
    if (owner.is_slow || owner.commits)
        return;
    if (owner.positions[place] == owner.committed[place]) {
        let_go(held, "gave up");
        return;
    }
    owner.commit = (struct krc_group_commit){.member = NULL};
    begin_commit();
    add_entry(held->topic, held->partition);
    owner.committed[place] = owner.positions[place];
    send_commit();
}

static void look_at(struct krc_held *held)
{
    switch (held->phase) {
    case KRC_HELD_NEW:
        begin(held);
        break;
    case KRC_HELD_YIELD:
        give_up(held);
        break;
    case KRC_HELD_LOST:
        let_go(held, "lost");
        break;
    case KRC_HELD_OURS:
        break;
    }
}

static void turn(void)
{
    struct krc_membership *member = owner.member;
    if (member == NULL)
        return;
    if (owner.commits && owner.commit.call.state == KRC_CALL_TOLD)
        tell_commit(owner.commit.call.rc);
    if (member->state != owner.state && !owner.is_quiet)
        sim_say("in %s", krc_member_state_name(member->state));
    owner.state = member->state;
    if (owner.is_absent)
        return;
    krc_member_polled(member);
    for (size_t i = 0; i < member->held_count; i++) { /* to let one go changes the others */
        enum krc_held_phase before = member->held[i].phase;
        size_t count = member->held_count;
        look_at(&member->held[i]);
        if (member->held_count != count || before == KRC_HELD_NEW)
            i = SIZE_MAX; /* from the first on */
    }
}

/* ---- From outside --------------------------------------------------------------------------- */

void owner_open(bool is_classic)
{
    world_open();
    sim_open();
    group_open(is_classic);
    world_topic("t", 4);
    world_topic("u", 4);
    sim.each_turn = turn;
    owner = (struct owner){.settings = {.group = "g",
                                        .instance_id = "",
                                        .rack = "",
                                        .server_assignor = "",
                                        .is_classic = is_classic,
                                        .session_timeout_ms = 45000,
                                        .heartbeat_interval_ms = 3000,
                                        .max_poll_interval_ms = 300000}};
    for (int i = 0; i < WORLD_TOPICS * WORLD_PARTITIONS; i++)
        owner.positions[i] = owner.committed[i] = -1;
    owner_assignors("cooperative-sticky");
}

void owner_close(void)
{
    if (owner.commits)
        krc_group_commit_end(&owner.commit);
    sim_close();
    ck_assert_int_eq(group.foreign_commits, 0);
    group_close();
    world_close();
}

void owner_assignors(const char *names)
{
    owner.settings.assignor_count = 0;
    for (; *names != '\0'; names += strspn(names, " ")) {
        struct krc_bytes name = {(const uint8_t *)names, strcspn(names, " ")};
        const struct krc_assignor *assignor = krc_assignor_find(name);
        ck_assert_ptr_nonnull(assignor);
        owner.settings.assignors[owner.settings.assignor_count++] = assignor;
        names += name.len;
    }
}

void owner_join(const char *topics)
{
    char name[16];
    krc_error error;
    if (!sim.is_open)
        sim_start("n1");
    ck_assert_int_eq(krc_member_open(&owner.member, &sim.cluster, &owner.settings, &error), 0);
    for (; *topics != '\0'; topics += strspn(topics, " ")) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(topics, " "), topics);
        ck_assert_int_eq(krc_member_subscribe(owner.member, name, &error), KRC_OK);
        topics += strcspn(topics, " ");
    }
    krc_member_join(owner.member);
}

void owner_reads(const char *partition, int64_t position)
{
    group_parts set = group_set(partition);
    for (int i = 0; i < WORLD_TOPICS * WORLD_PARTITIONS; i++)
        if (set >> i & 1) {
            ck_assert_int_ge(owner.positions[i], 0);
            owner.positions[i] = position;
        }
}

const char *owner_has(void)
{
    group_parts set = 0;
    for (size_t i = 0; i < owner.member->held_count; i++) {
        const struct krc_held *held = &owner.member->held[i];
        if (held->phase == KRC_HELD_OURS || held->phase == KRC_HELD_YIELD)
            set |= (group_parts)1 << place_of(held->topic, held->partition);
    }
    return krc_membership_holds(owner.member->state) ? group_text(set) : "-";
}

void owner_until(enum krc_member_state state)
{
    enum { MOST_MS = 60000 };
    for (int ms = 0; owner.member->state != state; ms++) {
        ck_assert_msg(ms < MOST_MS, "it is not %s, but %s:\n%s", krc_member_state_name(state),
                      krc_member_state_name(owner.member->state), sim.trace);
        sim_run(1);
    }
    sim_run(0);
}
