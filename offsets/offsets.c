#include "offsets/offsets.h"

#include <stdio.h>

/* ---- What the table's last column means ---------------------------------------------------- */

typedef void doing_fn(struct krc_offsets *o, const struct krc_offset_event *e,
                      struct krc_offset_update *u);

static void ask(struct krc_offsets *o, struct krc_offset_update *u, enum krc_ask what)
{
    u->ask = what;
    u->generation = ++o->generation;
    u->offset = o->position;
    u->epoch = o->asked_epoch;
}

/* Offsets mean something new from here on: an empty account at `offset`. */
static void begin_stretch(struct krc_offsets *o, int64_t offset, int32_t epoch)
{
    o->stretch++;
    o->start = o->position = o->delivered_to = o->acknowledged = offset;
    o->committed = -1;
    o->epoch = o->acked_epoch = o->asked_epoch = epoch;
    o->agreed = offset;
    o->account = o->acked = (struct krc_account){.from = offset, .to = offset};
    o->cause = KRC_CAUSE_NONE;
}

/* What was passed needs no acknowledgement: with nothing delivered outstanding, the acknowledged
 * offset moves along. */
static void acknowledge_passed(struct krc_offsets *o)
{
    o->acknowledged = o->position;
    o->acked_epoch = o->epoch;
    o->acked = o->account;
}

static int64_t *fate_count(struct krc_account *account, enum krc_fate fate)
{
    switch (fate) {
    case KRC_ABORTED:
        return &account->aborted;
    case KRC_CONTROL:
        return &account->control;
    case KRC_ABSENT:
        return &account->absent;
    case KRC_LOST:
        return &account->lost;
    case KRC_SKIPPED:
        break;
    }
    return &account->skipped;
}

static void read_in_epoch(struct krc_offsets *o, int32_t epoch, int64_t to)
{
    if (epoch >= 0)
        krc_epochs_add(&o->epochs, epoch, o->position, to);
}

static void pass_to(struct krc_offsets *o, int64_t offset, enum krc_fate fate)
{
    bool idle = o->acknowledged == o->position;
    *fate_count(&o->account, fate) += offset - o->position;
    o->account.to = o->position = offset;
    if (idle)
        acknowledge_passed(o);
}

static bool begins_history(enum krc_reset_cause cause)
{
    return cause == KRC_CAUSE_BEYOND_END || cause == KRC_CAUSE_TRUNCATED ||
           cause == KRC_CAUSE_RECREATED;
}

/* Leaves the position for `offset`, by policy.  Below the log start what lies between is lost;
 * after a truncation or a recreation the offsets are other records' and a new history begins. */
static void move_by_policy(struct krc_offsets *o, int64_t offset, int32_t epoch,
                           enum krc_reset_cause cause, struct krc_offset_update *u)
{
    u->reset = true;
    u->cause = cause;
    u->from = o->position;
    u->to = offset;
    u->new_history = begins_history(cause);
    if (u->new_history)
        begin_stretch(o, offset, epoch);
    else
        pass_to(o, offset, KRC_LOST);
    o->cause = KRC_CAUSE_NONE;
}

static void begin_elsewhere(struct krc_offsets *o, int64_t offset)
{
    begin_stretch(o, offset, -1);
    o->epochs = (struct krc_epochs){0};
}

static void fetch(struct krc_offsets *o, const struct krc_offset_event *e,
                  struct krc_offset_update *u)
{
    (void)e;
    ask(o, u, KRC_ASK_FETCH);
}

static void go_to(struct krc_offsets *o, const struct krc_offset_event *e,
                  struct krc_offset_update *u)
{
    begin_elsewhere(o, e->offset);
    ask(o, u, KRC_ASK_FETCH);
}

/* To where histories part, or to an end of the log: what was read below stays known. */
static void reset(struct krc_offsets *o, const struct krc_offset_event *e,
                  struct krc_offset_update *u)
{
    struct krc_epochs *read = &o->epochs;
    bool complete = read->count > 0 && !read->incomplete;
    u->unsure = e->unsure;
    krc_epochs_cut(read, e->offset);
    int32_t epoch = read->count > 0 ? read->epoch[read->count - 1] : complete ? -1 : e->epoch;
    move_by_policy(o, e->offset, epoch, e->cause, u);
    ask(o, u, KRC_ASK_FETCH);
}

