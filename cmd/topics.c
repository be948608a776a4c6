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

/* Offsets are asked for so many partitions at a time: questions take much more than answers. */
enum { IDS_MAX = 512, OFFSETS = 4, AT_A_TIME = 1000, SILENT_MOST = 64 };

static const enum krc_offset_kind kinds[OFFSETS] = {
    KRC_LOG_START_OFFSET, KRC_LAST_STABLE_OFFSET, KRC_HIGH_WATERMARK, KRC_LOG_END_OFFSET};

struct listing {
    struct cmd_source source;
    krc *krc;
    bool json;
    bool failed;
    size_t count; /* partitions */
    struct cmd_table table;
    int32_t silent[SILENT_MOST]; /* leaders that gave no answer in time; -1: that there is none */
    size_t silent_count;
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
    struct krc_offset_query *offsets; /* NULL: nobody was asked */
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
        cmd_table_add_number(table, row->offsets == NULL ? -1 : row->offsets[i].offset);
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
        print_json_number(names[i], row->offsets == NULL ? -1 : row->offsets[i].offset);
    fputs("}\n", stdout);
}

/* ---- Offsets ------------------------------------------------------------------------------- */

static bool is_silent(const struct listing *l, int32_t leader)
{
    for (size_t i = 0; i < l->silent_count; i++)
        if (l->silent[i] == leader)
            return true;
    return false;
}

/* Whoever is waited for in vain is not waited for again. */
static void note_silent(struct listing *l, int32_t leader)
{
    if (l->silent_count < SILENT_MOST && !is_silent(l, leader))
        l->silent[l->silent_count++] = leader;
}

static void tell_unasked(const struct krc_partition *p)
{
    krc_error error;
    char why[64] = "it has no leader";
    if (p->leader >= 0)
        snprintf(why, sizeof why, "broker %" PRId32 " does not answer", p->leader);
    (void)cmd_error(&error, KRC_E_TIMEOUT, "%s-%" PRId32 ": not asked for its offsets: %s",
                    p->topic, p->partition, why);
    cmd_fail(&error);
}

/* A partition whose offsets nobody tells is listed all the same. */
static void tell_errors(struct listing *l, const struct row *row)
{
    for (int i = 0; row->offsets != NULL && i < OFFSETS; i++) {
        if (row->offsets[i].error.code >= 0)
            continue;
        if (row->offsets[i].error.code == KRC_E_TIMEOUT)
            note_silent(l, row->partition.leader);
        l->failed = true;
        cmd_fail(&row->offsets[i].error);
        return;
    }
    l->failed |= row->offsets == NULL;
    if (row->offsets == NULL)
        tell_unasked(&row->partition);
}

/* The next rows, from the source's partition `at` on; how many. */
static size_t begin_rows(const struct listing *l, size_t at, struct row *rows,
                         struct krc_offset_query *queries, size_t *asked)
{
    size_t count = 0;
    *asked = 0;
    while (count < AT_A_TIME &&
           cmd_source_next(&l->source, l->krc, &at, &rows[count].partition)) {
        struct row *row = &rows[count++];
        row->offsets = NULL;
        if (is_silent(l, row->partition.leader))
            continue;
        row->offsets = &queries[*asked];
        *asked += OFFSETS;
        for (int i = 0; i < OFFSETS; i++)
            row->offsets[i] = (struct krc_offset_query){.topic = row->partition.topic,
                                                        .partition = row->partition.partition,
                                                        .kind = kinds[i]};
    }
    return count;
}

/* Where these are not all, that nobody answers is these partitions' error. */
static int ask_offsets(const struct listing *l, struct krc_offset_query *queries, size_t asked,
                       krc_error *error)
{
    int rc = krc_list_offsets(l->krc, queries, asked, error);
    if (rc != KRC_E_TIMEOUT || l->count <= AT_A_TIME)
        return rc;
    for (size_t i = 0; i < asked; i++)
        queries[i].error = *error;
    return KRC_OK;
}

/* Prints them as the source has them now, after it was waited for. */
static void end_rows(struct listing *l, size_t *at, struct row *rows, size_t count)
{
    struct krc_partition now;
    for (size_t i = 0; i < count && cmd_source_next(&l->source, l->krc, at, &now);) {
        struct row *row = &rows[i];
        if (now.partition != row->partition.partition ||
            strcmp(now.topic, row->partition.topic) != 0)
            continue;
        i++;
        row->partition = now;
        row->rack = rack_of(l->krc, now.leader);
        tell_errors(l, row);
        if (l->json)
            print_json(row);
        else
            add_row(&l->table, row);
    }
}

static int print_rows(struct listing *l, struct row *rows, struct krc_offset_query *queries,
                      krc_error *error)
{
    size_t at = 0, count, asked;
    while ((count = begin_rows(l, at, rows, queries, &asked)) > 0) {
        int rc = ask_offsets(l, queries, asked, error);
        if (rc < 0)
            return rc;
        end_rows(l, &at, rows, count);
    }
    return l->json ? KRC_OK : cmd_table_print(&l->table, stdout, error);
}

static int print_all(struct listing *l, krc_error *error)
{
    struct krc_offset_query *queries = calloc(AT_A_TIME * OFFSETS, sizeof *queries);
    struct row *rows = calloc(AT_A_TIME, sizeof *rows);
    int rc = queries == NULL || rows == NULL ? cmd_error(error, KRC_E_NOMEM, "out of memory")
                                             : KRC_OK;
    cmd_table_init(&l->table, columns, sizeof columns / sizeof *columns);
    if (rc == KRC_OK)
        rc = print_rows(l, rows, queries, error);
    cmd_table_free(&l->table);
    free(rows);
    free(queries);
    return rc;
}

static int list(struct listing *l)
{
    krc_error error;
    int rc = krc_open(&l->krc, l->source.config, &error);
    if (rc == KRC_OK)
        rc = cmd_source_load(&l->source, l->krc, &l->count, &l->failed, &error);
    if (rc == KRC_OK)
        rc = krc_load_eligible_leaders(l->krc, &error);
    if (rc == KRC_OK)
        rc = print_all(l, &error);
    if (rc < 0)
        cmd_fail(&error);
    krc_close(l->krc);
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
    l.source.any_topic = l.source.may_be_empty = true;
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
