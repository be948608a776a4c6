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
 * Whoever dies on the way asks the group when it comes again.  So no record is in two outputs, and
 * none is in none.
 */
#ifndef KRC_REPLAY_MEMBER_H
#define KRC_REPLAY_MEMBER_H

#include "consumer/source.h"
#include "replay/lineage.h"

struct krc_replay_run;
struct krc_replay_part;

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

/* Compares what the group says with what the store has (`known`: something); `start` becomes where
 * reading begins.  1: this sink goes on from where it was; 0: with another file.
 * KRC_E_MISMATCH: reading there would write records again. */
int krc_replay_take_over(struct krc_replay_part *part, bool known, struct krc_start *start,
                         krc_error *error) KRC_MUST_USE;

/* The commit of `offset` is kept: asks the group for it.  KRC_E_FENCED: it was refused, and put
 * back. */
int krc_replay_decide(struct krc_replay_part *part, int64_t offset, int32_t epoch,
                      krc_error *error) KRC_MUST_USE;

/* OffsetCommit of one partition, waited for: as a member, or, of no group joined, by nobody. */
int krc_replay_commit_to_group(struct krc_replay_part *part, int64_t offset, int32_t epoch,
                               const char *metadata, krc_error *error) KRC_MUST_USE;

/* Where the part's stretch begins. */
int64_t krc_replay_stretch(const struct krc_replay_part *part);

/* Cuts a partition's output back to what is committed, after its sink was closed. */
int krc_replay_cut(struct krc_replay_run *run, const struct krc_place *place,
                   krc_error *error) KRC_MUST_USE;

#endif
