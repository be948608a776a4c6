/*
 * TLS against OpenSSL's server side (tests/support/tlspeer.h), with certificates that
 * certificates.sh makes.
 */
#include <stdio.h>
#include <string.h>

#include "security/tls.h"
#include "tests/support/run.h"
#include "tests/support/tlspeer.h"

enum { TLS_1_1 = 0x0302, TLS_1_2 = 0x0303, TLS_1_3 = 0x0304, PORT = 9093 };

/* Made once for all tests, in a folder of its own. */
static char folder[200];

/* A file's path, which stays. */
static const char *made(const char *file)
{
    static char paths[32][256];
    char path[256];
    size_t i = 0;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    while (paths[i][0] != '\0' && strcmp(paths[i], path) != 0)
        i++;
    return strcpy(paths[i], path);
}

static char *text_of(const char *file)
{
    char *text = calloc(1, 1 << 16);
    FILE *in = fopen(made(file), "rb");
    ck_assert(in != NULL && fread(text, 1, (1 << 16) - 1, in) > 0);
    fclose(in);
    return text;
}

/* ---- Two ends ------------------------------------------------------------------------------- */

/* What a test begins with; it sets what it is about. */
static struct krc_tls_settings settings;
static struct tlspeer_settings peer_settings;
static const char *host;
static size_t piece; /* so many bytes come at once */

static struct krc_tls_context *context;
static struct krc_tls *tls;
static struct tlspeer *peer;
static krc_error error;

static void prepare(void)
{
    settings = (struct krc_tls_settings){
        .truststore_location = made("authority.pem"),
        .truststore_type = "",
        .truststore_password = "",
        .truststore_certificates = "",
        .keystore_location = "",
        .keystore_type = "",
        .keystore_password = "",
        .keystore_key = "",
        .keystore_certificate_chain = "",
        .key_password = "",
        .enabled_protocols = "TLSv1.2,TLSv1.3",
        .cipher_suites = "",
        .checks_host = true,
    };
    peer_settings = (struct tlspeer_settings){.certificate = made("server.pem"),
                                              .key = made("server.key")};
    host = "localhost";
    piece = SIZE_MAX;
    context = NULL;
    tls = NULL;
    peer = NULL;
    error = (krc_error){0};
}

static void finish(void)
{
    krc_tls_free(tls);
    krc_tls_context_free(context);
    if (peer != NULL)
        tlspeer_free(peer);
}

/* Sends what is to be sent, and gives what is answered. */
static struct krc_buffer answer(void)
{
    struct krc_buffer *out = krc_tls_out(tls), back = {0};
    tlspeer_run(peer, out->data, out->len, &back);
    out->len = 0;
    return back;
}

/* All bytes of a flight, in pieces, until a call makes more of them than "more is needed". */
static int shake_with(const struct krc_buffer *flight)
{
    int rc = 0;
    for (size_t at = 0, n; rc == 0 && at < flight->len; at += n) {
        n = piece < flight->len - at ? piece : flight->len - at;
        krc_tls_received(tls, flight->data + at, n);
        rc = krc_tls_handshake(tls, &error);
        ck_assert(rc <= 0 || at + n == flight->len);
    }
    return rc;
}

static int shake(void)
{
    int rc = krc_tls_handshake(tls, &error);
    while (rc == 0) {
        struct krc_buffer flight = answer();
        ck_assert_msg(flight.len > 0, "both ends wait");
        rc = shake_with(&flight);
        krc_buffer_free(&flight);
    }
    struct krc_buffer rest = answer(); /* of TLS 1.3: tickets */
    int read = rc;
    for (size_t at = 0, n; read > 0 && at < rest.len; at += n) {
        uint8_t byte;
        n = piece < rest.len - at ? piece : rest.len - at;
        krc_tls_received(tls, rest.data + at, n);
        read = krc_tls_read(tls, &byte, 1, &error);
        ck_assert_int_le(read, 0);
        read = read == 0 ? 1 : read;
    }
    krc_buffer_free(&rest);
    return read;
}

static void connect_to(const char *name, int32_t port)
{
    if (peer == NULL)
        peer = tlspeer_new(&peer_settings);
    else
        tlspeer_accept(peer);
    if (context == NULL)
        ck_assert_msg(krc_tls_context_new(&context, &settings, &error) == KRC_OK, "%s",
                      error.message);
    krc_tls_free(tls);
    tls = NULL;
    ck_assert_int_eq(krc_tls_new(&tls, context, name, port, &error), KRC_OK);
}

