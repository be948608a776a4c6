/*
 * Online, the broker's list of aborted transactions decides: pairs of producer id and first
 * offset, sent with the records of one fetch.
 *
 * The list may be unsorted, begin before the fetch, repeat a producer, or name a transaction
 * whose data is compacted away.
 */
#ifndef KRC_TXNFILTER_ABORTED_H
#define KRC_TXNFILTER_ABORTED_H

#include "base/error.h"

struct krc_aborted {
    int64_t producer_id;
    int64_t first_offset;
};

struct krc_aborted_list {
    struct krc_aborted *list; /* the caller's */
    size_t count;
};

/* Sorts the caller's array in place and walks it from here on. */
void krc_aborted_begin(struct krc_aborted_list *aborted, struct krc_aborted *list, size_t count);

/* Whether a transactional batch of that producer's, ending at `last_offset`, is to be dropped. */
bool krc_aborted_drops(const struct krc_aborted_list *aborted, int64_t producer_id,
                       int64_t last_offset);

/* A control marker of the producer's at `offset`, of either type: ends those of its transactions
 * that began before it. */
void krc_aborted_marker(struct krc_aborted_list *aborted, int64_t producer_id, int64_t offset);

#endif
