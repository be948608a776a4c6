/*
 * Carrying a committed offset into a copy of its log: what is known without looking, the search,
 * and what it proves.
 */
#include <inttypes.h>
#include <krc-tools.h>
#include <stdarg.h>
#include <stdio.h>

#include "admin/migrate_sample.h"
#include "base/place.h"

/* The window grows from the first of these to the last while that may help. */
enum { WINDOW_FIRST = 64, WINDOW_FACTOR = 16, WINDOW_LAST = 16384 };

const char *krc_verdict_name(enum krc_verdict verdict)
{
    static const char *const names[] = {"not found", "by timestamp", "exact", "same"};
    return names[verdict];
}

struct migrating {
    struct krc_side from, to;
    const struct krc_migrate_options *options;
    struct krc_migration *m;
    krc_error *error;
};

KRC_PRINTF(4, 5)
static int conclude(struct migrating *g, enum krc_verdict verdict, int64_t offset,
                    const char *format, ...)
{
    va_list args;
    g->m->verdict = verdict;
    g->m->offset = offset;
    va_start(args, format);
    vsnprintf(g->m->evidence, sizeof g->m->evidence, format, args);
    va_end(args);
    return KRC_OK;
}

/* What goes wrong with a partition leaves the others, but for memory. */
static int explain(struct migrating *g, const char *where, int rc)
{
    if (rc >= 0 || rc == KRC_E_NOMEM)
        return rc;
    return conclude(g, KRC_NOT_FOUND, -1, "%s: %s", where, g->error->message);
}

/* ---- What the search has found --------------------------------------------------------------- */

static const char *timing(const struct krc_search *s)
{
    return s->timed ? "" : ", timestamps left out";
}

static int take_exact(struct migrating *g, const struct krc_search *s)
{
    const struct krc_match *match = &s->match;
    g->m->before = match->before;
    g->m->after = match->after;
    g->m->by_neighbours = !match->is_sole;
    g->m->again = 0;
    return conclude(g, KRC_EXACT, match->found,
                    "%s lies there%s, %s; %d neighbours before and %d after agree%s",
                    krc_window_has_record(&s->window) ? "the next record" : "the last record",
                    krc_window_has_record(&s->window) ? "" : " right before",
                    match->is_sole ? "and no other is like it" : "as its neighbours decide",
                    match->before, match->after, timing(s));
}

/* Without their timestamps records are often like others, of which some may be gone here: what was
 * found may be a copy of one of those, which lies before it. */
static bool may_be_another(const struct krc_search *s)
{
    const struct krc_match *match = &s->match;
    int others = match->before + match->after - !krc_window_has_record(&s->window);
    return !s->timed && match->is_sole && others <= 0 && s->from->log.log_start_offset > 0;
}

/* The copy's first record is left, as are all behind it. */
static int take_begin(struct migrating *g, int64_t first)
{
    g->m->again = 0;
    return conclude(g, KRC_EXACT, first,
                    "nothing of what was processed is left there: its log begins at offset %" PRId64
                    " with a record that is still to come here", first);
}

static int take_earlier(struct migrating *g, int64_t offset, int64_t again, const char *why)
{
    g->m->again = again;
    if (again < 0)
        return conclude(g, KRC_BY_TIMESTAMP, offset, "%s", why);
    return conclude(g, KRC_BY_TIMESTAMP, offset, "%s: at most %" PRId64 " records come again", why,
                    again);
}

static int take_related(struct migrating *g, const struct krc_search *s)
{
    const struct krc_match *match = &s->match;
    bool has_first = match->first >= 0 && (match->is_first_closed || match->met >= 0);
    if (match->behind >= 0)
        return take_earlier(g, match->behind, match->since_behind,
                            "the next record is not known there, but one that was processed");
    if (!has_first && match->met == s->first_seen && s->scan_start == g->to.log.log_start_offset)
        return take_begin(g, match->met);
    if (has_first || match->met >= 0)
        return take_earlier(g, has_first ? match->first : match->met,
                            has_first ? match->since_first : 0,
                            "the next record is not known there, but one that follows");
    return take_earlier(g, s->scan_start, match->seen,
                        "the next record is not known there, and the time before it is taken");
}

