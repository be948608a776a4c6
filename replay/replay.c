/*
 * Replay: partitions to sinks, by one thread or several.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/names.h"
#include "replay/run.h"

/* ---- Log folders --------------------------------------------------------------------------- */

static int read_all(struct krc_replay_part *part, struct krc_buffer *scratch, krc_error *error)
{
    struct krc_item item = {.type = KRC_ITEM_WAIT};
    while (item.type != KRC_ITEM_END && !krc_replay_stopped(part->run))
        KRC_TRY(krc_replay_next(part, scratch, &item, error));
    return KRC_OK;
}

static int replay_log(struct krc_replay_run *run, const struct krc_replay_partition *wanted,
                      struct krc_codecs *codecs, struct krc_buffer *scratch, krc_error *error)
{
    const struct krc_log_place *log =
        krc_log_places_get(&run->places, wanted->topic, wanted->partition);
    struct krc_place place = {
        .topic = log->topic, .partition = log->partition, .topic_id = log->topic_id};
    struct krc_source *source;
    struct krc_replay_part part;
    krc_replay_init(&part, run, &place, wanted->start, wanted->until);
    int rc = krc_logsource_new(&source, log, run->config, codecs, error);
    if (rc >= 0)
        rc = krc_replay_begin(&part, source, error);
    if (rc >= 0)
        rc = read_all(&part, scratch, error);
    rc = krc_replay_finish(&part, rc, error);
    krc_replay_close(&part);
    return rc;
}

/* ---- All of them --------------------------------------------------------------------------- */

static const struct krc_replay_partition *take_turn(struct krc_replay_run *run)
{
    const struct krc_replay_partition *wanted = NULL;
    pthread_mutex_lock(&run->mutex);
    if (!run->ends && run->next < run->options->partition_count)
        wanted = &run->options->partitions[run->next++];
    pthread_mutex_unlock(&run->mutex);
    return wanted;
}

/* What is wanted is no failure. */
void krc_replay_failed(struct krc_replay_run *run, int rc, const krc_error *error)
{
    if (rc == KRC_E_INTERRUPTED) {
        run->ends = true;
        return;
    }
    pthread_mutex_lock(&run->mutex);
    if (run->rc >= 0) {
        run->rc = rc;
        run->error = *error;
    }
    if (run->options->failure != NULL)
        run->options->failure(run->options->arg, error);
    pthread_mutex_unlock(&run->mutex);
}

static bool is_stopped(void *arg)
{
    struct krc_replay_run *run = arg;
    const krc_replay_options *options = run->options;
    pthread_mutex_lock(&run->mutex);
    if ((options->stop != NULL && options->stop(options->arg)) ||
        krc_is_interrupted(&run->interrupt))
        run->stopped = true;
    pthread_mutex_unlock(&run->mutex);
    return run->stopped;
}

bool krc_replay_stopped(struct krc_replay_run *run)
{
    return krc_is_interrupted(&run->config->interrupt);
}

static void replay_logs(struct krc_replay_run *run)
{
    struct krc_buffer scratch = {0};
    struct krc_codecs *codecs = krc_codecs_new();
    const struct krc_replay_partition *wanted;
    while ((wanted = take_turn(run)) != NULL) {
        krc_error error = {0};
        int rc = codecs == NULL
                     ? krc_fail(&error, KRC_E_NOMEM, "out of memory for decompression")
                     : replay_log(run, wanted, codecs, &scratch, &error);
        if (rc < 0)
            krc_replay_failed(run, rc, &error);
    }
    krc_buffer_free(&scratch);
    krc_codecs_free(codecs);
}

static void *work(void *arg)
{
    struct krc_replay_run *run = arg;
    if (run->net == NULL) {
        replay_logs(run);
        return NULL;
    }
    pthread_mutex_lock(&run->mutex);
    size_t job = run->next++;
    pthread_mutex_unlock(&run->mutex);
    krc_replay_cluster(run, job, run->jobs);
    return NULL;
}

static size_t count_jobs(const krc_replay_options *options)
{
    size_t jobs = options->jobs > 1 ? (size_t)options->jobs : 1;
    return jobs > options->partition_count && options->partition_count > 0
               ? options->partition_count
               : jobs;
}

