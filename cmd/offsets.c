#include <getopt.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/offsets.h"
#include "cmd/source.h"
#include "cmd/times.h"

static const char help_text[] =
    "krc offsets list|lag|export|import|reset --store FILE|-b HOST:PORT|-d DIR [flags]\n"
    "\n"
    "  list                 each partition's committed offset; where the log is at hand, also\n"
    "                       where that begins and ends, and how far the offset lies behind\n"
    "  lag                  how far, alone; needs the log. --exact counts records, too\n"
    "  export               CSV as kafka-consumer-groups.sh exports it; --json: a JSON array\n"
    "  import [FILE]        commit what such a CSV or JSON text says (default: standard input)\n"
    "  reset TARGET         move committed offsets; shows the plan, --execute acts\n"
    "  migrate              carry a group into a copy of its logs; `krc offsets migrate --help`\n"
    "\n"
    "The offsets are in one of three places:\n"
    "      --store FILE     a SQLite offset store; -b or -d then name the log\n"
    "  -b, --bootstrap-server HOST:PORT[,...]   a cluster's groups; with members not changed\n"
    "  -d, --log-dir DIR    a Kafka data folder's __consumer_offsets, only read; repeatable\n"
    "\n"
    "  -g, --group GROUP    list, lag, export: all where absent; reset, import: \"default\" in a\n"
    "                       store\n"
    "  -t, --topic TOPIC    repeatable; ^REGEX; TOPIC:0,2-4 for these partitions\n"
    "  -p, --partition LIST 0 or 0,3 or 0-7\n"
    "  -J, --json           list, lag: one JSON object a line; export: a JSON array\n"
    "      --exact          lag: count the records that would be delivered\n"
    "      --dry-run        show what would be done, and do nothing (reset: the default)\n"
    "      --execute        reset: do it\n"
    "      --isolation-level read_committed|read_uncommitted    where \"latest\" is\n"
    "      --moved-cluster  --store's offsets, read from another cluster, hold in this one, too\n"
    "      --timeout-ms N   give up when no answer comes for so long\n"
    "  -X NAME=VALUE        a property, as `krc read` takes it\n"
    "  -F, --command-config FILE   properties\n"
    "\n"
    "Lag ends at the last stable offset; what lies beyond, in open transactions or behind them,\n"
    "is undecided. It is 0 where nothing is left to be delivered but markers and the like.\n"
    "\n"
    "list, lag and export mark an offset that is below the start or beyond the end of its log,\n"
    "or is only the last stable one, for a newer one is pending in an open transaction. import\n"
    "and reset keep offsets inside the log, where it is named with -b or -d.\n"
    "\n"
    "import [FILE] reads CSV, a JSON array or one JSON object a line, of standard input without a\n"
    "FILE or with -. -g is the group's new name, where the rows name another.\n"
    "\n"
    "Targets; those marked * need the log:\n"
    "      --to-earliest *  --to-latest *  --to-offset N  --shift-by N  --to-current\n"
    "      --to-datetime YYYY-MM-DD[Thh:mm:ss[.sss]][Z|+hh:mm] *  --by-duration PnDTnHnMnS *\n"
    "      --from-file FILE (CSV or JSON)\n";

/* ---- The command line ---------------------------------------------------------------------- */

enum {
    OPT_STORE = 256,
    OPT_EXECUTE,
    OPT_DRY_RUN,
    OPT_EXACT,
    OPT_ISOLATION_LEVEL,
    OPT_TIMEOUT_MS,
    OPT_MOVED_CLUSTER,
    OPT_TARGETS, /* and from here on: plus an offsets_target */
};

