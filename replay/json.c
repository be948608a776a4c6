#include "replay/json.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/base64.h"
#include "base/bytes.h"
#include "base/utf8.h"

/* ---- Into the buffer, where room was made before: each returns the end of what it wrote ----- */

static uint8_t *put(uint8_t *out, const void *data, size_t len)
{
    memcpy(out, data, len);
    return out + len;
}

#define PUT(out, literal) put(out, literal, sizeof(literal) - 1)

enum { NUMBER_MAX = 20 };

static uint8_t *put_number(uint8_t *out, int64_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    uint8_t digits[NUMBER_MAX], *p = digits + sizeof digits;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    for (; rest >= 100; rest /= 100)
        memcpy(p -= 2, pairs + rest % 100 * 2, 2);
    if (rest >= 10)
        memcpy(p -= 2, pairs + rest * 2, 2);
    else
        *--p = (uint8_t)('0' + rest);
    if (number < 0)
        *out++ = '-';
    return put(out, p, (size_t)(digits + sizeof digits - p));
}

int krc_json_number(struct krc_buffer *buffer, int64_t number, krc_error *error)
{
    KRC_TRY(krc_buffer_reserve(buffer, buffer->len + NUMBER_MAX, error));
    buffer->len = (size_t)(put_number(buffer->data + buffer->len, number) - buffer->data);
    return KRC_OK;
}

/* ---- Strings ------------------------------------------------------------------------------- */

/* In the top bit of each of eight bytes: it is a control character, '"', '\\', or not ASCII.
 * Subtracting borrows from higher bytes, so only the lowest bit that is set is sure. */
static uint64_t specials(uint64_t v)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t quote = v ^ ones * '"', slash = v ^ ones * '\\';
    uint64_t control = (v - ones * 0x20) & ~v;
    quote = (quote - ones) & ~quote;
    slash = (slash - ones) & ~slash;
    return (v | control | quote | slash) & highs;
}

/* How many of the eight bytes at `p` come before the first special one. */
static size_t plain_bytes(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    uint64_t found = specials(v);
    return found == 0 ? 8 : (size_t)__builtin_ctzll(found) / 8;
}

/* A control character: \n and such, or \u00XX. */
static uint8_t *put_control(uint8_t *out, uint8_t c)
{
    static const char hex[] = "0123456789abcdef", letters[] = "btn?fr";
    if (c >= '\b' && c <= '\r' && c != '\v') {
        *out++ = '\\';
        *out++ = (uint8_t)letters[c - '\b'];
        return out;
    }
    out = PUT(out, "\\u00");
    *out++ = (uint8_t)hex[c >> 4];
    *out++ = (uint8_t)hex[c & 15];
    return out;
}

enum { ESCAPED_MAX = 6, WORD = 8 };

/* One character from `*p`, escaped; NULL where it is no UTF-8. */
static inline uint8_t *put_character(uint8_t *out, const uint8_t **p, const uint8_t *end)
{
    uint8_t c = **p;
    if (c < 0x80) {
        ++*p;
        if (c < 0x20)
            return put_control(out, c);
        *out = '\\';
        out += c == '"' || c == '\\';
        *out++ = c;
        return out;
    }
    size_t n = krc_utf8_sequence(*p, (size_t)(end - *p));
    if (n == 0)
        return NULL;
    out = put(out, *p, n);
    *p += n;
    return out;
}

#ifdef __SSE2__

enum { BLOCK = 16, SLACK = 2 * BLOCK };

/* A bit for each of the 16 bytes at `p` that is special; the signed comparison takes those above
 * 0x7f for negative. */
static unsigned block_specials(const uint8_t *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i found = _mm_cmplt_epi8(v, _mm_set1_epi8(0x20));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
    return (unsigned)_mm_movemask_epi8(found);
}

/* Blocks in which quotes and backslashes are all that is special, as in JSON within JSON: looked
 * at once, and copied piece by piece, each piece with what follows it. */
