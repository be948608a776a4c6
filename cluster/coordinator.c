#include "cluster/coordinator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"

struct krc_coordinator *krc_coordinator_of(struct krc_cluster *cluster, enum krc_coordinated of,
                                           const char *key)
{
    struct krc_coordinator *c = cluster->coordinators;
    while (c != NULL && (c->of != of || strcmp(c->key, key) != 0))
        c = c->next;
    if (c != NULL)
        return c;
    c = calloc(1, sizeof *c);
    if (c == NULL || (c->key = strdup(key)) == NULL) {
        free(c);
        return NULL;
    }
    c->cluster = cluster;
    c->of = of;
    c->node_id = c->silent_id = -1;
    c->next = cluster->coordinators;
    cluster->coordinators = c;
    return c;
}

void krc_coordinators_free(struct krc_cluster *cluster)
{
    for (struct krc_coordinator *c; (c = cluster->coordinators) != NULL;) {
        cluster->coordinators = c->next;
        free(c->key);
        free(c);
    }
}

bool krc_coordinator_moved(int16_t error_code)
{
    return error_code == KRC_KAFKA_NOT_COORDINATOR ||
           error_code == KRC_KAFKA_COORDINATOR_NOT_AVAILABLE;
}

/* Who waits for it shall know why nothing comes. */
static void tell_silence(struct krc_coordinator *c, const char *why)
{
    static const char *const kinds[] = {[KRC_GROUP] = "group", [KRC_TRANSACTION] = "transaction"};
    char text[500];
    if (!krc_stall_is_due(&c->stall, c->cluster->now_ms))
        return;
    snprintf(text, sizeof text, "nobody answers as the coordinator of %s %.200s (%.200s): it is "
             "looked for, and asked again", kinds[c->of], c->key, why);
    krc_cluster_note(c->cluster, "", text);
}

void krc_coordinator_lost(struct krc_coordinator *c, const char *why)
{
    c->node_id = -1;
    tell_silence(c, why);
}

/* What the one before owes is asked of its successor. */
static void leave_silent(struct krc_coordinator *c, int32_t successor)
{
    struct krc_node *node = krc_node_find(c->cluster, c->silent_id);
    if (node != NULL && node->id != successor)
        krc_node_give_up(node, "the coordinator is another broker now");
    c->silent_id = -1;
}

static void found(void *arg, const struct krc_answer *answer)
{
    struct krc_coordinator *c = arg;
    const struct krc_find_coordinator_response *r = answer->response;
    struct krc_bytes none = {NULL, 0};
    c->asking--;
    if (c->node_id >= 0 || (c->asking > 0 && answer->rc < 0))
        return; /* another broker has answered, or may */
    c->error_code = 0;
    if (answer->rc >= 0 && r->error_code == 0 &&
        krc_node_learn(c->cluster, r->node_id, r->host, r->port, none) != NULL) {
        leave_silent(c, r->node_id);
        c->node_id = r->node_id;
        krc_backoff_repeat(c->cluster, &c->backoff);
        return;
    }
    if (answer->rc >= 0 && !krc_kafka_error_retriable(r->error_code))
        c->error_code = r->error_code;
    else
        tell_silence(c, answer->rc < 0 ? answer->why : krc_kafka_error_name(r->error_code));
    krc_backoff_fail(c->cluster, &c->backoff);
}

/* Transactional ids can be asked for from version 1 on, which Kafka 0.11 has. */
static void find(struct krc_coordinator *c, struct krc_conn *conn)
{
    struct krc_find_coordinator_request request = {
        .key = krc_bytes_of(c->key), .key_type = (int8_t)c->of};
    krc_error error;
    krc_stall_begin(&c->stall, c->cluster->now_ms);
    c->asking++;
    c->again_ms = c->cluster->now_ms + KRC_CONN_PATIENCE_MS;
    c->error_code = 0; /* what was refused then may not be now */
    if (krc_conn_send(conn, KRC_API_FIND_COORDINATOR,
                      krc_conn_version(conn, KRC_API_FIND_COORDINATOR), &request, 0, found, c,
                      &error) < 0) {
        c->asking--;
        krc_backoff_fail(c->cluster, &c->backoff);
    }
}

/* Asks any broker where it is, and another where that takes long. */
static void look_for(struct krc_coordinator *c, int64_t *next_ms)
{
    struct krc_cluster *cluster = c->cluster;
    int64_t not_before_ms = c->asking > 0 ? c->again_ms : c->backoff.not_before_ms;
    if (cluster->now_ms < not_before_ms) {
        *next_ms = krc_sooner(*next_ms, not_before_ms);
        return;
    }
    struct krc_conn *any = c->asking > 0 ? krc_another_conn(cluster) : krc_any_conn(cluster);
    if (any != NULL)
        find(c, any);
}

struct krc_conn *krc_coordinator_conn(struct krc_coordinator *c, enum krc_purpose purpose,
                                      int64_t *next_ms)
{
    struct krc_cluster *cluster = c->cluster;
    struct krc_node *node = krc_node_find(cluster, c->node_id);
    if (node == NULL) {
        c->node_id = -1;
        look_for(c, next_ms);
        return NULL;
    }
    struct krc_conn *conn = krc_node_conn(node, purpose);
    const struct krc_conn *its = node->conns[purpose];
    if (its != NULL && its->state != KRC_CONN_READY && its->failures > 0) {
        krc_coordinator_lost(c, its->error);
        krc_backoff_fail(cluster, &c->backoff); /* it may have moved */
        *next_ms = krc_sooner(*next_ms, c->backoff.not_before_ms);
    }
    return conn;
}

/* It may have moved, too: but its answer may still come. */
static void leave_if_silent(struct krc_coordinator *c)
{
    struct krc_node *node = krc_node_find(c->cluster, c->node_id);
    if (node == NULL || krc_backoff_waits(c->cluster, &c->backoff) || !krc_node_is_overdue(node))
        return;
    c->silent_id = node->id;
    krc_coordinator_lost(c, "it does not answer");
    krc_backoff_fail(c->cluster, &c->backoff);
}

int64_t krc_coordinators_tick(struct krc_cluster *cluster)
{
    int64_t next_ms = INT64_MAX;
    for (struct krc_coordinator *c = cluster->coordinators; c != NULL; c = c->next) {
        leave_if_silent(c);
        if (c->node_id < 0 && c->silent_id >= 0)
            look_for(c, &next_ms);
    }
    return next_ms;
}
