/*
 * krc topics: partitions, who has them, and their offsets.
 */
#include <inttypes.h>
#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/source.h"
#include "cmd/table.h"

static const char help_text[] =
    "krc topics -b HOST:PORT|-d DIR [-t TOPIC] [flags]\n"
    "\n"
    "Lists partitions: leader, preferred leader, replicas, those in sync, eligible leader replicas,\n"
    "the leader's rack, log start offset, last stable offset, high watermark, and of log folders\n"
    "the log end offset; - where something is not known.\n"
    "\n"
    "  -J, --json               one JSON object a line\n"
    "\n";

enum { IDS_MAX = 512, OFFSETS = 4 };

static const enum krc_offset_kind kinds[OFFSETS] = {
    KRC_LOG_START_OFFSET, KRC_LAST_STABLE_OFFSET, KRC_HIGH_WATERMARK, KRC_LOG_END_OFFSET};

struct listing {
    struct cmd_source source;
    krc *krc;
    bool json;
    bool failed;
};

/* "1,2,3"; "-": none */
static void format_ids(const int32_t *ids, int32_t count, char text[IDS_MAX])
{
    int len = 0;
    snprintf(text, IDS_MAX, "-");
    for (int32_t i = 0; i < count && len < IDS_MAX - 16; i++)
        len += snprintf(text + len, (size_t)(IDS_MAX - len), i == 0 ? "%" PRId32 : ",%" PRId32,
                        ids[i]);
}

static const char *rack_of(const krc *handle, int32_t id)
{
    struct krc_broker broker;
    for (size_t i = 0; krc_source_broker(handle, i, &broker); i++)
        if (broker.id == id)
            return broker.rack;
    return NULL;
}

/* A partition as it is listed. */
struct row {
    struct krc_partition partition;
    const struct krc_offset_query *offsets;
    const char *rack; /* the leader's; NULL: not known */
};

static const struct cmd_column columns[] = {
    {"TOPIC", true},         {"PARTITION", false},   {"LEADER", true},
    {"PREFERRED", true},     {"REPLICAS", true},     {"IN-SYNC", true},
    {"ELIGIBLE", true},      {"RACK", true},         {"LOG-START", false},
    {"LAST-STABLE", false},  {"HIGH-WATERMARK", false}, {"LOG-END", false},
};

static int32_t preferred(const struct krc_partition *p)
{
    return p->replica_count > 0 ? p->replicas[0] : -1;
}

static void add_ids(struct cmd_table *table, const int32_t *ids, int32_t count)
{
    char text[IDS_MAX];
    format_ids(ids, count, text);
    cmd_table_add(table, "%s", text);
}

static void add_row(struct cmd_table *table, const struct row *row)
{
    const struct krc_partition *p = &row->partition;
    cmd_table_add(table, "%s", p->topic);
    cmd_table_add_number(table, p->partition);
    cmd_table_add_number(table, p->leader);
    cmd_table_add_number(table, preferred(p));
    add_ids(table, p->replicas, p->replica_count);
    add_ids(table, p->in_sync, p->in_sync_count);
    add_ids(table, p->eligible, p->eligible_count);
    cmd_table_add(table, "%s", row->rack == NULL ? "-" : row->rack);
    for (int i = 0; i < OFFSETS; i++)
        cmd_table_add_number(table, row->offsets[i].offset);
}

static int print_table(const struct row *rows, size_t count, krc_error *error)
{
    struct cmd_table table;
    cmd_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++)
        add_row(&table, &rows[i]);
    int rc = cmd_table_print(&table, stdout, error);
    cmd_table_free(&table);
    return rc;
}

static void print_json_ids(const char *name, const int32_t *ids, int32_t count)
{
    printf(",\"%s\":", name);
    if (count < 0) {
        fputs("null", stdout);
        return;
    }
    for (int32_t i = 0; i < count; i++)
        printf(i == 0 ? "[%" PRId32 : ",%" PRId32, ids[i]);
    fputs(count == 0 ? "[]" : "]", stdout);
}

static void print_json_number(const char *name, int64_t number)
{
    printf(",\"%s\":", name);
    if (number < 0)
        fputs("null", stdout);
    else
        printf("%" PRId64, number);
}

static void print_json(const struct row *row)
{
    static const char *const names[OFFSETS] = {"logStartOffset", "lastStableOffset",
                                               "highWatermark", "logEndOffset"};
    const struct krc_partition *p = &row->partition;
    fputs("{\"topic\":", stdout);
    krc_write_json_string(p->topic, stdout);
    printf(",\"partition\":%" PRId32, p->partition);
    print_json_number("leader", p->leader);
    print_json_number("leaderEpoch", p->leader_epoch);
    print_json_number("preferredLeader", preferred(p));
    print_json_ids("replicas", p->replicas, p->replica_count);
    print_json_ids("inSync", p->in_sync, p->in_sync_count);
    print_json_ids("eligibleLeaders", p->eligible, p->eligible_count);
    putchar(',');
    krc_write_json_text("rack", row->rack, stdout);
    for (int i = 0; i < OFFSETS; i++)
        print_json_number(names[i], row->offsets[i].offset);
    fputs("}\n", stdout);
}

