/*
 * What the store keeps of one partition: where reading goes on, the history it belongs to and its
 * account, the leader epochs of what was read, and the resets that were not committed yet.
 */
#ifndef KRC_CONSUMER_LEDGER_H
#define KRC_CONSUMER_LEDGER_H

#include "consumer/tracker.h"
#include "store/store.h"

struct krc_ledger {
    const struct krc_place *place;
    int32_t history;         /* of what is being read */
    struct krc_account base; /* what the store has of this history, before this run */
    struct krc_uuid topic_id;   /* of the topic that this history is of; all zero: unknown */
    struct krc_epochs epochs;   /* as the store has them, at the offset that it has: */
    int64_t stored_offset;      /* as it was read or committed last; -1: none */
    int32_t stored_history;     /* likewise; 0: none */
    struct krc_ledger_reset *resets; /* to be committed with the offset they led to */
    size_t reset_count;
    bool forgotten; /* a reset, for want of memory: to commit without it would hide it */
};

void krc_ledger_init(struct krc_ledger *ledger, const struct krc_place *place);
void krc_ledger_free(struct krc_ledger *ledger);

/* Reads what is stored, which `start` then tells; 1 found, 0 none.  Where `follows` is false,
 * reading begins elsewhere, and of another topic under the old name it begins a new history. */
int krc_ledger_load(struct krc_ledger *ledger, struct krc_store *store, const char *group,
                    bool follows, struct krc_start *start, krc_error *error) KRC_MUST_USE;

/* The topic has moved to this cluster, where it has another id and other leader epochs. */
void krc_ledger_move(struct krc_ledger *ledger, struct krc_start *start);

/* Whether a topic that was deleted and made again under the same name would not be told from what
 * `start` speaks of, for want of topic ids. */
bool krc_ledger_unprotected(const struct krc_ledger *ledger, const struct krc_start *start);

/* A reset: kept, and where it begins a new history, the account begins anew.  The account of the
 * history that it ends is event->account, and is stored with it. */
void krc_ledger_reset(struct krc_ledger *ledger, const struct krc_event *event,
                      const struct krc_offset_update *update);

/* The account of the history after this run's part of it. */
struct krc_account krc_ledger_account(const struct krc_ledger *ledger,
                                      const struct krc_account *run);

/* Writes the row of a committed point, and the resets; between begin and commit.  KRC_E_MISMATCH:
 * the row is not the one that was read or committed here last, so that somebody else has moved the
 * offset meanwhile, whose work this would undo. */
int krc_ledger_put(struct krc_ledger *ledger, struct krc_store *store, const char *group,
                   const struct krc_point *point, int64_t commit_time_ms, bool settled,
                   krc_error *error) KRC_MUST_USE;

/* The point is on disk, with what `put`, the ledger or a copy of it, had then. */
void krc_ledger_committed(struct krc_ledger *ledger, const struct krc_ledger *put,
                          const struct krc_point *point);

/* A copy that another thread may put; to be freed as the other is. */
int krc_ledger_copy(struct krc_ledger *copy, const struct krc_ledger *ledger,
                    const struct krc_place *place, krc_error *error) KRC_MUST_USE;

/* Wall-clock time, in milliseconds. */
int64_t krc_now_ms(void);

/* The group whose rows in the store are meant. */
const char *krc_store_group(const krc_config *config);

#endif
