/*
 * krc read: prints records.
 */
#include "cmd/read.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/stop.h"
#include "cmd/times.h"

enum {
    OUT_BYTES = 256 << 10, /* what is collected for one write */
};

static const char help_text[] =
    "krc read -b HOST:PORT -t TOPIC|-d DIR [flags]\n"
    "\n"
    "Prints records: the value and a newline, unless told otherwise.  A cluster is followed until\n"
    "Ctrl-C, unless -e or --until says where to end.\n"
    "\n"
    "  -J, --json               one JSON object a line\n"
    "      --encoding base64    --json: all keys, values and headers in base64\n"
    "  -f, --format FORMAT      %t topic, %p partition, %o offset, %T timestamp, %k key,\n"
    "                           %s value, %h headers, %K and %S their lengths (-1: null), %R\n"
    "                           the value's as a binary int32, %%; \\n \\t \\r \\xNN.\n"
    "                           '' reads and checks everything, and prints nothing\n"
    "  -D DELIMITER             behind each value instead of a newline\n"
    "  -K DELIMITER             the key and this before each value\n"
    "  -Z                       NULL for null keys and values\n"
    "  -u                       writes each record at once\n"
    "  -c, --max-messages N     stop after N records\n"
    "  -O                       ends with a line for each partition: topic, partition, log start,\n"
    "                           committed, position, last stable offset, high watermark, log end\n"
    "      --digest             instead of records, a line for each partition: topic, partition,\n"
    "                           first, next, records, CRC-32C of offsets, times, keys and values\n"
    "      --commit             -g: commit to the cluster's group; with --store that is told\n"
    "                           after the store has it, which decides\n"
    "      --join               -g: read as a member of the group, which says which partitions,\n"
    "                           and commit to it\n"
    "Positions are committed after stdout took the records: at least once.\n"
    "\n";

/* ---- Reading ------------------------------------------------------------------------------- */

/* Whether the library is to let go of what it does: looked at from inside of it. */
static bool is_to_end(void *arg)
{
    struct reading *r = arg;
    if (r->ending)
        return cmd_stop_is_late();
    if (cmd_output_is_closed()) {
        cmd_stop_watch();
        return true;
    }
    return cmd_stop_is_due(r->taken_at_ms, r->options->source.timeout_ms, &r->gave_up);
}

/* What was read of a history that has ended, or while the group let us, is a row of its own. */
static void keep_account(struct reading *r, const struct cmd_account *account)
{
    struct cmd_account *ended =
        realloc(r->ended, (r->ended_count + 1) * sizeof *ended);
    if (ended == NULL) {
        r->failed = true;
        cmd_say("%s-%d: out of memory for the account of what was read so far",
                account->topic, (int)account->partition);
        return;
    }
    r->ended = ended;
    ended[r->ended_count++] = *account;
}

/* As it is now; nothing is known of a partition that was not begun, or is not ours any more. */
static bool account_of(const struct reading *r, const char *topic, int32_t partition,
                       struct cmd_account *account)
{
    struct krc_position p;
    if (krc_position(r->krc, topic, partition, &p) != KRC_OK || p.position < 0)
        return false;
    *account = (struct cmd_account){topic, partition, p.account, p.undecided};
    return true;
}

static void tell_events(struct reading *r)
{
    struct krc_event event;
    while (krc_event_next(r->krc, &event) == 1) {
        r->lossy |= cmd_tell_event(&r->options->source, &event);
        struct cmd_account account = {event.topic, event.partition, event.account, 0};
        if (event.account.to > event.account.from ||
            (event.type == KRC_EVENT_REVOKED &&
             account_of(r, event.topic, event.partition, &account)))
            keep_account(r, &account);
    }
}

static int add_part(struct reading *r, const struct krc_batch_info *info, krc_error *error)
{
    size_t size = (r->count + 1) * sizeof *r->parts, tallies = (r->count + 1) * sizeof *r->tallies;
    struct krc_replay_partition *parts = realloc(r->parts, size);
    if (parts != NULL)
        r->parts = parts;
    struct read_tally *grown = parts == NULL ? NULL : realloc(r->tallies, tallies);
    if (grown == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    r->tallies = grown;
    r->tallies[r->count] = (struct read_tally){0};
    r->parts[r->count] = (struct krc_replay_partition){
        .topic = info->topic, .partition = info->partition, .until = KRC_NO_END};
    r->at = r->count++;
    return KRC_OK;
}

/* Batches of one partition often follow each other; one may have been found while reading. */
static int turn_to(struct reading *r, const struct krc_batch_info *info, krc_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        size_t at = (r->at + i) % r->count;
        if (r->parts[at].partition == info->partition &&
            strcmp(r->parts[at].topic, info->topic) == 0) {
            r->at = at;
            return KRC_OK;
        }
    }
    return add_part(r, info, error);
}

