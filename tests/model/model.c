/*
 * Walks every reachable state of the offset-tracking machine, breadth-first, over a small log that
 * also grows, loses its head, is truncated, changes leader and is made again under the reader.
 *
 * The leader epochs of what was read are left out here: tests/model/elections.c walks those.
 *
 * Shown: each row of the table is reached; each law holds after each step (the machine checks them
 * itself); no event that the world can bring is illegal; a late answer changes nothing; and from
 * each state reading can go on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/elections.h"

enum { EPOCH_MAX = 1 };

/* The world: a log, and what the reader's questions would find there. */
struct world {
    int8_t log_start, log_end;
    int8_t epoch;               /* the leader's */
    int8_t epoch_start[EPOCH_MAX + 1]; /* where each epoch begins */
    int8_t topic;               /* counts recreations, up to 1 */
    int8_t stored, stored_epoch, stored_topic; /* -1: nothing is stored */
    int8_t policy;
    int8_t most; /* the log's largest end: 3 under the default policy, 2 under the others */
};

/* All that the future depends on.  Generations only count: what matters is kept beside. */
struct state {
    struct world world;
    struct krc_offsets machine;
    struct krc_offset_update todo;
};

struct node {
    struct state state;
    uint32_t next_in_bucket; /* index + 1 */
    bool alive;              /* reading goes on from here, sooner or later */
    uint32_t *from;          /* who leads here */
    uint32_t from_count, from_capacity;
};

static struct node *nodes;
static uint32_t node_count, node_capacity;
static uint32_t *buckets;
enum { BUCKETS = 1 << 22 };

static bool row_seen[KRC_OFFSET_STATE_COUNT][KRC_OFFSET_EVENT_COUNT];
static uint64_t steps, stale_answers;

static void die(const char *what, const struct state *s, const char *why)
{
    fprintf(stderr, "model: %s: %s (in %s, position %lld, log [%d, %d), generation %u)\n", what, why,
            krc_offset_state_name(s->machine.state), (long long)s->machine.position,
            s->world.log_start, s->world.log_end, s->machine.generation);
    exit(1);
}

static void pool(struct krc_account *account)
{
    *account = (struct krc_account){
        .from = account->from, .to = account->to, .delivered = krc_account_sum(account)};
}

/* What the future does not depend on would make the walk endless: counters that tell old from new
 * are renumbered, fates pooled, what belongs to another state forgotten. */
static void normalize(struct state *s)
{
    struct krc_offsets *o = &s->machine;
    enum krc_ask ask = s->todo.ask;
    pool(&o->account);
    pool(&o->acked);
    o->stretch = 0;
    o->epochs = (struct krc_epochs){0};
    o->stale = 0;
    o->generation = ask != KRC_ASK_NOTHING;
    if (o->state != KRC_LOCATING) {
        o->cause = KRC_CAUSE_NONE;
        o->wanted = KRC_ASK_NOTHING;
    }
    if (o->state != KRC_VALIDATING) {
        o->asked_epoch = -1;
        o->agreed = 0;
    }
    memset(&s->todo, 0, sizeof s->todo);
    s->todo.ask = ask;
    s->todo.generation = o->generation;
    s->todo.offset = o->position;
    s->todo.epoch = o->asked_epoch;
}

