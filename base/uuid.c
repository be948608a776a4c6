#include "base/uuid.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int digit_of(char c)
{
    const char *p = c != '\0' ? strchr(digits, c) : NULL;
    return p != NULL ? (int)(p - digits) : -1;
}

bool krc_uuid_parse(const char letters[KRC_UUID_LETTERS], struct krc_uuid *id)
{
    uint32_t bits = 0;
    size_t done = 0;
    for (int i = 0; i < KRC_UUID_LETTERS; i++) {
        int digit = digit_of(letters[i]);
        if (digit < 0)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 != 0)
            id->bytes[done++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return true;
}

void krc_uuid_format(const struct krc_uuid *id, char text[KRC_UUID_LETTERS + 1])
{
    for (int i = 0; i < KRC_UUID_LETTERS; i++) {
        int byte = i * 6 / 8, shift = 10 - i * 6 % 8; /* of these six bits in two bytes */
        unsigned next = byte + 1 < (int)sizeof id->bytes ? id->bytes[byte + 1] : 0;
        text[i] = digits[((unsigned)id->bytes[byte] << 8 | next) >> shift & 0x3f];
    }
    text[KRC_UUID_LETTERS] = '\0';
}
