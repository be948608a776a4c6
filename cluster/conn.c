#include "cluster/conn.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/printable.h"
#include "cluster/auth.h"
#include "cluster/cluster.h"

/* The highest that every broker since 2.4 has: for an older one it costs a second greeting. */
enum { GREETING_VERSION = 3 };

const char krc_no_address[] = "this is not a valid address (advertised.listeners)";

void krc_conn_init(struct krc_conn *conn, const char *host, int32_t port)
{
    *conn = (struct krc_conn){.cluster = conn->cluster,
                              .node = conn->node,
                              .purpose = conn->purpose,
                              .next = conn->next,
                              .back = conn->back,
                              .host = host,
                              .port = port,
                              .has_address = krc_is_address(host, strlen(host), port),
                              .deadline_ms = INT64_MAX,
                              .session_ends_ms = INT64_MAX};
    conn->last = &conn->first;
    if (!conn->has_address)
        snprintf(conn->error, sizeof conn->error, "%s", krc_no_address);
}

static void forget_addresses(struct krc_conn *conn)
{
    free(conn->addresses);
    conn->addresses = NULL;
    conn->address_count = 0;
}

static int64_t now(const struct krc_conn *conn)
{
    return conn->cluster->now_ms;
}

/* ---- The end of it -------------------------------------------------------------------------- */

/* The oldest is the one whose response may have begun to come. */
static void lose_requests(struct krc_conn *conn, int rc, const char *why)
{
    struct krc_inflight *list = conn->first;
    size_t came = conn->cut_at;
    conn->first = NULL;
    conn->last = &conn->first;
    conn->in_flight = 0;
    for (struct krc_inflight *lost; (lost = list) != NULL;) {
        list = lost->next;
        lost->answer(lost->arg, &(struct krc_answer){.rc = rc,
                                                     .why = why,
                                                     .size = conn->refused_size,
                                                     .came = came,
                                                     .version = lost->version});
        came = 0;
        free(lost);
    }
}

bool krc_conn_is_hearing(const struct krc_conn *conn)
{
    return conn->prefix_len > 0 || conn->frame != NULL;
}

static void hang_up(struct krc_conn *conn)
{
    if (conn->state == KRC_CONN_CLOSED)
        return;
    conn->cut_at = conn->frame != NULL ? conn->frame_len : 0;
    conn->state = KRC_CONN_CLOSED;
    conn->cluster->io->close(conn->cluster->io_arg, conn);
    krc_auth_end(conn);
    forget_addresses(conn);
    krc_frame_drop(conn->frame);
    conn->frame = NULL;
    conn->prefix_len = 0;
    conn->is_answered = false;
    conn->deadline_ms = INT64_MAX;
    conn->throttled_to_ms = 0;
}

void krc_conn_close(struct krc_conn *conn, const char *why)
{
    hang_up(conn);
    lose_requests(conn, KRC_E_IO, why);
}

/* `rc` is what the requests in flight are told. */
static void fail(struct krc_conn *conn, int rc, bool refused, const char *why)
{
    const struct krc_cluster_settings *s = &conn->cluster->settings;
    snprintf(conn->error, sizeof conn->error, "%s", why);
    krc_make_printable(conn->error, sizeof conn->error); /* what a broker says may be anything */
    hang_up(conn);
    conn->refused = refused;
    conn->denied = false;
    conn->retry_at_ms = now(conn) + krc_backoff_ms(conn->cluster, s->reconnect_backoff_ms,
                                                   s->reconnect_backoff_max_ms, conn->failures);
    conn->failures++;
    krc_metadata_refresh(conn->cluster);
    lose_requests(conn, rc, conn->error);
}

void krc_conn_denied(struct krc_conn *conn, int rc, const char *format, ...)
{
    char why[sizeof conn->error];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    fail(conn, rc, true, why);
    conn->denied = true;
    conn->denial_told = false;
}

static void connect_next(struct krc_conn *conn)
{
    const struct krc_cluster_settings *s = &conn->cluster->settings;
    conn->state = KRC_CONN_CONNECTING;
    conn->deadline_ms = now(conn) + krc_backoff_ms(conn->cluster, s->connect_timeout_ms,
                                                   s->connect_timeout_max_ms, conn->failures);
    conn->cluster->io->connect(conn->cluster->io_arg, conn, &conn->addresses[conn->address_at]);
}

/* Nothing was answered but the greeting, which a listener that demands SASL does answer; and that
 * more than once, for a broker may go at any moment.  One that begins to answer demands none. */
