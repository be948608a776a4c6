/*
 * krc offsets reset: a plan of new offsets, shown or carried out.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/offsets.h"
#include "cmd/times.h"

#define MAX_NAMED 100000 /* so that "-p 0-2000000000" is a mistake, not a plan */

struct planning {
    const struct offsets_options *options;
    const char *group;
    krc *source;                 /* NULL: no log was named */
    struct offsets_rows current; /* what there is of the group */
    krc_committed_list *plan;
    size_t named;
    int64_t now_ms;
    krc_error *error;
};

static int refuse(struct planning *planning, const char *topic, int32_t partition,
                  const char *reason)
{
    return cmd_error(planning->error, KRC_E_INVALID, "partition %" PRId32 " of topic %s: %s",
                     partition, topic, reason);
}

/* No client can ask a cluster for the log end. */
static int64_t end_of(const struct krc_log_offsets *log)
{
    return log->log_end_offset >= 0 ? log->log_end_offset : log->high_watermark;
}

/* The offset that a target means for one partition, before it is kept inside the log. */
static int wanted(struct planning *planning, const char *topic, int32_t partition,
                  const struct krc_log_offsets *log, int64_t *offset)
{
    const struct offsets_options *options = planning->options;
    const struct krc_committed *now =
        krc_committed_find(planning->current.list, planning->group, topic, partition);
    switch (options->target) {
    case TO_EARLIEST:
        *offset = log->log_start_offset;
        return KRC_OK;
    case TO_LATEST:
        *offset = options->read_uncommitted ? end_of(log) : log->last_stable_offset;
        return KRC_OK;
    case TO_DATETIME:
        return krc_offset_for_time(planning->source, topic, partition, options->target_number,
                                   offset, planning->error);
    case BY_DURATION:
        return krc_offset_for_time(planning->source, topic, partition,
                                   planning->now_ms - options->target_number, offset,
                                   planning->error);
    case TO_OFFSET:
        *offset = options->target_number;
        return KRC_OK;
    default: /* TO_CURRENT, SHIFT_BY */
        if (now == NULL)
            return refuse(planning, topic, partition, "the group has no committed offset there");
        if (__builtin_add_overflow(now->offset, options->target_number, offset))
            return refuse(planning, topic, partition, "no offset is that large");
        return KRC_OK;
    }
}

static void keep_inside(const struct krc_log_offsets *log, const char *topic, int32_t partition,
                        int64_t *offset)
{
    int64_t asked = *offset;
    if (*offset < log->log_start_offset)
        *offset = log->log_start_offset;
    if (*offset > end_of(log))
        *offset = end_of(log);
    if (*offset != asked)
        fprintf(stderr, "krc: %s-%" PRId32 ": offset %" PRId64 " lies outside the log, %" PRId64
                " is taken\n", topic, partition, asked, *offset);
}

static int add_planned(struct planning *planning, const char *topic, int32_t partition,
                       int64_t offset)
{
    const struct krc_committed *now =
        krc_committed_find(planning->current.list, planning->group, topic, partition);
    bool stays = now != NULL && now->offset == offset;
    struct krc_committed row = {
        .group = planning->group,
        .topic = topic,
        .partition = partition,
        .leader_epoch = stays ? now->leader_epoch : -1,
        .offset = offset,
        .metadata = stays ? now->metadata : "",
        .commit_time_ms = -1,
    };
    int rc = krc_committed_add(planning->plan, &row, planning->error);
    return rc < 0 ? rc : KRC_OK;
}

/* Plans one partition; `asked` is the offset of a file, -1: by the target. */
static int plan_offset(struct planning *planning, const char *topic, int32_t partition,
                       int64_t asked)
{
    struct krc_log_offsets log = {0};
    int64_t offset = asked;
    int rc = KRC_OK;
    if (krc_committed_find(planning->plan, planning->group, topic, partition) != NULL)
        return KRC_OK;
    if (planning->source != NULL)
        rc = krc_log_offsets(planning->source, topic, partition, &log, planning->error);
    if (rc == KRC_OK && asked < 0)
        rc = wanted(planning, topic, partition, &log, &offset);
    if (rc < 0)
        return rc;
    if (planning->source != NULL && planning->options->target != TO_CURRENT)
        keep_inside(&log, topic, partition, &offset);
    return add_planned(planning, topic, partition, offset < 0 ? 0 : offset);
}

