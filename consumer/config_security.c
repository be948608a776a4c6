#include "consumer/config_security.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/jaas.h"
#include "security/token_curl.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_set(const char *text)
{
    return text[0] != '\0';
}

/* ---- Where secrets lie --------------------------------------------------------------------- */

static void keep(struct krc_security *security, struct krc_buffer text, const char **out)
{
    security->owned[security->owned_count++] = text;
    *out = (const char *)text.data;
}

static int take_variable(struct krc_security *security, const char *property, const char *name,
                         const char **out, krc_error *error)
{
    struct krc_buffer text = {0};
    const char *value = getenv(name);
    if (value == NULL)
        return krc_fail(error, KRC_E_INVALID, "%s: there is no environment variable %s", property,
                        name);
    KRC_TRY(krc_buffer_append(&text, value, strlen(value) + 1, error));
    keep(security, text, out);
    return KRC_OK;
}

static int take_file(struct krc_security *security, const char *property, const char *path,
                     const char **out, krc_error *error)
{
    struct krc_buffer text = {0};
    krc_error failure;
    int rc = krc_read_text(path, &text, &failure);
    if (rc < 0) {
        krc_buffer_wipe(&text);
        return krc_fail(error, rc, "%s: %s", property, failure.message);
    }
    keep(security, text, out);
    size_t len = text.len - 1; /* without its NUL */
    if (len > 0 && text.data[len - 1] == '\n')
        text.data[--len] = '\0';
    if (len > 0 && text.data[len - 1] == '\r')
        text.data[--len] = '\0';
    return KRC_OK;
}

/* Of a value that may be file:PATH or env:NAME. */
static int resolve(struct krc_security *security, const char *property, const char *value,
                   const char **out, krc_error *error)
{
    if (begins(value, KRC_IN_ENVIRONMENT))
        return take_variable(security, property, value + strlen(KRC_IN_ENVIRONMENT), out, error);
    if (begins(value, KRC_IN_FILE))
        return take_file(security, property, value + strlen(KRC_IN_FILE), out, error);
    *out = value;
    return KRC_OK;
}

static int take(struct krc_security *security, const krc_config *config, const char *property,
                const char **out, krc_error *error)
{
    return resolve(security, property, krc_config_text(config, property), out, error);
}

static const char *exposed_file(const krc_config *config)
{
    const char *name, *value;
    for (size_t i = 0; krc_config_next_secret(config, &i, &name, &value);)
        if (begins(value, KRC_IN_FILE) && krc_others_read(value + strlen(KRC_IN_FILE)))
            return value + strlen(KRC_IN_FILE);
    const char *key = krc_config_text(config, "ssl.keystore.location");
    bool is_open = !is_set(krc_config_text(config, "ssl.key.password")) &&
                   !is_set(krc_config_text(config, "ssl.keystore.password"));
    return is_open && krc_others_read(key) ? key : config->exposed;
}

bool krc_config_warning(const krc_config *config, char *text, size_t size)
{
    const char *path = exposed_file(config);
    if (path != NULL)
        snprintf(text, size, "%s holds a secret, and others can read it: chmod 600 it", path);
    return path != NULL;
}

/* ---- TLS ----------------------------------------------------------------------------------- */

struct store {
    const char *kind; /* "keystore", "truststore" */
    int64_t type;     /* enum krc_store_type */
    const char *location, *password;
    const char *text; /* PEM, in its place; "": none */
};

static int check_store(const struct store *store, krc_error *error)
{
    if (is_set(store->location) && is_set(store->text))
        return krc_fail(error, KRC_E_INVALID, "ssl.%s.location is set, and PEM text as well: which "
                        "of both?", store->kind);
    if (store->type == KRC_PEM && is_set(store->password))
        return krc_fail(error, KRC_E_INVALID, "ssl.%s.password is that of a PKCS12 file, and "
                        "ssl.%s.type is PEM; ssl.key.password is a private key's", store->kind,
                        store->kind);
    return KRC_OK;
}

static int check_stores(const krc_config *config, const struct krc_tls_settings *tls,
                        krc_error *error)
{
    if (is_set(tls->keystore_key) != is_set(tls->keystore_certificate_chain))
        return krc_fail(error, KRC_E_INVALID, "ssl.keystore.key and ssl.keystore.certificate.chain "
                        "need each other: only one is set");
    KRC_TRY(check_store(&(struct store){"keystore", config->keystore_type, tls->keystore_location,
                                        tls->keystore_password, tls->keystore_key}, error));
    return check_store(&(struct store){"truststore", config->truststore_type,
                                       tls->truststore_location, tls->truststore_password,
                                       tls->truststore_certificates}, error);
}

