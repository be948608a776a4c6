#include "cmd/account.h"

#include <inttypes.h>
#include <krc-tools.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/table.h"
#include "cmd/times.h"

static const char *const titles[] = {"FROM",    "TO",     "DELIVERED", "ABORTED",  "CONTROL",
                                     "ABSENT",  "LOST",   "SKIPPED",   "UNDECIDED"};
static const char *const names[] = {"from",    "to",     "delivered", "aborted",  "control",
                                    "absent",  "lost",   "skipped",   "undecided"};

enum { NUMBERS = sizeof titles / sizeof *titles };

static void numbers_of(const struct cmd_account *a, int64_t numbers[NUMBERS])
{
    const struct krc_account *k = &a->account;
    const int64_t all[NUMBERS] = {k->from,   k->to,   k->delivered, k->aborted,  k->control,
                                  k->absent, k->lost, k->skipped,   a->undecided};
    memcpy(numbers, all, sizeof all);
}

static int print_table(const struct cmd_account *accounts, size_t count, krc_error *error)
{
    struct cmd_column columns[2 + NUMBERS] = {{"TOPIC", true}, {"PARTITION", false}};
    struct cmd_table table;
    int64_t numbers[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++)
        columns[2 + i] = (struct cmd_column){titles[i], false};
    cmd_table_init(&table, columns, 2 + NUMBERS);
    for (size_t n = 0; n < count; n++) {
        cmd_table_add(&table, "%s", accounts[n].topic);
        cmd_table_add(&table, "%" PRId32, accounts[n].partition);
        numbers_of(&accounts[n], numbers);
        for (size_t i = 0; i < NUMBERS; i++)
            cmd_table_add(&table, "%" PRId64, numbers[i]);
    }
    int rc = cmd_table_print(&table, stderr, error);
    cmd_table_free(&table);
    return rc;
}

/* ---- Transactions that were decided wrongly -------------------------------------------------- */

/* Kept until the end, beside what the accounts say. */
struct misjudged {
    char *topic;
    int32_t partition;
    int64_t from, marker;
};

static struct {
    struct misjudged *list;
    size_t count, left_out;
} misjudged;

static void note_misjudged(const struct krc_event *event)
{
    enum { MOST = 10000 };
    struct misjudged *list =
        misjudged.count >= MOST
            ? NULL
            : realloc(misjudged.list, (misjudged.count + 1) * sizeof *list);
    if (list != NULL)
        misjudged.list = list;
    char *topic = list == NULL ? NULL : strdup(event->topic);
    misjudged.left_out += topic == NULL;
    if (topic != NULL)
        list[misjudged.count++] = (struct misjudged){.topic = topic,
                                                     .partition = event->partition,
                                                     .from = event->from,
                                                     .marker = event->to};
}

static void print_misjudged(void)
{
    for (size_t i = 0; i < misjudged.count; i++) {
        const struct misjudged *m = &misjudged.list[i];
        cmd_say("%s-%" PRId32 ": misjudged: a transaction from offset %" PRId64
                " on, by its marker at %" PRId64, m->topic, m->partition, m->from, m->marker);
    }
    if (misjudged.left_out > 0)
        cmd_say("misjudged: %zu more transactions", misjudged.left_out);
}

static void print_misjudged_json(void)
{
    fputs(",\"misjudged\":[", stderr);
    for (size_t i = 0; i < misjudged.count; i++) {
        const struct misjudged *m = &misjudged.list[i];
        fputs(i == 0 ? "{\"topic\":" : ",{\"topic\":", stderr);
        krc_write_json_string(m->topic, stderr);
        fprintf(stderr, ",\"partition\":%" PRId32 ",\"from\":%" PRId64 ",\"marker\":%" PRId64 "}",
                m->partition, m->from, m->marker);
    }
    fputc(']', stderr);
}

/* ---- Accounts --------------------------------------------------------------------------------- */

static void print_json(const struct cmd_account *accounts, size_t count)
{
    int64_t numbers[NUMBERS];
    fputs("{\"partitions\":[", stderr);
    for (size_t n = 0; n < count; n++) {
        fputs(n == 0 ? "{\"topic\":" : ",{\"topic\":", stderr);
        krc_write_json_string(accounts[n].topic, stderr);
        fprintf(stderr, ",\"partition\":%" PRId32, accounts[n].partition);
        numbers_of(&accounts[n], numbers);
        for (size_t i = 0; i < NUMBERS; i++)
            fprintf(stderr, ",\"%s\":%" PRId64, names[i], numbers[i]);
        fputc('}', stderr);
    }
    fputc(']', stderr);
    if (misjudged.count > 0)
        print_misjudged_json();
    fputs("}\n", stderr);
}

bool cmd_tell_accounts(const struct cmd_source *source, const struct cmd_account *accounts,
                       size_t count)
{
    bool lossy = false;
    krc_error error;
    if (source->account_json)
        print_json(accounts, count);
    else if (!source->quiet && count > 0 && print_table(accounts, count, &error) < 0)
        cmd_fail(&error);
    if (!source->account_json)
        print_misjudged();
    for (size_t n = 0; n < count; n++)
        lossy |= accounts[n].account.lost > 0 || accounts[n].account.skipped > 0;
    return lossy;
}

static bool is_lossy(enum krc_event_type type)
{
    switch (type) {
    case KRC_EVENT_RESET:
    case KRC_EVENT_LOST:
    case KRC_EVENT_SKIPPED:
    case KRC_EVENT_TRUNCATED:
    case KRC_EVENT_RECREATED:
    case KRC_EVENT_MISJUDGED:
        return true;
    default:
        return false;
    }
}

/* Several handles look at one cluster, or folder, and each notes what it finds there. */
static bool is_repeated(const struct krc_event *event)
{
    enum { NOTES = 16, LATELY_MS = 10000 };
    static struct {
        char sentence[sizeof event->message];
        int64_t told_ms;
    } notes[NOTES];
    static size_t next;
    int64_t now_ms = cmd_clock_ms();
    if (event->type != KRC_EVENT_NOTE || event->topic[0] != '\0')
        return false;
    for (size_t i = 0; i < NOTES; i++)
        if (notes[i].told_ms + LATELY_MS > now_ms && strcmp(notes[i].sentence, event->message) == 0)
            return true;
    memcpy(notes[next].sentence, event->message, sizeof notes[next].sentence);
    notes[next].told_ms = now_ms;
    next = (next + 1) % NOTES;
    return false;
}

bool cmd_tell_event(const struct cmd_source *source, const struct krc_event *event)
{
    bool lossy = is_lossy(event->type);
    if (event->type == KRC_EVENT_MISJUDGED)
        note_misjudged(event);
    bool wanted = event->type == KRC_EVENT_CAUGHT_UP ? source->chatty : lossy || !source->quiet;
    wanted = wanted && !is_repeated(event);
    if (wanted && event->partition >= 0)
        cmd_say("%s-%" PRId32 ": %s", event->topic, event->partition,
                event->message);
    else if (wanted)
        cmd_say("%s%s%s", event->topic, event->topic[0] != '\0' ? ": " : "",
                event->message);
    return lossy;
}

struct cmd_source cmd_loud;

static void tell_note(void *source, const struct krc_event *event)
{
    (void)cmd_tell_event(source, event);
}

krc_config *cmd_new_config(struct cmd_source *source)
{
    krc_config *config = krc_config_new();
    if (config != NULL)
        krc_config_set_note(config, tell_note, source);
    return config;
}

void cmd_forget_events(krc *handle)
{
    struct krc_event event;
    while (krc_event_next(handle, &event) == 1)
        continue;
}
