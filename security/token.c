#include "security/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { TOKEN_MOST = 1 << 20 };

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
        rc = krc_fail(error, KRC_E_TOO_LARGE, "what %s gives is no token: it is over %d bytes", what,
                      TOKEN_MOST);
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

static int from_command(const char *command, char **text, krc_error *error)
{
    static const char what[] = "sasl.oauthbearer.token.command";
    FILE *output = popen(command, "re");
    if (output == NULL)
        return krc_fail_errno(error, "cannot run %s", what);
    int rc = read_all(output, what, text, error);
    int status = pclose(output);
    if (rc < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return rc;
    krc_token_free(*text);
    *text = NULL;
    return WIFEXITED(status) ? krc_fail(error, KRC_E_REFUSED, "%s ends with exit status %d", what,
                                        WEXITSTATUS(status))
                             : krc_fail(error, KRC_E_REFUSED, "%s is killed by signal %d", what,
                                        WTERMSIG(status));
}

/* RFC 6750's b64token, with blanks and a newline behind it. */
static bool is_token(char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-._~+/";
    size_t len = strspn(text, letters);
    size_t all = len == 0 ? 0 : len + strspn(text + len, "=");
    if (all == 0 || text[all + strspn(text + all, " \t\r\n")] != '\0')
        return false;
    text[all] = '\0';
    return true;
}

int krc_token_get(const struct krc_token_source *source, char **token, krc_error *error)
{
    bool is_file = source->file != NULL;
    *token = NULL;
    KRC_TRY(is_file ? from_file(source->file, token, error)
                    : from_command(source->command, token, error));
    if (is_token(*token))
        return KRC_OK;
    krc_token_free(*token);
    *token = NULL;
    return krc_fail(error, KRC_E_INVALID, "what %s gives is no token",
                    is_file ? source->file : "sasl.oauthbearer.token.command");
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
    job->file = source->file == NULL ? NULL : strdup(source->file);
    job->command = source->command == NULL ? NULL : strdup(source->command);
    if (job->file != NULL || job->command != NULL)
        return job;
    free(job);
    return NULL;
}

void krc_token_job_run(void *arg)
{
    struct krc_token_job *job = arg;
    const struct krc_token_source source = {job->file, job->command};
    job->rc = krc_token_get(&source, &job->token, &job->error);
}

void krc_token_job_free(struct krc_token_job *job)
{
    if (job == NULL)
        return;
    krc_token_free(job->token);
    free(job->file);
    free(job->command);
    free(job);
}
