/*
 * What became of the offsets, and what happened on the way, told on stderr.
 */
#ifndef KRC_CMD_ACCOUNT_H
#define KRC_CMD_ACCOUNT_H

#include "cmd/source.h"

struct cmd_account {
    const char *topic;
    int32_t partition;
    struct krc_account account;
    int64_t undecided;
};

/* Tells an event in one line, unless it is a note that is not wanted.  True: offsets were lost or
 * skipped, the position was reset, or a transaction was decided wrongly. */
bool cmd_tell_event(const struct cmd_source *source, const struct krc_event *event);

/* A configuration whose notes are told at once, unless the source is quiet.  NULL: out of
 * memory. */
krc_config *cmd_new_config(struct cmd_source *source);

extern struct cmd_source cmd_loud; /* for commands that have no such flag */

/* Forgets a handle's events: what it reads of a partition to look something up is nobody's
 * account. */
void cmd_forget_events(krc *handle);

/* Tells the accounts as the flags say.  True: some offsets are lost or skipped. */
bool cmd_tell_accounts(const struct cmd_source *source, const struct cmd_account *accounts,
                       size_t count);

#endif
