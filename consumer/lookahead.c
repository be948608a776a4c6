#include "consumer/lookahead.h"

#include <stdlib.h>

#include "logdir/snapshot.h"

void krc_lookahead_init(struct krc_lookahead *ahead, const struct krc_log *log, bool skip_corrupt)
{
    *ahead = (struct krc_lookahead){.log = log, .skip_corrupt = skip_corrupt};
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
    return krc_walker_seek(ahead->walker, offset, error);
}

/* The next header: 1 one, 0 the end, 2 an unreadable place that was passed and may have held any
 * producer's marker. */
enum { PASSED_DAMAGE = 2 };

static int walk(struct krc_lookahead *ahead, struct krc_log_batch *batch, krc_error *error)
{
    for (;;) {
        int rc = krc_walker_next(ahead->walker, batch, error);
        if (rc == 0)
            ahead->at_end = true;
        if (rc != KRC_E_CORRUPT || !ahead->skip_corrupt)
            return rc;
        struct krc_damage damage;
        KRC_TRY(krc_walker_resync(ahead->walker, &damage, error));
        if (!damage.maybe_marker)
            continue;
        KRC_TRY(krc_markers_doubt(&ahead->markers, damage.from, error));
        return PASSED_DAMAGE;
    }
}

/* Sets `*type` to KRC_CONTROL_NONE for everything but a transaction's marker. */
static int marker_type(const struct krc_log_batch *batch, int *type, krc_error *error)
{
    *type = KRC_CONTROL_NONE;
    if (!batch->header.control || batch->header.producer_id < 0)
        return KRC_OK;
    if (batch->bytes == NULL)
        return krc_fail(error, KRC_E_TOO_LARGE,
                        "the control batch at offset %lld has %d bytes: no marker is so large",
                        (long long)batch->header.base_offset, (int)batch->header.size);
    KRC_TRY(krc_batch_control_type(batch->bytes, &batch->header, type, error));
    if (*type != KRC_CONTROL_ABORT && *type != KRC_CONTROL_COMMIT)
        *type = KRC_CONTROL_NONE;
    return KRC_OK;
}

/* Walks one header on; a marker is kept.  As walk(). */
static int learn(struct krc_lookahead *ahead, krc_error *error)
{
    struct krc_log_batch batch;
    int rc = walk(ahead, &batch, error);
    if (rc != 1)
        return rc;
    int type;
    KRC_TRY(marker_type(&batch, &type, error));
    if (type != KRC_CONTROL_NONE)
        KRC_TRY(krc_markers_add(&ahead->markers, batch.header.producer_id,
                                batch.header.base_offset, type == KRC_CONTROL_COMMIT, error));
    return 1;
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
static int fold(struct krc_producers *open, const struct krc_log_batch *batch, krc_error *error)
{
    const struct krc_batch_header *header = &batch->header;
    int type;
    KRC_TRY(marker_type(batch, &type, error));
    if (type != KRC_CONTROL_NONE)
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
    KRC_TRY(stand_at(ahead, 0, error));
    for (;;) {
        struct krc_log_batch batch;
        int rc = walk(ahead, &batch, error);
        if (rc <= 0)
            return rc;
        if (rc == PASSED_DAMAGE) {
            krc_producers_free(open); /* whoever was open there cannot be decided: it is skipped */
            continue;
        }
        if (batch.header.base_offset < offset) {
            KRC_TRY(fold(open, &batch, error));
            continue;
        }
        int type;
        KRC_TRY(marker_type(&batch, &type, error));
        return type == KRC_CONTROL_NONE
                   ? KRC_OK
                   : krc_markers_add(&ahead->markers, batch.header.producer_id,
                                     batch.header.base_offset, type == KRC_CONTROL_COMMIT, error);
    }
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
static int removed_transaction(const struct krc_log *log, bool skip_corrupt, bool *open,
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
    rc = stand_at(&ahead, first, error);
    for (int32_t i = 0; rc >= 0 && !*open && i < snapshot.count; i++) {
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
    KRC_TRY(removed_transaction(ahead->log, ahead->skip_corrupt, &removed, error));
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

int krc_last_stable_offset(const struct krc_log *log, int64_t log_end, bool skip_corrupt,
                           int64_t *stable, krc_error *error)
{
    struct krc_lookahead ahead;
    krc_lookahead_init(&ahead, log, skip_corrupt);
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

int krc_closing_markers(const struct krc_log *log, int64_t offset, bool skip_corrupt,
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
