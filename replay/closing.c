/*
 * Segments that end inside of transactions which are committed further on (at the last stable
 * offset, or where the user wants) would read as if these were open: their markers are put behind,
 * where no commit speaks of them, and a later run cuts them off.  A folder has them; from a cluster
 * they are fetched, of those transactions that the segments themselves leave open.
 */
#include <stdio.h>
#include <stdlib.h>

#include "consumer/netsource.h"
#include "replay/run.h"

static bool may_end_inside(const struct krc_replay_part *part, int64_t log_end)
{
    return part->run->options->format == KRC_REPLAY_SEGMENT &&
           !part->run->config->read_uncommitted && part->sink.file.fd >= 0 &&
           part->tracker.offsets.position < log_end;
}

/* ---- A folder ------------------------------------------------------------------------------- */

static int append(struct krc_replay_part *part, struct krc_logsource *source, int64_t offset,
                  krc_error *error)
{
    struct krc_log_batch batch;
    KRC_TRY(krc_logsource_batch_at(source, offset, &batch, error));
    return krc_buffer_append(&part->sink.file.plain, batch.bytes, (size_t)batch.header.size, error);
}

int krc_replay_close_folder(struct krc_replay_part *part, krc_error *error)
{
    struct krc_logsource *source = krc_logsource_of(part->tracker.source);
    int64_t *markers;
    size_t count;
    if (source == NULL || !may_end_inside(part, source->log_end))
        return KRC_OK;
    int rc = krc_closing_markers(source->log, part->tracker.offsets.position,
                                 part->run->config->skip_corrupt, &markers, &count, error);
    for (size_t i = 0; rc >= 0 && i < count; i++)
        rc = append(part, source, markers[i], error);
    if (rc >= 0 && count > 0)
        rc = krc_outfile_flush(&part->sink.file, error);
    free(markers);
    return rc;
}

/* ---- A cluster ------------------------------------------------------------------------------ */

/* The producers whose transactions are open at the end of what was written. */
static int find_open(const struct krc_replay_part *part, struct krc_producers *open,
                     krc_error *error)
{
    char stem[KRC_SINK_NAME_MAX], path[4096 + KRC_SINK_NAME_MAX];
    struct krc_log *log;
    krc_sink_stem(part->place.topic, part->place.partition, part->sink.at.history, stem,
                  sizeof stem);
    snprintf(path, sizeof path, "%s/%s", part->run->target.path, stem);
    struct krc_log_place place = {.topic = (char *)(uintptr_t)part->place.topic,
                                  .partition = part->place.partition,
                                  .folder = path,
                                  .log_start_offset = -1,
                                  .high_watermark = -1,
                                  .cleaned_to = -1};
    KRC_TRY(krc_log_open(&log, &place, false, error));
    int rc = krc_open_producers(log, INT64_MAX, part->run->config->skip_corrupt, open, error);
    krc_log_close(log);
    return rc;
}

/* Puts a commit marker behind that ends one of them. */
static int take(struct krc_replay_part *part, const struct krc_item *item,
                struct krc_producers *open, krc_error *error)
{
    const struct krc_batch_view *batch = &item->batch;
    int type;
    if (item->type != KRC_ITEM_PASSED || batch->bytes == NULL || !batch->header.control ||
        krc_producers_get(open, batch->header.producer_id) == NULL)
        return KRC_OK;
    KRC_TRY(krc_batch_control_type(batch->bytes, &batch->header, &type, error));
    if (type != KRC_CONTROL_COMMIT)
        return KRC_OK;
    krc_producers_remove(open, batch->header.producer_id);
    return krc_buffer_append(&part->sink.file.plain, batch->bytes, (size_t)batch->header.size,
                             error);
}

static void no_event(void *arg, const struct krc_event *event,
                     const struct krc_offset_update *reset)
{
    (void)arg, (void)event, (void)reset;
}

/* Reads on, whatever is committed, until all are found, the log ends, or nothing comes. */
static int read_on(struct krc_replay_part *part, struct krc_net *net, struct krc_codecs *codecs,
                   struct krc_producers *open, krc_error *error)
{
    struct krc_place place = part->place;
    struct krc_topic *topic =
        krc_topic_having(&net->cluster, place.topic, place.partition);
    struct krc_buffer scratch = {0};
    struct krc_tracker tracker;
    struct krc_source *source;
    struct krc_item item = {.type = KRC_ITEM_WAIT};
    int64_t deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
    if (topic == NULL)
        return KRC_OK; /* it is gone */
    KRC_TRY(krc_netsource_new(&source, &net->cluster, topic, place.partition, net->config, codecs,
                              NULL, error));
    source->until = KRC_PRESENT_END;
    krc_tracker_open(&tracker, &place, source, no_event, NULL);
    int rc = krc_tracker_assign(&tracker, part->tracker.offsets.position, NULL, error);
    while (rc >= 0 && open->count > 0 && item.type != KRC_ITEM_END &&
           krc_loop_now_ms() < deadline_ms && !krc_replay_stopped(part->run)) {
        rc = krc_tracker_next(&tracker, &scratch, &item, error);
        if (rc >= 0)
            rc = take(part, &item, open, error);
        if (item.type != KRC_ITEM_WAIT) {
            deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
        } else {
            krc_remote_not_ready(krc_netsource_of(source)->remote);
            krc_loop_run(net->loop, krc_loop_now_ms() + KRC_REPLAY_LOOK_MS);
        }
    }
    krc_tracker_close(&tracker);
    krc_buffer_free(&scratch);
    return rc;
}

static void tell_unfound(struct krc_replay_part *part, size_t count)
{
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = part->place.topic,
                              .partition = part->place.partition,
                              .from = part->tracker.offsets.position,
                              .to = part->tracker.offsets.position};
    snprintf(event.message, sizeof event.message,
             "the segments end inside of %zu committed transactions whose markers were not found: "
             "until replay goes on, these read as open", count);
    krc_replay_tell(part->run, &event);
}

static int find_markers(struct krc_replay_part *part, struct krc_codecs *codecs,
                        struct krc_producers *open, krc_error *error)
{
    struct krc_net *net = NULL;
    krc_config *config = krc_config_copy(part->run->config);
    if (config == NULL)
        return krc_fail_nomem(error, sizeof *config);
    int rc = krc_config_set(config, "isolation.level", "read_uncommitted", error);
    if (rc >= 0)
        rc = krc_net_open(&net, config, NULL, NULL, NULL, NULL, error);
    if (rc >= 0)
        rc = krc_net_load_topics(net, &part->place.topic, 1, error);
    if (rc >= 0)
        rc = read_on(part, net, codecs, open, error);
    krc_net_close(net);
    krc_config_free(config);
    return rc;
}

int krc_replay_close_cluster(struct krc_replay_part *part, struct krc_codecs *codecs,
                             krc_error *error)
{
    struct krc_standing log;
    struct krc_producers open = {0};
    part->tracker.source->ops->standing(part->tracker.source, &log);
    if (!may_end_inside(part, log.high_watermark))
        return KRC_OK;
    int rc = find_open(part, &open, error);
    if (rc >= 0 && open.count > 0)
        rc = find_markers(part, codecs, &open, error);
    if (rc >= 0 && open.count > 0)
        tell_unfound(part, open.count);
    if (rc >= 0 && part->sink.file.plain.len > 0)
        rc = krc_outfile_flush(&part->sink.file, error);
    krc_producers_free(&open);
    return rc;
}
