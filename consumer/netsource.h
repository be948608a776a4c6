/*
 * A partition of a cluster as a source.
 */
#ifndef KRC_CONSUMER_NETSOURCE_H
#define KRC_CONSUMER_NETSOURCE_H

#include "cluster/cluster.h"
#include "consumer/net_fates.h"
#include "consumer/source.h"

struct krc_netsource {
    struct krc_source base;
    struct krc_remote *remote;
    uint32_t turn;      /* the remote's, that `piece` and `bytes` are of */
    int64_t end;        /* what `until` means; -1: not asked yet */
    int64_t caught_up_at; /* that was said; -1 */
    bool fetched;       /* a fetch at the position, or before it, was answered */
    bool compacted;     /* compaction has left its traces */
    bool told_refused;  /* that the broker does not tell cleanup.policy; remarked on */
    bool asks_end;       /* no record has such a time: the end is asked for */
    int64_t range_start; /* the first half of a range's answer; -1: not there */
    struct krc_frame *frame; /* that the batch handed out last lies in */
    const uint8_t *piece;    /* the piece that `fates.aborted` is of: where its batches begin */
    size_t piece_len; /* how much that was, and... */
    size_t claimed;   /* ...how many bytes its broken batches say they have, in all */
    struct krc_net_fates fates;
    struct krc_batch_header header; /* of the batch in hand */
    const uint8_t *bytes;           /* NULL: none in hand */
};

/* `topic` is known and has the partition; `owner` is the remote's. */
int krc_netsource_new(struct krc_source **source, struct krc_cluster *cluster,
                      struct krc_topic *topic, int32_t partition, const krc_config *config,
                      struct krc_codecs *codecs, void *owner, krc_error *error) KRC_MUST_USE;

/* NULL where it is another kind. */
struct krc_netsource *krc_netsource_of(struct krc_source *source);

/* ---- Between netsource.c and netfetch.c ----------------------------------------------------- */

/* KRC_ANSWERED, with the answer in the remote's question; KRC_NOT_YET; or why there is none. */
int krc_net_question(struct krc_netsource *source, struct krc_question wanted,
                     krc_error *error) KRC_MUST_USE;

/* The same for ListOffsets alone. */
int krc_net_offset(struct krc_netsource *source, int64_t timestamp, bool read_committed,
                   int64_t *offset, krc_error *error) KRC_MUST_USE;

/* What `until` means: `end`. */
int krc_net_end(struct krc_netsource *source, krc_error *error) KRC_MUST_USE;

bool krc_net_committed(const struct krc_netsource *source);

/* Operations (consumer/source.h). */
int krc_net_fetch(struct krc_source *source, int64_t position, bool settled,
                  struct krc_buffer *scratch, struct krc_item *item,
                  krc_error *error) KRC_MUST_USE;
int krc_net_gap(struct krc_source *source, struct krc_item *item, int64_t to,
                krc_error *error) KRC_MUST_USE;
int krc_net_fate(struct krc_source *source, const struct krc_batch_header *header,
                 enum krc_txn_fate *fate, krc_error *error) KRC_MUST_USE;
void krc_net_explain(struct krc_source *source, krc_error *error);

#endif
