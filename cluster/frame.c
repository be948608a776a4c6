#include "cluster/frame.h"

#include <stdlib.h>

enum {
    LEAST = 1024,
    IDLE_MOST = 2,       /* kept for later */
    IDLE_BYTES = 2 << 20 /* one that is larger goes back to the system */
};

static void free_frame(struct krc_frame *frame)
{
    krc_arena_free(&frame->arena);
    free(frame->chunk.data);
    free(frame);
}

static void end_pool(struct krc_frames *frames)
{
    if (frames->closed && frames->used == 0)
        free(frames);
}

static void frame_gone(struct krc_chunk *chunk)
{
    struct krc_frame *frame = (struct krc_frame *)chunk;
    struct krc_frames *frames = frame->frames;
    frames->held -= chunk->capacity;
    frames->used--;
    krc_arena_reset(&frame->arena);
    if (frames->closed || frames->idle_count == IDLE_MOST || chunk->capacity > IDLE_BYTES) {
        free_frame(frame);
        end_pool(frames);
        return;
    }
    frame->next = frames->idle;
    frames->idle = frame;
    frames->idle_count++;
}

struct krc_frames *krc_frames_new(void)
{
    return calloc(1, sizeof(struct krc_frames));
}

void krc_frames_close(struct krc_frames *frames)
{
    if (frames == NULL)
        return;
    for (struct krc_frame *frame; (frame = frames->idle) != NULL;) {
        frames->idle = frame->next;
        free_frame(frame);
    }
    frames->closed = true;
    end_pool(frames);
}

static struct krc_frame *unlink_idle(struct krc_frames *frames, struct krc_frame **link)
{
    struct krc_frame *frame = *link;
    *link = frame->next;
    frames->idle_count--;
    return frame;
}

/* An idle one that is large enough and not much too large. */
static struct krc_frame *find_idle(struct krc_frames *frames, size_t len)
{
    for (struct krc_frame **link = &frames->idle; *link != NULL; link = &(*link)->next)
        if ((*link)->chunk.capacity >= len &&
            ((*link)->chunk.capacity <= LEAST || (*link)->chunk.capacity / 16 <= len))
            return unlink_idle(frames, link);
    return NULL;
}

/* The largest idle one that is too small: responses grow, and each would leave a frame behind. */
static struct krc_frame *find_smaller(struct krc_frames *frames, size_t len)
{
    struct krc_frame **best = NULL;
    for (struct krc_frame **link = &frames->idle; *link != NULL; link = &(*link)->next)
        if ((*link)->chunk.capacity < len &&
            (best == NULL || (*link)->chunk.capacity > (*best)->chunk.capacity))
            best = link;
    return best == NULL ? NULL : unlink_idle(frames, best);
}

/* Of a smaller one, or in place of another where enough are idle. */
static struct krc_frame *make(struct krc_frames *frames, size_t len)
{
    size_t capacity = len < LEAST ? LEAST : len;
    struct krc_frame *frame = find_smaller(frames, len);
    if (frame == NULL && frames->idle_count == IDLE_MOST)
        frame = unlink_idle(frames, &frames->idle);
    if (frame == NULL)
        frame = calloc(1, sizeof *frame);
    if (frame == NULL)
        return NULL;
    free(frame->chunk.data);
    frame->frames = frames;
    frame->chunk = (struct krc_chunk){
        .data = malloc(capacity), .capacity = capacity, .gone = frame_gone};
    if (frame->chunk.data != NULL)
        return frame;
    free_frame(frame);
    return NULL;
}

struct krc_frame *krc_frame_take(struct krc_frames *frames, size_t len)
{
    struct krc_frame *frame = find_idle(frames, len);
    if (frame == NULL)
        frame = make(frames, len);
    if (frame == NULL)
        return NULL;
    frame->chunk.len = len;
    frame->chunk.holders = 1;
    frame->readers = 0;
    frame->undrained = NULL;
    frames->held += frame->chunk.capacity;
    frames->used++;
    return frame;
}
