/*
 * Faults on demand, between a program and the C library (LD_PRELOAD).
 *
 * Counted are the calls that change something below the folder KRC_FAULT_BELOW: a file or folder
 * made, renamed or removed, bytes written, a file cut, a flush.  KRC_FAULT says what happens:
 *
 *   kill:K      SIGKILL in the place of call K
 *   half:K      SIGKILL after half of call K's bytes, where it has any
 *   stop:K      SIGSTOP before call K
 *   full:K      call K and all later ones that need room fail with ENOSPC
 *   room:BYTES  no file grows any more when so many bytes were written; the last write is short
 *   eio:K       call K fails with EIO, if it is a flush
 *   eintr:K     call K fails with EINTR
 *   short       each write of more than a sector does half of its bytes
 *
 * KRC_FAULT_TRACE names a file that every call is appended to, for `powercut`; one line each, with
 * paths relative to KRC_FAULT_BELOW:
 *
 *   make PATH | folder PATH | cut LENGTH PATH | write OFFSET LENGTH PATH, then the bytes and a
 *   newline | flush PATH | rename FROM TO | remove PATH
 *
 * What the C library writes for itself (stdio) passes by: the tested program writes with the
 * functions below.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SECTOR = 512 };
enum fault { NONE, KILL, HALF, STOP, FULL, ROOM, EIO_AT, EINTR_AT, SHORT };

static struct {
    enum fault fault;
    long at;
    long calls;
    char below[PATH_MAX];
    size_t below_len;
    int trace;
} shim = {.trace = -1};

/* Held over each call and its line in the trace, so that their orders are one. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void)
{
    static const char *const names[] = {
        [KILL] = "kill:", [HALF] = "half:",  [STOP] = "stop:",      [FULL] = "full:",
        [ROOM] = "room:", [EIO_AT] = "eio:", [EINTR_AT] = "eintr:", [SHORT] = "short",
    };
    const char *fault = getenv("KRC_FAULT"), *trace = getenv("KRC_FAULT_TRACE");
    const char *below = getenv("KRC_FAULT_BELOW");
    if (below == NULL || realpath(below, shim.below) == NULL)
        return;
    shim.below_len = strlen(shim.below);
    for (int i = KILL; fault != NULL && i <= SHORT; i++)
        if (strncmp(fault, names[i], strlen(names[i])) == 0) {
            shim.fault = (enum fault)i;
            shim.at = atol(fault + strlen(names[i]));
        }
    if (trace != NULL)
        shim.trace = (int)syscall(SYS_openat, AT_FDCWD, trace,
                                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

/* ---- Where a call goes -------------------------------------------------------------------- */

/* The path of an open file below the folder; NULL: it lies elsewhere, or was removed. */
static const char *path_of(int fd, char path[PATH_MAX])
{
    char link[64];
    struct stat status;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = shim.below_len == 0 ? -1 : readlink(link, path, PATH_MAX - 1);
    if (n < 0 || (size_t)n < shim.below_len)
        return NULL;
    path[n] = '\0';
    if (memcmp(path, shim.below, shim.below_len) != 0 || fstat(fd, &status) != 0 ||
        status.st_nlink == 0)
        return NULL;
    const char *rest = path + shim.below_len;
    return *rest == '\0' ? "." : *rest == '/' ? rest + 1 : NULL;
}

