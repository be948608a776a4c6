#include "logdir/stand.h"

/* Whether a header shows compaction: 1 or 0.  One that is damaged may seem to. */
static int is_trace(struct krc_walker *walker, const struct krc_log_batch *batch, krc_error *error)
{
    if (!krc_batch_shows_compaction(&batch->header))
        return 0;
    if (batch->bytes != NULL) /* it was checked */
        return 1;
    return krc_stand_check_crc(&walker->at, batch->file_position, &batch->header, error);
}

static int find_trace(struct krc_walker *walker, krc_error *error)
{
    struct krc_log_batch batch;
    struct krc_damage damage;
    int found = 0;
    while (found == 0) {
        int rc = krc_walker_next(walker, &batch, error);
        if (rc == 0)
            return 0;
        if (rc == KRC_E_CORRUPT)
            KRC_TRY(krc_walker_resync(walker, &damage, error));
        else
            KRC_TRY(found = rc < 0 ? rc : is_trace(walker, &batch, error));
    }
    return found;
}

static int examine(const struct krc_log *log, krc_error *error)
{
    struct krc_walker *walker;
    int64_t cleaned_to = log->place->cleaned_to;
    if (cleaned_to < 0)
        KRC_TRY(krc_log_place_cleaned_to(log->place, &cleaned_to, error));
    if (cleaned_to >= 0 || log->format_07)
        return cleaned_to >= 0;
    KRC_TRY(krc_walker_open(&walker, log, error));
    int rc = find_trace(walker, error);
    krc_walker_close(walker);
    return rc;
}

int krc_log_explains_gap(struct krc_log *log, int64_t from, int64_t to, krc_error *error)
{
    for (size_t i = 0; i < log->orphan_count; i++)
        if (log->orphans[i] >= from && log->orphans[i] < to)
            return 0;
    if (log->compaction == KRC_UNEXAMINED) {
        int rc = examine(log, error);
        if (rc < 0)
            return rc;
        log->compaction = rc == 1 ? KRC_COMPACTED : KRC_NOT_COMPACTED;
    }
    return log->compaction == KRC_COMPACTED;
}
