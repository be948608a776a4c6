/*
 * A small Kafka cluster in memory, for tests: brokers, topics, and logs of real batches, which a
 * test's script changes.  tests/support/broker.h answers requests from it.
 */
#ifndef KRC_TESTS_WORLD_H
#define KRC_TESTS_WORLD_H

#include "base/arena.h"
#include "base/place.h"
#include "protocol/api.h"
#include "tests/support/build.h"

enum { WORLD_NODES = 4, WORLD_TOPICS = 4, WORLD_PARTITIONS = 8, WORLD_PARTS = 16 };

struct world_partition {
    struct krc_buffer log;  /* batches back to back */
    int64_t start, end;     /* log start offset, log end offset */
    int64_t high;           /* the high watermark; -1: the log end */
    int32_t leader, epoch;  /* node, 1..; -1: none */
    int32_t preferred;      /* the node that consumers with a rack are sent to; -1 */
    int64_t follower_end;   /* other nodes than the leader have this much; -1: all */
    int64_t committed;      /* by the group; -1: nothing */
    int32_t committed_epoch;
    char committed_text[256]; /* its metadata */
    bool is_pending;          /* a newer commit is in a transaction that is open */
};

struct world_topic {
    char name[16];
    struct krc_uuid id; /* all zero: it has none */
    int16_t error_code; /* that metadata tells */
    const char *cleanup; /* cleanup.policy; NULL: the broker does not tell */
    struct world_partition partitions[WORLD_PARTITIONS];
    int32_t count;
};

/* A partition as a fetch names it. */
struct world_part {
    struct krc_uuid id; /* all zero: by name */
    char name[16];
    int32_t index, epoch, max_bytes;
    int64_t offset;
    int64_t told_high, told_start; /* in this session; -1: nothing yet */
};

/* A fetch session. */
struct world_session {
    int32_t id, epoch; /* epoch: that the next request is to have */
    bool by_id;
    struct world_part parts[WORLD_PARTS];
    int count;
};

struct world_node {
    bool is_up;
    bool is_mute; /* takes requests, and answers none */
    struct krc_api_range versions[KRC_API_COUNT]; /* lowest -1: it has none */
    struct world_session session;                 /* id 0: none */
};

/* The partition's (-1: the whole answer's) error code of the next answers to an API. */
struct world_fault {
    enum krc_api_name api;
    int32_t partition;
    int16_t error_code;
    int times;
    int every; /* 2: of every second answer, beginning with the second; 1: of each */
    int met;
};

/* What the nodes demand. */
struct world_sasl {
    const char *mechanism; /* NULL: no SASL */
    struct krc_bytes message; /* the one that is right */
    int64_t lifetime_ms;      /* of a session; 0: for ever */
};

extern struct world {
    struct world_node nodes[WORLD_NODES]; /* by id; 0 is none */
    int32_t node_count;                   /* 1.. */
    struct world_topic topics[WORLD_TOPICS];
    int topic_count;
    int32_t coordinator;
    bool has_sessions;
    struct world_sasl sasl;
    int32_t next_session_id;
    struct world_fault faults[8];
    int fault_count;
    bool is_hasty;          /* fetches are answered at once, with or without news */
    bool is_blind;          /* fetches are not looked at: they may name more than there is */
    bool is_hidden;         /* the newest topic is not in metadata yet */
    int64_t missing_stable; /* as by brokers that do not tell the last stable offset */
    void (*edit)(enum krc_api_name api, void *response); /* the answer, before it is written */
    struct krc_arena arena;                              /* of the answer in hand */
} world;

/* Two nodes that are up, and no topics. */
void world_open(void);
void world_close(void);

/* A topic led by node 1 in epoch 0, deleted by retention. */
struct world_topic *world_topic(const char *name, int32_t partitions);
struct world_topic *world_find(struct krc_bytes name);
struct world_topic *world_find_id(const struct krc_uuid *id);

/* "n1" */
const char *world_host(int32_t node);

/* No node has the API, or none but in these versions. */
void world_versions(enum krc_api_name api, int16_t lowest, int16_t highest);

void world_fail(enum krc_api_name api, int32_t partition, int16_t error_code, int times);
void world_fail_for_ever(enum krc_api_name api, int32_t partition, int16_t error_code, int every);
int16_t world_fault(enum krc_api_name api, int32_t partition); /* takes one; 0: none */

/* ---- What happens to partitions ------------------------------------------------------------- */

/* A new leader, in the next epoch. */
void world_lead(struct world_partition *p, int32_t node);
/* The log ends at that offset, which is where a batch begins. */
void world_truncate(struct world_partition *p, int64_t end);
/* The log begins at that offset. */
void world_delete(struct world_partition *p, int64_t start);
/* Another topic of the same name: empty, in epoch 0. */
void world_recreate(struct world_topic *topic);

int64_t world_high(const struct world_partition *p);
int64_t world_stable(const struct world_partition *p);
/* Those transactions that a fetch of [from, to) has to know as aborted. */
int32_t world_aborted(const struct world_partition *p, int64_t from, int64_t to,
                      struct krc_fetch_aborted **list);
/* Where an epoch ends, as a broker tells. */
void world_epoch_end(const struct world_partition *p, int32_t epoch, int32_t *found,
                     int64_t *end);

/* ---- Batches, put at the log's end in the leader's epoch ------------------------------------ */

void put(struct world_partition *p, struct build_batch batch, int32_t count);
void put_plain(struct world_partition *p, int32_t count);
void put_txn(struct world_partition *p, int64_t producer, int32_t count);
void put_commit(struct world_partition *p, int64_t producer);
void put_abort(struct world_partition *p, int64_t producer);
void put_emptied(struct world_partition *p, int32_t count); /* a header without its records */
void put_hole(struct world_partition *p, int32_t count);    /* offsets in no batch */
/* Bytes of a batch that ends before offset `end`. */
void put_bytes(struct world_partition *p, const struct krc_buffer *batch, int64_t end);

#endif
