/*
 * Records of the transaction log, __transaction_state; and transactional ids, whoever tells them.
 */
#ifndef KRC_ADMIN_TRANSACTIONAL_IDS_H
#define KRC_ADMIN_TRANSACTIONAL_IDS_H

#include <krc-tools.h>

#include "base/arena.h"
#include "base/error.h"

/* 1 a transactional id, a view; 0 a key of another type. */
int krc_transaction_key_read(struct krc_bytes key, struct krc_bytes *id,
                             krc_error *error) KRC_MUST_USE;

struct krc_transaction_note {
    int64_t producer_id;
    int64_t previous_producer_id; /* of the transaction before; -1: the same, or not told */
    int64_t next_producer_id;     /* of the next one; -1: likewise */
};
int krc_transaction_note_read(struct krc_bytes value, struct krc_transaction_note *note,
                              struct krc_arena *arena, krc_error *error) KRC_MUST_USE;

/* The one of a producer id, which is added where it is not there yet, and stays. */
int krc_transactional_ids_put(krc_transactional_ids *ids, int64_t producer_id,
                              struct krc_bytes name, struct krc_transactional_id **id,
                              krc_error *error) KRC_MUST_USE;

/* The state that a coordinator tells. */
int krc_transactional_ids_set_state(krc_transactional_ids *ids, struct krc_transactional_id *id,
                                    struct krc_bytes state, krc_error *error) KRC_MUST_USE;

/* The i-th, in the order they were added; NULL beyond the last. */
struct krc_transactional_id *krc_transactional_ids_at(const krc_transactional_ids *ids, size_t i);

#endif
