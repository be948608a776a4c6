#include "records/compress.h"

#include "records/codecs.h"

int krc_compress(struct krc_compressor *c, struct krc_bytes in, bool finish,
                 struct krc_buffer *out, krc_error *error)
{
    if (c->codec == KRC_ZSTD)
        return krc_zstd_compress(&c->context, in, finish, out, error);
    return krc_gzip_compress(&c->context, in, finish, out, error);
}

void krc_compressor_free(struct krc_compressor *c)
{
    if (c->codec == KRC_ZSTD)
        krc_zstd_compress_free(c->context);
    else
        krc_gzip_compress_free(c->context);
    c->context = NULL;
}
