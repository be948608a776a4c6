#include "tests/support/build.h"

#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#ifdef KRC_WITH_SNAPPY
#include <snappy-c.h>
#endif

#include "base/bytes.h"
#include "base/crc.h"

static void must(bool ok)
{
    if (!ok)
        abort();
}

struct krc_bytes build_text(const char *text)
{
    return (struct krc_bytes){(const uint8_t *)text, strlen(text)};
}

void build_append(struct krc_buffer *out, const void *data, size_t len)
{
    must(krc_buffer_append(out, data, len, NULL) == KRC_OK);
}

void build_int(struct krc_buffer *out, int64_t value, int bytes)
{
    uint8_t be[8];
    krc_put_be64(be, (uint64_t)value);
    build_append(out, be + 8 - bytes, (size_t)bytes);
}

void build_varint(struct krc_buffer *out, int64_t value)
{
    uint64_t v = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    do {
        uint8_t byte = (uint8_t)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0));
        build_append(out, &byte, 1);
        v >>= 7;
    } while (v > 0);
}

static size_t gzip_to(uint8_t *to, size_t room, struct krc_bytes in)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)in.data, .avail_in = (uInt)in.len,
                  .next_out = to, .avail_out = (uInt)room};
    must(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    must(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

static size_t snappy_to(uint8_t *to, size_t room, struct krc_bytes in)
{
#ifdef KRC_WITH_SNAPPY
    must(snappy_compress((const char *)in.data, in.len, (char *)to, &room) == SNAPPY_OK);
    return room;
#else
    (void)to, (void)in;
    must(room == 0); /* tests that need snappy are left out of builds without */
    return 0;
#endif
}

void build_compress(struct krc_buffer *out, int codec, struct krc_bytes in)
{
    size_t room = in.len + in.len / 2 + 1024, n = 0;
    must(krc_buffer_reserve(out, out->len + room, NULL) == KRC_OK);
    uint8_t *to = out->data + out->len;
    if (codec == KRC_NONE)
        memcpy(to, in.data, n = in.len);
    else if (codec == KRC_GZIP)
        n = gzip_to(to, room, in);
    else if (codec == KRC_SNAPPY)
        n = snappy_to(to, room, in);
    else if (codec == KRC_LZ4)
        n = LZ4F_compressFrame(to, room, in.data, in.len, NULL);
    else
        n = ZSTD_compress(to, room, in.data, in.len, 3);
    must(n <= room);
    out->len += n;
}

static void append_bytes(struct krc_buffer *out, struct krc_bytes bytes)
{
    build_varint(out, bytes.data == NULL ? -1 : (int64_t)bytes.len);
    build_append(out, bytes.data, bytes.len);
}

static void append_record(struct krc_buffer *out, const struct build_record *record)
{
    struct krc_buffer body = {0};
    build_int(&body, 0, 1);
    build_varint(&body, record->timestamp_delta);
    build_varint(&body, record->offset_delta);
    append_bytes(&body, record->key);
    append_bytes(&body, record->value);
    build_varint(&body, record->header_count);
    for (int32_t i = 0; i < record->header_count; i++) {
        append_bytes(&body, record->headers[i].key);
        append_bytes(&body, record->headers[i].value);
    }
    build_varint(out, (int64_t)body.len);
    build_append(out, body.data, body.len);
    krc_buffer_free(&body);
}

void build_records(struct krc_buffer *out, const struct build_record *records, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        append_record(out, &records[i]);
}

static int attributes_of(const struct build_batch *batch)
{
    return batch->codec | batch->log_append_time << 3 | batch->transactional << 4 |
           batch->control << 5 | batch->delete_horizon << 6;
}

void build_batch_of(struct krc_buffer *out, const struct build_batch *batch,
                    struct krc_bytes payload)
{
    int32_t last = batch->count > 0 && batch->records != NULL
                       ? batch->records[batch->count - 1].offset_delta
                       : 0;
    bool has_producer = batch->producer_id != 0;
    size_t start = out->len;
    build_int(out, batch->base_offset, 8);
    build_int(out, (int64_t)payload.len + KRC_BATCH_HEADER_V2 - KRC_BATCH_PREFIX, 4);
    build_int(out, batch->leader_epoch, 4);
    build_int(out, 2, 1);
    build_int(out, 0, 4);
    build_int(out, attributes_of(batch), 2);
    build_int(out, batch->last_delta > last ? batch->last_delta : last, 4);
    build_int(out, batch->base_timestamp, 8);
    build_int(out, batch->max_timestamp, 8);
    build_int(out, has_producer ? batch->producer_id : -1, 8);
    build_int(out, has_producer ? batch->producer_epoch : -1, 2);
    build_int(out, has_producer ? batch->base_sequence : -1, 4);
    build_int(out, batch->count, 4);
    build_append(out, payload.data, payload.len);
    build_fix_crc(out->data + start);
}

void build_batch(struct krc_buffer *out, const struct build_batch *batch)
{
    struct krc_buffer plain = {0}, payload = {0};
    build_records(&plain, batch->records, batch->count);
    if (batch->count > 0)
        build_compress(&payload, batch->codec, (struct krc_bytes){plain.data, plain.len});
    build_batch_of(out, batch, (struct krc_bytes){payload.data, payload.len});
    krc_buffer_free(&plain);
    krc_buffer_free(&payload);
}

void build_plain_batch(struct krc_buffer *out, const struct build_batch *batch, int32_t count)
{
    struct build_batch b = *batch;
    struct build_record *records = calloc((size_t)count, sizeof *records);
    char(*text)[2][24] = calloc((size_t)count, sizeof *text);
    must(records != NULL && text != NULL);
    for (int32_t i = 0; i < count; i++) {
        snprintf(text[i][0], sizeof text[i][0], "k%lld", (long long)batch->base_offset + i);
        snprintf(text[i][1], sizeof text[i][1], "v%lld", (long long)batch->base_offset + i);
        records[i] = (struct build_record){.offset_delta = i, .key = build_text(text[i][0]),
                                           .value = build_text(text[i][1])};
    }
    b.records = records;
    b.count = count;
    build_batch(out, &b);
    free(records);
    free(text);
}

void build_marker(struct krc_buffer *out, int64_t offset, int64_t producer_id,
                  int16_t producer_epoch, int type)
{
    const uint8_t key[] = {0, 0, 0, (uint8_t)type};
    const uint8_t value[6] = {0};
    struct build_record record = {.key = {key, sizeof key}, .value = {value, sizeof value}};
    struct build_batch batch = {.base_offset = offset,
                                .transactional = true,
                                .control = true,
                                .producer_id = producer_id,
                                .producer_epoch = producer_epoch,
                                .base_sequence = -1,
                                .records = &record,
                                .count = 1};
    build_batch(out, &batch);
}

static void append_bytes32(struct krc_buffer *out, struct krc_bytes bytes)
{
    build_int(out, bytes.data == NULL ? -1 : (int64_t)bytes.len, 4);
    build_append(out, bytes.data, bytes.len);
}

void build_message(struct krc_buffer *out, int magic, int64_t offset, int64_t timestamp,
                   int attributes, struct krc_bytes key, struct krc_bytes value)
{
    size_t start = out->len;
    build_int(out, offset, 8);
    build_int(out, (magic == 1 ? 22 : 14) + (int64_t)(key.len + value.len), 4);
    build_int(out, 0, 4);
    build_int(out, magic, 1);
    build_int(out, attributes, 1);
    if (magic == 1)
        build_int(out, timestamp, 8);
    append_bytes32(out, key);
    append_bytes32(out, value);
    build_fix_crc(out->data + start);
}

void build_wrapper(struct krc_buffer *out, int magic, int64_t offset, int64_t timestamp,
                   int attributes, struct krc_bytes set)
{
    struct krc_buffer value = {0};
    build_compress(&value, attributes & 7, set);
    build_message(out, magic, offset, timestamp, attributes, (struct krc_bytes){0},
                  (struct krc_bytes){value.data, value.len});
    krc_buffer_free(&value);
}

void build_message_07(struct krc_buffer *out, int codec, struct krc_bytes payload)
{
    struct krc_buffer packed = {0};
    build_compress(&packed, codec, payload);
    bool has_attributes = codec != KRC_NONE;
    build_int(out, 5 + has_attributes + (int64_t)packed.len, 4);
    build_int(out, has_attributes, 1);
    if (has_attributes)
        build_int(out, codec, 1);
    build_int(out, krc_crc32(0, packed.data, packed.len), 4);
    build_append(out, packed.data, packed.len);
    krc_buffer_free(&packed);
}

void build_fix_crc(uint8_t *batch)
{
    size_t size = krc_be32(batch + 8) + KRC_BATCH_PREFIX;
    if (batch[16] == 2)
        krc_put_be32(batch + 17, krc_crc32c(0, batch + 21, size - 21));
    else
        krc_put_be32(batch + 12, krc_crc32(0, batch + 16, size - 16));
}
