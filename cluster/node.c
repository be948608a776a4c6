#include "cluster/node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/printable.h"
#include "cluster/cluster.h"

static uint64_t key_of(int32_t id)
{
    return (uint32_t)id;
}

struct krc_node *krc_node_find(const struct krc_cluster *cluster, int32_t id)
{
    return krc_index_find(&cluster->nodes.by_id, key_of(id));
}

/* ---- Connections ---------------------------------------------------------------------------- */

static struct krc_conn *new_conn(struct krc_node *node, int purpose)
{
    struct krc_cluster *cluster = node->session.cluster;
    struct krc_nodes *nodes = &cluster->nodes;
    struct krc_conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL) {
        nodes->wake_ms =
            cluster->now_ms + krc_backoff_ms(cluster, cluster->settings.retry_backoff_ms,
                                             cluster->settings.retry_backoff_max_ms, 0);
        return NULL;
    }
    conn->cluster = cluster;
    conn->node = node;
    conn->purpose = purpose;
    conn->back = nodes->last_conn;
    *nodes->last_conn = conn;
    nodes->last_conn = &conn->next;
    krc_conn_init(conn, node->host, node->port);
    return node->conns[purpose] = conn;
}

static void free_conn(struct krc_conn *conn)
{
    *conn->back = conn->next;
    if (conn->next != NULL)
        conn->next->back = conn->back;
    else
        conn->cluster->nodes.last_conn = conn->back;
    free(conn);
}

/* NULL: out of memory. */
static struct krc_conn *want_conn(struct krc_node *node, enum krc_purpose purpose)
{
    struct krc_conn *conn = node->conns[purpose];
    if (conn == NULL)
        conn = new_conn(node, (int)purpose);
    if (conn != NULL)
        krc_conn_want(conn);
    return conn;
}

static void close_conns(struct krc_node *node, const char *why)
{
    for (int i = 0; i < KRC_PURPOSES; i++)
        if (node->conns[i] != NULL)
            krc_conn_close(node->conns[i], why);
}

/* ---- Nodes ---------------------------------------------------------------------------------- */

void krc_node_free(struct krc_node *node)
{
    close_conns(node, "closed");
    for (int i = 0; i < KRC_PURPOSES; i++)
        if (node->conns[i] != NULL)
            free_conn(node->conns[i]);
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
    krc_session_init(&node->session, cluster);
    return node;
}

static bool append(struct krc_node ***list, size_t *count, size_t *capacity, struct krc_node *node)
{
    if (*count == *capacity) {
        size_t more = *capacity == 0 ? 4 : 2 * *capacity;
        struct krc_node **grown = realloc(*list, more * sizeof *grown);
        if (grown == NULL)
            return false;
        *list = grown;
        *capacity = more;
    }
    (*list)[(*count)++] = node;
    return true;
}

/* Takes it over; false: out of memory, and it is gone. */
static bool add_node(struct krc_nodes *nodes, struct krc_node *node)
{
    if (krc_index_put(&nodes->by_id, key_of(node->id), node, NULL) >= 0) {
        if (append(&nodes->list, &nodes->count, &nodes->capacity, node))
            return true;
        krc_index_remove(&nodes->by_id, key_of(node->id));
    }
    krc_node_free(node);
    return false;
}

static bool is_text(const char *text, struct krc_bytes bytes)
{
    return text != NULL && strlen(text) == bytes.len && memcmp(text, bytes.data, bytes.len) == 0;
}

/* Takes over the host, which is also the connections'. */
static void move(struct krc_node *node, char *host, int32_t port)
{
    close_conns(node, "the broker has another address now");
    for (int i = 0; i < KRC_PURPOSES; i++)
        if (node->conns[i] != NULL)
            krc_conn_init(node->conns[i], host, port);
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
        if (node != NULL && !add_node(&cluster->nodes, node))
            node = NULL;
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
    struct krc_nodes *nodes = &cluster->nodes;
    struct krc_node *node = new_node(cluster, -1, strdup(host), port);
    if (node != NULL)
        node->is_server = true;
    if (node != NULL &&
        append(&nodes->servers, &nodes->server_count, &nodes->server_capacity, node))
        return KRC_OK;
    if (node != NULL)
        krc_node_free(node);
    return krc_fail_nomem(error, sizeof *node);
}

bool krc_node_is_out_of_reach(const struct krc_node *node)
{
    const struct krc_conn *conn = node->conns[KRC_FOR_FETCHING];
    return conn != NULL && conn->state == KRC_CONN_CLOSED && conn->failures > 0 &&
           conn->retry_at_ms > conn->cluster->now_ms;
}

