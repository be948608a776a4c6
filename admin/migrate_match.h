/*
 * Where a group goes on in a copy of the log it has read: decided record by record.
 *
 * The law.  No record of the copy that FROM would still deliver lies before the place that is
 * found; in doubt the earlier place is taken.  What it rests on: whatever copies a log reads it in
 * order, so that of two records that were copied, the first copy of the earlier one lies before
 * the first copy of the later one.  Records may be missing from the copy (retention, compaction,
 * not copied yet), be there again (a copier that went back), and there may be others in between.
 *
 *   - A content that one record of FROM alone has stands for that record: its first copy is the
 *     first record of the copy with that content.  So behind the first copy of a sole record that
 *     was done lies everything that is left; and where the first record that is left is sole, its
 *     first copy is the place, exactly.
 *   - Where it is not sole, the stretch between two sole records decides, one that was done and one
 *     that is left: when the copy has the same contents there, one by one, none is missing and none
 *     is there twice.  Where FROM begins or ends takes the place of a sole record.
 *   - Else the place is behind the last sole record that was done; where there is none, the first
 *     record whose content something in the window that is left has.  That content must not come
 *     again behind the window: it could be a copy of that, and skip what lies in between.
 *   - Where something that is left lies before all that, the order is another one, and there is
 *     the place.
 *
 * A copy that keeps second copies of which the first are gone is in another order, too.  Then the
 * law holds for the copies that count: of each record, one lies at the place or behind it.
 *
 * What cannot be seen: within a stretch of records that are alike in all, their timestamps too,
 * that one is missing from the copy and another one is there twice.
 */
#ifndef KRC_ADMIN_MIGRATE_MATCH_H
#define KRC_ADMIN_MIGRATE_MATCH_H

#include "admin/migrate_window.h"

enum { KRC_NEIGHBOURS = 8 };

struct krc_match {
    struct krc_window *window;
    int64_t seen;     /* records of the copy */
    bool has_matched; /* one at least has a content of the window */

    size_t expected;   /* the mark that is next where the copy goes on as FROM does; or none */
    bool follows_none; /* the last record had no content of the window, or there was none */
    int64_t candidate; /* the place, where the stretch at hand agrees to its end; -1 */
    int candidate_before;

    int64_t behind; /* behind the last sole record that was done; -1 */
    size_t behind_index;
    int64_t since_behind; /* records of the copy from there on */
    int64_t first;        /* since then, the first with a content of what is left; -1 */
    bool is_first_closed; /* that content does not come again behind the window */
    int64_t since_first;
    int64_t stray; /* the first ever with a content of what is left alone; -1 */
    int64_t since_stray;
    int64_t met; /* a sole record that is left, behind the first one; -1 */

    int64_t found; /* the place, exactly; -1 */
    bool is_sole;  /* for the record at the committed offset is */
    int before, after; /* neighbours that agree, up to KRC_NEIGHBOURS */

    struct krc_content last[KRC_NEIGHBOURS + 1]; /* a ring of the records seen last */
};

void krc_match_init(struct krc_match *match, struct krc_window *window);

/* The next record of the copy, `is_late`: from another time than what was done, and so not among
 * what comes again.  Whether more are needed. */
bool krc_match_next(struct krc_match *match, const struct krc_content *content, int64_t offset,
                    bool is_late);

/* There are no more. */
void krc_match_end(struct krc_match *match);

#endif
