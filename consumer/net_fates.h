/*
 * What becomes of a transaction that is read from a cluster.
 *
 * Its marker decides.  A broker sends a list of aborted transactions with the records, and the list
 * can lack one: a follower that appends several transactions at once gives its index entries too
 * high a last stable offset, and once it leads, its look-up stops too early.  So the markers in the
 * answers at hand are looked at first.  Where the marker is not among them, the list does not name
 * the transaction, and the next answer is on its way, reading waits for that one.  What the list
 * alone had to decide is remembered until the marker comes, which confirms or refutes it.
 */
#ifndef KRC_CONSUMER_NET_FATES_H
#define KRC_CONSUMER_NET_FATES_H

#include "cluster/cluster.h"
#include "consumer/source.h"
#include "txnfilter/aborted.h"
#include "txnfilter/markers.h"

struct krc_net_fates {
    struct krc_aborted_list aborted; /* the broker's, of the piece that is being read */
    struct krc_markers markers;      /* in the pieces at hand */
    int64_t scanned_to;              /* up to here; -1: nothing was */
    int64_t last_marker;             /* the highest offset of them; -1 */
    struct krc_producers unseen; /* producers whose transactions were decided without a marker */
    int64_t awaited;             /* where the answer begins that was waited for last; -1 */
    uint64_t unlisted;           /* batches that only a marker showed to be aborted */
};

void krc_net_fates_init(struct krc_net_fates *fates);
void krc_net_fates_free(struct krc_net_fates *fates);

/* What was at hand was given up. */
void krc_net_fates_discard(struct krc_net_fates *fates);

/* What was decided does not count any more: the position is another one. */
void krc_net_fates_forget(struct krc_net_fates *fates);

/* Whether the batch's marker may come with the answer that is on its way. */
int krc_net_fates_await(struct krc_net_fates *fates, struct krc_remote *remote,
                        const struct krc_batch_header *header, bool *awaits,
                        krc_error *error) KRC_MUST_USE;

/* Of a transactional batch of records; UNDECIDED does not come out of it. */
int krc_net_fates_of(struct krc_net_fates *fates, struct krc_remote *remote,
                     const struct krc_batch_header *header, enum krc_txn_fate *fate,
                     krc_error *error) KRC_MUST_USE;

/* A marker, which the item is about, was passed: where it shows that its transaction was decided
 * wrongly, the item says so. */
void krc_net_fates_marker(struct krc_net_fates *fates, struct krc_item *item, bool commit);

#endif
