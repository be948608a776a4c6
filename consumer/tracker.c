#include "consumer/tracker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void krc_tracker_open(struct krc_tracker *tracker, struct krc_place *place,
                      struct krc_source *source, krc_tracker_event_fn *on_event, void *arg)
{
    *tracker = (struct krc_tracker){.place = place,
                                    .source = source,
                                    .config = source->config,
                                    .on_event = on_event,
                                    .arg = arg,
                                    .told_end = -1};
    krc_offsets_init(&tracker->offsets);
}

void krc_tracker_close(struct krc_tracker *tracker)
{
    if (tracker->source != NULL)
        tracker->source->ops->close(tracker->source);
    tracker->source = NULL;
}

struct krc_point krc_tracker_point(const struct krc_tracker *tracker)
{
    const struct krc_offsets *o = &tracker->offsets;
    return (struct krc_point){.offset = o->position,
                              .epoch = o->epoch,
                              .epochs = o->epochs,
                              .account = o->account};
}

/* ---- What is told -------------------------------------------------------------------------- */

static struct krc_event event_at(const struct krc_tracker *t, enum krc_event_type type,
                                 int64_t from, int64_t to)
{
    return (struct krc_event){.type = type,
                              .topic = t->place->topic,
                              .partition = t->place->partition,
                              .from = from,
                              .to = to};
}

KRC_PRINTF(5, 6)
static void tell(struct krc_tracker *t, enum krc_event_type type, int64_t from, int64_t to,
                 const char *format, ...)
{
    struct krc_event event = event_at(t, type, from, to);
    va_list args;
    va_start(args, format);
    vsnprintf(event.message, sizeof event.message, format, args);
    va_end(args);
    t->on_event(t->arg, &event, NULL);
}

/* What a reset costs, as a sentence's end. */
static void describe_loss(const struct krc_offset_update *u, char *text, size_t size)
{
    if (u->cause == KRC_CAUSE_BELOW_START)
        snprintf(text, size, "offsets %lld to %lld are lost", (long long)u->from,
                 (long long)u->to - 1);
    else if (u->cause == KRC_CAUSE_TRUNCATED)
        snprintf(text, size,
                 "what was read from there on is gone from the log, and a new history begins%s",
                 u->unsure ? "; leader epochs of what was read before are not known, so other "
                             "records may lie there now"
                           : "");
    else
        snprintf(text, size, "what was lost is unknown, and a new history begins");
}

static void tell_reset(struct krc_tracker *t, const struct krc_offset_update *u)
{
    static const enum krc_event_type types[] = {
        [KRC_CAUSE_NONE] = KRC_EVENT_RESET,
        [KRC_CAUSE_BELOW_START] = KRC_EVENT_RESET,
        [KRC_CAUSE_BEYOND_END] = KRC_EVENT_TRUNCATED,
        [KRC_CAUSE_TRUNCATED] = KRC_EVENT_TRUNCATED,
        [KRC_CAUSE_RECREATED] = KRC_EVENT_RECREATED,
    };
    char loss[240];
    if (u->cause == KRC_CAUSE_RECREATED)
        t->place->topic_id = t->source->topic_id;
    describe_loss(u, loss, sizeof loss);
    struct krc_event event = event_at(t, types[u->cause], u->from, u->to);
    if (u->new_history)
        event.account = t->left.account;
    snprintf(event.message, sizeof event.message, "%s: reset from %lld to %lld; %s",
             krc_reset_cause_text(u->cause), (long long)u->from, (long long)u->to, loss);
    t->on_event(t->arg, &event, u);
}

/* The log begins earlier than it did: another leader has deleted less. */
static void tell_returned(struct krc_tracker *t)
{
    struct krc_standing log;
    if (t->lost_from >= t->lost_to)
        return;
    t->source->ops->standing(t->source, &log);
    if (log.log_start_offset < 0 || log.log_start_offset >= t->lost_to)
        return;
    int64_t from = log.log_start_offset > t->lost_from ? log.log_start_offset : t->lost_from;
    tell(t, KRC_EVENT_NOTE, from, t->lost_to, "offsets %lld to %lld, which were counted as lost, "
         "are there again: the log start offset went back to %lld, as where a leader has deleted "
         "less than the one before; to read them, start at %lld", (long long)from,
         (long long)t->lost_to - 1, (long long)log.log_start_offset, (long long)from);
    t->lost_to = from;
}

