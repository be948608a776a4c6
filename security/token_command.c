#include "security/token_command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WHAT "sasl.oauthbearer.token.command"

enum { LIMIT_MS = 30000, LOOK_MS = 50 };

extern char **environ;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- Begin ---------------------------------------------------------------------------------- */

/* In a process group of its own, so that all of it can be killed; nothing to read, and no signal
 * blocked, as this thread may have them. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigemptyset(&none);
    int rc = posix_spawnattr_setpgroup(attributes, 0);
    if (rc == 0)
        rc = posix_spawnattr_setsigmask(attributes, &none);
    if (rc == 0)
        rc = posix_spawnattr_setflags(attributes,
                                      POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    return rc;
}

/* An errno. */
static int spawn(const char *command, int output, pid_t *pid)
{
    char shell[] = "sh", flag[] = "-c";
    char *arguments[] = {shell, flag, (char *)(uintptr_t)command, NULL};
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    int rc = posix_spawnattr_init(&attributes);
    if (rc != 0)
        return rc;
    rc = posix_spawn_file_actions_init(&actions);
    if (rc == 0) {
        rc = set_attributes(&attributes);
        if (rc == 0)
            rc = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (rc == 0)
            rc = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (rc == 0)
            rc = posix_spawn(pid, "/bin/sh", &actions, &attributes, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    posix_spawnattr_destroy(&attributes);
    return rc;
}

/* ---- Its output ----------------------------------------------------------------------------- */

/* 1: there is something to read, or the end. */
static int wait_for_output(int fd, int64_t deadline_ms, const atomic_bool *cancelled,
                           krc_error *error)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    while (now_ms() < deadline_ms && (cancelled == NULL || !atomic_load(cancelled)))
        if (poll(&poll_fd, 1, LOOK_MS) > 0)
            return 1;
    return krc_fail(error, KRC_E_TIMEOUT, WHAT " has not ended within %d s", LIMIT_MS / 1000);
}

/* There is room for one byte more than what may be. */
static int read_output(int fd, const atomic_bool *cancelled, size_t most, struct krc_buffer *out,
                       krc_error *error)
{
    int64_t deadline_ms = now_ms() + LIMIT_MS;
    ssize_t n;
    KRC_TRY(krc_buffer_reserve(out, most + 1, error));
    do {
        KRC_TRY(wait_for_output(fd, deadline_ms, cancelled, error));
        n = read(fd, out->data + out->len, most + 1 - out->len);
        out->len += n > 0 ? (size_t)n : 0;
        if (out->len > most)
            return krc_fail(error, KRC_E_TOO_LARGE, "what " WHAT " gives is no token: it is "
                            "over %zu bytes", most);
    } while (n > 0 || (n < 0 && errno == EINTR));
    return n == 0 ? KRC_OK : krc_fail_errno(error, "cannot read what " WHAT " gives");
}

/* ---- Its end -------------------------------------------------------------------------------- */

/* Where the application ignores SIGCHLD, or takes all children itself, the status is not to be
 * known: then what was said has to do. */
static int judge_end(pid_t pid, krc_error *error)
{
    int status;
    pid_t ended;
    do
        ended = waitpid(pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return KRC_OK;
    return WIFEXITED(status) ? krc_fail(error, KRC_E_REFUSED, WHAT " ends with exit status %d",
                                        WEXITSTATUS(status))
                             : krc_fail(error, KRC_E_REFUSED, WHAT " is killed by signal %d",
                                        WTERMSIG(status));
}

int krc_command_output(const char *command, const atomic_bool *cancelled, size_t most,
                       struct krc_buffer *out, krc_error *error)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return krc_fail_errno(error, "cannot run " WHAT);
    int rc = spawn(command, ends[1], &pid);
    close(ends[1]);
    if (rc != 0) {
        close(ends[0]);
        errno = rc;
        return krc_fail_errno(error, "cannot run " WHAT);
    }
    rc = read_output(ends[0], cancelled, most, out, error);
    if (rc < 0)
        kill(-pid, SIGKILL);
    close(ends[0]);
    int end = judge_end(pid, rc < 0 ? NULL : error);
    return rc < 0 ? rc : end;
}