static void connects(void)
{
    connect_to(host, PORT);
    ck_assert_msg(shake() == 1, "%s", error.message);
    ck_assert(tlspeer_is_made(peer));
}

static void says(const char *sentence)
{
    ck_assert_msg(strstr(error.message, sentence) != NULL, "\"%s\" has no \"%s\"", error.message,
                  sentence);
    ck_assert_msg(strncmp(error.message, "it", 2) == 0, "\"%s\"", error.message);
}

static void is_refused(int code, const char *sentence)
{
    connect_to(host, PORT);
    ck_assert_int_eq(shake(), code);
    ck_assert_int_eq(error.code, code);
    says(sentence);
}

static void is_no_context(int code, const char *sentence)
{
    ck_assert_int_eq(krc_tls_context_new(&context, &settings, &error), code);
    ck_assert_msg(strstr(error.message, sentence) != NULL, "\"%s\" has no \"%s\"", error.message,
                  sentence);
    ck_assert_ptr_null(strstr(error.message, "secret"));
    ck_assert_ptr_null(context);
}

/* ---- What is said over it ------------------------------------------------------------------- */

static void fill(uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 251);
}

static void sends(const uint8_t *bytes, size_t len)
{
    ck_assert_int_eq(krc_tls_write(tls, bytes, len, &error), KRC_OK);
    struct krc_buffer back = answer();
    ck_assert_uint_eq(tlspeer_got(peer)->len, len);
    ck_assert_mem_eq(tlspeer_got(peer)->data, bytes, len);
    krc_buffer_free(&back);
}

static void receives(const uint8_t *bytes, size_t len)
{
    struct krc_buffer sent = {0}, got = {0};
    uint8_t part[1000];
    int rc;
    tlspeer_write(peer, bytes, len, &sent);
    for (size_t at = 0, n; at < sent.len; at += n) {
        n = piece < sent.len - at ? piece : sent.len - at;
        krc_tls_received(tls, sent.data + at, n);
        while ((rc = krc_tls_read(tls, part, sizeof part, &error)) > 0)
            ck_assert_int_eq(krc_buffer_append(&got, part, (size_t)rc, NULL), KRC_OK);
        ck_assert_int_eq(rc, 0);
    }
    ck_assert_uint_eq(got.len, len);
    ck_assert_mem_eq(got.data, bytes, len);
    krc_buffer_free(&sent);
    krc_buffer_free(&got);
}

static void talks(int version, size_t at_once, size_t len)
{
    uint8_t *bytes = malloc(len);
    peer_settings.version = version;
    piece = at_once;
    fill(bytes, len);
    connects();
    ck_assert_str_eq(tlspeer_version(peer), version == TLS_1_2 ? "TLSv1.2" : "TLSv1.3");
    ck_assert_str_eq(tlspeer_host(peer), "localhost");
    sends(bytes, len);
    receives(bytes, len);
    free(bytes);
}

START_TEST(talks_tls_1_2)
{
    talks(TLS_1_2, SIZE_MAX, 3 << 20);
}
END_TEST

START_TEST(talks_tls_1_3)
{
    talks(TLS_1_3, SIZE_MAX, 3 << 20);
}
END_TEST

START_TEST(bytes_come_one_by_one)
{
    talks(TLS_1_2, 1, 20000);
    finish();
    prepare();
    talks(TLS_1_3, 1, 20000);
}
END_TEST

START_TEST(the_newest_version_is_spoken)
{
    connects();
    ck_assert_str_eq(tlspeer_version(peer), "TLSv1.3");
}
END_TEST

START_TEST(nothing_is_written_before_the_handshake)
{
    connect_to(host, PORT);
    ck_assert_int_eq(krc_tls_write(tls, (const uint8_t *)"x", 1, &error), KRC_E_STATE);
    ck_assert_uint_eq(krc_tls_out(tls)->len, 0);
}
END_TEST

START_TEST(a_closed_connection)
{
    struct krc_buffer sent = {0};
    uint8_t byte;
    connects();
    tlspeer_close(peer, &sent);
    krc_tls_received(tls, sent.data, sent.len);
    ck_assert_int_eq(krc_tls_read(tls, &byte, 1, &error), KRC_E_IO);
    says("it closed the connection");
    krc_buffer_free(&sent);
}
END_TEST

