/*
 * krc read: prints records.
 */
#include "cmd/read.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/times.h"

enum {
    OUT_BYTES = 256 << 10,     /* what is collected for one write */
    COMMIT_INTERVAL_MS = 5000, /* as "auto.commit.interval.ms" has it by default */
};

static const char help_text[] =
    "krc read -d DIR [flags]\n"
    "\n"
    "Prints records: the value and a newline, unless told otherwise.\n"
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
    "With --store, positions are committed after stdout took the records: at least once.\n"
    "\n";

/* ---- Reading ------------------------------------------------------------------------------- */

static void tell_events(struct reading *r)
{
    struct krc_event event;
    while (krc_event_next(r->krc, &event) == 1)
        r->lossy |= cmd_tell_event(&r->options->source, &event);
}

/* Partitions come one after the other. */
static void turn_to(struct reading *r, const struct krc_batch_info *info)
{
    while (r->parts[r->at].partition != info->partition ||
           strcmp(r->parts[r->at].topic, info->topic) != 0)
        r->at = (r->at + 1) % r->count;
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
    if (rc < 0 || !r->has_store)
        return rc;
    r->commit_at_ms = cmd_clock_ms() + COMMIT_INTERVAL_MS;
    return krc_commit(r->krc, error);
}

static int take_batch(struct reading *r, krc_batch *batch, krc_error *error)
{
    struct krc_batch_info info;
    krc_batch_info(batch, &info);
    turn_to(r, &info);
    int rc = KRC_OK;
    if (r->options->output == READ_JSON)
        rc = krc_text_name_partition(r->out, info.topic, info.partition, error);
    if (rc == KRC_OK)
        rc = take_records(r, batch, &info, error);
    krc_release(batch);
    if (rc == KRC_OK && r->has_store && cmd_clock_ms() >= r->commit_at_ms)
        return commit(r, error);
    if (rc == KRC_OK && krc_text_bytes(r->out).len >= OUT_BYTES)
        return read_flush(r, error);
    return rc;
}

/* Reads until there is no more, or -c is reached.  A partition that fails is told, and the others
 * go on. */
static int read_records(struct reading *r, krc_error *error)
{
    while (!r->stopped) {
        krc_batch *batch;
        int rc = krc_poll(r->krc, (int)r->options->source.timeout_ms, &batch);
        tell_events(r);
        if (rc == 0)
            return KRC_OK;
        if (rc == KRC_E_NOMEM) {
            *error = *krc_last_error(r->krc);
            return rc;
        }
        if (rc < 0) {
            r->failed = true;
            cmd_fail(krc_last_error(r->krc));
            continue;
        }
        rc = take_batch(r, batch, error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}

/* Markers and aborted transactions behind the last record of a partition are done with, too. */
static int acknowledge_rest(struct reading *r, krc_error *error)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct krc_replay_partition *part = &r->parts[i];
        struct krc_position p;
        int rc = krc_position(r->krc, part->topic, part->partition, &p);
        if (rc == KRC_OK && p.position >= 0 && !(r->stopped && i == r->at))
            rc = krc_ack(r->krc, part->topic, part->partition, p.position, error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}

/* ---- From begin to end --------------------------------------------------------------------- */

static int begin(struct reading *r, krc_error *error)
{
    const struct cmd_source *source = &r->options->source;
    int rc = krc_open(&r->krc, source->config, error);
    if (rc == KRC_OK)
        rc = cmd_source_partitions(source, r->krc, &r->parts, &r->count, &r->failed, error);
    for (size_t i = 0; rc == KRC_OK && i < r->count; i++) {
        const struct krc_replay_partition *part = &r->parts[i];
        rc = krc_assign(r->krc, part->topic, part->partition, part->start, part->until, error);
    }
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
    size_t count = 0;
    struct cmd_account *accounts = calloc(r->count + 1, sizeof *accounts);
    if (accounts == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    for (size_t i = 0; i < r->count; i++) {
        struct krc_position p;
        const char *topic = r->parts[i].topic;
        int32_t partition = r->parts[i].partition;
        if (krc_position(r->krc, topic, partition, &p) == KRC_OK && p.position >= 0)
            accounts[count++] =
                (struct cmd_account){topic, partition, p.account, p.undecided};
    }
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
        .has_store = krc_config_get(source->config, "offset.store.file") != NULL,
        .commit_at_ms = cmd_clock_ms() + COMMIT_INTERVAL_MS,
    };
    int rc = begin(&r, &error);
    if (rc == KRC_OK)
        rc = read_records(&r, &error);
    if (rc == KRC_OK)
        rc = end(&r, &error);
    if (rc == KRC_OK)
        rc = tell_accounts(&r, &error);
    if (rc < 0)
        cmd_fail(&error);
    krc_close(r.krc);
    krc_text_free(r.out);
    free(r.parts);
    free(r.tallies);
    return rc != KRC_OK || r.failed ? CMD_FAILED : r.lossy ? CMD_LOSS : CMD_DONE;
}

/* ---- The command line ---------------------------------------------------------------------- */

enum { OPT_ENCODING = CMD_OPT_OWN, OPT_DIGEST };

static const struct option long_options[] = {
    CMD_SOURCE_OPTIONS,
    {"json", no_argument, NULL, 'J'},
    {"format", required_argument, NULL, 'f'},
    {"encoding", required_argument, NULL, OPT_ENCODING},
    {"digest", no_argument, NULL, OPT_DIGEST},
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
        return cmd_usage("-f %s: %s", text, reason);
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
    case OPT_ENCODING:
        options->base64 = true;
        return strcmp(value, "base64") == 0 ? CMD_DONE
                                            : cmd_usage("--encoding %s: say base64", value);
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
    if (words > 0)
        return cmd_usage("read: what is \"%s\"? Topics are named with -t", word[0]);
    if (options->base64 && options->output != READ_JSON)
        return cmd_usage("read: --encoding base64 goes with --json");
    if (!has_store && options->source.from.kind == CMD_STORED)
        return cmd_usage("read: -o stored needs an offset store: name it with --store");
    if (!has_store && krc_config_get(config, "group.id") != NULL)
        return cmd_usage("read: a group's offsets lie in an offset store: name it with --store");
    if (has_store && options->source.from.kind == CMD_UNSAID)
        options->source.from.kind = CMD_STORED;
    if (options->output == READ_DELIMITED &&
        !cmd_format_delimited(&options->format, arguments->key_delimiter, arguments->delimiter)) {
        krc_error error;
        cmd_error(&error, KRC_E_NOMEM, "out of memory");
        return cmd_fail(&error);
    }
    return cmd_source_check(&options->source, "read");
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
