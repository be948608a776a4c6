/*
 * .index and .timeindex against the batches of their segment, and what all indexes have in common.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "logdir/verify.h"

static const struct {
    const char *suffix;
    size_t entry;
} kinds[KRC_INDEX_KINDS] = {
    [KRC_INDEX] = {".index", KRC_INDEX_ENTRY},
    [KRC_TIMEINDEX] = {".timeindex", KRC_TIMEINDEX_ENTRY},
    [KRC_TXNINDEX] = {".txnindex", KRC_TXNINDEX_ENTRY},
};

static size_t present(const struct krc_verify *v)
{
    return v->segments_begun - 1;
}

static int64_t base_offset(const struct krc_verify *v)
{
    return v->log->segments[present(v)].base_offset;
}

void krc_verify_tell_entry(struct krc_verify *v, enum krc_index_kind kind, size_t entry,
                           const char *format, ...)
{
    char text[512], path[PATH_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    krc_log_path(v->log, present(v), kinds[kind].suffix, path, sizeof path);
    krc_verify_tell(v, true, "%s: entry %zu, byte %zu of %s", text, entry,
                    entry * kinds[kind].entry, path);
}

/* ---- Loading and order --------------------------------------------------------------------- */

static size_t count_entries(enum krc_index_kind kind, const struct krc_buffer *file)
{
    switch (kind) {
    case KRC_INDEX:
        return krc_index_entries(file->data, file->len);
    case KRC_TIMEINDEX:
        return krc_timeindex_entries(file->data, file->len);
    default:
        return file->len / KRC_TXNINDEX_ENTRY;
    }
}

static int load(struct krc_verify *v, enum krc_index_kind kind, krc_error *error)
{
    struct krc_index_file *f = &v->index[kind];
    char path[PATH_MAX];
    krc_log_path(v->log, present(v), kinds[kind].suffix, path, sizeof path);
    const char *name = strrchr(path, '/') + 1;
    f->count = f->next = f->good = f->file.len = 0;
    int rc = krc_verify_load(v, name, &f->file, error);
    if (rc <= 0)
        return rc;
    size_t more = f->file.len % kinds[kind].entry;
    if (more != 0) /* a running broker may be cutting it, or it was killed amid that */
        krc_verify_tell(v, !krc_verify_may_lag(v),
                        "%zu bytes lie behind the last whole entry: byte %zu of %s/%s", more,
                        f->file.len - more, v->log->place->folder, name);
    f->file.len -= more;
    f->count = count_entries(kind, &f->file);
    return KRC_OK;
}

int krc_verify_load_indexes(struct krc_verify *v, krc_error *error)
{
    for (int kind = 0; kind < KRC_INDEX_KINDS; kind++)
        KRC_TRY(load(v, kind, error));
    v->index_says = -1;
    v->max_timestamp = -1;
    return KRC_OK;
}

static struct krc_index_entry index_entry(const struct krc_verify *v, size_t i)
{
    return krc_index_entry(v->index[KRC_INDEX].file.data, i, base_offset(v));
}

static struct krc_timeindex_entry time_entry(const struct krc_verify *v, size_t i)
{
    return krc_timeindex_entry(v->index[KRC_TIMEINDEX].file.data, i, base_offset(v));
}

/* Whether entry b may stand behind entry a. */
static bool rises(const struct krc_verify *v, enum krc_index_kind kind, size_t a, size_t b)
{
    const uint8_t *file = v->index[kind].file.data;
    switch (kind) {
    case KRC_INDEX:
        return index_entry(v, a).position < index_entry(v, b).position &&
               index_entry(v, a).offset < index_entry(v, b).offset;
    case KRC_TIMEINDEX:
        return time_entry(v, a).timestamp_ms < time_entry(v, b).timestamp_ms &&
               time_entry(v, a).offset <= time_entry(v, b).offset;
    default:
        return krc_txnindex_entry(file, a).last_offset < krc_txnindex_entry(file, b).last_offset;
    }
}

/* Of two entries in the wrong order one is to blame: the second where it does not even rise above
 * the last good one, else the first. */
bool krc_verify_in_order(struct krc_verify *v, enum krc_index_kind kind)
{
    struct krc_index_file *f = &v->index[kind];
    size_t i = f->next, last = f->good - 1;
    if (f->good == i + 1) /* asked before */
        return true;
    bool behind = f->good == 0 || rises(v, kind, last, i);
    bool before = i + 1 == f->count || rises(v, kind, i, i + 1) ||
                  (f->good > 0 && !rises(v, kind, last, i + 1));
    if (!behind || !before) {
        krc_verify_tell_entry(v, kind, i, "the entries do not rise");
        return false;
    }
    f->good = i + 1;
    return true;
}

/* ---- .index -------------------------------------------------------------------------------- */

/*
 * An entry's offset is the last one of the batch that starts at its position.  Up to Kafka 0.11 it
 * is the first one there; with later brokers it may be the last one of all batches that were
 * appended together, and where compaction rewrote the batch, that of its last record.
 */
