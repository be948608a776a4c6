/*
 * Polling: partitions in the order they were assigned, one after the other; batches; events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/handle.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, len) ((void)(data), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(data, len) ((void)(data), (void)(len))
#endif

enum { SCRATCH_KEPT = 4 << 20 }; /* what a batch's buffer may keep from one use to the next */

/* ---- Events -------------------------------------------------------------------------------- */

/* Nobody reads them: the oldest go, and that is told. */
static void drop_oldest(krc *handle)
{
    handle->event_first = (handle->event_first + 1) % KRC_EVENTS_KEPT;
    handle->event_count--;
    handle->events_dropped++;
}

void krc_push_event(krc *handle, const struct krc_event *event)
{
    if (handle->event_count == KRC_EVENTS_KEPT)
        drop_oldest(handle);
    handle->events[(handle->event_first + handle->event_count++) % KRC_EVENTS_KEPT] = *event;
}

int krc_event_next(krc *handle, struct krc_event *event)
{
    if (handle->events_dropped > 0) {
        *event = (struct krc_event){.type = KRC_EVENT_NOTE, .topic = "", .partition = -1};
        snprintf(event->message, sizeof event->message,
                 "%zu older events were dropped, for nobody read them (the accounts have all)",
                 handle->events_dropped);
        handle->events_dropped = 0;
        return 1;
    }
    if (handle->event_count == 0)
        return 0;
    *event = handle->events[handle->event_first];
    handle->event_first = (handle->event_first + 1) % KRC_EVENTS_KEPT;
    handle->event_count--;
    return 1;
}

void krc_part_event(void *arg, const struct krc_event *event,
                    const struct krc_offset_update *reset)
{
    struct krc_part *part = arg;
    if (reset != NULL && reset->new_history)
        krc_spans_clear(&part->spans);
    if (reset != NULL)
        krc_ledger_reset(&part->ledger, event, reset);
    krc_push_event(part->krc, event);
}

/* ---- Batches ------------------------------------------------------------------------------- */

static void link_first(struct krc_batch **list, struct krc_batch *batch)
{
    batch->next = *list;
    batch->back = list;
    if (*list != NULL)
        (*list)->back = &batch->next;
    *list = batch;
}

static void unlink_batch(struct krc_batch *batch)
{
    *batch->back = batch->next;
    if (batch->next != NULL)
        batch->next->back = batch->back;
}

static struct krc_batch *take_batch(krc *handle)
{
    struct krc_batch *batch = handle->reuse;
    if (batch == NULL)
        return calloc(1, sizeof *batch);
    unlink_batch(batch);
    ASAN_UNPOISON_MEMORY_REGION(batch->scratch.data, batch->scratch.capacity);
    return batch;
}

static void put_back(krc *handle, struct krc_batch *batch)
{
    krc_buffer_trim(&batch->scratch, SCRATCH_KEPT);
    ASAN_POISON_MEMORY_REGION(batch->scratch.data, batch->scratch.capacity);
    link_first(&handle->reuse, batch);
}

static void add_span(struct krc_part *part, struct krc_batch *batch)
{
    const struct krc_tracker *tracker = &part->tracker;
    batch->span = part->spans.end;
    krc_spans_add(&part->spans, &(struct krc_span){.from = batch->item.from,
                                                   .to = batch->item.to,
                                                   .before = tracker->before.account,
                                                   .epoch_before = tracker->before.epoch,
                                                   .epoch = batch->item.epoch,
                                                   .batch = batch});
}

int krc_next(krc_batch *batch, struct krc_record *record)
{
    while (krc_records_next(&batch->item.records, record)) {
        if (record->offset < batch->item.from)
            continue;
        return record->offset < batch->item.to;
    }
    return 0;
}

void krc_batch_info(const krc_batch *batch, struct krc_batch_info *info)
{
    const struct krc_item *item = &batch->item;
    *info = (struct krc_batch_info){
        .topic = batch->part->place->topic,
        .partition = batch->part->place->partition,
        .leader_epoch = item->epoch,
        .base_offset = item->batch.header.base_offset,
        .next_offset = item->to,
        .records = item->count,
        .timestamp_type = (enum krc_timestamp_type)item->records.timestamp_type,
    };
}

void krc_release(krc_batch *batch)
{
    if (batch == NULL)
        return;
    struct krc_part *part = batch->part;
    krc_spans_release(&part->spans, batch->span);
    krc_chunk_drop(batch->item.batch.chunk);
    unlink_batch(batch);
    put_back(part->krc, batch);
}

/* ---- Polling ------------------------------------------------------------------------------- */

static int open_part(struct krc_part *part, krc_error *error)
{
    KRC_TRY(krc_tracker_open(&part->tracker, part->place, part->krc->config, part->krc->codecs,
                             krc_part_event, part, error));
    part->state = KRC_PART_OPEN;
    part->tracker.now_ms = krc_now_ms();
    return krc_tracker_assign(&part->tracker, part->start, part->until, &part->stored, error);
}

/* The end, or an error: what stays to be known is kept, the files are closed. */
static void end_part(struct krc_part *part)
{
    const struct krc_logsource *source = &part->tracker.source;
    if (part->state == KRC_PART_OPEN) {
        int64_t end = part->until < source->log_end ? part->until : source->log_end;
        bool whole = part->tracker.offsets.state == KRC_ENDED &&
                     part->tracker.offsets.position == source->log_end;
        if (source->stable != INT64_MAX) {
            part->stable = source->stable;
            part->undecided = end > source->stable ? end - source->stable : 0;
        } else if (whole && !part->krc->config->read_uncommitted) {
            part->stable = source->log_end;
        }
        part->log_end = source->log_end;
        part->settled = krc_tracker_settled(&part->tracker);
        krc_tracker_close(&part->tracker);
    }
    part->state = KRC_PART_DONE;
}

/* 1 a batch, 0 the partition's end. */
static int poll_part(struct krc_part *part, struct krc_batch *batch, krc_error *error)
{
    struct krc_item *item = &batch->item;
    if (part->state == KRC_PART_WAITS)
        KRC_TRY(open_part(part, error));
    /* first, for the position must not pass a batch that is not handed out */
    KRC_TRY(krc_spans_reserve(&part->spans, error));
    do
        KRC_TRY(krc_tracker_next(&part->tracker, &batch->scratch, item, error));
    while (item->type == KRC_ITEM_PASSED);
    if (item->type == KRC_ITEM_END)
        return 0;
    add_span(part, batch);
    return 1;
}

int krc_poll(krc *handle, int timeout_ms, krc_batch **out)
{
    (void)timeout_ms; /* a log folder has all it will have */
    *out = NULL;
    handle->error = (krc_error){.code = KRC_OK, .partition = -1, .offset = -1, .file_position = -1};
    krc_error error; /* may also tell what was only skipped */
    struct krc_batch *batch = take_batch(handle);
    if (batch == NULL)
        return krc_fail_nomem(&handle->error, sizeof *batch);
    int rc = 0;
    for (; handle->turn < handle->part_count; handle->turn++) {
        struct krc_part *part = handle->parts[handle->turn];
        if (part->state == KRC_PART_DONE)
            continue;
        batch->part = part;
        rc = poll_part(part, batch, &error);
        if (rc > 0) {
            krc_chunk_hold(batch->item.batch.chunk);
            link_first(&handle->out, batch);
            *out = batch;
            return 1;
        }
        end_part(part);
        if (rc < 0) {
            handle->error = error;
            break;
        }
    }
    put_back(handle, batch);
    return rc;
}

const krc_error *krc_last_error(const krc *handle)
{
    return &handle->error;
}
