#include "cluster/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/printable.h"
#include "cluster/cluster.h"

struct krc_node *krc_node_find(const struct krc_cluster *cluster, int32_t id)
{
    for (size_t i = 0; i < cluster->nodes.count; i++)
        if (cluster->nodes.list[i]->id == id)
            return cluster->nodes.list[i];
    return NULL;
}

void krc_node_free(struct krc_node *node)
{
    for (int i = 0; i < KRC_PURPOSES; i++)
        krc_conn_close(&node->conns[i], "closed");
    krc_session_end(&node->session);
    free(node->host);
    free(node->rack);
    free(node);
}

/* Takes over the host. */
static struct krc_node *new_node(struct krc_cluster *cluster, int32_t id, char *host, int32_t port)
{
    struct krc_node *node = host == NULL ? NULL : calloc(1, sizeof *node);
    if (node == NULL) {
        free(host);
        return NULL;
    }
    node->id = id;
    node->port = port;
    node->host = host;
    for (int i = 0; i < KRC_PURPOSES; i++)
        krc_conn_init(&node->conns[i], cluster, node->host, port);
    krc_session_init(&node->session, cluster);
    return node;
}

static bool append(struct krc_node ***list, size_t *count, struct krc_node *node)
{
    struct krc_node **grown = realloc(*list, (*count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    *list = grown;
    grown[(*count)++] = node;
    return true;
}

static bool is_text(const char *text, struct krc_bytes bytes)
{
    return text != NULL && strlen(text) == bytes.len && memcmp(text, bytes.data, bytes.len) == 0;
}

/* Takes over the host, which is also the connections'. */
static void move(struct krc_node *node, char *host, int32_t port)
{
    for (int i = 0; i < KRC_PURPOSES; i++) {
        krc_conn_close(&node->conns[i], "the broker has another address now");
        krc_conn_init(&node->conns[i], node->conns[i].cluster, host, port);
    }
    free(node->host);
    node->host = host;
    node->port = port;
}

static bool set_rack(struct krc_node *node, struct krc_bytes rack)
{
    if (rack.data == NULL || is_text(node->rack, rack))
        return true;
    free(node->rack);
    node->rack = strndup((const char *)rack.data, rack.len);
    return node->rack != NULL;
}

/* Once: one such broker is a fault of the cluster's, and krc_cluster_describe names all. */
static void note_bad_address(struct krc_cluster *cluster, int32_t id, const char *host,
                             int32_t port)
{
    char text[400];
    if (cluster->told_bad_address)
        return;
    cluster->told_bad_address = true;
    snprintf(text, sizeof text, "broker %d is advertised as \"%.200s\", port %d, which is not a "
             "valid address: it is not connected to (advertised.listeners)", (int)id, host,
             (int)port);
    krc_cluster_note(cluster, "", text);
}

struct krc_node *krc_node_learn(struct krc_cluster *cluster, int32_t id, struct krc_bytes host,
                                int32_t port, struct krc_bytes rack)
{
    struct krc_node *node = krc_node_find(cluster, id);
    char *name = krc_printable_copy(host.data, host.len);
    if (name == NULL)
        return NULL;
    if (!krc_is_address(host.data, host.len, port))
        note_bad_address(cluster, id, name, port);
    if (node == NULL) {
        node = new_node(cluster, id, name, port);
        if (node != NULL && !append(&cluster->nodes.list, &cluster->nodes.count, node)) {
            krc_node_free(node);
            node = NULL;
        }
    } else if (strcmp(node->host, name) != 0 || node->port != port) {
        move(node, name, port);
    } else {
        free(name);
    }
    if (node == NULL || !set_rack(node, rack))
        return NULL;
    node->known = true;
    return node;
}

int krc_cluster_add_server(struct krc_cluster *cluster, const char *host, int32_t port,
                           krc_error *error)
{
    struct krc_node *node = new_node(cluster, -1, strdup(host), port);
    if (node != NULL && append(&cluster->nodes.servers, &cluster->nodes.server_count, node))
        return KRC_OK;
    if (node != NULL)
        krc_node_free(node);
    return krc_fail_nomem(error, sizeof *node);
}

bool krc_node_is_out_of_reach(const struct krc_node *node)
{
    const struct krc_conn *conn = &node->conns[KRC_FOR_FETCHING];
    return conn->state == KRC_CONN_CLOSED && conn->failures > 0 &&
           conn->retry_at_ms > conn->cluster->now_ms;
}

struct krc_conn *krc_node_conn(struct krc_node *node, enum krc_purpose purpose)
{
    struct krc_conn *conn = &node->conns[purpose];
    krc_conn_want(conn);
    return krc_conn_usable(conn) ? conn : NULL;
}

/* The one with the fewest requests in flight, if any is usable. */
static struct krc_conn *least_loaded(struct krc_node *const *list, size_t count)
{
    struct krc_conn *best = NULL;
    for (size_t i = 0; i < count; i++) {
        struct krc_conn *conn = &list[i]->conns[KRC_FOR_QUESTIONS];
        if (krc_conn_usable(conn) && (best == NULL || conn->in_flight < best->in_flight))
            best = conn;
    }
    return best;
}

static bool any_underway(struct krc_node *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i]->conns[KRC_FOR_QUESTIONS].state != KRC_CONN_CLOSED)
            return true;
    return false;
}

/* One at a time is tried, beginning anywhere. */
static void try_another(struct krc_cluster *cluster, struct krc_node *const *list, size_t count)
{
    size_t first = count == 0 ? 0 : krc_random(cluster) % count;
    for (size_t i = 0; i < count; i++) {
        struct krc_conn *conn = &list[(first + i) % count]->conns[KRC_FOR_QUESTIONS];
        krc_conn_want(conn);
        if (conn->state != KRC_CONN_CLOSED)
            return;
    }
}

struct krc_conn *krc_any_conn(struct krc_cluster *cluster)
{
    struct krc_nodes *nodes = &cluster->nodes;
    struct krc_node **list = nodes->count > 0 ? nodes->list : nodes->servers;
    size_t count = nodes->count > 0 ? nodes->count : nodes->server_count;
    struct krc_conn *conn = least_loaded(list, count);
    if (conn == NULL && !any_underway(list, count))
        try_another(cluster, list, count);
    return conn;
}

void krc_nodes_forget(struct krc_cluster *cluster, const char *why)
{
    struct krc_nodes *nodes = &cluster->nodes;
    struct krc_node **list = nodes->list;
    size_t count = nodes->count;
    nodes->list = NULL;
    nodes->count = 0;
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < KRC_PURPOSES; k++)
            krc_conn_close(&list[i]->conns[k], why);
        krc_node_free(list[i]);
    }
    free(list);
}
