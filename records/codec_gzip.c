#include <stdlib.h>

#include "records/codecs.h"

/*
 * A gzip stream is one member or several; each is decoded at once, straight into `out`, and again
 * into twice as much where that was too small.  `out` keeps its size from batch to batch, so that
 * this is rare.
 */
enum { SMALLEST_MEMBER = 18 };

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

/* ISA-L checks the CRC even after another error, whose code it then overwrites; but only a member
 * that was decoded to its end is finished.  It counts in 32 bits. */
static enum outcome inflate_member(decoder *state, struct krc_bytes *in, uint8_t *out,
                                   size_t room, size_t *made)
{
    uint32_t avail_out = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
    isal_inflate_reset(state);
    state->crc_flag = ISAL_GZIP;
    state->next_in = (uint8_t *)(uintptr_t)in->data; /* not const in ISA-L's struct */
    state->avail_in = (uint32_t)in->len;
    state->next_out = out;
    state->avail_out = avail_out;
    int rc = isal_inflate_stateless(state);
    if (rc == ISAL_OUT_OVERFLOW)
        return NO_ROOM;
    if (rc != ISAL_DECOMP_OK || state->block_state != ISAL_BLOCK_FINISH)
        return BROKEN;
    *made = avail_out - state->avail_out;
    *in = (struct krc_bytes){state->next_in, state->avail_in};
    return DECODED;
}

#else

#include <zlib.h>

typedef z_stream decoder;

static decoder *decoder_new(void)
{
    enum { LARGEST_WINDOW = 15, GZIP_WRAPPER = 16 };
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