static void tell_passed(struct krc_tracker *t, const struct krc_item *item)
{
    if (item->fate == KRC_LOST)
        tell(t, KRC_EVENT_LOST, item->from, item->to, "%s", item->why);
    else if (item->fate == KRC_SKIPPED)
        tell(t, KRC_EVENT_SKIPPED, item->from, item->to, "skipped up to offset %lld: %s",
             (long long)item->to, item->why);
    else if (item->is_misjudged)
        tell(t, KRC_EVENT_MISJUDGED, item->misjudged_from, item->from, "%s", item->why);
}

/* Once at each place. */
static void tell_end(struct krc_tracker *t)
{
    int64_t at = t->offsets.position, from;
    struct krc_event event;
    if (t->told_end == at)
        return;
    t->told_end = at;
    for (int i = 0; t->source->ops->remark(t->source, i, &from, event.message,
                                           sizeof event.message); i++)
        tell(t, KRC_EVENT_NOTE, from, at, "%s", event.message);
    tell(t, KRC_EVENT_CAUGHT_UP, at, at, "the end, at offset %lld", (long long)at);
}

/* ---- Answers to what the machine asks ------------------------------------------------------ */

static int refused(const struct krc_tracker *t, enum krc_reset_cause cause, krc_error *error)
{
    char range[96] = "";
    struct krc_standing log;
    static const int codes[] = {
        [KRC_CAUSE_NONE] = KRC_E_NOT_FOUND,
        [KRC_CAUSE_BELOW_START] = KRC_E_OUT_OF_RANGE,
        [KRC_CAUSE_BEYOND_END] = KRC_E_OUT_OF_RANGE,
        [KRC_CAUSE_TRUNCATED] = KRC_E_TRUNCATED,
        [KRC_CAUSE_RECREATED] = KRC_E_RECREATED,
    };
    t->source->ops->standing(t->source, &log);
    int64_t end = log.log_end_offset >= 0 ? log.log_end_offset : log.high_watermark;
    if (end >= 0)
        snprintf(range, sizeof range, " (the log is %lld to %lld)",
                 (long long)log.log_start_offset, (long long)end);
    char at[40] = "";
    if (t->offsets.position >= 0)
        snprintf(at, sizeof at, " at offset %lld", (long long)t->offsets.position);
    int rc = krc_fail(error, codes[cause],
                      "%s-%d%s: %s%s, and auto.offset.reset is none; choose an offset, or another "
                      "policy",
                      t->place->topic, (int)t->place->partition, at, krc_reset_cause_text(cause),
                      range);
    krc_error_at(error, t->place->topic, t->place->partition, t->offsets.position, -1);
    return rc;
}

static enum krc_reset_policy policy_of(const struct krc_tracker *t)
{
    return (enum krc_reset_policy)t->config->reset_policy;
}

/* Where the log begins is not always where the position goes. */
static void note_lost(struct krc_tracker *t)
{
    struct krc_standing log;
    t->lost_from = t->lost_to = 0;
    if (t->todo.cause != KRC_CAUSE_BELOW_START)
        return;
    t->source->ops->standing(t->source, &log);
    t->lost_from = t->todo.from;
    t->lost_to = t->todo.to;
    if (log.log_start_offset >= 0 && log.log_start_offset < t->lost_to)
        t->lost_to = log.log_start_offset;
}

static int step(struct krc_tracker *t, struct krc_offset_event event, krc_error *error)
{
    struct krc_point before = krc_tracker_point(t);
    event.match = t->todo.generation;
    int rc = krc_offsets_step(&t->offsets, &event, &t->todo, error);
    krc_error_at(rc < 0 ? error : NULL, t->place->topic, t->place->partition, -1, -1);
    KRC_TRY(rc);
    if (t->todo.reset) {
        t->left = before;
        t->told_end = -1;
        note_lost(t);
        tell_reset(t, &t->todo);
    }
    if (t->todo.reset && t->source->ops->reset != NULL)
        t->source->ops->reset(t->source);
    return event.type == KRC_ON_RESET_REFUSED ? refused(t, event.cause, error) : KRC_OK;
}

