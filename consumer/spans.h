/*
 * The batches of a partition that were handed out and are not acknowledged yet, in their order: a
 * ring, counted on without wrapping at its capacity.
 */
#ifndef KRC_CONSUMER_SPANS_H
#define KRC_CONSUMER_SPANS_H

#include "base/error.h"

struct krc_span {
    int64_t from, to;
    struct krc_account before; /* of [start, from) */
    int32_t epoch_before;      /* the leader epoch before `from` */
    int32_t epoch;
    struct krc_batch *batch; /* NULL: released */
};

/* So many are kept apart for an application that releases and does not acknowledge. */
enum { KRC_SPANS_KEPT = 32 };

struct krc_spans {
    struct krc_span *ring;
    uint64_t capacity;   /* a power of two, or 0 */
    uint64_t first, end; /* [first, end) is in use */
};

/* Makes room for one more.  Where there are KRC_SPANS_KEPT, neighbours that are released become
 * one, and the borders between them are forgotten; of those that are held none is. */
int krc_spans_reserve(struct krc_spans *spans, krc_error *error) KRC_MUST_USE;

/* Adds one where there is room; its number is what `end` was. */
void krc_spans_add(struct krc_spans *spans, const struct krc_span *span);

/* The batch of that number is released; not in use any more is fine. */
void krc_spans_release(struct krc_spans *spans, uint64_t number);

/* The oldest, NULL where there is none. */
struct krc_span *krc_spans_oldest(const struct krc_spans *spans);
void krc_spans_drop_oldest(struct krc_spans *spans);

void krc_spans_clear(struct krc_spans *spans); /* numbers go on */
void krc_spans_free(struct krc_spans *spans);

#endif