/* The calling thread is one of them.  Where the system gives no more threads, log folders are read
 * by fewer; a cluster's partitions were dealt out to all of them. */
static int work_together(struct krc_replay_run *run, krc_error *error)
{
    size_t started = 0;
    int rc = KRC_OK;
    run->jobs = count_jobs(run->options);
    pthread_t *threads = calloc(run->jobs, sizeof *threads);
    while (threads != NULL && started + 1 < run->jobs &&
           pthread_create(&threads[started], NULL, work, run) == 0)
        started++;
    if (run->net != NULL && started + 1 < run->jobs) {
        rc = krc_fail(error, KRC_E_NOMEM, "the system gives no more than %zu threads: use fewer "
                      "--jobs", started + 1);
        run->ends = true;
    } else {
        work(run);
    }
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return rc;
}

static int check_partition(const struct krc_replay_run *run,
                           const struct krc_replay_partition *wanted, krc_error *error)
{
    for (const struct krc_replay_partition *p = run->options->partitions; p < wanted; p++)
        if (p->partition == wanted->partition && strcmp(p->topic, wanted->topic) == 0)
            return krc_fail(error, KRC_E_INVALID, "%s-%d is wanted twice", wanted->topic,
                            (int)wanted->partition);
    if (run->net == NULL &&
        krc_log_places_get(&run->places, wanted->topic, wanted->partition) == NULL)
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
                      options->rotate_hours > 0 || options->format != KRC_REPLAY_JSONL))
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
    if (options->join && (config->bootstrap_servers[0] == '\0' || config->group_id[0] == '\0'))
        return krc_fail(error, KRC_E_INVALID, "to join a group, bootstrap.servers and group.id "
                        "have to be set");
    if (options->join && options->format == KRC_REPLAY_SEGMENT)
        return krc_fail(error, KRC_E_INVALID, "segments do not go with a group: the marker that "
                        "ends a transaction may lie in another member's output, and without it the "
                        "segment reads as if the transaction were open");
    if (options->join && config->store_file[0] != '\0')
        return krc_fail(error, KRC_E_INVALID, "the output of a group's member keeps its own "
                        "offsets: another store does not go with it");
    if (options->join && (options->jobs > 1 || options->max_records > 0 || options->new_history))
        return krc_fail(error, KRC_E_INVALID, "a member of a group is one job, which the group may "
                        "end and begin: neither more jobs, nor a limit of records, nor a new "
                        "history go with it");
    if (options->delimiter.len > DELIMITER_MAX)
        return krc_fail(error, KRC_E_INVALID, "a delimiter has at most %d bytes", DELIMITER_MAX);
    return KRC_OK;
}

static int check_names(const krc_replay_options *options, krc_error *error)
{
    for (size_t i = 0; i < options->partition_count; i++)
        KRC_TRY(krc_check_topic_name(options->partitions[i].topic, error));
    for (size_t i = 0; i < options->topic_count; i++)
        if (options->topics[i][0] != '^')
            KRC_TRY(krc_check_topic_name(options->topics[i], error));
    return KRC_OK;
}

/* What the output holds already counts against its limit. */
static int count_records(struct krc_replay_run *run, krc_error *error)
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

static int open_target(struct krc_replay_run *run, krc_error *error)
{
    struct krc_cluster_here here = {
        .net = run->net, .places = &run->places, .moved = run->config->moved_cluster};
    KRC_TRY(krc_target_open(&run->target, run->config, run->options, &here, error));
    if (krc_cluster_id_here(&here)[0] == '\0')
        krc_replay_note(run, "", "the logs do not say which cluster they are of (there is no "
                                 "cluster.id in a meta.properties): whether later runs read the "
                                 "same one is known by topic ids alone");
    return KRC_OK;
}

