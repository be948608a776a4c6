/*
 * What lies in the log folders that were named: which partitions, and what the files beside them
 * say.
 *
 * A path may be a broker's data folder (its `log.dirs`), one TOPIC-PARTITION folder, or one
 * segment file (`.log`; `.kafka` for 0.7).  The checkpoints of a single folder or file are looked
 * for where a broker keeps them: in the folder above.
 */
#ifndef KRC_LOGDIR_FOLDER_H
#define KRC_LOGDIR_FOLDER_H

#include "base/interrupt.h"
#include "base/place.h"

struct krc_log_place {
    const struct krc_interrupt *interrupt; /* of whoever reads it; NULL: none */
    char *topic;
    int32_t partition;
    char *folder;
    char *data_folder;         /* where the broker's files about it are; NULL: not known */
    char *file;                /* the one segment's name where a single file was named, else NULL */
    struct krc_uuid topic_id;  /* partition.metadata; all zero: unknown */
    char cluster_id[64];       /* meta.properties; "" unknown */
    int64_t log_start_offset;  /* log-start-offset-checkpoint; -1: not listed there */
    int64_t high_watermark;    /* replication-offset-checkpoint; -1: not listed */
    int64_t cleaned_to;        /* cleaner-offset-checkpoint; -1: not listed, so never compacted
                                  as far as that file knows */
    int64_t recovery_point;    /* recovery-point-offset-checkpoint; -1: not listed */
    bool stopped_cleanly;      /* .kafka_cleanshutdown is there */
    bool has_remote_storage;   /* remote-log-index-cache is there: the broker tiers some topics */
};

struct krc_log_places {
    const struct krc_interrupt *interrupt; /* NULL: none.  It outlives what is read of them */
    struct krc_log_place *list; /* sorted by topic, partition */
    size_t count;
    char left_out[300]; /* the first folder that is named as a partition of a topic whose name is
                           not valid, fit for a terminal; "": none */
};

/* Leftovers (TOPIC-PARTITION.<uuid>-delete, -future, -stray) are no partitions.  KRC_E_AMBIGUOUS:
 * one partition twice, both folders are named.  KRC_E_INVALID: a folder that was named itself gives
 * no valid topic name.  KRC_E_NOT_FOUND: no such path, or nothing of Kafka's in it.  KRC_E_CORRUPT:
 * a checkpoint or metadata file that is none.  KRC_E_INTERRUPTED, as all that reads them. */
int krc_log_places_find(struct krc_log_places *places, const char *const *paths, size_t count,
                        bool format_07, const struct krc_interrupt *interrupt,
                        krc_error *error) KRC_MUST_USE;

/* Reports a folder that was left out, where there is one. */
void krc_log_places_tell(const struct krc_log_places *places,
                         void (*note)(void *arg, const char *topic, const char *text), void *arg);

/* The offset up to which the log was compacted, as its cleaner-offset-checkpoint has it now: -1,
 * not listed.  A running broker's may have come since the place was found. */
int krc_log_place_cleaned_to(const struct krc_log_place *place, int64_t *cleaned_to,
                             krc_error *error) KRC_MUST_USE;

/* NULL where it is not there. */
const struct krc_log_place *krc_log_places_get(const struct krc_log_places *places,
                                               const char *topic, int32_t partition);

void krc_log_places_free(struct krc_log_places *places);

#endif
