#include "consumer/spans.h"

#include <stdlib.h>

static struct krc_span *at(const struct krc_spans *spans, uint64_t number)
{
    return &spans->ring[number & (spans->capacity - 1)];
}

static int grow(struct krc_spans *spans, krc_error *error)
{
    struct krc_spans larger = *spans;
    larger.capacity = spans->capacity ? spans->capacity * 2 : 16;
    larger.ring = malloc(larger.capacity * sizeof *larger.ring);
    if (larger.ring == NULL)
        return krc_fail_nomem(error, larger.capacity * sizeof *larger.ring);
    for (uint64_t i = spans->first; i < spans->end; i++)
        *at(&larger, i) = *at(spans, i);
    free(spans->ring);
    *spans = larger;
    return KRC_OK;
}

static void merge_oldest(struct krc_spans *spans)
{
    const struct krc_span *oldest = at(spans, spans->first);
    struct krc_span *next = at(spans, spans->first + 1);
    if (oldest->batch != NULL || next->batch != NULL)
        return;
    next->from = oldest->from;
    next->before = oldest->before;
    next->epoch_before = oldest->epoch_before;
    spans->first++;
}

int krc_spans_reserve(struct krc_spans *spans, krc_error *error)
{
    if (spans->end - spans->first >= KRC_SPANS_KEPT)
        merge_oldest(spans);
    return spans->end - spans->first == spans->capacity ? grow(spans, error) : KRC_OK;
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
