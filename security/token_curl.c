#include "security/token_curl.h"

#ifdef KRC_WITH_CURL

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define URL "sasl.oauthbearer.token.endpoint.url"

static CURLcode begun;

static void begin_curl(void)
{
    begun = curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* All of the room is taken before: a buffer that grows leaves what it held behind. */
static size_t take(char *data, size_t size, size_t count, void *arg)
{
    struct krc_buffer *answer = arg;
    size_t len = size * count;
    if (len > answer->capacity - answer->len)
        return 0;
    memcpy(answer->data + answer->len, data, len);
    answer->len += len;
    return len;
}

static bool set_up(CURL *curl, const struct krc_post *post, struct curl_slist *headers,
                   struct krc_buffer *answer, char *why)
{
    long connect_ms = (long)post->connect_ms, all_ms = connect_ms + (long)post->answer_ms;
    return curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_URL, post->url) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POSTFIELDS, post->form) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, connect_ms) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, all_ms) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer) == CURLE_OK &&
           (post->authorities == NULL ||
            curl_easy_setopt(curl, CURLOPT_CAINFO, post->authorities) == CURLE_OK);
}

/* Only what may be otherwise the next time is KRC_E_IO or KRC_E_TIMEOUT. */
static int code_of(CURLcode code)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return KRC_E_TIMEOUT;
    case CURLE_PEER_FAILED_VERIFICATION:
        return KRC_E_REFUSED;
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CACERT_BADFILE:
        return KRC_E_INVALID;
    default:
        return KRC_E_IO;
    }
}

static int fail(CURLcode code, const char *why, krc_error *error)
{
    if (code == CURLE_WRITE_ERROR)
        return krc_fail(error, KRC_E_TOO_LARGE, "what " URL " answers is over %d bytes",
                        KRC_ANSWER_MOST);
    return krc_fail(error, code_of(code), "no token from " URL ": %s",
                    why[0] != '\0' ? why : curl_easy_strerror(code));
}

static int post_with(CURL *curl, const struct krc_post *post, struct krc_buffer *answer,
                     krc_error *error)
{
    char why[CURL_ERROR_SIZE] = "", accept[] = "Accept: application/json";
    struct curl_slist second = {accept, NULL}, headers = {post->authorization, &second};
    long status = 0;
    if (!set_up(curl, post, &headers, answer, why))
        return krc_fail(error, KRC_E_NOMEM, "out of memory for libcurl");
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK)
        return fail(code, why, error);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

int krc_post_check(krc_error *error)
{
    (void)error;
    return KRC_OK;
}

/* A server that closes a TLS connection may make a write to it raise SIGPIPE, which is taken off
 * this thread before the application's handler, or the default, gets it. */
int krc_post(const struct krc_post *post, struct krc_buffer *answer, krc_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    sigset_t broken_pipe, before;
    pthread_once(&once, begin_curl);
    KRC_TRY(krc_buffer_reserve(answer, KRC_ANSWER_MOST, error));
    CURL *curl = begun == CURLE_OK ? curl_easy_init() : NULL;
    if (curl == NULL)
        return krc_fail(error, KRC_E_NOMEM, "libcurl does not start");
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    int rc = post_with(curl, post, answer, error);
    curl_easy_cleanup(curl);
    sigtimedwait(&broken_pipe, NULL, &(struct timespec){0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

#else

int krc_post_check(krc_error *error)
{
    return krc_fail(error, KRC_E_UNSUPPORTED, "this krc was built without libcurl, and fetches no "
                    "tokens by HTTP: install libcurl4-openssl-dev and build it anew, or set "
                    "sasl.oauthbearer.token.command");
}

int krc_post(const struct krc_post *post, struct krc_buffer *answer, krc_error *error)
{
    (void)post, (void)answer;
    return krc_post_check(error);
}

#endif
