/*
 * All that krc has of OpenSSL: digests, and TLS from memory to memory.  Nothing of it runs before
 * one of these functions is called.
 */
#include "security/openssl.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

#include "security/digest.h"
#include "security/trouble.h"

/* Why OpenSSL's last call failed, in its words. */
static const char *reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_last_error());
    return text != NULL ? text : "OpenSSL does not say why";
}

static bool failed_for(int why)
{
    return ERR_GET_REASON(ERR_peek_last_error()) == why;
}

static int fail_nomem(krc_error *error)
{
    return krc_fail(error, KRC_E_NOMEM, "out of memory: OpenSSL gets none");
}

/* ---- Digests -------------------------------------------------------------------------------- */

static const EVP_MD *method(enum krc_digest digest)
{
    return digest == KRC_SHA512 ? EVP_sha512() : EVP_sha256();
}

static int computed(bool is_computed, krc_error *error)
{
    if (is_computed)
        return KRC_OK;
    if (failed_for(ERR_R_MALLOC_FAILURE))
        return fail_nomem(error);
    return krc_fail(error, KRC_E_UNSUPPORTED, "OpenSSL does not compute it: %s", reason());
}

size_t krc_digest_size(enum krc_digest digest)
{
    return digest == KRC_SHA512 ? 64 : 32;
}

int krc_digest(enum krc_digest digest, struct krc_bytes data, uint8_t *out, krc_error *error)
{
    return computed(EVP_Digest(data.data, data.len, out, NULL, method(digest), NULL) == 1, error);
}

/* Keys, passwords and salts are a property's or a frame's: their lengths fit. */
int krc_hmac(enum krc_digest digest, struct krc_bytes key, struct krc_bytes data, uint8_t *out,
             krc_error *error)
{
    const EVP_MD *md = method(digest);
    return computed(HMAC(md, key.data, (int)key.len, data.data, data.len, out, NULL) != NULL,
                    error);
}

int krc_pbkdf2(enum krc_digest digest, struct krc_bytes password, struct krc_bytes salt,
               int iterations, uint8_t *out, krc_error *error)
{
    return computed(PKCS5_PBKDF2_HMAC((const char *)password.data, (int)password.len, salt.data,
                                      (int)salt.len, iterations, method(digest),
                                      (int)krc_digest_size(digest), out) == 1,
                    error);
}

int krc_random_bytes(uint8_t *out, size_t len, krc_error *error)
{
    return computed(RAND_bytes(out, (int)len) == 1, error);
}

bool krc_same_bytes(const uint8_t *a, const uint8_t *b, size_t len)
{
    return CRYPTO_memcmp(a, b, len) == 0;
}

/* ---- Certificates and keys ------------------------------------------------------------------ */

struct contents {
    STACK_OF(X509) *certificates; /* with a key, its own comes first */
    EVP_PKEY *key;
};

/* Without this, OpenSSL would ask at the terminal. */
static int give_password(char *to, int size, int is_for_writing, void *arg)
{
    struct krc_password *password = arg;
    size_t len = strlen(password->text);
    (void)is_for_writing;
    password->was_asked = true;
    if (len == 0 || len > (size_t)size)
        return -1;
    memcpy(to, password->text, len);
    return (int)len;
}

static int refuse_password(const struct krc_keyfile *file, const struct krc_password *password,
                           krc_error *error)
{
    return krc_fail(error, KRC_E_INVALID,
                    password->text[0] != '\0' ? "%s: %s is wrong" : "%s is encrypted: set %s",
                    file->name, password->property);
}

static int push(struct contents *to, X509 *certificate, int place, krc_error *error)
{
    if (sk_X509_insert(to->certificates, certificate, place) != 0)
        return KRC_OK;
    X509_free(certificate);
    return fail_nomem(error);
}

/* All that there are, past whatever is between them. */
static int take_certificates(struct contents *to, BIO *pem, const char *name, krc_error *error)
{
    struct krc_password none = {.text = ""};
    X509 *certificate;
    while ((certificate = PEM_read_bio_X509(pem, NULL, give_password, &none)) != NULL)
        KRC_TRY(push(to, certificate, -1, error));
    if (failed_for(PEM_R_NO_START_LINE))
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID, "%s: a certificate in it cannot be read (%s)", name,
                    reason());
}

