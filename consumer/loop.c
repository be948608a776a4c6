#include "consumer/loop.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#include "cluster/auth.h"
#include "consumer/secure.h"
#include "security/token.h"

enum { CIPHER_BYTES = 64 << 10, TOKEN_TRIES = 2 }; /* a token's file may be written just now */

struct krc_loop {
    uv_loop_t own;
    uv_loop_t *uv; /* its own, or the application's */
    uv_timer_t timer;
    uv_async_t async;
    uv_prepare_t prepare; /* the application's loop: before it waits... */
    uv_check_t check;     /* ...and after */
    uv_idle_t idle;       /* keeps it from waiting */
    struct krc_cluster *cluster;
    bool (*turn)(void *arg);
    void *arg;
    int send_bytes, receive_bytes; /* -1: the system's choice */
    struct krc_tls_context *tls; /* NULL: none */
    const struct krc_token_source *token;
    uint8_t *cipher;             /* what was received of it; used up before the next is */
    int links, works;     /* that are not over */
    int handles;          /* that are open */
    bool closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

/* A connection's socket.  It outlives the connection until libuv has let it go. */
struct link {
    uv_tcp_t tcp;
    uv_getaddrinfo_t lookup;
    uv_connect_t connect;
    struct krc_loop *loop;
    struct krc_conn *conn; /* NULL: it is closed */
    struct krc_secure secure;
    struct krc_token_job *token_job; /* that is under way; NULL */
    bool has_tcp, has_lookup;
};

/* ---- Time ----------------------------------------------------------------------------------- */

int64_t krc_loop_now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}

static void on_timer(uv_timer_t *timer)
{
    (void)timer; /* it only ends a wait: what is due is done when what has arrived is taken */
}

/* It repeats until it is set anew: libuv runs timers that are due before it waits, and would then
 * wait without one. */
static void set_timer(struct krc_loop *loop, int64_t at_ms)
{
    if (at_ms == INT64_MAX) {
        uv_timer_stop(&loop->timer);
        return;
    }
    int64_t wait = at_ms - krc_loop_now_ms();
    uv_update_time(loop->uv);
    uv_timer_start(&loop->timer, on_timer, wait > 0 ? (uint64_t)wait : 0, 1);
}

