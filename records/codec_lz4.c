#include <lz4frame.h>

#include "base/bytes.h"
#include "records/codecs.h"

/*
 * An LZ4 frame's header:
 *
 *     0  uint32  magic, little-endian
 *     4  int8    flags
 *     5  int8    block size
 *        int64   content size, where flagged
 *        int32   dictionary id, where flagged
 *        int8    checksum of what follows the magic
 *
 * Kafka's clients before 0.10 computed this checksum from the magic on (KIP-57).
 */
enum { LARGEST_BLOCK = 4 << 20 };

static const size_t block_bytes[] = {
    [LZ4F_default] = 64 << 10,   [LZ4F_max64KB] = 64 << 10, [LZ4F_max256KB] = 256 << 10,
    [LZ4F_max1MB] = 1024 << 10, [LZ4F_max4MB] = LARGEST_BLOCK,
};

static int broken(struct krc_codec_job *job, const char *why)
{
    return krc_fail(job->error, KRC_E_CORRUPT, "its LZ4 data are broken (%s)", why);
}

/* Takes the header with whatever checksum is the right one: only one of all is. */
static size_t read_header_unchecked(LZ4F_dctx *dctx, struct krc_bytes in, size_t size,
                                    LZ4F_frameInfo_t *info)
{
    uint8_t header[LZ4F_HEADER_SIZE_MAX];
    size_t rc = 0;
    memcpy(header, in.data, size);
    for (int checksum = 0; checksum < 256; checksum++) {
        size_t taken = size;
        header[size - 1] = (uint8_t)checksum;
        LZ4F_resetDecompressionContext(dctx);
        rc = LZ4F_getFrameInfo(dctx, info, header, &taken);
        if (!LZ4F_isError(rc))
            break;
    }
    return rc;
}

/* Reads a frame's header, of `*taken` bytes, and sees to it that its first block has room. */
static int begin_frame(LZ4F_dctx *dctx, struct krc_bytes in, struct krc_codec_job *job,
                       size_t *taken)
{
    LZ4F_frameInfo_t info = LZ4F_INIT_FRAMEINFO;
    size_t size = LZ4F_headerSize(in.data, in.len);
    if (LZ4F_isError(size) || size > in.len)
        return broken(job, "no frame header");
    *taken = size;
    LZ4F_resetDecompressionContext(dctx);
    size_t rc = LZ4F_getFrameInfo(dctx, &info, in.data, taken);
    if (LZ4F_isError(rc) && job->magic == 0)
        rc = read_header_unchecked(dctx, in, size, &info);
    if (LZ4F_isError(rc))
        return broken(job, LZ4F_getErrorName(rc));
    *taken = size;
    KRC_TRY(krc_codec_room(job, info.contentSize)); /* so that the sum below does not wrap */
    KRC_TRY(krc_codec_room(job, job->out->len + info.contentSize));
    /* a block that finds room for the largest is decoded in place, else beside and copied */
    size_t roomy = job->out->len + block_bytes[info.blockSizeID];
    return krc_codec_room(job, roomy < job->limit ? roomy : job->limit);
}

static void skip(struct krc_bytes *in, size_t n)
{
    in->data += n;
    in->len -= n;
}

static int decode_frame(LZ4F_dctx *dctx, struct krc_bytes *in, struct krc_codec_job *job)
{
    size_t taken, rc;
    KRC_TRY(begin_frame(dctx, *in, job, &taken));
    skip(in, taken);
    do {
        size_t room = krc_codec_space(job), made = room;
        taken = in->len;
        rc = LZ4F_decompress(dctx, job->out->data + job->out->len, &made, in->data, &taken, NULL);
        if (LZ4F_isError(rc))
            return broken(job, LZ4F_getErrorName(rc));
        job->out->len += made;
        skip(in, taken);
        if (rc != 0 && in->len == 0 && made < room)
            return broken(job, "they end too soon");
        if (rc != 0 && taken == 0 && made == 0)
            KRC_TRY(krc_codec_more_room(job));
    } while (rc != 0);
    return KRC_OK;
}

int krc_lz4_decompress(void **context, struct krc_codec_job *job)
{
    LZ4F_dctx *dctx = *context;
    if (dctx == NULL) {
        if (LZ4F_isError(LZ4F_createDecompressionContext(&dctx, LZ4F_VERSION)))
            return krc_fail(job->error, KRC_E_NOMEM, "out of memory for an LZ4 context");
        *context = dctx;
    }
    struct krc_bytes in = job->in;
    do
        KRC_TRY(decode_frame(dctx, &in, job));
    while (in.len > 0);
    return KRC_OK;
}

void krc_lz4_free(void *context)
{
    LZ4F_freeDecompressionContext(context);
}
