/*
 * Reads what a group gives, in virtual time, and gives it up again: the owner of a membership
 * (cluster/member.h), as an application with a consumer is one.
 *
 * What happens to it stands in the trace between the requests: "in STABLE", "has t-0 from 5",
 * "yields t-0", "gave up t-0", "lost t-0", "committed t-0:7", "commit t-0:7 KRC_E_FENCED".
 */
#ifndef KRC_TESTS_OWNER_H
#define KRC_TESTS_OWNER_H

#include "cluster/group_commit.h"
#include "tests/support/coordinator.h"
#include "tests/support/simnet.h"

enum { OWNER_ENTRIES = 8 };

extern struct owner {
    struct krc_member_settings settings; /* may be changed before owner_join */
    struct krc_membership *member;
    bool is_slow;  /* what is to be given up is held on to */
    bool is_absent; /* the application does not come */
    bool is_quiet; /* its states are not told */
    enum krc_member_state state; /* that was told */
    int64_t positions[WORLD_TOPICS * WORLD_PARTITIONS]; /* -1: not read */
    int64_t committed[WORLD_TOPICS * WORLD_PARTITIONS];
    bool commits; /* one is under way */
    struct krc_group_commit commit;
    struct krc_commit_entry entries[OWNER_ENTRIES];
} owner;

/* A world with topics t and u of four partitions each, and a group. */
void owner_open(bool is_classic);
void owner_close(void);

/* "range cooperative-sticky" */
void owner_assignors(const char *names);

/* Joins for these topics, "t u" or "^t"; the cluster is opened where it is not. */
void owner_join(const char *topics);

/* It has read so far, of a partition it has. */
void owner_reads(const char *partition, int64_t position);

/* Begins to commit the positions of these ("t-0 t-1"), what other commit is under way comes first;
 * or tells why not. */
void owner_commits(const char *partitions);

/* What it may commit: "t-0,t-1" or "-". */
const char *owner_has(void);

/* Time passes until it is in that state. */
void owner_until(enum krc_member_state state);

#endif
