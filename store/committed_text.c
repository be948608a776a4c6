/*
 * Committed offsets as text: CSV the way kafka-consumer-groups.sh has it, and JSON.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <krc-tools.h>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/names.h"
#include "base/place.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "store/private.h"

/* ---- Writing ------------------------------------------------------------------------------- */

/* Kafka's writer does not look closely: a field longer than this is quoted unseen, and so is one
 * with any character up to the comma; and so that no CSV begins like JSON, one with a bracket in
 * front, which Kafka reads either way. */
#define MAX_QUOTE_CHECK 24

static bool needs_quotes(const char *field)
{
    if (strlen(field) > MAX_QUOTE_CHECK || *field == '[')
        return true;
    for (; *field != '\0'; field++)
        if ((unsigned char)*field <= ',')
            return true;
    return false;
}

static void write_quoted(const char *field, FILE *out)
{
    if (!needs_quotes(field)) {
        fputs(field, out);
        return;
    }
    putc('"', out);
    for (; *field != '\0'; field++) {
        if (*field == '"')
            putc('"', out);
        putc(*field, out);
    }
    putc('"', out);
}

/* As it is, so that it can be read again; but for a terminal. */
static void write_csv_field(const char *field, bool to_terminal, FILE *out)
{
    char *printable = to_terminal ? krc_printable_copy(field, strlen(field)) : NULL;
    if (!to_terminal || printable != NULL)
        write_quoted(printable == NULL ? field : printable, out);
    free(printable);
}

void krc_committed_write_csv(const krc_committed_list *list, bool with_group, FILE *out)
{
    const struct krc_committed *row;
    bool to_terminal = isatty(fileno(out));
    for (size_t i = 0; (row = krc_committed_at(list, i)) != NULL; i++) {
        if (row->offset < 0)
            continue;
        if (with_group) {
            write_csv_field(row->group, to_terminal, out);
            putc(',', out);
        }
        write_csv_field(row->topic, to_terminal, out);
        fprintf(out, ",%" PRId32 ",%" PRId64 "\n", row->partition, row->offset);
    }
    putc('\n', out); /* kafka-consumer-groups.sh ends with an empty line */
}

/* A character that cannot be seen, as \uXXXX; above U+FFFF as two of them. */
static void write_escaped(uint32_t character, FILE *out)
{
    if (character < 0x10000)
        fprintf(out, "\\u%04" PRIx32, character);
    else
        fprintf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((character - 0x10000) >> 10),
                0xdc00 + (character & 0x3ff));
}

/* The next character; how many bytes it has. */
static size_t write_character(const char *text, size_t left, FILE *out)
{
    const uint8_t *p = (const uint8_t *)text;
    size_t visible = krc_printable_character(text, left);
    size_t len = visible > 0 ? visible : *p < 0x80 ? 1 : krc_utf8_sequence(p, left);
    if (*text == '"' || *text == '\\')
        fprintf(out, "\\%c", *text);
    else if (visible > 0)
        fwrite(text, 1, len, out);
    else
        write_escaped(len > 0 ? krc_utf8_decode(p, len) : 0xfffd, out);
    return len > 0 ? len : 1;
}

void krc_write_json_string(const char *text, FILE *out)
{
    putc('"', out);
    for (size_t left = strlen(text), n; left > 0; text += n, left -= n)
        n = write_character(text, left, out);
    putc('"', out);
}

static bool is_utf8(const char *text)
{
    for (size_t left = strlen(text), n; left > 0; text += n, left -= n) {
        n = (unsigned char)*text < 0x80 ? 1 : krc_utf8_sequence((const uint8_t *)text, left);
        if (n == 0)
            return false;
    }
    return true;
}

static void write_base64(const char *text, FILE *out)
{
    struct krc_bytes bytes = krc_bytes_of(text);
    for (uint8_t letters[4]; bytes.len > 0;) {
        struct krc_bytes some = {bytes.data, bytes.len < 3 ? bytes.len : 3};
        krc_base64_encode(letters, some);
        fwrite(letters, 1, sizeof letters, out);
        bytes.data += some.len;
        bytes.len -= some.len;
    }
}

