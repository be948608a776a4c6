/*
 * What the command says on stderr, and how it ends.
 */
#include <errno.h>
#include <krc-tools.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/stop.h"

/* A format's text, fit for a terminal, to be freed; NULL: out of memory. */
KRC_PRINTF(1, 0)
static char *printable(const char *format, va_list args)
{
    char *text = NULL, *copy = NULL;
    if (vasprintf(&text, format, args) < 0)
        return NULL;
    copy = krc_printable_copy(text, strlen(text));
    free(text);
    return copy;
}

void cmd_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = printable(format, args);
    va_end(args);
    fprintf(stderr, "krc: %s\n", text == NULL ? "out of memory for a message" : text);
    free(text);
}

int cmd_fail(const krc_error *error)
{
#ifdef KRC_CHECKED
    if (error->code >= 0 || error->message[0] == '\0')
        abort();
#endif
    if (error->code != KRC_E_INTERRUPTED || !cmd_output_was_closed())
        cmd_say("%s", error->message);
    return CMD_FAILED;
}

int cmd_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = printable(format, args);
    va_end(args);
    cmd_say("%s (--help tells more)", text == NULL ? "out of memory for a message" : text);
    free(text);
    return CMD_USAGE;
}

int cmd_error(krc_error *error, int code, const char *format, ...)
{
    va_list args;
    *error = (krc_error){.code = code, .partition = -1, .offset = -1, .file_position = -1};
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return code;
}

int cmd_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CMD_DONE;
    if (errno == EPIPE || cmd_output_is_closed())
        return CMD_FAILED;
    cmd_say("cannot write to standard output: %s", strerror(errno));
    return CMD_FAILED;
}
