/*
 * Replay of a cluster: each job has connections of its own and a share of the partitions, which
 * take turns as their records arrive.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/netsource.h"
#include "replay/job.h"

enum { QUIET_MS = 1000 }; /* following: so long without data commits what there is */

void krc_replay_note(void *arg, const char *topic, const char *text)
{
    struct krc_event event = {.type = KRC_EVENT_NOTE, .topic = topic, .partition = -1};
    strncpy(event.message, text, sizeof event.message - 1);
    krc_replay_tell(arg, &event);
}

/* ---- Which partitions ----------------------------------------------------------------------- */

/* The names of the topics that are wanted, each once; to be freed. */
static const char **topic_names(const krc_replay_options *options, size_t *count)
{
    const char **names = calloc(options->partition_count + 1, sizeof *names);
    *count = 0;
    for (size_t i = 0; names != NULL && i < options->partition_count; i++) {
        const char *topic = options->partitions[i].topic;
        size_t k = 0;
        while (k < *count && strcmp(names[k], topic) != 0)
            k++;
        if (k == *count)
            names[(*count)++] = topic;
    }
    return names;
}

/* All, where there is a regular expression among them; and to recover, for one that is wanted may
 * be gone. */
static int load_joined_topics(const krc_replay_options *options, struct krc_net *net,
                              krc_error *error)
{
    size_t count = options->recover ? 0 : options->topic_count;
    for (size_t i = 0; i < options->topic_count; i++)
        if (options->topics[i][0] == '^')
            count = 0;
    return krc_net_load_topics(net, options->topics, count, error);
}

static int load_topics(struct krc_replay_run *run, struct krc_net *net, krc_error *error)
{
    if (run->options->join)
        return load_joined_topics(run->options, net, error);
    size_t count;
    const char **names = topic_names(run->options, &count);
    if (names == NULL)
        return krc_fail_nomem(error, sizeof *names);
    int rc = krc_net_load_topics(net, names, count, error);
    free(names);
    if (run->options->follow && run->options->wants != NULL)
        net->cluster.topics.all_wanted = true;
    return rc;
}

int krc_replay_connect(struct krc_replay_run *run, krc_error *error)
{
    KRC_TRY(krc_net_open(&run->net, run->config, NULL, NULL, krc_replay_note, run, error));
    int rc = load_topics(run, run->net, error);
    for (size_t i = 0; rc >= 0 && i < run->options->partition_count; i++) {
        const struct krc_replay_partition *p = &run->options->partitions[i];
        if (krc_topic_having(&run->net->cluster, p->topic, p->partition) == NULL)
            rc = krc_fail(error, KRC_E_NOT_FOUND, "the cluster has no partition %s-%d", p->topic,
                          (int)p->partition);
    }
    if (rc < 0) {
        krc_net_close(run->net);
        run->net = NULL;
    }
    return rc;
}

/* Whose share a partition is: the same for all jobs, and whenever it is found. */
static bool is_mine(const struct krc_replay_job *job, const char *topic, int32_t partition)
{
    size_t hash = (size_t)partition;
    while (*topic != '\0')
        hash = hash * 31 + (unsigned char)*topic++;
    return hash % job->jobs == job->number;
}

/* ---- The parts ------------------------------------------------------------------------------ */

/* The group has given it to another member, which is no failure: that goes on from what is
 * committed, and here nothing else may stay. */
static int give_way(struct krc_replay_run *run, const struct krc_place *place, krc_error *error)
{
    struct krc_event event = {
        .type = KRC_EVENT_FENCED, .topic = place->topic, .partition = place->partition};
    snprintf(event.message, sizeof event.message, "%.511s", error->message);
    krc_replay_tell(run, &event);
    return krc_replay_cut(run, place, error);
}

void krc_replay_end_part(struct krc_replay_job *job, struct krc_replay_part *part, int rc,
                         krc_error *error)
{
    bool whole = rc >= 0 && part->tracker.offsets.state == KRC_ENDED;
    rc = krc_replay_finish(part, rc, error);
    if (rc >= 0 && whole)
        rc = krc_replay_close_cluster(part, job->codecs, error);
    job->parts[part->at] = job->parts[--job->count];
    job->parts[part->at]->at = part->at;
    krc_replay_close(part);
    if (rc == KRC_E_FENCED)
        rc = give_way(job->run, &part->place, error);
    free(part);
    if (rc < 0)
        krc_replay_failed(job->run, rc, error);
}

static int make_room(struct krc_replay_job *job, krc_error *error)
{
    size_t size = (job->count + 1) * sizeof *job->parts;
    struct krc_replay_part **parts = realloc(job->parts, size);
    if (parts == NULL)
        return krc_fail_nomem(error, size);
    job->parts = parts;
    return KRC_OK;
}

