/*
 * The newest producer snapshot of a log: OFFSET.snapshot, the producers' state before OFFSET.
 */
#ifndef KRC_LOGDIR_SNAPSHOT_H
#define KRC_LOGDIR_SNAPSHOT_H

#include "base/buffer.h"
#include "logdir/files.h"

struct krc_snapshot {
    int64_t offset;
    int32_t count;          /* producers: krc_snapshot_producer(file.data, i) */
    struct krc_buffer file; /* to be freed */
};

/* 1 found; 0 where there is none, or the newest one is damaged: a snapshot is never needed. */
int krc_snapshot_newest(struct krc_snapshot *snapshot, const struct krc_log *log,
                        krc_error *error) KRC_MUST_USE;

#endif
