/*
 * Properties files, as java.util.Properties reads them.
 *
 *     # a comment, also with !              blank lines are nothing
 *     name=value    name: value    name value
 *     name = begins here \                  a line that ends in a backslash goes on
 *            and ends here                  where the next one's blanks end
 *     a\ name\:\=with\ them = \t \n \r \f \u20ac, and \c is c for any other
 *
 * The text is UTF-8.  Blanks around a value are left out, as Kafka's clients do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/utf8.h"
#include "consumer/config.h"

#define BLANKS " \t\f"

enum { MAX_FILE_BYTES = 1 << 20, READ_BYTES = 4096 };

/* ---- Lines --------------------------------------------------------------------------------- */

static bool ends_line(const char *at)
{
    return *at == '\0' || *at == '\r' || *at == '\n';
}

static void skip_newline(struct krc_properties *p)
{
    if (*p->at == '\0')
        return;
    p->at += p->at[0] == '\r' && p->at[1] == '\n' ? 2 : 1;
    p->next_line++;
}

static void skip_blanks(struct krc_properties *p)
{
    p->at += strspn(p->at, BLANKS);
}

/* To the first line that holds something; false: there is none. */
static bool find_line(struct krc_properties *p)
{
    for (skip_blanks(p); *p->at != '\0'; skip_newline(p), skip_blanks(p)) {
        if (*p->at == '#' || *p->at == '!') {
            p->at += strcspn(p->at, "\r\n");
        } else if (*p->at == '\\' && ends_line(p->at + 1)) {
            p->at++;
        } else if (!ends_line(p->at)) {
            p->line = p->next_line;
            return true;
        }
    }
    return false;
}

/* Joins a line with those it goes on in, in its own place. */
static char *join_lines(struct krc_properties *p)
{
    char *line = p->at, *to = p->at;
    while (!ends_line(p->at)) {
        bool escapes = *p->at == '\\';
        if (escapes && ends_line(p->at + 1)) {
            p->at++;
            skip_newline(p);
            skip_blanks(p);
            continue;
        }
        if (escapes)
            *to++ = *p->at++;
        *to++ = *p->at++;
    }
    skip_newline(p);
    *to = '\0';
    return line;
}

/* Ends the key, and finds the value behind "=", ":" or a blank. */
static char *split(char *line)
{
    char *end = line;
    while (*end != '\0' && strchr("=:" BLANKS, *end) == NULL)
        end += end[0] == '\\' && end[1] != '\0' ? 2 : 1;
    char *value = end + strspn(end, BLANKS);
    if (*value == '=' || *value == ':')
        value++;
    value += strspn(value, BLANKS);
    *end = '\0';
    return value;
}

/* ---- Escapes ------------------------------------------------------------------------------- */

/* The UTF-16 unit of "\uXXXX", -1: it is none. */
static long take_unit(const char **from)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    char hex[5] = "";
    if ((*from)[0] != '\\' || (*from)[1] != 'u' || strspn(*from + 2, digits) < 4)
        return -1;
    memcpy(hex, *from + 2, 4);
    *from += 6;
    return strtol(hex, NULL, 16);
}

/* A character beyond U+FFFF is two units.  -1: none, half of one, or the end of a C string. */
static long take_character(const char **from)
{
    long unit = take_unit(from);
    if (unit < 0xd800 || unit > 0xdfff)
        return unit == 0 ? -1 : unit;
    long low = unit < 0xdc00 ? take_unit(from) : -1;
    return low < 0xdc00 || low > 0xdfff ? -1 : 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static char *put_utf8(char *to, long c)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(first[more] | c >> (6 * more));
    while (more-- > 0)
        *to++ = (char)(0x80 | (c >> (6 * more) & 0x3f));
    return to;
}

static char unescaped(char c)
{
    switch (c) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 'f':
        return '\f';
    default:
        return c;
    }
}

/* In place: no escape is shorter than what it stands for. */
static int unescape(char *text, krc_error *error)
{
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        if (from[0] == '\\' && from[1] == 'u') {
            long c = take_character(&from);
            if (c < 0)
                return krc_fail(error, KRC_E_INVALID,
                                "a \\u needs four hexadecimal digits that are a character");
            to = put_utf8(to, c);
        } else if (from[0] == '\\' && from[1] != '\0') {
            *to++ = unescaped(from[1]);
            from += 2;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return KRC_OK;
}

static char *trim(char *value)
{
    static const char blanks[] = BLANKS "\r\n";
    value += strspn(value, blanks);
    size_t len = strlen(value);
    while (len > 0 && strchr(blanks, value[len - 1]) != NULL)
        len--;
    value[len] = '\0';
    return value;
}

int krc_properties_next(struct krc_properties *p, const char **name, const char **value,
                        krc_error *error)
{
    if (!find_line(p))
        return 0;
    char *key = join_lines(p);
    char *text = split(key);
    KRC_TRY(unescape(key, error));
    KRC_TRY(unescape(text, error));
    *name = key;
    *value = trim(text);
    return 1;
}

/* ---- The file ------------------------------------------------------------------------------ */

bool krc_others_read(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & (S_IRGRP | S_IROTH)) != 0;
}

