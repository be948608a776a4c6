#include "consumer/lookahead.h"

#include <stdlib.h>

#include "logdir/snapshot.h"

void krc_lookahead_init(struct krc_lookahead *ahead, struct krc_log *log, bool skip_corrupt)
{
    *ahead = (struct krc_lookahead){.log = log, .skip_corrupt = skip_corrupt, .kept_to = -1};
}

void krc_lookahead_free(struct krc_lookahead *ahead)
{
    krc_walker_close(ahead->walker);
    krc_markers_free(&ahead->markers);
    *ahead = (struct krc_lookahead){0};
}

/* The next question tells where to stand. */
static int stand_nowhere(struct krc_lookahead *ahead)
{
    krc_walker_close(ahead->walker);
    ahead->walker = NULL;
    krc_markers_free(&ahead->markers);
    return KRC_OK;
}

/* Puts the walker in front of the batch that holds `offset`. */
static int stand_at(struct krc_lookahead *ahead, int64_t offset, krc_error *error)
{
    if (ahead->walker == NULL)
        KRC_TRY(krc_walker_open(&ahead->walker, ahead->log, error));
    krc_markers_free(&ahead->markers);
    ahead->at_end = false;
    const struct krc_log *log = ahead->log;
    bool is_first = log->segment_count > 0 && offset <= log->segments[0].base_offset;
    ahead->next = is_first ? log->segments[0].base_offset : -1;
    return krc_walker_seek(ahead->walker, offset, error);
}

/* A header that was met, or the log's end. */
struct step {
    struct krc_log_batch batch;
    int marker;    /* KRC_CONTROL_COMMIT, KRC_CONTROL_ABORT, or _NONE for everything else */
    bool in_doubt; /* any producer's marker may have been in what was passed before it */
};

static int read_marker(struct step *step, krc_error *error)
{
    const struct krc_log_batch *batch = &step->batch;
    step->marker = KRC_CONTROL_NONE;
    if (!batch->header.control || batch->header.producer_id < 0)
        return KRC_OK;
    if (batch->bytes == NULL)
        return krc_fail(error, KRC_E_CORRUPT,
                        "the control batch at offset %lld has %d bytes: no marker is so large",
                        (long long)batch->header.base_offset, (int)batch->header.size);
    KRC_TRY(krc_batch_control_type(batch->bytes, &batch->header, &step->marker, error));
    if (step->marker != KRC_CONTROL_ABORT && step->marker != KRC_CONTROL_COMMIT)
        step->marker = KRC_CONTROL_NONE;
    return KRC_OK;
}

static int doubt(struct krc_lookahead *ahead, int64_t from, int64_t to, struct step *step,
                 krc_error *error)
{
    step->in_doubt = true;
    return krc_markers_doubt(&ahead->markers, from, to, error);
}

/* Nothing was met below `to`. */
static int pass_hole(struct krc_lookahead *ahead, int64_t to, struct step *step, krc_error *error)
{
    int64_t from = ahead->next;
    if (from < 0 || to <= from)
        return KRC_OK;
    ahead->next = to;
    int rc = krc_log_explains_gap(ahead->log, from, to, error);
    return rc == 0 ? doubt(ahead, from, to, step, error) : rc;
}

static int pass_batch(struct krc_lookahead *ahead, struct step *step, krc_error *error)
{
    const struct krc_batch_header *header = &step->batch.header;
    if (header->magic == 2) /* others are in no transaction, and may not say where they begin */
        KRC_TRY(pass_hole(ahead, header->base_offset, step, error));
    ahead->next = header->last_offset + 1;
    int rc = read_marker(step, error);
    if (rc < 0)
        krc_log_batch_place(ahead->log, &step->batch, error);
    if (rc == KRC_E_CORRUPT && ahead->skip_corrupt)
        return doubt(ahead, header->base_offset, ahead->next, step, error);
    return rc;
}

static int go_past_damage(struct krc_lookahead *ahead, struct step *step, krc_error *error)
{
    struct krc_damage damage;
    KRC_TRY(krc_walker_resync(ahead->walker, &damage, error));
    ahead->next = damage.skip_to;
    return damage.maybe_marker ? doubt(ahead, damage.from, damage.to, step, error) : KRC_OK;
}

/* An empty last segment begins where the log ends; and the log may have been longer. */
static int pass_end(struct krc_lookahead *ahead, struct step *step, krc_error *error)
{
    const struct krc_log *log = ahead->log;
    ahead->at_end = true;
    if (log->segment_count > 0)
        KRC_TRY(pass_hole(ahead, log->segments[log->segment_count - 1].base_offset, step, error));
    if (ahead->next >= 0 && ahead->next < ahead->kept_to)
        return doubt(ahead, ahead->next, ahead->kept_to, step, error);
    return KRC_OK;
}

