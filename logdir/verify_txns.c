/*
 * Transactions: .txnindex and producer snapshots against the markers in the log.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>

#include "logdir/load.h"
#include "logdir/verify.h"

/* Whether the log shows all of a transaction that began there.  Below the log start offset the
 * broker may have forgotten what the log still holds. */
static bool is_whole(const struct krc_verify *v, int64_t offset)
{
    return offset >= v->last_gap && offset >= v->log->log_start_offset;
}

/* ---- .txnindex ----------------------------------------------------------------------------- */

/* The last stable offset with this marker: the first offset of the other open transactions, or
 * what follows the marker. */
static int64_t last_stable_offset(const struct krc_verify *v, int64_t producer_id, int64_t marker)
{
    int64_t stable = marker + 1, other, start;
    for (size_t at = 0; krc_producers_next(&v->open, &at, &other, &start);)
        if (other != producer_id && start < stable)
            stable = start;
    return stable;
}

/* Followers append several transactions at once, and write what is stable after all of them.  That
 * matters only where it hides another transaction. */
static void note_claim(struct krc_verify *v, size_t entry, const struct krc_txnindex_entry *e)
{
    v->stable_wrong++;
    if (e->last_stable_offset > v->stable_claim.offset)
        v->stable_claim = (struct krc_stable_claim){.offset = e->last_stable_offset,
                                                    .marker = e->last_offset,
                                                    .segment = v->segments_begun - 1,
                                                    .entry = entry};
}

/* An entry and its marker.  Older brokers write an entry for a marker without a transaction, too,
 * that begins with the marker.  A transaction that was open before a gap may have ended in it. */
static void check_entry(struct krc_verify *v, size_t i, const struct krc_txnindex_entry *e)
{
    const int64_t *start = krc_producers_get(&v->open, e->producer_id);
    int64_t began = start != NULL ? *start : e->last_offset;
    int64_t stable = last_stable_offset(v, e->producer_id, e->last_offset);
    if (e->version != 0)
        krc_verify_tell_entry(v, KRC_TXNINDEX, i, "its version is %d, not 0", e->version);
    if (e->first_offset != began && is_whole(v, began) && is_whole(v, e->first_offset))
        krc_verify_tell_entry(v, KRC_TXNINDEX, i,
                              "its transaction of producer %" PRId64 " begins at offset %" PRId64
                              ", not %" PRId64, e->producer_id, began, e->first_offset);
    if (e->last_stable_offset != stable && is_whole(v, stable) &&
        (is_whole(v, e->last_stable_offset) || e->last_stable_offset < 0))
        note_claim(v, i, e);
}

static void tell_claim(struct krc_verify *v, const struct krc_stable_claim *claim, const char *why)
{
    krc_verify_tell(v, true,
                    "%s: the last stable offset %" PRId64 " of entry %zu, byte %zu of %s/%020"
                    PRId64 ".txnindex", why, claim->offset, claim->entry,
                    claim->entry * KRC_TXNINDEX_ENTRY, v->log->place->folder,
                    v->log->segments[claim->segment].base_offset);
}

/* A look-up of the aborted transactions below an offset ends with the first entry whose last stable
 * offset reaches there: transactions that begin before that and end later are not found. */
static void check_hidden(struct krc_verify *v, const struct krc_stable_claim *claim, int64_t start,
                         const struct krc_batch_header *marker)
{
    char why[240];
    if (start >= claim->offset || !is_whole(v, start))
        return;
    snprintf(why, sizeof why,
             "who fetches less is not told that the transaction of producer %" PRId64
             ", offsets %" PRId64 " to %" PRId64 ", is aborted",
             marker->producer_id, start, marker->base_offset - 1);
    tell_claim(v, claim, why);
}

void krc_verify_end_transactions(struct krc_verify *v)
{
    if (v->stable_claim.offset > v->summary->log_end_offset)
        tell_claim(v, &v->stable_claim, "the log ends before");
    else if (v->stable_wrong > 0)
        krc_verify_tell(v, false,
                        "last stable offsets of .txnindex entries that are not the log's at their "
                        "markers, as followers write them: %zu", v->stable_wrong);
}

/* True where an entry names the batch, an abort marker.  Entries may outlive what compaction
 * removed: what they say of missing offsets is believed. */
static bool find_entry(struct krc_verify *v, const struct krc_batch_header *header, bool abort)
{
    struct krc_index_file *f = &v->index[KRC_TXNINDEX];
    bool found = false;
    for (; f->next < f->count; f->next++) {
        struct krc_txnindex_entry e = krc_txnindex_entry(f->file.data, f->next);
        if (!krc_verify_in_order(v, KRC_TXNINDEX))
            continue;
        if (e.last_offset > header->last_offset)
            break;
        if (e.last_offset >= v->next_offset && e.last_offset < header->base_offset)
            continue;
        if (abort && e.last_offset == header->base_offset &&
            e.producer_id == header->producer_id) {
            check_entry(v, f->next, &e);
            found = true;
        } else {
            krc_verify_tell_entry(v, KRC_TXNINDEX, f->next,
                                  "no abort marker of producer %" PRId64 " lies at offset %" PRId64,
                                  e.producer_id, e.last_offset);
        }
    }
    return found;
}

