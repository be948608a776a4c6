/*
 * Fetching from one broker: one request at a time, in a fetch session (KIP-227) where the broker
 * has them.  A session remembers the partitions on both sides, so that a request names only those
 * that changed.
 *
 *   id 0, epoch 0    opens one
 *   id N, epoch 1..  goes on; after the largest comes 1
 *   id N, epoch 0    closes it and opens another
 */
#ifndef KRC_CLUSTER_SESSION_H
#define KRC_CLUSTER_SESSION_H

#include "cluster/backoff.h"
#include "cluster/stalls.h"
#include "protocol/api.h"

struct krc_answer;
struct krc_cluster;
struct krc_remote;
struct krc_topic;

/* A partition that the broker has to forget. */
struct krc_forgotten {
    struct krc_topic *topic;
    struct krc_uuid topic_id; /* as it was sent */
    int32_t index;
};

struct krc_session {
    struct krc_cluster *cluster;
    int32_t id, epoch;
    bool by_id;         /* its topics were named by id */
    bool in_flight;
    int64_t sent_at_ms; /* the last fetch... */
    int32_t wait_ms;    /* ...and how long the broker may let it wait */
    bool nothing_came;  /* the last answer was empty, and told of no error */
    bool is_cut;        /* its connection is being given up by us */
    unsigned undrained; /* responses that some partition has not read to its end */
    struct krc_backoff backoff;
    int16_t error_code; /* of the last answer as a whole */
    struct krc_stall stall;
    int alone;          /* so many fetches name one partition each: a response was too large */
    int32_t most_bytes; /* a fetch asks for, since a response did not come whole; 0: as is set */
    struct krc_remote **members; /* what the last fetch named, in this session; NULL: it has left */
    size_t count, capacity;
    size_t sent_count; /* how many the last fetch was about */
    struct krc_forgotten *forgotten;
    size_t forgotten_count, forgotten_capacity;
};

void krc_session_init(struct krc_session *session, struct krc_cluster *cluster);

/* The broker is gone, or its session is: all members are fetched afresh.  What is in flight is
 * told first. */
void krc_session_end(struct krc_session *session);

/* It leaves, and is to be forgotten by the broker. */
void krc_session_leave(struct krc_session *session, struct krc_remote *remote);

/* ---- Between session.c, fetch.c and fetched.c ---------------------------------------------- */

/* The answer to a fetch; the argument is the session. */
void krc_session_fetched(void *session, const struct krc_answer *answer);

/* Nothing is known of what the broker keeps; `id` is the session to be closed, or 0. */
void krc_session_reset(struct krc_session *session, int32_t id);

/* Those that are marked so are named again: brokers add first, and then forget. */
void krc_session_remember(struct krc_session *session, uint32_t mark);

/* The broker is to forget it, as it was sent.  KRC_E_NOMEM. */
int krc_session_forget(struct krc_session *session, const struct krc_remote *remote);

#endif
