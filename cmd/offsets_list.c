/*
 * krc offsets list and lag: where groups stand, and where the logs begin and end.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/offsets.h"
#include "cmd/table.h"
#include "cmd/times.h"

struct listing {
    const struct krc_committed *row;
    const struct krc_group *group;   /* NULL: nothing is known of it */
    const struct krc_member *member; /* that has the partition; NULL: nobody */
    const struct krc_lag *lag;       /* NULL: no log was named */
};

/* The numbers of a listing, by the names that each kind of output has for them. */
struct number {
    const char *title, *json;
    int64_t (*value)(const struct listing *listing); /* -1: not known */
    unsigned where;                                  /* it is shown */
};
enum {
    LIST = 1,
    LAG = 2,
    EXACT_LAG = 4,
    STORE_LIST = 8,
    GROUP_LIST = 16,
    MEMBERS = 32,
    NOTES = 64,
};

static int64_t log_start(const struct listing *l)
{
    return l->lag == NULL ? -1 : l->lag->log.log_start_offset;
}

static int64_t committed(const struct listing *l)
{
    return l->row->offset;
}

static int64_t last_stable(const struct listing *l)
{
    return l->lag == NULL ? -1 : l->lag->log.last_stable_offset;
}

static int64_t high_watermark(const struct listing *l)
{
    return l->lag == NULL ? -1 : l->lag->log.high_watermark;
}

static int64_t log_end(const struct listing *l)
{
    return l->lag == NULL ? -1 : l->lag->log.log_end_offset;
}

static int64_t lag(const struct listing *l)
{
    return l->lag == NULL ? -1 : l->lag->offsets;
}

static int64_t lag_records(const struct listing *l)
{
    return l->lag == NULL ? -1 : l->lag->records;
}

static int64_t undecided(const struct listing *l)
{
    return l->lag == NULL ? -1 : l->lag->undecided;
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

static const struct number numbers[] = {
    {"LOG-START", "logStartOffset", log_start, LIST | LAG},
    {"COMMITTED", "committedOffset", committed, LIST | LAG},
    {"LAST-STABLE", "lastStableOffset", last_stable, LIST | LAG},
    {"HIGH-WATERMARK", "highWatermark", high_watermark, LIST | LAG},
    {"LOG-END", "logEndOffset", log_end, LIST | LAG},
    {"LAG", "lag", lag, LIST | LAG},
    {"RECORDS", "lagRecords", lag_records, EXACT_LAG},
    {"UNDECIDED", "undecided", undecided, LIST | LAG},
    {"LEADER-EPOCH", "leaderEpoch", leader_epoch, LIST},
    {"COMMIT-TIME", "commitTime", commit_time, LIST},
    {"HISTORY", "history", history, STORE_LIST},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const char *state(const struct listing *l)
{
    return l->group == NULL ? NULL : l->group->state;
}

static const char *member_id(const struct listing *l)
{
    return l->member == NULL ? NULL : l->member->id;
}

static const char *client_id(const struct listing *l)
{
    return l->member == NULL ? NULL : l->member->client_id;
}

static const char *host(const struct listing *l)
{
    return l->member == NULL ? NULL : l->member->host;
}

/* What is known of a group, and of who has the partition. */
static const struct {
    const char *title, *json;
    const char *(*value)(const struct listing *listing); /* NULL: not known */
    unsigned where;                                      /* a table shows it */
} texts[] = {
    {"STATE", "groupState", state, GROUP_LIST},
    {"MEMBER-ID", "memberId", member_id, MEMBERS},
    {"CLIENT-ID", "clientId", client_id, MEMBERS},
    {"HOST", "host", host, MEMBERS},
};
enum { TEXTS = sizeof texts / sizeof *texts };

static enum krc_range range(const struct listing *l)
{
    return l->lag == NULL ? KRC_RANGE_UNKNOWN : l->lag->range;
}

static const char *note(const struct listing *l)
{
    return offsets_note(range(l), l->row->is_pending);
}

/* ---- Output -------------------------------------------------------------------------------- */

static void add_number(struct cmd_table *table, const struct listing *listing, size_t i)
{
    char time[40];
    int64_t value = numbers[i].value(listing);
    if (value == -1 || numbers[i].value != commit_time) {
        cmd_table_add_number(table, value);
        return;
    }
    cmd_format_datetime(value, time);
    cmd_table_add(table, "%s", time);
}

static void add_row(struct cmd_table *table, const struct listing *listing, unsigned where)
{
    cmd_table_add(table, "%s", listing->row->group);
    cmd_table_add(table, "%s", listing->row->topic);
    cmd_table_add_number(table, listing->row->partition);
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i].where & where)
            add_number(table, listing, i);
    for (size_t i = 0; i < TEXTS; i++) {
        if (!(texts[i].where & where))
            continue;
        const char *value = texts[i].value(listing);
        cmd_table_add(table, "%s", value == NULL ? "-" : value);
    }
    if (where & NOTES)
        cmd_table_add(table, "%s", note(listing) == NULL ? "-" : note(listing));
}

