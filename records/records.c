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
 *
 * It is read twice: check_record trusts nothing and keeps only what orders the records, next_v2
 * trusts it all and makes the views.  Cursors go by value, for one whose address is known
 * elsewhere would live in memory, which doubles the time a record takes.
 */

/* A varint and where it ends: NULL where it does not. */
struct number {
    const uint8_t *next;
    int64_t value;
};

/* A number of three bytes or more, or none at all.  What does not fit its bits is none. */
static struct number long_varint(const uint8_t *p, const uint8_t *end, int bits)
{
    struct krc_cursor c = {.p = p, .end = end};
    uint64_t v = krc_get_unsigned_varint(&c, bits == 32 ? 5 : 10);
    bool fits = !c.failed && (bits == 64 || v <= UINT32_MAX);
    return (struct number){fits ? c.p : NULL, (int64_t)(v >> 1) ^ -(int64_t)(v & 1)};
}

/* Nearly all numbers are one byte long, and lengths often two. */
static inline struct number varint(const uint8_t *p, const uint8_t *end, int bits)
{
    if (p < end && p[0] < 0x80) {
        int64_t v = p[0];
        return (struct number){p + 1, v >> 1 ^ -(v & 1)};
    }
    if (end - p >= 2 && p[1] < 0x80) {
        int64_t v = (p[0] & 0x7f) | p[1] << 7;
        return (struct number){p + 2, v >> 1 ^ -(v & 1)};
    }
    return long_varint(p, end, bits);
}

/* The end of bytes with their length before them, which is `least` or more. */
static inline const uint8_t *skip_bytes(const uint8_t *p, const uint8_t *end, int least)
{
    struct number len = varint(p, end, 32);
    if (len.next == NULL || len.value < least || len.value > end - len.next)
        return NULL;
    return len.next + (len.value > 0 ? len.value : 0);
}

static inline const uint8_t *skip_headers(const uint8_t *p, const uint8_t *end, int64_t count)
{
    for (int64_t i = 0; i < count && p != NULL; i++) {
        p = skip_bytes(p, end, 0);
        p = p == NULL ? NULL : skip_bytes(p, end, -1);
    }
    return p;
}

struct deltas {
    int64_t offset, timestamp;
};

/* Returns where the next record begins; NULL, and what is `wrong` with this one.  Inlined by
 * force: a function would hand its results over in memory. */
__attribute__((always_inline)) static inline const uint8_t *
check_record(const uint8_t *p, const uint8_t *end, struct deltas *deltas, const char **wrong)
{
    *wrong = "a wrong length";
    struct number n = varint(p, end, 32);
    if (n.next == NULL || n.value < 1 || n.value > end - n.next)
        return NULL;
    end = n.next + n.value;
    *wrong = "a wrong timestamp";
    n = varint(n.next + 1, end, 64); /* behind the attributes */
    if (n.next == NULL)
        return NULL;
    deltas->timestamp = n.value;
    *wrong = "a wrong offset";
    n = varint(n.next, end, 32);
    if (n.next == NULL)
        return NULL;
    deltas->offset = n.value;
    *wrong = "a wrong key length";
    p = skip_bytes(n.next, end, -1);
    if (p == NULL)
        return NULL;
    *wrong = "a wrong value length";
    p = skip_bytes(p, end, -1);
    if (p == NULL)
        return NULL;
    *wrong = "a wrong header count";
    n = varint(p, end, 32);
    if (n.next == NULL || n.value < 0)
        return NULL;
    *wrong = "headers that do not fill its length";
    return skip_headers(n.next, end, n.value) == end ? end : NULL;
}

/* The same of bytes that check_record has seen. */
static inline const uint8_t *known_varint(const uint8_t *p, int64_t *value)
{
    uint64_t v = *p & 0x7f;
    for (int shift = 7; *p++ >= 0x80; shift += 7)
        v |= (uint64_t)(*p & 0x7f) << shift;
    *value = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
    return p;
}

static inline const uint8_t *known_bytes(const uint8_t *p, struct krc_bytes *bytes)
{
    int64_t len;
    p = known_varint(p, &len);
    if (len < 0) {
        *bytes = (struct krc_bytes){0};
        return p;
    }
    *bytes = (struct krc_bytes){p, (size_t)len};
    return p + len;
}

bool krc_header_next(struct krc_bytes *rest, struct krc_header *header)
{
    if (rest->len == 0)
        return false;
    const uint8_t *p = known_bytes(rest->data, &header->key);
    p = known_bytes(p, &header->value);
    rest->len -= (size_t)(p - rest->data);
    rest->data = p;
    return true;
}

/* Of the batch's base and a delta, which together may be nonsense but no undefined behaviour. */
static inline int64_t timestamp_of(const struct krc_records *records, int64_t delta)
{
    if (records->timestamp_type == KRC_LOG_APPEND_TIME)
        return records->header.max_timestamp;
    return (int64_t)((uint64_t)records->header.base_timestamp + (uint64_t)delta);
}

static int fail_record(const struct krc_batch_header *header, int32_t index, int64_t after_delta,
                       const char *what, krc_error *error)
{
    return krc_batch_fail(header, error, KRC_E_CORRUPT,
                          "record %" PRId32 " of %" PRId32 ", behind offset %" PRId64 ", has %s",
                          index + 1, header->count, header->base_offset + after_delta, what);
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
    const uint8_t *p = records->start, *end = records->end;
    int64_t last_delta = header->last_offset - header->base_offset;
    int64_t first = 0, at = -1, latest = -1;
    for (int32_t i = 0; i < header->count; i++) {
        struct deltas delta;
        const char *wrong;
        p = check_record(p, end, &delta, &wrong);
        if (p == NULL)
            return fail_record(header, i, at, wrong, error);
        if (delta.offset <= at || delta.offset > last_delta)
            return fail_record(header, i, at, "an offset out of order", error);
        at = delta.offset;
        if (i == 0)
            first = at;
        int64_t timestamp = timestamp_of(records, delta.timestamp);
        latest = timestamp > latest ? timestamp : latest;
    }
    if (p != end)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "%zu bytes lie behind its %" PRId32 " records", (size_t)(end - p),
                              header->count);
    records->count = header->count;
    records->first_offset = header->base_offset + first;
    records->last_offset = header->base_offset + at;
    records->max_timestamp = latest;
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
    int64_t len, timestamp, offset, headers;
    const uint8_t *p = known_varint(records->p, &len);
    const uint8_t *end = p + len;
    p = known_varint(p + 1, &timestamp);
    p = known_varint(p, &offset);
    p = known_bytes(p, &record->key);
    p = known_bytes(p, &record->value);
    p = known_varint(p, &headers);
    record->offset = records->header.base_offset + offset;
    record->timestamp_ms = timestamp_of(records, timestamp);
    record->leader_epoch = records->header.leader_epoch;
    record->header_count = (int32_t)headers;
    record->headers = (struct krc_bytes){p, (size_t)(end - p)};
    records->p = end;
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
