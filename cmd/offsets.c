#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/offsets.h"
#include "cmd/source.h"
#include "cmd/times.h"

#define MAX_FILE_BYTES (64 << 20)

static const char help_text[] =
    "krc offsets list|export|import|reset --store FILE [flags]\n"
    "\n"
    "  list                 each partition's committed offset; with -d also where its log begins,\n"
    "                       ends, and how far the offset lies behind\n"
    "  export               CSV as kafka-consumer-groups.sh exports it; --json: a JSON array\n"
    "  import [FILE]        commit what such a CSV or JSON text says (default: standard input)\n"
    "  reset TARGET         move committed offsets; shows the plan, --execute acts\n"
    "\n"
    "      --store FILE     the SQLite offset store\n"
    "  -g, --group GROUP    list, export: all where absent; reset, import: \"default\"\n"
    "  -t, --topic TOPIC    repeatable; ^REGEX; TOPIC:0,2-4 for these partitions\n"
    "  -p, --partition LIST 0 or 0,3 or 0-7\n"
    "  -d, --log-dir DIR    the Kafka data folder with the logs; repeatable\n"
    "  -J, --json           list: one JSON object a line; export: a JSON array\n"
    "      --dry-run        show what would be done, and do nothing (reset: the default)\n"
    "      --execute        reset: do it\n"
    "      --isolation-level read_committed|read_uncommitted    where \"latest\" is\n"
    "  -X NAME=VALUE        a property, as `krc read` takes it\n"
    "\n"
    "Targets; those marked * need -d, and any offset is kept inside the log where -d is given:\n"
    "      --to-earliest *  --to-latest *  --to-offset N  --shift-by N  --to-current\n"
    "      --to-datetime YYYY-MM-DDThh:mm:ss[.sss][Z|+hh:mm] *  --by-duration PnDTnHnMnS *\n"
    "      --from-file FILE (CSV or JSON)\n";

/* ---- Reading and writing lists ------------------------------------------------------------- */

static int select_rows(const struct offsets_options *options, const krc_committed_list *from,
                       krc_committed_list *to, krc_error *error)
{
    const struct krc_committed *row;
    for (size_t i = 0; (row = krc_committed_at(from, i)) != NULL; i++)
        if (cmd_selects(&options->selection, row->topic, row->partition)) {
            int rc = krc_committed_add(to, row, error);
            if (rc < 0)
                return rc;
        }
    return KRC_OK;
}

int offsets_load(const struct offsets_options *options, const char *group,
                 krc_committed_list **list, krc_error *error)
{
    krc_committed_list *all = krc_committed_new();
    int rc = cmd_error(error, KRC_E_NOMEM, "out of memory");
    *list = krc_committed_new();
    if (all != NULL && *list != NULL)
        rc = krc_committed_load(all, options->store, group, error);
    if (rc == KRC_OK)
        rc = select_rows(options, all, *list, error);
    krc_committed_free(all);
    return rc;
}

/* Reads to the end: an allocated text, or NULL with the sentence said. */
static char *read_all(FILE *in, const char *name, size_t *len, krc_error *error)
{
    char *text = malloc(MAX_FILE_BYTES);
    *len = text == NULL ? 0 : fread(text, 1, MAX_FILE_BYTES, in);
    if (text == NULL)
        cmd_error(error, KRC_E_NOMEM, "out of memory");
    else if (ferror(in))
        cmd_error(error, KRC_E_IO, "cannot read %s: %s", name, strerror(errno));
    else if (*len == MAX_FILE_BYTES)
        cmd_error(error, KRC_E_TOO_LARGE, "%s is too large: more than %d MiB", name,
                  MAX_FILE_BYTES >> 20);
    else
        return text;
    free(text);
    return NULL;
}

