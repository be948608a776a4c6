#include "logdir/cursor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
    if (log->format_07 && strcmp(suffix, ".log") == 0)
        suffix = ".kafka";
    return snprintf(path, size, "%s/%020" PRId64 "%s", log->place->folder,
                    log->segments[segment].base_offset, suffix);
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

static int append_segment(struct krc_log *log, size_t *capacity, struct krc_segment segment,
                          krc_error *error)
{
    if (log->segment_count == *capacity) {
        size_t wanted = *capacity > 0 ? *capacity * 2 : 8;
        void *list = realloc(log->segments, wanted * sizeof segment);
        if (list == NULL)
            return krc_fail_nomem(error, wanted * sizeof segment);
        log->segments = list;
        *capacity = wanted;
    }
    log->segments[log->segment_count++] = segment;
    return KRC_OK;
}

static int by_base(const void *a, const void *b)
{
    const struct krc_segment *x = a, *y = b;
    return (x->base_offset > y->base_offset) - (x->base_offset < y->base_offset);
}

/* The size of a file that has a segment's name: 1, or 0 where a running broker has just deleted it,
 * which a link to nowhere is not. */
static int measure(DIR *dir, const char *folder, const char *name, int64_t *size, krc_error *error)
{
    struct stat st;
    if (fstatat(dirfd(dir), name, &st, 0) < 0 &&
        (errno != ENOENT || fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) < 0)) {
        if (errno == ENOENT)
            return 0;
        return krc_fail_errno(error, "cannot look at %s/%s", folder, name);
    }
    if (!S_ISREG(st.st_mode))
        return krc_fail(error, KRC_E_IO,
                        "this has the name of a segment, but is no regular file: %s/%s", folder,
                        name);
    *size = st.st_size;
    return 1;
}

static int read_folder(struct krc_log *log, DIR *dir, krc_error *error)
{
    const char *folder = log->place->folder, *only = log->place->file;
    const char *suffix = log->format_07 ? ".kafka" : ".log";
    const char *other = log->format_07 ? ".log" : ".kafka";
    size_t capacity = 0;
    bool other_format = false;
    const struct dirent *entry;
    for (errno = 0; (entry = readdir(dir)) != NULL; errno = 0) {
        int64_t size = 0, base = krc_segment_name(entry->d_name, suffix);
        KRC_TRY(krc_check_interrupt(log->place->interrupt, "looking for segments", error));
        if (base < 0)
            other_format |= krc_segment_name(entry->d_name, other) >= 0;
        if (base < 0 || (only != NULL && strcmp(only, entry->d_name) != 0))
            continue;
        int rc = measure(dir, folder, entry->d_name, &size, error);
        if (rc < 0)
            return rc;
        if (rc == 1)
            KRC_TRY(append_segment(log, &capacity, (struct krc_segment){base, size}, error));
    }
    if (errno != 0)
        return krc_fail_errno(error, "cannot read the folder %s", folder);
    if (log->segment_count == 0 && other_format)
        return krc_fail(error, KRC_E_INVALID,
                        log->format_07 ? "the log format is said to be 0.7, but these segments "
                                         "are of Kafka 0.8 or later: %s"
                                       : "these segments are of Kafka 0.7, which has to be said: "
                                         "set the log format to 0.7: %s",
                        folder);
    if (log->segment_count > 1)
        qsort(log->segments, log->segment_count, sizeof *log->segments, by_base);
    return KRC_OK;
}

static int list_segments(struct krc_log *log, krc_error *error)
{
    DIR *dir = opendir(log->place->folder);
    if (dir == NULL)
        return krc_fail_errno(error, "cannot read the folder %s", log->place->folder);
    int rc = read_folder(log, dir, error);
    closedir(dir);
    return rc;
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

/* The larger one of the checkpoint's and the first segment's base, as Kafka has it: a broker that
 * runs, or was killed, has deleted segments since it wrote the checkpoint.  Only what lies in remote
 * storage begins below the first segment. */
static int64_t log_start(const struct krc_log *log)
{
    const struct krc_log_place *place = log->place;
    int64_t start = place->log_start_offset < 0 ? 0 : place->log_start_offset;
    bool is_remote = place->file == NULL && place->log_start_offset >= 0 &&
                     (place->has_remote_storage || place->stopped_cleanly);
    if (log->segment_count > 0 && start < log->segments[0].base_offset && !is_remote)
        return log->segments[0].base_offset;
    return start;
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
    int rc = list_segments(log, error);
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
