#include "security/scram.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/utf8.h"

/* Kafka refuses fewer iterations; so many take about a second. */
enum { FEWEST_ITERATIONS = 4096, MOST_ITERATIONS = 1000000 };

enum { MOST_MESSAGE = 4096, MOST_DECODED = MOST_MESSAGE / 4 * 3 };

static int append_text(struct krc_buffer *to, const char *text, krc_error *error)
{
    return krc_buffer_append(to, text, strlen(text), error);
}

/* ---- Name and password ---------------------------------------------------------------------- */

/*
 * RFC 5802 wants both prepared by SASLprep (RFC 4013).  Kafka takes their UTF-8 as it is, in its
 * client and in what stores credentials (ScramFormatter's normalize): to prepare them here would
 * make other keys than are stored.  Of what SASLprep prohibits, control characters are refused.
 */
static bool is_text(const char *chars)
{
    const uint8_t *p = (const uint8_t *)chars;
    for (size_t left = strlen(chars), n; left > 0; p += n, left -= n) {
        n = *p < 0x80 ? 1 : krc_utf8_sequence(p, left);
        if (n == 0 || *p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
            return false;
    }
    return true;
}

int krc_scram_check(const struct krc_sasl_settings *settings, krc_error *error)
{
    bool name = is_text(settings->username);
    if (name && is_text(settings->password))
        return KRC_OK;
    return krc_fail(error, KRC_E_INVALID,
                    "the %s for SCRAM is no UTF-8, or has control characters in it",
                    name ? "password" : "user name");
}

/* "=" and "," are written as =3D and =2C. */
static int append_name(struct krc_buffer *to, const char *name, krc_error *error)
{
    for (;; name++) {
        size_t plain = strcspn(name, "=,");
        KRC_TRY(krc_buffer_append(to, name, plain, error));
        name += plain;
        if (*name == '\0')
            return KRC_OK;
        KRC_TRY(append_text(to, *name == '=' ? "=3D" : "=2C", error));
    }
}

/* ---- client-first --------------------------------------------------------------------------- */

int krc_scram_begin(struct krc_scram *scram, const struct krc_sasl_settings *settings,
                    const char *nonce, struct krc_buffer *out, krc_error *error)
{
    struct krc_buffer *auth = &scram->auth;
    *scram = (struct krc_scram){
        .digest = settings->mechanism == KRC_SASL_SCRAM_SHA_512 ? KRC_SHA512 : KRC_SHA256,
        .password = settings->password,
    };
    snprintf(scram->nonce, sizeof scram->nonce, "%s", nonce);
    KRC_TRY(append_text(auth, "n=", error));
    KRC_TRY(append_name(auth, settings->username, error));
    KRC_TRY(append_text(auth, ",r=", error));
    KRC_TRY(append_text(auth, scram->nonce, error));
    KRC_TRY(append_text(auth, settings->is_token ? ",tokenauth=true" : "", error));
    KRC_TRY(append_text(out, "n,,", error));
    KRC_TRY(krc_buffer_append(out, auth->data, auth->len, error));
    return 1;
}

/* ---- Messages of the broker ----------------------------------------------------------------- */

/* Takes NAME=VALUE off the front of a message: up to its end, or to a comma with more behind it. */
static bool take(struct krc_bytes *message, char name, struct krc_bytes *value)
{
    const uint8_t *p = message->data;
    if (message->len < 3 || p[0] != name || p[1] != '=')
        return false;
    const uint8_t *comma = memchr(p, ',', message->len);
    size_t len = comma != NULL ? (size_t)(comma - p) : message->len;
    size_t behind = comma != NULL ? len + 1 : len;
    if (len < 3 || (comma != NULL && behind == message->len))
        return false;
    *value = (struct krc_bytes){p + 2, len - 2};
    *message = (struct krc_bytes){p + behind, message->len - behind};
    return true;
}

/* An attribute m, which may not be ignored by who does not know what it demands; none is known. */
static bool demands_extension(struct krc_bytes message)
{
    return message.len > 0 && (memmem(message.data, message.len, ",m=", 3) != NULL ||
                               (message.len > 1 && memcmp(message.data, "m=", 2) == 0));
}

/* All of it from `first` on, up to the last printable character of ASCII. */
static bool is_printable(struct krc_bytes text, uint8_t first)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < first || text.data[i] > '~')
            return false;
    return true;
}

