/*
 * Acknowledging and committing: what is acknowledged, with its account and the resets that led to
 * it, goes to the store in one transaction.
 */
#include <string.h>

#include "consumer/cluster_check.h"
#include "consumer/handle.h"

static struct krc_part *assigned(krc *handle, const char *topic, int32_t partition,
                                 krc_error *error)
{
    struct krc_part *part = krc_find_part(handle, topic, partition);
    if (part == NULL)
        (void)krc_fail(error, KRC_E_NOT_FOUND, "%s-%d is not assigned", topic, (int)partition);
    return part;
}

/* The account of [start, offset), where `offset` lies in the span: exact inside a batch that is
 * held, else the span's begin. */
static struct krc_account account_inside(const struct krc_span *span, int64_t *offset)
{
    struct krc_account account = span->before;
    if (span->batch == NULL || *offset <= span->from) {
        *offset = span->from;
        return account;
    }
    const struct krc_records *records = &span->batch->item.records;
    int64_t delivered = krc_records_count_between(records, span->from, *offset);
    if (records->header.magic == KRC_MAGIC_07)
        delivered = delivered > 0;
    account.delivered += delivered;
    account.absent += *offset - span->from - delivered;
    account.to = *offset;
    return account;
}

int krc_ack(krc *handle, const char *topic, int32_t partition, int64_t next_offset,
            krc_error *error)
{
    struct krc_part *part = assigned(handle, topic, partition, error);
    if (part == NULL)
        return KRC_E_NOT_FOUND;
    const struct krc_offsets *offsets = &part->tracker.offsets;
    if (next_offset < offsets->acknowledged || next_offset > offsets->position)
        return krc_fail(error, KRC_E_INVALID,
                        "%s-%d: offset %lld cannot be acknowledged: %lld to %lld can", topic,
                        (int)partition, (long long)next_offset, (long long)offsets->acknowledged,
                        (long long)offsets->position);
    struct krc_span *span;
    while ((span = krc_spans_oldest(&part->spans)) != NULL && span->to <= next_offset)
        krc_spans_drop_oldest(&part->spans);
    struct krc_account account = offsets->account;
    int32_t epoch = offsets->epoch;
    int64_t offset = next_offset;
    if (span != NULL) {
        account = account_inside(span, &offset);
        epoch = offset > span->from ? span->epoch : span->epoch_before;
    }
    krc_part_changed(part);
    return offset > offsets->acknowledged
               ? krc_tracker_ack(&part->tracker, offset, epoch, &account, error)
               : KRC_OK;
}

/* A commit looks at those that changed, so that the others cost it nothing. */
void krc_part_changed(struct krc_part *part)
{
    krc *handle = part->krc;
    if (part->back_changed != NULL)
        return;
    part->next_changed = handle->changed;
    part->back_changed = &handle->changed;
    if (handle->changed != NULL)
        handle->changed->back_changed = &part->next_changed;
    handle->changed = part;
}

void krc_part_not_changed(struct krc_part *part)
{
    if (part->back_changed == NULL)
        return;
    *part->back_changed = part->next_changed;
    if (part->next_changed != NULL)
        part->next_changed->back_changed = part->back_changed;
    part->back_changed = NULL;
}

size_t krc_count_news(krc *handle)
{
    size_t count = 0;
    for (struct krc_part *part = handle->changed, *next; part != NULL; part = next) {
        const struct krc_offsets *o = &part->tracker.offsets;
        next = part->next_changed;
        if (o->position >= 0 && o->acknowledged != o->committed)
            count++;
        else
            krc_part_not_changed(part);
    }
    return count;
}

struct krc_point krc_part_acked(const struct krc_part *part)
{
    const struct krc_offsets *o = &part->tracker.offsets;
    struct krc_point point = {.offset = o->acknowledged,
                              .epoch = o->acked_epoch,
                              .epochs = o->epochs,
                              .account = o->acked};
    krc_epochs_cut(&point.epochs, point.offset);
    return point;
}

bool krc_part_settled(const struct krc_part *part)
{
    return part->state == KRC_PART_OPEN ? krc_tracker_settled(&part->tracker) : part->settled;
}

static int put_part(struct krc_part *part, const char *group, int64_t now_ms, krc_error *error)
{
    struct krc_point point = krc_part_acked(part);
    return krc_ledger_put(&part->ledger, part->krc->store, group, &point, now_ms,
                          krc_part_settled(part), error);
}

