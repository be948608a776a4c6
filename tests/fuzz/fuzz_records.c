/*
 * Batches of every format, checksums aside: one that opens yields as many records as it says,
 * their offsets rise, and their bytes lie where they may be read.
 *
 * The first byte is 7 for Kafka 0.7, anything else for what came later.
 */
#include <stdlib.h>

#include "records/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 1 << 18 };

static void must(bool ok)
{
    if (!ok)
        abort();
}

static unsigned sum;

static void touch(struct krc_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        sum += bytes.data[i];
}

static void touch_headers(const struct krc_record *record)
{
    struct krc_bytes rest = record->headers;
    struct krc_header header;
    int32_t n = 0;
    for (; krc_header_next(&rest, &header); n++) {
        touch(header.key);
        touch(header.value);
    }
    must(n == record->header_count && rest.len == 0);
}

static void walk(struct krc_records *records)
{
    struct krc_record record;
    int64_t before = -1;
    int32_t n = 0;
    for (; krc_records_next(records, &record); n++) {
        must(record.offset > before || records->header.magic == KRC_MAGIC_07);
        must(record.offset >= records->first_offset && record.offset <= records->last_offset);
        must(record.timestamp_ms <= records->max_timestamp);
        before = record.offset;
        touch(record.key);
        touch(record.value);
        touch_headers(&record);
    }
    must(n == records->count);
    must(n == krc_records_count_between(records, 0, INT64_MAX));
    must(n == 0 || before == records->last_offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct krc_codecs *codecs; /* kept from batch to batch, as in life */
    static struct krc_buffer scratch;
    struct krc_batch_header header;
    struct krc_records records;
    krc_error error;
    if (codecs == NULL)
        codecs = krc_codecs_new();
    if (size == 0 || codecs == NULL)
        return 0;
    bool is_07 = *data++ == 7;
    int rc = is_07 ? krc_batch_parse_07(data, --size, 1000, &header, &error)
                   : krc_batch_parse(data, --size, &header, &error);
    if (rc != 1 || (size_t)header.size > size)
        return 0;
    if (krc_records_open(&records, data, &header, codecs, LIMIT, &scratch, &error) == KRC_OK)
        walk(&records);
    must(scratch.capacity <= 2 * (LIMIT + KRC_VIEWS * sizeof(struct krc_record)));
    return 0;
}