static int take_key(struct contents *to, BIO *pem, const struct krc_keyfile *file,
                    struct krc_password *password, krc_error *error)
{
    to->key = PEM_read_bio_PrivateKey(pem, NULL, give_password, password);
    if (to->key == NULL && password->was_asked)
        return refuse_password(file, password, error);
    ERR_clear_error();
    (void)BIO_reset(pem); /* certificates may stand before it */
    return KRC_OK;
}

static int take_pem(struct contents *to, const struct krc_keyfile *file,
                    struct krc_password *key_password, krc_error *error)
{
    BIO *pem = BIO_new_mem_buf(file->bytes.data, (int)file->bytes.len);
    if (pem == NULL)
        return fail_nomem(error);
    int rc = key_password != NULL ? take_key(to, pem, file, key_password, error) : KRC_OK;
    if (rc == KRC_OK)
        rc = take_certificates(to, pem, file->name, error);
    BIO_free(pem);
    return rc;
}

static int refuse_pkcs12(const struct krc_keyfile *file, const struct krc_password *password,
                         krc_error *error)
{
    if (failed_for(PKCS12_R_MAC_VERIFY_FAILURE))
        return refuse_password(file, password, error);
    if (ERR_GET_REASON(ERR_peek_error()) == ERR_R_UNSUPPORTED)
        return krc_fail(error, KRC_E_UNSUPPORTED,
                        "%s is encrypted in a way too old for OpenSSL: make it anew, with keytool "
                        "of Java 17 or openssl pkcs12",
                        file->name);
    return krc_fail(error, KRC_E_INVALID, "%s cannot be read as PKCS12 (%s)", file->name, reason());
}

static int take_pkcs12(struct contents *to, const struct krc_keyfile *file,
                       const struct krc_password *password, krc_error *error)
{
    const uint8_t *at = file->bytes.data;
    X509 *own = NULL;
    PKCS12 *store = d2i_PKCS12(NULL, &at, (long)file->bytes.len);
    if (store == NULL)
        return krc_fail(error, KRC_E_INVALID, "%s is no PKCS12 store", file->name);
    int is_read = PKCS12_parse(store, password->text, &to->key, &own, &to->certificates);
    PKCS12_free(store);
    if (is_read != 1)
        return refuse_pkcs12(file, password, error);
    return own != NULL ? push(to, own, 0, error) : KRC_OK;
}

/* `key_password` NULL: no key is wanted. */
static int take_all(struct contents *to, const struct krc_keyfile *file,
                    struct krc_password *password, struct krc_password *key_password,
                    krc_error *error)
{
    ERR_clear_error();
    to->certificates = sk_X509_new_null();
    if (to->certificates == NULL)
        return fail_nomem(error);
    KRC_TRY(file->is_pkcs12 ? take_pkcs12(to, file, password, error)
                            : take_pem(to, file, key_password, error));
    if (key_password != NULL && to->key == NULL)
        return krc_fail(error, KRC_E_INVALID, "%s holds no private key that can be read",
                        file->name);
    if (sk_X509_num(to->certificates) <= 0)
        return krc_fail(error, KRC_E_INVALID, "%s holds no certificate", file->name);
    return KRC_OK;
}

static void forget(struct contents *contents)
{
    sk_X509_pop_free(contents->certificates, X509_free);
    EVP_PKEY_free(contents->key);
}

/* ---- Who is trusted, and who we are --------------------------------------------------------- */

int krc_openssl_trust_system(struct krc_tls_context *context, krc_error *error)
{
    return SSL_CTX_set_default_verify_paths(context->ssl) == 1 ? KRC_OK : fail_nomem(error);
}

/* As in Java, what is named is trusted where it is no root, too. */
int krc_openssl_trust(struct krc_tls_context *context, const struct krc_keyfile *file,
                      struct krc_password *password, krc_error *error)
{
    struct contents contents = {0};
    X509_STORE *store = SSL_CTX_get_cert_store(context->ssl);
    int rc = take_all(&contents, file, password, NULL, error);
    for (int i = 0; rc == KRC_OK && i < sk_X509_num(contents.certificates); i++)
        if (X509_STORE_add_cert(store, sk_X509_value(contents.certificates, i)) != 1)
            rc = fail_nomem(error);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context->ssl), X509_V_FLAG_PARTIAL_CHAIN);
    forget(&contents);
    return rc;
}

