#include "security/json.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    const char *at, *end;
};

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && memchr(" \t\r\n", *r->at, 4) != NULL)
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* What stands between quotes. */
static bool take_string(struct reader *r, struct krc_bytes *raw)
{
    if (!take(r, '"'))
        return false;
    const char *start = r->at;
    for (; r->at < r->end && *r->at != '"'; r->at++)
        if ((uint8_t)*r->at < ' ' || (*r->at == '\\' && ++r->at == r->end))
            return false;
    *raw = (struct krc_bytes){(const uint8_t *)start, (size_t)(r->at - start)};
    return take(r, '"');
}

/* Goes to the comma or the bracket behind a value, of which nothing is looked at but where it
 * ends. */
static bool skip_value(struct reader *r)
{
    struct krc_bytes string;
    size_t depth = 0;
    while (r->at < r->end && (depth > 0 || (*r->at != ',' && *r->at != '}'))) {
        char c = *r->at;
        if (c == '"' && !take_string(r, &string))
            return false;
        if (c == '"')
            continue;
        if ((c == '}' || c == ']') && depth-- == 0)
            return false;
        depth += c == '{' || c == '[';
        r->at++;
    }
    return r->at < r->end;
}

/* The four digits behind \u. */
static bool take_code(struct krc_bytes raw, size_t at, char *c)
{
    char digits[5] = "";
    if (raw.len - at < 4)
        return false;
    memcpy(digits, raw.data + at, 4);
    unsigned long code = strtoul(digits, NULL, 16);
    *c = code < 0x80 ? (char)code : '?';
    return strspn(digits, "0123456789abcdefABCDEF") == 4;
}

/* Takes the letter at *at, which may be escaped, and goes behind it. */
static bool take_letter(struct krc_bytes raw, size_t *at, char *c)
{
    static const char names[] = "\"\\/bfnrt", letters[] = "\"\\/\b\f\n\r\t";
    *c = (char)raw.data[(*at)++];
    if (*c != '\\')
        return true;
    char name = (char)raw.data[(*at)++];
    const char *known = memchr(names, name, sizeof names - 1);
    if (known != NULL)
        *c = letters[known - names];
    else if (name != 'u' || !take_code(raw, *at, c))
        return false;
    else
        *at += 4;
    return *c != '\0';
}

static bool write_text(struct krc_bytes raw, char *text, size_t size)
{
    size_t len = 0;
    for (size_t at = 0; at < raw.len; len++)
        if (len + 1 >= size || !take_letter(raw, &at, &text[len]))
            return false;
    text[len] = '\0';
    return true;
}

static bool is_name(struct krc_bytes raw, const char *name)
{
    return raw.len == strlen(name) && memcmp(raw.data, name, raw.len) == 0;
}

bool krc_json_text(struct krc_bytes json, const char *name, char *text, size_t size)
{
    struct reader r = {(const char *)json.data, (const char *)json.data + json.len};
    struct krc_bytes key, value;
    if (!take(&r, '{'))
        return false;
    do {
        if (!take_string(&r, &key) || !take(&r, ':'))
            return false;
        skip_blanks(&r);
        if (is_name(key, name))
            return take_string(&r, &value) && write_text(value, text, size);
    } while (skip_value(&r) && take(&r, ','));
    return false;
}
