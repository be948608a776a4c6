/*
 * krc txns: transactions, and which of them holds the last stable offset back.
 */
#include <inttypes.h>
#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/source.h"
#include "cmd/table.h"
#include "cmd/times.h"

static const char help_text[] =
    "krc txns -d DIR [-t TOPIC] [flags]\n"
    "\n"
    "Counts each partition's transactions, and lists those that are open: nothing at or beyond\n"
    "the first of them is delivered, for its last stable offset is held back there. Transactional\n"
    "ids are known where the folder holds __transaction_state; a transaction of which nothing but\n"
    "the marker is left has no first and last offset. Times are those of its batches, which\n"
    "producers choose.\n"
    "\n"
    "      --all                lists those with a marker, too\n"
    "  -J, --json               one JSON object a line for each transaction\n"
    "\n"
    "Of the flags below, those count that name partitions: -d, -t, -p, --log-format, -X,\n"
    "--skip-corrupt.\n"
    "\n";

static const struct cmd_column partition_columns[] = {
    {"TOPIC", true},       {"PARTITION", false}, {"COMMITTED", false}, {"ABORTED", false},
    {"OPEN", false},       {"LOG-START", false}, {"LAST-STABLE", false}, {"LOG-END", false},
    {"HELD-BY", false},    {"SINCE", true},
};
static const struct cmd_column transaction_columns[] = {
    {"TOPIC", true},    {"PARTITION", false}, {"STATE", true},    {"PRODUCER-ID", false},
    {"EPOCH", false},   {"FIRST", false},     {"LAST", false},    {"MARKER", false},
    {"RECORDS", false}, {"SINCE", true},      {"AGE-MS", false},  {"TRANSACTIONAL-ID", true},
};

struct txns {
    struct cmd_source source;
    bool json, all, failed;
    krc *krc;
    krc_transactional_ids *ids;
    int64_t now_ms;
    struct cmd_table partitions, transactions;
    const struct krc_replay_partition *part; /* the one at hand */
    struct krc_transaction holder;           /* producer id -1: none */
};

/* ---- Output -------------------------------------------------------------------------------- */

static void add_time(struct cmd_table *table, int64_t time_ms)
{
    char text[40] = "-";
    if (time_ms >= 0)
        cmd_format_datetime(time_ms, text);
    cmd_table_add(table, "%s", text);
}

/* How long it has been open, -1: it is not, or nobody knows. */
static int64_t age_of(const struct txns *t, const struct krc_transaction *transaction)
{
    if (transaction->state != KRC_TRANSACTION_OPEN || transaction->first_time_ms < 0)
        return -1;
    int64_t age = t->now_ms - transaction->first_time_ms;
    return age < 0 ? 0 : age;
}

static void add_transaction(struct txns *t, const struct krc_transaction *transaction)
{
    struct cmd_table *table = &t->transactions;
    const char *id = krc_transactional_id(t->ids, transaction->producer_id);
    cmd_table_add(table, "%s", t->part->topic);
    cmd_table_add_number(table, t->part->partition);
    cmd_table_add(table, "%s", krc_transaction_state_name(transaction->state));
    cmd_table_add_number(table, transaction->producer_id);
    cmd_table_add_number(table, transaction->producer_epoch);
    cmd_table_add_number(table, transaction->first_offset);
    cmd_table_add_number(table, transaction->last_offset);
    cmd_table_add_number(table, transaction->marker_offset);
    cmd_table_add_number(table, transaction->records);
    add_time(table, transaction->first_time_ms);
    cmd_table_add_number(table, age_of(t, transaction));
    cmd_table_add(table, "%s", id == NULL ? "-" : id);
}

static void print_number(const char *name, int64_t number)
{
    printf(number < 0 ? ",\"%s\":null" : ",\"%s\":%" PRId64, name, number);
}

static void print_json(const struct txns *t, const struct krc_transaction *transaction)
{
    const char *id = krc_transactional_id(t->ids, transaction->producer_id);
    fputs("{\"topic\":", stdout);
    krc_write_json_string(t->part->topic, stdout);
    printf(",\"partition\":%" PRId32 ",\"state\":\"%s\"", t->part->partition,
           krc_transaction_state_name(transaction->state));
    print_number("producerId", transaction->producer_id);
    print_number("producerEpoch", transaction->producer_epoch);
    fputs(",\"transactionalId\":", stdout);
    if (id == NULL)
        fputs("null", stdout);
    else
        krc_write_json_string(id, stdout);
    print_number("firstOffset", transaction->first_offset);
    print_number("lastOffset", transaction->last_offset);
    print_number("markerOffset", transaction->marker_offset);
    print_number("records", transaction->records);
    print_number("startTime", transaction->first_time_ms);
    print_number("markerTime", transaction->marker_time_ms);
    print_number("ageMs", age_of(t, transaction));
    printf(",\"holdsLastStableOffset\":%s}\n",
           transaction->holds_last_stable_offset ? "true" : "false");
}