void krc_write_json_text(const char *name, const char *text, FILE *out)
{
    bool is_plain = text == NULL || is_utf8(text);
    fprintf(out, is_plain ? "\"%s\":" : "\"%sBase64\":\"", name);
    if (text == NULL) {
        fputs("null", out);
    } else if (is_plain) {
        krc_write_json_string(text, out);
    } else {
        write_base64(text, out);
        putc('"', out);
    }
}

static void write_json_row(const struct krc_committed *row, FILE *out)
{
    putc('{', out);
    krc_write_json_text("group", row->group, out);
    putc(',', out);
    krc_write_json_text("topic", row->topic, out);
    fprintf(out, ",\"partition\":%" PRId32 ",\"offset\":%" PRId64, row->partition, row->offset);
    if (row->leader_epoch >= 0)
        fprintf(out, ",\"leaderEpoch\":%" PRId32, row->leader_epoch);
    else
        fputs(",\"leaderEpoch\":null", out);
    putc(',', out);
    krc_write_json_text("metadata", row->metadata == NULL ? "" : row->metadata, out);
    if (!krc_uuid_is_zero(&row->topic_id)) {
        char id[KRC_UUID_LETTERS + 1];
        krc_uuid_format(&row->topic_id, id);
        fprintf(out, ",\"topicId\":\"%s\"", id);
    }
    if (row->is_pending)
        fputs(",\"pending\":true", out);
    if (row->range == KRC_BELOW_START || row->range == KRC_BEYOND_END) {
        putc(',', out);
        krc_write_json_text("range", krc_range_name(row->range), out);
    }
    putc('}', out);
}

void krc_committed_write_json(const krc_committed_list *list, FILE *out)
{
    const struct krc_committed *row;
    const char *before = "\n";
    putc('[', out);
    for (size_t i = 0; (row = krc_committed_at(list, i)) != NULL; i++) {
        if (row->offset < 0)
            continue;
        fputs(before, out);
        write_json_row(row, out);
        before = ",\n";
    }
    fputs("\n]\n", out);
}

/* ---- Reading: what both have in common ----------------------------------------------------- */

struct reading {
    krc_committed_list *list;
    const char *group; /* NULL: any */
    char *named;       /* by the text, and called `group` here; NULL: none was yet */
    krc_error *error;
};

/* Of two groups one would overwrite the other. */
static int rename_group(struct reading *in, struct krc_committed *row, const char *place)
{
    if (in->named == NULL && (in->named = strdup(row->group)) == NULL)
        return krc_fail_nomem(in->error, strlen(row->group));
    if (strcmp(row->group, in->named) != 0)
        return krc_fail(in->error, KRC_E_INVALID,
                        "%s: group \"%s\" after group \"%s\": both cannot become group \"%s\"",
                        place, row->group, in->named, in->group);
    row->group = in->group;
    return KRC_OK;
}

