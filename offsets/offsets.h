/*
 * The offset-tracking state machine of one partition.
 *
 * A plain struct, and krc_offsets_step(machine, event) -> update: no I/O, no clock, no memory
 * taken.  Whoever drives it does what the update asks for (looks up a committed offset, asks where
 * a leader epoch ends, fetches) and answers with an event.  What happened picks the event's name
 * (krc_offsets_judge_*), so that no row of the table has a condition in it.
 *
 * The table (offsets/table.h) is the only place where states change; a cell that is not in it is
 * an illegal move and fails the partition with KRC_E_STATE.  After each step krc_offsets_invariant
 * holds.  docs/offsets.md is generated from the same table.
 */
#ifndef KRC_OFFSETS_OFFSETS_H
#define KRC_OFFSETS_OFFSETS_H

#include "base/error.h"
#include "offsets/epochs.h"
#include "offsets/table.h"

enum krc_offset_state {
#define KRC_STATE_ENUM(name, meaning) KRC_##name,
    KRC_OFFSET_STATES(KRC_STATE_ENUM)
#undef KRC_STATE_ENUM
    KRC_OFFSET_STATE_COUNT
};

enum krc_offset_event_type {
#define KRC_OFFSET_EVENT_ENUM(name, match, meaning) KRC_ON_##name,
    KRC_OFFSET_EVENTS(KRC_OFFSET_EVENT_ENUM)
#undef KRC_OFFSET_EVENT_ENUM
    KRC_OFFSET_EVENT_COUNT
};

/* What the driver is to find out; it answers with the update's generation. */
enum krc_ask {
    KRC_ASK_NOTHING,
    KRC_ASK_STORED,    /* the committed offset: STORED, STORED_NO_EPOCH or a RESET_ event */
    KRC_ASK_EPOCH_END, /* where leader epoch `epoch` ends: VALID, EPOCH_UNKNOWN, DIVERGED or
                          RESET_ */
    KRC_ASK_RANGE,     /* log start and end: INSIDE or RESET_ */
    KRC_ASK_START,     /* the log start offset: LOCATED */
    KRC_ASK_END,       /* the end of what the isolation level shows: LOCATED */
    KRC_ASK_TIME,      /* the offset for auto.offset.reset's by_duration: LOCATED */
    KRC_ASK_FETCH,     /* what lies at `offset`: BATCH, PASSED, CAUGHT_UP, END, OUT_OF_RANGE */
};

enum krc_fate { KRC_ABORTED, KRC_CONTROL, KRC_ABSENT, KRC_LOST, KRC_SKIPPED };

/* Why a position is left for another one. */
enum krc_reset_cause {
    KRC_CAUSE_NONE,         /* no committed offset yet: a start, no reset, no loss */
    KRC_CAUSE_BELOW_START,  /* the log begins later now */
    KRC_CAUSE_BEYOND_END,   /* the log ends earlier, and the position has no leader epoch */
    KRC_CAUSE_TRUNCATED,    /* the position's leader epoch ends earlier */
    KRC_CAUSE_RECREATED,    /* another topic of the same name */
};

/* auto.offset.reset */
enum krc_reset_policy {
    KRC_RESET_NEAREST,
    KRC_RESET_EARLIEST,
    KRC_RESET_LATEST,
    KRC_RESET_NONE,
    KRC_RESET_BY_DURATION,
};

struct krc_offset_event {
    enum krc_offset_event_type type;
    uint32_t match;      /* the generation or the stretch that it belongs to (see table.h) */
    int64_t offset;      /* where to; the end of what was read; what is acknowledged; DIVERGED: up
                            to where the histories may agree */
    int32_t epoch;       /* BATCH, PASSED, STORED, RESET_HERE: the leader epoch there, -1: none;
                            DIVERGED: to be asked about next */
    const struct krc_epochs *epochs; /* STORED: of what was read below; NULL: not known */
    int64_t delivered;   /* BATCH: records handed on; the other offsets of its range are absent */
    enum krc_fate fate;  /* PASSED */
    enum krc_reset_cause cause; /* RESET_ */
    bool unsure;                /* RESET_: see the update */
    struct krc_account account; /* ACK: of [start, offset) */
};

