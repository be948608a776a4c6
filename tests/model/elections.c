/*
 * Two replicas of a log, and leaders that are elected although they have not got all of it: as often
 * as epochs allow, so that histories part, and part again from what was read before.
 *
 * It is walked with room for two epochs only (KRC_EPOCHS_MAX), so that neighbours are merged.
 *
 * The law: wherever the reader fetches, each offset below its position that the leader's log has is
 * the very record that it read there.  What is another record by now lies at or beyond the
 * position, so it will be read, in an account of its own; nothing of the newest log is passed over.
 */
#include "tests/model/elections.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLICAS = 2, LENGTH = 3, EPOCHS = 5, NONE = -1 };

/* An offset's record is identified by the epoch in which it was written. */
struct replica {
    int8_t length;
    int8_t record[LENGTH];
};

struct state {
    struct replica replicas[REPLICAS];
    int8_t leader, epoch;
    int8_t read[LENGTH];         /* what the reader found at each offset below its position */
    int8_t stored_read[LENGTH];  /* the same of the committed offset */
    int8_t stored, stored_epoch; /* NONE: nothing is */
    struct krc_epochs stored_epochs;
    struct krc_offsets machine;
    struct krc_offset_update todo;
};

struct walk {
    struct state *states;
    uint32_t count, capacity;
    uint32_t *slots; /* index + 1; a power of two of them */
    bool (*row_seen)[KRC_OFFSET_EVENT_COUNT];
    uint64_t steps, divergences;
};

enum { SLOTS = 1 << 24 };

static const struct replica *log_of(const struct state *s)
{
    return &s->replicas[(int)s->leader];
}

static void die(const struct state *s, const char *why)
{
    fprintf(stderr, "model: elections: %s (in %s, position %lld, log", why,
            krc_offset_state_name(s->machine.state), (long long)s->machine.position);
    for (int i = 0; i < log_of(s)->length; i++)
        fprintf(stderr, " %d", log_of(s)->record[i]);
    fprintf(stderr, ", read");
    for (int i = 0; i < s->machine.position; i++)
        fprintf(stderr, " %d", s->read[i]);
    fprintf(stderr, ")\n");
    exit(1);
}

/* ---- The states that were reached ------------------------------------------------------------- */

static void forget_from(int8_t read[LENGTH], int64_t from)
{
    for (int64_t i = from < 0 ? 0 : from; i < LENGTH; i++)
        read[i] = NONE;
}

/* Counters, fates and what lies beyond an end are nothing that the future depends on. */
static void normalize(struct state *s)
{
    struct krc_offsets *o = &s->machine;
    struct krc_epochs *lists[] = {&o->epochs, &s->stored_epochs};
    o->account = o->acked = (struct krc_account){
        .from = o->start, .to = o->position, .delivered = o->position - o->start};
    o->acked.to = o->acknowledged;
    o->acked.delivered = o->acknowledged - o->start;
    o->stretch = 0;
    o->stale = 0;
    o->cause = KRC_CAUSE_NONE;
    o->generation = s->todo.ask != KRC_ASK_NOTHING;
    s->todo = (struct krc_offset_update){
        .ask = s->todo.ask, .generation = o->generation, .epoch = o->asked_epoch};
    if (o->state != KRC_VALIDATING) {
        o->asked_epoch = s->todo.epoch = NONE;
        o->agreed = 0;
    }
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (int i = lists[k]->count; i < KRC_EPOCHS_MAX; i++)
            lists[k]->first[i] = lists[k]->epoch[i] = 0;
    forget_from(s->read, o->position);
}