static int plan_named(void *arg, const char *topic, int32_t partition)
{
    struct planning *planning = arg;
    if (++planning->named > MAX_NAMED)
        return refuse(planning, topic, partition, "so many partitions cannot be meant");
    return plan_offset(planning, topic, partition, -1);
}

/* What is committed, what is named in full, and, of topics that are named, what has a log. */
static int plan_target(struct planning *planning)
{
    const struct cmd_selection *selection = &planning->options->selection;
    const krc_committed_list *current = planning->current.list;
    const struct krc_committed *row;
    struct krc_partition log;
    int rc = KRC_OK;
    for (size_t i = 0; rc == KRC_OK && (row = krc_committed_at(current, i)) != NULL; i++)
        rc = plan_offset(planning, row->topic, row->partition, -1);
    if (rc == KRC_OK)
        rc = cmd_each_named(selection, plan_named, planning);
    if (planning->source == NULL || selection->count == 0)
        return rc;
    for (size_t i = 0; rc == KRC_OK && krc_source_partition(planning->source, i, &log); i++)
        if (cmd_selects(selection, log.topic, log.partition))
            rc = plan_offset(planning, log.topic, log.partition, -1);
    return rc;
}

static int plan_file(struct planning *planning)
{
    const struct offsets_options *options = planning->options;
    const struct krc_committed *row;
    krc_committed_list *list;
    int rc = offsets_read(options, options->target_value, planning->group, &list, planning->error);
    for (size_t i = 0; rc == KRC_OK && (row = krc_committed_at(list, i)) != NULL; i++)
        rc = plan_offset(planning, row->topic, row->partition, row->offset);
    krc_committed_free(list);
    return rc;
}

static bool is_cluster(const struct offsets_options *options)
{
    return options->store == NULL;
}

static int make_plan(struct planning *planning)
{
    const struct offsets_options *options = planning->options;
    int rc = offsets_open(options, &planning->source, planning->error);
    if (rc == KRC_OK)
        rc = offsets_load(options, planning->source, planning->group, &planning->current,
                          planning->error);
    if (rc < 0 && !(rc == KRC_E_NOT_FOUND && is_cluster(options)))
        return rc; /* a cluster's group is made by its first offset */
    rc = options->target == FROM_FILE ? plan_file(planning) : plan_target(planning);
    if (rc == KRC_OK && krc_committed_at(planning->plan, 0) == NULL)
        rc = cmd_error(planning->error, KRC_E_NOT_FOUND,
                       "nothing to reset: group \"%s\" has no committed offset of such partitions "
                       "in %s", planning->group,
                       is_cluster(options) ? "the cluster" : options->store);
    return rc;
}

static int carry_out(struct planning *planning)
{
    const struct offsets_options *options = planning->options;
    int rc = offsets_print_plan(planning->plan, planning->current.list, planning->error);
    if (rc == KRC_OK && options->execute)
        return offsets_save(options, planning->source, planning->plan, "reset by the user",
                            planning->error);
    if (rc == KRC_OK) {
        offsets_tell_members(planning->current.groups, planning->plan);
        fprintf(stderr, "krc: a dry run, nothing was changed; --execute does it\n");
    }
    return rc;
}

int offsets_reset(const struct offsets_options *options)
{
    bool needs_log = options->target == TO_EARLIEST || options->target == TO_LATEST ||
                     options->target == TO_DATETIME || options->target == BY_DURATION;
    if (options->target == TO_NOTHING)
        return cmd_usage("offsets reset: where to? Give a target such as --to-offset N");
    if (needs_log && !offsets_have_log(options))
        return cmd_usage("offsets reset: --%s needs the log: name its folder with -d, or the "
                         "cluster with -b", options->target_flag);
    if (is_cluster(options) && options->group == NULL)
        return cmd_usage("offsets reset: which group of the cluster? Name it with -g");
    if (options->execute && options->dry_run)
        return cmd_usage("offsets reset: --execute and --dry-run exclude each other");
    krc_error error;
    struct planning planning = {
        .options = options,
        .group = options->group != NULL ? options->group : "default",
        .plan = krc_committed_new(),
        .now_ms = cmd_now_ms(),
        .error = &error,
    };
    int rc = planning.plan != NULL ? make_plan(&planning)
                                   : cmd_error(&error, KRC_E_NOMEM, "out of memory");
    if (rc == KRC_OK)
        rc = carry_out(&planning);
    krc_close(planning.source);
    offsets_free(&planning.current);
    krc_committed_free(planning.plan);
    return rc < 0 ? cmd_fail(&error) : cmd_flush();
}
