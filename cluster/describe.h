/*
 * Which replicas of each known partition are eligible leaders (Kafka 4.0 and later).
 */
#ifndef KRC_CLUSTER_DESCRIBE_H
#define KRC_CLUSTER_DESCRIBE_H

#include "cluster/call.h"

struct krc_description {
    struct krc_call call; /* for the next page */
    struct krc_describe_topic_partitions_request request;
    struct krc_arena arena;
    struct krc_cluster *cluster;
    char topic[256]; /* where it goes on; "": at the begin */
    int32_t partition;
    bool is_over;
};

/* Puts the call for the next page together, to be begun; where no broker has the API, it is told as
 * KRC_E_UNSUPPORTED.  `cluster` is set, the rest zero, or as the page before has left it. */
int krc_describe_put(struct krc_description *description, krc_error *error) KRC_MUST_USE;

void krc_describe_end(struct krc_description *description);

#endif
