#include "cluster/auth.h"

#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"
#include "security/sasl.h"

static const char *mechanism_of(const struct krc_conn *conn)
{
    return krc_sasl_name(conn->cluster->settings.sasl->mechanism);
}

void krc_auth_end(struct krc_conn *conn)
{
    krc_sasl_free(conn->sasl);
    conn->sasl = NULL;
    conn->session_ends_ms = INT64_MAX;
}

bool krc_auth_is_due(const struct krc_conn *conn)
{
    return conn->session_ends_ms <= conn->cluster->now_ms;
}

/* Without memory, another attempt may go better. */
static void give_up(struct krc_conn *conn, int rc, const krc_error *error)
{
    if (rc == KRC_E_NOMEM)
        krc_conn_failed(conn, false, "%s", error->message);
    else
        krc_conn_denied(conn, rc, "%s", error->message);
}

/* ---- SaslAuthenticate ----------------------------------------------------------------------- */

/* How long the session lasts; the next exchange begins at 85 to 95 percent of that, as Java's does,
 * so that not all clients come at once.  Brokers take none within a second of the last: where a
 * token ends sooner they close the connection, and another one begins with an exchange. */
static void succeed(struct krc_conn *conn, int64_t lifetime_ms)
{
    enum { APART_MS = 1000 };
    int64_t early_ms = lifetime_ms / 100 * (int64_t)(85 + krc_random(conn->cluster) % 11);
    krc_auth_end(conn);
    if (lifetime_ms > 0)
        conn->session_ends_ms =
            conn->cluster->now_ms + (early_ms > APART_MS ? early_ms : APART_MS);
    krc_conn_ready(conn);
}

static void told(void *arg, const struct krc_answer *answer);

/* Says what the mechanism says to that. */
static void step(struct krc_conn *conn, struct krc_bytes from_broker, int64_t lifetime_ms)
{
    struct krc_buffer out = {0};
    krc_error error;
    int rc = krc_sasl_step(conn->sasl, from_broker, &out, &error);
    if (rc == 1) {
        struct krc_sasl_authenticate_request request = {.auth_bytes = {out.data, out.len}};
        rc = krc_conn_send(conn, KRC_API_SASL_AUTHENTICATE,
                           krc_conn_version(conn, KRC_API_SASL_AUTHENTICATE), &request, 0, told,
                           conn, &error);
    } else if (rc == 0) {
        succeed(conn, lifetime_ms);
    }
    krc_buffer_wipe(&out);
    if (rc < 0)
        give_up(conn, rc, &error);
}

static void told(void *arg, const struct krc_answer *answer)
{
    struct krc_conn *conn = arg;
    if (answer->rc < 0)
        return; /* it was closed, with the reason said */
    const struct krc_sasl_authenticate_response *r = answer->response;
    if (r->error_code == 0) {
        step(conn, r->auth_bytes, r->session_lifetime_ms);
        return;
    }
    krc_conn_denied(conn, KRC_E_REFUSED, "it refuses the credentials (%s, %s): %.*s",
                    mechanism_of(conn), krc_kafka_error_name(r->error_code),
                    (int)r->error_message.len, (const char *)r->error_message.data);
}

/* ---- SaslHandshake -------------------------------------------------------------------------- */

static void refuse_mechanism(struct krc_conn *conn,
                             const struct krc_sasl_handshake_response *response)
{
    char offered[160] = "";
    size_t len = 0;
    for (int32_t i = 0; i < response->mechanism_count && len < sizeof offered; i++)
        len += (size_t)snprintf(offered + len, sizeof offered - len, "%s%.*s", i > 0 ? ", " : "",
                                (int)response->mechanisms[i].len,
                                (const char *)response->mechanisms[i].data);
    krc_conn_denied(conn, KRC_E_REFUSED, "it does not offer sasl.mechanism %s, but %s",
                    mechanism_of(conn), len > 0 ? offered : "none");
}

static void handshake_told(void *arg, const struct krc_answer *answer)
{
    struct krc_conn *conn = arg;
    if (answer->rc < 0)
        return;
    const struct krc_sasl_handshake_response *response = answer->response;
    switch (response->error_code) {
    case 0:
        step(conn, (struct krc_bytes){0}, 0);
        return;
    case KRC_KAFKA_UNSUPPORTED_SASL_MECHANISM:
        refuse_mechanism(conn, response);
        return;
    case KRC_KAFKA_ILLEGAL_SASL_STATE:
        krc_conn_denied(conn, KRC_E_REFUSED,
                        "it takes no SASL here: this is a listener without, or security.protocol "
                        "is another");
        return;
    default:
        krc_conn_denied(conn, KRC_E_REFUSED, "it answers SaslHandshake with %s: %s",
                        krc_kafka_error_name(response->error_code),
                        krc_kafka_error_text(response->error_code));
    }
}

static void shake_hands(struct krc_conn *conn, const char *token)
{
    const struct krc_sasl_settings *settings = conn->cluster->settings.sasl;
    struct krc_sasl_handshake_request request = {
        .mechanism = {(const uint8_t *)mechanism_of(conn), strlen(mechanism_of(conn))}};
    krc_error error;
    int rc = krc_sasl_new(&conn->sasl, settings, token, &error);
    if (rc >= 0)
        rc = krc_conn_send(conn, KRC_API_SASL_HANDSHAKE, 1, &request, 0, handshake_told, conn,
                           &error);
    if (rc < 0)
        give_up(conn, rc, &error);
}

void krc_auth_begin(struct krc_conn *conn)
{
    struct krc_cluster *cluster = conn->cluster;
    krc_auth_end(conn);
    if (krc_conn_version(conn, KRC_API_SASL_HANDSHAKE) < 1 ||
        krc_conn_version(conn, KRC_API_SASL_AUTHENTICATE) < 0) {
        krc_conn_denied(conn, KRC_E_UNSUPPORTED,
                        "it is older than Kafka 1.0, whose SASL krc does not speak");
        return;
    }
    if (cluster->settings.sasl->mechanism == KRC_SASL_OAUTHBEARER) {
        conn->deadline_ms = cluster->now_ms + cluster->settings.request_timeout_ms;
        cluster->io->token(cluster->io_arg, conn);
    } else {
        shake_hands(conn, NULL);
    }
}

void krc_conn_token(struct krc_conn *conn, const char *token)
{
    if (conn->state != KRC_CONN_AUTHENTICATING || conn->sasl != NULL)
        return;
    conn->deadline_ms = INT64_MAX; /* requests have their own */
    shake_hands(conn, token);
}
