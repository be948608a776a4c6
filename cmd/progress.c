#include "cmd/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/times.h"

enum { EVERY_MS = 200 };

void cmd_progress_begin(struct cmd_progress *progress, bool wanted)
{
    int64_t now = cmd_clock_ms();
    *progress = (struct cmd_progress){
        .wanted = wanted && isatty(STDERR_FILENO), .begun_ms = now, .next_ms = now + EVERY_MS};
}

void cmd_progress_wipe(struct cmd_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

static void format_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    snprintf(text, 32, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

/* By the share of the offsets that are passed, as if the rest took as long each. */
static void format_left(const struct krc_replay_progress *n, int64_t elapsed_ms, char text[32])
{
    double rest = (double)(n->total_offsets - n->offsets);
    int64_t seconds = rest <= 0 || n->offsets <= 0
                          ? 0
                          : (int64_t)(rest / (double)n->offsets * (double)elapsed_ms / 1000);
    if (seconds > 999 * 3600)
        seconds = 999 * 3600;
    snprintf(text, 32, "%" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
             (int)(seconds % 60));
}

void cmd_progress_show(struct cmd_progress *progress, const struct krc_replay_progress *numbers)
{
    char bytes[32], rate[32], left[32];
    if (!progress->wanted)
        return;
    int64_t now = cmd_clock_ms(), elapsed = now - progress->begun_ms;
    if (now < progress->next_ms)
        return;
    progress->next_ms = now + EVERY_MS;
    progress->shown = true;
    format_bytes((double)numbers->bytes, bytes);
    format_bytes((double)numbers->bytes * 1000 / (double)elapsed, rate);
    format_left(numbers, elapsed, left);
    fprintf(stderr, "\r\033[K%" PRId64 " records, %s, %s/s, %s left", numbers->records, bytes, rate,
            left);
}
