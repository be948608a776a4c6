#include "logdir/snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SNAPSHOT_MAX_BYTES = 64 << 20 }; /* 1.4 million producers */

/* The offset in "00000000000000000189.snapshot", -1 for any other name. */
static int64_t offset_of_name(const char *name)
{
    static const char suffix[] = ".snapshot";
    if (strspn(name, "0123456789") != 20 || strcmp(name + 20, suffix) != 0)
        return -1;
    return strtoll(name, NULL, 10);
}

static int64_t newest_name(DIR *folder)
{
    int64_t newest = -1;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        int64_t offset = offset_of_name(entry->d_name);
        if (offset > newest)
            newest = offset;
    }
    return newest;
}

/* The whole file, or an empty buffer where it cannot be had. */
static int load(int fd, struct krc_buffer *file, krc_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_size > SNAPSHOT_MAX_BYTES)
        return KRC_OK;
    KRC_TRY(krc_buffer_reserve(file, (size_t)status.st_size, error));
    ssize_t n;
    while (file->len < file->capacity &&
           (n = read(fd, file->data + file->len, file->capacity - file->len)) > 0)
        file->len += (size_t)n;
    return KRC_OK;
}

int krc_snapshot_newest(struct krc_snapshot *snapshot, const struct krc_log *log, krc_error *error)
{
    *snapshot = (struct krc_snapshot){.offset = -1};
    DIR *folder = opendir(log->place->folder);
    if (folder == NULL)
        return krc_fail_errno(error, "cannot read the folder %s", log->place->folder);
    int rc = 0, fd = -1;
    snapshot->offset = newest_name(folder);
    char name[40];
    snprintf(name, sizeof name, "%020lld.snapshot", (long long)snapshot->offset);
    if (snapshot->offset >= 0)
        fd = openat(dirfd(folder), name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        rc = load(fd, &snapshot->file, error);
        close(fd);
    }
    closedir(folder);
    if (rc >= 0 && snapshot->file.len > 0)
        rc = krc_snapshot_parse(snapshot->file.data, snapshot->file.len, &snapshot->count, NULL) >= 0;
    if (rc <= 0)
        krc_buffer_free(&snapshot->file);
    return rc;
}
