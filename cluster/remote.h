/*
 * A partition that is read from a cluster: what is wanted of it, what has arrived, and what went
 * wrong.  Its reader looks at it once it is in the list of those
 * that are ready.
 *
 * Two pieces of a partition are kept at most: one that is being read, and one that was fetched
 * meanwhile, from where the first one ends.
 */
#ifndef KRC_CLUSTER_REMOTE_H
#define KRC_CLUSTER_REMOTE_H

#include "cluster/frame.h"
#include "cluster/question.h"
#include "protocol/fetch.h"

struct krc_session;

/* What one fetch brought: batches, the first of which may begin before `begin`. */
struct krc_piece {
    struct krc_frame *frame;
    struct krc_bytes records; /* what was not read yet */
    struct krc_fetch_aborted *aborted;
    int32_t aborted_count;
    int64_t begin, end;         /* offsets [begin, end) lie in whole batches */
    int64_t last_stable_offset; /* -1: not told */
};

enum { KRC_PIECES = 2 };

struct krc_remote {
    struct krc_cluster *cluster;
    struct krc_topic *topic;
    int32_t index;
    void *owner;
    struct krc_question question; /* the one that is open */

    int64_t wanted; /* the offset to be read next; -1: nothing is to be fetched */
    int64_t until;  /* nothing is needed from here on */
    bool paused;
    uint32_t turn;  /* what was sent in an older one is not wanted any more */

    struct krc_piece pieces[KRC_PIECES]; /* the oldest first */
    int piece_count;

    struct krc_session *session; /* it is a member of; NULL... */
    size_t member_at;            /* ...which one */
    bool in_flight;              /* in the fetch that the session waits for */
    bool told;                   /* the answer speaks of it */
    bool awaited;                /* its reader waits for that answer */
    uint32_t sent_turn;
    int64_t sent_offset;
    int32_t sent_epoch, sent_max_bytes;
    struct krc_uuid sent_topic_id;
    uint32_t mark;

    int32_t preferred; /* a replica to read from instead of the leader; -1 */
    int64_t preferred_to_ms;
    int32_t max_bytes; /* of one answer; more once a batch needs more */
    struct krc_backoff backoff;
    int16_t last_error; /* of the last answer, which is asked for again */
    bool gets_older;    /* it had only records before the position */

    int64_t log_start_offset, last_stable_offset, high_watermark; /* -1: not known */
    int64_t empty_at;     /* a fetch from here found nothing; -1 */
    int64_t empty_end;    /* as visible to that fetch; -1: it was not told */
    bool empty_alone;     /* and nothing for any other partition */
    bool out_of_range;    /* the leader says so of `wanted` */
    int rc;               /* it cannot be fetched (krc_remote_explain): at... */
    int64_t failed_at;
    int64_t failed_size;  /* ...for that many bytes, or... */
    int16_t failed_code;  /* ...with this error code of the broker's */
    bool new_epoch;       /* another leader epoch began */
    struct krc_uuid seen_topic_id; /* the topic's, when that was looked at last */

    struct krc_remote *next_ready, **back_ready; /* NULL: it is not in the list */
    struct krc_remote *next, **back; /* in the list of all */
};

struct krc_remotes {
    struct krc_remote *list, **last; /* as they were opened: partitions of a topic lie together */
    size_t count;
    struct krc_remote *turn; /* where the next full fetch begins; NULL: with the first */
    bool unplaced; /* some may be fetched from brokers to which there is no connection yet... */
    uint64_t placed_at; /* ...since that metadata */
    uint32_t mark;
    int64_t wake_ms; /* the first of those that wait may go on */
    struct krc_remote *ready, **last_ready; /* those that have something to be looked at */
};

/* `topic` is known, and has the partition. */
int krc_remote_open(struct krc_remote **remote, struct krc_cluster *cluster,
                    struct krc_topic *topic, int32_t index, void *owner,
                    krc_error *error) KRC_MUST_USE;
void krc_remote_close(struct krc_remote *remote);

/* Reads on at `offset`.  What was fetched for it is kept, and all else given up. */
void krc_remote_want(struct krc_remote *remote, int64_t offset);

/* What has arrived is of no use any more: another position, another leader epoch. */
void krc_remote_discard(struct krc_remote *remote);

/* The oldest piece is read to its end. */
void krc_remote_drained(struct krc_remote *remote);

/* What was asked for did not come: it is not fetched for a while. */
void krc_remote_wait(struct krc_remote *remote);

/* The same, but at once the first time: the answer says where, or how, to fetch it. */
void krc_remote_repeat(struct krc_remote *remote);

/* Whether more is to come behind the piece at hand, with an answer that is on its way or about to
 * be asked for. */
bool krc_remote_expects_more(struct krc_remote *remote);

/* A paused partition is not fetched. */
void krc_remote_pause(struct krc_remote *remote, bool paused);

/* The first of those that have something to be looked at; NULL: none has. */
struct krc_remote *krc_remote_first_ready(const struct krc_cluster *cluster);
void krc_remote_ready(struct krc_remote *remote);     /* is one of them, the last if it is new */
void krc_remote_not_ready(struct krc_remote *remote); /* is none any more */

/* Says why it cannot be fetched, and returns it. */
int krc_remote_explain(const struct krc_remote *remote, krc_error *error);

/* The broker that it is read from, "HOST:PORT", for messages; valid until the next call. */
const char *krc_remote_broker(const struct krc_remote *remote);

/* ---- Between the room's files -------------------------------------------------------------- */

/* The fetch that it was in is over. */
void krc_remote_answered(struct krc_remote *remote);

/* Its leader, or its topic, is another one. */
void krc_remote_led_anew(struct krc_remote *remote);

/* Sends the fetches that may be sent; the next time. */
int64_t krc_fetch_tick(struct krc_cluster *cluster);

#endif