static int read_all(int fd, const char *path, struct krc_buffer *text, krc_error *error)
{
    ssize_t n;
    do {
        if (text->len > MAX_FILE_BYTES)
            return krc_fail(error, KRC_E_TOO_LARGE, "%s is larger than %d bytes", path,
                            MAX_FILE_BYTES);
        KRC_TRY(krc_buffer_reserve(text, text->len + READ_BYTES, error));
        n = read(fd, text->data + text->len, READ_BYTES);
        text->len += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0)
        return krc_fail_errno(error, "cannot read %s", path);
    if (memchr(text->data, '\0', text->len) != NULL)
        return krc_fail(error, KRC_E_INVALID, "%s holds a NUL byte: it is no text", path);
    return krc_buffer_append(text, "", 1, error);
}

/* Room for all of it at first: a secret leaves nothing behind by growing. */
int krc_read_text(const char *path, struct krc_buffer *text, krc_error *error)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return krc_fail_errno(error, "cannot open %s", path);
    int rc = KRC_OK;
    if (fstat(fd, &st) == 0 && st.st_size <= MAX_FILE_BYTES)
        rc = krc_buffer_reserve(text, (size_t)st.st_size + 2 * READ_BYTES, error);
    if (rc >= 0)
        rc = read_all(fd, path, text, error);
    close(fd);
    return rc;
}

struct listener {
    krc_ignored_fn *ignored;
    void *arg;
};

static int take(krc_config *config, const char *name, const char *value,
                const struct listener *listener, krc_error *error)
{
    const struct krc_foreign *foreign = krc_find_foreign(name);
    if (foreign == NULL || !foreign->ignorable)
        return krc_config_set(config, name, value, error);
    if (listener->ignored != NULL)
        listener->ignored(listener->arg, name);
    return KRC_OK;
}

static int take_all(krc_config *config, const char *path, char *text,
                    const struct listener *listener, krc_error *error)
{
    struct krc_properties p = krc_properties(text);
    const char *name, *value;
    krc_error wrong;
    int rc;
    while ((rc = krc_properties_next(&p, &name, &value, &wrong)) == 1) {
        rc = take(config, name, value, listener, &wrong);
        if (rc < 0)
            break;
    }
    return rc < 0 ? krc_fail(error, rc, "%s, line %zu: %s", path, p.line, wrong.message) : KRC_OK;
}

static bool is_elsewhere(const char *value)
{
    return strncmp(value, KRC_IN_FILE, strlen(KRC_IN_FILE)) == 0 ||
           strncmp(value, KRC_IN_ENVIRONMENT, strlen(KRC_IN_ENVIRONMENT)) == 0;
}

/* Remembers the file where it holds secrets that others can read. */
static int note_exposed(krc_config *config, const krc_config *loaded, const char *path,
                        krc_error *error)
{
    const char *name, *value;
    size_t i = 0;
    bool holds = false;
    while (!holds && krc_config_next_secret(loaded, &i, &name, &value))
        holds = !is_elsewhere(value);
    if (!holds || !krc_others_read(path))
        return KRC_OK;
    free(config->exposed);
    config->exposed = strdup(path);
    return config->exposed != NULL ? KRC_OK : krc_fail_nomem(error, strlen(path) + 1);
}

int krc_config_load(krc_config *config, const char *path, krc_ignored_fn *ignored, void *arg,
                    krc_error *error)
{
    struct krc_buffer text = {0};
    krc_config *loaded = krc_config_new();
    int rc = loaded == NULL ? krc_fail_nomem(error, sizeof *loaded)
                            : krc_read_text(path, &text, error);
    if (rc >= 0)
        rc = take_all(loaded, path, (char *)text.data + krc_utf8_mark((char *)text.data, text.len),
                      &(struct listener){ignored, arg}, error);
    if (rc >= 0)
        rc = note_exposed(config, loaded, path, error);
    if (rc >= 0)
        rc = krc_config_merge(config, loaded, error);
    krc_config_free(loaded);
    krc_buffer_wipe(&text);
    return rc;
}
