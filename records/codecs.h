/*
 * What the codecs' files share: what a codec is given, and how it asks for room.
 */
#ifndef KRC_RECORDS_CODECS_H
#define KRC_RECORDS_CODECS_H

#include "records/codec.h"

struct krc_codec_job {
    struct krc_bytes in;
    size_t limit; /* `out` grows no further */
    struct krc_buffer *out;
    int magic;
    size_t trailing; /* bytes of `in` that were ignored */
    krc_error *error;
};

/* Decompress `job->in` to `job->out`.  `*context` is NULL at first and kept from call to call;
 * the `_free` beside it ends it. */
int krc_gzip_decompress(void **context, struct krc_codec_job *job) KRC_MUST_USE;
void krc_gzip_free(void *context);
int krc_snappy_decompress(void **context, struct krc_codec_job *job) KRC_MUST_USE;
int krc_lz4_decompress(void **context, struct krc_codec_job *job) KRC_MUST_USE;
void krc_lz4_free(void *context);
int krc_zstd_decompress(void **context, struct krc_codec_job *job) KRC_MUST_USE;
void krc_zstd_free(void *context);

/* Append to `out` what has become of `in`; with `finish` a frame ends (see compress.h). */
int krc_zstd_compress(void **context, struct krc_bytes in, bool finish, struct krc_buffer *out,
                      krc_error *error) KRC_MUST_USE;
void krc_zstd_compress_free(void *context);
int krc_gzip_compress(void **context, struct krc_bytes in, bool finish, struct krc_buffer *out,
                      krc_error *error) KRC_MUST_USE;
void krc_gzip_compress_free(void *context);

/* How many bytes may be written at the end of `out` as it stands. */
static inline size_t krc_codec_space(const struct krc_codec_job *job)
{
    size_t end = job->out->capacity < job->limit ? job->out->capacity : job->limit;
    return end - job->out->len;
}

/* Room in `out` for `capacity` bytes in all; KRC_E_TOO_LARGE beyond the limit. */
int krc_codec_room(struct krc_codec_job *job, uint64_t capacity) KRC_MUST_USE;

/* More room than there is, by doubling; KRC_E_TOO_LARGE where the limit is reached already. */
int krc_codec_more_room(struct krc_codec_job *job) KRC_MUST_USE;

#endif
