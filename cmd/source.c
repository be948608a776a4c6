#include "cmd/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/missing.h"
#include "cmd/stop.h"
#include "cmd/times.h"

const char cmd_source_help[] =
    "Where records come from:\n"
    "  -b, --bootstrap-server HOST:PORT[,...]\n"
    "                           a cluster; a topic must be named\n"
    "  -d, --log-dir DIR        a Kafka data folder, one TOPIC-PARTITION folder or one .log file;\n"
    "                           repeatable. Without -t: every topic but __*\n"
    "  -t, --topic TOPIC        repeatable; ^REGEX; TOPIC:0,2-4 for these partitions\n"
    "  -p, --partition LIST     0 or 0,3 or 0-7\n"
    "  -o, --offset WHERE       where to start: stored, earliest (beginning), latest (end), N,\n"
    "                           -N (N before the end), @MS, @now, @-10m (s, m, h, d) or\n"
    "                           @YYYY-MM-DD[Thh:mm:ss[+hh:mm]], UTC where it names no zone\n"
    "                           (also s@...)\n"
    "      --from-beginning     the same as -o earliest\n"
    "      --until WHERE        where to stop, exclusive: N, @TIME (also e@TIME), end, or hwm,\n"
    "                           the checkpointed high watermark\n"
    "  -e, --exit               the same as --until end, as it is at the start; log folders always\n"
    "                           end\n"
    "      --isolation-level read_committed|read_uncommitted\n"
    "      --auto-offset-reset nearest|earliest|latest|none|by_duration:PT1H\n"
    "      --store FILE         the SQLite offset store\n"
    "      --moved-cluster      its offsets, read from another cluster, hold in this one, too\n"
    "  -g, --group GROUP        whose offsets: in the store (default: \"default\"), or without one\n"
    "                           the cluster's\n"
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
    "Exit status: 0 done, 1 failed, 2 wrong usage, 3 done, but offsets were lost or skipped.  When\n"
    "nobody reads standard output any more (krc ... | head), it ends at once, with status 1 and\n"
    "without a message.  Ctrl-C, SIGTERM and SIGHUP end cleanly.\n";

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
    *source = (struct cmd_source){.config = cmd_new_config(source), .timeout_ms = -1};
    if (source->config != NULL) {
        krc_config_set_interrupt(source->config, cmd_stop_when_closed, NULL);
        return CMD_DONE;
    }
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

int cmd_judged(const char *flag, const char *value, const char *rejection)
{
    return rejection == NULL ? CMD_DONE : cmd_usage("%s \"%s\": %s", flag, value, rejection);
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

/* From those who list processes and their arguments. */
static void hide_secret(const krc_config *config, const char *name, char *value)
{
    const char *now = krc_config_get(config, name);
    if (now != NULL && strcmp(now, value) != 0)
        memset(value, '*', strlen(value));
}

/* A process that knows a secret leaves no core dump. */
static void keep_secrets(const krc_config *config)
{
    struct krc_property property;
    for (size_t i = 0; krc_config_property(i, &property); i++) {
        const char *now = krc_config_get(config, property.name);
        if (now != NULL && strcmp(now, "[hidden]") == 0)
            prctl(PR_SET_DUMPABLE, 0);
    }
}

int cmd_set_named_property(krc_config *config, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL)
        return cmd_usage("-X \"%s\": give a property as NAME=VALUE, or say -X list", text);
    *equals = '\0';
    int status = cmd_set_property(config, text, equals + 1);
    hide_secret(config, text, equals + 1);
    keep_secrets(config);
    return status;
}

/* Names that go into one sentence. */
struct ignored {
    char *names;
    size_t len;
    FILE *out; /* NULL: out of memory */
};

static void note_ignored(void *arg, const char *name)
{
    const struct ignored *ignored = arg;
    if (ignored->out != NULL)
        fprintf(ignored->out, "%s%s", ftell(ignored->out) == 0 ? "" : ", ", name);
}

