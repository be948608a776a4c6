#include "consumer/logsource.h"

#include <stdio.h>
#include <string.h>

int krc_logsource_open(struct krc_logsource *source, const struct krc_log_place *place,
                       const krc_config *config, struct krc_codecs *codecs, krc_error *error)
{
    *source = (struct krc_logsource){
        .config = config,
        .codecs = codecs,
        .expected = -1,
        .stable = INT64_MAX,
        .records_left = KRC_NO_END,
        .compacted = place->cleaned_to >= 0,
    };
    KRC_TRY(krc_log_open(&source->log, place, config->format_07, error));
    krc_lookahead_init(&source->ahead, source->log, config->skip_corrupt);
    int rc = krc_reader_open(&source->reader, source->log, config->max_message_bytes, error);
    if (rc >= 0)
        rc = krc_log_find_end(source->log, &source->log_end, error);
    if (rc < 0)
        krc_logsource_close(source);
    return rc;
}

void krc_logsource_close(struct krc_logsource *source)
{
    krc_lookahead_free(&source->ahead);
    krc_reader_close(source->reader);
    krc_log_close(source->log);
    *source = (struct krc_logsource){0};
}

const char *krc_logsource_tail(const struct krc_logsource *source)
{
    return krc_reader_tail(source->reader);
}

/* ---- The pieces of a fetch ----------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Puts the reader where `position` lies, and finds what is open there. */
static int move(struct krc_logsource *s, int64_t position, bool settled, krc_error *error)
{
    s->has_batch = false;
    s->expected = -1;
    s->stable = INT64_MAX;
    s->settled = settled;
    KRC_TRY(krc_reader_seek(s->reader, position, error));
    if (!s->config->read_uncommitted) {
        KRC_TRY(krc_lookahead_begin(&s->ahead, position, settled, &s->stable, error));
        s->settled = s->stable > position;
    }
    s->expected = position;
    return KRC_OK;
}

/* The next batch that reaches the position: 1, 0 at the log's end.  Batches before it are passed
 * by (a seek may stop short of it). */
static int have_batch(struct krc_logsource *s, int64_t position, krc_error *error)
{
    while (!s->has_batch) {
        int rc = krc_reader_next(s->reader, &s->batch, error);
        if (rc <= 0)
            return rc;
        s->has_batch = s->batch.header.last_offset >= position;
    }
    if (s->log_end <= s->batch.header.last_offset)
        s->log_end = s->batch.header.last_offset + 1;
    return 1;
}

static void set_passed(struct krc_item *item, int64_t to, enum krc_fate fate)
{
    item->type = KRC_ITEM_PASSED;
    item->to = to;
    item->fate = fate;
}

/* Compaction leaves holes, emptied batches and delete horizons; and gaps between batches, which
 * are told from lost ones by those traces. */
static bool shows_compaction(const struct krc_batch_header *h)
{
    return h->has_delete_horizon ||
           (h->magic == 2 && h->count <= h->last_offset - h->base_offset);
}

/* Offsets up to `to` are in no batch. */
static void pass_gap(const struct krc_logsource *s, struct krc_item *item, int64_t to)
{
    int64_t first = s->log->segment_count > 0 ? s->log->segments[0].base_offset : to;
    if (item->from < first) {
        set_passed(item, least(to, first), KRC_LOST);
        snprintf(item->why, sizeof item->why,
                 "offsets %lld to %lld lie between the log start offset and the first segment in "
                 "%s: they may be in remote storage",
                 (long long)item->from, (long long)item->to - 1, s->log->place->folder);
        return;
    }
    set_passed(item, to, s->compacted ? KRC_ABSENT : KRC_LOST);
    if (item->fate == KRC_LOST)
        snprintf(item->why, sizeof item->why,
                 "offsets %lld to %lld are in no batch and in no file of %s, and nothing there was "
                 "compacted: segments are missing",
                 (long long)item->from, (long long)to - 1, s->log->place->folder);
}

/* No batch follows.  An empty last segment begins where the log ends; otherwise it ends here,
 * wherever damage made it seem to end. */
static void pass_to_end(struct krc_logsource *s, struct krc_item *item, int64_t until)
{
    const struct krc_log *log = s->log;
    int64_t base = log->segment_count > 0 ? log->segments[log->segment_count - 1].base_offset : 0;
    s->log_end = base > item->from ? base : item->from;
    if (item->from < s->log_end)
        pass_gap(s, item, least(s->log_end, until));
}

/* Goes past what the reader could not read, as "skip.corrupt.batches" allows.  Where nothing
 * behind it tells how many offsets it held, the range is empty. */
static int skip_unreadable(struct krc_logsource *s, struct krc_item *item, int64_t until,
                           const krc_error *cause, krc_error *error)
{
    struct krc_damage damage;
    KRC_TRY(krc_reader_resync(s->reader, &damage, error));
    int64_t to = damage.skip_to > item->from ? damage.skip_to : damage.to;
    set_passed(item, least(to, until), KRC_SKIPPED);
    snprintf(item->why, sizeof item->why, "%.500s", cause->message);
    return KRC_OK;
}

