/*
 * Tokens from files, commands and a server on a loopback socket: what it is asked, and what comes
 * of each of its answers.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "security/token.h"
#include "security/token_curl.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static struct krc_token_source source;
static char *token;
static krc_error error;

static void setup(void)
{
    source = (struct krc_token_source){0};
    tempdir_make();
}

static void teardown(void)
{
    krc_token_free(token);
    token = NULL;
    tempdir_remove();
}

static void check_got(const char *expected)
{
    krc_token_free(token);
    int rc = krc_token_get(&source, &token, &error);
    ck_assert_msg(rc == KRC_OK, "%s", error.message);
    ck_assert_str_eq(token, expected);
}

static void check_none(int code, const char *words)
{
    krc_token_free(token);
    ck_assert_int_eq(krc_token_get(&source, &token, &error), code);
    ck_assert_ptr_null(token);
    ck_assert_msg(strstr(error.message, words) != NULL, "\"%s\" is not in \"%s\"", words,
                  error.message);
}

START_TEST(files)
{
    source.file = tempdir_path("token");
    check_none(KRC_E_NOT_FOUND, source.file);
    tempdir_write_text("token", "a.b-c_d~e+f/0==\r\n");
    check_got("a.b-c_d~e+f/0==");
    tempdir_write_text("token", "a b\n");
    check_none(KRC_E_INVALID, "is no token");
    tempdir_write_text("token", "");
    check_none(KRC_E_INVALID, "is no token");
    tempdir_write("token", "a\0b", 3);
    check_got("a"); /* as a text ends */
}
END_TEST

START_TEST(commands)
{
    source.command = "echo a.b.c";
    check_got("a.b.c");
    source.command = "echo a.b.c; exit 3";
    check_none(KRC_E_REFUSED, "ends with exit status 3");
    source.command = "kill -9 $$";
    check_none(KRC_E_REFUSED, "is killed by signal 9");
    source.command = "yes a";
    check_none(KRC_E_TOO_LARGE, "it is over 1048576 bytes");
}
END_TEST

/* Nobody waits for it any more: it is killed, with what it began. */
START_TEST(a_command_that_hangs)
{
    source.command = "sleep 100 | sleep 100";
    struct krc_token_job *job = krc_token_job_new(&source, NULL);
    atomic_store(&job->cancelled, true);
    krc_token_job_run(job);
    ck_assert_int_eq(job->rc, KRC_E_TIMEOUT);
    krc_token_job_free(job);
}
END_TEST

/* An application that ignores SIGCHLD takes the exit status away. */
START_TEST(a_command_whose_end_is_not_seen)
{
    signal(SIGCHLD, SIG_IGN);
    source.command = "echo abc";
    ck_assert_int_eq(krc_token_get(&source, &token, &error), KRC_OK);
    ck_assert_str_eq(token, "abc");
    signal(SIGCHLD, SIG_DFL);
}
END_TEST

#ifdef KRC_WITH_CURL

/* ---- A server ------------------------------------------------------------------------------ */

#define SECRET "s3cret"
#define JSON "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "

static struct {
    int listener;
    pthread_t thread;
    char url[64];
    char request[4096];
    const char *answer;
    enum { CLOSES, WAITS, GOES_ON } then;
} server;

static bool is_whole(const char *request)
{
    const char *body = strstr(request, "\r\n\r\n"), *len = strstr(request, "Content-Length: ");
    return body != NULL && len != NULL && strlen(body + 4) >= (size_t)atoi(len + 16);
}

static void read_request(int fd)
{
    size_t len = 0;
    ssize_t n;
    while (!is_whole(server.request) &&
           (n = read(fd, server.request + len, sizeof server.request - 1 - len)) > 0) {
        len += (size_t)n;
        server.request[len] = '\0';
    }
}

static void *serve(void *arg)
{
    char block[4096];
    int fd = accept(server.listener, NULL, NULL);
    memset(block, 'a', sizeof block);
    server.request[0] = '\0';
    read_request(fd);
    ssize_t sent = send(fd, server.answer, strlen(server.answer), MSG_NOSIGNAL);
    while (sent >= 0 && server.then == GOES_ON)
        sent = send(fd, block, sizeof block, MSG_NOSIGNAL);
    if (server.then == WAITS)
        while (read(fd, block, sizeof block) > 0)
            ; /* until the other side closes */
    close(fd);
    return arg;
}

