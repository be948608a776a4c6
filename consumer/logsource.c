#include "consumer/logsource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/take.h"

static const struct krc_source_ops ops;

/* One segment that was named by itself is no whole log. */
static int64_t kept_to(const struct krc_log_place *place)
{
    if (place->file != NULL)
        return -1;
    return place->high_watermark > place->recovery_point ? place->high_watermark
                                                         : place->recovery_point;
}

int krc_logsource_open(struct krc_logsource *source, const struct krc_log_place *place,
                       const krc_config *config, struct krc_codecs *codecs, krc_error *error)
{
    *source = (struct krc_logsource){
        .base = {.ops = &ops,
                 .codecs = codecs,
                 .config = config,
                 .topic_id = place->topic_id,
                 .until = KRC_NO_END,
                 .records_left = KRC_NO_END},
        .expected = -1,
        .stable = INT64_MAX,
    };
    KRC_TRY(krc_log_open(&source->log, place, config->format_07, error));
    krc_lookahead_init(&source->ahead, source->log, config->skip_corrupt);
    int rc = krc_reader_open(&source->reader, source->log, config->max_message_bytes, error);
    if (rc >= 0)
        rc = krc_log_find_batch_end(source->log, &source->batch_end, error);
    source->log_end = rc >= 0 && source->batch_end > source->log->log_start_offset
                          ? source->batch_end
                          : source->log->log_start_offset;
    source->kept_to = kept_to(place);
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

/* ---- The pieces of a fetch ----------------------------------------------------------------- */

/* Puts the reader where `position` lies, and finds what is open there. */
static int move(struct krc_logsource *s, int64_t position, bool settled, krc_error *error)
{
    s->has_batch = false;
    s->expected = -1;
    s->stable = INT64_MAX;
    s->settled = settled;
    KRC_TRY(krc_reader_seek(s->reader, position, error));
    if (!s->base.config->read_uncommitted) {
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

/* The log starts below its first segment. */
static void explain_start(const struct krc_logsource *s, struct krc_item *item)
{
    const struct krc_log *log = s->log;
    bool is_orphan = log->orphan_count > 0 && log->orphans[0] < item->to;
    snprintf(item->why, sizeof item->why,
             "offsets %lld to %lld lie between the log start offset and the first segment in %s: %s",
             (long long)item->from, (long long)item->to - 1, log->place->folder,
             is_orphan ? "an index of theirs is there, so a segment is missing"
                       : "they may be in remote storage");
}

/* Offsets up to `to` are in no batch. */
static int pass_gap(struct krc_source *source, struct krc_item *item, int64_t to,
                    krc_error *error)
{
    struct krc_logsource *s = krc_logsource_of(source);
    int64_t first = s->log->segment_count > 0 ? s->log->segments[0].base_offset : to;
    if (item->from < first) {
        krc_set_passed(item, krc_least(to, first), KRC_LOST);
        explain_start(s, item);
        return KRC_ANSWERED;
    }
    int rc = krc_log_explains_gap(s->log, item->from, to, error);
    if (rc < 0)
        return rc;
    krc_set_passed(item, to, rc == 1 ? KRC_ABSENT : KRC_LOST);
    if (item->fate == KRC_LOST)
        snprintf(item->why, sizeof item->why,
                 "offsets %lld to %lld are in no batch and in no file of %s, and compaction does "
                 "not explain it: segments are missing",
                 (long long)item->from, (long long)to - 1, s->log->place->folder);
    return KRC_ANSWERED;
}

/* A log folder's end is the end as it is. */
static int64_t until_of(const struct krc_source *source)
{
    return source->until == KRC_LATEST ? KRC_NO_END : source->until;
}

/* Whether the log ends before an offset that it had, and that matters: a broker that stopped
 * cleanly has written all.  Else the end may be a copy's; but who asks for more is told. */
static bool is_end_missing(const struct krc_logsource *s, int64_t until)
{
    bool is_asked_for = until != KRC_NO_END && until > s->log_end;
    return s->kept_to > s->log_end && (is_asked_for || s->log->place->stopped_cleanly);
}

/* Up to where the log should go on behind its end, -1: it ends where it should. */
static int64_t missing_to(const struct krc_logsource *s)
{
    return is_end_missing(s, until_of(&s->base)) ? s->kept_to : -1;
}

static void pass_missing_end(struct krc_logsource *s, struct krc_item *item, int64_t to)
{
    const struct krc_log_place *place = s->log->place;
    krc_set_passed(item, to, KRC_LOST);
    s->told_end = true;
    snprintf(item->why, sizeof item->why,
             "offsets %lld to %lld are in no file of %s, and by the checkpoint of its %s the log "
             "had them: its last segment is missing, or was cut",
             (long long)item->from, (long long)to - 1, place->folder,
             place->high_watermark >= to ? "high watermark" : "recovery point");
}

/* No batch follows.  An empty last segment begins where the log ends; otherwise it ends here,
 * wherever damage made it seem to end. */
static int pass_to_end(struct krc_logsource *s, struct krc_item *item, int64_t until,
                       krc_error *error)
{
    const struct krc_log *log = s->log;
    int64_t base = log->segment_count > 0 ? log->segments[log->segment_count - 1].base_offset : 0;
    s->log_end = base > item->from ? base : item->from;
    if (item->from < s->log_end)
        return pass_gap(&s->base, item, krc_least(s->log_end, until), error);
    if (is_end_missing(s, until))
        pass_missing_end(s, item, krc_least(s->kept_to, until));
    return KRC_OK;
}

/* Goes past what the reader could not read, as "skip.corrupt.batches" allows.  Where nothing
 * behind it tells how many offsets it held, the range is empty. */
static int skip_unreadable(struct krc_logsource *s, struct krc_item *item, int64_t until,
                           const krc_error *cause, krc_error *error)
{
    struct krc_damage damage;
    KRC_TRY(krc_reader_resync(s->reader, &damage, error));
    int64_t to = damage.skip_to > item->from ? damage.skip_to : damage.to;
    krc_set_passed(item, krc_least(to, until), KRC_SKIPPED);
    snprintf(item->why, sizeof item->why, "%.500s", cause->message);
    return KRC_OK;
}

static int corrupt(struct krc_logsource *s, struct krc_item *item, int64_t until, int rc,
                   krc_error *error)
{
    krc_error_at(error, s->log->place->topic, s->log->place->partition, item->from, -1);
    if (rc != KRC_E_CORRUPT || !s->base.config->skip_corrupt)
        return rc;
    krc_error cause = *error;
    return skip_unreadable(s, item, until, &cause, error);
}

/* Why a transactional batch of records is dropped, or not. */
static int fate(struct krc_source *source, const struct krc_batch_header *header,
                enum krc_txn_fate *fate, krc_error *error)
{
    struct krc_logsource *s = krc_logsource_of(source);
    KRC_TRY(krc_lookahead_fate(&s->ahead, header, fate, error));
    if (*fate == KRC_TXN_UNDECIDED)
        s->stable = header->base_offset;
    return KRC_OK;
}

static void explain(struct krc_source *source, krc_error *error)
{
    struct krc_logsource *s = krc_logsource_of(source);
    krc_log_batch_place(s->log, &s->batch, error);
}

static void count_beyond_high_watermark(struct krc_logsource *s, const struct krc_item *item)
{
    int64_t mark = s->log->place->high_watermark;
    if (item->type == KRC_ITEM_RECORDS && mark >= 0 && item->to > mark)
        s->beyond_high_watermark += krc_records_count_between(
            &item->records, mark > item->from ? mark : item->from, item->to);
}

/* Where what is missing counts as lost, a position in it is in range. */
static int64_t known_end(const struct krc_logsource *s)
{
    int64_t to = missing_to(s);
    return to >= 0 ? to : s->log_end;
}

/* The batch in hand reaches the position: what is it? */
static int take_batch(struct krc_logsource *s, int64_t until, struct krc_buffer *scratch,
                      struct krc_item *item, krc_error *error)
{
    struct krc_batch_view view = {
        .header = s->batch.header, .bytes = s->batch.bytes, .chunk = s->batch.chunk};
    bool taken = false;
    int rc = krc_take_batch(&s->base, &view, until, scratch, item, &taken, error);
    if (taken)
        s->has_batch = false;
    count_beyond_high_watermark(s, item);
    return rc;
}

static int fetch_item(struct krc_logsource *source, int64_t position, int64_t until, bool settled,
                      struct krc_buffer *scratch, struct krc_item *item, krc_error *error)
{
    item->type = KRC_ITEM_END;
    item->from = item->to = position;
    item->batch.bytes = NULL;
    item->epoch = -1;
    item->is_misjudged = false;
    source->ahead.kept_to = missing_to(source);
    if (position != source->expected) {
        if (position < source->log->log_start_offset || position > known_end(source)) {
            item->type = KRC_ITEM_OUT_OF_RANGE;
            return KRC_OK;
        }
        KRC_TRY(move(source, position, settled, error));
    }
    if (position >= until || position >= source->stable || source->base.records_left <= 0)
        return KRC_OK;
    int rc = have_batch(source, position, error);
    if (rc < 0)
        rc = corrupt(source, item, until, rc, error);
    else if (rc > 0)
        rc = take_batch(source, until, scratch, item, error);
    else
        rc = pass_to_end(source, item, until, error);
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
    return krc_last_stable_offset(source->log, source->log_end, missing_to(source),
                                  source->base.config->skip_corrupt, stable, error);
}

int krc_logsource_end(struct krc_logsource *source, int64_t *end, krc_error *error)
{
    *end = source->log_end;
    return source->base.config->read_uncommitted ? KRC_OK
                                                 : krc_logsource_stable(source, end, error);
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
    int rc = krc_records_open(&records, batch->bytes, &batch->header, s->base.codecs,
                              (size_t)s->base.config->max_decompressed_bytes, scratch, error);
    if (rc == KRC_E_CORRUPT && s->base.config->skip_corrupt)
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
    if (rc != KRC_E_CORRUPT || !s->base.config->skip_corrupt)
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

/* A record behind a hole: what is missing may have been of that time, and is counted. */
static int include_hole(struct krc_logsource *s, int64_t *offset, krc_error *error)
{
    struct krc_log_batch before;
    int rc = krc_logsource_batch_at(s, *offset - 1, &before, error);
    if (rc == KRC_E_CORRUPT && s->base.config->skip_corrupt)
        return KRC_OK;
    KRC_TRY(rc);
    if (before.header.base_offset < *offset)
        return KRC_OK;
    int64_t end;
    KRC_TRY(krc_log_end_before(s->log, *offset, &end, error));
    rc = krc_log_explains_gap(s->log, end, *offset, error);
    if (rc == 0)
        *offset = end;
    return rc;
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
    if (rc >= 0 && *offset > source->log->log_start_offset)
        rc = include_hole(source, offset, error);
    if (*offset < 0 || *offset > end)
        *offset = end;
    return rc;
}

/* ---- As a source --------------------------------------------------------------------------- */

struct krc_logsource *krc_logsource_of(struct krc_source *source)
{
    return source->ops == &ops ? (struct krc_logsource *)source : NULL;
}

static const struct krc_logsource *log_of(const struct krc_source *source)
{
    return (const struct krc_logsource *)source;
}

static enum krc_notice notice(struct krc_source *source)
{
    (void)source;
    return KRC_NOTICE_NONE;
}

static int epoch_end(struct krc_source *source, int32_t epoch, int32_t *found, int64_t *end,
                     krc_error *error)
{
    struct krc_logsource *s = krc_logsource_of(source);
    (void)error;
    if (!krc_log_epoch_end(s->log, epoch, s->log_end, found, end))
        *found = -1;
    return KRC_ANSWERED;
}

static int range(struct krc_source *source, int64_t position, int64_t *start, int64_t *end,
                 krc_error *error)
{
    struct krc_logsource *s = krc_logsource_of(source);
    (void)position, (void)error;
    *start = s->log->log_start_offset;
    *end = known_end(s);
    return KRC_ANSWERED;
}

static int where(struct krc_source *source, enum krc_ask ask, int64_t timestamp_ms,
                 int64_t *offset, krc_error *error)
{
    struct krc_logsource *s = krc_logsource_of(source);
    if (ask == KRC_ASK_TIME)
        KRC_TRY(krc_logsource_find_time(s, timestamp_ms, offset, error));
    else if (ask == KRC_ASK_END)
        KRC_TRY(krc_logsource_end(s, offset, error));
    else
        *offset = s->log->log_start_offset;
    return KRC_ANSWERED;
}

static int fetch(struct krc_source *source, int64_t position, bool settled,
                 struct krc_buffer *scratch, struct krc_item *item, krc_error *error)
{
    KRC_TRY(fetch_item(krc_logsource_of(source), position, until_of(source), settled, scratch, item,
                       error));
    return KRC_ANSWERED;
}

/* The whole log is stable where reading has come to its end without meeting an open transaction. */
static void standing(const struct krc_source *source, struct krc_standing *standing)
{
    const struct krc_logsource *s = log_of(source);
    bool whole = s->expected == s->log_end && !s->base.config->read_uncommitted;
    *standing = (struct krc_standing){
        .log_start_offset = s->log->log_start_offset,
        .last_stable_offset = s->stable != INT64_MAX ? s->stable : whole ? s->log_end : -1,
        .high_watermark = s->log->place->high_watermark,
        .log_end_offset = s->log_end,
    };
}

static int64_t undecided(const struct krc_source *source)
{
    const struct krc_logsource *s = log_of(source);
    int64_t end = krc_least(until_of(source), s->log_end);
    return end > s->stable ? end - s->stable : 0;
}

static bool settled(const struct krc_source *source)
{
    const struct krc_logsource *s = log_of(source);
    return s->settled && !s->base.config->read_uncommitted;
}

static bool remark_tail(const struct krc_logsource *s, int64_t *from, char *text, size_t size)
{
    *from = s->log_end;
    snprintf(text, size, "%s", krc_reader_tail(s->reader));
    return text[0] != '\0';
}

static bool remark_beyond_high_watermark(const struct krc_logsource *s, int64_t *from, char *text,
                                         size_t size)
{
    *from = s->log->place->high_watermark;
    snprintf(text, size,
             "%lld records lie at or beyond the checkpointed high watermark %lld: the broker may "
             "not have shown them to consumers yet (--until hwm stops before them)",
             (long long)s->beyond_high_watermark, (long long)*from);
    return s->beyond_high_watermark > 0;
}

static bool remark_missing_end(const struct krc_logsource *s, int64_t *from, char *text,
                               size_t size)
{
    *from = s->log_end;
    snprintf(text, size,
             "the log ends at offset %lld, and by its checkpoints it had offsets up to %lld: the "
             "last segment is missing or was cut, or the checkpoints are newer than the rest of a "
             "copy (--until hwm counts them as lost)",
             (long long)s->log_end, (long long)s->kept_to);
    return s->kept_to > s->log_end && !s->told_end;
}

static bool remark_below_start(const struct krc_logsource *s, int64_t *from, char *text,
                               size_t size)
{
    int64_t start = s->log->log_start_offset;
    int64_t first = s->log->segment_count > 0 ? s->log->segments[0].base_offset : s->batch_end;
    *from = first;
    snprintf(text, size,
             "the checkpointed log start offset %lld lies beyond the log's end: offsets %lld to "
             "%lld are there, and are deleted ones by that checkpoint, so they are not read "
             "(without log-start-offset-checkpoint beside the folder, they are)",
             (long long)start, (long long)first, (long long)s->batch_end - 1);
    return s->batch_end < start && first < s->batch_end;
}

static bool remark(const struct krc_source *source, int i, int64_t *from, char *text, size_t size)
{
    static bool (*const remarks[])(const struct krc_logsource *, int64_t *, char *, size_t) = {
        remark_tail, remark_below_start, remark_missing_end, remark_beyond_high_watermark};
    for (size_t k = 0; k < sizeof remarks / sizeof *remarks; k++)
        if (remarks[k](log_of(source), from, text, size) && i-- == 0)
            return true;
    return false;
}

static void close_source(struct krc_source *source)
{
    krc_logsource_close(krc_logsource_of(source));
    free(source);
}

static const struct krc_source_ops ops = {
    .notice = notice,
    .epoch_end = epoch_end,
    .range = range,
    .where = where,
    .fetch = fetch,
    .gap = pass_gap,
    .fate = fate,
    .explain = explain,
    .standing = standing,
    .undecided = undecided,
    .settled = settled,
    .remark = remark,
    .close = close_source,
};

int krc_logsource_new(struct krc_source **source, const struct krc_log_place *place,
                      const krc_config *config, struct krc_codecs *codecs, krc_error *error)
{
    struct krc_logsource *s = malloc(sizeof *s);
    if (s == NULL)
        return krc_fail_nomem(error, sizeof *s);
    int rc = krc_logsource_open(s, place, config, codecs, error);
    if (rc < 0) {
        free(s);
        return rc;
    }
    *source = &s->base;
    return KRC_OK;
}