static int show(SSL_CTX *ssl, const struct contents *ours, const char *name, krc_error *error)
{
    X509 *own = sk_X509_shift(ours->certificates);
    int is_good = SSL_CTX_use_cert_and_key(ssl, own, ours->key, ours->certificates, 1);
    X509_free(own);
    if (is_good == 1)
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID,
                    failed_for(SSL_R_PRIVATE_KEY_MISMATCH)
                        ? "%s: the private key is not that of the first certificate (%s)"
                        : "%s: the certificate cannot be used (%s)",
                    name, reason());
}

int krc_openssl_identify(struct krc_tls_context *context, const struct krc_keyfile *file,
                         struct krc_password *password, struct krc_password *key_password,
                         krc_error *error)
{
    struct contents ours = {0};
    int rc = take_all(&ours, file, password, key_password, error);
    if (rc == KRC_OK)
        rc = show(context->ssl, &ours, file->name, error);
    forget(&ours);
    return rc;
}

/* ---- The broker's certificate --------------------------------------------------------------- */

static const struct {
    enum krc_certificate_fault fault;
    int results[7]; /* 0 behind the last */
} faults[] = {
    {KRC_CERTIFICATE_UNTRUSTED,
     {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED}},
    {KRC_CERTIFICATE_EXPIRED, {X509_V_ERR_CERT_HAS_EXPIRED}},
    {KRC_CERTIFICATE_NOT_YET_VALID, {X509_V_ERR_CERT_NOT_YET_VALID}},
    {KRC_CERTIFICATE_OTHER_HOST, {X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH}},
    {KRC_CERTIFICATE_OTHER_USE, {X509_V_ERR_INVALID_PURPOSE}},
    {KRC_CERTIFICATE_WEAK,
     {X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK}},
};

static enum krc_certificate_fault fault_of(int result)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        for (const int *known = faults[i].results; *known != 0; known++)
            if (*known == result)
                return faults[i].fault;
    return KRC_CERTIFICATE_BAD;
}

/* "DNS:localhost, IP Address:127.0.0.1", or the subject of a certificate without such names. */
static void print_names(BIO *to, X509 *certificate)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        BIO_puts(to, i > 0 ? ", " : "");
        GENERAL_NAME_print(to, sk_GENERAL_NAME_value(names, i));
    }
    if (names == NULL)
        X509_NAME_print_ex(to, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
    GENERAL_NAMES_free(names);
}

static void print_detail(BIO *to, enum krc_certificate_fault fault, const struct krc_tls *tls,
                         X509_STORE_CTX *store)
{
    X509 *certificate = X509_STORE_CTX_get_current_cert(store);
    const char *result = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
    switch (fault) {
    case KRC_CERTIFICATE_EXPIRED:
        ASN1_TIME_print(to, X509_get0_notAfter(certificate));
        break;
    case KRC_CERTIFICATE_NOT_YET_VALID:
        ASN1_TIME_print(to, X509_get0_notBefore(certificate));
        break;
    case KRC_CERTIFICATE_OTHER_HOST:
        BIO_printf(to, "%s is not ", tls->host);
        print_names(to, certificate);
        break;
    case KRC_CERTIFICATE_UNTRUSTED:
        BIO_printf(to, "%s; signed by ", result);
        X509_NAME_print_ex(to, X509_get_issuer_name(certificate), 0, XN_FLAG_RFC2253);
        break;
    default:
        BIO_puts(to, result);
    }
}

static int judge(int is_good, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct krc_tls *tls = SSL_get_app_data(ssl);
    enum krc_certificate_fault fault = fault_of(X509_STORE_CTX_get_error(store));
    char detail[256] = "";
    if (is_good)
        return 1;
    BIO *text = BIO_new(BIO_s_mem());
    if (text != NULL) {
        print_detail(text, fault, tls, store);
        BIO_gets(text, detail, sizeof detail);
    }
    BIO_free(text);
    krc_fail_certificate(tls->error, fault, X509_STORE_CTX_get_error_depth(store) > 0, detail);
    tls->is_refused = true;
    return 0;
}

/* ---- A context ------------------------------------------------------------------------------ */

static int keep_session(SSL *ssl, SSL_SESSION *ticket)
{
    return krc_tls_keep_session(SSL_get_app_data(ssl), ticket);
}

