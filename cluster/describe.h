/*
 * Which replicas of each known partition are eligible leaders (Kafka 4.0 and later).
 */
#ifndef KRC_CLUSTER_DESCRIBE_H
#define KRC_CLUSTER_DESCRIBE_H

#include "base/error.h"

struct krc_cluster;

struct krc_description {
    struct krc_cluster *cluster;
    enum { KRC_DESCRIBING, KRC_DESCRIBED, KRC_NOT_DESCRIBED } state; /* the last: it was lost */
    bool in_flight;
    char topic[256]; /* where it goes on; "": at the begin */
    int32_t partition;
};

/* Goes on, as often as it is called until it is over: one that a broker cannot answer (too old)
 * is over at once. */
void krc_describe_leaders(struct krc_description *description);

#endif