int krc_verify_transactions(struct krc_verify *v, const struct krc_log_batch *batch,
                            int control_type, krc_error *error)
{
    const struct krc_batch_header *header = &batch->header;
    bool abort = header->transactional && control_type == KRC_CONTROL_ABORT;
    const int64_t *start = krc_producers_get(&v->open, header->producer_id);
    struct krc_stable_claim claim = v->stable_claim;
    bool is_found = find_entry(v, header, abort);
    if (abort && start != NULL)
        check_hidden(v, &claim, *start, header);
    if (!is_found && abort && start != NULL && is_whole(v, *start))
        krc_verify_tell(v, true,
                        "the transaction of producer %" PRId64 " that begins at offset %" PRId64
                        " and is aborted at %" PRId64 " is missing: %s/%020" PRId64 ".txnindex",
                        header->producer_id, *start, header->base_offset, v->log->place->folder,
                        v->log->segments[batch->segment].base_offset);
    if (!header->transactional)
        return KRC_OK;
    v->summary->markers += control_type == KRC_CONTROL_ABORT || control_type == KRC_CONTROL_COMMIT;
    if (header->control)
        krc_producers_remove(&v->open, header->producer_id);
    else if (start == NULL)
        return krc_producers_put(&v->open, header->producer_id, header->base_offset, error);
    return KRC_OK;
}

/* ---- Snapshots ----------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int add_snapshot(struct krc_verify *v, int64_t offset, krc_error *error)
{
    size_t bytes = (v->snapshot_count + 1) * sizeof *v->snapshots;
    int64_t *list = realloc(v->snapshots, bytes);
    if (list == NULL)
        return krc_fail_nomem(error, bytes);
    v->snapshots = list;
    list[v->snapshot_count++] = offset;
    return KRC_OK;
}

int krc_verify_list_snapshots(struct krc_verify *v, krc_error *error)
{
    const char *folder = v->log->place->folder;
    if (v->log->place->file != NULL) /* they are about all of the log */
        return KRC_OK;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return krc_fail_errno(error, "cannot read the folder %s", folder);
    int rc = KRC_OK;
    for (struct dirent *entry; rc >= 0 && (entry = readdir(dir)) != NULL;) {
        int64_t offset = krc_segment_name(entry->d_name, ".snapshot");
        if (offset >= 0)
            rc = add_snapshot(v, offset, error);
    }
    closedir(dir);
    if (rc >= 0 && v->snapshot_count > 1)
        qsort(v->snapshots, v->snapshot_count, sizeof *v->snapshots, by_value);
    return rc;
}

/* Where a snapshot has a producer's transaction begin; -1: not open. */
static int64_t start_in_snapshot(const uint8_t *file, int32_t count, int64_t producer_id)
{
    for (int32_t i = 0; i < count; i++) {
        struct krc_producer_state state = krc_snapshot_producer(file, i);
        if (state.producer_id == producer_id)
            return state.transaction_start;
    }
    return -1;
}

static void compare(struct krc_verify *v, const uint8_t *file, int32_t count, const char *name)
{
    const char *folder = v->log->place->folder;
    for (int32_t i = 0; i < count; i++) {
        struct krc_producer_state state = krc_snapshot_producer(file, i);
        if (state.transaction_start >= 0 && is_whole(v, state.transaction_start) &&
            krc_producers_get(&v->open, state.producer_id) == NULL)
            krc_verify_tell(v, true,
                            "producer %" PRId64 " has no transaction open that begins at offset "
                            "%" PRId64 ": %s/%s",
                            state.producer_id, state.transaction_start, folder, name);
    }
    int64_t producer_id, start;
    for (size_t at = 0; krc_producers_next(&v->open, &at, &producer_id, &start);) {
        int64_t said = start_in_snapshot(file, count, producer_id);
        if (said != start && is_whole(v, start) && (said < 0 || is_whole(v, said)))
            krc_verify_tell(v, true,
                            "the transaction of producer %" PRId64 " that begins at offset "
                            "%" PRId64 " is not open here: %s/%s",
                            producer_id, start, folder, name);
    }
}

static int check_snapshot(struct krc_verify *v, int64_t offset, krc_error *error)
{
    char name[40];
    struct krc_buffer file = {0};
    int32_t count;
    snprintf(name, sizeof name, "%020" PRId64 ".snapshot", offset);
    int rc = krc_verify_load(v, name, &file, error);
    if (rc == 1) {
        krc_error why;
        if (krc_snapshot_parse(file.data, file.len, &count, &why) < 0)
            krc_verify_tell(v, true, "%s: %s/%s", why.message, v->log->place->folder, name);
        else
            compare(v, file.data, count, name);
    }
    krc_buffer_free(&file);
    return rc < 0 ? rc : KRC_OK;
}

int krc_verify_snapshots(struct krc_verify *v, int64_t offset, krc_error *error)
{
    while (v->snapshots_done < v->snapshot_count && v->snapshots[v->snapshots_done] <= offset)
        KRC_TRY(check_snapshot(v, v->snapshots[v->snapshots_done++], error));
    return KRC_OK;
}

void krc_verify_end_snapshots(struct krc_verify *v)
{
    for (; v->snapshots_done < v->snapshot_count; v->snapshots_done++)
        krc_verify_tell(v, !krc_verify_may_lag(v),
                        "the log ends at offset %" PRId64 ", before this snapshot: %s/%020" PRId64
                        ".snapshot",
                        v->summary->log_end_offset, v->log->place->folder,
                        v->snapshots[v->snapshots_done]);
}