static bool wants_sasl(struct krc_conn *conn)
{
    enum { ENOUGH = 3 };
    if (krc_conn_is_hearing(conn))
        conn->unanswered = 0;
    return conn->state == KRC_CONN_READY && !conn->is_answered && !krc_conn_is_hearing(conn) &&
           conn->first != NULL && conn->cluster->settings.sasl == NULL &&
           ++conn->unanswered >= ENOUGH;
}

void krc_conn_failed(struct krc_conn *conn, bool refused, const char *format, ...)
{
    char why[sizeof conn->error];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (conn->state == KRC_CONN_CONNECTING && conn->address_at + 1 < conn->address_count) {
        conn->cluster->io->close(conn->cluster->io_arg, conn);
        conn->address_at++;
        connect_next(conn);
        return;
    }
    if (wants_sasl(conn))
        krc_conn_denied(conn, KRC_E_REFUSED, "%s at the first request, again and again: a listener "
                        "that demands SASL does so (security.protocol)", why);
    else
        fail(conn, KRC_E_IO, refused, why);
}

/* ---- The beginning -------------------------------------------------------------------------- */

void krc_conn_want(struct krc_conn *conn)
{
    conn->wanted_ms = now(conn);
    if (conn->state != KRC_CONN_CLOSED || now(conn) < conn->retry_at_ms)
        return;
    if (!conn->has_address) {
        fail(conn, KRC_E_IO, true, krc_no_address);
        return;
    }
    conn->state = KRC_CONN_RESOLVING;
    conn->used_at_ms = now(conn);
    conn->overdue_ms = now(conn) + KRC_CONN_PATIENCE_MS;
    conn->cluster->io->resolve(conn->cluster->io_arg, conn);
}

void krc_conn_resolved(struct krc_conn *conn, const struct krc_address *addresses, size_t count)
{
    count = count < KRC_ADDRESSES_MOST ? count : KRC_ADDRESSES_MOST;
    forget_addresses(conn);
    conn->addresses = malloc(count * sizeof *addresses);
    if (conn->addresses == NULL) {
        fail(conn, KRC_E_NOMEM, false, "there is no memory for its addresses");
        return;
    }
    memcpy(conn->addresses, addresses, count * sizeof *addresses);
    conn->address_count = count;
    conn->address_at = 0;
    connect_next(conn);
}

static void greeted(void *arg, const struct krc_answer *answer);

static void greet(struct krc_conn *conn, int16_t version)
{
    static const char name[] = "krc", number[] = KRC_VERSION;
    struct krc_api_versions_request request = {
        .software_name = {(const uint8_t *)name, sizeof name - 1},
        .software_version = {(const uint8_t *)number, sizeof number - 1},
    };
    krc_error error;
    conn->state = KRC_CONN_GREETING;
    conn->deadline_ms = INT64_MAX; /* the request has its own */
    if (krc_conn_send(conn, KRC_API_API_VERSIONS, version, &request, 0, greeted, conn, &error) < 0)
        fail(conn, error.code, false, error.message);
}

void krc_conn_connected(struct krc_conn *conn)
{
    conn->was_reached = true;
    greet(conn, GREETING_VERSION);
}

/* What the broker has, of what we speak. */
static void note_versions(struct krc_conn *conn, const struct krc_api_versions_response *response)
{
    for (int api = 0; api < KRC_API_COUNT; api++)
        conn->versions[api] = (struct krc_api_range){krc_apis[api].key, -1, -1};
    for (int32_t i = 0; i < response->range_count; i++)
        for (int api = 0; api < KRC_API_COUNT; api++)
            if (krc_apis[api].key == response->ranges[i].key)
                conn->versions[api] = response->ranges[i];
}

/* The broker has no such version of ApiVersions; it may say which it has. */
static void greet_again(struct krc_conn *conn, int16_t tried)
{
    int16_t version = krc_conn_version(conn, KRC_API_API_VERSIONS);
    if (version < 0 || version >= tried)
        version = 0;
    if (tried == 0)
        fail(conn, KRC_E_UNSUPPORTED, true, "it has no version of ApiVersions that krc speaks");
    else
        greet(conn, version);
}

static void authenticate(struct krc_conn *conn)
{
    conn->state = KRC_CONN_AUTHENTICATING;
    krc_auth_begin(conn);
}

