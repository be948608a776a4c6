#include "txnfilter/producers.h"

#include <stdlib.h>

struct krc_producer_slot {
    int64_t producer_id;
    int64_t value;
    bool used;
};

/* Producer ids are handed out in blocks, one after the other: spread them (Fibonacci hashing). */
static size_t home(const struct krc_producers *map, int64_t producer_id)
{
    return (size_t)((uint64_t)producer_id * 0x9e3779b97f4a7c15u >> 32) & (map->capacity - 1);
}

static struct krc_producer_slot *find(const struct krc_producers *map, int64_t producer_id)
{
    size_t i = home(map, producer_id);
    while (map->slots[i].used && map->slots[i].producer_id != producer_id)
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

int64_t *krc_producers_get(const struct krc_producers *map, int64_t producer_id)
{
    if (map->capacity == 0)
        return NULL;
    struct krc_producer_slot *slot = find(map, producer_id);
    return slot->used ? &slot->value : NULL;
}

static int grow(struct krc_producers *map, krc_error *error)
{
    struct krc_producers larger = {.capacity = map->capacity ? map->capacity * 2 : 16,
                                   .count = map->count};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return krc_fail_nomem(error, larger.capacity * sizeof *larger.slots);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].used)
            *find(&larger, map->slots[i].producer_id) = map->slots[i];
    free(map->slots);
    *map = larger;
    return KRC_OK;
}

int krc_producers_put(struct krc_producers *map, int64_t producer_id, int64_t value,
                      krc_error *error)
{
    if (map->count * 4 >= map->capacity * 3)
        KRC_TRY(grow(map, error));
    struct krc_producer_slot *slot = find(map, producer_id);
    if (!slot->used)
        map->count++;
    *slot = (struct krc_producer_slot){.producer_id = producer_id, .value = value, .used = true};
    return KRC_OK;
}

/* Closes the hole: later entries of the same run move up unless that would pass their home. */
void krc_producers_remove(struct krc_producers *map, int64_t producer_id)
{
    if (krc_producers_get(map, producer_id) == NULL)
        return;
    size_t mask = map->capacity - 1;
    size_t hole = (size_t)(find(map, producer_id) - map->slots);
    for (size_t i = (hole + 1) & mask; map->slots[i].used; i = (i + 1) & mask) {
        size_t distance = (i - home(map, map->slots[i].producer_id)) & mask;
        if (distance < ((i - hole) & mask))
            continue;
        map->slots[hole] = map->slots[i];
        hole = i;
    }
    map->slots[hole].used = false;
    map->count--;
}

bool krc_producers_next(const struct krc_producers *map, size_t *at, int64_t *producer_id,
                        int64_t *value)
{
    for (; *at < map->capacity; ++*at) {
        const struct krc_producer_slot *slot = &map->slots[*at];
        if (!slot->used)
            continue;
        *producer_id = slot->producer_id;
        *value = slot->value;
        ++*at;
        return true;
    }
    return false;
}

void krc_producers_free(struct krc_producers *map)
{
    free(map->slots);
    *map = (struct krc_producers){0};
}
