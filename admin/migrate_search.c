/*
 * Where is looked.  A record's copy has its timestamp, so that it lies at or behind the first
 * offset for that time, in either log.  What comes behind a record has a timestamp that is earlier
 * by `slack_ms` at most: that is how far before the window's first timestamp, and behind its last,
 * contents are looked for.  A few records may be out of any order, from a clock that was years
 * ahead: only many of them in a row, all too late, are taken for the end.
 *
 * Where the copy has timestamps of its own, they are of no help: then FROM is read whole, to know
 * which contents come again, and the copy to its end.
 */
#include "admin/migrate_search.h"

#include <string.h>

int krc_search_content(struct krc_search *s, const struct krc_record *record,
                       struct krc_content *content, krc_error *error)
{
    return krc_content_of(record, s->timed, &s->scratch, content, error);
}

static int64_t time_plus(int64_t time_ms, int64_t more_ms)
{
    int64_t sum;
    return __builtin_add_overflow(time_ms, more_ms, &sum) ? INT64_MAX : sum;
}

/* ---- The window ---------------------------------------------------------------------------- */

static int make_mark(struct krc_search *s, const struct krc_record *record, struct krc_mark *mark,
                     krc_error *error)
{
    *mark = (struct krc_mark){.offset = record->offset, .timestamp_ms = record->timestamp_ms};
    return krc_search_content(s, record, &mark->content, error);
}

static int add_done(void *arg, const struct krc_record *record, enum krc_timestamp_type type,
                    krc_error *error)
{
    struct krc_search *s = arg;
    struct krc_mark mark;
    (void)type;
    KRC_TRY(make_mark(s, record, &mark, error));
    s->window.begins &= s->window.split < s->window.most;
    krc_window_add_done(&s->window, &mark);
    return 0;
}

static int add_left(void *arg, const struct krc_record *record, enum krc_timestamp_type type,
                    krc_error *error)
{
    struct krc_search *s = arg;
    struct krc_mark mark;
    (void)type;
    KRC_TRY(make_mark(s, record, &mark, error));
    s->window.ends = krc_window_add_left(&s->window, &mark);
    return !s->window.ends;
}

/* Records are fewer than offsets: it is gone back further until some were met. */
static int fill_done(struct krc_search *s, size_t most, krc_error *error)
{
    int64_t start = s->from->log.log_start_offset, at = s->committed;
    s->window.begins = true;
    for (int64_t span = (int64_t)most; at > start && s->window.split < (most + 7) / 8; span *= 8) {
        at = s->committed - start > span ? s->committed - span : start;
        s->window.split = s->window.count = s->window.next = 0;
        s->window.begins = at == start;
        KRC_TRY(krc_side_read(s->from, at, s->committed, add_done, s, error));
    }
    krc_window_turn(&s->window);
    return KRC_OK;
}

static int fill(struct krc_search *s, size_t most, krc_error *error)
{
    KRC_TRY(krc_window_init(&s->window, most, error));
    KRC_TRY(fill_done(s, most, error));
    s->window.ends = true;
    KRC_TRY(krc_side_read(s->from, s->committed, INT64_MAX, add_left, s, error));
    return krc_window_index(&s->window, error);
}

void krc_search_measure(struct krc_search *s)
{
    s->early = INT64_MAX;
    s->late = -1;
    for (size_t i = 0; i < s->window.count; i++) {
        int64_t time = s->window.marks[i].timestamp_ms;
        s->early = time < s->early ? time : s->early;
        s->late = time > s->late ? time : s->late;
    }
    if (s->early < 0) { /* there is one without */
        s->early = -1;
        s->timed = false;
    }
}

/* ---- How often each content comes ------------------------------------------------------------ */

enum { LATE_IN_A_ROW = 1000 };

/* Whether a record is behind all of the times that count. */
static bool is_late(struct krc_search *s, const struct krc_record *record)
{
    bool late = s->timed && record->timestamp_ms > time_plus(s->late, s->slack_ms);
    s->late_in_a_row = late ? s->late_in_a_row + 1 : 0;
    return late;
}

static bool is_past(const struct krc_search *s)
{
    return s->late_in_a_row >= LATE_IN_A_ROW;
}

bool krc_search_is_past(struct krc_search *s, const struct krc_record *record)
{
    (void)is_late(s, record);
    return is_past(s);
}