static void greeted(void *arg, const struct krc_answer *answer)
{
    struct krc_conn *conn = arg;
    if (answer->rc < 0)
        return; /* it was closed, with the reason said */
    const struct krc_api_versions_response *response = answer->response;
    note_versions(conn, response);
    if (response->error_code == KRC_KAFKA_UNSUPPORTED_VERSION) {
        greet_again(conn, answer->version);
        return;
    }
    if (response->error_code != 0 || krc_conn_version(conn, KRC_API_FETCH) < 0) {
        char why[160];
        snprintf(why, sizeof why,
                 response->error_code != 0 ? "ApiVersions was answered with %s"
                                           : "it is older than Kafka 0.11, or no broker: it has "
                                             "no version of Fetch that krc speaks",
                 krc_kafka_error_name(response->error_code));
        fail(conn, KRC_E_UNSUPPORTED, true, why);
        return;
    }
    if (conn->cluster->settings.sasl != NULL)
        authenticate(conn);
    else
        krc_conn_ready(conn);
}

void krc_conn_ready(struct krc_conn *conn)
{
    conn->state = KRC_CONN_READY;
    conn->refused = conn->denied = false;
}

/* ---- Requests ------------------------------------------------------------------------------- */

bool krc_conn_usable(const struct krc_conn *conn)
{
    return conn->state == KRC_CONN_READY && now(conn) >= conn->throttled_to_ms &&
           !krc_auth_is_due(conn);
}

/* INT64_MAX: it owes nothing. */
static int64_t overdue_ms(const struct krc_conn *conn)
{
    if (conn->state == KRC_CONN_CLOSED)
        return INT64_MAX;
    if (conn->state != KRC_CONN_READY)
        return conn->overdue_ms;
    if (conn->first == NULL)
        return INT64_MAX;
    return krc_conn_is_hearing(conn) ? conn->heard_ms + KRC_CONN_PATIENCE_MS
                                     : conn->first->overdue_ms;
}

bool krc_conn_is_overdue(const struct krc_conn *conn)
{
    return now(conn) >= overdue_ms(conn);
}

int16_t krc_conn_version(const struct krc_conn *conn, enum krc_api_name api)
{
    const struct krc_api_range *range = &conn->versions[api];
    return range->lowest < 0 ? -1 : krc_api_version(api, range->lowest, range->highest);
}

int krc_conn_send(struct krc_conn *conn, enum krc_api_name api, int16_t version,
                  const void *request, int32_t wait_ms, krc_answer_fn *answer, void *arg,
                  krc_error *error)
{
    struct krc_cluster *cluster = conn->cluster;
    struct krc_inflight *sent = malloc(sizeof *sent);
    if (sent == NULL)
        return krc_fail_nomem(error, sizeof *sent);
    *sent = (struct krc_inflight){
        .api = api,
        .version = version,
        .correlation_id = conn->next_correlation_id,
        .overdue_ms = now(conn) + wait_ms + KRC_CONN_PATIENCE_MS,
        .deadline_ms = now(conn) + cluster->settings.request_timeout_ms + wait_ms,
        .answer = answer,
        .arg = arg,
    };
    cluster->out.len = 0;
    int rc = krc_request_write(&cluster->out, api, version, sent->correlation_id,
                               cluster->settings.client_id, request, error);
    if (rc < 0) {
        free(sent);
        return rc;
    }
    conn->next_correlation_id =
        sent->correlation_id == INT32_MAX ? 0 : sent->correlation_id + 1;
    *conn->last = sent;
    conn->last = &sent->next;
    conn->in_flight++;
    if (conn->state == KRC_CONN_READY)
        conn->used_at_ms = now(conn);
    cluster->io->send(cluster->io_arg, conn, cluster->out.data, cluster->out.len);
    if (api == KRC_API_SASL_AUTHENTICATE)
        explicit_bzero(cluster->out.data, cluster->out.len);
    return KRC_OK;
}

/* ---- Responses ------------------------------------------------------------------------------ */

/* The first bytes of what is no Kafka response. */
static const char *other_protocol(const uint8_t prefix[4])
{
    if (memcmp(prefix, "HTTP", 4) == 0)
        return "it speaks HTTP: this is no Kafka broker's port";
    if ((prefix[0] == 0x15 || prefix[0] == 0x16) && prefix[1] == 3)
        return "it speaks TLS: set security.protocol to SSL, or to SASL_SSL";
    return NULL;
}

static void refuse_size(struct krc_conn *conn, int32_t size)
{
    char why[200];
    const char *other = other_protocol(conn->prefix);
    bool greeting = conn->state == KRC_CONN_GREETING;
    int rc = !greeting && size > 0 ? KRC_E_TOO_LARGE : KRC_E_CORRUPT;
    if (greeting && other == NULL)
        other = "what it sends is not Kafka's protocol";
    conn->refused_size = size;
    if (rc == KRC_E_TOO_LARGE)
        snprintf(why, sizeof why,
                 "a response of %ld bytes is over receive.message.max.bytes (%lld): raise that",
                 (long)size, (long long)conn->cluster->settings.receive_max_bytes);
    else
        snprintf(why, sizeof why, "%s", other != NULL ? other : "a response has no valid size");
    fail(conn, rc, greeting, why);
}

