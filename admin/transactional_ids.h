/*
 * Records of the transaction log, __transaction_state.
 */
#ifndef KRC_ADMIN_TRANSACTIONAL_IDS_H
#define KRC_ADMIN_TRANSACTIONAL_IDS_H

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

#endif
