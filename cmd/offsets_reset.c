/*
 * krc offsets reset: a plan of new offsets, shown or carried out.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/cmd.h"
#include "cmd/offsets.h"
#include "cmd/times.h"

#define MAX_NAMED 100000 /* so that "-p 0-2000000000" is a mistake, not a plan */

struct planning {
    const struct offsets_options *options;
    const char *group;
    krc *source;                 /* NULL: no log was named */
    struct offsets_rows current; /* what there is of the group */
    krc_committed_list *chosen;  /* what is to be moved: to this offset, -1: by the target */
    struct krc_offset_query *answers; /* of each that is chosen, by kind; NULL: no log was named */
    size_t kinds;
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

/* ---- Which partitions ------------------------------------------------------------------------ */

static int choose(struct planning *planning, const char *topic, int32_t partition, int64_t offset)
{
    struct krc_committed row = {.group = planning->group,
                                .topic = topic,
                                .partition = partition,
                                .offset = offset,
                                .leader_epoch = -1,
                                .commit_time_ms = -1};
    int rc = krc_committed_add(planning->chosen, &row, planning->error);
    return rc < 0 ? rc : KRC_OK;
}

static int missing_log(struct planning *planning, const char *topic, int32_t partition)
{
    const struct cmd_known known = offsets_logs(planning->options, planning->source);
    char text[16];
    snprintf(text, sizeof text, "%" PRId32, partition);
    return cmd_missing_topic(&known, topic, text, planning->error);
}

static int choose_named(void *arg, const char *topic, int32_t partition)
{
    struct planning *planning = arg;
    if (++planning->named > MAX_NAMED)
        return refuse(planning, topic, partition, "so many partitions cannot be meant");
    if (planning->source != NULL && !krc_source_has(planning->source, topic, partition, NULL))
        return missing_log(planning, topic, partition);
    return choose(planning, topic, partition, -1);
}

/* Nothing is moved where something that is named is nowhere. */
static int check_selected(struct planning *planning)
{
    const struct cmd_selection *selection = &planning->options->selection;
    const struct cmd_known chosen = {.list = planning->chosen};
    for (size_t i = 0; i < selection->count; i++)
        if (!cmd_knows_selected(&chosen, selection, i))
            return offsets_missing(planning->options, planning->source, planning->current.all, i,
                                   planning->error);
    return KRC_OK;
}

/* What is committed, what is named in full, and, of topics that are named, what has a log. */
static int choose_selected(struct planning *planning)
{
    const struct cmd_selection *selection = &planning->options->selection;
    const struct krc_committed *row;
    struct krc_partition log;
    int rc = KRC_OK;
    for (size_t i = 0; rc == KRC_OK && (row = krc_committed_at(planning->current.list, i)); i++)
        rc = choose(planning, row->topic, row->partition, -1);
    if (rc == KRC_OK)
        rc = cmd_each_named(selection, choose_named, planning);
    bool any_log = planning->source != NULL && selection->count > 0;
    for (size_t i = 0; any_log && rc == KRC_OK &&
                       krc_source_partition(planning->source, i, &log); i++)
        if (cmd_selects(selection, log.topic, log.partition))
            rc = choose(planning, log.topic, log.partition, -1);
    return rc == KRC_OK ? check_selected(planning) : rc;
}

static int choose_of_file(struct planning *planning)
{
    const struct offsets_options *options = planning->options;
    const struct krc_committed *row;
    krc_committed_list *list;
    int rc = offsets_read(options, options->target_value, options->group, &list, planning->error);
    for (size_t i = 0; rc == KRC_OK && (row = krc_committed_at(list, i)) != NULL; i++)
        rc = strcmp(row->group, planning->group) == 0
                 ? choose(planning, row->topic, row->partition, row->offset)
                 : cmd_error(planning->error, KRC_E_INVALID, "%s: offsets of group \"%s\": name the "
                             "group with -g", options->target_value, row->group);
    krc_committed_free(list);
    return rc;
}

/* ---- Where their logs begin and end ---------------------------------------------------------- */

static bool is_by_time(const struct offsets_options *options)
{
    return options->target == TO_DATETIME || options->target == BY_DURATION;
}

/* Kinds are numbers, of which the one by time is the last. */
static int ask_logs(struct planning *planning)
{
    const struct offsets_options *options = planning->options;
    const struct krc_committed *row;
    size_t count = 0, asked = 0;
    int64_t time_ms = options->target == BY_DURATION ? planning->now_ms - options->target_number
                                                     : options->target_number;
    while (krc_committed_at(planning->chosen, count) != NULL)
        count++;
    planning->kinds = is_by_time(options) ? KRC_OFFSET_FOR_TIME + 1 : KRC_LOG_END_OFFSET + 1;
    planning->answers = calloc(count * planning->kinds + 1, sizeof *planning->answers);
    if (planning->answers == NULL)
        return cmd_error(planning->error, KRC_E_NOMEM, "out of memory");
    for (size_t i = 0; (row = krc_committed_at(planning->chosen, i)) != NULL; i++)
        for (size_t kind = 0; kind < planning->kinds; kind++)
            planning->answers[asked++] = (struct krc_offset_query){
                .topic = row->topic,
                .partition = row->partition,
                .kind = (enum krc_offset_kind)kind,
                .timestamp_ms = time_ms};
    int rc = krc_list_offsets(planning->source, planning->answers, asked, planning->error);
    for (size_t i = 0; rc == KRC_OK && i < asked; i++)
        if (planning->answers[i].error.code < 0) {
            *planning->error = planning->answers[i].error;
            rc = planning->error->code;
        }
    return rc;
}

/* No client can ask a cluster for the log end. */
static int64_t end_of(const struct krc_offset_query *log)
{
    int64_t end = log[KRC_LOG_END_OFFSET].offset;
    return end >= 0 ? end : log[KRC_HIGH_WATERMARK].offset;
}

/* ---- Where they are to be -------------------------------------------------------------------- */

/* The offset that a target means for one partition, before it is kept inside the log. */
static int wanted(struct planning *planning, const struct krc_committed *chosen,
                  const struct krc_offset_query *log, int64_t *offset)
{
    const struct offsets_options *options = planning->options;
    const struct krc_committed *now = krc_committed_find(planning->current.list, planning->group,
                                                         chosen->topic, chosen->partition);
    switch (options->target) {
    case FROM_FILE: /* which says it */
        return KRC_OK;
    case TO_EARLIEST:
        *offset = log[KRC_LOG_START_OFFSET].offset;
        return KRC_OK;
    case TO_LATEST:
        *offset = options->read_uncommitted ? end_of(log) : log[KRC_LAST_STABLE_OFFSET].offset;
        return KRC_OK;
    case TO_DATETIME:
    case BY_DURATION:
        *offset = log[KRC_OFFSET_FOR_TIME].offset;
        return KRC_OK;
    case TO_OFFSET:
        *offset = options->target_number;
        return KRC_OK;
    default: /* TO_CURRENT, SHIFT_BY */
        if (now == NULL || now->offset < 0)
            return refuse(planning, chosen->topic, chosen->partition,
                          "the group has no committed offset there");
        if (!__builtin_add_overflow(now->offset, options->target_number, offset))
            return KRC_OK;
        *offset = INT64_MAX; /* no committed offset is below 0 */
        return log != NULL ? KRC_OK : refuse(planning, chosen->topic, chosen->partition,
                                             "no offset is that large");
    }
}

static void keep_inside(const struct krc_offset_query *log, int64_t *offset)
{
    const struct krc_log_offsets range = {.log_start_offset = log[KRC_LOG_START_OFFSET].offset,
                                          .high_watermark = log[KRC_HIGH_WATERMARK].offset,
                                          .log_end_offset = log[KRC_LOG_END_OFFSET].offset};
    (void)offsets_keep_inside(log->topic, log->partition, &range, offset);
}

static int add_planned(struct planning *planning, const struct krc_committed *chosen,
                       int64_t offset)
{
    const struct krc_committed *now = krc_committed_find(planning->current.list, planning->group,
                                                         chosen->topic, chosen->partition);
    bool stays = now != NULL && now->offset == offset;
    struct krc_committed row = *chosen;
    row.offset = offset;
    row.leader_epoch = stays ? now->leader_epoch : -1;
    row.metadata = stays ? now->metadata : "";
    int rc = krc_committed_add(planning->plan, &row, planning->error);
    return rc < 0 ? rc : KRC_OK;
}

static int plan_all(struct planning *planning)
{
    const struct krc_committed *chosen;
    int rc = planning->source != NULL ? ask_logs(planning) : KRC_OK;
    for (size_t i = 0; rc == KRC_OK && (chosen = krc_committed_at(planning->chosen, i)); i++) {
        const struct krc_offset_query *log =
            planning->answers == NULL ? NULL : &planning->answers[i * planning->kinds];
        int64_t offset = chosen->offset;
        rc = wanted(planning, chosen, log, &offset);
        if (rc < 0)
            return rc;
        if (log != NULL && planning->options->target != TO_CURRENT)
            keep_inside(log, &offset);
        rc = add_planned(planning, chosen, offset < 0 ? 0 : offset);
    }
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
    if (rc == KRC_OK)
        offsets_tell_pending(planning->current.list);
    if (rc < 0 && !(rc == KRC_E_NOT_FOUND && is_cluster(options)))
        return rc; /* a cluster's group is made by its first offset */
    rc = options->target == FROM_FILE ? choose_of_file(planning) : choose_selected(planning);
    if (rc == KRC_OK)
        rc = plan_all(planning);
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
    if (planning->source == NULL && options->target != TO_CURRENT)
        offsets_tell_unchecked();
    int rc = !options->execute ? KRC_OK
                               : offsets_save(options, planning->source, planning->plan,
                                              planning->current.list, "reset by the user",
                                              planning->error);
    if (rc == KRC_OK) /* what was refused is not shown: it would look as if it was done */
        rc = offsets_print_plan(planning->plan, planning->current.list, planning->error);
    if (rc == KRC_OK && !options->execute) {
        offsets_tell_members(planning->current.groups, planning->plan);
        cmd_say("a dry run, nothing was changed; --execute does it");
    }
    return rc;
}

int offsets_reset(const struct offsets_options *options)
{
    bool needs_log = options->target == TO_EARLIEST || options->target == TO_LATEST ||
                     is_by_time(options);
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
        .chosen = krc_committed_new(),
        .plan = krc_committed_new(),
        .now_ms = cmd_now_ms(),
        .error = &error,
    };
    int rc = planning.chosen != NULL && planning.plan != NULL
                 ? make_plan(&planning)
                 : cmd_error(&error, KRC_E_NOMEM, "out of memory");
    if (rc == KRC_OK)
        rc = carry_out(&planning);
    krc_close(planning.source);
    offsets_free(&planning.current);
    free(planning.answers);
    krc_committed_free(planning.chosen);
    krc_committed_free(planning.plan);
    return rc < 0 ? cmd_fail(&error) : cmd_flush();
}
