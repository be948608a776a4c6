#include "consumer/jaas.h"

#include <string.h>

/* ---- Words --------------------------------------------------------------------------------- */

enum token { END, WORD, EQUALS, SEMICOLON, BROKEN };

struct scanner {
    const char *at;
    char *to;         /* where the next word is written */
    const char *word; /* the last one */
    const char *wrong;
};

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ' && c != '\0';
}

static void skip(struct scanner *s)
{
    for (;;) {
        if (is_blank(*s->at)) {
            s->at++;
        } else if (s->at[0] == '/' && s->at[1] == '*') {
            const char *end = strstr(s->at + 2, "*/");
            s->at = end != NULL ? end + 2 : s->at + strlen(s->at);
        } else if (*s->at == '/') {
            s->at += strcspn(s->at, "\r\n");
        } else {
            return;
        }
    }
}

/* Up to three octal digits that are at most 0377; -1: there is none. */
static int take_octal(struct scanner *s)
{
    int most = *s->at <= '3' ? 3 : 2, number = 0, digits = 0;
    while (digits < most && *s->at >= '0' && *s->at <= '7') {
        number = number * 8 + (*s->at++ - '0');
        digits++;
    }
    return digits > 0 ? number : -1;
}

/* What stands behind a backslash; false: it is the end of a C string. */
static bool take_escape(struct scanner *s)
{
    static const char letters[] = "abfnrtv", meanings[] = "\a\b\f\n\r\t\v";
    int octal = take_octal(s);
    if (octal >= 0) {
        if (octal >= 0x80)
            *s->to++ = (char)(0xc0 | octal >> 6);
        *s->to++ = (char)(octal >= 0x80 ? 0x80 | (octal & 0x3f) : octal);
        return octal > 0;
    }
    const char *letter = *s->at == '\0' ? NULL : strchr(letters, *s->at);
    *s->to++ = letter != NULL ? meanings[letter - letters] : *s->at;
    return *s->at++ != '\0';
}

static enum token broken(struct scanner *s, const char *why)
{
    s->wrong = why;
    return BROKEN;
}

static enum token take_quoted(struct scanner *s)
{
    char quote = *s->at++;
    while (*s->at != quote) {
        char c = *s->at;
        if (c == '\0' || c == '\r' || c == '\n')
            return broken(s, "a quote is not closed in its line");
        s->at++;
        if (c != '\\')
            *s->to++ = c;
        else if (!take_escape(s))
            return broken(s, "a backslash stands at the end, or for a NUL");
    }
    s->at++;
    *s->to++ = '\0';
    return WORD;
}

static enum token take_bare(struct scanner *s)
{
    while (*s->at != '\0' && !is_blank(*s->at) && strchr("=;\"'/", *s->at) == NULL)
        *s->to++ = *s->at++;
    *s->to++ = '\0';
    return WORD;
}

static enum token next(struct scanner *s)
{
    skip(s);
    s->word = s->to;
    switch (*s->at) {
    case '\0':
        return END;
    case '=':
        s->at++;
        return EQUALS;
    case ';':
        s->at++;
        return SEMICOLON;
    case '"':
    case '\'':
        return take_quoted(s);
    default:
        return take_bare(s);
    }
}

/* ---- The whole ----------------------------------------------------------------------------- */

static int refuse(const struct scanner *s, const char *why, krc_error *error)
{
    return krc_fail(error, KRC_E_INVALID, "sasl.jaas.config: %s",
                    s->wrong != NULL ? s->wrong : why);
}

static bool is_flag(const char *word)
{
    return strcasecmp(word, "required") == 0 || strcasecmp(word, "requisite") == 0 ||
           strcasecmp(word, "sufficient") == 0 || strcasecmp(word, "optional") == 0;
}

static int parse_options(struct krc_jaas *jaas, struct scanner *s, krc_error *error)
{
    enum token token;
    while ((token = next(s)) == WORD) {
        const char *name = s->word;
        if (jaas->count == KRC_JAAS_MOST)
            return refuse(s, "it has too many options", error);
        if (next(s) != EQUALS || next(s) != WORD)
            return refuse(s, "an option is not NAME=\"VALUE\" (is it all in quotes?)", error);
        jaas->options[jaas->count].name = name;
        jaas->options[jaas->count++].value = s->word;
    }
    if (token != SEMICOLON)
        return refuse(s, "it does not end in a semicolon (a value with / = ; or a blank has to be "
                      "in quotes)", error);
    if (next(s) != END)
        return refuse(s, "something stands behind its semicolon: there can be one login module",
                      error);
    return KRC_OK;
}

static int parse(struct krc_jaas *jaas, struct scanner *s, krc_error *error)
{
    if (next(s) != WORD)
        return refuse(s, "it names no login module", error);
    jaas->module = s->word;
    if (next(s) != WORD || !is_flag(s->word))
        return refuse(s, "\"required\" is missing behind the login module", error);
    return parse_options(jaas, s, error);
}

int krc_jaas_parse(struct krc_jaas *jaas, const char *text, krc_error *error)
{
    *jaas = (struct krc_jaas){0};
    /* Each word takes a NUL more than it stands there, and has a letter or two quotes. */
    KRC_TRY(krc_buffer_reserve(&jaas->text, 2 * strlen(text) + 1, error));
    struct scanner scanner = {.at = text, .to = (char *)jaas->text.data};
    int rc = parse(jaas, &scanner, error);
    if (rc < 0)
        krc_buffer_wipe(&jaas->text);
    return rc;
}
