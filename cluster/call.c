#include "cluster/call.h"

#include <stdio.h>
#include <stdlib.h>

#include "cluster/cluster.h"

/* What the connection knows of a call that was sent; the call may be gone when it is answered. */
struct krc_call_sent {
    struct krc_cluster *cluster;
    struct krc_call *call;
};

/* ---- The list ------------------------------------------------------------------------------- */

static void unlink_call(struct krc_call *call)
{
    if (call->back == NULL)
        return;
    *call->back = call->next;
    if (call->next != NULL)
        call->next->back = call->back;
    call->next = NULL;
    call->back = NULL;
}

static void put_open(struct krc_cluster *cluster, struct krc_call *call)
{
    struct krc_call **list = &cluster->calls.open;
    call->state = KRC_CALL_OPEN;
    call->next = *list;
    call->back = list;
    if (*list != NULL)
        (*list)->back = &call->next;
    *list = call;
}

void krc_call_begin(struct krc_cluster *cluster, struct krc_call *call)
{
    krc_call_drop(call);
    call->rc = KRC_OK;
    call->error_code = 0;
    call->why[0] = '\0';
    call->was_sent = false;
    krc_backoff_clear(&call->backoff);
    put_open(cluster, call);
}

void krc_call_drop(struct krc_call *call)
{
    unlink_call(call);
    if (call->sent != NULL)
        call->sent->call = NULL;
    call->sent = NULL;
    call->state = KRC_CALL_IDLE;
}

/* ---- What becomes of one -------------------------------------------------------------------- */

static void told(struct krc_call *call, int rc)
{
    unlink_call(call);
    call->state = KRC_CALL_TOLD;
    call->rc = rc;
}

enum krc_call_verdict krc_call_judge(struct krc_call *call, int16_t error_code)
{
    if (krc_coordinator_moved(error_code))
        return KRC_CALL_MOVED;
    if (krc_kafka_error_retriable(error_code))
        return KRC_CALL_RETRY;
    call->rc = error_code == 0 ? KRC_OK : KRC_E_REFUSED;
    return KRC_CALL_DONE;
}

int krc_call_explain(const struct krc_call *call, krc_error *error)
{
    const char *api = krc_apis[call->api].name;
    if (call->rc == KRC_E_UNSUPPORTED)
        return krc_fail(error, call->rc, "the broker is too old: it has no %s that would do", api);
    if (call->error_code == 0)
        return krc_fail(error, call->rc, "%s is not answered%s%s", api,
                        call->why[0] == '\0' ? "" : ": ", call->why);
    return krc_fail(error, call->rc, "the broker answers %s to %s (%s)",
                    krc_kafka_error_name(call->error_code), api,
                    krc_kafka_error_text(call->error_code));
}

static void look_elsewhere(struct krc_cluster *cluster, struct krc_call *call, const char *why)
{
    if (call->coordinator != NULL)
        krc_coordinator_lost(call->coordinator, why);
    else if (call->topic != NULL)
        krc_metadata_refresh(cluster);
}

static void retry(struct krc_cluster *cluster, struct krc_call *call)
{
    if (call->again == KRC_NEVER) {
        told(call, KRC_E_IO);
        return;
    }
    krc_backoff_fail(cluster, &call->backoff);
    put_open(cluster, call);
}

static void unanswered(struct krc_cluster *cluster, struct krc_call *call, const char *why)
{
    snprintf(call->why, sizeof call->why, "%s", why);
    look_elsewhere(cluster, call, why);
    if (call->again == KRC_IF_ANSWERED)
        told(call, KRC_E_IO);
    else
        retry(cluster, call);
}

static void answered(void *arg, const struct krc_answer *answer)
{
    struct krc_call_sent *sent = arg;
    struct krc_cluster *cluster = sent->cluster;
    struct krc_call *call = sent->call;
    free(sent);
    if (call == NULL)
        return;
    call->sent = NULL;
    call->error_code = 0;
    if (answer->rc < 0) {
        unanswered(cluster, call, answer->why);
        return;
    }
    switch (call->take(call, answer, &call->error_code)) {
    case KRC_CALL_DONE:
        if (call->coordinator != NULL)
            krc_coordinator_heard(call->coordinator);
        told(call, call->rc);
        return;
    case KRC_CALL_MOVED:
        look_elsewhere(cluster, call, krc_kafka_error_name(call->error_code));
        break;
    case KRC_CALL_RETRY:
        break;
    }
    retry(cluster, call);
}

/* ---- Sending -------------------------------------------------------------------------------- */

/* NULL: nobody can be asked now. */
static struct krc_conn *conn_for(struct krc_cluster *cluster, struct krc_call *call,
                                 int64_t *next_ms)
{
    if (call->coordinator != NULL)
        return krc_coordinator_conn(call->coordinator, call->purpose, next_ms);
    if (call->topic == NULL && call->node_id < 0)
        return krc_any_conn(cluster);
    const struct krc_topic_partition *p =
        call->topic == NULL ? NULL : krc_topic_partition(call->topic, call->partition);
    struct krc_node *node = krc_node_find(cluster, p != NULL ? p->leader_id : call->node_id);
    if (node == NULL)
        krc_metadata_refresh(cluster);
    return node == NULL ? NULL : krc_node_conn(node, call->purpose);
}

/* -1: none will do. */
static int16_t version_for(const struct krc_call *call, const struct krc_conn *conn)
{
    int16_t version = krc_conn_version(conn, call->api);
    if (call->highest > 0 && version > call->highest)
        version = conn->versions[call->api].lowest <= call->highest ? call->highest : -1;
    return version;
}

static void send(struct krc_cluster *cluster, struct krc_call *call, struct krc_conn *conn)
{
    struct krc_call_sent *sent = calloc(1, sizeof *sent);
    krc_error error;
    if (sent == NULL) {
        krc_backoff_fail(cluster, &call->backoff);
        return;
    }
    *sent = (struct krc_call_sent){cluster, call};
    unlink_call(call);
    call->state = KRC_CALL_SENT;
    call->sent = sent;
    int rc = krc_conn_send(conn, call->api, call->version, call->request, call->wait_ms, answered,
                           sent, &error);
    call->was_sent |= rc >= 0;
    if (rc >= 0)
        return;
    free(sent);
    call->sent = NULL;
    snprintf(call->why, sizeof call->why, "%.199s", error.message);
    if (rc == KRC_E_NOMEM)
        retry(cluster, call);
    else
        told(call, rc);
}

static void try_to_send(struct krc_cluster *cluster, struct krc_call *call, int64_t *next_ms)
{
    if (krc_backoff_waits(cluster, &call->backoff)) {
        *next_ms = krc_sooner(*next_ms, call->backoff.not_before_ms);
        return;
    }
    struct krc_conn *conn = conn_for(cluster, call, next_ms);
    if (conn == NULL && call->coordinator != NULL && call->coordinator->error_code != 0) {
        call->error_code = call->coordinator->error_code;
        told(call, KRC_E_REFUSED);
    }
    if (conn == NULL)
        return;
    call->version = version_for(call, conn);
    if (call->version < 0)
        told(call, KRC_E_UNSUPPORTED);
    else
        send(cluster, call, conn);
}

int64_t krc_calls_tick(struct krc_cluster *cluster)
{
    int64_t next_ms = INT64_MAX;
    for (struct krc_call *call = cluster->calls.open, *next; call != NULL; call = next) {
        next = call->next;
        try_to_send(cluster, call, &next_ms);
        if (call->state == KRC_CALL_TOLD) /* nothing has to arrive: who waits is to look soon */
            next_ms = cluster->now_ms + 1;
    }
    return next_ms;
}