START_TEST(a_damaged_record)
{
    struct krc_buffer sent = {0};
    uint8_t byte;
    connects();
    tlspeer_write(peer, "some bytes", 10, &sent);
    sent.data[sent.len - 1] ^= 1;
    krc_tls_received(tls, sent.data, sent.len);
    ck_assert_int_eq(krc_tls_read(tls, &byte, 1, &error), KRC_E_CORRUPT);
    says("it does not keep to the rules of TLS (");
    krc_buffer_free(&sent);
}
END_TEST

/* ---- Sessions ------------------------------------------------------------------------------- */

static void resumes(int version)
{
    peer_settings.version = version;
    for (int i = 0; i < 4; i++) {
        connects();
        ck_assert_int_eq(tlspeer_is_resumed(peer), i > 0);
        receives((const uint8_t *)"abc", 3);
    }
    connect_to("127.0.0.1", PORT);
    ck_assert_int_eq(shake(), 1);
    ck_assert(!tlspeer_is_resumed(peer)); /* another host's, and another port's, is another */
    connect_to(host, PORT + 1);
    ck_assert_int_eq(shake(), 1);
    ck_assert(!tlspeer_is_resumed(peer));
    connects();
    ck_assert(tlspeer_is_resumed(peer));
}

START_TEST(sessions_are_resumed_tls_1_2)
{
    resumes(TLS_1_2);
}
END_TEST

START_TEST(sessions_are_resumed_tls_1_3)
{
    resumes(TLS_1_3);
}
END_TEST

/* ---- Whom we trust -------------------------------------------------------------------------- */

START_TEST(trusted_as_a_folder_a_text_or_pkcs12)
{
    char *text = text_of("authority.pem");
    const struct {
        const char *location, *type, *password, *text;
    } stores[] = {
        {made("folder"), "PEM", "", ""},
        {made("trust.p12"), "PKCS12", "store-secret", ""},
        {made("trust.p12"), "", "store-secret", ""},
        {"", "PEM", "", text},
        {made("between.pem"), "", "", ""}, /* no root, but it signed */
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        prepare();
        settings.truststore_location = stores[i].location;
        settings.truststore_type = stores[i].type;
        settings.truststore_password = stores[i].password;
        settings.truststore_certificates = stores[i].text;
        peer_settings.certificate = made("below.pem");
        peer_settings.key = made("below.key");
        connects();
        finish();
    }
    prepare();
    free(text);
}
END_TEST

/* As a properties file joins its lines, with blanks between or without. */
START_TEST(trusted_as_one_line)
{
    for (int keeps_blanks = 0; keeps_blanks < 2; keeps_blanks++) {
        char *text = text_of("authority.pem"), *to = text;
        for (const char *from = text; *from != '\0'; from++)
            if (*from != '\n')
                *to++ = *from;
            else if (keeps_blanks)
                *to++ = ' ';
        *to = '\0';
        prepare();
        settings.truststore_location = "";
        settings.truststore_certificates = text;
        connects();
        finish();
        free(text);
    }
    prepare();
}
END_TEST

START_TEST(another_authority)
{
    settings.truststore_location = made("stranger.pem");
    is_refused(KRC_E_REFUSED, "its certificate is not trusted (unable to get local issuer "
                              "certificate; signed by CN=authority): name the CA that signed it "
                              "in ssl.truststore.location");
    ck_assert(!tlspeer_is_made(peer)); /* and was told */
}
END_TEST

START_TEST(the_system_does_not_trust_it)
{
    settings.truststore_location = "";
    is_refused(KRC_E_REFUSED, "its certificate is not trusted (");
}
END_TEST

START_TEST(a_self_signed_certificate)
{
    peer_settings.certificate = made("stranger.pem");
    peer_settings.key = made("stranger.key");
    is_refused(KRC_E_REFUSED, "its certificate is not trusted (self-signed certificate; ");
}
END_TEST

START_TEST(an_expired_certificate)
{
    peer_settings.certificate = made("expired.pem");
    peer_settings.key = made("expired.key");
    is_refused(KRC_E_REFUSED, "its certificate has expired (Jan  1 00:00:00 2021 GMT)");
}
END_TEST

START_TEST(a_certificate_of_the_future)
{
    peer_settings.certificate = made("future.pem");
    peer_settings.key = made("future.key");
    is_refused(KRC_E_REFUSED, "its certificate is not valid yet (Jan  1 00:00:00 ");
}
END_TEST

