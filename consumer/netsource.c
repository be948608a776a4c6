#include "consumer/netsource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/take.h"

static const struct krc_source_ops ops;

struct krc_netsource *krc_netsource_of(struct krc_source *source)
{
    return source->ops == &ops ? (struct krc_netsource *)source : NULL;
}

static const struct krc_netsource *net_of(const struct krc_source *source)
{
    return (const struct krc_netsource *)source;
}

/* ---- Questions ------------------------------------------------------------------------------ */

/* Whether an answer is there to this very question. */
static bool is_same(const struct krc_question *q, const struct krc_question *wanted)
{
    return q->state != KRC_UNASKED && q->type == wanted->type &&
           q->timestamp == wanted->timestamp && q->read_committed == wanted->read_committed &&
           q->epoch == wanted->epoch;
}

/* KRC_ANSWERED, with the answer in the remote's question; KRC_NOT_YET; or why there is none. */
int krc_net_question(struct krc_netsource *s, struct krc_question wanted, krc_error *error)
{
    struct krc_question *q = &s->remote->question;
    if (!is_same(q, &wanted)) {
        krc_question_drop(q);
        q->type = wanted.type;
        q->timestamp = wanted.timestamp;
        q->read_committed = wanted.read_committed;
        q->epoch = wanted.epoch;
        krc_question_ask(s->remote->cluster, q);
    }
    if (q->state != KRC_TOLD)
        return KRC_NOT_YET;
    q->state = KRC_UNASKED;
    return q->rc < 0 ? krc_question_explain(q, error) : KRC_ANSWERED;
}

int krc_net_offset(struct krc_netsource *s, int64_t timestamp, bool read_committed,
                      int64_t *offset, krc_error *error)
{
    int rc = krc_net_question(s,
                 (struct krc_question){.type = KRC_ASKS_OFFSET,
                                       .timestamp = timestamp,
                                       .read_committed = read_committed},
                 error);
    if (rc == KRC_ANSWERED)
        *offset = s->remote->question.offset;
    return rc;
}

bool krc_net_committed(const struct krc_netsource *s)
{
    return !s->base.config->read_uncommitted;
}

static int stored(struct krc_source *source, struct krc_start *start, krc_error *error)
{
    struct krc_netsource *s = krc_netsource_of(source);
    if (!source->asks_group)
        return KRC_ANSWERED;
    int rc = krc_net_question(s, (struct krc_question){.type = KRC_ASKS_COMMITTED}, error);
    if (rc <= 0)
        return rc;
    const struct krc_question *q = &s->remote->question;
    *start = (struct krc_start){.found = q->offset >= 0,
                                .offset = q->offset,
                                .epoch = q->found_epoch,
                                .topic_id = q->topic_id};
    return KRC_ANSWERED;
}

static int epoch_end(struct krc_source *source, int32_t epoch, int32_t *found, int64_t *end,
                     krc_error *error)
{
    struct krc_netsource *s = krc_netsource_of(source);
    int rc = krc_net_question(
        s, (struct krc_question){.type = KRC_ASKS_EPOCH_END, .epoch = epoch}, error);
    if (rc <= 0)
        return rc;
    *found = s->remote->question.found_epoch;
    *end = s->remote->question.offset;
    return KRC_ANSWERED;
}

/* The log start, and only where that does not decide, the high watermark: no client can ask for
 * the log end. */
static int range(struct krc_source *source, int64_t position, int64_t *start, int64_t *end,
                 krc_error *error)
{
    struct krc_netsource *s = krc_netsource_of(source);
    if (s->range_start < 0) {
        int rc = krc_net_offset(s, KRC_TIMESTAMP_EARLIEST, false, &s->range_start, error);
        if (rc <= 0)
            return rc;
        s->remote->log_start_offset = s->range_start;
    }
    *start = s->range_start;
    *end = INT64_MAX;
    if (position >= *start) {
        int rc = krc_net_offset(s, KRC_TIMESTAMP_LATEST, false, end, error);
        if (rc <= 0)
            return rc;
        s->remote->high_watermark = *end;
    }
    s->range_start = -1;
    s->remote->out_of_range = false;
    krc_remote_wait(s->remote);
    return KRC_ANSWERED;
}

/* A time behind the last record, or a first match that is not stable yet, has no offset: the end
 * is meant. */
static int where(struct krc_source *source, enum krc_ask what, int64_t timestamp_ms,
                 int64_t *offset, krc_error *error)
{
    struct krc_netsource *s = krc_netsource_of(source);
    int64_t timestamp = what == KRC_ASK_START  ? KRC_TIMESTAMP_EARLIEST
                        : what == KRC_ASK_END  ? KRC_TIMESTAMP_LATEST
                        : timestamp_ms >= 0    ? timestamp_ms
                                               : 0;
    if (!s->asks_end) {
        int rc = krc_net_offset(s, timestamp, krc_net_committed(s), offset, error);
        if (rc <= 0 || *offset >= 0)
            return rc;
        s->asks_end = true;
    }
    int rc = krc_net_offset(s, KRC_TIMESTAMP_LATEST, krc_net_committed(s), offset, error);
    s->asks_end = rc == KRC_NOT_YET;
    return rc;
}

/* What the end is that was asked for, as it is now.  The high watermark tells how much is undecided
 * behind it. */
