/*
 * Lag: what a group has still to read.  Only reading tells it, for markers, aborted transactions
 * and holes of compaction are offsets, too.
 */
#include <krc-tools.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "consumer/handle.h"
#include "consumer/take.h"

struct measuring {
    krc *handle;
    bool exact, ranges_only;
    struct krc_lag **lags;   /* sorted by partition, which several groups may have */
    size_t count;
    struct krc_lag **reading; /* those of this round, one a partition, sorted */
    size_t reading_count;
    krc_error *error;
};

static int by_partition(const void *left, const void *right)
{
    const struct krc_lag *a = *(struct krc_lag *const *)left, *b = *(struct krc_lag *const *)right;
    int order = strcmp(a->topic, b->topic);
    return order != 0 ? order : (a->partition > b->partition) - (a->partition < b->partition);
}

static bool is_first(const struct measuring *m, size_t i)
{
    return i == 0 || by_partition(&m->lags[i - 1], &m->lags[i]) != 0;
}

/* ---- Where the logs begin and end ------------------------------------------------------------ */

/* The last is left out where nothing is to be read: of a folder it takes a walk through the log. */
static const enum krc_offset_kind kinds[] = {KRC_LOG_START_OFFSET, KRC_HIGH_WATERMARK,
                                             KRC_LOG_END_OFFSET, KRC_LAST_STABLE_OFFSET};

static size_t kinds_of(const struct measuring *m)
{
    return sizeof kinds / sizeof *kinds - m->ranges_only;
}

static int64_t from_of(const struct krc_lag *lag)
{
    int64_t start = lag->log.log_start_offset;
    return lag->committed > start ? lag->committed : start;
}

static int64_t end_of(const struct krc_log_offsets *log)
{
    return log->log_end_offset >= 0 ? log->log_end_offset
                                    : log->high_watermark; /* a cluster's, which tells none */
}

static enum krc_range range_of(const struct krc_lag *lag)
{
    return lag->committed < 0                           ? KRC_RANGE_UNKNOWN
           : lag->committed < lag->log.log_start_offset ? KRC_BELOW_START
           : lag->committed > end_of(&lag->log)         ? KRC_BEYOND_END
                                                        : KRC_IN_RANGE;
}

static void take_offset(struct krc_log_offsets *log, const struct krc_offset_query *answer)
{
    switch (answer->kind) {
    case KRC_LOG_START_OFFSET:
        log->log_start_offset = answer->offset;
        break;
    case KRC_LAST_STABLE_OFFSET:
        log->last_stable_offset = answer->offset;
        break;
    case KRC_HIGH_WATERMARK:
        log->high_watermark = answer->offset;
        break;
    default:
        log->log_end_offset = answer->offset;
    }
}

static void take_offsets(const struct measuring *m, struct krc_lag *lag,
                         const struct krc_offset_query *answers)
{
    lag->error = (krc_error){.code = KRC_OK};
    lag->log = (struct krc_log_offsets){-1, -1, -1, -1};
    lag->offsets = lag->records = lag->undecided = -1;
    lag->is_recreated = false;
    lag->range = KRC_RANGE_UNKNOWN;
    for (size_t i = 0; i < kinds_of(m); i++) {
        take_offset(&lag->log, &answers[i]);
        if (lag->error.code == KRC_OK)
            lag->error = answers[i].error;
    }
    if (lag->error.code < 0)
        return;
    lag->range = range_of(lag);
    if (!m->ranges_only)
        lag->undecided = end_of(&lag->log) - lag->log.last_stable_offset;
}

static int ask_offsets(struct measuring *m)
{
    size_t asked = 0, each = kinds_of(m);
    struct krc_offset_query *queries = calloc(m->count * each + 1, sizeof *queries);
    if (queries == NULL)
        return krc_fail_nomem(m->error, m->count * each * sizeof *queries);
    for (size_t i = 0; i < m->count; i++)
        for (size_t kind = 0; is_first(m, i) && kind < each; kind++)
            queries[asked++] = (struct krc_offset_query){.topic = m->lags[i]->topic,
                                                         .partition = m->lags[i]->partition,
                                                         .kind = kinds[kind]};
    int rc = krc_list_offsets(m->handle, queries, asked, m->error);
    const struct krc_offset_query *answers = queries - each;
    for (size_t i = 0; rc >= 0 && i < m->count; i++) {
        answers += is_first(m, i) ? each : 0;
        take_offsets(m, m->lags[i], answers);
    }
    free(queries);
    return rc;
}

/* Offsets of a topic that was deleted say nothing of another one with its name. */
static void judge_topic(struct krc_lag *lag, const struct krc_partition *partition)
{
    lag->is_recreated = krc_uuid_differs(&lag->topic_id, &partition->topic_id);
    if (lag->is_recreated)
        lag->range = KRC_RANGE_UNKNOWN; /* which was another one's */
}