static int choose_versions(const krc_config *config, const char **versions, krc_error *error)
{
    static const char *const names[] = {[KRC_TLS_1_2] = "TLSv1.2",
                                        [KRC_TLS_1_3] = "TLSv1.3",
                                        [KRC_TLS_1_2 | KRC_TLS_1_3] = "TLSv1.2,TLSv1.3"};
    bool only_1_2 = config->tls_highest == 1;
    *versions = names[config->tls_versions & (only_1_2 ? KRC_TLS_1_2 : KRC_TLS_1_2 | KRC_TLS_1_3)];
    if (*versions == NULL)
        return krc_fail(error, KRC_E_INVALID, "ssl.protocol is TLSv1.2, and ssl.enabled.protocols "
                        "leaves it out");
    return KRC_OK;
}

static int take_tls(struct krc_security *security, const krc_config *config, krc_error *error)
{
    /* JKS is said of what Java reads as PKCS12, too, so that it is found out as if nothing was. */
    static const char *const types[] = {
        [KRC_UNSAID] = "", [KRC_PEM] = "PEM", [KRC_PKCS12] = "PKCS12", [KRC_JKS] = ""};
    struct krc_tls_settings *tls = &security->tls_settings;
    const struct {
        const char *property, **to;
    } texts[] = {
        {"ssl.key.password", &tls->key_password},
        {"ssl.keystore.certificate.chain", &tls->keystore_certificate_chain},
        {"ssl.keystore.key", &tls->keystore_key},
        {"ssl.keystore.password", &tls->keystore_password},
        {"ssl.truststore.certificates", &tls->truststore_certificates},
        {"ssl.truststore.password", &tls->truststore_password},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        KRC_TRY(take(security, config, texts[i].property, texts[i].to, error));
    tls->keystore_location = krc_config_text(config, "ssl.keystore.location");
    tls->truststore_location = krc_config_text(config, "ssl.truststore.location");
    tls->keystore_type = types[config->keystore_type];
    tls->truststore_type = types[config->truststore_type];
    tls->cipher_suites = krc_config_text(config, "ssl.cipher.suites");
    tls->checks_host = config->checks_host != 0;
    KRC_TRY(choose_versions(config, &tls->enabled_protocols, error));
    return check_stores(config, tls, error);
}

/* ---- sasl.jaas.config ---------------------------------------------------------------------- */

#define KAFKAS "org.apache.kafka.common.security."

/* Kafka's login modules: whose names of mechanisms begin how, and what they can be told. */
static const struct module {
    const char *name, *mechanisms, *options;
} modules[] = {
    {KAFKAS "plain.PlainLoginModule", "PLAIN", "username, password"},
    {KAFKAS "scram.ScramLoginModule", "SCRAM-", "username, password, tokenauth"},
    {KAFKAS "oauthbearer.OAuthBearerLoginModule", "OAUTHBEARER",
     "clientId, clientSecret, scope, ssl.truststore.location and ssl.truststore.type PEM, "
     "extension_NAME"},
};

/* NULL: there is none of that name, or it is for another mechanism. */
static const struct module *find_module(const char *name, const char *mechanism, krc_error *error)
{
    size_t i = 0, count = sizeof modules / sizeof *modules;
    while (i < count && strcmp(modules[i].name, name) != 0)
        i++;
    if (i < count && begins(mechanism, modules[i].mechanisms))
        return &modules[i];
    if (i < count)
        krc_fail(error, KRC_E_INVALID, "sasl.jaas.config: %s is not for sasl.mechanism %s", name,
                 mechanism);
    else
        krc_fail(error, KRC_E_INVALID, "sasl.jaas.config: its login module is none that krc knows: "
                 "%s, %s, %s", modules[0].name, modules[1].name, modules[2].name);
    return NULL;
}

/* Adds "NAME=VALUE" to the list of extensions. */
static int add_extension(struct krc_buffer *list, const char *name, const char *value,
                         krc_error *error)
{
    if (strchr(value, ',') != NULL)
        return krc_fail(error, KRC_E_INVALID, "sasl.jaas.config: an extension's value cannot have "
                        "a comma");
    if (list->len > 0)
        KRC_TRY(krc_buffer_append(list, ",", 1, error));
    KRC_TRY(krc_buffer_append(list, name, strlen(name), error));
    KRC_TRY(krc_buffer_append(list, "=", 1, error));
    return krc_buffer_append(list, value, strlen(value), error);
}

/* 1: it is taken; 0: the module has none of that name, or not with that value. */
static int take_bearer_option(struct krc_token_source *source, struct krc_buffer *extensions,
                              const char *name, const char *value, krc_error *error)
{
    static const char extension[] = "extension_";
    const struct {
        const char *name, **to;
    } texts[] = {
        {"clientId", &source->client_id},
        {"clientSecret", &source->client_secret},
        {"scope", &source->scope},
        {"ssl.truststore.location", &source->authorities},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].to = value;
            return 1;
        }
    if (!begins(name, extension) || name[sizeof extension - 1] == '\0')
        return strcmp(name, "ssl.truststore.type") == 0 && strcasecmp(value, "PEM") == 0;
    KRC_TRY(add_extension(extensions, name + sizeof extension - 1, value, error));
    return 1;
}

