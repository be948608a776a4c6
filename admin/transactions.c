/*
 * Transactions of a partition, from its batches' headers.
 */
#include <krc-tools.h>
#include <stdlib.h>

#include "consumer/config.h"
#include "consumer/handle.h"
#include "logdir/snapshot.h"

struct listing {
    const struct krc_log *log;
    struct krc_walker *walker;
    bool skip_corrupt;
    struct krc_transaction *open; /* in no order until the end */
    size_t open_count, open_capacity;
    struct krc_producers places; /* producer id -> where in `open` */
    struct krc_producers ended;  /* producers with a marker in the log */
    bool doubted;                /* what was skipped may have been one */
    krc_transaction_fn *each;
    void *arg;
    struct krc_transactions *summary;
    krc_error *error;
};

const char *krc_transaction_state_name(enum krc_transaction_state state)
{
    static const char *const names[] = {"open", "committed", "aborted", "doubtful", "hanging"};
    return names[state];
}

static int tell(struct listing *l, const struct krc_transaction *t)
{
    int64_t *const counts[] = {&l->summary->open, &l->summary->committed, &l->summary->aborted,
                               &l->summary->doubtful};
    if (t->marker_offset >= 0 && t->marker_offset < l->log->log_start_offset)
        return KRC_OK;
    ++*counts[t->state];
    return l->each(l->arg, t);
}

/* ---- Open ones ------------------------------------------------------------------------------- */

static int grow(struct listing *l)
{
    if (l->open_count < l->open_capacity)
        return KRC_OK;
    size_t capacity = l->open_capacity == 0 ? 16 : 2 * l->open_capacity;
    struct krc_transaction *open = realloc(l->open, capacity * sizeof *open);
    if (open == NULL)
        return krc_fail_nomem(l->error, capacity * sizeof *open);
    l->open = open;
    l->open_capacity = capacity;
    return KRC_OK;
}

static int open_transaction(struct listing *l, const struct krc_transaction *t)
{
    KRC_TRY(grow(l));
    KRC_TRY(krc_producers_put(&l->places, t->producer_id, (int64_t)l->open_count, l->error));
    l->open[l->open_count++] = *t;
    return KRC_OK;
}

/* NULL: the producer has none. */
static struct krc_transaction *find(const struct listing *l, int64_t producer_id)
{
    const int64_t *place = krc_producers_get(&l->places, producer_id);
    return place == NULL ? NULL : &l->open[*place];
}

/* The last one takes its place. */
static void remove_open(struct listing *l, struct krc_transaction *t)
{
    krc_producers_remove(&l->places, t->producer_id);
    const struct krc_transaction *last = &l->open[--l->open_count];
    if (t == last)
        return;
    *krc_producers_get(&l->places, last->producer_id) = t - l->open;
    *t = *last;
}

/* ---- Batches --------------------------------------------------------------------------------- */

/* Of its first record, or as near as the header tells: where compaction keeps a time of its own
 * there, or the broker's time counts, the newest. */
static int64_t time_of(const struct krc_batch_header *header)
{
    bool base = !header->has_delete_horizon && header->timestamp_type == KRC_CREATE_TIME;
    return base ? header->base_timestamp : header->max_timestamp;
}

static int take_records(struct listing *l, const struct krc_batch_header *header)
{
    struct krc_transaction *t = find(l, header->producer_id);
    if (t == NULL)
        return open_transaction(l, &(struct krc_transaction){
                                       .state = KRC_TRANSACTION_OPEN,
                                       .producer_id = header->producer_id,
                                       .producer_epoch = header->producer_epoch,
                                       .first_offset = header->base_offset,
                                       .last_offset = header->last_offset,
                                       .marker_offset = -1,
                                       .records = header->count,
                                       .first_time_ms = time_of(header),
                                       .last_time_ms = header->max_timestamp,
                                       .marker_time_ms = -1,
                                   });
    t->producer_epoch = header->producer_epoch;
    t->last_offset = header->last_offset;
    t->last_time_ms = header->max_timestamp;
    t->records += header->count;
    return KRC_OK;
}

static int end_transaction(struct listing *l, const struct krc_batch_header *header,
                           enum krc_transaction_state state)
{
    struct krc_transaction *open = find(l, header->producer_id);
    struct krc_transaction t = {.producer_id = header->producer_id,
                                .producer_epoch = header->producer_epoch,
                                .first_offset = -1,
                                .last_offset = -1,
                                .first_time_ms = -1,
                                .last_time_ms = -1};
    if (open != NULL) {
        t = *open;
        remove_open(l, open);
    }
    t.state = state;
    t.marker_offset = header->base_offset;
    t.marker_time_ms = header->max_timestamp;
    KRC_TRY(krc_producers_put(&l->ended, header->producer_id, 1, l->error));
    return tell(l, &t);
}

static int take_control(struct listing *l, const struct krc_log_batch *batch)
{
    int type;
    if (batch->bytes == NULL)
        return krc_fail(l->error, KRC_E_TOO_LARGE,
                        "the control batch has %d bytes: no marker is so large",
                        (int)batch->header.size);
    KRC_TRY(krc_batch_control_type(batch->bytes, &batch->header, &type, l->error));
    switch (type) {
    case KRC_CONTROL_COMMIT:
        return end_transaction(l, &batch->header, KRC_TRANSACTION_COMMITTED);
    case KRC_CONTROL_ABORT:
        return end_transaction(l, &batch->header, KRC_TRANSACTION_ABORTED);
    default:
        return KRC_OK;
    }
}

