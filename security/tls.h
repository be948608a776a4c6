/*
 * TLS without a socket: bytes go in as they come, bytes to be sent and plain text come out.  A
 * connection is a client's; what is trusted, and who we are, is a context's, which is made once.
 */
#ifndef KRC_SECURITY_TLS_H
#define KRC_SECURITY_TLS_H

#include "base/buffer.h"

/* The properties ssl.*, each "" where it is not set.  Stores are "PEM" or "PKCS12". */
struct krc_tls_settings {
    const char *truststore_location; /* a file, or a folder of PEM files; "": the system's */
    const char *truststore_type, *truststore_password;
    const char *truststore_certificates; /* PEM text instead of a file */
    const char *keystore_location, *keystore_type, *keystore_password;
    const char *keystore_key, *keystore_certificate_chain; /* PEM text instead of a file */
    const char *key_password;
    const char *enabled_protocols; /* of "TLSv1.2,TLSv1.3" */
    const char *cipher_suites;
    bool checks_host; /* ssl.endpoint.identification.algorithm=https */
};

/* KRC_E_NOT_FOUND, KRC_E_IO: a file; KRC_E_INVALID, KRC_E_UNSUPPORTED: what is in it, or a
 * property.  The message names the property. */
struct krc_tls_context;
int krc_tls_context_new(struct krc_tls_context **context, const struct krc_tls_settings *settings,
                        krc_error *error) KRC_MUST_USE;
void krc_tls_context_free(struct krc_tls_context *context);

/* A connection to `host`, which is what the certificate has to name (and the server is told, where
 * it is a name).  A session with the same host and port is resumed. */
struct krc_tls;
int krc_tls_new(struct krc_tls **tls, struct krc_tls_context *context, const char *host,
                int32_t port, krc_error *error) KRC_MUST_USE;
void krc_tls_free(struct krc_tls *tls);

/* Bytes have come.  They are taken by the calls below and have to stay until those return 0. */
void krc_tls_received(struct krc_tls *tls, const uint8_t *bytes, size_t len);

/*
 * 1: it is made; 0: more bytes are needed.  KRC_E_REFUSED: trying again would not help, for the
 * certificate is not good, or the broker refuses ours, or has no version in common; KRC_E_CORRUPT:
 * what comes is no TLS; KRC_E_IO: it was closed.  Messages begin with "it" or "its", the broker.
 */
int krc_tls_handshake(struct krc_tls *tls, krc_error *error) KRC_MUST_USE;

/* How many bytes of plain text were written to `to`; 0: more bytes are needed.  Errors as above. */
int krc_tls_read(struct krc_tls *tls, uint8_t *to, size_t len, krc_error *error) KRC_MUST_USE;

/* Encrypts all of it. */
int krc_tls_write(struct krc_tls *tls, const uint8_t *bytes, size_t len,
                  krc_error *error) KRC_MUST_USE;

/* What is to be sent; the caller empties it after each call. */
struct krc_buffer *krc_tls_out(struct krc_tls *tls);

#endif
