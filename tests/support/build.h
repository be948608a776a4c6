/*
 * Makes batches, messages and sets by hand, with right checksums, for tests.  All append to a
 * buffer and abort when out of memory.
 */
#ifndef KRC_TESTS_BUILD_H
#define KRC_TESTS_BUILD_H

#include "records/batch.h"

struct build_record {
    int32_t offset_delta;
    int64_t timestamp_delta;
    struct krc_bytes key, value;
    const struct krc_header *headers;
    int32_t header_count;
};

/* What is left out is 0; `last_delta` is at least the last record's. */
struct build_batch {
    int64_t base_offset;
    int32_t last_delta;
    int32_t leader_epoch;
    int codec;
    bool log_append_time, transactional, control, delete_horizon;
    int64_t base_timestamp, max_timestamp;
    int64_t producer_id; /* 0: none, written as -1 */
    int16_t producer_epoch;
    int32_t base_sequence;
    const struct build_record *records;
    int32_t count;
};

/* Bytes of a string literal's or variable's text, without the NUL. */
struct krc_bytes build_text(const char *text);

void build_append(struct krc_buffer *out, const void *data, size_t len);
void build_int(struct krc_buffer *out, int64_t value, int bytes);     /* big-endian */
void build_varint(struct krc_buffer *out, int64_t value);             /* zig-zag */
void build_compress(struct krc_buffer *out, int codec, struct krc_bytes in);

/* The records as they lie in a batch before compression. */
void build_records(struct krc_buffer *out, const struct build_record *records, int32_t count);

/* A batch (magic 2), and one whose payload is given as it shall lie there. */
void build_batch(struct krc_buffer *out, const struct build_batch *batch);
void build_batch_of(struct krc_buffer *out, const struct build_batch *batch,
                    struct krc_bytes payload);

/* A batch of `count` records "k<offset>" = "v<offset>", gapless from `batch->base_offset`. */
void build_plain_batch(struct krc_buffer *out, const struct build_batch *batch, int32_t count);

/* A transaction's marker: type 0 abort, 1 commit. */
void build_marker(struct krc_buffer *out, int64_t offset, int64_t producer_id,
                  int16_t producer_epoch, int type);

/* A message of magic 0 or 1; attributes: codec, and 8 for LogAppendTime. */
void build_message(struct krc_buffer *out, int magic, int64_t offset, int64_t timestamp,
                   int attributes, struct krc_bytes key, struct krc_bytes value);
void build_wrapper(struct krc_buffer *out, int magic, int64_t offset, int64_t timestamp,
                   int attributes, struct krc_bytes set);
void build_message_07(struct krc_buffer *out, int codec, struct krc_bytes payload);

/* Gives a batch or message (not 0.7) the right checksum after its bytes were changed. */
void build_fix_crc(uint8_t *batch);

#endif
