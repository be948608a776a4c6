/*
 * krc offsets migrate: carries a group's committed offsets into a copy of the logs.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/migrate.h"
#include "cmd/source.h"
#include "cmd/times.h"

static const char help_text[] =
    "krc offsets migrate -g GROUP FROM TO [flags]\n"
    "\n"
    "Carries a group's committed offsets to another cluster, whose topics are copies of those\n"
    "here (by MirrorMaker, for one), so that it goes on there as it would have gone on here. A\n"
    "dry run unless --execute is given.\n"
    "\n"
    "From:\n"
    "  -b, --bootstrap-server HOST:PORT[,...]   a cluster: the group's offsets, and the logs\n"
    "  -d, --log-dir DIR        or a Kafka data folder; repeatable\n"
    "      --store FILE         the offsets are in this SQLite store; -b or -d has the logs\n"
    "  -g, --group GROUP        whose offsets (default in a store: \"default\")\n"
    "  -t, --topic TOPIC        repeatable; ^REGEX; TOPIC:0,2-4 for these partitions\n"
    "  -p, --partition LIST     0 or 0,3 or 0-7\n"
    "  -X NAME=VALUE, -F, --command-config FILE    properties, as `krc read` takes them\n"
    "To:\n"
    "      --to-bootstrap-server HOST:PORT[,...]   a cluster: its group, and the logs\n"
    "      --to-store FILE      the offsets go into this store; the logs are in that cluster, or\n"
    "      --to-log-dir DIR     in a Kafka data folder; repeatable\n"
    "      --to-group GROUP     (default: the same)\n"
    "      --map-topic OLD=NEW  the topic OLD is called NEW there; repeatable\n"
    "      --topic-prefix P     other topics have this before their names there: us-west. is what\n"
    "                           MirrorMaker 2 puts before those of a cluster us-west\n"
    "      --to-command-config FILE    properties\n"
    "\n"
    "      --execute            commit what was found. The group there must have no members\n"
    "      --moved-cluster      the group in --to-store was read from another cluster; from now on\n"
    "                           it is of the one named here\n"
    "      --force              also where the group there is further on already\n"
    "      --dry-run            the default\n"
    "      --report FILE        adds a JSON line for each partition as soon as it is found. A file\n"
    "                           that is there is gone on from: what it has found is not looked\n"
    "                           up again, and what was committed is not committed again\n"
    "  -J, --json               these lines instead of a table\n"
    "      --window-ms N        how far timestamps go back within a log, at most (120000, for a\n"
    "                           producer tries to send a record for two minutes)\n"
    "      --timeout-ms N       give up when no answer comes for so long\n"
    "      --ignore-timestamps  the copies have timestamps of their own (known where they are\n"
    "                           LogAppendTime). Much is read then: the logs here as a whole, and\n"
    "                           there from the record's time to the end\n"
    "      --same-offsets       copy the offsets as they are; done anyway where cluster and topic\n"
    "                           are the same ones by their ids\n"
    "\n"
    "The record at the committed offset is looked for there, near its timestamp, by key, value,\n"
    "headers and timestamp; neighbours decide between records that are alike. Verdicts:\n"
    "  exact          it is there, or, at the end, the one before it\n"
    "  by timestamp   it is not; an earlier place is taken, so that nothing is left out, and at\n"
    "                 most so many records come again\n"
    "  not found      nothing is changed; also where the partition there is none of this one's,\n"
    "                 for keys are routed otherwise, as samples of both sides show\n"
    "  same           offsets mean the same there\n"
    "\n"
    "Exit status: 0 all were found, 1 failed, 2 wrong usage, 3 some were not found or not moved.\n";

/* ---- The command line ------------------------------------------------------------------------ */

enum {
    OPT_STORE = 256,
    OPT_TO_SERVERS,
    OPT_TO_STORE,
    OPT_TO_LOG_DIR,
    OPT_TO_GROUP,
    OPT_TO_CONFIG,
    OPT_MAP_TOPIC,
    OPT_TOPIC_PREFIX,
    OPT_EXECUTE,
    OPT_FORCE,
    OPT_DRY_RUN,
    OPT_REPORT,
    OPT_WINDOW_MS,
    OPT_TIMEOUT_MS,
    OPT_IGNORE_TIMESTAMPS,
    OPT_SAME_OFFSETS,
    OPT_MOVED_CLUSTER,
};

