/*
 * The expected files of tests/golden/fixtures: what Kafka's own consumer delivered, line by line.
 */
#ifndef KRC_TESTS_EXPECTED_H
#define KRC_TESTS_EXPECTED_H

#include "base/buffer.h"

struct expected {
    void *file;
    char *line;
    /* the present line */
    bool is_record; /* else one of the last lines, with `end` and `position` */
    int32_t partition; /* 0 where the line names none */
    int64_t offset, timestamp, leader_epoch; /* leader_epoch -1 where the line names none */
    int64_t log_start, end, position;
    int timestamp_type; /* enum krc_timestamp_type */
    int32_t header_count;
    struct krc_bytes key, value;
    struct krc_header headers[16];
    struct krc_buffer bytes; /* what the views above point into */
};

/* `path` is below tests/golden/fixtures/expected. */
void expected_open(struct expected *expected, const char *path);
bool expected_next(struct expected *expected); /* false at the end of the file */
void expected_close(struct expected *expected);

/* Fails the test where the record differs from the line in anything. */
void expected_check(const struct expected *expected, const struct krc_record *record,
                    int timestamp_type);

/* A file of tests/golden/fixtures as a whole. */
struct krc_buffer fixture_read(const char *path);

#endif
