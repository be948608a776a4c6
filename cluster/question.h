/*
 * Questions about one partition, put to the broker that knows; asked again until there is an
 * answer or an error that asking again does not cure.
 */
#ifndef KRC_CLUSTER_QUESTION_H
#define KRC_CLUSTER_QUESTION_H

#include "cluster/coordinator.h"
#include "cluster/topics.h"

enum krc_question_type {
    KRC_ASKS_OFFSET,    /* ListOffsets, of the leader: the offset for `timestamp` */
    KRC_ASKS_EPOCH_END, /* OffsetForLeaderEpoch, of the leader: where `epoch` ends */
    KRC_ASKS_COMMITTED, /* OffsetFetch, of the coordinator: the group's committed offset */
    KRC_ASKS_CLEANUP,   /* DescribeConfigs, of any broker: the topic's cleanup.policy */
    KRC_QUESTION_TYPES
};

struct krc_question {
    enum krc_question_type type;
    struct krc_topic *topic;
    int32_t partition;
    int64_t timestamp;   /* OFFSET: KRC_TIMESTAMP_..., or milliseconds */
    bool read_committed; /* OFFSET */
    int32_t epoch;       /* EPOCH_END */
    bool stable;         /* COMMITTED: KRC_E_UNSUPPORTED where commits that are being written cannot
                            be told of */

    enum { KRC_UNASKED, KRC_OPEN, KRC_SENT, KRC_TOLD } state;
    struct krc_backoff backoff;
    int16_t last_error; /* the broker's last code */

    int rc;              /* TOLD: KRC_OK, or why not (krc_question_explain) */
    int64_t offset;      /* -1: there is none */
    int32_t found_epoch; /* -1: not known */
    struct krc_uuid topic_id; /* COMMITTED: that the offset was asked for by; all zero: by name */
    char **metadata; /* COMMITTED: where its text is to go, to be freed; NULL: not wanted */

    struct krc_remote *remote; /* that is told; NULL */
    struct krc_question *next, **back;
};

struct krc_questions {
    struct krc_question *open;
    char pending[400]; /* which committed offsets are not decided yet; "": none */
    struct krc_stall stall;
};

/* Puts a question; its fields up to `epoch` are set. */
void krc_question_ask(struct krc_cluster *cluster, struct krc_question *question);

/* Takes it back, whatever became of it. */
void krc_question_drop(struct krc_question *question);

/* Says why there is no answer, and returns it. */
int krc_question_explain(const struct krc_question *question, krc_error *error);

/* Sends what may be sent; the next time. */
int64_t krc_questions_tick(struct krc_cluster *cluster);

/* ---- Between question.c and committed.c ---------------------------------------------------- */

void krc_question_told(struct krc_question *question);
void krc_question_retry(struct krc_cluster *cluster, struct krc_question *question,
                        int16_t error_code);
void krc_question_fail(struct krc_question *question, int code, int16_t error_code);

/* Questions that go to one place together, and are waited for. */
struct krc_asked {
    struct krc_cluster *cluster;
    struct krc_coordinator *coordinator; /* COMMITTED: who was asked */
    struct krc_question *list;
};
/* It is among those that are being asked. */
void krc_question_send(struct krc_asked *asked, struct krc_question *question);

int64_t krc_committed_tick(struct krc_cluster *cluster);

#endif