static const struct option long_options[] = {
    {"store", required_argument, NULL, OPT_STORE},
    {"group", required_argument, NULL, 'g'},
    {"topic", required_argument, NULL, 't'},
    {"partition", required_argument, NULL, 'p'},
    {"log-dir", required_argument, NULL, 'd'},
    {"bootstrap-server", required_argument, NULL, 'b'},
    {"command-config", required_argument, NULL, 'F'},
    {"json", no_argument, NULL, 'J'},
    {"execute", no_argument, NULL, OPT_EXECUTE},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"exact", no_argument, NULL, OPT_EXACT},
    {"isolation-level", required_argument, NULL, OPT_ISOLATION_LEVEL},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT_MS},
    {"moved-cluster", no_argument, NULL, OPT_MOVED_CLUSTER},
    {"help", no_argument, NULL, 'h'},
    {"to-earliest", no_argument, NULL, OPT_TARGETS + TO_EARLIEST},
    {"to-latest", no_argument, NULL, OPT_TARGETS + TO_LATEST},
    {"to-offset", required_argument, NULL, OPT_TARGETS + TO_OFFSET},
    {"shift-by", required_argument, NULL, OPT_TARGETS + SHIFT_BY},
    {"to-datetime", required_argument, NULL, OPT_TARGETS + TO_DATETIME},
    {"by-duration", required_argument, NULL, OPT_TARGETS + BY_DURATION},
    {"to-current", no_argument, NULL, OPT_TARGETS + TO_CURRENT},
    {"from-file", required_argument, NULL, OPT_TARGETS + FROM_FILE},
    {NULL, 0, NULL, 0},
};

static int set_target(struct offsets_options *options, const char *flag)
{
    const char *value = options->target_value;
    int64_t *number = &options->target_number;
    if (options->target_flag != NULL)
        return cmd_usage("--%s and --%s: only one target can be", options->target_flag, flag);
    options->target_flag = flag;
    switch (options->target) {
    case TO_OFFSET:
        if (!cmd_parse_number(value, number) || *number < 0)
            return cmd_usage("--to-offset \"%s\": give a number from 0", value);
        return CMD_DONE;
    case SHIFT_BY:
        if (!cmd_parse_number(value + (value[0] == '+' && value[1] != '-'), number))
            return cmd_usage("--shift-by \"%s\": give a number, such as -10 or +10", value);
        return CMD_DONE;
    case TO_DATETIME:
        if (!cmd_parse_moment(value, number))
            return cmd_usage("--to-datetime \"%s\": give a time such as 2026-01-31T12:00:00.000Z "
                             "(UTC where it names no zone), 2026-01-31, or -10m", value);
        return CMD_DONE;
    case BY_DURATION:
        if (!cmd_parse_duration(value, number))
            return cmd_usage("--by-duration \"%s\": give a duration such as P1D or PT2H30M", value);
        return CMD_DONE;
    default:
        return CMD_DONE;
    }
}

static int set_isolation_level(struct offsets_options *options, const char *level)
{
    options->read_uncommitted = strcmp(level, "read_uncommitted") == 0;
    return cmd_set_property(options->config, "isolation.level", level);
}

static int add_log_dir(struct offsets_options *options, const char *path)
{
    krc_error error;
    options->has_log_dir = true;
    return krc_config_add_log_dir(options->config, path, &error) < 0 ? cmd_fail(&error) : CMD_DONE;
}

static int set_option(struct offsets_options *options, int option, char *value, const char *flag)
{
    switch (option) {
    case OPT_STORE:
        options->store = value;
        return CMD_DONE;
    case 'g':
        options->group = value;
        return CMD_DONE;
    case 't':
        return cmd_judged("-t", value, cmd_select_topic(&options->selection, value));
    case 'p':
        return cmd_judged("-p", value, cmd_select_partitions(&options->selection, value));
    case 'd':
        return add_log_dir(options, value);
    case 'X':
        return cmd_set_named_property(options->config, value);
    case 'F':
        return cmd_load_properties(options->config, value);
    case 'b':
        options->has_servers = true;
        return cmd_set_property(options->config, "bootstrap.servers", value);
    case OPT_EXACT:
        options->exact = true;
        return CMD_DONE;
    case OPT_ISOLATION_LEVEL:
        return set_isolation_level(options, value);
    case OPT_TIMEOUT_MS:
        return cmd_set_timeout(value, &options->timeout_ms);
    case OPT_MOVED_CLUSTER:
        return cmd_set_property(options->config, "offset.store.moved.cluster", "true");
    case 'J':
        options->json = true;
        return CMD_DONE;
    case OPT_EXECUTE:
        options->execute = true;
        return CMD_DONE;
    case OPT_DRY_RUN:
        options->dry_run = true;
        return CMD_DONE;
    default:
        options->target = (enum offsets_target)(option - OPT_TARGETS);
        options->target_value = value;
        return set_target(options, flag);
    }
}

