/*
 * A partition's log folder as a source: answers what the state machine asks, and reads on from an
 * offset.
 */
#ifndef KRC_CONSUMER_LOGSOURCE_H
#define KRC_CONSUMER_LOGSOURCE_H

#include "consumer/config.h"
#include "consumer/lookahead.h"
#include "records/records.h"

/* What lies at a position: offsets [from, to), all of one fate, or a batch of records. */
struct krc_item {
    enum { KRC_ITEM_RECORDS, KRC_ITEM_PASSED, KRC_ITEM_END, KRC_ITEM_OUT_OF_RANGE } type;
    int64_t from, to;
    enum krc_fate fate;         /* PASSED */
    struct krc_log_batch batch; /* RECORDS, and PASSED where a batch was read, else .bytes is
                                   NULL */
    struct krc_records records; /* RECORDS: to be walked, those outside [from, to) left out */
    int32_t count;              /* RECORDS: of those in [from, to) */
    int64_t delivered;          /* RECORDS: the offsets they have: Kafka 0.7 gives one to a set */
    int32_t epoch;              /* leader epoch there, -1: none */
    char why[512];              /* PASSED as lost or skipped: a sentence */
};

struct krc_logsource {
    const krc_config *config;
    struct krc_codecs *codecs;
    struct krc_log *log;
    struct krc_reader *reader;
    struct krc_lookahead ahead;
    int64_t log_end;
    int64_t expected;  /* where the reader stands, -1: nowhere yet */
    int64_t stable;    /* read_committed: no record at or beyond it; INT64_MAX: not known to end */
    bool settled;      /* every transaction that began below the position is decided */
    bool whole_batches; /* end before a batch that reaches beyond `until`, or holds too many */
    int64_t records_left; /* end behind so many records; KRC_NO_END */
    bool compacted;    /* compaction has left its traces */
    bool has_batch;    /* `batch` was read and not yet handed out */
    struct krc_log_batch batch;
    int64_t beyond_high_watermark; /* records handed out at or beyond it */
};

int krc_logsource_open(struct krc_logsource *source, const struct krc_log_place *place,
                       const krc_config *config, struct krc_codecs *codecs,
                       krc_error *error) KRC_MUST_USE;
void krc_logsource_close(struct krc_logsource *source);

/*
 * What lies at `position`, read up to `until`.  `settled`: see krc_lookahead_begin; looked at when
 * the position is not where the last item ended.  `scratch` receives what is decompressed.
 * KRC_E_CORRUPT, KRC_E_TOO_LARGE, KRC_E_IO: the position holds.
 */
int krc_logsource_fetch(struct krc_logsource *source, int64_t position, int64_t until,
                        bool settled, struct krc_buffer *scratch, struct krc_item *item,
                        krc_error *error) KRC_MUST_USE;

/* The last stable offset: known without cost once a fetch ended there. */
int krc_logsource_stable(struct krc_logsource *source, int64_t *stable,
                         krc_error *error) KRC_MUST_USE;

/* The end of what the isolation level shows. */
int krc_logsource_end(struct krc_logsource *source, int64_t *end, krc_error *error) KRC_MUST_USE;

/* The first offset at or after the log start whose timestamp is at or after the given one; the
 * end of what the isolation level shows where there is none. */
int krc_logsource_find_time(struct krc_logsource *source, int64_t timestamp_ms, int64_t *offset,
                            krc_error *error) KRC_MUST_USE;

/* The batch that holds `offset`, aside from what is being fetched. */
int krc_logsource_batch_at(struct krc_logsource *source, int64_t offset,
                           struct krc_log_batch *batch, krc_error *error) KRC_MUST_USE;

/* A sentence on what lies behind the log's last whole batch, "" for a plain end. */
const char *krc_logsource_tail(const struct krc_logsource *source);

#endif
