/*
 * A response as it was received: its bytes, and what was read out of them.  Batches are views into
 * it, so it lives until the last of them is released.  Used again where that saves taking memory
 * from the system.
 */
#ifndef KRC_CLUSTER_FRAME_H
#define KRC_CLUSTER_FRAME_H

#include "base/arena.h"
#include "base/chunk.h"

struct krc_frames {
    struct krc_frame *idle; /* to be used again */
    int idle_count;
    size_t held;   /* bytes of all that are in use */
    unsigned used; /* how many are in use */
    bool closed;   /* what comes back is freed */
};

struct krc_frame {
    struct krc_chunk chunk; /* first: a chunk's holders hold the frame */
    struct krc_arena arena; /* of what was read out of it */
    struct krc_frames *frames;
    struct krc_frame *next; /* while idle */
    unsigned readers;       /* partitions that have not read their part to its end */
    unsigned *undrained;    /* counts the frames that have readers */
};

/* One holder, `len` bytes to be filled; NULL: out of memory. */
struct krc_frame *krc_frame_take(struct krc_frames *frames, size_t len);

/* The pool outlives its last frame. */
struct krc_frames *krc_frames_new(void);
void krc_frames_close(struct krc_frames *frames);

static inline void krc_frame_hold(struct krc_frame *frame)
{
    krc_chunk_hold(&frame->chunk);
}

static inline void krc_frame_drop(struct krc_frame *frame)
{
    krc_chunk_drop(frame == NULL ? NULL : &frame->chunk);
}

#endif
