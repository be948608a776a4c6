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

/* In each place.  All zero: nothing is wrong there. */
struct krc_stall {
    bool lasts;
    int64_t since_ms, tell_ms; /* by the cluster's clock */
};

struct krc_stalls {
    int64_t look_ms; /* not before */
    bool any;        /* there was something then */
};

/* Looks, and tells what has lasted (krc_cluster_note); when to come again, if nothing arrives. */
int64_t krc_stalls_tick(struct krc_cluster *cluster);

/* What brokers have said last, as one sentence; "" for nothing. */
void krc_stalls_of_nodes(struct krc_cluster *cluster, char *text, size_t size);

#endif
