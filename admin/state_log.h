/*
 * Kafka's own topics in log folders, __consumer_offsets and __transaction_state: every record that
 * counts, as a coordinator that loads them would see it.
 *
 * A record in a transaction counts where that was committed.  One that is still open hides its own
 * records, but not, as from a consumer, all that lies behind its first: a coordinator keeps its
 * commits aside, and goes on.
 */
#ifndef KRC_ADMIN_STATE_LOG_H
#define KRC_ADMIN_STATE_LOG_H

#include "base/error.h"

/* An error it returns is completed with the record's place. */
typedef int krc_state_record_fn(void *arg, const struct krc_record *record, krc_error *error);

/* Reads all partitions of the topic that the folders have, one after another, each in the order of
 * its offsets.  `pending` takes records of transactions that are still open; it may be NULL.
 * "skip.corrupt.batches" goes past what cannot be read.  KRC_E_NOT_FOUND: they have none. */
int krc_state_log_read(const krc *krc, const char *topic, krc_state_record_fn *record,
                       krc_state_record_fn *pending, void *arg, krc_error *error) KRC_MUST_USE;

#endif
