#include "base/base64.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint8_t *krc_base64_encode(uint8_t *out, struct krc_bytes in)
{
    for (size_t i = 0; i < in.len; i += 3) {
        size_t n = in.len - i < 3 ? in.len - i : 3;
        uint32_t v = (uint32_t)in.data[i] << 16;
        if (n > 1)
            v |= (uint32_t)in.data[i + 1] << 8;
        if (n > 2)
            v |= in.data[i + 2];
        *out++ = (uint8_t)letters[v >> 18];
        *out++ = (uint8_t)letters[v >> 12 & 63];
        *out++ = n > 1 ? (uint8_t)letters[v >> 6 & 63] : '=';
        *out++ = n > 2 ? (uint8_t)letters[v & 63] : '=';
    }
    return out;
}

static int value_of(uint8_t letter)
{
    const char *p = letter != '\0' ? strchr(letters, letter) : NULL;
    return p != NULL ? (int)(p - letters) : -1;
}

bool krc_base64_decode(uint8_t *out, size_t *len, struct krc_bytes in)
{
    uint32_t bits = 0;
    size_t pads = 0;
    *len = 0;
    if (in.len % 4 != 0)
        return false;
    while (pads < 2 && pads < in.len && in.data[in.len - 1 - pads] == '=')
        pads++;
    for (size_t i = 0; i < in.len - pads; i++) {
        int value = value_of(in.data[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0)
            out[(*len)++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return (bits & ((1u << 2 * pads) - 1)) == 0;
}
