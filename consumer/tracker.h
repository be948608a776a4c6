/*
 * One partition being read: drives the state machine with what the source says, and yields what
 * was found.  The public consumer and the replay sinks both read through it.
 */
#ifndef KRC_CONSUMER_TRACKER_H
#define KRC_CONSUMER_TRACKER_H

#include "consumer/source.h"

/* Told of each event as it happens; `reset` is the machine's update where the event is a reset
 * (RESET, TRUNCATED, RECREATED), to be stored with the offset it leads to, else NULL. */
typedef void krc_tracker_event_fn(void *arg, const struct krc_event *event,
                                  const struct krc_offset_update *reset);

/* How far the reading has come, as a commit may speak of it. */
struct krc_point {
    int64_t offset;
    int32_t epoch;
    struct krc_epochs epochs;   /* of what lies below */
    struct krc_account account; /* likewise */
};

struct krc_tracker {
    struct krc_offsets offsets;
    struct krc_offset_update todo;
    struct krc_source *source; /* the tracker's own */
    struct krc_place *place;   /* its owner's; a recreated topic's id is put there */
    const krc_config *config;
    int64_t now_ms; /* for by_duration */
    struct krc_start stored;
    krc_tracker_event_fn *on_event;
    void *arg;
    struct krc_point before; /* where the last item but END begins: a reset may precede it */
    struct krc_point left;   /* what a reset has left, when it is told of */
    int64_t told_end; /* where the end was told last; -1: nowhere */
    int64_t lost_from, lost_to; /* what the log began behind last, and is not there again */
};

/* Where the reading stands now. */
struct krc_point krc_tracker_point(const struct krc_tracker *tracker);

/* Takes the source over. */
void krc_tracker_open(struct krc_tracker *tracker, struct krc_place *place,
                      struct krc_source *source, krc_tracker_event_fn *on_event, void *arg);
void krc_tracker_close(struct krc_tracker *tracker);

/* Starts, or seeks: `start` is an offset, KRC_EARLIEST, KRC_LATEST or KRC_STORED (then `stored` is
 * looked at; NULL: the source keeps it, or nothing is stored). */
int krc_tracker_assign(struct krc_tracker *tracker, int64_t start, const struct krc_start *stored,
                       krc_error *error) KRC_MUST_USE;

/* The next item: RECORDS or PASSED (the position has moved behind it), CAUGHT_UP, WAIT, or END.
 * After an error the partition is FAILED and only END follows. */
int krc_tracker_next(struct krc_tracker *tracker, struct krc_buffer *scratch,
                     struct krc_item *item, krc_error *error) KRC_MUST_USE;

/* Everything below `next_offset` is done with, of whose range `account` is the account (looked at
 * only where it does not end what was delivered). */
int krc_tracker_ack(struct krc_tracker *tracker, int64_t next_offset, int32_t epoch,
                    const struct krc_account *account, krc_error *error) KRC_MUST_USE;

/* What was acknowledged in that stretch (offsets.stretch) is on disk. */
int krc_tracker_committed(struct krc_tracker *tracker, uint32_t stretch, int64_t offset,
                          krc_error *error) KRC_MUST_USE;

/* Whether all transactions that began below the position are decided (krc_stored.settled). */
bool krc_tracker_settled(const struct krc_tracker *tracker);

#endif
