/*
 * When to try something again that has failed.
 */
#ifndef KRC_CLUSTER_BACKOFF_H
#define KRC_CLUSTER_BACKOFF_H

#include <stdint.h>

struct krc_cluster;

/* All zero: nothing has failed. */
struct krc_backoff {
    int64_t not_before_ms; /* by the cluster's clock */
    int failures;          /* since it went well last */
};

/* It has failed: waits retry.backoff.ms, more with each failure, up to retry.backoff.max.ms. */
void krc_backoff_fail(struct krc_cluster *cluster, struct krc_backoff *backoff);

/* A time to wait: doubled with each failure, up to a fifth more or less, and never over `most`. */
int64_t krc_backoff_ms(struct krc_cluster *cluster, int64_t first, int64_t most, int failures);

#endif