static uint8_t *put_blocks(uint8_t *out, const uint8_t **from, const uint8_t *end)
{
    const uint8_t *p = *from;
    for (; end - p >= 2 * BLOCK; p += BLOCK) {
        uint8_t *start = out;
        int at = 0;
        for (unsigned found = block_specials(p); found != 0; found &= found - 1) {
            int next = __builtin_ctz(found);
            if (p[next] != '"' && p[next] != '\\') {
                *from = p;
                return start;
            }
            memcpy(out, p + at, BLOCK);
            out += next - at;
            *out++ = '\\';
            at = next;
        }
        memcpy(out, p + at, BLOCK);
        out += BLOCK - at;
    }
    *from = p;
    return out;
}

#else

enum { SLACK = WORD };

static uint8_t *put_blocks(uint8_t *out, const uint8_t **from, const uint8_t *end)
{
    (void)from;
    (void)end;
    return out;
}

#endif

/* All of it, escaped, where there is room for the worst; NULL where it is no UTF-8.  Whole words
 * are copied before they are looked at. */
static uint8_t *put_characters(uint8_t *out, const uint8_t *p, const uint8_t *end)
{
    out = put_blocks(out, &p, end);
    while (end - p >= WORD) {
        memcpy(out, p, WORD);
        size_t n = plain_bytes(p);
        out += n;
        p += n;
        if (n < WORD && (out = put_character(out, &p, end)) == NULL)
            return NULL;
    }
    while (p < end)
        if ((out = put_character(out, &p, end)) == NULL)
            return NULL;
    return out;
}

/* Appends a JSON string: 1 done, 0 it is no valid UTF-8 and nothing was appended.  A long text goes
 * piece by piece, so that the room for its worst case is never needed at once. */
static int append_string(struct krc_buffer *buffer, struct krc_bytes text, krc_error *error)
{
    enum { PIECE = 64 << 10 };
    size_t before = buffer->len;
    const uint8_t *p = text.data, *end = p + text.len;
    KRC_TRY(krc_buffer_append(buffer, "\"", 1, error));
    while (p < end) {
        const uint8_t *stop = end - p > PIECE ? p + PIECE : end;
        while (stop < end && stop > p && (*stop & 0xc0) == 0x80)
            stop--; /* not inside a character */
        if (stop == p)
            break; /* all continuation bytes: no UTF-8 */
        size_t room = (size_t)(stop - p) * ESCAPED_MAX + SLACK;
        KRC_TRY(krc_buffer_reserve(buffer, buffer->len + room, error));
        uint8_t *out = put_characters(buffer->data + buffer->len, p, stop);
        if (out == NULL)
            break;
        buffer->len = (size_t)(out - buffer->data);
        p = stop;
    }
    if (p < end) {
        buffer->len = before;
        return 0;
    }
    KRC_TRY(krc_buffer_append(buffer, "\"", 1, error));
    return 1;
}

int krc_json_string(struct krc_buffer *out, struct krc_bytes text, krc_error *error)
{
    int rc = append_string(out, text, error);
    if (rc == 0)
        return krc_fail(error, KRC_E_INVALID, "a name is no valid UTF-8");
    return rc < 0 ? rc : KRC_OK;
}

static int append_base64(struct krc_buffer *buffer, struct krc_bytes in, krc_error *error)
{
    KRC_TRY(krc_buffer_reserve(buffer, buffer->len + krc_base64_size(in.len) + 2, error));
    uint8_t *out = PUT(buffer->data + buffer->len, "\"");
    out = krc_base64_encode(out, in);
    *out++ = '"';
    buffer->len = (size_t)(out - buffer->data);
    return KRC_OK;
}

/* A member of an object, after what stands before it: `,"key":…`, or `,"keyBase64":…`. */
struct name {
    const char *plain, *base64;
};

#define NAME(before, member) \
    ((struct name){before "\"" member "\":", before "\"" member "Base64\":"})