/* Likewise. */
static int take_user_option(struct krc_sasl_settings *sasl, const char *name, const char *value)
{
    if (strcmp(name, "username") == 0)
        sasl->username = value;
    else if (strcmp(name, "password") == 0)
        sasl->password = value;
    else if (strcmp(name, "tokenauth") == 0 && sasl->mechanism != KRC_SASL_PLAIN)
        sasl->is_token = strcasecmp(value, "true") == 0;
    else
        return 0;
    return 1;
}

static bool is_secret_option(const char *name)
{
    return strcmp(name, "password") == 0 || strcmp(name, "clientSecret") == 0;
}

/* Kafka's own modules have no use for them, and take them. */
static bool is_idle_option(const char *name)
{
    return strcmp(name, "serviceName") == 0 || strcmp(name, "debug") == 0;
}

/* An option's name is not told: where a quote is amiss, it is a piece of a password. */
static int take_options(struct krc_security *security, const struct krc_jaas *jaas,
                        const struct module *module, krc_error *error)
{
    struct krc_buffer extensions = {0};
    int rc = 1;
    for (size_t i = 0; i < jaas->count && rc == 1; i++) {
        const char *name = jaas->options[i].name, *value = jaas->options[i].value;
        if (is_idle_option(name))
            continue;
        if (is_secret_option(name))
            rc = resolve(security, "sasl.jaas.config", value, &value, error);
        if (rc < 0)
            break;
        rc = security->sasl_settings.mechanism == KRC_SASL_OAUTHBEARER
                 ? take_bearer_option(&security->token_source, &extensions, name, value, error)
                 : take_user_option(&security->sasl_settings, name, value);
        if (rc == 0)
            rc = krc_fail(error, KRC_E_INVALID, "sasl.jaas.config: option %zu is none of %s's: %s",
                          i + 1, strrchr(module->name, '.') + 1, module->options);
    }
    if (rc >= 0 && extensions.len > 0)
        rc = krc_buffer_append(&extensions, "", 1, error);
    if (rc >= 0 && extensions.len > 0)
        keep(security, extensions, &security->sasl_settings.extensions);
    else
        krc_buffer_wipe(&extensions);
    return rc < 0 ? rc : KRC_OK;
}

static int take_jaas(struct krc_security *security, const char *text, krc_error *error)
{
    struct krc_jaas jaas;
    const char *words;
    KRC_TRY(krc_jaas_parse(&jaas, text, error));
    keep(security, jaas.text, &words);
    const struct module *module =
        find_module(jaas.module, krc_sasl_name(security->sasl_settings.mechanism), error);
    return module == NULL ? KRC_E_INVALID : take_options(security, &jaas, module, error);
}

/* ---- SASL ---------------------------------------------------------------------------------- */

/* Properties go before what sasl.jaas.config says, as Kafka's clients have it. */
static int take_client(struct krc_security *security, const krc_config *config, krc_error *error)
{
    struct krc_token_source *source = &security->token_source;
    const char *id = krc_config_text(config, "sasl.oauthbearer.client.credentials.client.id");
    const char *scope = krc_config_text(config, "sasl.oauthbearer.scope"), *secret;
    KRC_TRY(take(security, config, "sasl.oauthbearer.client.credentials.client.secret", &secret,
                 error));
    if (is_set(id))
        source->client_id = id;
    if (is_set(secret))
        source->client_secret = secret;
    if (is_set(scope))
        source->scope = scope;
    source->encodes = config->encodes_header != 0;
    source->connect_ms = config->login_connect_ms;
    source->answer_ms = config->login_read_ms;
    if (source->client_id != NULL && source->client_secret != NULL)
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID, "sasl.oauthbearer.token.endpoint.url needs a client's id "
                    "and secret: set clientId and clientSecret in sasl.jaas.config, or "
                    "sasl.oauthbearer.client.credentials.client.id and client.secret");
}

