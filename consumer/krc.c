/*
 * The consumer's handle: open, close, what there is, what is assigned.
 */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "consumer/handle.h"
#include "consumer/netsource.h"

int krc_refuse_sink(const krc *handle, krc_error *error)
{
    int rc = krc_store_has_sink(handle->store, error);
    if (rc == 1)
        rc = krc_fail(error, KRC_E_STATE,
                      "%s keeps how far the output of a replay goes, and moving its offsets would "
                      "break that: use another store",
                      handle->config->store_file);
    return rc;
}

/* ---- Open and close ------------------------------------------------------------------------- */

static int open_store(krc *handle, krc_error *error)
{
    KRC_TRY(krc_store_open_until(&handle->store, handle->config->store_file, KRC_STORE_CREATE,
                                 &handle->config->interrupt, error));
    return krc_refuse_sink(handle, error);
}

static int open_source(krc *handle, struct uv_loop_s *loop, krc_error *error)
{
    const krc_config *config = handle->config;
    if (config->log_dir_count > 0) {
        KRC_TRY(krc_log_places_find(&handle->places, (const char *const *)config->log_dirs,
                                    config->log_dir_count, config->format_07,
                                    &handle->config->interrupt, error));
        krc_log_places_tell(&handle->places, krc_note_topic, handle);
        return KRC_OK;
    }
    return krc_net_open(&handle->net, config, loop, loop == NULL ? NULL : krc_embedded_turn,
                        krc_note_topic, handle, error);
}

static int check_source(const krc_config *config, krc_error *error)
{
    bool has_servers = config->bootstrap_servers[0] != '\0';
    if (config->log_dir_count == 0 && !has_servers)
        return krc_fail(error, KRC_E_INVALID,
                        "no source is configured: set log.dirs or bootstrap.servers");
    if (config->log_dir_count > 0 && has_servers)
        return krc_fail(error, KRC_E_INVALID,
                        "two sources are configured: set log.dirs or bootstrap.servers, not both");
    return KRC_OK;
}

static int open_handle(krc **out, const krc_config *config, struct uv_loop_s *loop,
                       krc_error *error)
{
    KRC_TRY(check_source(config, error));
    krc *handle = calloc(1, sizeof *handle);
    if (handle == NULL)
        return krc_fail_nomem(error, sizeof *handle);
    int rc = KRC_OK;
    handle->last_part = &handle->parts;
    handle->config = krc_config_copy(config);
    handle->codecs = krc_codecs_new();
    handle->events = malloc(KRC_EVENTS_KEPT * sizeof *handle->events);
    if (handle->config == NULL || handle->codecs == NULL || handle->events == NULL)
        rc = krc_fail_nomem(error, KRC_EVENTS_KEPT * sizeof *handle->events);
    if (rc >= 0)
        rc = open_source(handle, loop, error);
    if (rc >= 0 && config->store_file[0] != '\0')
        rc = open_store(handle, error);
    if (rc < 0) {
        krc_close(handle);
        return rc;
    }
    *out = handle;
    return KRC_OK;
}

int krc_open(krc **out, const krc_config *config, krc_error *error)
{
    return open_handle(out, config, NULL, error);
}

int krc_open_embedded(krc **out, const krc_config *config, struct uv_loop_s *loop,
                      const struct krc_callbacks *callbacks, krc_error *error)
{
    if (config->log_dir_count > 0)
        return krc_fail(error, KRC_E_INVALID,
                        "log folders are read with krc_poll, not in an event loop");
    KRC_TRY(open_handle(out, config, loop, error));
    (*out)->is_embedded = true;
    (*out)->callbacks = *callbacks;
    return KRC_OK;
}

void krc_part_free(struct krc_part *part)
{
    if (part == NULL)
        return;
    if (part->state == KRC_PART_OPEN)
        krc_tracker_close(&part->tracker);
    krc_part_not_changed(part);
    krc_spans_free(&part->spans);
    krc_ledger_free(&part->ledger);
    free(part);
}

static void free_batches(krc *handle)
{
    while (handle->out != NULL)
        krc_release(handle->out);
    for (struct krc_batch *batch; (batch = handle->reuse) != NULL;) {
        handle->reuse = batch->next;
        krc_buffer_free(&batch->scratch);
        free(batch);
    }
}

