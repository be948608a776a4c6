#include "records/formats.h"

#include <inttypes.h>

#include "base/bytes.h"

/*
 * Magic 0 and 1.  A segment holds messages, each with an offset and a length before it (batch.c
 * has the layout); a compressed one's value is a set of further messages of the same shape.  So a
 * message alone is read as a set of one.
 */
enum { BODY_V0 = 18, BODY_V1 = 26 };

static const uint8_t *body_of(const uint8_t *message)
{
    return message + (message[16] == 1 ? BODY_V1 : BODY_V0);
}

/* int32 length, -1 for null, and bytes */
static struct krc_bytes get_bytes(struct krc_cursor *c)
{
    int32_t len = krc_get_i32(c);
    if (len < -1)
        c->failed = true;
    if (len < 0 || c->failed)
        return (struct krc_bytes){0};
    return (struct krc_bytes){krc_take(c, (size_t)len), (size_t)len};
}

/* The key and value of a message, which they fill exactly. */
static bool get_key_and_value(const uint8_t *message, int32_t size, struct krc_bytes *key,
                              struct krc_bytes *value)
{
    const uint8_t *body = body_of(message);
    struct krc_cursor c = krc_cursor(body, (size_t)(message + size - body));
    *key = get_bytes(&c);
    *value = get_bytes(&c);
    return !c.failed && krc_left(&c) == 0;
}

/* Reads and checks the header of the message at `p` inside the wrapper. */
static int check_inner(const struct krc_records *records, const uint8_t *p,
                       struct krc_batch_header *inner, krc_error *error)
{
    const struct krc_batch_header *outer = &records->header;
    size_t left = (size_t)(records->end - p);
    struct krc_bytes key, value;
    int rc = krc_batch_parse(p, left, inner, error);
    if (rc < 0)
        return rc;
    if (rc == 0 || (size_t)inner->size > left)
        return krc_fail(error, KRC_E_CORRUPT, "it ends in the middle of a message");
    if (inner->magic != outer->magic)
        return krc_fail(error, KRC_E_CORRUPT, "a message of magic %d lies in one of magic %d",
                        inner->magic, outer->magic);
    if (inner->codec != KRC_NONE)
        return krc_fail(error, KRC_E_CORRUPT, "a compressed message lies in a compressed one");
    KRC_TRY(krc_batch_check_crc(p, inner, error));
    if (!get_key_and_value(p, inner->size, &key, &value))
        return krc_fail(error, KRC_E_CORRUPT, "key and value do not fill the message at %" PRId64,
                        inner->base_offset);
    if (records->count > 0 && inner->base_offset <= records->last_offset)
        return krc_fail(error, KRC_E_CORRUPT, "offset %" PRId64 " follows %" PRId64,
                        inner->base_offset, records->last_offset);
    return KRC_OK;
}

static int64_t timestamp_of(const struct krc_records *records, int64_t own)
{
    return records->timestamp_type == KRC_LOG_APPEND_TIME ? records->header.max_timestamp : own;
}

static int check_set(struct krc_records *records, krc_error *error)
{
    for (const uint8_t *p = records->start; p < records->end;) {
        struct krc_batch_header inner;
        krc_error why;
        int rc = check_inner(records, p, &inner, &why);
        if (rc < 0)
            return krc_batch_fail(&records->header, error, rc, "inside it, %s", why.message);
        krc_records_count(records, inner.base_offset,
                          timestamp_of(records, inner.max_timestamp));
        p += inner.size;
    }
    if (records->count == 0)
        return krc_batch_fail(&records->header, error, KRC_E_CORRUPT,
                              "a compressed message holds no messages");
    return KRC_OK;
}

/*
 * The wrapper's offset is that of its last message.  Inside, magic 0 has the messages' own
 * offsets, magic 1 any that lie as far from each other.  A wrapper at 0 comes from producers that
 * set none; its messages' offsets stand.
 */
static int place_set(struct krc_records *records, krc_error *error)
{
    int64_t outer = records->header.last_offset;
    if (outer == 0)
        return KRC_OK;
    if (outer < records->last_offset)
        return krc_batch_fail(&records->header, error, KRC_E_CORRUPT,
                              "its last message inside has offset %" PRId64,
                              records->last_offset);
    if (records->header.magic == 1)
        records->offset_shift = outer - records->last_offset;
    records->first_offset += records->offset_shift;
    records->last_offset += records->offset_shift;
    return KRC_OK;
}

int krc_legacy_open(struct krc_records *records, const uint8_t *bytes, const struct krc_unpack *to,
                    krc_error *error)
{
    const struct krc_batch_header *header = &records->header;
    struct krc_bytes key, value;
    if (!get_key_and_value(bytes, header->size, &key, &value))
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "its key and value do not fill the message");
    if (header->codec == KRC_NONE) {
        records->start = bytes;
        records->end = bytes + header->size;
        krc_records_count(records, header->base_offset, header->max_timestamp);
        return KRC_OK;
    }
    if (value.data == NULL)
        return krc_batch_fail(header, error, KRC_E_CORRUPT, "a compressed message has no value");
    KRC_TRY(krc_records_unpack(records, value, to, error));
    KRC_TRY(check_set(records, error));
    return place_set(records, error);
}

void krc_legacy_next(struct krc_records *records, struct krc_record *record)
{
    const uint8_t *message = records->p;
    int32_t size = (int32_t)krc_be32(message + 8) + KRC_BATCH_PREFIX;
    int64_t own = message[16] == 1 ? (int64_t)krc_be64(message + 18) : -1;
    *record = (struct krc_record){
        .offset = (int64_t)krc_be64(message) + records->offset_shift,
        .timestamp_ms = timestamp_of(records, own),
        .leader_epoch = -1,
    };
    /* check_set has seen that it cannot fail */
    (void)get_key_and_value(message, size, &record->key, &record->value);
    records->p += size;
}
