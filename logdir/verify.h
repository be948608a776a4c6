/*
 * Verification: one pass over a log that checks it and what lies beside it.
 *
 * What the log itself shows is the authority.  A transaction can only be judged where it shows all
 * of it: offsets may be missing (retention, compaction, damage), and with them a transaction's
 * beginning or its marker.  So statements about what lies below the last gap are believed.
 */
#ifndef KRC_LOGDIR_VERIFY_H
#define KRC_LOGDIR_VERIFY_H

#include <krc-tools.h>

#include "logdir/cursor.h"
#include "logdir/files.h"
#include "records/records.h"
#include "txnfilter/producers.h"

struct krc_verify_limits {
    bool format_07;
    int64_t max_batch_bytes, max_decompressed_bytes;
};

/* krc_verify of <krc-tools.h>, for one place. */
int krc_verify_log(const struct krc_log_place *place, const struct krc_verify_limits *limits,
                   const struct krc_verify_options *options, struct krc_verify_summary *summary,
                   krc_error *error) KRC_MUST_USE;

/* The rest is internal to logdir/. */

enum krc_index_kind { KRC_INDEX, KRC_TIMEINDEX, KRC_TXNINDEX, KRC_INDEX_KINDS };

/* An index of the present segment. */
struct krc_index_file {
    struct krc_buffer file;
    size_t count; /* entries */
    size_t next;  /* the one to be checked next */
    size_t good;  /* how many, counted from the first, end with the last that was in order */
};

struct krc_verify {
    const struct krc_log *log;
    const struct krc_verify_limits *limits;
    const struct krc_verify_options *options;
    struct krc_verify_summary *summary;
    struct krc_reader *reader;
    struct krc_codecs *codecs;
    struct krc_buffer scratch;
    size_t segments_begun; /* the last of them is the present one */
    struct krc_index_file index[KRC_INDEX_KINDS];
    int64_t index_says;    /* the last offset of a batch to come, by the .index; -1: none */
    size_t index_entry;    /* which entry says so */
    int64_t max_timestamp; /* of the segment's batches so far */
    int64_t next_offset;   /* behind the last batch */
    int64_t last_gap;      /* from here on no offset is missing */
    bool end_known;        /* false where damage hides the log's end */
    struct krc_producers open; /* producer id -> its open transaction's first offset */
    size_t stable_wrong;       /* .txnindex entries whose last stable offset is not the log's... */
    struct krc_stable_claim {  /* ...and that of them with the highest */
        int64_t offset, marker;
        size_t segment, entry;
    } stable_claim;
    int64_t *snapshots;        /* their offsets, rising */
    size_t snapshot_count, snapshots_done;
    size_t epoch_told; /* how many, counted from the first, end with the last found wrong */
};

/* Counts a finding and hands it on. */
void krc_verify_tell(struct krc_verify *v, bool fault, const char *format, ...) KRC_PRINTF(3, 4);

/* As krc_load_file, from the log's folder; something else that has a file's name is a fault. */
int krc_verify_load(struct krc_verify *v, const char *name, struct krc_buffer *file,
                    krc_error *error) KRC_MUST_USE;

/* Whether a file may know of more than the log holds: the broker was killed, or is running. */
bool krc_verify_may_lag(const struct krc_verify *v);

/* ---- Indexes ------------------------------------------------------------------------------- */

int krc_verify_load_indexes(struct krc_verify *v, krc_error *error) KRC_MUST_USE;
void krc_verify_index(struct krc_verify *v, const struct krc_log_batch *batch,
                      int64_t last_record);
void krc_verify_timeindex(struct krc_verify *v, const struct krc_log_batch *batch);
/* The segment is read: what its indexes still hold is about nothing. */
void krc_verify_end_indexes(struct krc_verify *v);
/* What they say of a broken place cannot be checked. */
void krc_verify_skip_indexes(struct krc_verify *v, const struct krc_damage *damage);

/* Whether the next entry is in order; says so where it is not. */
bool krc_verify_in_order(struct krc_verify *v, enum krc_index_kind kind);
void krc_verify_tell_entry(struct krc_verify *v, enum krc_index_kind kind, size_t entry,
                           const char *format, ...) KRC_PRINTF(4, 5);

/* ---- Transactions -------------------------------------------------------------------------- */

int krc_verify_list_snapshots(struct krc_verify *v, krc_error *error) KRC_MUST_USE;
/* `control_type` as of krc_batch_control_type. */
int krc_verify_transactions(struct krc_verify *v, const struct krc_log_batch *batch,
                            int control_type, krc_error *error) KRC_MUST_USE;
/* Compares the snapshots up to `offset`, where the log stands. */
int krc_verify_snapshots(struct krc_verify *v, int64_t offset, krc_error *error) KRC_MUST_USE;
/* The log ends before those that are left. */
void krc_verify_end_snapshots(struct krc_verify *v);
void krc_verify_end_transactions(struct krc_verify *v);

/* ---- Text as DumpLogSegments prints it ----------------------------------------------------- */

void krc_dump_segment(FILE *out, const struct krc_log *log, size_t segment);
void krc_dump_batch(FILE *out, const struct krc_log_batch *batch);
/* Walks them to their end. */
void krc_dump_records(FILE *out, const struct krc_batch_header *header,
                      struct krc_records *records);

#endif