bool krc_search_was_past(const struct krc_search *s)
{
    return is_past(s);
}

static int count_record(void *arg, const struct krc_record *record, enum krc_timestamp_type type,
                        krc_error *error)
{
    struct krc_search *s = arg;
    struct krc_content content;
    (void)type;
    KRC_TRY(krc_search_content(s, record, &content, error));
    struct krc_slot *slot = krc_window_find(&s->window, &content);
    if (slot != NULL)
        *(record->offset < s->committed ? &slot->done : &slot->left) += 1;
    return krc_search_is_past(s, record) && record->offset >= s->count_until;
}

/* Counts those of FROM, in offsets up to `until` at the least. */
static int count_contents(struct krc_search *s, int64_t until, krc_error *error)
{
    int64_t at;
    s->late_in_a_row = 0;
    s->count_until = until;
    KRC_TRY(krc_side_find_time(s->from, s->timed ? s->early : -1, &at, error));
    return krc_side_read(s->from, at, INT64_MAX, count_record, s, error);
}

/* ---- The copy ------------------------------------------------------------------------------ */

static int match_record(void *arg, const struct krc_record *record, enum krc_timestamp_type type,
                        krc_error *error)
{
    struct krc_search *s = arg;
    struct krc_content content;
    s->was_appended |= type == KRC_LOG_APPEND_TIME;
    if (s->timed && s->was_appended)
        return 1;
    if (s->first_seen < 0)
        s->first_seen = record->offset;
    KRC_TRY(krc_search_content(s, record, &content, error));
    bool more = krc_match_next(&s->match, &content, record->offset, is_late(s, record));
    return !more || is_past(s);
}

/* The copy is appended after the record itself was, even where it has another timestamp. */
static int scan_copy(struct krc_search *s, krc_error *error)
{
    krc_match_init(&s->match, &s->window);
    s->first_seen = -1;
    s->late_in_a_row = 0;
    KRC_TRY(krc_side_find_time(s->to, s->early - s->slack_ms, &s->scan_start, error));
    KRC_TRY(krc_side_read(s->to, s->scan_start, INT64_MAX, match_record, s, error));
    krc_match_end(&s->match);
    return KRC_OK;
}

int krc_search_fill(struct krc_search *s, size_t most, krc_error *error)
{
    bool timed = s->timed;
    krc_window_free(&s->window);
    KRC_TRY(fill(s, most, error));
    krc_search_measure(s);
    return timed && !s->timed ? krc_search_fill(s, most, error) : KRC_OK; /* without times, then */
}

static int search(struct krc_search *s, size_t most, krc_error *error)
{
    KRC_TRY(krc_search_fill(s, most, error));
    if (s->window.count == 0)
        return KRC_OK;
    KRC_TRY(count_contents(s, s->window.marks[s->window.count - 1].offset, error));
    return scan_copy(s, error);
}

int krc_search_run(struct krc_search *s, size_t most, krc_error *error)
{
    krc_match_init(&s->match, &s->window);
    KRC_TRY(search(s, most, error));
    if (!s->timed || !s->was_appended)
        return KRC_OK;
    s->timed = false;
    return search(s, most, error);
}

void krc_search_free(struct krc_search *s)
{
    krc_window_free(&s->window);
    krc_buffer_free(&s->scratch);
}

/* ---- Where the copy begins ------------------------------------------------------------------- */

static int take_first(void *arg, const struct krc_record *record, enum krc_timestamp_type type,
                      krc_error *error)
{
    struct krc_search *s = arg;
    struct krc_mark mark;
    (void)type;
    KRC_TRY(make_mark(s, record, &mark, error));
    (void)krc_window_add_left(&s->window, &mark);
    return 1;
}

int krc_search_begin(struct krc_search *s, int *side, int64_t *first, krc_error *error)
{
    *side = 0;
    *first = -1;
    KRC_TRY(krc_window_init(&s->window, 1, error));
    KRC_TRY(krc_side_read(s->to, 0, INT64_MAX, take_first, s, error));
    if (s->window.count == 0)
        return KRC_OK;
    *first = s->window.marks[0].offset;
    KRC_TRY(krc_window_index(&s->window, error));
    krc_search_measure(s);
    KRC_TRY(count_contents(s, 0, error));
    *side = (s->window.slots->left > 0) - (s->window.slots->done > 0);
    return KRC_OK;
}
