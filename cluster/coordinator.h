/*
 * Which broker coordinates a group, or the transactions of a transactional id: FindCoordinator,
 * asked again after the coordinator said that it is none any more, or was lost.
 */
#ifndef KRC_CLUSTER_COORDINATOR_H
#define KRC_CLUSTER_COORDINATOR_H

#include "cluster/backoff.h"
#include "cluster/node.h"

struct krc_cluster;

enum krc_coordinated { KRC_GROUP, KRC_TRANSACTION }; /* values of FindCoordinator's key type */

struct krc_coordinator {
    struct krc_cluster *cluster;
    enum krc_coordinated of;
    char *key;
    int32_t node_id; /* -1: not known */
    int32_t silent_id; /* the one that was asked last and did not answer; -1 */
    int asking;          /* requests that are not answered... */
    int64_t again_ms;    /* ...and when another broker is asked, too */
    struct krc_backoff backoff;
    int16_t error_code; /* there is none, and asking again would not help; 0 */
    struct krc_stall stall; /* since it was asked and has not answered */
    struct krc_coordinator *next;
};

/* The one of that group or transactional id, which stays; NULL: out of memory. */
struct krc_coordinator *krc_coordinator_of(struct krc_cluster *cluster, enum krc_coordinated of,
                                           const char *key);

/* A connection to it that may be used now; NULL: there is none yet, and it is being looked for.
 * `next_ms`: when to look again, if nothing arrives before. */
struct krc_conn *krc_coordinator_conn(struct krc_coordinator *coordinator,
                                      enum krc_purpose purpose, int64_t *next_ms);

/* It is another broker, or not to be reached (`why`), which is told once it lasts. */
void krc_coordinator_lost(struct krc_coordinator *coordinator, const char *why);

/* It has answered. */
static inline void krc_coordinator_heard(struct krc_coordinator *coordinator)
{
    coordinator->stall.tell_ms = 0;
    krc_backoff_clear(&coordinator->backoff);
}

/* Whether an error code says that the coordinator is another one, or has to be looked for. */
bool krc_coordinator_moved(int16_t error_code);

/* Looks for the successors of those that owe answers for long. */
int64_t krc_coordinators_tick(struct krc_cluster *cluster);

void krc_coordinators_free(struct krc_cluster *cluster);

#endif
