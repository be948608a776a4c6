#include "security/sasl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "security/json.h"
#include "security/scram.h"
#include "security/token.h"

struct krc_sasl {
    const struct krc_sasl_settings *settings;
    const struct mechanism *mechanism;
    bool has_begun;
    struct krc_scram scram;
    const char *extensions; /* OAUTHBEARER, "" for none */
    char *token;            /* OAUTHBEARER */
    char status[64];        /* why it is refused; "": it is not */
};

/* ---- PLAIN (RFC 4616) ----------------------------------------------------------------------- */

/*
 * The only message:
 *      for whom to act, which is left empty; NUL; user name; NUL; password
 *
 * There is room for all of it first: a buffer that grows leaves what it held behind.
 */
static int begin_plain(struct krc_sasl *sasl, struct krc_buffer *out, krc_error *error)
{
    const char *username = sasl->settings->username, *password = sasl->settings->password;
    size_t name_size = strlen(username) + 1, password_len = strlen(password);
    KRC_TRY(krc_buffer_reserve(out, out->len + 1 + name_size + password_len, error));
    KRC_TRY(krc_buffer_append(out, "", 1, error));
    KRC_TRY(krc_buffer_append(out, username, name_size, error));
    KRC_TRY(krc_buffer_append(out, password, password_len, error));
    return 1;
}

/* A broker that refuses says so in its response's error code. */
static int go_on_plain(struct krc_sasl *sasl, struct krc_bytes from_broker, struct krc_buffer *out,
                       krc_error *error)
{
    (void)sasl, (void)from_broker, (void)out, (void)error;
    return KRC_OK;
}

/* ---- SCRAM ---------------------------------------------------------------------------------- */

static int check_scram(const struct krc_sasl *sasl, krc_error *error)
{
    return krc_scram_check(sasl->settings, error);
}

static int begin_scram(struct krc_sasl *sasl, struct krc_buffer *out, krc_error *error)
{
    uint8_t random[KRC_SCRAM_NONCE_MOST / 4 * 3];
    char nonce[KRC_SCRAM_NONCE_MOST + 1];
    KRC_TRY(krc_random_bytes(random, sizeof random, error));
    *krc_base64_encode((uint8_t *)nonce, (struct krc_bytes){random, sizeof random}) = '\0';
    return krc_scram_begin(&sasl->scram, sasl->settings, nonce, out, error);
}

static int go_on_scram(struct krc_sasl *sasl, struct krc_bytes from_broker, struct krc_buffer *out,
                       krc_error *error)
{
    return krc_scram_step(&sasl->scram, from_broker, out, error);
}

/* ---- OAUTHBEARER (RFC 7628) ----------------------------------------------------------------- */

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* The length of NAME=VALUE, up to a comma or the end (KIP-342): letters, and printable ASCII.
 * `auth` is the token's own.  0: it is none. */