int cmd_load_properties(krc_config *config, const char *path)
{
    struct ignored ignored = {.names = NULL};
    krc_error error;
    ignored.out = open_memstream(&ignored.names, &ignored.len);
    int rc = krc_config_load(config, path, note_ignored, &ignored, &error);
    keep_secrets(config);
    if (ignored.out != NULL && fclose(ignored.out) == 0 && ignored.len > 0)
        cmd_say("%s: these properties do not apply and are ignored: %s", path, ignored.names);
    free(ignored.names);
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
        return cmd_usage("-d \"%s\": -d names a log folder here, and there is none of that name; "
                         "it is no debug flag, --log-level debug is", path);
    if (krc_config_add_log_dir(source->config, path, &error) < 0)
        return cmd_usage("%s", error.message);
    return CMD_DONE;
}

static int set_number(const char *flag, const char *value, int64_t least, int64_t most,
                      int64_t *number)
{
    if (cmd_parse_number(value, number) && *number >= least && *number <= most)
        return CMD_DONE;
    return cmd_usage("%s \"%s\": give a number from %" PRId64 " to %" PRId64, flag, value, least,
                     most);
}

int cmd_set_timeout(const char *value, int64_t *timeout_ms)
{
    return set_number("--timeout-ms", value, 0, INT32_MAX, timeout_ms);
}

static int set_log_level(struct cmd_source *source, const char *level)
{
    source->chatty = strcmp(level, "debug") == 0;
    if (strcmp(level, "warn") == 0)
        source->quiet = true;
    else if (!source->chatty && strcmp(level, "info") != 0)
        return cmd_usage("--log-level \"%s\": say warn, info or debug", level);
    return CMD_DONE;
}

static int set_where(struct cmd_source *source, int option, const char *value)
{
    if (option == CMD_OPT_UNTIL && !cmd_parse_until(value, &source->until))
        return cmd_usage("--until \"%s\": say an offset, @TIME, end or hwm", value);
    if (option == 'o' && !cmd_parse_from(value, &source->from, &source->until))
        return cmd_usage("-o \"%s\": say stored, earliest, latest, N, -N, @MS, "
                         "@YYYY-MM-DD[Thh:mm:ss], @now or @-10m", value);
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
        {CMD_OPT_MOVED_CLUSTER, "offset.store.moved.cluster"},
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
        source->has_servers = true;
        return cmd_set_property(source->config, "bootstrap.servers", value);
    case 'd':
        return add_log_dir(source, value);
    case 't':
        return cmd_judged("-t", value, cmd_select_topic(&source->selection, value));
    case 'p':
        return cmd_judged("-p", value, cmd_select_partitions(&source->selection, value));
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
        return strcmp(value, "list") == 0 ? list_properties(source)
                                          : cmd_set_named_property(source->config, value);
    case 'F':
        return cmd_load_properties(source->config, value);
    case CMD_OPT_TIMEOUT_MS:
        return cmd_set_timeout(value, &source->timeout_ms);
    case CMD_OPT_ACCOUNT:
        source->account_json = true;
        return strcmp(value, "json") == 0 ? CMD_DONE
                                          : cmd_usage("--account \"%s\": say json", value);
    case CMD_OPT_LOG_LEVEL:
        return set_log_level(source, value);
    case CMD_OPT_SKIP_CORRUPT:
    case CMD_OPT_MOVED_CLUSTER:
        return set_as_property(source, option, "true");
    default:
        return set_as_property(source, option, value);
    }
}

/* A range that ends before it begins holds nothing, whatever the log has. */
static int check_range(const struct cmd_where *from, const struct cmd_where *until)
{
    if (from->kind != until->kind || from->number <= until->number)
        return CMD_DONE;
    if (from->kind == CMD_OFFSET)
        return cmd_usage("-o \"%" PRId64 "\": is after --until \"%" PRId64 "\"; begin at or before "
                         "where reading stops", from->number, until->number);
    if (from->kind != CMD_TIME)
        return CMD_DONE;
    char begin[40], end[40];
    cmd_format_datetime(from->number, begin);
    cmd_format_datetime(until->number, end);
    return cmd_usage("-o \"@%s\": is after --until \"@%s\"; begin at or before when reading stops",
                     begin, end);
}

/* What a file of properties says of a source counts only where no flag names one. */
static int choose_source(const struct cmd_source *source)
{
    if (source->has_log_dir && source->has_servers)
        return cmd_usage("-b and -d: records come from a cluster or from log folders, not both");
    if (source->has_log_dir)
        return cmd_set_property(source->config, "bootstrap.servers", "");
    if (source->has_servers)
        return cmd_set_property(source->config, "log.dirs", "");
    return CMD_DONE;
}

