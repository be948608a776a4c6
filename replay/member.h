/*
 * Partitions that a group gives: the group's committed offset decides what is in which member's
 * output.
 *
 *   flushed    what was taken is on disk
 *   kept       the store has it as if it were committed, and what stood before beside it
 *   committed  OffsetCommit, as a member, with the lineage (replay/lineage.h)
 *   confirmed  what stood before is forgotten; or, where the group refused, put back, and the
 *              output is cut
 *
 * Where no answer came, whoever asked is made to leave the group before the group is asked what it
 * has, for what is still under way could be taken after that: by the same process, or, after a
 * crash, by the next one.  So no record is in two outputs, and none is in none.
 */
#ifndef KRC_REPLAY_MEMBER_H
#define KRC_REPLAY_MEMBER_H

#include "consumer/source.h"
#include "replay/lineage.h"
#include "store/store.h"

struct krc_replay_run;
struct krc_replay_part;
struct krc_commit_entry;

/* Of a partition that the group gave. */
struct krc_joined {
    bool is_member;             /* else nothing of it counts */
    struct krc_start start;     /* what the group had committed */
    struct krc_lineage lineage; /* and whose that was */
    int64_t stretch; /* where this sink took it over; -1: where reading begins */
};

/* What a member needs of the store: room for what is pending, and the sink's id. */
int krc_replay_prepare_member(struct krc_replay_run *run, krc_error *error) KRC_MUST_USE;

/* Asks the group what became of commits that were pending when a run ended, and confirms them or
 * cuts the output.  KRC_E_MISMATCH: the group does not tell. */
int krc_replay_recover(struct krc_replay_run *run, krc_error *error) KRC_MUST_USE;

/* Compares what the group says with what the store has, which `start` tells; it becomes where
 * reading begins.  1: this sink goes on from where it was; 0: with another file.
 * KRC_E_MISMATCH: records would be, or are, written twice, or not at all.  KRC_E_RECREATED. */
int krc_replay_take_over(struct krc_replay_part *part, struct krc_start *start,
                         krc_error *error) KRC_MUST_USE;

/* What is kept of a commit of `offset` that is to be asked for; its texts are valid while nothing
 * else is done. */
struct krc_pending krc_replay_pending(const struct krc_replay_part *part, int64_t offset);

/* That commit is kept: asks the group for it.  Where that fails, we are no member any more, and it
 * was found out what came of it: KRC_OK: it was taken all the same; KRC_E_FENCED and others: it was
 * not, and is put back; or it stays pending, and the error says so. */
int krc_replay_decide(struct krc_replay_part *part, int64_t offset, int32_t epoch,
                      krc_error *error) KRC_MUST_USE;

/* OffsetCommit of the part, waited for: as a member, or, of no group joined, by nobody.  The entry's
 * topic and partition are filled in. */
int krc_replay_commit_to_group(struct krc_replay_part *part, struct krc_commit_entry *entry,
                               krc_error *error) KRC_MUST_USE;

/* Whether there is any use in a member's commit: else KRC_E_FENCED, or the topic is gone. */
int krc_replay_may_commit(const struct krc_replay_part *part, krc_error *error) KRC_MUST_USE;

/* Where the part's stretch begins. */
int64_t krc_replay_stretch(const struct krc_replay_part *part);

/* ---- Between pending.c and leftovers.c ------------------------------------------------------- */

/* Finds out what became of the part's pending commit: 1 taken, 0 not, or an error. */
int krc_replay_find_out(struct krc_replay_part *part, krc_error *error) KRC_MUST_USE;

/* Confirms what is pending, or puts back what stood before and cuts the output. */
int krc_replay_settle(struct krc_replay_run *run, const struct krc_pending *pending, bool taken,
                      krc_error *error) KRC_MUST_USE;

/* Cuts a partition's newest file to what is committed of it. */
int krc_replay_cut_file(struct krc_replay_run *run, const struct krc_place *place,
                        krc_error *error) KRC_MUST_USE;

/* The first offset that is pending. */
static inline int64_t krc_replay_pending_from(const struct krc_pending *pending)
{
    return pending->from > pending->stretch ? pending->from : pending->stretch;
}

/* ---- Cutting -------------------------------------------------------------------------------- */

/* Cuts a partition's output back to what is committed, after its sink was closed. */
int krc_replay_cut(struct krc_replay_run *run, const struct krc_place *place,
                   krc_error *error) KRC_MUST_USE;

#endif
