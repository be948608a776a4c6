/*
 * Polling: events, batches, and whose turn it is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "consumer/handle.h"
#include "consumer/netsource.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(data, len) ((void)(data), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(data, len) ((void)(data), (void)(len))
#endif

enum {
    SCRATCH_KEPT = 4 << 20, /* what a batch's buffer may keep from one use to the next */
    SLOTS_KEPT = 4,         /* and how many batches are kept for another use */
};

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
    struct krc_event *last =
        &handle->events[(handle->event_first + handle->event_count++) % KRC_EVENTS_KEPT];
    *last = *event;
    krc_make_printable(last->message, sizeof last->message);
}

const char *krc_event_name(enum krc_event_type type)
{
    switch (type) {
#define NAME(name, text) \
    case name:           \
        return text;
        KRC_EVENTS(NAME)
#undef NAME
    }
    return "unknown";
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
    if (event->type == KRC_EVENT_NOTE && strcmp(event->message, KRC_UNPROTECTED) == 0)
        krc_tell_unprotected(part->krc, &part->place);
    else
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

struct krc_batch *krc_take_batch_slot(krc *handle)
{
    struct krc_batch *batch = handle->reuse;
    if (batch == NULL) {
        batch = calloc(1, sizeof *batch);
        if (batch != NULL)
            batch->krc = handle;
        return batch;
    }
    unlink_batch(batch);
    handle->reuse_count--;
    ASAN_UNPOISON_MEMORY_REGION(batch->scratch.data, batch->scratch.capacity);
    return batch;
}

void krc_put_batch_slot(krc *handle, struct krc_batch *batch)
{
    if (handle->reuse_count == SLOTS_KEPT) {
        krc_buffer_free(&batch->scratch);
        free(batch);
        return;
    }
    handle->reuse_count++;
    krc_buffer_trim(&batch->scratch, SCRATCH_KEPT);
    ASAN_POISON_MEMORY_REGION(batch->scratch.data, batch->scratch.capacity);
    link_first(&handle->reuse, batch);
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
        .topic = batch->place.topic,
        .partition = batch->place.partition,
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
    if (batch->part != NULL)
        krc_spans_release(&batch->part->spans, batch->span);
    krc_chunk_drop(batch->item.batch.chunk);
    unlink_batch(batch);
    if (batch->krc->net != NULL)
        batch->krc->net->cluster.frames->held -= batch->counted;
    krc_put_batch_slot(batch->krc, batch);
}

/* ---- Polling ------------------------------------------------------------------------------- */

static void hand_out(krc *handle, struct krc_part *part, struct krc_batch *batch)
{
    handle->found = part;
    link_first(&handle->out, batch);
    if (handle->net != NULL) /* what it was decompressed to is held, too */
        handle->net->cluster.frames->held += batch->counted = batch->scratch.capacity;
}

/* Partitions one after the other.  Those that are paused are passed by. */
static int next_of_folders(krc *handle, struct krc_batch *batch, krc_error *error)
{
    struct krc_part *part = handle->turn != NULL ? handle->turn : handle->parts;
    for (; part != NULL; part = part->next) {
        if (part->state == KRC_PART_DONE || part->paused)
            continue;
        handle->turn = part;
        int rc = krc_part_next(part, batch, error);
        if (rc == KRC_ITEM_RECORDS) {
            hand_out(handle, part, batch);
            return 1;
        }
        if (rc == KRC_E_INTERRUPTED)
            return rc; /* it is read on at the next call */
        krc_part_end(part);
        if (rc < 0)
            return rc;
    }
    handle->turn = NULL; /* those that were paused may go on */
    return 0;
}

/* A partition keeps its turn for the rest of what one fetch brought, and then is the last. */
static void turn_over(krc *handle, struct krc_part *part, const struct krc_batch *batch)
{
    struct krc_remote *remote = krc_netsource_of(part->tracker.source)->remote;
    const struct krc_chunk *chunk = batch->item.batch.chunk;
    if (part->chunk == chunk)
        return;
    part->chunk = chunk;
    krc_remote_not_ready(remote);
    krc_remote_ready(remote);
    if (!handle->is_embedded)
        krc_loop_run(handle->net->loop, 0); /* the next fetch is sent, and what came is taken */
}

static int next_of_cluster(krc *handle, struct krc_batch *batch, krc_error *error)
{
    struct krc_remote *remote;
    while ((remote = krc_remote_first_ready(&handle->net->cluster)) != NULL) {
        struct krc_part *part = remote->owner;
        int rc = part->paused ? KRC_ITEM_WAIT : krc_part_next(part, batch, error);
        if (rc == KRC_ITEM_WAIT) {
            krc_remote_not_ready(remote);
            continue;
        }
        if (rc == KRC_ITEM_RECORDS) {
            hand_out(handle, part, batch);
            turn_over(handle, part, batch);
            return 1;
        }
        krc_part_end(part);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int krc_next_batch(krc *handle, krc_batch **out, krc_error *error)
{
    struct krc_batch *batch = krc_take_batch_slot(handle);
    *out = NULL;
    if (batch == NULL)
        return krc_fail_nomem(error, sizeof *batch);
    int rc = handle->net == NULL ? next_of_folders(handle, batch, error)
                                 : next_of_cluster(handle, batch, error);
    if (rc > 0)
        *out = batch;
    else
        krc_put_batch_slot(handle, batch);
    return rc;
}

/* Before a cluster's metadata has come, a subscription has found nothing yet; and a group may give
 * more. */
bool krc_ended(const krc *handle)
{
    return handle->open_count == 0 &&
           (handle->net == NULL ||
            (handle->part_count > 0 && handle->net->cluster.member == NULL));
}

/* The loop has its turn at least once, however short the time is. */
static int poll_until(krc *handle, int64_t deadline_ms, krc_batch **out, krc_error *error)
{
    for (bool has_run = false;; has_run = true) {
        if (handle->net != NULL)
            KRC_TRY(krc_follow_metadata(handle, error));
        if (handle->has_group_news)
            return 0; /* to be answered */
        int rc = krc_next_batch(handle, out, error);
        if (rc != 0)
            return rc;
        if (atomic_exchange(&handle->woken, false) || handle->net == NULL || krc_ended(handle) ||
            (has_run && krc_loop_now_ms() >= deadline_ms))
            return 0;
        if (has_run)
            KRC_TRY(krc_net_check_interrupt(handle->net, "nothing has come", error));
        krc_loop_run(handle->net->loop, krc_net_look_ms(handle->net, deadline_ms));
    }
}

int krc_poll(krc *handle, int timeout_ms, krc_batch **out)
{
    krc_error error; /* may also tell what was only skipped */
    int64_t deadline_ms = timeout_ms < 0 ? INT64_MAX : krc_loop_now_ms() + timeout_ms;
    *out = NULL;
    handle->has_group_news = false;
    handle->error = (krc_error){.code = KRC_OK, .partition = -1, .offset = -1, .file_position = -1};
    int rc = handle->is_embedded
                 ? krc_fail(&error, KRC_E_STATE, "an embedded consumer has callbacks instead")
                 : poll_until(handle, deadline_ms, out, &error);
    if (handle->close_asked) { /* in a callback */
        krc_release(*out);
        *out = NULL;
        rc = krc_fail(&error, KRC_E_STATE, "krc_close was called in a callback: call it now");
    }
    if (rc < 0)
        handle->error = error;
    return krc_said(rc, &handle->error);
}

const krc_error *krc_last_error(const krc *handle)
{
    return &handle->error;
}