/* `place`: "line 3, column 1" or "entry 3". */
static int add_row(struct reading *in, struct krc_committed *row, const char *place)
{
    if (row->group == NULL)
        row->group = in->group != NULL ? in->group : "default";
    if (row->group[0] == '\0')
        return krc_fail(in->error, KRC_E_INVALID, "%s: the group has no name", place);
    if (in->group != NULL)
        KRC_TRY(rename_group(in, row, place));
    int rc = krc_check_topic_name(row->topic, in->error);
    if (rc < 0) {
        krc_error_in(in->error, "%s", place);
        return rc;
    }
    rc = krc_committed_add(in->list, row, in->error);
    if (rc == 1)
        return krc_fail(in->error, KRC_E_INVALID,
                        "%s: partition %" PRId32 " of topic \"%s\" in group \"%s\" comes a second "
                        "time", place, row->partition, row->topic, row->group);
    return rc;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

#define MAX_FIELDS 4

struct csv {
    const char *p, *end;
    const char *line_start;
    unsigned line;
    struct krc_buffer fields[MAX_FIELDS]; /* each with a NUL at its end */
    char places[MAX_FIELDS][48];          /* where each begins */
    size_t count;
};

static void say_place(const struct csv *csv, char place[48])
{
    snprintf(place, 48, "line %u, column %zu", csv->line, (size_t)(csv->p - csv->line_start) + 1);
}

static int fail_here(const struct csv *csv, krc_error *error, const char *what)
{
    char place[48];
    say_place(csv, place);
    return krc_fail(error, KRC_E_INVALID, "%s: %s", place, what);
}

static bool at_field_end(const struct csv *csv)
{
    return csv->p == csv->end || *csv->p == ',' || *csv->p == '\n' || *csv->p == '\r';
}

static int read_plain(struct csv *csv, struct krc_buffer *field, krc_error *error)
{
    const char *start = csv->p;
    for (; !at_field_end(csv); csv->p++)
        if (*csv->p == '"' || *csv->p == '\0')
            return fail_here(csv, error, *csv->p == '"' ? "a quote inside a field that does not "
                                                          "begin with one" : "a NUL byte");
    return krc_buffer_append(field, start, (size_t)(csv->p - start), error);
}

/* Two quotes stand for one.  Names of groups may have lines. */
static int read_quoted(struct csv *csv, struct krc_buffer *field, krc_error *error)
{
    struct csv begin = *csv;
    for (csv->p++;; csv->p++) {
        if (csv->p == csv->end)
            return fail_here(&begin, error, "this quote is never closed");
        if (*csv->p == '\0')
            return fail_here(csv, error, "a NUL byte");
        if (*csv->p == '"' && (++csv->p == csv->end || *csv->p != '"'))
            break;
        KRC_TRY(krc_buffer_append(field, csv->p, 1, error));
        if (*csv->p == '\n') {
            csv->line++;
            csv->line_start = csv->p + 1;
        }
    }
    return at_field_end(csv) ? KRC_OK
                             : fail_here(csv, error, "only a comma may follow a closing quote");
}

static int read_field(struct csv *csv, krc_error *error)
{
    if (csv->count == MAX_FIELDS)
        return fail_here(csv, error, "more than 4 fields");
    struct krc_buffer *field = &csv->fields[csv->count];
    field->len = 0;
    say_place(csv, csv->places[csv->count]);
    if (csv->p < csv->end && *csv->p == '"')
        KRC_TRY(read_quoted(csv, field, error));
    else
        KRC_TRY(read_plain(csv, field, error));
    csv->count++;
    return krc_buffer_append(field, "", 1, error);
}

/* The fields of one line. */
static int read_line(struct csv *csv, krc_error *error)
{
    csv->count = 0;
    csv->line_start = csv->p;
    csv->line++;
    KRC_TRY(read_field(csv, error));
    while (csv->p < csv->end && *csv->p == ',') {
        csv->p++;
        KRC_TRY(read_field(csv, error));
    }
    if (csv->p < csv->end && *csv->p == '\r')
        csv->p++;
    if (csv->p < csv->end && *csv->p != '\n')
        return fail_here(csv, error, "a carriage return inside a line");
    csv->p += csv->p < csv->end;
    return KRC_OK;
}

static const char *field_at(const struct csv *csv, size_t i)
{
    return (const char *)csv->fields[i].data;
}

/* A whole number from 0 to `most`. */
static int read_number(const struct csv *csv, size_t i, const char *what, int64_t most,
                       int64_t *number, krc_error *error)
{
    const char *text = field_at(csv, i);
    *number = 0;
    bool good = *text != '\0';
    for (; good && *text != '\0'; text++) {
        int64_t digit = *text - '0';
        good = digit >= 0 && digit <= 9 && *number <= (most - digit) / 10;
        if (good)
            *number = 10 * *number + digit;
    }
    if (good)
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID, "%s: \"%s\" is no %s, a number from 0 to %" PRId64,
                    csv->places[i], field_at(csv, i), what, most);
}

