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
 * Records are read, checked and viewed in one go.  The views of the first KRC_VIEWS of a batch are
 * kept for krc_records_next, which reads the others again.  Numbers and their ends go by value, for
 * one whose address is known elsewhere would live in memory, which doubles the time a record takes.
 */

/* A number as it is written, zig-zag: v at 2v, and a negative one at 2(-v)-1, which is odd; and
 * where it ends, NULL where it does not. */
struct number {
    const uint8_t *next;
    uint64_t raw;
};

static inline int64_t value_of(struct number n)
{
    return (int64_t)(n.raw >> 1) ^ -(int64_t)(n.raw & 1);
}

/* A number that may not be negative. */
static inline bool is_count(struct number n)
{
    return n.next != NULL && (n.raw & 1) == 0;
}

/* A number of three bytes or more, or none at all.  What does not fit its bits is none. */
static struct number long_varint(const uint8_t *p, const uint8_t *end, int bits)
{
    struct krc_cursor c = {.p = p, .end = end};
    uint64_t raw = krc_get_unsigned_varint(&c, bits == 32 ? 5 : 10);
    bool fits = !c.failed && (bits == 64 || raw <= UINT32_MAX);
    return (struct number){fits ? c.p : NULL, raw};
}

/* Nearly all numbers are one byte long, and lengths often two. */
static inline struct number varint(const uint8_t *p, const uint8_t *end, int bits)
{
    if (end - p < 2 || (p[0] & p[1] & 0x80) != 0)
        return long_varint(p, end, bits);
    if (p[0] < 0x80)
        return (struct number){p + 1, p[0]};
    return (struct number){p + 2, (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7};
}

/* Bytes with their length before them, -1 for none; and where they end. */
struct bytes {
    const uint8_t *next;
    struct krc_bytes view;
};

static inline struct bytes nullable_bytes(const uint8_t *p, const uint8_t *end)
{
    struct number len = varint(p, end, 32);
    if (len.raw == 1)
        return (struct bytes){.next = len.next};
    if (!is_count(len) || len.raw >> 1 > (uint64_t)(end - len.next))
        return (struct bytes){0};
    return (struct bytes){len.next + (len.raw >> 1), {len.next, len.raw >> 1}};
}

static const uint8_t *skip_headers(const uint8_t *p, const uint8_t *end, uint64_t count)
{
    for (uint64_t i = 0; i < count && p != NULL; i++) {
        struct bytes key = nullable_bytes(p, end);
        p = key.view.data == NULL ? NULL : nullable_bytes(key.next, end).next;
    }
    return p;
}

/* What a batch's records are relative to. */
struct base {
    int64_t offset, timestamp, append_time;
    int32_t leader_epoch;
    bool is_append_time;
};

static struct base base_of(const struct krc_batch_header *header)
{
    return (struct base){header->base_offset, header->base_timestamp, header->max_timestamp,
                         header->leader_epoch, header->timestamp_type == KRC_LOG_APPEND_TIME};
}

/* Of the base and a delta, which together may be nonsense but no undefined behaviour; as an offset
 * below. */
static inline int64_t timestamp_of(const struct base *base, struct number delta)
{
    if (base->is_append_time)
        return base->append_time;
    return (int64_t)((uint64_t)base->timestamp + (uint64_t)value_of(delta));
}

/* Returns where the next record begins; NULL, and what is `wrong` with this one.  Inlined by
 * force: a function would hand its results over in memory. */
__attribute__((always_inline)) static inline const uint8_t *
read_record(const struct base *base, const uint8_t *p, const uint8_t *end,
            struct krc_record *record, const char **wrong)
{
    *wrong = "a wrong length";
    struct number n = varint(p, end, 32);
    if (!is_count(n) || n.raw == 0 || n.raw >> 1 > (uint64_t)(end - n.next))
        return NULL;
    end = n.next + (n.raw >> 1);
    *wrong = "a wrong timestamp";
    n = varint(n.next + 1, end, 64); /* behind the attributes */
    if (n.next == NULL)
        return NULL;
    record->timestamp_ms = timestamp_of(base, n);
    *wrong = "a wrong offset";
    n = varint(n.next, end, 32);
    if (n.next == NULL)
        return NULL;
    record->offset = (int64_t)((uint64_t)base->offset + (uint64_t)value_of(n));
    record->leader_epoch = base->leader_epoch;
    *wrong = "a wrong key length";
    struct bytes bytes = nullable_bytes(n.next, end);
    if (bytes.next == NULL)
        return NULL;
    record->key = bytes.view;
    *wrong = "a wrong value length";
    bytes = nullable_bytes(bytes.next, end);
    if (bytes.next == NULL)
        return NULL;
    record->value = bytes.view;
    if (end - bytes.next == 1 && *bytes.next == 0) { /* no headers, as nearly always */
        record->header_count = 0;
        record->headers = (struct krc_bytes){end, 0};
        return end;
    }
    *wrong = "a wrong header count";
    n = varint(bytes.next, end, 32);
    if (!is_count(n))
        return NULL;
    record->header_count = (int32_t)(n.raw >> 1);
    record->headers = (struct krc_bytes){n.next, (size_t)(end - n.next)};
    *wrong = "headers that do not fill its length";
    return skip_headers(n.next, end, n.raw >> 1) == end ? end : NULL;
}

bool krc_header_next(struct krc_bytes *rest, struct krc_header *header)
{
    if (rest->len == 0)
        return false;
    const uint8_t *end = rest->data + rest->len;
    struct bytes key = nullable_bytes(rest->data, end), value = nullable_bytes(key.next, end);
    *header = (struct krc_header){key.view, value.view};
    *rest = (struct krc_bytes){value.next, (size_t)(end - value.next)};
    return true;
}

static int fail_record(const struct krc_batch_header *header, int32_t index, int64_t after,
                       const char *what, krc_error *error)
{
    return krc_batch_fail(header, error, KRC_E_CORRUPT,
                          "record %" PRId32 " of %" PRId32 ", behind offset %" PRId64 ", has %s",
                          index + 1, header->count, after, what);
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

static int read_all(struct krc_records *records, struct krc_record *views, int32_t kept,
                    krc_error *error)
{
    const struct krc_batch_header *header = &records->header;
    const struct base base = base_of(header);
    const uint8_t *p = records->start, *end = records->end;
    int64_t at = header->base_offset - 1, latest = -1;
    struct krc_record other, *record = views;
    for (int32_t i = 0; i < header->count; i++) {
        const char *wrong;
        p = read_record(&base, p, end, record, &wrong);
        if (p == NULL)
            return fail_record(header, i, at, wrong, error);
        if (record->offset <= at || record->offset > header->last_offset)
            return fail_record(header, i, at, "an offset out of order", error);
        at = record->offset;
        latest = record->timestamp_ms > latest ? record->timestamp_ms : latest;
        record = i + 1 < kept ? record + 1 : &other;
    }
    if (p != end)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "%zu bytes lie behind its %" PRId32 " records", (size_t)(end - p),
                              header->count);
    records->views = views;
    records->viewed = kept;
    records->start = views[kept - 1].headers.data + views[kept - 1].headers.len;
    records->count = header->count;
    records->first_offset = views[0].offset;
    records->last_offset = at;
    records->max_timestamp = latest;
    return KRC_OK;
}

/* Room for views in the scratch, behind what was decompressed into it, which may move. */
static int make_room(struct krc_records *records, int32_t kept, struct krc_buffer *scratch,
                     struct krc_record **views, krc_error *error)
{
    bool unpacked = records->header.codec != KRC_NONE;
    size_t align = _Alignof(struct krc_record);
    size_t used = unpacked ? (scratch->len + align - 1) / align * align : 0;
    size_t needed = used + (size_t)kept * sizeof **views;
    KRC_TRY(krc_buffer_reserve_within(scratch, needed, needed, error));
    if (unpacked) {
        records->start = scratch->data;
        records->end = scratch->data + scratch->len;
    }
    *views = (void *)(scratch->data + used);
    return KRC_OK;
}

static int open_v2(struct krc_records *records, const uint8_t *bytes, const struct krc_unpack *to,
                   krc_error *error)
{
    const struct krc_batch_header *header = &records->header;
    struct krc_bytes in = {bytes + KRC_BATCH_HEADER_V2,
                           (size_t)(header->size - KRC_BATCH_HEADER_V2)};
    int32_t kept = header->count < KRC_VIEWS ? header->count : KRC_VIEWS;
    struct krc_record *views;
    if (header->count == 0)
        return KRC_OK;
    KRC_TRY(krc_records_unpack(records, in, to, error));
    KRC_TRY(make_room(records, kept, to->scratch, &views, error));
    return read_all(records, views, kept, error);
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

static void next_v2(struct krc_records *records, struct krc_record *record)
{
    const struct base base = base_of(&records->header);
    const char *wrong; /* nothing is: it was read before */
    records->p = read_record(&base, records->p, records->end, record, &wrong);
}

bool krc_records_next(struct krc_records *records, struct krc_record *record)
{
    if (records->left == 0)
        return false;
    int32_t index = records->count - records->left--;
    if (index < records->viewed)
        *record = records->views[index];
    else if (records->header.magic == 2)
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