/* What happened without a question of ours: a leader epoch began, or the topic is another one. */
static int heed_notice(struct krc_tracker *t, krc_error *error)
{
    switch (t->source->ops->notice(t->source)) {
    case KRC_NOTICE_NEW_EPOCH:
        if (t->offsets.position < 0 || t->offsets.epoch < 0 || t->todo.ask == KRC_ASK_STORED)
            return KRC_OK;
        return step(t, (struct krc_offset_event){.type = KRC_ON_NEW_EPOCH}, error);
    case KRC_NOTICE_RECREATED:
        if (t->offsets.position < 0 || t->todo.ask == KRC_ASK_STORED)
            return KRC_OK;
        return step(t,
                    krc_offsets_judge_stored(policy_of(t), true, false, t->offsets.position,
                                             t->offsets.epoch),
                    error);
    case KRC_NOTICE_NONE:
        break;
    }
    return KRC_OK;
}

/*
 * Each of these answers the open question: 1 where the source knew, 0 where it does not yet.
 */
static int answer_stored(struct krc_tracker *t, krc_error *error)
{
    struct krc_start *s = &t->stored;
    bool is_given = s->found;
    if (!s->found && t->source->ops->stored != NULL) {
        int rc = t->source->ops->stored(t->source, s, error);
        if (rc <= 0)
            return rc;
    }
    bool is_of_source = !is_given && s->found;
    bool known = !krc_uuid_is_zero(&s->topic_id) && !krc_uuid_is_zero(&t->place->topic_id);
    if (is_of_source && !known)
        tell(t, KRC_EVENT_NOTE, s->offset, s->offset, "%s", KRC_UNPROTECTED);
    bool same = !known || krc_uuid_equal(&s->topic_id, &t->place->topic_id);
    struct krc_offset_event event =
        krc_offsets_judge_stored(policy_of(t), s->found, same, s->offset, s->epoch);
    event.epochs = same && s->epochs.count > 0 ? &s->epochs : NULL;
    KRC_TRY(step(t, event, error));
    return KRC_ANSWERED;
}

static int answer_epoch_end(struct krc_tracker *t, krc_error *error)
{
    int32_t found = -1;
    int64_t end = -1;
    int rc = t->source->ops->epoch_end(t->source, t->todo.epoch, &found, &end, error);
    if (rc <= 0)
        return rc;
    KRC_TRY(step(t, krc_offsets_judge_epoch_end(&t->offsets, policy_of(t), found, end), error));
    return KRC_ANSWERED;
}

static int answer_range(struct krc_tracker *t, krc_error *error)
{
    int64_t start, end;
    int rc = t->source->ops->range(t->source, t->offsets.position, &start, &end, error);
    if (rc <= 0)
        return rc;
    KRC_TRY(step(t, krc_offsets_judge_range(&t->offsets, policy_of(t), start, end), error));
    return KRC_ANSWERED;
}

/* KRC_ASK_START, KRC_ASK_END, KRC_ASK_TIME */
static int answer_where(struct krc_tracker *t, krc_error *error)
{
    struct krc_offset_event event = {.type = KRC_ON_LOCATED};
    int rc = t->source->ops->where(t->source, t->todo.ask,
                                   t->now_ms - t->config->reset_duration_ms, &event.offset, error);
    if (rc <= 0)
        return rc;
    KRC_TRY(step(t, event, error));
    return KRC_ANSWERED;
}

static bool knows_settled(const struct krc_tracker *t)
{
    return t->stored.found && t->stored.settled && t->offsets.committed == t->offsets.position;
}

/* The machine's event for an item. */
static struct krc_offset_event event_of(const struct krc_item *item)
{
    static const enum krc_offset_event_type types[] = {
        [KRC_ITEM_RECORDS] = KRC_ON_BATCH,         [KRC_ITEM_PASSED] = KRC_ON_PASSED,
        [KRC_ITEM_END] = KRC_ON_END,               [KRC_ITEM_CAUGHT_UP] = KRC_ON_CAUGHT_UP,
        [KRC_ITEM_OUT_OF_RANGE] = KRC_ON_OUT_OF_RANGE,
    };
    return (struct krc_offset_event){.type = types[item->type],
                                     .offset = item->to,
                                     .epoch = item->epoch,
                                     .delivered = item->delivered,
                                     .fate = item->fate};
}

/* 1: `item` is something to hand on; 0: go on. */
static int fetch(struct krc_tracker *t, struct krc_buffer *scratch, struct krc_item *item,
                 krc_error *error)
{
    KRC_TRY(t->source->ops->fetch(t->source, t->todo.offset, knows_settled(t), scratch, item,
                                  error));
    tell_returned(t);
    if (item->type == KRC_ITEM_WAIT)
        return 1;
    t->before = krc_tracker_point(t);
    if (item->type == KRC_ITEM_PASSED)
        tell_passed(t, item);
    if (item->type == KRC_ITEM_PASSED && item->to == item->from)
        return 0; /* a broken place that hides no offsets */
    KRC_TRY(step(t, event_of(item), error));
    if (item->type == KRC_ITEM_CAUGHT_UP)
        tell_end(t);
    return item->type == KRC_ITEM_RECORDS || item->type == KRC_ITEM_PASSED ||
           item->type == KRC_ITEM_CAUGHT_UP;
}