static int no_message(const char *name, krc_error *error)
{
    return krc_fail(error, KRC_E_CORRUPT, "its answer is no %s message of SCRAM", name);
}

/* A positive number, or MOST_ITERATIONS + 1 for any above that; 0: it is none. */
static int read_iterations(struct krc_bytes digits)
{
    int n = 0;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = digits.data[i] - '0';
        if (digit < 0 || digit > 9 || (i == 0 && digit == 0))
            return 0;
        n = n <= MOST_ITERATIONS ? n * 10 + digit : n;
    }
    return n <= MOST_ITERATIONS ? n : MOST_ITERATIONS + 1;
}

struct challenge {
    struct krc_bytes nonce; /* both sides' */
    uint8_t salt[MOST_DECODED];
    size_t salt_len;
    int iterations;
};

/*
 * server-first:
 *      r=NONCE       ours, and more: printable, without a comma
 *      ,s=SALT       base64
 *      ,i=ITERATIONS
 *      attributes that may be ignored
 */
static int read_challenge(const struct krc_scram *scram, struct krc_bytes message,
                          struct challenge *c, krc_error *error)
{
    size_t ours = strlen(scram->nonce);
    struct krc_bytes salt, iterations;
    if (!take(&message, 'r', &c->nonce) || !is_printable(c->nonce, '!') ||
        !take(&message, 's', &salt) || !krc_base64_decode(c->salt, &c->salt_len, salt) ||
        !take(&message, 'i', &iterations) || (c->iterations = read_iterations(iterations)) == 0)
        return no_message("first", error);
    if (c->nonce.len <= ours || memcmp(c->nonce.data, scram->nonce, ours) != 0)
        return krc_fail(error, KRC_E_REFUSED,
                        "its nonce does not begin with ours: it answers another exchange");
    if (c->iterations < FEWEST_ITERATIONS || c->iterations > MOST_ITERATIONS)
        return krc_fail(error, KRC_E_REFUSED,
                        "it asks for %.*s iterations of SCRAM, and %d to %d are what is done",
                        iterations.len < 20 ? (int)iterations.len : 20,
                        (const char *)iterations.data, FEWEST_ITERATIONS, MOST_ITERATIONS);
    return KRC_OK;
}

/* ---- client-final --------------------------------------------------------------------------- */

struct keys {
    uint8_t salted[KRC_DIGEST_MOST], client[KRC_DIGEST_MOST], stored[KRC_DIGEST_MOST];
    uint8_t server[KRC_DIGEST_MOST], proof[KRC_DIGEST_MOST];
};

/*
 *      salted password  PBKDF2(password, salt, iterations)
 *      client key       HMAC(salted password, "Client Key")
 *      stored key       H(client key)
 *      proof            client key XOR HMAC(stored key, auth)
 *      server key       HMAC(salted password, "Server Key")
 *      signature        HMAC(server key, auth)
 */
static int compute(struct krc_scram *scram, const struct challenge *c, struct keys *k,
                   krc_error *error)
{
    enum krc_digest digest = scram->digest;
    size_t size = krc_digest_size(digest);
    struct krc_bytes password = krc_bytes_of(scram->password), salt = {c->salt, c->salt_len};
    struct krc_bytes salted = {k->salted, size}, auth = {scram->auth.data, scram->auth.len};
    KRC_TRY(krc_pbkdf2(digest, password, salt, c->iterations, k->salted, error));
    KRC_TRY(krc_hmac(digest, salted, krc_bytes_of("Client Key"), k->client, error));
    KRC_TRY(krc_digest(digest, (struct krc_bytes){k->client, size}, k->stored, error));
    KRC_TRY(krc_hmac(digest, (struct krc_bytes){k->stored, size}, auth, k->proof, error));
    KRC_TRY(krc_hmac(digest, salted, krc_bytes_of("Server Key"), k->server, error));
    KRC_TRY(krc_hmac(digest, (struct krc_bytes){k->server, size}, auth, scram->signature, error));
    for (size_t i = 0; i < size; i++)
        k->proof[i] ^= k->client[i];
    return KRC_OK;
}

