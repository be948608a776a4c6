/*
 * Where a cursor stands in its log: what reader and walker have in common.  Internal to logdir/.
 */
#ifndef KRC_LOGDIR_STAND_H
#define KRC_LOGDIR_STAND_H

#include "logdir/cursor.h"

struct krc_stand {
    const struct krc_log *log;
    size_t segment;
    int64_t position;    /* in the segment's file */
    int64_t last_offset; /* of the batch before, or one below what may come first */
    int fd;              /* of the segment's file, -1 until something is read there */
    int64_t end;         /* of the file: as the log was opened, or less in a last one that shrank */
    int64_t data_end;    /* of the file: zeros follow; -1: not known */
    int64_t claimed;     /* bytes that broken batches of the segment say they have, in all */
    int advice;          /* for posix_fadvise */
    bool ended;
    char tail[512];
};

void krc_stand_init(struct krc_stand *at, const struct krc_log *log, int advice);
void krc_stand_close(struct krc_stand *at);
void krc_stand_move(struct krc_stand *at, size_t segment, int64_t position, int64_t last_offset);
void krc_stand_move_to_segment(struct krc_stand *at, size_t segment);
/* Past a batch. */
void krc_stand_pass(struct krc_stand *at, const struct krc_batch_header *header);

/* Goes on to the next segment where this one is read.  1: there are bytes here; 0: the end. */
int krc_stand_settle(struct krc_stand *at, krc_error *error) KRC_MUST_USE;

/* Reads `want` bytes of the open file, fewer only at its end. */
int krc_stand_read(struct krc_stand *at, int64_t position, void *to, size_t want, size_t *got,
                   krc_error *error) KRC_MUST_USE;

/* Where the hole begins that the open file ends with, from `position` on; the file's end where it
 * has none, or the file system tells of none.  Holes read as zeros, and may be terabytes. */
int64_t krc_stand_last_hole(const struct krc_stand *at, int64_t position);

/* krc_batch_parse, or its 0.7 sibling, for what lies at `position`. */
int krc_stand_parse(const struct krc_stand *at, int64_t position, const uint8_t *bytes, size_t len,
                    struct krc_batch_header *header, krc_error *error) KRC_MUST_USE;

/* Whether a batch's offsets may come next, and whether it ends inside the file. */
bool krc_stand_in_order(const struct krc_stand *at, const struct krc_batch_header *header);
bool krc_stand_fits(const struct krc_stand *at, int64_t position,
                    const struct krc_batch_header *header);
bool krc_stand_in_last_segment(const struct krc_stand *at);

/* Whether a batch at the stand lies although its checksum, which does not cover the base offset, is
 * right: it does not follow on, and the batch behind it, whose first bytes are `next`, begins at
 * or below its last offset; or nothing is behind it, and the high watermark says that it should
 * follow on. */
bool krc_stand_lies(const struct krc_stand *at, const struct krc_batch_header *header,
                    const uint8_t *next, size_t len);
/* The same of a batch that ends inside the file, whatever is at hand: 0 lies, 1 does not. */
int krc_stand_look_behind(struct krc_stand *at, const struct krc_batch_header *header,
                          krc_error *error) KRC_MUST_USE;

/* 1: a whole batch with the right checksum lies at `position`, and may come next; 0: none, or one
 * that what follows it contradicts: nothing before it speaks for it. */
int krc_stand_good_batch(struct krc_stand *at, int64_t position, struct krc_batch_header *header,
                         krc_error *error) KRC_MUST_USE;
/* The checksum of a batch of whatever size, read piece by piece: 1 right, 0 wrong. */
int krc_stand_check_crc(struct krc_stand *at, int64_t position,
                        const struct krc_batch_header *header, krc_error *error) KRC_MUST_USE;
/* The first such batch from `position` on: 1 found, 0 none in this segment. */
int krc_stand_scan(struct krc_stand *at, int64_t position, int64_t *found,
                   struct krc_batch_header *header, krc_error *error) KRC_MUST_USE;

/* Says what is wrong at the stand.  KRC_E_CORRUPT, complete with its place; 0: a torn tail, which
 * ends the log; 1: nothing is, a good batch lies here. */
int krc_stand_judge(struct krc_stand *at, krc_error *error) KRC_MUST_USE;
/* The file was not the same when it was read twice. */
int krc_stand_changed(const struct krc_stand *at, krc_error *error);

int krc_stand_resync(struct krc_stand *at, struct krc_damage *damage,
                     krc_error *error) KRC_MUST_USE;

/* A walker's bytes at hand. */
enum { KRC_WALKER_WINDOW = 4096 };
struct krc_walker {
    struct krc_stand at;
    size_t segment; /* the window's place */
    int64_t position;
    size_t len;
    uint8_t window[KRC_WALKER_WINDOW];
};
void krc_walker_init(struct krc_walker *walker, const struct krc_log *log, int advice);
int krc_walker_seek_time(struct krc_walker *walker, int64_t timestamp_ms,
                         krc_error *error) KRC_MUST_USE;

#endif
