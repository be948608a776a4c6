/*
 * krc offsets migrate: carries a group's committed offsets into a copy of the logs.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/migrate_report.h"
#include "cmd/offsets.h"
#include "cmd/source.h"
#include "cmd/table.h"
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
    "      --to-command-config FILE    properties\n"
    "\n"
    "      --execute            commit what was found. The group there must have no members\n"
    "      --force              also where the group there is further on already\n"
    "      --dry-run            the default\n"
    "      --report FILE        adds a JSON line for each partition as soon as it is found. A file\n"
    "                           that is there is gone on from: what it has found is not looked\n"
    "                           up again, and what was committed is not committed again\n"
    "  -J, --json               these lines instead of a table\n"
    "      --window-ms N        how far timestamps go back within a log, at most (120000, for a\n"
    "                           producer tries to send a record for two minutes)\n"
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
    "  not found      nothing is changed\n"
    "  same           offsets mean the same there\n"
    "\n"
    "Exit status: 0 all were found, 1 failed, 2 wrong usage, 3 some were not found or not moved.\n";

/* Where offsets and logs are. */
struct place {
    const char *store, *group;
    krc_config *config;
    bool has_servers, has_logs;
    const char *name; /* for the report */
    krc *handle;      /* NULL: no log was named */
};

struct migrate {
    struct place from, to;
    struct cmd_selection selection;
    struct krc_migrate_options options;
    bool json, execute, force, dry_run, finished;
    struct migrate_report report;
    struct offsets_rows here, there;
    struct migrate_entry *entries;
    size_t count;
    bool skipped; /* something was not found, or not moved */
    krc_error error;
};

/* ---- Places ---------------------------------------------------------------------------------- */

static int open_place(struct place *place, krc_error *error)
{
    if (!place->has_servers && !place->has_logs)
        return KRC_OK;
    int rc = krc_config_set(place->config, "isolation.level", "read_committed", error);
    return rc < 0 ? rc : krc_open(&place->handle, place->config, error);
}

static int load_rows(const struct place *place, struct offsets_rows *rows, krc_error *error)
{
    if (place->store != NULL)
        return krc_committed_load(rows->list, place->store, place->group, error);
    if (place->has_servers)
        return krc_group_cluster_read(place->handle, place->group, rows->list, rows->groups, error);
    return krc_group_log_read(place->handle, place->group, rows->list, rows->groups, error);
}