int cmd_fail_in_time(const struct cmd_source *source, bool gave_up, const krc_error *error)
{
    if (!gave_up || error->code != KRC_E_INTERRUPTED)
        return cmd_fail(error);
    cmd_say("nothing has arrived for %lld ms (--timeout-ms): %s", (long long)source->timeout_ms,
            error->message);
    return CMD_FAILED;
}

int cmd_limit_timeout(krc_config *config, int64_t timeout_ms)
{
    static const char name[] = "default.api.timeout.ms";
    char text[24];
    if (timeout_ms <= 0 || strtoll(krc_config_get(config, name), NULL, 10) <= timeout_ms)
        return CMD_DONE;
    snprintf(text, sizeof text, "%" PRId64, timeout_ms);
    return cmd_set_property(config, name, text);
}

/* Milliseconds that would be a time of our days if they were seconds. */
static void warn_of_seconds(const struct cmd_where *where)
{
    char text[40];
    if (where->kind != CMD_TIME || where->number < 100000000 || where->number > 9999999999)
        return;
    cmd_format_datetime(where->number, text);
    cmd_say("warning: @%" PRId64 " is in milliseconds, and so %s; if these are seconds, write "
            "@%" PRId64 "000", where->number, text, where->number);
}

static void warn(const struct cmd_source *source)
{
    char text[512];
    if (krc_config_warning(source->config, text, sizeof text))
        cmd_say("warning: %s", text);
}

bool cmd_source_is_cluster(const struct cmd_source *source)
{
    return krc_config_get(source->config, "bootstrap.servers") != NULL;
}

int cmd_source_check(const struct cmd_source *source, const char *command)
{
    int status = choose_source(source);
    if (status == CMD_DONE)
        status = check_range(&source->from, &source->until);
    if (status == CMD_DONE)
        status = cmd_limit_timeout(source->config, source->timeout_ms);
    if (status != CMD_DONE)
        return status;
    bool is_cluster = cmd_source_is_cluster(source);
    bool only_folders = strcmp(command, "verify") == 0;
    warn_of_seconds(&source->from);
    warn_of_seconds(&source->until);
    if (is_cluster)
        warn(source);
    if (is_cluster && only_folders)
        return cmd_usage("%s: only log folders can be verified, not a cluster: name one with -d",
                         command);
    if (!is_cluster && !source->has_log_dir &&
        krc_config_get(source->config, "log.dirs") == NULL)
        return cmd_usage("%s: where from? Name %sa log folder with -d", command,
                         only_folders ? "" : "a cluster with -b or ");
    if (is_cluster && source->selection.count == 0 && !source->any_topic)
        return cmd_usage("%s: which topic? Name it with -t; a leading ^ makes it a regular "
                         "expression", command);
    return CMD_DONE;
}

int cmd_source_check_join(const struct cmd_source *source, const char *command, const char *how)
{
    if (source->from.kind != CMD_UNSAID || source->until.kind != CMD_UNSAID)
        return cmd_usage("%s: with --join the group says where partitions begin, and %s: leave out "
                         "-o, -e and --until", command, how);
    for (size_t i = 0; i < source->selection.count; i++)
        if (!cmd_selects_all_of(&source->selection, i))
            return cmd_usage("%s: with --join the group says which partitions: leave out -p",
                             command);
    return CMD_DONE;
}

/* ---- Partitions ---------------------------------------------------------------------------- */

struct listing {
    const struct cmd_source *source;
    krc *handle;
    struct cmd_known known;
    struct krc_replay_partition *list;
    size_t count;
    bool failed;
};

static bool is_wanted(const struct cmd_source *source, const struct krc_partition *partition)
{
    const struct cmd_selection *selection = &source->selection;
    if (selection->count == 0)
        return strncmp(partition->topic, "__", 2) != 0 &&
               cmd_selects(selection, partition->topic, partition->partition);
    return cmd_selects(selection, partition->topic, partition->partition) &&
           (!partition->is_internal || cmd_selects_by_name(selection, partition->topic) ||
            strcmp(krc_config_get(source->config, "exclude.internal.topics"), "false") == 0);
}

bool cmd_source_next(const struct cmd_source *source, const krc *handle, size_t *at,
                     struct krc_partition *partition)
{
    while (krc_source_partition(handle, *at, partition)) {
        ++*at;
        if (is_wanted(source, partition))
            return true;
    }
    return false;
}