struct krc_offset_update {
    enum krc_ask ask;
    uint32_t generation; /* the answer's `match` */
    int64_t offset; /* KRC_ASK_FETCH: from where */
    int32_t epoch;  /* KRC_ASK_EPOCH_END */
    bool stale;     /* an answer to an older question: nothing was done */
    bool reset;     /* the position moved by policy: */
    enum krc_reset_cause cause;
    int64_t from, to;
    bool unsure;      /* no leader epochs are known of what was read below `to`: it may be there
                         no more */
    bool new_history; /* offsets mean other records now, and the account begins anew */
};

struct krc_offsets {
    enum krc_offset_state state;
    enum krc_reset_cause cause; /* LOCATING and FAILED: why */
    enum krc_ask wanted;        /* LOCATING: what was asked */
    uint32_t generation;      /* of the question that is open */
    uint32_t stretch;         /* one more after each seek and each new history */
    int32_t epoch;            /* of the record before `position`, -1: unknown */
    int32_t asked_epoch;      /* VALIDATING: where it ends is being asked */
    int32_t acked_epoch;      /* of the record before `acknowledged` */
    int64_t start;            /* where this stretch's account begins */
    int64_t position;         /* the next offset to be read; -1: not known yet */
    int64_t agreed;           /* VALIDATING: where histories part lies here or below */
    int64_t delivered_to;     /* the end of the last batch that was handed on */
    int64_t acknowledged;
    int64_t committed;        /* in this stretch; -1: nothing yet */
    struct krc_account account; /* of [start, position) */
    struct krc_account acked;   /* of [start, acknowledged) */
    struct krc_epochs epochs;   /* of what was read below `position` */
    uint64_t stale;             /* answers that came too late */
};

void krc_offsets_init(struct krc_offsets *offsets);

/* KRC_OK, or KRC_E_STATE: the move is not in the table, and the machine is FAILED. */
int krc_offsets_step(struct krc_offsets *offsets, const struct krc_offset_event *event,
                     struct krc_offset_update *update, krc_error *error) KRC_MUST_USE;

/* NULL, or the law that does not hold. */
const char *krc_offsets_invariant(const struct krc_offsets *offsets);

/* The sum of an account's fates; equal to - from in every account that is whole. */
int64_t krc_account_sum(const struct krc_account *account);

/* ---- From what was found to the event's name ----------------------------------------------- */

/* A committed offset was looked up: `found`, of the same topic, with an epoch or not. */
struct krc_offset_event krc_offsets_judge_stored(enum krc_reset_policy policy, bool found,
                                                 bool same_topic, int64_t offset, int32_t epoch);

/* The log spans [log_start, log_end]. */
struct krc_offset_event krc_offsets_judge_range(const struct krc_offsets *offsets,
                                                enum krc_reset_policy policy, int64_t log_start,
                                                int64_t log_end);

/*
 * The answer to KRC_ASK_EPOCH_END: the log's last epoch that is not above the one asked for is
 * `found`, and ends at `end`; -1: unknown.
 *
 * An epoch that was asked for and not found is not in this log, nor is any record of it.  Then
 * `end` tells nothing of what was read beyond the end of `found` there: the histories part at the
 * lower of both ends; and where what was read has not got `found` either, the last epoch below
 * it has to be asked about.
 */
struct krc_offset_event krc_offsets_judge_epoch_end(const struct krc_offsets *offsets,
                                                    enum krc_reset_policy policy, int32_t found,
                                                    int64_t end);

const char *krc_offset_state_name(enum krc_offset_state state);
const char *krc_offset_event_name(enum krc_offset_event_type type);
const char *krc_reset_cause_text(enum krc_reset_cause cause);

#endif
