#include "cmd/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct cmd_piece {
    char kind; /* the letter behind the %, or LITERAL */
    const char *text;
    size_t len;
};

enum { LITERAL = '%' };

/* ---- Parsing ------------------------------------------------------------------------------- */

/* At most two hexadecimal digits. */
static char take_hex(const char **p)
{
    char digits[3] = "";
    for (size_t n = 0; n < 2 && isxdigit((unsigned char)**p); n++)
        digits[n] = *(*p)++;
    return (char)strtol(digits, NULL, 16);
}

/* The character behind a backslash: octal with a leading 0, else decimal, as strtol has it. */
static char take_escape(const char **p)
{
    const char *digits = *p;
    char c = *(*p)++, *end;
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case 'x':
        return take_hex(p);
    default:
        if (!isdigit((unsigned char)c))
            return c;
        c = (char)strtol(digits, &end, c == '0' ? 8 : 10);
        *p = end;
        return c;
    }
}

size_t cmd_unescape(char *text)
{
    char *out = text;
    for (const char *p = text; *p != '\0';) {
        if (*p == '\\' && p[1] != '\0') {
            p++;
            *out++ = take_escape(&p);
        } else {
            *out++ = *p++;
        }
    }
    *out = '\0';
    return (size_t)(out - text);
}

/* Room for as many pieces as a text can have, and for a copy of it with a NUL behind each. */
static bool make_room(struct cmd_format *format, size_t len)
{
    format->pieces = calloc(len + 1, sizeof *format->pieces);
    format->literals = malloc(2 * len + 1);
    return format->pieces != NULL && format->literals != NULL;
}

/* Appends a literal of `len` characters before its escapes; returns where the next may begin. */
static char *add_literal(struct cmd_format *format, char *room, const char *text, size_t len)
{
    memcpy(room, text, len);
    room[len] = '\0';
    format->pieces[format->count++] =
        (struct cmd_piece){.kind = LITERAL, .text = room, .len = cmd_unescape(room)};
    return room + len + 1;
}

bool cmd_format_parse(struct cmd_format *format, const char *text, const char **reason)
{
    *reason = "out of memory";
    if (!make_room(format, strlen(text)))
        return false;
    *reason = "behind a % there is one of: t p o k s h T S K R %";
    for (char *room = format->literals; *text != '\0';) {
        size_t len = strcspn(text, "%");
        if (len == 0) {
            if (text[1] == '\0' || strchr("tpokshTSKR%", text[1]) == NULL)
                return false;
            format->pieces[format->count++] =
                (struct cmd_piece){.kind = text[1], .text = "%", .len = 1};
            text += 2;
        } else {
            room = add_literal(format, room, text, len);
            text += len;
        }
    }
    return true;
}

bool cmd_format_delimited(struct cmd_format *format, const char *key_delimiter,
                          const char *delimiter)
{
    const char *between = key_delimiter == NULL ? "" : key_delimiter;
    if (!make_room(format, strlen(between) + strlen(delimiter) + 4))
        return false;
    char *room = format->literals;
    if (key_delimiter != NULL) {
        format->pieces[format->count++] = (struct cmd_piece){.kind = 'k'};
        room = add_literal(format, room, between, strlen(between));
    }
    format->pieces[format->count++] = (struct cmd_piece){.kind = 's'};
    add_literal(format, room, delimiter, strlen(delimiter));
    return true;
}

void cmd_format_free(struct cmd_format *format)
{
    free(format->pieces);
    free(format->literals);
}

/* ---- Printing ------------------------------------------------------------------------------ */

static int add_bytes(krc_text *out, struct krc_bytes bytes, bool says_null, krc_error *error)
{
    if (bytes.data == NULL && says_null)
        return krc_text_add(out, "NULL", 4, error);
    return krc_text_add(out, bytes.data, bytes.len, error);
}

static int64_t length_of(struct krc_bytes bytes)
{
    return bytes.data == NULL ? -1 : (int64_t)bytes.len;
}

static int add_binary_length(krc_text *out, struct krc_bytes bytes, krc_error *error)
{
    uint32_t n = (uint32_t)length_of(bytes);
    uint8_t big_endian[4] = {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
    return krc_text_add(out, big_endian, sizeof big_endian, error);
}

/* name=value,name=value, where NULL stands for null always, as kcat has it */
static int add_headers(krc_text *out, const struct krc_record *record, krc_error *error)
{
    struct krc_bytes rest = record->headers;
    struct krc_header header;
    int rc = KRC_OK;
    for (bool first = true; rc == KRC_OK && krc_header_next(&rest, &header); first = false) {
        rc = krc_text_add(out, ",", first ? 0 : 1, error);
        if (rc == KRC_OK)
            rc = krc_text_add(out, header.key.data, header.key.len, error);
        if (rc == KRC_OK)
            rc = krc_text_add(out, "=", 1, error);
        if (rc == KRC_OK)
            rc = add_bytes(out, header.value, true, error);
    }
    return rc;
}

static int add_piece(const struct cmd_format *format, const struct cmd_piece *piece,
                     const struct krc_batch_info *batch, const struct krc_record *record,
                     krc_text *out, krc_error *error)
{
    switch (piece->kind) {
    case 't':
        return krc_text_add(out, batch->topic, strlen(batch->topic), error);
    case 'p':
        return krc_text_add_number(out, batch->partition, error);
    case 'o':
        return krc_text_add_number(out, record->offset, error);
    case 'k':
        return add_bytes(out, record->key, format->says_null, error);
    case 's':
        return add_bytes(out, record->value, format->says_null, error);
    case 'h':
        return add_headers(out, record, error);
    case 'T':
        return krc_text_add_number(out, record->timestamp_ms, error);
    case 'S':
        return krc_text_add_number(out, length_of(record->value), error);
    case 'K':
        return krc_text_add_number(out, length_of(record->key), error);
    case 'R':
        return add_binary_length(out, record->value, error);
    default:
        return krc_text_add(out, piece->text, piece->len, error);
    }
}

int cmd_format_record(const struct cmd_format *format, const struct krc_batch_info *batch,
                      const struct krc_record *record, krc_text *out, krc_error *error)
{
    for (size_t i = 0; i < format->count; i++) {
        int rc = add_piece(format, &format->pieces[i], batch, record, out, error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}
