/*
 * TLS between a socket and a connection of the cluster's.
 */
#ifndef KRC_CONSUMER_SECURE_H
#define KRC_CONSUMER_SECURE_H

#include "cluster/conn.h"
#include "security/tls.h"

struct krc_secure {
    struct krc_tls *tls;    /* NULL: plain text */
    bool is_heard;          /* something came */
    bool is_made;           /* the handshake is over */
    struct krc_conn **conn; /* the socket's; it is NULL once that is closed */
    void (*send)(void *arg, const uint8_t *bytes, size_t len); /* to the socket */
    void *arg;
};

/* Begins the handshake; the connection is told krc_conn_connected when it is over. */
void krc_secure_begin(struct krc_secure *secure, struct krc_tls_context *context);

/* Bytes came from the socket: what can be had of them is told to the connection. */
void krc_secure_received(struct krc_secure *secure, const uint8_t *bytes, size_t len);

/* Encrypts and sends.  False: out of memory. */
bool krc_secure_send(struct krc_secure *secure, const uint8_t *bytes, size_t len);

#endif
