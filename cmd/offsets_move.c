/*
 * krc offsets export and import: offsets as text, out and in.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/offsets.h"

/* ---- Export -------------------------------------------------------------------------------- */

static void print_rows(const struct offsets_options *options, const struct offsets_rows *rows)
{
    offsets_tell_members(rows->groups, rows->list);
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
    bool failed = false;
    int rc = offsets_open(options, &source, &error);
    if (rc == KRC_OK)
        rc = offsets_load(options, source, options->group, &rows, &error);
    if (rc == KRC_OK)
        rc = offsets_mark(source, &rows.list, &error);
    if (rc == KRC_OK) {
        failed = offsets_tell_failures(&rows) || offsets_tell_missing(options, source, &rows);
        offsets_tell_pending(rows.list);
        print_rows(options, &rows);
    }
    offsets_free(&rows);
    krc_close(source);
    if (rc < 0)
        return cmd_fail(&error);
    return cmd_flush() == CMD_DONE && !failed ? CMD_DONE : CMD_FAILED;
}

/* ---- Import -------------------------------------------------------------------------------- */

/* In a cluster there may be a group that is called as those without a name are, and another one is
 * meant. */
static int check_plan(const struct offsets_options *options, const krc_committed_list *plan,
                        krc_error *error)
{
    const struct krc_committed *row;
    if (krc_committed_at(plan, 0) == NULL)
        return cmd_error(error, KRC_E_INVALID, "%s has no offsets that could be imported",
                         options->file == NULL || strcmp(options->file, "-") == 0 ? "standard input"
                                                                                   : options->file);
    if (options->store != NULL || options->group != NULL)
        return KRC_OK;
    for (size_t i = 0; (row = krc_committed_at(plan, i)) != NULL; i++)
        if (strcmp(row->group, "default") == 0)
            return cmd_error(error, KRC_E_INVALID, "%s-%" PRId32 " comes without a group: name it "
                             "with -g", row->topic, row->partition);
    return KRC_OK;
}

/* What there is now, and whether the store's groups are of the cluster at hand, before anything is
 * said of its logs. */
static int load_current(const struct offsets_options *options, krc *source,
                        const krc_committed_list *plan, struct offsets_rows *current,
                        krc_error *error)
{
    const struct krc_committed *row;
    int rc = offsets_load(options, source, options->group, current, error);
    bool must_be_known = options->dry_run || options->store != NULL;
    if (rc == KRC_E_NOT_FOUND || (rc < 0 && !must_be_known))
        rc = KRC_OK; /* who may commit may not be let see what others have */
    for (size_t i = 0; rc == KRC_OK && (row = krc_committed_at(plan, i)) != NULL; i++) {
        const struct krc_group *left_out = krc_groups_find(current->groups, row->group);
        if (options->store != NULL && left_out != NULL) {
            *error = left_out->error;
            rc = error->code;
        }
    }
    return rc;
}

/* What was refused is not shown: it would look as if it was done. */
static int carry_out(const struct offsets_options *options, krc *source,
                     const krc_committed_list *plan, const struct offsets_rows *current,
                     krc_error *error)
{
    int rc = options->dry_run
                 ? KRC_OK
                 : offsets_save(options, source, plan, NULL, "imported by the user", error);
    if (rc == KRC_OK)
        rc = offsets_print_plan(plan, current->list, error);
    if (rc == KRC_OK && options->dry_run) {
        offsets_tell_members(current->groups, plan);
        cmd_say("a dry run, nothing was imported");
    }
    return rc;
}

int offsets_import(const struct offsets_options *options)
{
    krc_committed_list *plan;
    struct offsets_rows current = {0};
    krc *source = NULL;
    krc_error error;
    int rc = offsets_read(options, options->file, options->group, &plan, &error);
    if (rc == KRC_OK)
        rc = check_plan(options, plan, &error);
    if (rc == KRC_OK)
        rc = offsets_open(options, &source, &error);
    if (rc == KRC_OK)
        rc = load_current(options, source, plan, &current, &error);
    if (rc == KRC_OK)
        rc = offsets_keep_all_inside(source, &plan, &error);
    if (rc == KRC_OK)
        rc = carry_out(options, source, plan, &current, &error);
    offsets_free(&current);
    krc_committed_free(plan);
    krc_close(source);
    return rc < 0 ? cmd_fail(&error) : cmd_flush();
}
