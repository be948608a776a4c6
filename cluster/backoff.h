/*
 * When to ask again: whatever is repeated waits longer and longer, until there is progress.
 */
#ifndef KRC_CLUSTER_BACKOFF_H
#define KRC_CLUSTER_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

struct krc_cluster;

/* All zero: nothing was repeated. */
struct krc_backoff {
    int64_t not_before_ms; /* by the cluster's clock */
    int failures;          /* failures and repetitions since there was progress last */
};

/* It has failed: waits retry.backoff.ms, doubled with each failure, up to retry.backoff.max.ms. */
void krc_backoff_fail(struct krc_cluster *cluster, struct krc_backoff *backoff);

/* It is repeated although nothing failed, or although the answer says how to go on: at once the
 * first time, but a second time without progress it waits as after a failure. */
void krc_backoff_repeat(struct krc_cluster *cluster, struct krc_backoff *backoff);

/* There was progress.  An answer alone is none: it may say the same again and again. */
void krc_backoff_clear(struct krc_backoff *backoff);

bool krc_backoff_waits(const struct krc_cluster *cluster, const struct krc_backoff *backoff);

/* A time to wait: doubled with each failure, up to a fifth more or less, and never over `most`. */
int64_t krc_backoff_ms(struct krc_cluster *cluster, int64_t first, int64_t most, int failures);

#endif
