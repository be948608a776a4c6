/*
 * A form that is posted over HTTP, by libcurl where the build has it.
 */
#ifndef KRC_SECURITY_TOKEN_CURL_H
#define KRC_SECURITY_TOKEN_CURL_H

#include <stdatomic.h>

#include "base/buffer.h"

enum { KRC_ANSWER_MOST = 1 << 20 }; /* bytes of an answer */

struct krc_post {
    const char *url;         /* http:, https: */
    char *authorization;     /* the header, with its name */
    const char *form;
    const char *authorities; /* a PEM file; NULL: the system's */
    int64_t connect_ms, answer_ms;
    const atomic_bool *cancelled; /* ends it within a second; NULL: never */
};

/* KRC_E_UNSUPPORTED: this build, or this machine, has no libcurl. */
int krc_post_check(krc_error *error) KRC_MUST_USE;

/* Waits for the answer, and returns its status (200 and such).  Redirections are not followed.
 * KRC_E_TIMEOUT, KRC_E_IO: there is none; KRC_E_REFUSED: the server's certificate is not trusted;
 * KRC_E_INVALID: the URL, or the file of authorities; KRC_E_TOO_LARGE; KRC_E_UNSUPPORTED.  The
 * answer is to be wiped in any case. */
int krc_post(const struct krc_post *post, struct krc_buffer *answer,
             krc_error *error) KRC_MUST_USE;

#endif
