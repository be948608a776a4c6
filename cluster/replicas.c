#include "cluster/replicas.h"

#include <stdlib.h>
#include <string.h>

/*
 * The lists of a partition, whose number is their place + 1:
 *      int16 × 4  counts, -1: not known
 *      [int32]    ids, list by list
 */
enum { HEADER = KRC_REPLICA_LISTS / 2 };

/* At most 2^17, for lists are not longer. */
static uint32_t words_of(const struct krc_replica_lists *lists)
{
    uint32_t words = HEADER;
    for (int i = 0; i < KRC_REPLICA_LISTS; i++)
        words += lists->counts[i] > 0 ? (uint32_t)lists->counts[i] : 0;
    return words;
}

struct krc_replica_lists krc_replicas_get(const struct krc_replicas *replicas, uint32_t at)
{
    struct krc_replica_lists lists = {.counts[KRC_ELIGIBLE] = KRC_LIST_UNKNOWN};
    int16_t counts[KRC_REPLICA_LISTS];
    if (at == 0)
        return lists;
    const int32_t *word = &replicas->words[at - 1];
    memcpy(counts, word, sizeof counts);
    word += HEADER;
    for (int i = 0; i < KRC_REPLICA_LISTS; i++) {
        lists.ids[i] = word;
        lists.counts[i] = counts[i];
        word += counts[i] > 0 ? counts[i] : 0;
    }
    return lists;
}

static void put(int32_t *word, const struct krc_replica_lists *lists)
{
    int16_t counts[KRC_REPLICA_LISTS];
    for (int i = 0; i < KRC_REPLICA_LISTS; i++)
        counts[i] = (int16_t)lists->counts[i];
    memcpy(word, counts, sizeof counts);
    word += HEADER;
    for (int i = 0; i < KRC_REPLICA_LISTS; i++) {
        for (int32_t k = 0; k < lists->counts[i]; k++)
            word[k] = lists->ids[i][k];
        word += lists->counts[i] > 0 ? lists->counts[i] : 0;
    }
}

static bool grow(struct krc_replicas *replicas, uint32_t words)
{
    uint64_t needed = (uint64_t)replicas->len + words;
    uint64_t capacity = (uint64_t)replicas->capacity + replicas->capacity / 2;
    if (needed <= replicas->capacity)
        return true;
    if (capacity < needed)
        capacity = needed;
    if (capacity >= UINT32_MAX)
        return false;
    int32_t *grown = realloc(replicas->words, capacity * sizeof *grown);
    if (grown == NULL)
        return false;
    replicas->words = grown;
    replicas->capacity = (uint32_t)capacity;
    return true;
}

static bool is_too_long(const struct krc_replica_lists *lists)
{
    for (int i = 0; i < KRC_REPLICA_LISTS; i++)
        if (lists->counts[i] > INT16_MAX)
            return true;
    return false;
}

static void fill_in(struct krc_replica_lists *lists, const struct krc_replica_lists *old)
{
    for (int i = 0; i < KRC_REPLICA_LISTS; i++)
        if (lists->counts[i] == KRC_LIST_KEPT) {
            lists->ids[i] = old->ids[i];
            lists->counts[i] = old->counts[i];
        }
}

static bool is_nothing(const struct krc_replica_lists *lists)
{
    return words_of(lists) == HEADER && lists->counts[KRC_ELIGIBLE] < 0;
}

void krc_replicas_set(struct krc_replicas *replicas, uint32_t *at,
                      const struct krc_replica_lists *lists)
{
    struct krc_replica_lists all = *lists, old = krc_replicas_get(replicas, *at);
    if (is_too_long(lists) || !grow(replicas, words_of(&all) + (*at != 0 ? words_of(&old) : 0)))
        return;
    old = krc_replicas_get(replicas, *at); /* they may have moved */
    fill_in(&all, &old);
    if (*at == 0 && is_nothing(&all))
        return;
    bool is_same_size = memcmp(all.counts, old.counts, sizeof all.counts) == 0;
    if (*at != 0 && !is_same_size)
        replicas->lost += words_of(&old);
    if (*at == 0 || !is_same_size) {
        *at = replicas->len + 1;
        replicas->len += words_of(&all);
    }
    put(&replicas->words[*at - 1], &all);
}

void krc_replicas_free(struct krc_replicas *replicas)
{
    free(replicas->words);
    *replicas = (struct krc_replicas){0};
}
