#include "records/records.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "records/formats.h"

/*
 * A record of magic 2; all numbers but the attributes are zig-zag varints:
 *
 *     length            of all that follows
 *     attributes        int8, unused
 *     timestamp delta   to the batch's base timestamp, 64 bits
 *     offset delta      to the batch's base offset
 *     key length        -1: null
 *     key
 *     value length      -1: null
 *     value
 *     header count
 *     headers           key length, key, value length (-1: null), value; each
 */
struct fields {
    int64_t timestamp_delta;
    int32_t offset_delta;
    int32_t header_count;
    struct krc_bytes key, value, headers;
};

/* A number of more than one byte, or none at all. */
static bool long_varint(struct krc_cursor *c, int64_t *value, int bits)
{
    *value = bits == 32 ? krc_get_varint(c) : krc_get_varlong(c);
    return !c->failed;
}

/* Nearly all numbers are one byte long. */
static inline bool get_varint(struct krc_cursor *c, int64_t *value, int bits)
{
    if (c->p < c->end && *c->p < 0x80) {
        int64_t v = *c->p++;
        *value = v >> 1 ^ -(v & 1);
        return true;
    }
    return long_varint(c, value, bits);
}

/* Null only for the length -1: nothing shorter, nothing beyond the end. */
static inline bool get_bytes(struct krc_cursor *c, struct krc_bytes *bytes)
{
    int64_t len;
    if (!get_varint(c, &len, 32) || len < -1 || len > c->end - c->p)
        return false;
    *bytes = len < 0 ? (struct krc_bytes){0} : (struct krc_bytes){c->p, (size_t)len};
    c->p += bytes->len;
    return true;
}

/* Reads a record up to its headers; NULL, or what is wrong with it. */
static inline const char *get_fields(struct krc_cursor *c, struct fields *f)
{
    int64_t len, delta, count;
    if (!get_varint(c, &len, 32) || len < 0 || len > c->end - c->p)
        return "a wrong length";
    struct krc_cursor body = {.p = c->p, .end = c->p + len};
    c->p = body.end;
    if (body.p++ == body.end || !get_varint(&body, &f->timestamp_delta, 64))
        return "a wrong timestamp";
    if (!get_varint(&body, &delta, 32))
        return "a wrong offset";
    if (!get_bytes(&body, &f->key))
        return "a wrong key length";
    if (!get_bytes(&body, &f->value))
        return "a wrong value length";
    if (!get_varint(&body, &count, 32) || count < 0)
        return "a wrong header count";
    f->offset_delta = (int32_t)delta;
    f->header_count = (int32_t)count;
    f->headers = (struct krc_bytes){body.p, (size_t)(body.end - body.p)};
    return NULL;
}

static inline bool get_header(struct krc_cursor *c, struct krc_header *header)
{
    return get_bytes(c, &header->key) && header->key.data != NULL && get_bytes(c, &header->value);
}

static bool headers_are_whole(const struct fields *f)
{
    struct krc_cursor c = krc_cursor(f->headers.data, f->headers.len);
    struct krc_header header;
    for (int32_t i = 0; i < f->header_count; i++)
        if (!get_header(&c, &header))
            return false;
    return c.p == c.end;
}

bool krc_header_next(struct krc_bytes *rest, struct krc_header *header)
{
    struct krc_cursor c = {.p = rest->data, .end = rest->data + rest->len};
    if (rest->len == 0 || !get_header(&c, header))
        return false;
    *rest = (struct krc_bytes){c.p, (size_t)(c.end - c.p)};
    return true;
}

/* Of the batch's base and a delta, which together may be nonsense but no undefined behaviour. */
static inline int64_t timestamp_of(const struct krc_records *records, int64_t delta)
{
    if (records->timestamp_type == KRC_LOG_APPEND_TIME)
        return records->header.max_timestamp;
    return (int64_t)((uint64_t)records->header.base_timestamp + (uint64_t)delta);
}

static int fail_record(const struct krc_records *records, const char *what, krc_error *error)
{
    int64_t after = records->count > 0 ? records->last_offset : records->header.base_offset - 1;
    return krc_batch_fail(&records->header, error, KRC_E_CORRUPT,
                          "record %" PRId32 " of %" PRId32 " (after offset %" PRId64 ") has %s",
                          records->count + 1, records->header.count, after, what);
}

void krc_records_count(struct krc_records *records, int64_t offset, int64_t timestamp)
{
    if (records->count == 0)
        records->first_offset = offset;
    records->last_offset = offset;
    records->count++;
    if (timestamp > records->max_timestamp)
        records->max_timestamp = timestamp;
}

