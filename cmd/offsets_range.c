/*
 * Where committed offsets lie in their logs: marked where they are shown, kept inside where they
 * are set.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/offsets.h"

const char *offsets_note(enum krc_range range, bool is_pending)
{
    if (range != KRC_BELOW_START && range != KRC_BEYOND_END)
        return is_pending ? "pending in a transaction" : NULL;
    if (range == KRC_BELOW_START)
        return is_pending ? "below the start, pending in a transaction" : "below the start";
    return is_pending ? "beyond the end, pending in a transaction" : "beyond the end";
}

static int64_t end_of(const struct krc_log_offsets *log)
{
    return log->log_end_offset >= 0 ? log->log_end_offset : log->high_watermark;
}

bool offsets_keep_inside(const char *topic, int32_t partition, const struct krc_log_offsets *log,
                         int64_t *offset)
{
    int64_t asked = *offset;
    if (*offset < log->log_start_offset)
        *offset = log->log_start_offset;
    if (*offset > end_of(log))
        *offset = end_of(log);
    if (*offset != asked)
        cmd_say("%s-%" PRId32 ": offset %" PRId64 " is out of range; using %" PRId64, topic,
                partition, asked, *offset);
    return *offset != asked;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* One for each row, to be freed; NULL: out of memory. */
static struct krc_lag *lags_of(const krc_committed_list *list, size_t *count)
{
    const struct krc_committed *row;
    for (*count = 0; krc_committed_at(list, *count) != NULL;)
        ++*count;
    struct krc_lag *lags = calloc(*count + 1, sizeof *lags);
    for (size_t i = 0; lags != NULL && (row = krc_committed_at(list, i)) != NULL; i++)
        lags[i] = (struct krc_lag){.topic = row->topic, .partition = row->partition,
                                   .topic_id = row->topic_id, .committed = row->offset};
    return lags;
}

/* What is made of a row, now that it is known where its log begins and ends. */
typedef void change_fn(struct krc_committed *row, const struct krc_lag *lag);

static int copy_changed(const krc_committed_list *from, const struct krc_lag *lags,
                        change_fn *change, krc_committed_list *to, krc_error *error)
{
    const struct krc_committed *row;
    int rc = KRC_OK;
    for (size_t i = 0; rc >= 0 && (row = krc_committed_at(from, i)) != NULL; i++) {
        struct krc_committed copy = *row;
        change(&copy, &lags[i]);
        rc = krc_committed_add(to, &copy, error);
    }
    return rc < 0 ? rc : KRC_OK;
}

static int change_all(krc *source, krc_committed_list **list, change_fn *change,
                      krc_error *error)
{
    size_t count;
    struct krc_lag *lags = lags_of(*list, &count);
    krc_committed_list *changed = krc_committed_new();
    int rc = lags == NULL || changed == NULL ? cmd_error(error, KRC_E_NOMEM, "out of memory")
                                             : KRC_OK;
    if (rc == KRC_OK)
        rc = krc_locate_committed(source, lags, count, error);
    if (rc == KRC_OK)
        rc = copy_changed(*list, lags, change, changed, error);
    free(lags);
    krc_committed_free(rc == KRC_OK ? *list : changed);
    if (rc == KRC_OK)
        *list = changed;
    return rc;
}

static void mark(struct krc_committed *row, const struct krc_lag *lag)
{
    row->range = lag->range;
    if (lag->range == KRC_BELOW_START)
        cmd_say("group %s: %s-%" PRId32 ": offset %" PRId64 " is below the start of the log, %"
                PRId64, row->group, row->topic, row->partition, row->offset,
                lag->log.log_start_offset);
    else if (lag->range == KRC_BEYOND_END)
        cmd_say("group %s: %s-%" PRId32 ": offset %" PRId64 " is beyond the end of the log, %"
                PRId64, row->group, row->topic, row->partition, row->offset, end_of(&lag->log));
}

int offsets_mark(krc *source, krc_committed_list **list, krc_error *error)
{
    int rc = source == NULL ? KRC_OK : change_all(source, list, mark, error);
    if (rc == KRC_OK || rc == KRC_E_NOMEM)
        return rc;
    cmd_say("whether offsets are in the range of their logs is not known: %s", error->message);
    return KRC_OK;
}

static void keep_inside(struct krc_committed *row, const struct krc_lag *lag)
{
    if (lag->error.code < 0)
        cmd_say("%s-%" PRId32 ": whether offset %" PRId64 " is in the range of the log is not "
                "known: %s", row->topic, row->partition, row->offset, lag->error.message);
    else if (!lag->is_recreated &&
             offsets_keep_inside(row->topic, row->partition, &lag->log, &row->offset))
        row->leader_epoch = -1;
}

int offsets_keep_all_inside(krc *source, krc_committed_list **list, krc_error *error)
{
    if (source != NULL)
        return change_all(source, list, keep_inside, error);
    offsets_tell_unchecked();
    return KRC_OK;
}

void offsets_tell_unchecked(void)
{
    cmd_say("no log was named with -b or -d: whether offsets are in its range was not checked");
}

void offsets_tell_pending(const krc_committed_list *list)
{
    const struct krc_committed *row;
    for (size_t i = 0; (row = krc_committed_at(list, i)) != NULL; i++)
        if (row->is_pending && row->offset >= 0)
            cmd_say("group %s: %s-%" PRId32 ": a newer commit is pending in an open transaction; "
                    "offset %" PRId64 " is the last stable one", row->group, row->topic,
                    row->partition, row->offset);
        else if (row->is_pending)
            cmd_say("group %s: %s-%" PRId32 ": the first commit is pending in an open transaction; "
                    "there is no stable one yet", row->group, row->topic, row->partition);
}
