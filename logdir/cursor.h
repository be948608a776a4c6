/*
 * Cursors over a log: one reads batches, one walks headers.
 *
 * The log ends with the last whole batch of its last segment.  What may lie behind it there is a
 * torn tail (a copy of a running broker's file, a crash) or zeros (a preallocated file); it ends
 * the log and is described, not an error.  Anything else that is no batch is KRC_E_CORRUPT, and
 * the cursor stays in front of it; krc_cursor_resync goes past.
 *
 * Indexes are shortcuts: an entry is used only after the batch it points to was read and checked.
 */
#ifndef KRC_LOGDIR_CURSOR_H
#define KRC_LOGDIR_CURSOR_H

#include "base/chunk.h"
#include "logdir/log.h"

struct krc_log_batch {
    struct krc_batch_header header;
    const uint8_t *bytes;    /* the whole batch (krc_reader), valid while `chunk` is held by
                                somebody; the cursor holds it until its next call */
    struct krc_chunk *chunk;
    size_t segment;          /* index into the log's segments */
    int64_t file_position;
};

/* Puts before an error's sentence where the batch lies that it speaks of. */
void krc_log_batch_place(const struct krc_log *log, const struct krc_log_batch *batch,
                         krc_error *error);

/* Reads whole batches and checks their CRC. */
struct krc_reader;
int krc_reader_open(struct krc_reader **reader, const struct krc_log *log,
                    int64_t max_batch_bytes, krc_error *error) KRC_MUST_USE;
void krc_reader_close(struct krc_reader *reader);

/* Moves to the batch that holds `offset`, or to the first one after it, or to the end.  Compressed
 * magic 0 and 1 wrappers, which do not say where they begin, count as holding everything since
 * the batch before.  A broken place that lies wholly below `offset` is passed in silence; in front
 * of one that may hold it the cursor stays, and the next call tells. */
int krc_reader_seek(struct krc_reader *reader, int64_t offset, krc_error *error) KRC_MUST_USE;

/* 1 a batch, 0 the end of the log, KRC_E_CORRUPT, KRC_E_TOO_LARGE, KRC_E_IO.  After an error the
 * cursor stands where it stood. */
int krc_reader_next(struct krc_reader *reader, struct krc_log_batch *batch,
                    krc_error *error) KRC_MUST_USE;

/* Walks headers: reads some bytes of each batch, and all of those of at most KRC_SMALL_BATCH
 * bytes, of control batches, and of those behind which the log does not go on at the next offset:
 * their CRC is checked. */
enum { KRC_SMALL_BATCH = 128 };
struct krc_walker;
int krc_walker_open(struct krc_walker **walker, const struct krc_log *log,
                    krc_error *error) KRC_MUST_USE;
void krc_walker_close(struct krc_walker *walker);
int krc_walker_seek(struct krc_walker *walker, int64_t offset, krc_error *error) KRC_MUST_USE;
/* As krc_reader_next; `bytes` is NULL unless the batch is small, or a control batch of at most
 * about 4 KB, which is read and checked whole too. */
int krc_walker_next(struct krc_walker *walker, struct krc_log_batch *batch,
                    krc_error *error) KRC_MUST_USE;

/* What was found behind an unreadable place. */
struct krc_damage {
    int64_t from;         /* the first offset concerned: the one after the last good batch */
    int64_t to;           /* the next good batch's base offset, or the end of the log */
    int64_t skip_to;      /* the broken batch's last offset + 1 where its header is believable
                             (from <= it <= to, and its length leads to `to`), else `to` */
    int64_t file_position;
    int64_t bytes;        /* between the broken place and the next good batch, or the end of file */
    size_t segment;
    bool maybe_marker;    /* there may have been a control batch: one offset, at most
                             KRC_SMALL_BATCH bytes, or not to be told */
};

/* After KRC_E_CORRUPT: finds the next good batch (by the broken one's length, else byte by byte,
 * else in the next segment) and moves the cursor there. */
int krc_reader_resync(struct krc_reader *reader, struct krc_damage *damage,
                      krc_error *error) KRC_MUST_USE;
int krc_walker_resync(struct krc_walker *walker, struct krc_damage *damage,
                      krc_error *error) KRC_MUST_USE;

/* A sentence on what ends the log behind its last whole batch ("" for a plain end); known once a
 * cursor has returned 0. */
const char *krc_reader_tail(const struct krc_reader *reader);

/* The log end offset: from the last index entry that holds, else the last segment's start, on.  Not
 * below the log start offset: the second one is where the batches end. */
int krc_log_find_end(const struct krc_log *log, int64_t *end, krc_error *error) KRC_MUST_USE;
int krc_log_find_batch_end(const struct krc_log *log, int64_t *end, krc_error *error) KRC_MUST_USE;

/* The end of the last batch that begins below `base`, where another one begins; the log start
 * offset where there is none. */
int krc_log_end_before(const struct krc_log *log, int64_t base, int64_t *end,
                       krc_error *error) KRC_MUST_USE;

/* The first batch whose maximum timestamp is at or after `timestamp_ms`: moves the reader there.
 * Walks all headers before it.
 * KRC_E_CORRUPT: a broken place on the way, where it might have been; the reader stays there. */
int krc_reader_seek_time(struct krc_reader *reader, int64_t timestamp_ms,
                         krc_error *error) KRC_MUST_USE;

#endif