static void check_offset(struct krc_verify *v, int64_t last_offset, int64_t last_record)
{
    if (v->index_says < 0 || (last_offset < v->index_says && last_record != v->index_says))
        return;
    if (last_offset != v->index_says && last_record != v->index_says)
        krc_verify_tell_entry(v, KRC_INDEX, v->index_entry,
                              "its offset %" PRId64 " is no batch's last one", v->index_says);
    v->index_says = -1;
}

/* A compressed set of magic 0 or 1 does not say what its first offset is. */
static bool is_first_offset(const struct krc_verify *v, const struct krc_batch_header *header,
                            int64_t offset)
{
    if (header->count < 0)
        return offset >= v->next_offset && offset <= header->last_offset;
    return offset == header->base_offset;
}

static void expect_offset(struct krc_verify *v, size_t entry, const struct krc_batch_header *header)
{
    if (v->index_says >= 0)
        krc_verify_tell_entry(v, KRC_INDEX, v->index_entry,
                              "its offset %" PRId64 " lies beyond the next entry's batch",
                              v->index_says);
    int64_t offset = index_entry(v, entry).offset;
    v->index_says = is_first_offset(v, header, offset) ? -1 : offset;
    v->index_entry = entry;
}

void krc_verify_index(struct krc_verify *v, const struct krc_log_batch *batch, int64_t last_record)
{
    struct krc_index_file *f = &v->index[KRC_INDEX];
    for (; f->next < f->count; f->next++) {
        int64_t position = index_entry(v, f->next).position;
        if (!krc_verify_in_order(v, KRC_INDEX))
            continue;
        if (position > batch->file_position)
            break;
        if (position == batch->file_position)
            expect_offset(v, f->next, &batch->header);
        else
            krc_verify_tell_entry(v, KRC_INDEX, f->next,
                                  "no batch begins at its position %" PRId64, position);
    }
    check_offset(v, batch->header.last_offset, last_record);
}

/* ---- .timeindex ---------------------------------------------------------------------------- */

/* An entry: the largest timestamp up to a batch of this segment, and an offset of the batch that
 * has it. */
static void check_time(struct krc_verify *v, const struct krc_batch_header *header)
{
    size_t i = v->index[KRC_TIMEINDEX].next;
    struct krc_timeindex_entry e = time_entry(v, i);
    int64_t first = header->count < 0 ? v->next_offset : header->base_offset;
    if (e.offset < first)
        krc_verify_tell_entry(v, KRC_TIMEINDEX, i, "no batch has its offset %" PRId64, e.offset);
    else if (e.timestamp_ms != header->max_timestamp)
        krc_verify_tell_entry(v, KRC_TIMEINDEX, i,
                              "its timestamp is %" PRId64 ", that of offset %" PRId64
                              "'s batch %" PRId64, e.timestamp_ms, e.offset, header->max_timestamp);
    else if (e.timestamp_ms < v->max_timestamp)
        krc_verify_tell_entry(v, KRC_TIMEINDEX, i,
                              "a batch before its offset %" PRId64 " has the timestamp %" PRId64
                              ", larger than its %" PRId64, e.offset, v->max_timestamp,
                              e.timestamp_ms);
}

void krc_verify_timeindex(struct krc_verify *v, const struct krc_log_batch *batch)
{
    struct krc_index_file *f = &v->index[KRC_TIMEINDEX];
    for (; f->next < f->count; f->next++) {
        if (!krc_verify_in_order(v, KRC_TIMEINDEX))
            continue;
        if (time_entry(v, f->next).offset > batch->header.last_offset)
            break;
        check_time(v, &batch->header);
    }
    if (batch->header.max_timestamp > v->max_timestamp)
        v->max_timestamp = batch->header.max_timestamp;
}

/* ---- The end of a segment, and damage ------------------------------------------------------ */

/* The last segment's index may have been copied later than its log, or outlived it in a crash. */
static void end_index(struct krc_verify *v, enum krc_index_kind kind)
{
    struct krc_index_file *f = &v->index[kind];
    char path[PATH_MAX];
    krc_log_path(v->log, present(v), kinds[kind].suffix, path, sizeof path);
    if (f->next < f->count)
        krc_verify_tell(v, !krc_verify_may_lag(v),
                        "the segment ends before what entries %zu to %zu are about: byte %zu of %s",
                        f->next, f->count - 1, f->next * kinds[kind].entry, path);
}

void krc_verify_end_indexes(struct krc_verify *v)
{
    if (v->index_says >= 0)
        krc_verify_tell_entry(v, KRC_INDEX, v->index_entry,
                              "the segment ends before its offset %" PRId64, v->index_says);
    for (int kind = 0; kind < KRC_INDEX_KINDS; kind++)
        end_index(v, kind);
}

void krc_verify_skip_indexes(struct krc_verify *v, const struct krc_damage *damage)
{
    struct krc_index_file *index = &v->index[KRC_INDEX], *times = &v->index[KRC_TIMEINDEX];
    int64_t behind = damage->file_position + damage->bytes;
    while (index->next < index->count && index_entry(v, index->next).position < behind)
        index->good = ++index->next;
    while (times->next < times->count && time_entry(v, times->next).offset < damage->to)
        times->good = ++times->next;
    if (v->index_says < damage->to)
        v->index_says = -1;
}