static int64_t tick(struct krc_loop *loop)
{
    loop->cluster->now_ms = krc_loop_now_ms();
    return krc_cluster_tick(loop->cluster);
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* An application's loop has closed all that was ours. */
static void end_if_over(struct krc_loop *loop)
{
    if (!loop->closing || loop->uv == &loop->own || loop->handles > 0 || loop->links > 0 ||
        loop->works > 0)
        return;
    loop->closed(loop->closed_arg);
    free(loop->cipher);
    free(loop);
}

static void free_link(struct link *link)
{
    if (link->has_tcp || link->has_lookup || link->token_job != NULL)
        return;
    struct krc_loop *loop = link->loop;
    krc_tls_free(link->secure.tls);
    free(link);
    loop->links--;
    end_if_over(loop);
}

static void on_lookup(uv_getaddrinfo_t *lookup, int status, struct addrinfo *found)
{
    struct link *link = lookup->data;
    struct krc_conn *conn = link->conn;
    struct krc_address list[KRC_ADDRESSES_MOST];
    size_t count = 0;
    link->has_lookup = false;
    for (struct addrinfo *a = found; status == 0 && a != NULL && count < KRC_ADDRESSES_MOST;
         a = a->ai_next) {
        if (a->ai_addrlen > sizeof list->bytes)
            continue;
        memcpy(list[count].bytes, a->ai_addr, a->ai_addrlen);
        list[count++].len = a->ai_addrlen;
    }
    uv_freeaddrinfo(found);
    if (conn == NULL) {
        free_link(link);
        return;
    }
    link->loop->cluster->now_ms = krc_loop_now_ms();
    if (count > 0)
        krc_conn_resolved(conn, list, count);
    else
        krc_conn_failed(conn, true, "its name is not found: %s",
                        status == 0 ? "it has no address" : uv_strerror(status));
}

/* Numbers need no look-up. */
static bool is_number(const struct krc_conn *conn, struct krc_address *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (uv_ip4_addr(conn->host, conn->port, &v4) == 0) {
        memcpy(address->bytes, &v4, address->len = sizeof v4);
        return true;
    }
    if (uv_ip6_addr(conn->host, conn->port, &v6) == 0) {
        memcpy(address->bytes, &v6, address->len = sizeof v6);
        return true;
    }
    return false;
}

static struct link *new_link(struct krc_loop *loop, struct krc_conn *conn)
{
    struct link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return NULL;
    link->loop = loop;
    link->conn = conn;
    link->lookup.data = link->connect.data = link->tcp.data = link;
    conn->io = link;
    loop->links++;
    return link;
}

static void resolve(void *io, struct krc_conn *conn)
{
    struct krc_loop *loop = io;
    struct krc_address address;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
    char port[16];
    if (is_number(conn, &address)) {
        krc_conn_resolved(conn, &address, 1);
        return;
    }
    struct link *link = new_link(loop, conn);
    if (link == NULL) {
        krc_conn_failed(conn, false, "there is no memory to connect");
        return;
    }
    snprintf(port, sizeof port, "%d", (int)conn->port);
    int rc = uv_getaddrinfo(loop->uv, &link->lookup, on_lookup, conn->host, port, &hints);
    link->has_lookup = rc == 0;
    if (rc != 0)
        krc_conn_failed(conn, true, "its name cannot be looked up: %s", uv_strerror(rc));
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void on_space(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct link *link = handle->data;
    uint8_t *bytes = NULL;
    size_t len = 0;
    (void)suggested;
    if (link->secure.tls != NULL) {
        bytes = link->loop->cipher;
        len = CIPHER_BYTES;
    } else if (link->conn != NULL) {
        krc_conn_space(link->conn, &bytes, &len);
    }
    *buffer = uv_buf_init((char *)bytes, len > UINT32_MAX ? UINT32_MAX : (unsigned)len);
}

/* Nothing at all where something must come is another protocol; a part of it is the network. */
static void on_end(struct link *link, int status)
{
    struct krc_conn *conn = link->conn;
    bool shakes_hands = link->secure.tls != NULL && !link->secure.is_made;
    bool hearing = shakes_hands ? link->secure.is_heard : krc_conn_is_hearing(conn);
    bool refused = !hearing && (shakes_hands || conn->state == KRC_CONN_GREETING);
    if (status != UV_EOF)
        krc_conn_failed(conn, refused, "the connection is broken: %s", uv_strerror(status));
    else if (hearing)
        krc_conn_failed(conn, false, "it closed the connection in the middle of %s",
                        shakes_hands ? "the TLS handshake" : "an answer");
    else if (shakes_hands)
        krc_conn_failed(conn, true, "it closed the connection instead of a TLS handshake: a "
                        "listener without TLS does so (security.protocol)");
    else if (refused)
        krc_conn_failed(conn, true, "it closed the connection without an answer: no broker is "
                        "there, or a listener with TLS");
    else
        krc_conn_failed(conn, false, "it closed the connection");
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
    struct link *link = stream->data;
    if (link->conn == NULL || n == 0)
        return;
    link->loop->cluster->now_ms = krc_loop_now_ms();
    if (n < 0) {
        on_end(link, (int)n);
    } else if (link->secure.tls != NULL) {
        krc_secure_received(&link->secure, (const uint8_t *)buffer->base, (size_t)n);
    } else {
        krc_conn_received(link->conn, (size_t)n);
    }
}

static void send_raw(void *arg, const uint8_t *bytes, size_t len);

static void begin_tls(struct link *link)
{
    struct krc_loop *loop = link->loop;
    if (loop->cipher == NULL)
        loop->cipher = malloc(CIPHER_BYTES);
    link->secure = (struct krc_secure){.conn = &link->conn, .send = send_raw, .arg = link};
    if (loop->cipher == NULL)
        krc_conn_failed(link->conn, false, "there is no memory for TLS");
    else
        krc_secure_begin(&link->secure, loop->tls);
}

static void on_connect(uv_connect_t *request, int status)
{
    struct link *link = request->data;
    struct krc_conn *conn = link->conn;
    if (conn == NULL)
        return;
    link->loop->cluster->now_ms = krc_loop_now_ms();
    if (status == 0)
        status = uv_read_start((uv_stream_t *)&link->tcp, on_space, on_read);
    if (status != 0)
        krc_conn_failed(conn, status == UV_ECONNREFUSED, "it does not take the connection: %s",
                        uv_strerror(status));
    else if (link->loop->tls != NULL) {
        conn->was_reached = true;
        begin_tls(link);
    }
    else
        krc_conn_connected(conn);
}

static void on_closed(uv_handle_t *handle)
{
    struct link *link = handle->data;
    link->has_tcp = false;
    free_link(link);
}

static void close_link(void *io, struct krc_conn *conn)
{
    struct link *link = conn->io;
    (void)io;
    conn->io = NULL;
    if (link == NULL)
        return;
    link->conn = NULL;
    if (link->has_lookup)
        uv_cancel((uv_req_t *)&link->lookup);
    if (link->token_job != NULL)
        atomic_store(&link->token_job->cancelled, true);
    if (link->has_tcp)
        uv_close((uv_handle_t *)&link->tcp, on_closed);
    else
        free_link(link);
}

/* Each address has a socket of its own. */
static void connect_to(void *io, struct krc_conn *conn, const struct krc_address *address)
{
    struct krc_loop *loop = io;
    close_link(io, conn);
    struct link *link = new_link(loop, conn);
    int rc = link == NULL ? UV_ENOMEM : uv_tcp_init(loop->uv, &link->tcp);
    if (rc == 0) {
        link->has_tcp = true;
        uv_tcp_nodelay(&link->tcp, 1);
        rc = uv_tcp_connect(&link->connect, &link->tcp,
                            (const struct sockaddr *)(const void *)address->bytes, on_connect);
    }
    if (rc == 0 && loop->send_bytes > 0)
        uv_send_buffer_size((uv_handle_t *)&link->tcp, &loop->send_bytes);
    if (rc == 0 && loop->receive_bytes > 0)
        uv_recv_buffer_size((uv_handle_t *)&link->tcp, &loop->receive_bytes);
    if (rc != 0)
        krc_conn_failed(conn, false, "it cannot be connected to: %s", uv_strerror(rc));
}

struct rest {
    uv_write_t request;
    struct link *link;
    size_t len;
    char bytes[];
};

static void on_written(uv_write_t *request, int status)
{
    struct rest *rest = request->data;
    struct krc_conn *conn = rest->link->conn;
    explicit_bzero(rest->bytes, rest->len); /* it may hold a password */
    free(rest);
    if (status != 0 && conn != NULL)
        krc_conn_failed(conn, false, "the connection is broken: %s", uv_strerror(status));
}

/* For want of memory; reading then tells that the connection has ended. */
static void give_up(struct link *link)
{
    uv_os_fd_t fd;
    if (uv_fileno((uv_handle_t *)&link->tcp, &fd) == 0)
        shutdown(fd, SHUT_RD);
}

/* How much the socket takes at once.  Not by libuv, which would let a socket that the broker has
 * ended raise SIGPIPE; that it has, reading tells. */
static size_t send_now(struct link *link, const uint8_t *bytes, size_t len)
{
    uv_os_fd_t fd;
    ssize_t n;
    if (uv_stream_get_write_queue_size((uv_stream_t *)&link->tcp) > 0 ||
        uv_fileno((uv_handle_t *)&link->tcp, &fd) != 0)
        return 0;
    do
        n = send(fd, bytes, len, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n >= 0 ? (size_t)n : errno == EAGAIN ? 0 : len;
}

/* What the socket does not take at once is kept until it does.  The callback comes before the
 * handle's close callback, so the link is there. */
static void send_raw(void *arg, const uint8_t *bytes, size_t len)
{
    struct link *link = arg;
    size_t sent = send_now(link, bytes, len);
    if (sent == len)
        return;
    struct rest *rest = malloc(sizeof *rest + len - sent);
    if (rest == NULL) {
        give_up(link);
        return;
    }
    rest->link = link;
    rest->len = len - sent;
    rest->request.data = rest;
    memcpy(rest->bytes, bytes + sent, rest->len);
    uv_buf_t buffer = uv_buf_init(rest->bytes, (unsigned)rest->len);
    if (uv_write(&rest->request, (uv_stream_t *)&link->tcp, &buffer, 1, on_written) != 0) {
        free(rest);
        give_up(link);
    }
}

static void send_bytes(void *io, struct krc_conn *conn, const uint8_t *bytes, size_t len)
{
    struct link *link = conn->io;
    (void)io;
    if (link->secure.tls == NULL)
        send_raw(link, bytes, len);
    else if (!krc_secure_send(&link->secure, bytes, len))
        give_up(link);
}

/* ---- Turns ---------------------------------------------------------------------------------- */

void krc_loop_turn(struct krc_loop *loop, int64_t deadline_ms, bool for_records)
{
    int64_t next_ms = tick(loop);
    bool ready = for_records && krc_remote_first_ready(loop->cluster) != NULL;
    bool waits = !ready && deadline_ms > loop->cluster->now_ms;
    set_timer(loop, krc_sooner(next_ms, deadline_ms));
    uv_run(loop->uv, waits ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    tick(loop);
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle; /* it is there so that the loop does not wait */
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct krc_loop *loop = prepare->data;
    if (!loop->closing)
        set_timer(loop, tick(loop));
}

static void on_check(uv_check_t *check)
{
    struct krc_loop *loop = check->data;
    if (loop->closing)
        return;
    tick(loop);
    if (loop->turn(loop->arg))
        uv_idle_start(&loop->idle, on_idle);
    else
        uv_idle_stop(&loop->idle);
}

static void on_wake(uv_async_t *async)
{
    (void)async;
}

void krc_loop_wake(struct krc_loop *loop)
{
    uv_async_send(&loop->async);
}

/* ---- Work in the pool ----------------------------------------------------------------------- */

struct work {
    uv_work_t request;
    struct krc_loop *loop;
    void (*work)(void *arg);
    void (*done)(void *arg);
    void *arg;
};

static void on_work(uv_work_t *request)
{
    struct work *work = request->data;
    work->work(work->arg);
}

static void on_work_done(uv_work_t *request, int status)
{
    struct work *work = request->data;
    struct krc_loop *loop = work->loop;
    (void)status; /* it is never cancelled */
    work->done(work->arg);
    free(work);
    loop->works--;
    end_if_over(loop);
}

int krc_loop_work(struct krc_loop *loop, void (*work)(void *arg), void (*done)(void *arg),
                  void *arg, krc_error *error)
{
    struct work *w = malloc(sizeof *w);
    if (w == NULL)
        return krc_fail_nomem(error, sizeof *w);
    *w = (struct work){.loop = loop, .work = work, .done = done, .arg = arg};
    w->request.data = w;
    int rc = uv_queue_work(loop->uv, &w->request, on_work, on_work_done);
    if (rc == 0) {
        loop->works++;
        return KRC_OK;
    }
    free(w);
    return krc_fail(error, KRC_E_IO, "no work can be queued: %s", uv_strerror(rc));
}

static void token_got(void *arg)
{
    struct krc_token_job *job = arg;
    struct link *link = job->arg;
    link->token_job = NULL;
    link->loop->cluster->now_ms = krc_loop_now_ms();
    if (link->conn == NULL)
        free_link(link);
    else if (krc_token_may_come(job) || (job->rc < 0 && link->conn->failures < TOKEN_TRIES))
        krc_conn_failed(link->conn, false, "%s", job->error.message);
    else if (job->rc < 0)
        krc_conn_denied(link->conn, job->rc, "%s", job->error.message);
    else
        krc_conn_token(link->conn, job->token);
    krc_token_job_free(job);
}

static void want_token(void *io, struct krc_conn *conn)
{
    struct link *link = conn->io;
    struct krc_token_job *job = krc_token_job_new(link->loop->token, link);
    krc_error error;
    if (job != NULL && krc_loop_work(io, krc_token_job_run, token_got, job, &error) >= 0) {
        link->token_job = job;
        return;
    }
    krc_token_job_free(job);
    krc_conn_failed(conn, false, "no token can be fetched: there is no memory, or no thread");
}

const struct krc_io_ops krc_loop_io = {.resolve = resolve,
                                       .connect = connect_to,
                                       .send = send_bytes,
                                       .close = close_link,
                                       .token = want_token};

/* ---- Begin and end -------------------------------------------------------------------------- */

static int init_handles(struct krc_loop *loop)
{
    uv_loop_t *uv = loop->uv;
    int rc = uv_async_init(uv, &loop->async, on_wake);
    if (rc != 0)
        return rc;
    uv_timer_init(uv, &loop->timer);
    uv_prepare_init(uv, &loop->prepare);
    uv_check_init(uv, &loop->check);
    uv_idle_init(uv, &loop->idle);
    loop->handles = 5;
    loop->timer.data = loop->async.data = loop->prepare.data = loop;
    loop->check.data = loop->idle.data = loop;
    if (loop->turn != NULL) {
        uv_prepare_start(&loop->prepare, on_prepare);
        uv_check_start(&loop->check, on_check);
    }
    return 0;
}

int krc_loop_open(struct krc_loop **out, struct uv_loop_s *uv, struct krc_cluster *cluster,
                  bool (*turn)(void *arg), void *arg, krc_error *error)
{
    struct krc_loop *loop = calloc(1, sizeof *loop);
    if (loop == NULL)
        return krc_fail_nomem(error, sizeof *loop);
    loop->cluster = cluster;
    loop->turn = turn;
    loop->arg = arg;
    loop->uv = uv != NULL ? uv : &loop->own;
    loop->send_bytes = loop->receive_bytes = -1;
    int rc = uv != NULL ? 0 : uv_loop_init(&loop->own);
    if (rc == 0) {
        rc = init_handles(loop);
        if (rc != 0 && uv == NULL)
            uv_loop_close(&loop->own);
    }
    if (rc != 0) {
        free(loop);
        return krc_fail(error, KRC_E_IO, "no event loop: %s", uv_strerror(rc));
    }
    *out = loop;
    return KRC_OK;
}

void krc_loop_secure(struct krc_loop *loop, struct krc_tls_context *tls,
                     const struct krc_token_source *token)
{
    loop->tls = tls;
    loop->token = token;
}

void krc_loop_buffers(struct krc_loop *loop, int64_t send, int64_t receive)
{
    loop->send_bytes = (int)send;
    loop->receive_bytes = (int)receive;
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct krc_loop *loop = handle->data;
    loop->handles--;
    end_if_over(loop);
}

static void close_handles(struct krc_loop *loop)
{
    uv_close((uv_handle_t *)&loop->timer, on_handle_closed);
    uv_close((uv_handle_t *)&loop->async, on_handle_closed);
    uv_close((uv_handle_t *)&loop->prepare, on_handle_closed);
    uv_close((uv_handle_t *)&loop->check, on_handle_closed);
    uv_close((uv_handle_t *)&loop->idle, on_handle_closed);
}

void krc_loop_close(struct krc_loop *loop, void (*closed)(void *arg), void *arg)
{
    loop->closing = true;
    loop->closed = closed;
    loop->closed_arg = arg;
    close_handles(loop);
    if (loop->uv != &loop->own)
        return;
    uv_run(loop->uv, UV_RUN_DEFAULT); /* until the last of them, and of the links, is closed */
    uv_loop_close(loop->uv);
    closed(arg);
    free(loop->cipher);
    free(loop);
}
