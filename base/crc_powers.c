/*
 * Checksums of parts, from those of the whole.  A CRC is the remainder of a polynomial over bits;
 * `len` more bytes multiply it by x to the power of 8 * len.  Bits are reflected: the highest is
 * the coefficient of x to the power of 0.
 */
#include "base/crc.h"

static const uint32_t one = UINT32_C(1) << 31;

/* Without branches, which would depend on the data. */
static uint32_t multiply(uint32_t polynomial, uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (int i = 0; i < 32; i++) {
        product ^= b & (0 - (a >> 31));
        a <<= 1;
        b = b >> 1 ^ (polynomial & (0 - (b & 1)));
    }
    return product;
}

static void fill(struct krc_crc_powers *powers, uint32_t polynomial)
{
    uint32_t power = one >> 8;
    powers->polynomial = polynomial;
    for (int i = 0; i < KRC_CRC_DIGITS; i++) {
        powers->list[i][0] = one;
        for (int digit = 1; digit < 16; digit++)
            powers->list[i][digit] = multiply(polynomial, powers->list[i][digit - 1], power);
        power = multiply(polynomial, powers->list[i][15], power);
    }
}

void krc_crc32c_powers(struct krc_crc_powers *powers)
{
    fill(powers, 0x82F63B78);
}

void krc_crc32_powers(struct krc_crc_powers *powers)
{
    fill(powers, 0xEDB88320);
}

/* The remainder, moved ahead of `len` bytes. */
static uint32_t shift(const struct krc_crc_powers *powers, uint32_t remainder, uint64_t len)
{
    for (int i = 0; i < KRC_CRC_DIGITS && len != 0; i++, len >>= 4)
        if (len & 15)
            remainder = multiply(powers->polynomial, powers->list[i][len & 15], remainder);
    return remainder;
}

uint32_t krc_crc_of_rest(const struct krc_crc_powers *powers, uint32_t before, uint32_t both,
                         uint64_t len)
{
    return both ^ shift(powers, before, len);
}

uint32_t krc_crc_of_zeros(const struct krc_crc_powers *powers, uint32_t crc, uint64_t len)
{
    return ~shift(powers, ~crc, len);
}