static bool find(const struct listing *listing, size_t *at, const char *topic, int32_t number,
                 struct krc_partition *partition)
{
    while (cmd_source_next(listing->source, listing->handle, at, partition))
        if (partition->partition == number && strcmp(partition->topic, topic) == 0)
            return true;
    return false;
}

/* Where each partition starts and stops has to be looked up. */
static int ask(struct listing *listing, struct cmd_asked *asked, struct krc_partition *partition,
               size_t wanted, struct krc_offset_query *queries, krc_error *error)
{
    const struct cmd_source *source = listing->source;
    for (size_t at = 0; listing->count < wanted &&
                        cmd_source_next(source, listing->handle, &at, partition);) {
        listing->list[listing->count++] = (struct krc_replay_partition){
            .topic = partition->topic, .partition = partition->partition};
        cmd_ask_from(&source->from, asked);
        cmd_ask_until(&source->until, asked);
    }
    return krc_list_offsets(listing->handle, queries, (size_t)(*asked->next - queries), error);
}

/* One of which that cannot be said is left out. */
static void take_answers(struct listing *listing, struct cmd_asked *asked,
                         struct krc_partition *partition)
{
    size_t count = listing->count, at = 0;
    listing->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct krc_replay_partition *slot = &listing->list[listing->count];
        krc_error failure;
        *slot = listing->list[i];
        if (!find(listing, &at, slot->topic, slot->partition, partition))
            return;
        int from_rc = cmd_resolve_from(&listing->source->from, asked, &slot->start, &failure);
        int until_rc = cmd_resolve_until(&listing->source->until, asked, &slot->until, &failure);
        bool good = from_rc == KRC_OK && until_rc == KRC_OK;
        listing->count += good;
        listing->failed |= !good;
        if (!good)
            cmd_fail(&failure);
    }
}

static int resolve(struct listing *listing, size_t wanted, krc_error *error)
{
    const char *isolation = krc_config_get(listing->source->config, "isolation.level");
    struct krc_offset_query *queries =
        calloc(wanted * CMD_QUERIES_MOST + 1, sizeof *queries), *next = queries;
    struct krc_partition partition; /* that is asked about */
    struct cmd_asked asked = {.partition = &partition,
                              .next = &next,
                              .read_uncommitted = strcmp(isolation, "read_uncommitted") == 0};
    listing->list = calloc(wanted + 1, sizeof *listing->list);
    if (queries == NULL || listing->list == NULL) {
        free(queries);
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    }
    int rc = ask(listing, &asked, &partition, wanted, queries, error);
    next = queries;
    if (rc == KRC_OK)
        take_answers(listing, &asked, &partition);
    free(queries);
    return rc;
}

/* Ends the walk at the first partition that is named and is nowhere: "0-7" may be most of them. */
static int tell_if_missing(void *arg, const char *topic, int32_t number)
{
    struct listing *listing = arg;
    char text[16];
    krc_error error;
    if (krc_source_has(listing->handle, topic, number, NULL))
        return 0;
    listing->failed = true;
    snprintf(text, sizeof text, "%" PRId32, number);
    (void)cmd_missing_topic(&listing->known, topic, text, &error);
    (void)cmd_fail(&error);
    return 1;
}

/* Following a cluster, what a regular expression does not match yet may come. */
static bool may_come(const struct listing *listing, size_t i)
{
    return listing->source->follows && cmd_selected_topic(&listing->source->selection, i)[0] == '^';
}

static void tell_missing(struct listing *listing, size_t i)
{
    const struct cmd_selection *selection = &listing->source->selection;
    bool may_be_internal =
        cmd_selected_topic(selection, i)[0] == '^' && cmd_source_is_cluster(listing->source);
    krc_error error;
    listing->failed = true;
    (void)cmd_missing_selected(&listing->known, selection, i, &error);
    cmd_say("%s%s", error.message, !may_be_internal ? "" :
            " (internal ones match with -X exclude.internal.topics=false)");
}

/* Counts what is selected.  What is asked for and is nowhere does not keep the others from being
 * read. */
