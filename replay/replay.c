/*
 * Replay: partitions to sinks, each read by one thread from begin to end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "consumer/handle.h"
#include "replay/committer.h"
#include "replay/folder.h"

struct run {
    const krc_config *config;
    const krc_replay_options *options;
    struct krc_log_places places;
    struct krc_target target;
    struct krc_sink_run sinks;
    struct krc_committer committer;
    pthread_mutex_t mutex; /* for what follows, and the callbacks */
    size_t next;           /* the partition that is taken next */
    int64_t records_left;  /* that the output may take; KRC_NO_END */
    bool told_unprotected;
    struct krc_replay_progress progress;
    int rc; /* the first failure */
    krc_error error;
};

/* A partition being replayed. */
struct part {
    struct run *run;
    const struct krc_replay_partition *wanted;
    const struct krc_log_place *place;
    struct krc_tracker tracker;
    struct krc_sink sink;
    struct krc_ledger ledger;
    enum krc_event_type diverged; /* TRUNCATED or RECREATED: and may not go on; else NOTE */
    int64_t told;                 /* offsets told to `progress` */
    int64_t total;
};

/* ---- Callbacks ----------------------------------------------------------------------------- */

static void tell_event(struct run *run, const struct krc_event *event)
{
    if (run->options->event == NULL)
        return;
    pthread_mutex_lock(&run->mutex);
    run->options->event(run->options->arg, event);
    pthread_mutex_unlock(&run->mutex);
}

static void tell_progress(struct part *part, const struct krc_item *item)
{
    struct run *run = part->run;
    int64_t offsets = part->tracker.offsets.account.to - part->tracker.offsets.account.from;
    pthread_mutex_lock(&run->mutex);
    run->progress.records += item->type == KRC_ITEM_RECORDS ? item->count : 0;
    run->progress.bytes += item->batch.bytes != NULL ? item->batch.header.size : 0;
    run->progress.offsets += offsets - part->told;
    part->told = offsets;
    if (run->options->progress != NULL)
        run->options->progress(run->options->arg, &run->progress);
    pthread_mutex_unlock(&run->mutex);
}

static void tell_result(struct part *part)
{
    struct run *run = part->run;
    const struct krc_logsource *source = &part->tracker.source;
    int64_t end = part->wanted->until < source->log_end ? part->wanted->until : source->log_end;
    struct krc_replay_result result = {
        .topic = part->place->topic,
        .partition = part->place->partition,
        .history = part->ledger.history,
        .account = part->diverged == KRC_EVENT_NOTE
                       ? krc_ledger_account(&part->ledger, &part->tracker.offsets.acked)
                       : part->ledger.base,
        .undecided = end > source->stable ? end - source->stable : 0,
    };
    if (run->options->result == NULL)
        return;
    pthread_mutex_lock(&run->mutex);
    run->options->result(run->options->arg, &result);
    pthread_mutex_unlock(&run->mutex);
}

/* A new history: other files, another account; or the end of this partition's replay. */
static void on_event(void *arg, const struct krc_event *event,
                     const struct krc_offset_update *reset)
{
    struct part *part = arg;
    if (reset != NULL && reset->new_history && !part->run->options->new_history) {
        part->diverged = event->type;
        return;
    }
    if (reset != NULL)
        krc_ledger_reset(&part->ledger, event, reset);
    tell_event(part->run, event);
}

/* ---- One partition ------------------------------------------------------------------------- */

static int refuse_divergence(const struct part *part, krc_error *error)
{
    bool recreated = part->diverged == KRC_EVENT_RECREATED;
    return krc_fail(error, recreated ? KRC_E_RECREATED : KRC_E_TRUNCATED,
                    "%s-%d was %s after offsets up to %lld were replayed: --new-history goes on "
                    "into new files, and leaves what was written",
                    part->place->topic, (int)part->place->partition,
                    recreated ? "deleted and made again"
                              : "truncated to an offset before that",
                    (long long)part->ledger.base.to);
}

