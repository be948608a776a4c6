/*
 * One log in the temporary folder, opened, with a reader and a walker.
 */
#ifndef KRC_TESTS_ONELOG_H
#define KRC_TESTS_ONELOG_H

#include "logdir/cursor.h"

struct onelog {
    struct krc_log_places places;
    struct krc_log *log;
    struct krc_reader *reader;
    struct krc_walker *walker;
    int64_t max_batch_bytes;
};

/* Opens the folder or file; what cannot be opened fails the test. */
void onelog_open(struct onelog *one, const char *path);
void onelog_open_07(struct onelog *one, const char *path);
void onelog_close(struct onelog *one);

/* All headers up to the end, by the reader, and checked to be the walker's too.  Returns how many
 * there are (at most `most`) and in `*end` what ended them. */
size_t onelog_headers(struct onelog *one, struct krc_log_batch *batches, size_t most, int *end,
                      krc_error *error);

#endif