static int count_wanted(struct listing *listing, size_t *count, krc_error *error)
{
    const struct cmd_selection *selection = &listing->source->selection;
    struct krc_partition partition;
    bool *found = calloc(selection->count + 1, sizeof *found);
    if (found == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    *count = 0;
    for (size_t at = 0; cmd_source_next(listing->source, listing->handle, &at, &partition);) {
        ++*count;
        for (size_t i = 0; i < selection->count; i++)
            found[i] |= !found[i] && cmd_selects_by(selection, i, partition.topic,
                                                    partition.partition);
    }
    for (size_t i = 0; i < selection->count; i++)
        if (!found[i] && !may_come(listing, i))
            tell_missing(listing, i);
    free(found);
    if (!listing->failed)
        cmd_each_named(selection, tell_if_missing, listing);
    return KRC_OK;
}

/* Regular expressions need all topics' names. */
static int load_topics(const struct cmd_source *source, krc *handle, krc_error *error)
{
    const struct cmd_selection *selection = &source->selection;
    const char **names = calloc(selection->count + 1, sizeof *names);
    size_t count = 0;
    bool all = selection->count == 0;
    if (names == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    for (size_t i = 0; i < selection->count; i++) {
        const char *name = cmd_selected_topic(selection, i);
        if (name[0] == '^')
            all = true;
        else
            names[count++] = name;
    }
    int rc = count > 0 ? krc_load_topics(handle, names, count, error) : KRC_OK;
    if (rc == KRC_OK && all)
        rc = krc_load_topics(handle, NULL, 0, error);
    free(names);
    return rc;
}

/* Which topics a cluster has is asked where one is missing: that is the end, and one may be meant
 * that is called much the same. */
static int name_missing(const struct listing *listing, krc_error *error)
{
    const struct cmd_selection *selection = &listing->source->selection;
    krc_error without;
    int rc = krc_load_topics(listing->handle, NULL, 0, &without);
    if (rc < 0)
        return KRC_E_NOT_FOUND;
    for (size_t i = 0; i < selection->count; i++) {
        const char *topic = cmd_selected_topic(selection, i);
        if (topic[0] != '^' && !cmd_knows_topic(&listing->known, topic))
            return cmd_missing_topic(&listing->known, topic, NULL, error);
    }
    return KRC_E_NOT_FOUND;
}

static int load(struct listing *listing, size_t *count, krc_error *error)
{
    const struct cmd_source *source = listing->source;
    *count = 0;
    listing->known = (struct cmd_known){
        .has_no = cmd_source_is_cluster(source) ? "the cluster has no" : "the log folders have no",
        .handle = listing->handle};
    int rc = load_topics(source, listing->handle, error);
    if (rc == KRC_E_NOT_FOUND && cmd_source_is_cluster(source))
        return name_missing(listing, error);
    return rc == KRC_OK ? count_wanted(listing, count, error) : rc;
}

static int refuse_none(const struct listing *listing, size_t count, krc_error *error)
{
    const struct cmd_source *source = listing->source;
    const struct cmd_selection *selection = &source->selection;
    bool may_wait = source->follows && cmd_selects_more(selection);
    bool may_be_empty = source->may_be_empty && cmd_source_is_cluster(source) &&
                        selection->count == 0 && selection->partitions == NULL;
    if (count > 0 || listing->failed || may_wait || may_be_empty)
        return KRC_OK;
    return cmd_error(error, KRC_E_NOT_FOUND,
                     "%s such partition (topics named __* are read only where -t names them)",
                     listing->known.has_no);
}

int cmd_source_load(const struct cmd_source *source, krc *handle, size_t *count, bool *failed,
                    krc_error *error)
{
    struct listing listing = {.source = source, .handle = handle};
    int rc = load(&listing, count, error);
    cmd_forget_events(handle);
    *failed = listing.failed;
    return rc == KRC_OK ? refuse_none(&listing, *count, error) : rc;
}

int cmd_source_partitions(const struct cmd_source *source, krc *handle,
                          struct krc_replay_partition **list, size_t *count, bool *failed,
                          krc_error *error)
{
    struct listing listing = {.source = source, .handle = handle};
    size_t wanted;
    int rc = load(&listing, &wanted, error);
    if (rc == KRC_OK)
        rc = resolve(&listing, wanted, error);
    cmd_forget_events(handle);
    *list = listing.list;
    *count = listing.count;
    *failed = listing.failed;
    return rc == KRC_OK ? refuse_none(&listing, wanted, error) : rc;
}
