#include "replay/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPILL_BYTES = 256 << 10, PLAIN_KEPT = 4 << 20 };

void krc_outfile_init(struct krc_outfile *out, int codec)
{
    *out = (struct krc_outfile){.fd = -1, .folder = -1, .compressor.codec = codec};
}

void krc_outfile_free(struct krc_outfile *out)
{
    krc_outfile_close(out);
    if (out->compressor.codec != KRC_NONE)
        krc_compressor_free(&out->compressor);
    krc_buffer_free(&out->plain);
    krc_buffer_free(&out->packed);
}

/* Flushed, for a file that is never written again shall not get its tail back. */
static int cut_to(struct krc_outfile *out, int64_t length, krc_error *error)
{
    struct stat status;
    if (fstat(out->fd, &status) != 0)
        return krc_fail_errno(error, "cannot examine %s", out->path);
    if (status.st_size < length)
        return krc_fail(error, KRC_E_CORRUPT,
                        "%s has %lld bytes, but %lld were committed: put the file back, or begin "
                        "anew in an empty folder",
                        out->path, (long long)status.st_size, (long long)length);
    if (status.st_size > length &&
        (ftruncate(out->fd, length) != 0 || fdatasync(out->fd) != 0))
        return krc_fail_errno(error, "cannot cut %s back to %lld bytes", out->path,
                              (long long)length);
    if (lseek(out->fd, length, SEEK_SET) < 0)
        return krc_fail_errno(error, "cannot seek in %s", out->path);
    return KRC_OK;
}

int krc_outfile_open(struct krc_outfile *out, int folder, const char *folder_path,
                     const char *name, int64_t length, krc_error *error)
{
    snprintf(out->path, sizeof out->path, "%s/%s", folder_path, name);
    int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (length == 0 ? O_CREAT : 0) |
                O_NONBLOCK; /* a FIFO waits for a reader */
    out->fd = openat(folder, name, flags, 0644);
    if (out->fd < 0 && errno == ENOENT)
        return krc_fail(error, KRC_E_CORRUPT,
                        "%s is gone, but %lld bytes of it were committed: put the file back, or "
                        "begin anew in an empty folder",
                        out->path, (long long)length);
    if (out->fd < 0 && errno == ENAMETOOLONG)
        return krc_fail(error, KRC_E_IO,
                        "the file system takes no name as long as %s: use --format segment, or "
                        "--to sqlite:FILE", name);
    if (out->fd < 0)
        return krc_fail_errno(error, "cannot open %s", out->path);
    out->folder = folder;
    out->is_new = length == 0;
    out->length = length;
    out->plain.len = 0;
    int rc = cut_to(out, length, error);
    if (rc < 0)
        krc_outfile_close(out);
    return rc;
}

void krc_outfile_close(struct krc_outfile *out)
{
    if (out->fd >= 0)
        close(out->fd);
    out->fd = -1;
    out->plain.len = 0;
    if (out->frame_open)
        krc_compressor_free(&out->compressor); /* with the half of a frame */
    out->frame_open = false;
}

static int write_all(struct krc_outfile *out, struct krc_buffer *buffer, krc_error *error)
{
    size_t done = 0;
    while (done < buffer->len) {
        ssize_t n = write(out->fd, buffer->data + done, buffer->len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return krc_fail_errno(error, "cannot write %s", out->path);
        done += (size_t)n;
        out->length += n;
    }
    buffer->len = 0;
    return KRC_OK;
}

static int hand_on(struct krc_outfile *out, bool finish, krc_error *error)
{
    if (out->compressor.codec == KRC_NONE)
        return write_all(out, &out->plain, error);
    if (out->plain.len == 0 && !out->frame_open)
        return KRC_OK; /* no empty frames */
    struct krc_bytes in = {out->plain.data, out->plain.len};
    KRC_TRY(krc_compress(&out->compressor, in, finish, &out->packed, error));
    out->plain.len = 0;
    out->frame_open = !finish;
    return write_all(out, &out->packed, error);
}

int krc_outfile_spill(struct krc_outfile *out, krc_error *error)
{
    if (out->plain.len < SPILL_BYTES)
        return KRC_OK;
    KRC_TRY(hand_on(out, false, error));
    krc_buffer_trim(&out->plain, PLAIN_KEPT);
    return KRC_OK;
}

int krc_outfile_rest(struct krc_outfile *out, krc_error *error)
{
    if (out->compressor.codec == KRC_NONE)
        KRC_TRY(hand_on(out, false, error));
    krc_buffer_shrink(&out->plain);
    krc_buffer_shrink(&out->packed);
    return KRC_OK;
}

int krc_outfile_flush(struct krc_outfile *out, krc_error *error)
{
    KRC_TRY(hand_on(out, true, error));
    if (fdatasync(out->fd) != 0)
        return krc_fail_errno(error, "cannot flush %s", out->path);
    if (out->is_new && fsync(out->folder) != 0)
        return krc_fail_errno(error, "cannot flush the folder of %s", out->path);
    out->is_new = false;
    return KRC_OK;
}