/* Prints a batch's records as far as -c allows, and acknowledges what was printed. */
static int take_records(struct reading *r, krc_batch *batch, const struct krc_batch_info *info,
                        krc_error *error)
{
    struct krc_record record;
    int64_t next = info->next_offset;
    while (krc_next(batch, &record) == 1) {
        if (r->left == 0) {
            next = record.offset;
            break;
        }
        int rc = read_print(r, info, &record, error);
        if (rc == KRC_OK && r->options->unbuffered)
            rc = read_flush(r, error);
        if (rc < 0)
            return rc;
        r->left--;
    }
    r->stopped = r->left == 0;
    return krc_ack(r->krc, info->topic, info->partition, next, error);
}

/* What was acknowledged is committed once stdout has it. */
static int commit(struct reading *r, krc_error *error)
{
    int rc = read_flush(r, error);
    if (rc < 0 || !r->commits)
        return rc;
    r->commit_at_ms = cmd_clock_ms() + r->commit_interval_ms;
    r->is_last_commit = r->is_group_store;
    rc = krc_commit(r->krc, error);
    return rc == KRC_E_FENCED ? KRC_OK : rc; /* events tell which partitions are gone */
}

/* A coordinator that does not answer is no reason to read no further. */
static void on_committed(void *arg, const krc_error *error)
{
    struct reading *r = arg;
    bool is_late = error->code == KRC_E_TIMEOUT || error->code == KRC_E_IO;
    if (is_late && !r->is_last_commit)
        cmd_say("%s; reading goes on, and it is committed later", error->message);
    else if (error->code < 0 && error->code != KRC_E_FENCED && !is_late)
        r->commit_error = *error;
}

/* From time to time: a group's coordinator is not waited for. */
static int commit_meanwhile(struct reading *r, krc_error *error)
{
    if (!r->is_group_store)
        return commit(r, error);
    int rc = read_flush(r, error);
    if (rc < 0)
        return rc;
    if (r->commit_error.code < 0) {
        *error = r->commit_error;
        return error->code;
    }
    r->commit_at_ms = cmd_clock_ms() + r->commit_interval_ms;
    rc = krc_commit_async(r->krc, on_committed, r, error);
    return rc == KRC_E_BUSY || rc == KRC_E_FENCED ? KRC_OK : rc;
}

static int take_batch(struct reading *r, krc_batch *batch, krc_error *error)
{
    struct krc_batch_info info;
    krc_batch_info(batch, &info);
    int rc = turn_to(r, &info, error);
    if (rc == KRC_OK && r->options->output == READ_JSON)
        rc = krc_text_name_partition(r->out, info.topic, info.partition, error);
    if (rc == KRC_OK)
        rc = take_records(r, batch, &info, error);
    krc_release(batch);
    if (rc == KRC_OK && r->commits && cmd_clock_ms() >= r->commit_at_ms)
        return commit_meanwhile(r, error);
    if (rc == KRC_OK && krc_text_bytes(r->out).len >= OUT_BYTES)
        return read_flush(r, error);
    return rc;
}

/* How long to wait for more: as asked for, but what was acknowledged is committed in time. */
static int patience(const struct reading *r)
{
    int64_t asked = r->options->source.timeout_ms, now = cmd_clock_ms();
    int64_t wait = asked < 0 ? INT32_MAX : r->taken_at_ms + asked - now;
    if (r->commits && r->commit_at_ms - now < wait)
        wait = r->commit_at_ms - now;
    return wait < 0 ? 0 : (int)wait;
}

/* That there is to be an end is silence, too. */
static int poll(struct reading *r, int timeout_ms, krc_batch **batch)
{
    int rc = krc_poll(r->krc, timeout_ms, batch);
    tell_events(r);
    return rc == KRC_E_INTERRUPTED ? 0 : rc;
}

/* What was collected is written before there is a wait. */
static int next_batch(struct reading *r, krc_batch **batch, krc_error *error)
{
    int rc = poll(r, 0, batch);
    if (rc != 0 || krc_ended(r->krc) || cmd_stop_asked())
        return rc;
    int64_t before = cmd_clock_ms();
    if (read_flush(r, error) < 0) {
        r->stopped = true;
        return error->code;
    }
    r->taken_at_ms += cmd_clock_ms() - before; /* a reader that is slow is no broker that is */
    return poll(r, patience(r), batch);
}