static int ended(struct krc_tracker *t, struct krc_item *item)
{
    if (t->offsets.state == KRC_ENDED)
        tell_end(t);
    item->type = KRC_ITEM_END;
    item->from = item->to = t->offsets.position;
    return 1;
}

/* 1: `item` is something to hand on; 0: go on. */
static int answer(struct krc_tracker *t, struct krc_buffer *scratch, struct krc_item *item,
                  krc_error *error)
{
    static int (*const answers[])(struct krc_tracker *, krc_error *) = {
        [KRC_ASK_STORED] = answer_stored, [KRC_ASK_EPOCH_END] = answer_epoch_end,
        [KRC_ASK_RANGE] = answer_range,   [KRC_ASK_START] = answer_where,
        [KRC_ASK_END] = answer_where,     [KRC_ASK_TIME] = answer_where,
    };
    if (t->todo.ask == KRC_ASK_NOTHING)
        return ended(t, item);
    KRC_TRY(heed_notice(t, error));
    if (t->todo.ask == KRC_ASK_NOTHING)
        return ended(t, item);
    if (t->todo.ask == KRC_ASK_FETCH)
        return fetch(t, scratch, item, error);
    int rc = answers[t->todo.ask](t, error);
    item->type = KRC_ITEM_WAIT;
    return rc == KRC_NOT_YET ? 1 : rc < 0 ? rc : 0;
}

int krc_tracker_next(struct krc_tracker *t, struct krc_buffer *scratch, struct krc_item *item,
                     krc_error *error)
{
    int rc;
    do
        rc = answer(t, scratch, item, error);
    while (rc == 0);
    if (rc > 0 || rc == KRC_E_INTERRUPTED) /* which leaves the question open */
        return rc > 0 ? KRC_OK : rc;
    krc_error_at(error, t->place->topic, t->place->partition, t->offsets.position, -1);
    if (t->offsets.state != KRC_FAILED) {
        struct krc_offset_event broken = {.type = KRC_ON_ERROR, .match = t->todo.generation};
        if (krc_offsets_step(&t->offsets, &broken, &t->todo, NULL) < 0)
            return KRC_E_STATE;
    }
    t->todo.ask = KRC_ASK_NOTHING;
    return rc;
}

/* ---- From outside -------------------------------------------------------------------------- */

int krc_tracker_assign(struct krc_tracker *t, int64_t start, const struct krc_start *stored,
                       krc_error *error)
{
    static const enum krc_offset_event_type names[] = {
        [-KRC_LATEST] = KRC_ON_ASSIGN_END,
        [-KRC_EARLIEST] = KRC_ON_ASSIGN_START,
        [-KRC_STORED] = KRC_ON_ASSIGN_STORED,
    };
    struct krc_offset_event event = {
        .type = start >= 0 ? KRC_ON_ASSIGN_OFFSET : names[-start], .offset = start, .epoch = -1};
    t->stored = stored == NULL ? (struct krc_start){0} : *stored;
    t->told_end = -1;
    if (t->source->ops->moved != NULL)
        t->source->ops->moved(t->source);
    return step(t, event, error);
}

int krc_tracker_ack(struct krc_tracker *t, int64_t next_offset, int32_t epoch,
                    const struct krc_account *account, krc_error *error)
{
    struct krc_offset_update nothing;
    struct krc_offset_event event = {.type = KRC_ON_ACK,
                                     .match = t->offsets.stretch,
                                     .offset = next_offset,
                                     .epoch = epoch,
                                     .account = *account};
    return krc_offsets_step(&t->offsets, &event, &nothing, error);
}

int krc_tracker_committed(struct krc_tracker *t, uint32_t stretch, int64_t offset,
                          krc_error *error)
{
    struct krc_offset_update nothing;
    struct krc_offset_event event = {
        .type = KRC_ON_COMMITTED, .match = stretch, .offset = offset};
    return krc_offsets_step(&t->offsets, &event, &nothing, error);
}

bool krc_tracker_settled(const struct krc_tracker *t)
{
    return t->source->ops->settled(t->source);
}
