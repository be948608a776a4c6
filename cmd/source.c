#include "cmd/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"

const char cmd_source_help[] =
    "Where records come from:\n"
    "  -d, --log-dir DIR        a Kafka data folder, one TOPIC-PARTITION folder or one .log file;\n"
    "                           repeatable. Without -t: every topic but __*\n"
    "  -t, --topic TOPIC        repeatable; ^REGEX; TOPIC:0,2-4 for these partitions\n"
    "  -p, --partition LIST     0 or 0,3 or 0-7\n"
    "  -o, --offset WHERE       where to start: stored, earliest (beginning), latest (end), N,\n"
    "                           -N (N before the end), @MS or @YYYY-MM-DDThh:mm:ss (also s@...)\n"
    "      --from-beginning     the same as -o earliest\n"
    "      --until WHERE        where to stop, exclusive: N, @TIME (also e@TIME), end, or hwm,\n"
    "                           the checkpointed high watermark\n"
    "  -e, --exit               the same as --until end; log folders always end\n"
    "      --isolation-level read_committed|read_uncommitted\n"
    "      --auto-offset-reset nearest|earliest|latest|none|by_duration:PT1H\n"
    "      --store FILE         the SQLite offset store\n"
    "  -g, --group GROUP        whose offsets in the store (default: \"default\")\n"
    "      --skip-corrupt       go past a batch that fails its checks, and count it as skipped\n"
    "      --log-format 0.7     the folder holds Kafka 0.7 logs, which do not say so themselves\n"
    "      --timeout-ms N       give up when nothing arrives for so long (a folder has it all)\n"
    "  -X NAME=VALUE            a property by Kafka's name; -X list shows all\n"
    "  -F, --command-config FILE\n"
    "                           a Java properties file; -X and the options above count more,\n"
    "                           wherever they stand\n"
    "\n"
    "What is told, on stderr:\n"
    "      --account json       the account as the last line, instead of a table\n"
    "      --log-level LEVEL    warn (no notes), info, or debug (where each partition ends, too)\n"
    "  -q, --quiet              no notes and no table; errors and losses are always told\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done, but offsets were lost or skipped.\n";

const char cmd_json_help[] =
    "JSON fields, and what kcat calls them:\n"
    "  topic, partition, offset, key    the same\n"
    "  timestamp                        ts\n"
    "  timestampType                    tstype: CreateTime is create, LogAppendTime logappend,\n"
    "                                   NoTimestampType unknown\n"
    "  leaderEpoch                      -\n"
    "  value                            payload\n"
    "  headers [{key, value}, ...]      headers {key: value, ...}\n"
    "  keyBase64, valueBase64           - (instead of what is no valid UTF-8)\n"
    "\n";

int cmd_source_init(struct cmd_source *source)
{
    krc_error error;
    *source = (struct cmd_source){.config = krc_config_new(), .timeout_ms = -1};
    if (source->config != NULL)
        return CMD_DONE;
    cmd_error(&error, KRC_E_NOMEM, "out of memory");
    return cmd_fail(&error);
}

void cmd_source_free(struct cmd_source *source)
{
    cmd_selection_free(&source->selection);
    krc_config_free(source->config);
}

/* ---- Options ------------------------------------------------------------------------------- */

int cmd_set_property(krc_config *config, const char *name, const char *value)
{
    krc_error error;
    if (krc_config_set(config, name, value, &error) < 0)
        return cmd_usage("%s", error.message);
    return CMD_DONE;
}

int cmd_judged(const char *rejection, const char *value)
{
    return rejection == NULL ? CMD_DONE : cmd_usage("%s: %s", value, rejection);
}

static int list_properties(struct cmd_source *source)
{
    struct krc_property property;
    source->finished = true;
    for (size_t i = 0; krc_config_property(i, &property); i++)
        printf("%s = %s\n    %s\n    %s\n", property.name, property.default_value, property.type,
               property.meaning);
    return cmd_flush();
}

static int set_named_property(struct cmd_source *source, char *text)
{
    char *equals = strchr(text, '=');
    if (strcmp(text, "list") == 0)
        return list_properties(source);
    if (equals == NULL)
        return cmd_usage("-X %s: give a property as NAME=VALUE, or say -X list", text);
    *equals = '\0';
    return cmd_set_property(source->config, text, equals + 1);
}

struct ignored {
    const char *path;
    bool told;
};

static void tell_ignored(void *arg, const char *name)
{
    struct ignored *ignored = arg;
    if (ignored->told)
        fprintf(stderr, ", %s", name);
    else
        fprintf(stderr, "krc: %s: these properties do not apply and are ignored: %s",
                ignored->path, name);
    ignored->told = true;
}