static char *read_file(const char *path, const char **name, size_t *len, krc_error *error)
{
    bool is_stdin = path == NULL || strcmp(path, "-") == 0;
    *name = is_stdin ? "standard input" : path;
    *len = 0;
    FILE *in = is_stdin ? stdin : fopen(path, "re");
    if (in == NULL) {
        cmd_error(error, KRC_E_IO, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    char *text = read_all(in, *name, len, error);
    if (!is_stdin)
        fclose(in);
    return text;
}

int offsets_read(const struct offsets_options *options, const char *path, const char *group,
                 krc_committed_list **list, krc_error *error)
{
    const char *name;
    size_t len;
    krc_committed_list *all = krc_committed_new();
    *list = krc_committed_new();
    char *text = read_file(path, &name, &len, error);
    krc_error fault;
    int rc = text == NULL ? error->code : KRC_OK;
    if (rc == KRC_OK && (all == NULL || *list == NULL))
        rc = cmd_error(error, KRC_E_NOMEM, "out of memory");
    if (rc == KRC_OK && krc_committed_parse(all, text, len, group, &fault) < 0)
        rc = cmd_error(error, fault.code, "%s: %s", name, fault.message);
    if (rc == KRC_OK)
        rc = select_rows(options, all, *list, error);
    free(text);
    krc_committed_free(all);
    return rc;
}

void offsets_print_plan(const krc_committed_list *plan, const krc_committed_list *current)
{
    const struct krc_committed *row;
    int group = (int)strlen("GROUP"), topic = (int)strlen("TOPIC");
    for (size_t i = 0; (row = krc_committed_at(plan, i)) != NULL; i++) {
        group = (int)strlen(row->group) > group ? (int)strlen(row->group) : group;
        topic = (int)strlen(row->topic) > topic ? (int)strlen(row->topic) : topic;
    }
    printf("%-*s %-*s %-10s %-20s %s\n", group, "GROUP", topic, "TOPIC", "PARTITION",
           "CURRENT-OFFSET", "NEW-OFFSET");
    for (size_t i = 0; (row = krc_committed_at(plan, i)) != NULL; i++) {
        const struct krc_committed *now =
            krc_committed_find(current, row->group, row->topic, row->partition);
        char offset[24] = "-";
        if (now != NULL)
            snprintf(offset, sizeof offset, "%" PRId64, now->offset);
        printf("%-*s %-*s %-10" PRId32 " %-20s %" PRId64 "\n", group, row->group, topic,
               row->topic, row->partition, offset, row->offset);
    }
}

/* ---- Export and import --------------------------------------------------------------------- */

static int offsets_export(const struct offsets_options *options)
{
    krc_committed_list *list;
    krc_error error;
    int rc = offsets_load(options, options->group, &list, &error);
    if (rc == KRC_OK && options->json)
        krc_committed_write_json(list, stdout);
    else if (rc == KRC_OK)
        krc_committed_write_csv(list, options->group == NULL, stdout);
    krc_committed_free(list);
    return rc < 0 ? cmd_fail(&error) : cmd_flush();
}

static int show_import(const struct offsets_options *options, const krc_committed_list *plan,
                       krc_error *error)
{
    krc_committed_list *current;
    int rc = offsets_load(options, NULL, &current, error);
    if (rc == KRC_OK || rc == KRC_E_NOT_FOUND) {
        offsets_print_plan(plan, current);
        fprintf(stderr, "krc: a dry run, nothing was imported\n");
        rc = KRC_OK;
    }
    krc_committed_free(current);
    return rc;
}

static int offsets_import(const struct offsets_options *options)
{
    krc_committed_list *plan;
    krc_error error;
    int rc = offsets_read(options, options->file, options->group, &plan, &error);
    if (rc == KRC_OK && options->dry_run)
        rc = show_import(options, plan, &error);
    else if (rc == KRC_OK)
        rc = krc_committed_save(plan, options->store, "imported by the user", cmd_now_ms(),
                                &error);
    krc_committed_free(plan);
    return rc < 0 ? cmd_fail(&error) : cmd_flush();
}

/* ---- The command line ---------------------------------------------------------------------- */

enum {
    OPT_STORE = 256,
    OPT_EXECUTE,
    OPT_DRY_RUN,
    OPT_ISOLATION_LEVEL,
    OPT_TARGETS, /* and from here on: plus an offsets_target */
};

static const struct option long_options[] = {
    {"store", required_argument, NULL, OPT_STORE},
    {"group", required_argument, NULL, 'g'},
    {"topic", required_argument, NULL, 't'},
    {"partition", required_argument, NULL, 'p'},
    {"log-dir", required_argument, NULL, 'd'},
    {"json", no_argument, NULL, 'J'},
    {"execute", no_argument, NULL, OPT_EXECUTE},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"isolation-level", required_argument, NULL, OPT_ISOLATION_LEVEL},
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
            return cmd_usage("--to-offset %s: give a number from 0", value);
        return CMD_DONE;
    case SHIFT_BY:
        if (!cmd_parse_number(value, number))
            return cmd_usage("--shift-by %s: give a number, such as -10", value);
        return CMD_DONE;
    case TO_DATETIME:
        if (!cmd_parse_datetime(value, number))
            return cmd_usage("--to-datetime %s: give a time such as 2026-01-31T12:00:00.000Z",
                             value);
        return CMD_DONE;
    case BY_DURATION:
        if (!cmd_parse_duration(value, number))
            return cmd_usage("--by-duration %s: give a duration such as P1D or PT2H30M", value);
        return CMD_DONE;
    default:
        return CMD_DONE;
    }
}

