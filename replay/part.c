/*
 * One partition of a replay: items are taken, flushed, committed.
 */
#include "replay/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

void krc_replay_init(struct krc_replay_part *part, struct krc_replay_run *run,
                     const struct krc_place *place, int64_t start, int64_t until)
{
    *part = (struct krc_replay_part){
        .run = run, .place = *place, .start = start, .until = until,
        .diverged = KRC_EVENT_NOTE};
    krc_ledger_init(&part->ledger, &part->place);
    krc_outfile_init(&part->sink.file, KRC_NONE);
    part->sink.segment_folder = -1;
}

/* ---- Callbacks ----------------------------------------------------------------------------- */

void krc_replay_tell(struct krc_replay_run *run, const struct krc_event *event)
{
    struct krc_event copy = *event;
    if (run->options->event == NULL)
        return;
    krc_make_printable(copy.message, sizeof copy.message);
    pthread_mutex_lock(&run->mutex);
    run->options->event(run->options->arg, &copy);
    pthread_mutex_unlock(&run->mutex);
}

/* How many more offsets there are to be read than was known; a cluster's log grows meanwhile. */
static int64_t grown(struct krc_replay_part *part)
{
    const struct krc_offsets *o = &part->tracker.offsets;
    struct krc_standing log;
    part->tracker.source->ops->standing(part->tracker.source, &log);
    int64_t end = log.log_end_offset >= 0 ? log.log_end_offset : log.high_watermark;
    int64_t from = o->position >= 0 ? o->account.from : log.log_start_offset;
    int64_t total = end > from ? end - from : 0, more = total - part->total;
    part->total = total;
    return more;
}

static void tell_progress(struct krc_replay_part *part, const struct krc_item *item)
{
    struct krc_replay_run *run = part->run;
    int64_t offsets = part->tracker.offsets.account.to - part->tracker.offsets.account.from;
    pthread_mutex_lock(&run->mutex);
    run->progress.records += item->type == KRC_ITEM_RECORDS ? item->count : 0;
    run->progress.bytes += item->batch.bytes != NULL ? item->batch.header.size : 0;
    run->progress.offsets += offsets - part->told;
    part->told = offsets;
    run->progress.total_offsets += grown(part);
    if (run->options->progress != NULL)
        run->options->progress(run->options->arg, &run->progress);
    pthread_mutex_unlock(&run->mutex);
}

static void tell_result(struct krc_replay_part *part)
{
    struct krc_replay_run *run = part->run;
    struct krc_replay_result result = {
        .topic = part->place.topic,
        .partition = part->place.partition,
        .history = part->ledger.history,
        .account = part->diverged == KRC_EVENT_NOTE
                       ? krc_ledger_account(&part->ledger, &part->tracker.offsets.acked)
                       : part->committed,
        .undecided = part->tracker.source->ops->undecided(part->tracker.source),
    };
    if (run->options->result == NULL)
        return;
    pthread_mutex_lock(&run->mutex);
    run->options->result(run->options->arg, &result);
    pthread_mutex_unlock(&run->mutex);
}

/* ---- One partition ------------------------------------------------------------------------- */

static int refuse_divergence(const struct krc_replay_part *part, krc_error *error)
{
    bool recreated = part->diverged == KRC_EVENT_RECREATED;
    return krc_fail(error, recreated ? KRC_E_RECREATED : KRC_E_TRUNCATED,
                    "%s-%d was %s after offsets up to %lld were replayed: %s, and leaves what was "
                    "written",
                    part->place.topic, (int)part->place.partition,
                    recreated ? "deleted and made again"
                              : "truncated to an offset before that",
                    (long long)part->committed.to,
                    part->joined.is_member ? "a new target goes on"
                                           : "--new-history goes on into new files");
}

/* The output, and the rows that speak of it. */
static int write_commit(struct krc_replay_part *part, const struct krc_point *point,
                        krc_error *error)
{
    struct krc_replay_run *run = part->run;
    struct krc_pending pending;
    KRC_TRY(krc_sink_flush(&part->sink, error));
    struct krc_commit commit = {
        .ledger = &part->ledger,
        .point = *point,
        .sink = part->sink.at,
        .settled = krc_tracker_settled(&part->tracker),
        .in_transaction = part->sink.in_transaction,
    };
    if (part->joined.is_member) {
        pending = krc_replay_pending(part, point->offset);
        commit.pending = &pending;
    }
    int rc = krc_committer_commit(&run->committer, &commit, error);
    part->sink.in_transaction = false; /* it was rolled back, if not committed */
    return rc;
}

static int commit(struct krc_replay_part *part, const struct krc_point *point, krc_error *error)
{
    if (part->joined.is_member)
        KRC_TRY(krc_replay_may_commit(part, error));
    KRC_TRY(write_commit(part, point, error));
    if (part->joined.is_member)
        KRC_TRY(krc_replay_decide(part, point->offset, point->epoch, error));
    part->committed = krc_ledger_account(&part->ledger, &point->account);
    krc_ledger_committed(&part->ledger, &part->ledger, point);
    krc_sink_committed(&part->sink);
    krc_replay_inform(part, point);
    KRC_TRY(krc_tracker_ack(&part->tracker, point->offset, point->epoch, &point->account, error));
    return krc_tracker_committed(&part->tracker, part->tracker.offsets.stretch, point->offset,
                                 error);
}