static int load_properties(struct cmd_source *source, const char *path)
{
    struct ignored ignored = {.path = path};
    krc_error error;
    int rc = krc_config_load(source->config, path, tell_ignored, &ignored, &error);
    if (ignored.told)
        fputc('\n', stderr);
    return rc < 0 ? cmd_usage("%s", error.message) : CMD_DONE;
}

/* Whether all of a list are names that kcat's -d knows. */
static bool is_debug_list(const char *list)
{
    static const char names[] =
        ",all,generic,broker,topic,metadata,feature,queue,msg,protocol,cgrp,security,fetch,"
        "interceptor,plugin,consumer,admin,eos,mock,assignor,conf,";
    for (size_t len; *list != '\0'; list += len + (list[len] == ',')) {
        char name[16];
        len = strcspn(list, ",");
        if (len > 12)
            return false;
        snprintf(name, sizeof name, ",%.*s,", (int)len, list);
        if (strstr(names, name) == NULL)
            return false;
    }
    return true;
}

static int add_log_dir(struct cmd_source *source, const char *path)
{
    krc_error error;
    source->has_log_dir = true;
    if (access(path, F_OK) != 0 && is_debug_list(path))
        return cmd_usage("-d %s: -d names a log folder here, and there is none of that name; it is "
                         "no debug flag, --log-level debug is", path);
    if (krc_config_add_log_dir(source->config, path, &error) < 0)
        return cmd_usage("%s", error.message);
    return CMD_DONE;
}

static int set_number(const char *flag, const char *value, int64_t least, int64_t most,
                      int64_t *number)
{
    if (cmd_parse_number(value, number) && *number >= least && *number <= most)
        return CMD_DONE;
    return cmd_usage("%s %s: give a number from %" PRId64, flag, value, least);
}

static int set_log_level(struct cmd_source *source, const char *level)
{
    source->chatty = strcmp(level, "debug") == 0;
    if (strcmp(level, "warn") == 0)
        source->quiet = true;
    else if (!source->chatty && strcmp(level, "info") != 0)
        return cmd_usage("--log-level %s: say warn, info or debug", level);
    return CMD_DONE;
}

static int set_where(struct cmd_source *source, int option, const char *value)
{
    if (option == CMD_OPT_UNTIL && !cmd_parse_until(value, &source->until))
        return cmd_usage("--until %s: say an offset, @TIME, end or hwm", value);
    if (option == 'o' && !cmd_parse_from(value, &source->from, &source->until))
        return cmd_usage("-o %s: say stored, earliest, latest, N, -N, @MS or "
                         "@YYYY-MM-DDThh:mm:ss", value);
    return CMD_DONE;
}

/* The options that are properties by another name. */
static int set_as_property(struct cmd_source *source, int option, const char *value)
{
    static const struct {
        int option;
        const char *property;
    } names[] = {
        {CMD_OPT_STORE, "offset.store.file"},
        {CMD_OPT_ISOLATION_LEVEL, "isolation.level"},
        {CMD_OPT_AUTO_OFFSET_RESET, "auto.offset.reset"},
        {CMD_OPT_SKIP_CORRUPT, "skip.corrupt.batches"},
        {CMD_OPT_LOG_FORMAT, "log.format"},
        {'g', "group.id"},
    };
    size_t i = 0;
    while (names[i].option != option)
        i++;
    return cmd_set_property(source->config, names[i].property, value);
}

int cmd_source_option(struct cmd_source *source, int option, char *value)
{
    switch (option) {
    case 'b':
        return cmd_usage("-%c: reading from a cluster is not built yet; name a log folder with -d",
                         option);
    case 'd':
        return add_log_dir(source, value);
    case 't':
        return cmd_judged(cmd_select_topic(&source->selection, value), value);
    case 'p':
        return cmd_judged(cmd_select_partitions(&source->selection, value), value);
    case 'o':
    case CMD_OPT_UNTIL:
        return set_where(source, option, value);
    case CMD_OPT_FROM_BEGINNING:
        source->from.kind = CMD_EARLIEST;
        return CMD_DONE;
    case 'e': /* says no more than another end that is given */
        if (source->until.kind == CMD_UNSAID)
            source->until.kind = CMD_END;
        return CMD_DONE;
    case 'c':
        return set_number("-c", value, 1, INT64_MAX, &source->max_messages);
    case 'q':
        source->quiet = true;
        return CMD_DONE;
    case 'X':
        return set_named_property(source, value);
    case 'F':
        return load_properties(source, value);
    case CMD_OPT_TIMEOUT_MS:
        return set_number("--timeout-ms", value, 0, INT32_MAX, &source->timeout_ms);
    case CMD_OPT_ACCOUNT:
        source->account_json = true;
        return strcmp(value, "json") == 0 ? CMD_DONE
                                          : cmd_usage("--account %s: say json", value);
    case CMD_OPT_LOG_LEVEL:
        return set_log_level(source, value);
    case CMD_OPT_SKIP_CORRUPT:
        return set_as_property(source, option, "true");
    default:
        return set_as_property(source, option, value);
    }
}