static uint32_t hash(const struct state *s)
{
    const uint8_t *bytes = (const uint8_t *)s;
    uint64_t h = 0, word;
    for (size_t i = 0; i + sizeof word <= sizeof *s; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (uint32_t)(h >> 32) & (SLOTS - 1);
}

static void reach(struct walk *w, const struct state *raw)
{
    struct state s;
    memcpy(&s, raw, sizeof s); /* with its padding, which is zero */
    normalize(&s);
    uint32_t at = hash(&s);
    for (; w->slots[at] != 0; at = (at + 1) & (SLOTS - 1))
        if (memcmp(&w->states[w->slots[at] - 1], &s, sizeof s) == 0)
            return;
    if (w->count == SLOTS / 2)
        die(&s, "more states than there is room for");
    if (w->count == w->capacity) {
        w->capacity = w->capacity ? w->capacity * 2 : 1 << 12;
        w->states = realloc(w->states, w->capacity * sizeof s);
        if (w->states == NULL)
            abort();
    }
    memcpy(&w->states[w->count], &s, sizeof s);
    w->slots[at] = ++w->count;
}

/* ---- The law ------------------------------------------------------------------------------------ */

static void check(const struct state *s)
{
    const struct krc_offsets *o = &s->machine;
    if (o->state != KRC_FETCHING)
        return;
    for (int i = 0; i < o->position && i < log_of(s)->length; i++)
        if (s->read[i] != log_of(s)->record[i])
            die(s, "a record of the newest log was passed over");
}

static void step(struct walk *w, const struct state *from, struct krc_offset_event event)
{
    struct state s;
    struct krc_offset_update update;
    krc_error error;
    memcpy(&s, from, sizeof s);
    event.match = s.todo.generation;
    if (event.type == KRC_ON_ACK || event.type == KRC_ON_COMMITTED)
        event.match = s.machine.stretch;
    w->steps++;
    w->row_seen[s.machine.state][event.type] = true;
    w->divergences += event.type == KRC_ON_DIVERGED;
    if (krc_offsets_step(&s.machine, &event, &update, &error) < 0)
        die(from, error.message);
    if (event.type != KRC_ON_ACK && event.type != KRC_ON_COMMITTED)
        s.todo = update;
    if (event.type == KRC_ON_STORED)
        memcpy(s.read, s.stored_read, sizeof s.read);
    if (update.reset)
        forget_from(s.read, update.to);
    for (int64_t i = from->machine.position; event.type == KRC_ON_BATCH && i < event.offset; i++)
        s.read[i] = log_of(from)->record[i];
    if (event.type == KRC_ON_PASSED) /* compacted away: it had been that record */
        s.read[from->machine.position] = log_of(from)->record[from->machine.position];
    check(&s);
    reach(w, &s);
}

/* ---- What a leader answers ---------------------------------------------------------------------- */

/* As Kafka keeps it: the epochs of the log's records, and the leader's own from its election on.
 * The last one that is not above `epoch`, and where the next begins; the first one's begin where
 * all are above. */
static int32_t epoch_end(const struct state *s, int32_t epoch, int64_t *end)
{
    const struct replica *log = log_of(s);
    int32_t found = NONE;
    *end = log->length;
    if (epoch == s->epoch)
        return epoch;
    for (int i = 0; i < log->length; i++) {
        if (log->record[i] > epoch) {
            *end = i;
            break;
        }
        found = log->record[i];
    }
    return found == NONE ? epoch : found;
}

static void answer_fetch(struct walk *w, const struct state *s)
{
    const struct replica *log = log_of(s);
    int64_t at = s->machine.position;
    if (at > log->length)
        step(w, s, (struct krc_offset_event){.type = KRC_ON_OUT_OF_RANGE});
    for (int64_t to = at + 1; to <= log->length && log->record[to - 1] == log->record[at]; to++)
        step(w, s, (struct krc_offset_event){.type = KRC_ON_BATCH,
                                             .offset = to,
                                             .epoch = log->record[at],
                                             .delivered = to - at});
    if (at + 1 < log->length) /* a hole, known by the record behind it */
        step(w, s, (struct krc_offset_event){.type = KRC_ON_PASSED,
                                             .offset = at + 1,
                                             .epoch = log->record[at + 1],
                                             .fate = KRC_ABSENT});
}

static void answer(struct walk *w, const struct state *s)
{
    struct krc_offset_event event;
    int64_t end;
    int32_t found;
    switch (s->todo.ask) {
    case KRC_ASK_STORED:
        event = krc_offsets_judge_stored(KRC_RESET_NEAREST, s->stored != NONE, true, s->stored,
                                         s->stored_epoch);
        event.epochs = s->stored_epochs.count > 0 ? &s->stored_epochs : NULL;
        if (event.type == KRC_ON_STORED)
            step(w, s, event);
        break;
    case KRC_ASK_EPOCH_END:
        found = epoch_end(s, s->todo.epoch, &end);
        step(w, s, krc_offsets_judge_epoch_end(&s->machine, KRC_RESET_NEAREST, found, end));
        break;
    case KRC_ASK_RANGE:
        step(w, s, krc_offsets_judge_range(&s->machine, KRC_RESET_NEAREST, 0, log_of(s)->length));
        break;
    case KRC_ASK_FETCH:
        answer_fetch(w, s);
        break;
    default:
        break;
    }
}

/* ---- The reader commits, sleeps, and wakes -------------------------------------------------------- */

static void commit(struct walk *w, const struct state *from)
{
    struct state s;
    struct krc_offset_update nothing;
    const struct krc_offsets *o = &s.machine;
    memcpy(&s, from, sizeof s);
    if (o->state != KRC_FETCHING || o->epoch < 0)
        return;
    struct krc_offset_event ack = {.type = KRC_ON_ACK,
                                   .match = o->stretch,
                                   .offset = o->position,
                                   .epoch = o->epoch,
                                   .account = o->account};
    struct krc_offset_event committed = {
        .type = KRC_ON_COMMITTED, .match = o->stretch, .offset = o->position};
    if (krc_offsets_step(&s.machine, &ack, &nothing, NULL) < 0 ||
        krc_offsets_step(&s.machine, &committed, &nothing, NULL) < 0)
        die(from, "what was read cannot be committed");
    s.stored = (int8_t)o->acknowledged;
    s.stored_epoch = (int8_t)o->acked_epoch;
    s.stored_epochs = o->epochs;
    memcpy(s.stored_read, s.read, sizeof s.read);
    reach(w, &s);
}

static void sleep_and_wake(struct walk *w, const struct state *s)
{
    if (s->machine.state == KRC_UNASSIGNED && s->stored == NONE)
        step(w, s, (struct krc_offset_event){.type = KRC_ON_ASSIGN_OFFSET});
    else if (s->machine.state == KRC_UNASSIGNED)
        step(w, s, (struct krc_offset_event){.type = KRC_ON_ASSIGN_STORED});
    else
        step(w, s, (struct krc_offset_event){.type = KRC_ON_UNASSIGN});
}

/* ---- The replicas --------------------------------------------------------------------------------- */

static void append(struct walk *w, const struct state *from)
{
    struct state s;
    memcpy(&s, from, sizeof s);
    struct replica *log = &s.replicas[(int)s.leader];
    if (log->length == LENGTH)
        return;
    log->record[(int)log->length++] = s.epoch;
    reach(w, &s);
}

static void replicate(struct walk *w, const struct state *from)
{
    struct state s;
    memcpy(&s, from, sizeof s);
    s.replicas[1 - s.leader] = *log_of(from);
    reach(w, &s);
}

/* The reader hears of it, and does not fetch from the new leader before. */
static void elect(struct walk *w, const struct state *from)
{
    struct state s;
    memcpy(&s, from, sizeof s);
    if (s.epoch + 1 == EPOCHS)
        return;
    s.epoch++;
    s.leader = 1 - s.leader;
    if (s.machine.state != KRC_UNASSIGNED && s.machine.epoch >= 0)
        step(w, &s, (struct krc_offset_event){.type = KRC_ON_NEW_EPOCH});
    else
        reach(w, &s);
}

void model_elections(bool row_seen[KRC_OFFSET_STATE_COUNT][KRC_OFFSET_EVENT_COUNT])
{
    struct walk w = {.row_seen = row_seen, .slots = calloc(SLOTS, sizeof *w.slots)};
    struct state s;
    if (w.slots == NULL)
        abort();
    memset(&s, 0, sizeof s);
    s.stored = s.stored_epoch = NONE;
    krc_offsets_init(&s.machine);
    reach(&w, &s);
    for (uint32_t at = 0; at < w.count; at++) {
        memcpy(&s, &w.states[at], sizeof s);
        answer(&w, &s);
        commit(&w, &s);
        sleep_and_wake(&w, &s);
        append(&w, &s);
        replicate(&w, &s);
        elect(&w, &s);
    }
    printf("model: elections: %u states, %llu steps, %llu times an earlier epoch was asked about; "
           "no record of the newest log was passed over\n",
           w.count, (unsigned long long)w.steps, (unsigned long long)w.divergences);
    free(w.states);
    free(w.slots);
}