START_TEST(a_client_as_a_server)
{
    peer_settings.certificate = made("client.pem");
    peer_settings.key = made("client.key");
    settings.checks_host = false;
    is_refused(KRC_E_REFUSED, "its certificate is not for a server (");
}
END_TEST

/* ---- The host's name ------------------------------------------------------------------------ */

START_TEST(names_and_addresses)
{
    const char *names[] = {"localhost", "one.brokers.test", "127.0.0.1", "::1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        host = names[i];
        connects();
        if (i < 2)
            ck_assert_str_eq(tlspeer_host(peer), host);
        else
            ck_assert_ptr_null(tlspeer_host(peer));
    }
}
END_TEST

START_TEST(another_host)
{
    host = "one.two.test";
    is_refused(KRC_E_REFUSED, "its certificate is not for this host (one.two.test is not "
                              "DNS:localhost, DNS:*.brokers.test, IP Address:127.0.0.1, ");
    says("ssl.endpoint.identification.algorithm");
}
END_TEST

START_TEST(another_address)
{
    host = "127.0.0.2";
    is_refused(KRC_E_REFUSED, "(127.0.0.2 is not DNS:localhost, ");
}
END_TEST

START_TEST(a_certificate_without_other_names)
{
    peer_settings.certificate = made("unnamed.pem");
    peer_settings.key = made("unnamed.key");
    is_refused(KRC_E_REFUSED, "(localhost is not CN=unnamed.test)");
    host = "unnamed.test";
    connects();
}
END_TEST

START_TEST(hosts_that_are_not_checked)
{
    settings.checks_host = false;
    host = "one.two.test";
    connects();
}
END_TEST

START_TEST(no_name_of_a_host)
{
    char name[400];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    ck_assert_int_eq(krc_tls_context_new(&context, &settings, &error), KRC_OK);
    ck_assert_int_eq(krc_tls_new(&tls, context, name, PORT, &error), KRC_E_INVALID);
    ck_assert_ptr_null(tls);
}
END_TEST

/* ---- Who we are ----------------------------------------------------------------------------- */

START_TEST(our_certificate)
{
    const struct {
        const char *location, *type, *password, *key_password;
    } stores[] = {
        {made("client-all.pem"), "PEM", "", ""},
        {made("client-encrypted.pem"), "", "", "key-secret"},
        {made("client.p12"), "PKCS12", "store-secret", ""},
        {made("client.p12"), "", "store-secret", "store-secret"},
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++)
        for (int version = TLS_1_2; version <= TLS_1_3; version++) {
            prepare();
            settings.keystore_location = stores[i].location;
            settings.keystore_type = stores[i].type;
            settings.keystore_password = stores[i].password;
            settings.key_password = stores[i].key_password;
            peer_settings.client_authority = made("authority.pem");
            peer_settings.version = version;
            connects();
            ck_assert(tlspeer_saw_certificate(peer));
            finish();
        }
    prepare();
}
END_TEST

START_TEST(our_certificate_as_a_text)
{
    char *key = text_of("client-encrypted.key"), *chain = text_of("client.pem");
    settings.keystore_key = key;
    settings.keystore_certificate_chain = chain;
    settings.key_password = "key-secret";
    peer_settings.client_authority = made("authority.pem");
    connects();
    ck_assert(tlspeer_saw_certificate(peer));
    free(key);
    free(chain);
}
END_TEST

static void asks_in_vain(int version, const char *sentence)
{
    peer_settings.client_authority = made("authority.pem");
    peer_settings.version = version;
    is_refused(KRC_E_REFUSED, sentence);
}

START_TEST(it_asks_for_ours_tls_1_2)
{
    asks_in_vain(TLS_1_2, "it asks for a client certificate: set ssl.keystore.location");
}
END_TEST

START_TEST(it_asks_for_ours_tls_1_3)
{
    asks_in_vain(TLS_1_3, "it asks for a client certificate: set ssl.keystore.location");
}
END_TEST

START_TEST(it_does_not_trust_ours_tls_1_2)
{
    settings.keystore_location = made("foreign-all.pem");
    asks_in_vain(TLS_1_2, "it does not trust our certificate, for it does not know the CA");
}
END_TEST

START_TEST(it_does_not_trust_ours_tls_1_3)
{
    settings.keystore_location = made("foreign-all.pem");
    asks_in_vain(TLS_1_3, "it does not trust our certificate, for it does not know the CA");
}
END_TEST