static int put_all(krc *handle, krc_error *error)
{
    const char *group = krc_store_group(handle->config);
    int64_t now_ms = krc_now_ms();
    KRC_TRY(krc_refuse_sink(handle, error)); /* one may have been begun since krc_open */
    if (handle->claims_cluster)
        KRC_TRY(krc_claim_cluster(handle->store, group, krc_cluster_name(handle), error));
    for (struct krc_part *part = handle->changed; part != NULL; part = part->next_changed)
        KRC_TRY(put_part(part, group, now_ms, error));
    return krc_store_commit(handle->store, error);
}

static int commit_to_store(krc *handle, krc_error *error)
{
    krc_commit_wait(handle);
    if (krc_count_news(handle) == 0)
        return KRC_OK;
    KRC_TRY(krc_store_begin(handle->store, error));
    int rc = put_all(handle, error);
    if (rc < 0) {
        krc_store_rollback(handle->store);
        return rc;
    }
    handle->claims_cluster = false;
    for (struct krc_part *part = handle->changed; part != NULL; part = part->next_changed) {
        struct krc_point point = krc_part_acked(part);
        krc_ledger_committed(&part->ledger, &part->ledger, &point);
        KRC_TRY(krc_tracker_committed(&part->tracker, part->tracker.offsets.stretch,
                                      part->tracker.offsets.acknowledged, error));
    }
    return KRC_OK;
}

static int commit_to_group(krc *handle, krc_error *error)
{
    if (handle->is_embedded)
        return krc_fail(error, KRC_E_STATE, "an embedded consumer does not wait for the group's "
                        "coordinator: use krc_commit_async");
    KRC_TRY(krc_group_work_wait(handle, error));
    if (krc_count_news(handle) == 0)
        return KRC_OK;
    KRC_TRY(krc_group_work_begin(handle, KRC_WORK_ALL, NULL, NULL, error));
    return krc_group_work_wait(handle, error);
}

/* The store has it, and decides: that the group has not is only to be known. */
void krc_inform_group(krc *handle)
{
    krc_error error;
    handle->to_inform = handle->group_work != NULL;
    if (!handle->to_inform &&
        krc_group_work_begin(handle, KRC_WORK_ALL, NULL, NULL, &error) < 0)
        krc_note_topic(handle, "", error.message);
}

static void inform_and_wait(krc *handle)
{
    krc_error error;
    int rc = krc_group_work_wait(handle, &error); /* one that knows less */
    if (rc >= 0) {
        krc_inform_group(handle);
        rc = krc_group_work_wait(handle, &error);
    }
    if (rc < 0)
        krc_note_topic(handle, "", error.message);
}

int krc_commit(krc *handle, krc_error *error)
{
    if (handle->store == NULL && !krc_commits_to_group(handle))
        return krc_fail(error, KRC_E_STATE, "nothing to commit to: neither offset.store.file nor a "
                        "cluster's group.id is set");
    if (handle->store == NULL)
        return krc_said(commit_to_group(handle, error), error);
    KRC_TRY(krc_said(commit_to_store(handle, error), error));
    if (!krc_commits_to_group(handle))
        return KRC_OK;
    if (handle->is_embedded)
        krc_inform_group(handle);
    else
        inform_and_wait(handle);
    return KRC_OK;
}

static int64_t lag_of(const struct krc_config *config, const struct krc_standing *log,
                      int64_t position)
{
    int64_t end = !config->read_uncommitted       ? log->last_stable_offset
                  : log->log_end_offset >= 0 ? log->log_end_offset
                                                  : log->high_watermark;
    return end < 0 || position < 0 ? -1 : end > position ? end - position : 0;
}

int krc_position(const krc *handle, const char *topic, int32_t partition,
                 struct krc_position *position)
{
    const struct krc_part *part = krc_find_part(handle, topic, partition);
    if (part == NULL)
        return KRC_E_NOT_FOUND;
    const struct krc_offsets *o = &part->tracker.offsets;
    struct krc_standing log = part->standing;
    int64_t undecided = part->undecided;
    if (part->state == KRC_PART_OPEN) {
        const struct krc_source *source = part->tracker.source;
        source->ops->standing(source, &log);
        undecided = source->ops->undecided(source);
    }
    *position = (struct krc_position){
        .position = o->position,
        .acknowledged = o->acknowledged,
        .committed = o->committed,
        .last_stable_offset = log.last_stable_offset,
        .high_watermark = log.high_watermark,
        .log_end_offset = log.log_end_offset,
        .lag = lag_of(handle->config, &log, o->position),
        .leader_epoch = o->acked_epoch,
        .undecided = undecided,
        .read = o->account,
        .account = o->acked,
    };
    return KRC_OK;
}
