#include "protocol/wire.h"

#include <string.h>

enum { MOST_STRING = INT16_MAX };

static void fail(struct krc_wire *w, int code)
{
    if (w->rc == KRC_OK)
        w->rc = code;
    w->in.failed = true; /* all further reads give zeros */
}

static const uint8_t *take(struct krc_wire *w, size_t n)
{
    const uint8_t *p = krc_take(&w->in, n);
    if (p == NULL)
        fail(w, KRC_E_CORRUPT);
    return p;
}

static void append(struct krc_wire *w, const void *data, size_t len)
{
    if (w->rc == KRC_OK)
        w->rc = krc_buffer_append(w->out, data, len, NULL);
}

/* ---- Numbers ------------------------------------------------------------------------------- */

void krc_wire_bool(struct krc_wire *w, bool *v)
{
    int8_t byte = *v;
    krc_wire_i8(w, &byte);
    if (!w->writing)
        *v = byte != 0;
}

void krc_wire_i8(struct krc_wire *w, int8_t *v)
{
    if (w->writing) {
        append(w, v, 1);
    } else {
        const uint8_t *p = take(w, 1);
        *v = p != NULL ? (int8_t)*p : 0;
    }
}

void krc_wire_i16(struct krc_wire *w, int16_t *v)
{
    if (w->writing) {
        append(w, (uint8_t[]){(uint8_t)((uint16_t)*v >> 8), (uint8_t)*v}, 2);
    } else {
        const uint8_t *p = take(w, 2);
        *v = p != NULL ? (int16_t)krc_be16(p) : 0;
    }
}

void krc_wire_i32(struct krc_wire *w, int32_t *v)
{
    if (w->writing) {
        uint8_t bytes[4];
        krc_put_be32(bytes, (uint32_t)*v);
        append(w, bytes, sizeof bytes);
    } else {
        const uint8_t *p = take(w, 4);
        *v = p != NULL ? (int32_t)krc_be32(p) : 0;
    }
}

void krc_wire_i64(struct krc_wire *w, int64_t *v)
{
    if (w->writing) {
        uint8_t bytes[8];
        krc_put_be64(bytes, (uint64_t)*v);
        append(w, bytes, sizeof bytes);
    } else {
        const uint8_t *p = take(w, 8);
        *v = p != NULL ? (int64_t)krc_be64(p) : 0;
    }
}

void krc_wire_uuid(struct krc_wire *w, struct krc_uuid *v)
{
    if (w->writing) {
        append(w, v->bytes, sizeof v->bytes);
    } else {
        const uint8_t *p = take(w, sizeof v->bytes);
        if (p != NULL)
            memcpy(v->bytes, p, sizeof v->bytes);
    }
}

void krc_wire_i32_since(struct krc_wire *w, int16_t since, int32_t *v, int32_t absent)
{
    if (w->version >= since)
        krc_wire_i32(w, v);
    else if (!w->writing)
        *v = absent;
}

void krc_wire_i64_since(struct krc_wire *w, int16_t since, int64_t *v, int64_t absent)
{
    if (w->version >= since)
        krc_wire_i64(w, v);
    else if (!w->writing)
        *v = absent;
}

static uint32_t get_unsigned_varint(struct krc_wire *w)
{
    uint64_t v = krc_get_unsigned_varint(&w->in, 5);
    if (w->in.failed || v > UINT32_MAX) {
        fail(w, KRC_E_CORRUPT);
        return 0;
    }
    return (uint32_t)v;
}

static void put_unsigned_varint(struct krc_wire *w, uint32_t v)
{
    uint8_t bytes[5];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    append(w, bytes, n);
}

/* ---- Strings and bytes --------------------------------------------------------------------- */

/*
 * A length, or the count of an array; -1 for null:
 *
 *      flexible    unsigned varint, 1 more than the length, 0 for null
 *      otherwise   int16 for strings (narrow), else int32
 */
static int64_t get_length(struct krc_wire *w, bool narrow, bool nullable)
{
    int16_t length16;
    int32_t length32;
    int64_t length;
    if (w->flexible) {
        length = (int64_t)get_unsigned_varint(w) - 1;
    } else if (narrow) {
        krc_wire_i16(w, &length16);
        length = length16;
    } else {
        krc_wire_i32(w, &length32);
        length = length32;
    }
    if (length < (nullable ? -1 : 0))
        fail(w, KRC_E_CORRUPT);
    return w->rc == KRC_OK ? length : 0;
}

