/*
 * krc replay: writes records exactly once into files, segments or a SQLite table.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/format.h"
#include "cmd/progress.h"
#include "cmd/stop.h"
#include "cmd/times.h"

static const char help_text[] =
    "krc replay --to DIR|sqlite:FILE -b HOST:PORT -t TOPIC|-d DIR [flags]\n"
    "\n"
    "Writes each record once, whatever happens: stopped at any instant and started again with the\n"
    "same flags, it goes on where it was, and the result is that of one undisturbed run.\n"
    "\n"
    "      --to DIR             DIR/TOPIC-PARTITION.jsonl, one file a partition\n"
    "      --to sqlite:FILE     a table `records` in a SQLite file\n"
    "      --format FORMAT      jsonl, raw (values, each with the delimiter of -D behind it), or\n"
    "                           segment (log segments, aborted batches left out)\n"
    "  -D DELIMITER             raw: instead of a newline; \\n \\t \\r \\xNN\n"
    "      --encoding base64    jsonl: all keys, values and headers in base64\n"
    "      --compress zstd|gzip\n"
    "      --rotate 1GiB|1h     another file when one has so many bytes (KiB, MiB, GiB, TiB, KB, MB,\n"
    "                           GB, TB), or when a batch's time enters a later span of so many\n"
    "                           hours or days (h, d; UTC)\n"
    "      --jobs N             partitions at a time (default 1)\n"
    "  -c, --max-messages N     end when the output holds N records, over all partitions\n"
    "      --follow             a cluster: go on behind the end, until Ctrl-C; commits also after a\n"
    "                           second without data\n"
    "      --new-history        go on into TOPIC-PARTITION.h2... where the log was truncated\n"
    "                           below what was written, or the topic made again\n"
    "  -g G --commit           a cluster: tell group G what was committed here, which decides\n"
    "  -g G --join             a cluster: as a member of group G, whose members share the topics,\n"
    "                           each with an output of its own (their own --to). The group's committed\n"
    "                           offset decides, so that no record is in two outputs or in none,\n"
    "                           whoever dies when; a file for each stretch of a partition\n"
    "      --recover            --join: do no more than cut off what the group has not taken of\n"
    "                           the last run's end\n"
    "--store is DIR/krc.db by default. --offset tells where a partition starts of which nothing\n"
    "was written yet.\n"
    "\n";

struct arguments {
    struct cmd_source source;
    struct krc_replay_options options;
    struct cmd_progress progress;
    struct cmd_account *accounts;
    char **names; /* the accounts' topics, in the order of the results */
    size_t account_count;
    bool commits; /* to the group, too */
    bool failed, lossy;
    bool told;    /* what krc_replay fails of */
    bool gave_up; /* nothing came for --timeout-ms */
    int64_t taken_at_ms;
};

/* ---- While it runs ------------------------------------------------------------------------- */

static void on_progress(void *arg, const struct krc_replay_progress *progress)
{
    struct arguments *arguments = arg;
    arguments->taken_at_ms = cmd_clock_ms();
    cmd_progress_show(&arguments->progress, progress);
}

static void on_event(void *arg, const struct krc_event *event)
{
    struct arguments *arguments = arg;
    cmd_progress_wipe(&arguments->progress);
    arguments->lossy |= cmd_tell_event(&arguments->source, event);
}

static void on_failure(void *arg, const krc_error *error)
{
    struct arguments *arguments = arg;
    cmd_progress_wipe(&arguments->progress);
    arguments->failed = true;
    arguments->told = true;
    cmd_fail(error);
}

/* Whether the library is to let go of what it does: looked at from inside of it. */
static bool is_to_end(void *arg)
{
    struct arguments *arguments = arg;
    return cmd_stop_is_due(arguments->taken_at_ms, arguments->source.timeout_ms,
                           &arguments->gave_up);
}

/* A partition that was found while following. */
static bool on_found(void *arg, const char *topic, int32_t partition)
{
    struct arguments *arguments = arg;
    return strncmp(topic, "__", 2) != 0 &&
           cmd_selects(&arguments->source.selection, topic, partition);
}

/* The row of the same stretch: a group may give a partition, and take it, more than once. */
static struct cmd_account *find_account(const struct arguments *arguments,
                                        const struct krc_replay_result *result)
{
    for (size_t i = 0; arguments->options.join && i < arguments->account_count; i++) {
        struct cmd_account *a = &arguments->accounts[i];
        if (a->partition == result->partition && a->account.from == result->account.from &&
            strcmp(a->topic, result->topic) == 0)
            return a;
    }
    return NULL;
}

