#include "security/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "security/json.h"
#include "security/token_command.h"
#include "security/token_curl.h"

enum { TOKEN_MOST = 1 << 20 };

/* ---- From a file, from a command ------------------------------------------------------------ */

/* All that the stream gives, as text. */
static int read_all(FILE *from, const char *what, char **text, krc_error *error)
{
    char *buffer = malloc(TOKEN_MOST + 1);
    if (buffer == NULL)
        return krc_fail_nomem(error, TOKEN_MOST + 1);
    size_t len = fread(buffer, 1, TOKEN_MOST + 1, from);
    int rc = KRC_OK;
    if (ferror(from))
        rc = krc_fail_errno(error, "cannot read the token from %s", what);
    else if (len > TOKEN_MOST)
        rc = krc_fail(error, KRC_E_TOO_LARGE, "what %s gives is no token: it is over %d bytes",
                      what, TOKEN_MOST);
    if (rc < 0) {
        explicit_bzero(buffer, len);
        free(buffer);
        return rc;
    }
    buffer[len] = '\0';
    *text = buffer;
    return KRC_OK;
}

static int from_file(const char *path, char **text, krc_error *error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return krc_fail_errno(error, "cannot open the token's file %s", path);
    int rc = read_all(file, path, text, error);
    fclose(file);
    return rc;
}

static int from_command(const struct krc_token_source *source, char **text, krc_error *error)
{
    struct krc_buffer out = {0};
    int rc = krc_command_output(source->command, source->cancelled, TOKEN_MOST, &out, error);
    if (rc >= 0) {
        out.data[out.len] = '\0';
        *text = strdup((char *)out.data);
        rc = *text == NULL ? krc_fail_nomem(error, out.len + 1) : KRC_OK;
    }
    krc_buffer_wipe(&out);
    return rc;
}

/* ---- From a server -------------------------------------------------------------------------- */

#define URL "sasl.oauthbearer.token.endpoint.url"

