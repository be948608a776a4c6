#include "cmd/where.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/times.h"

bool cmd_parse_number(const char *text, int64_t *number)
{
    char *end;
    const char *digits = *text == '-' ? text + 1 : text;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno == 0 && *digits >= '0' && *digits <= '9' && *end == '\0';
}

/* "TIME" behind an @: milliseconds since 1970, or ISO 8601. */
static bool parse_time(const char *text, struct cmd_where *where)
{
    where->kind = CMD_TIME;
    return (cmd_parse_number(text, &where->number) && where->number >= 0) ||
           cmd_parse_datetime(text, &where->number);
}

static bool parse_name(const char *text, struct cmd_where *where)
{
    static const struct {
        const char *name;
        int kind;
    } names[] = {
        {"stored", CMD_STORED}, {"earliest", CMD_EARLIEST}, {"beginning", CMD_EARLIEST},
        {"latest", CMD_END},    {"end", CMD_END},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0) {
            where->kind = names[i].kind;
            return true;
        }
    return false;
}

bool cmd_parse_from(const char *text, struct cmd_where *from, struct cmd_where *until)
{
    if (strncmp(text, "e@", 2) == 0)
        return parse_time(text + 2, until);
    if (text[0] == '@' || strncmp(text, "s@", 2) == 0)
        return parse_time(strchr(text, '@') + 1, from);
    if (parse_name(text, from))
        return true;
    from->kind = text[0] == '-' ? CMD_BEFORE_END : CMD_OFFSET;
    bool is_number = cmd_parse_number(text, &from->number) && from->number > INT64_MIN;
    if (is_number && from->kind == CMD_BEFORE_END)
        from->number = -from->number;
    return is_number;
}

bool cmd_parse_until(const char *text, struct cmd_where *until)
{
    if (text[0] == '@' || strncmp(text, "e@", 2) == 0)
        return parse_time(strchr(text, '@') + 1, until);
    until->kind = strcmp(text, "end") == 0   ? CMD_END
                  : strcmp(text, "hwm") == 0 ? CMD_HIGH_WATERMARK
                                             : CMD_OFFSET;
    return until->kind != CMD_OFFSET ||
           (cmd_parse_number(text, &until->number) && until->number >= 0);
}

static int before_end(int64_t distance, krc *source, bool read_uncommitted,
                      const struct krc_partition *partition, int64_t *start, krc_error *error)
{
    struct krc_log_offsets log;
    int rc = krc_log_offsets(source, partition->topic, partition->partition, &log, error);
    if (rc < 0)
        return rc;
    int64_t end = read_uncommitted ? log.log_end_offset : log.last_stable_offset;
    *start = end - log.log_start_offset > distance ? end - distance : log.log_start_offset;
    return KRC_OK;
}

int cmd_resolve_from(const struct cmd_where *from, krc *source, bool read_uncommitted,
                     const struct krc_partition *partition, int64_t *start, krc_error *error)
{
    switch (from->kind) {
    case CMD_TIME:
        return krc_offset_for_time(source, partition->topic, partition->partition, from->number,
                                   start, error);
    case CMD_BEFORE_END:
        return before_end(from->number, source, read_uncommitted, partition, start, error);
    case CMD_OFFSET:
        *start = from->number;
        return KRC_OK;
    case CMD_END:
        *start = KRC_LATEST;
        return KRC_OK;
    case CMD_STORED:
        *start = KRC_STORED;
        return KRC_OK;
    default:
        *start = KRC_EARLIEST;
        return KRC_OK;
    }
}

int cmd_resolve_until(const struct cmd_where *until, krc *source,
                      const struct krc_partition *partition, int64_t *end, krc_error *error)
{
    switch (until->kind) {
    case CMD_TIME:
        return krc_offset_for_time(source, partition->topic, partition->partition, until->number,
                                   end, error);
    case CMD_HIGH_WATERMARK:
        *end = partition->high_watermark;
        if (*end >= 0)
            return KRC_OK;
        return cmd_error(error, KRC_E_NOT_FOUND,
                         "%s-%" PRId32 ": no high watermark is checkpointed for it "
                         "(replication-offset-checkpoint beside %s): choose another --until",
                         partition->topic, partition->partition, partition->path);
    case CMD_OFFSET:
        *end = until->number;
        return KRC_OK;
    default:
        *end = KRC_NO_END;
        return KRC_OK;
    }
}
