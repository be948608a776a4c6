/*
 * Between tls.c, which knows the properties and keeps what there is, and openssl.c, which has
 * OpenSSL do it.  OpenSSL's types are named here without its headers.
 */
#ifndef KRC_SECURITY_OPENSSL_H
#define KRC_SECURITY_OPENSSL_H

#include "security/keyfile.h"
#include "security/names.h"
#include "security/tls.h"

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;
struct bio_method_st;

struct krc_tls_context {
    struct ssl_ctx_st *ssl;
    struct bio_method_st *memory; /* how a connection's bytes come and go */
    bool checks_host, has_certificate;
    struct krc_tls_session *sessions;
};

/* What a broker gave last, so that the next handshake with it is short. */
struct krc_tls_session {
    struct krc_tls_session *next;
    struct ssl_session_st *ticket;
    int32_t port;
    char host[];
};

struct krc_tls {
    struct krc_tls_context *context;
    struct ssl_st *ssl;
    struct krc_bytes in; /* borrowed: what came and was not taken yet */
    struct krc_buffer out;
    bool is_refused;  /* the broker's certificate is not good, and `error` says why */
    bool lacks_ours;  /* the broker asked for a certificate that we do not have */
    krc_error *error; /* of the call that is under way */
    int32_t port;
    char host[];
};

struct krc_password {
    const char *property, *text;
    bool was_asked;
};

int krc_openssl_start(struct krc_tls_context *context, krc_error *error) KRC_MUST_USE;
void krc_openssl_end(struct krc_tls_context *context);

/* OpenSSL's name of a suite, NULL: there is none.  `is_newer`: it is one of TLS 1.3. */
const char *krc_openssl_suite(struct krc_tls_context *context, const char *name, bool *is_newer);

/* Colons between the names; "": the usual ones. */
int krc_openssl_limit(struct krc_tls_context *context, struct krc_tls_versions versions,
                      const char *older_suites, const char *newer_suites,
                      krc_error *error) KRC_MUST_USE;

int krc_openssl_trust_system(struct krc_tls_context *context, krc_error *error) KRC_MUST_USE;
int krc_openssl_trust(struct krc_tls_context *context, const struct krc_keyfile *file,
                      struct krc_password *password, krc_error *error) KRC_MUST_USE;

/* `key_password` is that of a key in PEM. */
int krc_openssl_identify(struct krc_tls_context *context, const struct krc_keyfile *file,
                         struct krc_password *password, struct krc_password *key_password,
                         krc_error *error) KRC_MUST_USE;

/* `resumed` may be NULL. */
int krc_openssl_connect(struct krc_tls *tls, struct ssl_session_st *resumed,
                        krc_error *error) KRC_MUST_USE;
void krc_openssl_disconnect(struct krc_tls *tls);
void krc_openssl_drop_session(struct ssl_session_st *ticket);

/* The broker gave a ticket; false: it is not kept, for want of memory. */
bool krc_tls_keep_session(struct krc_tls *tls, struct ssl_session_st *ticket);

#endif