int cmd_source_check(const struct cmd_source *source, const char *command)
{
    if (krc_config_get(source->config, "log.dirs") == NULL && !source->has_log_dir)
        return cmd_usage("%s: where from? Name a log folder with -d", command);
    return CMD_DONE;
}

/* ---- Partitions ---------------------------------------------------------------------------- */

struct listing {
    const struct cmd_source *source;
    krc *handle;
    struct krc_replay_partition *list;
    size_t count;
    bool failed;
};

/* Appends a partition, unless where it starts and stops cannot be said. */
static void list_partition(struct listing *listing, const struct krc_partition *partition)
{
    const struct cmd_source *source = listing->source;
    struct krc_replay_partition *slot = &listing->list[listing->count];
    bool uncommitted =
        strcmp(krc_config_get(source->config, "isolation.level"), "read_uncommitted") == 0;
    krc_error error;
    slot->topic = partition->topic;
    slot->partition = partition->partition;
    int rc = cmd_resolve_from(&source->from, listing->handle, uncommitted, partition, &slot->start,
                              &error);
    if (rc == KRC_OK)
        rc = cmd_resolve_until(&source->until, listing->handle, partition, &slot->until, &error);
    if (rc == KRC_OK) {
        listing->count++;
        return;
    }
    listing->failed = true;
    cmd_fail(&error);
}

static bool is_wanted(const struct cmd_source *source, const struct krc_partition *partition)
{
    if (source->selection.count == 0 && strncmp(partition->topic, "__", 2) == 0)
        return false;
    return cmd_selects(&source->selection, partition->topic, partition->partition);
}

/* Ends the walk at the first partition that is named and is nowhere: "0-7" may be most of them. */
static int tell_if_missing(void *arg, const char *topic, int32_t number)
{
    struct listing *listing = arg;
    struct krc_partition partition;
    for (size_t i = 0; krc_source_partition(listing->handle, i, &partition); i++)
        if (partition.partition == number && strcmp(partition.topic, topic) == 0)
            return 0;
    listing->failed = true;
    fprintf(stderr, "krc: the log folders have no partition %s-%" PRId32 "\n", topic, number);
    return 1;
}

/* What is asked for and is nowhere does not keep the others from being read. */
static void tell_missing(struct listing *listing)
{
    const struct cmd_selection *selection = &listing->source->selection;
    struct krc_partition partition;
    for (size_t i = 0; i < selection->count; i++) {
        bool found = false;
        for (size_t n = 0; !found && krc_source_partition(listing->handle, n, &partition); n++)
            found = cmd_selects_by(selection, i, partition.topic, partition.partition);
        if (found)
            continue;
        listing->failed = true;
        fprintf(stderr, "krc: the log folders have no such partition of topic %s\n",
                cmd_selected_topic(selection, i));
    }
    if (!listing->failed)
        cmd_each_named(selection, tell_if_missing, listing);
}

int cmd_source_partitions(const struct cmd_source *source, krc *handle,
                          struct krc_replay_partition **list, size_t *count, bool *failed,
                          krc_error *error)
{
    struct krc_partition partition;
    struct listing listing = {.source = source, .handle = handle};
    size_t wanted = 0;
    for (size_t i = 0; krc_source_partition(handle, i, &partition); i++)
        wanted += is_wanted(source, &partition);
    listing.list = calloc(wanted + 1, sizeof *listing.list);
    if (listing.list == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    tell_missing(&listing);
    for (size_t i = 0; krc_source_partition(handle, i, &partition); i++)
        if (is_wanted(source, &partition))
            list_partition(&listing, &partition);
    *list = listing.list;
    *count = listing.count;
    *failed = listing.failed;
    if (wanted == 0 && !listing.failed)
        return cmd_error(error, KRC_E_NOT_FOUND,
                         "the log folders have no such partition (topics named __* are read only "
                         "where -t names them)");
    return KRC_OK;
}
