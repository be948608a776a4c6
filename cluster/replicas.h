/*
 * Which brokers have the partitions of a topic: lists of their ids.  There may be millions of
 * partitions, so all lists of a topic are in one piece of memory, and a partition has a number.
 */
#ifndef KRC_CLUSTER_REPLICAS_H
#define KRC_CLUSTER_REPLICAS_H

#include <stdbool.h>
#include <stdint.h>

enum { KRC_REPLICAS, KRC_IN_SYNC, KRC_OFFLINE, KRC_ELIGIBLE, KRC_REPLICA_LISTS };
enum { KRC_LIST_UNKNOWN = -1, KRC_LIST_KEPT = -2 /* as it was */ };

struct krc_replica_lists {
    const int32_t *ids[KRC_REPLICA_LISTS];
    int32_t counts[KRC_REPLICA_LISTS];
};

struct krc_replicas {
    int32_t *words;
    uint32_t len, capacity;
    uint32_t lost; /* words of lists that were replaced */
};

/* The lists of number `at`, valid until others are set. */
struct krc_replica_lists krc_replicas_get(const struct krc_replicas *replicas, uint32_t at);

/* Replaces them, and gives them a number; 0: there are none.  Where memory is short, or a list has
 * more brokers than a replication factor allows (int16), nothing is changed. */
void krc_replicas_set(struct krc_replicas *replicas, uint32_t *at,
                      const struct krc_replica_lists *lists);

void krc_replicas_free(struct krc_replicas *replicas);

#endif