/* What is committed there; nothing, where there is no such store, group or group log. */
static int load_place(const struct place *place, struct offsets_rows *rows, krc_error *error)
{
    *rows = (struct offsets_rows){krc_committed_new(), krc_groups_new()};
    if (rows->list == NULL || rows->groups == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    int rc = load_rows(place, rows, error);
    offsets_tell_left_out(rows->list);
    return rc;
}

/* A topic that is not there is found out partition by partition. */
static int load_topic(const struct place *place, const char *topic, krc_error *error)
{
    int rc = place->handle == NULL ? KRC_OK : krc_load_topics(place->handle, &topic, 1, error);
    return rc == KRC_E_NOT_FOUND ? KRC_OK : rc;
}

static struct krc_uuid topic_id_of(const struct place *place, const char *topic)
{
    struct krc_partition partition;
    for (size_t i = 0; place->handle != NULL && krc_source_partition(place->handle, i, &partition);
         i++)
        if (strcmp(partition.topic, topic) == 0)
            return partition.topic_id;
    return (struct krc_uuid){{0}};
}

/* ---- Looking up ------------------------------------------------------------------------------ */

static int list_entries(struct migrate *m)
{
    const struct krc_committed *row;
    size_t rows = 0;
    while (krc_committed_at(m->here.list, rows) != NULL)
        rows++;
    m->entries = calloc(rows + 1, sizeof *m->entries);
    if (m->entries == NULL)
        return cmd_error(&m->error, KRC_E_NOMEM, "out of memory");
    for (size_t i = 0; (row = krc_committed_at(m->here.list, i)) != NULL; i++)
        if (row->offset >= 0 && cmd_selects(&m->selection, row->topic, row->partition))
            m->entries[m->count++].row = row;
    if (m->count == 0)
        return cmd_error(&m->error, KRC_E_NOT_FOUND, "nothing to migrate: group \"%s\" has no "
                         "committed offset of such partitions", m->from.group);
    return KRC_OK;
}

static int look_up(struct migrate *m, struct migrate_entry *entry)
{
    const struct krc_committed *row = entry->row;
    int rc = load_topic(&m->from, row->topic, &m->error);
    if (rc == KRC_OK)
        rc = load_topic(&m->to, row->topic, &m->error);
    if (rc < 0)
        return rc;
    entry->topic_id = topic_id_of(&m->from, row->topic);
    entry->to_topic_id = topic_id_of(&m->to, row->topic);
    report_recall(&m->report, entry);
    if (entry->was_reported)
        return KRC_OK;
    entry->result = (struct krc_migration){.topic = row->topic, .partition = row->partition,
                                           .topic_id = row->topic_id, .committed = row->offset};
    rc = krc_migrate(m->from.handle, m->to.handle, &m->options, &entry->result, &m->error);
    return rc < 0 ? rc : report_add(&m->report, entry, &m->error);
}

static int look_up_all(struct migrate *m)
{
    for (size_t i = 0; i < m->count; i++) {
        int rc = look_up(m, &m->entries[i]);
        if (rc < 0)
            return rc;
        m->skipped |= m->entries[i].result.verdict == KRC_NOT_FOUND;
        if (m->json)
            report_print(&m->report, &m->entries[i], stdout);
    }
    return KRC_OK;
}

static int print_table(const struct migrate *m, krc_error *error)
{
    static const struct cmd_column columns[] = {
        {"TOPIC", true}, {"PARTITION", false}, {"FROM-OFFSET", false}, {"TO-OFFSET", false},
        {"VERDICT", true}, {"AGAIN", false}, {"EVIDENCE", true}};
    struct cmd_table table;
    cmd_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < m->count; i++) {
        const struct krc_migration *result = &m->entries[i].result;
        cmd_table_add(&table, "%s", result->topic);
        cmd_table_add_number(&table, result->partition);
        cmd_table_add_number(&table, result->committed);
        cmd_table_add_number(&table, result->offset);
        cmd_table_add(&table, "%s", krc_verdict_name(result->verdict));
        cmd_table_add_number(&table, result->again);
        cmd_table_add(&table, "%s", result->evidence);
    }
    int rc = cmd_table_print(&table, stdout, error);
    cmd_table_free(&table);
    return rc;
}

/* ---- Committing ------------------------------------------------------------------------------ */

/* Whether it is to be committed.  What stands further on already was read there. */
static bool is_wanted(struct migrate *m, const struct migrate_entry *entry)
{
    const struct krc_migration *result = &entry->result;
    if (result->verdict == KRC_NOT_FOUND || entry->committed)
        return false;
    const struct krc_committed *now = krc_committed_find(m->there.list, m->to.group, result->topic,
                                                         result->partition);
    if (now == NULL || now->offset <= result->offset || m->force)
        return true;
    cmd_say("%s-%" PRId32 " stays at offset %" PRId64 " there, beyond offset %" PRId64
            "; --force moves it back", result->topic, result->partition, now->offset,
            result->offset);
    m->skipped = true;
    return false;
}

static int plan(struct migrate *m, krc_committed_list *list)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct migrate_entry *entry = &m->entries[i];
        struct krc_committed row = *entry->row;
        if (!is_wanted(m, entry))
            continue;
        row.group = m->to.group;
        row.offset = entry->result.offset;
        if (entry->result.verdict != KRC_SAME) {
            row.leader_epoch = -1;
            row.topic_id = topic_id_of(&m->to, row.topic);
        }
        int rc = krc_committed_add(list, &row, &m->error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}

static int note_committed(struct migrate *m, const krc_committed_list *list)
{
    int rc = KRC_OK;
    for (size_t i = 0; rc == KRC_OK && i < m->count; i++) {
        struct migrate_entry *entry = &m->entries[i];
        if (krc_committed_find(list, m->to.group, entry->row->topic, entry->row->partition) == NULL)
            continue;
        entry->committed = true;
        rc = report_add(&m->report, entry, &m->error);
    }
    return rc;
}

static int commit(struct migrate *m, const krc_committed_list *list)
{
    if (krc_committed_at(list, 0) == NULL)
        return KRC_OK;
    int rc = m->to.store != NULL
                 ? krc_committed_save(list, m->to.store, "migrated by the user", cmd_now_ms(),
                                      &m->error)
                 : krc_group_cluster_commit(m->to.handle, list, &m->error);
    return rc < 0 ? rc : note_committed(m, list);
}