void krc_close(krc *handle)
{
    if (handle == NULL)
        return;
    handle->close_asked = true;
    if (handle->in_callback)
        return; /* once that returns: krc_embedded_turn, or the application again */
    krc_commits_forget(handle);
    krc_group_work_forget(handle);
    krc_part_from_group(handle);
    free_batches(handle);
    handle->found = NULL;
    for (struct krc_part *part; (part = handle->parts) != NULL;) {
        handle->parts = part->next;
        krc_part_free(part);
    }
    krc_net_close(handle->net); /* before what its answers and notes are put into */
    free(handle->events);
    krc_subscriptions_free(handle);
    krc_store_close(handle->store);
    krc_log_places_free(&handle->places);
    krc_codecs_free(handle->codecs);
    krc_config_free(handle->config);
    free(handle);
}

void krc_wakeup(krc *handle)
{
    atomic_store(&handle->woken, true);
    if (handle->net != NULL)
        krc_loop_wake(handle->net->loop);
}

int krc_store_sqlite_attach(krc *handle, struct sqlite3 *db, krc_error *error)
{
    if (handle->store != NULL)
        return krc_fail(error, KRC_E_STATE, "a database cannot be attached: the consumer has an "
                        "offset store already");
    if (handle->part_count > 0)
        return krc_fail(error, KRC_E_STATE, "a database cannot be attached after a partition was "
                        "assigned: attach it first");
    handle->is_attached = true;
    return krc_store_attach(&handle->store, db, error);
}

/* ---- What is assigned ----------------------------------------------------------------------- */

static bool is_part(const struct krc_part *part, const char *topic, int32_t partition)
{
    return part->place.partition == partition && strcmp(part->place.topic, topic) == 0;
}

struct krc_part *krc_find_part(const krc *handle, const char *topic, int32_t partition)
{
    if (handle->found != NULL && is_part(handle->found, topic, partition))
        return handle->found;
    if (handle->net != NULL) {
        struct krc_topic *known = krc_topic_having(&handle->net->cluster, topic, partition);
        struct krc_topic_partition *p =
            known == NULL ? NULL : krc_topic_partition(known, partition);
        if ((p != NULL && p->reader != NULL) || handle->unplaced == 0)
            return p == NULL ? NULL : p->reader;
    }
    for (struct krc_part *part = handle->parts; part != NULL; part = part->next)
        if (is_part(part, topic, partition))
            return part;
    return NULL;
}

int krc_refuse_member(const krc *handle, const char *topic, krc_error *error)
{
    if (handle->net == NULL || handle->net->cluster.member == NULL)
        return KRC_OK;
    return krc_fail(error, KRC_E_STATE, "%s cannot be assigned: a group was joined, which assigns",
                    topic);
}

static int check_assign(krc *handle, const char *topic, int32_t partition, int64_t start,
                        krc_error *error)
{
    KRC_TRY(krc_check_topic_name(topic, error));
    KRC_TRY(krc_refuse_member(handle, topic, error));
    bool has_group = handle->net != NULL && handle->config->group_id[0] != '\0';
    if (handle->net == NULL && krc_log_places_get(&handle->places, topic, partition) == NULL) {
        int rc = krc_fail(error, KRC_E_NOT_FOUND, "the log folders have no partition %s-%d", topic,
                          (int)partition);
        krc_error_at(error, topic, partition, -1, -1);
        return rc;
    }
    if (partition < 0 || start < KRC_STORED)
        return krc_fail(error, KRC_E_INVALID, "%s-%d cannot start at %lld", topic, (int)partition,
                        (long long)start);
    if (krc_find_part(handle, topic, partition) != NULL)
        return krc_fail(error, KRC_E_STATE, "%s-%d is assigned already", topic, (int)partition);
    if (start == KRC_STORED && handle->store == NULL && !has_group)
        return krc_fail(error, KRC_E_STATE,
                        "%s-%d cannot start at the stored offset: offset.store.file is not set, "
                        "nor a cluster's group.id, and no database is attached",
                        topic, (int)partition);
    return KRC_OK;
}

int krc_add_part(krc *handle, struct krc_topic *topic, const struct krc_log_place *log,
                 int32_t partition, int64_t start, int64_t until, struct krc_part **out,
                 krc_error *error)
{
    struct krc_part *part = calloc(1, sizeof *part);
    if (part == NULL)
        return krc_fail_nomem(error, sizeof *part);
    part->krc = handle;
    part->log = log;
    part->topic = topic;
    part->place = (struct krc_place){.topic = log != NULL ? log->topic : topic->name,
                                     .partition = partition};
    if (log != NULL)
        part->place.topic_id = log->topic_id;
    part->start = start;
    part->until = until;
    part->informed = -1;
    part->standing = (struct krc_standing){-1, -1, -1, -1};
    krc_offsets_init(&part->tracker.offsets);
    krc_ledger_init(&part->ledger, &part->place);
    part->back = handle->last_part;
    *handle->last_part = part;
    handle->last_part = &part->next;
    handle->part_count++;
    handle->open_count++;
    handle->told_ended = false;
    handle->unplaced += topic != NULL;
    krc_part_place(part);
    *out = part;
    return KRC_OK;
}

