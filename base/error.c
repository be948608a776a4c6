#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

const char *krc_code_name(int code)
{
    switch (code) {
    case KRC_OK:
        return "KRC_OK";
#define CASE(name, value, text) \
    case name:                  \
        return #name;
        KRC_ERRORS(CASE)
#undef CASE
    default:
        return "KRC_E_?";
    }
}

const char *krc_code_text(int code)
{
    switch (code) {
    case KRC_OK:
        return "no error";
#define CASE(name, value, text) \
    case name:                  \
        return text;
        KRC_ERRORS(CASE)
#undef CASE
    default:
        return "no such error code";
    }
}

static void begin(krc_error *error, int code)
{
    error->code = code;
    error->partition = -1;
    error->offset = -1;
    error->file_position = -1;
    error->topic[0] = '\0';
}

int krc_fail(krc_error *error, int code, const char *format, ...)
{
    if (error != NULL) {
        begin(error, code);
        va_list args;
        va_start(args, format);
        vsnprintf(error->message, sizeof error->message, format, args);
        va_end(args);
        krc_make_printable(error->message, sizeof error->message);
    }
    return code;
}

/* As much as there is room for. */
static void add(krc_error *error, const char *text)
{
    size_t len = strlen(error->message), more = strnlen(text, sizeof error->message - 1 - len);
    memcpy(error->message + len, text, more);
    error->message[len + more] = '\0';
}

static int code_of_errno(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return KRC_E_NO_SPACE;
    case ENOENT:
        return KRC_E_NOT_FOUND;
    case ENOMEM:
        return KRC_E_NOMEM;
    default:
        return KRC_E_IO;
    }
}

int krc_fail_errno(krc_error *error, const char *format, ...)
{
    int number = errno;
    int code = code_of_errno(number);
    if (error == NULL)
        return code;
    begin(error, code);
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    add(error, ": ");
    add(error, strerror(number)); /* in any thread: glibc since 2.32, and musl */
    krc_make_printable(error->message, sizeof error->message);
    return code;
}

void krc_error_in(krc_error *error, const char *format, ...)
{
    char why[sizeof error->message];
    if (error == NULL)
        return;
    memcpy(why, error->message, sizeof why);
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    add(error, ": ");
    add(error, why);
    krc_make_printable(error->message, sizeof error->message);
}

void krc_error_at(krc_error *error, const char *topic, int32_t partition, int64_t offset,
                  int64_t file_position)
{
    if (error == NULL)
        return;
    if (error->topic[0] == '\0' && topic != NULL)
        snprintf(error->topic, sizeof error->topic, "%s", topic);
    if (error->partition < 0)
        error->partition = partition;
    if (error->offset < 0)
        error->offset = offset;
    if (error->file_position < 0)
        error->file_position = file_position;
}
