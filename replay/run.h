/*
 * A replay under way: what its partitions share, and what is done with each, from whichever source
 * it is read.
 */
#ifndef KRC_REPLAY_RUN_H
#define KRC_REPLAY_RUN_H

#include "consumer/handle.h"
#include "replay/committer.h"
#include "replay/folder.h"
#include "replay/member.h"

struct krc_replay_run {
    const krc_config *config; /* a copy, by which all waits and walks end once it is stopped */
    struct krc_interrupt interrupt; /* the application's */
    const krc_replay_options *options;
    struct krc_log_places places; /* log folders */
    struct krc_net *net;          /* a cluster: the first job's; NULL: log folders */
    struct krc_target target;
    struct krc_sink_run sinks;
    struct krc_committer committer;
    struct krc_replay_part *writer; /* SQLite: whose rows are in the transaction, if one is open */
    pthread_mutex_t mutex; /* for what follows, and the callbacks */
    size_t jobs;
    size_t next;           /* the partition that is taken next; the job, of a cluster */
    atomic_bool ends;      /* no more is to be begun, for it would fail too */
    atomic_bool stopped;   /* `stop` said so */
    atomic_bool could_not_inform; /* the group, whose coordinator does not answer */
    int64_t records_left;  /* that the output may take; KRC_NO_END */
    bool told_unprotected;
    int unanswered; /* a member's commits, in a row */
    char sink_id[KRC_SINK_ID + 1]; /* of a member's output (replay/lineage.h) */
    struct krc_replay_progress progress;
    int rc; /* the first failure */
    krc_error error;
};

/* A partition being replayed. */
struct krc_replay_part {
    size_t at; /* of a cluster: which of its job's */
    struct krc_replay_run *run;
    int64_t start, until; /* as they were asked for */
    struct krc_net *net; /* a cluster: the job's; NULL: a log folder */
    bool is_informed, could_not_inform; /* the group, see replay/inform.c */
    struct krc_place place;
    struct krc_tracker tracker;
    struct krc_sink sink;
    struct krc_ledger ledger;
    struct krc_joined joined;
    struct krc_account committed; /* of all that this history's output holds */
    enum krc_event_type diverged; /* TRUNCATED or RECREATED: and may not go on; else NOTE */
    int rc; /* < 0: committing it failed, out of its turn... */
    krc_error why;
    int64_t told, total;          /* offsets told to `progress` */
    const struct krc_chunk *chunk; /* a cluster's: that the last item lies in */
    int64_t taken_at_ms;           /* a cluster's: when something was taken last */
};

/* ---- A partition: replay/part.c ------------------------------------------------------------- */

/* `place` is where it is; krc_replay_close may follow whatever happens. */
void krc_replay_init(struct krc_replay_part *part, struct krc_replay_run *run,
                     const struct krc_place *place, int64_t start, int64_t until);

/* Takes the source over, also where it fails. */
int krc_replay_begin(struct krc_replay_part *part, struct krc_source *source,
                     krc_error *error) KRC_MUST_USE;

/* Reads the next item, and takes it, with the commits that are due. */
int krc_replay_next(struct krc_replay_part *part, struct krc_buffer *scratch,
                    struct krc_item *item, krc_error *error) KRC_MUST_USE;

/* Commits what was taken. */
int krc_replay_commit(struct krc_replay_part *part, krc_error *error) KRC_MUST_USE;

/* The end of it: reading came to `rc`, explained by `error`.  What was read is committed, and the
 * result told.  Returns what came of the whole. */
int krc_replay_finish(struct krc_replay_part *part, int rc, krc_error *error) KRC_MUST_USE;
void krc_replay_close(struct krc_replay_part *part);

/* "commit.to.group": it is committed to the group, too; that this fails is only told. */
void krc_replay_inform(struct krc_replay_part *part, const struct krc_point *point);

/* ---- After the last commit of a partition: replay/closing.c --------------------------------- */

int krc_replay_close_folder(struct krc_replay_part *part, krc_error *error) KRC_MUST_USE;
int krc_replay_close_cluster(struct krc_replay_part *part, struct krc_codecs *codecs,
                             krc_error *error) KRC_MUST_USE;

/* ---- The run: replay/replay.c --------------------------------------------------------------- */

void krc_replay_failed(struct krc_replay_run *run, int rc, const krc_error *error);
bool krc_replay_stopped(struct krc_replay_run *run);
void krc_replay_tell(struct krc_replay_run *run, const struct krc_event *event);

/* ---- A cluster: replay/cluster.c ------------------------------------------------------------ */

/* Looks for the partitions that are wanted. */
int krc_replay_connect(struct krc_replay_run *run, krc_error *error) KRC_MUST_USE;

/* Tells what is to be known of a topic ("": of none); `arg` is the run. */
void krc_replay_note(void *arg, const char *topic, const char *text);

/* How often `stop` is asked. */
enum { KRC_REPLAY_LOOK_MS = 50 };


/* One job's share, from begin to end. */
void krc_replay_cluster(struct krc_replay_run *run, size_t job, size_t jobs);

#endif
