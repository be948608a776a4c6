/*
 * OffsetCommit: by a member of a group, which the coordinator heeds only while it is one, or by
 * nobody in particular, which it heeds only while the group has no members.
 */
#ifndef KRC_CLUSTER_GROUP_COMMIT_H
#define KRC_CLUSTER_GROUP_COMMIT_H

#include "cluster/member.h"

struct krc_commit_entry {
    struct krc_topic *topic;
    int32_t partition;
    int64_t offset;
    int32_t epoch;        /* the leader's, of the record before; -1: not known */
    const char *metadata; /* NULL: "" */
    int16_t error_code;   /* the answer's */
    bool may_arrive;      /* krc_net_commit_one: it was sent */
};

struct krc_group_commit {
    struct krc_membership *member; /* NULL: by nobody */
    struct krc_coordinator *coordinator;
    struct krc_commit_entry *entries; /* those of one topic together; they have to stay */
    size_t count;
    bool once; /* not sent again where an answer stays away: what was sent before might arrive after
                  later commits, and move them back */

    struct krc_call call; /* TOLD: its `rc` is KRC_OK; KRC_E_FENCED: we are no member any more, or
                             do not hold one of the partitions: it may or may not be committed;
                             KRC_E_REFUSED: at least one entry has an error code; or an error, e.g.
                             KRC_E_IO: `once`, and it is not known */
    struct krc_offset_commit_request request;
    struct krc_arena arena;
    uint64_t losses; /* the member's, when it was begun */
};

/* The first fields, up to `count`, are set, the others zero. */
int krc_group_commit_begin(struct krc_group_commit *commit, struct krc_cluster *cluster,
                           krc_error *error) KRC_MUST_USE;

/* It is over, or not waited for any more. */
void krc_group_commit_end(struct krc_group_commit *commit);

/* Why it failed, as a sentence; returns its code. */
int krc_group_commit_explain(const struct krc_group_commit *commit, krc_error *error);

#endif
