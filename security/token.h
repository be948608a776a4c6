/*
 * An OAUTHBEARER token: from a file, a command's output, or a server that gives it to those who
 * know a client's secret (OAuth 2.0's client credentials, RFC 6749, section 4.4).
 */
#ifndef KRC_SECURITY_TOKEN_H
#define KRC_SECURITY_TOKEN_H

#include <stdatomic.h>

#include "base/error.h"

struct krc_token_source {
    const char *file, *command, *url; /* one of them is set; the command is the shell's */
    const atomic_bool *cancelled;     /* it is given up then; NULL: never */

    /* of the URL: */
    const char *client_id, *client_secret;
    const char *scope;       /* NULL or "": the server's choice */
    const char *authorities; /* a PEM file of those that are trusted; NULL: the system's */
    bool encodes;            /* id and secret (sasl.oauthbearer.header.urlencode) */
    int64_t connect_ms, answer_ms;
};

/* Reads it anew; takes as long as the file, the command or the server does.  KRC_E_NOT_FOUND: the
 * file; KRC_E_REFUSED: the command fails, the server refuses, or is not to be trusted;
 * KRC_E_INVALID: that is no token, no URL, no file of authorities; KRC_E_TOO_LARGE; KRC_E_TIMEOUT:
 * the server; KRC_E_IO: the file, or the server is out of reach or out of order;
 * KRC_E_UNSUPPORTED: there is no libcurl for URLs. */
int krc_token_get(const struct krc_token_source *source, char **token,
                  krc_error *error) KRC_MUST_USE;
void krc_token_free(char *token); /* wiped; NULL is fine */

/* Of the token that a text begins with (RFC 6750's b64token); 0: it begins with none. */
size_t krc_token_length(const char *text);

/* The same for another thread: what is read from is copied. */
enum { KRC_TOKEN_TEXTS = 7 };
struct krc_token_job {
    struct krc_token_source source;
    char *texts[KRC_TOKEN_TEXTS]; /* the source's */
    atomic_bool cancelled; /* by whom it is not waited for any more */
    char *token; /* NULL: none, and why is in... */
    int rc;
    krc_error error;
    void *arg;
};
struct krc_token_job *krc_token_job_new(const struct krc_token_source *source, void *arg);
void krc_token_job_run(void *job);
void krc_token_job_free(struct krc_token_job *job); /* wiped; NULL is fine */

/* There is no token, and asking again may help. */
bool krc_token_may_come(const struct krc_token_job *job);

#endif
