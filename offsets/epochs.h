/*
 * The leader epochs of what was read of one partition: where each began.
 *
 * A record is identified by its offset and its leader epoch, and two logs that share a record share
 * all before it.  So where a log holds an epoch differently, the last epoch that both have tells
 * where the two histories part, however many elections lie between.
 *
 * A fixed number of entries.  Where there are more epochs, two neighbours become one that carries
 * the later epoch and begins where the earlier one did: the answer to where histories part can
 * then lie too low (records are read again), never too high (records would be missed).
 */
#ifndef KRC_OFFSETS_EPOCHS_H
#define KRC_OFFSETS_EPOCHS_H

#include <stdbool.h>
#include <stdint.h>

#ifndef KRC_EPOCHS_MAX
#define KRC_EPOCHS_MAX 16 /* the model walks fewer */
#endif

struct krc_epochs {
    int64_t first[KRC_EPOCHS_MAX]; /* the first offset read in that epoch; rising */
    int32_t epoch[KRC_EPOCHS_MAX]; /* rising */
    int32_t count;
    bool incomplete; /* more was read before first[0], in epochs that nobody kept */
    int64_t end;     /* of what was read in the last epoch */
};

/* What is known of a committed offset without more: one epoch, that of the record before it. */
struct krc_epochs krc_epochs_of_offset(int32_t epoch, int64_t offset);

/* [from, to) was read in `epoch`, behind all before.  An epoch lower than the last adds nothing. */
void krc_epochs_add(struct krc_epochs *epochs, int32_t epoch, int64_t from, int64_t to);

/* Forgets what was read at or beyond `offset`. */
void krc_epochs_cut(struct krc_epochs *epochs, int64_t offset);

/* The last epoch read that is not above `epoch`, -1: none; and where it ended in what was read,
 * or where what is known begins; INT64_MAX: nothing is. */
int32_t krc_epochs_floor(const struct krc_epochs *epochs, int32_t epoch, int64_t *end);

#endif
