/*
 * How `krc read` prints a record: kcat's format strings.
 */
#ifndef KRC_CMD_FORMAT_H
#define KRC_CMD_FORMAT_H

#include <krc-tools.h>

struct cmd_piece;

struct cmd_format {
    struct cmd_piece *pieces;
    size_t count;
    bool says_null; /* NULL stands for null keys and values */
    char *literals; /* what the pieces' texts lie in */
};

/* Resolves \n, \t, \r, \xNN and \NNN in place and returns the new length: the result may have NUL
 * bytes.  A backslash before anything else is dropped. */
size_t cmd_unescape(char *text);

/* Parses a format string; false: `reason` says why not. */
bool cmd_format_parse(struct cmd_format *format, const char *text, const char **reason);

/* What is printed without a format string: the key and its delimiter unless `key_delimiter` is
 * NULL, the value, and the delimiter; with escapes. */
bool cmd_format_delimited(struct cmd_format *format, const char *key_delimiter,
                          const char *delimiter);

int cmd_format_record(const struct cmd_format *format, const struct krc_batch_info *batch,
                      const struct krc_record *record, krc_text *out,
                      krc_error *error) KRC_MUST_USE;

void cmd_format_free(struct cmd_format *format);

#endif