/* Completes what is signed; from `final_at` on it is client-final but for its proof. */
static int complete_auth(struct krc_scram *scram, struct krc_bytes server_first,
                         struct krc_bytes nonce, size_t *final_at, krc_error *error)
{
    struct krc_buffer *auth = &scram->auth;
    KRC_TRY(append_text(auth, ",", error));
    KRC_TRY(krc_buffer_append(auth, server_first.data, server_first.len, error));
    KRC_TRY(append_text(auth, ",", error));
    *final_at = auth->len;
    KRC_TRY(append_text(auth, "c=biws,r=", error)); /* "n,,": no channel binding */
    return krc_buffer_append(auth, nonce.data, nonce.len, error);
}

static int append_final(const struct krc_scram *scram, size_t final_at, const uint8_t *proof,
                        struct krc_buffer *out, krc_error *error)
{
    size_t size = krc_digest_size(scram->digest);
    KRC_TRY(krc_buffer_append(out, scram->auth.data + final_at, scram->auth.len - final_at, error));
    KRC_TRY(append_text(out, ",p=", error));
    KRC_TRY(krc_buffer_reserve(out, out->len + krc_base64_size(size), error));
    krc_base64_encode(out->data + out->len, (struct krc_bytes){proof, size});
    out->len += krc_base64_size(size);
    return KRC_OK;
}

static int prove(struct krc_scram *scram, struct krc_bytes server_first, struct krc_buffer *out,
                 krc_error *error)
{
    struct challenge challenge;
    struct keys keys;
    size_t final_at;
    KRC_TRY(read_challenge(scram, server_first, &challenge, error));
    KRC_TRY(complete_auth(scram, server_first, challenge.nonce, &final_at, error));
    int rc = compute(scram, &challenge, &keys, error);
    if (rc == KRC_OK)
        rc = append_final(scram, final_at, keys.proof, out, error);
    explicit_bzero(&keys, sizeof keys);
    scram->has_proved = rc == KRC_OK;
    return rc < 0 ? rc : 1;
}

/* ---- server-final --------------------------------------------------------------------------- */

static int refused(struct krc_bytes why, krc_error *error)
{
    if (!is_printable(why, ' '))
        return no_message("final", error);
    return krc_fail(error, KRC_E_REFUSED, "it refuses the user or the password: %.*s",
                    why.len < 100 ? (int)why.len : 100, (const char *)why.data);
}

/*
 * server-final:
 *      v=SIGNATURE, base64; or e=ERROR
 *      attributes that may be ignored
 */
static int verify(const struct krc_scram *scram, struct krc_bytes message, krc_error *error)
{
    uint8_t signature[MOST_DECODED];
    size_t len, size = krc_digest_size(scram->digest);
    struct krc_bytes value;
    if (take(&message, 'e', &value))
        return refused(value, error);
    if (!take(&message, 'v', &value) || !krc_base64_decode(signature, &len, value))
        return no_message("final", error);
    if (len != size || !krc_same_bytes(signature, scram->signature, size))
        return krc_fail(error, KRC_E_REFUSED,
                        "its signature is wrong: it does not know the password, so it is not the "
                        "broker it says it is");
    return KRC_OK;
}

/* --------------------------------------------------------------------------------------------- */

int krc_scram_step(struct krc_scram *scram, struct krc_bytes from_broker, struct krc_buffer *out,
                   krc_error *error)
{
    if (from_broker.len > MOST_MESSAGE)
        return krc_fail(error, KRC_E_CORRUPT, "its answer has %zu bytes, too many for SCRAM",
                        from_broker.len);
    if (demands_extension(from_broker))
        return krc_fail(error, KRC_E_REFUSED, "it demands an extension of SCRAM that krc lacks");
    return scram->has_proved ? verify(scram, from_broker, error)
                             : prove(scram, from_broker, out, error);
}

void krc_scram_end(struct krc_scram *scram)
{
    krc_buffer_free(&scram->auth);
    explicit_bzero(scram, sizeof *scram);
}
