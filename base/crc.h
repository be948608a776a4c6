/*
 * Checksums: CRC-32C (Castagnoli; magic 2 batches, producer snapshots, --digest) and CRC-32
 * (IEEE 802.3; magic 0 and 1, Kafka 0.7).  Both start from 0 and may be continued.
 */
#ifndef KRC_BASE_CRC_H
#define KRC_BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t krc_crc32c(uint32_t crc, const void *data, size_t len);
uint32_t krc_crc32(uint32_t crc, const void *data, size_t len);

/* Powers of x modulo a checksum's polynomial: to 8 times each digit of a number to the base 16. */
enum { KRC_CRC_DIGITS = 12 };
struct krc_crc_powers {
    uint32_t polynomial; /* 0: not filled in */
    uint32_t list[KRC_CRC_DIGITS][16];
};
void krc_crc32c_powers(struct krc_crc_powers *powers);
void krc_crc32_powers(struct krc_crc_powers *powers);

/* The checksum of the last `len` bytes (below 2^48) alone, from that of what comes before them, and
 * that of both. */
uint32_t krc_crc_of_rest(const struct krc_crc_powers *powers, uint32_t before, uint32_t both,
                         uint64_t len);

/* A checksum, continued over `len` zeros. */
uint32_t krc_crc_of_zeros(const struct krc_crc_powers *powers, uint32_t crc, uint64_t len);

#endif
