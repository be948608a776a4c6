/*
 * A partition's log folder as a source: answers what the state machine asks, and reads on from an
 * offset.
 */
#ifndef KRC_CONSUMER_LOGSOURCE_H
#define KRC_CONSUMER_LOGSOURCE_H

#include "consumer/lookahead.h"
#include "consumer/source.h"

struct krc_logsource {
    struct krc_source base;
    struct krc_log *log;
    struct krc_reader *reader;
    struct krc_lookahead ahead;
    int64_t log_end;
    int64_t batch_end; /* where the batches end: below the log start offset, if none is read */
    int64_t kept_to;   /* by the checkpoints the log had offsets up to here; -1: not known */
    int64_t expected;  /* where the reader stands, -1: nowhere yet */
    int64_t stable;    /* read_committed: no record at or beyond it; INT64_MAX: not known to end */
    bool settled;      /* every transaction that began below the position is decided */
    bool has_batch;    /* `batch` was read and not yet handed out */
    struct krc_log_batch batch;
    bool told_end;     /* that its end is missing */
    int64_t beyond_high_watermark; /* records handed out at or beyond it */
};

int krc_logsource_open(struct krc_logsource *source, const struct krc_log_place *place,
                       const krc_config *config, struct krc_codecs *codecs,
                       krc_error *error) KRC_MUST_USE;
void krc_logsource_close(struct krc_logsource *source);

/* The same as a source of its own, that its `close` frees. */
int krc_logsource_new(struct krc_source **source, const struct krc_log_place *place,
                      const krc_config *config, struct krc_codecs *codecs,
                      krc_error *error) KRC_MUST_USE;

/* The logsource that a source is; NULL where it is another kind. */
struct krc_logsource *krc_logsource_of(struct krc_source *source);

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

#endif
