/*
 * What is behind `krc`: the source, the assigned partitions, the batches that are out, and the
 * events.
 */
#ifndef KRC_CONSUMER_HANDLE_H
#define KRC_CONSUMER_HANDLE_H

#include <stdatomic.h>

#include "consumer/cluster_check.h"
#include "consumer/ledger.h"
#include "consumer/logsource.h"
#include "consumer/net.h"
#include "consumer/spans.h"

/* An assigned partition. */
struct krc_part {
    krc *krc;
    struct krc_part *next, **back; /* in the handle's list */
    struct krc_place place;
    const struct krc_log_place *log; /* of a log folder; NULL: a cluster's */
    struct krc_topic *topic;         /* of a cluster */
    enum {
        KRC_PART_WAITS, /* to be opened */
        KRC_PART_OPEN,
        KRC_PART_DONE,
    } state;
    bool paused;
    enum {
        KRC_PART_STAYS,
        KRC_PART_WILL_COMMIT, /* once more, before it is given up to the group */
        KRC_PART_COMMITS,
        KRC_PART_IS_TRIED,
    } yields;
    int64_t informed; /* the offset that the group's commits have; -1 */
    bool is_placed; /* its topic's metadata has it, and names it as the reader */
    bool loaded; /* what the store has of it was looked up */
    struct krc_tracker tracker;
    int64_t start, until;
    struct krc_start stored;
    struct krc_ledger ledger;
    struct krc_part *next_changed, **back_changed; /* in the handle's list; NULL: it is not */
    struct krc_spans spans;
    const struct krc_chunk *chunk; /* that the batch handed out last lies in */
    /* once it is done, as krc_position gives them: */
    struct krc_standing standing;
    int64_t undecided;
    bool settled;
};

struct krc_batch {
    krc *krc;
    struct krc_part *part; /* NULL: it is assigned no more */
    struct krc_place place;
    struct krc_item item;
    struct krc_buffer scratch;
    size_t counted; /* of the scratch, among the bytes that are held */
    uint64_t span; /* its number in the part's spans */
    struct krc_batch *next, **back; /* in the handle's list: of those out, or of those to reuse */
};

struct krc_subscription;

struct krc {
    krc_config *config;
    struct krc_log_places places;
    struct krc_net *net; /* a cluster; NULL: log folders */
    struct krc_codecs *codecs;
    struct krc_store *store; /* NULL: none */
    bool is_attached;        /* the store is in the application's database */
    struct krc_part *parts, **last_part; /* as they were assigned */
    size_t part_count;
    struct krc_part *found; /* the part that was looked for last */
    size_t unplaced;        /* of a cluster: that its metadata does not know, as far as is known */
    struct krc_part *turn;  /* log folders: the partition being read; NULL: the first */
    size_t open_count;      /* that are not done */
    struct krc_part *changed; /* all that may have news to commit */
    struct krc_batch *out, *reuse;
    int reuse_count;
    struct krc_event *events; /* a ring */
    size_t event_first, event_count, events_dropped;
    bool told_unprotected;
    bool cluster_checked; /* whether the store's rows are of this cluster */
    bool claims_cluster;  /* the next commit says in the store that they are */
    krc_error error;
    atomic_bool woken;

    /* a cluster */
    struct krc_subscription *subscriptions;
    uint64_t seen_generation; /* of its metadata */
    struct krc_group_work *group_work; /* a commit to the group that is under way; NULL */
    bool to_inform; /* the group, once that is over: the store has more by now */
    bool has_group_news; /* of a group that was joined: the application is to look at events */
    bool told_refused;
    struct krc_commit_work *commits; /* whose callbacks are to come, the newest first */
    bool is_embedded, in_callback, close_asked, told_ended;
    struct krc_callbacks callbacks;
};

enum { KRC_EVENTS_KEPT = 1024 };

struct krc_part *krc_find_part(const krc *handle, const char *topic, int32_t partition);

/* Of a cluster: assigns a partition, whatever is known of it. */
int krc_add_part(krc *handle, struct krc_topic *topic, const struct krc_log_place *log,
                 int32_t partition, int64_t start, int64_t until, struct krc_part **out,
                 krc_error *error) KRC_MUST_USE;
void krc_part_free(struct krc_part *part);

/* It is read no more. */
void krc_part_remove(struct krc_part *part);
void krc_part_pause(struct krc_part *part, bool paused);

