#include "logdir/snapshot.h"

#include <dirent.h>
#include <stdio.h>

#include "logdir/load.h"

static int newest_name(const char *path, int64_t *newest, krc_error *error)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return krc_fail_errno(error, "cannot read the folder %s", path);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        int64_t offset = krc_segment_name(entry->d_name, ".snapshot");
        if (offset > *newest)
            *newest = offset;
    }
    closedir(folder);
    return KRC_OK;
}

int krc_snapshot_newest(struct krc_snapshot *snapshot, const struct krc_log *log, krc_error *error)
{
    char name[40];
    *snapshot = (struct krc_snapshot){.offset = -1};
    KRC_TRY(newest_name(log->place->folder, &snapshot->offset, error));
    snprintf(name, sizeof name, "%020lld.snapshot", (long long)snapshot->offset);
    int rc = snapshot->offset < 0
                 ? 0
                 : krc_load_file(log->place->folder, name, &snapshot->file, error);
    if (rc == KRC_E_CORRUPT) /* it is no file */
        rc = 0;
    if (rc > 0)
        rc = krc_snapshot_parse(snapshot->file.data, snapshot->file.len, &snapshot->count, NULL) ==
             KRC_OK;
    if (rc <= 0)
        krc_buffer_free(&snapshot->file);
    return rc;
}
