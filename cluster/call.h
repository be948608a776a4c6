/*
 * A request to whoever is in charge of it, sent again until there is an answer or an error that
 * asking again does not cure.
 */
#ifndef KRC_CLUSTER_CALL_H
#define KRC_CLUSTER_CALL_H

#include "cluster/coordinator.h"
#include "cluster/topics.h"

struct krc_call;

/* What an answer means. */
enum krc_call_verdict {
    KRC_CALL_DONE,  /* it is told, with `rc` as the taker has set it */
    KRC_CALL_RETRY, /* later */
    KRC_CALL_MOVED, /* somebody else is in charge: looked for, and asked */
};

/* Looks at the answer, whose views are valid during the call; `code` is for messages. */
typedef enum krc_call_verdict krc_call_taker(struct krc_call *call, const struct krc_answer *answer,
                                             int16_t *code);

struct krc_call {
    /* whom: a coordinator, else a partition's leader, else a broker, else (-1) any */
    struct krc_coordinator *coordinator;
    struct krc_topic *topic;
    int32_t partition;
    int32_t node_id;
    enum krc_purpose purpose;
    /* what */
    enum krc_api_name api;
    int16_t highest;         /* version that will do, of those of the API; 0: its own highest */
    const void *request;     /* has to stay until the call is told or dropped */
    int32_t wait_ms;         /* that the broker may take of its own accord */
    enum { KRC_ALWAYS, KRC_IF_ANSWERED, KRC_NEVER } again; /* whether it is sent again, also where
                                what was sent may still arrive; else it is told as KRC_E_IO */
    krc_call_taker *take;
    void *arg;

    enum { KRC_CALL_IDLE, KRC_CALL_OPEN, KRC_CALL_SENT, KRC_CALL_TOLD } state;
    int rc;             /* TOLD: KRC_OK, or krc_call_explain says why not */
    int16_t error_code; /* the broker's newest, 0: none */
    int16_t version;    /* that was sent last */
    bool was_sent;      /* at least once */
    char why[200];      /* what else kept it from being answered */
    struct krc_backoff backoff;
    struct krc_call_sent *sent;
    struct krc_call *next, **back;
};

struct krc_calls {
    struct krc_call *open;
};

/* All fields up to `arg` are set, the others zero, or as an earlier use has left them. */
void krc_call_begin(struct krc_cluster *cluster, struct krc_call *call);

/* Takes it back, whatever became of it. */
void krc_call_drop(struct krc_call *call);

/* Says why there is no answer, and returns it. */
int krc_call_explain(const struct krc_call *call, krc_error *error);

/* The verdict on an error code of a coordinator's answer; of a code that is not to be asked again
 * about, DONE with `rc` KRC_E_REFUSED. */
enum krc_call_verdict krc_call_judge(struct krc_call *call, int16_t error_code);

/* Sends what may be sent; the next time. */
int64_t krc_calls_tick(struct krc_cluster *cluster);

#endif
