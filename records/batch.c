#include "records/batch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/crc.h"

/*
 * What all formats since 0.8 begin with:
 *
 *      0  int64  offset
 *      8  int32  length of all that follows
 *     16  int8   magic
 *
 * Magic 0 and 1, a message; the CRC-32 covers bytes 16 to the end:
 *
 *     12  uint32 crc
 *     17  int8   attributes: bits 0-2 codec, bit 3 (magic 1) log append time
 *     18  int64  timestamp (magic 1 only)
 *                key and value, int32 length (-1: null) and bytes each
 *
 * Magic 2, a batch; the CRC-32C covers bytes 21 to the end:
 *
 *     12  int32  partition leader epoch
 *     17  uint32 crc
 *     21  int16  attributes: bits 0-2 codec, 3 log append time, 4 transactional, 5 control,
 *                6 the base timestamp is a delete horizon
 *     23  int32  last offset delta
 *     27  int64  base timestamp
 *     35  int64  max timestamp
 *     43  int64  producer id
 *     51  int16  producer epoch
 *     53  int32  base sequence
 *     57  int32  record count
 *     61         records, compressed as a whole
 */
enum {
    OFFSET_END = 8,
    MAGIC_AT = 16,
    CRC_FROM_V01 = 16,
    CRC_FROM_V2 = 21,
    HEADER_V0 = 18, /* as far as a wrapper's and a plain message's fields are the same */
    HEADER_V1 = 26,
    MIN_V0 = HEADER_V0 + 8, /* with the lengths of key and value */
    MIN_V1 = HEADER_V1 + 8,
    CODEC_MASK = 0x07,
    LOG_APPEND_TIME_BIT = 0x08,
    TRANSACTIONAL_BIT = 0x10,
    CONTROL_BIT = 0x20,
    DELETE_HORIZON_BIT = 0x40,
};

int krc_batch_fail(const struct krc_batch_header *header, krc_error *error, int code,
                   const char *format, ...)
{
    char text[512];
    va_list args;
    if (error == NULL) /* a search asks about each byte */
        return code;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    krc_fail(error, code, "batch of offsets %" PRId64 " to %" PRId64 ": %s", header->base_offset,
             header->last_offset, text);
    krc_error_at(error, NULL, -1, header->base_offset, -1);
    return code;
}

static int fail_size(struct krc_batch_header *header, int32_t length, krc_error *error)
{
    header->size = 0;
    return krc_batch_fail(header, error, KRC_E_CORRUPT,
                          "its length field says %" PRId32 ", which no batch has", length);
}

static int check_codec(const struct krc_batch_header *header, krc_error *error)
{
    if (krc_codec_name(header->codec) == NULL)
        return krc_batch_fail(header, error, KRC_E_CORRUPT, "there is no compression codec %d",
                              header->codec);
    if (header->codec == KRC_ZSTD && header->magic < 2)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "zstd does not occur in message format %d", header->magic);
    return KRC_OK;
}

static int parse_v01(const uint8_t *bytes, size_t len, struct krc_batch_header *header,
                     krc_error *error)
{
    bool v1 = header->magic == 1;
    if (header->size < (v1 ? MIN_V1 : MIN_V0))
        return fail_size(header, header->size - KRC_BATCH_PREFIX, error);
    if (len < (v1 ? HEADER_V1 : HEADER_V0))
        return 0;
    uint8_t attributes = bytes[17];
    header->crc = krc_be32(bytes + 12);
    header->codec = attributes & CODEC_MASK;
    header->count = header->codec == KRC_NONE ? 1 : -1;
    header->timestamp_type = KRC_NO_TIMESTAMP;
    if (v1) {
        header->timestamp_type =
            attributes & LOG_APPEND_TIME_BIT ? KRC_LOG_APPEND_TIME : KRC_CREATE_TIME;
        header->base_timestamp = header->max_timestamp = (int64_t)krc_be64(bytes + 18);
    }
    KRC_TRY(check_codec(header, error));
    return 1;
}

