/*
 * A Kafka cluster as a consumer sees it, without sockets, clocks or threads: brokers, topics, and
 * the partitions that are read.  A driver carries bytes and time (cluster/conn.h); tests drive it
 * in virtual time.
 *
 *   nodes      brokers, up to three connections each: for fetching and for group membership, whose
 *              requests may wait long at the broker, and for everything
 *              else                                                     node.c, conn.c, auth.c
 *   topics     what metadata says                                       topics.c
 *   questions  ListOffsets, OffsetForLeaderEpoch, OffsetFetch, ...      question.c, committed.c
 *   group      our membership in a consumer group                       member.h
 *   calls      one request to whoever is in charge: any broker, a
 *              leader, a coordinator                                    call.c, coordinator.c
 *   remotes    partitions being fetched                                 fetch.c, fetched.c,
 *                                                                       session.c
 *   stalls     what keeps any of them from going on                     stalls.c
 */
#ifndef KRC_CLUSTER_CLUSTER_H
#define KRC_CLUSTER_CLUSTER_H

#include "cluster/member.h"
#include "cluster/node.h"
#include "cluster/question.h"
#include "cluster/remote.h"
#include "cluster/stalls.h"
#include "cluster/topics.h"

/* The properties of the same names (docs/configuration.md); times are in milliseconds. */
struct krc_cluster_settings {
    const char *client_id, *rack, *group;
    bool read_committed;
    bool auto_create_topics;
    bool rebootstrap; /* metadata.recovery.strategy */
    int32_t fetch_max_wait_ms, fetch_min_bytes, fetch_max_bytes, partition_max_bytes;
    int64_t buffered_max_bytes, receive_max_bytes;
    int64_t request_timeout_ms;
    int64_t connect_timeout_ms, connect_timeout_max_ms;
    int64_t reconnect_backoff_ms, reconnect_backoff_max_ms;
    int64_t retry_backoff_ms, retry_backoff_max_ms;
    int64_t metadata_max_age_ms, rebootstrap_trigger_ms, idle_close_ms;
    size_t many_partitions; /* no property: see patience() in fetch.c */
    const struct krc_sasl_settings *sasl; /* NULL: none */
};

struct krc_cluster {
    struct krc_cluster_settings settings;
    const struct krc_io_ops *io;
    void *io_arg;
    void (*note)(void *arg, const char *topic, const char *text); /* to be known (krc_cluster_note);
                                                                     may be NULL */
    void *note_arg;

    int64_t now_ms; /* the driver's clock, which never goes back */
    uint64_t random;
    struct krc_frames *frames;
    struct krc_buffer out;   /* a request while it is written */
    struct krc_arena arena;  /* what a request is put together from */
    void *response;          /* a response while it is told */

    struct krc_nodes nodes;
    struct krc_topics topics;
    struct krc_questions questions;
    struct krc_coordinator *coordinators;
    struct krc_calls calls;
    struct krc_membership *member; /* that we want to be a member of; NULL */
    struct krc_remotes remotes;
    struct krc_stalls stalls;
    bool told_bad_address;   /* that a broker is advertised where nothing can be */
    char cluster_id[64]; /* "": unknown */
    char text[300];          /* krc_remote_broker's */
};

/* `servers` are looked through when no broker is known. */
int krc_cluster_open(struct krc_cluster *cluster, const struct krc_cluster_settings *settings,
                     const struct krc_io_ops *io, void *io_arg, uint64_t seed,
                     krc_error *error) KRC_MUST_USE;
int krc_cluster_add_server(struct krc_cluster *cluster, const char *host, int32_t port,
                           krc_error *error) KRC_MUST_USE;

/* Ends all connections.  Requests in flight are answered as lost meanwhile, so whatever they refer
 * to is freed after this; no note is raised. */
void krc_cluster_close(struct krc_cluster *cluster);

/* Does what is due, and returns when to come again (INT64_MAX: only when something arrives).  The
 * clock is cluster->now_ms, set before. */
int64_t krc_cluster_tick(struct krc_cluster *cluster);

/* Why nothing comes: one sentence, with brokers and what each of them said last; "" where all is
 * well. */
void krc_cluster_describe(struct krc_cluster *cluster, char *text, size_t size);

/* Says what is to be known of a topic ("": of none). */
void krc_cluster_note(const struct krc_cluster *cluster, const char *topic, const char *text);

/* Whether no broker was ever known and each server has refused, or speaks something else, several
 * times in a row. */
bool krc_cluster_hopeless(const struct krc_cluster *cluster);

/* A connection to a broker that denied us, or is not who it should be, since this
 * was asked last; NULL: none. */
const struct krc_conn *krc_cluster_denied(struct krc_cluster *cluster);

/* ---- For the rooms' own files -------------------------------------------------------------- */

uint64_t krc_random(struct krc_cluster *cluster);

static inline int64_t krc_sooner(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
