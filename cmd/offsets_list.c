/*
 * krc offsets list: where groups stand, and where the logs begin and end.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/offsets.h"
#include "cmd/times.h"

struct listing {
    const struct krc_committed *row;
    struct krc_log_offsets log;
    bool log_known;
};

/* The numbers of a listing, by the names that each kind of output has for them. */
struct column {
    const char *title, *json;
    int64_t (*value)(const struct listing *listing); /* -1: not known */
};

static int64_t log_start(const struct listing *l)
{
    return l->log_known ? l->log.log_start_offset : -1;
}

static int64_t committed(const struct listing *l)
{
    return l->row->offset;
}

static int64_t last_stable(const struct listing *l)
{
    return l->log_known ? l->log.last_stable_offset : -1;
}

static int64_t high_watermark(const struct listing *l)
{
    return l->log_known ? l->log.high_watermark : -1;
}

static int64_t log_end(const struct listing *l)
{
    return l->log_known ? l->log.log_end_offset : -1;
}

static int64_t lag(const struct listing *l)
{
    if (!l->log_known)
        return -1;
    int64_t distance = l->log.last_stable_offset - l->row->offset;
    return distance > 0 ? distance : 0;
}

static int64_t undecided(const struct listing *l)
{
    return l->log_known ? l->log.log_end_offset - l->log.last_stable_offset : -1;
}

static int64_t leader_epoch(const struct listing *l)
{
    return l->row->leader_epoch;
}

static int64_t history(const struct listing *l)
{
    return l->row->history;
}

static int64_t commit_time(const struct listing *l)
{
    return l->row->commit_time_ms;
}

static const struct column columns[] = {
    {"LOG-START", "logStartOffset", log_start},
    {"COMMITTED", "committedOffset", committed},
    {"LAST-STABLE", "lastStableOffset", last_stable},
    {"HIGH-WATERMARK", "highWatermark", high_watermark},
    {"LOG-END", "logEndOffset", log_end},
    {"LAG", "lag", lag},
    {"UNDECIDED", "undecided", undecided},
    {"LEADER-EPOCH", "leaderEpoch", leader_epoch},
    {"COMMIT-TIME", "commitTime", commit_time},
    {"HISTORY", "history", history},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static void cell(const struct listing *listing, size_t i, char text[40])
{
    int64_t value = columns[i].value(listing);
    if (value == -1)
        strcpy(text, "-");
    else if (columns[i].value == commit_time)
        cmd_format_datetime(value, text);
    else
        snprintf(text, 40, "%" PRId64, value);
}

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static void print_table(const struct listing *listings, size_t count)
{
    int group = wider(0, "GROUP"), topic = wider(0, "TOPIC"), widths[COLUMNS];
    char text[40];
    for (size_t i = 0; i < COLUMNS; i++)
        widths[i] = wider(0, columns[i].title);
    for (size_t n = 0; n < count; n++) {
        group = wider(group, listings[n].row->group);
        topic = wider(topic, listings[n].row->topic);
        for (size_t i = 0; i < COLUMNS; i++) {
            cell(&listings[n], i, text);
            widths[i] = wider(widths[i], text);
        }
    }
    printf("%-*s %-*s %9s", group, "GROUP", topic, "TOPIC", "PARTITION");
    for (size_t i = 0; i < COLUMNS; i++)
        printf(" %*s", widths[i], columns[i].title);
    putchar('\n');
    for (size_t n = 0; n < count; n++) {
        const struct krc_committed *row = listings[n].row;
        printf("%-*s %-*s %9" PRId32, group, row->group, topic, row->topic, row->partition);
        for (size_t i = 0; i < COLUMNS; i++) {
            cell(&listings[n], i, text);
            printf(" %*s", widths[i], text);
        }
        putchar('\n');
    }
}

static void print_json(const struct listing *listing)
{
    fputs("{\"group\":", stdout);
    krc_write_json_string(listing->row->group, stdout);
    fputs(",\"topic\":", stdout);
    krc_write_json_string(listing->row->topic, stdout);
    printf(",\"partition\":%" PRId32, listing->row->partition);
    for (size_t i = 0; i < COLUMNS; i++) {
        int64_t value = columns[i].value(listing);
        printf(",\"%s\":", columns[i].json);
        if (value == -1)
            fputs("null", stdout);
        else
            printf("%" PRId64, value);
    }
    fputs(",\"metadata\":", stdout);
    krc_write_json_string(listing->row->metadata, stdout);
    puts("}");
}

/* A log that cannot be read does not keep the others from being listed. */
static int look_up(krc *source, struct listing *listing)
{
    const struct krc_committed *row = listing->row;
    krc_error error;
    int rc = krc_log_offsets(source, row->topic, row->partition, &listing->log, &error);
    listing->log_known = rc == KRC_OK;
    return rc == KRC_OK || rc == KRC_E_NOT_FOUND ? CMD_DONE : cmd_fail(&error);
}

static int print_listings(const struct offsets_options *options, krc *source,
                          struct listing *listings, size_t count)
{
    int status = CMD_DONE;
    for (size_t n = 0; source != NULL && n < count; n++)
        if (look_up(source, &listings[n]) != CMD_DONE)
            status = CMD_FAILED;
    if (!options->json)
        print_table(listings, count);
    for (size_t n = 0; options->json && n < count; n++)
        print_json(&listings[n]);
    return cmd_flush() == CMD_DONE ? status : CMD_FAILED;
}

static int list_rows(const struct offsets_options *options, const krc_committed_list *list,
                     krc *source, krc_error *error)
{
    size_t count = 0;
    while (krc_committed_at(list, count) != NULL)
        count++;
    struct listing *listings = calloc(count + 1, sizeof *listings);
    if (listings == NULL) {
        cmd_error(error, KRC_E_NOMEM, "out of memory");
        return cmd_fail(error);
    }
    for (size_t n = 0; n < count; n++)
        listings[n].row = krc_committed_at(list, n);
    int status = print_listings(options, source, listings, count);
    free(listings);
    return status;
}

int offsets_list(const struct offsets_options *options)
{
    krc_committed_list *list;
    krc *source = NULL;
    krc_error error;
    int rc = offsets_load(options, options->group, &list, &error);
    if (rc == KRC_OK && options->has_source)
        rc = krc_open(&source, options->config, &error);
    int status = rc < 0 ? cmd_fail(&error) : list_rows(options, list, source, &error);
    krc_close(source);
    krc_committed_free(list);
    return status;
}
