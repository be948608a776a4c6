/*
 * sasl.jaas.config: what is found, written anew in quotes with every letter as it is or escaped, is
 * found again; all of it lies within its text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/jaas.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++)
        if (*text == '\n' || *text == '\r')
            fputs(*text == '\n' ? "\\n" : "\\r", out);
        else
            fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', out);
}

static void check_within(const struct krc_jaas *jaas, const char *word)
{
    const char *text = (const char *)jaas->text.data;
    if (word < text || word + strlen(word) >= text + jaas->text.capacity)
        abort();
}

static char *write_anew(const struct krc_jaas *jaas)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    check_within(jaas, jaas->module);
    write_quoted(out, jaas->module);
    fputs("required", out);
    for (size_t i = 0; i < jaas->count; i++) {
        check_within(jaas, jaas->options[i].name);
        check_within(jaas, jaas->options[i].value);
        write_quoted(out, jaas->options[i].name);
        fputc('=', out);
        write_quoted(out, jaas->options[i].value);
    }
    fputc(';', out);
    fclose(out);
    return text;
}

static void check_same(const struct krc_jaas *a, const struct krc_jaas *b)
{
    if (strcmp(a->module, b->module) != 0 || a->count != b->count)
        abort();
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->options[i].name, b->options[i].name) != 0 ||
            strcmp(a->options[i].value, b->options[i].value) != 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    struct krc_jaas once, twice;
    krc_error error;
    error.message[0] = '\0';
    int rc = krc_jaas_parse(&once, text, &error);
    if (rc < 0 && error.message[0] == '\0')
        abort();
    if (rc >= 0) {
        char *anew = write_anew(&once);
        if (krc_jaas_parse(&twice, anew, &error) < 0)
            abort();
        check_same(&once, &twice);
        krc_buffer_wipe(&twice.text);
        free(anew);
    }
    krc_buffer_wipe(&once.text);
    free(text);
    return 0;
}
