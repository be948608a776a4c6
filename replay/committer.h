/*
 * Commits of several threads, grouped: while one transaction is on its way to disk, the next ones
 * come together and go as one.
 */
#ifndef KRC_REPLAY_COMMITTER_H
#define KRC_REPLAY_COMMITTER_H

#include <pthread.h>

#include "consumer/ledger.h"

struct krc_commit {
    struct krc_ledger *ledger;
    struct krc_point point;
    struct krc_stored_sink sink;
    bool settled;
    const struct krc_pending *pending; /* a group is to confirm it: what stood before is kept */
    bool in_transaction; /* of the store's, begun already (SQLite sink) */
    /* private */
    struct krc_commit *next;
    bool done;
    int rc;
    krc_error error;
};

/* A source's cluster that the output does not know yet, "": none.  It is stored with the first
 * commit, so that a run that commits nothing leaves no trace. */
struct krc_new_cluster {
    char id[64];
    bool moved; /* it is another one: topic ids and leader epochs of the old one are forgotten */
};
#define KRC_CLUSTER_SETTING "cluster.id"

struct krc_committer {
    struct krc_store *store;
    const char *group;
    struct krc_new_cluster cluster;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct krc_commit *first, **last; /* that wait */
    bool busy; /* somebody uses the store */
};

void krc_committer_init(struct krc_committer *committer, struct krc_store *store,
                        const char *group, const struct krc_new_cluster *cluster);
void krc_committer_free(struct krc_committer *committer);

/* On disk when it returns KRC_OK; else nothing of it is. */
int krc_committer_commit(struct krc_committer *committer, struct krc_commit *commit,
                         krc_error *error) KRC_MUST_USE;

/* Stores the cluster, where no commit has. */
int krc_committer_settle(struct krc_committer *committer, krc_error *error) KRC_MUST_USE;

/* Between these, no commit goes on: the store is the caller's. */
void krc_committer_pause(struct krc_committer *committer);
void krc_committer_resume(struct krc_committer *committer);

#endif
