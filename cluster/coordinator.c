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
    c->node_id = -1;
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

enum { PATIENCE_MS = 5000, AGAIN_MS = 30000 };

static void wait_for(struct krc_coordinator *c)
{
    if (c->tell_ms == 0)
        c->tell_ms = c->cluster->now_ms + PATIENCE_MS;
}

/* Who waits for it shall know why nothing comes. */
static void tell_silence(struct krc_coordinator *c, const char *why)
{
    static const char *const kinds[] = {[KRC_GROUP] = "group", [KRC_TRANSACTION] = "transaction"};
    char text[500];
    wait_for(c);
    if (c->cluster->now_ms < c->tell_ms)
        return;
    c->tell_ms = c->cluster->now_ms + AGAIN_MS;
    snprintf(text, sizeof text, "nobody answers as the coordinator of %s %.200s (%.200s): it is "
             "looked for, and asked again", kinds[c->of], c->key, why);
    krc_cluster_note(c->cluster, "", text);
}

void krc_coordinator_lost(struct krc_coordinator *c, const char *why)
{
    c->node_id = -1;
    tell_silence(c, why);
}

static void found(void *arg, const struct krc_answer *answer)
{
    struct krc_coordinator *c = arg;
    const struct krc_find_coordinator_response *r = answer->response;
    struct krc_bytes none = {NULL, 0};
    c->asking = false;
    c->error_code = 0;
    if (answer->rc >= 0 && r->error_code == 0 &&
        krc_node_learn(c->cluster, r->node_id, r->host, r->port, none) != NULL) {
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
    wait_for(c);
    c->asking = true;
    c->error_code = 0; /* what was refused then may not be now */
    if (krc_conn_send(conn, KRC_API_FIND_COORDINATOR,
                      krc_conn_version(conn, KRC_API_FIND_COORDINATOR), &request, 0, found, c,
                      &error) < 0) {
        c->asking = false;
        krc_backoff_fail(c->cluster, &c->backoff);
    }
}

struct krc_conn *krc_coordinator_conn(struct krc_coordinator *c, enum krc_purpose purpose,
                                      int64_t *next_ms)
{
    struct krc_cluster *cluster = c->cluster;
    struct krc_node *node = krc_node_find(cluster, c->node_id);
    if (node != NULL) {
        struct krc_conn *conn = krc_node_conn(node, purpose);
        const struct krc_conn *its = node->conns[purpose];
        if (its != NULL && its->state != KRC_CONN_READY && its->failures > 0) {
            krc_coordinator_lost(c, its->error); /* it may have moved */
            krc_backoff_fail(cluster, &c->backoff);
            *next_ms = krc_sooner(*next_ms, c->backoff.not_before_ms);
        }
        return conn;
    }
    if (c->asking)
        return NULL;
    if (krc_backoff_waits(cluster, &c->backoff)) {
        *next_ms = krc_sooner(*next_ms, c->backoff.not_before_ms);
        return NULL;
    }
    struct krc_conn *any = krc_any_conn(cluster);
    if (any != NULL)
        find(c, any);
    return NULL;
}
