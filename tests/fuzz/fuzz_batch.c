/*
 * Headers: whatever the bytes, a header that is accepted describes possible offsets and sizes.
 */
#include <stdlib.h>

#include "records/batch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
    if (!ok)
        abort();
}

static void check(const uint8_t *data, size_t size, int rc, const struct krc_batch_header *header)
{
    krc_error error;
    if (rc != 1)
        return;
    must(header->size > 0 && header->base_offset >= 0);
    must(header->last_offset >= header->base_offset && header->last_offset < INT64_MAX);
    must(krc_codec_name(header->codec) != NULL);
    if ((size_t)header->size > size)
        return;
    int type;
    (void)!krc_batch_check_crc(data, header, &error);
    if (krc_batch_control_type(data, header, &type, &error) == KRC_OK)
        must(type >= KRC_CONTROL_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct krc_batch_header header;
    krc_error error;
    check(data, size, krc_batch_parse(data, size, &header, &error), &header);
    check(data, size, krc_batch_parse_07(data, size, 1000, &header, &error), &header);
    return 0;
}
