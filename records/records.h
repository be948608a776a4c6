/*
 * The records inside a batch.
 *
 * krc_records_open decompresses where needed and checks the *whole* batch before the first
 * record is seen, so that a batch is delivered wholly or not at all and krc_records_next cannot
 * fail.  Nothing is copied for a record: its key, value and headers are views into the batch's
 * bytes, or into `scratch` where it was compressed.  The views made while checking are kept, up to
 * so many, for they cost less to keep than to make again.
 */
#ifndef KRC_RECORDS_RECORDS_H
#define KRC_RECORDS_RECORDS_H

#include "records/batch.h"

enum { KRC_VIEWS = 4096 };

struct krc_records {
    int64_t first_offset; /* of the records in it; undefined where count is 0 */
    int64_t last_offset;  /* of the last record: at or below the batch's last offset */
    int64_t max_timestamp; /* of the records as delivered; -1: none */
    int32_t count;
    uint8_t timestamp_type; /* enum krc_timestamp_type */
    size_t trailing;        /* bytes after a gzip stream, ignored */
    /* private to records/ */
    struct krc_batch_header header;
    const struct krc_record *views; /* of the first `viewed` records, in the scratch */
    int32_t viewed;
    int32_t left;
    const uint8_t *start, *p, *end; /* of those behind them */
    int64_t offset_shift; /* what is added to an inner message's offset (magic 1) */
};

/* `bytes` is the whole batch; its CRC has been checked by the caller.  `scratch` receives what is
 * decompressed, up to `limit` bytes, and up to KRC_VIEWS views.  Both must outlive the walk. */
int krc_records_open(struct krc_records *records, const uint8_t *bytes,
                     const struct krc_batch_header *header, struct krc_codecs *codecs,
                     size_t limit, struct krc_buffer *scratch, krc_error *error) KRC_MUST_USE;

/* The next record; false at the end. */
bool krc_records_next(struct krc_records *records, struct krc_record *record);

/* How many of the records lie in [from, to): from the start, whatever was walked before. */
int32_t krc_records_count_between(const struct krc_records *records, int64_t from, int64_t to);

#endif
