#include "admin/migrate_side.h"

#include <string.h>

#include "consumer/handle.h"
#include "consumer/take.h"

int krc_side_find(struct krc_side *side, krc_error *error)
{
    struct krc_partition *found = &side->found;
    size_t i = 0;
    while (krc_source_partition(side->handle, i, found) &&
           (found->partition != side->partition || strcmp(found->topic, side->topic) != 0))
        i++;
    if (!krc_source_partition(side->handle, i, found))
        return krc_fail(error, KRC_E_NOT_FOUND, "there is no partition %s-%d", side->topic,
                        (int)side->partition);
    return krc_log_offsets(side->handle, side->topic, side->partition, &side->log, error);
}

int32_t krc_side_partitions(const struct krc_side *side)
{
    struct krc_partition partition;
    int32_t count = 0;
    for (size_t i = 0; krc_source_partition(side->handle, i, &partition); i++)
        count += strcmp(partition.topic, side->topic) == 0;
    return count;
}

/* Of a segment that compaction has emptied, a broker still knows the latest time, looks there, and
 * finds nothing, whatever the segments behind it have.  So the end is no answer: it is asked for
 * earlier times then. */
int krc_side_find_time(const struct krc_side *side, int64_t timestamp_ms, int64_t *offset,
                       krc_error *error)
{
    for (int64_t back = 1000; timestamp_ms >= 0; back = 4 * krc_least(back, INT64_MAX / 4)) {
        KRC_TRY(krc_offset_for_time(side->handle, side->topic, side->partition, timestamp_ms,
                                    offset, error));
        if (*offset < side->log.last_stable_offset)
            return KRC_OK;
        timestamp_ms -= back;
    }
    *offset = side->log.log_start_offset;
    return KRC_OK;
}

/* 1: enough. */
static int read_batch(krc_batch *batch, krc_side_fn *each, void *arg, krc_error *error)
{
    struct krc_batch_info info;
    struct krc_record record;
    int rc = 0;
    krc_batch_info(batch, &info);
    while (rc == 0 && krc_next(batch, &record) == 1)
        rc = each(arg, &record, info.timestamp_type, error);
    krc_release(batch);
    return rc;
}

static int poll_all(const struct krc_side *side, krc_side_fn *each, void *arg, krc_error *error)
{
    krc *handle = side->handle;
    int timeout_ms = (int)krc_least(handle->config->api_timeout_ms, INT32_MAX);
    krc_batch *batch;
    int rc = 0;
    while (rc == 0 && !krc_ended(handle)) {
        rc = krc_poll(handle, timeout_ms, &batch);
        if (rc < 0 && error != NULL)
            *error = *krc_last_error(handle);
        if (rc == 0 && !krc_ended(handle))
            rc = krc_fail(error, KRC_E_TIMEOUT,
                          "%s-%d: no answer within %d ms (default.api.timeout.ms)", side->topic,
                          (int)side->partition, timeout_ms);
        if (rc > 0)
            rc = read_batch(batch, each, arg, error);
    }
    return rc;
}

int krc_side_read(const struct krc_side *side, int64_t from, int64_t until, krc_side_fn *each,
                  void *arg, krc_error *error)
{
    if (from < side->log.log_start_offset)
        from = side->log.log_start_offset;
    until = krc_least(until, side->log.last_stable_offset);
    if (from >= until)
        return KRC_OK;
    KRC_TRY(krc_assign(side->handle, side->topic, side->partition, from, until, error));
    int rc = poll_all(side, each, arg, error);
    (void)!krc_unassign(side->handle, side->topic, side->partition);
    return rc < 0 ? rc : KRC_OK;
}
