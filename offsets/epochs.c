#include "offsets/epochs.h"

#include <string.h>

struct krc_epochs krc_epochs_of_offset(int32_t epoch, int64_t offset)
{
    struct krc_epochs epochs = {.incomplete = true};
    if (epoch >= 0)
        krc_epochs_add(&epochs, epoch, offset, offset);
    return epochs;
}

static void remove_entry(struct krc_epochs *epochs, int32_t at)
{
    size_t behind = (size_t)(epochs->count - at - 1);
    memmove(&epochs->first[at], &epochs->first[at + 1], behind * sizeof *epochs->first);
    memmove(&epochs->epoch[at], &epochs->epoch[at + 1], behind * sizeof *epochs->epoch);
    epochs->count--;
}

/* Merges the entry of the fewest offsets into the one behind it: so much at the most is read again
 * because of it.  The last entry stays as it is. */
static void merge_smallest(struct krc_epochs *epochs)
{
    int32_t smallest = 0;
    for (int32_t i = 1; i + 1 < epochs->count; i++)
        if (epochs->first[i + 1] - epochs->first[i] <
            epochs->first[smallest + 1] - epochs->first[smallest])
            smallest = i;
    epochs->first[smallest + 1] = epochs->first[smallest];
    remove_entry(epochs, smallest);
}

void krc_epochs_add(struct krc_epochs *epochs, int32_t epoch, int64_t from, int64_t to)
{
    int32_t last = epochs->count - 1;
    if (last < 0 || epoch > epochs->epoch[last]) {
        if (epochs->count == KRC_EPOCHS_MAX)
            merge_smallest(epochs);
        /* a hole between two epochs may belong to either: the earlier one ends before it */
        epochs->first[epochs->count] = epochs->count == 0 ? from : epochs->end;
        epochs->epoch[epochs->count++] = epoch;
    }
    epochs->end = to;
}

void krc_epochs_cut(struct krc_epochs *epochs, int64_t offset)
{
    while (epochs->count > 0 && epochs->first[epochs->count - 1] >= offset)
        epochs->count--;
    if (epochs->end > offset)
        epochs->end = offset;
}

int32_t krc_epochs_floor(const struct krc_epochs *epochs, int32_t epoch, int64_t *end)
{
    int32_t i = epochs->count;
    *end = i > 0 ? epochs->end : INT64_MAX;
    while (i > 0 && epochs->epoch[i - 1] > epoch)
        *end = epochs->first[--i];
    return i > 0 ? epochs->epoch[i - 1] : -1;
}
