/*
 * An assigned partition: opened when its turn comes or its topic is known, read, ended.
 */
#include <string.h>

#include "consumer/cluster_check.h"
#include "consumer/handle.h"
#include "consumer/netsource.h"

/* Without a topic id on both sides, a topic made again under its old name is not told from
 * the old one.  Said once. */
void krc_tell_unprotected(krc *handle, const struct krc_place *place)
{
    if (handle->told_unprotected)
        return;
    handle->told_unprotected = true;
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = place->topic,
                              .partition = place->partition,
                              .message = KRC_UNPROTECTED};
    krc_push_event(handle, &event);
}

int krc_check_store(krc *handle, krc_error *error)
{
    struct krc_cluster_here here = krc_handle_here(handle);
    if (handle->store == NULL || handle->cluster_checked ||
        krc_cluster_id_here(&here)[0] == '\0')
        return KRC_OK;
    int verdict = krc_take_cluster(handle->store, krc_store_group(handle->config), &here, error);
    handle->cluster_checked = verdict >= 0;
    handle->claims_cluster = verdict == 1;
    return verdict < 0 ? verdict : KRC_OK;
}

int krc_part_load(struct krc_part *part, krc_error *error)
{
    krc *handle = part->krc;
    bool follows = part->start == KRC_STORED;
    if (handle->store == NULL || part->loaded)
        return KRC_OK;
    int rc = krc_ledger_load(&part->ledger, handle->store, krc_store_group(handle->config),
                             follows, &part->stored, error);
    part->loaded = rc >= 0;
    if (rc == 1 && follows && krc_ledger_unprotected(&part->ledger, &part->stored))
        krc_tell_unprotected(handle, &part->place);
    return rc < 0 ? rc : KRC_OK;
}

void krc_part_place(struct krc_part *part)
{
    struct krc_topic_partition *p =
        part->topic == NULL ? NULL : krc_topic_partition(part->topic, part->place.partition);
    if (p == NULL || part->is_placed)
        return;
    p->reader = part;
    part->is_placed = true;
    part->krc->unplaced--;
}

static int new_source(struct krc_part *part, struct krc_source **source, krc_error *error)
{
    krc *handle = part->krc;
    if (part->log != NULL)
        return krc_logsource_new(source, part->log, handle->config, handle->codecs, error);
    return krc_netsource_new(source, &handle->net->cluster, part->topic, part->place.partition,
                             handle->config, handle->codecs, part, error);
}

int krc_part_open(struct krc_part *part, krc_error *error)
{
    krc *handle = part->krc;
    struct krc_source *source;
    if (part->topic != NULL)
        part->place.topic_id = part->topic->id;
    if (handle->net != NULL)
        krc_commit_wait(handle); /* the store is looked into */
    KRC_TRY(krc_check_store(handle, error));
    KRC_TRY(krc_part_load(part, error));
    int rc = new_source(part, &source, error);
    krc_error_at(rc < 0 ? error : NULL, part->place.topic, part->place.partition, -1, -1);
    KRC_TRY(rc);
    source->until = part->until;
    source->asks_group = handle->net != NULL && handle->store == NULL;
    krc_tracker_open(&part->tracker, &part->place, source, krc_part_event, part);
    part->state = KRC_PART_OPEN;
    part->tracker.now_ms = krc_now_ms();
    if (handle->net != NULL && part->paused)
        krc_remote_pause(krc_netsource_of(source)->remote, true);
    if (handle->net != NULL)
        krc_remote_ready(krc_netsource_of(source)->remote);
    return krc_tracker_assign(&part->tracker, part->start, &part->stored, error);
}

void krc_part_end(struct krc_part *part)
{
    if (part->state == KRC_PART_OPEN) {
        struct krc_source *source = part->tracker.source;
        source->ops->standing(source, &part->standing);
        part->undecided = source->ops->undecided(source);
        part->settled = krc_tracker_settled(&part->tracker);
        krc_tracker_close(&part->tracker);
    }
    part->krc->open_count -= part->state != KRC_PART_DONE;
    part->state = KRC_PART_DONE;
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

int krc_part_next(struct krc_part *part, struct krc_batch *batch, krc_error *error)
{
    struct krc_item *item = &batch->item;
    if (part->state == KRC_PART_WAITS)
        KRC_TRY(krc_part_open(part, error));
    krc_part_changed(part);
    /* first, for the position must not pass a batch that is not handed out */
    KRC_TRY(krc_spans_reserve(&part->spans, error));
    do
        KRC_TRY(krc_tracker_next(&part->tracker, &batch->scratch, item, error));
    while (item->type == KRC_ITEM_PASSED || item->type == KRC_ITEM_CAUGHT_UP);
    if (item->type == KRC_ITEM_RECORDS) {
        batch->part = part;
        batch->place = part->place;
        krc_chunk_hold(item->batch.chunk);
        add_span(part, batch);
    }
    return (int)item->type;
}
