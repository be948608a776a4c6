/*
 * One thread's share of a replay of a cluster, or, where a group is joined, all of it.
 */
#ifndef KRC_REPLAY_JOB_H
#define KRC_REPLAY_JOB_H

#include "replay/run.h"

struct krc_replay_job {
    struct krc_replay_run *run;
    size_t number, jobs;
    struct krc_net *net;
    struct krc_codecs *codecs;
    struct krc_buffer scratch;
    struct krc_replay_part **parts; /* that have not ended */
    size_t count;
    uint64_t seen_changes; /* of the topics */
    uint64_t seen_news;    /* of the group */
};

/* Reads a partition from now on; `joined` as krc_replay_take_over has it, NULL: of no group.  A
 * failure is told. */
void krc_replay_begin_part(struct krc_replay_job *job, struct krc_topic *topic, int32_t partition,
                           int64_t start, int64_t until, const struct krc_joined *joined);

/* Ends it: reading came to `rc`, explained by `error`.  It is freed. */
void krc_replay_end_part(struct krc_replay_job *job, struct krc_replay_part *part, int rc,
                         krc_error *error);

/* ---- A member of a group: replay/member.c --------------------------------------------------- */

/* Looks after what the group gives and takes away.  KRC_E_REFUSED...: it will not have us. */
int krc_replay_member_turn(struct krc_replay_job *job, krc_error *error) KRC_MUST_USE;

/* Whether all that the group gives is read to the end that was asked for. */
bool krc_replay_member_is_done(const struct krc_replay_job *job);

/* Gives up what is held, and leaves; the parts are ended. */
void krc_replay_member_leave(struct krc_replay_job *job);

#endif