static int add_line(struct reading *in, const struct csv *csv)
{
    size_t first = csv->count - 3; /* 1 where the group leads */
    int64_t partition, offset;
    KRC_TRY(read_number(csv, first + 1, "partition", INT32_MAX, &partition, in->error));
    KRC_TRY(read_number(csv, first + 2, "offset", INT64_MAX, &offset, in->error));
    struct krc_committed row = {
        .group = first == 1 ? field_at(csv, 0) : NULL,
        .topic = field_at(csv, first),
        .partition = (int32_t)partition,
        .leader_epoch = -1,
        .offset = offset,
        .commit_time_ms = -1,
    };
    return add_row(in, &row, csv->places[0]);
}

static int read_lines(struct reading *in, struct csv *csv)
{
    size_t fields = 0;
    while (csv->p < csv->end) {
        KRC_TRY(read_line(csv, in->error));
        if (csv->count == 1 && csv->fields[0].len == 1)
            continue; /* an empty line */
        if (csv->count < 3 || (fields != 0 && csv->count != fields))
            return krc_fail(in->error, KRC_E_INVALID,
                            "%s: %zu fields, where topic,partition,offset or "
                            "group,topic,partition,offset belong, the same in every line",
                            csv->places[0], csv->count);
        fields = csv->count;
        KRC_TRY(add_line(in, csv));
    }
    return KRC_OK;
}

static int parse_csv(struct reading *in, const char *text, size_t len)
{
    struct csv csv = {.p = text, .end = text + len};
    int rc = read_lines(in, &csv);
    for (size_t i = 0; i < MAX_FIELDS; i++)
        krc_buffer_free(&csv.fields[i]);
    return rc;
}

/* ---- JSON, with SQLite's parser ------------------------------------------------------------ */

/* One row an entry; what is no object has no fields. */
static const char entries[] =
    "SELECT json_extract(v, '$.group'), json_extract(v, '$.topic'), json_extract(v, '$.partition'),"
    " json_extract(v, '$.offset'), json_extract(v, '$.leaderEpoch'), json_extract(v, '$.metadata'),"
    " json_extract(v, '$.topicId'), type, json_extract(v, '$.groupBase64'),"
    " json_extract(v, '$.metadataBase64'),"
    " (SELECT key FROM json_each(v) GROUP BY key HAVING count(*) > 1)"
    " FROM (SELECT type, CASE type WHEN 'object' THEN value ELSE '{}' END AS v FROM json_each(?))";

/* NULL and the null of JSON alike give NULL. */
static int json_text(sqlite3_stmt *entry, int column, bool required, const char *what,
                     const char *place, const char **text, krc_error *error)
{
    int type = sqlite3_column_type(entry, column);
    *text = (const char *)sqlite3_column_text(entry, column);
    if (type == SQLITE_NULL && !required)
        return KRC_OK;
    if (type != SQLITE_TEXT || *text == NULL)
        return krc_fail(error, KRC_E_INVALID, "%s: \"%s\" is missing or no string", place, what);
    return KRC_OK;
}

static int json_number(sqlite3_stmt *entry, int column, bool required, const char *what,
                       int64_t most, const char *place, int64_t *number, krc_error *error)
{
    int type = sqlite3_column_type(entry, column);
    *number = type == SQLITE_NULL ? -1 : sqlite3_column_int64(entry, column);
    if (type == SQLITE_NULL && !required)
        return KRC_OK;
    if (type != SQLITE_INTEGER || *number < 0 || *number > most)
        return krc_fail(error, KRC_E_INVALID,
                        "%s: \"%s\" is missing or no number from 0 to %" PRId64, place, what, most);
    return KRC_OK;
}

