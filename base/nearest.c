#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

enum { LETTERS = 255 }; /* of longer names only these count */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance: how many letters to insert, remove or exchange; none where `b`, of `len`
 * bytes, begins with all of `a`. */
static size_t distance(const char *a, const char *b, size_t len)
{
    size_t row[LETTERS + 1];
    if (strlen(a) <= len && memcmp(a, b, strlen(a)) == 0)
        return 0;
    len = least(len, LETTERS);
    for (size_t j = 0; j <= len; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < len; j++) {
            size_t exchanged = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = least(exchanged, least(row[j], row[j + 1]) + 1);
        }
    }
    return row[len];
}

struct krc_nearest krc_nearest(const char *to)
{
    return (struct krc_nearest){.to = to, .distance = SIZE_MAX};
}

void krc_nearest_consider(struct krc_nearest *nearest, const char *name, size_t len)
{
    size_t d = distance(nearest->to, name, len);
    if (d < nearest->distance)
        *nearest = (struct krc_nearest){nearest->to, name, len, d};
}

bool krc_nearest_is_near(const struct krc_nearest *nearest)
{
    size_t letters = strlen(nearest->to);
    return nearest->name != NULL && letters >= 3 && nearest->distance <= letters / 3;
}