/* The size is there: 4 bytes, of which the correlation id is not one. */
static bool begin_frame(struct krc_conn *conn)
{
    enum { GREETING_MOST = 1 << 20 };
    int32_t size = (int32_t)krc_be32(conn->prefix);
    int64_t most = conn->state == KRC_CONN_GREETING
                       ? krc_sooner(GREETING_MOST, conn->cluster->settings.receive_max_bytes)
                       : conn->cluster->settings.receive_max_bytes;
    if (size < 4 || size > most) {
        refuse_size(conn, size);
        return false;
    }
    conn->frame = krc_frame_take(conn->cluster->frames, (size_t)size);
    conn->frame_len = 0;
    if (conn->frame == NULL)
        fail(conn, KRC_E_NOMEM, false, "there is no memory for a response");
    return conn->frame != NULL;
}

void krc_conn_space(struct krc_conn *conn, uint8_t **bytes, size_t *len)
{
    if (conn->frame == NULL) {
        *bytes = conn->prefix + conn->prefix_len;
        *len = sizeof conn->prefix - conn->prefix_len;
    } else {
        *bytes = conn->frame->chunk.data + conn->frame_len;
        *len = conn->frame->chunk.len - conn->frame_len;
    }
}

/* Takes the request that is answered off the queue: the oldest one, for a broker answers in
 * order.  NULL: it is not. */
static struct krc_inflight *take_answered(struct krc_conn *conn, const struct krc_frame *frame)
{
    int32_t id;
    struct krc_inflight *sent = conn->first;
    if (sent == NULL || !krc_response_correlation(frame->chunk.data, frame->chunk.len, &id) ||
        id != sent->correlation_id)
        return NULL;
    conn->first = sent->next;
    if (conn->first == NULL)
        conn->last = &conn->first;
    conn->in_flight--;
    return sent;
}

/*
 * The time that a response asks to wait, and the first version whose brokers leave that to the
 * client: older ones have waited themselves before they answered (KIP-219).
 */
