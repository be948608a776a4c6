#include "logdir/load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A checkpoint of a million partitions with the longest names would reach it. */
enum { MOST = 256 << 20, PIECE = 16 << 10 };

int krc_open_file(const char *path, int64_t *size, krc_error *error)
{
    struct stat st;
    int rc, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO waits for a writer */
    if (fd < 0)
        return krc_fail_errno(error, "cannot open %s", path);
    if (fstat(fd, &st) < 0) {
        rc = krc_fail_errno(error, "cannot look at %s", path);
    } else if (!S_ISREG(st.st_mode)) {
        rc = krc_fail(error, KRC_E_CORRUPT, "this is no regular file: %s", path);
    } else {
        *size = st.st_size;
        return fd;
    }
    close(fd);
    return rc;
}

static int read_all(int fd, struct krc_buffer *out, krc_error *error)
{
    out->len = 0;
    for (;;) {
        KRC_TRY(krc_buffer_reserve(out, out->len + PIECE, error));
        ssize_t n = read(fd, out->data + out->len, out->capacity - out->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return krc_fail_errno(error, "cannot read");
        if (n == 0)
            return KRC_OK;
        out->len += (size_t)n;
        if (out->len > MOST)
            return krc_fail(error, KRC_E_TOO_LARGE, "more than %d bytes are no small file", MOST);
    }
}

int krc_load_file(const char *folder, const char *name, struct krc_buffer *out, krc_error *error)
{
    char path[PATH_MAX];
    int64_t size;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = krc_open_file(path, &size, error);
    if (fd < 0)
        return fd == KRC_E_NOT_FOUND ? 0 : fd;
    int rc = read_all(fd, out, error);
    close(fd);
    return rc < 0 ? krc_fail_in_file(error, rc, folder, name) : 1;
}

int64_t krc_segment_name(const char *name, const char *suffix)
{
    int64_t offset = 0;
    for (int i = 0; i < 20; i++) {
        if (name[i] < '0' || name[i] > '9' || offset > (INT64_MAX - (name[i] - '0')) / 10)
            return -1;
        offset = offset * 10 + (name[i] - '0');
    }
    return strcmp(name + 20, suffix) == 0 ? offset : -1;
}

int krc_fail_in_file(krc_error *error, int code, const char *folder, const char *name)
{
    if (error == NULL)
        return code;
    char what[512];
    snprintf(what, sizeof what, "%.511s", error->message);
    return krc_fail(error, code, "%s: %s/%s", what, folder, name);
}