static int commit(struct part *part, const struct krc_point *point, krc_error *error)
{
    struct run *run = part->run;
    bool in_transaction = part->sink.in_transaction;
    KRC_TRY(krc_sink_flush(&part->sink, error));
    struct krc_commit commit = {
        .ledger = &part->ledger,
        .point = *point,
        .sink = part->sink.at,
        .settled = krc_tracker_settled(&part->tracker),
        .in_transaction = in_transaction,
    };
    int rc = krc_committer_commit(&run->committer, &commit, error);
    if (rc < 0 && in_transaction)
        part->sink.in_transaction = false; /* it was rolled back */
    KRC_TRY(rc);
    krc_ledger_committed(&part->ledger);
    krc_sink_committed(&part->sink);
    KRC_TRY(krc_tracker_ack(&part->tracker, point->offset, point->epoch, &point->account, error));
    return krc_tracker_committed(&part->tracker, point->offset, error);
}

/* Takes an item, with the commits that are due before and after it. */
static int take(struct part *part, struct krc_item *item, krc_error *error)
{
    if (part->diverged != KRC_EVENT_NOTE)
        return refuse_divergence(part, error);
    if (part->ledger.history != part->sink.at.history) {
        krc_sink_close(&part->sink);
        KRC_TRY(krc_sink_open(&part->sink, &part->run->sinks, part->place, NULL,
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

static int read_on(struct part *part, struct krc_buffer *scratch, krc_error *error)
{
    struct krc_item item;
    do {
        int rc = krc_tracker_next(&part->tracker, scratch, &item, error);
        if (part->diverged != KRC_EVENT_NOTE)
            return refuse_divergence(part, error);
        KRC_TRY(rc);
        KRC_TRY(take(part, &item, error));
    } while (item.type != KRC_ITEM_END);
    return KRC_OK;
}

/* What is at the end of the reading, wanted or not, is committed: where the source is broken,
 * what lies before is replayed. */
static int commit_rest(struct part *part, krc_error *error)
{
    const struct krc_offsets *o = &part->tracker.offsets;
    struct krc_point now = krc_tracker_point(&part->tracker);
    if (o->position < 0 || part->diverged != KRC_EVENT_NOTE ||
        (o->position == o->committed && part->ledger.reset_count == 0))
        return KRC_OK;
    return commit(part, &now, error);
}

/* Puts a batch behind what is committed: no commit speaks of it, and a later run cuts it off. */
static int append_uncommitted(struct part *part, int64_t offset, krc_error *error)
{
    struct krc_log_batch batch;
    KRC_TRY(krc_logsource_batch_at(&part->tracker.source, offset, &batch, error));
    return krc_buffer_append(&part->sink.file.plain, batch.bytes, (size_t)batch.header.size, error);
}

/*
 * Segments that end inside of transactions which are committed further on (at the last stable
 * offset, or where the user wants) would read as if these were open: their markers are put behind.
 */
static int close_transactions(struct part *part, krc_error *error)
{
    struct krc_logsource *source = &part->tracker.source;
    int64_t *markers;
    size_t count;
    if (part->run->options->format != KRC_REPLAY_SEGMENT || part->run->config->read_uncommitted ||
        part->sink.file.fd < 0 || part->tracker.offsets.position >= source->log_end)
        return KRC_OK;
    int rc = krc_closing_markers(source->log, part->tracker.offsets.position,
                                 part->run->config->skip_corrupt, &markers, &count, error);
    for (size_t i = 0; rc >= 0 && i < count; i++)
        rc = append_uncommitted(part, markers[i], error);
    if (rc >= 0 && count > 0)
        rc = krc_outfile_flush(&part->sink.file, error);
    free(markers);
    return rc;
}

static int finish(struct part *part, krc_error *error)
{
    KRC_TRY(commit_rest(part, error));
    return close_transactions(part, error);
}

/* What is wrong with one partition's log, and with no other's; not with what is written. */
static bool source_failed(const struct part *part, int rc)
{
    switch (rc) {
    case KRC_E_CORRUPT:
    case KRC_E_TOO_LARGE:
    case KRC_E_OUT_OF_RANGE:
    case KRC_E_UNSUPPORTED:
        return true;
    case KRC_E_IO: /* a segment that a running broker deleted, for one */
        return part->tracker.offsets.state == KRC_FAILED;
    default:
        return false;
    }
}

/* Keeps the partitions that were not begun from being begun. */
static void begin_no_more(struct run *run)
{
    pthread_mutex_lock(&run->mutex);
    run->next = run->options->partition_count;
    pthread_mutex_unlock(&run->mutex);
}

/* 1: it was begun before, 0: it was not. */
static int load(struct part *part, struct krc_start *start, struct krc_stored_sink *sink,
                krc_error *error)
{
    struct krc_store *store = part->run->target.db;
    const struct krc_log_place *place = part->place;
    int has_offset = krc_ledger_load(&part->ledger, store, krc_store_group(part->run->config), true,
                                     start, error);
    KRC_TRY(has_offset);
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
static void tell_unprotected(struct part *part)
{
    struct run *run = part->run;
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = part->place->topic,
                              .partition = part->place->partition,
                              .message = KRC_UNPROTECTED};
    pthread_mutex_lock(&run->mutex);
    bool told = run->told_unprotected;
    run->told_unprotected = true;
    pthread_mutex_unlock(&run->mutex);
    if (!told)
        tell_event(run, &event);
}

/* Opens all that a partition needs; `part` may be closed whatever happens. */
static int open_part(struct part *part, struct krc_codecs *codecs, krc_error *error)
{
    struct krc_start start;
    struct krc_stored_sink stored;
    krc_committer_pause(&part->run->committer);
    int known = load(part, &start, &stored, error);
    krc_committer_resume(&part->run->committer);
    KRC_TRY(known);
    if (krc_ledger_unprotected(&part->ledger, &start))
        tell_unprotected(part);
    KRC_TRY(krc_tracker_open(&part->tracker, part->place, part->run->config, codecs, on_event, part,
                             error));
    part->tracker.source.whole_batches = part->run->options->format == KRC_REPLAY_SEGMENT;
    part->tracker.source.records_left = part->run->records_left;
    part->tracker.now_ms = krc_now_ms();
    KRC_TRY(krc_sink_open(&part->sink, &part->run->sinks, part->place, known ? &stored : NULL,
                          part->ledger.history, error));
    int64_t from = start.found ? start.offset : part->tracker.source.log->log_start_offset;
    int64_t end = part->tracker.source.log_end;
    part->total = end > from ? end - from : 0;
    pthread_mutex_lock(&part->run->mutex);
    part->run->progress.total_offsets += part->total;
    pthread_mutex_unlock(&part->run->mutex);
    return krc_tracker_assign(&part->tracker, start.found ? KRC_STORED : part->wanted->start,
                              part->wanted->until, &start, error);
}

static int replay_part(struct run *run, const struct krc_replay_partition *wanted,
                       struct krc_codecs *codecs, struct krc_buffer *scratch, krc_error *error)
{
    const struct krc_log_place *place =
        krc_log_places_get(&run->places, wanted->topic, wanted->partition);
    struct part part = {
        .run = run, .wanted = wanted, .place = place, .diverged = KRC_EVENT_NOTE};
    krc_ledger_init(&part.ledger, place);
    krc_outfile_init(&part.sink.file, KRC_NONE);
    part.sink.segment_folder = -1;
    int rc = open_part(&part, codecs, error);
    if (rc >= 0)
        rc = read_on(&part, scratch, error);
    if (run->options->max_records > 0 && part.tracker.source.log != NULL) /* one job, then */
        run->records_left = part.tracker.source.records_left;
    if (rc >= 0)
        rc = finish(&part, error);
    else if (source_failed(&part, rc) && part.tracker.offsets.state == KRC_FAILED)
        (void)finish(&part, NULL); /* what failed first is told */
    if (rc < 0 && !source_failed(&part, rc) && rc != KRC_E_TRUNCATED && rc != KRC_E_RECREATED)
        begin_no_more(run); /* it would fail the others too */
    if (part.tracker.source.log != NULL && part.tracker.offsets.position >= 0)
        tell_result(&part);
    krc_error_at(rc < 0 ? error : NULL, place->topic, place->partition, -1, -1);
    krc_sink_close(&part.sink);
    krc_tracker_close(&part.tracker);
    krc_ledger_free(&part.ledger);
    return rc;
}

/* ---- All of them --------------------------------------------------------------------------- */

static const struct krc_replay_partition *take_turn(struct run *run)
{
    const struct krc_replay_partition *wanted = NULL;
    pthread_mutex_lock(&run->mutex);
    if (run->next < run->options->partition_count)
        wanted = &run->options->partitions[run->next++];
    pthread_mutex_unlock(&run->mutex);
    return wanted;
}

static void note_failure(struct run *run, int rc, const krc_error *error)
{
    pthread_mutex_lock(&run->mutex);
    if (run->rc >= 0) {
        run->rc = rc;
        run->error = *error;
    }
    if (run->options->failure != NULL)
        run->options->failure(run->options->arg, error);
    pthread_mutex_unlock(&run->mutex);
}

static void *work(void *arg)
{
    struct run *run = arg;
    struct krc_buffer scratch = {0};
    struct krc_codecs *codecs = krc_codecs_new();
    const struct krc_replay_partition *wanted;
    while ((wanted = take_turn(run)) != NULL) {
        krc_error error = {0};
        int rc = codecs == NULL
                     ? krc_fail(&error, KRC_E_NOMEM, "out of memory for decompression")
                     : replay_part(run, wanted, codecs, &scratch, &error);
        if (rc < 0)
            note_failure(run, rc, &error);
    }
    krc_buffer_free(&scratch);
    krc_codecs_free(codecs);
    return NULL;
}

/* The calling thread is one of them; where the system gives no more threads, fewer do. */
static void work_together(struct run *run)
{
    size_t jobs = run->options->jobs > 1 ? (size_t)run->options->jobs : 1;
    if (jobs > run->options->partition_count)
        jobs = run->options->partition_count;
    pthread_t *threads = calloc(jobs + 1, sizeof *threads);
    size_t started = 0;
    while (threads != NULL && started + 1 < jobs &&
           pthread_create(&threads[started], NULL, work, run) == 0)
        started++;
    work(run);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

static int check_partition(const struct run *run, const struct krc_replay_partition *wanted,
                           krc_error *error)
{
    for (const struct krc_replay_partition *p = run->options->partitions; p < wanted; p++)
        if (p->partition == wanted->partition && strcmp(p->topic, wanted->topic) == 0)
            return krc_fail(error, KRC_E_INVALID, "%s-%d is wanted twice", wanted->topic,
                            (int)wanted->partition);
    if (krc_log_places_get(&run->places, wanted->topic, wanted->partition) == NULL)
        return krc_fail(error, KRC_E_NOT_FOUND, "the log folders have no partition %s-%d",
                        wanted->topic, (int)wanted->partition);
    if (run->target.is_sqlite && run->config->format_07)
        return krc_fail(error, KRC_E_INVALID,
                        "a table of records cannot hold Kafka 0.7's compressed sets, whose records "
                        "share one offset: use --to DIR");
    return KRC_OK;
}

static int check_options(const krc_config *config, const krc_replay_options *options,
                         krc_error *error)
{
    enum { DELIMITER_MAX = 32 };
    bool to_sqlite = strncmp(options->to, "sqlite:", 7) == 0;
    if (to_sqlite && (config->store_file[0] != '\0' || options->jobs > 1))
        return krc_fail(error, KRC_E_INVALID,
                        "a SQLite file keeps its own offsets and is written by one thread: neither "
                        "another store nor more jobs go with it");
    if (to_sqlite && (options->compression != KRC_REPLAY_PLAIN || options->rotate_bytes > 0 ||
                      options->rotate_hourly || options->format != KRC_REPLAY_JSONL))
        return krc_fail(error, KRC_E_INVALID,
                        "format, compression and rotation are of files: a SQLite table has none");
    if (options->max_records > 0 && options->jobs > 1)
        return krc_fail(error, KRC_E_INVALID,
                        "a limit of records goes with one job: of several, which come first is "
                        "left to chance");
    if (options->format == KRC_REPLAY_SEGMENT &&
        (options->compression != KRC_REPLAY_PLAIN || config->format_07))
        return krc_fail(error, KRC_E_INVALID,
                        "segments keep batches as they are: they are not compressed again, and "
                        "Kafka 0.7's are not the same format");
    if (options->delimiter.len > DELIMITER_MAX)
        return krc_fail(error, KRC_E_INVALID, "a delimiter has at most %d bytes", DELIMITER_MAX);
    return KRC_OK;
}

/* What the output holds already counts against its limit. */
static int count_records(struct run *run, krc_error *error)
{
    const krc_replay_options *options = run->options;
    const char *group = krc_store_group(run->config);
    run->records_left = options->max_records > 0 ? options->max_records : KRC_NO_END;
    for (size_t i = 0; options->max_records > 0 && i < options->partition_count; i++) {
        const struct krc_replay_partition *p = &options->partitions[i];
        struct krc_stored row;
        int rc = krc_store_load(run->target.db, group, p->topic, p->partition, &row, error);
        KRC_TRY(rc);
        if (rc == 1)
            run->records_left -= row.account.delivered;
    }
    return KRC_OK;
}

static int prepare(struct run *run, krc_error *error)
{
    const krc_config *config = run->config;
    struct krc_target *target = &run->target;
    KRC_TRY(krc_target_open(target, config, run->options, &run->places, error));
    int64_t interval = config->commit_interval_bytes, rotate = run->options->rotate_bytes;
    run->sinks = (struct krc_sink_run){
        .options = run->options,
        .commit_interval = rotate > 0 && rotate < interval ? rotate : interval,
        .read_uncommitted = config->read_uncommitted,
        .folder = target->folder,
        .folder_path = target->path,
        .store = target->db,
    };
    for (size_t i = 0; i < run->options->partition_count; i++)
        KRC_TRY(check_partition(run, &run->options->partitions[i], error));
    KRC_TRY(count_records(run, error));
    return target->is_sqlite ? krc_insert_open(&run->sinks.insert, target->db, error) : KRC_OK;
}

/* Descriptors: a few for each job; the soft limit is raised as far as it goes. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int krc_replay(const krc_config *config, const krc_replay_options *options, krc_error *error)
{
    if (config->log_dir_count == 0)
        return krc_fail(error, KRC_E_INVALID, "no source is configured: set log.dirs");
    KRC_TRY(check_options(config, options, error));
    struct run run = {.config = config, .options = options};
    KRC_TRY(krc_log_places_find(&run.places, (const char *const *)config->log_dirs,
                                config->log_dir_count, config->format_07, error));
    pthread_mutex_init(&run.mutex, NULL);
    raise_descriptor_limit();
    int rc = prepare(&run, error);
    if (rc >= 0) {
        krc_committer_init(&run.committer, run.target.db, krc_store_group(config));
        work_together(&run);
        krc_committer_free(&run.committer);
        rc = run.rc;
        if (rc < 0 && error != NULL)
            *error = run.error;
        if (rc >= 0)
            rc = krc_target_checkpoint(&run.target, error);
    }
    krc_insert_close(run.sinks.insert);
    krc_target_close(&run.target);
    pthread_mutex_destroy(&run.mutex);
    krc_log_places_free(&run.places);
    return rc;
}
