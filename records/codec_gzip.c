#include <stdlib.h>
#include <zlib.h>

#include "records/codecs.h"

/*
 * A gzip stream is one member or several; each is decoded at once, straight into `out`, and again
 * into twice as much where that was too small.  `out` keeps its size from batch to batch, so that
 * this is rare.
 */
enum { SMALLEST_MEMBER = 18, LARGEST_WINDOW = 15, GZIP_WRAPPER = 16 };

enum outcome { DECODED, NO_ROOM, BROKEN };

#ifdef KRC_WITH_ISAL

#include <isa-l/igzip_lib.h>

typedef struct inflate_state decoder;

static decoder *decoder_new(void)
{
    decoder *state = malloc(sizeof *state);
    if (state != NULL)
        isal_inflate_init(state);
    return state;
}

static void decoder_free(decoder *state)
{
    free(state);
}

static enum outcome inflate_member(decoder *state, struct krc_bytes *in, uint8_t *out,
                                   size_t room, size_t *made)
{
    uint32_t avail_out = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX; /* it counts in 32 bits */
    isal_inflate_reset(state);
    state->crc_flag = ISAL_GZIP;
    state->next_in = (uint8_t *)(uintptr_t)in->data; /* not const in ISA-L's struct */
    state->avail_in = (uint32_t)in->len;
    state->next_out = out;
    state->avail_out = avail_out;
    int rc = isal_inflate_stateless(state);
    if (rc == ISAL_OUT_OVERFLOW)
        return NO_ROOM;
    if (rc != ISAL_DECOMP_OK)
        return BROKEN;
    *made = avail_out - state->avail_out;
    *in = (struct krc_bytes){state->next_in, state->avail_in};
    return DECODED;
}

#else

typedef z_stream decoder;

static decoder *decoder_new(void)
{
    decoder *stream = calloc(1, sizeof *stream);
    if (stream != NULL && inflateInit2(stream, LARGEST_WINDOW + GZIP_WRAPPER) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

static void decoder_free(decoder *stream)
{
    inflateEnd(stream);
    free(stream);
}

static enum outcome inflate_member(decoder *stream, struct krc_bytes *in, uint8_t *out,
                                   size_t room, size_t *made)
{
    uInt avail_out = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
    inflateReset(stream);
    stream->next_in = (Bytef *)(uintptr_t)in->data; /* not const in zlib's struct */
    stream->avail_in = (uInt)in->len;
    stream->next_out = out;
    stream->avail_out = avail_out;
    int rc = inflate(stream, Z_FINISH);
    if (rc == Z_BUF_ERROR && stream->avail_out == 0)
        return NO_ROOM;
    if (rc != Z_STREAM_END)
        return BROKEN;
    *made = avail_out - stream->avail_out;
    *in = (struct krc_bytes){stream->next_in, stream->avail_in};
    return DECODED;
}

#endif

static int decode_member(decoder *state, struct krc_bytes *in, struct krc_codec_job *job)
{
    for (;;) {
        size_t made;
        switch (inflate_member(state, in, job->out->data + job->out->len,
                               krc_codec_space(job), &made)) {
        case DECODED:
            job->out->len += made;
            return KRC_OK;
        case NO_ROOM:
            KRC_TRY(krc_codec_more_room(job));
            break;
        case BROKEN:
            return krc_fail(job->error, KRC_E_CORRUPT, "its gzip data are broken");
        }
    }
}

static bool begins_member(struct krc_bytes in)
{
    return in.len >= SMALLEST_MEMBER && in.data[0] == 0x1f && in.data[1] == 0x8b &&
           in.data[2] == 8;
}

int krc_gzip_decompress(void **context, struct krc_codec_job *job)
{
    if (*context == NULL && (*context = decoder_new()) == NULL)
        return krc_fail(job->error, KRC_E_NOMEM, "out of memory for a gzip context");
    struct krc_bytes in = job->in;
    do
        KRC_TRY(decode_member(*context, &in, job));
    while (begins_member(in));
    job->trailing = in.len;
    return KRC_OK;
}

void krc_gzip_free(void *context)
{
    decoder_free(context);
}

/* ---- Compression: zlib's, whose header carries no time and no name ------------------------- */

static z_stream *encoder_new(void)
{
    enum { USUAL_MEMORY = 8 };
    z_stream *stream = calloc(1, sizeof *stream);
    if (stream != NULL && deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                       LARGEST_WINDOW + GZIP_WRAPPER, USUAL_MEMORY,
                                       Z_DEFAULT_STRATEGY) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

/* One call of deflate into some more of `out`. */
static int deflate_some(z_stream *stream, int flush, struct krc_buffer *out, krc_error *error)
{
    enum { ROOM = 64 << 10 };
    KRC_TRY(krc_buffer_reserve(out, out->len + ROOM, error));
    stream->next_out = out->data + out->len;
    stream->avail_out = ROOM;
    int rc = deflate(stream, flush);
    out->len += ROOM - stream->avail_out;
    return rc == Z_STREAM_END;
}

int krc_gzip_compress(void **context, struct krc_bytes in, bool finish, struct krc_buffer *out,
                      krc_error *error)
{
    if (*context == NULL && (*context = encoder_new()) == NULL)
        return krc_fail(error, KRC_E_NOMEM, "out of memory for a gzip context");
    z_stream *stream = *context;
    enum { PIECE = 1 << 30 }; /* zlib counts in 32 bits */
    stream->next_in = (Bytef *)(uintptr_t)in.data; /* not const in zlib's struct */
    stream->avail_in = 0;
    int ended;
    do {
        if (stream->avail_in == 0) {
            stream->avail_in = in.len < PIECE ? (uInt)in.len : PIECE;
            in.len -= stream->avail_in;
        }
        ended = deflate_some(stream, finish && in.len == 0 ? Z_FINISH : Z_NO_FLUSH, out, error);
        KRC_TRY(ended);
    } while (stream->avail_in > 0 || in.len > 0 || (finish && !ended));
    if (finish)
        deflateReset(stream);
    return KRC_OK;
}

void krc_gzip_compress_free(void *context)
{
    if (context != NULL)
        deflateEnd(context);
    free(context);
}
