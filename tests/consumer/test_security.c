/*
 * What properties say of TLS and SASL: sasl.jaas.config, where secrets lie, what does not fit
 * together; and that no secret is told.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "consumer/config_security.h"
#include "consumer/jaas.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define PLAIN "org.apache.kafka.common.security.plain.PlainLoginModule"
#define SCRAM "org.apache.kafka.common.security.scram.ScramLoginModule"
#define OAUTH "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"

/* In every text that a test gives as a secret. */
#define SECRET "s3cret"

static krc_config *config;
static krc_error error;
static struct krc_security security;

static void setup(void)
{
    config = krc_config_new();
    ck_assert_ptr_nonnull(config);
    tempdir_make();
}

static void teardown(void)
{
    krc_security_free(&security);
    krc_config_free(config);
    tempdir_remove();
}

static void set(const char *name, const char *value)
{
    ck_assert_msg(krc_config_set(config, name, value, &error) == KRC_OK, "%s", error.message);
}

/* Sets each NAME=VALUE line, and says what comes of all. */
static int configure(const char *lines)
{
    char *text = strdup(lines), *rest = text, *line;
    krc_config_free(config);
    krc_security_free(&security);
    config = krc_config_new();
    while ((line = strsep(&rest, "\n")) != NULL) {
        char *value = strchr(line, '=');
        ck_assert_ptr_nonnull(value);
        *value++ = '\0';
        set(line, value);
    }
    free(text);
    error.message[0] = '\0';
    int rc = krc_security_of(&security, config, &error);
    ck_assert_msg(strstr(error.message, SECRET) == NULL, "told: %s", error.message);
    return rc;
}

static void check_taken(const char *lines)
{
    ck_assert_msg(configure(lines) == KRC_OK, "%s", error.message);
}

static void check_refused(const char *lines, int code, const char *what)
{
    ck_assert_msg(configure(lines) == code, "%s", lines);
    check_says(error.message, what);
    ck_assert(!security.tls && !security.sasl && security.owned_count == 0);
}

/* ---- The grammar --------------------------------------------------------------------------- */

/* "MODULE|NAME=VALUE|..." */
static const char *parsed(const char *text)
{
    static char out[512];
    struct krc_jaas jaas;
    if (krc_jaas_parse(&jaas, text, &error) < 0)
        return error.message;
    int len = snprintf(out, sizeof out, "%s|", jaas.module);
    for (size_t i = 0; i < jaas.count; i++)
        len += snprintf(out + len, sizeof out - (size_t)len, "%s=%s|", jaas.options[i].name,
                        jaas.options[i].value);
    krc_buffer_wipe(&jaas.text);
    return out;
}