static const struct {
    size_t field; /* in the response's struct */
    int16_t since;
} throttles[KRC_API_COUNT] = {
#define THROTTLE(api, name, since) \
    [KRC_API_##api] = {offsetof(struct krc_##name##_response, throttle_time_ms), since}
    THROTTLE(FETCH, fetch, 8),
    THROTTLE(LIST_OFFSETS, list_offsets, 3),
    THROTTLE(METADATA, metadata, 6),
    THROTTLE(OFFSET_FETCH, offset_fetch, 4),
    THROTTLE(FIND_COORDINATOR, find_coordinator, 2),
    THROTTLE(API_VERSIONS, api_versions, 2),
    THROTTLE(OFFSET_FOR_LEADER_EPOCH, offset_for_leader_epoch, 2),
    THROTTLE(DESCRIBE_CONFIGS, describe_configs, 2),
    THROTTLE(DESCRIBE_TOPIC_PARTITIONS, describe_topic_partitions, 0),
    THROTTLE(OFFSET_COMMIT, offset_commit, 4),
    THROTTLE(OFFSET_DELETE, offset_delete, 0),
    THROTTLE(JOIN_GROUP, join_group, 3),
    THROTTLE(SYNC_GROUP, sync_group, 2),
    THROTTLE(HEARTBEAT, heartbeat, 2),
    THROTTLE(LEAVE_GROUP, leave_group, 2),
    THROTTLE(LIST_GROUPS, list_groups, 2),
    THROTTLE(DESCRIBE_GROUPS, describe_groups, 2),
    THROTTLE(CONSUMER_GROUP_HEARTBEAT, consumer_group_heartbeat, 0),
    THROTTLE(CONSUMER_GROUP_DESCRIBE, consumer_group_describe, 0),
    THROTTLE(LIST_TRANSACTIONS, list_transactions, 0),
    THROTTLE(DESCRIBE_TRANSACTIONS, describe_transactions, 0),
    THROTTLE(DESCRIBE_PRODUCERS, describe_producers, 0),
#undef THROTTLE
    [KRC_API_SASL_HANDSHAKE] = {.since = INT16_MAX}, /* these ask for none */
    [KRC_API_SASL_AUTHENTICATE] = {.since = INT16_MAX},
};

static int32_t throttle_of(const struct krc_inflight *sent, const void *response)
{
    int32_t ms;
    memcpy(&ms, (const char *)response + throttles[sent->api].field, sizeof ms);
    return sent->version >= throttles[sent->api].since ? ms : 0;
}

static void tell(struct krc_conn *conn, struct krc_inflight *sent, struct krc_frame *frame)
{
    struct krc_cluster *cluster = conn->cluster;
    krc_error error;
    int rc = krc_response_read(frame->chunk.data, frame->chunk.len, sent->api, sent->version,
                               cluster->response, &frame->arena, &error);
    if (rc < 0) {
        char why[256];
        snprintf(why, sizeof why, "its answer to %s (version %d) is not to be read: %.150s",
                 krc_apis[sent->api].name, sent->version, error.message);
        fail(conn, rc, conn->state == KRC_CONN_GREETING, why);
        sent->answer(sent->arg, &(struct krc_answer){
                                    .rc = rc, .why = conn->error, .version = sent->version});
        return;
    }
    if (conn->state == KRC_CONN_READY) {
        conn->used_at_ms = now(conn);
        conn->is_answered = true;
        conn->failures = conn->unanswered = 0;
        conn->error[0] = '\0';
        if (!conn->node->is_server)
            conn->cluster->nodes.lost[0] = '\0';
    }
    int32_t throttle_ms = throttle_of(sent, cluster->response);
    if (throttle_ms > 0)
        conn->throttled_to_ms = now(conn) + throttle_ms;
    sent->answer(sent->arg, &(struct krc_answer){.rc = KRC_OK,
                                                 .version = sent->version,
                                                 .response = cluster->response,
                                                 .frame = frame});
}

static void take_frame(struct krc_conn *conn)
{
    struct krc_frame *frame = conn->frame;
    conn->frame = NULL;
    conn->prefix_len = 0;
    struct krc_inflight *sent = take_answered(conn, frame);
    if (sent == NULL)
        fail(conn, KRC_E_CORRUPT, conn->state == KRC_CONN_GREETING,
             "a response answers no request, or not the oldest one");
    else
        tell(conn, sent, frame);
    free(sent);
    krc_frame_drop(frame);
}

void krc_conn_received(struct krc_conn *conn, size_t len)
{
    conn->heard_ms = now(conn);
    if (conn->frame == NULL) {
        conn->prefix_len += len;
        if (conn->prefix_len < sizeof conn->prefix || !begin_frame(conn))
            return;
        len = 0;
    }
    conn->frame_len += len;
    if (conn->frame_len == conn->frame->chunk.len)
        take_frame(conn);
}

/* ---- Time ----------------------------------------------------------------------------------- */

static void time_out(struct krc_conn *conn)
{
    char why[128];
    const char *waited = krc_apis[conn->first->api].name;
    snprintf(why, sizeof why, "%s was not answered within request.timeout.ms", waited);
    fail(conn, KRC_E_IO, false, why);
}

void krc_conn_tick(struct krc_conn *conn)
{
    if (conn->deadline_ms <= now(conn))
        krc_conn_failed(conn, false, "%s",
                        conn->state == KRC_CONN_AUTHENTICATING
                            ? "there is no token to authenticate with within request.timeout.ms"
                            : "no connection within socket.connection.setup.timeout.ms");
    else if (conn->first != NULL && conn->first->deadline_ms <= now(conn))
        time_out(conn);
    else if (conn->state == KRC_CONN_READY && conn->first == NULL &&
             conn->used_at_ms + conn->cluster->settings.idle_close_ms <= now(conn))
        krc_conn_close(conn, "idle");
    else if (conn->state == KRC_CONN_READY && conn->first == NULL && krc_auth_is_due(conn))
        authenticate(conn);
}

int64_t krc_conn_deadline(const struct krc_conn *conn)
{
    int64_t at = conn->deadline_ms;
    if (conn->first != NULL)
        at = krc_sooner(at, conn->first->deadline_ms);
    else if (conn->state == KRC_CONN_READY)
        at = krc_sooner(at, conn->used_at_ms + conn->cluster->settings.idle_close_ms);
    if (conn->state == KRC_CONN_READY && conn->first == NULL)
        at = krc_sooner(at, conn->session_ends_ms);
    if (overdue_ms(conn) > now(conn))
        at = krc_sooner(at, overdue_ms(conn));
    if (conn->throttled_to_ms > now(conn))
        at = krc_sooner(at, conn->throttled_to_ms);
    if (conn->state == KRC_CONN_CLOSED && conn->retry_at_ms > now(conn))
        at = krc_sooner(at, conn->retry_at_ms);
    return at;
}