static int set_named_property(struct offsets_options *options, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL)
        return cmd_usage("-X %s: give a property as NAME=VALUE", text);
    *equals = '\0';
    return cmd_set_property(options->config, text, equals + 1);
}

static int set_isolation_level(struct offsets_options *options, const char *level)
{
    options->read_uncommitted = strcmp(level, "read_uncommitted") == 0;
    return cmd_set_property(options->config, "isolation.level", level);
}

static int add_log_dir(struct offsets_options *options, const char *path)
{
    krc_error error;
    options->has_source = true;
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
        return cmd_judged(cmd_select_topic(&options->selection, value), value);
    case 'p':
        return cmd_judged(cmd_select_partitions(&options->selection, value), value);
    case 'd':
        return add_log_dir(options, value);
    case 'X':
        return set_named_property(options, value);
    case OPT_ISOLATION_LEVEL:
        return set_isolation_level(options, value);
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
    bool takes_json, takes_source, takes_dry_run, takes_target, takes_file;
} actions[] = {
    {.name = "list", .run = offsets_list, .takes_json = true, .takes_source = true},
    {.name = "export", .run = offsets_export, .takes_json = true},
    {.name = "import", .run = offsets_import, .takes_dry_run = true, .takes_file = true},
    {.name = "reset", .run = offsets_reset, .takes_source = true, .takes_dry_run = true,
     .takes_target = true},
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
    if (options->has_source && !action->takes_source)
        return "log-dir";
    if (options->dry_run && !action->takes_dry_run)
        return "dry-run";
    if (options->execute && !action->takes_target)
        return "execute";
    return action->takes_target ? NULL : options->target_flag;
}

/* What follows the flags: the action, and import's file. */
static int run_action(struct offsets_options *options, int count, char **words)
{
    if (count == 0)
        return cmd_usage("offsets: say list, export, import or reset");
    const struct action *action = action_named(words[0]);
    if (action == NULL)
        return cmd_usage("offsets: there is no \"%s\", say list, export, import or reset",
                         words[0]);
    if (count > 1 + action->takes_file)
        return cmd_usage("offsets %s: what is \"%s\"?", words[0], words[1 + action->takes_file]);
    if (options->store == NULL)
        return cmd_usage("offsets %s: name the offset store with --store", words[0]);
    const char *stray = stray_flag(options, action);
    if (stray != NULL)
        return cmd_usage("offsets %s: --%s means nothing here", words[0], stray);
    options->file = words[1]; /* NULL where there is none: argv ends so */
    return action->run(options);
}

int cmd_offsets(int argc, char **argv)
{
    struct offsets_options options = {.config = krc_config_new()};
    int option, index = 0, status = CMD_DONE;
    static char name[] = "krc offsets"; /* before what getopt has to say */
    argv[0] = name;
    if (options.config == NULL) {
        krc_error error;
        cmd_error(&error, KRC_E_NOMEM, "out of memory");
        return cmd_fail(&error);
    }
    while (status == CMD_DONE &&
           (option = getopt_long(argc, argv, "g:t:p:d:X:Jh", long_options, &index)) != -1) {
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
