/*
 * The server's side of TLS, with OpenSSL's own API and without sockets: what krc speaks to.
 */
#ifndef KRC_TESTS_TLSPEER_H
#define KRC_TESTS_TLSPEER_H

#include "base/buffer.h"

struct tlspeer_settings {
    const char *certificate, *key; /* PEM files; the certificate's may hold a chain */
    const char *client_authority;  /* whose certificates clients must have; NULL: they need none */
    int version;                   /* 0x0303: TLS 1.2, 0x0304: TLS 1.3; 0: both */
    const char *suites;            /* until TLS 1.2; NULL: the usual */
};

struct tlspeer;
struct tlspeer *tlspeer_new(const struct tlspeer_settings *settings);
void tlspeer_free(struct tlspeer *peer);

/* Another client comes, with the sessions and tickets of those before. */
void tlspeer_accept(struct tlspeer *peer);

/* Goes on with what a client sent; to be sent back is what was appended to `out`. */
void tlspeer_run(struct tlspeer *peer, const void *bytes, size_t len, struct krc_buffer *out);

/* Encrypts. */
void tlspeer_write(struct tlspeer *peer, const void *bytes, size_t len, struct krc_buffer *out);
void tlspeer_close(struct tlspeer *peer, struct krc_buffer *out);

bool tlspeer_is_made(const struct tlspeer *peer);
bool tlspeer_is_resumed(const struct tlspeer *peer);
const char *tlspeer_version(const struct tlspeer *peer); /* "TLSv1.3" */
const char *tlspeer_suite(const struct tlspeer *peer);
const char *tlspeer_host(const struct tlspeer *peer); /* what the client calls it; NULL */
bool tlspeer_saw_certificate(const struct tlspeer *peer);
struct krc_buffer *tlspeer_got(struct tlspeer *peer); /* plain text */

#endif