static int json_id(sqlite3_stmt *entry, int column, const char *place, struct krc_uuid *id,
                   krc_error *error)
{
    const char *text;
    KRC_TRY(json_text(entry, column, false, "topicId", place, &text, error));
    if (text == NULL || (strlen(text) == KRC_UUID_LETTERS && krc_uuid_parse(text, id)))
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID, "%s: \"topicId\" is no id of %d base64url letters",
                    place, KRC_UUID_LETTERS);
}

/* A text that is not UTF-8, under a name of its own.  It stands beside no other. */
static int json_bytes(sqlite3_stmt *entry, int column, const char *what, const char *place,
                      struct krc_buffer *bytes, const char **text, krc_error *error)
{
    const char *letters;
    KRC_TRY(json_text(entry, column, false, what, place, &letters, error));
    if (letters == NULL)
        return KRC_OK;
    size_t len = strlen(letters);
    KRC_TRY(krc_buffer_reserve(bytes, len + 1, error));
    if (*text != NULL || !krc_base64_decode(bytes->data, &bytes->len, krc_bytes_of(letters)) ||
        memchr(bytes->data, '\0', bytes->len) != NULL)
        return krc_fail(error, KRC_E_INVALID, "%s: \"%s\" is not base64, holds a NUL byte, or stands "
                        "beside the same as text", place, what);
    bytes->data[bytes->len] = '\0';
    *text = (const char *)bytes->data;
    return KRC_OK;
}

static int read_entry(struct reading *in, sqlite3_stmt *entry, const char *place,
                      struct krc_buffer *group, struct krc_buffer *metadata)
{
    const char *type = (const char *)sqlite3_column_text(entry, 7);
    if (type == NULL || strcmp(type, "object") != 0)
        return krc_fail(in->error, KRC_E_INVALID, "%s: no object", place);
    const char *twice = (const char *)sqlite3_column_text(entry, 10);
    if (twice != NULL)
        return krc_fail(in->error, KRC_E_INVALID, "%s: \"%.40s\" comes twice", place, twice);
    struct krc_committed row = {.commit_time_ms = -1};
    int64_t partition, epoch;
    KRC_TRY(json_text(entry, 0, false, "group", place, &row.group, in->error));
    KRC_TRY(json_text(entry, 1, true, "topic", place, &row.topic, in->error));
    KRC_TRY(json_number(entry, 2, true, "partition", INT32_MAX, place, &partition, in->error));
    KRC_TRY(json_number(entry, 3, true, "offset", INT64_MAX, place, &row.offset, in->error));
    KRC_TRY(json_number(entry, 4, false, "leaderEpoch", INT32_MAX, place, &epoch, in->error));
    KRC_TRY(json_text(entry, 5, false, "metadata", place, &row.metadata, in->error));
    KRC_TRY(json_id(entry, 6, place, &row.topic_id, in->error));
    KRC_TRY(json_bytes(entry, 8, "groupBase64", place, group, &row.group, in->error));
    KRC_TRY(json_bytes(entry, 9, "metadataBase64", place, metadata, &row.metadata, in->error));
    row.partition = (int32_t)partition;
    row.leader_epoch = (int32_t)epoch;
    return add_row(in, &row, place);
}

static int add_entry(struct reading *in, sqlite3_stmt *entry, const char *place)
{
    struct krc_buffer group = {0}, metadata = {0};
    int rc = read_entry(in, entry, place, &group, &metadata);
    krc_buffer_free(&group);
    krc_buffer_free(&metadata);
    return rc;
}

