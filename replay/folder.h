/*
 * The folder, or the SQLite file, that a replay writes to: who owns it, how it was begun, and what
 * a dead run left in it.
 */
#ifndef KRC_REPLAY_FOLDER_H
#define KRC_REPLAY_FOLDER_H

#include "consumer/cluster_check.h"
#include "replay/committer.h"
#include "replay/sink.h"

struct krc_target {
    const krc_replay_options *options;
    const krc_config *config;
    bool is_sqlite;
    char path[4096];  /* the folder, or the SQLite file */
    char store[4200]; /* the store's file */
    int folder;       /* -1 for SQLite */
    int lock;
    char lock_path[4300];
    bool is_locked, made_folder, made_lock, made_store; /* by this run */
    struct krc_store *db;
    struct krc_new_cluster cluster; /* to be stored with the first commit */
    const struct krc_place *only; /* what is cleaned of output; NULL: all */
};

/*
 * Makes the folder where there is none, takes the lock, opens the store, compares how it was begun
 * with this run, and removes output that no commit speaks of.
 */
int krc_target_open(struct krc_target *target, const krc_config *config,
                    const krc_replay_options *options, const struct krc_cluster_here *here,
                    krc_error *error) KRC_MUST_USE;
/* Removes files of a partition that no commit speaks of; none of them may be open. */
int krc_target_clean(struct krc_target *target, const struct krc_place *place,
                     krc_error *error) KRC_MUST_USE;
/* Closes it after a failure; what was made for it and holds nothing is removed again. */
void krc_target_discard(struct krc_target *target);
void krc_target_close(struct krc_target *target);

/* Segments: writes the checkpoints that say where cut logs start, and that what is not there was
 * left out (not lost), so that the folder reads like a broker's. */
int krc_target_checkpoint(const struct krc_target *target, krc_error *error) KRC_MUST_USE;

#endif
