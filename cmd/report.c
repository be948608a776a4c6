#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

int cmd_fail(const krc_error *error)
{
    fprintf(stderr, "krc: %s\n", error->message);
    return CMD_FAILED;
}

int cmd_usage(const char *format, ...)
{
    va_list args;
    fputs("krc: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs(" (--help tells more)\n", stderr);
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
    fprintf(stderr, "krc: cannot write to standard output: %s\n", strerror(errno));
    return CMD_FAILED;
}
