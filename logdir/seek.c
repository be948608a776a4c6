/*
 * Seeks: an index says where to begin to look, headers say where to stop.
 *
 * An index file may be missing, stale, torn, padded with zeros, or lie.  Nothing of it is believed:
 * an .index entry is used if a good batch lies where it points to that begins at or below the
 * offset sought.  Otherwise the segment is walked from its start.
 */
#include "logdir/stand.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "logdir/files.h"
#include "logdir/load.h"

/* An index file, of which a few entries are read. */
struct index {
    int fd;
    int64_t base;
    int64_t entries;
    size_t entry_size;
};

static bool index_open(struct index *index, const struct krc_log *log, size_t segment,
                       const char *suffix, size_t entry_size)
{
    char path[PATH_MAX];
    int64_t size = 0;
    krc_log_path(log, segment, suffix, path, sizeof path);
    *index = (struct index){.base = log->segments[segment].base_offset, .entry_size = entry_size};
    index->fd = krc_open_file(path, &size, NULL);
    index->entries = size / (int64_t)entry_size;
    return index->fd >= 0;
}

/* Entry i.  False where it cannot be read, or is padding: the caller looks before it. */
static bool index_read(const struct index *index, int64_t i, uint8_t *entry)
{
    static const uint8_t zeros[KRC_TIMEINDEX_ENTRY];
    size_t n = index->entry_size;
    return pread(index->fd, entry, n, i * (int64_t)n) == (ssize_t)n && memcmp(entry, zeros, n) != 0;
}

