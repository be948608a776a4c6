/*
 * Committed offsets where they are kept, and as text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/offsets.h"
#include "cmd/table.h"
#include "cmd/times.h"

#define MAX_FILE_BYTES (64 << 20)

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

static int load_all(const struct offsets_options *options, krc *source, const char *group,
                    krc_committed_list *list, krc_groups *groups, krc_error *error)
{
    if (options->store != NULL)
        return krc_committed_load(list, groups, options->store, group, source, error);
    if (options->has_servers)
        return krc_group_cluster_read(source, group, list, groups, error);
    return krc_group_log_read(source, group, list, groups, error);
}

int offsets_load(const struct offsets_options *options, krc *source, const char *group,
                 struct offsets_rows *rows, krc_error *error)
{
    int rc = cmd_error(error, KRC_E_NOMEM, "out of memory");
    *rows = (struct offsets_rows){krc_committed_new(), krc_groups_new(), krc_committed_new()};
    if (rows->all != NULL && rows->list != NULL && rows->groups != NULL)
        rc = load_all(options, source, group, rows->all, rows->groups, error);
    if (rows->all != NULL)
        offsets_tell_left_out(rows->all);
    return rc == KRC_OK ? select_rows(options, rows->all, rows->list, error) : rc;
}

void offsets_free(struct offsets_rows *rows)
{
    krc_committed_free(rows->list);
    krc_groups_free(rows->groups);
    krc_committed_free(rows->all);
}

struct cmd_known offsets_logs(const struct offsets_options *options, const krc *source)
{
    return (struct cmd_known){
        .has_no = options->has_servers ? "the cluster has no" : "the log folders have no",
        .handle = source};
}

/* A topic that there is, of which nothing is committed, is another matter than one that there is
 * not. */
int offsets_missing(const struct offsets_options *options, const krc *source,
                    const krc_committed_list *all, size_t i, krc_error *error)
{
    char has_no[400];
    const char *topic = cmd_selected_topic(&options->selection, i);
    struct cmd_known known = offsets_logs(options, source);
    if (source != NULL && topic[0] != '^' && !cmd_knows_topic(&known, topic))
        return cmd_missing_topic(&known, topic, NULL, error);
    if (options->group == NULL)
        snprintf(has_no, sizeof has_no, "no group has a committed offset of");
    else
        snprintf(has_no, sizeof has_no, "group \"%s\" has no committed offset of", options->group);
    known = (struct cmd_known){.has_no = has_no, .list = all};
    return cmd_missing_selected(&known, &options->selection, i, error);
}

bool offsets_tell_missing(const struct offsets_options *options, const krc *source,
                          const struct offsets_rows *rows)
{
    const struct cmd_known selected = {.list = rows->list};
    bool missing = false;
    for (size_t i = 0; i < options->selection.count; i++) {
        krc_error error;
        if (cmd_knows_selected(&selected, &options->selection, i))
            continue;
        (void)offsets_missing(options, source, rows->all, i, &error);
        (void)cmd_fail(&error);
        missing = true;
    }
    return missing;
}

void offsets_tell_left_out(const krc_committed_list *list)
{
    const char *topic = krc_committed_left_out(list);
    if (topic != NULL)
        cmd_say("offsets of topic \"%s\", which is not a valid topic name, are left "
                "out, and so are others like them", topic);
}

bool offsets_tell_failures(const struct offsets_rows *rows)
{
    const struct krc_group *group;
    bool failed = false;
    for (size_t i = 0; (group = krc_groups_at(rows->groups, i)) != NULL; i++)
        if (group->error.code < 0) {
            cmd_fail(&group->error);
            failed = true;
        }
    return failed;
}

static void tell_members(const struct krc_group *group)
{
    char *text = NULL;
    size_t len;
    FILE *list = open_memstream(&text, &len);
    for (size_t i = 0; list != NULL && i < group->member_count; i++)
        fprintf(list, "%s %s (%s, %s)", i == 0 ? "" : ",", group->members[i].id,
                group->members[i].client_id, group->members[i].host);
    if (list != NULL)
        fclose(list);
    cmd_say("group %s has members, and may go on meanwhile:%s", group->id,
            text == NULL ? " out of memory" : text);
    free(text);
}

void offsets_tell_members(const krc_groups *groups, const krc_committed_list *list)
{
    const struct krc_committed *row;
    const char *last = "";
    for (size_t i = 0; (row = krc_committed_at(list, i)) != NULL; i++) {
        const struct krc_group *group = krc_groups_find(groups, row->group);
        if (group != NULL && group->member_count > 0 && strcmp(group->id, last) != 0)
            tell_members(group);
        last = row->group;
    }
}

bool offsets_have_log(const struct offsets_options *options)
{
    return options->has_log_dir || options->has_servers;
}

int offsets_open(const struct offsets_options *options, krc **source, krc_error *error)
{
    *source = NULL;
    int rc = offsets_have_log(options) ? krc_open(source, options->config, error) : KRC_OK;
    return rc == KRC_OK && options->has_servers ? krc_load_topics(*source, NULL, 0, error) : rc;
}

int offsets_save(const struct offsets_options *options, krc *source,
                 const krc_committed_list *plan, const krc_committed_list *before,
                 const char *reason, krc_error *error)
{
    if (options->store == NULL)
        return krc_group_cluster_commit(source, plan, error);
    const struct krc_committed_place to = {.store = options->store,
                                           .source = source,
                                           .before = before,
                                           .reason = reason,
                                           .now_ms = cmd_now_ms()};
    return krc_committed_save(plan, &to, error);
}

/* ---- Text ------------------------------------------------------------------------------------ */

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

int offsets_print_plan(const krc_committed_list *plan, const krc_committed_list *current,
                       krc_error *error)
{
    static const struct cmd_column columns[] = {
        {"GROUP", true}, {"TOPIC", true}, {"PARTITION", false}, {"CURRENT-OFFSET", false},
        {"NEW-OFFSET", false}};
    const struct krc_committed *row;
    struct cmd_table table;
    cmd_table_init(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; (row = krc_committed_at(plan, i)) != NULL; i++) {
        const struct krc_committed *now =
            krc_committed_find(current, row->group, row->topic, row->partition);
        cmd_table_add(&table, "%s", row->group);
        cmd_table_add(&table, "%s", row->topic);
        cmd_table_add_number(&table, row->partition);
        cmd_table_add_number(&table, now == NULL ? -1 : now->offset);
        cmd_table_add_number(&table, row->offset);
    }
    int rc = cmd_table_print(&table, stdout, error);
    cmd_table_free(&table);
    return rc;
}
