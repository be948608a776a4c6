#include "consumer/tracker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int krc_tracker_open(struct krc_tracker *tracker, const struct krc_log_place *place,
                     const krc_config *config, struct krc_codecs *codecs,
                     krc_tracker_event_fn *on_event, void *arg, krc_error *error)
{
    *tracker = (struct krc_tracker){
        .place = place, .config = config, .until = KRC_NO_END, .on_event = on_event, .arg = arg};
    krc_offsets_init(&tracker->offsets);
    int rc = krc_logsource_open(&tracker->source, place, config, codecs, error);
    krc_error_at(rc < 0 ? error : NULL, place->topic, place->partition, -1, -1);
    return rc;
}

void krc_tracker_close(struct krc_tracker *tracker)
{
    krc_logsource_close(&tracker->source);
}

struct krc_point krc_tracker_point(const struct krc_tracker *tracker)
{
    const struct krc_offsets *o = &tracker->offsets;
    return (struct krc_point){.offset = o->position, .epoch = o->epoch, .account = o->account};
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
                 "what was read behind the truncation is gone from the log, and a new history "
                 "begins");
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
    char loss[160];
    describe_loss(u, loss, sizeof loss);
    struct krc_event event = event_at(t, types[u->cause], u->from, u->to);
    snprintf(event.message, sizeof event.message, "%s: reset from %lld to %lld; %s",
             krc_reset_cause_text(u->cause), (long long)u->from, (long long)u->to, loss);
    t->on_event(t->arg, &event, u);
}

static void tell_passed(struct krc_tracker *t, const struct krc_item *item)
{
    if (item->fate == KRC_LOST)
        tell(t, KRC_EVENT_LOST, item->from, item->to, "%s", item->why);
    else if (item->fate == KRC_SKIPPED)
        tell(t, KRC_EVENT_SKIPPED, item->from, item->to, "skipped up to offset %lld: %s",
             (long long)item->to, item->why);
}

static void tell_end(struct krc_tracker *t)
{
    int64_t at = t->offsets.position;
    if (t->told_end)
        return;
    t->told_end = true;
    const char *tail = krc_logsource_tail(&t->source);
    if (tail[0] != '\0')
        tell(t, KRC_EVENT_NOTE, at, at, "%s", tail);
    if (t->source.beyond_high_watermark > 0)
        tell(t, KRC_EVENT_NOTE, t->place->high_watermark, at,
             "%lld records lie at or beyond the checkpointed high watermark %lld: the broker may "
             "not have shown them to consumers yet (--until hwm stops before them)",
             (long long)t->source.beyond_high_watermark, (long long)t->place->high_watermark);
    tell(t, KRC_EVENT_CAUGHT_UP, at, at, "the end, at offset %lld", (long long)at);
}

/* ---- Answers to what the machine asks ------------------------------------------------------ */

static int refused(const struct krc_tracker *t, enum krc_reset_cause cause, krc_error *error)
{
    static const int codes[] = {
        [KRC_CAUSE_NONE] = KRC_E_NOT_FOUND,
        [KRC_CAUSE_BELOW_START] = KRC_E_OUT_OF_RANGE,
        [KRC_CAUSE_BEYOND_END] = KRC_E_OUT_OF_RANGE,
        [KRC_CAUSE_TRUNCATED] = KRC_E_TRUNCATED,
        [KRC_CAUSE_RECREATED] = KRC_E_RECREATED,
    };
    int rc = krc_fail(error, codes[cause],
                      "%s-%d at offset %lld: %s (the log is %lld to %lld), and auto.offset.reset "
                      "is none; choose an offset, or another policy",
                      t->place->topic, (int)t->place->partition, (long long)t->offsets.position,
                      krc_reset_cause_text(cause), (long long)t->source.log->log_start_offset,
                      (long long)t->source.log_end);
    krc_error_at(error, t->place->topic, t->place->partition, t->offsets.position, -1);
    return rc;
}

static int step(struct krc_tracker *t, struct krc_offset_event event, krc_error *error)
{
    event.match = t->todo.generation;
    int rc = krc_offsets_step(&t->offsets, &event, &t->todo, error);
    krc_error_at(rc < 0 ? error : NULL, t->place->topic, t->place->partition, -1, -1);
    KRC_TRY(rc);
    if (t->todo.reset)
        tell_reset(t, &t->todo);
    return event.type == KRC_ON_RESET_REFUSED ? refused(t, event.cause, error) : KRC_OK;
}

static int answer_stored(struct krc_tracker *t, krc_error *error)
{
    const struct krc_start *s = &t->stored;
    bool known = !krc_uuid_is_zero(&s->topic_id) && !krc_uuid_is_zero(&t->place->topic_id);
    bool same = !known || memcmp(&s->topic_id, &t->place->topic_id, sizeof s->topic_id) == 0;
    return step(t,
                krc_offsets_judge_stored((enum krc_reset_policy)t->config->reset_policy, s->found,
                                         same, s->offset, s->epoch),
                error);
}

static int answer_epoch_end(struct krc_tracker *t, krc_error *error)
{
    int32_t found = -1;
    int64_t end = -1;
    if (!krc_log_epoch_end(t->source.log, t->todo.epoch, t->source.log_end, &found, &end))
        found = -1;
    return step(t,
                krc_offsets_judge_epoch_end(
                    &t->offsets, (enum krc_reset_policy)t->config->reset_policy, found, end),
                error);
}

