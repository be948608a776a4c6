/*
 * The consumer's handle: open, close, what there is, what is assigned.
 */
#include "consumer/handle.h"

#include <stdlib.h>
#include <string.h>

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

static int open_store(krc *handle, krc_error *error)
{
    KRC_TRY(krc_store_open(&handle->store, handle->config->store_file, KRC_STORE_CREATE, error));
    return krc_refuse_sink(handle, error);
}

int krc_open(krc **out, const krc_config *config, krc_error *error)
{
    if (config->log_dir_count == 0)
        return krc_fail(error, KRC_E_INVALID, "no source is configured: set log.dirs");
    krc *handle = calloc(1, sizeof *handle);
    if (handle == NULL)
        return krc_fail_nomem(error, sizeof *handle);
    int rc = KRC_OK;
    handle->config = krc_config_copy(config);
    handle->codecs = krc_codecs_new();
    handle->events = malloc(KRC_EVENTS_KEPT * sizeof *handle->events);
    if (handle->config == NULL || handle->codecs == NULL || handle->events == NULL)
        rc = krc_fail_nomem(error, KRC_EVENTS_KEPT * sizeof *handle->events);
    if (rc >= 0)
        rc = krc_log_places_find(&handle->places, (const char *const *)config->log_dirs,
                                 config->log_dir_count, config->format_07, error);
    if (rc >= 0 && config->store_file[0] != '\0')
        rc = open_store(handle, error);
    if (rc < 0) {
        krc_close(handle);
        return rc;
    }
    *out = handle;
    return KRC_OK;
}

static void part_free(struct krc_part *part)
{
    if (part == NULL)
        return;
    if (part->state == KRC_PART_OPEN)
        krc_tracker_close(&part->tracker);
    krc_spans_free(&part->spans);
    krc_ledger_free(&part->ledger);
    free(part);
}

void krc_close(krc *handle)
{
    if (handle == NULL)
        return;
    while (handle->out != NULL)
        krc_release(handle->out);
    for (struct krc_batch *batch; (batch = handle->reuse) != NULL;) {
        handle->reuse = batch->next;
        krc_buffer_free(&batch->scratch);
        free(batch);
    }
    for (size_t i = 0; i < handle->part_count; i++)
        part_free(handle->parts[i]);
    free(handle->parts);
    free(handle->events);
    krc_store_close(handle->store);
    krc_log_places_free(&handle->places);
    krc_codecs_free(handle->codecs);
    krc_config_free(handle->config);
    free(handle);
}

int krc_store_sqlite_attach(krc *handle, struct sqlite3 *db, krc_error *error)
{
    if (handle->store != NULL)
        return krc_fail(error, KRC_E_STATE, "a database cannot be attached: the consumer has an "
                        "offset store already");
    if (handle->part_count > 0)
        return krc_fail(error, KRC_E_STATE, "a database cannot be attached after a partition was "
                        "assigned: attach it first");
    return krc_store_attach(&handle->store, db, error);
}

/* ---- What there is ------------------------------------------------------------------------- */

bool krc_source_partition(const krc *handle, size_t i, struct krc_partition *partition)
{
    if (i >= handle->places.count)
        return false;
    const struct krc_log_place *place = &handle->places.list[i];
    *partition = (struct krc_partition){.topic = place->topic,
                                        .partition = place->partition,
                                        .path = place->folder,
                                        .high_watermark = place->high_watermark};
    return true;
}

struct krc_part *krc_find_part(const krc *handle, const char *topic, int32_t partition)
{
    for (size_t i = 0; i < handle->part_count; i++) {
        struct krc_part *part = handle->parts[i];
        if (part->place->partition == partition && strcmp(part->place->topic, topic) == 0)
            return part;
    }
    return NULL;
}

static int no_such(const char *topic, int32_t partition, krc_error *error)
{
    int rc = krc_fail(error, KRC_E_NOT_FOUND, "the log folders have no partition %s-%d", topic,
                      (int)partition);
    krc_error_at(error, topic, partition, -1, -1);
    return rc;
}

