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

#endif