static int answer_range(struct krc_tracker *t, krc_error *error)
{
    return step(t,
                krc_offsets_judge_range(&t->offsets,
                                        (enum krc_reset_policy)t->config->reset_policy,
                                        t->source.log->log_start_offset, t->source.log_end),
                error);
}

/* KRC_ASK_START, KRC_ASK_END, KRC_ASK_TIME */
static int answer_where(struct krc_tracker *t, krc_error *error)
{
    struct krc_offset_event event = {.type = KRC_ON_LOCATED,
                                     .offset = t->source.log->log_start_offset};
    int rc = KRC_OK;
    if (t->todo.ask == KRC_ASK_END)
        rc = krc_logsource_end(&t->source, &event.offset, error);
    else if (t->todo.ask == KRC_ASK_TIME)
        rc = krc_logsource_find_time(&t->source, t->now_ms - t->config->reset_duration_ms,
                                     &event.offset, error);
    KRC_TRY(rc);
    return step(t, event, error);
}

static bool knows_settled(const struct krc_tracker *t)
{
    return t->stored.found && t->stored.settled && t->offsets.committed == t->offsets.position;
}

/* 1: `item` is something to hand on; 0: go on. */
static int fetch(struct krc_tracker *t, struct krc_buffer *scratch, struct krc_item *item,
                 krc_error *error)
{
    KRC_TRY(krc_logsource_fetch(&t->source, t->todo.offset, t->until, knows_settled(t), scratch,
                                item, error));
    t->before = krc_tracker_point(t);
    switch (item->type) {
    case KRC_ITEM_OUT_OF_RANGE:
        return step(t, (struct krc_offset_event){.type = KRC_ON_OUT_OF_RANGE}, error);
    case KRC_ITEM_END:
        return step(t, (struct krc_offset_event){.type = KRC_ON_END}, error);
    case KRC_ITEM_PASSED:
        tell_passed(t, item);
        if (item->to == item->from)
            return 0;
        KRC_TRY(step(t,
                     (struct krc_offset_event){.type = KRC_ON_PASSED,
                                               .offset = item->to,
                                               .epoch = item->epoch,
                                               .fate = item->fate},
                     error));
        return 1;
    case KRC_ITEM_RECORDS:
        KRC_TRY(step(t,
                     (struct krc_offset_event){.type = KRC_ON_BATCH,
                                               .offset = item->to,
                                               .epoch = item->epoch,
                                               .delivered = item->delivered},
                     error));
        return 1;
    }
    return 0;
}

static int answer(struct krc_tracker *t, struct krc_buffer *scratch, struct krc_item *item,
                  krc_error *error)
{
    switch (t->todo.ask) {
    case KRC_ASK_STORED:
        return answer_stored(t, error);
    case KRC_ASK_EPOCH_END:
        return answer_epoch_end(t, error);
    case KRC_ASK_RANGE:
        return answer_range(t, error);
    case KRC_ASK_START:
    case KRC_ASK_END:
    case KRC_ASK_TIME:
        return answer_where(t, error);
    case KRC_ASK_FETCH:
        return fetch(t, scratch, item, error);
    case KRC_ASK_NOTHING:
        break;
    }
    tell_end(t);
    item->type = KRC_ITEM_END;
    item->from = item->to = t->offsets.position;
    return 1;
}

int krc_tracker_next(struct krc_tracker *t, struct krc_buffer *scratch, struct krc_item *item,
                     krc_error *error)
{
    int rc;
    do
        rc = answer(t, scratch, item, error);
    while (rc == 0);
    if (rc > 0)
        return KRC_OK;
    krc_error_at(error, t->place->topic, t->place->partition, t->offsets.position, -1);
    if (t->offsets.state != KRC_FAILED) {
        struct krc_offset_event broken = {.type = KRC_ON_ERROR, .match = t->todo.generation};
        if (krc_offsets_step(&t->offsets, &broken, &t->todo, NULL) < 0)
            return KRC_E_STATE;
    }
    t->todo.ask = KRC_ASK_NOTHING;
    t->told_end = true;
    return rc;
}

/* ---- From outside -------------------------------------------------------------------------- */

int krc_tracker_assign(struct krc_tracker *t, int64_t start, int64_t until,
                       const struct krc_start *stored, krc_error *error)
{
    static const enum krc_offset_event_type names[] = {
        [-KRC_LATEST] = KRC_ON_ASSIGN_END,
        [-KRC_EARLIEST] = KRC_ON_ASSIGN_START,
        [-KRC_STORED] = KRC_ON_ASSIGN_STORED,
    };
    struct krc_offset_event event = {
        .type = start >= 0 ? KRC_ON_ASSIGN_OFFSET : names[-start], .offset = start, .epoch = -1};
    t->until = until;
    t->stored = stored == NULL ? (struct krc_start){0} : *stored;
    t->told_end = false;
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

int krc_tracker_committed(struct krc_tracker *t, int64_t offset, krc_error *error)
{
    struct krc_offset_update nothing;
    struct krc_offset_event event = {
        .type = KRC_ON_COMMITTED, .match = t->offsets.stretch, .offset = offset};
    return krc_offsets_step(&t->offsets, &event, &nothing, error);
}

bool krc_tracker_settled(const struct krc_tracker *t)
{
    return !t->config->read_uncommitted && t->source.settled;
}
