/*
 * Big-endian numbers, and a cursor over borrowed bytes that cannot leave them.
 *
 * A cursor remembers its first failure: after one, every read gives 0 and `failed` stays set, so
 * that a decoder reads field after field and asks once.
 */
#ifndef KRC_BASE_BYTES_H
#define KRC_BASE_BYTES_H

#include <krc.h>
#include <string.h>

/* A string's bytes, borrowed. */
static inline struct krc_bytes krc_bytes_of(const char *text)
{
    return (struct krc_bytes){(const uint8_t *)text, strlen(text)};
}

static inline uint16_t krc_be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t krc_be32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

static inline uint64_t krc_be64(const uint8_t *p)
{
    return (uint64_t)krc_be32(p) << 32 | krc_be32(p + 4);
}

static inline void krc_put_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static inline void krc_put_be64(uint8_t *p, uint64_t v)
{
    krc_put_be32(p, (uint32_t)(v >> 32));
    krc_put_be32(p + 4, (uint32_t)v);
}

struct krc_cursor {
    const uint8_t *p;
    const uint8_t *end;
    bool failed;
};

static inline struct krc_cursor krc_cursor(const void *data, size_t len)
{
    return (struct krc_cursor){.p = data, .end = (const uint8_t *)data + len};
}

static inline size_t krc_left(const struct krc_cursor *c)
{
    return (size_t)(c->end - c->p);
}

/* The next n bytes, or NULL (and failed) when there are fewer. */
static inline const uint8_t *krc_take(struct krc_cursor *c, size_t n)
{
    if (c->failed || krc_left(c) < n) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *p = c->p;
    c->p += n;
    return p;
}

static inline int8_t krc_get_i8(struct krc_cursor *c)
{
    const uint8_t *p = krc_take(c, 1);
    return p ? (int8_t)*p : 0;
}

static inline int16_t krc_get_i16(struct krc_cursor *c)
{
    const uint8_t *p = krc_take(c, 2);
    return p ? (int16_t)krc_be16(p) : 0;
}

static inline int32_t krc_get_i32(struct krc_cursor *c)
{
    const uint8_t *p = krc_take(c, 4);
    return p ? (int32_t)krc_be32(p) : 0;
}

static inline int64_t krc_get_i64(struct krc_cursor *c)
{
    const uint8_t *p = krc_take(c, 8);
    return p ? (int64_t)krc_be64(p) : 0;
}

/* Base-128 with 7 bits a byte, least significant first: at most `most` bytes (5 or 10). */
static inline uint64_t krc_get_unsigned_varint(struct krc_cursor *c, int most)
{
    uint64_t v = 0;
    for (int i = 0; i < most; i++) {
        const uint8_t *p = krc_take(c, 1);
        if (p == NULL)
            return 0;
        v |= (uint64_t)(*p & 0x7f) << (7 * i);
        if (*p < 0x80)
            return v;
    }
    c->failed = true;
    return 0;
}

/* Zig-zag varints: int32 in at most 5 bytes, int64 in at most 10. */
static inline int32_t krc_get_varint(struct krc_cursor *c)
{
    uint32_t v = (uint32_t)krc_get_unsigned_varint(c, 5);
    return (int32_t)(v >> 1) ^ -(int32_t)(v & 1);
}

static inline int64_t krc_get_varlong(struct krc_cursor *c)
{
    uint64_t v = krc_get_unsigned_varint(c, 10);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
