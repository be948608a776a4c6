/*
 * What keeps reading from going on, said by its cause: once it has lasted for five seconds, and
 * every half a minute while it lasts.
 *
 * Nothing is told that way when it happens.  Where something goes wrong its place keeps what it
 * was (a connection its error, a partition its last error code), and what keeps on is found here,
 * by looking through all places, once a second while there is something, and whenever something
 * arrives.
 */
#ifndef KRC_CLUSTER_STALLS_H
#define KRC_CLUSTER_STALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct krc_cluster;

/* When what is wrong in a place is to be told next, by the cluster's clock.  0: nothing is. */
struct krc_stall {
    int64_t tell_ms;
};

/* Something is, since now unless it was already. */
static inline void krc_stall_begin(struct krc_stall *stall, int64_t now_ms)
{
    enum { PATIENCE_MS = 5000 };
    if (stall->tell_ms == 0)
        stall->tell_ms = now_ms + PATIENCE_MS;
}

/* The same, and whether it is to be told now. */
static inline bool krc_stall_is_due(struct krc_stall *stall, int64_t now_ms)
{
    enum { AGAIN_MS = 30000 };
    krc_stall_begin(stall, now_ms);
    if (now_ms < stall->tell_ms)
        return false;
    stall->tell_ms = now_ms + AGAIN_MS;
    return true;
}

struct krc_stalls {
    int64_t look_ms; /* not before */
    bool any;        /* there was something then */
};

/* Looks, and tells what has lasted (krc_cluster_note); when to come again, if nothing arrives. */
int64_t krc_stalls_tick(struct krc_cluster *cluster);

/* What brokers have said last, as one sentence; "" for nothing. */
void krc_stalls_of_nodes(struct krc_cluster *cluster, char *text, size_t size);

#endif