/* None of the records around it is there: does the copy begin behind them? */
static int take_unrelated(struct migrating *g, const struct krc_search *s)
{
    struct krc_search begin = {.from = &g->from, .to = &g->to, .committed = s->committed,
                               .slack_ms = s->slack_ms, .timed = s->timed};
    int side;
    int64_t first;
    int rc = krc_search_begin(&begin, &side, &first, g->error);
    krc_search_free(&begin);
    KRC_TRY(rc);
    if (side > 0)
        return take_begin(g, first);
    if (side < 0)
        return take_earlier(g, s->scan_start, s->match.seen,
                            "no record around it is there, and the time before it is taken");
    return conclude(g, KRC_NOT_FOUND, -1, "no record around the committed offset is there%s",
                    timing(s));
}

/* Nothing is left here to be compared. */
static int take_nothing(struct migrating *g)
{
    struct krc_search begin = {.from = &g->from, .to = &g->to, .committed = g->m->committed};
    int side;
    int64_t first;
    int rc = krc_search_begin(&begin, &side, &first, g->error);
    krc_search_free(&begin);
    KRC_TRY(rc);
    g->m->again = 0;
    if (first < 0)
        return conclude(g, KRC_EXACT, g->to.log.last_stable_offset,
                        "neither log holds a record any more");
    return conclude(g, KRC_NOT_FOUND, -1, "no record is left here that could be looked for");
}

/* ---- The search ------------------------------------------------------------------------------ */

/* Whether a larger window may find more. */
static bool may_grow(const struct krc_search *s, size_t most)
{
    const struct krc_window *w = &s->window;
    bool is_full = w->split == most || w->count - w->split == most;
    size_t decisive = krc_window_has_record(w) ? w->split : w->split - 1;
    if (s->match.found >= 0 || !is_full || most >= WINDOW_LAST)
        return false;
    return !s->match.has_matched ||
           !krc_slot_is_sole(krc_window_find(w, &w->marks[decisive].content));
}

/* Behind what is known to be done; -1: nothing is. */
static int64_t place_of(const struct krc_match *match)
{
    return match->found >= 0 ? match->found : match->behind;
}

static int search(struct migrating *g, struct krc_search *s)
{
    size_t most = WINDOW_FIRST;
    KRC_TRY(krc_search_run(s, most, g->error));
    while (may_grow(s, most)) {
        most *= WINDOW_FACTOR;
        KRC_TRY(krc_search_run(s, most, g->error));
    }
    g->m->timeless = !s->timed;
    if (krc_window_has_record(&s->window))
        g->m->record_offset = s->window.marks[s->window.split].offset;
    if (s->window.count == 0)
        return take_nothing(g);
    if (s->match.stray >= 0 && s->match.stray < place_of(&s->match))
        return take_earlier(g, s->match.stray, s->match.since_stray,
                            "records lie there in another order");
    if (s->match.found >= 0 && may_be_another(s))
        return take_earlier(g, s->match.found, -1,
                            "a record like it is there, but none of its neighbours, and others "
                            "like it may be gone here");
    if (s->match.found >= 0)
        return take_exact(g, s);
    return s->match.has_matched ? take_related(g, s) : take_unrelated(g, s);
}

/* ---- Samples --------------------------------------------------------------------------------- */

/* The samples of both sides: `here` are those of this log, looked for in the copy, `there` those of
 * the copy around the place, looked for in this log. */
static int take_samples(struct migrating *g, struct krc_search *s, struct krc_search *back,
                        struct krc_sample *here, struct krc_sample *there)
{
    KRC_TRY(krc_sample_take(s, here, g->error));
    KRC_TRY(krc_search_fill(back, KRC_SAMPLES, g->error));
    KRC_TRY(krc_sample_take(back, there, g->error));
    KRC_TRY(krc_sample_look_elsewhere(s, here, g->error));
    return krc_sample_is_elsewhere(here) ? KRC_OK
                                         : krc_sample_look_elsewhere(back, there, g->error);
}

