/*
 * A partition of a cluster as a source.
 */
#ifndef KRC_CONSUMER_NETSOURCE_H
#define KRC_CONSUMER_NETSOURCE_H

#include "cluster/cluster.h"
#include "consumer/source.h"
#include "txnfilter/aborted.h"

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
    const uint8_t *piece;    /* the piece that `aborted` is of: where its batches begin */
    struct krc_aborted_list aborted;
    struct krc_batch_header header; /* of the batch in hand */
    const uint8_t *bytes;           /* NULL: none in hand */
};

/* `topic` is known and has the partition; `owner` is the remote's. */
int krc_netsource_new(struct krc_source **source, struct krc_cluster *cluster,
                      struct krc_topic *topic, int32_t partition, const krc_config *config,
                      struct krc_codecs *codecs, void *owner, krc_error *error) KRC_MUST_USE;

/* NULL where it is another kind. */
struct krc_netsource *krc_netsource_of(struct krc_source *source);

#endif