static int check_count(const struct krc_batch_header *header, int32_t last_delta, krc_error *error)
{
    bool has_payload = header->size > KRC_BATCH_HEADER_V2;
    if (header->count < 0 || (int64_t)header->count > (int64_t)last_delta + 1)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "a record count of %" PRId32 " does not fit its offsets",
                              header->count);
    if ((header->count > 0) != has_payload)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "a record count of %" PRId32 " does not fit %" PRId32
                              " bytes of records",
                              header->count, header->size - KRC_BATCH_HEADER_V2);
    return KRC_OK;
}

static int parse_v2(const uint8_t *bytes, size_t len, struct krc_batch_header *header,
                    krc_error *error)
{
    if (header->size < KRC_BATCH_HEADER_V2)
        return fail_size(header, header->size - KRC_BATCH_PREFIX, error);
    if (len < KRC_BATCH_HEADER_V2)
        return 0;
    uint16_t attributes = krc_be16(bytes + 21);
    int32_t last_delta = (int32_t)krc_be32(bytes + 23);
    header->leader_epoch = (int32_t)krc_be32(bytes + 12);
    header->crc = krc_be32(bytes + 17);
    header->codec = attributes & CODEC_MASK;
    header->timestamp_type =
        attributes & LOG_APPEND_TIME_BIT ? KRC_LOG_APPEND_TIME : KRC_CREATE_TIME;
    header->transactional = attributes & TRANSACTIONAL_BIT;
    header->control = attributes & CONTROL_BIT;
    header->has_delete_horizon = attributes & DELETE_HORIZON_BIT;
    header->base_timestamp = (int64_t)krc_be64(bytes + 27);
    header->max_timestamp = (int64_t)krc_be64(bytes + 35);
    header->producer_id = (int64_t)krc_be64(bytes + 43);
    header->producer_epoch = (int16_t)krc_be16(bytes + 51);
    header->base_sequence = (int32_t)krc_be32(bytes + 53);
    header->count = (int32_t)krc_be32(bytes + 57);
    if (last_delta < 0 || header->base_offset > INT64_MAX - 1 - last_delta)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "its last offset delta is %" PRId32, last_delta);
    header->last_offset = header->base_offset + last_delta;
    KRC_TRY(check_codec(header, error));
    KRC_TRY(check_count(header, last_delta, error));
    return 1;
}

static struct krc_batch_header bare_header(int64_t offset)
{
    return (struct krc_batch_header){
        .base_offset = offset,
        .last_offset = offset,
        .leader_epoch = -1,
        .base_sequence = -1,
        .producer_id = -1,
        .producer_epoch = -1,
        .base_timestamp = -1,
        .max_timestamp = -1,
    };
}

int krc_batch_parse(const uint8_t *bytes, size_t len, struct krc_batch_header *header,
                    krc_error *error)
{
    *header = bare_header(len < OFFSET_END ? -1 : (int64_t)krc_be64(bytes));
    if (len < KRC_BATCH_PREFIX)
        return 0;
    int32_t length = (int32_t)krc_be32(bytes + 8);
    if (length < MIN_V0 - KRC_BATCH_PREFIX || length > INT32_MAX - KRC_BATCH_PREFIX)
        return fail_size(header, length, error);
    header->size = length + KRC_BATCH_PREFIX;
    if (header->base_offset < 0 || header->base_offset == INT64_MAX)
        return krc_batch_fail(header, error, KRC_E_CORRUPT, "no batch lies at such an offset");
    if (len <= MAGIC_AT)
        return 0;
    header->magic = (int8_t)bytes[MAGIC_AT];
    if (header->magic > 2)
        return krc_batch_fail(header, error, KRC_E_UNSUPPORTED,
                              "its format, magic %d, is newer than this version of krc",
                              header->magic);
    if (header->magic < 0)
        return krc_batch_fail(header, error, KRC_E_CORRUPT, "there is no magic %d", header->magic);
    return header->magic == 2 ? parse_v2(bytes, len, header, error)
                              : parse_v01(bytes, len, header, error);
}

/*
 * Kafka 0.7, a message; the CRC-32 covers the payload only:
 *
 *      0  int32  length of all that follows
 *      4  int8   magic: 0, or 1 where attributes follow
 *      5  int8   attributes (magic 1 only): bits 0-1 codec, 1 gzip, 2 snappy
 *         uint32 crc
 *         payload
 */