static void on_result(void *arg, const struct krc_replay_result *result)
{
    struct arguments *arguments = arg;
    cmd_progress_wipe(&arguments->progress);
    cmd_stop_goes_on("committing what was taken");
    struct cmd_account *known = find_account(arguments, result);
    if (known != NULL) {
        known->account = result->account;
        known->undecided = result->undecided;
        return;
    }
    size_t count = arguments->account_count;
    struct cmd_account *accounts = realloc(arguments->accounts, (count + 1) * sizeof *accounts);
    char **names = realloc(arguments->names, (count + 1) * sizeof *names);
    char *topic = strdup(result->topic);
    if (accounts != NULL)
        arguments->accounts = accounts;
    if (names != NULL)
        arguments->names = names;
    if (accounts == NULL || names == NULL || topic == NULL) {
        krc_error error;
        cmd_error(&error, KRC_E_NOMEM, "out of memory for the account of %s-%d", result->topic,
                  (int)result->partition);
        free(topic);
        on_failure(arguments, &error);
        return;
    }
    names[count] = topic;
    accounts[count] =
        (struct cmd_account){topic, result->partition, result->account, result->undecided};
    arguments->account_count++;
}

/* With --jobs, partitions end in any order; in a group, more than once. */
static int compare_accounts(const void *a, const void *b)
{
    const struct cmd_account *x = a, *y = b;
    int64_t from = x->account.from, other = y->account.from;
    int c = strcmp(x->topic, y->topic);
    if (c == 0)
        c = (x->partition > y->partition) - (x->partition < y->partition);
    return c != 0 ? c : (from > other) - (from < other);
}

/* ---- From begin to end --------------------------------------------------------------------- */

