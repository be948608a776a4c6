#include <zstd.h>
#include <zstd_errors.h>

#include "records/codecs.h"

/* How much a batch of records usually grows; a first guess where no frame says its size. */
enum { USUAL_RATIO = 4 };

/* The first frame's declared size, or a guess. */
static int make_room(struct krc_codec_job *job)
{
    unsigned long long size = ZSTD_getFrameContentSize(job->in.data, job->in.len);
    if (size != ZSTD_CONTENTSIZE_UNKNOWN && size != ZSTD_CONTENTSIZE_ERROR)
        return krc_codec_room(job, size);
    size_t guess = job->in.len < job->limit / USUAL_RATIO ? job->in.len * USUAL_RATIO : job->limit;
    return krc_codec_room(job, guess);
}

/* All frames at once, straight into `out`; where it is too small, again into twice as much.  `out`
 * keeps its size from batch to batch, so that this is rare. */
int krc_zstd_decompress(void **context, struct krc_codec_job *job)
{
    if (*context == NULL && (*context = ZSTD_createDCtx()) == NULL)
        return krc_fail(job->error, KRC_E_NOMEM, "out of memory for a zstd context");
    KRC_TRY(make_room(job));
    for (;;) {
        size_t n = ZSTD_decompressDCtx(*context, job->out->data, krc_codec_space(job),
                                       job->in.data, job->in.len);
        if (!ZSTD_isError(n)) {
            job->out->len = n;
            return KRC_OK;
        }
        if (ZSTD_getErrorCode(n) != ZSTD_error_dstSize_tooSmall)
            return krc_fail(job->error, KRC_E_CORRUPT, "its zstd data are broken (%s)",
                            ZSTD_getErrorName(n));
        KRC_TRY(krc_codec_more_room(job));
    }
}

void krc_zstd_free(void *context)
{
    ZSTD_freeDCtx(context);
}

int krc_zstd_compress(void **context, struct krc_bytes in, bool finish, struct krc_buffer *out,
                      krc_error *error)
{
    if (*context == NULL && (*context = ZSTD_createCCtx()) == NULL)
        return krc_fail(error, KRC_E_NOMEM, "out of memory for a zstd context");
    ZSTD_inBuffer input = {in.data, in.len, 0};
    size_t left;
    do {
        KRC_TRY(krc_buffer_reserve(out, out->len + ZSTD_CStreamOutSize(), error));
        ZSTD_outBuffer output = {out->data, out->capacity, out->len};
        left = ZSTD_compressStream2(*context, &output, &input,
                                    finish ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return krc_fail(error, KRC_E_NOMEM, "zstd cannot compress: %s",
                            ZSTD_getErrorName(left));
        out->len = output.pos;
    } while (input.pos < input.size || (finish && left > 0));
    return KRC_OK;
}

void krc_zstd_compress_free(void *context)
{
    ZSTD_freeCCtx(context);
}