static const struct option long_options[] = {
    {"bootstrap-server", required_argument, NULL, 'b'},
    {"log-dir", required_argument, NULL, 'd'},
    {"store", required_argument, NULL, OPT_STORE},
    {"group", required_argument, NULL, 'g'},
    {"topic", required_argument, NULL, 't'},
    {"partition", required_argument, NULL, 'p'},
    {"command-config", required_argument, NULL, 'F'},
    {"to-bootstrap-server", required_argument, NULL, OPT_TO_SERVERS},
    {"to-store", required_argument, NULL, OPT_TO_STORE},
    {"to-log-dir", required_argument, NULL, OPT_TO_LOG_DIR},
    {"to-group", required_argument, NULL, OPT_TO_GROUP},
    {"to-command-config", required_argument, NULL, OPT_TO_CONFIG},
    {"map-topic", required_argument, NULL, OPT_MAP_TOPIC},
    {"topic-prefix", required_argument, NULL, OPT_TOPIC_PREFIX},
    {"execute", no_argument, NULL, OPT_EXECUTE},
    {"force", no_argument, NULL, OPT_FORCE},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"report", required_argument, NULL, OPT_REPORT},
    {"json", no_argument, NULL, 'J'},
    {"window-ms", required_argument, NULL, OPT_WINDOW_MS},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT_MS},
    {"ignore-timestamps", no_argument, NULL, OPT_IGNORE_TIMESTAMPS},
    {"same-offsets", no_argument, NULL, OPT_SAME_OFFSETS},
    {"moved-cluster", no_argument, NULL, OPT_MOVED_CLUSTER},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int add_log_dir(struct migrate_place *place, const char *path)
{
    krc_error error;
    place->has_logs = true;
    place->name = path;
    return krc_config_add_log_dir(place->config, path, &error) < 0 ? cmd_fail(&error) : CMD_DONE;
}

static int set_window(struct migrate *m, const char *value)
{
    if (cmd_parse_number(value, &m->options.window_ms) && m->options.window_ms >= 0)
        return CMD_DONE;
    return cmd_usage("--window-ms \"%s\": give a number of milliseconds from 0", value);
}

static int set_from(struct migrate *m, int option, char *value)
{
    switch (option) {
    case 'b':
        return cmd_set_property(m->from.config, "bootstrap.servers", value);
    case 'd':
        return add_log_dir(&m->from, value);
    case OPT_STORE:
        m->from.store = value;
        return CMD_DONE;
    case 'g':
        m->from.group = value;
        return CMD_DONE;
    case 't':
        return cmd_judged("-t", value, cmd_select_topic(&m->selection, value));
    case 'p':
        return cmd_judged("-p", value, cmd_select_partitions(&m->selection, value));
    case 'X':
        return cmd_set_named_property(m->from.config, value);
    default: /* F */
        return cmd_load_properties(m->from.config, value);
    }
}

static int set_to(struct migrate *m, int option, char *value)
{
    switch (option) {
    case OPT_TO_SERVERS:
        return cmd_set_property(m->to.config, "bootstrap.servers", value);
    case OPT_TO_STORE:
        m->to.store = value;
        return CMD_DONE;
    case OPT_TO_LOG_DIR:
        return add_log_dir(&m->to, value);
    case OPT_TO_GROUP:
        m->to.group = value;
        return CMD_DONE;
    case OPT_MAP_TOPIC:
        return cmd_judged("--map-topic", value, topic_map_add(&m->map, value));
    case OPT_MOVED_CLUSTER:
        return cmd_set_property(m->to.config, "offset.store.moved.cluster", "true");
    case OPT_TOPIC_PREFIX:
        return cmd_judged("--topic-prefix", value, topic_map_set_prefix(&m->map, value));
    default: /* OPT_TO_CONFIG */
        return cmd_load_properties(m->to.config, value);
    }
}

