/*
 * Looks for the first whole batch with the right checksum where nothing tells where one begins.
 *
 * Many places may look like the begin of a batch, and each of them says how long it is: to checksum
 * each alone would be quadratic.  So there is one pass, which checksums each byte once; a batch's
 * checksum follows from those at its begin and at its end (base/crc.h).
 */
#ifndef KRC_RECORDS_FINDER_H
#define KRC_RECORDS_FINDER_H

#include "base/crc.h"
#include "records/batch.h"

struct krc_finder_ops {
    /* Whether a batch that ends inside of what is searched may begin with these bytes. */
    bool (*may_begin)(void *arg, int64_t position, const uint8_t *bytes, size_t len,
                      struct krc_batch_header *header);
    /* 1: the batch there, whose checksum is right, is good; 0: it is not, and none of the bytes up
     * to `end` begins another one; or an error. */
    int (*judge)(void *arg, int64_t position, int64_t end, krc_error *error);
};

enum { KRC_FINDER_SUMS = 2, KRC_FINDER_PLACES = 1 << 18 };

/* One of the two checksums, from some byte on. */
struct krc_finder_sum {
    struct krc_crc_powers powers;
    void (*fill)(struct krc_crc_powers *powers);
    uint32_t (*add)(uint32_t crc, const void *data, size_t len);
    uint32_t crc;
    int64_t position; /* it covers the bytes before */
    uint64_t *ends;   /* a heap of the open places, by their ends */
    size_t count, capacity;
};

struct krc_finder {
    const struct krc_finder_ops *ops;
    void *arg;
    int64_t next;      /* where what is to come begins */
    int64_t found;     /* the first good batch, as far as is known; -1 */
    int64_t none_before; /* no batch begins before that */
    struct krc_finder_sum sums[KRC_FINDER_SUMS];
    struct krc_finder_place *places; /* that may be begins, a ring of the newest ones... */
    size_t capacity;
    uint64_t first, end; /* ...of all that ever were */
    size_t open;         /* places whose end is to come, and of interest */
    uint64_t checksummed; /* bytes */
};

/* What is searched begins at `position`. */
void krc_finder_begin(struct krc_finder *finder, int64_t position,
                      const struct krc_finder_ops *ops, void *arg);
void krc_finder_end(struct krc_finder *finder);

/* Looks at the bytes from `next` on; unless they are the last, all but KRC_BATCH_LOOK - 1 of them,
 * which are to come again.  1: finder->found is the first good batch; 0: none so far.
 * KRC_E_CORRUPT: too many places may be begins; or what `judge` fails with. */
int krc_finder_bytes(struct krc_finder *finder, const uint8_t *bytes, size_t len, bool is_last,
                     krc_error *error) KRC_MUST_USE;

/* The same for so many zeros, in which no batch begins. */
int krc_finder_zeros(struct krc_finder *finder, int64_t len, krc_error *error) KRC_MUST_USE;

#endif
