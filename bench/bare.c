/*
 * The bare decode loop: the least that reading a log can cost.
 *
 *     bare SEGMENT...
 *
 * The files are mapped, each batch's CRC is checked, it is decompressed with the same libraries as
 * krc uses, each record's fields are decoded without a check, and what krc's checksum takes is
 * taken.  No transactions, no events, no account; producer 2's batches are known to be aborted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "records/codec.h"

static uint64_t sum, count;

static void mix(uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
}

static inline int64_t varint(const uint8_t **p)
{
    uint64_t v = 0;
    int shift = 0;
    uint8_t byte;
    do {
        byte = *(*p)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte >= 0x80);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static void decode(const uint8_t *p, int32_t records, int64_t base_offset, int64_t base_timestamp)
{
    for (int32_t i = 0; i < records; i++) {
        int64_t len = varint(&p);
        const uint8_t *next = p + len;
        p++;
        int64_t timestamp = base_timestamp + varint(&p);
        int64_t offset = base_offset + varint(&p);
        int64_t key_len = varint(&p);
        p += key_len > 0 ? key_len : 0;
        int64_t value_len = varint(&p);
        mix((uint64_t)offset);
        mix((uint64_t)timestamp);
        mix((uint64_t)(key_len > 0 ? key_len : 0));
        mix((uint64_t)(value_len > 0 ? value_len : 0));
        mix(value_len > 0 ? *p : 0);
        count++;
        p = next;
    }
}

static void read_batches(const uint8_t *p, const uint8_t *end, struct krc_codecs *codecs,
                         struct krc_buffer *scratch)
{
    for (size_t size; end - p >= 61; p += size) {
        size = 12 + krc_be32(p + 8);
        uint16_t attributes = krc_be16(p + 21);
        if (krc_crc32c(0, p + 21, size - 21) != krc_be32(p + 17))
            abort();
        if ((attributes & 0x20) || krc_be64(p + 43) == 2)
            continue;
        struct krc_bytes records = {p + 61, size - 61};
        if (attributes & 7) {
            if (krc_decompress(codecs, attributes & 7, 2, records, 1 << 28, scratch, NULL, NULL) !=
                KRC_OK)
                abort();
            records.data = scratch->data;
        }
        decode(records.data, (int32_t)krc_be32(p + 57), (int64_t)krc_be64(p),
               (int64_t)krc_be64(p + 27));
    }
}

int main(int argc, char **argv)
{
    struct krc_codecs *codecs = krc_codecs_new();
    struct krc_buffer scratch = {0};
    for (int i = 1; i < argc; i++) {
        struct stat status;
        int fd = open(argv[i], O_RDONLY);
        if (fd < 0 || fstat(fd, &status) != 0) {
            perror(argv[i]);
            return 1;
        }
        const uint8_t *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED)
            return 1;
        read_batches(data, data + status.st_size, codecs, &scratch);
        close(fd);
    }
    printf("%llu records, checksum %016llx\n", (unsigned long long)count, (unsigned long long)sum);
    krc_buffer_free(&scratch);
    krc_codecs_free(codecs);
    return 0;
}