/* A partition whose offsets nobody tells is listed all the same. */
static void tell_errors(struct listing *l, const struct krc_offset_query *offsets)
{
    for (int i = 0; i < OFFSETS; i++)
        if (offsets[i].error.code < 0) {
            l->failed = true;
            cmd_fail(&offsets[i].error);
            return;
        }
}

/* The partitions that are wanted, as the source has them; both are sorted. */
static size_t fill_rows(struct listing *l, const struct krc_replay_partition *parts, size_t count,
                        const struct krc_offset_query *queries, struct row *rows)
{
    size_t next = 0;
    struct krc_partition partition;
    for (size_t i = 0; next < count && krc_source_partition(l->krc, i, &partition); i++) {
        if (partition.partition != parts[next].partition ||
            strcmp(partition.topic, parts[next].topic) != 0)
            continue;
        rows[next] = (struct row){.partition = partition,
                                  .offsets = &queries[next * OFFSETS],
                                  .rack = rack_of(l->krc, partition.leader)};
        tell_errors(l, rows[next++].offsets);
    }
    return next;
}

static int print_all(struct listing *l, const struct krc_replay_partition *parts, size_t count,
                     krc_error *error)
{
    struct krc_offset_query *queries = calloc(count * OFFSETS + 1, sizeof *queries);
    struct row *rows = calloc(count + 1, sizeof *rows);
    int rc = queries == NULL || rows == NULL ? cmd_error(error, KRC_E_NOMEM, "out of memory")
                                             : KRC_OK;
    for (size_t i = 0; rc == KRC_OK && i < count * OFFSETS; i++)
        queries[i] = (struct krc_offset_query){.topic = parts[i / OFFSETS].topic,
                                               .partition = parts[i / OFFSETS].partition,
                                               .kind = kinds[i % OFFSETS]};
    if (rc == KRC_OK)
        rc = krc_list_offsets(l->krc, queries, count * OFFSETS, error);
    if (rc == KRC_OK) {
        count = fill_rows(l, parts, count, queries, rows);
        if (!l->json)
            rc = print_table(rows, count, error);
        for (size_t i = 0; l->json && i < count; i++)
            print_json(&rows[i]);
    }
    free(rows);
    free(queries);
    return rc;
}

static int list(struct listing *l)
{
    krc_error error;
    struct krc_replay_partition *parts = NULL;
    size_t count = 0;
    int rc = krc_open(&l->krc, l->source.config, &error);
    if (rc == KRC_OK)
        rc = cmd_source_partitions(&l->source, l->krc, &parts, &count, &l->failed, &error);
    if (rc == KRC_OK)
        rc = krc_load_eligible_leaders(l->krc, &error);
    if (rc == KRC_OK)
        rc = print_all(l, parts, count, &error);
    if (rc < 0)
        cmd_fail(&error);
    cmd_close(l->krc, l->source.quiet);
    free(parts);
    int flushed = cmd_flush();
    return rc < 0 || l->failed ? CMD_FAILED : flushed;
}

static const struct option long_options[] = {
    CMD_SOURCE_OPTIONS,
    {"json", no_argument, NULL, 'J'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int set_option(struct listing *l, int option, char *value)
{
    switch (option) {
    case 'J':
        l->json = true;
        return CMD_DONE;
    case 'h':
        l->source.finished = true;
        printf("%s%s", help_text, cmd_source_help);
        return cmd_flush();
    case '?':
        return CMD_USAGE;
    default:
        return cmd_source_option(&l->source, option, value);
    }
}

int cmd_topics(int argc, char **argv)
{
    static char name[] = "krc topics"; /* before what getopt has to say */
    struct listing l = {0};
    int option, status = cmd_source_init(&l.source);
    argv[0] = name;
    while (status == CMD_DONE && !l.source.finished &&
           (option = getopt_long(argc, argv, CMD_SOURCE_LETTERS "Jh", long_options, NULL)) != -1)
        status = set_option(&l, option, optarg);
    if (status == CMD_DONE && !l.source.finished && argc > optind)
        status = cmd_usage("topics: what is \"%s\"? Topics are named with -t", argv[optind]);
    if (status == CMD_DONE && !l.source.finished)
        status = cmd_source_check(&l.source, "topics");
    if (status == CMD_DONE && !l.source.finished)
        status = list(&l);
    cmd_source_free(&l.source);
    return status;
}