static int corrupt(struct krc_logsource *s, struct krc_item *item, int64_t until, int rc,
                   krc_error *error)
{
    krc_error_at(error, s->log->place->topic, s->log->place->partition, item->from, -1);
    if (rc != KRC_E_CORRUPT || !s->config->skip_corrupt)
        return rc;
    krc_error cause = *error;
    return skip_unreadable(s, item, until, &cause, error);
}

/* A batch that was read, but whose inside is broken or undecidable. */
static int pass_broken(struct krc_logsource *s, struct krc_item *item, int64_t to, int rc,
                       krc_error *error)
{
    krc_log_batch_place(s->log, &s->batch, error);
    if (rc != KRC_E_CORRUPT || !s->config->skip_corrupt)
        return rc;
    s->has_batch = false;
    set_passed(item, to, KRC_SKIPPED);
    snprintf(item->why, sizeof item->why, "%.500s", error->message);
    return KRC_OK;
}

/* What the transaction filter says of the batch in hand: RECORDS where it is to be delivered. */
static int filter(struct krc_logsource *s, struct krc_item *item, int64_t to, krc_error *error)
{
    const struct krc_batch_header *h = &s->batch.header;
    int type;
    item->type = KRC_ITEM_RECORDS;
    if (h->control) {
        int rc = krc_batch_control_type(s->batch.bytes, h, &type, error);
        if (rc < 0)
            return pass_broken(s, item, to, rc, error);
        set_passed(item, to, KRC_CONTROL);
        return KRC_OK;
    }
    if (s->config->read_uncommitted || !h->transactional)
        return KRC_OK;
    enum krc_txn_fate fate;
    KRC_TRY(krc_lookahead_fate(&s->ahead, h, &fate, error));
    switch (fate) {
    case KRC_TXN_COMMITTED:
        return KRC_OK;
    case KRC_TXN_ABORTED:
        set_passed(item, to, KRC_ABORTED);
        return KRC_OK;
    case KRC_TXN_UNDECIDED:
        s->stable = h->base_offset;
        item->type = KRC_ITEM_END;
        return KRC_OK;
    case KRC_TXN_DOUBTFUL:
        break;
    }
    set_passed(item, to, KRC_SKIPPED);
    snprintf(item->why, sizeof item->why,
             "offsets %lld to %lld belong to a transaction of producer %lld whose end is not to be "
             "told: a corrupt batch lies before its next marker",
             (long long)item->from, (long long)to - 1, (long long)h->producer_id);
    return KRC_OK;
}

