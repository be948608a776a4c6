#include "tests/support/visit.h"

#include <check.h>
#include <inttypes.h>

#include "base/bytes.h"

/* splitmix64 */
static uint64_t random_number(struct visit *v)
{
    uint64_t z = *v->seed += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint32_t hash(const struct visit *v, const char *name)
{
    uint32_t h = 0x811c9dc5;
    for (const char *c = name; *c != '\0'; c++)
        h = (h ^ (uint8_t)*c) * 0x01000193;
    return h + v->path * 0x9e3779b1;
}

static bool has(const struct visit *v, int16_t since, int16_t until)
{
    return v->version >= since && v->version <= until;
}

static bool is_null(struct visit *v)
{
    return v->values == MESSAGE_BARE || (v->values == MESSAGE_RANDOM && random_number(v) % 4 == 0);
}

void *visit_take(struct visit *v, size_t size)
{
    void *p = krc_arena_take(v->arena, size);
    ck_assert_ptr_nonnull(p);
    return p;
}

static int64_t number_by_rule(const struct visit *v, const char *name, size_t size)
{
    uint32_t h = hash(v, name);
    switch (size) {
    case 1:
        return h % 100;
    case 2:
        return h % 30000;
    case 4:
        return h & INT32_MAX;
    default:
        return (int64_t)h * 65537;
    }
}

int64_t visit_number(struct visit *v, const char *name, int64_t now, size_t size, bool there,
                     int64_t absent)
{
    if (v->out != NULL) {
        fprintf(v->out, "%s %" PRId64 "\n", name, now);
        return now;
    }
    if (!there)
        return absent;
    if (v->values == MESSAGE_RANDOM)
        return (int64_t)random_number(v) >> (64 - 8 * size);
    return number_by_rule(v, name, size);
}

void visit_boolean(struct visit *v, const char *name, bool *b, int16_t since, int16_t until)
{
    if (v->out != NULL)
        fprintf(v->out, "%s %d\n", name, *b);
    else if (has(v, since, until))
        *b = v->values == MESSAGE_RANDOM ? random_number(v) & 1 : hash(v, name) & 1;
}

void visit_uuid(struct visit *v, const char *name, struct krc_uuid *id, int16_t since)
{
    uint32_t h = hash(v, name);
    if (v->out != NULL) {
        fprintf(v->out, "%s ", name);
        for (size_t i = 0; i < sizeof id->bytes; i++)
            fprintf(v->out, "%02x%s", id->bytes[i], i == 15 ? "\n" : "");
    } else if (has(v, since, EVER)) {
        if (v->values == MESSAGE_RANDOM)
            h = (uint32_t)random_number(v);
        for (int i = 0; i < 4; i++)
            krc_put_be32(id->bytes + 4 * i, i == 2 ? ~h : h);
    }
}

static void random_text(struct visit *v, struct krc_bytes *text)
{
    size_t most = random_number(v) % 8 == 0 ? 300 : 12;
    text->len = random_number(v) % most;
    uint8_t *data = visit_take(v, text->len);
    for (size_t i = 0; i < text->len; i++)
        data[i] = (uint8_t)random_number(v);
    text->data = data;
}

static void fill_text(struct visit *v, const char *name, struct krc_bytes *text)
{
    if (v->values == MESSAGE_RANDOM) {
        random_text(v, text);
    } else {
        char *data = visit_take(v, 64);
        int len = snprintf(data, 64, "%s-%u", name, v->path % 1000);
        *text = (struct krc_bytes){(uint8_t *)data, (size_t)len};
    }
}

void visit_text_in(struct visit *v, const char *name, struct krc_bytes *text, int nullable,
                   int16_t since, int16_t until)
{
    if (v->out == NULL) {
        if (has(v, since, until) && !(nullable && is_null(v)))
            fill_text(v, name, text);
        return;
    }
    fprintf(v->out, "%s %s", name, text->data == NULL ? "null" : "'");
    for (size_t i = 0; i < text->len; i++)
        fprintf(v->out, "%02x", text->data[i]);
    fprintf(v->out, "\n");
}

void visit_text(struct visit *v, const char *name, struct krc_bytes *t, int nullable)
{
    visit_text_in(v, name, t, nullable, 0, EVER);
}

static int32_t fill_count(struct visit *v, int nullable)
{
    if (nullable && is_null(v))
        return -1;
    switch (v->values) {
    case MESSAGE_FULL:
        return 2;
    case MESSAGE_BARE:
        return 0;
    default:
        return (int32_t)(random_number(v) % 4);
    }
}

struct visit visit_inside(const struct visit *v, int32_t i)
{
    struct visit element = *v;
    element.path = v->path * 31 + (uint32_t)i + 1;
    return element;
}

void visit_array(struct visit *v, const char *name, void *list, int32_t *count, size_t size,
                 int nullable, visit_fn *element, int16_t since)
{
    uint8_t *elements;
    if (v->out == NULL && has(v, since, EVER)) {
        *count = fill_count(v, nullable);
        elements = *count > 0 ? visit_take(v, (size_t)*count * size) : NULL;
        memcpy(list, &elements, sizeof elements);
    }
    memcpy(&elements, list, sizeof elements);
    if (v->out != NULL)
        fprintf(v->out, "%s [%d]\n", name, *count);
    for (int32_t i = 0; i < *count; i++) {
        struct visit within = visit_inside(v, i);
        element(&within, elements + (size_t)i * size);
    }
}
