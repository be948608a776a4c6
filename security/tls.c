#include <stdlib.h>
#include <string.h>

#include "security/openssl.h"

/* ---- What the properties say ---------------------------------------------------------------- */

struct suites {
    struct krc_buffer older, newer; /* until TLS 1.2, and of TLS 1.3: strings */
};

static int add_suites(struct krc_tls_context *context, struct suites *suites, const char *names,
                      krc_error *error)
{
    char name[80];
    while (krc_next_name(&names, name, sizeof name)) {
        bool is_newer;
        const char *own = krc_openssl_suite(context, name, &is_newer);
        if (own == NULL)
            return krc_fail(error, KRC_E_INVALID, "ssl.cipher.suites: there is no \"%s\"", name);
        struct krc_buffer *list = is_newer ? &suites->newer : &suites->older;
        KRC_TRY(krc_buffer_append(list, ":", list->len > 0, error));
        KRC_TRY(krc_buffer_append(list, own, strlen(own), error));
    }
    KRC_TRY(krc_buffer_append(&suites->older, "", 1, error));
    return krc_buffer_append(&suites->newer, "", 1, error);
}

/* A version is left out when suites are named, and none of them is of it. */
static int limit(struct krc_tls_context *context, const struct suites *suites,
                 struct krc_tls_versions versions, krc_error *error)
{
    const char *older = (const char *)suites->older.data, *newer = (const char *)suites->newer.data;
    if (older[0] == '\0' && newer[0] != '\0')
        versions.lowest = KRC_TLS_1_3;
    if (older[0] != '\0' && newer[0] == '\0')
        versions.highest = KRC_TLS_1_2;
    if (versions.lowest > versions.highest)
        return krc_fail(error, KRC_E_INVALID, "ssl.cipher.suites: none of them is of a version "
                                              "that ssl.enabled.protocols names");
    return krc_openssl_limit(context, versions, older, newer, error);
}

static int limit_all(struct krc_tls_context *context, const struct krc_tls_settings *s,
                     krc_error *error)
{
    struct krc_tls_versions versions;
    struct suites suites = {0};
    KRC_TRY(krc_tls_versions(&versions, s->enabled_protocols, error));
    int rc = add_suites(context, &suites, s->cipher_suites, error);
    if (rc == KRC_OK)
        rc = limit(context, &suites, versions, error);
    krc_buffer_free(&suites.older);
    krc_buffer_free(&suites.newer);
    return rc;
}

static int trust(struct krc_tls_context *context, const struct krc_tls_settings *s,
                 krc_error *error)
{
    struct krc_password password = {.property = "ssl.truststore.password",
                                    .text = s->truststore_password};
    struct krc_keyfile file = {0};
    bool is_file = s->truststore_location[0] != '\0';
    if (!is_file && s->truststore_certificates[0] == '\0')
        return krc_openssl_trust_system(context, error);
    int rc = is_file ? krc_keyfile_read(&file, "ssl.truststore.location", s->truststore_location,
                                        s->truststore_type, error)
                     : krc_keyfile_text(&file, "ssl.truststore.certificates",
                                        s->truststore_certificates, "", error);
    if (rc == KRC_OK)
        rc = krc_openssl_trust(context, &file, &password, error);
    krc_keyfile_forget(&file);
    return rc;
}

static int identify(struct krc_tls_context *context, const struct krc_tls_settings *s,
                    krc_error *error)
{
    struct krc_password password = {.property = "ssl.keystore.password",
                                    .text = s->keystore_password};
    struct krc_password key_password = {.property = "ssl.key.password", .text = s->key_password};
    struct krc_keyfile file = {0};
    bool is_file = s->keystore_location[0] != '\0';
    context->has_certificate = is_file || s->keystore_key[0] != '\0' ||
                               s->keystore_certificate_chain[0] != '\0';
    if (!context->has_certificate)
        return KRC_OK;
    int rc = is_file ? krc_keyfile_read(&file, "ssl.keystore.location", s->keystore_location,
                                        s->keystore_type, error)
                     : krc_keyfile_text(&file, "ssl.keystore.key, ssl.keystore.certificate.chain",
                                        s->keystore_key, s->keystore_certificate_chain, error);
    if (rc == KRC_OK)
        rc = krc_openssl_identify(context, &file, &password, &key_password, error);
    krc_keyfile_forget(&file);
    return rc;
}

