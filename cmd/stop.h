/*
 * Ctrl-C, a polite kill, a terminal that is closed: what runs ends cleanly, within some seconds;
 * and at once where nobody reads any more what it prints.
 */
#ifndef KRC_CMD_STOP_H
#define KRC_CMD_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* From now on.  A second one ends the process at once. */
void cmd_stop_begin(void);

bool cmd_stop_asked(void);

/* Whether what runs is to end by now: it was asked to, or nothing has come since `taken_at_ms` for
 * as long as the user wants to wait (0 or less: for ever), which `*gave_up` keeps. */
bool cmd_stop_is_due(int64_t taken_at_ms, int64_t patience_ms, bool *gave_up);

/* Whether whoever read standard output has gone; looked at anew, and what the last look has found.
 * Nobody is left then who wants to know why the command ends. */
bool cmd_output_is_closed(void);
bool cmd_output_was_closed(void);

/* The former for krc_config_set_interrupt, where nothing is to be cleaned up after. */
bool cmd_stop_when_closed(void *arg);

/* What runs is to end, now or since before: if it does not within four seconds, the process does.
 * For a system call may wait for ever: a pipe that nobody reads, a lock, a name looked up. */
void cmd_stop_watch(void);

/* Once an end was asked for: what cannot be left out (`doing`) has come a step further.  That this
 * takes longer is said, and as long again is given. */
void cmd_stop_goes_on(const char *doing);

/* Whether what is no promise, and asked for all the same, is to be given up by now. */
bool cmd_stop_is_late(void);

#endif
