/*
 * The small files beside a segment: parsers of bytes, no I/O.
 */
#ifndef KRC_LOGDIR_FILES_H
#define KRC_LOGDIR_FILES_H

#include "base/error.h"
#include "logdir/log.h"

/* .index, .timeindex and .txnindex entries; `i` counts from 0.  The caller knows that i is below
 * the file's size / the entry's size. */
enum { KRC_INDEX_ENTRY = 8, KRC_TIMEINDEX_ENTRY = 12, KRC_TXNINDEX_ENTRY = 34 };

struct krc_index_entry {
    int64_t offset; /* the last one of the batch, or older brokers: of the append, at `position` */
    int64_t position;
};
struct krc_timeindex_entry {
    int64_t timestamp_ms;
    int64_t offset;
};
struct krc_txnindex_entry {
    int16_t version;
    int64_t producer_id;
    int64_t first_offset;
    int64_t last_offset; /* the abort marker's */
    int64_t last_stable_offset;
};
struct krc_index_entry krc_index_entry(const uint8_t *file, size_t i, int64_t base_offset);
struct krc_timeindex_entry krc_timeindex_entry(const uint8_t *file, size_t i, int64_t base_offset);
struct krc_txnindex_entry krc_txnindex_entry(const uint8_t *file, size_t i);

/* How many entries are in use: those before the zeros that pad an active segment's file. */
size_t krc_index_entries(const uint8_t *file, size_t size);
size_t krc_timeindex_entries(const uint8_t *file, size_t size);

/* A producer's state in a .snapshot file. */
struct krc_producer_state {
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t last_sequence;
    int64_t last_offset;
    int32_t offset_delta;
    int64_t timestamp_ms;
    int32_t coordinator_epoch;
    int64_t transaction_start; /* first offset of the open transaction, -1: none */
};
/* Checks version and CRC.  `*count` producers follow; get them with krc_snapshot_producer. */
int krc_snapshot_parse(const uint8_t *file, size_t size, int32_t *count,
                       krc_error *error) KRC_MUST_USE;
struct krc_producer_state krc_snapshot_producer(const uint8_t *file, int32_t i);

/* A checkpoint's lines "TOPIC PARTITION OFFSET", or a leader-epoch-checkpoint's "EPOCH OFFSET". */
typedef int krc_checkpoint_fn(void *arg, const char *topic, size_t topic_len, int32_t partition,
                              int64_t offset);
int krc_checkpoint_parse(const char *text, size_t len, krc_checkpoint_fn *line, void *arg,
                         krc_error *error) KRC_MUST_USE;
int krc_epochs_parse(const char *text, size_t len, struct krc_epoch_start **epochs,
                     size_t *count, krc_error *error) KRC_MUST_USE;

/* partition.metadata's topic id, and meta.properties' cluster.id ("" where it has none). */
int krc_partition_metadata_parse(const char *text, size_t len, struct krc_uuid *topic_id,
                                 krc_error *error) KRC_MUST_USE;
void krc_meta_properties_cluster(const char *text, size_t len, char *cluster_id, size_t size);

#endif
