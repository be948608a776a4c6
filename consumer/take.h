/*
 * From a batch that reaches the position to an item: gap, marker, aborted, or records.  The same
 * for every source, which says through its operations what only it knows.
 */
#ifndef KRC_CONSUMER_TAKE_H
#define KRC_CONSUMER_TAKE_H

#include "consumer/source.h"

/*
 * `item` is an END at the position.  `*taken` is set where the batch is done with, else it is to
 * be offered again.  Returns KRC_ANSWERED, KRC_NOT_YET or an error.
 */
int krc_take_batch(struct krc_source *source, const struct krc_batch_view *batch, int64_t until,
                   struct krc_buffer *scratch, struct krc_item *item, bool *taken,
                   krc_error *error) KRC_MUST_USE;

static inline int64_t krc_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void krc_set_passed(struct krc_item *item, int64_t to, enum krc_fate fate);

#endif
