#include "txnfilter/aborted.h"

#include <stdlib.h>

static int by_producer_and_offset(const void *left, const void *right)
{
    const struct krc_aborted *a = left, *b = right;
    if (a->producer_id != b->producer_id)
        return a->producer_id < b->producer_id ? -1 : 1;
    return (a->first_offset > b->first_offset) - (a->first_offset < b->first_offset);
}

void krc_aborted_begin(struct krc_aborted_list *aborted, struct krc_aborted *list, size_t count)
{
    if (count > 1)
        qsort(list, count, sizeof *list, by_producer_and_offset);
    *aborted = (struct krc_aborted_list){.list = list, .count = count};
}

/* The producer's first transaction that has not ended.  Ended ones have a first offset of
 * INT64_MAX, and a producer's entries end in their order, so they are passed by. */
static struct krc_aborted *first_of(const struct krc_aborted_list *aborted, int64_t producer_id)
{
    size_t low = 0, high = aborted->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (aborted->list[middle].producer_id < producer_id)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < aborted->count && aborted->list[low].producer_id == producer_id; low++)
        if (aborted->list[low].first_offset != INT64_MAX)
            return &aborted->list[low];
    return NULL;
}

bool krc_aborted_drops(const struct krc_aborted_list *aborted, int64_t producer_id,
                       int64_t last_offset)
{
    const struct krc_aborted *first = first_of(aborted, producer_id);
    return first != NULL && first->first_offset <= last_offset;
}

void krc_aborted_marker(struct krc_aborted_list *aborted, int64_t producer_id, int64_t offset)
{
    struct krc_aborted *first;
    while ((first = first_of(aborted, producer_id)) != NULL && first->first_offset <= offset)
        first->first_offset = INT64_MAX;
}
