#include "base/chunk.h"

#include <stdlib.h>

static void free_chunk(struct krc_chunk *chunk)
{
    free(chunk->data);
    free(chunk);
}

struct krc_chunk *krc_chunk_new(size_t capacity, krc_error *error)
{
    struct krc_chunk *chunk = malloc(sizeof *chunk);
    uint8_t *data = malloc(capacity);
    if (chunk == NULL || data == NULL) {
        free(chunk);
        free(data);
        krc_fail_nomem(error, capacity);
        return NULL;
    }
    *chunk = (struct krc_chunk){
        .data = data, .capacity = capacity, .holders = 1, .gone = free_chunk};
    return chunk;
}
