/*
 * Ctrl-C, and a polite kill: what runs ends cleanly.
 */
#ifndef KRC_CMD_STOP_H
#define KRC_CMD_STOP_H

#include <krc.h>

/* From now on; a second one ends the process at once.  `handle`: whose wait it ends; NULL: none. */
void cmd_stop_begin(krc *handle);

/* Before the handle is closed. */
void cmd_stop_end(void);

bool cmd_stop_asked(void);

#endif
