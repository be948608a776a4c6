/*
 * One partition's log: its segments, their indexes, its leader epochs.
 */
#ifndef KRC_LOGDIR_LOG_H
#define KRC_LOGDIR_LOG_H

#include "logdir/folder.h"
#include "records/batch.h"

struct krc_segment {
    int64_t base_offset;
    int64_t size; /* of the file, as it was when the log was opened */
    bool is_swap; /* its files are named .swap: a broker was killed amid compaction */
};

struct krc_epoch_start {
    int32_t epoch;
    int64_t start_offset;
};

struct krc_log {
    const struct krc_log_place *place;
    bool format_07;
    struct krc_segment *segments; /* sorted by base offset; at least one, unless the log is empty
                                     of files */
    size_t segment_count;
    int64_t *orphans; /* sorted: bases of segments of which, after a clean stop, only indexes are
                         left */
    size_t orphan_count;
    struct krc_epoch_start *epochs; /* leader-epoch-checkpoint, rising in both */
    size_t epoch_count;
    enum { KRC_UNEXAMINED, KRC_NOT_COMPACTED, KRC_COMPACTED } compaction;
    int64_t log_start_offset; /* the checkpoint's, or the first segment's base: the larger, but
                                 with remote storage the checkpoint's */
};

/* `place` must outlive the log.  Of .swap files those are taken that a broker would take when it
 * starts, for the segments that they replace.  Ignores .deleted and .cleaned files and whatever is
 * not Kafka's. */
int krc_log_open(struct krc_log **log, const struct krc_log_place *place, bool format_07,
                 krc_error *error) KRC_MUST_USE;
void krc_log_close(struct krc_log *log);

/* Whether compaction explains that offsets [from, to) are in no batch: 1 or 0.  The log was
 * compacted by the cleaner's checkpoint, or by traces anywhere in the log, for compaction begins at
 * its start; they are looked for once.  An orphan shows that there was a segment. */
int krc_log_explains_gap(struct krc_log *log, int64_t from, int64_t to,
                         krc_error *error) KRC_MUST_USE;

/* FOLDER/NAME of a segment's file, with suffix ".log", ".index", ... Returns what snprintf does. */
int krc_log_path(const struct krc_log *log, size_t segment, const char *suffix, char *path,
                 size_t size);

/* Where a leader epoch ends, as OffsetForLeaderEpoch answers: the start of the first later epoch,
 * or the log end; `*found` is the largest epoch at or below `epoch` that the log has.  An epoch
 * above all of them ends at the log end, where a broker would say "undefined": in a copy the
 * checkpoint may be older than the log.  False where the log knows nothing of it (no checkpoint,
 * or all its epochs are later). */
bool krc_log_epoch_end(const struct krc_log *log, int32_t epoch, int64_t log_end,
                       int32_t *found, int64_t *end);

#endif