/* ---- What cannot be used -------------------------------------------------------------------- */

START_TEST(stores_that_are_refused)
{
    static const struct {
        const char *file, *type, *password;
        int code;
        const char *sentence;
    } stores[] = {
        {"nowhere", "", "", KRC_E_NOT_FOUND, "ssl.truststore.location: cannot open "},
        {"trust.p12", "", "wrong-secret", KRC_E_INVALID,
         "trust.p12: ssl.truststore.password is wrong"},
        {"trust.p12", "PKCS12", "", KRC_E_INVALID,
         "trust.p12 is encrypted: set ssl.truststore.password"},
        {"authority.pem", "PKCS12", "", KRC_E_INVALID, "authority.pem is no PKCS12 store"},
        {"trust.jks", "PKCS12", "store-secret", KRC_E_UNSUPPORTED, "keytool -importkeystore"},
        {"trust.jks", "", "", KRC_E_UNSUPPORTED, "trust.jks.p12 -deststoretype PKCS12"},
        {"empty", "", "", KRC_E_INVALID, "empty holds no certificate"},
        {"empty/README", "", "", KRC_E_INVALID, "README holds no certificate"},
        {"client.key", "", "", KRC_E_INVALID, "client.key holds no certificate"},
        {"damaged.pem", "", "", KRC_E_INVALID, "damaged.pem: a certificate in it cannot be read"},
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        settings.truststore_location = made(stores[i].file);
        settings.truststore_type = stores[i].type;
        settings.truststore_password = stores[i].password;
        is_no_context(stores[i].code, stores[i].sentence);
    }
}
END_TEST

START_TEST(keys_that_are_refused)
{
    static const struct {
        const char *file, *password, *key_password;
        int code;
        const char *sentence;
    } stores[] = {
        {"client-encrypted.pem", "", "wrong-secret", KRC_E_INVALID,
         "client-encrypted.pem: ssl.key.password is wrong"},
        {"client-encrypted.pem", "", "", KRC_E_INVALID, "is encrypted: set ssl.key.password"},
        {"client.p12", "wrong-secret", "", KRC_E_INVALID,
         "client.p12: ssl.keystore.password is wrong"},
        {"client-mixed.pem", "", "", KRC_E_INVALID,
         "client-mixed.pem: the private key is not that of the first certificate"},
        {"client.pem", "", "", KRC_E_INVALID, "client.pem holds no private key"},
        {"client.key", "", "", KRC_E_INVALID, "client.key holds no certificate"},
        {"trust.p12", "store-secret", "", KRC_E_INVALID, "trust.p12 holds no private key"},
        {"trust.jks", "", "", KRC_E_UNSUPPORTED, "is a JKS store, which only Java reads"},
    };
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        settings.keystore_location = made(stores[i].file);
        settings.keystore_password = stores[i].password;
        settings.key_password = stores[i].key_password;
        is_no_context(stores[i].code, stores[i].sentence);
    }
}
END_TEST

START_TEST(a_key_without_its_certificate)
{
    char *key = text_of("client.key");
    settings.keystore_key = key;
    is_no_context(KRC_E_INVALID,
                  "ssl.keystore.key, ssl.keystore.certificate.chain holds no certificate");
    free(key);
}
END_TEST

/* ---- Versions and suites -------------------------------------------------------------------- */

START_TEST(versions_that_are_refused)
{
    settings.enabled_protocols = "TLSv1.2, TLSv1.1";
    is_no_context(KRC_E_UNSUPPORTED, "TLSv1.1 is too old");
    settings.enabled_protocols = "TLSv1.4";
    is_no_context(KRC_E_INVALID, "there is no \"TLSv1.4\"");
}
END_TEST

START_TEST(one_version)
{
    settings.enabled_protocols = "TLSv1.2";
    connects();
    ck_assert_str_eq(tlspeer_version(peer), "TLSv1.2");
}
END_TEST

START_TEST(no_version_in_common)
{
    settings.enabled_protocols = "TLSv1.3";
    peer_settings.version = TLS_1_2;
    is_refused(KRC_E_REFUSED, "it speaks none of the versions in ssl.enabled.protocols");
}
END_TEST

START_TEST(only_an_old_version)
{
    peer_settings.version = TLS_1_1;
    is_refused(KRC_E_REFUSED, "it speaks none of the versions in ssl.enabled.protocols");
}
END_TEST