static int judge_samples(struct migrating *g, const struct krc_sample *here,
                         const struct krc_sample *there)
{
    if (krc_sample_is_elsewhere(here))
        return conclude(g, KRC_NOT_FOUND, -1,
                        "keys are routed otherwise there: of %zu records around the offset %zu are "
                        "not in this partition, and of %zu of those %zu lie in others",
                        here->there + here->missing, here->missing, here->miss_count,
                        here->elsewhere);
    if (krc_sample_is_elsewhere(there))
        return conclude(g, KRC_NOT_FOUND, -1,
                        "keys are routed otherwise there: of %zu records around the place %zu are "
                        "not in this partition here, and of %zu of those %zu lie in others",
                        there->there + there->missing, there->missing, there->miss_count,
                        there->elsewhere);
    if (krc_sample_agrees(here) || krc_sample_agrees(there))
        return KRC_OK;
    return conclude(g, KRC_NOT_FOUND, -1,
                    "this is no copy of the partition: of %zu records around the offset only %zu "
                    "are there, and of %zu around the place there only %zu are here",
                    here->there + here->missing, here->there, there->there + there->missing,
                    there->there);
}

/* Whether the copy's partition is one of this partition at all: a few records in common would be
 * found in any. */
static int check_samples(struct migrating *g, struct krc_search *s)
{
    struct krc_sample here, there;
    struct krc_search back = {.from = &g->to, .to = &g->from, .committed = g->m->offset,
                              .slack_ms = s->slack_ms, .timed = s->timed, .is_back = true};
    if (g->m->verdict == KRC_NOT_FOUND || g->m->committed <= 0 || s->window.count == 0)
        return KRC_OK;
    int rc = take_samples(g, s, &back, &here, &there);
    krc_search_free(&back);
    return rc < 0 ? rc : judge_samples(g, &here, &there);
}

/* ---- Committed offsets that are special ------------------------------------------------------ */

static int stop(void *arg, const struct krc_record *record, enum krc_timestamp_type type,
                krc_error *error)
{
    (void)record;
    (void)type;
    (void)error;
    *(bool *)arg = true;
    return 1;
}

/* What lay between the committed offset and the log start is gone here; there it may be left. */
static int check_lost(struct migrating *g)
{
    bool has_more = false;
    int64_t start = g->from.log.log_start_offset;
    if (g->m->committed >= start || g->m->verdict == KRC_NOT_FOUND)
        return KRC_OK;
    KRC_TRY(krc_side_read(&g->to, 0, g->m->offset, stop, &has_more, g->error));
    if (!has_more)
        return KRC_OK;
    return conclude(g, KRC_NOT_FOUND, -1,
                    "offsets %" PRId64 " to %" PRId64 " were still to be read and are gone here; "
                    "there they may lie somewhere before offset %" PRId64,
                    g->m->committed, start - 1, g->m->offset);
}

/* Somebody read uncommitted, beyond the last stable offset. */
static void check_undecided(struct migrating *g)
{
    int64_t ahead = g->m->committed - g->from.log.last_stable_offset;
    if (ahead <= 0 || g->m->verdict == KRC_NOT_FOUND)
        return;
    (void)take_earlier(g, g->m->offset, g->m->again + ahead,
                       "the committed offset lies in transactions that are still open");
}

/* Nothing was processed yet. */
static void check_beginning(struct migrating *g)
{
    if (g->m->committed > 0 || g->m->verdict == KRC_EXACT)
        return;
    g->m->again = 0;
    (void)conclude(g, KRC_EXACT, g->to.log.log_start_offset,
                   "nothing was processed yet, so that all that is there is still to come");
}

static int look_up(struct migrating *g)
{
    struct krc_search s = {.from = &g->from, .to = &g->to, .committed = g->m->committed,
                           .slack_ms = g->options->window_ms, .timed = !g->options->timeless};
    int64_t end = g->from.log.log_end_offset;
    if (end < 0) /* a cluster's, which tells none */
        end = g->from.log.high_watermark;
    if (g->m->committed > end)
        return conclude(g, KRC_NOT_FOUND, -1,
                        "the committed offset lies beyond the log's end, offset %" PRId64, end);
    int rc = search(g, &s);
    if (rc >= 0)
        rc = check_samples(g, &s);
    krc_search_free(&s);
    KRC_TRY(rc);
    KRC_TRY(check_lost(g));
    check_undecided(g);
    check_beginning(g);
    return KRC_OK;
}

