#include "tests/support/tlspeer.h"

#include <check.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>

struct tlspeer {
    SSL_CTX *context;
    SSL *ssl;
    BIO *in, *out;
    struct krc_buffer got;
};

struct tlspeer *tlspeer_new(const struct tlspeer_settings *s)
{
    struct tlspeer *peer = calloc(1, sizeof *peer);
    ck_assert_ptr_nonnull(peer);
    SSL_CTX *context = peer->context = SSL_CTX_new(TLS_server_method());
    ck_assert_int_eq(SSL_CTX_use_certificate_chain_file(context, s->certificate), 1);
    ck_assert_int_eq(SSL_CTX_use_PrivateKey_file(context, s->key, SSL_FILETYPE_PEM), 1);
    ck_assert_int_eq(SSL_CTX_set_min_proto_version(context, s->version), 1);
    ck_assert_int_eq(SSL_CTX_set_max_proto_version(context, s->version), 1);
    SSL_CTX_set_security_level(context, 0); /* old versions too */
    if (s->suites != NULL)
        ck_assert_int_eq(SSL_CTX_set_cipher_list(context, s->suites), 1);
    ck_assert_int_eq(SSL_CTX_set_session_id_context(context, (const uint8_t *)"t", 1), 1);
    if (s->client_authority != NULL) {
        ck_assert_int_eq(SSL_CTX_load_verify_locations(context, s->client_authority, NULL), 1);
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    }
    tlspeer_accept(peer);
    return peer;
}

static void hang_up(struct tlspeer *peer)
{
    if (peer->ssl != NULL)
        SSL_set_shutdown(peer->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(peer->ssl);
}

void tlspeer_free(struct tlspeer *peer)
{
    hang_up(peer);
    SSL_CTX_free(peer->context);
    krc_buffer_free(&peer->got);
    free(peer);
}

void tlspeer_accept(struct tlspeer *peer)
{
    hang_up(peer);
    peer->ssl = SSL_new(peer->context);
    peer->in = BIO_new(BIO_s_mem());
    peer->out = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(peer->in, -1);
    SSL_set_bio(peer->ssl, peer->in, peer->out);
    SSL_set_accept_state(peer->ssl);
    peer->got.len = 0;
}

static void send_all(struct tlspeer *peer, struct krc_buffer *out)
{
    uint8_t piece[4096];
    for (int n; (n = BIO_read(peer->out, piece, sizeof piece)) > 0;)
        ck_assert_int_eq(krc_buffer_append(out, piece, (size_t)n, NULL), KRC_OK);
}

void tlspeer_run(struct tlspeer *peer, const void *bytes, size_t len, struct krc_buffer *out)
{
    uint8_t piece[4096];
    size_t n;
    if (len > 0)
        ck_assert_int_eq(BIO_write(peer->in, bytes, (int)len), (int)len);
    while (SSL_read_ex(peer->ssl, piece, sizeof piece, &n) == 1) /* shakes hands first */
        ck_assert_int_eq(krc_buffer_append(&peer->got, piece, n, NULL), KRC_OK);
    ERR_clear_error();
    send_all(peer, out);
}

void tlspeer_write(struct tlspeer *peer, const void *bytes, size_t len, struct krc_buffer *out)
{
    size_t n;
    ck_assert_int_eq(SSL_write_ex(peer->ssl, bytes, len, &n), 1);
    send_all(peer, out);
}

void tlspeer_close(struct tlspeer *peer, struct krc_buffer *out)
{
    SSL_shutdown(peer->ssl);
    send_all(peer, out);
}

bool tlspeer_is_made(const struct tlspeer *peer)
{
    return SSL_is_init_finished(peer->ssl);
}

bool tlspeer_is_resumed(const struct tlspeer *peer)
{
    return SSL_session_reused(peer->ssl);
}

const char *tlspeer_version(const struct tlspeer *peer)
{
    return SSL_get_version(peer->ssl);
}

const char *tlspeer_suite(const struct tlspeer *peer)
{
    return SSL_get_cipher_name(peer->ssl);
}

const char *tlspeer_host(const struct tlspeer *peer)
{
    return SSL_get_servername(peer->ssl, TLSEXT_NAMETYPE_host_name);
}

bool tlspeer_saw_certificate(const struct tlspeer *peer)
{
    return SSL_get0_peer_certificate(peer->ssl) != NULL;
}

struct krc_buffer *tlspeer_got(struct tlspeer *peer)
{
    return &peer->got;
}
