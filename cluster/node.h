/*
 * Brokers, and the servers that were named to begin with.
 */
#ifndef KRC_CLUSTER_NODE_H
#define KRC_CLUSTER_NODE_H

#include "base/index.h"
#include "cluster/conn.h"
#include "cluster/session.h"

enum krc_purpose {
    KRC_FOR_QUESTIONS,
    KRC_FOR_FETCHING,
    KRC_FOR_GROUP, /* a broker may keep JoinGroup's answer for minutes */
    KRC_PURPOSES
};

struct krc_node {
    int32_t id; /* -1: a bootstrap server, whose id is not known */
    char *host; /* fit for a terminal; one that is not valid is never connected to */
    int32_t port;
    char *rack; /* NULL: none */
    bool known; /* in the newest metadata */
    struct krc_conn *conns[KRC_PURPOSES]; /* NULL: it was never wanted */
    struct krc_session session;
    bool is_server;     /* a bootstrap server */
    struct krc_stall stall; /* of its connections */
};

/* There may be many that nothing is ever asked of: what is done again and again goes through the
 * connections that there are. */
struct krc_nodes {
    struct krc_node **list; /* brokers */
    size_t count, capacity;
    struct krc_index by_id;
    struct krc_node **servers; /* bootstrap servers */
    size_t server_count, server_capacity;
    struct krc_conn *conns, **last_conn; /* of both, the oldest first */
    int64_t wake_ms; /* there was no memory for another: then it is tried again */
    char lost[500];  /* what was wrong with brokers that were forgotten, until one answers; "" */
    struct krc_stall stall;
};

/* NULL: not known. */
struct krc_node *krc_node_find(const struct krc_cluster *cluster, int32_t id);

/* A broker is at this address; one that was elsewhere is reconnected.  NULL: out of memory. */
struct krc_node *krc_node_learn(struct krc_cluster *cluster, int32_t id, struct krc_bytes host,
                                int32_t port, struct krc_bytes rack);

/* Those that the newest metadata does not have are gone. */
void krc_nodes_sweep(struct krc_cluster *cluster);

/* A connection that may be used now, else NULL, and it is being connected. */
struct krc_conn *krc_node_conn(struct krc_node *node, enum krc_purpose purpose);

/* Whether one of its connections is overdue that is not for fetching; and closes those. */
bool krc_node_is_overdue(const struct krc_node *node);
void krc_node_give_up(struct krc_node *node, const char *why);

/* Begins to connect for fetching, where it never did. */
void krc_node_approach(struct krc_node *node);

/* For fetching, while it waits to be connected to again; then it is tried. */
bool krc_node_is_out_of_reach(const struct krc_node *node);

/* Any broker, or a bootstrap server where none is known: the same. */
struct krc_conn *krc_any_conn(struct krc_cluster *cluster);

/* The same, while somebody owes an answer: one that may answer at once; NULL: there is none now. */
struct krc_conn *krc_another_conn(struct krc_cluster *cluster);

/* Forgets the brokers: begins with the bootstrap servers again. */
void krc_nodes_forget(struct krc_cluster *cluster, const char *why);

void krc_node_free(struct krc_node *node);

#endif
