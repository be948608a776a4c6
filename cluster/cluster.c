#include "cluster/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

int krc_cluster_open(struct krc_cluster *cluster, const struct krc_cluster_settings *settings,
                     const struct krc_io_ops *io, void *io_arg, uint64_t seed, krc_error *error)
{
    size_t size = 0;
    for (int i = 0; i < KRC_API_COUNT; i++)
        if (krc_apis[i].response_size > size)
            size = krc_apis[i].response_size;
    *cluster = (struct krc_cluster){
        .settings = *settings,
        .io = io,
        .io_arg = io_arg,
        .random = seed | 1,
        .topics = {.unanswered_since_ms = -1, .refresh = true},
    };
    cluster->remotes.wake_ms = INT64_MAX;
    cluster->remotes.last = &cluster->remotes.list;
    cluster->remotes.last_ready = &cluster->remotes.ready;
    cluster->nodes.last_conn = &cluster->nodes.conns;
    cluster->nodes.by_id.salt = cluster->random * UINT64_C(0x9e3779b97f4a7c15);
    cluster->frames = krc_frames_new();
    cluster->response = malloc(size);
    if (cluster->frames != NULL && cluster->response != NULL)
        return KRC_OK;
    krc_cluster_close(cluster);
    return krc_fail_nomem(error, size);
}

void krc_cluster_close(struct krc_cluster *cluster)
{
    cluster->note = NULL; /* that nothing is answered any more is no news */
    krc_member_close(cluster->member);
    while (cluster->remotes.list != NULL)
        krc_remote_close(cluster->remotes.list);
    krc_nodes_forget(cluster, "closed");
    for (size_t i = 0; i < cluster->nodes.server_count; i++)
        krc_node_free(cluster->nodes.servers[i]);
    krc_coordinators_free(cluster); /* for whom connections may have been asked */
    free(cluster->nodes.servers);
    krc_topics_free(&cluster->topics);
    krc_buffer_free(&cluster->out);
    krc_arena_free(&cluster->arena);
    krc_frames_close(cluster->frames);
    free(cluster->response);
    cluster->frames = NULL;
    cluster->response = NULL;
}

/* xorshift64 */
uint64_t krc_random(struct krc_cluster *cluster)
{
    uint64_t x = cluster->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return cluster->random = x;
}

/* ---- Time ----------------------------------------------------------------------------------- */

static void tick_conns(const struct krc_nodes *nodes)
{
    for (struct krc_conn *conn = nodes->conns, *next; conn != NULL; conn = next) {
        next = conn->next;
        krc_conn_tick(conn);
    }
}

static int64_t next_of_conns(const struct krc_cluster *cluster)
{
    const struct krc_nodes *nodes = &cluster->nodes;
    int64_t next_ms = nodes->wake_ms > cluster->now_ms ? nodes->wake_ms : INT64_MAX;
    for (const struct krc_conn *conn = nodes->conns; conn != NULL; conn = conn->next)
        next_ms = krc_sooner(next_ms, krc_conn_deadline(conn));
    return next_ms;
}

int64_t krc_cluster_tick(struct krc_cluster *cluster)
{
    tick_conns(&cluster->nodes);
    int64_t next_ms = cluster->member == NULL ? INT64_MAX : krc_member_tick(cluster->member);
    next_ms = krc_sooner(next_ms, krc_questions_tick(cluster));
    next_ms = krc_sooner(next_ms, krc_fetch_tick(cluster));
    next_ms = krc_sooner(next_ms, krc_calls_tick(cluster));
    next_ms = krc_sooner(next_ms, krc_coordinators_tick(cluster));
    next_ms = krc_sooner(next_ms, krc_metadata_tick(cluster)); /* which the others may want */
    next_ms = krc_sooner(next_ms, krc_stalls_tick(cluster));
    return krc_sooner(next_ms, next_of_conns(cluster));
}

/* ---- What is wrong -------------------------------------------------------------------------- */

void krc_cluster_note(const struct krc_cluster *cluster, const char *topic, const char *text)
{
    if (cluster->note != NULL)
        cluster->note(cluster->note_arg, topic, text);
}

bool krc_cluster_hopeless(const struct krc_cluster *cluster)
{
    enum { ENOUGH = 3 };
    const struct krc_nodes *nodes = &cluster->nodes;
    for (size_t i = 0; i < nodes->server_count; i++) {
        const struct krc_conn *conn = nodes->servers[i]->conns[KRC_FOR_QUESTIONS];
        if (conn == NULL || !conn->refused || conn->failures < ENOUGH)
            return false;
    }
    return nodes->count == 0 && cluster->topics.generation == 0;
}

const struct krc_conn *krc_cluster_denied(struct krc_cluster *cluster)
{
    for (struct krc_conn *conn = cluster->nodes.conns; conn != NULL; conn = conn->next) {
        if (!conn->denied || conn->denial_told)
            continue;
        conn->denial_told = true;
        return conn;
    }
    return NULL;
}
