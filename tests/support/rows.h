/*
 * Arrays of a message that are only walked (krc_wire_rows), as the lists they are written from.
 */
#ifndef KRC_TESTS_ROWS_H
#define KRC_TESTS_ROWS_H

#include <stdlib.h>

#include "protocol/api.h"

static inline void *rows_list(struct krc_wire_rows rows, struct krc_arena *arena)
{
    uint8_t *list = krc_arena_take(arena, ((size_t)rows.left + 1) * rows.size), *next = list;
    if (list == NULL)
        abort();
    while (krc_wire_next(&rows, next, arena))
        next += rows.size;
    return list;
}

/* After reading: fills the lists of a response that has such arrays. */
static inline void rows_load(enum krc_api_name api, void *response, struct krc_arena *arena)
{
    struct krc_metadata_response *r = response;
    if (api != KRC_API_METADATA)
        return;
    r->brokers = rows_list(r->broker_rows, arena);
    r->topics = rows_list(r->rows, arena);
    for (int32_t i = 0; i < r->topic_count; i++)
        r->topics[i].partitions = rows_list(r->topics[i].rows, arena);
}

#endif
