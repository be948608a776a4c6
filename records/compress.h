/*
 * Compression of a stream into frames (zstd) or members (gzip) that can be read one by one.
 */
#ifndef KRC_RECORDS_COMPRESS_H
#define KRC_RECORDS_COMPRESS_H

#include "records/codec.h"

struct krc_compressor {
    int codec; /* KRC_GZIP or KRC_ZSTD */
    void *context;
};

/* Appends to `out` what has become of `in` so far; with `finish` the frame ends, and the next call
 * begins another. */
int krc_compress(struct krc_compressor *compressor, struct krc_bytes in, bool finish,
                 struct krc_buffer *out, krc_error *error) KRC_MUST_USE;
void krc_compressor_free(struct krc_compressor *compressor);

#endif