/* The end, or an error: what stays to be known is kept, the source is closed. */
void krc_part_end(struct krc_part *part);

/* KRC_E_STATE: the store is a replay's, whose offsets nobody else may move. */
int krc_refuse_sink(const krc *handle, krc_error *error) KRC_MUST_USE;

void krc_push_event(krc *handle, const struct krc_event *event);
krc_tracker_event_fn krc_part_event;

/* What is told of a topic, as an event. */
void krc_note_topic(void *arg, const char *topic, const char *text);

/* ---- Polling a cluster: consumer/follow.c -------------------------------------------------- */

/* The next batch of those that are ready: 1; 0 none; or an error of a partition. */
int krc_next_batch(krc *handle, krc_batch **batch, krc_error *error) KRC_MUST_USE;

/* Looks at newer metadata: partitions that are there now. */
int krc_follow_metadata(krc *handle, krc_error *error) KRC_MUST_USE;
void krc_subscriptions_free(krc *handle);

/* A turn of the application's loop. */
bool krc_embedded_turn(void *arg);

/* ---- A partition: consumer/part.c ----------------------------------------------------------- */

void krc_tell_unprotected(krc *handle, const struct krc_place *place);

/* Its source. */
struct krc_cluster_here krc_handle_here(const krc *handle);

/* KRC_E_MISMATCH: the store's rows are of another cluster.  Once its id is known. */
int krc_check_store(krc *handle, krc_error *error) KRC_MUST_USE;

/* Looks up what the store has of it. */
int krc_part_load(struct krc_part *part, krc_error *error) KRC_MUST_USE;

/* Of a cluster: it is found by its topic from now on, where metadata has it. */
void krc_part_place(struct krc_part *part);

/* Opens its source: of a cluster, once its topic is known. */
int krc_part_open(struct krc_part *part, krc_error *error) KRC_MUST_USE;

/* KRC_ITEM_RECORDS: the batch is handed out; KRC_ITEM_WAIT; KRC_ITEM_END; or an error. */
int krc_part_next(struct krc_part *part, struct krc_batch *batch, krc_error *error) KRC_MUST_USE;

/* ---- Between the files ---------------------------------------------------------------------- */

struct krc_batch *krc_take_batch_slot(krc *handle);
void krc_put_batch_slot(krc *handle, struct krc_batch *batch);

/* It was read on, or acknowledged. */
void krc_part_changed(struct krc_part *part);
void krc_part_not_changed(struct krc_part *part);

/* How many have something that is acknowledged and not committed: those in the list `changed`. */
size_t krc_count_news(krc *handle);
struct krc_point krc_part_acked(const struct krc_part *part);
bool krc_part_settled(const struct krc_part *part);

/* Waits for a commit that is under way, and takes what became of it; its callback comes
 * later. */
void krc_commit_wait(krc *handle);

/* The same at the end: no callback comes any more. */
void krc_commits_forget(krc *handle);

/* KRC_E_STATE: the consumer is, or wants to be, a member of a group. */
int krc_refuse_member(const krc *handle, const char *topic, krc_error *error) KRC_MUST_USE;

/* ---- A cluster's group: consumer/join.c, consumer/commit_group.c ---------------------------- */

/* Looks after what the group gives and takes away, and commits to it that are over. */
int krc_group_turn(krc *handle, krc_error *error) KRC_MUST_USE;

/* At the end: says goodbye to a group that was joined. */
void krc_part_from_group(krc *handle);

/* Whether commits go to the group, which is the store then; or to it, too. */
bool krc_commits_to_group(const krc *handle);

/* What the store has is told to the group, now, or once what is under way is over. */
void krc_inform_group(krc *handle);

/* Begins to commit what is acknowledged, or, where there is a store, what that has.
 * KRC_E_BUSY: one is under way.  KRC_E_FENCED. */
enum krc_work { KRC_WORK_ALL, KRC_WORK_YIELDING /* of partitions that WILL_COMMIT alone */ };
int krc_group_work_begin(krc *handle, enum krc_work what, krc_committed_fn *done, void *arg,
                         krc_error *error) KRC_MUST_USE;
/* Whether the one that was under way is over just now; then `done` was called, and what came of
 * it is in `rc`. */
bool krc_group_work_over(krc *handle, int *rc, krc_error *error);
int krc_group_work_wait(krc *handle, krc_error *error) KRC_MUST_USE;
void krc_group_work_forget(krc *handle);

#endif