static void unlist(struct krc_part *part)
{
    krc *handle = part->krc;
    *part->back = part->next;
    if (part->next != NULL)
        part->next->back = part->back;
    else
        handle->last_part = part->back;
    if (handle->turn == part)
        handle->turn = part->next;
    handle->part_count--;
}

int krc_assign(krc *handle, const char *topic, int32_t partition, int64_t start, int64_t until,
               krc_error *error)
{
    struct krc_topic *known = NULL;
    const struct krc_log_place *log = NULL;
    struct krc_part *part;
    KRC_TRY(check_assign(handle, topic, partition, start, error));
    if (handle->net == NULL)
        log = krc_log_places_get(&handle->places, topic, partition);
    else if ((known = krc_topic_want(&handle->net->cluster, topic)) == NULL)
        return krc_fail_nomem(error, strlen(topic));
    KRC_TRY(krc_add_part(handle, known, log, partition, start, until, &part, error));
    handle->seen_generation = 0; /* what is known of it is looked at */
    if (handle->net != NULL)
        return KRC_OK;
    int rc = krc_check_store(handle, error);
    if (rc >= 0)
        rc = krc_part_load(part, error);
    if (rc < 0) {
        unlist(part);
        handle->open_count--;
        krc_part_free(part);
    }
    return rc;
}

void krc_part_remove(struct krc_part *part)
{
    krc *handle = part->krc;
    krc_commit_wait(handle);
    for (struct krc_batch *batch = handle->out; batch != NULL; batch = batch->next)
        if (batch->part == part)
            batch->part = NULL;
    unlist(part);
    handle->open_count -= part->state != KRC_PART_DONE;
    handle->found = NULL;
    if (part->is_placed)
        krc_topic_partition(part->topic, part->place.partition)->reader = NULL;
    else
        handle->unplaced -= part->topic != NULL;
    krc_part_free(part);
}

int krc_unassign(krc *handle, const char *topic, int32_t partition)
{
    struct krc_part *part = krc_find_part(handle, topic, partition);
    if (part == NULL)
        return KRC_E_NOT_FOUND;
    krc_part_remove(part);
    return KRC_OK;
}

void krc_part_pause(struct krc_part *part, bool paused)
{
    part->paused = paused;
    if (part->krc->net != NULL && part->state == KRC_PART_OPEN)
        krc_remote_pause(krc_netsource_of(part->tracker.source)->remote, paused);
}

static int set_paused(krc *handle, const char *topic, int32_t partition, bool paused)
{
    struct krc_part *part = krc_find_part(handle, topic, partition);
    if (part == NULL)
        return KRC_E_NOT_FOUND;
    krc_part_pause(part, paused);
    return KRC_OK;
}

int krc_pause(krc *handle, const char *topic, int32_t partition)
{
    return set_paused(handle, topic, partition, true);
}

int krc_resume(krc *handle, const char *topic, int32_t partition)
{
    return set_paused(handle, topic, partition, false);
}

int krc_seek(krc *handle, const char *topic, int32_t partition, int64_t offset, krc_error *error)
{
    struct krc_part *part = krc_find_part(handle, topic, partition);
    if (part == NULL)
        return krc_fail(error, KRC_E_NOT_FOUND, "%s-%d is not assigned", topic, (int)partition);
    if (offset < KRC_EARLIEST)
        return krc_fail(error, KRC_E_INVALID, "%s-%d cannot go on at %lld", topic, (int)partition,
                        (long long)offset);
    krc_spans_clear(&part->spans);
    krc_part_changed(part);
    if (part->state == KRC_PART_OPEN)
        return krc_tracker_assign(&part->tracker, offset, NULL, error);
    part->start = offset;
    if (part->state == KRC_PART_DONE) {
        part->state = KRC_PART_WAITS;
        handle->open_count++;
        handle->turn = NULL;
        handle->seen_generation = 0;
        handle->told_ended = false;
    }
    return KRC_OK;
}