/* ---- Both sides ------------------------------------------------------------------------------ */

static bool is_same_log(const struct migrating *g)
{
    const char *cluster = krc_cluster_name(g->from.handle);
    const struct krc_uuid *id = &g->from.found.topic_id;
    return cluster[0] != '\0' && strcmp(cluster, krc_cluster_name(g->to.handle)) == 0 &&
           !krc_uuid_is_zero(id) && krc_uuid_equal(id, &g->to.found.topic_id);
}

static bool is_another_topic(const struct migrating *g)
{
    const struct krc_uuid *id = &g->from.found.topic_id;
    return krc_uuid_differs(&g->m->topic_id, id);
}

/* Folders may be one broker's, which has some of the partitions alone. */
static bool has_other_partitions(const struct migrating *g)
{
    bool are_clusters = g->from.found.path == NULL && g->to.found.path == NULL;
    return are_clusters && krc_side_partitions(&g->from) != krc_side_partitions(&g->to);
}

/* An offset that the log there does not reach is one of a record that it does not have. */
static int take_same(struct migrating *g)
{
    const struct krc_log_offsets *log = &g->to.log;
    int64_t end = log->log_end_offset >= 0 ? log->log_end_offset : log->high_watermark;
    int64_t committed = g->m->committed;
    g->m->again = 0;
    if (g->to.handle != NULL && (committed < log->log_start_offset || committed > end))
        return conclude(g, KRC_SAME, committed > end ? end : log->log_start_offset,
                        "offsets are the same there, but offset %" PRId64 " is %s, %" PRId64,
                        committed, committed > end ? "beyond the end" : "below the start",
                        committed > end ? end : log->log_start_offset);
    return conclude(g, KRC_SAME, committed, "offsets are the same there");
}

/* Nothing is compared, so that no log is needed here. */
static int take_as_told(struct migrating *g)
{
    int rc = g->to.handle == NULL ? KRC_OK : krc_side_find(&g->to, g->error);
    return rc < 0 ? explain(g, "there", rc) : take_same(g);
}

static int migrate(struct migrating *g)
{
    if (g->options->same_offsets)
        return take_as_told(g);
    int rc = krc_side_find(&g->from, g->error);
    if (rc < 0)
        return explain(g, "here", rc);
    rc = krc_side_find(&g->to, g->error);
    if (rc < 0)
        return explain(g, "there", rc);
    if (is_another_topic(g))
        return conclude(g, KRC_NOT_FOUND, -1, "the topic was made again since the offset was "
                        "committed, which says nothing of it");
    if (is_same_log(g))
        return take_same(g);
    if (has_other_partitions(g))
        return conclude(g, KRC_NOT_FOUND, -1,
                        "the topic has %" PRId32 " partitions here and %" PRId32 " there, so that "
                        "its records lie in others", krc_side_partitions(&g->from),
                        krc_side_partitions(&g->to));
    return explain(g, "it could not be looked up", look_up(g));
}

int krc_migrate(krc *from, krc *to, const struct krc_migrate_options *options,
                struct krc_migration *migration, krc_error *error)
{
    krc_error own;
    struct krc_migration *m = migration;
    struct migrating g = {
        .from = {.handle = from, .topic = m->topic, .partition = m->partition},
        .to = {.handle = to, .topic = m->to_topic != NULL ? m->to_topic : m->topic,
               .partition = m->partition},
        .options = options,
        .m = m,
        .error = error != NULL ? error : &own,
    };
    m->verdict = KRC_NOT_FOUND;
    m->offset = m->record_offset = m->again = -1;
    m->before = m->after = 0;
    m->by_neighbours = m->timeless = false;
    m->evidence[0] = '\0';
    return migrate(&g);
}