/* What JaasContext of Kafka 4.3.1's clients makes of them. */
START_TEST(as_kafka_reads_them)
{
    static const char *const texts[][2] = {
        {"M required;", "M|"},
        {"  M\n\trequired\r\n ; ", "M|"},
        {"M REQUIRED;", "M|"},
        {"M requisite;", "M|"},
        {"M Sufficient;", "M|"},
        {"M optional;", "M|"},
        {"\"M\" 'required';", "M|"},
        {"M required a=b;", "M|a=b|"},
        {"M required a = b c= d e =f;", "M|a=b|c=d|e=f|"},
        {"M required a=\"b c\" d='e f';", "M|a=b c|d=e f|"},
        {"M required a=\"b\"c=\"d\";", "M|a=b|c=d|"},
        {"M required a=\"it's\" b='\"';", "M|a=it's|b=\"|"},
        {"M required a=\"\";", "M|a=|"},
        {"M required a=\";=/#\";", "M|a=;=/#|"},
        {"M required a=b-c_d.e$F9;", "M|a=b-c_d.e$F9|"},
        {"M required a=\"\\\\ \\\" \\' \\x \\;\";", "M|a=\\ \" ' x ;|"},
        {"M required a=\"\\a\\b\\f\\n\\r\\t\\v\";", "M|a=\a\b\f\n\r\t\v|"},
        {"M required a=\"\\1\\12\\101\\1012\\18\";", "M|a=\1\nAA2\0018|"},
        {"M required a=\"\\377\\400\\77a\\200\";", "M|a=\u00ff 0?a\xc2\x80|"},
        {"M required a=\"\u00e4\u20ac\";", "M|a=\u00e4\u20ac|"},
        {"M required a=\u00e4\u20ac;", "M|a=\u00e4\u20ac|"},
        {"M required \"a b\"=c;", "M|a b=c|"},
        {"M required // a=b;\n c=d;", "M|c=d|"},
        {"M required / a=b;\n c=d;", "M|c=d|"},
        {"M required /* a=b;\n */c=d;", "M|c=d|"},
        {"M/**/required a=/***/b;", "M|a=b|"},
        {"/*/ M */M required;//", "M|"},
        {"M required; /* M", "M|"},
        {"M required a=\"//b/*c\";", "M|a=//b/*c|"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_str_eq(parsed(texts[i][0]), texts[i][1]);
}
END_TEST

/* Kafka's clients want quotes around these. */
START_TEST(words_with_other_letters)
{
    ck_assert_str_eq(parsed("M required a=b#c,d+e:h@i!j\\k;"), "M|a=b#c,d+e:h@i!j\\k|");
}
END_TEST

START_TEST(what_is_no_jaas)
{
    static const char *const texts[][2] = {
        {"", "names no login module"},
        {" /* M required; */ ", "names no login module"},
        {"; M required;", "names no login module"},
        {"=", "names no login module"},
        {"M", "\"required\" is missing"},
        {"M;", "\"required\" is missing"},
        {"M " SECRET "=b;", "\"required\" is missing"},
        {"M requirred;", "\"required\" is missing"},
        {"M required", "does not end in a semicolon"},
        {"M required a=b", "does not end in a semicolon"},
        {"M required a=" SECRET "/c;", "does not end in a semicolon"},
        {"M required = b;", "does not end in a semicolon"},
        {"M required a;", "an option is not NAME=\"VALUE\""},
        {"M required a=;", "an option is not NAME=\"VALUE\""},
        {"M required a=", "an option is not NAME=\"VALUE\""},
        {"M required a==" SECRET ";", "an option is not NAME=\"VALUE\""},
        {"M required a=b " SECRET ";", "an option is not NAME=\"VALUE\""},
        {"M required a=\"b\"" SECRET "\"c\";", "an option is not NAME=\"VALUE\""},
        {"M required a=\"" SECRET ";", "a quote is not closed"},
        {"M required a=\"" SECRET "\n\";", "a quote is not closed"},
        {"M required a='" SECRET "\";", "a quote is not closed"},
        {"M required a=\"" SECRET "\\", "a backslash stands at the end"},
        {"M required a=\"" SECRET "\\0\";", "or for a NUL"},
        {"M required a=\"" SECRET "\\0001\";", "or for a NUL"},
        {"M required; N required;", "there can be one login module"},
        {"M required;;", "there can be one login module"},
        {"M required a=1 a=2 a=3 a=4 a=5 a=6 a=7 a=8 a=9 a=10 a=11 a=12 a=13 a=14 a=15 a=16 a=17;",
         "too many options"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *message = parsed(texts[i][0]);
        check_says(message, "sasl.jaas.config: ");
        check_says(message, texts[i][1]);
        ck_assert_ptr_null(strstr(message, SECRET));
    }
}
END_TEST

/* ---- SASL ---------------------------------------------------------------------------------- */

static void check_user(enum krc_sasl_mechanism mechanism, const char *name, const char *password)
{
    ck_assert(security.sasl);
    ck_assert_int_eq(security.sasl_settings.mechanism, mechanism);
    ck_assert_str_eq(security.sasl_settings.username, name);
    ck_assert_str_eq(security.sasl_settings.password, password);
}

START_TEST(who_we_are)
{
    check_taken("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
                "sasl.jaas.config=" PLAIN " required username=\"a b\" password='" SECRET "';");
    check_user(KRC_SASL_PLAIN, "a b", SECRET);
    ck_assert(!security.tls && !security.sasl_settings.is_token);
    check_taken("security.protocol=sasl_ssl\nsasl.mechanism=SCRAM-SHA-256\n"
                "sasl.jaas.config=" SCRAM " required username=u password=x password=" SECRET ";");
    check_user(KRC_SASL_SCRAM_SHA_256, "u", SECRET);
    ck_assert(security.tls && !security.sasl_settings.is_token);
    check_taken("security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config="
                SCRAM " required tokenauth=TRUE username=id password=" SECRET ";");
    check_user(KRC_SASL_SCRAM_SHA_512, "id", SECRET);
    ck_assert(security.sasl_settings.is_token);
    check_taken("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=u\n"
                "sasl.password=" SECRET);
    check_user(KRC_SASL_PLAIN, "u", SECRET);
}
END_TEST

START_TEST(tokens)
{
    check_taken("security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
                "sasl.oauthbearer.token.endpoint.url=file:///run/token\nsasl.jaas.config=" OAUTH
                " required extension_logicalCluster=\"lkc-1\" extension_pool=p;");
    ck_assert_int_eq(security.sasl_settings.mechanism, KRC_SASL_OAUTHBEARER);
    ck_assert_str_eq(security.sasl_settings.extensions, "logicalCluster=lkc-1,pool=p");
    ck_assert_str_eq(security.token_source.file, "/run/token");
    ck_assert_ptr_null(security.token_source.command);
    check_taken("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
                "sasl.oauthbearer.token.endpoint.url=file:/run/token");
    ck_assert_str_eq(security.token_source.file, "/run/token");
    check_taken("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
                "sasl.oauthbearer.token.command=get-token --now");
    ck_assert_ptr_null(security.token_source.file);
    ck_assert_str_eq(security.token_source.command, "get-token --now");
    ck_assert_ptr_null(security.sasl_settings.extensions);
}
END_TEST

#define BY_URL "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n" \
               "sasl.oauthbearer.token.endpoint.url=https://auth/token\n"
#define CLIENT "sasl.oauthbearer.client.credentials.client."

START_TEST(tokens_by_url)
{
    const struct krc_token_source *source = &security.token_source;
#ifdef KRC_WITH_CURL
    check_taken(BY_URL "sasl.jaas.config=" OAUTH " required clientId=c clientSecret=" SECRET
                " scope=\"a b\" ssl.truststore.type=PEM ssl.truststore.location=\"/ca.pem\";");
    ck_assert_str_eq(source->url, "https://auth/token");
    ck_assert_ptr_null(source->file);
    ck_assert_str_eq(source->client_id, "c");
    ck_assert_str_eq(source->client_secret, SECRET);
    ck_assert_str_eq(source->scope, "a b");
    ck_assert_str_eq(source->authorities, "/ca.pem");
    ck_assert(!source->encodes && source->connect_ms == 10000 && source->answer_ms == 10000);
    tempdir_write_text("secret", SECRET "2\n");
    char *lines;
    ck_assert_int_gt(asprintf(&lines, BY_URL CLIENT "id=d\n" CLIENT "secret=file:%s\n"
                              "sasl.oauthbearer.scope=e\nsasl.oauthbearer.header.urlencode=true\n"
                              "sasl.login.connect.timeout.ms=1\nsasl.login.read.timeout.ms=2\n"
                              "sasl.jaas.config=" OAUTH " required clientId=c clientSecret=x "
                              "scope=y;", tempdir_path("secret")), 0);
    check_taken(lines);
    free(lines);
    ck_assert_str_eq(source->client_id, "d");
    ck_assert_str_eq(source->client_secret, SECRET "2");
    ck_assert_str_eq(source->scope, "e");
    ck_assert_ptr_null(source->authorities);
    ck_assert(source->encodes && source->connect_ms == 1 && source->answer_ms == 2);
    check_refused(BY_URL "sasl.jaas.config=" OAUTH " required clientId=c;", KRC_E_INVALID,
                  "needs a client's id and secret: set clientId and clientSecret in");
#else
    check_refused(BY_URL CLIENT "id=c\n" CLIENT "secret=" SECRET, KRC_E_UNSUPPORTED,
                  "built without libcurl");
    ck_assert_ptr_null(source->url);
#endif
}
END_TEST

#define OVER "security.protocol=SASL_SSL\nsasl.mechanism="

START_TEST(credentials_that_are_refused)
{
    static const char *const bad[][2] = {
        {"security.protocol=SASL_SSL",
         "security.protocol is SASL_SSL, and sasl.mechanism is not set: PLAIN, SCRAM-SHA-256"},
        {"security.protocol=SASL_PLAINTEXT\nsasl.jaas.config=" PLAIN " required username=u;",
         "sasl.mechanism is not set"},
        {OVER "PLAIN", "sasl.mechanism PLAIN needs a user's name and password: set"},
        {OVER "SCRAM-SHA-512\nsasl.username=u", "sasl.mechanism SCRAM-SHA-512 needs"},
        {OVER "PLAIN\nsasl.password=" SECRET, "needs a user's name"},
        {OVER "PLAIN\nsasl.jaas.config=" PLAIN " required username=u;", "needs a user's name"},
        {OVER "PLAIN\nsasl.jaas.config=" PLAIN " required username=\"\" password=" SECRET ";",
         "needs a user's name"},
        {OVER "PLAIN\nsasl.username=u\nsasl.jaas.config=" PLAIN " required username=u password="
         SECRET ";", "sasl.jaas.config is set, and sasl.username or sasl.password as well"},
        {OVER "PLAIN\nsasl.jaas.config=" SCRAM " required username=u password=" SECRET ";",
         "ScramLoginModule is not for sasl.mechanism PLAIN"},
        {OVER "SCRAM-SHA-256\nsasl.jaas.config=" PLAIN " required username=u password=" SECRET ";",
         "PlainLoginModule is not for sasl.mechanism SCRAM-SHA-256"},
        {OVER "PLAIN\nsasl.jaas.config=" SECRET " required;",
         "its login module is none that krc knows: " PLAIN ", " SCRAM ", " OAUTH},
        {OVER "PLAIN\nsasl.jaas.config=" PLAIN " required username=u password=x " SECRET "=y;",
         "option 3 is none of PlainLoginModule's: username, password"},
        {OVER "PLAIN\nsasl.jaas.config=" PLAIN " required tokenauth=true;",
         "option 1 is none of PlainLoginModule's"},
        {OVER "SCRAM-SHA-256\nsasl.jaas.config=" SCRAM " required user=u password=" SECRET ";",
         "option 1 is none of ScramLoginModule's: username, password, tokenauth"},
        {OVER "PLAIN\nsasl.jaas.config=" PLAIN " required username=u password=" SECRET,
         "sasl.jaas.config: it does not end in a semicolon"},
        {OVER "OAUTHBEARER", "sasl.mechanism OAUTHBEARER needs a token: set"},
        {OVER "OAUTHBEARER\nsasl.oauthbearer.token.endpoint.url=file:/t\n"
         "sasl.oauthbearer.token.command=c", "not both"},
        {OVER "OAUTHBEARER\nsasl.oauthbearer.token.command=c\nsasl.jaas.config=" OAUTH
         " required clientId=c secret=" SECRET ";",
         "option 2 is none of OAuthBearerLoginModule's: clientId, clientSecret, scope, "},
        {OVER "OAUTHBEARER\nsasl.oauthbearer.token.command=c\nsasl.jaas.config=" OAUTH
         " required ssl.truststore.type=JKS;", "and ssl.truststore.type PEM, extension_NAME"},
        {OVER "OAUTHBEARER\nsasl.oauthbearer.token.command=c\nsasl.jaas.config=" OAUTH
         " required extension_=a;", "option 1 is none of"},
        {OVER "OAUTHBEARER\nsasl.oauthbearer.token.command=c\nsasl.jaas.config=" OAUTH
         " required extension_a=\"b,c\";", "an extension's value cannot have a comma"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_refused(bad[i][0], KRC_E_INVALID, bad[i][1]);
}
END_TEST

/* ---- TLS ----------------------------------------------------------------------------------- */

START_TEST(stores)
{
    const struct krc_tls_settings *tls = &security.tls_settings;
    check_taken("security.protocol=SSL");
    ck_assert(security.tls && !security.sasl && tls->checks_host);
    ck_assert_str_eq(tls->enabled_protocols, "TLSv1.2,TLSv1.3");
    ck_assert_str_eq(tls->truststore_location, "");
    ck_assert_str_eq(tls->keystore_key, "");
    check_taken("security.protocol=SSL\nssl.truststore.location=/t\nssl.truststore.type=pkcs12\n"
                "ssl.truststore.password=" SECRET "1\nssl.keystore.location=/k\n"
                "ssl.keystore.type=JKS\nssl.keystore.password=" SECRET "2\n"
                "ssl.key.password=" SECRET "3\nssl.cipher.suites=TLS_AES_128_GCM_SHA256\n"
                "ssl.endpoint.identification.algorithm=");
    ck_assert_str_eq(tls->truststore_location, "/t");
    ck_assert_str_eq(tls->truststore_type, "PKCS12");
    ck_assert_str_eq(tls->truststore_password, SECRET "1");
    ck_assert_str_eq(tls->keystore_location, "/k");
    ck_assert_str_eq(tls->keystore_type, ""); /* as Java's clients say of PKCS12, too */
    ck_assert_str_eq(tls->keystore_password, SECRET "2");
    ck_assert_str_eq(tls->key_password, SECRET "3");
    ck_assert_str_eq(tls->cipher_suites, "TLS_AES_128_GCM_SHA256");
    ck_assert(!tls->checks_host);
    check_taken("security.protocol=SSL\nssl.keystore.key=" SECRET
                "\nssl.keystore.certificate.chain=C\nssl.truststore.certificates=T\n"
                "ssl.truststore.type=PEM");
    ck_assert_str_eq(tls->keystore_key, SECRET);
    ck_assert_str_eq(tls->keystore_certificate_chain, "C");
    ck_assert_str_eq(tls->truststore_certificates, "T");
    ck_assert_str_eq(tls->truststore_type, "PEM");
}
END_TEST

START_TEST(versions)
{
    static const char *const good[][2] = {
        {"ssl.enabled.protocols=TLSv1.2", "TLSv1.2"},
        {"ssl.enabled.protocols=TLSv1.3", "TLSv1.3"},
        {"ssl.enabled.protocols=TLSv1.3, TLSv1.2", "TLSv1.2,TLSv1.3"},
        {"ssl.enabled.protocols=TLSv1.2,TLSv1.1,TLSv1", "TLSv1.2"},
        {"ssl.protocol=TLSv1.2", "TLSv1.2"},
        {"ssl.protocol=TLS", "TLSv1.2,TLSv1.3"},
        {"ssl.protocol=TLSv1.3\nssl.enabled.protocols=TLSv1.2", "TLSv1.2"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char lines[128];
        snprintf(lines, sizeof lines, "security.protocol=SSL\n%s", good[i][0]);
        check_taken(lines);
        ck_assert_str_eq(security.tls_settings.enabled_protocols, good[i][1]);
    }
    check_refused("security.protocol=SSL\nssl.protocol=TLSv1.2\nssl.enabled.protocols=TLSv1.3",
                  KRC_E_INVALID, "ssl.protocol is TLSv1.2, and ssl.enabled.protocols leaves it");
}
END_TEST

START_TEST(stores_that_are_refused)
{
    static const char *const bad[][2] = {
        {"ssl.keystore.key=" SECRET, "ssl.keystore.key and ssl.keystore.certificate.chain need"},
        {"ssl.keystore.certificate.chain=C", "need each other: only one is set"},
        {"ssl.keystore.location=/k\nssl.keystore.key=" SECRET "\nssl.keystore.certificate.chain=C",
         "ssl.keystore.location is set, and PEM text as well"},
        {"ssl.truststore.location=/t\nssl.truststore.certificates=T",
         "ssl.truststore.location is set, and PEM text as well"},
        {"ssl.truststore.location=/t\nssl.truststore.type=PEM\nssl.truststore.password=" SECRET,
         "ssl.truststore.password is that of a PKCS12 file, and ssl.truststore.type is PEM"},
        {"ssl.keystore.location=/t\nssl.keystore.type=PEM\nssl.keystore.password=" SECRET,
         "ssl.keystore.password is that of a PKCS12 file, and ssl.keystore.type is PEM"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char lines[256];
        snprintf(lines, sizeof lines, "security.protocol=SASL_SSL\n%s", bad[i][0]);
        check_refused(lines, KRC_E_INVALID, bad[i][1]);
    }
}
END_TEST

/* ---- Whether it is asked for --------------------------------------------------------------- */

START_TEST(the_protocol_is_said)
{
    check_taken("client.id=c");
    ck_assert(!security.tls && !security.sasl);
    check_taken("security.protocol=PLAINTEXT\nsasl.mechanism=PLAIN\nssl.truststore.location=/t");
    ck_assert(!security.tls && !security.sasl);
    check_refused("sasl.mechanism=PLAIN\nssl.truststore.location=/t", KRC_E_INVALID,
                  "sasl.mechanism is set, and security.protocol is not: set it to SASL_SSL or "
                  "SASL_PLAINTEXT, or to PLAINTEXT");
    check_refused("ssl.truststore.location=/t", KRC_E_INVALID,
                  "ssl.truststore.location is set, and security.protocol is not: set it to SSL or");
}
END_TEST

/* Of a copy, and where a file says it, as well. */
START_TEST(the_protocol_is_said_in_a_file)
{
    tempdir_write_text("p", "sasl.mechanism=PLAIN");
    ck_assert_int_eq(krc_config_load(config, tempdir_path("p"), NULL, NULL, &error), KRC_OK);
    krc_config *copy = krc_config_copy(config);
    ck_assert_int_eq(krc_security_of(&security, copy, &error), KRC_E_INVALID);
    krc_config_free(copy);
    tempdir_write_text("p", "security.protocol=PLAINTEXT");
    ck_assert_int_eq(krc_config_load(config, tempdir_path("p"), NULL, NULL, &error), KRC_OK);
    ck_assert_int_eq(krc_security_of(&security, config, &error), KRC_OK);
}
END_TEST

/* ---- Where secrets lie --------------------------------------------------------------------- */

START_TEST(secrets_in_files)
{
    static const char *const contents[][2] = {
        {SECRET, SECRET},         {SECRET "\n", SECRET}, {SECRET "\r\n", SECRET},
        {SECRET "\n\n", SECRET "\n"}, {" " SECRET " ", " " SECRET " "},
    };
    for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
        char lines[512];
        tempdir_write_text("password", contents[i][0]);
        snprintf(lines, sizeof lines, OVER "PLAIN\nsasl.username=u\nsasl.password=file:%s",
                 tempdir_path("password"));
        check_taken(lines);
        check_user(KRC_SASL_PLAIN, "u", contents[i][1]);
    }
}
END_TEST

START_TEST(every_secret_may_lie_elsewhere)
{
    const struct krc_tls_settings *tls = &security.tls_settings;
    setenv("KRC_TEST_1", "1" SECRET, 1);
    setenv("KRC_TEST_2", "2" SECRET, 1);
    setenv("KRC_TEST_JAAS", SCRAM " required username=env:u password=env:KRC_TEST_1;", 1);
    check_taken(OVER "SCRAM-SHA-256\nsasl.jaas.config=env:KRC_TEST_JAAS\n"
                "ssl.key.password=env:KRC_TEST_1\nssl.keystore.password=env:KRC_TEST_2\n"
                "ssl.keystore.key=env:KRC_TEST_1\nssl.keystore.certificate.chain=env:KRC_TEST_2\n"
                "ssl.truststore.certificates=env:KRC_TEST_1\n"
                "ssl.truststore.password=env:KRC_TEST_2");
    check_user(KRC_SASL_SCRAM_SHA_256, "env:u", "1" SECRET);
    ck_assert_str_eq(tls->key_password, "1" SECRET);
    ck_assert_str_eq(tls->keystore_password, "2" SECRET);
    ck_assert_str_eq(tls->keystore_key, "1" SECRET);
    ck_assert_str_eq(tls->keystore_certificate_chain, "2" SECRET);
    ck_assert_str_eq(tls->truststore_certificates, "1" SECRET);
    ck_assert_str_eq(tls->truststore_password, "2" SECRET);
    setenv("KRC_TEST_1", "other", 1);
    ck_assert_str_eq(tls->key_password, "1" SECRET); /* its own copy */
}
END_TEST

START_TEST(secrets_that_are_not_there)
{
    char lines[512];
    unsetenv("KRC_TEST_NONE");
    check_refused(OVER "PLAIN\nsasl.username=u\nsasl.password=env:KRC_TEST_NONE", KRC_E_INVALID,
                  "sasl.password: there is no environment variable KRC_TEST_NONE");
    snprintf(lines, sizeof lines, "security.protocol=SSL\nssl.key.password=file:%s",
             tempdir_path("none"));
    check_refused(lines, KRC_E_NOT_FOUND, "ssl.key.password: cannot open ");
    snprintf(lines, sizeof lines, "security.protocol=SSL\nssl.key.password=file:%s",
             tempdir_path("."));
    check_refused(lines, KRC_E_IO, "ssl.key.password: cannot read ");
    tempdir_write("nul", SECRET "\0a", sizeof SECRET + 1);
    snprintf(lines, sizeof lines, "security.protocol=SSL\nssl.key.password=file:%s",
             tempdir_path("nul"));
    check_refused(lines, KRC_E_INVALID, "holds a NUL byte");
    tempdir_write_text("empty", "");
    snprintf(lines, sizeof lines, OVER "PLAIN\nsasl.username=u\nsasl.password=file:%s",
             tempdir_path("empty"));
    check_refused(lines, KRC_E_INVALID, "needs a user's name and password");
    ck_assert_int_eq(krc_config_set(config, "sasl.password", "file:", &error), KRC_E_INVALID);
    check_says(error.message, "sasl.password begins with \"file:\", and names nothing behind it");
    ck_assert_int_eq(krc_config_set(config, "ssl.keystore.key", "env:", &error), KRC_E_INVALID);
}
END_TEST

/* ---- Who else can read them ---------------------------------------------------------------- */

/* Whether it is warned of a file. */
static bool warns_of(const char *name)
{
    char text[512] = "";
    bool warns = krc_config_warning(config, text, sizeof text);
    if (warns && name != NULL)
        check_says(text, tempdir_path("%s", name));
    return warns;
}

static void protect(const char *name, mode_t mode)
{
    ck_assert_int_eq(chmod(tempdir_path("%s", name), mode), 0);
}

static void load(const char *name, const char *text, mode_t mode)
{
    tempdir_write_text(name, text);
    protect(name, mode);
    ck_assert_msg(krc_config_load(config, tempdir_path("%s", name), NULL, NULL, &error) == KRC_OK,
                  "%s", error.message);
}

START_TEST(files_that_others_read)
{
    char value[512];
    load("open", "client.id=c\nsasl.mechanism=PLAIN\nsasl.password=env:X", 0644);
    ck_assert(!warns_of(NULL)); /* there is no secret in it */
    load("closed", "sasl.password=" SECRET, 0600);
    ck_assert(!warns_of(NULL));
    load("group", "ssl.key.password=" SECRET, 0640);
    ck_assert(warns_of("group"));

    tempdir_write_text("password", SECRET);
    protect("password", 0604);
    snprintf(value, sizeof value, "file:%s", tempdir_path("password"));
    set("sasl.password", value);
    ck_assert(warns_of("password"));
    protect("password", 0400);
    ck_assert(warns_of("group")); /* still */
}
END_TEST

START_TEST(keys_that_others_read)
{
    tempdir_write_text("key", "x");
    protect("key", 0644);
    set("ssl.keystore.location", tempdir_path("key"));
    ck_assert(warns_of("key"));
    set("ssl.key.password", SECRET);
    ck_assert(!warns_of(NULL)); /* it is encrypted */
    set("ssl.key.password", "");
    protect("key", 0600);
    ck_assert(!warns_of(NULL));
}
END_TEST

/* What is asked for is not told, and neither is what is wrong with it. */
START_TEST(secrets_are_hidden)
{
    static const char *const names[] = {"sasl.jaas.config", "sasl.password", "ssl.key.password",
                                        "ssl.keystore.key", "ssl.keystore.password",
                                        "ssl.truststore.password"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_ptr_null(krc_config_get(config, names[i]));
        set(names[i], SECRET);
        ck_assert_str_eq(krc_config_get(config, names[i]), "[hidden]");
    }
    set("sasl.username", "u");
    ck_assert_str_eq(krc_config_get(config, "sasl.username"), "u");
}
END_TEST

/* A line of a secret that should have ended in a backslash is no name to be told. */
START_TEST(lines_of_secrets)
{
    static const char *const texts[] = {
        "ssl.keystore.key=-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANs3cretBAQEFAASCBKcwggSj\n",
        "sasl.jaas.config=" PLAIN " required username=u password=\"x\n" SECRET "\";",
        "sasl.password=a\n" SECRET "+/\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tempdir_write_text("p", texts[i]);
        ck_assert_int_eq(krc_config_load(config, tempdir_path("p"), NULL, NULL, &error),
                         KRC_E_INVALID);
        check_says(error.message, "line 2: this is no name of a property");
        ck_assert_ptr_null(strstr(error.message, SECRET));
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        as_kafka_reads_them, words_with_other_letters, what_is_no_jaas, who_we_are, tokens,
        tokens_by_url, credentials_that_are_refused, stores, versions, stores_that_are_refused,
        the_protocol_is_said, the_protocol_is_said_in_a_file, secrets_in_files,
        every_secret_may_lie_elsewhere, secrets_that_are_not_there, files_that_others_read,
        keys_that_others_read, secrets_are_hidden, lines_of_secrets,
    };
    return run_tests("consumer/security", tests, sizeof tests / sizeof *tests, setup, teardown);
}
