/*
 * Times as people write them.
 */
#ifndef KRC_CMD_TIMES_H
#define KRC_CMD_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/* ISO 8601, YYYY-MM-DD[Thh:mm[:ss[.f...]]] and Z, +hh, +hh:mm, +hhmm or nothing, which is UTC. */
bool cmd_parse_datetime(const char *text, int64_t *ms);

/* That; or now, or so long before or after now: -90s, -10m, +2h, -7d. */
bool cmd_parse_moment(const char *text, int64_t *ms);

/* An ISO 8601 duration of days and less: P1D, PT1H30M, P2DT0.5S. */
bool cmd_parse_duration(const char *text, int64_t *ms);

/* YYYY-MM-DDThh:mm:ss.mmmZ */
void cmd_format_datetime(int64_t ms, char text[40]);

int64_t cmd_now_ms(void);

/* A clock that nobody sets, for how long things take. */
int64_t cmd_clock_ms(void);

#endif