/* Both are sorted alike. */
static void judge_topics(struct measuring *m)
{
    struct krc_partition partition;
    size_t i = 0;
    for (size_t at = 0; krc_source_partition(m->handle, at, &partition); at++) {
        const struct krc_lag *here = &(struct krc_lag){.topic = partition.topic,
                                                       .partition = partition.partition};
        while (i < m->count && by_partition(&m->lags[i], &here) < 0)
            i++;
        for (; i < m->count && by_partition(&m->lags[i], &here) == 0; i++)
            judge_topic(m->lags[i], &partition);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

static struct krc_lag *being_read(const struct measuring *m, const char *topic, int32_t partition)
{
    const struct krc_lag *wanted = &(struct krc_lag){.topic = topic, .partition = partition};
    struct krc_lag **found =
        bsearch(&wanted, m->reading, m->reading_count, sizeof *m->reading, by_partition);
    return found != NULL ? *found : NULL;
}

static int take_batch(struct measuring *m, krc_batch *batch)
{
    struct krc_batch_info info;
    krc_batch_info(batch, &info);
    krc_release(batch);
    struct krc_lag *lag = being_read(m, info.topic, info.partition);
    lag->offsets = lag->log.last_stable_offset - from_of(lag);
    lag->records += info.records;
    return m->exact ? KRC_OK : krc_unassign(m->handle, info.topic, info.partition);
}

/* One partition's failure leaves the others. */
static int take_failure(struct measuring *m, int rc)
{
    const krc_error *failure = krc_last_error(m->handle);
    struct krc_lag *lag = being_read(m, failure->topic, failure->partition);
    if (lag == NULL || rc == KRC_E_NOMEM || rc == KRC_E_INTERRUPTED) {
        if (m->error != NULL)
            *m->error = *failure;
        return rc;
    }
    lag->error = *failure;
    lag->offsets = lag->records = -1;
    return KRC_OK;
}

static int poll_all(struct measuring *m)
{
    int timeout_ms = (int)krc_least(m->handle->config->api_timeout_ms, INT32_MAX);
    krc_batch *batch;
    while (m->handle->open_count > 0) { /* a cluster's consumer of nothing never ends */
        int rc = krc_poll(m->handle, timeout_ms, &batch);
        if (rc == 0 && m->handle->open_count > 0)
            return krc_fail(m->error, KRC_E_TIMEOUT,
                            "no answer within %d ms (default.api.timeout.ms)", timeout_ms);
        if (rc != 0)
            KRC_TRY(rc > 0 ? take_batch(m, batch) : take_failure(m, rc));
    }
    return KRC_OK;
}

/* 1: there is something to be read; 0: there is not. */
static int assign(struct measuring *m, struct krc_lag *lag)
{
    int64_t from = from_of(lag), to = lag->log.last_stable_offset;
    if (lag->range == KRC_BEYOND_END)
        return 0;
    lag->offsets = lag->records = 0;
    if (from >= to)
        return 0;
    int rc = krc_assign(m->handle, lag->topic, lag->partition, from, to, m->error);
    if (rc >= 0)
        m->reading[m->reading_count++] = lag;
    return rc < 0 ? rc : 1;
}

/* Of groups that have a partition in common, one after another is measured: those that are left
 * are moved to the front. */
static int read_round(struct measuring *m)
{
    size_t left = 0;
    int rc = KRC_OK;
    const struct krc_lag *last = NULL;
    m->reading_count = 0;
    for (size_t i = 0; rc >= 0 && i < m->count; i++) {
        struct krc_lag *lag = m->lags[i];
        if (last != NULL && by_partition(&last, &lag) == 0) {
            m->lags[left++] = lag;
        } else if (lag->error.code == KRC_OK && !lag->is_recreated) {
            rc = assign(m, lag);
            last = rc > 0 ? lag : last;
        }
    }
    m->count = left;
    if (rc >= 0)
        rc = poll_all(m);
    for (size_t i = 0; i < m->reading_count; i++) /* that are assigned still */
        (void)!krc_unassign(m->handle, m->reading[i]->topic, m->reading[i]->partition);
    return rc < 0 ? rc : KRC_OK;
}

static void forget_counts(struct krc_lag *lags, size_t count)
{
    for (size_t i = 0; i < count; i++)
        lags[i].records = -1;
}

static int measure(struct measuring *m, struct krc_lag *lags, size_t count)
{
    m->count = count;
    m->lags = calloc(count + 1, sizeof(struct krc_lag *));
    m->reading = calloc(count + 1, sizeof(struct krc_lag *));
    int rc = m->lags == NULL || m->reading == NULL
                 ? krc_fail_nomem(m->error, count * sizeof *m->lags)
                 : KRC_OK;
    for (size_t i = 0; rc >= 0 && i < count; i++)
        m->lags[i] = &lags[i];
    if (rc >= 0) {
        qsort(m->lags, count, sizeof *m->lags, by_partition);
        rc = ask_offsets(m);
    }
    if (rc >= 0)
        judge_topics(m);
    while (rc >= 0 && m->count > 0 && !m->ranges_only)
        rc = read_round(m);
    if (!m->exact)
        forget_counts(lags, count);
    free(m->lags);
    free(m->reading);
    return rc;
}

int krc_measure_lag(krc *handle, struct krc_lag *lags, size_t count, bool exact, krc_error *error)
{
    struct measuring m = {.handle = handle, .exact = exact, .error = error};
    return measure(&m, lags, count);
}

int krc_locate_committed(krc *handle, struct krc_lag *lags, size_t count, krc_error *error)
{
    struct measuring m = {.handle = handle, .ranges_only = true, .error = error};
    return measure(&m, lags, count);
}
