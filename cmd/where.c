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

/* "TIME" behind an @: milliseconds since 1970, or as cmd_parse_moment has it. */
static bool parse_time(const char *text, struct cmd_where *where)
{
    where->kind = CMD_TIME;
    return (cmd_parse_number(text, &where->number) && where->number >= 0) ||
           cmd_parse_moment(text, &where->number);
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

/* ---- What is looked up ---------------------------------------------------------------------- */

static void ask(struct cmd_asked *asked, enum krc_offset_kind kind, int64_t timestamp_ms)
{
    *(*asked->next)++ = (struct krc_offset_query){.topic = asked->partition->topic,
                                                  .partition = asked->partition->partition,
                                                  .kind = kind,
                                                  .timestamp_ms = timestamp_ms};
}

static bool is_folder(const struct cmd_asked *asked)
{
    return asked->partition->path != NULL;
}

/* The end of what is shown. */
static enum krc_offset_kind end_kind(const struct cmd_asked *asked)
{
    return !asked->read_uncommitted ? KRC_LAST_STABLE_OFFSET
           : is_folder(asked)       ? KRC_LOG_END_OFFSET
                                    : KRC_HIGH_WATERMARK;
}

void cmd_ask_from(const struct cmd_where *from, struct cmd_asked *asked)
{
    if (from->kind == CMD_TIME)
        ask(asked, KRC_OFFSET_FOR_TIME, from->number);
    if (from->kind == CMD_BEFORE_END) {
        ask(asked, KRC_LOG_START_OFFSET, 0);
        ask(asked, end_kind(asked), 0);
    }
}

void cmd_ask_until(const struct cmd_where *until, struct cmd_asked *asked)
{
    if (until->kind == CMD_TIME)
        ask(asked, KRC_OFFSET_FOR_TIME, until->number);
    if (until->kind == CMD_HIGH_WATERMARK && !is_folder(asked))
        ask(asked, KRC_HIGH_WATERMARK, 0);
}

/* ---- What it says --------------------------------------------------------------------------- */

static int take(struct cmd_asked *asked, int64_t *offset, krc_error *error)
{
    struct krc_offset_query *query = (*asked->next)++;
    *offset = query->offset;
    if (query->error.code < 0)
        *error = query->error;
    return query->error.code;
}

static int before_end(int64_t distance, struct cmd_asked *asked, int64_t *start, krc_error *error)
{
    int64_t log_start, end;
    int rc = take(asked, &log_start, error);
    int rc_end = take(asked, &end, error);
    if (rc == KRC_OK && rc_end == KRC_OK)
        *start = end - log_start > distance ? end - distance : log_start;
    return rc < 0 ? rc : rc_end;
}

int cmd_resolve_from(const struct cmd_where *from, struct cmd_asked *asked, int64_t *start,
                     krc_error *error)
{
    switch (from->kind) {
    case CMD_TIME:
        return take(asked, start, error);
    case CMD_BEFORE_END:
        return before_end(from->number, asked, start, error);
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

static int checkpointed(const struct krc_partition *partition, int64_t *end, krc_error *error)
{
    *end = partition->high_watermark;
    if (*end >= 0)
        return KRC_OK;
    return cmd_error(error, KRC_E_NOT_FOUND,
                     "%s-%" PRId32 ": no high watermark is checkpointed for it "
                     "(replication-offset-checkpoint beside %s): choose another --until",
                     partition->topic, partition->partition, partition->path);
}

int cmd_resolve_until(const struct cmd_where *until, struct cmd_asked *asked, int64_t *end,
                      krc_error *error)
{
    switch (until->kind) {
    case CMD_TIME:
        return take(asked, end, error);
    case CMD_HIGH_WATERMARK:
        return is_folder(asked) ? checkpointed(asked->partition, end, error)
                                : take(asked, end, error);
    case CMD_OFFSET:
        *end = until->number;
        return KRC_OK;
    case CMD_END:
        *end = KRC_PRESENT_END;
        return KRC_OK;
    default:
        *end = KRC_NO_END;
        return KRC_OK;
    }
}
