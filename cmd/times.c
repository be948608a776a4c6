#include "cmd/times.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define DAY_MS 86400000
#define MAX_NUMBER 1000000000 /* keeps every sum here within 63 bits */

/* Exactly `digits` digits. */
static bool take_digits(const char **p, int digits, int *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++, ++*p) {
        if (**p < '0' || **p > '9')
            return false;
        *number = 10 * *number + (**p - '0');
    }
    return true;
}

static bool take(const char **p, char c)
{
    if (**p != c)
        return false;
    ++*p;
    return true;
}

/* ".123..." in milliseconds: what is finer is cut. */
static bool take_fraction(const char **p, int64_t *ms)
{
    int64_t unit = 100;
    *ms = 0;
    if (**p < '0' || **p > '9')
        return false;
    for (; **p >= '0' && **p <= '9'; ++*p, unit /= 10)
        *ms += (**p - '0') * unit;
    return true;
}

/* Z, +hh, +hh:mm, +hhmm or nothing: minutes east of Greenwich. */
static bool take_zone(const char **p, int *minutes)
{
    int hour, minute = 0, sign = **p == '-' ? -1 : 1;
    *minutes = 0;
    if (take(p, 'Z') || **p == '\0')
        return true;
    if (!take(p, '+') && !take(p, '-'))
        return false;
    if (!take_digits(p, 2, &hour))
        return false;
    bool has_minutes = take(p, ':') || **p != '\0';
    if ((has_minutes && !take_digits(p, 2, &minute)) || hour > 18 || minute > 59)
        return false;
    *minutes = sign * (60 * hour + minute);
    return true;
}

static bool take_date(const char **p, struct tm *tm)
{
    int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month;
    if (!take_digits(p, 4, &year) || !take(p, '-') || !take_digits(p, 2, &month) ||
        !take(p, '-') || !take_digits(p, 2, &tm->tm_mday))
        return false;
    month_days[1] += (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    tm->tm_year = year - 1900;
    tm->tm_mon = month - 1;
    return month >= 1 && month <= 12 && tm->tm_mday >= 1 && tm->tm_mday <= month_days[month - 1];
}

/* Thh:mm[:ss[.f...]] and the zone. */
static bool take_time(const char **p, struct tm *tm, int64_t *fraction_ms, int *minutes)
{
    if (!take(p, 'T') || !take_digits(p, 2, &tm->tm_hour) || !take(p, ':') ||
        !take_digits(p, 2, &tm->tm_min))
        return false;
    if (take(p, ':') && !take_digits(p, 2, &tm->tm_sec))
        return false;
    if (take(p, '.') && !take_fraction(p, fraction_ms))
        return false;
    return take_zone(p, minutes) && tm->tm_hour <= 23 && tm->tm_min <= 59 && tm->tm_sec <= 59;
}

bool cmd_parse_datetime(const char *text, int64_t *ms)
{
    struct tm tm = {0};
    int64_t fraction_ms = 0;
    int minutes = 0;
    const char *p = text;
    if (!take_date(&p, &tm) ||
        (*p != '\0' && (!take_time(&p, &tm, &fraction_ms, &minutes) || *p != '\0')))
        return false;
    *ms = ((int64_t)timegm(&tm) - 60 * minutes) * 1000 + fraction_ms;
    return true;
}

/* "10m" */
static bool parse_span(const char *text, int64_t *ms)
{
    static const char units[] = "smhd";
    static const int64_t sizes[] = {1000, 60000, 3600000, DAY_MS};
    int64_t number = 0;
    const char *p = text;
    for (; *p >= '0' && *p <= '9' && number < MAX_NUMBER; p++)
        number = 10 * number + (*p - '0');
    const char *unit = *p != '\0' ? strchr(units, *p) : NULL;
    if (p == text || unit == NULL || p[1] != '\0')
        return false;
    *ms = number * sizes[unit - units];
    return true;
}

bool cmd_parse_moment(const char *text, int64_t *ms)
{
    int64_t span = 0;
    bool is_relative = text[0] == '-' || text[0] == '+';
    if (!is_relative && strcmp(text, "now") != 0)
        return cmd_parse_datetime(text, ms);
    if (is_relative && !parse_span(text + 1, &span))
        return false;
    *ms = cmd_now_ms() + (text[0] == '-' ? -span : span);
    return true;
}

/* "12H": a number and its unit, the units in this order; a fraction before S alone. */
static bool take_part(const char **p, const char **units, int64_t *ms)
{
    static const char names[] = "DHMS";
    static const int64_t sizes[] = {DAY_MS, 3600000, 60000, 1000};
    int64_t number = 0, fraction = 0;
    const char *start = *p;
    for (; **p >= '0' && **p <= '9' && number < MAX_NUMBER; ++*p)
        number = 10 * number + (**p - '0');
    bool fractional = take(p, '.');
    if (*p == start || (fractional && !take_fraction(p, &fraction)) || **p == '\0')
        return false;
    const char *unit = strchr(*units, **p);
    if (unit == NULL || (fractional && *unit != 'S'))
        return false;
    *ms += number * sizes[strchr(names, *unit) - names] + fraction;
    *units = unit + 1;
    ++*p;
    return true;
}

bool cmd_parse_duration(const char *text, int64_t *ms)
{
    const char *p = text, *units = "D";
    *ms = 0;
    if (!take(&p, 'P') || *p == '\0')
        return false;
    if (*p != 'T' && !take_part(&p, &units, ms))
        return false;
    if (*p == '\0')
        return true;
    units = "HMS";
    if (!take(&p, 'T') || *p == '\0')
        return false;
    while (*p != '\0')
        if (!take_part(&p, &units, ms))
            return false;
    return true;
}

void cmd_format_datetime(int64_t ms, char text[40])
{
    int64_t part = ((ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)((ms - part) / 1000);
    struct tm tm;
    if (gmtime_r(&seconds, &tm) == NULL || tm.tm_year > 9999 - 1900 ||
        tm.tm_year < -1900) {
        snprintf(text, 40, "%lld", (long long)ms);
        return;
    }
    snprintf(text, 40, "%04d-%02u-%02uT%02u:%02u:%02u.%03uZ", (int16_t)(tm.tm_year + 1900),
             (uint8_t)(tm.tm_mon + 1), (uint8_t)tm.tm_mday, (uint8_t)tm.tm_hour,
             (uint8_t)tm.tm_min, (uint8_t)tm.tm_sec, (uint16_t)part);
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t cmd_now_ms(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t cmd_clock_ms(void)
{
    return read_clock(CLOCK_MONOTONIC);
}
