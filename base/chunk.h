/*
 * A stretch of bytes in memory that batches lie in, counted by its holders.
 */
#ifndef KRC_BASE_CHUNK_H
#define KRC_BASE_CHUNK_H

#include "base/error.h"

struct krc_chunk {
    uint8_t *data;
    size_t len;
    size_t capacity;
    unsigned holders;
    void (*gone)(struct krc_chunk *chunk); /* the last holder has dropped it */
};

/* One holder, `capacity` bytes, freed when it is gone.  NULL: out of memory. */
struct krc_chunk *krc_chunk_new(size_t capacity, krc_error *error);

static inline void krc_chunk_hold(struct krc_chunk *chunk)
{
    chunk->holders++;
}

/* NULL is fine. */
static inline void krc_chunk_drop(struct krc_chunk *chunk)
{
    if (chunk != NULL && --chunk->holders == 0)
        chunk->gone(chunk);
}

#endif