START_TEST(suites)
{
    static const struct {
        const char *names, *version, *suite;
    } chosen[] = {
        {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"},
        {"ECDHE-ECDSA-AES128-GCM-SHA256", "TLSv1.2", "ECDHE-ECDSA-AES128-GCM-SHA256"},
        {"TLS_AES_128_GCM_SHA256", "TLSv1.3", "TLS_AES_128_GCM_SHA256"},
        {"ECDHE-ECDSA-AES128-GCM-SHA256:TLS_CHACHA20_POLY1305_SHA256", "TLSv1.3",
         "TLS_CHACHA20_POLY1305_SHA256"},
    };
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        prepare();
        settings.cipher_suites = chosen[i].names;
        connects();
        ck_assert_str_eq(tlspeer_version(peer), chosen[i].version);
        ck_assert_str_eq(tlspeer_suite(peer), chosen[i].suite);
        finish();
    }
    prepare();
}
END_TEST

START_TEST(suites_that_are_refused)
{
    settings.cipher_suites = "TLS_AES_128_GCM_SHA256, TLS_AES_512";
    is_no_context(KRC_E_INVALID, "ssl.cipher.suites: there is no \"TLS_AES_512\"");
    settings.cipher_suites = "TLS_AES_128_GCM_SHA256";
    settings.enabled_protocols = "TLSv1.2";
    is_no_context(KRC_E_INVALID, "ssl.cipher.suites: none of them is of a version");
}
END_TEST

START_TEST(no_suite_in_common)
{
    settings.cipher_suites = "ECDHE-ECDSA-AES128-GCM-SHA256";
    peer_settings.suites = "ECDHE-ECDSA-AES256-GCM-SHA384";
    is_refused(KRC_E_REFUSED, "it has no cipher suite in common with us");
}
END_TEST

/* ---- What is no TLS ------------------------------------------------------------------------- */

START_TEST(other_protocols)
{
    static const struct {
        const char *bytes;
        size_t len;
    } answers[] = {
        {"HTTP/1.1 400 Bad Request\r\n\r\n", 28},
        {"\0\0\0\x0a\0\0\0\0\0\x23\0\0\0\0", 14}, /* ApiVersions' */
        {"SSH-2.0-OpenSSH_9.6\r\n", 21},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        connect_to(host, PORT);
        ck_assert_int_eq(krc_tls_handshake(tls, &error), 0);
        krc_tls_received(tls, (const uint8_t *)answers[i].bytes, answers[i].len);
        ck_assert_int_eq(krc_tls_handshake(tls, &error), KRC_E_CORRUPT);
        says("it does not speak TLS, which security.protocol demands");
    }
}
END_TEST

int main(void)
{
    const TTest *tests[] = {
        talks_tls_1_2,
        talks_tls_1_3,
        bytes_come_one_by_one,
        the_newest_version_is_spoken,
        nothing_is_written_before_the_handshake,
        a_closed_connection,
        a_damaged_record,
        sessions_are_resumed_tls_1_2,
        sessions_are_resumed_tls_1_3,
        trusted_as_a_folder_a_text_or_pkcs12,
        trusted_as_one_line,
        another_authority,
        the_system_does_not_trust_it,
        a_self_signed_certificate,
        an_expired_certificate,
        a_certificate_of_the_future,
        a_client_as_a_server,
        names_and_addresses,
        another_host,
        another_address,
        a_certificate_without_other_names,
        hosts_that_are_not_checked,
        no_name_of_a_host,
        our_certificate,
        our_certificate_as_a_text,
        it_asks_for_ours_tls_1_2,
        it_asks_for_ours_tls_1_3,
        it_does_not_trust_ours_tls_1_2,
        it_does_not_trust_ours_tls_1_3,
        stores_that_are_refused,
        keys_that_are_refused,
        a_key_without_its_certificate,
        versions_that_are_refused,
        one_version,
        no_version_in_common,
        only_an_old_version,
        suites,
        suites_that_are_refused,
        no_suite_in_common,
        other_protocols,
    };
    const char *tmp = getenv("TMPDIR");
    char command[300];
    snprintf(folder, sizeof folder, "%s/krc-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
    snprintf(command, sizeof command, "tests/security/certificates.sh '%s'", mkdtemp(folder));
    if (system(command) != 0)
        return EXIT_FAILURE;
    int rc = run_tests("tls", tests, sizeof tests / sizeof *tests, prepare, finish);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command) == 0 ? rc : EXIT_FAILURE;
}