/* Opens the source for questions alone: the store is the replay's own. */
static int open_source(const struct cmd_source *source, krc **handle, krc_error *error)
{
    const char *store = krc_config_get(source->config, "offset.store.file");
    char *kept = store == NULL ? NULL : strdup(store);
    if (store == NULL)
        return krc_open(handle, source->config, error);
    if (kept == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    int rc = krc_config_set(source->config, "offset.store.file", "", error);
    if (rc == KRC_OK)
        rc = krc_open(handle, source->config, error);
    if (rc == KRC_OK)
        rc = krc_config_set(source->config, "offset.store.file", kept, error);
    free(kept);
    return rc;
}

static int run(struct arguments *arguments, krc_error *error)
{
    struct krc_replay_options *options = &arguments->options;
    options->arg = arguments;
    options->progress = on_progress;
    options->event = on_event;
    options->result = on_result;
    options->failure = on_failure;
    if (options->follow && !options->join && cmd_selects_more(&arguments->source.selection))
        options->wants = on_found;
    cmd_progress_begin(&arguments->progress, !arguments->source.quiet);
    arguments->taken_at_ms = cmd_clock_ms();
    int rc = krc_replay(arguments->source.config, options, error);
    cmd_progress_wipe(&arguments->progress);
    return rc;
}

/* An end that was asked for and not reached is a failure, though nothing is lost by it. */
static int judge_end(const struct arguments *arguments, krc_error *error)
{
    if (arguments->gave_up)
        return cmd_error(error, KRC_E_TIMEOUT,
                         "nothing has arrived for %lld ms (--timeout-ms), and the end is not "
                         "reached: started again, it goes on",
                         (long long)arguments->source.timeout_ms);
    if (cmd_stop_asked())
        return cmd_error(error, KRC_E_STATE,
                         "stopped before the end: started again, it goes on");
    return KRC_OK;
}

static int replay_partitions(struct arguments *arguments, krc *handle, krc_error *error)
{
    struct krc_replay_partition *parts = NULL;
    size_t count = 0;
    int rc = cmd_source_partitions(&arguments->source, handle, &parts, &count, &arguments->failed,
                                   error);
    arguments->options.partitions = parts;
    arguments->options.partition_count = count;
    if (rc == KRC_OK)
        rc = run(arguments, error);
    free(parts);
    return rc;
}

/* The group gives the partitions. */
static int replay_as_member(struct arguments *arguments, krc_error *error)
{
    const struct cmd_selection *selection = &arguments->source.selection;
    const char **topics = cmd_selected_topics(selection);
    if (topics == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    arguments->options.topics = topics;
    arguments->options.topic_count = selection->count;
    int rc = run(arguments, error);
    free(topics);
    return rc;
}

static void tell_accounts(struct arguments *arguments)
{
    if (arguments->account_count > 0)
        qsort(arguments->accounts, arguments->account_count, sizeof *arguments->accounts,
              compare_accounts);
    arguments->lossy |= cmd_tell_accounts(&arguments->source, arguments->accounts,
                                          arguments->account_count);
    for (size_t i = 0; i < arguments->account_count; i++)
        free(arguments->names[i]);
    free(arguments->names);
    free(arguments->accounts);
}

static int replay_all(struct arguments *arguments)
{
    krc_error error;
    krc *handle = NULL;
    int status = CMD_DONE;
    bool joins = arguments->options.join;
    arguments->taken_at_ms = cmd_clock_ms();
    cmd_stop_begin();
    krc_config_set_interrupt(arguments->source.config, is_to_end, arguments);
    int rc = joins ? KRC_OK : open_source(&arguments->source, &handle, &error);
    bool is_open = rc == KRC_OK;
    if (is_open)
        rc = joins ? replay_as_member(arguments, &error)
                   : replay_partitions(arguments, handle, &error);
    if (rc == KRC_OK && !arguments->options.follow && !arguments->options.recover)
        rc = judge_end(arguments, &error);
    if (rc == KRC_E_INVALID && is_open) /* what is to be written, and how */
        status = cmd_usage("replay: %s", error.message);
    else if (rc < 0)
        status = arguments->told
                     ? CMD_FAILED
                     : cmd_fail_in_time(&arguments->source, arguments->gave_up, &error);
    tell_accounts(arguments);
    krc_close(handle);
    if (status != CMD_DONE)
        return status;
    return arguments->failed ? CMD_FAILED : arguments->lossy ? CMD_LOSS : CMD_DONE;
}

/* ---- The command line ---------------------------------------------------------------------- */

enum {
    OPT_TO = CMD_OPT_OWN,
    OPT_FORMAT,
    OPT_ENCODING,
    OPT_COMPRESS,
    OPT_ROTATE,
    OPT_JOBS,
    OPT_FOLLOW,
    OPT_NEW_HISTORY,
    OPT_COMMIT,
    OPT_JOIN,
    OPT_RECOVER,
};

static const struct option long_options[] = {
    CMD_SOURCE_OPTIONS,
    {"to", required_argument, NULL, OPT_TO},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"encoding", required_argument, NULL, OPT_ENCODING},
    {"compress", required_argument, NULL, OPT_COMPRESS},
    {"rotate", required_argument, NULL, OPT_ROTATE},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"new-history", no_argument, NULL, OPT_NEW_HISTORY},
    {"commit", no_argument, NULL, OPT_COMMIT},
    {"join", no_argument, NULL, OPT_JOIN},
    {"recover", no_argument, NULL, OPT_RECOVER},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int set_format(struct krc_replay_options *options, const char *value)
{
    static const char *const names[] = {
        [KRC_REPLAY_JSONL] = "jsonl", [KRC_REPLAY_RAW] = "raw", [KRC_REPLAY_SEGMENT] = "segment"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(value, names[i]) == 0) {
            options->format = (enum krc_replay_format)i;
            return CMD_DONE;
        }
    return cmd_usage("--format \"%s\": say jsonl, raw or segment", value);
}

static int set_compression(struct krc_replay_options *options, const char *value)
{
    bool zstd = strcmp(value, "zstd") == 0;
    options->compression = zstd ? KRC_REPLAY_ZSTD : KRC_REPLAY_GZIP;
    return zstd || strcmp(value, "gzip") == 0 ? CMD_DONE
                                              : cmd_usage("--compress \"%s\": say zstd or gzip",
                                                          value);
}

/* "1MiB", "6h": a number, which needs a unit, for nobody knows what a bare one counts. */
static bool parse_rotation(const char *text, struct krc_replay_options *options)
{
    static const struct {
        const char *unit;
        int64_t bytes;
        int hours;
    } units[] = {
        {"KiB", INT64_C(1) << 10, 0}, {"MiB", INT64_C(1) << 20, 0}, {"GiB", INT64_C(1) << 30, 0},
        {"TiB", INT64_C(1) << 40, 0}, {"KB", 1000, 0},              {"MB", 1000000, 0},
        {"GB", 1000000000, 0},        {"TB", 1000000000000, 0},     {"h", 0, 1},
        {"d", 0, 24},
    };
    char *unit;
    int64_t number = strtoll(text, &unit, 10);
    size_t i = 0, count = sizeof units / sizeof *units;
    while (i < count && strcmp(unit, units[i].unit) != 0)
        i++;
    if (*text < '0' || *text > '9' || number == 0 || i == count)
        return false;
    if (units[i].hours > 0)
        return !__builtin_mul_overflow(number, units[i].hours, &options->rotate_hours);
    return !__builtin_mul_overflow(number, units[i].bytes, &options->rotate_bytes);
}

static int set_rotation(struct krc_replay_options *options, const char *value)
{
    if (parse_rotation(value, options))
        return CMD_DONE;
    return cmd_usage("--rotate \"%s\": give a number from 1 with its unit: KiB, MiB, GiB, TiB, KB, "
                     "MB, GB, TB, h or d, such as 1GiB, 6h or 1d", value);
}

static int set_jobs(struct krc_replay_options *options, const char *value)
{
    int64_t jobs;
    if (!cmd_parse_number(value, &jobs) || jobs < 1 || jobs > 1024)
        return cmd_usage("--jobs \"%s\": give a number from 1 to 1024", value);
    options->jobs = (int)jobs;
    return CMD_DONE;
}

static int set_delimiter(struct krc_replay_options *options, char *value)
{
    size_t len = cmd_unescape(value);
    options->delimiter = (struct krc_bytes){(const uint8_t *)value, len};
    return CMD_DONE;
}

static int set_option(struct arguments *arguments, int option, char *value)
{
    struct krc_replay_options *options = &arguments->options;
    switch (option) {
    case OPT_TO:
        options->to = value;
        return CMD_DONE;
    case OPT_FORMAT:
        return set_format(options, value);
    case OPT_ENCODING:
        options->base64 = true;
        return strcmp(value, "base64") == 0 ? CMD_DONE
                                            : cmd_usage("--encoding \"%s\": say base64", value);
    case OPT_COMPRESS:
        return set_compression(options, value);
    case OPT_ROTATE:
        return set_rotation(options, value);
    case OPT_JOBS:
        return set_jobs(options, value);
    case 'D':
        return set_delimiter(options, value);
    case OPT_FOLLOW:
        options->follow = true;
        arguments->source.follows = true;
        return CMD_DONE;
    case OPT_NEW_HISTORY:
        options->new_history = true;
        return CMD_DONE;
    case OPT_COMMIT:
        arguments->commits = true;
        return cmd_set_property(arguments->source.config, "commit.to.group", "true");
    case OPT_RECOVER:
        options->recover = true;
        options->join = true;
        arguments->source.any_topic = true;
        return CMD_DONE;
    case OPT_JOIN:
        options->join = true;
        return CMD_DONE;
    case 'h':
        arguments->source.finished = true;
        printf("%s%s%s", help_text, cmd_json_help, cmd_source_help);
        return cmd_flush();
    case '?':
        return CMD_USAGE;
    default:
        return cmd_source_option(&arguments->source, option, value);
    }
}

static int check(struct arguments *arguments, int words, char **word)
{
    struct krc_replay_options *options = &arguments->options;
    struct cmd_source *source = &arguments->source;
    options->max_records = source->max_messages;
    if (words > 0)
        return cmd_usage("replay: what is \"%s\"? Topics are named with -t", word[0]);
    if (options->to == NULL || options->to[0] == '\0')
        return cmd_usage("replay: where to? Name a folder or sqlite:FILE with --to");
    if (options->delimiter.data != NULL && options->format != KRC_REPLAY_RAW)
        return cmd_usage("replay: -D goes with --format raw");
    if (options->base64 &&
        (options->format != KRC_REPLAY_JSONL || strncmp(options->to, "sqlite:", 7) == 0))
        return cmd_usage("replay: --encoding base64 goes with --format jsonl");
    bool has_group = cmd_source_is_cluster(source) &&
                     krc_config_get(source->config, "group.id") != NULL;
    if ((options->join || arguments->commits) && !has_group)
        return cmd_usage("replay: --%s is about a cluster's group: name both with -b and -g",
                         options->join ? "join" : "commit");
    int status = CMD_DONE;
    if (options->join && arguments->commits)
        return cmd_usage("replay: --join commits to the group: leave out --commit");
    if (options->join)
        status = cmd_source_check_join(source, "replay", "they are read to their end");
    if (status != CMD_DONE)
        return status;
    if (source->from.kind == CMD_UNSAID)
        source->from.kind = CMD_STORED;
    status = cmd_source_check(source, "replay");
    if (status == CMD_DONE && options->follow && !cmd_source_is_cluster(source))
        return cmd_usage("--follow: a log folder always ends, there is nothing to follow");
    if (status == CMD_DONE && options->follow && source->until.kind != CMD_UNSAID)
        return cmd_usage("replay: --follow goes on behind any end: leave out --until and -e");
    return status;
}

int cmd_replay(int argc, char **argv)
{
    static char name[] = "krc replay"; /* before what getopt has to say */
    struct arguments arguments = {.options = {.jobs = 1}};
    struct cmd_source *source = &arguments.source;
    int option, status = cmd_source_init(source);
    argv[0] = name;
    while (status == CMD_DONE && !source->finished &&
           (option = getopt_long(argc, argv, CMD_SOURCE_LETTERS "D:h", long_options, NULL)) != -1)
        status = set_option(&arguments, option, optarg);
    if (status == CMD_DONE && !source->finished)
        status = check(&arguments, argc - optind, argv + optind);
    if (status == CMD_DONE && !source->finished)
        status = replay_all(&arguments);
    cmd_source_free(source);
    return status;
}
