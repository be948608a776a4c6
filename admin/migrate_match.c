#include "admin/migrate_match.h"

#include <string.h>

#define NO_MARK SIZE_MAX

void krc_match_init(struct krc_match *match, struct krc_window *window)
{
    *match = (struct krc_match){
        .window = window,
        .expected = NO_MARK,
        .follows_none = true,
        .candidate = -1,
        .behind = -1,
        .first = -1,
        .stray = -1,
        .met = -1,
        .found = -1,
    };
}

/* ---- Neighbours ---------------------------------------------------------------------------- */

static const struct krc_content *seen_before(const struct krc_match *m, int64_t back)
{
    return &m->last[(m->seen - 1 - back) % (KRC_NEIGHBOURS + 1)];
}

/* How many records before the place are those before the committed offset.  The record seen last
 * is the one at the place, or, at FROM's end, the one before it. */
static int agree_before(const struct krc_match *m)
{
    const struct krc_window *w = m->window;
    const struct krc_mark *last = w->marks + w->split;
    int64_t back = krc_window_has_record(w);
    int count = 0;
    while (count < KRC_NEIGHBOURS && last > w->marks && back < m->seen &&
           krc_same_content(seen_before(m, back), &(--last)->content)) {
        count++;
        back++;
    }
    return count;
}

/* Once the place is found: whether the copy goes on as FROM does, and should be looked at. */
static bool agree_after(struct krc_match *m, const struct krc_content *content)
{
    const struct krc_window *w = m->window;
    size_t next = w->split + 1 + (size_t)m->after;
    if (next >= w->count || !krc_same_content(content, &w->marks[next].content))
        return false;
    return ++m->after < KRC_NEIGHBOURS;
}

/* ---- Stretches ----------------------------------------------------------------------------- */

static bool find(struct krc_match *m, int64_t place, bool is_sole, int before)
{
    const struct krc_window *w = m->window;
    m->found = place;
    m->is_sole = is_sole;
    m->before = before;
    return krc_window_has_record(w) && w->split + 1 < w->count;
}

static bool is_at_end(const struct krc_match *m)
{
    return m->candidate >= 0 && m->window->ends && m->expected == m->window->count;
}

static void find_candidate(struct krc_match *m)
{
    (void)find(m, m->candidate, false, m->candidate_before);
    if (krc_window_has_record(m->window)) {
        size_t after = m->expected - m->window->split - 1;
        m->after = after < KRC_NEIGHBOURS ? (int)after : KRC_NEIGHBOURS;
    }
}

/* The mark that a record is taken for: the next one of a stretch, or one that begins a stretch. */
static size_t follow(struct krc_match *m, const struct krc_slot *slot,
                     const struct krc_content *content)
{
    const struct krc_window *w = m->window;
    size_t at = NO_MARK;
    if (m->expected < w->count && krc_same_content(&w->marks[m->expected].content, content)) {
        at = m->expected;
    } else {
        m->candidate = -1;
        if (slot != NULL && krc_slot_is_sole(slot) && !slot->met)
            at = slot->index;
        else if (slot != NULL && slot->index == 0 && w->begins && m->follows_none)
            at = 0;
    }
    m->expected = at == NO_MARK ? NO_MARK : at + 1;
    m->follows_none = slot == NULL;
    return at;
}

static void note_candidate(struct krc_match *m, size_t at, int64_t offset)
{
    const struct krc_window *w = m->window;
    bool has_record = krc_window_has_record(w);
    if (at == NO_MARK || at + !has_record != w->split)
        return;
    m->candidate = offset + !has_record;
    m->candidate_before = agree_before(m);
}

/* ---- Contents of the window ---------------------------------------------------------------- */

static void meet_repeated(struct krc_match *m, const struct krc_slot *slot, int64_t offset)
{
    if (slot->left > 0 && slot->done == 0 && m->stray < 0) {
        m->stray = offset;
        m->since_stray = 0;
    }
    if (slot->left == 0 || m->first >= 0)
        return;
    m->first = offset;
    m->is_first_closed = slot->left == slot->left_here;
    m->since_first = 0;
}

/* The first copy of a sole record, taken for the mark `at`: whether more are needed. */
static bool meet_sole(struct krc_match *m, struct krc_slot *slot, size_t at, int64_t offset)
{
    const struct krc_window *w = m->window;
    size_t index = slot->index;
    slot->met = true;
    if (index > w->split) {
        m->met = offset;
        if (m->candidate >= 0 && at == index)
            find_candidate(m);
        return false;
    }
    if (index == w->split)
        return find(m, offset, true, agree_before(m));
    if (m->behind < 0 || index > m->behind_index) {
        m->behind = offset + 1;
        m->behind_index = index;
        m->since_behind = -1; /* it is counted below */
        m->first = -1;
    }
    if (krc_window_has_record(w) || index + 1 < w->split)
        return true;
    return find(m, offset + 1, true, agree_before(m));
}

bool krc_match_next(struct krc_match *m, const struct krc_content *content, int64_t offset,
                    bool is_late)
{
    struct krc_slot *slot = krc_window_find(m->window, content);
    bool more = true;
    if (m->found >= 0)
        return agree_after(m, content);
    if (slot == NULL && is_at_end(m)) {
        find_candidate(m);
        return false;
    }
    m->last[m->seen++ % (KRC_NEIGHBOURS + 1)] = *content;
    size_t at = follow(m, slot, content);
    note_candidate(m, at, offset);
    m->has_matched |= slot != NULL;
    if (slot != NULL && krc_slot_is_sole(slot) && !slot->met)
        more = meet_sole(m, slot, at, offset);
    else if (slot != NULL)
        meet_repeated(m, slot, offset);
    m->since_behind += m->met < 0 && !is_late;
    m->since_first += m->met < 0 && !is_late;
    m->since_stray += m->met < 0 && !is_late;
    return more;
}

void krc_match_end(struct krc_match *m)
{
    if (m->found < 0 && is_at_end(m))
        find_candidate(m);
}
