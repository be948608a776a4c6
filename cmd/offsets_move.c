/*
 * krc offsets export and import: offsets as text, out and in.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/offsets.h"

/* ---- Export -------------------------------------------------------------------------------- */

/* Offsets of a group that is at work are soon not its offsets any more. */
static void tell_members(const struct krc_group *group)
{
    fprintf(stderr, "krc: group %s has members, and may go on meanwhile:", group->id);
    for (size_t i = 0; i < group->member_count; i++)
        fprintf(stderr, "%s %s (%s, %s)", i == 0 ? "" : ",", group->members[i].id,
                group->members[i].client_id, group->members[i].host);
    fputc('\n', stderr);
}

static bool has_rows(const struct offsets_rows *rows, const char *group)
{
    const struct krc_committed *row;
    for (size_t i = 0; (row = krc_committed_at(rows->list, i)) != NULL; i++)
        if (strcmp(row->group, group) == 0)
            return true;
    return false;
}

static void print_rows(const struct offsets_options *options, const struct offsets_rows *rows)
{
    const struct krc_group *group;
    for (size_t i = 0; (group = krc_groups_at(rows->groups, i)) != NULL; i++)
        if (group->member_count > 0 && has_rows(rows, group->id))
            tell_members(group);
    if (options->json)
        krc_committed_write_json(rows->list, stdout);
    else
        krc_committed_write_csv(rows->list, options->group == NULL, stdout);
}

int offsets_export(const struct offsets_options *options)
{
    struct offsets_rows rows = {0};
    krc *source;
    krc_error error;
    int rc = offsets_open(options, &source, &error);
    if (rc == KRC_OK)
        rc = offsets_load(options, source, options->group, &rows, &error);
    if (rc == KRC_OK)
        print_rows(options, &rows);
    offsets_free(&rows);
    krc_close(source);
    return rc < 0 ? cmd_fail(&error) : cmd_flush();
}

/* ---- Import -------------------------------------------------------------------------------- */

static int show_import(const struct offsets_options *options, krc *source,
                       const krc_committed_list *plan, krc_error *error)
{
    struct offsets_rows current = {0};
    int rc = offsets_load(options, source, options->group, &current, error);
    if (rc == KRC_OK || rc == KRC_E_NOT_FOUND)
        rc = offsets_print_plan(plan, current.list, error);
    if (rc == KRC_OK)
        fprintf(stderr, "krc: a dry run, nothing was imported\n");
    offsets_free(&current);
    return rc;
}

/* In a cluster there may be a group of that name, and another one is meant. */
static int check_groups(const struct offsets_options *options, const krc_committed_list *plan,
                        krc_error *error)
{
    const struct krc_committed *row;
    if (options->store != NULL || options->group != NULL)
        return KRC_OK;
    for (size_t i = 0; (row = krc_committed_at(plan, i)) != NULL; i++)
        if (strcmp(row->group, "default") == 0)
            return cmd_error(error, KRC_E_INVALID, "%s-%" PRId32 " comes without a group: name it "
                             "with -g", row->topic, row->partition);
    return KRC_OK;
}

int offsets_import(const struct offsets_options *options)
{
    krc_committed_list *plan;
    krc *source = NULL;
    krc_error error;
    int rc = offsets_read(options, options->file, options->group, &plan, &error);
    if (rc == KRC_OK)
        rc = check_groups(options, plan, &error);
    if (rc == KRC_OK)
        rc = offsets_open(options, &source, &error);
    if (rc == KRC_OK && options->dry_run)
        rc = show_import(options, source, plan, &error);
    else if (rc == KRC_OK)
        rc = offsets_save(options, source, plan, "imported by the user", &error);
    krc_committed_free(plan);
    krc_close(source);
    return rc < 0 ? cmd_fail(&error) : cmd_flush();
}
