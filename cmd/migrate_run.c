/*
 * krc offsets migrate: looks the places up, shows them, and commits.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/migrate.h"
#include "cmd/table.h"
#include "cmd/times.h"

/* ---- Places ---------------------------------------------------------------------------------- */

static int open_place(struct migrate_place *place, krc_error *error)
{
    if (!place->has_servers && !place->has_logs)
        return KRC_OK;
    int rc = krc_config_set(place->config, "isolation.level", "read_committed", error);
    return rc < 0 ? rc : krc_open(&place->handle, place->config, error);
}

static int load_rows(const struct migrate_place *place, struct offsets_rows *rows, krc_error *error)
{
    if (place->store != NULL)
        return krc_committed_load(rows->list, rows->groups, place->store, place->group,
                                  place->handle, error);
    if (place->has_servers)
        return krc_group_cluster_read(place->handle, place->group, rows->list, rows->groups, error);
    return krc_group_log_read(place->handle, place->group, rows->list, rows->groups, error);
}

/* What is committed there; nothing, where there is no such store, group or group log. */
static int load_place(const struct migrate_place *place, struct offsets_rows *rows,
                      krc_error *error)
{
    *rows = (struct offsets_rows){krc_committed_new(), krc_groups_new(), NULL};
    if (rows->list == NULL || rows->groups == NULL)
        return cmd_error(error, KRC_E_NOMEM, "out of memory");
    int rc = load_rows(place, rows, error);
    offsets_tell_left_out(rows->list);
    return rc;
}

/* A topic that is not there is found out partition by partition. */
static int load_topic(const struct migrate_place *place, const char *topic, krc_error *error)
{
    int rc = place->handle == NULL ? KRC_OK : krc_load_topics(place->handle, &topic, 1, error);
    return rc == KRC_E_NOT_FOUND ? KRC_OK : rc;
}

static struct krc_uuid topic_id_of(const struct migrate_place *place, const char *topic,
                                   int32_t partition)
{
    struct krc_uuid id = {{0}};
    if (place->handle != NULL)
        (void)krc_source_has(place->handle, topic, partition, &id);
    return id;
}

/* The group is to leave the cluster that it was read from, and stay in the store. */
static bool stays_in_store(const struct migrate *m)
{
    struct stat from, to;
    return m->from.store != NULL && m->to.store != NULL &&
           strcmp(m->from.group, m->to.group) == 0 && stat(m->from.store, &from) == 0 &&
           stat(m->to.store, &to) == 0 && from.st_dev == to.st_dev && from.st_ino == to.st_ino;
}

/* What the group has there; nothing that could be in the way, where it is the same rows. */
static int load_target(struct migrate *m)
{
    if (stays_in_store(m)) {
        m->there.list = krc_committed_new();
        return m->there.list == NULL ? cmd_error(&m->error, KRC_E_NOMEM, "out of memory") : KRC_OK;
    }
    int rc = load_place(&m->to, &m->there, &m->error);
    return rc == KRC_E_NOT_FOUND ? KRC_OK : rc;
}

/* ---- Looking up ------------------------------------------------------------------------------ */

static int name_entry(struct migrate *m, struct migrate_entry *entry)
{
    entry->to_topic = topic_map_name(&m->map, entry->row->topic);
    if (entry->to_topic == NULL)
        return cmd_error(&m->error, KRC_E_NOMEM, "out of memory");
    for (const struct migrate_entry *e = m->entries; e < entry; e++)
        if (strcmp(e->to_topic, entry->to_topic) == 0 &&
            strcmp(e->row->topic, entry->row->topic) != 0)
            return cmd_error(&m->error, KRC_E_INVALID, "%s and %s cannot both be %s there",
                             e->row->topic, entry->row->topic, entry->to_topic);
    return KRC_OK;
}

static int name_entries(struct migrate *m)
{
    const char *unused;
    for (size_t i = 0; i < m->count; i++) {
        int rc = name_entry(m, &m->entries[i]);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; (unused = topic_map_unused(&m->map, i)) != NULL; i++)
        cmd_say("--map-topic %s: group \"%s\" has no committed offset of it", unused,
                m->from.group);
    return KRC_OK;
}

/* Nothing is moved where something that is named has no committed offset. */
static int check_selected(struct migrate *m)
{
    char has_no[400];
    const struct cmd_known known = {.has_no = has_no, .list = m->here.list};
    snprintf(has_no, sizeof has_no, "group \"%s\" has no committed offset of", m->from.group);
    for (size_t i = 0; i < m->selection.count; i++)
        if (!cmd_knows_selected(&known, &m->selection, i))
            return cmd_missing_selected(&known, &m->selection, i, &m->error);
    return KRC_OK;
}

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
    int rc = check_selected(m);
    if (rc == KRC_OK && m->count == 0)
        return cmd_error(&m->error, KRC_E_NOT_FOUND, "nothing to migrate: group \"%s\" has no "
                         "committed offset of such partitions", m->from.group);
    return rc == KRC_OK ? name_entries(m) : rc;
}