static size_t extension_length(const char *text)
{
    size_t name = strspn(text, LETTERS), len = strcspn(text, ",");
    if (name == 0 || text[name] != '=' || len == name + 1 || strncmp(text, "auth=", 5) == 0)
        return 0;
    for (size_t i = name; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return 0;
    return len;
}

static int check_extensions(const char *all, krc_error *error)
{
    for (const char *at = all; *at != '\0';) {
        size_t len = extension_length(at);
        if (len == 0 || (at[len] == ',' && at[len + 1] == '\0'))
            return krc_fail(error, KRC_E_INVALID,
                            "a SASL extension is NAME=VALUE with a name of letters other than "
                            "\"auth\", and a comma before the next: at \"%.20s\"",
                            at);
        at += at[len] == ',' ? len + 1 : len;
    }
    return KRC_OK;
}

/* The token is what RFC 6750 lets it be: anything else could end it and go on as something else. */
static int check_oauthbearer(const struct krc_sasl *sasl, krc_error *error)
{
    size_t len = krc_token_length(sasl->token);
    if (len == 0 || sasl->token[len] != '\0')
        return krc_fail(error, KRC_E_INVALID,
                        "what is given as a token is none: a token has letters, digits and "
                        "- . _ ~ + / in it, and may end with =");
    return check_extensions(sasl->extensions, error);
}

/*
 * The first message:
 *      n,,                         no channel binding, and for whom to act is left empty
 *      \1 auth=Bearer TOKEN
 *      \1 NAME=VALUE               each extension
 *      \1 \1
 */
static int begin_oauthbearer(struct krc_sasl *sasl, struct krc_buffer *out, krc_error *error)
{
    static const char start[] = "n,,\1auth=Bearer ";
    const char *end = sasl->extensions[0] != '\0' ? "\1\1" : "\1";
    size_t most = sizeof start + strlen(sasl->token) + 1 + strlen(sasl->extensions) + 2;
    KRC_TRY(krc_buffer_reserve(out, out->len + most, error));
    char *to = (char *)out->data + out->len;
    int len = snprintf(to, most, "%s%s\1%s%s", start, sasl->token, sasl->extensions, end);
    for (char *c = to + 3; (c = strchr(c, ',')) != NULL;) /* no token has one, and no value */
        *c = '\1';
    out->len += (size_t)len;
    return 1;
}

/*
 * What a broker refuses a token with:
 *      {"status":"invalid_token","scope":...}
 */
static void find_status(struct krc_bytes json, char *status, size_t size)
{
    bool is_good = krc_json_text(json, "status", status, size) && status[0] != '\0';
    for (const char *c = status; is_good && *c != '\0'; c++)
        is_good = *c >= ' ' && *c <= '~';
    if (!is_good)
        snprintf(status, size, "it does not say why");
}

/* Nothing: all is well.  Else it is refused, and to be told that this was read. */
static int go_on_oauthbearer(struct krc_sasl *sasl, struct krc_bytes from_broker,
                             struct krc_buffer *out, krc_error *error)
{
    if (sasl->status[0] != '\0')
        return krc_fail(error, KRC_E_REFUSED, "it refuses the token: %s", sasl->status);
    if (from_broker.len == 0)
        return KRC_OK;
    find_status(from_broker, sasl->status, sizeof sasl->status);
    KRC_TRY(krc_buffer_append(out, "\1", 1, error));
    return 1;
}

/* ---- Any of them ---------------------------------------------------------------------------- */

static const struct mechanism {
    const char *name;
    int (*check)(const struct krc_sasl *sasl, krc_error *error); /* the settings; NULL: any do */
    int (*begin)(struct krc_sasl *sasl, struct krc_buffer *out, krc_error *error);
    int (*go_on)(struct krc_sasl *sasl, struct krc_bytes from_broker, struct krc_buffer *out,
                 krc_error *error);
} mechanisms[] = {
    [KRC_SASL_PLAIN] = {"PLAIN", NULL, begin_plain, go_on_plain},
    [KRC_SASL_SCRAM_SHA_256] = {"SCRAM-SHA-256", check_scram, begin_scram, go_on_scram},
    [KRC_SASL_SCRAM_SHA_512] = {"SCRAM-SHA-512", check_scram, begin_scram, go_on_scram},
    [KRC_SASL_OAUTHBEARER] = {"OAUTHBEARER", check_oauthbearer, begin_oauthbearer,
                              go_on_oauthbearer},
};

const char *krc_sasl_name(enum krc_sasl_mechanism mechanism)
{
    return mechanisms[mechanism].name;
}

int krc_sasl_new(struct krc_sasl **sasl, const struct krc_sasl_settings *settings,
                 const char *token, krc_error *error)
{
    struct krc_sasl *s = calloc(1, sizeof *s);
    if (s == NULL)
        return krc_fail_nomem(error, sizeof *s);
    s->settings = settings;
    s->mechanism = &mechanisms[settings->mechanism];
    s->extensions = settings->extensions != NULL ? settings->extensions : "";
    int rc = KRC_OK;
    if (token != NULL && (s->token = strdup(token)) == NULL)
        rc = krc_fail_nomem(error, strlen(token));
    else if (s->mechanism->check != NULL)
        rc = s->mechanism->check(s, error);
    if (rc == KRC_OK)
        *sasl = s;
    else
        krc_sasl_free(s);
    return rc;
}

int krc_sasl_step(struct krc_sasl *sasl, struct krc_bytes from_broker, struct krc_buffer *out,
                  krc_error *error)
{
    if (sasl->has_begun)
        return sasl->mechanism->go_on(sasl, from_broker, out, error);
    sasl->has_begun = true;
    return sasl->mechanism->begin(sasl, out, error);
}

void krc_sasl_free(struct krc_sasl *sasl)
{
    if (sasl == NULL)
        return;
    krc_scram_end(&sasl->scram);
    krc_token_free(sasl->token);
    free(sasl);
}
