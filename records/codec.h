/*
 * Decompression: one file a codec, one way in.
 *
 * Whole input in, whole output out.  The output never grows beyond `limit`: what a stream says of
 * its own size is checked before memory is taken, and a stream that says nothing is stopped at
 * the limit (KRC_E_TOO_LARGE).
 */
#ifndef KRC_RECORDS_CODEC_H
#define KRC_RECORDS_CODEC_H

#include "base/buffer.h"

enum krc_codec { KRC_NONE, KRC_GZIP, KRC_SNAPPY, KRC_LZ4, KRC_ZSTD };

/* "none", "gzip", "snappy", "lz4", "zstd"; NULL for the ids 5 to 7. */
const char *krc_codec_name(int codec);

/* The libraries' contexts, made at first use and used again for every batch after. */
struct krc_codecs;
struct krc_codecs *krc_codecs_new(void); /* NULL: out of memory */
void krc_codecs_free(struct krc_codecs *codecs);

/* Decompresses `in` into `out` (from its start).  `magic` says whose frames these are: only magic
 * 0 may carry KIP-57's wrong LZ4 header checksum.  Bytes after a gzip stream are ignored and
 * counted in `*trailing` (may be NULL). */
int krc_decompress(struct krc_codecs *codecs, int codec, int magic, struct krc_bytes in,
                   size_t limit, struct krc_buffer *out, size_t *trailing,
                   krc_error *error) KRC_MUST_USE;

#endif
