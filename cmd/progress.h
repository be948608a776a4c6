/*
 * The line that a long run rewrites on a terminal: records, bytes, rate, time left.
 */
#ifndef KRC_CMD_PROGRESS_H
#define KRC_CMD_PROGRESS_H

#include <krc.h>

struct cmd_progress {
    bool wanted;
    bool shown; /* a line stands there, to be wiped before anything else is written */
    int64_t begun_ms, next_ms;
};

/* `wanted` only where stderr is a terminal. */
void cmd_progress_begin(struct cmd_progress *progress, bool wanted);
void cmd_progress_show(struct cmd_progress *progress, const struct krc_replay_progress *numbers);
void cmd_progress_wipe(struct cmd_progress *progress);

#endif
