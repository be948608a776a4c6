/*
 * The second cursor: walks headers ahead of the reading one, as far as is needed to decide the
 * transactions that the reading one meets.  To reach the log's end undecided is the last stable
 * offset.  Where offsets are in no batch, and compaction does not explain it, any marker may be
 * missing, as where a batch cannot be read: what is open there is in doubt.
 */
#ifndef KRC_CONSUMER_LOOKAHEAD_H
#define KRC_CONSUMER_LOOKAHEAD_H

#include "logdir/cursor.h"
#include "txnfilter/markers.h"

struct krc_lookahead {
    struct krc_log *log;
    bool skip_corrupt;
    int64_t kept_to; /* the log's end is missing: it had offsets up to here; -1: it is not.  To be
                        set before questions */
    struct krc_walker *walker; /* NULL before the first question */
    int64_t next;              /* the offset that should follow what was walked, -1: any */
    struct krc_markers markers;
    bool at_end;
};

void krc_lookahead_init(struct krc_lookahead *ahead, struct krc_log *log, bool skip_corrupt);
void krc_lookahead_free(struct krc_lookahead *ahead);

/*
 * Reading is to begin at `offset`.  Transactions that began below it may be open there, and may
 * stay open to the log's end: then `*stable` is where the first of them began, which is at or
 * below `offset`; else it is INT64_MAX, and the batches to come decide.  Walks the log from its
 * first batch to `offset`, unless `settled`: every transaction below is known to be decided.
 */
int krc_lookahead_begin(struct krc_lookahead *ahead, int64_t offset, bool settled,
                        int64_t *stable, krc_error *error) KRC_MUST_USE;

/* What becomes of a transactional batch of records, the first one that was not asked for. */
int krc_lookahead_fate(struct krc_lookahead *ahead, const struct krc_batch_header *header,
                       enum krc_txn_fate *fate, krc_error *error) KRC_MUST_USE;

/* The offsets of the commit markers of those transactions that are open at `offset`, sorted; to be
 * freed.  A copy of the log up to there that is to show them as committed needs them. */
int krc_closing_markers(struct krc_log *log, int64_t offset, bool skip_corrupt,
                        int64_t **markers, size_t *count, krc_error *error) KRC_MUST_USE;

/* The producers whose transactions are open at `offset`, with where these began. */
int krc_open_producers(struct krc_log *log, int64_t offset, bool skip_corrupt,
                       struct krc_producers *open, krc_error *error) KRC_MUST_USE;

/* The last stable offset of the whole log: `log_end` where no transaction is open.  `kept_to` as
 * above. */
int krc_last_stable_offset(struct krc_log *log, int64_t log_end, int64_t kept_to,
                           bool skip_corrupt, int64_t *stable, krc_error *error) KRC_MUST_USE;

#endif