static const struct action {
    const char *name;
    int (*run)(const struct offsets_options *options);
    bool takes_json, takes_dry_run, takes_target, takes_file, takes_exact;
    bool needs_log, writes;
} actions[] = {
    {.name = "list", .run = offsets_list, .takes_json = true},
    {.name = "lag", .run = offsets_lag, .takes_json = true,
     .takes_exact = true, .needs_log = true},
    {.name = "export", .run = offsets_export, .takes_json = true},
    {.name = "import", .run = offsets_import, .takes_dry_run = true,
     .takes_file = true, .writes = true},
    {.name = "reset", .run = offsets_reset, .takes_dry_run = true,
     .takes_target = true, .writes = true},
};

static const struct action *action_named(const char *name)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(name, actions[i].name) == 0)
            return &actions[i];
    return NULL;
}

/* A flag that an action has no use for, or NULL. */
static const char *stray_flag(const struct offsets_options *options, const struct action *action)
{
    if (options->json && !action->takes_json)
        return "json";
    if (options->exact && !action->takes_exact)
        return "exact";
    if (options->dry_run && !action->takes_dry_run)
        return "dry-run";
    if (options->execute && !action->takes_target)
        return "execute";
    return action->takes_target ? NULL : options->target_flag;
}

/* Whether it is said where the offsets are. */
static int check_place(const struct offsets_options *options, const struct action *action)
{
    bool has_log = offsets_have_log(options);
    if (options->has_log_dir && options->has_servers)
        return cmd_usage("offsets %s: the log is in a cluster or in folders: -b and -d exclude "
                         "each other", action->name);
    if (action->needs_log && !has_log)
        return cmd_usage("offsets %s: needs the log: name its folder with -d, or the cluster with "
                         "-b", action->name);
    if (options->store != NULL || options->has_servers)
        return CMD_DONE;
    if (!has_log)
        return cmd_usage("offsets %s: where are they? Name an offset store with --store, a cluster "
                         "with -b%s", action->name,
                         action->writes ? "" : ", or a data folder with -d");
    if (action->writes)
        return cmd_usage("offsets %s: a broker's folder is only read: name an offset store with "
                         "--store, or a cluster with -b", action->name);
    return CMD_DONE;
}

/* What follows the flags: the action, and import's file. */
static int run_action(struct offsets_options *options, int count, char **words)
{
    if (count == 0)
        return cmd_usage("offsets: say list, lag, export, import, reset or migrate");
    const struct action *action = action_named(words[0]);
    if (strcmp(words[0], "migrate") == 0)
        return cmd_usage("offsets: migrate has flags of its own, which follow it");
    if (action == NULL)
        return cmd_usage("offsets: there is no \"%s\", say list, lag, export, import, reset or "
                         "migrate", words[0]);
    if (count > 1 + action->takes_file)
        return cmd_usage("offsets %s: what is \"%s\"?", words[0], words[1 + action->takes_file]);
    options->has_servers |= krc_config_get(options->config, "bootstrap.servers") != NULL;
    int status = check_place(options, action);
    if (status == CMD_DONE)
        status = cmd_limit_timeout(options->config, options->timeout_ms);
    if (status != CMD_DONE)
        return status;
    const char *stray = stray_flag(options, action);
    if (stray != NULL)
        return cmd_usage("offsets %s: --%s means nothing here", words[0], stray);
    options->file = words[1]; /* NULL where there is none: argv ends so */
    return action->run(options);
}

int cmd_offsets(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "migrate") == 0) /* which has flags of its own */
        return cmd_migrate(argc - 1, argv + 1);
    struct offsets_options options = {.config = cmd_new_config(&cmd_loud)};
    int option, index = 0, status = CMD_DONE;
    static char name[] = "krc offsets"; /* before what getopt has to say */
    argv[0] = name;
    if (options.config == NULL) {
        krc_error error;
        cmd_error(&error, KRC_E_NOMEM, "out of memory");
        return cmd_fail(&error);
    }
    while (status == CMD_DONE &&
           (option = getopt_long(argc, argv, "b:g:t:p:d:X:F:Jh", long_options, &index)) != -1) {
        if (option == 'h') {
            fputs(help_text, stdout);
            status = cmd_flush();
            goto out;
        }
        status = option == '?' ? CMD_USAGE
                               : set_option(&options, option, optarg, long_options[index].name);
    }
    if (status == CMD_DONE)
        status = run_action(&options, argc - optind, argv + optind);
out:
    cmd_selection_free(&options.selection);
    krc_config_free(options.config);
    return status;
}
