/*
 * Where a partition's batches come from: a log folder (consumer/logsource.h) or a cluster
 * (consumer/netsource.h).  A source answers what the state machine asks; one that has to ask
 * somebody else first says that the answer is not there yet, and is asked again.
 */
#ifndef KRC_CONSUMER_SOURCE_H
#define KRC_CONSUMER_SOURCE_H

#include "base/chunk.h"
#include "base/place.h"
#include "consumer/config.h"
#include "records/records.h"
#include "txnfilter/markers.h"

/* A batch as it is stored. */
struct krc_batch_view {
    struct krc_batch_header header;
    const uint8_t *bytes;    /* valid while `chunk` is held */
    struct krc_chunk *chunk; /* the source holds it until its next fetch */
};

/* What lies at a position: offsets [from, to), all of one fate, or a batch of records. */
struct krc_item {
    enum {
        KRC_ITEM_RECORDS,
        KRC_ITEM_PASSED,
        KRC_ITEM_END,          /* what was asked for is read */
        KRC_ITEM_CAUGHT_UP,    /* nothing more is visible for now */
        KRC_ITEM_OUT_OF_RANGE,
        KRC_ITEM_WAIT,         /* not known yet */
    } type;
    int64_t from, to;
    enum krc_fate fate;          /* PASSED */
    struct krc_batch_view batch; /* RECORDS, and PASSED where a batch was read, else .bytes is
                                    NULL */
    struct krc_records records;  /* RECORDS: to be walked, those outside [from, to) left out */
    int32_t count;               /* RECORDS: of those in [from, to) */
    int64_t delivered;           /* RECORDS: the offsets they have: Kafka 0.7 gives one to a set */
    int32_t epoch;               /* leader epoch there, -1: none */
    bool is_misjudged;           /* PASSED as control: a marker that shows that its transaction, */
    int64_t misjudged_from;      /* from here on, was delivered though aborted, or left out */
    char why[512];               /* PASSED as lost or skipped, or a misjudged one: a sentence */
};

/* A committed offset that reading is to go on from. */
struct krc_start {
    bool found;
    int64_t offset;
    int32_t epoch;            /* -1: unknown */
    struct krc_epochs epochs; /* of what was read below; none: unknown */
    struct krc_uuid topic_id; /* all zero: unknown */
    bool settled;             /* every transaction that began below is decided */
};

/* Said once, where no topic id is known of a committed offset, or of the topic. */
#define KRC_UNPROTECTED                                                                        \
    "no topic id is known, so a topic that was deleted and made again under the same name would " \
    "not be recognised"

/* What is known of a log; -1: not known. */
struct krc_standing {
    int64_t log_start_offset;
    int64_t last_stable_offset;
    int64_t high_watermark;
    int64_t log_end_offset;
};

/* What a source has noticed without being asked. */
enum krc_notice {
    KRC_NOTICE_NONE,
    KRC_NOTICE_NEW_EPOCH, /* another leader epoch began */
    KRC_NOTICE_RECREATED, /* the topic is another one of the same name */
};

enum { KRC_NOT_YET = 0, KRC_ANSWERED = 1 };

struct krc_source {
    const struct krc_source_ops *ops;
    struct krc_codecs *codecs;
    const krc_config *config;
    struct krc_uuid topic_id; /* of the topic as it is now; all zero: unknown */
    int64_t until;        /* read up to here; KRC_NO_END; KRC_LATEST: the end as it is when asked */
    bool asks_group;      /* no store has the committed offset: the cluster's group is asked */
    bool whole_batches;   /* end before a batch that reaches beyond `until`, or holds too many */
    int64_t records_left; /* end behind so many records; KRC_NO_END */
};

/* Those that take a krc_error return KRC_ANSWERED, KRC_NOT_YET or an error (`fate`: KRC_OK). */
struct krc_source_ops {
    enum krc_notice (*notice)(struct krc_source *source);

    /* The committed offset that the source itself keeps, a group's; NULL: it keeps none. */
    int (*stored)(struct krc_source *source, struct krc_start *start, krc_error *error);

    /* Where leader epoch `epoch` ends, in the log's epoch `*found`; -1 and -1: unknown. */
    int (*epoch_end)(struct krc_source *source, int32_t epoch, int32_t *found, int64_t *end,
                     krc_error *error);

    /* The range of the log.  `*end` may be INT64_MAX where `position` lies below the start. */
    int (*range)(struct krc_source *source, int64_t position, int64_t *start, int64_t *end,
                 krc_error *error);

    /* The offset that KRC_ASK_START, _END or _TIME (of records at or after `timestamp_ms`) asks
     * for. */
    int (*where)(struct krc_source *source, enum krc_ask ask, int64_t timestamp_ms,
                 int64_t *offset, krc_error *error);

    /* What lies at `position`.  `settled`: every transaction that began below it is known to be
     * decided; looked at when the position is not where the last item ended.  `scratch` receives
     * what is decompressed.  KRC_E_CORRUPT, KRC_E_TOO_LARGE, KRC_E_IO: the position holds. */
    int (*fetch)(struct krc_source *source, int64_t position, bool settled,
                 struct krc_buffer *scratch, struct krc_item *item, krc_error *error);

    /* What `fetch` needs to know of a batch (consumer/take.h): */

    /* Offsets from the item's begin to `to` are in no batch: makes it a PASSED one. */
    int (*gap)(struct krc_source *source, struct krc_item *item, int64_t to, krc_error *error);

    /* read_committed: what becomes of a transactional batch of records. */
    int (*fate)(struct krc_source *source, const struct krc_batch_header *header,
                enum krc_txn_fate *fate, krc_error *error);

    /* Puts before an error's sentence where the batch in hand lies. */
    void (*explain)(struct krc_source *source, krc_error *error);

    void (*standing)(const struct krc_source *source, struct krc_standing *standing);

    /* How many offsets between the last stable offset and the end that was asked for are
     * undecided. */
    int64_t (*undecided)(const struct krc_source *source);

    /* Whether all transactions that began below the position are decided. */
    bool (*settled)(const struct krc_source *source);

    /* The i-th thing to be known at the end, as a sentence about [*from, ...); false: no more. */
    bool (*remark)(const struct krc_source *source, int i, int64_t *from, char *text, size_t size);

    /* The application has let the position go elsewhere; it was reset by policy.  May be NULL. */
    void (*moved)(struct krc_source *source);
    void (*reset)(struct krc_source *source);

    void (*close)(struct krc_source *source);
};

#endif
