/*
 * What metadata says of topics and their partitions.
 */
#ifndef KRC_CLUSTER_TOPICS_H
#define KRC_CLUSTER_TOPICS_H

#include "base/place.h"
#include "cluster/backoff.h"
#include "cluster/replicas.h"
#include "cluster/stalls.h"
#include "protocol/api.h"

struct krc_cluster;

/* Of which there may be millions. */
struct krc_topic_partition {
    struct krc_remote *remote; /* that is read; NULL */
    void *reader;              /* whose it is, or was; NULL: nobody's */
    int32_t leader_id;    /* -1: none, or not known */
    int32_t leader_epoch; /* -1: not known */
    uint32_t replicas;    /* number of its lists in the topic's */
    int16_t error_code;
};

enum krc_cleanup { KRC_CLEANUP_UNKNOWN, KRC_CLEANUP_DELETE, KRC_CLEANUP_COMPACT,
                   KRC_CLEANUP_REFUSED /* the broker does not tell */ };

/* Of which there may be millions, too. */
struct krc_topic {
    struct krc_uuid id;  /* all zero: unknown */
    struct krc_topic_partition *partitions;
    struct krc_replicas replicas;
    int32_t partition_count, remote_count; /* those that are read */
    struct krc_stall stall;   /* of those that are read... */
    struct krc_stall absence; /* ...and of the whole */
    int16_t error_code;  /* the newest metadata's; -1 (UNKNOWN_SERVER_ERROR) before any */
    uint8_t cleanup;     /* enum krc_cleanup */
    bool is_known;       /* it was there in some metadata */
    bool is_internal;
    bool is_wanted;      /* to be asked about by name */
    bool is_told;        /* in the answer that is being taken */
    char name[];
};

struct krc_topics {
    struct krc_topic **list;  /* sorted by name */
    struct krc_topic **by_id; /* sorted by id; those that have one */
    size_t count, capacity, id_count;
    size_t sorted;            /* of `list`; those behind come from the answer that is being taken */
    bool all_wanted;          /* every topic of the cluster */
    bool refresh;             /* as soon as it may be */
    int asking;               /* requests that are not answered... */
    int64_t again_ms;         /* ...and when another broker is asked, too */
    bool has_all;             /* the answer that is taken was asked for every topic */
    struct krc_backoff backoff; /* requests that followed each other */
    int64_t fresh_to_ms;
    int64_t unanswered_since_ms; /* -1: the last attempt was answered */
    size_t missing;           /* so many topics were in error in the last answer */
    const char *fault;        /* of the last answer, which had nothing; NULL */
    struct krc_stall stall;
    uint64_t generation;      /* counts answers */
    uint64_t all_generation;  /* of the newest one that has every topic; 0: none */
    uint64_t changes;         /* counts answers that changed which partitions there are */
    bool told_bad_name;       /* that others name a topic as none can be named */
    bool told_many_brokers;   /* that there are too many */
};

/* NULL: not known; krc_topic_want makes it one. */
struct krc_topic *krc_topic_find(const struct krc_cluster *cluster, struct krc_bytes name);
struct krc_topic *krc_topic_find_id(const struct krc_cluster *cluster, const struct krc_uuid *id);

/* Whether others may name a topic so.  That they do not is noted once. */
bool krc_topic_name_is_good(struct krc_cluster *cluster, struct krc_bytes name);

/* A topic to be asked about from now on, whose name is good; NULL: out of memory. */
struct krc_topic *krc_topic_want(struct krc_cluster *cluster, const char *name);

/* Whether the last answer that spoke of it had an error instead. */
bool krc_topic_is_missing(const struct krc_topic *topic);

/* NULL where there is no such partition, as far as is known. */
struct krc_topic_partition *krc_topic_partition(const struct krc_topic *topic, int32_t index);

/* The topic of that name, where metadata has that partition of it; else NULL. */
struct krc_topic *krc_topic_having(const struct krc_cluster *cluster, const char *name,
                                   int32_t partition);

/* Something contradicts the metadata, or is missing in it. */
void krc_metadata_refresh(struct krc_cluster *cluster);

/* The application wants to know more than before, so this is no repetition. */
void krc_metadata_want(struct krc_cluster *cluster);

/* A newer leader was told besides; false where that is not to be used. */
bool krc_metadata_leader(struct krc_cluster *cluster, struct krc_topic *topic, int32_t index,
                         int32_t leader_id, int32_t leader_epoch);

/* Sends what is due; the next time. */
int64_t krc_metadata_tick(struct krc_cluster *cluster);

void krc_topics_free(struct krc_topics *topics);

#endif