static int64_t until_of(const struct krc_replay_run *run, int64_t until)
{
    return until == KRC_NO_END && !run->options->follow ? KRC_PRESENT_END : until;
}

void krc_replay_begin_part(struct krc_replay_job *job, struct krc_topic *topic, int32_t partition,
                           int64_t start, int64_t until, const struct krc_joined *joined)
{
    struct krc_replay_run *run = job->run;
    struct krc_place place = {
        .topic = topic->name, .partition = partition, .topic_id = topic->id};
    struct krc_source *source;
    krc_error error = {0};
    struct krc_replay_part *part = malloc(sizeof *part);
    int rc = part == NULL ? krc_fail_nomem(&error, sizeof *part) : make_room(job, &error);
    if (rc < 0) {
        free(part);
        krc_replay_failed(run, rc, &error);
        run->ends |= joined != NULL; /* it would be ours, and not be read */
        return;
    }
    topic->partitions[partition].reader = job;
    krc_replay_init(part, run, &place, start, until_of(run, until));
    part->net = job->net;
    part->at = job->count++;
    job->parts[part->at] = part;
    if (joined != NULL)
        part->joined = *joined;
    rc = krc_netsource_new(&source, &job->net->cluster, topic, partition, run->config, job->codecs,
                           part, &error);
    if (rc >= 0) {
        krc_remote_ready(krc_netsource_of(source)->remote);
        rc = krc_replay_begin(part, source, &error);
    }
    if (rc < 0)
        krc_replay_end_part(job, part, rc, &error);
}

static void begin_parts(struct krc_replay_job *job)
{
    const krc_replay_options *options = job->run->options;
    krc_error error;
    if (options->join) {
        int rc = krc_net_join(job->net, options->topics, options->topic_count, &error);
        if (rc < 0)
            krc_replay_failed(job->run, rc, &error);
        job->run->ends |= rc < 0;
    }
    for (size_t i = 0; i < options->partition_count && !job->run->ends; i++) {
        const struct krc_replay_partition *p = &options->partitions[i];
        struct krc_topic *topic =
            krc_topic_having(&job->net->cluster, p->topic, p->partition);
        if (topic != NULL && is_mine(job, p->topic, p->partition))
            krc_replay_begin_part(job, topic, p->partition, p->start, p->until, NULL);
    }
    job->seen_changes = job->net->cluster.topics.changes;
}

/* One that has ended is not begun again. */
static bool has_part(const struct krc_replay_job *job, const struct krc_topic *topic,
                     int32_t partition)
{
    return topic->partitions[partition].reader != NULL || !is_mine(job, topic->name, partition);
}

static bool is_wanted(struct krc_replay_run *run, const char *topic, int32_t partition)
{
    pthread_mutex_lock(&run->mutex);
    bool wanted = run->options->wants(run->options->arg, topic, partition);
    pthread_mutex_unlock(&run->mutex);
    return wanted;
}

/* Following: partitions that were made meanwhile, from their beginning; a group gives its members
 * theirs. */