static void arrive(struct krc_offsets *o, const struct krc_offset_event *e,
                   struct krc_offset_update *u)
{
    if (begins_history(o->cause))
        o->epochs = (struct krc_epochs){0};
    if (o->cause == KRC_CAUSE_NONE)
        begin_elsewhere(o, e->offset);
    else
        move_by_policy(o, e->offset, -1, o->cause, u);
    ask(o, u, KRC_ASK_FETCH);
}

static void resume_at(struct krc_offsets *o, const struct krc_offset_event *e)
{
    begin_stretch(o, e->offset, e->epoch);
    o->epochs = e->epochs != NULL ? *e->epochs : krc_epochs_of_offset(e->epoch, e->offset);
    o->committed = e->offset;
    o->cause = e->cause;
}

static void resume(struct krc_offsets *o, const struct krc_offset_event *e,
                   struct krc_offset_update *u)
{
    resume_at(o, e);
    ask(o, u, KRC_ASK_FETCH);
}

static void advance(struct krc_offsets *o, const struct krc_offset_event *e,
                    struct krc_offset_update *u)
{
    o->account.delivered += e->delivered;
    o->account.absent += e->offset - o->position - e->delivered;
    read_in_epoch(o, e->epoch, e->offset);
    o->account.to = o->position = o->delivered_to = e->offset;
    o->epoch = e->epoch;
    ask(o, u, KRC_ASK_FETCH);
}

static void pass(struct krc_offsets *o, const struct krc_offset_event *e,
                 struct krc_offset_update *u)
{
    if (e->epoch >= 0)
        o->epoch = e->epoch;
    read_in_epoch(o, e->epoch, e->offset);
    pass_to(o, e->offset, e->fate);
    ask(o, u, KRC_ASK_FETCH);
}

static void acknowledge(struct krc_offsets *o, const struct krc_offset_event *e,
                        struct krc_offset_update *u)
{
    (void)u;
    if (e->offset >= o->delivered_to) {
        acknowledge_passed(o);
        return;
    }
    o->acknowledged = e->offset;
    o->acked_epoch = e->epoch;
    o->acked = e->account;
}

static void note_commit(struct krc_offsets *o, const struct krc_offset_event *e,
                        struct krc_offset_update *u)
{
    (void)u;
    o->committed = e->offset;
}

static void forget_position(struct krc_offsets *o)
{
    begin_elsewhere(o, -1);
}

static void let_go(struct krc_offsets *o, const struct krc_offset_event *e,
                   struct krc_offset_update *u)
{
    (void)e;
    (void)u;
    forget_position(o);
    o->generation++;
}

static void stop(struct krc_offsets *o, const struct krc_offset_event *e,
                 struct krc_offset_update *u)
{
    (void)u;
    o->cause = e->cause;
    o->generation++;
}

static void keep(struct krc_offsets *o, const struct krc_offset_event *e,
                 struct krc_offset_update *u)
{
    (void)o;
    (void)e;
    (void)u;
}

/* The questions: at the start of a stretch, again, for a reset, and at a committed offset. */
#define ASKS(name, what)                                                 \
    static void name(struct krc_offsets *o, const struct krc_offset_event *e, \
                     struct krc_offset_update *u)                        \
    {                                                                    \
        (void)e;                                                         \
        ask(o, u, what);                                                 \
    }
#define ASKS_AFRESH(name, what)                                          \
    static void name(struct krc_offsets *o, const struct krc_offset_event *e, \
                     struct krc_offset_update *u)                        \
    {                                                                    \
        (void)e;                                                         \
        forget_position(o);                                              \
        o->wanted = what;                                                \
        ask(o, u, what);                                                 \
    }
#define ASKS_FOR_RESET(name, what)                                       \
    static void name(struct krc_offsets *o, const struct krc_offset_event *e, \
                     struct krc_offset_update *u)                        \
    {                                                                    \
        o->cause = e->cause;                                             \
        o->wanted = what;                                                \
        ask(o, u, what);                                                 \
    }
#define ASKS_AT_STORED(name, what)                                       \
    static void name(struct krc_offsets *o, const struct krc_offset_event *e, \
                     struct krc_offset_update *u)                        \
    {                                                                    \
        resume_at(o, e);                                                 \
        o->wanted = what;                                                \
        ask(o, u, what);                                                 \
    }