/* Opens a partition's log aside from what is being read, for a question. */
static int ask_source(krc *handle, const char *topic, int32_t partition,
                      struct krc_logsource *source, krc_error *error)
{
    const struct krc_log_place *place = krc_log_places_get(&handle->places, topic, partition);
    if (place == NULL)
        return no_such(topic, partition, error);
    return krc_logsource_open(source, place, handle->config, handle->codecs, error);
}

int krc_log_offsets(krc *handle, const char *topic, int32_t partition,
                    struct krc_log_offsets *offsets, krc_error *error)
{
    struct krc_logsource source;
    KRC_TRY(ask_source(handle, topic, partition, &source, error));
    offsets->log_start_offset = source.log->log_start_offset;
    offsets->log_end_offset = source.log_end;
    offsets->high_watermark = source.log->place->high_watermark;
    int rc = krc_logsource_stable(&source, &offsets->last_stable_offset, error);
    krc_logsource_close(&source);
    return rc;
}

int krc_offset_for_time(krc *handle, const char *topic, int32_t partition, int64_t timestamp_ms,
                        int64_t *offset, krc_error *error)
{
    struct krc_logsource source;
    KRC_TRY(ask_source(handle, topic, partition, &source, error));
    int rc = krc_logsource_find_time(&source, timestamp_ms, offset, error);
    krc_logsource_close(&source);
    return rc;
}

/* ---- What is assigned ---------------------------------------------------------------------- */

/* Without a topic id on both sides, a topic made again under its old name is not told from
 * the old one.  Said once. */
static void tell_unprotected(krc *handle, const struct krc_log_place *place)
{
    if (handle->told_unprotected)
        return;
    handle->told_unprotected = true;
    struct krc_event event = {
        .type = KRC_EVENT_NOTE,
        .topic = place->topic,
        .partition = place->partition,
        .message = KRC_UNPROTECTED};
    krc_push_event(handle, &event);
}

static int load_stored(struct krc_part *part, krc_error *error)
{
    krc *handle = part->krc;
    bool follows = part->start == KRC_STORED;
    if (handle->store == NULL)
        return KRC_OK;
    int rc = krc_ledger_load(&part->ledger, handle->store, krc_store_group(handle->config),
                             follows, &part->stored, error);
    if (rc == 1 && follows && krc_ledger_unprotected(&part->ledger, &part->stored))
        tell_unprotected(handle, part->place);
    return rc < 0 ? rc : KRC_OK;
}

static int check_assign(krc *handle, const char *topic, int32_t partition, int64_t start,
                        krc_error *error)
{
    if (krc_log_places_get(&handle->places, topic, partition) == NULL)
        return no_such(topic, partition, error);
    if (krc_find_part(handle, topic, partition) != NULL)
        return krc_fail(error, KRC_E_STATE, "%s-%d is assigned already", topic, (int)partition);
    if (start == KRC_STORED && handle->store == NULL)
        return krc_fail(error, KRC_E_STATE,
                        "%s-%d cannot start at the stored offset: offset.store.file is not set",
                        topic, (int)partition);
    if (start < KRC_STORED)
        return krc_fail(error, KRC_E_INVALID, "%s-%d cannot start at %lld", topic, (int)partition,
                        (long long)start);
    return KRC_OK;
}

int krc_assign(krc *handle, const char *topic, int32_t partition, int64_t start, int64_t until,
               krc_error *error)
{
    KRC_TRY(check_assign(handle, topic, partition, start, error));
    size_t size = (handle->part_count + 1) * sizeof *handle->parts;
    struct krc_part **parts = realloc(handle->parts, size);
    if (parts == NULL)
        return krc_fail_nomem(error, size);
    handle->parts = parts;
    struct krc_part *part = calloc(1, sizeof *part);
    if (part == NULL)
        return krc_fail_nomem(error, sizeof *part);
    part->krc = handle;
    part->place = krc_log_places_get(&handle->places, topic, partition);
    part->start = start;
    part->until = until;
    part->stable = part->log_end = -1;
    krc_offsets_init(&part->tracker.offsets);
    krc_ledger_init(&part->ledger, part->place);
    int rc = load_stored(part, error);
    if (rc < 0) {
        part_free(part);
        return rc;
    }
    handle->parts[handle->part_count++] = part;
    return KRC_OK;
}
