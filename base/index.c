#include "base/index.h"

#include <stdlib.h>

struct krc_index_entry {
    uint64_t key;
    void *value; /* NULL: it is free */
};

/* Neighbouring keys do not lie together, nor do those that differ in some bits only: each bit of
 * the key changes half of the place's (the last step of MurmurHash3). */
static size_t place_of(const struct krc_index *index, uint64_t key)
{
    key ^= index->salt;
    key ^= key >> 33;
    key *= UINT64_C(0xff51afd7ed558ccd);
    key ^= key >> 33;
    key *= UINT64_C(0xc4ceb9fe1a85ec53);
    key ^= key >> 33;
    return (size_t)key & (index->capacity - 1);
}

/* Where the key is, or the free entry where it would be: the next one that fits. */
static struct krc_index_entry *entry_of(const struct krc_index *index, uint64_t key)
{
    size_t at = place_of(index, key);
    while (index->entries[at].value != NULL && index->entries[at].key != key)
        at = (at + 1) & (index->capacity - 1);
    return &index->entries[at];
}

void *krc_index_find(const struct krc_index *index, uint64_t key)
{
    return index->capacity == 0 ? NULL : entry_of(index, key)->value;
}

/* At most three quarters are in use. */
static int grow(struct krc_index *index, krc_error *error)
{
    struct krc_index old = *index;
    size_t capacity = old.capacity == 0 ? 16 : 2 * old.capacity;
    struct krc_index_entry *entries = calloc(capacity, sizeof *entries);
    if (entries == NULL)
        return krc_fail_nomem(error, capacity * sizeof *entries);
    index->entries = entries;
    index->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entries[i].value != NULL)
            *entry_of(index, old.entries[i].key) = old.entries[i];
    free(old.entries);
    return KRC_OK;
}

int krc_index_put(struct krc_index *index, uint64_t key, void *value, krc_error *error)
{
    if (4 * (index->count + 1) > 3 * index->capacity)
        KRC_TRY(grow(index, error));
    struct krc_index_entry *entry = entry_of(index, key);
    index->count += entry->value == NULL;
    *entry = (struct krc_index_entry){key, value};
    return KRC_OK;
}

/* Those behind it that would not be found over the gap move up. */
void krc_index_remove(struct krc_index *index, uint64_t key)
{
    struct krc_index_entry *gap = index->capacity == 0 ? NULL : entry_of(index, key);
    if (gap == NULL || gap->value == NULL)
        return;
    size_t mask = index->capacity - 1, free_at = (size_t)(gap - index->entries);
    for (size_t at = (free_at + 1) & mask; index->entries[at].value != NULL; at = (at + 1) & mask) {
        size_t home = place_of(index, index->entries[at].key);
        if (((at - home) & mask) < ((at - free_at) & mask))
            continue;
        index->entries[free_at] = index->entries[at];
        free_at = at;
    }
    index->entries[free_at].value = NULL;
    index->count--;
}

void krc_index_free(struct krc_index *index)
{
    free(index->entries);
    *index = (struct krc_index){.salt = index->salt};
}
