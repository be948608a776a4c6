/*
 * What is looked for on the other side: the contents of the records around a committed offset, and
 * how often each of them comes.
 */
#ifndef KRC_ADMIN_MIGRATE_WINDOW_H
#define KRC_ADMIN_MIGRATE_WINDOW_H

#include <string.h>

#include "base/buffer.h"

/* What a record says, wherever it lies: the first half of a SHA-256. */
struct krc_content {
    uint8_t bytes[16];
};

/* `timed`: its timestamp is a part of it. */
int krc_content_of(const struct krc_record *record, bool timed, struct krc_buffer *scratch,
                   struct krc_content *content, krc_error *error) KRC_MUST_USE;

static inline bool krc_same_content(const struct krc_content *a, const struct krc_content *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

struct krc_mark {
    struct krc_content content;
    int64_t offset, timestamp_ms;
};

/* All marks of one content. */
struct krc_slot {
    struct krc_content content;
    size_t index;       /* of the first such mark */
    int64_t done, left; /* how many records have it below the committed offset, and from it on, as
                           far as they were counted */
    int64_t left_here;  /* of the latter, those in the window */
    bool met;           /* on the other side */
};

/*
 * Records in the order they are delivered: the last ones below the committed offset, and from
 * `split` on the first ones at or above it.
 */
struct krc_window {
    struct krc_mark *marks;
    size_t count, split;
    size_t most;       /* on either side of the split */
    size_t next;       /* while the part before the split is filled, as a ring: where to go on */
    struct krc_slot *slots; /* sorted by content */
    size_t slot_count;
    bool begins, ends; /* it holds all that there is before the split, and behind it */
};

int krc_window_init(struct krc_window *window, size_t most, krc_error *error) KRC_MUST_USE;
void krc_window_free(struct krc_window *window);

/* One more record below the committed offset: the oldest goes where they are too many. */
void krc_window_add_done(struct krc_window *window, const struct krc_mark *mark);
/* There are no more of them. */
void krc_window_turn(struct krc_window *window);

/* One more from it on; false: there are enough. */
bool krc_window_add_left(struct krc_window *window, const struct krc_mark *mark);

/* Once all are there: makes the slots.  Then each record that has a slot is counted, those of the
 * window as well. */
int krc_window_index(struct krc_window *window, krc_error *error) KRC_MUST_USE;
struct krc_slot *krc_window_find(const struct krc_window *window,
                                 const struct krc_content *content);

/* Whether a record was left at the committed offset: the first that is delivered from there. */
static inline bool krc_window_has_record(const struct krc_window *window)
{
    return window->split < window->count;
}

/* One record alone has it. */
static inline bool krc_slot_is_sole(const struct krc_slot *slot)
{
    return slot->done + slot->left == 1;
}

#endif
