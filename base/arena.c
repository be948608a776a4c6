#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_BLOCK = 4096,
    MOST_KEPT = 1 << 20, /* what a past giant took goes back to the system */
    ALIGNMENT = alignof(max_align_t),
};

struct krc_arena_block {
    struct krc_arena_block *older;
    size_t capacity;
    max_align_t data[];
};

/* Each block is twice as large as the last, so that after a few uses one holds everything. */
static struct krc_arena_block *add_block(struct krc_arena *arena, size_t size)
{
    size_t doubled = arena->blocks != NULL ? arena->blocks->capacity * 2 : LEAST_BLOCK;
    size_t capacity = size > doubled ? size : doubled;
    struct krc_arena_block *block = malloc(sizeof *block + capacity);
    if (block == NULL)
        return NULL;
    block->older = arena->blocks;
    block->capacity = capacity;
    arena->blocks = block;
    arena->used = 0;
    return block;
}

void *krc_arena_take(struct krc_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 4)
        return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->limit != 0 && arena->total + size > arena->limit) {
        arena->is_over = true;
        return NULL;
    }
    struct krc_arena_block *block = arena->blocks;
    if (block == NULL || size > block->capacity - arena->used)
        block = add_block(arena, size);
    if (block == NULL)
        return NULL;
    void *taken = (uint8_t *)block->data + arena->used;
    arena->used += size;
    arena->total += size;
    return memset(taken, 0, size);
}

static void free_blocks(struct krc_arena_block *block)
{
    while (block != NULL) {
        struct krc_arena_block *older = block->older;
        free(block);
        block = older;
    }
}

void krc_arena_reset(struct krc_arena *arena)
{
    struct krc_arena_block *newest = arena->blocks;
    if (newest != NULL && newest->capacity <= MOST_KEPT) {
        free_blocks(newest->older);
        newest->older = NULL;
    } else {
        free_blocks(newest);
        arena->blocks = NULL;
    }
    arena->used = arena->total = 0;
    arena->is_over = false;
}

void krc_arena_free(struct krc_arena *arena)
{
    free_blocks(arena->blocks);
    *arena = (struct krc_arena){.limit = arena->limit};
}
