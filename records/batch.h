/*
 * Batches: what lies back to back in a log segment and in a fetch response.
 *
 * Magic 2 batches, and magic 0 and 1 messages (alone or as the wrapper of a compressed set),
 * share their first 17 bytes' layout: an offset, a length, and the magic byte at 16.  So one
 * header describes all of them.  Kafka 0.7 messages have no offset and no magic at that place
 * and are parsed by krc_batch_parse_07.
 */
#ifndef KRC_RECORDS_BATCH_H
#define KRC_RECORDS_BATCH_H

#include "records/codec.h"

enum {
    KRC_MAGIC_07 = -1,           /* stands for Kafka 0.7's format in krc_batch_header.magic */
    KRC_BATCH_PREFIX = 12,       /* bytes before what the length field counts (0.8 and later) */
    KRC_BATCH_HEADER_V2 = 61,    /* a magic 2 batch without records */
    KRC_BATCH_LOOK = 61,         /* bytes that suffice to parse any header */
};

enum krc_control_type {
    KRC_CONTROL_NONE = -1, /* not a control batch, or one that was emptied */
    KRC_CONTROL_ABORT = 0,
    KRC_CONTROL_COMMIT = 1,
    /* 2 and above: leader change, snapshot header and footer, KRaft version, KRaft voters, … */
};

struct krc_batch_header {
    int64_t base_offset;     /* of a compressed magic 0 or 1 wrapper, which has one: last_offset */
    int64_t last_offset;    /* base + lastOffsetDelta: its own records may end earlier */
    int32_t size;           /* the whole batch in bytes, prefix included */
    int8_t magic;           /* 0, 1, 2 or KRC_MAGIC_07 */
    uint8_t codec;          /* enum krc_codec */
    uint8_t timestamp_type; /* enum krc_timestamp_type */
    bool transactional;
    bool control;
    bool has_delete_horizon; /* base_timestamp is then the horizon, no record's time */
    uint32_t crc;            /* as stored */
    int32_t leader_epoch;    /* -1: none */
    int32_t base_sequence;   /* -1: none */
    int64_t producer_id;     /* -1: none */
    int16_t producer_epoch;  /* -1: none */
    int64_t base_timestamp;
    int64_t max_timestamp; /* magic 0 and 1: the message's own */
    int32_t count;         /* records; magic 0 and 1: 1 for a plain message, -1 (unknown) for a
                              wrapper */
};

/*
 * Reads the header at `bytes`, of which `len` are at hand (KRC_BATCH_LOOK always suffice).
 * Checks everything that the header alone shows: length, magic, codec, count, lastOffsetDelta.
 * Returns
 *   1  a header; whether all `size` bytes are there is the caller's to see
 *   0  too few bytes; `header->size` is the batch's size where that could be read, else 0
 *   KRC_E_CORRUPT, KRC_E_UNSUPPORTED (a magic above 2): `header` holds what was read, so that
 *      the batch may be skipped; `size` is 0 where the length itself is wrong
 */
int krc_batch_parse(const uint8_t *bytes, size_t len, struct krc_batch_header *header,
                    krc_error *error) KRC_MUST_USE;

/* The same for a Kafka 0.7 message that lies at `offset` (its segment's base + its position). */
int krc_batch_parse_07(const uint8_t *bytes, size_t len, int64_t offset,
                       struct krc_batch_header *header, krc_error *error) KRC_MUST_USE;

/* The first byte that the checksum covers, which goes on to the batch's end: with magic 0 to 2 all
 * that lies behind it, of Kafka 0.7 the payload. */
int krc_batch_crc_from(const struct krc_batch_header *header, const uint8_t *bytes);

/* Whether the stored checksum is right; `bytes` holds the whole batch. */
int krc_batch_check_crc(const uint8_t *bytes, const struct krc_batch_header *header,
                        krc_error *error) KRC_MUST_USE;

/* Compaction leaves holes, emptied batches and delete horizons; and gaps between batches, which
 * are told from lost ones by those traces. */
bool krc_batch_shows_compaction(const struct krc_batch_header *header);

/* The type of a control batch's first record, KRC_CONTROL_NONE where it was emptied.  A key of
 * fewer than 4 bytes or a negative version is corrupt; a longer key and any other version are
 * read by these first fields.  `bytes` holds the whole batch. */
int krc_batch_control_type(const uint8_t *bytes, const struct krc_batch_header *header,
                           int *type, krc_error *error) KRC_MUST_USE;

/* Says what is wrong with a batch, its offsets before the sentence, and returns `code`. */
int krc_batch_fail(const struct krc_batch_header *header, krc_error *error, int code,
                   const char *format, ...) KRC_PRINTF(4, 5);

#endif