/* The last entry for whose key `below` holds, or -1. */
typedef bool below_fn(const uint8_t *entry, int64_t base, int64_t key);
static int64_t index_find(const struct index *index, below_fn *below, int64_t key)
{
    uint8_t entry[KRC_TIMEINDEX_ENTRY];
    int64_t low = 0, high = index->entries;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (index_read(index, middle, entry) && below(entry, index->base, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* ---- By offset ----------------------------------------------------------------------------- */

static bool at_or_below_offset(const uint8_t *entry, int64_t base, int64_t offset)
{
    return krc_index_entry(entry, 0, base).offset <= offset;
}

/* Where a walk to `offset` may begin, -1: at the segment's start.  A 0.7 offset is a position. */
static int64_t position_hint(const struct krc_log *log, size_t segment, int64_t offset)
{
    if (log->format_07)
        return offset - log->segments[segment].base_offset;
    struct index index;
    uint8_t entry[KRC_TIMEINDEX_ENTRY];
    int64_t position = -1;
    if (!index_open(&index, log, segment, ".index", KRC_INDEX_ENTRY))
        return -1;
    int64_t i = index_find(&index, at_or_below_offset, offset);
    if (i >= 0 && index_read(&index, i, entry))
        position = krc_index_entry(entry, 0, index.base).position;
    close(index.fd);
    return position;
}

/* The last segment whose base is at or below `offset`, else the first. */
static size_t find_segment(const struct krc_log *log, int64_t offset)
{
    size_t low = 0, high = log->segment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->segments[middle].base_offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

/* Moves to the index's batch: 1 done, 0 the index is of no use. */
static int use_hint(struct krc_stand *at, int64_t offset, krc_error *error)
{
    int rc = krc_stand_settle(at, error);
    if (rc <= 0)
        return rc;
    int64_t position = position_hint(at->log, at->segment, offset);
    struct krc_batch_header header;
    KRC_TRY(rc = krc_stand_good_batch(at, position, &header, error));
    if (rc == 0 || header.base_offset > offset)
        return 0;
    krc_stand_move(at, at->segment, position, header.base_offset - 1);
    return 1;
}

/* Walks from the stand to the batch that holds `offset` or follows it.  What is broken on the way
 * is passed if all of it lies below `offset`; otherwise the walker stays in front of it.  Returns
 * whether something was broken. */
static int walk_to(struct krc_walker *walker, int64_t offset, krc_error *error)
{
    struct krc_stand *at = &walker->at;
    struct krc_log_batch batch;
    struct krc_damage damage;
    int broken = 0;
    for (;;) {
        size_t segment = at->segment;
        int64_t position = at->position, last = at->last_offset;
        int rc = krc_walker_next(walker, &batch, error);
        if (rc == 0)
            return broken;
        if (rc == KRC_E_CORRUPT) {
            broken = 1;
            segment = at->segment;
            position = at->position;
            last = at->last_offset;
            KRC_TRY(krc_walker_resync(walker, &damage, error));
            if (damage.to < offset || (damage.to == offset && damage.from < offset))
                continue;
        } else if (rc < 0) {
            return rc;
        } else if (batch.header.last_offset < offset) {
            continue;
        }
        krc_stand_move(at, segment, position, last);
        return broken;
    }
}

int krc_walker_seek(struct krc_walker *walker, int64_t offset, krc_error *error)
{
    struct krc_stand *at = &walker->at;
    size_t segment = find_segment(at->log, offset);
    krc_stand_move_to_segment(at, segment);
    int hinted = use_hint(at, offset, error);
    if (hinted < 0)
        return hinted;
    int broken = walk_to(walker, offset, error);
    if (broken == 1 && hinted == 1) { /* the hint may have led inside a batch: trust only a walk */
        krc_stand_move_to_segment(at, segment);
        broken = walk_to(walker, offset, error);
    }
    return broken < 0 ? broken : KRC_OK;
}

int krc_log_find_batch_end(const struct krc_log *log, int64_t *end, krc_error *error)
{
    struct krc_walker *walker;
    KRC_TRY(krc_walker_open(&walker, log, error));
    int rc = krc_walker_seek(walker, INT64_MAX, error);
    *end = walker->at.last_offset + 1;
    krc_walker_close(walker);
    return rc;
}

int krc_log_find_end(const struct krc_log *log, int64_t *end, krc_error *error)
{
    int rc = krc_log_find_batch_end(log, end, error);
    if (*end < log->log_start_offset)
        *end = log->log_start_offset;
    return rc;
}

/* ---- By time ------------------------------------------------------------------------------- */

/* A .timeindex is not looked at: an entry can be checked against its batch, but not that no batch
 * before it is as late, which is what it says. */
int krc_walker_seek_time(struct krc_walker *walker, int64_t timestamp_ms, krc_error *error)
{
    struct krc_stand *at = &walker->at;
    struct krc_log_batch batch;
    krc_stand_move_to_segment(at, 0);
    for (;;) {
        size_t segment = at->segment;
        int64_t position = at->position, last = at->last_offset;
        int rc = krc_walker_next(walker, &batch, error);
        if (rc <= 0)
            return rc;
        if (batch.header.max_timestamp < timestamp_ms)
            continue;
        if (batch.segment == segment)
            krc_stand_move(at, segment, position, last);
        else
            krc_stand_move_to_segment(at, batch.segment);
        return KRC_OK;
    }
}

/* ---- What lies before a batch --------------------------------------------------------------- */

/* The end of the last batch that begins below `base`, from `offset` on; -1: none does. */
static int end_before(struct krc_walker *walker, int64_t offset, int64_t base, int64_t *end,
                      krc_error *error)
{
    struct krc_log_batch batch;
    *end = -1;
    KRC_TRY(krc_walker_seek(walker, offset, error));
    for (;;) {
        int rc = krc_walker_next(walker, &batch, error);
        if (rc <= 0 || batch.header.base_offset >= base)
            return rc < 0 ? rc : KRC_OK;
        *end = batch.header.last_offset + 1;
    }
}

int krc_log_end_before(const struct krc_log *log, int64_t base, int64_t *end, krc_error *error)
{
    struct krc_walker *walker;
    KRC_TRY(krc_walker_open(&walker, log, error));
    int rc = KRC_OK;
    *end = -1;
    for (int64_t back = 1; rc >= 0 && *end < 0 && back > 0; back *= 2) {
        int64_t offset = base - back > log->log_start_offset ? base - back : log->log_start_offset;
        rc = end_before(walker, offset, base, end, error);
        if (offset == log->log_start_offset)
            break;
    }
    if (*end < log->log_start_offset)
        *end = log->log_start_offset;
    krc_walker_close(walker);
    return rc;
}