static int take_batch(struct listing *l, const struct krc_log_batch *batch)
{
    const struct krc_batch_header *header = &batch->header;
    if (header->producer_id < 0 || !(header->control || header->transactional))
        return KRC_OK;
    int rc = header->control ? take_control(l, batch) : take_records(l, header);
    if (rc < 0 && rc != KRC_E_NOMEM)
        krc_log_batch_place(l->log, batch, l->error);
    return rc;
}

/* Any transaction that is open may have ended there. */
static int doubt(struct listing *l)
{
    int rc = KRC_OK;
    l->doubted = true;
    for (; rc == KRC_OK && l->open_count > 0; remove_open(l, &l->open[0])) {
        l->open[0].state = KRC_TRANSACTION_DOUBTFUL;
        rc = tell(l, &l->open[0]);
    }
    return rc;
}

static int go_past_damage(struct listing *l)
{
    struct krc_damage damage;
    KRC_TRY(krc_walker_resync(l->walker, &damage, l->error));
    return damage.maybe_marker ? doubt(l) : KRC_OK;
}

static int walk(struct listing *l)
{
    struct krc_log_batch batch;
    for (;;) {
        int rc = krc_walker_next(l->walker, &batch, l->error);
        bool is_read = rc == 1;
        if (rc == 0)
            return KRC_OK;
        if (is_read)
            rc = take_batch(l, &batch);
        if (rc == KRC_E_CORRUPT && l->skip_corrupt)
            rc = is_read ? doubt(l) : go_past_damage(l);
        if (rc != KRC_OK)
            return rc;
    }
}

/* ---- At the end ------------------------------------------------------------------------------ */

/* What retention took of an open transaction shows only in the newest producer snapshot. */
static int take_snapshot(struct listing *l, const struct krc_producer_state *state)
{
    struct krc_transaction *t = find(l, state->producer_id);
    if (state->transaction_start < 0 ||
        state->transaction_start >= l->log->segments[0].base_offset ||
        krc_producers_get(&l->ended, state->producer_id) != NULL)
        return KRC_OK;
    if (t == NULL)
        return open_transaction(l, &(struct krc_transaction){
                                       .state = KRC_TRANSACTION_OPEN,
                                       .producer_id = state->producer_id,
                                       .producer_epoch = state->producer_epoch,
                                       .first_offset = state->transaction_start,
                                       .last_offset = state->last_offset,
                                       .marker_offset = -1,
                                       .first_time_ms = -1,
                                       .last_time_ms = -1,
                                       .marker_time_ms = -1,
                                   });
    t->first_offset = state->transaction_start;
    t->first_time_ms = -1;
    return KRC_OK;
}

static int add_removed(struct listing *l)
{
    struct krc_snapshot snapshot;
    if (l->doubted || l->log->segment_count == 0 || l->log->segments[0].base_offset == 0)
        return KRC_OK;
    int rc = krc_snapshot_newest(&snapshot, l->log, l->error);
    if (rc <= 0)
        return rc;
    rc = KRC_OK;
    /* one of before the first segment does not know what ended between */
    bool is_of_use = snapshot.offset >= l->log->segments[0].base_offset;
    for (int32_t i = 0; is_of_use && rc >= 0 && i < snapshot.count; i++) {
        struct krc_producer_state state = krc_snapshot_producer(snapshot.file.data, i);
        rc = take_snapshot(l, &state);
    }
    krc_buffer_free(&snapshot.file);
    return rc;
}

static int by_first_offset(const void *left, const void *right)
{
    const struct krc_transaction *a = left, *b = right;
    return (a->first_offset > b->first_offset) - (a->first_offset < b->first_offset);
}

static int tell_open(struct listing *l)
{
    int rc = KRC_OK;
    struct krc_transactions *s = l->summary;
    s->last_stable_offset = s->log_end_offset;
    if (l->open_count > 0) {
        qsort(l->open, l->open_count, sizeof *l->open, by_first_offset);
        l->open[0].holds_last_stable_offset = true;
        int64_t first = l->open[0].first_offset;
        s->last_stable_offset = first > s->log_start_offset ? first : s->log_start_offset;
    }
    for (size_t i = 0; rc == KRC_OK && i < l->open_count; i++)
        rc = tell(l, &l->open[i]);
    return rc;
}

static int list(struct listing *l)
{
    *l->summary = (struct krc_transactions){.log_start_offset = l->log->log_start_offset,
                                            .high_watermark = -1};
    KRC_TRY(krc_log_find_end(l->log, &l->summary->log_end_offset, l->error));
    KRC_TRY(krc_walker_open(&l->walker, l->log, l->error));
    int rc = walk(l);
    if (rc == KRC_OK)
        rc = add_removed(l);
    return rc == KRC_OK ? tell_open(l) : rc;
}

int krc_list_transactions(const krc *handle, const char *topic, int32_t partition,
                          krc_transaction_fn *each, void *arg, struct krc_transactions *summary,
                          krc_error *error)
{
    struct krc_log *log;
    const struct krc_log_place *place = krc_log_places_get(&handle->places, topic, partition);
    if (place == NULL)
        return krc_fail(error, KRC_E_NOT_FOUND, "the log folders have no partition %s-%d", topic,
                        (int)partition);
    KRC_TRY(krc_log_open(&log, place, handle->config->format_07, error));
    struct listing l = {.log = log, .skip_corrupt = handle->config->skip_corrupt, .each = each,
                        .arg = arg, .summary = summary, .error = error};
    int rc = list(&l);
    krc_walker_close(l.walker);
    krc_producers_free(&l.places);
    krc_producers_free(&l.ended);
    free(l.open);
    krc_log_close(log);
    return rc;
}