static uint32_t hash(const struct state *s)
{
    uint64_t h = 0, word;
    _Static_assert(sizeof *s % sizeof word == 0, "a state is whole words");
    for (size_t i = 0; i < sizeof *s; i += sizeof word) {
        memcpy(&word, (const uint8_t *)s + i, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (uint32_t)(h >> 32) % BUCKETS;
}

static void add_edge(uint32_t to, uint32_t from)
{
    struct node *node = &nodes[to];
    if (node->from_count == node->from_capacity) {
        node->from_capacity = node->from_capacity ? node->from_capacity * 2 : 4;
        node->from = realloc(node->from, node->from_capacity * sizeof *node->from);
        if (node->from == NULL)
            abort();
    }
    node->from[node->from_count++] = from;
}

static void reach(const struct state *raw, uint32_t from)
{
    struct state s;
    memcpy(&s, raw, sizeof s); /* with its padding, which is zero */
    normalize(&s);
    uint32_t *link = &buckets[hash(&s)];
    for (uint32_t i = *link; i != 0; i = nodes[i - 1].next_in_bucket)
        if (memcmp(&nodes[i - 1].state, &s, sizeof s) == 0) {
            add_edge(i - 1, from);
            return;
        }
    if (node_count == node_capacity) {
        node_capacity = node_capacity ? node_capacity * 2 : 1 << 16;
        nodes = realloc(nodes, node_capacity * sizeof *nodes);
        if (nodes == NULL)
            abort();
    }
    nodes[node_count] = (struct node){.next_in_bucket = *link};
    memcpy(&nodes[node_count].state, &s, sizeof s);
    *link = ++node_count;
    add_edge(node_count - 1, from);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void step(uint32_t at, struct state s, struct krc_offset_event event)
{
    krc_error error;
    struct krc_offset_update update;
    enum krc_offset_state was = s.machine.state;
    steps++;
    if (krc_offsets_step(&s.machine, &event, &update, &error) < 0)
        die(krc_offset_event_name(event.type), &nodes[at].state, error.message);
    row_seen[was][event.type] = true;
    /* an acknowledgement and a commit leave the question that is open as it is */
    bool keeps_question = event.type == KRC_ON_ACK || event.type == KRC_ON_COMMITTED ||
                          (update.ask == KRC_ASK_NOTHING && event.type == KRC_ON_NEW_EPOCH);
    if (!keeps_question)
        s.todo = update;
    if (event.type == KRC_ON_COMMITTED) {
        s.world.stored = (int8_t)s.machine.committed;
        s.world.stored_epoch = (int8_t)s.machine.acked_epoch;
        s.world.stored_topic = s.world.topic;
    }
    reach(&s, at);
}

static void answer(uint32_t at, const struct state *s, struct krc_offset_event event)
{
    event.match = s->todo.generation;
    step(at, *s, event);
    /* the same answer to an older question changes nothing */
    struct state late = *s;
    struct krc_offset_update update;
    event.match = s->todo.generation + 7;
    struct krc_offsets before = late.machine;
    if (krc_offsets_step(&late.machine, &event, &update, NULL) < 0 || !update.stale)
        die(krc_offset_event_name(event.type), s, "a late answer was not recognised");
    before.stale++;
    if (memcmp(&before, &late.machine, sizeof before) != 0)
        die(krc_offset_event_name(event.type), s, "a late answer changed something");
    stale_answers++;
}

static int32_t epoch_at(const struct world *w, int64_t offset)
{
    int32_t epoch = 0;
    for (int32_t e = 0; e <= w->epoch; e++)
        if (w->epoch_start[e] <= offset)
            epoch = e;
    return epoch;
}

/* Where an epoch ends: the start of the next, or the log's end. */
static int64_t epoch_end(const struct world *w, int32_t epoch, int32_t *found)
{
    *found = epoch > w->epoch ? -1 : epoch;
    if (*found < 0)
        return -1;
    return epoch == w->epoch ? w->log_end : w->epoch_start[epoch + 1];
}

static void answer_fetch(uint32_t at, const struct state *s)
{
    const struct world *w = &s->world;
    int64_t position = s->machine.position;
    if (position < w->log_start || position > w->log_end) {
        answer(at, s, (struct krc_offset_event){.type = KRC_ON_OUT_OF_RANGE});
        return;
    }
    answer(at, s, (struct krc_offset_event){.type = KRC_ON_CAUGHT_UP});
    answer(at, s, (struct krc_offset_event){.type = KRC_ON_END});
    for (int64_t to = position + 1; to <= w->log_end; to++) {
        int32_t epoch = epoch_at(w, to - 1);
        struct krc_offset_event batch = {.type = KRC_ON_BATCH, .offset = to, .epoch = epoch};
        for (batch.delivered = 1; batch.delivered <= to - position; batch.delivered++)
            answer(at, s, batch);
        for (int fate = KRC_ABORTED; fate <= KRC_SKIPPED; fate += KRC_SKIPPED - KRC_ABORTED)
            answer(at, s,
                   (struct krc_offset_event){.type = KRC_ON_PASSED,
                                             .offset = to,
                                             .epoch = epoch,
                                             .fate = (enum krc_fate)fate});
    }
}

/* Online, a topic may be found to be another one whatever is being asked, once it has a position. */
static void find_recreated(uint32_t at, const struct state *s)
{
    static const enum krc_offset_event_type types[] = {KRC_ON_RESET_START, KRC_ON_RESET_END,
                                                       KRC_ON_RESET_TIME, KRC_ON_RESET_REFUSED};
    enum krc_ask ask = s->todo.ask;
    if (s->world.topic == 0 || s->machine.position < 0 || ask == KRC_ASK_NOTHING ||
        ask == KRC_ASK_STORED)
        return;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        answer(at, s, (struct krc_offset_event){.type = types[i], .cause = KRC_CAUSE_RECREATED});
}

static void answer_question(uint32_t at, const struct state *s)
{
    const struct world *w = &s->world;
    enum krc_reset_policy policy = (enum krc_reset_policy)w->policy;
    int32_t found;
    int64_t end;
    switch (s->todo.ask) {
    case KRC_ASK_NOTHING:
        return;
    case KRC_ASK_STORED:
        answer(at, s,
               krc_offsets_judge_stored(policy, w->stored >= 0, w->stored_topic == w->topic,
                                        w->stored, w->stored_epoch));
        break;
    case KRC_ASK_EPOCH_END:
        end = epoch_end(w, s->todo.epoch, &found);
        answer(at, s, krc_offsets_judge_epoch_end(&s->machine, policy, found, end));
        answer(at, s, krc_offsets_judge_epoch_end(&s->machine, policy, -1, -1));
        break;
    case KRC_ASK_RANGE:
        answer(at, s, krc_offsets_judge_range(&s->machine, policy, w->log_start, w->log_end));
        break;
    case KRC_ASK_START:
        answer(at, s, (struct krc_offset_event){.type = KRC_ON_LOCATED, .offset = w->log_start});
        break;
    case KRC_ASK_END:
        answer(at, s, (struct krc_offset_event){.type = KRC_ON_LOCATED, .offset = w->log_end});
        break;
    case KRC_ASK_TIME:
        for (int64_t o = w->log_start; o <= w->log_end; o++)
            answer(at, s, (struct krc_offset_event){.type = KRC_ON_LOCATED, .offset = o});
        break;
    case KRC_ASK_FETCH:
        answer_fetch(at, s);
        break;
    }
    answer(at, s, (struct krc_offset_event){.type = KRC_ON_RETRY});
    answer(at, s, (struct krc_offset_event){.type = KRC_ON_ERROR});
}

/* ---- The application -------------------------------------------------------------------------- */

/* An account of [start, offset) that adds up; where inside its fates lie does not matter. */
static struct krc_account account_to(const struct krc_offsets *o, int64_t offset)
{
    struct krc_account account = o->acked;
    account.delivered += offset - account.to;
    account.to = offset;
    return account;
}

static void application(uint32_t at, const struct state *s)
{
    static const enum krc_offset_event_type assigns[] = {KRC_ON_ASSIGN_START, KRC_ON_ASSIGN_END,
                                                         KRC_ON_ASSIGN_STORED};
    for (size_t i = 0; i < sizeof assigns / sizeof *assigns; i++)
        step(at, *s, (struct krc_offset_event){.type = assigns[i]});
    for (int64_t offset = 0; offset <= s->world.most; offset++)
        step(at, *s, (struct krc_offset_event){.type = KRC_ON_ASSIGN_OFFSET, .offset = offset});
    if (s->machine.state == KRC_UNASSIGNED)
        return;
    step(at, *s, (struct krc_offset_event){.type = KRC_ON_UNASSIGN});
    const struct krc_offsets *o = &s->machine;
    if (o->acknowledged < 0)
        return;
    for (int64_t offset = o->acknowledged; offset <= o->delivered_to; offset++)
        step(at, *s,
             (struct krc_offset_event){.type = KRC_ON_ACK,
                                       .match = o->stretch,
                                       .offset = offset,
                                       .epoch = o->epoch,
                                       .account = account_to(o, offset)});
    step(at, *s,
         (struct krc_offset_event){
             .type = KRC_ON_COMMITTED, .match = o->stretch, .offset = o->acknowledged});
}

/* ---- The world ---------------------------------------------------------------------------------- */

static void change(uint32_t at, const struct state *s, struct world world)
{
    struct state changed = *s;
    changed.world = world;
    reach(&changed, at);
}

/* Another leader: the reader is told, and validates where its position has an epoch. */
static void new_leader(uint32_t at, const struct state *s, struct world world)
{
    struct state changed = *s;
    world.epoch++;
    world.epoch_start[world.epoch] = world.log_end;
    changed.world = world;
    if (s->machine.state != KRC_UNASSIGNED && s->machine.epoch >= 0)
        step(at, changed, (struct krc_offset_event){.type = KRC_ON_NEW_EPOCH});
    else
        reach(&changed, at);
}

static void history(uint32_t at, const struct state *s)
{
    struct world w = s->world;
    if (w.log_end < w.most) {
        w.log_end++;
        change(at, s, w);
        w = s->world;
    }
    if (w.log_start < w.log_end) {
        w.log_start++;
        change(at, s, w);
        w = s->world;
    }
    if (w.epoch < EPOCH_MAX) {
        new_leader(at, s, w);
        for (; w.log_end > w.log_start; w.log_end--) { /* an unclean one */
            struct world shorter = w;
            shorter.log_end--;
            for (int e = 0; e <= shorter.epoch; e++)
                if (shorter.epoch_start[e] > shorter.log_end)
                    shorter.epoch_start[e] = shorter.log_end;
            new_leader(at, s, shorter);
        }
        w = s->world;
    }
    if (w.topic == 0 && s->machine.state == KRC_UNASSIGNED) {
        w = (struct world){.topic = 1,
                           .stored = w.stored,
                           .stored_epoch = w.stored_epoch,
                           .stored_topic = w.stored_topic,
                           .log_end = 1,
                           .policy = w.policy,
                           .most = w.most};
        change(at, s, w);
    }
}

/* ---- The walk ------------------------------------------------------------------------------------ */

static void walk(void)
{
    for (int policy = KRC_RESET_NEAREST; policy <= KRC_RESET_BY_DURATION; policy++) {
        struct state first;
        memset(&first, 0, sizeof first);
        first.world = (struct world){.log_end = 2, .stored = -1, .stored_epoch = -1,
                                     .policy = (int8_t)policy,
                                     .most = policy == KRC_RESET_NEAREST ? 3 : 2};
        krc_offsets_init(&first.machine);
        reach(&first, node_count);
    }
    for (uint32_t at = 0; at < node_count; at++) {
        struct state s;
        memcpy(&s, &nodes[at].state, sizeof s);
        answer_question(at, &s);
        find_recreated(at, &s);
        application(at, &s);
        history(at, &s);
    }
}

/* From every state reading goes on or ends as asked: walked backwards from those where it does. */
static void check_ways_out(void)
{
    uint32_t *queue = malloc(node_count * sizeof *queue), head = 0, tail = 0;
    if (queue == NULL)
        abort();
    for (uint32_t i = 0; i < node_count; i++) {
        enum krc_offset_state state = nodes[i].state.machine.state;
        if ((nodes[i].alive = state == KRC_FETCHING || state == KRC_ENDED))
            queue[tail++] = i;
    }
    for (; head < tail; head++)
        for (uint32_t k = 0; k < nodes[queue[head]].from_count; k++) {
            uint32_t from = nodes[queue[head]].from[k];
            if (nodes[from].alive)
                continue;
            nodes[from].alive = true;
            queue[tail++] = from;
        }
    for (uint32_t i = 0; i < node_count; i++)
        if (!nodes[i].alive)
            die("no way out", &nodes[i].state, "reading never goes on from here");
    free(queue);
}

static unsigned check_rows(void)
{
    unsigned rows = 0;
#define ROW(in, on, to, doing)                                                       \
    rows++;                                                                          \
    if (!row_seen[KRC_##in][KRC_ON_##on]) {                                          \
        fprintf(stderr, "model: the row %s, %s was never reached\n", #in, #on);      \
        exit(1);                                                                     \
    }
    KRC_OFFSET_TABLE(ROW)
#undef ROW
    return rows;
}

int main(void)
{
    buckets = calloc(BUCKETS, sizeof *buckets);
    if (buckets == NULL)
        abort();
    walk();
    check_ways_out();
    model_elections(row_seen);
    unsigned rows = check_rows();
    printf("model: %u states, %llu steps, %llu late answers; all %u rows reached, every law held, "
           "no state without a way out\n",
           node_count, (unsigned long long)steps, (unsigned long long)stale_answers, rows);
    for (uint32_t i = 0; i < node_count; i++)
        free(nodes[i].from);
    free(nodes);
    free(buckets);
    return 0;
}
