#include "records/formats.h"

#include "base/bytes.h"

/*
 * Kafka 0.7 (batch.c has the layout).  Messages have neither key nor timestamp, and those inside
 * a compressed one have no offset of their own: all stand at the wrapper's.
 */
static struct krc_bytes payload_of(const uint8_t *message, int32_t size)
{
    int at = message[4] == 1 ? 10 : 9;
    return (struct krc_bytes){message + at, (size_t)(size - at)};
}

static int check_inner(const struct krc_records *records, const uint8_t *p,
                       struct krc_batch_header *inner, krc_error *error)
{
    size_t left = (size_t)(records->end - p);
    int rc = krc_batch_parse_07(p, left, records->header.base_offset, inner, error);
    if (rc < 0)
        return rc;
    if (rc == 0 || (size_t)inner->size > left)
        return krc_fail(error, KRC_E_CORRUPT, "it ends in the middle of a message");
    if (inner->codec != KRC_NONE)
        return krc_fail(error, KRC_E_CORRUPT, "a compressed message lies in a compressed one");
    return krc_batch_check_crc(p, inner, error);
}

int krc_legacy_07_open(struct krc_records *records, const uint8_t *bytes,
                       const struct krc_unpack *to, krc_error *error)
{
    const struct krc_batch_header *header = &records->header;
    if (header->codec == KRC_NONE) {
        records->start = bytes;
        records->end = bytes + header->size;
        krc_records_count(records, header->base_offset, -1);
        return KRC_OK;
    }
    KRC_TRY(krc_records_unpack(records, payload_of(bytes, header->size), to, error));
    for (const uint8_t *p = records->start; p < records->end;) {
        struct krc_batch_header inner;
        krc_error why;
        int rc = check_inner(records, p, &inner, &why);
        if (rc < 0)
            return krc_batch_fail(header, error, rc, "inside it, %s", why.message);
        krc_records_count(records, header->base_offset, -1);
        p += inner.size;
    }
    if (records->count == 0)
        return krc_batch_fail(header, error, KRC_E_CORRUPT,
                              "a compressed message holds no messages");
    return KRC_OK;
}

void krc_legacy_07_next(struct krc_records *records, struct krc_record *record)
{
    const uint8_t *message = records->p;
    int32_t size = (int32_t)krc_be32(message) + 4;
    *record = (struct krc_record){
        .offset = records->header.base_offset,
        .timestamp_ms = -1,
        .leader_epoch = -1,
        .value = payload_of(message, size),
    };
    records->p += size;
}
