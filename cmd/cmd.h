/*
 * The command `krc`: one function for each subcommand, called with its own name as argv[0].
 * Results go to stdout, everything else to stderr.
 */
#ifndef KRC_CMD_CMD_H
#define KRC_CMD_CMD_H

#include <krc.h>

enum cmd_status {
    CMD_DONE,
    CMD_FAILED,
    CMD_USAGE,
    CMD_LOSS, /* done, but offsets were lost or skipped, and were reported */
};

int cmd_migrate(int argc, char **argv); /* offsets migrate */
int cmd_offsets(int argc, char **argv);
int cmd_read(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_topics(int argc, char **argv);
int cmd_txns(int argc, char **argv);
int cmd_verify(int argc, char **argv);

/* Says a sentence on stderr, in a line of its own that begins with "krc: ".  Nothing else writes
 * text there: what brokers, files and users put into it is made fit for a terminal here. */
void cmd_say(const char *format, ...) KRC_PRINTF(1, 2);

/* Says what went wrong, in one line: CMD_FAILED.  That a closed output has interrupted it is no
 * news. */
int cmd_fail(const krc_error *error);

/* The same for a command line that makes no sense: CMD_USAGE. */
int cmd_usage(const char *format, ...) KRC_PRINTF(1, 2);

/* Fills an error that is the command's own, and returns its code. */
int cmd_error(krc_error *error, int code, const char *format, ...) KRC_PRINTF(3, 4);

/* Writes out what is left for stdout, and tells where that failed, but not that nobody reads it any
 * more: CMD_DONE or CMD_FAILED. */
int cmd_flush(void);

#endif