/* 1: a header, 0: the end. */
static int walk(struct krc_lookahead *ahead, struct step *step, krc_error *error)
{
    step->in_doubt = false;
    for (;;) {
        int rc = krc_walker_next(ahead->walker, &step->batch, error);
        if (rc == 0)
            return pass_end(ahead, step, error);
        if (rc == 1)
            KRC_TRY(pass_batch(ahead, step, error));
        if (rc != KRC_E_CORRUPT || !ahead->skip_corrupt)
            return rc;
        KRC_TRY(go_past_damage(ahead, step, error));
    }
}

static int keep_marker(struct krc_lookahead *ahead, const struct step *step, krc_error *error)
{
    const struct krc_batch_header *header = &step->batch.header;
    if (step->marker == KRC_CONTROL_NONE)
        return KRC_OK;
    return krc_markers_add(&ahead->markers, header->producer_id, header->base_offset,
                           step->marker == KRC_CONTROL_COMMIT, error);
}

/* Walks one header on; a marker is kept. */
static int learn(struct krc_lookahead *ahead, krc_error *error)
{
    struct step step;
    int rc = walk(ahead, &step, error);
    return rc == 1 ? keep_marker(ahead, &step, error) : rc;
}

/* Walks until a batch of the producer's at `offset` is decided, or the log ends. */
static int decide(struct krc_lookahead *ahead, int64_t producer_id, int64_t offset,
                  enum krc_txn_fate *fate, krc_error *error)
{
    while ((*fate = krc_markers_fate(&ahead->markers, producer_id, offset)) == KRC_TXN_UNDECIDED &&
           !ahead->at_end)
        KRC_TRY(learn(ahead, error));
    return KRC_OK;
}

int krc_lookahead_fate(struct krc_lookahead *ahead, const struct krc_batch_header *header,
                       enum krc_txn_fate *fate, krc_error *error)
{
    if (ahead->walker == NULL)
        KRC_TRY(stand_at(ahead, header->base_offset, error));
    krc_markers_forget_below(&ahead->markers, header->base_offset);
    return decide(ahead, header->producer_id, header->base_offset, fate, error);
}

/* ---- Transactions that began before the reading does --------------------------------------- */

/* Folds one header into the map of open transactions: producer id -> first offset. */
static int fold(struct krc_producers *open, const struct step *step, krc_error *error)
{
    const struct krc_batch_header *header = &step->batch.header;
    if (step->marker != KRC_CONTROL_NONE)
        krc_producers_remove(open, header->producer_id);
    else if (header->transactional && !header->control &&
             krc_producers_get(open, header->producer_id) == NULL)
        return krc_producers_put(open, header->producer_id, header->base_offset, error);
    return KRC_OK;
}

/* Folds all that begins below `offset`.  The walker ends behind the first batch that does not,
 * whose marker is kept. */
static int fold_below(struct krc_lookahead *ahead, int64_t offset, struct krc_producers *open,
                      krc_error *error)
{
    struct step step;
    int rc;
    KRC_TRY(stand_at(ahead, 0, error));
    while ((rc = walk(ahead, &step, error)) >= 0) {
        if (step.in_doubt)
            krc_producers_free(open); /* whoever was open there cannot be decided: it is skipped */
        if (rc == 0)
            return KRC_OK;
        if (step.batch.header.base_offset >= offset)
            return keep_marker(ahead, &step, error);
        KRC_TRY(fold(open, &step, error));
    }
    return rc;
}

/* Where the first of the open transactions began that has no marker at or after `offset`. */
static int first_undecided(struct krc_lookahead *ahead, const struct krc_producers *open,
                           int64_t offset, int64_t *stable, krc_error *error)
{
    int64_t producer_id, first;
    *stable = INT64_MAX;
    for (size_t at = 0; krc_producers_next(open, &at, &producer_id, &first);) {
        enum krc_txn_fate fate;
        KRC_TRY(decide(ahead, producer_id, offset, &fate, error));
        if (fate == KRC_TXN_UNDECIDED && first < *stable)
            *stable = first;
    }
    return KRC_OK;
}

/*
 * An open transaction whose data retention removed shows only in the producer snapshot: `*open`
 * where the newest one names a transaction that began before the first segment, and no marker of
 * its producer's is in the log.
 */
