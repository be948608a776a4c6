#include "replay/json.h"

#include <string.h>

/* ---- UTF-8 -------------------------------------------------------------------------------------- */

/* What a byte costs in a JSON string beyond itself: 1 for \n and such, 5 for \u00XX. */
static size_t extra(uint8_t c)
{
    if (c >= 0x20)
        return c == '"' || c == '\\';
    return c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f' ? 1 : 5;
}

/* The length of the UTF-8 sequence at `p` that is not ASCII, 0 where there is none (Unicode 15,
 * table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t sequence(const uint8_t *p, size_t left)
{
    uint8_t c = p[0];
    size_t n = c >= 0xc2 && c <= 0xdf ? 2 : c >= 0xe0 && c <= 0xef ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
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

/* Of eight bytes at once: whether any is a control character, '"', '\\', or not ASCII. */
static bool all_plain(const uint8_t *p)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t v;
    memcpy(&v, p, sizeof v);
    uint64_t control = (v - ones * 0x20) & ~v;
    uint64_t quote = v ^ ones * '"', slash = v ^ ones * '\\';
    quote = (quote - ones) & ~quote;
    slash = (slash - ones) & ~slash;
    return ((v | control | quote | slash) & highs) == 0;
}

/* Whether the text is UTF-8, and how many bytes escapes add to it. */
static bool measure(struct krc_bytes text, size_t *escapes)
{
    const uint8_t *p = text.data, *end = p + text.len;
    *escapes = 0;
    while (p < end) {
        if (end - p >= 8 && all_plain(p)) {
            p += 8;
        } else if (*p < 0x80) {
            *escapes += extra(*p++);
        } else {
            size_t n = sequence(p, (size_t)(end - p));
            if (n == 0)
                return false;
            p += n;
        }
    }
    return true;
}

/* ---- Into the buffer, where room was made before ------------------------------------------------- */

static void put(struct krc_buffer *out, const void *data, size_t len)
{
    memcpy(out->data + out->len, data, len);
    out->len += len;
}

#define PUT(out, literal) put(out, literal, sizeof(literal) - 1)

static void put_number(struct krc_buffer *out, int64_t number)
{
    char digits[20];
    size_t n = sizeof digits;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do
        digits[--n] = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0)
        PUT(out, "-");
    put(out, digits + n, sizeof digits - n);
}

int krc_json_number(struct krc_buffer *out, int64_t number, krc_error *error)
{
    enum { LONGEST = 20 }; /* -9223372036854775808 */
    KRC_TRY(krc_buffer_reserve(out, out->len + LONGEST, error));
    put_number(out, number);
    return KRC_OK;
}

static void put_escape(struct krc_buffer *out, uint8_t c)
{
    static const char hex[] = "0123456789abcdef", letters[] = "btn?fr";
    char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    if (c >= 0x20 || extra(c) == 1) {
        text[1] = c >= 0x20 ? (char)c : letters[c - '\b'];
        put(out, text, 2);
    } else {
        put(out, text, 6);
    }
}

static void put_escaped(struct krc_buffer *out, struct krc_bytes text)
{
    const uint8_t *p = text.data, *end = p + text.len;
    while (p < end) {
        const uint8_t *plain = p;
        while (p < end && extra(*p) == 0)
            p++;
        put(out, plain, (size_t)(p - plain));
        if (p < end)
            put_escape(out, *p++);
    }
}

static void put_base64(struct krc_buffer *out, struct krc_bytes in)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < in.len; i += 3) {
        size_t n = in.len - i < 3 ? in.len - i : 3;
        uint32_t v = (uint32_t)in.data[i] << 16;
        if (n > 1)
            v |= (uint32_t)in.data[i + 1] << 8;
        if (n > 2)
            v |= in.data[i + 2];
        char four[4] = {letters[v >> 18], letters[v >> 12 & 63],
                        n > 1 ? letters[v >> 6 & 63] : '=', n > 2 ? letters[v & 63] : '='};
        put(out, four, 4);
    }
}