static void serve_with(const char *answer, int then)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    setenv("no_proxy", "*", 1);
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(server.listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(server.listener, 1), 0);
    ck_assert_int_eq(getsockname(server.listener, (struct sockaddr *)&address, &size), 0);
    snprintf(server.url, sizeof server.url, "http://127.0.0.1:%d/token", ntohs(address.sin_port));
    server.answer = answer;
    server.then = then;
    ck_assert_int_eq(pthread_create(&server.thread, NULL, serve, NULL), 0);
    source.url = server.url;
    source.client_id = "client";
    source.client_secret = SECRET;
    source.connect_ms = source.answer_ms = 60000;
}

static void end_server(void)
{
    pthread_join(server.thread, NULL);
    close(server.listener);
}

static void check_given(const char *answer, int then, const char *expected)
{
    serve_with(answer, then);
    check_got(expected);
    end_server();
}

static void check_refused(const char *answer, int then, int code, const char *words)
{
    serve_with(answer, then);
    check_none(code, words);
    end_server();
    ck_assert_ptr_null(strstr(error.message, SECRET));
}

static void check_asked(const char *line)
{
    ck_assert_msg(strstr(server.request, line) != NULL, "%s is not in:\n%s", line, server.request);
}

START_TEST(requests)
{
    static const char answer[] = JSON "20\r\n\r\n{\"access_token\":\"a\"}";
    check_given(answer, CLOSES, "a");
    ck_assert_int_eq(strncmp(server.request, "POST /token HTTP/1.1\r\n", 22), 0);
    check_asked("\r\nContent-Type: application/x-www-form-urlencoded\r\n");
    check_asked("\r\nAccept: application/json\r\n");
    check_asked("\r\nAuthorization: Basic Y2xpZW50OnMzY3JldA==\r\n");
    ck_assert_str_eq(strstr(server.request, "\r\n\r\n"), "\r\n\r\ngrant_type=client_credentials");
    source.scope = "a b:/\xc3\xa4*-._&";
    check_given(answer, CLOSES, "a");
    ck_assert_str_eq(strstr(server.request, "\r\n\r\n"),
                     "\r\n\r\ngrant_type=client_credentials&scope=a+b%3A%2F%C3%A4*-._%26");
}
END_TEST

/* What Kafka's clients send. */
START_TEST(credentials)
{
    static const char answer[] = JSON "20\r\n\r\n{\"access_token\":\"a\"}";
    serve_with(answer, CLOSES);
    source.client_id = "SOME_RANDOM_LONG_USER_01234";
    source.client_secret = "9Q|0`8i~ute-n9ksjLWb\\50\"AX@UUED5E";
    check_got("a");
    end_server();
    check_asked("\r\nAuthorization: Basic U09NRV9SQU5ET01fTE9OR19VU0VSXzAxMjM0OjlRfDBgOGl+dXRlLW45"
                "a3NqTFdiXDUwIkFYQFVVRUQ1RQ==\r\n");
    serve_with(answer, CLOSES);
    source.client_id = "user!@~'";
    source.client_secret = "secret-(*)!";
    source.encodes = true;
    check_got("a");
    end_server();
    check_asked("\r\nAuthorization: Basic dXNlciUyMSU0MCU3RSUyNzpzZWNyZXQtJTI4KiUyOSUyMQ==\r\n");
}
END_TEST

START_TEST(answers)
{
    check_given(JSON "66\r\n\r\n{\"token_type\":\"Bearer\",\"expires_in\":3599,"
                "\"access_token\":\"a.b-\\/c\"}", WAITS, "a.b-/c");
    check_given("HTTP/1.1 200 OK\r\n\r\n {\"x\":[{\"access_token\":\"no\"}], \"access_token\" : "
                "\"yes\"}", CLOSES, "yes");
    check_refused(JSON "2\r\n\r\n{}", CLOSES, KRC_E_INVALID, "has no access_token in it");
    check_refused(JSON "18\r\n\r\n{\"access_token\":1}", CLOSES, KRC_E_INVALID, "no access_token");
    check_refused(JSON "22\r\n\r\n{\"access_token\":\"a b\"}", CLOSES, KRC_E_INVALID,
                  "is no token");
    check_refused("HTTP/1.1 200 OK\r\n\r\n\1\2\3", CLOSES, KRC_E_INVALID, "no access_token");
    check_refused("220 ready for mail\r\n", CLOSES, KRC_E_IO, "no token from sasl.oauthbearer.");
    check_refused("", CLOSES, KRC_E_IO, "no token from sasl.oauthbearer.token.endpoint.url: ");
    check_refused(JSON "30\r\n\r\n{\"access_token\":\"a\"}", CLOSES, KRC_E_IO, "no token from");
    check_refused("HTTP/1.1 200 OK\r\n\r\n", GOES_ON, KRC_E_TOO_LARGE, "over 1048576 bytes");
}
END_TEST

