/*
 * The checkpoints beside replayed segments, in the form a broker keeps them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "consumer/handle.h"
#include "replay/folder.h"

struct checkpoints {
    const struct krc_target *target;
    struct krc_buffer starts, cleaned; /* their lines */
    int start_count, cleaned_count;
    krc_error *error;
};

/* The base offset of a folder's first segment, -1 where it has none. */
static int find_first_segment(const struct krc_target *t, const char *stem, int64_t *first,
                              krc_error *error)
{
    struct krc_sink_name name;
    *first = -1;
    int fd = openat(t->folder, stem, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return KRC_OK; /* nothing was written of it yet */
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        int rc = krc_fail_errno(error, "cannot read the folder %s/%s", t->path, stem);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (krc_sink_parse_name(t->options, entry->d_name, &name) &&
            (*first < 0 || name.file_offset < *first))
            *first = name.file_offset;
    closedir(dir);
    return KRC_OK;
}

static int add_line(struct krc_buffer *lines, int *count, const char *topic, int32_t partition,
                    int64_t offset, krc_error *error)
{
    char line[320];
    int n = snprintf(line, sizeof line, "%s %d %lld\n", topic, (int)partition, (long long)offset);
    ++*count;
    return krc_buffer_append(lines, line, (size_t)n, error);
}

static int add_partition(void *arg, const char *group, const char *topic, int32_t partition,
                         const struct krc_stored *row)
{
    struct checkpoints *c = arg;
    char stem[KRC_SINK_NAME_MAX];
    int64_t first;
    (void)group;
    if (row->history > 1) /* its folder's name is no partition's */
        return KRC_OK;
    krc_sink_stem(topic, partition, row->history, stem, sizeof stem);
    KRC_TRY(find_first_segment(c->target, stem, &first, c->error));
    if (first < 0)
        return KRC_OK;
    KRC_TRY(add_line(&c->cleaned, &c->cleaned_count, topic, partition, row->offset, c->error));
    if (row->account.from <= first)
        return KRC_OK;
    return add_line(&c->starts, &c->start_count, topic, partition, row->account.from, c->error);
}

static int write_file(const struct krc_target *t, const char *temporary, int count,
                      const struct krc_buffer *lines, krc_error *error)
{
    struct krc_outfile out;
    char head[32];
    int n = snprintf(head, sizeof head, "0\n%d\n", count);
    krc_outfile_init(&out, KRC_NONE);
    int rc = krc_outfile_open(&out, t->folder, t->path, temporary, 0, error);
    if (rc >= 0)
        rc = krc_buffer_append(&out.plain, head, (size_t)n, error);
    if (rc >= 0)
        rc = krc_buffer_append(&out.plain, lines->data, lines->len, error);
    if (rc >= 0)
        rc = krc_outfile_flush(&out, error);
    krc_outfile_free(&out);
    return rc;
}

/* Written aside and renamed, so that there is always a whole one. */
static int replace(const struct krc_target *t, const char *name, int count,
                   const struct krc_buffer *lines, krc_error *error)
{
    char temporary[64];
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    KRC_TRY(write_file(t, temporary, count, lines, error));
    if (renameat(t->folder, temporary, t->folder, name) != 0)
        return krc_fail_errno(error, "cannot rename %s in %s", temporary, t->path);
    return KRC_OK;
}

int krc_target_checkpoint(const struct krc_target *t, krc_error *error)
{
    struct checkpoints c = {.target = t, .error = error};
    if (t->options->format != KRC_REPLAY_SEGMENT)
        return KRC_OK;
    int rc = krc_store_each(t->db, krc_store_group(t->config), add_partition, &c, error);
    if (rc >= 0)
        rc = replace(t, "cleaner-offset-checkpoint", c.cleaned_count, &c.cleaned, error);
    if (rc >= 0)
        rc = replace(t, "log-start-offset-checkpoint", c.start_count, &c.starts, error);
    if (rc >= 0 && fsync(t->folder) != 0)
        rc = krc_fail_errno(error, "cannot flush the folder %s", t->path);
    krc_buffer_free(&c.starts);
    krc_buffer_free(&c.cleaned);
    return rc;
}