/* The same of a name that may not be there; its folder is. */
static const char *path_at(int folder, const char *name, char path[PATH_MAX])
{
    char parent[PATH_MAX], opened[PATH_MAX];
    const char *slash = strrchr(name, '/');
    const char *last = slash == NULL ? name : slash + 1;
    snprintf(parent, sizeof parent, "%.*s", slash == NULL ? 1 : (int)(last - name),
             slash == NULL ? "." : name);
    int saved = errno;
    int fd = (int)syscall(SYS_openat, folder, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *at = fd < 0 ? NULL : path_of(fd, opened);
    if (fd >= 0)
        close(fd);
    errno = saved;
    if (at == NULL)
        return NULL;
    int n = strcmp(at, ".") == 0 ? snprintf(path, PATH_MAX, "%s", last)
                                 : snprintf(path, PATH_MAX, "%s/%s", at, last);
    return n < PATH_MAX ? path : NULL;
}

/* ---- What becomes of it ------------------------------------------------------------------- */

enum need { NOTHING, ROOM_ON_DISK, A_FLUSH };

static void die(void)
{
    kill(getpid(), SIGKILL);
}

/* Counts a call.  0: it is made, with `*bytes` of its bytes; else the errno it fails with. */
static int meet(enum need need, size_t *bytes)
{
    bool now = ++shim.calls == shim.at;
    switch (shim.fault) {
    case KILL:
        if (now)
            die();
        return 0;
    case HALF:
        *bytes = now ? *bytes / 2 : *bytes;
        return 0;
    case STOP:
        if (now)
            kill(getpid(), SIGSTOP);
        return 0;
    case FULL:
        return need == ROOM_ON_DISK && shim.calls >= shim.at ? ENOSPC : 0;
    case ROOM:
        if (need != ROOM_ON_DISK || *bytes == 0)
            return 0;
        *bytes = (long)*bytes > shim.at ? (size_t)shim.at : *bytes;
        shim.at -= (long)*bytes;
        return *bytes == 0 ? ENOSPC : 0;
    case EIO_AT:
        return now && need == A_FLUSH ? EIO : 0;
    case EINTR_AT:
        return now ? EINTR : 0;
    case SHORT:
        *bytes = *bytes > SECTOR ? *bytes / 2 : *bytes;
        return 0;
    default:
        return 0;
    }
}

/*
 * Before a call, and behind it: false where it fails.  A call below the folder holds the mutex in
 * between; with a `path` of NULL it is none of ours.
 */
static bool enter(const char *path, enum need need, size_t *bytes)
{
    if (path == NULL)
        return true;
    pthread_mutex_lock(&mutex);
    int number = meet(need, bytes);
    if (number == 0)
        return true;
    pthread_mutex_unlock(&mutex);
    errno = number;
    return false;
}

__attribute__((format(printf, 4, 5))) static long leave(const char *path, long result,
                                                        const void *data, const char *format, ...)
{
    char line[2 * PATH_MAX + 64];
    int saved = errno;
    if (path == NULL)
        return result;
    if (result >= 0 && shim.trace >= 0) {
        va_list args;
        va_start(args, format);
        int n = vsnprintf(line, sizeof line, format, args);
        va_end(args);
        struct iovec parts[] = {{line, (size_t)n},
                                {(void *)(uintptr_t)data, data == NULL ? 0 : (size_t)result},
                                {(char[]){'\n'}, data == NULL ? 0 : 1}};
        syscall(SYS_writev, shim.trace, parts, 3);
    }
    if (shim.fault == HALF && shim.calls == shim.at)
        die();
    pthread_mutex_unlock(&mutex);
    errno = saved;
    return result;
}

/* ---- Names -------------------------------------------------------------------------------- */

static int open_file(int folder, const char *name, int flags, mode_t mode)
{
    char buffer[PATH_MAX];
    size_t bytes = 0;
    bool there = faccessat(folder, name, F_OK, 0) == 0;
    bool changes = (flags & (there ? O_TRUNC : O_CREAT)) != 0;
    const char *path = changes ? path_at(folder, name, buffer) : NULL;
    if (!enter(path, there ? NOTHING : ROOM_ON_DISK, &bytes))
        return -1;
    long fd = syscall(SYS_openat, folder, name, flags, mode);
    return (int)leave(path, fd, NULL, there ? "cut 0 %s\n" : "make %s\n", path);
}

#define MODE(last)                                     \
    mode_t mode = 0;                                   \
    va_list args;                                      \
    va_start(args, last);                              \
    if (flags & O_CREAT)                               \
        mode = va_arg(args, mode_t);                   \
    va_end(args)

#define OPEN(name)                                     \
    int name(const char *path, int flags, ...)         \
    {                                                  \
        MODE(flags);                                   \
        return open_file(AT_FDCWD, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                       \
    int name(int folder, const char *path, int flags, ...) \
    {                                                      \
        MODE(flags);                                       \
        return open_file(folder, path, flags, mode);       \
    }
OPENAT(openat)
OPENAT(openat64)

int mkdirat(int folder, const char *name, mode_t mode)
{
    char buffer[PATH_MAX];
    size_t bytes = 0;
    const char *path = path_at(folder, name, buffer);
    if (!enter(path, ROOM_ON_DISK, &bytes))
        return -1;
    return (int)leave(path, syscall(SYS_mkdirat, folder, name, mode), NULL, "folder %s\n", path);
}

int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

int unlinkat(int folder, const char *name, int flags)
{
    char buffer[PATH_MAX];
    size_t bytes = 0;
    const char *path = path_at(folder, name, buffer);
    if (!enter(path, NOTHING, &bytes))
        return -1;
    return (int)leave(path, syscall(SYS_unlinkat, folder, name, flags), NULL, "remove %s\n", path);
}

int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
    size_t bytes = 0;
    const char *old = path_at(from_folder, from, from_buffer);
    const char *new = path_at(to_folder, to, to_buffer);
    if (!enter(new, NOTHING, &bytes))
        return -1;
    long rc = syscall(SYS_renameat, from_folder, from, to_folder, to);
    return (int)leave(new, rc, NULL, "rename %s %s\n", old, new);
}

int rename(const char *from, const char *to)
{
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

/* ---- Bytes -------------------------------------------------------------------------------- */

ssize_t write(int fd, const void *data, size_t len)
{
    char buffer[PATH_MAX];
    const char *path = path_of(fd, buffer);
    long long at = path == NULL ? 0 : lseek(fd, 0, SEEK_CUR);
    if (!enter(path, ROOM_ON_DISK, &len))
        return -1;
    long n = syscall(SYS_write, fd, data, len);
    return leave(path, n, data, "write %lld %ld %s\n", at, n, path);
}

#define PWRITE(name)                                                                 \
    ssize_t name(int fd, const void *data, size_t len, off_t at)                     \
    {                                                                                \
        char buffer[PATH_MAX];                                                       \
        const char *path = path_of(fd, buffer);                                      \
        if (!enter(path, ROOM_ON_DISK, &len))                                        \
            return -1;                                                               \
        long n = syscall(SYS_pwrite64, fd, data, len, at);                           \
        return leave(path, n, data, "write %lld %ld %s\n", (long long)at, n, path);  \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define FTRUNCATE(name)                                                              \
    int name(int fd, off_t length)                                                   \
    {                                                                                \
        char buffer[PATH_MAX];                                                       \
        size_t bytes = 0;                                                            \
        const char *path = path_of(fd, buffer);                                      \
        if (!enter(path, NOTHING, &bytes))                                           \
            return -1;                                                               \
        long rc = syscall(SYS_ftruncate, fd, length);                                \
        return (int)leave(path, rc, NULL, "cut %lld %s\n", (long long)length, path); \
    }
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

#define FLUSH(name)                                                  \
    int name(int fd)                                                 \
    {                                                                \
        char buffer[PATH_MAX];                                       \
        size_t bytes = 0;                                            \
        const char *path = path_of(fd, buffer);                      \
        if (!enter(path, A_FLUSH, &bytes))                           \
            return -1;                                               \
        long rc = syscall(SYS_##name, fd);                           \
        return (int)leave(path, rc, NULL, "flush %s\n", path);       \
    }
FLUSH(fsync)
FLUSH(fdatasync)
