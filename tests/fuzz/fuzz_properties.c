/*
 * Properties files: what is found, written anew with every letter that could be misread escaped,
 * is found again, and nothing else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\n' || *text == '\r')
            fputs(*text == '\n' ? "\\n" : "\\r", out);
        else
            fprintf(out, strchr("\\=: \t\f#!", *text) != NULL ? "\\%c" : "%c", *text);
}

/* Walks a text to its end, past what is wrong in it, and writes down what is there. */
static char *walk(char *text, size_t *found)
{
    struct krc_properties p = krc_properties(text);
    const char *name, *value;
    krc_error error;
    char *written;
    size_t len, line = 0;
    int rc;
    FILE *out = open_memstream(&written, &len);
    *found = 0;
    while ((rc = krc_properties_next(&p, &name, &value, &error)) != 0) {
        if (p.line <= line || p.next_line < p.line)
            abort();
        line = p.line;
        if (rc < 0)
            continue;
        write_escaped(out, name);
        fputc('=', out);
        write_escaped(out, value);
        fputc('\n', out);
        ++*found;
    }
    fclose(out);
    return written;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t found, again;
    char *text = strndup((const char *)data, size);
    char *once = walk(text, &found);
    char *copy = strdup(once);
    char *twice = walk(copy, &again);
    if (found != again || strcmp(once, twice) != 0)
        abort();
    free(twice);
    free(copy);
    free(once);
    free(text);
    return 0;
}
