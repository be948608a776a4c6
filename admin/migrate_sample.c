#include "admin/migrate_sample.h"

/* ---- One log --------------------------------------------------------------------------------- */

struct looking {
    struct krc_search *search;
    size_t left;               /* contents that were not met yet */
    int64_t first_ms, last_ms; /* the times of the first record and the latest; -1: there is none */
    bool from_begin, to_end;   /* all of the log was looked at, on that side */
};

static int look_at(void *arg, const struct krc_record *record, enum krc_timestamp_type type,
                   krc_error *error)
{
    struct looking *l = arg;
    struct krc_content content;
    (void)type;
    if (l->first_ms < 0)
        l->first_ms = record->timestamp_ms;
    if (record->timestamp_ms > l->last_ms)
        l->last_ms = record->timestamp_ms;
    KRC_TRY(krc_search_content(l->search, record, &content, error));
    struct krc_slot *slot = krc_window_find(&l->search->window, &content);
    if (slot != NULL && !slot->met) {
        slot->met = true;
        l->left--;
    }
    return l->left == 0 || krc_search_is_past(l->search, record);
}

static int look_in(struct krc_search *s, const struct krc_side *side, struct looking *l,
                   krc_error *error)
{
    int64_t time_ms = s->timed || !s->is_back ? s->early - s->slack_ms : -1, from;
    *l = (struct looking){.search = s, .first_ms = -1, .last_ms = -1};
    for (size_t i = 0; i < s->window.slot_count; i++)
        l->left += !s->window.slots[i].met;
    s->late_in_a_row = 0;
    KRC_TRY(krc_side_find_time(side, time_ms, &from, error));
    KRC_TRY(krc_side_read(side, from, INT64_MAX, look_at, l, error));
    l->from_begin = from == side->log.log_start_offset;
    l->to_end = l->left > 0 && !krc_search_was_past(s);
    return KRC_OK;
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* Those of the window that were met first and last; SIZE_MAX and 0: none. */
struct range {
    size_t first, last;
};

static struct range range_of(const struct krc_window *w)
{
    struct range met = {SIZE_MAX, 0};
    for (size_t i = 0; i < w->slot_count; i++) {
        size_t index = w->slots[i].index;
        if (!w->slots[i].met)
            continue;
        met.first = index < met.first ? index : met.first;
        met.last = index > met.last ? index : met.last;
    }
    return met;
}

/* The other log may have begun behind that record.  This log is no copy of itself: it has had all,
 * and has lost none as long as it begins at 0. */
static bool may_be_before(const struct looking *l, const struct krc_mark *mark)
{
    const struct krc_search *s = l->search;
    bool has_lost = !s->is_back || s->to->log.log_start_offset > 0;
    return l->from_begin && has_lost &&
           (!s->timed || mark->timestamp_ms <= l->first_ms + s->slack_ms);
}

/* It may not have been copied yet. */
static bool may_be_behind(const struct looking *l, const struct krc_mark *mark)
{
    const struct krc_search *s = l->search;
    return l->to_end && !s->is_back &&
           (!s->timed || mark->timestamp_ms >= l->last_ms - s->slack_ms);
}

/* Without times, only those that were met say what lies on which side of the other log. */
static bool is_excused(const struct looking *l, const struct krc_slot *slot, struct range range)
{
    const struct krc_mark *mark = &l->search->window.marks[slot->index];
    bool any = range.first <= range.last;
    if (!any && !l->search->timed)
        return false;
    return ((!any || slot->index < range.first) && may_be_before(l, mark)) ||
           ((!any || slot->index > range.last) && may_be_behind(l, mark));
}

static bool is_missing(const struct looking *l, const struct krc_slot *slot, struct range range)
{
    return !slot->met && !is_excused(l, slot, range);
}

static void keep_misses(const struct looking *l, struct range range, struct krc_sample *sample)
{
    const struct krc_window *w = &l->search->window;
    size_t seen = 0;
    for (size_t i = 0; i < w->slot_count; i++) {
        if (!is_missing(l, &w->slots[i], range))
            continue;
        if (seen++ * KRC_MISSES / sample->missing >= sample->miss_count &&
            sample->miss_count < KRC_MISSES)
            sample->misses[sample->miss_count++] = w->marks[w->slots[i].index];
    }
}

int krc_sample_take(struct krc_search *s, struct krc_sample *sample, krc_error *error)
{
    struct looking l;
    *sample = (struct krc_sample){0};
    for (size_t i = 0; i < s->window.slot_count; i++)
        s->window.slots[i].met = false;
    KRC_TRY(look_in(s, s->to, &l, error));
    struct range range = range_of(&s->window);
    for (size_t i = 0; i < s->window.slot_count; i++) {
        sample->there += s->window.slots[i].met;
        sample->missing += is_missing(&l, &s->window.slots[i], range);
    }
    keep_misses(&l, range, sample);
    return KRC_OK;
}

bool krc_sample_agrees(const struct krc_sample *sample)
{
    return sample->missing <= sample->there / 2;
}

/* ---- The other partitions -------------------------------------------------------------------- */

bool krc_sample_is_elsewhere(const struct krc_sample *sample)
{
    return 2 * sample->elsewhere > sample->miss_count;
}

static void count_elsewhere(const struct krc_search *s, struct krc_sample *sample)
{
    sample->elsewhere = 0;
    for (size_t i = 0; i < s->window.slot_count; i++)
        sample->elsewhere += s->window.slots[i].met;
}

/* One that cannot be read proves nothing. */
static int look_in_partition(struct krc_search *s, const char *topic, int32_t partition,
                             krc_error *error)
{
    struct krc_side side = {.handle = s->to->handle, .topic = topic, .partition = partition};
    struct looking l;
    int rc = krc_side_find(&side, error);
    if (rc >= 0)
        rc = look_in(s, &side, &l, error);
    return rc == KRC_E_NOMEM ? rc : KRC_OK;
}

static int look_in_others(struct krc_search *s, struct krc_sample *sample, krc_error *error)
{
    struct krc_partition other;
    for (size_t i = 0; krc_source_partition(s->to->handle, i, &other); i++) {
        if (strcmp(other.topic, s->to->topic) != 0 || other.partition == s->to->partition)
            continue;
        KRC_TRY(look_in_partition(s, s->to->topic, other.partition, error));
        count_elsewhere(s, sample);
        if (krc_sample_is_elsewhere(sample))
            return KRC_OK;
    }
    return KRC_OK;
}

int krc_sample_look_elsewhere(const struct krc_search *search, struct krc_sample *sample,
                              krc_error *error)
{
    struct krc_search s = {.to = search->to, .slack_ms = search->slack_ms,
                           .timed = search->timed, .is_back = search->is_back};
    if (sample->miss_count == 0)
        return KRC_OK;
    int rc = krc_window_init(&s.window, KRC_MISSES, error);
    for (size_t i = 0; rc >= 0 && i < sample->miss_count; i++)
        (void)krc_window_add_left(&s.window, &sample->misses[i]);
    if (rc >= 0)
        rc = krc_window_index(&s.window, error);
    if (rc >= 0) {
        krc_search_measure(&s);
        rc = look_in_others(&s, sample, error);
    }
    krc_search_free(&s);
    return rc;
}