ASKS(ask_range, KRC_ASK_RANGE)
ASKS_AFRESH(ask_stored, KRC_ASK_STORED)
ASKS_AFRESH(ask_start, KRC_ASK_START)
ASKS_AFRESH(ask_end, KRC_ASK_END)
ASKS_FOR_RESET(ask_start_for_reset, KRC_ASK_START)
ASKS_FOR_RESET(ask_end_for_reset, KRC_ASK_END)
ASKS_FOR_RESET(ask_time_for_reset, KRC_ASK_TIME)
ASKS_AT_STORED(resume_and_ask_start, KRC_ASK_START)
ASKS_AT_STORED(resume_and_ask_end, KRC_ASK_END)
ASKS_AT_STORED(resume_and_ask_time, KRC_ASK_TIME)

static void ask_where_epoch_ends(struct krc_offsets *o, struct krc_offset_update *u, int32_t epoch,
                                 int64_t agreed)
{
    o->asked_epoch = epoch;
    o->agreed = agreed;
    ask(o, u, KRC_ASK_EPOCH_END);
}

static void ask_epoch_end(struct krc_offsets *o, const struct krc_offset_event *e,
                          struct krc_offset_update *u)
{
    (void)e;
    ask_where_epoch_ends(o, u, o->epoch, o->position);
}

static void ask_earlier_epoch_end(struct krc_offsets *o, const struct krc_offset_event *e,
                                  struct krc_offset_update *u)
{
    ask_where_epoch_ends(o, u, e->epoch, e->offset);
}

static void resume_and_ask_epoch_end(struct krc_offsets *o, const struct krc_offset_event *e,
                                     struct krc_offset_update *u)
{
    resume_at(o, e);
    ask_where_epoch_ends(o, u, o->epoch, o->position);
}

static void ask_again(struct krc_offsets *o, const struct krc_offset_event *e,
                      struct krc_offset_update *u)
{
    (void)e;
    ask(o, u, o->wanted);
}

static void resume_and_stop(struct krc_offsets *o, const struct krc_offset_event *e,
                            struct krc_offset_update *u)
{
    (void)u;
    resume_at(o, e);
    o->generation++;
}

/* ---- The step ------------------------------------------------------------------------------ */

struct row {
    doing_fn *doing; /* NULL: an illegal move */
    enum krc_offset_state to;
};

/* A row that stands twice in the table would override the first: the compiler refuses it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Woverride-init"
static const struct row rows[KRC_OFFSET_STATE_COUNT][KRC_OFFSET_EVENT_COUNT] = {
#define ROW(in, on, to, doing) [KRC_##in][KRC_ON_##on] = {doing, KRC_##to},
    KRC_OFFSET_TABLE(ROW)
#undef ROW
};
#pragma GCC diagnostic pop

enum match { NOTHING, ASK, STRETCH };

static const uint8_t matches[KRC_OFFSET_EVENT_COUNT] = {
#define MATCH(name, match, meaning) [KRC_ON_##name] = match,
    KRC_OFFSET_EVENTS(MATCH)
#undef MATCH
};

static bool comes_too_late(const struct krc_offsets *o, const struct krc_offset_event *e)
{
    switch (matches[e->type]) {
    case ASK:
        return e->match != o->generation;
    case STRETCH:
        return e->match != o->stretch;
    default:
        return false;
    }
}

/* What a driver may not say, whatever the state: NULL, or why. */
static const char *objection(const struct krc_offsets *o, const struct krc_offset_event *e)
{
    switch (e->type) {
    case KRC_ON_BATCH:
        if (e->delivered < 0 || e->delivered > e->offset - o->position)
            return "a batch delivers more records than it has offsets";
        /* fall through */
    case KRC_ON_PASSED:
        return e->offset > o->position ? NULL : "what was read does not lie at the position";
    case KRC_ON_DIVERGED:
        return e->epoch >= 0 && e->epoch < o->asked_epoch ? NULL
                                                          : "no earlier epoch is asked about";
    case KRC_ON_LOCATED:
        if (o->cause == KRC_CAUSE_BELOW_START && e->offset <= o->position)
            return "a log start offset went back";
        return e->offset >= 0 ? NULL : "a negative offset was located";
    case KRC_ON_ACK:
        if (e->offset < o->acknowledged || e->offset > o->position)
            return "acknowledged outside of what was delivered";
        if (e->offset < o->delivered_to && krc_account_sum(&e->account) != e->offset - o->start)
            return "the account acknowledged is not the range's";
        return NULL;
    case KRC_ON_COMMITTED:
        return e->offset >= o->committed && e->offset <= o->acknowledged
                   ? NULL
                   : "a commit of what was not acknowledged";
    default:
        return NULL;
    }
}