/* Nothing has come for as long as the user wants to wait.  What came is accounted for. */
static int give_up(struct reading *r, krc_error *error)
{
    char brokers[512];
    krc_describe_brokers(r->krc, brokers, sizeof brokers);
    if (r->options->source.follows)
        return KRC_OK;
    cmd_error(error, KRC_E_TIMEOUT,
              "nothing has arrived for %lld ms (--timeout-ms), and the end is not reached%s%s",
              (long long)r->options->source.timeout_ms, brokers[0] == '\0' ? "" : ": ", brokers);
    cmd_fail(error);
    r->failed = true;
    return KRC_OK;
}

/* 1: go on. */
static int after_silence(struct reading *r, krc_error *error)
{
    int64_t asked = r->options->source.timeout_ms, now = cmd_clock_ms();
    if (krc_ended(r->krc) || (cmd_stop_asked() && r->options->source.follows))
        return KRC_OK;
    if (cmd_output_was_closed()) {
        r->failed = true;
        return KRC_OK;
    }
    if (cmd_stop_asked()) {
        r->failed = true;
        cmd_say("stopped before the end");
        return KRC_OK;
    }
    if (r->commits && now >= r->commit_at_ms) {
        int rc = commit_meanwhile(r, error);
        if (rc < 0)
            return rc;
    }
    return asked >= 0 && now >= r->taken_at_ms + asked ? give_up(r, error) : 1;
}

/* A broker, or a group, that denies us is waited for in vain, whatever the partition. */
static bool is_denial(int rc, const krc_error *error)
{
    return (rc == KRC_E_REFUSED || rc == KRC_E_UNSUPPORTED) && error->topic[0] == '\0';
}

/* Reads until there is no more, or -c is reached.  A partition that fails is told, and the others
 * go on. */
static int read_records(struct reading *r, krc_error *error)
{
    r->taken_at_ms = cmd_clock_ms();
    if (r->count == 0 && !r->options->source.follows)
        return KRC_OK;
    while (!r->stopped) {
        krc_batch *batch;
        int rc = next_batch(r, &batch, error);
        if (r->stopped)
            return rc;
        if (rc < 0) {
            *error = *krc_last_error(r->krc);
            if (rc == KRC_E_NOMEM)
                return rc;
            r->failed = true;
            cmd_fail(error);
            if (is_denial(rc, error))
                return KRC_OK;
            continue;
        }
        if (rc == 0)
            rc = after_silence(r, error);
        else
            rc = take_batch(r, batch, error);
        if (rc <= 0 && batch == NULL)
            return rc;
        if (rc < 0)
            return rc;
        if (batch != NULL)
            r->taken_at_ms = cmd_clock_ms();
    }
    return KRC_OK;
}

/* Markers and aborted transactions behind the last record of a partition are done with, too. */
static int acknowledge_rest(struct reading *r, krc_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct krc_replay_partition *part = &r->parts[i];
        struct krc_position p;
        if (krc_position(r->krc, part->topic, part->partition, &p) < 0)
            continue; /* the group has given it to another member */
        if (p.position < 0 || (r->stopped && i == r->at))
            continue;
        int rc = krc_ack(r->krc, part->topic, part->partition, p.position, error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}

/* After that they are not ours any more. */
static int leave(struct reading *r, krc_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        struct cmd_account account;
        if (account_of(r, r->parts[i].topic, r->parts[i].partition, &account))
            keep_account(r, &account);
    }
    return krc_leave(r->krc, error);
}

/* ---- From begin to end --------------------------------------------------------------------- */

