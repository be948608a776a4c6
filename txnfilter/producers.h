/*
 * A map from producer ids to 64-bit values: open addressing, linear probing, no tombstones.
 */
#ifndef KRC_TXNFILTER_PRODUCERS_H
#define KRC_TXNFILTER_PRODUCERS_H

#include "base/error.h"

struct krc_producers {
    struct krc_producer_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* The value's place, valid until the next put or remove; NULL where there is none. */
int64_t *krc_producers_get(const struct krc_producers *map, int64_t producer_id);
int krc_producers_put(struct krc_producers *map, int64_t producer_id, int64_t value,
                      krc_error *error) KRC_MUST_USE;
void krc_producers_remove(struct krc_producers *map, int64_t producer_id);
void krc_producers_free(struct krc_producers *map);

/* Walks in no order: `*at` begins at 0; false at the end. */
bool krc_producers_next(const struct krc_producers *map, size_t *at, int64_t *producer_id,
                        int64_t *value);

#endif