/* One transaction holds rows of one partition.  Where another one's cannot be committed, it is
 * that one which fails, when its turn comes. */
static void become_writer(struct krc_replay_part *part)
{
    struct krc_replay_run *run = part->run;
    struct krc_replay_part *before = run->writer;
    if (!run->target.is_sqlite)
        return;
    if (before != NULL && before != part)
        before->rc = krc_replay_commit(before, &before->why);
    if (before != NULL && before->rc < 0)
        krc_sink_roll_back(&before->sink);
    run->writer = part;
}

static int failed_before(const struct krc_replay_part *part, krc_error *error)
{
    if (part->rc < 0 && error != NULL)
        *error = part->why;
    return part->rc;
}

/* What was read of the history that has ended is committed, although the log has it no more: then
 * the output ends where the next history's reset says that it comes from. */
static int end_history(struct krc_replay_part *part, krc_error *error)
{
    const struct krc_point *left = &part->tracker.left;
    become_writer(part);
    KRC_TRY(write_commit(part, left, error));
    krc_ledger_committed(&part->ledger, &part->ledger, left);
    return KRC_OK;
}

/* A new history: other files, another account; or the end of this partition's replay. */
static void on_event(void *arg, const struct krc_event *event,
                     const struct krc_offset_update *reset)
{
    struct krc_replay_part *part = arg;
    if (reset != NULL && reset->new_history && !part->run->options->new_history) {
        part->diverged = event->type;
        return;
    }
    if (reset != NULL && reset->new_history && part->rc >= 0)
        part->rc = end_history(part, &part->why);
    if (reset != NULL)
        krc_ledger_reset(&part->ledger, event, reset);
    krc_replay_tell(part->run, event);
}

/* Takes an item, with the commits that are due before and after it. */
static int take(struct krc_replay_part *part, struct krc_item *item, krc_error *error)
{
    become_writer(part);
    if (part->ledger.history != part->sink.at.history) {
        krc_sink_close(&part->sink);
        KRC_TRY(krc_sink_open(&part->sink, &part->run->sinks, &part->place, NULL,
                              part->ledger.history, error));
    }
    if (krc_sink_due_before(&part->sink, item)) {
        KRC_TRY(commit(part, &part->tracker.before, error));
        part->sink.full = true;
    }
    if (item->type != KRC_ITEM_END)
        KRC_TRY(krc_sink_take(&part->sink, item, error));
    tell_progress(part, item);
    struct krc_point now = krc_tracker_point(&part->tracker);
    return krc_sink_due(&part->sink) ? commit(part, &now, error) : KRC_OK;
}

int krc_replay_next(struct krc_replay_part *part, struct krc_buffer *scratch,
                    struct krc_item *item, krc_error *error)
{
    struct krc_source *source = part->tracker.source;
    KRC_TRY(failed_before(part, error));
    source->records_left = part->run->records_left;
    int rc = krc_tracker_next(&part->tracker, scratch, item, error);
    if (part->run->options->max_records > 0)
        part->run->records_left = source->records_left; /* there is one job, then */
    if (part->diverged != KRC_EVENT_NOTE)
        return refuse_divergence(part, error);
    KRC_TRY(failed_before(part, error));
    KRC_TRY(rc);
    bool is_news = item->type != KRC_ITEM_WAIT && item->type != KRC_ITEM_CAUGHT_UP;
    return is_news ? take(part, item, error) : KRC_OK;
}

/* What is at the end of the reading, wanted or not, is committed: where the source is broken,
 * what lies before is replayed. */
int krc_replay_commit(struct krc_replay_part *part, krc_error *error)
{
    const struct krc_offsets *o = &part->tracker.offsets;
    struct krc_point now = krc_tracker_point(&part->tracker);
    KRC_TRY(failed_before(part, error));
    if (o->position < 0 || part->diverged != KRC_EVENT_NOTE)
        return KRC_OK;
    if (o->position == o->committed && part->ledger.reset_count == 0) {
        if (!part->is_informed) /* an earlier run may have died before it told the group */
            krc_replay_inform(part, &now);
        return KRC_OK;
    }
    become_writer(part);
    return commit(part, &now, error);
}

/* Where commit points shall depend on data alone, a stop is none: the next run goes on from the
 * last one, as after a kill. */
static bool is_cut_short(const struct krc_replay_part *part)
{
    return part->run->stopped && !part->run->options->follow && !part->joined.is_member &&
           part->tracker.offsets.state != KRC_ENDED;
}

static int finish(struct krc_replay_part *part, krc_error *error)
{
    if (is_cut_short(part))
        return KRC_OK;
    KRC_TRY(krc_replay_commit(part, error));
    return krc_replay_close_folder(part, error);
}

