#include "cmd/stop.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/times.h"

enum { WATCH_S = 4, LATE_MS = 3000, LONG_MS = 3500 };

static volatile sig_atomic_t asked;
static bool ignores_hangup; /* set before any signal is handled */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static atomic_bool closed;
static atomic_bool told;
static atomic_llong watched_ms; /* since when; 0: not yet */

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Whatever is under way may be torn off, as by kill -9: nothing is lost or doubled by that. */
static void on_alarm(int number)
{
    static const char text[] = "krc: ended in the midst of what did not end in time (a lock, a name "
                               "that is looked up, an output that nobody reads); what was "
                               "committed stays\n";
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    (void)number;
    if (poll(&out, 1, 0) == 1) /* else it may be what nobody reads */
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(CMD_FAILED);
}

/* A hang-up that is ignored, as nohup has it, stays so. */
static void handle_all(void (*handler)(int))
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signals[i] != SIGHUP || !ignores_hangup)
            handle(signals[i], handler);
}

static void on_signal(int number)
{
    (void)number;
    asked = 1;
    handle_all(SIG_DFL);
    cmd_stop_watch();
}

void cmd_stop_begin(void)
{
    struct sigaction hangup;
    ignores_hangup = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
    handle(SIGALRM, on_alarm);
    handle_all(on_signal);
}

bool cmd_stop_asked(void)
{
    return asked != 0;
}

bool cmd_output_is_closed(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO}; /* asks for errors alone */
    if (poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0)
        closed = true;
    return closed;
}

bool cmd_output_was_closed(void)
{
    return closed;
}

bool cmd_stop_when_closed(void *arg)
{
    (void)arg;
    return cmd_output_is_closed();
}

/* Called by a signal handler, too. */
void cmd_stop_watch(void)
{
    long long none = 0;
    if (atomic_compare_exchange_strong(&watched_ms, &none, (long long)cmd_clock_ms()))
        alarm(WATCH_S);
}

bool cmd_stop_is_due(int64_t taken_at_ms, int64_t patience_ms, bool *gave_up)
{
    if (!cmd_stop_asked() && patience_ms > 0 && cmd_clock_ms() >= taken_at_ms + patience_ms)
        *gave_up = true;
    if (*gave_up)
        cmd_stop_watch();
    return *gave_up || cmd_stop_asked();
}

static bool is_past(int64_t ms)
{
    return watched_ms != 0 && cmd_clock_ms() >= watched_ms + ms;
}

void cmd_stop_goes_on(const char *doing)
{
    if (watched_ms == 0)
        return;
    alarm(WATCH_S);
    if (is_past(LONG_MS) && !atomic_exchange(&told, true))
        cmd_say("still %s; a second Ctrl-C ends at once, and the next run does what is left",
                doing);
}

bool cmd_stop_is_late(void)
{
    return is_past(LATE_MS);
}