enum {
    PREFIX_07 = 4,
    CRC_AT_07 = 5, /* one further where there are attributes */
    CODEC_MASK_07 = 0x03,
};

static int payload_at_07(const uint8_t *bytes)
{
    return CRC_AT_07 + 4 + (bytes[PREFIX_07] == 1);
}

int krc_batch_parse_07(const uint8_t *bytes, size_t len, int64_t offset,
                       struct krc_batch_header *header, krc_error *error)
{
    *header = bare_header(offset);
    header->magic = KRC_MAGIC_07;
    if (len < PREFIX_07)
        return 0;
    int32_t length = (int32_t)krc_be32(bytes);
    if (length < CRC_AT_07 || length > INT32_MAX - PREFIX_07)
        return fail_size(header, length, error);
    header->size = length + PREFIX_07;
    if (offset < 0 || offset > INT64_MAX - header->size)
        return krc_batch_fail(header, error, KRC_E_CORRUPT, "no message lies at such an offset");
    header->last_offset = offset + header->size - 1;
    if (len <= PREFIX_07)
        return 0;
    if (bytes[PREFIX_07] > 1)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "Kafka 0.7 has no magic %d: is this a log of that version?",
                              bytes[PREFIX_07]);
    if (header->size < payload_at_07(bytes))
        return fail_size(header, length, error);
    if (len < (size_t)payload_at_07(bytes))
        return 0;
    header->crc = krc_be32(bytes + payload_at_07(bytes) - 4);
    header->codec = bytes[PREFIX_07] == 1 ? bytes[5] & CODEC_MASK_07 : KRC_NONE;
    header->count = header->codec == KRC_NONE ? 1 : -1;
    if (header->codec > KRC_SNAPPY)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "Kafka 0.7 has no compression codec %d", header->codec);
    return 1;
}

int krc_batch_crc_from(const struct krc_batch_header *header, const uint8_t *bytes)
{
    return header->magic == 2              ? CRC_FROM_V2
           : header->magic == KRC_MAGIC_07 ? payload_at_07(bytes)
                                           : CRC_FROM_V01;
}

static uint32_t compute_crc(const uint8_t *bytes, const struct krc_batch_header *header)
{
    int from = krc_batch_crc_from(header, bytes);
    size_t len = (size_t)(header->size - from);
    return header->magic == 2 ? krc_crc32c(0, bytes + from, len) : krc_crc32(0, bytes + from, len);
}

int krc_batch_check_crc(const uint8_t *bytes, const struct krc_batch_header *header,
                        krc_error *error)
{
    uint32_t crc = compute_crc(bytes, header);
    if (crc == header->crc)
        return KRC_OK;
    return krc_batch_fail(header, error, KRC_E_CORRUPT,
                          "its checksum is 0x%08" PRIx32 ", but its bytes give 0x%08" PRIx32
                          ": they were damaged",
                          header->crc, crc);
}

bool krc_batch_shows_compaction(const struct krc_batch_header *h)
{
    return h->has_delete_horizon ||
           (h->magic == 2 && h->count <= h->last_offset - h->base_offset);
}

int krc_batch_control_type(const uint8_t *bytes, const struct krc_batch_header *header, int *type,
                           krc_error *error)
{
    *type = KRC_CONTROL_NONE;
    if (!header->control || header->count == 0)
        return KRC_OK;
    if (header->codec != KRC_NONE)
        return krc_batch_fail(header, error, KRC_E_CORRUPT, "a control batch is compressed");
    struct krc_cursor c = krc_cursor(bytes + KRC_BATCH_HEADER_V2,
                                     (size_t)(header->size - KRC_BATCH_HEADER_V2));
    krc_get_varint(&c);  /* the record's length */
    krc_get_i8(&c);      /* attributes */
    krc_get_varlong(&c); /* timestamp delta */
    krc_get_varint(&c);  /* offset delta */
    int32_t key_len = krc_get_varint(&c);
    int16_t version = krc_get_i16(&c);
    uint16_t number = (uint16_t)krc_get_i16(&c);
    if (c.failed || key_len < 4)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "its control record's key is too short to tell a type");
    if (version < 0)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "its control record's key has version %d", version);
    *type = number;
    return KRC_OK;
}
