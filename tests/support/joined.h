/*
 * Replays as members of a group, against brokers on real sockets: topics t and u, of which whoever
 * joins gets all, and what comes of a run.
 */
#ifndef KRC_TESTS_JOINED_H
#define KRC_TESTS_JOINED_H

#include "tests/support/coordinator.h"
#include "tests/support/serve.h"

enum {
    JOINED_RECORDS = 5, /* of t-0, t-1 and u-0, each */
    JOINED_LOOKS = 20 * 60 /* what takes longer, a minute and more, has hung */
};

extern struct joined {
    struct world_partition *p; /* t's */
    krc_config *config;
    krc_replay_options options; /* may be changed */
    krc_error error;            /* of the last run... */
    char notes[4096];           /* ...and what it told: "t-0: it is ..." */
    char out[512], database[540];
    void (*script)(void); /* called several times a second; NULL */
} joined;

void joined_begin(bool is_classic);
void joined_end(void);

void joined_set(const char *name, const char *value);
int joined_replay(void);
void joined_ok(int rc);

/* The run's `stop`: the script has its turn.  True once it takes too long. */
bool joined_look(void *arg);

/* ---- What came of it ------------------------------------------------------------------------ */

/* A file holds each record of [from, to), once, and in order, and nothing else. */
void joined_expect_file(const char *name, int from, int to);

/* The outputs hold what there was at first, all is committed, and nobody is in the group. */
void joined_expect_all(void);

/* The metadata of t's partition begins so. */
void joined_expect_lineage(int partition, const char *begin);

/* The first number that the store answers; -1: nothing. */
int joined_query(const char *sql);

#endif