static int take_token_source(struct krc_security *security, const krc_config *config,
                             krc_error *error)
{
    const char *url = krc_config_text(config, "sasl.oauthbearer.token.endpoint.url");
    const char *command = krc_config_text(config, "sasl.oauthbearer.token.command");
    if (is_set(url) == is_set(command))
        return krc_fail(error, KRC_E_INVALID, "sasl.mechanism OAUTHBEARER needs a token: set "
                        "sasl.oauthbearer.token.endpoint.url (file:///PATH, https://HOST/PATH) or "
                        "sasl.oauthbearer.token.command, not both");
    if (is_set(command)) {
        security->token_source.command = command;
        return KRC_OK;
    }
    if (begins(url, KRC_IN_FILE)) {
        security->token_source.file = url + strlen(begins(url, KRC_IN_FILE "//") ? KRC_IN_FILE "//"
                                                                                 : KRC_IN_FILE);
        return KRC_OK;
    }
    security->token_source.url = url;
    KRC_TRY(krc_post_check(error));
    return take_client(security, config, error);
}

static int check_credentials(const struct krc_sasl_settings *sasl, krc_error *error)
{
    if (is_set(sasl->username) && is_set(sasl->password))
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID, "sasl.mechanism %s needs a user's name and password: set "
                    "sasl.jaas.config, or sasl.username and sasl.password",
                    krc_sasl_name(sasl->mechanism));
}

static int take_sasl(struct krc_security *security, const krc_config *config, krc_error *error)
{
    struct krc_sasl_settings *sasl = &security->sasl_settings;
    const char *jaas;
    sasl->mechanism = (enum krc_sasl_mechanism)config->sasl_mechanism;
    if (sasl->mechanism == KRC_SASL_NONE)
        return krc_fail(error, KRC_E_INVALID, "security.protocol is %s, and sasl.mechanism is not "
                        "set: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER",
                        krc_config_text(config, "security.protocol"));
    sasl->username = krc_config_text(config, "sasl.username");
    KRC_TRY(take(security, config, "sasl.password", &sasl->password, error));
    KRC_TRY(take(security, config, "sasl.jaas.config", &jaas, error));
    if (is_set(jaas) && (is_set(sasl->username) || is_set(sasl->password)))
        return krc_fail(error, KRC_E_INVALID, "sasl.jaas.config is set, and sasl.username or "
                        "sasl.password as well: which of both?");
    if (is_set(jaas))
        KRC_TRY(take_jaas(security, jaas, error));
    return sasl->mechanism == KRC_SASL_OAUTHBEARER ? take_token_source(security, config, error)
                                                   : check_credentials(sasl, error);
}

/* ---- The whole ----------------------------------------------------------------------------- */

/* Kafka's clients connect in the open then, and leave a password unused without a word. */
static int check_protocol(const krc_config *config, krc_error *error)
{
    const char *sasl = krc_config_given(config, "sasl."), *ssl = krc_config_given(config, "ssl.");
    if (krc_config_given(config, "security.protocol") != NULL || (sasl == NULL && ssl == NULL))
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID, "%s is set, and security.protocol is not: set it to %s, "
                    "or to PLAINTEXT where neither is wanted", sasl != NULL ? sasl : ssl,
                    sasl != NULL ? "SASL_SSL or SASL_PLAINTEXT" : "SSL or SASL_SSL");
}

int krc_security_of(struct krc_security *security, const krc_config *config, krc_error *error)
{
    int64_t protocol = config->security_protocol;
    *security = (struct krc_security){
        .tls = protocol == KRC_SSL || protocol == KRC_SASL_SSL,
        .sasl = protocol == KRC_SASL_PLAINTEXT || protocol == KRC_SASL_SSL};
    int rc = check_protocol(config, error);
    if (rc >= 0 && security->tls)
        rc = take_tls(security, config, error);
    if (rc >= 0 && security->sasl)
        rc = take_sasl(security, config, error);
    if (rc < 0)
        krc_security_free(security);
    return rc;
}

void krc_security_free(struct krc_security *security)
{
    for (size_t i = 0; i < security->owned_count; i++)
        krc_buffer_wipe(&security->owned[i]);
    *security = (struct krc_security){0};
}