/* Opens the batch in hand.  A compressed magic 0 or 1 wrapper shows only now where it begins. */
static int open_records(struct krc_logsource *s, struct krc_buffer *scratch,
                        struct krc_item *item, krc_error *error)
{
    return krc_records_open(&item->records, s->batch.bytes, &s->batch.header, s->codecs,
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

static void hand_out(struct krc_logsource *s, struct krc_item *item, int64_t to)
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
    item->delivered = s->batch.header.magic == KRC_MAGIC_07 ? item->count > 0 : item->count;
    item->to = to;
    int64_t mark = s->log->place->high_watermark;
    if (item->count == 0)
        set_passed(item, to, KRC_ABSENT);
    else if (mark >= 0 && to > mark)
        s->beyond_high_watermark +=
            krc_records_count_between(&item->records, mark > item->from ? mark : item->from, to);
}

/* The batch in hand reaches the position: what is it? */
static int take_batch(struct krc_logsource *s, int64_t until, struct krc_buffer *scratch,
                      struct krc_item *item, krc_error *error)
{
    const struct krc_batch_header *h = &s->batch.header;
    int64_t base = h->base_offset, to = least(h->last_offset + 1, until);
    bool opened = is_wrapper(h);
    if (opened) {
        int rc = open_records(s, scratch, item, error);
        if (rc < 0)
            return pass_broken(s, item, to, rc, error);
        base = item->records.first_offset;
        to = least(item->records.last_offset + 1, until);
    }
    if (base > item->from) {
        pass_gap(s, item, least(base, until));
        return KRC_OK;
    }
    if (s->whole_batches && h->last_offset >= until)
        return KRC_OK; /* an END */
    item->batch = s->batch;
    item->epoch = h->leader_epoch;
    s->has_batch = false;
    s->compacted = s->compacted || shows_compaction(h);
    KRC_TRY(filter(s, item, to, error));
    if (item->type != KRC_ITEM_RECORDS)
        return KRC_OK;
    int rc = opened ? KRC_OK : open_records(s, scratch, item, error);
    if (rc < 0)
        return pass_broken(s, item, to, rc, error);
    hand_out(s, item, to);
    return KRC_OK;
}

int krc_logsource_fetch(struct krc_logsource *source, int64_t position, int64_t until, bool settled,
                        struct krc_buffer *scratch, struct krc_item *item, krc_error *error)
{
    item->type = KRC_ITEM_END;
    item->from = item->to = position;
    item->batch.bytes = NULL;
    item->epoch = -1;
    if (position != source->expected) {
        if (position < source->log->log_start_offset || position > source->log_end) {
            item->type = KRC_ITEM_OUT_OF_RANGE;
            return KRC_OK;
        }
        KRC_TRY(move(source, position, settled, error));
    }
    if (position >= until || position >= source->stable || source->records_left <= 0)
        return KRC_OK;
    int rc = have_batch(source, position, error);
    if (rc < 0)
        rc = corrupt(source, item, until, rc, error);
    else if (rc > 0)
        rc = take_batch(source, until, scratch, item, error);
    else
        pass_to_end(source, item, until);
    source->expected = rc < 0 ? -1 : item->to;
    return rc < 0 ? rc : KRC_OK;
}

/* ---- Questions ----------------------------------------------------------------------------- */

int krc_logsource_stable(struct krc_logsource *source, int64_t *stable, krc_error *error)
{
    if (source->expected >= 0 && source->stable != INT64_MAX) {
        *stable = source->stable;
        return KRC_OK;
    }
    return krc_last_stable_offset(source->log, source->log_end, source->config->skip_corrupt,
                                  stable, error);
}

int krc_logsource_end(struct krc_logsource *source, int64_t *end, krc_error *error)
{
    *end = source->log_end;
    return source->config->read_uncommitted ? KRC_OK : krc_logsource_stable(source, end, error);
}

int krc_logsource_batch_at(struct krc_logsource *source, int64_t offset,
                           struct krc_log_batch *batch, krc_error *error)
{
    source->expected = -1; /* the reader is moved */
    KRC_TRY(krc_reader_seek(source->reader, offset, error));
    int rc = krc_reader_next(source->reader, batch, error);
    if (rc == 0)
        rc = krc_fail(error, KRC_E_CORRUPT, "the batch at offset %lld is gone: the log changed",
                      (long long)offset);
    return rc < 0 ? rc : KRC_OK;
}

/* Looks inside a batch for the first record of that time, -1: none.  A batch whose inside is
 * broken has none where those are skipped. */
static int find_in_batch(struct krc_logsource *s, const struct krc_log_batch *batch,
                         int64_t timestamp_ms, struct krc_buffer *scratch, int64_t *offset,
                         krc_error *error)
{
    struct krc_records records;
    struct krc_record record;
    *offset = -1;
    int rc = krc_records_open(&records, batch->bytes, &batch->header, s->codecs,
                              (size_t)s->config->max_decompressed_bytes, scratch, error);
    if (rc == KRC_E_CORRUPT && s->config->skip_corrupt)
        return KRC_OK;
    KRC_TRY(rc);
    while (*offset < 0 && krc_records_next(&records, &record))
        if (record.timestamp_ms >= timestamp_ms && record.offset >= s->log->log_start_offset)
            *offset = record.offset;
    return KRC_OK;
}

/* 1: gone past a damaged place; else `rc`. */
static int go_past_damage(struct krc_logsource *s, int rc, krc_error *error)
{
    struct krc_damage damage;
    if (rc != KRC_E_CORRUPT || !s->config->skip_corrupt)
        return rc;
    KRC_TRY(krc_reader_resync(s->reader, &damage, error));
    return 1;
}

static int search_time(struct krc_logsource *s, int64_t timestamp_ms, int64_t *offset,
                       struct krc_buffer *scratch, krc_error *error)
{
    struct krc_log_batch batch;
    int rc = krc_reader_seek_time(s->reader, timestamp_ms, error);
    while (*offset < 0) {
        if (rc < 0)
            rc = go_past_damage(s, rc, error);
        if (rc < 0)
            return rc;
        rc = krc_reader_next(s->reader, &batch, error);
        if (rc == 0)
            return KRC_OK;
        if (rc > 0 && batch.header.max_timestamp >= timestamp_ms)
            KRC_TRY(find_in_batch(s, &batch, timestamp_ms, scratch, offset, error));
    }
    return KRC_OK;
}

int krc_logsource_find_time(struct krc_logsource *source, int64_t timestamp_ms, int64_t *offset,
                            krc_error *error)
{
    struct krc_buffer scratch = {0};
    int64_t end;
    KRC_TRY(krc_logsource_end(source, &end, error));
    source->expected = -1; /* the reader is moved */
    *offset = -1;
    int rc = search_time(source, timestamp_ms, offset, &scratch, error);
    krc_buffer_free(&scratch);
    if (*offset < 0 || *offset > end)
        *offset = end;
    return rc;
}
