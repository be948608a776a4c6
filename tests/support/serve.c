#include "tests/support/serve.h"

#include <arpa/inet.h>
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 64, PATIENCE_MS = 30 /* a fetch without news is answered after */ };

struct client {
    int fd; /* -1: none */
    int32_t node;
    struct krc_buffer in, out;
    struct broker_request request; /* one at a time, as brokers do */
    bool waits;
    enum krc_api_name api; /* of the newest request */
    bool is_held;          /* what lies in `out` is not sent yet */
    int64_t came_ms;
};

static struct {
    pthread_t thread;
    pthread_mutex_t mutex;
    bool ends, drops, resets;
    int listeners[WORLD_NODES];
    int ports[WORLD_NODES];
    char address[32];
    struct client clients[CLIENTS];
    int requests[KRC_API_COUNT];
    enum krc_api_name held, lost, unheard;
    int lost_times;
} serve = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void serve_lock(void)
{
    pthread_mutex_lock(&serve.mutex);
}

void serve_unlock(void)
{
    pthread_mutex_unlock(&serve.mutex);
}

const char *serve_address(void)
{
    return serve.address;
}

int serve_requests(enum krc_api_name api)
{
    serve_lock();
    int count = serve.requests[api];
    serve_unlock();
    return count;
}

void serve_hold(enum krc_api_name api)
{
    serve_lock();
    serve.held = api;
    serve_unlock();
}

void serve_lose(enum krc_api_name api, int times)
{
    serve_lock();
    serve.lost = api;
    serve.lost_times = times;
    serve_unlock();
}

void serve_lose_answer(enum krc_api_name api)
{
    serve_lock();
    serve.unheard = api;
    serve_unlock();
}

void serve_drop(void)
{
    serve_lock();
    serve.drops = true;
    serve_unlock();
}

void serve_reset(void)
{
    serve_lock();
    serve.drops = serve.resets = true;
    while (serve.drops) {
        serve_unlock();
        sched_yield();
        serve_lock();
    }
    serve.resets = false;
    serve_unlock();
}

/* ---- Requests ------------------------------------------------------------------------------- */

/* Brokers are where they listen. */
static void tell_ports(enum krc_api_name api, void *response)
{
    if (api == KRC_API_METADATA) {
        struct krc_metadata_response *r = response;
        for (int32_t i = 0; i < r->broker_count; i++) {
            r->brokers[i].host = build_text("127.0.0.1");
            r->brokers[i].port = serve.ports[r->brokers[i].node_id];
        }
    } else if (api == KRC_API_FIND_COORDINATOR) {
        struct krc_find_coordinator_response *r = response;
        r->host = build_text("127.0.0.1");
        r->port = r->node_id > 0 ? serve.ports[r->node_id] : -1;
    }
}

static void end_client(struct client *c)
{
    if (c->waits)
        broker_drop(&c->request);
    if (serve.resets)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){1, 0}, sizeof(struct linger));
    close(c->fd);
    krc_buffer_free(&c->in);
    krc_buffer_free(&c->out);
    *c = (struct client){.fd = -1};
}

/* Takes the next request, where it is whole. */
static void take_request(struct client *c)
{
    size_t size = c->in.len < 4 ? SIZE_MAX - 4 : krc_be32(c->in.data);
    if (c->waits || c->in.len < size + 4)
        return;
    broker_take(&c->request, c->node, c->in.data + 4, size);
    broker_begin(&c->request);
    c->in.len -= size + 4;
    memmove(c->in.data, c->in.data + size + 4, c->in.len);
    c->waits = true;
    c->api = c->request.frame.api;
    c->came_ms = now_ms();
    serve.requests[c->request.frame.api]++;
    if (c->request.frame.api == serve.lost && serve.lost_times-- > 0)
        end_client(c);
}