static int print_table(const struct listing *listings, size_t count, unsigned where,
                       krc_error *error)
{
    struct cmd_column columns[3 + NUMBERS + TEXTS + 1] = {
        {"GROUP", true}, {"TOPIC", true}, {"PARTITION", false}};
    struct cmd_table table;
    size_t width = 3;
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers[i].where & where)
            columns[width++] = (struct cmd_column){numbers[i].title, false};
    for (size_t i = 0; i < TEXTS; i++)
        if (texts[i].where & where)
            columns[width++] = (struct cmd_column){texts[i].title, true};
    if (where & NOTES)
        columns[width++] = (struct cmd_column){"NOTE", true};
    cmd_table_init(&table, columns, width);
    for (size_t i = 0; i < count; i++)
        add_row(&table, &listings[i], where);
    int rc = cmd_table_print(&table, stdout, error);
    cmd_table_free(&table);
    return rc;
}

static void print_json_text(const char *name, const char *value)
{
    putchar(',');
    krc_write_json_text(name, value, stdout);
}

static void print_json(const struct listing *listing, unsigned where)
{
    putchar('{');
    krc_write_json_text("group", listing->row->group, stdout);
    print_json_text("topic", listing->row->topic);
    printf(",\"partition\":%" PRId32, listing->row->partition);
    for (size_t i = 0; i < NUMBERS; i++) {
        if (!(numbers[i].where & where))
            continue;
        int64_t value = numbers[i].value(listing);
        printf(value == -1 ? ",\"%s\":null" : ",\"%s\":%" PRId64, numbers[i].json, value);
    }
    if (where & LIST)
        print_json_text("metadata", listing->row->metadata);
    for (size_t i = 0; (where & GROUP_LIST) && i < TEXTS; i++)
        print_json_text(texts[i].json, texts[i].value(listing));
    print_json_text("range", krc_range_name(range(listing)));
    printf(",\"pending\":%s", listing->row->is_pending ? "true" : "false");
    if (listing->row->is_pending && listing->row->pending_offset >= 0)
        printf(",\"pendingOffset\":%" PRId64, listing->row->pending_offset);
    puts("}");
}

/* ---- What is listed ------------------------------------------------------------------------ */

static struct listing listing_of(const struct offsets_rows *rows, const struct krc_committed *row)
{
    const struct krc_group *group = krc_groups_find(rows->groups, row->group);
    return (struct listing){
        .row = row,
        .group = group,
        .member = group == NULL ? NULL : krc_group_owner(group, row->topic, row->partition),
    };
}

/* A log that is not there, or cannot be read, does not keep the others from being listed. */
static bool tell_lag(const struct listing *l)
{
    if (l->lag->is_recreated)
        cmd_say("group %s: topic %s was made again since offset %" PRId64
                " of partition %" PRId32 " was committed, which says nothing of it",
                l->row->group, l->row->topic, l->row->offset, l->row->partition);
    bool failed = l->lag->error.code < 0 && l->lag->error.code != KRC_E_NOT_FOUND;
    if (failed)
        cmd_fail(&l->lag->error);
    return failed;
}

static int measure(krc *source, bool exact, struct listing *listings, struct krc_lag *lags,
                   size_t count, bool *failed, krc_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct krc_committed *row = listings[i].row;
        lags[i] = (struct krc_lag){.topic = row->topic, .partition = row->partition,
                                   .topic_id = row->topic_id, .committed = row->offset};
        listings[i].lag = &lags[i];
    }
    int rc = krc_measure_lag(source, lags, count, exact, error);
    for (size_t i = 0; i < count; i++)
        if (lags[i].committed < 0)
            lags[i].offsets = lags[i].records = -1; /* from where, is not known */
    for (size_t i = 0; rc == KRC_OK && i < count; i++)
        *failed |= tell_lag(&listings[i]);
    return rc;
}

