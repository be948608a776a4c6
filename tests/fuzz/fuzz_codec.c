/*
 * Compressed bytes: whatever they are, no more memory is taken than the limit allows.
 *
 * The first byte is the codec, with 16 added for magic 0.
 */
#include <stdlib.h>

#include "records/codec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 1 << 18 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct krc_codecs *codecs; /* kept from batch to batch, as in life */
    struct krc_buffer out = {0};
    size_t trailing = 0;
    krc_error error;
    if (codecs == NULL)
        codecs = krc_codecs_new();
    if (size == 0 || codecs == NULL)
        return 0;
    struct krc_bytes in = {data + 1, size - 1};
    int magic = data[0] & 16 ? 0 : 2;
    int rc = krc_decompress(codecs, data[0] & 15, magic, in, LIMIT, &out, &trailing, &error);
    if (out.capacity > LIMIT || (rc == KRC_OK && (out.len > LIMIT || trailing > in.len)))
        abort();
    krc_buffer_free(&out);
    return 0;
}
