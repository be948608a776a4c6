/*
 * krc txns: transactions, and which of them holds the last stable offset back.
 */
#include <inttypes.h>
#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/source.h"
#include "cmd/txns.h"

static const char help_text[] =
    "krc txns -d DIR [-b HOST:PORT] [-t TOPIC] [flags]\n"
    "krc txns -b HOST:PORT [-t TOPIC] [flags]\n"
    "\n"
    "Lists transactions that are open: nothing at or beyond the first of them in a partition is\n"
    "delivered, for its last stable offset is held back there.\n"
    "\n"
    "Log folders also tell which have ended, and those are counted; one of which nothing but the\n"
    "marker is left has no first and last offset. Times are those of batches, which producers\n"
    "choose. Transactional ids are known where the folder holds __transaction_state, or from the\n"
    "cluster that -b names besides, which adds the coordinator.\n"
    "\n"
    "A cluster tells of open ones alone, without their ends and how many records they have. One\n"
    "is hanging where it is open in a partition, but no coordinator is going to end it.\n"
    "\n"
    "      --all                lists those with a marker, too\n"
    "  -J, --json               one JSON object a line for each transaction\n"
    "\n"
    "Of the flags below, those count that name a source and partitions: -b, -d, -t, -p,\n"
    "--log-format, -X, -F, --skip-corrupt, --timeout-ms, -q.\n"
    "\n";

struct txns {
    struct cmd_source source;
    char *servers; /* that are asked besides log folders; NULL: none */
    krc *krc, *cluster;
    bool failed;
    struct txns_rows rows;
    const struct krc_replay_partition *part; /* the one at hand */
    struct krc_transaction holder;           /* producer id -1: none */
};

/* ---- Log folders --------------------------------------------------------------------------- */

static int take_transaction(void *arg, const struct krc_transaction *transaction)
{
    struct txns *t = arg;
    if (transaction->holds_last_stable_offset)
        t->holder = *transaction;
    txns_add(&t->rows, t->part->topic, t->part->partition, transaction);
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
        txns_add_partition(&t->rows, part->topic, part->partition, &summary,
                           t->holder.producer_id < 0 ? NULL : &t->holder);
    else
        t->failed = cmd_fail(&error);
}

/* Producer ids are another's in another cluster. */
static int check_cluster(const struct txns *t, krc_error *error)
{
    const char *here = krc_cluster_name(t->krc), *there = krc_cluster_name(t->cluster);
    if (here[0] == '\0' || there[0] == '\0' || strcmp(here, there) == 0)
        return KRC_OK;
    return cmd_error(error, KRC_E_INVALID,
                     "the log folders are of cluster %s, but -b names a broker of cluster %s", here,
                     there);
}

/* The folders are open: from now on the configuration is the cluster's. */
static int ask_cluster(struct txns *t, krc_error *error)
{
    krc_config *config = t->source.config;
    int rc = krc_config_set(config, "log.dirs", "", error);
    if (rc == KRC_OK)
        rc = krc_config_set(config, "bootstrap.servers", t->servers, error);
    if (rc == KRC_OK)
        rc = krc_open(&t->cluster, config, error);
    if (rc == KRC_OK)
        rc = krc_load_topics(t->cluster, NULL, 0, error);
    if (rc == KRC_OK)
        rc = check_cluster(t, error);
    return rc == KRC_OK ? krc_transactional_ids_ask(t->cluster, t->rows.ids, error) : rc;
}

/* Ids are known or not: the rest is told without them. */
static void read_ids(struct txns *t)
{
    krc_error error;
    int rc = krc_transactional_ids_read(t->krc, t->rows.ids, &error);
    if (rc < 0 && rc != KRC_E_NOT_FOUND)
        t->failed = cmd_fail(&error);
    if (t->servers != NULL && ask_cluster(t, &error) < 0)
        t->failed = cmd_fail(&error);
}

static void list_folders(struct txns *t, const struct krc_replay_partition *parts, size_t count)
{
    read_ids(t);
    for (size_t i = 0; i < count; i++)
        list_partition(t, &parts[i]);
}

/* ---- A cluster ----------------------------------------------------------------------------- */

/* A cluster does not say what it leaves out. */
static void tell_doubt(const struct txns *t, const struct krc_transaction *transaction)
{
    if (!t->source.quiet && transaction->state == KRC_TRANSACTION_HANGING &&
        krc_transactional_id(t->rows.ids, transaction->producer_id) == NULL)
        cmd_say("producer %" PRId64 " is of no transactional id that the cluster "
                        "tells us: if of one that we may not DESCRIBE, its transaction is not "
                        "hanging", transaction->producer_id);
}

