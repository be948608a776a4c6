#include "cmd/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/times.h"

enum { WATCH_S = 4, LATE_MS = 3000, LONG_MS = 3500 };

static volatile sig_atomic_t asked;
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
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(CMD_FAILED);
}

static void on_signal(int number)
{
    (void)number;
    asked = 1;
    handle(SIGINT, SIG_DFL);
    handle(SIGTERM, SIG_DFL);
    cmd_stop_watch();
}

void cmd_stop_begin(void)
{
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
}

bool cmd_stop_asked(void)
{
    return asked != 0;
}

/* Called by a signal handler, too. */
void cmd_stop_watch(void)
{
    long long none = 0;
    if (atomic_compare_exchange_strong(&watched_ms, &none, (long long)cmd_clock_ms()))
        alarm(WATCH_S);
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
        cmd_say("still %s; a second Ctrl-C ends at once, and the next run does what is left", doing);
}

bool cmd_stop_is_late(void)
{
    return is_past(LATE_MS);
}