/* What is wrong with one partition's log, and with no other's; not with what is written. */
static bool source_failed(const struct krc_replay_part *part, int rc)
{
    switch (rc) {
    case KRC_E_CORRUPT:
    case KRC_E_TOO_LARGE:
    case KRC_E_OUT_OF_RANGE:
    case KRC_E_UNSUPPORTED:
    case KRC_E_REFUSED:
        return true;
    case KRC_E_IO: /* a segment that a running broker deleted, for one */
        return part->tracker.offsets.state == KRC_FAILED;
    default:
        return false;
    }
}

/* 1: it was begun before, 0: it was not. */
static int load(struct krc_replay_part *part, struct krc_start *start, struct krc_stored_sink *sink,
                krc_error *error)
{
    struct krc_store *store = part->run->target.db;
    const struct krc_place *place = &part->place;
    int has_offset = krc_ledger_load(&part->ledger, store, krc_store_group(part->run->config), true,
                                     start, error);
    KRC_TRY(has_offset);
    if (part->run->target.cluster.moved)
        krc_ledger_move(&part->ledger, start);
    int has_sink = krc_store_load_sink(store, place->topic, place->partition, sink, error);
    KRC_TRY(has_sink);
    if (has_offset != has_sink)
        return krc_fail(error, KRC_E_STORE,
                        "%s does not say of %s-%d both which offset it is at and how far its file "
                        "goes, which replay always commits together: begin anew elsewhere",
                        part->run->target.store, place->topic, (int)place->partition);
    return has_offset;
}

/* Said once in a run. */
static void tell_unprotected(struct krc_replay_part *part)
{
    struct krc_replay_run *run = part->run;
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = part->place.topic,
                              .partition = part->place.partition,
                              .message = KRC_UNPROTECTED};
    pthread_mutex_lock(&run->mutex);
    bool told = run->told_unprotected;
    run->told_unprotected = true;
    pthread_mutex_unlock(&run->mutex);
    if (!told)
        krc_replay_tell(run, &event);
}

int krc_replay_begin(struct krc_replay_part *part, struct krc_source *source, krc_error *error)
{
    struct krc_replay_run *run = part->run;
    struct krc_start start;
    struct krc_stored_sink stored;
    source->until = part->until;
    source->whole_batches = run->options->format == KRC_REPLAY_SEGMENT;
    source->records_left = run->records_left;
    krc_tracker_open(&part->tracker, &part->place, source, on_event, part);
    part->tracker.now_ms = krc_now_ms();
    krc_committer_pause(&run->committer);
    int known = load(part, &start, &stored, error);
    krc_committer_resume(&run->committer);
    KRC_TRY(known);
    int goes_on = known;
    if (part->joined.is_member)
        goes_on = krc_replay_take_over(part, &start, error);
    KRC_TRY(goes_on);
    part->committed = part->ledger.base;
    if (krc_ledger_unprotected(&part->ledger, &start))
        tell_unprotected(part);
    KRC_TRY(krc_sink_open(&part->sink, &run->sinks, &part->place, known ? &stored : NULL,
                          part->ledger.history, error));
    part->sink.full |= !goes_on && part->sink.file.fd >= 0;
    pthread_mutex_lock(&run->mutex);
    run->progress.total_offsets += grown(part);
    pthread_mutex_unlock(&run->mutex);
    return krc_tracker_assign(&part->tracker, start.found ? KRC_STORED : part->start, &start,
                              error);
}

/* A failure of one partition's log leaves the others; but a member of a group goes, so that what it
 * cannot read does not stay with it. */
static bool fails_alone(const struct krc_replay_part *part, int rc)
{
    if (part->joined.is_member)
        return rc == KRC_E_FENCED;
    return source_failed(part, rc) || rc == KRC_E_TRUNCATED || rc == KRC_E_RECREATED;
}

/* Keeps what was not begun from being begun. */
static void begin_no_more(struct krc_replay_run *run)
{
    pthread_mutex_lock(&run->mutex);
    run->ends = true;
    pthread_mutex_unlock(&run->mutex);
}

int krc_replay_finish(struct krc_replay_part *part, int rc, krc_error *error)
{
    if (part->rc < 0)
        rc = failed_before(part, error);
    else if (rc >= 0 || rc == KRC_E_INTERRUPTED)
        rc = finish(part, error);
    else if (source_failed(part, rc) && part->tracker.offsets.state == KRC_FAILED)
        (void)finish(part, NULL); /* what failed first is told */
    if (rc < 0 && !fails_alone(part, rc))
        begin_no_more(part->run); /* it would fail the others too */
    if (part->tracker.source != NULL && part->tracker.offsets.position >= 0)
        tell_result(part);
    krc_error_at(rc < 0 ? error : NULL, part->place.topic, part->place.partition, -1, -1);
    return rc;
}

void krc_replay_close(struct krc_replay_part *part)
{
    if (part->run->writer == part)
        part->run->writer = NULL;
    krc_sink_close(&part->sink);
    krc_tracker_close(&part->tracker);
    krc_ledger_free(&part->ledger);
}