static int set_option(struct migrate *m, int option, char *value)
{
    bool *flag;
    switch (option) {
    case 'h':
        m->finished = true;
        fputs(help_text, stdout);
        return cmd_flush();
    case '?':
        return CMD_USAGE;
    case OPT_REPORT:
        m->report.path = value;
        return CMD_DONE;
    case OPT_WINDOW_MS:
        return set_window(m, value);
    case OPT_TIMEOUT_MS:
        return cmd_set_timeout(value, &m->timeout_ms);
    case 'J':
        flag = &m->json;
        break;
    case OPT_EXECUTE:
        flag = &m->execute;
        break;
    case OPT_FORCE:
        flag = &m->force;
        break;
    case OPT_DRY_RUN:
        flag = &m->dry_run;
        break;
    case OPT_IGNORE_TIMESTAMPS:
        flag = &m->options.timeless;
        break;
    case OPT_SAME_OFFSETS:
        flag = &m->options.same_offsets;
        break;
    default:
        return option >= OPT_TO_SERVERS ? set_to(m, option, value) : set_from(m, option, value);
    }
    *flag = true;
    return CMD_DONE;
}

#define COMMAND "offsets migrate"

static int check_place(const struct migrate *m, const struct migrate_place *place,
                       const char *prefix)
{
    bool has_log = place->has_servers || place->has_logs;
    if (place->has_servers && place->has_logs)
        return cmd_usage(COMMAND ": --%sbootstrap-server and --%slog-dir: the logs are in one of "
                         "them", prefix, prefix);
    if (!has_log && !m->options.same_offsets)
        return cmd_usage(COMMAND ": the logs are needed on both sides, to find the records: name "
                         "--%sbootstrap-server or --%slog-dir, or say --same-offsets", prefix,
                         prefix);
    return CMD_DONE;
}

/* A properties file may name it, too. */
static void find_servers(struct migrate_place *place)
{
    const char *servers = krc_config_get(place->config, "bootstrap.servers");
    place->has_servers = servers != NULL && servers[0] != '\0';
    if (place->has_servers)
        place->name = servers;
}

static int check(struct migrate *m, int words, char **word)
{
    find_servers(&m->from);
    find_servers(&m->to);
    if (words > 0)
        return cmd_usage(COMMAND ": what is \"%s\"?", word[0]);
    if (m->execute && m->dry_run)
        return cmd_usage(COMMAND ": --execute and --dry-run exclude each other");
    if (m->from.store == NULL && !m->from.has_servers && !m->from.has_logs)
        return cmd_usage(COMMAND ": where from? Name a cluster with -b, a data folder with -d or "
                         "an offset store with --store");
    if (m->to.store == NULL && !m->to.has_servers)
        return cmd_usage(COMMAND ": where to? Name a cluster with --to-bootstrap-server or an "
                         "offset store with --to-store");
    if (m->from.group == NULL && m->from.store == NULL)
        return cmd_usage(COMMAND ": which group? Name it with -g");
    if (m->from.group == NULL)
        m->from.group = "default";
    if (m->to.group == NULL)
        m->to.group = m->from.group;
    int status = check_place(m, &m->from, "");
    if (status == CMD_DONE)
        status = check_place(m, &m->to, "to-");
    if (status == CMD_DONE)
        status = cmd_limit_timeout(m->from.config, m->timeout_ms);
    return status != CMD_DONE ? status : cmd_limit_timeout(m->to.config, m->timeout_ms);
}

int cmd_migrate(int argc, char **argv)
{
    static char name[] = "krc offsets migrate"; /* before what getopt has to say */
    struct migrate m = {.options.window_ms = 120000};
    int option, status = CMD_DONE;
    argv[0] = name;
    m.from.config = cmd_new_config(&cmd_loud);
    m.to.config = cmd_new_config(&cmd_loud);
    if (m.from.config == NULL || m.to.config == NULL) {
        cmd_error(&m.error, KRC_E_NOMEM, "out of memory");
        status = cmd_fail(&m.error);
    }
    while (status == CMD_DONE && !m.finished &&
           (option = getopt_long(argc, argv, "b:d:g:t:p:X:F:Jh", long_options, NULL)) != -1)
        status = set_option(&m, option, optarg);
    if (status == CMD_DONE && !m.finished)
        status = check(&m, argc - optind, argv + optind);
    if (status == CMD_DONE && !m.finished)
        status = migrate_run(&m);
    cmd_selection_free(&m.selection);
    topic_map_free(&m.map);
    krc_config_free(m.from.config);
    krc_config_free(m.to.config);
    return status;
}