int krc_net_end(struct krc_netsource *s, krc_error *error)
{
    struct krc_remote *r = s->remote;
    bool is_now = s->base.until == KRC_LATEST;
    if (is_now && (r->high_watermark < 0 || !krc_net_committed(s))) {
        int rc = krc_net_offset(s, KRC_TIMESTAMP_LATEST, false, &r->high_watermark, error);
        if (rc <= 0)
            return rc;
    }
    if (is_now && krc_net_committed(s)) {
        int rc = krc_net_offset(s, KRC_TIMESTAMP_LATEST, true, &r->last_stable_offset, error);
        if (rc <= 0)
            return rc;
    }
    s->end = !is_now ? s->base.until : krc_net_committed(s) ? r->last_stable_offset
                                                          : r->high_watermark;
    r->until = s->end;
    return KRC_ANSWERED;
}

/* ---- The rest ------------------------------------------------------------------------------- */

static enum krc_notice notice(struct krc_source *source)
{
    struct krc_netsource *s = krc_netsource_of(source);
    struct krc_remote *r = s->remote;
    const struct krc_uuid *id = &r->topic->id;
    source->topic_id = *id;
    bool recreated = !krc_uuid_equal(id, &r->seen_topic_id);
    bool new_epoch = r->new_epoch;
    bool was_known = !krc_uuid_is_zero(&r->seen_topic_id);
    r->new_epoch = false;
    r->seen_topic_id = *id;
    if (recreated && was_known) {
        s->range_start = -1;
        r->log_start_offset = r->last_stable_offset = r->high_watermark = -1;
        return KRC_NOTICE_RECREATED;
    }
    return new_epoch ? KRC_NOTICE_NEW_EPOCH : KRC_NOTICE_NONE;
}

static void standing(const struct krc_source *source, struct krc_standing *standing)
{
    const struct krc_remote *r = net_of(source)->remote;
    *standing = (struct krc_standing){.log_start_offset = r->log_start_offset,
                                      .last_stable_offset = r->last_stable_offset,
                                      .high_watermark = r->high_watermark,
                                      .log_end_offset = -1};
}

/* No client can ask for the log end: the high watermark stands for it. */
static int64_t undecided(const struct krc_source *source)
{
    const struct krc_netsource *s = net_of(source);
    const struct krc_remote *r = s->remote;
    int64_t end = source->until == KRC_LATEST ? INT64_MAX : source->until;
    if (!krc_net_committed(s) || r->last_stable_offset < 0 || r->high_watermark < 0)
        return 0;
    end = krc_least(end, r->high_watermark);
    return end > r->last_stable_offset ? end - r->last_stable_offset : 0;
}

/* Below the last stable offset every transaction is decided. */
static bool settled(const struct krc_source *source)
{
    return krc_net_committed(net_of(source));
}

static bool remark(const struct krc_source *source, int i, int64_t *from, char *text, size_t size)
{
    const struct krc_netsource *s = net_of(source);
    *from = s->remote->log_start_offset;
    if (i == 0 && s->told_refused) {
        snprintf(text, size,
                 "the broker does not tell the topic's cleanup.policy: gaps between batches count "
                 "as absent, and some may be losses");
        return true;
    }
    if (i != s->told_refused || s->fates.unlisted == 0)
        return false;
    snprintf(text, size,
             "the broker's list of aborted transactions lacked some: by their markers, %llu "
             "batches are aborted, and they were left out", (unsigned long long)s->fates.unlisted);
    return true;
}

static void moved(struct krc_source *source)
{
    struct krc_netsource *s = krc_netsource_of(source);
    krc_question_drop(&s->remote->question);
    krc_remote_discard(s->remote);
    s->remote->rc = KRC_OK;
    s->remote->until = INT64_MAX;
    s->piece = NULL;
    s->bytes = NULL;
    s->end = -1;
    s->range_start = -1;
    s->caught_up_at = -1;
    s->asks_end = false;
    s->fetched = false;
    krc_net_fates_forget(&s->fates);
    krc_remote_ready(s->remote);
}

/* The present end is another one than it was. */
static void reset(struct krc_source *source)
{
    struct krc_netsource *s = krc_netsource_of(source);
    if (source->until == KRC_PRESENT_END)
        s->end = -1;
    s->caught_up_at = -1;
    s->fetched = false;
    krc_net_fates_forget(&s->fates);
}

static void close_source(struct krc_source *source)
{
    struct krc_netsource *s = krc_netsource_of(source);
    krc_frame_drop(s->frame);
    krc_net_fates_free(&s->fates);
    krc_remote_close(s->remote);
    free(s);
}

static const struct krc_source_ops ops = {
    .notice = notice,
    .stored = stored,
    .epoch_end = epoch_end,
    .range = range,
    .where = where,
    .fetch = krc_net_fetch,
    .gap = krc_net_gap,
    .fate = krc_net_fate,
    .explain = krc_net_explain,
    .standing = standing,
    .undecided = undecided,
    .settled = settled,
    .remark = remark,
    .moved = moved,
    .reset = reset,
    .close = close_source,
};

int krc_netsource_new(struct krc_source **source, struct krc_cluster *cluster,
                      struct krc_topic *topic, int32_t partition, const krc_config *config,
                      struct krc_codecs *codecs, void *owner, krc_error *error)
{
    struct krc_netsource *s = malloc(sizeof *s);
    if (s == NULL)
        return krc_fail_nomem(error, sizeof *s);
    *s = (struct krc_netsource){
        .base = {.ops = &ops,
                 .codecs = codecs,
                 .config = config,
                 .topic_id = topic->id,
                 .until = KRC_NO_END,
                 .records_left = KRC_NO_END},
        .end = -1,
        .caught_up_at = -1,
        .range_start = -1,
    };
    krc_net_fates_init(&s->fates);
    int rc = krc_remote_open(&s->remote, cluster, topic, partition, owner, error);
    if (rc < 0) {
        free(s);
        return rc;
    }
    *source = &s->base;
    return KRC_OK;
}
