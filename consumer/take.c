#include "consumer/take.h"

#include <stdio.h>

void krc_set_passed(struct krc_item *item, int64_t to, enum krc_fate fate)
{
    item->type = KRC_ITEM_PASSED;
    item->to = to;
    item->fate = fate;
}

/* A batch that was read, but whose inside is broken or undecidable. */
static int pass_broken(struct krc_source *s, struct krc_item *item, int64_t to, int rc,
                       krc_error *error)
{
    s->ops->explain(s, error);
    if (rc != KRC_E_CORRUPT || !s->config->skip_corrupt)
        return rc;
    krc_set_passed(item, to, KRC_SKIPPED);
    snprintf(item->why, sizeof item->why, "%.500s", error->message);
    return KRC_ANSWERED;
}

/* What the transaction filter says of the batch: RECORDS where it is to be delivered. */
static int filter(struct krc_source *s, struct krc_item *item, int64_t to, krc_error *error)
{
    const struct krc_batch_header *h = &item->batch.header;
    enum krc_txn_fate fate;
    int type;
    item->type = KRC_ITEM_RECORDS;
    if (h->control) {
        int rc = krc_batch_control_type(item->batch.bytes, h, &type, error);
        if (rc < 0)
            return pass_broken(s, item, to, rc, error);
        krc_set_passed(item, to, KRC_CONTROL);
        return KRC_ANSWERED;
    }
    if (s->config->read_uncommitted || !h->transactional)
        return KRC_ANSWERED;
    KRC_TRY(s->ops->fate(s, h, &fate, error));
    switch (fate) {
    case KRC_TXN_COMMITTED:
        return KRC_ANSWERED;
    case KRC_TXN_ABORTED:
        krc_set_passed(item, to, KRC_ABORTED);
        return KRC_ANSWERED;
    case KRC_TXN_UNDECIDED:
        item->type = KRC_ITEM_END;
        return KRC_ANSWERED;
    case KRC_TXN_DOUBTFUL:
        break;
    }
    krc_set_passed(item, to, KRC_SKIPPED);
    snprintf(item->why, sizeof item->why,
             "offsets %lld to %lld belong to a transaction of producer %lld whose end is not to be "
             "told: what lies before its next marker is corrupt or missing",
             (long long)item->from, (long long)to - 1, (long long)h->producer_id);
    return KRC_ANSWERED;
}

/* A compressed magic 0 or 1 wrapper shows only now where it begins. */
static int open_records(struct krc_source *s, const struct krc_batch_view *batch,
                        struct krc_buffer *scratch, struct krc_item *item, krc_error *error)
{
    return krc_records_open(&item->records, batch->bytes, &batch->header, s->codecs,
                            (size_t)s->config->max_decompressed_bytes, scratch, error);
}

static bool is_wrapper(const struct krc_batch_header *h)
{
    return (h->magic == 0 || h->magic == 1) && h->codec != KRC_NONE;
}

/* Where the records end of which `count` are wanted, from the item's begin on. */
static int64_t end_of_records(const struct krc_item *item, int64_t count)
{
    struct krc_records records = item->records;
    struct krc_record record = {.offset = item->from};
    while (count > 0 && krc_records_next(&records, &record))
        count -= record.offset >= item->from;
    return record.offset + 1;
}

static void hand_out(struct krc_source *s, struct krc_item *item, int64_t to)
{
    item->count = krc_records_count_between(&item->records, item->from, to);
    if (item->count > s->records_left) {
        if (s->whole_batches) {
            item->type = KRC_ITEM_END;
            item->to = item->from;
            item->batch.bytes = NULL; /* it is not taken */
            s->records_left = 0;
            return;
        }
        to = end_of_records(item, s->records_left);
        item->count = krc_records_count_between(&item->records, item->from, to);
    }
    s->records_left -= item->count;
    item->delivered =
        item->batch.header.magic == KRC_MAGIC_07 ? item->count > 0 : item->count;
    item->to = to;
    if (item->count == 0)
        krc_set_passed(item, to, KRC_ABSENT);
}

int krc_take_batch(struct krc_source *s, const struct krc_batch_view *batch, int64_t until,
                   struct krc_buffer *scratch, struct krc_item *item, bool *taken,
                   krc_error *error)
{
    const struct krc_batch_header *h = &batch->header;
    int64_t base = h->base_offset, to = krc_least(h->last_offset + 1, until);
    bool opened = is_wrapper(h);
    int rc;
    if (opened) {
        rc = open_records(s, batch, scratch, item, error);
        if (rc < 0) {
            rc = pass_broken(s, item, to, rc, error);
            *taken = rc >= 0;
            return rc;
        }
        base = item->records.first_offset;
        to = krc_least(item->records.last_offset + 1, until);
    }
    item->epoch = h->leader_epoch; /* of a gap, too: nothing before it tells that of a later one */
    if (base > item->from)
        return s->ops->gap(s, item, krc_least(base, until), error);
    if (s->whole_batches && h->last_offset >= until)
        return KRC_ANSWERED; /* an END */
    item->batch = *batch;
    *taken = true;
    rc = filter(s, item, to, error);
    if (rc < 0 || item->type != KRC_ITEM_RECORDS)
        return rc;
    rc = opened ? KRC_OK : open_records(s, batch, scratch, item, error);
    if (rc < 0)
        return pass_broken(s, item, to, rc, error);
    hand_out(s, item, to);
    return KRC_ANSWERED;
}