static int look_up(struct migrate *m, struct migrate_entry *entry)
{
    const struct krc_committed *row = entry->row;
    int rc = load_topic(&m->from, row->topic, &m->error);
    if (rc == KRC_OK)
        rc = load_topic(&m->to, entry->to_topic, &m->error);
    if (rc < 0)
        return rc;
    entry->topic_id = topic_id_of(&m->from, row->topic, row->partition);
    entry->to_topic_id = topic_id_of(&m->to, entry->to_topic, row->partition);
    report_recall(&m->report, entry);
    if (entry->was_reported)
        return KRC_OK;
    entry->result = (struct krc_migration){.topic = row->topic, .to_topic = entry->to_topic,
                                           .partition = row->partition, .topic_id = row->topic_id,
                                           .committed = row->offset};
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

static bool any_mapped(const struct migrate *m)
{
    return m->map.count > 0 || m->map.prefix != NULL;
}

/* The name there is left out where all are the same. */
static int print_table(const struct migrate *m, krc_error *error)
{
    static const struct cmd_column columns[] = {
        {"TOPIC", true},     {"PARTITION", false}, {"FROM-OFFSET", false}, {"TO-OFFSET", false},
        {"VERDICT", true},   {"AGAIN", false},     {"EVIDENCE", true}},
        mapped[] = {{"TOPIC", true},         {"TO-TOPIC", true},   {"PARTITION", false},
                    {"FROM-OFFSET", false},  {"TO-OFFSET", false}, {"VERDICT", true},
                    {"AGAIN", false},        {"EVIDENCE", true}};
    struct cmd_table table;
    bool shows_both = any_mapped(m);
    cmd_table_init(&table, shows_both ? mapped : columns,
                   sizeof columns / sizeof *columns + shows_both);
    for (size_t i = 0; i < m->count; i++) {
        const struct krc_migration *result = &m->entries[i].result;
        cmd_table_add(&table, "%s", result->topic);
        if (shows_both)
            cmd_table_add(&table, "%s", m->entries[i].to_topic);
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
    const struct krc_committed *now = krc_committed_find(m->there.list, m->to.group,
                                                         entry->to_topic, result->partition);
    if (now == NULL || now->offset <= result->offset || m->force)
        return true;
    cmd_say("%s-%" PRId32 " stays at offset %" PRId64 " there, beyond offset %" PRId64
            "; --force moves it back", entry->to_topic, result->partition, now->offset,
            result->offset);
    m->skipped = true;
    return false;
}

/* Whether the offset has not moved, nor its topic: then the leader epoch holds, too. */
static bool is_same_log(const struct migrate_entry *entry)
{
    static const struct krc_uuid unknown;
    const struct krc_uuid *here = &entry->topic_id, *there = &entry->to_topic_id;
    return entry->result.offset == entry->row->offset &&
           memcmp(here, &unknown, sizeof unknown) != 0 && memcmp(here, there, sizeof *here) == 0;
}

static int plan(struct migrate *m, krc_committed_list *list)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct migrate_entry *entry = &m->entries[i];
        struct krc_committed row = *entry->row;
        if (!is_wanted(m, entry))
            continue;
        row.group = m->to.group;
        row.topic = entry->to_topic;
        row.offset = entry->result.offset;
        row.topic_id = entry->to_topic_id;
        if (!is_same_log(entry))
            row.leader_epoch = -1;
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
        if (krc_committed_find(list, m->to.group, entry->to_topic, entry->row->partition) == NULL)
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
    const struct krc_committed_place to = {.store = m->to.store,
                                           .source = m->to.handle,
                                           .replaces = stays_in_store(m),
                                           .before = stays_in_store(m) ? m->here.list
                                                                       : m->there.list,
                                           .reason = "migrated by the user",
                                           .now_ms = cmd_now_ms()};
    int rc = m->to.store != NULL ? krc_committed_save(list, &to, &m->error)
                                 : krc_group_cluster_commit(m->to.handle, list, &m->error);
    return rc < 0 ? rc : note_committed(m, list);
}

static int carry_out(struct migrate *m)
{
    offsets_free(&m->there); /* it may have changed */
    m->there = (struct offsets_rows){0};
    int rc = load_target(m);
    if (rc < 0)
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
    if (rc == KRC_OK && m->to.store != NULL)
        rc = load_target(m); /* whether it may be written to, before much is looked up */
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

int migrate_run(struct migrate *m)
{
    m->report.from_group = m->from.group;
    m->report.to_group = m->to.group;
    m->report.from = m->from.name != NULL ? m->from.name : m->from.store;
    m->report.to = m->to.store != NULL ? m->to.store : m->to.name;
    int rc = migrate(m);
    report_close(&m->report);
    offsets_free(&m->here);
    offsets_free(&m->there);
    krc_close(m->from.handle);
    krc_close(m->to.handle);
    for (size_t i = 0; i < m->count; i++)
        free(m->entries[i].to_topic);
    free(m->entries);
    if (rc < 0)
        return cmd_fail(&m->error);
    return cmd_flush() == CMD_FAILED ? CMD_FAILED : m->skipped ? CMD_LOSS : CMD_DONE;
}
