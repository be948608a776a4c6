#include "consumer/net_fates.h"

#include <stdio.h>

enum {
    MOST_UNSEEN = 1000000, /* transactions open at once; 16 bytes each and more */
    ABORT_MARKER = 0,
    COMMIT_MARKER = 1,
};

void krc_net_fates_init(struct krc_net_fates *f)
{
    *f = (struct krc_net_fates){.scanned_to = -1, .last_marker = -1, .awaited = -1};
}

void krc_net_fates_free(struct krc_net_fates *f)
{
    krc_markers_free(&f->markers);
    krc_producers_free(&f->unseen);
}

void krc_net_fates_discard(struct krc_net_fates *f)
{
    krc_markers_free(&f->markers);
    f->scanned_to = f->last_marker = f->awaited = -1;
}

void krc_net_fates_forget(struct krc_net_fates *f)
{
    krc_net_fates_discard(f);
    krc_producers_free(&f->unseen);
    f->unseen = (struct krc_producers){0};
}

/* ---- The markers at hand --------------------------------------------------------------------- */

/* KRC_OK; 1: nothing behind this batch can be told, which may itself have been a marker. */
static int note_marker(struct krc_net_fates *f, const uint8_t *bytes,
                       const struct krc_batch_header *h, krc_error *error)
{
    int type;
    if (!h->control || !h->transactional || h->base_offset < f->scanned_to)
        return KRC_OK;
    if (h->base_offset <= f->last_marker || krc_batch_check_crc(bytes, h, NULL) < 0 ||
        krc_batch_control_type(bytes, h, &type, NULL) < 0)
        return 1;
    f->last_marker = h->base_offset;
    if (type != ABORT_MARKER && type != COMMIT_MARKER)
        return KRC_OK;
    return krc_markers_add(&f->markers, h->producer_id, h->base_offset, type == COMMIT_MARKER,
                           error);
}

static int scan_piece(struct krc_net_fates *f, const struct krc_piece *piece, krc_error *error)
{
    struct krc_bytes left = piece->records;
    struct krc_batch_header h = {.last_offset = piece->begin};
    while (left.len > 0) {
        int rc = krc_batch_parse(left.data, left.len, &h, NULL);
        if (rc == 0 || (rc > 0 && (size_t)h.size > left.len))
            break; /* cut off: it comes again, whole */
        if (rc > 0)
            rc = note_marker(f, left.data, &h, error);
        else
            rc = 1;
        if (rc == 1)
            return krc_markers_doubt(&f->markers, h.last_offset, h.last_offset + 1, error);
        KRC_TRY(rc);
        left.data += h.size;
        left.len -= (size_t)h.size;
    }
    return KRC_OK;
}

static int scan(struct krc_net_fates *f, const struct krc_remote *r, krc_error *error)
{
    for (int i = 0; i < r->piece_count; i++) {
        const struct krc_piece *piece = &r->pieces[i];
        if (piece->end <= f->scanned_to)
            continue;
        KRC_TRY(scan_piece(f, piece, error));
        f->scanned_to = piece->end;
    }
    return KRC_OK;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

/* In `unseen`: the first offset, and whether it was left out. */
static int64_t pack(int64_t first, bool dropped)
{
    return first * 2 + dropped;
}

int krc_net_fates_await(struct krc_net_fates *f, struct krc_remote *r,
                        const struct krc_batch_header *h, bool *awaits, krc_error *error)
{
    *awaits = false;
    if (h->control || !h->transactional)
        return KRC_OK;
    KRC_TRY(scan(f, r, error));
    bool is_decided =
        krc_aborted_drops(&f->aborted, h->producer_id, h->last_offset) ||
        krc_markers_fate(&f->markers, h->producer_id, h->last_offset) != KRC_TXN_UNDECIDED ||
        krc_producers_get(&f->unseen, h->producer_id) != NULL;
    if (is_decided)
        return KRC_OK;
    r->until = INT64_MAX; /* the marker may lie behind all that is wanted */
    if (!krc_remote_expects_more(r))
        return KRC_OK;
    int64_t next = r->pieces[0].end;
    *awaits = f->awaited != next || r->awaited;
    if (f->awaited != next)
        r->awaited = true;
    f->awaited = next;
    return KRC_OK;
}

/* The list decides, and has to be borne out. */
static int decide_unseen(struct krc_net_fates *f, const struct krc_batch_header *h, bool dropped,
                         krc_error *error)
{
    if (krc_producers_get(&f->unseen, h->producer_id) != NULL)
        return KRC_OK;
    if (f->unseen.count >= MOST_UNSEEN)
        return krc_fail(error, KRC_E_TOO_LARGE,
                        "over %d transactions are open at offset %lld: the broker's markers are "
                        "missing", MOST_UNSEEN, (long long)h->base_offset);
    return krc_producers_put(&f->unseen, h->producer_id, pack(h->base_offset, dropped), error);
}

int krc_net_fates_of(struct krc_net_fates *f, struct krc_remote *r,
                     const struct krc_batch_header *h, enum krc_txn_fate *fate, krc_error *error)
{
    bool is_listed = krc_aborted_drops(&f->aborted, h->producer_id, h->last_offset);
    KRC_TRY(scan(f, r, error));
    *fate = krc_markers_fate(&f->markers, h->producer_id, h->last_offset);
    f->unlisted += *fate == KRC_TXN_ABORTED && !is_listed;
    if (*fate == KRC_TXN_COMMITTED || *fate == KRC_TXN_ABORTED)
        return KRC_OK;
    *fate = is_listed ? KRC_TXN_ABORTED : KRC_TXN_COMMITTED;
    return decide_unseen(f, h, is_listed, error);
}

void krc_net_fates_marker(struct krc_net_fates *f, struct krc_item *item, bool commit)
{
    const struct krc_batch_header *h = &item->batch.header;
    const int64_t *unseen = krc_producers_get(&f->unseen, h->producer_id);
    krc_aborted_marker(&f->aborted, h->producer_id, h->base_offset);
    krc_markers_forget_below(&f->markers, h->base_offset + 1);
    if (unseen == NULL)
        return;
    bool dropped = *unseen & 1;
    int64_t first = *unseen / 2;
    krc_producers_remove(&f->unseen, h->producer_id);
    if (dropped != commit)
        return;
    item->is_misjudged = true;
    item->misjudged_from = first;
    snprintf(item->why, sizeof item->why,
             "the marker at offset %lld %s the transaction of producer %lld, and its records from "
             "offset %lld on were %s: the broker's list of aborted transactions said otherwise",
             (long long)h->base_offset, commit ? "commits" : "aborts", (long long)h->producer_id,
             (long long)first, commit ? "left out" : "delivered");
}
