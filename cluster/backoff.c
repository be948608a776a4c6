#include "cluster/backoff.h"

#include "cluster/cluster.h"

int64_t krc_backoff_ms(struct krc_cluster *cluster, int64_t first, int64_t most, int failures)
{
    int64_t wait = first > 0 ? first : 1; /* which grows: without any wait, nothing would */
    if (most < wait)
        most = wait;
    while (failures-- > 0 && wait < most)
        wait = wait < most / 2 ? wait * 2 : most;
    int64_t fifth = wait / 5;
    wait += (int64_t)(krc_random(cluster) % (uint64_t)(2 * fifth + 1)) - fifth;
    return krc_sooner(wait, most);
}

/* What waits is due at common times, so that many partitions that fail are asked about together,
 * and not each of them at a time of its own: an eighth later at most, but not after `latest_ms`. */
static int64_t align(int64_t now_ms, int64_t wait, int64_t latest_ms)
{
    int64_t step = 1;
    while (step <= wait / 16)
        step *= 2;
    int64_t at_ms = (now_ms + wait + step - 1) / step * step;
    return at_ms > latest_ms && at_ms - step > now_ms ? at_ms - step : at_ms;
}

static void put_off(struct krc_cluster *cluster, struct krc_backoff *backoff, int doublings)
{
    const struct krc_cluster_settings *s = &cluster->settings;
    int64_t first = s->retry_backoff_ms, most = s->retry_backoff_max_ms;
    int64_t wait = krc_backoff_ms(cluster, first, most, doublings);
    backoff->not_before_ms =
        align(cluster->now_ms, wait, cluster->now_ms + (first > most ? first : most));
}

void krc_backoff_fail(struct krc_cluster *cluster, struct krc_backoff *backoff)
{
    put_off(cluster, backoff, backoff->failures++);
}

void krc_backoff_repeat(struct krc_cluster *cluster, struct krc_backoff *backoff)
{
    if (backoff->failures > 0)
        put_off(cluster, backoff, backoff->failures - 1);
    else
        backoff->not_before_ms = cluster->now_ms;
    backoff->failures++;
}

void krc_backoff_clear(struct krc_backoff *backoff)
{
    *backoff = (struct krc_backoff){0};
}

bool krc_backoff_waits(const struct krc_cluster *cluster, const struct krc_backoff *backoff)
{
    return backoff->not_before_ms > cluster->now_ms;
}
