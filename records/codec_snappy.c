#include "records/codecs.h"

#ifdef KRC_WITH_SNAPPY

#include <snappy-c.h>

#include "base/bytes.h"

/*
 * Java's clients write snappy in xerial's framing; others write one raw block.
 *
 *     0  8 bytes  0x82 "SNAPPY" 0
 *     8  int32    version
 *    12  int32    lowest compatible version
 *    16           blocks: int32 length and a raw snappy block each
 *
 * Streams may follow one another: a block's length is never negative, a header's start is.
 */
static const uint8_t xerial_magic[8] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
enum { XERIAL_HEADER = 16 };

static int broken(struct krc_codec_job *job, const char *why)
{
    return krc_fail(job->error, KRC_E_CORRUPT, "its snappy data are broken (%s)", why);
}

static int decode_block(struct krc_codec_job *job, const uint8_t *data, size_t len)
{
    size_t size;
    const char *in = (const char *)data;
    if (snappy_uncompressed_length(in, len, &size) != SNAPPY_OK)
        return broken(job, "a block without a length");
    KRC_TRY(krc_codec_room(job, (uint64_t)job->out->len + size));
    if (snappy_uncompress(in, len, (char *)job->out->data + job->out->len, &size) != SNAPPY_OK)
        return broken(job, "a block that does not decode");
    job->out->len += size;
    return KRC_OK;
}

static bool begins_stream(const uint8_t *data, size_t len)
{
    return len >= XERIAL_HEADER && memcmp(data, xerial_magic, sizeof xerial_magic) == 0;
}

int krc_snappy_decompress(void **context, struct krc_codec_job *job)
{
    (void)context; /* snappy needs none */
    struct krc_cursor c = krc_cursor(job->in.data, job->in.len);
    if (!begins_stream(c.p, krc_left(&c)))
        return decode_block(job, c.p, krc_left(&c));
    while (krc_left(&c) > 0) {
        if (begins_stream(c.p, krc_left(&c))) {
            krc_take(&c, XERIAL_HEADER);
            continue;
        }
        int32_t len = krc_get_i32(&c);
        const uint8_t *block = len < 0 ? NULL : krc_take(&c, (size_t)len);
        if (block == NULL)
            return broken(job, "a block's length goes beyond the end");
        KRC_TRY(decode_block(job, block, (size_t)len));
    }
    return KRC_OK;
}

#else

int krc_snappy_decompress(void **context, struct krc_codec_job *job)
{
    (void)context;
    return krc_fail(job->error, KRC_E_UNSUPPORTED,
                    "it is compressed with snappy, which this build of krc lacks: "
                    "install libsnappy-dev and build again");
}

#endif
