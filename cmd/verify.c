/*
 * krc verify: checks all that log folders hold.
 */
#include <inttypes.h>
#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/account.h"
#include "cmd/cmd.h"

static const char help_text[] =
    "krc verify -d DIR [flags]\n"
    "\n"
    "Reads everything and checks it: lengths, checksums, records, offsets; indexes, producer\n"
    "snapshots, leader epochs and checkpoints against the log. A line for each fault and note,\n"
    "one for each partition, and the account.\n"
    "\n"
    "      --batches            prints batches as Kafka's DumpLogSegments does; findings go to\n"
    "                           stderr\n"
    "      --records            the same with records, as with --print-data-log\n"
    "\n"
    "Of the flags below, those count that name partitions and say what is told: -d, -t, -p,\n"
    "--log-format, --isolation-level, -X, --account, -q.\n"
    "\n";

struct verifying {
    struct cmd_source source;
    struct krc_verify_options options;
    krc *krc;
    struct krc_replay_partition *parts;
    size_t count;
    FILE *report; /* stdout, or stderr where the dump goes there */
    bool failed, lossy;
};

/* ---- The log and what lies beside it ------------------------------------------------------- */

static void tell_finding(void *arg, bool fault, const char *sentence)
{
    struct verifying *v = arg;
    fprintf(v->report, "%s: %s\n", fault ? "fault" : "note", sentence);
    v->failed |= fault;
}

static void verify_partition(struct verifying *v, const struct krc_replay_partition *part)
{
    struct krc_verify_summary s;
    krc_error error;
    if (krc_verify(v->krc, part->topic, part->partition, &v->options, &s, &error) < 0) {
        if (error.code != KRC_E_INTERRUPTED)
            tell_finding(v, true, error.message);
        return;
    }
    fprintf(v->report,
            "%s-%" PRId32 ": offsets %" PRId64 " to %" PRId64 "; segments %" PRId64
            ", bytes %" PRId64 ", batches %" PRId64 ", records %" PRId64 ", markers %" PRId64
            ", faults %" PRId64 ", notes %" PRId64 "\n",
            part->topic, part->partition, s.log_start_offset, s.log_end_offset, s.segments, s.bytes,
            s.batches, s.records, s.markers, s.faults, s.notes);
}

/* ---- The account: what a reader would see -------------------------------------------------- */

/* Reads once more, as `krc read` does.  What cannot be read is a fault that was told before. */
static int read_all(struct verifying *v, krc_error *error)
{
    struct krc_event event;
    krc_batch *batch;
    int rc;
    for (size_t i = 0; i < v->count; i++)
        if (krc_assign(v->krc, v->parts[i].topic, v->parts[i].partition, KRC_EARLIEST, KRC_NO_END,
                       error) == KRC_E_NOMEM)
            return KRC_E_NOMEM;
    while ((rc = krc_poll(v->krc, -1, &batch)) != 0) {
        if (rc == KRC_E_NOMEM || rc == KRC_E_INTERRUPTED) {
            *error = *krc_last_error(v->krc);
            return rc;
        }
        if (rc > 0)
            krc_release(batch);
        else if (!v->failed)
            v->failed = cmd_fail(krc_last_error(v->krc));
        while (krc_event_next(v->krc, &event) == 1)
            v->lossy |= cmd_tell_event(&v->source, &event);
    }
    return KRC_OK;
}

static int tell_accounts(struct verifying *v, krc_error *error)
{
    size_t count = 0;
    struct cmd_account *accounts = calloc(v->count + 1, sizeof *accounts);
    if (accounts == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    for (size_t i = 0; i < v->count; i++) {
        const struct krc_replay_partition *part = &v->parts[i];
        struct krc_position p;
        if (krc_position(v->krc, part->topic, part->partition, &p) == KRC_OK && p.position >= 0)
            accounts[count++] =
                (struct cmd_account){part->topic, part->partition, p.read, p.undecided};
    }
    v->lossy |= cmd_tell_accounts(&v->source, accounts, count);
    free(accounts);
    return KRC_OK;
}

/* ---- From begin to end --------------------------------------------------------------------- */

static int verify(struct verifying *v, krc_error *error)
{
    int rc = krc_config_set(v->source.config, "skip.corrupt.batches", "true", error);
    if (rc == KRC_OK)
        rc = krc_open(&v->krc, v->source.config, error);
    if (rc == KRC_OK)
        rc = cmd_source_partitions(&v->source, v->krc, &v->parts, &v->count, &v->failed, error);
    for (size_t i = 0; rc == KRC_OK && i < v->count; i++)
        verify_partition(v, &v->parts[i]);
    return rc;
}

static int run(struct verifying *v)
{
    krc_error error;
    v->report = v->options.dump == KRC_DUMP_NOTHING ? stdout : stderr;
    v->options.out = stdout;
    v->options.finding = tell_finding;
    v->options.arg = v;
    int rc = verify(v, &error);
    bool written = cmd_flush() == CMD_DONE; /* before the account */
    if (rc == KRC_OK && written)
        rc = read_all(v, &error);
    if (rc == KRC_OK && written)
        rc = tell_accounts(v, &error);
    if (rc < 0)
        v->failed = cmd_fail(&error);
    krc_close(v->krc);
    free(v->parts);
    return !written || v->failed ? CMD_FAILED : v->lossy ? CMD_LOSS : CMD_DONE;
}

/* ---- The command line ---------------------------------------------------------------------- */

enum { OPT_BATCHES = CMD_OPT_OWN, OPT_RECORDS };

static const struct option long_options[] = {
    CMD_SOURCE_OPTIONS,
    {"batches", no_argument, NULL, OPT_BATCHES},
    {"records", no_argument, NULL, OPT_RECORDS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int set_option(struct verifying *v, int option, char *value)
{
    switch (option) {
    case OPT_BATCHES:
        v->options.dump = KRC_DUMP_BATCHES;
        return CMD_DONE;
    case OPT_RECORDS:
        v->options.dump = KRC_DUMP_RECORDS;
        return CMD_DONE;
    case 'h':
        v->source.finished = true;
        printf("%s%s", help_text, cmd_source_help);
        return cmd_flush();
    case '?':
        return CMD_USAGE;
    default:
        return cmd_source_option(&v->source, option, value);
    }
}

static int check(const struct verifying *v, int words, char **word)
{
    const struct cmd_source *source = &v->source;
    if (words > 0)
        return cmd_usage("verify: what is \"%s\"? Topics are named with -t", word[0]);
    if (source->from.kind != CMD_UNSAID || source->until.kind != CMD_UNSAID ||
        source->max_messages > 0)
        return cmd_usage("verify: everything is read: -o, --until, -e and -c mean nothing here");
    if (krc_config_get(source->config, "offset.store.file") != NULL ||
        krc_config_get(source->config, "group.id") != NULL)
        return cmd_usage("verify: no offsets are stored: --store and -g mean nothing here");
    return cmd_source_check(source, "verify");
}

int cmd_verify(int argc, char **argv)
{
    static char name[] = "krc verify"; /* before what getopt has to say */
    struct verifying v = {0};
    int option, status = cmd_source_init(&v.source);
    argv[0] = name;
    while (status == CMD_DONE && !v.source.finished &&
           (option = getopt_long(argc, argv, CMD_SOURCE_LETTERS "h", long_options, NULL)) != -1)
        status = set_option(&v, option, optarg);
    if (status == CMD_DONE && !v.source.finished)
        status = check(&v, argc - optind, argv + optind);
    if (status == CMD_DONE && !v.source.finished)
        status = run(&v);
    cmd_source_free(&v.source);
    return status;
}