static int put_string(struct krc_buffer *out, struct krc_bytes text, size_t escapes,
                      krc_error *error)
{
    KRC_TRY(krc_buffer_reserve(out, out->len + text.len + escapes + 2, error));
    PUT(out, "\"");
    if (escapes == 0)
        put(out, text.data, text.len);
    else
        put_escaped(out, text);
    PUT(out, "\"");
    return KRC_OK;
}

int krc_json_string(struct krc_buffer *out, struct krc_bytes text, krc_error *error)
{
    size_t escapes;
    if (!measure(text, &escapes))
        return krc_fail(error, KRC_E_INVALID, "a name is no valid UTF-8");
    return put_string(out, text, escapes, error);
}

/* ,"NAME":… or ,"NAMEBase64":…; the first in an object without the comma. */
static int put_member(struct krc_buffer *out, const char *name, bool first, struct krc_bytes bytes,
                      bool base64, krc_error *error)
{
    enum { NAME_MAX_LEN = 32 };
    size_t escapes = 0;
    KRC_TRY(krc_buffer_reserve(out, out->len + NAME_MAX_LEN, error));
    if (!first)
        PUT(out, ",");
    PUT(out, "\"");
    put(out, name, strlen(name));
    if (bytes.data == NULL) {
        PUT(out, "\":null");
        return KRC_OK;
    }
    if (!base64 && measure(bytes, &escapes)) {
        PUT(out, "\":");
        return put_string(out, bytes, escapes, error);
    }
    if (!base64)
        PUT(out, "Base64");
    KRC_TRY(krc_buffer_reserve(out, out->len + (bytes.len + 2) / 3 * 4 + 4, error));
    PUT(out, "\":\"");
    put_base64(out, bytes);
    PUT(out, "\"");
    return KRC_OK;
}

/* ---- Lines ------------------------------------------------------------------------------------------ */

int krc_json_headers(struct krc_buffer *out, const struct krc_record *record, bool base64,
                     krc_error *error)
{
    struct krc_bytes rest = record->headers;
    struct krc_header header;
    KRC_TRY(krc_buffer_append(out, "[", 1, error));
    for (bool first = true; krc_header_next(&rest, &header); first = false) {
        KRC_TRY(krc_buffer_append(out, first ? "{" : ",{", first ? 1 : 2, error));
        KRC_TRY(put_member(out, "key", true, header.key, base64, error));
        KRC_TRY(put_member(out, "value", false, header.value, base64, error));
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
    struct krc_bytes name = {(const uint8_t *)topic, strlen(topic)};
    prefix->len = 0;
    KRC_TRY(krc_buffer_append(prefix, "{\"topic\":", 9, error));
    KRC_TRY(krc_json_string(prefix, name, error));
    KRC_TRY(krc_buffer_reserve(prefix, prefix->len + 64, error));
    PUT(prefix, ",\"partition\":");
    put_number(prefix, partition);
    PUT(prefix, ",\"offset\":");
    return KRC_OK;
}

int krc_json_line(struct krc_buffer *out, const struct krc_buffer *prefix,
                  const struct krc_record *record, enum krc_timestamp_type type, bool base64,
                  krc_error *error)
{
    enum { NUMBERS_AND_NAMES = 160 };
    KRC_TRY(krc_buffer_reserve(out, out->len + prefix->len + NUMBERS_AND_NAMES, error));
    put(out, prefix->data, prefix->len);
    put_number(out, record->offset);
    PUT(out, ",\"timestamp\":");
    put_number(out, record->timestamp_ms);
    PUT(out, ",\"timestampType\":\"");
    const char *name = krc_timestamp_type_name(type);
    put(out, name, strlen(name));
    PUT(out, "\",\"leaderEpoch\":");
    if (record->leader_epoch < 0)
        PUT(out, "null");
    else
        put_number(out, record->leader_epoch);
    KRC_TRY(put_member(out, "key", false, record->key, base64, error));
    KRC_TRY(put_member(out, "value", false, record->value, base64, error));
    if (record->header_count == 0)
        return krc_buffer_append(out, ",\"headers\":[]}\n", 15, error);
    KRC_TRY(krc_buffer_append(out, ",\"headers\":", 11, error));
    KRC_TRY(krc_json_headers(out, record, base64, error));
    return krc_buffer_append(out, "}\n", 2, error);
}