static int append_member(struct krc_buffer *out, struct name name, struct krc_bytes bytes,
                         bool base64, krc_error *error)
{
    size_t before = out->len;
    KRC_TRY(krc_buffer_append(out, name.plain, strlen(name.plain), error));
    if (bytes.data == NULL)
        return krc_buffer_append(out, "null", 4, error);
    if (base64)
        return append_base64(out, bytes, error);
    int rc = append_string(out, bytes, error);
    if (rc != 0)
        return rc < 0 ? rc : KRC_OK;
    out->len = before;
    KRC_TRY(krc_buffer_append(out, name.base64, strlen(name.base64), error));
    return append_base64(out, bytes, error);
}

/* ---- Lines --------------------------------------------------------------------------------- */

int krc_json_headers(struct krc_buffer *out, const struct krc_record *record, bool base64,
                     krc_error *error)
{
    struct krc_bytes rest = record->headers;
    struct krc_header header;
    KRC_TRY(krc_buffer_append(out, "[", 1, error));
    for (bool first = true; krc_header_next(&rest, &header); first = false) {
        struct name key = first ? NAME("{", "key") : NAME(",{", "key");
        KRC_TRY(append_member(out, key, header.key, base64, error));
        KRC_TRY(append_member(out, NAME(",", "value"), header.value, base64, error));
        KRC_TRY(krc_buffer_append(out, "}", 1, error));
    }
    return krc_buffer_append(out, "]", 1, error);
}

const char *krc_timestamp_type_name(enum krc_timestamp_type type)
{
    static const char *const names[] = {[KRC_NO_TIMESTAMP] = "NoTimestampType",
                                        [KRC_CREATE_TIME] = "CreateTime",
                                        [KRC_LOG_APPEND_TIME] = "LogAppendTime"};
    return names[type];
}

int krc_json_prefix(struct krc_buffer *prefix, const char *topic, int32_t partition,
                    krc_error *error)
{
    enum { NAMES = 32 };
    prefix->len = 0;
    KRC_TRY(krc_buffer_append(prefix, "{\"topic\":", 9, error));
    KRC_TRY(krc_json_string(prefix, krc_bytes_of(topic), error));
    KRC_TRY(krc_buffer_reserve(prefix, prefix->len + NAMES + NUMBER_MAX, error));
    uint8_t *out = PUT(prefix->data + prefix->len, ",\"partition\":");
    out = put_number(out, partition);
    out = PUT(out, ",\"offset\":");
    prefix->len = (size_t)(out - prefix->data);
    return KRC_OK;
}

/* All that is before the key. */
static int append_numbers(struct krc_buffer *line, const struct krc_buffer *prefix,
                          const struct krc_record *record, enum krc_timestamp_type type,
                          krc_error *error)
{
    enum { NAMES = 80 };
    KRC_TRY(krc_buffer_reserve(line, line->len + prefix->len + NAMES + 3 * NUMBER_MAX, error));
    uint8_t *out = put(line->data + line->len, prefix->data, prefix->len);
    out = put_number(out, record->offset);
    out = PUT(out, ",\"timestamp\":");
    out = put_number(out, record->timestamp_ms);
    out = PUT(out, ",\"timestampType\":\"");
    const char *name = krc_timestamp_type_name(type);
    out = put(out, name, strlen(name));
    out = PUT(out, "\",\"leaderEpoch\":");
    out = record->leader_epoch < 0 ? PUT(out, "null") : put_number(out, record->leader_epoch);
    line->len = (size_t)(out - line->data);
    return KRC_OK;
}

int krc_json_line(struct krc_buffer *out, const struct krc_buffer *prefix,
                  const struct krc_record *record, enum krc_timestamp_type type, bool base64,
                  krc_error *error)
{
    KRC_TRY(append_numbers(out, prefix, record, type, error));
    KRC_TRY(append_member(out, NAME(",", "key"), record->key, base64, error));
    KRC_TRY(append_member(out, NAME(",", "value"), record->value, base64, error));
    if (record->header_count == 0)
        return krc_buffer_append(out, ",\"headers\":[]}\n", 15, error);
    KRC_TRY(krc_buffer_append(out, ",\"headers\":", 11, error));
    KRC_TRY(krc_json_headers(out, record, base64, error));
    return krc_buffer_append(out, "}\n", 2, error);
}