/* As values of a form are written: there is room for three letters of each. */
static void write_encoded(struct krc_buffer *out, const char *text)
{
    static const char as_they_are[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789*-._";
    static const char digits[] = "0123456789ABCDEF";
    for (; *text != '\0'; text++) {
        uint8_t c = (uint8_t)*text;
        if (strchr(as_they_are, c) != NULL || c == ' ') {
            out->data[out->len++] = c == ' ' ? '+' : c;
        } else {
            out->data[out->len++] = '%';
            out->data[out->len++] = (uint8_t)digits[c >> 4];
            out->data[out->len++] = (uint8_t)digits[c & 15];
        }
    }
}

/* ID:SECRET.  There is room for all of it first: a buffer that grows leaves what it held behind. */
static int write_credentials(const struct krc_token_source *source, struct krc_buffer *out,
                             krc_error *error)
{
    size_t id_len = strlen(source->client_id), secret_len = strlen(source->client_secret);
    KRC_TRY(krc_buffer_reserve(out, 3 * (id_len + secret_len) + 1, error));
    if (!source->encodes) {
        KRC_TRY(krc_buffer_append(out, source->client_id, id_len, error));
        KRC_TRY(krc_buffer_append(out, ":", 1, error));
        return krc_buffer_append(out, source->client_secret, secret_len, error);
    }
    write_encoded(out, source->client_id);
    KRC_TRY(krc_buffer_append(out, ":", 1, error));
    write_encoded(out, source->client_secret);
    return KRC_OK;
}

static int write_authorization(const struct krc_token_source *source, struct krc_buffer *out,
                               krc_error *error)
{
    static const char start[] = "Authorization: Basic ";
    struct krc_buffer credentials = {0};
    int rc = write_credentials(source, &credentials, error);
    struct krc_bytes bytes = {credentials.data, credentials.len};
    if (rc >= 0)
        rc = krc_buffer_reserve(out, sizeof start + krc_base64_size(bytes.len), error);
    if (rc >= 0) {
        memcpy(out->data, start, sizeof start - 1);
        *krc_base64_encode(out->data + sizeof start - 1, bytes) = '\0';
        out->len = sizeof start + krc_base64_size(bytes.len);
    }
    krc_buffer_wipe(&credentials);
    return rc;
}

static int write_form(const char *scope, struct krc_buffer *out, krc_error *error)
{
    static const char form[] = "grant_type=client_credentials", name[] = "&scope=";
    bool has_scope = scope != NULL && scope[0] != '\0';
    KRC_TRY(krc_buffer_append(out, form, sizeof form - 1, error));
    if (has_scope) {
        KRC_TRY(krc_buffer_append(out, name, sizeof name - 1, error));
        KRC_TRY(krc_buffer_reserve(out, out->len + 3 * strlen(scope), error));
        write_encoded(out, scope);
    }
    return krc_buffer_append(out, "", 1, error);
}

/* What the server says of itself under that name; "": nothing. */
static void find_reason(const struct krc_token_source *source, struct krc_bytes answer,
                        const char *name, char *text, size_t size)
{
    if (!krc_json_text(answer, name, text, size) || strstr(text, source->client_secret) != NULL)
        text[0] = '\0';
}

/*
 * What a server refuses with (RFC 6749, section 5.2):
 *      {"error":"invalid_client","error_description":"..."}
 */
static int refuse(const struct krc_token_source *source, int status, struct krc_bytes answer,
                  krc_error *error)
{
    char name[64], description[400];
    find_reason(source, answer, "error", name, sizeof name);
    find_reason(source, answer, "error_description", description, sizeof description);
    return krc_fail(error, status >= 500 ? KRC_E_IO : KRC_E_REFUSED,
                    URL " answers with status %d%s%s%s%s", status, name[0] != '\0' ? ": " : "",
                    name, description[0] != '\0' ? ": " : "", description);
}

/*
 * What it answers else:
 *      {"access_token":"...","token_type":"Bearer",...}
 */
static int take_answer(struct krc_bytes answer, char **text, krc_error *error)
{
    size_t size = answer.len + 1;
    *text = calloc(1, size);
    if (*text == NULL)
        return krc_fail_nomem(error, size);
    if (krc_json_text(answer, "access_token", *text, size))
        return KRC_OK;
    krc_token_free(*text);
    *text = NULL;
    return krc_fail(error, KRC_E_INVALID, "what " URL " answers has no access_token in it");
}

static int from_url(const struct krc_token_source *source, char **text, krc_error *error)
{
    struct krc_buffer authorization = {0}, form = {0}, answer = {0};
    int rc = write_authorization(source, &authorization, error);
    if (rc >= 0)
        rc = write_form(source->scope, &form, error);
    if (rc >= 0)
        rc = krc_post(&(struct krc_post){.url = source->url,
                                         .authorization = (char *)authorization.data,
                                         .form = (char *)form.data,
                                         .authorities = source->authorities,
                                         .connect_ms = source->connect_ms,
                                         .answer_ms = source->answer_ms,
                                         .cancelled = source->cancelled}, &answer, error);
    struct krc_bytes got = {answer.data, answer.len};
    if (rc >= 0)
        rc = rc == 200 ? take_answer(got, text, error) : refuse(source, rc, got, error);
    krc_buffer_wipe(&authorization);
    krc_buffer_free(&form);
    krc_buffer_wipe(&answer);
    return rc;
}

/* ---- Any of them ---------------------------------------------------------------------------- */

size_t krc_token_length(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-._~+/";
    size_t len = strspn(text, letters);
    return len == 0 ? 0 : len + strspn(text + len, "=");
}

/* Blanks and a newline behind it are cut off. */
static bool is_token(char *text)
{
    size_t len = krc_token_length(text);
    if (len == 0 || text[len + strspn(text + len, " \t\r\n")] != '\0')
        return false;
    text[len] = '\0';
    return true;
}

int krc_token_get(const struct krc_token_source *source, char **token, krc_error *error)
{
    const char *what = source->file != NULL  ? source->file
                       : source->url != NULL ? URL
                                             : "sasl.oauthbearer.token.command";
    *token = NULL;
    KRC_TRY(source->file != NULL  ? from_file(source->file, token, error)
            : source->url != NULL ? from_url(source, token, error)
                                  : from_command(source, token, error));
    if (is_token(*token))
        return KRC_OK;
    krc_token_free(*token);
    *token = NULL;
    return krc_fail(error, KRC_E_INVALID, "what %s gives is no token", what);
}

void krc_token_free(char *token)
{
    if (token != NULL)
        explicit_bzero(token, strlen(token));
    free(token);
}

/* ---- In another thread ---------------------------------------------------------------------- */

struct krc_token_job *krc_token_job_new(const struct krc_token_source *source, void *arg)
{
    struct krc_token_job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return NULL;
    job->arg = arg;
    job->source = *source;
    job->source.cancelled = &job->cancelled;
    const char **texts[KRC_TOKEN_TEXTS] = {
        &job->source.file,          &job->source.command, &job->source.url,
        &job->source.client_id,     &job->source.client_secret, &job->source.scope,
        &job->source.authorities};
    for (size_t i = 0; i < KRC_TOKEN_TEXTS; i++) {
        if (*texts[i] != NULL && (job->texts[i] = strdup(*texts[i])) == NULL) {
            krc_token_job_free(job);
            return NULL;
        }
        *texts[i] = job->texts[i];
    }
    return job;
}

void krc_token_job_run(void *arg)
{
    struct krc_token_job *job = arg;
    job->rc = krc_token_get(&job->source, &job->token, &job->error);
}

bool krc_token_may_come(const struct krc_token_job *job)
{
    return job->source.url != NULL && (job->rc == KRC_E_IO || job->rc == KRC_E_TIMEOUT);
}

void krc_token_job_free(struct krc_token_job *job)
{
    if (job == NULL)
        return;
    krc_token_free(job->token);
    for (size_t i = 0; i < KRC_TOKEN_TEXTS; i++)
        krc_token_free(job->texts[i]); /* one of them is a secret */
    free(job);
}
