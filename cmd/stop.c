#include "cmd/stop.h"

#include <signal.h>

static volatile sig_atomic_t asked;
static krc *volatile waiting;

static void on_signal(int number)
{
    (void)number;
    asked = 1;
    if (waiting != NULL)
        krc_wakeup(waiting);
}

static void set_handler(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler,
                               .sa_flags = handler == SIG_IGN ? 0 : (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void cmd_stop_begin(krc *handle)
{
    waiting = handle;
    set_handler(on_signal);
}

void cmd_stop_end(void)
{
    set_handler(SIG_IGN); /* the end is near */
    waiting = NULL;
}

bool cmd_stop_asked(void)
{
    return asked != 0;
}
