/*
 * A partition on one side of a migration, read a range at a time.
 */
#ifndef KRC_ADMIN_MIGRATE_SIDE_H
#define KRC_ADMIN_MIGRATE_SIDE_H

#include "base/error.h"

struct krc_side {
    krc *handle; /* which reads committed only */
    const char *topic;
    int32_t partition;
    struct krc_partition found;
    struct krc_log_offsets log;
};

/* Finds the partition and where it begins and ends.  KRC_E_NOT_FOUND: it is not there. */
int krc_side_find(struct krc_side *side, krc_error *error) KRC_MUST_USE;

/* How many partitions the topic has, as far as the source knows. */
int32_t krc_side_partitions(const struct krc_side *side);

/* Calls `each` for every record that is delivered in [from, until), up to where it returns other
 * than 0; a negative number is an error and is returned, everything else is KRC_OK. */
typedef int krc_side_fn(void *arg, const struct krc_record *record,
                        enum krc_timestamp_type type, krc_error *error);
int krc_side_read(const struct krc_side *side, int64_t from, int64_t until, krc_side_fn *each,
                  void *arg, krc_error *error) KRC_MUST_USE;

/* An offset before which no record has this timestamp or a later one: the first that has, or where
 * none seems to, one for an earlier time; the log start for a time below 0, so that records without
 * a timestamp lie behind it, too. */
int krc_side_find_time(const struct krc_side *side, int64_t timestamp_ms, int64_t *offset,
                       krc_error *error) KRC_MUST_USE;

#endif
