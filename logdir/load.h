/*
 * Files: opening them, and whole small ones.  Internal to logdir/.
 */
#ifndef KRC_LOGDIR_LOAD_H
#define KRC_LOGDIR_LOAD_H

#include "base/buffer.h"

/* Opens a regular file to read it, and returns its descriptor.  Anything else that has the name is
 * KRC_E_CORRUPT, and never waited for. */
int krc_open_file(const char *path, int64_t *size, krc_error *error) KRC_MUST_USE;

/* Reads FOLDER/NAME into `out`: 1 done, 0 there is no such file. */
int krc_load_file(const char *folder, const char *name, struct krc_buffer *out,
                  krc_error *error) KRC_MUST_USE;

/* "20 digits, then the suffix": the base offset in a segment's name, -1 for any other name. */
int64_t krc_segment_name(const char *name, const char *suffix);

/* Finds a log's segments, and what is left of others: fills `segments` and `orphans`. */
struct krc_log;
int krc_log_list_segments(struct krc_log *log, krc_error *error) KRC_MUST_USE;

/* Adds to an error's sentence which file it is about. */
int krc_fail_in_file(krc_error *error, int code, const char *folder, const char *name);

#endif
