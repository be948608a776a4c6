/*
 * Drives a cluster (cluster/cluster.h) without sockets, in virtual time: names, connections and
 * bytes go to and from the brokers of tests/support/broker.h.
 *
 * What happens is kept as text, a line each, so that a test's expectation is read like a log.
 * Brokers are hosts "n1", "n2", ... at port 9092.  A way of one millisecond lies between.
 */
#ifndef KRC_TESTS_SIMNET_H
#define KRC_TESTS_SIMNET_H

#include "cluster/cluster.h"
#include "tests/support/broker.h"

/* What becomes of an answer. */
enum sim_fate {
    SIM_LOST,     /* the connection ends instead of it, and nothing was done */
    SIM_DONE,     /* it was done, and the connection ends before the answer comes */
    SIM_CUT,      /* and ends amid it */
    SIM_DOUBLED,
    SIM_WRONG_ID, /* it answers another request */
    SIM_SILENT,   /* neither it comes nor any after it, on this connection */
    SIM_HUGE,     /* only a size comes, which is over any limit */
    SIM_HTTP,     /* other protocols' answers */
    SIM_TLS,
};

struct sim_link;

extern struct sim {
    struct krc_cluster_settings settings; /* as krc's defaults */
    struct krc_cluster cluster;
    bool is_open;
    int64_t now_ms;
    struct sim_link *links;
    struct {
        const char *name;
        const char *addresses; /* "n1", "refuses", "hangs", apart by blanks; "": unknown */
    } hosts[8];
    int host_count;
    bool splits;      /* answers come byte by byte */
    bool is_reversed; /* answers to two requests are swapped */
    int64_t delay_ms; /* until an answer comes */
    size_t cut_after; /* so many bytes each connection ends; 0: none does */
    bool stalls;      /* nothing more comes then, but it does not end */
    struct {
        enum krc_api_name api;
        enum sim_fate fate;
        int times;
    } fates[8];
    int fate_count;
    void (*each_turn)(void); /* what reads; NULL */
    int64_t connects[64];    /* when connections were tried */
    int connect_count;
    int requests[KRC_API_COUNT]; /* how many of each came to a broker */
    const char *token; /* OAUTHBEARER's; NULL: it never comes */
    bool is_quiet; /* nothing is kept as text */
    bool shows_connects, shows_greetings, shows_metadata, shows_details;
    char trace[16384];
    char noted[512]; /* the newest note */
} sim;

/* The world is open.  `sim.settings` may be changed before sim_start. */
void sim_open(void);
void sim_close(void);

/* A host with several or odd addresses. */
void sim_host(const char *name, const char *addresses);

/* Opens the cluster with these bootstrap servers: names apart by blanks. */
void sim_start(const char *servers);

/* What becomes of the next answers to an API. */
void sim_fate(enum krc_api_name api, enum sim_fate fate, int times);

/* A broker is gone, or comes back. */
void sim_down(int32_t node);
void sim_up(int32_t node);

/* Time passes: so much, or until that stands in the trace. */
void sim_run(int64_t ms);
void sim_run_until(const char *said);

KRC_PRINTF(1, 2) void sim_say(const char *format, ...);

/* What happened since the last check; or those lines of it that are no request. */
void check_trace(const char *expected);
void check_handed_out(const char *expected);
void forget_trace(void);

/* How often a line begins so. */
int said(const char *line);

#endif
