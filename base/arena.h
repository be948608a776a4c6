/*
 * Memory that is taken piece by piece and given back all at once.
 */
#ifndef KRC_BASE_ARENA_H
#define KRC_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct krc_arena {
    struct krc_arena_block *blocks; /* the newest first */
    size_t used;                    /* bytes taken in the newest */
    size_t limit;                   /* for `total`; 0: none */
    size_t total;                   /* bytes taken since the last reset */
    bool is_over;                   /* something was refused since then, for it is over the limit */
};

/* Zeroed, aligned for any type; NULL: out of memory, or over the limit. */
void *krc_arena_take(struct krc_arena *arena, size_t size);

/* Everything taken is gone; one block, unless it is a giant, is kept for the next use. */
void krc_arena_reset(struct krc_arena *arena);
void krc_arena_free(struct krc_arena *arena);

#endif
