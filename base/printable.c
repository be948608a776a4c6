#include "base/printable.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Source: Unicode 15, controls (Cc), separators (Zl, Zp), interlinear annotations, and
 * Default_Ignorable_Code_Point of DerivedCoreProperties.txt, which has the directional marks. */
static const struct {
    uint32_t first, last;
} invisible[] = {
    {0x0080, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c},
    {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},
    {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool is_invisible(uint32_t character)
{
    for (size_t i = 0; i < sizeof invisible / sizeof *invisible; i++)
        if (character >= invisible[i].first && character <= invisible[i].last)
            return true;
    return false;
}

size_t krc_printable_character(const void *text, size_t len)
{
    const uint8_t *p = text;
    if (p[0] < 0x80)
        return p[0] >= ' ' && p[0] != 0x7f;
    size_t n = krc_utf8_sequence(p, len);
    return n > 0 && is_invisible(krc_utf8_decode(p, n)) ? 0 : n;
}

size_t krc_printable(char *out, size_t size, const void *text, size_t len)
{
    const uint8_t *p = text;
    size_t used = 0, whole = 0;
    for (size_t i = 0, n; i < len; i += n == 0 ? 1 : n) {
        char escaped[5];
        n = krc_printable_character(p + i, len - i);
        if (n == 0)
            snprintf(escaped, sizeof escaped, "\\x%02x", p[i]);
        size_t add = n == 0 ? 4 : n;
        if (used == whole && add < size - used) {
            memcpy(out + used, n == 0 ? (const uint8_t *)escaped : p + i, add);
            used += add;
        }
        whole += add;
    }
    out[used] = '\0';
    return whole;
}

char *krc_printable_copy(const void *text, size_t len)
{
    size_t size = krc_printable((char[1]){0}, 1, text, len) + 1;
    char *copy = malloc(size);
    if (copy != NULL)
        krc_printable(copy, size, text, len);
    return copy;
}

void krc_make_printable(char *text, size_t size)
{
    char raw[8192];
    size_t len = strlen(text), good = 0, n;
    assert(size <= sizeof raw);
    while (good < len && (n = krc_printable_character(text + good, len - good)) > 0)
        good += n;
    if (good == len)
        return;
    memcpy(raw, text + good, len - good);
    krc_printable(text + good, size - good, raw, len - good);
}