static int carry_out(struct migrate *m)
{
    int rc = load_place(&m->to, &m->there, &m->error);
    if (rc < 0 && rc != KRC_E_NOT_FOUND)
        return rc;
    krc_committed_list *list = krc_committed_new();
    if (list == NULL)
        return cmd_error(&m->error, KRC_E_NOMEM, "out of memory");
    rc = plan(m, list);
    if (rc == KRC_OK)
        rc = commit(m, list);
    krc_committed_free(list);
    return rc;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void tell_members(const struct migrate *m)
{
    const struct krc_group *group = krc_groups_find(m->here.groups, m->from.group);
    if (group != NULL && group->member_count > 0)
        cmd_say("group %s has %zu members here: what they commit from now on is not "
                "carried over", group->id, group->member_count);
}

static int migrate(struct migrate *m)
{
    krc_error *error = &m->error;
    int rc = report_open(&m->report, error);
    if (rc == KRC_OK)
        rc = open_place(&m->from, error);
    if (rc == KRC_OK)
        rc = open_place(&m->to, error);
    if (rc == KRC_OK)
        rc = load_place(&m->from, &m->here, error);
    if (rc == KRC_OK)
        rc = list_entries(m);
    if (rc < 0)
        return rc;
    tell_members(m);
    offsets_tell_pending(m->here.list);
    rc = look_up_all(m);
    if (rc == KRC_OK && !m->json)
        rc = print_table(m, error);
    if (rc == KRC_OK && m->execute)
        return carry_out(m);
    if (rc == KRC_OK)
        cmd_say("a dry run, nothing was changed; --execute does it");
    return rc;
}

static int run(struct migrate *m)
{
    m->report.from_group = m->from.group;
    m->report.to_group = m->to.group;
    m->report.from = m->from.name != NULL ? m->from.name : m->from.store;
    m->report.to = m->to.store != NULL ? m->to.store : m->to.name;
    int rc = migrate(m);
    report_close(&m->report);
    offsets_free(&m->here);
    offsets_free(&m->there);
    cmd_close(m->from.handle, false);
    cmd_close(m->to.handle, false);
    free(m->entries);
    if (rc < 0)
        return cmd_fail(&m->error);
    return cmd_flush() == CMD_FAILED ? CMD_FAILED : m->skipped ? CMD_LOSS : CMD_DONE;
}

/* ---- The command line ------------------------------------------------------------------------ */

enum {
    OPT_STORE = 256,
    OPT_TO_SERVERS,
    OPT_TO_STORE,
    OPT_TO_LOG_DIR,
    OPT_TO_GROUP,
    OPT_TO_CONFIG,
    OPT_EXECUTE,
    OPT_FORCE,
    OPT_DRY_RUN,
    OPT_REPORT,
    OPT_WINDOW_MS,
    OPT_IGNORE_TIMESTAMPS,
    OPT_SAME_OFFSETS,
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
    {"execute", no_argument, NULL, OPT_EXECUTE},
    {"force", no_argument, NULL, OPT_FORCE},
    {"dry-run", no_argument, NULL, OPT_DRY_RUN},
    {"report", required_argument, NULL, OPT_REPORT},
    {"json", no_argument, NULL, 'J'},
    {"window-ms", required_argument, NULL, OPT_WINDOW_MS},
    {"ignore-timestamps", no_argument, NULL, OPT_IGNORE_TIMESTAMPS},
    {"same-offsets", no_argument, NULL, OPT_SAME_OFFSETS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int add_log_dir(struct place *place, const char *path)
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
    return cmd_usage("--window-ms %s: give a number of milliseconds from 0", value);
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
        return cmd_judged(cmd_select_topic(&m->selection, value), value);
    case 'p':
        return cmd_judged(cmd_select_partitions(&m->selection, value), value);
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

static int check_place(const struct migrate *m, const struct place *place, const char *prefix)
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
static void find_servers(struct place *place)
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
    return status != CMD_DONE ? status : check_place(m, &m->to, "to-");
}

int cmd_migrate(int argc, char **argv)
{
    static char name[] = "krc offsets migrate"; /* before what getopt has to say */
    struct migrate m = {.options.window_ms = 120000};
    int option, status = CMD_DONE;
    argv[0] = name;
    m.from.config = krc_config_new();
    m.to.config = krc_config_new();
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
        status = run(&m);
    cmd_selection_free(&m.selection);
    krc_config_free(m.from.config);
    krc_config_free(m.to.config);
    return status;
}