static void put_length(struct krc_wire *w, bool narrow, int64_t length)
{
    if (length > (narrow ? MOST_STRING : INT32_MAX - 1))
        fail(w, KRC_E_INVALID);
    else if (w->flexible)
        put_unsigned_varint(w, (uint32_t)(length + 1));
    else if (narrow)
        krc_wire_i16(w, &(int16_t){(int16_t)length});
    else
        krc_wire_i32(w, &(int32_t){(int32_t)length});
}

static void blob(struct krc_wire *w, struct krc_bytes *v, bool narrow, bool nullable)
{
    if (w->writing) {
        put_length(w, narrow, nullable && v->data == NULL ? -1 : (int64_t)v->len);
        append(w, v->data, v->len);
        return;
    }
    int64_t length = get_length(w, narrow, nullable);
    *v = (struct krc_bytes){0};
    if (length > (narrow ? MOST_STRING : INT32_MAX))
        fail(w, KRC_E_CORRUPT);
    const uint8_t *p = length >= 0 ? take(w, (size_t)length) : NULL;
    if (p != NULL)
        *v = (struct krc_bytes){p, (size_t)length};
}

void krc_wire_string(struct krc_wire *w, struct krc_bytes *v)
{
    blob(w, v, true, false);
}

void krc_wire_nullable_string(struct krc_wire *w, struct krc_bytes *v)
{
    blob(w, v, true, true);
}

void krc_wire_bytes(struct krc_wire *w, struct krc_bytes *v)
{
    blob(w, v, false, false);
}

void krc_wire_nullable_bytes(struct krc_wire *w, struct krc_bytes *v)
{
    blob(w, v, false, true);
}

/* ---- Arrays -------------------------------------------------------------------------------- */

static void count_of(struct krc_wire *w, int32_t *count, size_t least, bool nullable)
{
    if (w->writing) {
        if (*count < 0 && !nullable)
            fail(w, KRC_E_INVALID);
        put_length(w, false, *count < 0 ? -1 : *count);
        return;
    }
    int64_t length = get_length(w, false, nullable);
    if (length > 0 && (uint64_t)length > krc_left(&w->in) / least) {
        fail(w, KRC_E_CORRUPT);
        length = 0;
    }
    *count = (int32_t)length;
}

void krc_wire_count(struct krc_wire *w, int32_t *count, size_t least)
{
    count_of(w, count, least, false);
}

int32_t krc_wire_count_of_one(struct krc_wire *w, size_t least)
{
    int32_t count = 1;
    krc_wire_count(w, &count, least);
    if (count < 1)
        fail(w, KRC_E_CORRUPT);
    return count;
}

static void *take_memory(struct krc_wire *w, size_t count, size_t size)
{
    void *memory = count > SIZE_MAX / size ? NULL : krc_arena_take(w->arena, count * size);
    if (memory == NULL)
        fail(w, KRC_E_NOMEM);
    return memory;
}

static void array(struct krc_wire *w, void *list, int32_t *count, size_t size, size_t least,
                  krc_wire_fn *element, bool nullable)
{
    uint8_t *elements = NULL;
    count_of(w, count, least, nullable);
    if (w->writing) {
        memcpy(&elements, list, sizeof elements);
    } else {
        if (*count > 0)
            elements = take_memory(w, (size_t)*count, size);
        if (elements == NULL && *count > 0)
            *count = 0;
        memcpy(list, &elements, sizeof elements);
    }
    for (int32_t i = 0; i < *count && w->rc == KRC_OK; i++)
        element(w, elements + (size_t)i * size);
}

void krc_wire_array(struct krc_wire *w, void *list, int32_t *count, size_t size, size_t least,
                    krc_wire_fn *element)
{
    array(w, list, count, size, least, element, false);
}

void krc_wire_nullable_array(struct krc_wire *w, void *list, int32_t *count, size_t size,
                             size_t least, krc_wire_fn *element)
{
    array(w, list, count, size, least, element, true);
}

/* Each is read into the memory of the one before. */
static void check_rows(struct krc_wire *w, struct krc_wire_rows rows)
{
    struct krc_arena scratch = {.limit = w->arena->limit};
    void *element = rows.left == 0 ? NULL : take_memory(w, 1, rows.size);
    while (element != NULL && krc_wire_next(&rows, element, &scratch))
        krc_arena_reset(&scratch);
    if (element != NULL) {
        w->rc = rows.wire.rc;
        w->in = rows.wire.in;
    }
    w->arena->is_over |= scratch.is_over;
    krc_arena_free(&scratch);
}

