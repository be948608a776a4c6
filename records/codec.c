#include "records/codec.h"

#include <stdlib.h>

#include "records/codecs.h"

enum { FIRST_ROOM = 64 << 10 };

static const struct codec {
    const char *name;
    int (*decompress)(void **context, struct krc_codec_job *job);
    void (*free)(void *context);
} table[] = {
    [KRC_NONE] = {"none", NULL, NULL},
    [KRC_GZIP] = {"gzip", krc_gzip_decompress, krc_gzip_free},
    [KRC_SNAPPY] = {"snappy", krc_snappy_decompress, NULL},
    [KRC_LZ4] = {"lz4", krc_lz4_decompress, krc_lz4_free},
    [KRC_ZSTD] = {"zstd", krc_zstd_decompress, krc_zstd_free},
};
enum { CODECS = sizeof table / sizeof table[0] };

struct krc_codecs {
    void *context[CODECS];
};

const char *krc_codec_name(int codec)
{
    return codec >= 0 && codec < CODECS ? table[codec].name : NULL;
}

struct krc_codecs *krc_codecs_new(void)
{
    return calloc(1, sizeof(struct krc_codecs));
}

void krc_codecs_free(struct krc_codecs *codecs)
{
    for (int i = 0; codecs != NULL && i < CODECS; i++)
        if (codecs->context[i] != NULL)
            table[i].free(codecs->context[i]);
    free(codecs);
}

int krc_codec_room(struct krc_codec_job *job, uint64_t capacity)
{
    if (capacity > job->limit)
        return krc_fail(job->error, KRC_E_TOO_LARGE,
                        "decompressed it is larger than %zu bytes: "
                        "raise decompressed.batch.max.bytes to read it",
                        job->limit);
    return krc_buffer_reserve_within(job->out, (size_t)capacity, job->limit, job->error);
}

int krc_codec_more_room(struct krc_codec_job *job)
{
    return krc_codec_room(job, (uint64_t)job->out->capacity + 1);
}

int krc_decompress(struct krc_codecs *codecs, int codec, int magic, struct krc_bytes in,
                   size_t limit, struct krc_buffer *out, size_t *trailing, krc_error *error)
{
    struct krc_codec_job job = {
        .in = in, .limit = limit, .out = out, .magic = magic, .error = error};
    out->len = 0;
    if (krc_codec_name(codec) == NULL || table[codec].decompress == NULL)
        return krc_fail(error, KRC_E_CORRUPT, "there is no compression codec %d", codec);
    KRC_TRY(krc_codec_room(&job, limit < FIRST_ROOM ? limit : FIRST_ROOM));
    KRC_TRY(table[codec].decompress(&codecs->context[codec], &job));
    if (trailing != NULL)
        *trailing = job.trailing;
    return KRC_OK;
}