static int removed_transaction(struct krc_log *log, bool skip_corrupt, int64_t kept_to, bool *open,
                               krc_error *error)
{
    struct krc_snapshot snapshot;
    int64_t first = log->segments[0].base_offset;
    *open = false;
    if (first == 0)
        return KRC_OK;
    int rc = krc_snapshot_newest(&snapshot, log, error);
    if (rc <= 0)
        return rc;
    struct krc_lookahead ahead;
    krc_lookahead_init(&ahead, log, skip_corrupt);
    ahead.kept_to = kept_to;
    rc = stand_at(&ahead, first, error);
    /* one of before the first segment does not know what ended between */
    int32_t count = snapshot.offset < first ? 0 : snapshot.count;
    for (int32_t i = 0; rc >= 0 && !*open && i < count; i++) {
        struct krc_producer_state state = krc_snapshot_producer(snapshot.file.data, i);
        if (state.transaction_start < 0 || state.transaction_start >= first)
            continue;
        enum krc_txn_fate fate;
        rc = decide(&ahead, state.producer_id, first, &fate, error);
        *open = rc >= 0 && fate == KRC_TXN_UNDECIDED;
    }
    krc_lookahead_free(&ahead);
    krc_buffer_free(&snapshot.file);
    return rc;
}

int krc_lookahead_begin(struct krc_lookahead *ahead, int64_t offset, bool settled,
                        int64_t *stable, krc_error *error)
{
    *stable = INT64_MAX;
    if (settled || ahead->log->segment_count == 0)
        return stand_nowhere(ahead);
    bool removed;
    KRC_TRY(removed_transaction(ahead->log, ahead->skip_corrupt, ahead->kept_to, &removed, error));
    if (removed) {
        *stable = ahead->log->log_start_offset;
        return stand_nowhere(ahead);
    }
    if (offset <= ahead->log->segments[0].base_offset)
        return stand_nowhere(ahead);
    struct krc_producers open = {0};
    int rc = fold_below(ahead, offset, &open, error);
    if (rc >= 0)
        rc = first_undecided(ahead, &open, offset, stable, error);
    krc_producers_free(&open);
    return rc;
}

int krc_last_stable_offset(struct krc_log *log, int64_t log_end, int64_t kept_to,
                           bool skip_corrupt, int64_t *stable, krc_error *error)
{
    struct krc_lookahead ahead;
    krc_lookahead_init(&ahead, log, skip_corrupt);
    ahead.kept_to = kept_to;
    int rc = krc_lookahead_begin(&ahead, INT64_MAX, false, stable, error);
    krc_lookahead_free(&ahead);
    if (*stable > log_end)
        *stable = log_end;
    if (*stable < log->log_start_offset)
        *stable = log->log_start_offset;
    return rc;
}

static int by_offset(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int collect_markers(struct krc_lookahead *ahead, const struct krc_producers *open,
                           int64_t offset, int64_t **markers, size_t *count, krc_error *error)
{
    int64_t producer_id, first;
    *markers = malloc((open->count + 1) * sizeof **markers);
    if (*markers == NULL)
        return krc_fail_nomem(error, (open->count + 1) * sizeof **markers);
    for (size_t at = 0; krc_producers_next(open, &at, &producer_id, &first);) {
        enum krc_txn_fate fate;
        KRC_TRY(decide(ahead, producer_id, offset, &fate, error));
        if (fate == KRC_TXN_COMMITTED)
            (*markers)[(*count)++] = krc_markers_offset(&ahead->markers, producer_id, offset);
    }
    qsort(*markers, *count, sizeof **markers, by_offset);
    return KRC_OK;
}

int krc_closing_markers(struct krc_log *log, int64_t offset, bool skip_corrupt,
                        int64_t **markers, size_t *count, krc_error *error)
{
    struct krc_lookahead ahead;
    struct krc_producers open = {0};
    *markers = NULL;
    *count = 0;
    krc_lookahead_init(&ahead, log, skip_corrupt);
    int rc = fold_below(&ahead, offset, &open, error);
    if (rc >= 0)
        rc = collect_markers(&ahead, &open, offset, markers, count, error);
    krc_producers_free(&open);
    krc_lookahead_free(&ahead);
    return rc;
}

int krc_open_producers(struct krc_log *log, int64_t offset, bool skip_corrupt,
                       struct krc_producers *open, krc_error *error)
{
    struct krc_lookahead ahead;
    krc_lookahead_init(&ahead, log, skip_corrupt);
    int rc = fold_below(&ahead, offset, open, error);
    krc_lookahead_free(&ahead);
    return rc;
}
