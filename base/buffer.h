/*
 * A buffer that grows up to a limit, and gives its memory back.
 */
#ifndef KRC_BASE_BUFFER_H
#define KRC_BASE_BUFFER_H

#include "base/error.h"

struct krc_buffer {
    uint8_t *data;
    size_t len;      /* bytes in use */
    size_t capacity; /* bytes allocated */
};

/* Room for `capacity` bytes in all; what is in use stays.  Grows by doubling, to exactly
 * `capacity` at the least.  The caller has checked its limit. */
int krc_buffer_reserve(struct krc_buffer *buffer, size_t capacity, krc_error *error) KRC_MUST_USE;

/* The same, but never takes more than `limit` bytes in all, which is at least `capacity`. */
int krc_buffer_reserve_within(struct krc_buffer *buffer, size_t capacity, size_t limit,
                              krc_error *error) KRC_MUST_USE;

int krc_buffer_append(struct krc_buffer *buffer, const void *data, size_t len,
                      krc_error *error) KRC_MUST_USE;

/* Frees what a past giant took: a capacity above `keep` goes back to the system. */
void krc_buffer_trim(struct krc_buffer *buffer, size_t keep);

/* Gives back all that is not in use. */
void krc_buffer_shrink(struct krc_buffer *buffer);

void krc_buffer_free(struct krc_buffer *buffer);

/* The same, and nothing of it stays in memory. */
void krc_buffer_wipe(struct krc_buffer *buffer);

#endif
