#include "security/token_curl.h"

#ifdef KRC_WITH_CURL

#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define URL "sasl.oauthbearer.token.endpoint.url"

/* libcurl is loaded where it is needed: with all that it needs itself, it takes 4 MB and doubles
 * the time to start. */
static struct {
    CURLcode (*global_init)(long flags);
    CURL *(*init)(void);
    CURLcode (*set)(CURL *curl, CURLoption option, ...);
    CURLcode (*perform)(CURL *curl);
    CURLcode (*get)(CURL *curl, CURLINFO info, ...);
    const char *(*text_of)(CURLcode code);
    void (*cleanup)(CURL *curl);
    char why_not[200]; /* "": it is there */
} lib;

static void load(void)
{
    const struct {
        const char *name;
        void *to; /* a pointer to a function, as large as one to data (POSIX) */
    } symbols[] = {
        {"curl_global_init", &lib.global_init}, {"curl_easy_init", &lib.init},
        {"curl_easy_setopt", &lib.set},         {"curl_easy_perform", &lib.perform},
        {"curl_easy_getinfo", &lib.get},        {"curl_easy_strerror", &lib.text_of},
        {"curl_easy_cleanup", &lib.cleanup},
    };
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    bool is_there = handle != NULL;
    for (size_t i = 0; is_there && i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        memcpy(symbols[i].to, &symbol, sizeof symbol);
        is_there = symbol != NULL;
    }
    if (!is_there)
        snprintf(lib.why_not, sizeof lib.why_not, "%s", dlerror());
    else if (lib.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        snprintf(lib.why_not, sizeof lib.why_not, "it does not start");
}

int krc_post_check(krc_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (lib.why_not[0] == '\0')
        return KRC_OK;
    return krc_fail(error, KRC_E_UNSUPPORTED, "tokens are fetched by libcurl, which cannot be "
                    "loaded (%s): install libcurl4, or set sasl.oauthbearer.token.command",
                    lib.why_not);
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

/* Another value than 0 ends it. */
static int look(void *arg, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up)
{
    const atomic_bool *cancelled = arg;
    (void)total, (void)now, (void)up_total, (void)up;
    return cancelled != NULL && atomic_load(cancelled);
}

static bool set_up(CURL *curl, const struct krc_post *post, struct curl_slist *headers,
                   struct krc_buffer *answer, char *why)
{
    long connect_ms = (long)post->connect_ms, all_ms = connect_ms + (long)post->answer_ms;
    return lib.set(curl, CURLOPT_ERRORBUFFER, why) == CURLE_OK &&
           lib.set(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           lib.set(curl, CURLOPT_URL, post->url) == CURLE_OK &&
           lib.set(curl, CURLOPT_POSTFIELDS, post->form) == CURLE_OK &&
           lib.set(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
           lib.set(curl, CURLOPT_CONNECTTIMEOUT_MS, connect_ms) == CURLE_OK &&
           lib.set(curl, CURLOPT_TIMEOUT_MS, all_ms) == CURLE_OK &&
           lib.set(curl, CURLOPT_WRITEFUNCTION, take) == CURLE_OK &&
           lib.set(curl, CURLOPT_WRITEDATA, answer) == CURLE_OK &&
           lib.set(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           lib.set(curl, CURLOPT_XFERINFOFUNCTION, look) == CURLE_OK &&
           lib.set(curl, CURLOPT_XFERINFODATA, post->cancelled) == CURLE_OK &&
           (post->authorities == NULL ||
            lib.set(curl, CURLOPT_CAINFO, post->authorities) == CURLE_OK);
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
                    why[0] != '\0' ? why : lib.text_of(code));
}

static int post_with(CURL *curl, const struct krc_post *post, struct krc_buffer *answer,
                     krc_error *error)
{
    char why[CURL_ERROR_SIZE] = "", accept[] = "Accept: application/json";
    struct curl_slist second = {accept, NULL}, headers = {post->authorization, &second};
    long status = 0;
    if (!set_up(curl, post, &headers, answer, why))
        return krc_fail(error, KRC_E_NOMEM, "out of memory for libcurl");
    CURLcode code = lib.perform(curl);
    if (code != CURLE_OK)
        return fail(code, why, error);
    lib.get(curl, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

/* A server that closes a TLS connection may make a write to it raise SIGPIPE, which is taken off
 * this thread before the application's handler, or the default, gets it. */
int krc_post(const struct krc_post *post, struct krc_buffer *answer, krc_error *error)
{
    sigset_t broken_pipe, before;
    KRC_TRY(krc_post_check(error));
    KRC_TRY(krc_buffer_reserve(answer, KRC_ANSWER_MOST, error));
    CURL *curl = lib.init();
    if (curl == NULL)
        return krc_fail(error, KRC_E_NOMEM, "out of memory for libcurl");
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
    int rc = post_with(curl, post, answer, error);
    lib.cleanup(curl);
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