/* The broker asks for a certificate, and there is none of its kind. */
static int lack_certificate(SSL *ssl, X509 **certificate, EVP_PKEY **key)
{
    struct krc_tls *tls = SSL_get_app_data(ssl);
    (void)certificate;
    (void)key;
    tls->lacks_ours = !tls->context->has_certificate;
    return 0;
}

static int take_in(BIO *bio, char *to, int len)
{
    struct krc_tls *tls = BIO_get_data(bio);
    size_t n = tls->in.len < (size_t)len ? tls->in.len : (size_t)len;
    BIO_clear_retry_flags(bio);
    if (n == 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    memcpy(to, tls->in.data, n);
    tls->in.data += n;
    tls->in.len -= n;
    return (int)n;
}

/* Fails for want of memory alone. */
static int put_out(BIO *bio, const char *bytes, int len)
{
    struct krc_tls *tls = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    return krc_buffer_append(&tls->out, bytes, (size_t)len, NULL) == KRC_OK ? len : -1;
}

static long control(BIO *bio, int command, long number, void *arg)
{
    (void)bio;
    (void)number;
    (void)arg;
    return command == BIO_CTRL_FLUSH;
}

int krc_openssl_start(struct krc_tls_context *context, krc_error *error)
{
    ERR_clear_error();
    SSL_CTX *ssl = context->ssl = SSL_CTX_new(TLS_client_method());
    BIO_METHOD *memory = context->memory = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "krc");
    if (ssl == NULL || memory == NULL)
        return krc_fail(error, KRC_E_UNSUPPORTED, "OpenSSL does not start: %s", reason());
    BIO_meth_set_read(memory, take_in);
    BIO_meth_set_write(memory, put_out);
    BIO_meth_set_ctrl(memory, control);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, judge);
    SSL_CTX_set_client_cert_cb(ssl, lack_certificate);
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ssl, keep_session);
    return KRC_OK;
}

void krc_openssl_end(struct krc_tls_context *context)
{
    SSL_CTX_free(context->ssl);
    BIO_meth_free(context->memory);
}

/* Tried alone: in a list, OpenSSL passes over what it does not know. */
const char *krc_openssl_suite(struct krc_tls_context *context, const char *name, bool *is_newer)
{
    const char *own = OPENSSL_cipher_name(name); /* it knows the names that Java has */
    if (strcmp(own, "(NONE)") == 0)
        own = name;
    *is_newer = SSL_CTX_set_ciphersuites(context->ssl, own) == 1;
    return *is_newer || SSL_CTX_set_cipher_list(context->ssl, own) == 1 ? own : NULL;
}

int krc_openssl_limit(struct krc_tls_context *context, struct krc_tls_versions versions,
                      const char *older_suites, const char *newer_suites, krc_error *error)
{
    SSL_CTX *ssl = context->ssl;
    if ((older_suites[0] == '\0' || SSL_CTX_set_cipher_list(ssl, older_suites) == 1) &&
        (newer_suites[0] == '\0' || SSL_CTX_set_ciphersuites(ssl, newer_suites) == 1) &&
        SSL_CTX_set_min_proto_version(ssl, versions.lowest) == 1 &&
        SSL_CTX_set_max_proto_version(ssl, versions.highest) == 1)
        return KRC_OK;
    return krc_fail(error, KRC_E_UNSUPPORTED,
                    "OpenSSL lacks what ssl.enabled.protocols or ssl.cipher.suites names: %s",
                    reason());
}

/* ---- A connection --------------------------------------------------------------------------- */

/* Which name or address the certificate has to have; the server is told only a name. */
static bool name_host(struct krc_tls *tls)
{
    uint8_t address[16];
    bool is_address = inet_pton(AF_INET, tls->host, address) == 1 ||
                      inet_pton(AF_INET6, tls->host, address) == 1;
    if (!is_address && SSL_set_tlsext_host_name(tls->ssl, tls->host) != 1)
        return false;
    if (!tls->context->checks_host)
        return true;
    return is_address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls->ssl), tls->host) == 1
                      : SSL_set1_host(tls->ssl, tls->host) == 1;
}