static int refuse(struct krc_offsets *o, const struct krc_offset_event *e, const char *why,
                  krc_error *error)
{
    enum krc_offset_state was = o->state;
    o->state = KRC_FAILED;
    o->generation++;
    return krc_fail(error, KRC_E_STATE, "%s while %s, at offset %lld: %s",
                    krc_offset_event_name(e->type), krc_offset_state_name(was),
                    (long long)o->position, why);
}

int krc_offsets_step(struct krc_offsets *offsets, const struct krc_offset_event *event,
                     struct krc_offset_update *update, krc_error *error)
{
    *update = (struct krc_offset_update){.ask = KRC_ASK_NOTHING};
    if (comes_too_late(offsets, event)) {
        offsets->stale++;
        update->stale = true;
        return KRC_OK;
    }
    const struct row *row = &rows[offsets->state][event->type];
    if (row->doing == NULL)
        return refuse(offsets, event, "the state machine has no such move", error);
    const char *why = objection(offsets, event);
    if (why != NULL)
        return refuse(offsets, event, why, error);
    offsets->state = row->to;
    row->doing(offsets, event, update);
    why = krc_offsets_invariant(offsets);
    return why == NULL ? KRC_OK : refuse(offsets, event, why, error);
}

void krc_offsets_init(struct krc_offsets *offsets)
{
    *offsets = (struct krc_offsets){.state = KRC_UNASSIGNED};
    forget_position(offsets);
}

/* ---- The laws ------------------------------------------------------------------------------ */

int64_t krc_account_sum(const struct krc_account *a)
{
    return a->delivered + a->aborted + a->control + a->absent + a->lost + a->skipped;
}

static bool adds_up(const struct krc_account *a, int64_t from, int64_t to)
{
    return a->from == from && a->to == to && krc_account_sum(a) == to - from &&
           (a->delivered | a->aborted | a->control | a->absent | a->lost | a->skipped) >= 0;
}

const char *krc_offsets_invariant(const struct krc_offsets *o)
{
    /* Only what was read can be acknowledged, and reading only goes forward. */
    if (!(o->start <= o->acknowledged && o->acknowledged <= o->position))
        return "start <= acknowledged <= position does not hold";
    /* What was handed on lies before the position. */
    if (!(o->start <= o->delivered_to && o->delivered_to <= o->position))
        return "start <= delivered <= position does not hold";
    /* With nothing delivered outstanding, all that was read is acknowledged. */
    if (o->acknowledged >= o->delivered_to && o->acknowledged != o->position)
        return "markers behind the last acknowledged batch were not acknowledged with it";
    /* A committed offset is an acknowledged one. */
    if (o->committed > o->acknowledged)
        return "an offset is committed that was not acknowledged";
    /* Every offset has exactly one fate. */
    if (!adds_up(&o->account, o->start, o->position))
        return "the account does not add up to the offsets read";
    if (!adds_up(&o->acked, o->start, o->acknowledged))
        return "the account does not add up to the offsets acknowledged";
    /* What is known of epochs is what was read. */
    if (o->epochs.count > 0 && o->epochs.end > o->position)
        return "an epoch was read beyond the position";
    /* Histories part at or below what was read. */
    if (o->state == KRC_VALIDATING && o->agreed > o->position)
        return "histories agree beyond the position";
    /* To read, one must know where. */
    if (o->position < 0 && (o->state == KRC_FETCHING || o->state == KRC_ENDED ||
                            o->state == KRC_VALIDATING || o->state == KRC_MEASURING))
        return "there is no position";
    /* Who is let go holds nothing. */
    if (o->state == KRC_UNASSIGNED && o->position != -1)
        return "an unassigned partition has a position";
    return NULL;
}

/* ---- Names --------------------------------------------------------------------------------- */

const char *krc_offset_state_name(enum krc_offset_state state)
{
    static const char *const names[] = {
#define NAME(name, meaning) #name,
        KRC_OFFSET_STATES(NAME)
#undef NAME
    };
    return names[state];
}

const char *krc_offset_event_name(enum krc_offset_event_type type)
{
    static const char *const names[] = {
#define NAME(name, match, meaning) #name,
        KRC_OFFSET_EVENTS(NAME)
#undef NAME
    };
    return names[type];
}