static int prepare(struct krc_replay_run *run, krc_error *error)
{
    const krc_config *config = run->config;
    struct krc_target *target = &run->target;
    int64_t interval = config->commit_interval_bytes, rotate = run->options->rotate_bytes;
    run->sinks = (struct krc_sink_run){
        .options = run->options,
        .commit_interval = rotate > 0 && rotate < interval ? rotate : interval,
        .read_uncommitted = config->read_uncommitted,
        .folder = target->folder,
        .folder_path = target->path,
        .store = target->db,
    };
    for (size_t i = 0; i < run->options->partition_count; i++) {
        KRC_TRY(krc_check_interrupt(&config->interrupt, "partitions were looked up", error));
        KRC_TRY(check_partition(run, &run->options->partitions[i], error));
    }
    KRC_TRY(count_records(run, error));
    if (target->is_sqlite)
        KRC_TRY(krc_insert_open(&run->sinks.insert, target->db, error));
    if (!run->options->join)
        return KRC_OK;
    /* what the group has to confirm yet is asked for by the ids of topics, and now */
    KRC_TRY(krc_committer_settle(&run->committer, error));
    target->cluster.moved = false;
    KRC_TRY(krc_replay_prepare_member(run, error));
    return krc_replay_recover(run, error);
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

static int check_source(const krc_config *config, const krc_replay_options *options,
                        krc_error *error)
{
    bool has_servers = config->bootstrap_servers[0] != '\0';
    if (config->log_dir_count == 0 && !has_servers)
        return krc_fail(error, KRC_E_INVALID,
                        "no source is configured: set log.dirs or bootstrap.servers");
    if (config->log_dir_count > 0 && (has_servers || options->follow))
        return krc_fail(error, KRC_E_INVALID,
                        has_servers ? "two sources are configured: set log.dirs or "
                                      "bootstrap.servers, not both"
                                    : "a log folder always ends: there is nothing to follow");
    return KRC_OK;
}

static int find_source(struct krc_replay_run *run, krc_error *error)
{
    const krc_config *config = run->config;
    if (config->log_dir_count == 0)
        return krc_replay_connect(run, error);
    KRC_TRY(krc_log_places_find(&run->places, (const char *const *)config->log_dirs,
                                config->log_dir_count, config->format_07, &config->interrupt,
                                error));
    krc_log_places_tell(&run->places, krc_replay_note, run);
    return KRC_OK;
}

static int prepare_and_work(struct krc_replay_run *run, krc_error *error)
{
    KRC_TRY(prepare(run, error));
    int rc = run->options->recover ? KRC_OK : work_together(run, error);
    if (rc >= 0 && run->rc < 0 && error != NULL)
        *error = run->error;
    if (rc >= 0)
        rc = run->rc;
    if (rc >= 0)
        rc = krc_committer_settle(&run->committer, error);
    return rc < 0 ? rc : krc_target_checkpoint(&run->target, error);
}

static int run_all(struct krc_replay_run *run, krc_error *error)
{
    raise_descriptor_limit();
    KRC_TRY(open_target(run, error));
    krc_committer_init(&run->committer, run->target.db, krc_store_group(run->config),
                       &run->target.cluster);
    int rc = prepare_and_work(run, error);
    krc_committer_free(&run->committer);
    krc_insert_close(run->sinks.insert);
    if (rc < 0 && !run->options->join)
        krc_target_discard(&run->target);
    krc_target_close(&run->target);
    return rc;
}

int krc_replay(const krc_config *config, const krc_replay_options *options, krc_error *error)
{
    KRC_TRY(check_source(config, options, error));
    KRC_TRY(check_names(options, error));
    KRC_TRY(check_options(config, options, error));
    krc_config *copy = krc_config_copy(config);
    if (copy == NULL)
        return krc_fail_nomem(error, sizeof *copy);
    struct krc_replay_run run = {
        .config = copy, .options = options, .interrupt = config->interrupt};
    if (options->stop != NULL || config->interrupt.is_asked != NULL)
        copy->interrupt = (struct krc_interrupt){is_stopped, &run};
    pthread_mutex_init(&run.mutex, NULL); /* notes of topics are told while they are looked for */
    int rc = find_source(&run, error);
    if (rc >= 0)
        rc = run_all(&run, error);
    krc_net_close(run.net); /* before what its answers and notes are put into */
    krc_log_places_free(&run.places);
    pthread_mutex_destroy(&run.mutex);
    krc_config_free(copy);
    return krc_said(rc, error);
}
