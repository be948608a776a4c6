#include "consumer/secure.h"

/* What TLS has to say. */
static void flush(struct krc_secure *secure)
{
    struct krc_buffer *out = krc_tls_out(secure->tls);
    if (out->len > 0)
        secure->send(secure->arg, out->data, out->len);
    out->len = 0;
}

/* 1: it is made, and told; 0: more has to come. */
static int make(struct krc_secure *secure, krc_error *error)
{
    int rc = krc_tls_handshake(secure->tls, error);
    flush(secure);
    secure->is_made = rc == 1;
    if (rc == 1)
        krc_conn_connected(*secure->conn);
    return rc;
}

/* 1: bytes were told; 0: more has to come. */
static int take(struct krc_secure *secure, krc_error *error)
{
    uint8_t *bytes;
    size_t len;
    krc_conn_space(*secure->conn, &bytes, &len);
    int n = krc_tls_read(secure->tls, bytes, len, error);
    flush(secure);
    if (n > 0)
        krc_conn_received(*secure->conn, (size_t)n);
    return n < 0 ? n : n > 0;
}

static void take_all(struct krc_secure *secure)
{
    krc_error error;
    int rc = 1;
    while (rc == 1 && *secure->conn != NULL)
        rc = secure->is_made ? take(secure, &error) : make(secure, &error);
    if (rc >= 0 || *secure->conn == NULL)
        return;
    if (rc == KRC_E_REFUSED)
        krc_conn_denied(*secure->conn, rc, "%s", error.message);
    else
        krc_conn_failed(*secure->conn, rc == KRC_E_CORRUPT, "%s", error.message);
}

void krc_secure_begin(struct krc_secure *secure, struct krc_tls_context *context)
{
    struct krc_conn *conn = *secure->conn;
    krc_error error;
    if (krc_tls_new(&secure->tls, context, conn->host, conn->port, &error) < 0)
        krc_conn_failed(conn, false, "%s", error.message);
    else
        take_all(secure);
}

void krc_secure_received(struct krc_secure *secure, const uint8_t *bytes, size_t len)
{
    secure->is_heard = true;
    krc_tls_received(secure->tls, bytes, len);
    take_all(secure);
}

bool krc_secure_send(struct krc_secure *secure, const uint8_t *bytes, size_t len)
{
    if (krc_tls_write(secure->tls, bytes, len, NULL) < 0)
        return false;
    flush(secure);
    return true;
}
