/* The bare decode loop, shared by the floor of reading a file and that of reading a socket. */
#ifndef BENCH_DECODE_H
#define BENCH_DECODE_H

#include "base/buffer.h"
#include "bench/checksum.h"

struct krc_codecs;

struct decoder {
    struct checksum checksum;
    struct krc_codecs *codecs;
    struct krc_buffer scratch;
};

/* Decodes the whole batches there are, and says how many bytes they take. */
size_t decode_batches(struct decoder *decoder, const uint8_t *data, size_t size);

#endif
