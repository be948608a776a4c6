/*
 * What every reader, krc's and the others', makes of the records it is handed: offset, timestamp,
 * lengths of key and value (0 for null) and the value's first byte, in their order.
 */
#ifndef BENCH_CHECKSUM_H
#define BENCH_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct checksum {
    uint64_t sum, count;
};

static inline void checksum_mix(struct checksum *c, uint64_t value)
{
    c->sum = (c->sum ^ value) * 0x9e3779b97f4a7c15u;
}

static inline void checksum_add(struct checksum *c, int64_t offset, int64_t timestamp,
                                size_t key_len, const void *value, size_t value_len)
{
    checksum_mix(c, (uint64_t)offset);
    checksum_mix(c, (uint64_t)timestamp);
    checksum_mix(c, key_len);
    checksum_mix(c, value_len);
    checksum_mix(c, value_len > 0 ? *(const uint8_t *)value : 0);
    c->count++;
}

/* Partitions come in any order: each has its own, and they are put together by XOR. */
static inline void checksum_print(const struct checksum *partitions, int count)
{
    struct checksum all = {0};
    for (int i = 0; i < count; i++) {
        all.sum ^= partitions[i].sum;
        all.count += partitions[i].count;
    }
    printf("%llu records, checksum %016llx\n", (unsigned long long)all.count,
           (unsigned long long)all.sum);
}

#endif
