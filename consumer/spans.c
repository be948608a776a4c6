#include "consumer/spans.h"

#include <stdlib.h>

#include "consumer/handle.h"

static struct krc_span *at(const struct krc_spans *spans, uint64_t number)
{
    return &spans->ring[number & (spans->capacity - 1)];
}

static int grow(struct krc_spans *spans, krc_error *error)
{
    struct krc_spans larger = *spans;
    larger.capacity = spans->capacity ? spans->capacity * 2 : 4;
    larger.ring = malloc(larger.capacity * sizeof *larger.ring);
    if (larger.ring == NULL)
        return krc_fail_nomem(error, larger.capacity * sizeof *larger.ring);
    for (uint64_t i = spans->first; i < spans->end; i++)
        *at(&larger, i) = *at(spans, i);
    free(spans->ring);
    *spans = larger;
    return KRC_OK;
}

/* Joins neighbours that are released to some that are about equally wide: less than half as many
 * as are kept at most, where none is held. */
static void thin_out(struct krc_spans *spans)
{
    int64_t width =
        (at(spans, spans->end - 1)->to - at(spans, spans->first)->from) / (KRC_SPANS_KEPT / 4);
    uint64_t kept = spans->first;
    struct krc_span *last = NULL;
    for (uint64_t i = spans->first; i < spans->end; i++) {
        const struct krc_span *span = at(spans, i);
        if (last != NULL && last->batch == NULL && span->batch == NULL &&
            span->to - last->from <= width) {
            last->to = span->to;
            last->epoch = span->epoch;
            continue;
        }
        last = at(spans, kept);
        *last = *span;
        if (last->batch != NULL)
            last->batch->span = kept;
        kept++;
    }
    spans->end = kept;
}

int krc_spans_reserve(struct krc_spans *spans, krc_error *error)
{
    if (spans->end - spans->first < spans->capacity)
        return KRC_OK;
    if (spans->capacity >= KRC_SPANS_KEPT)
        thin_out(spans);
    bool is_thin = spans->end - spans->first <= spans->capacity / 4 * 3;
    return is_thin && spans->capacity > 0 ? KRC_OK : grow(spans, error);
}

void krc_spans_add(struct krc_spans *spans, const struct krc_span *span)
{
    *at(spans, spans->end++) = *span;
}

void krc_spans_release(struct krc_spans *spans, uint64_t number)
{
    if (number >= spans->first && number < spans->end)
        at(spans, number)->batch = NULL;
}

struct krc_span *krc_spans_oldest(const struct krc_spans *spans)
{
    return spans->first < spans->end ? at(spans, spans->first) : NULL;
}

void krc_spans_drop_oldest(struct krc_spans *spans)
{
    spans->first++;
}

void krc_spans_clear(struct krc_spans *spans)
{
    spans->first = spans->end;
}

void krc_spans_free(struct krc_spans *spans)
{
    free(spans->ring);
    *spans = (struct krc_spans){0};
}