struct krc_conn *krc_node_conn(struct krc_node *node, enum krc_purpose purpose)
{
    struct krc_conn *conn = want_conn(node, purpose);
    return conn != NULL && krc_conn_usable(conn) ? conn : NULL;
}

static bool is_overdue(const struct krc_node *node, int purpose)
{
    return purpose != KRC_FOR_FETCHING && node->conns[purpose] != NULL &&
           krc_conn_is_overdue(node->conns[purpose]);
}

bool krc_node_is_overdue(const struct krc_node *node)
{
    for (int i = 0; i < KRC_PURPOSES; i++)
        if (is_overdue(node, i))
            return true;
    return false;
}

void krc_node_give_up(struct krc_node *node, const char *why)
{
    for (int i = 0; i < KRC_PURPOSES; i++)
        if (is_overdue(node, i))
            krc_conn_close(node->conns[i], why);
}

void krc_node_approach(struct krc_node *node)
{
    if (node->conns[KRC_FOR_FETCHING] == NULL)
        (void)want_conn(node, KRC_FOR_FETCHING); /* else later */
}

static bool is_for_any_question(const struct krc_nodes *nodes, const struct krc_conn *conn)
{
    return conn->purpose == KRC_FOR_QUESTIONS && conn->node->is_server == (nodes->count == 0);
}

/* The one with the fewest requests in flight, if any is usable. */
static struct krc_conn *least_loaded(const struct krc_nodes *nodes, bool may_be_overdue)
{
    struct krc_conn *best = NULL;
    for (struct krc_conn *conn = nodes->conns; conn != NULL; conn = conn->next)
        if (is_for_any_question(nodes, conn) && krc_conn_usable(conn) &&
            (may_be_overdue || !krc_conn_is_overdue(conn)) &&
            (best == NULL || conn->in_flight < best->in_flight))
            best = conn;
    return best;
}

/* Whether one is being connected to, or throttled, that need not be given up. */
static bool any_underway(const struct krc_nodes *nodes)
{
    for (const struct krc_conn *conn = nodes->conns; conn != NULL; conn = conn->next)
        if (is_for_any_question(nodes, conn) && conn->state != KRC_CONN_CLOSED &&
            !krc_conn_is_overdue(conn))
            return true;
    return false;
}

/* One at a time is tried, beginning anywhere.  False: there is no other now. */
static bool try_another(struct krc_cluster *cluster, struct krc_node *const *list, size_t count)
{
    size_t first = count == 0 ? 0 : krc_random(cluster) % count;
    for (size_t i = 0; i < count; i++) {
        struct krc_node *node = list[(first + i) % count];
        const struct krc_conn *conn = node->conns[KRC_FOR_QUESTIONS];
        if (conn != NULL && conn->state != KRC_CONN_CLOSED)
            continue; /* it is overdue */
        conn = want_conn(node, KRC_FOR_QUESTIONS);
        if (conn != NULL && conn->state != KRC_CONN_CLOSED)
            return true;
    }
    return false;
}

struct krc_conn *krc_any_conn(struct krc_cluster *cluster)
{
    struct krc_nodes *nodes = &cluster->nodes;
    struct krc_conn *conn = least_loaded(nodes, false);
    if (conn != NULL || any_underway(nodes) ||
        (nodes->count > 0 ? try_another(cluster, nodes->list, nodes->count)
                          : try_another(cluster, nodes->servers, nodes->server_count)))
        return conn;
    return least_loaded(nodes, true);
}

struct krc_conn *krc_another_conn(struct krc_cluster *cluster)
{
    struct krc_conn *conn = krc_any_conn(cluster);
    bool is_free = conn != NULL && !krc_conn_is_overdue(conn) && !krc_conn_is_hearing(conn);
    return is_free ? conn : NULL;
}

/* ---- The end of nodes ----------------------------------------------------------------------- */

void krc_nodes_sweep(struct krc_cluster *cluster)
{
    struct krc_nodes *nodes = &cluster->nodes;
    for (size_t i = nodes->count; i-- > 0;) {
        struct krc_node *node = nodes->list[i];
        if (node->known)
            continue;
        nodes->list[i] = nodes->list[--nodes->count];
        krc_index_remove(&nodes->by_id, key_of(node->id));
        krc_node_free(node);
    }
}

void krc_nodes_forget(struct krc_cluster *cluster, const char *why)
{
    struct krc_nodes *nodes = &cluster->nodes;
    struct krc_node **list = nodes->list;
    size_t count = nodes->count;
    krc_stalls_of_nodes(cluster, nodes->lost, sizeof nodes->lost);
    nodes->list = NULL;
    nodes->count = nodes->capacity = 0;
    krc_index_free(&nodes->by_id);
    for (size_t i = 0; i < count; i++) {
        close_conns(list[i], why);
        krc_node_free(list[i]);
    }
    free(list);
}