static void begin_new_parts(struct krc_replay_job *job)
{
    const krc_replay_options *options = job->run->options;
    const struct krc_topics *topics = &job->net->cluster.topics;
    bool looks = options->follow && !options->join && options->wants != NULL;
    if (!looks || job->seen_changes == topics->changes)
        return;
    job->seen_changes = topics->changes;
    for (size_t i = 0; i < topics->count; i++)
        for (int32_t p = 0; p < topics->list[i]->partition_count; p++) {
            struct krc_topic *topic = topics->list[i];
            if (!has_part(job, topic, p) && is_wanted(job->run, topic->name, p))
                krc_replay_begin_part(job, topic, p, KRC_EARLIEST, KRC_NO_END, NULL);
        }
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* A partition keeps its turn for what one fetch brought.  What was made of it is handed to the
 * system then, so that many partitions do not keep much each. */
static int turn_over(struct krc_replay_job *job, struct krc_replay_part *part, krc_error *error)
{
    struct krc_remote *remote = krc_netsource_of(part->tracker.source)->remote;
    krc_remote_not_ready(remote);
    krc_remote_ready(remote);
    krc_loop_run(job->net->loop, 0);
    return job->count > 1 ? krc_sink_rest(&part->sink, error) : KRC_OK;
}

/* Reads what is there of a partition whose turn it is; false: it has ended. */
static bool read_part(struct krc_replay_job *job, struct krc_replay_part *part)
{
    krc_error error;
    struct krc_item item;
    int rc = krc_replay_next(part, &job->scratch, &item, &error);
    if (rc >= 0 && (item.type == KRC_ITEM_RECORDS || item.type == KRC_ITEM_PASSED)) {
        const struct krc_chunk *chunk = item.batch.bytes != NULL ? item.batch.chunk : part->chunk;
        part->taken_at_ms = krc_loop_now_ms();
        if (chunk != part->chunk)
            rc = turn_over(job, part, &error);
        part->chunk = chunk;
    }
    if (rc >= 0 && item.type == KRC_ITEM_WAIT)
        krc_remote_not_ready(krc_netsource_of(part->tracker.source)->remote);
    if (rc >= 0 && item.type != KRC_ITEM_END)
        return true;
    krc_replay_end_part(job, part, rc, &error);
    return false;
}

/* Following, or in a group: what came last is committed once nothing more comes. */
static void commit_quiet(struct krc_replay_job *job)
{
    int64_t before_ms = krc_loop_now_ms() - QUIET_MS;
    bool commits = job->run->options->follow || job->run->options->join;
    for (size_t i = 0; commits && i < job->count; i++) {
        struct krc_replay_part *part = job->parts[i];
        krc_error error;
        if (part->taken_at_ms == 0 || part->taken_at_ms > before_ms)
            continue;
        part->taken_at_ms = 0;
        int rc = krc_replay_commit(part, &error);
        if (rc < 0) {
            krc_replay_end_part(job, part, rc, &error);
            return;
        }
    }
}

static bool has_failed(struct krc_replay_run *run)
{
    pthread_mutex_lock(&run->mutex);
    bool failed = run->rc < 0;
    pthread_mutex_unlock(&run->mutex);
    return failed;
}

/* With nothing left to read, more may still be found; but not after a failure, which is to be
 * seen. */
static bool is_over(struct krc_replay_job *job)
{
    struct krc_replay_run *run = job->run;
    if (run->options->join)
        return run->ends || krc_replay_member_is_done(job) || krc_replay_stopped(run);
    bool may_come = run->options->follow && run->options->wants != NULL && !has_failed(run);
    return run->ends || run->records_left <= 0 || (job->count == 0 && !may_come) ||
           krc_replay_stopped(run);
}

/* A broker that denies us would be waited for without end. */
static void wait(struct krc_replay_job *job, int64_t until_ms)
{
    krc_error error;
    krc_loop_run(job->net->loop, until_ms);
    int rc = krc_net_check(job->net, &error);
    if (rc < 0) {
        krc_replay_failed(job->run, rc, &error);
        job->run->ends = true;
    }
}

static void look_after_group(struct krc_replay_job *job)
{
    krc_error error;
    int rc = krc_replay_member_turn(job, &error);
    if (rc >= 0)
        return;
    krc_replay_failed(job->run, rc, &error);
    job->run->ends = true;
}

static void read_parts(struct krc_replay_job *job)
{
    int64_t look_ms = 0;
    struct krc_remote *remote;
    for (;;) {
        int64_t now_ms = krc_loop_now_ms();
        if (job->net->cluster.member != NULL)
            look_after_group(job);
        if (now_ms >= look_ms || job->count == 0) {
            if (is_over(job))
                return;
            commit_quiet(job);
            begin_new_parts(job);
            look_ms = now_ms + KRC_REPLAY_LOOK_MS;
        }
        remote = krc_remote_first_ready(&job->net->cluster);
        if (remote == NULL)
            wait(job, look_ms);
        else if (!read_part(job, remote->owner))
            look_ms = 0;
    }
}

void krc_replay_cluster(struct krc_replay_run *run, size_t number, size_t jobs)
{
    struct krc_replay_job job = {.run = run, .number = number, .jobs = jobs, .net = run->net};
    krc_error error;
    int rc = KRC_OK;
    if (number > 0)
        rc = krc_net_open(&job.net, run->config, NULL, NULL, krc_replay_note, run, &error);
    if (rc >= 0 && number > 0)
        rc = load_topics(run, job.net, &error);
    job.codecs = krc_codecs_new();
    if (rc >= 0 && job.codecs == NULL)
        rc = krc_fail_nomem(&error, 1);
    if (rc < 0) {
        krc_replay_failed(run, rc, &error);
        run->ends = true; /* its share would be missing, and nobody would see why */
    } else {
        begin_parts(&job);
        read_parts(&job);
    }
    while (job.count > 0)
        krc_replay_end_part(&job, job.parts[0], KRC_OK, &error);
    if (job.net != NULL && job.net->cluster.member != NULL)
        krc_replay_member_leave(&job);
    free(job.parts);
    krc_buffer_free(&job.scratch);
    krc_codecs_free(job.codecs);
    if (number > 0)
        krc_net_close(job.net);
}