/* Members may have partitions of which nothing was committed yet. */
static int add_owned(const struct offsets_options *options, const struct offsets_rows *rows,
                     krc_error *error)
{
    const struct krc_group *group;
    for (size_t g = 0; (group = krc_groups_at(rows->groups, g)) != NULL; g++)
        for (size_t m = 0; m < group->member_count; m++)
            for (size_t i = 0; i < group->members[m].owned_count; i++) {
                const struct krc_owned *owned = &group->members[m].owned[i];
                struct krc_committed row = {.group = group->id, .topic = owned->topic,
                                            .partition = owned->partition, .offset = -1,
                                            .leader_epoch = -1, .commit_time_ms = -1};
                if (!cmd_selects(&options->selection, owned->topic, owned->partition))
                    continue;
                int rc = krc_committed_add(rows->list, &row, error);
                if (rc < 0)
                    return rc;
            }
    return KRC_OK;
}

static bool any_member(const struct listing *listings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (listings[i].member != NULL)
            return true;
    return false;
}

static bool any_note(const struct listing *listings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (note(&listings[i]) != NULL)
            return true;
    return false;
}

/* Members that nobody finds in a listing of partitions. */
static void tell_idle(const struct krc_group *group)
{
    for (size_t i = 0; i < group->member_count; i++)
        if (group->members[i].owned_count == 0)
            cmd_say("group %s: member %s (%s, %s) has no partition", group->id,
                    group->members[i].id, group->members[i].client_id, group->members[i].host);
}

static void tell_groups(const struct offsets_rows *rows, unsigned where)
{
    const struct krc_group *group;
    for (size_t i = 0; (where & GROUP_LIST) && (group = krc_groups_at(rows->groups, i)); i++)
        tell_idle(group);
}

static int list_rows(const struct offsets_options *options, krc *source,
                     const struct offsets_rows *rows, unsigned where, bool *failed,
                     krc_error *error)
{
    size_t count = 0;
    while (krc_committed_at(rows->list, count) != NULL)
        count++;
    struct listing *listings = calloc(count + 1, sizeof *listings);
    struct krc_lag *lags = calloc(count + 1, sizeof *lags);
    int rc = listings == NULL || lags == NULL ? cmd_error(error, KRC_E_NOMEM, "out of memory")
                                              : KRC_OK;
    for (size_t i = 0; rc == KRC_OK && i < count; i++)
        listings[i] = listing_of(rows, krc_committed_at(rows->list, i));
    if (rc == KRC_OK && source != NULL)
        rc = measure(source, options->exact, listings, lags, count, failed, error);
    if ((where & GROUP_LIST) && any_member(listings, count))
        where |= MEMBERS;
    if (any_note(listings, count))
        where |= NOTES;
    if (rc == KRC_OK && !options->json)
        rc = print_table(listings, count, where, error);
    for (size_t i = 0; rc == KRC_OK && options->json && i < count; i++)
        print_json(&listings[i], where);
    free(listings);
    free(lags);
    return rc;
}

static int list(const struct offsets_options *options, unsigned where)
{
    struct offsets_rows rows = {0};
    krc *source = NULL;
    krc_error error;
    bool failed = false;
    /* lag is a matter of committed records, whatever "latest" means elsewhere */
    int rc = krc_config_set(options->config, "isolation.level", "read_committed", &error);
    if (rc == KRC_OK)
        rc = offsets_open(options, &source, &error);
    if (rc == KRC_OK)
        rc = offsets_load(options, source, options->group, &rows, &error);
    if (rc == KRC_OK)
        rc = add_owned(options, &rows, &error);
    if (rc == KRC_OK) {
        tell_groups(&rows, where);
        failed = offsets_tell_failures(&rows) || offsets_tell_missing(options, source, &rows);
        rc = list_rows(options, source, &rows, where, &failed, &error);
    }
    offsets_free(&rows);
    krc_close(source);
    if (rc < 0)
        return cmd_fail(&error);
    return cmd_flush() == CMD_DONE && !failed ? CMD_DONE : CMD_FAILED;
}

int offsets_list(const struct offsets_options *options)
{
    return list(options, LIST | (options->store != NULL ? STORE_LIST : GROUP_LIST));
}

int offsets_lag(const struct offsets_options *options)
{
    return list(options, LAG | (options->exact ? EXACT_LAG : 0));
}