START_TEST(refusals)
{
    check_refused("HTTP/1.1 401 Unauthorized\r\n\r\n{\"error\":\"invalid_client\","
                  "\"error_description\":\"no such\\r\\nclient, \\u0027\\u00e4\\u0027\"}", CLOSES,
                  KRC_E_REFUSED,
                  "answers with status 401: invalid_client: no such\\x0d\\x0aclient, '?'");
    check_refused("HTTP/1.1 400 Bad\r\n\r\n{\"error\":\"invalid_scope\"}", CLOSES, KRC_E_REFUSED,
                  "answers with status 400: invalid_scope");
    check_refused("HTTP/1.1 401 No\r\n\r\n{\"error\":\"x\",\"error_description\":\"not " SECRET
                  "!\"}", CLOSES, KRC_E_REFUSED, "answers with status 401: x");
    check_refused("HTTP/1.1 404 Not Found\r\n\r\n<html>", CLOSES, KRC_E_REFUSED,
                  "answers with status 404");
    check_refused("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", CLOSES,
                  KRC_E_REFUSED, "answers with status 302");
    check_refused("HTTP/1.1 503 Busy\r\n\r\n", CLOSES, KRC_E_IO, "answers with status 503");
}
END_TEST

START_TEST(nobody_answers)
{
    serve_with("", WAITS);
    source.answer_ms = source.connect_ms = 100;
    check_none(KRC_E_TIMEOUT, "no token from sasl.oauthbearer.token.endpoint.url: ");
    end_server();
    check_none(KRC_E_IO, "no token from sasl.oauthbearer.token.endpoint.url: ");
}
END_TEST

START_TEST(what_cannot_be_asked)
{
    serve_with("", CLOSES);
    source.url = "http://127.0.0.1:port/";
    check_none(KRC_E_INVALID, "no token from sasl.oauthbearer.token.endpoint.url: ");
    char url[sizeof server.url + 1] = "https";
    strcat(url, server.url + strlen("http"));
    source.url = url;
    source.authorities = tempdir_path("none");
    check_none(KRC_E_INVALID, "none");
    end_server();
}
END_TEST

START_TEST(jobs)
{
    char secret[] = SECRET;
    serve_with("HTTP/1.1 503 Busy\r\n\r\n", CLOSES);
    source.client_secret = secret;
    struct krc_token_job *job = krc_token_job_new(&source, NULL);
    memset(secret, 'x', strlen(secret)); /* it has its own */
    krc_token_job_run(job);
    end_server();
    check_asked("\r\nAuthorization: Basic Y2xpZW50OnMzY3JldA==\r\n");
    ck_assert_int_eq(job->rc, KRC_E_IO);
    ck_assert(krc_token_may_come(job));
    krc_token_job_free(job);
    source = (struct krc_token_source){.command = "exit 1"};
    job = krc_token_job_new(&source, NULL);
    krc_token_job_run(job);
    ck_assert_int_eq(job->rc, KRC_E_REFUSED);
    ck_assert(!krc_token_may_come(job));
    krc_token_job_free(job);
}
END_TEST

#else

START_TEST(urls)
{
    source.url = "https://127.0.0.1/";
    source.client_id = source.client_secret = "x";
    check_none(KRC_E_UNSUPPORTED, "libcurl4-openssl-dev");
    ck_assert_int_eq(krc_post_check(&error), KRC_E_UNSUPPORTED);
}
END_TEST

#endif

int main(void)
{
    const TTest *tests[] = {
        files,
        commands,
        a_command_that_hangs,
        a_command_whose_end_is_not_seen,
#ifdef KRC_WITH_CURL
        requests,
        credentials,
        answers,
        refusals,
        nobody_answers,
        what_cannot_be_asked,
        jobs,
#else
        urls,
#endif
    };
    return run_tests("token", tests, sizeof tests / sizeof *tests, setup, teardown);
}
