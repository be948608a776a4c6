/*
 * What is behind `krc`: the assigned partitions, the batches that are out, and the events.
 */
#ifndef KRC_CONSUMER_HANDLE_H
#define KRC_CONSUMER_HANDLE_H

#include "consumer/ledger.h"
#include "consumer/spans.h"

/* An assigned partition. */
struct krc_part {
    krc *krc;
    const struct krc_log_place *place;
    enum { KRC_PART_WAITS, KRC_PART_OPEN, KRC_PART_DONE } state;
    struct krc_tracker tracker;
    int64_t start, until;
    struct krc_start stored;
    struct krc_ledger ledger;
    struct krc_spans spans;
    /* once the end is reached, as krc_position gives them: */
    int64_t stable, undecided, log_end;
    bool settled;
};

struct krc_batch {
    struct krc_part *part;
    struct krc_item item;
    struct krc_buffer scratch;
    uint64_t span; /* its number in the part's spans */
    struct krc_batch *next, **back; /* in the handle's list: of those out, or of those to reuse */
};

struct krc {
    krc_config *config;
    struct krc_log_places places;
    struct krc_codecs *codecs;
    struct krc_store *store; /* NULL: none */
    struct krc_part **parts;
    size_t part_count;
    size_t turn;             /* the partition being read */
    struct krc_batch *out, *reuse;
    struct krc_event *events; /* a ring */
    size_t event_first, event_count, events_dropped;
    bool told_unprotected;
    krc_error error;
};

enum { KRC_EVENTS_KEPT = 1024 };

struct krc_part *krc_find_part(const krc *handle, const char *topic, int32_t partition);

/* KRC_E_STATE: the store is a replay's, whose offsets nobody else may move. */
int krc_refuse_sink(const krc *handle, krc_error *error) KRC_MUST_USE;

void krc_push_event(krc *handle, const struct krc_event *event);
krc_tracker_event_fn krc_part_event;

#endif
