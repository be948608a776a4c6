/*
 * Each batch's CRC is checked, it is decompressed with the same libraries as krc uses, each
 * record's fields are decoded without a check, and what the checksum takes is taken.  No
 * transactions, no events, no account; producer 2's batches are known to be aborted.
 */
#include "bench/decode.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "records/codec.h"

static inline int64_t varint(const uint8_t **p)
{
    uint64_t v = 0;
    int shift = 0;
    uint8_t byte;
    do {
        byte = *(*p)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte >= 0x80);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static void decode_records(struct checksum *checksum, const uint8_t *p, int32_t count,
                           int64_t base_offset, int64_t base_timestamp)
{
    for (int32_t i = 0; i < count; i++) {
        int64_t len = varint(&p);
        const uint8_t *next = p + len;
        p++;
        int64_t timestamp = base_timestamp + varint(&p);
        int64_t offset = base_offset + varint(&p);
        int64_t key_len = varint(&p);
        p += key_len > 0 ? key_len : 0;
        int64_t value_len = varint(&p);
        checksum_add(checksum, offset, timestamp, (size_t)(key_len > 0 ? key_len : 0), p,
                     (size_t)(value_len > 0 ? value_len : 0));
        p = next;
    }
}

static void decode_batch(struct decoder *decoder, const uint8_t *p, size_t size)
{
    uint16_t attributes = krc_be16(p + 21);
    if (krc_crc32c(0, p + 21, size - 21) != krc_be32(p + 17))
        abort();
    if ((attributes & 0x20) || krc_be64(p + 43) == 2)
        return;
    struct krc_bytes records = {p + 61, size - 61};
    if (attributes & 7) {
        if (krc_decompress(decoder->codecs, attributes & 7, 2, records, 1 << 28,
                           &decoder->scratch, NULL, NULL) != KRC_OK)
            abort();
        records.data = decoder->scratch.data;
    }
    decode_records(&decoder->checksum, records.data, (int32_t)krc_be32(p + 57),
                   (int64_t)krc_be64(p), (int64_t)krc_be64(p + 27));
}

size_t decode_batches(struct decoder *decoder, const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (size - at >= 61) {
        size_t batch = 12 + (size_t)krc_be32(data + at + 8);
        if (batch > size - at)
            break;
        decode_batch(decoder, data + at, batch);
        at += batch;
    }
    return at;
}
