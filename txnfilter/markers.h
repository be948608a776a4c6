/*
 * Offline, a transactional batch's fate is the type of its producer's next control marker.
 *
 * A cursor that walks ahead of the reading one adds the markers it meets; the reading one asks
 * for the fate of its batch, and forgets what it has passed.  So the memory is 24 bytes for each
 * marker inside the longest open transaction, and an entry for each producer that has one.
 *
 * Only the producer id matters: a marker's epoch may be its data's + 1 (KIP-890), and one id
 * goes through many transactions.
 */
#ifndef KRC_TXNFILTER_MARKERS_H
#define KRC_TXNFILTER_MARKERS_H

#include "txnfilter/producers.h"

enum krc_txn_fate {
    KRC_TXN_UNDECIDED, /* no marker was added yet */
    KRC_TXN_COMMITTED,
    KRC_TXN_ABORTED,
    KRC_TXN_DOUBTFUL, /* what lies before the next marker is unreadable or missing, and may have
                         held one */
};

struct krc_markers {
    struct krc_marker *ring;
    uint32_t capacity;   /* a power of two, or 0 */
    uint32_t first, end; /* counted on without wrapping at capacity; [first, end) is in use */
    struct krc_producers chains; /* producer id -> its first and last marker in the ring */
    struct krc_doubt *doubts;    /* rising */
    size_t doubt_count, doubt_capacity;
};

/* A control marker at `offset`, larger than any before. */
int krc_markers_add(struct krc_markers *markers, int64_t producer_id, int64_t offset, bool commit,
                    krc_error *error) KRC_MUST_USE;

/* What lies at offsets [from, to) is not to be had, and may have held markers of any producer.
 * Where there is no offset between its neighbours, from = to. */
int krc_markers_doubt(struct krc_markers *markers, int64_t from, int64_t to,
                      krc_error *error) KRC_MUST_USE;

/* Of a batch of that producer's at `offset`. */
enum krc_txn_fate krc_markers_fate(const struct krc_markers *markers, int64_t producer_id,
                                   int64_t offset);

/* Where the marker lies that decides it, -1 where none was added yet. */
int64_t krc_markers_offset(const struct krc_markers *markers, int64_t producer_id, int64_t offset);

/* The reading cursor stands at `offset`: markers below it decide nothing any more. */
void krc_markers_forget_below(struct krc_markers *markers, int64_t offset);

void krc_markers_free(struct krc_markers *markers);

#endif
