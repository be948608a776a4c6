/*
 * UTF-8.
 */
#ifndef KRC_BASE_UTF8_H
#define KRC_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The length of the sequence at `p` that is not ASCII, 0 where there is none (Unicode 15, table
 * 3-7: no overlong forms, no surrogates, nothing above U+10FFFF). */
static inline size_t krc_utf8_sequence(const uint8_t *p, size_t left)
{
    uint8_t c = p[0];
    size_t n = c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (n == 0 || n > left)
        return 0;
    uint8_t low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    uint8_t high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

/* The code point of a sequence of that length. */
static inline uint32_t krc_utf8_decode(const uint8_t *p, size_t len)
{
    uint32_t character = len == 1 ? p[0] : p[0] & (0xffU >> (len + 1));
    for (size_t i = 1; i < len; i++)
        character = character << 6 | (p[i] & 0x3fU);
    return character;
}

/* The length of the byte order mark that a text begins with, 0 where there is none. */
static inline size_t krc_utf8_mark(const char *text, size_t len)
{
    return len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

#endif
