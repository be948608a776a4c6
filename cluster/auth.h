/*
 * SASL on a connection: SaslHandshake, and SaslAuthenticate as often as the mechanism needs it;
 * again before the session that it opened ends (KIP-368).
 */
#ifndef KRC_CLUSTER_AUTH_H
#define KRC_CLUSTER_AUTH_H

#include "cluster/conn.h"

/* The connection becomes AUTHENTICATING, then READY. */
void krc_auth_begin(struct krc_conn *conn);

/* The token that was asked for with krc_io_ops' token; it is copied. */
void krc_conn_token(struct krc_conn *conn, const char *token);

/* Whether the session ends soon: nothing more is sent until krc_auth_begin was called again, once
 * all that is in flight is answered. */
bool krc_auth_is_due(const struct krc_conn *conn);

/* Its state goes with the connection. */
void krc_auth_end(struct krc_conn *conn);

#endif