static void add_open(struct txns *t, const struct krc_open_transactions *part)
{
    if (part->error.code < 0) {
        t->failed = cmd_fail(&part->error);
        return;
    }
    bool is_held = part->count > 0 && part->list[0].holds_last_stable_offset;
    txns_add_partition(&t->rows, part->topic, part->partition, &part->summary,
                       is_held ? &part->list[0] : NULL);
    for (size_t i = 0; i < part->count; i++) {
        txns_add(&t->rows, part->topic, part->partition, &part->list[i]);
        tell_doubt(t, &part->list[i]);
    }
}

static int list_cluster(struct txns *t, const struct krc_replay_partition *parts, size_t count,
                        krc_error *error)
{
    struct krc_open_transactions *open = calloc(count + 1, sizeof *open);
    if (open == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        open[i].topic = parts[i].topic;
        open[i].partition = parts[i].partition;
    }
    int rc = krc_ask_transactions(t->krc, open, count, t->rows.ids, error);
    for (size_t i = 0; rc == KRC_OK && i < count; i++)
        add_open(t, &open[i]);
    krc_open_transactions_free(open, count);
    free(open);
    return rc;
}

/* ---- Both ---------------------------------------------------------------------------------- */

static int list(struct txns *t, krc_error *error)
{
    struct krc_replay_partition *parts = NULL;
    size_t count = 0;
    bool failed = false;
    int rc = t->rows.ids == NULL ? cmd_error(error, KRC_E_NOMEM, "out of memory")
                                 : krc_open(&t->krc, t->source.config, error);
    if (rc == KRC_OK)
        rc = cmd_source_partitions(&t->source, t->krc, &parts, &count, &failed, error);
    t->failed |= failed;
    if (rc == KRC_OK && t->rows.is_cluster)
        rc = list_cluster(t, parts, count, error);
    else if (rc == KRC_OK)
        list_folders(t, parts, count);
    if (rc == KRC_OK)
        rc = txns_print(&t->rows, error);
    free(parts);
    return rc;
}

static int run(struct txns *t)
{
    krc_error error;
    t->rows.is_cluster = cmd_source_is_cluster(&t->source);
    t->rows.asks_cluster = t->rows.is_cluster || t->servers != NULL;
    t->rows.ids = krc_transactional_ids_new();
    txns_begin(&t->rows);
    if (list(t, &error) < 0)
        t->failed = cmd_fail(&error);
    txns_end(&t->rows);
    krc_transactional_ids_free(t->rows.ids);
    krc_close(t->cluster);
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
        t->rows.all = true;
        return CMD_DONE;
    case 'J':
        t->rows.json = true;
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

/* Beside log folders a cluster is no source of partitions. */
static int set_servers_aside(struct txns *t)
{
    krc_error error;
    t->servers = strdup(krc_config_get(t->source.config, "bootstrap.servers"));
    if (t->servers == NULL) {
        cmd_error(&error, KRC_E_NOMEM, "out of memory");
        return cmd_fail(&error);
    }
    t->source.has_servers = false;
    return CMD_DONE;
}

static int check(struct txns *t, int words, char **word)
{
    struct cmd_source *source = &t->source;
    int status = CMD_DONE;
    if (words > 0)
        return cmd_usage("txns: what is \"%s\"? Topics are named with -t", word[0]);
    if (source->has_log_dir && source->has_servers)
        status = set_servers_aside(t);
    if (status == CMD_DONE)
        status = cmd_source_check(source, "txns");
    if (status != CMD_DONE || !cmd_source_is_cluster(source))
        return status;
    if (t->rows.all)
        return cmd_usage("txns --all: a cluster tells only of transactions that are open");
    return cmd_set_property(source->config, "isolation.level", "read_uncommitted");
}

int cmd_txns(int argc, char **argv)
{
    static char name[] = "krc txns"; /* before what getopt has to say */
    struct txns t = {0};
    int option, status = cmd_source_init(&t.source);
    t.source.any_topic = t.source.may_be_empty = true;
    argv[0] = name;
    while (status == CMD_DONE && !t.source.finished &&
           (option = getopt_long(argc, argv, CMD_SOURCE_LETTERS "Jh", long_options, NULL)) != -1)
        status = set_option(&t, option, optarg);
    if (status == CMD_DONE && !t.source.finished)
        status = check(&t, argc - optind, argv + optind);
    if (status == CMD_DONE && !t.source.finished)
        status = run(&t);
    free(t.servers);
    cmd_source_free(&t.source);
    return status;
}