static int set_up(struct krc_tls_context *context, const struct krc_tls_settings *s,
                  krc_error *error)
{
    context->checks_host = s->checks_host;
    KRC_TRY(krc_openssl_start(context, error));
    KRC_TRY(limit_all(context, s, error));
    KRC_TRY(trust(context, s, error));
    return identify(context, s, error);
}

int krc_tls_context_new(struct krc_tls_context **out, const struct krc_tls_settings *settings,
                        krc_error *error)
{
    struct krc_tls_context *context = calloc(1, sizeof *context);
    if (context == NULL)
        return krc_fail_nomem(error, sizeof *context);
    int rc = set_up(context, settings, error);
    if (rc < 0)
        krc_tls_context_free(context);
    else
        *out = context;
    return rc;
}

void krc_tls_context_free(struct krc_tls_context *context)
{
    if (context == NULL)
        return;
    for (struct krc_tls_session *session; (session = context->sessions) != NULL;) {
        context->sessions = session->next;
        krc_openssl_drop_session(session->ticket);
        free(session);
    }
    krc_openssl_end(context);
    free(context);
}

/* ---- Sessions ------------------------------------------------------------------------------- */

static struct krc_tls_session *find_session(const struct krc_tls *tls)
{
    struct krc_tls_session *session = tls->context->sessions;
    while (session != NULL &&
           (session->port != tls->port || strcmp(session->host, tls->host) != 0))
        session = session->next;
    return session;
}

static struct krc_tls_session *add_session(const struct krc_tls *tls)
{
    size_t len = strlen(tls->host);
    struct krc_tls_session *session = calloc(1, sizeof *session + len + 1);
    if (session == NULL)
        return NULL;
    memcpy(session->host, tls->host, len);
    session->port = tls->port;
    session->next = tls->context->sessions;
    tls->context->sessions = session;
    return session;
}

bool krc_tls_keep_session(struct krc_tls *tls, struct ssl_session_st *ticket)
{
    struct krc_tls_session *session = find_session(tls);
    if (session == NULL)
        session = add_session(tls);
    if (session == NULL)
        return false;
    krc_openssl_drop_session(session->ticket);
    session->ticket = ticket;
    return true;
}

/* ---- Connections ---------------------------------------------------------------------------- */

int krc_tls_new(struct krc_tls **out, struct krc_tls_context *context, const char *host,
                int32_t port, krc_error *error)
{
    size_t len = strlen(host), size = sizeof(struct krc_tls) + len + 1;
    struct krc_tls *tls = calloc(1, size);
    if (tls == NULL)
        return krc_fail_nomem(error, size);
    memcpy(tls->host, host, len);
    tls->port = port;
    tls->context = context;
    const struct krc_tls_session *session = find_session(tls);
    int rc = krc_openssl_connect(tls, session != NULL ? session->ticket : NULL, error);
    if (rc < 0)
        krc_tls_free(tls);
    else
        *out = tls;
    return rc;
}

void krc_tls_free(struct krc_tls *tls)
{
    if (tls == NULL)
        return;
    krc_openssl_disconnect(tls);
    krc_buffer_free(&tls->out);
    free(tls);
}

void krc_tls_received(struct krc_tls *tls, const uint8_t *bytes, size_t len)
{
    tls->in = (struct krc_bytes){bytes, len};
}

struct krc_buffer *krc_tls_out(struct krc_tls *tls)
{
    return &tls->out;
}