void krc_wire_rows(struct krc_wire *w, void *list, int32_t *count, size_t size, size_t least,
                   krc_wire_fn *element, struct krc_wire_rows *rows)
{
    if (w->writing) {
        array(w, list, count, size, least, element, false);
        return;
    }
    count_of(w, count, least, false);
    *rows = (struct krc_wire_rows){
        .wire = *w, .left = *count, .size = size, .element = element};
    check_rows(w, *rows);
}

bool krc_wire_next(struct krc_wire_rows *rows, void *element, struct krc_arena *arena)
{
    struct krc_wire *w = &rows->wire;
    if (rows->left == 0 || w->rc != KRC_OK)
        return false;
    rows->left--;
    w->arena = arena;
    rows->element(w, memset(element, 0, rows->size));
    return w->rc == KRC_OK;
}

static void i32_element(struct krc_wire *w, void *element)
{
    krc_wire_i32(w, element);
}

void krc_wire_i32_array(struct krc_wire *w, int32_t **list, int32_t *count)
{
    array(w, list, count, sizeof **list, sizeof **list, i32_element, false);
}

void krc_wire_nullable_i32_array(struct krc_wire *w, int32_t **list, int32_t *count)
{
    array(w, list, count, sizeof **list, sizeof **list, i32_element, true);
}

static void string_element(struct krc_wire *w, void *element)
{
    krc_wire_string(w, element);
}

/* A string takes a byte at the least: its length, where that is compact. */
void krc_wire_string_array(struct krc_wire *w, struct krc_bytes **list, int32_t *count)
{
    array(w, list, count, sizeof **list, 1, string_element, false);
}

void krc_wire_nullable_string_array(struct krc_wire *w, struct krc_bytes **list, int32_t *count)
{
    array(w, list, count, sizeof **list, 1, string_element, true);
}

/* ---- Tagged fields ------------------------------------------------------------------------- */

/*
 * Tagged fields, in rising order of their tags:
 *
 *      unsigned varint  how many
 *      each: unsigned varint  tag
 *            unsigned varint  size
 *            bytes
 */
static void read_tags(struct krc_wire *w, krc_wire_tag_fn *field, void *message)
{
    int64_t last = -1;
    for (uint32_t n = get_unsigned_varint(w); n > 0; n--) {
        uint32_t tag = get_unsigned_varint(w);
        uint32_t size = get_unsigned_varint(w);
        const uint8_t *p = take(w, size);
        if (p == NULL || tag <= last) {
            fail(w, KRC_E_CORRUPT);
            return;
        }
        last = tag;
        struct krc_cursor behind = w->in;
        w->in = krc_cursor(p, size);
        if (field != NULL && field(w, tag, message) && krc_left(&w->in) != 0)
            fail(w, KRC_E_CORRUPT);
        if (w->rc != KRC_OK)
            return;
        w->in = behind;
    }
}

static void write_tags(struct krc_wire *w, const uint32_t *tags, size_t count,
                       krc_wire_tag_fn *field, void *message)
{
    struct krc_buffer *out = w->out, fields = {0}, one = {0};
    uint32_t written = 0;
    for (size_t i = 0; i < count; i++) {
        w->out = &one;
        one.len = 0;
        if (!field(w, tags[i], message))
            continue;
        w->out = &fields;
        put_unsigned_varint(w, tags[i]);
        put_unsigned_varint(w, (uint32_t)one.len);
        append(w, one.data, one.len);
        written++;
    }
    w->out = out;
    put_unsigned_varint(w, written);
    append(w, fields.data, fields.len);
    krc_buffer_free(&fields);
    krc_buffer_free(&one);
}

void krc_wire_tags(struct krc_wire *w)
{
    krc_wire_known_tags(w, NULL, 0, NULL, NULL);
}

void krc_wire_known_tags(struct krc_wire *w, const uint32_t *tags, size_t count,
                         krc_wire_tag_fn *field, void *message)
{
    if (!w->flexible)
        return;
    if (w->writing)
        write_tags(w, tags, count, field, message);
    else
        read_tags(w, field, message);
}
