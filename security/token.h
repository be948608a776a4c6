/*
 * An OAUTHBEARER token, from a file or a command's output.
 */
#ifndef KRC_SECURITY_TOKEN_H
#define KRC_SECURITY_TOKEN_H

#include "base/error.h"

/* One of both is set. */
struct krc_token_source {
    const char *file;
    const char *command; /* of the shell */
};

/* Reads it anew; takes as long as the file or the command does.  KRC_E_NOT_FOUND, KRC_E_IO: the
 * file; KRC_E_REFUSED: the command fails; KRC_E_INVALID: that is no token. */
int krc_token_get(const struct krc_token_source *source, char **token,
                  krc_error *error) KRC_MUST_USE;
void krc_token_free(char *token); /* wiped; NULL is fine */

/* The same for another thread: what is read from is copied. */
struct krc_token_job {
    char *file, *command;
    char *token; /* NULL: none, and why is in... */
    int rc;
    krc_error error;
    void *arg;
};
struct krc_token_job *krc_token_job_new(const struct krc_token_source *source, void *arg);
void krc_token_job_run(void *job);
void krc_token_job_free(struct krc_token_job *job); /* NULL is fine */

#endif