/* `line`: 0 of one array. */
static int read_entries(struct reading *in, sqlite3_stmt *statement, unsigned line)
{
    int rc;
    char place[48];
    snprintf(place, sizeof place, "line %u", line);
    for (unsigned n = 1; (rc = sqlite3_step(statement)) == SQLITE_ROW; n++) {
        if (line == 0)
            snprintf(place, sizeof place, "entry %u", n);
        KRC_TRY(add_entry(in, statement, place));
    }
    if (rc == SQLITE_DONE)
        return KRC_OK;
    return krc_fail(in->error, KRC_E_INVALID, "%s%sthis is no JSON: %s", line == 0 ? "" : place,
                    line == 0 ? "" : ": ", sqlite3_errmsg(sqlite3_db_handle(statement)));
}

static int read_array(struct reading *in, sqlite3_stmt *statement, const char *text, size_t len,
                      unsigned line)
{
    if (sqlite3_bind_text64(statement, 1, text, len, SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK)
        return krc_fail(in->error, KRC_E_NOMEM, "cannot read JSON: %s",
                        sqlite3_errmsg(sqlite3_db_handle(statement)));
    int rc = read_entries(in, statement, line);
    sqlite3_reset(statement);
    return rc;
}

/* One object a line: each is an array of one. */
static int read_objects(struct reading *in, sqlite3_stmt *statement, const char *text,
                        size_t len)
{
    struct krc_buffer array = {0};
    const char *end = text + len;
    int rc = KRC_OK;
    for (unsigned line = 1; rc >= 0 && text < end; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t size = (size_t)((newline == NULL ? end : newline) - text);
        array.len = 0;
        rc = krc_buffer_append(&array, "[", 1, in->error);
        if (rc >= 0)
            rc = krc_buffer_append(&array, text, size, in->error);
        if (rc >= 0)
            rc = krc_buffer_append(&array, "]", 1, in->error);
        if (rc >= 0)
            rc = read_array(in, statement, (const char *)array.data, array.len, line);
        text += size + 1;
    }
    krc_buffer_free(&array);
    return rc;
}

/* SQLite would cut the string there, and say nothing. */
static bool has_escaped_nul(const char *text, size_t len)
{
    for (size_t i = 0; i + 6 <= len; i++) {
        if (text[i] != '\\')
            continue;
        if (memcmp(text + i, "\\u0000", 6) == 0)
            return true;
        i++; /* what is escaped begins no escape */
    }
    return false;
}

static size_t skip_blanks(const char *text, size_t len, size_t i)
{
    while (i < len && strchr(" \t\r\n", text[i]) != NULL && text[i] != '\0')
        i++;
    return i;
}

static int parse_json(struct reading *in, const char *text, size_t len)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int rc = KRC_E_NOMEM;
    if (has_escaped_nul(text, len))
        return krc_fail(in->error, KRC_E_INVALID, "a string of the JSON text holds \\u0000");
    bool ready = sqlite3_open(":memory:", &db) == SQLITE_OK &&
                 sqlite3_prepare_v2(db, entries, -1, &statement, NULL) == SQLITE_OK;
    if (ready)
        rc = text[skip_blanks(text, len, 0)] == '['
                 ? read_array(in, statement, text, len, 0)
                 : read_objects(in, statement, text, len);
    else
        krc_fail(in->error, rc, "cannot read JSON: %s", sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return rc;
}

/* "[" and then "{" or "]", or "{" and then a name: no line of CSV begins like that. */
static bool looks_like_json(const char *text, size_t len)
{
    size_t i = skip_blanks(text, len, 0);
    if (i == len || (text[i] != '[' && text[i] != '{'))
        return false;
    bool is_array = text[i] == '[';
    i = skip_blanks(text, len, i + 1);
    return i < len && (is_array ? text[i] == '{' || text[i] == ']' : text[i] == '"');
}

int krc_committed_parse(krc_committed_list *list, const char *text, size_t len, const char *group,
                        krc_error *error)
{
    struct reading in = {list, group, NULL, error};
    size_t mark = krc_utf8_mark(text, len);
    text += mark;
    len -= mark;
    int rc = looks_like_json(text, len) ? parse_json(&in, text, len) : parse_csv(&in, text, len);
    free(in.named);
    return rc;
}
