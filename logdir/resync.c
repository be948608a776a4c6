/*
 * Past a place that cannot be read.
 */
#include "logdir/stand.h"

#include <limits.h>

/* What the broken place says of itself. */
struct broken {
    struct krc_batch_header header;
    bool sized;      /* its length is one that a batch may have here */
    bool believable; /* its offsets are, too */
};

static int read_broken(struct krc_stand *at, struct broken *broken, krc_error *error)
{
    uint8_t look[KRC_BATCH_LOOK];
    size_t got;
    KRC_TRY(krc_stand_read(at, at->position, look, sizeof look, &got, error));
    int rc = krc_stand_parse(at, at->position, look, got, &broken->header, NULL);
    broken->sized = broken->header.size > 0 && krc_stand_fits(at, at->position, &broken->header);
    broken->believable = broken->sized && rc == 1 && krc_stand_in_order(at, &broken->header);
    if (!broken->believable)
        return KRC_OK;
    KRC_TRY(rc = krc_stand_look_behind(at, &broken->header, error));
    broken->believable = rc == 1;
    return KRC_OK;
}

/* Finds where to go on: 1 with the next good batch, 0 where the segment has none.  `*one`: the
 * broken batch's length is right, for it leads there, or to the end of the file.  A wrong one may
 * lead to a later batch: unless the offsets go on there, there may be good ones before it. */
static int find_next(struct krc_stand *at, const struct broken *broken, int64_t *found, bool *one,
                     struct krc_batch_header *next, krc_error *error)
{
    int64_t leads_to = broken->sized ? at->position + broken->header.size : -1;
    int rc = krc_stand_good_batch(at, leads_to, next, error);
    *found = leads_to;
    *one = rc == 1 && broken->believable && next->base_offset == broken->header.last_offset + 1;
    if (rc < 0 || *one)
        return rc;
    KRC_TRY(rc = krc_stand_scan(at, at->position + 1, found, next, error));
    *one = leads_to == (rc == 1 ? *found : at->end);
    return rc;
}

/* What a broken batch claims is checksummed all the same: many that claim what is not theirs would
 * be quadratic.  Those of a log that was only damaged claim no more than there is. */
static int account(struct krc_stand *at, const struct broken *broken, krc_error *error)
{
    enum { TIMES = 16 };
    const struct krc_log_place *place = at->log->place;
    char path[PATH_MAX];
    at->claimed += broken->sized ? broken->header.size : 0;
    if (at->claimed / TIMES <= at->end)
        return KRC_OK;
    krc_log_path(at->log, at->segment, ".log", path, sizeof path);
    krc_fail(error, KRC_E_CORRUPT, "%s-%d cannot be read beyond byte %lld of %s: the broken "
             "batches of this segment claim %lld bytes, more than %d times its size", place->topic,
             (int)place->partition, (long long)at->position, path, (long long)at->claimed, TIMES);
    krc_error_at(error, place->topic, place->partition, at->last_offset + 1, at->position);
    return KRC_E_CORRUPT;
}

/* A control batch has one offset and is small.  A broken one is none where its neighbours prove
 * the contrary: by their distance in bytes, or in offsets that it agrees with. */
static bool maybe_marker(const struct broken *broken, bool one, bool bounded,
                         const struct krc_damage *damage)
{
    if (!one)
        return true;
    bool many = bounded && broken->believable && damage->to - damage->from > 1 &&
                broken->header.base_offset == damage->from &&
                broken->header.last_offset + 1 == damage->to;
    return broken->header.size <= KRC_SMALL_BATCH && !many;
}

/* Describes what lies before `found`, where the next good batch lies, or the end of the file. */
static void describe(const struct krc_stand *at, const struct broken *broken, bool one,
                     int64_t found, const struct krc_batch_header *next, struct krc_damage *damage)
{
    bool bounded = next != NULL || !krc_stand_in_last_segment(at);
    int64_t from = at->last_offset + 1;
    int64_t says = broken->believable ? broken->header.last_offset + 1 : from;
    *damage = (struct krc_damage){.from = from, .to = says, .file_position = at->position,
                                  .bytes = found - at->position, .segment = at->segment};
    if (next != NULL && next->count >= 0) /* a wrapper does not say where it begins */
        damage->to = next->base_offset;
    else if (next == NULL && bounded)
        damage->to = at->log->segments[at->segment + 1].base_offset;
    damage->skip_to = one && broken->believable && says <= damage->to ? says : damage->to;
    damage->maybe_marker = maybe_marker(broken, one, bounded, damage);
}

int krc_stand_resync(struct krc_stand *at, struct krc_damage *damage, krc_error *error)
{
    struct broken broken = {0};
    struct krc_batch_header next = {0};
    int64_t found = at->position;
    bool one = false;
    int rc = krc_stand_settle(at, error);
    if (rc < 0)
        return rc;
    if (rc == 0) { /* nothing is broken: the log ends here */
        int64_t end = at->last_offset + 1;
        *damage = (struct krc_damage){.from = end, .to = end, .skip_to = end,
                                      .file_position = at->position, .segment = at->segment};
        return KRC_OK;
    }
    KRC_TRY(read_broken(at, &broken, error));
    KRC_TRY(account(at, &broken, error));
    KRC_TRY(rc = find_next(at, &broken, &found, &one, &next, error));
    describe(at, &broken, one, rc == 1 ? found : at->end, rc == 1 ? &next : NULL, damage);
    if (rc == 1)
        krc_stand_move(at, at->segment, found, damage->to - 1);
    else if (krc_stand_in_last_segment(at))
        krc_stand_move(at, at->segment, at->end, damage->to - 1);
    else
        krc_stand_move_to_segment(at, at->segment + 1);
    return KRC_OK;
}
