#include "base/crc.h"

#ifdef KRC_WITH_ISAL

#include <isa-l/crc.h>

/* ISA-L leaves the upper halves of the vector registers in use, and whatever comes next and knows
 * the lower ones only would wait for them: a copy of 72 bytes takes many times as long. */
#ifdef __x86_64__
#include <immintrin.h>

__attribute__((target("avx"))) static void clear_upper_halves(void)
{
    _mm256_zeroupper();
}

static void leave_vectors(void)
{
    if (__builtin_cpu_supports("avx"))
        clear_upper_halves();
}
#else
static void leave_vectors(void)
{
}
#endif

/* ISA-L's iSCSI CRC is the raw register: inverted on the way in and out by the caller. */
uint32_t krc_crc32c(uint32_t crc, const void *data, size_t len)
{
    unsigned char *p = (unsigned char *)(uintptr_t)data; /* not const in ISA-L's prototype */
    while (len > 0) {
        int n = len > (1u << 30) ? 1 << 30 : (int)len;
        crc = ~crc32_iscsi(p, n, ~crc);
        p += n;
        len -= (size_t)n;
    }
    leave_vectors();
    return crc;
}

uint32_t krc_crc32(uint32_t crc, const void *data, size_t len)
{
    crc = crc32_gzip_refl(crc, data, len);
    leave_vectors();
    return crc;
}

#else

#include <string.h>
#include <zlib.h>

#include "base/crc32c_table.h"

static uint64_t load_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* Eight bytes a step, one table for each ("slicing by 8", Kounavis and Berry 2005). */
uint32_t krc_crc32c(uint32_t crc, const void *data, size_t len)
{
    const uint8_t *p = data;
    crc = ~crc;
    for (; len >= 8; p += 8, len -= 8) {
        uint64_t v = load_le64(p) ^ crc;
        crc = 0;
        for (int i = 0; i < 8; i++)
            crc ^= krc_crc32c_table[7 - i][v >> (8 * i) & 0xff];
    }
    for (; len > 0; p++, len--)
        crc = crc >> 8 ^ krc_crc32c_table[0][(crc ^ *p) & 0xff];
    return ~crc;
}

uint32_t krc_crc32(uint32_t crc, const void *data, size_t len)
{
    return (uint32_t)crc32_z(crc, data, len);
}

#endif