static int check_v2(struct krc_records *records, krc_error *error)
{
    const struct krc_batch_header *header = &records->header;
    struct krc_cursor c = {.p = records->start, .end = records->end};
    int64_t last_delta = header->last_offset - header->base_offset;
    int64_t lowest = 0;
    for (int32_t i = 0; i < header->count; i++) {
        struct fields f;
        const char *wrong = get_fields(&c, &f);
        if (wrong != NULL)
            return fail_record(records, wrong, error);
        if (f.offset_delta < lowest || f.offset_delta > last_delta)
            return fail_record(records, "an offset out of order", error);
        if ((f.header_count > 0 || f.headers.len > 0) && !headers_are_whole(&f))
            return fail_record(records, "headers that do not fill its length", error);
        lowest = (int64_t)f.offset_delta + 1;
        krc_records_count(records, header->base_offset + f.offset_delta,
                          timestamp_of(records, f.timestamp_delta));
    }
    if (c.p != c.end)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "%zu bytes lie behind its %" PRId32 " records", krc_left(&c),
                              header->count);
    return KRC_OK;
}

static int open_v2(struct krc_records *records, const uint8_t *bytes, const struct krc_unpack *to,
                   krc_error *error)
{
    if (records->header.count == 0)
        return KRC_OK;
    struct krc_bytes in = {bytes + KRC_BATCH_HEADER_V2,
                           (size_t)(records->header.size - KRC_BATCH_HEADER_V2)};
    KRC_TRY(krc_records_unpack(records, in, to, error));
    return check_v2(records, error);
}

int krc_records_unpack(struct krc_records *records, struct krc_bytes in,
                       const struct krc_unpack *to, krc_error *error)
{
    const struct krc_batch_header *header = &records->header;
    if (header->codec != KRC_NONE) {
        krc_error why;
        int rc = krc_decompress(to->codecs, header->codec, header->magic, in, to->limit,
                                to->scratch, &records->trailing, &why);
        if (rc < 0)
            return krc_batch_fail(header, error, rc, "%s", why.message);
        in = (struct krc_bytes){to->scratch->data, to->scratch->len};
    }
    records->start = in.data;
    records->end = in.data + in.len;
    return KRC_OK;
}

static void rewind_walk(struct krc_records *records)
{
    records->p = records->start;
    records->left = records->count;
}

int krc_records_open(struct krc_records *records, const uint8_t *bytes,
                     const struct krc_batch_header *header, struct krc_codecs *codecs,
                     size_t limit, struct krc_buffer *scratch, krc_error *error)
{
    struct krc_unpack to = {codecs, limit, scratch};
    *records = (struct krc_records){
        .max_timestamp = -1, .timestamp_type = header->timestamp_type, .header = *header};
    if (header->magic == 2)
        KRC_TRY(open_v2(records, bytes, &to, error));
    else if (header->magic == KRC_MAGIC_07)
        KRC_TRY(krc_legacy_07_open(records, bytes, &to, error));
    else
        KRC_TRY(krc_legacy_open(records, bytes, &to, error));
    rewind_walk(records);
    return KRC_OK;
}

static inline void next_v2(struct krc_records *records, struct krc_record *record)
{
    struct krc_cursor c = {.p = records->p, .end = records->end};
    struct fields f;
    get_fields(&c, &f); /* check_v2 has seen that it cannot fail */
    records->p = c.p;
    record->offset = records->header.base_offset + f.offset_delta;
    record->timestamp_ms = timestamp_of(records, f.timestamp_delta);
    record->leader_epoch = records->header.leader_epoch;
    record->header_count = f.header_count;
    record->key = f.key;
    record->value = f.value;
    record->headers = f.headers;
}

bool krc_records_next(struct krc_records *records, struct krc_record *record)
{
    if (records->left == 0)
        return false;
    records->left--;
    if (records->header.magic == 2)
        next_v2(records, record);
    else if (records->header.magic == KRC_MAGIC_07)
        krc_legacy_07_next(records, record);
    else
        krc_legacy_next(records, record);
    return true;
}

int32_t krc_records_count_between(const struct krc_records *records, int64_t from, int64_t to)
{
    if (records->count == 0 || to <= records->first_offset || from > records->last_offset)
        return 0;
    if (from <= records->first_offset && to > records->last_offset)
        return records->count;
    struct krc_records walk = *records;
    struct krc_record record;
    int32_t n = 0;
    rewind_walk(&walk);
    while (krc_records_next(&walk, &record))
        n += record.offset >= from && record.offset < to;
    return n;
}
