/*
 * Finds things by number: a table that is as fast with a hundred thousand as with ten.
 */
#ifndef KRC_BASE_INDEX_H
#define KRC_BASE_INDEX_H

#include "base/error.h"

/* All zero: empty.  Keys that come from outside could all be put to one place by somebody who knows
 * how they are: `salt`, which is set before the first, is to be known to nobody. */
struct krc_index {
    uint64_t salt;
    struct krc_index_entry *entries;
    size_t count, capacity; /* a power of two, 0: nothing was put yet */
};

/* NULL: there is none. */
void *krc_index_find(const struct krc_index *index, uint64_t key);

/* `value` is not NULL; it takes the place of another of that key. */
int krc_index_put(struct krc_index *index, uint64_t key, void *value,
                  krc_error *error) KRC_MUST_USE;

/* Nothing where there is none. */
void krc_index_remove(struct krc_index *index, uint64_t key);

void krc_index_free(struct krc_index *index);

#endif