/* Partitions and topics that come later are read from their beginning. */
static int follow(struct reading *r, krc_error *error)
{
    const struct cmd_source *source = &r->options->source;
    const struct cmd_selection *selection = &source->selection;
    int64_t start = source->from.kind == CMD_STORED ? KRC_STORED : KRC_EARLIEST;
    for (size_t i = 0; i < selection->count; i++) {
        if (!cmd_selects_all_of(selection, i))
            continue;
        int rc = krc_subscribe(r->krc, cmd_selected_topic(selection, i), start, KRC_NO_END, error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}

/* The group says which partitions. */
static int join(struct reading *r, krc_error *error)
{
    const struct cmd_selection *selection = &r->options->source.selection;
    const char **topics = cmd_selected_topics(selection);
    if (topics == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    int rc = krc_join(r->krc, topics, selection->count, error);
    free(topics);
    return rc;
}

static int assign(struct reading *r, krc_error *error)
{
    const struct cmd_source *source = &r->options->source;
    int rc = cmd_source_partitions(source, r->krc, &r->parts, &r->count, &r->failed, error);
    for (size_t i = 0; rc == KRC_OK && i < r->count; i++) {
        const struct krc_replay_partition *part = &r->parts[i];
        if (is_to_end(r))
            return cmd_error(error, KRC_E_INTERRUPTED, "stopped while partitions were assigned");
        rc = krc_assign(r->krc, part->topic, part->partition, part->start, part->until, error);
    }
    return rc == KRC_OK && source->follows ? follow(r, error) : rc;
}

static int begin(struct reading *r, krc_error *error)
{
    int rc = krc_open(&r->krc, r->options->source.config, error);
    if (rc == KRC_OK)
        rc = r->options->joins ? join(r, error) : assign(r, error);
    r->out = krc_text_new();
    r->tallies = calloc(r->count + 1, sizeof *r->tallies);
    if (rc == KRC_OK && (r->out == NULL || r->tallies == NULL))
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    return rc;
}

static int end(struct reading *r, krc_error *error)
{
    int rc = acknowledge_rest(r, error);
    if (rc == KRC_OK && r->options->output == READ_DIGEST)
        rc = read_print_digests(r, error);
    if (rc == KRC_OK)
        rc = commit(r, error);
    if (rc == KRC_OK && r->options->joins)
        rc = leave(r, error);
    r->ending = true;
    if (rc == KRC_OK && r->options->shows_offsets) {
        rc = read_print_offsets(r, error);
        if (rc == KRC_OK)
            rc = read_flush(r, error);
    }
    return rc;
}

/* Not of partitions that were not begun. */
static int tell_accounts(struct reading *r, krc_error *error)
{
    size_t count = r->ended_count;
    struct cmd_account *accounts = calloc(count + r->count + 1, sizeof *accounts);
    if (accounts == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    if (count > 0)
        memcpy(accounts, r->ended, count * sizeof *accounts);
    for (size_t i = 0; i < r->count; i++)
        count += account_of(r, r->parts[i].topic, r->parts[i].partition, &accounts[count]);
    r->lossy |= cmd_tell_accounts(&r->options->source, accounts, count);
    free(accounts);
    return KRC_OK;
}

static int read_all(const struct read_options *options)
{
    krc_error error;
    const struct cmd_source *source = &options->source;
    struct reading r = {
        .options = options,
        .left = source->max_messages > 0 ? source->max_messages : INT64_MAX,
        .commits = options->joins || options->commits ||
                   krc_config_get(source->config, "offset.store.file") != NULL,
        .is_group_store = krc_config_get(source->config, "offset.store.file") == NULL,
        .commit_interval_ms =
            strtoll(krc_config_get(source->config, "auto.commit.interval.ms"), NULL, 10),
    };
    r.taken_at_ms = cmd_clock_ms();
    r.commit_at_ms = r.taken_at_ms + r.commit_interval_ms;
    cmd_stop_begin();
    krc_config_set_interrupt(source->config, is_to_end, &r);
    int rc = begin(&r, &error);
    if (rc == KRC_OK)
        rc = read_records(&r, &error);
    if (rc == KRC_OK) {
        rc = end(&r, &error);
        tell_events(&r);
    }
    if (rc == KRC_OK && !cmd_output_was_closed())
        rc = tell_accounts(&r, &error);
    if (rc < 0)
        cmd_fail_in_time(source, r.gave_up, &error);
    krc_close(r.krc);
    krc_text_free(r.out);
    free(r.ended);
    free(r.parts);
    free(r.tallies);
    return rc != KRC_OK || r.failed ? CMD_FAILED : r.lossy ? CMD_LOSS : CMD_DONE;
}

/* ---- The command line ---------------------------------------------------------------------- */

enum { OPT_ENCODING = CMD_OPT_OWN, OPT_DIGEST, OPT_COMMIT, OPT_JOIN };

static const struct option long_options[] = {
    CMD_SOURCE_OPTIONS,
    {"json", no_argument, NULL, 'J'},
    {"format", required_argument, NULL, 'f'},
    {"encoding", required_argument, NULL, OPT_ENCODING},
    {"digest", no_argument, NULL, OPT_DIGEST},
    {"commit", no_argument, NULL, OPT_COMMIT},
    {"join", no_argument, NULL, OPT_JOIN},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct arguments {
    struct read_options options;
    const char *delimiter, *key_delimiter;
};

static int set_output(struct read_options *options, enum read_output output)
{
    if (options->output != READ_DELIMITED && options->output != output)
        return cmd_usage("read: --json, --digest and -f exclude each other");
    options->output = output;
    return CMD_DONE;
}

static int set_format(struct read_options *options, const char *text)
{
    const char *reason;
    cmd_format_free(&options->format);
    options->format = (struct cmd_format){.says_null = options->format.says_null};
    if (!cmd_format_parse(&options->format, text, &reason))
        return cmd_usage("-f \"%s\": %s", text, reason);
    return set_output(options, READ_FORMAT);
}

static int set_option(struct arguments *arguments, int option, char *value)
{
    struct read_options *options = &arguments->options;
    switch (option) {
    case 'J':
        return set_output(options, READ_JSON);
    case OPT_DIGEST:
        return set_output(options, READ_DIGEST);
    case 'f':
        return set_format(options, value);
    case 'D':
        arguments->delimiter = value;
        return CMD_DONE;
    case 'K':
        arguments->key_delimiter = value;
        return CMD_DONE;
    case 'Z':
        options->format.says_null = true;
        return CMD_DONE;
    case 'u':
        options->unbuffered = true;
        return CMD_DONE;
    case 'O':
        options->shows_offsets = true;
        return CMD_DONE;
    case OPT_COMMIT:
        options->commits = true;
        return cmd_set_property(options->source.config, "commit.to.group", "true");
    case OPT_JOIN:
        options->joins = true;
        return CMD_DONE;
    case OPT_ENCODING:
        options->base64 = true;
        return strcmp(value, "base64") == 0 ? CMD_DONE
                                            : cmd_usage("--encoding \"%s\": say base64", value);
    case 'h':
        options->source.finished = true;
        printf("%s%s%s", help_text, cmd_json_help, cmd_source_help);
        return cmd_flush();
    case '?':
        return CMD_USAGE;
    default:
        return cmd_source_option(&options->source, option, value);
    }
}

static int check(struct arguments *arguments, int words, char **word)
{
    struct read_options *options = &arguments->options;
    const krc_config *config = options->source.config;
    bool has_store = krc_config_get(config, "offset.store.file") != NULL;
    bool has_group = krc_config_get(config, "group.id") != NULL;
    if (words > 0)
        return cmd_usage("read: what is \"%s\"? Topics are named with -t", word[0]);
    if (options->base64 && options->output != READ_JSON)
        return cmd_usage("read: --encoding base64 goes with --json");
    int status = cmd_source_check(&options->source, "read");
    if (status != CMD_DONE)
        return status;
    bool is_cluster = cmd_source_is_cluster(&options->source);
    if ((options->joins || options->commits) && (!is_cluster || !has_group))
        return cmd_usage("read: --%s is about a cluster's group: name both with -b and -g",
                         options->joins ? "join" : "commit");
    if (options->joins && has_store)
        return cmd_usage("read: with --join the group's committed offsets decide: leave out "
                         "--store");
    if (options->joins)
        status = cmd_source_check_join(&options->source, "read", "it is followed");
    if (status != CMD_DONE)
        return status;
    if (!has_store && !is_cluster && has_group)
        return cmd_usage("read: a group's offsets lie in an offset store: name it with --store");
    if (!has_store && !has_group && options->source.from.kind == CMD_STORED)
        return cmd_usage("read: -o stored needs an offset store: name it with --store%s",
                         is_cluster ? ", or a group with -g" : "");
    if ((has_store || has_group) && options->source.from.kind == CMD_UNSAID)
        options->source.from.kind = CMD_STORED;
    options->source.follows = is_cluster && options->source.until.kind == CMD_UNSAID;
    if (options->output == READ_DELIMITED &&
        !cmd_format_delimited(&options->format, arguments->key_delimiter, arguments->delimiter)) {
        krc_error error;
        cmd_error(&error, KRC_E_NOMEM, "out of memory");
        return cmd_fail(&error);
    }
    return CMD_DONE;
}

int cmd_read(int argc, char **argv)
{
    static char name[] = "krc read"; /* before what getopt has to say */
    struct arguments arguments = {.delimiter = "\n"};
    struct cmd_source *source = &arguments.options.source;
    int option, status = cmd_source_init(source);
    argv[0] = name;
    while (status == CMD_DONE && !source->finished &&
           (option = getopt_long(argc, argv, CMD_SOURCE_LETTERS "Jf:D:K:ZuOh", long_options,
                                 NULL)) != -1)
        status = set_option(&arguments, option, optarg);
    if (status == CMD_DONE && !source->finished)
        status = check(&arguments, argc - optind, argv + optind);
    if (status == CMD_DONE && !source->finished)
        status = read_all(&arguments.options);
    cmd_format_free(&arguments.options.format);
    cmd_source_free(source);
    return status;
}