static void answer(struct client *c)
{
    bool is_late = c->waits && c->request.frame.api == KRC_API_FETCH &&
                   now_ms() >= c->came_ms + PATIENCE_MS;
    if (!c->waits || world.nodes[c->node].is_mute ||
        (!is_late && !broker_has_news(&c->request)))
        return;
    broker_answer(&c->request, &c->out);
    broker_drop(&c->request);
    c->waits = false;
    if (c->api != serve.unheard)
        return;
    serve.unheard = KRC_API_COUNT;
    end_client(c);
}

/* ---- Sockets -------------------------------------------------------------------------------- */

static void accept_client(int32_t node)
{
    int fd = accept(serve.listeners[node], NULL, NULL);
    for (int i = 0; fd >= 0 && i < CLIENTS; i++)
        if (serve.clients[i].fd < 0) {
            serve.clients[i] = (struct client){.fd = fd, .node = node, .api = KRC_API_COUNT};
            return;
        }
    if (fd >= 0)
        close(fd);
}

static void receive(struct client *c)
{
    uint8_t bytes[4096];
    ssize_t n = recv(c->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0)
        build_append(&c->in, bytes, (size_t)n);
    else
        end_client(c);
}

static void send_some(struct client *c)
{
    c->is_held = serve.held != KRC_API_COUNT && (c->is_held || c->api == serve.held);
    ssize_t n = c->out.len == 0 || c->is_held
                    ? 0
                    : send(c->fd, c->out.data, c->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n <= 0)
        return;
    c->out.len -= (size_t)n;
    memmove(c->out.data, c->out.data + n, c->out.len);
}

static void turn(void)
{
    struct pollfd fds[WORLD_NODES + CLIENTS];
    for (int i = 0; i < WORLD_NODES; i++)
        fds[i] = (struct pollfd){.fd = serve.listeners[i], .events = POLLIN};
    for (int i = 0; i < CLIENTS; i++)
        fds[WORLD_NODES + i] = (struct pollfd){.fd = serve.clients[i].fd, .events = POLLIN};
    poll(fds, WORLD_NODES + CLIENTS, 2);
    serve_lock();
    for (int32_t i = 1; i < WORLD_NODES; i++)
        if (fds[i].revents != 0)
            accept_client(i);
    for (int i = 0; i < CLIENTS; i++) {
        struct client *c = &serve.clients[i];
        if (c->fd >= 0 && c->fd == fds[WORLD_NODES + i].fd && fds[WORLD_NODES + i].revents != 0)
            receive(c);
        if (c->fd >= 0 && serve.drops)
            end_client(c);
        if (c->fd < 0)
            continue;
        take_request(c);
        if (c->fd < 0)
            continue;
        answer(c);
        if (c->fd >= 0)
            send_some(c);
    }
    serve.drops = false;
    serve_unlock();
}

static void *run(void *arg)
{
    (void)arg;
    for (bool ends = false; !ends;) {
        turn();
        serve_lock();
        ends = serve.ends;
        serve_unlock();
    }
    return NULL;
}

static void listen_as(int32_t node)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, len), 0);
    ck_assert_int_eq(listen(fd, 16), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    serve.listeners[node] = fd;
    serve.ports[node] = ntohs(address.sin_port);
}

void serve_begin(void)
{
    serve.listeners[0] = -1;
    for (int i = 0; i < CLIENTS; i++)
        serve.clients[i].fd = -1;
    for (int32_t node = 1; node < WORLD_NODES; node++)
        listen_as(node);
    snprintf(serve.address, sizeof serve.address, "127.0.0.1:%d", serve.ports[1]);
    memset(serve.requests, 0, sizeof serve.requests);
    serve.ends = false;
    serve.held = serve.lost = serve.unheard = KRC_API_COUNT;
    world.edit = tell_ports;
    ck_assert_int_eq(pthread_create(&serve.thread, NULL, run, NULL), 0);
}

void serve_end(void)
{
    serve_lock();
    serve.ends = true;
    serve_unlock();
    pthread_join(serve.thread, NULL);
    for (int i = 0; i < CLIENTS; i++)
        if (serve.clients[i].fd >= 0)
            end_client(&serve.clients[i]);
    for (int32_t node = 1; node < WORLD_NODES; node++)
        close(serve.listeners[node]);
}
