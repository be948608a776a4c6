/*
 * Makes the log of partition t-0 in the data folder "data" of the temporary folder: batches are
 * put together in `make_bytes`, and make_segment writes them out.
 */
#ifndef KRC_TESTS_MAKELOG_H
#define KRC_TESTS_MAKELOG_H

#include "tests/support/build.h"

extern struct krc_buffer make_bytes;

/* Set-up and end of a test: the temporary folder with all that is in it. */
void make_setup(void);
void make_teardown(void);

/* Each appends a batch, and returns where in `make_bytes` it begins.  Records are "k<offset>" =
 * "v<offset>"; a producer other than 0 makes the batch transactional. */
size_t make_batch(int64_t base, int32_t count, int64_t producer);
size_t make_plain(int64_t base, int32_t count);

enum { ABORT, COMMIT };
size_t make_marker(int64_t offset, int64_t producer, int type);

/* Writes what was appended as the segment of that name, and begins anew. */
void make_segment(int64_t base);

#endif
