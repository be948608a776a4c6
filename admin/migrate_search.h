/*
 * The search for the place of a committed offset in a copy of its log.
 */
#ifndef KRC_ADMIN_MIGRATE_SEARCH_H
#define KRC_ADMIN_MIGRATE_SEARCH_H

#include "admin/migrate_match.h"
#include "admin/migrate_side.h"

struct krc_search {
    const struct krc_side *from, *to;
    int64_t committed;
    int64_t slack_ms; /* how far timestamps go back in a log, at most */
    bool timed;       /* a record's copy has its timestamp */
    bool is_back;     /* samples: `from` is the copy, whose own timestamps say nothing of `to` */

    /* found: */
    struct krc_window window;
    struct krc_match match;
    int64_t scan_start;   /* where the copy was read from, */
    int64_t first_seen;   /* and its first record there; -1: none */
    bool was_appended;    /* timestamps of the copy are those of its own log */
    int64_t early, late;  /* the timestamps of the window */

    int64_t late_in_a_row; /* records behind all times that count */
    int64_t count_until;   /* FROM is read to there, whatever its times */
    struct krc_buffer scratch;
};

/* Searches with up to `most` records on either side of the committed offset.  To be freed whatever
 * it returns. */
int krc_search_run(struct krc_search *search, size_t most, krc_error *error) KRC_MUST_USE;
void krc_search_free(struct krc_search *search);

/* ---- For samples: migrate_sample.c ----------------------------------------------------------- */

/* Fills the window alone, with its times. */
int krc_search_fill(struct krc_search *search, size_t most, krc_error *error) KRC_MUST_USE;
void krc_search_measure(struct krc_search *search);

int krc_search_content(struct krc_search *search, const struct krc_record *record,
                       struct krc_content *content, krc_error *error) KRC_MUST_USE;

/* The next record of a log: whether it, and so many before it, are behind all times that count. */
bool krc_search_is_past(struct krc_search *search, const struct krc_record *record);
bool krc_search_was_past(const struct krc_search *search);

/* ---------------------------------------------------------------------------------------------- */

/* Instead: looks for the first record of the copy in FROM, whose content lies there at or above the
 * committed offset alone (1), below it alone (-1), or on both sides or none (0).  `*first` is its
 * offset in the copy, -1: the copy holds no record. */
int krc_search_begin(struct krc_search *search, int *side, int64_t *first,
                     krc_error *error) KRC_MUST_USE;

#endif
