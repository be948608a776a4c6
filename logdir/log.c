#include "logdir/cursor.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "logdir/files.h"
#include "logdir/load.h"

int krc_log_path(const struct krc_log *log, size_t segment, const char *suffix, char *path,
                 size_t size)
{
    const struct krc_segment *s = &log->segments[segment];
    struct stat st;
    if (log->format_07 && strcmp(suffix, ".log") == 0)
        suffix = ".kafka";
    int n = snprintf(path, size, "%s/%020" PRId64 "%s%s", log->place->folder, s->base_offset,
                     suffix, s->is_swap ? ".swap" : "");
    if (s->is_swap && stat(path, &st) < 0) /* it was renamed since */
        path[n -= (int)strlen(".swap")] = '\0';
    return n;
}

bool krc_log_epoch_end(const struct krc_log *log, int32_t epoch, int64_t log_end, int32_t *found,
                       int64_t *end)
{
    size_t later = 0;
    while (later < log->epoch_count && log->epochs[later].epoch <= epoch)
        later++;
    if (later == 0)
        return false;
    *found = log->epochs[later - 1].epoch;
    *end = later < log->epoch_count ? log->epochs[later].start_offset : log_end;
    return true;
}

static int read_epochs(struct krc_log *log, krc_error *error)
{
    static const char name[] = "leader-epoch-checkpoint";
    struct krc_buffer text = {0};
    int rc = krc_load_file(log->place->folder, name, &text, error);
    if (rc == 1) {
        rc = krc_epochs_parse((const char *)text.data, text.len, &log->epochs, &log->epoch_count,
                              error);
        if (rc < 0)
            krc_fail_in_file(error, rc, log->place->folder, name);
    }
    krc_buffer_free(&text);
    return rc;
}

/* Where the files begin.  After a clean stop indexes alone show that a segment was there. */
static int64_t first_offset(const struct krc_log *log)
{
    int64_t first = log->segment_count > 0 ? log->segments[0].base_offset : INT64_MAX;
    if (log->orphan_count > 0 && log->orphans[0] < first)
        first = log->orphans[0];
    return first == INT64_MAX ? 0 : first;
}

/* The larger one of the checkpoint's and the first segment's base, as Kafka has it: a broker that
 * runs, or was killed, has deleted segments since it wrote the checkpoint.  Only what lies in remote
 * storage begins below the first segment. */
static int64_t log_start(const struct krc_log *log)
{
    const struct krc_log_place *place = log->place;
    int64_t start = place->log_start_offset < 0 ? 0 : place->log_start_offset;
    int64_t first = first_offset(log);
    bool is_remote = place->file == NULL && place->log_start_offset >= 0 &&
                     (place->has_remote_storage || place->stopped_cleanly);
    return start < first && !is_remote ? first : start;
}

int krc_log_open(struct krc_log **out, const struct krc_log_place *place, bool format_07,
                 krc_error *error)
{
    struct krc_log *log = calloc(1, sizeof *log);
    *out = NULL;
    if (log == NULL)
        return krc_fail_nomem(error, sizeof *log);
    log->place = place;
    log->format_07 = format_07;
    int rc = krc_log_list_segments(log, error);
    if (rc >= 0)
        rc = read_epochs(log, error);
    if (rc < 0) {
        krc_error_at(error, place->topic, place->partition, -1, -1);
        krc_log_close(log);
        return rc;
    }
    log->log_start_offset = log_start(log);
    *out = log;
    return KRC_OK;
}

void krc_log_close(struct krc_log *log)
{
    if (log == NULL)
        return;
    free(log->segments);
    free(log->orphans);
    free(log->epochs);
    free(log);
}

void krc_log_batch_place(const struct krc_log *log, const struct krc_log_batch *batch,
                         krc_error *error)
{
    char path[PATH_MAX];
    if (error == NULL)
        return;
    krc_log_path(log, batch->segment, ".log", path, sizeof path);
    krc_error_in(error, "%s-%d, byte %lld of %.400s", log->place->topic,
                 (int)log->place->partition, (long long)batch->file_position, path);
    krc_error_at(error, log->place->topic, log->place->partition, batch->header.base_offset,
                 batch->file_position);
}