static void add_partition(struct txns *t, const struct krc_transactions *summary)
{
    struct cmd_table *table = &t->partitions;
    cmd_table_add(table, "%s", t->part->topic);
    cmd_table_add_number(table, t->part->partition);
    cmd_table_add_number(table, summary->committed);
    cmd_table_add_number(table, summary->aborted);
    cmd_table_add_number(table, summary->open);
    cmd_table_add_number(table, summary->log_start_offset);
    cmd_table_add_number(table, summary->last_stable_offset);
    cmd_table_add_number(table, summary->log_end_offset);
    cmd_table_add_number(table, t->holder.producer_id);
    add_time(table, t->holder.producer_id < 0 ? -1 : t->holder.first_time_ms);
}

static int print_tables(const struct txns *t, krc_error *error)
{
    int rc = cmd_table_print(&t->partitions, error);
    if (rc < 0 || t->transactions.count == 0)
        return rc;
    putchar('\n');
    return cmd_table_print(&t->transactions, error);
}

/* ---- What is listed ------------------------------------------------------------------------ */

static int take_transaction(void *arg, const struct krc_transaction *transaction)
{
    struct txns *t = arg;
    bool is_ended = transaction->state == KRC_TRANSACTION_COMMITTED ||
                    transaction->state == KRC_TRANSACTION_ABORTED;
    if (transaction->holds_last_stable_offset)
        t->holder = *transaction;
    if (t->json)
        print_json(t, transaction);
    else if (t->all || !is_ended)
        add_transaction(t, transaction);
    return KRC_OK;
}

/* One that cannot be read does not keep the others from being listed. */
static void list_partition(struct txns *t, const struct krc_replay_partition *part)
{
    struct krc_transactions summary;
    krc_error error;
    t->part = part;
    t->holder = (struct krc_transaction){.producer_id = -1};
    if (krc_list_transactions(t->krc, part->topic, part->partition, take_transaction, t, &summary,
                              &error) == KRC_OK)
        add_partition(t, &summary);
    else
        t->failed = cmd_fail(&error);
}

/* Ids are known or not: the rest is told without them. */
static void read_ids(struct txns *t)
{
    krc_error error;
    int rc = krc_transactional_ids_read(t->krc, &t->ids, &error);
    if (rc < 0 && rc != KRC_E_NOT_FOUND)
        t->failed = cmd_fail(&error);
}

static int list(struct txns *t, krc_error *error)
{
    struct krc_replay_partition *parts = NULL;
    size_t count = 0;
    bool failed = false;
    int rc = krc_open(&t->krc, t->source.config, error);
    if (rc == KRC_OK)
        rc = cmd_source_partitions(&t->source, t->krc, &parts, &count, &failed, error);
    t->failed |= failed;
    if (rc == KRC_OK)
        read_ids(t);
    for (size_t i = 0; rc == KRC_OK && i < count; i++)
        list_partition(t, &parts[i]);
    if (rc == KRC_OK && !t->json)
        rc = print_tables(t, error);
    free(parts);
    return rc;
}

static int run(struct txns *t)
{
    krc_error error;
    t->now_ms = cmd_now_ms();
    cmd_table_init(&t->partitions, partition_columns,
                   sizeof partition_columns / sizeof *partition_columns);
    cmd_table_init(&t->transactions, transaction_columns,
                   sizeof transaction_columns / sizeof *transaction_columns);
    if (list(t, &error) < 0)
        t->failed = cmd_fail(&error);
    cmd_table_free(&t->partitions);
    cmd_table_free(&t->transactions);
    krc_transactional_ids_free(t->ids);
    krc_close(t->krc);
    return cmd_flush() == CMD_DONE && !t->failed ? CMD_DONE : CMD_FAILED;
}

/* ---- The command line ---------------------------------------------------------------------- */

enum { OPT_ALL = CMD_OPT_OWN };

static const struct option long_options[] = {
    CMD_SOURCE_OPTIONS,
    {"all", no_argument, NULL, OPT_ALL},
    {"json", no_argument, NULL, 'J'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int set_option(struct txns *t, int option, char *value)
{
    switch (option) {
    case OPT_ALL:
        t->all = true;
        return CMD_DONE;
    case 'J':
        t->json = true;
        return CMD_DONE;
    case 'h':
        t->source.finished = true;
        printf("%s%s", help_text, cmd_source_help);
        return cmd_flush();
    case '?':
        return CMD_USAGE;
    default:
        return cmd_source_option(&t->source, option, value);
    }
}

static int check(const struct txns *t, int words, char **word)
{
    if (words > 0)
        return cmd_usage("txns: what is \"%s\"? Topics are named with -t", word[0]);
    if (t->source.has_servers)
        return cmd_usage("txns: transactions are looked for in log folders: name one with -d");
    return cmd_source_check(&t->source, "txns");
}

int cmd_txns(int argc, char **argv)
{
    static char name[] = "krc txns"; /* before what getopt has to say */
    struct txns t = {0};
    int option, status = cmd_source_init(&t.source);
    argv[0] = name;
    while (status == CMD_DONE && !t.source.finished &&
           (option = getopt_long(argc, argv, CMD_SOURCE_LETTERS "Jh", long_options, NULL)) != -1)
        status = set_option(&t, option, optarg);
    if (status == CMD_DONE && !t.source.finished)
        status = check(&t, argc - optind, argv + optind);
    if (status == CMD_DONE && !t.source.finished)
        status = run(&t);
    cmd_source_free(&t.source);
    return status;
}