int krc_openssl_connect(struct krc_tls *tls, struct ssl_session_st *resumed, krc_error *error)
{
    BIO *memory = BIO_new(tls->context->memory);
    tls->ssl = SSL_new(tls->context->ssl);
    if (tls->ssl == NULL || memory == NULL) {
        BIO_free(memory);
        return fail_nomem(error);
    }
    BIO_set_data(memory, tls);
    SSL_set_bio(tls->ssl, memory, memory);
    SSL_set_app_data(tls->ssl, tls);
    SSL_set_connect_state(tls->ssl);
    if (!name_host(tls))
        return krc_fail(error, KRC_E_INVALID, "\"%.100s\" cannot be the name of a host", tls->host);
    if (resumed != NULL && SSL_set_session(tls->ssl, resumed) != 1)
        return fail_nomem(error);
    return KRC_OK;
}

/* Without the mark of a good end, its session would not be resumed. */
void krc_openssl_disconnect(struct krc_tls *tls)
{
    if (tls->ssl != NULL)
        SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
}

void krc_openssl_drop_session(struct ssl_session_st *ticket)
{
    SSL_SESSION_free(ticket);
}

/* ---- What is said over it ------------------------------------------------------------------- */

#define NO_VERSION "it speaks none of the versions in ssl.enabled.protocols"
#define NO_TLS                                                                                    \
    "it does not speak TLS, which security.protocol demands: this may be the port of a listener " \
    "without TLS"

static const struct {
    int why, code;
    const char *sentence;
} failures[] = {
    {SSL_R_UNSUPPORTED_PROTOCOL, KRC_E_REFUSED, NO_VERSION},
    {SSL_R_WRONG_SSL_VERSION, KRC_E_REFUSED, NO_VERSION},
    {SSL_R_DH_KEY_TOO_SMALL, KRC_E_REFUSED, "its Diffie-Hellman key is too short to be safe"},
    {SSL_R_WRONG_VERSION_NUMBER, KRC_E_CORRUPT, NO_TLS},
    {SSL_R_PACKET_LENGTH_TOO_LONG, KRC_E_CORRUPT, NO_TLS},
    {SSL_R_HTTP_REQUEST, KRC_E_CORRUPT, NO_TLS},
    {SSL_R_HTTPS_PROXY_REQUEST, KRC_E_CORRUPT, NO_TLS},
};

static int explain(const struct krc_tls *tls, krc_error *error)
{
    int why = ERR_GET_REASON(ERR_peek_last_error());
    int alert = why - SSL_AD_REASON_OFFSET;
    if (tls->is_refused)
        return KRC_E_REFUSED; /* judge has said why */
    if (why == ERR_R_MALLOC_FAILURE)
        return fail_nomem(error);
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (failures[i].why == why)
            return krc_fail(error, failures[i].code, "%s", failures[i].sentence);
    if (alert >= 0 && alert <= UINT8_MAX)
        return krc_fail_alert(error, alert, SSL_alert_desc_string_long(alert), tls->lacks_ours);
    return krc_fail(error, KRC_E_CORRUPT, "it does not keep to the rules of TLS (%s)", reason());
}

static void prepare(struct krc_tls *tls, krc_error *error)
{
    ERR_clear_error();
    tls->error = error;
}

static int stopped(const struct krc_tls *tls, krc_error *error)
{
    switch (SSL_get_error(tls->ssl, 0)) {
    case SSL_ERROR_WANT_READ:
        return 0;
    case SSL_ERROR_ZERO_RETURN:
        return krc_fail(error, KRC_E_IO, "it closed the connection");
    case SSL_ERROR_SYSCALL: /* of put_out */
        return fail_nomem(error);
    default:
        return explain(tls, error);
    }
}

int krc_tls_handshake(struct krc_tls *tls, krc_error *error)
{
    prepare(tls, error);
    return SSL_do_handshake(tls->ssl) == 1 ? 1 : stopped(tls, error);
}

int krc_tls_read(struct krc_tls *tls, uint8_t *to, size_t len, krc_error *error)
{
    size_t n;
    prepare(tls, error);
    return SSL_read_ex(tls->ssl, to, len, &n) == 1 ? (int)n : stopped(tls, error);
}

int krc_tls_write(struct krc_tls *tls, const uint8_t *bytes, size_t len, krc_error *error)
{
    size_t n;
    if (!SSL_is_init_finished(tls->ssl))
        return krc_fail(error, KRC_E_STATE, "its TLS handshake is not over");
    prepare(tls, error);
    return len == 0 || SSL_write_ex(tls->ssl, bytes, len, &n) == 1 ? KRC_OK : stopped(tls, error);
}
