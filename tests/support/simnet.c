#include "tests/support/simnet.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/auth.h"

enum { REQUESTS_MOST = 8 };

/* A connection's other end. */
struct sim_link {
    struct sim_link *next;
    struct krc_conn *conn; /* NULL: it was closed */
    int32_t node;          /* 0: nobody */
    bool is_connected, refuses;
    int64_t connect_ms;
    struct pending {
        struct broker_request request;
        int64_t came_ms, due_ms; /* due: at the latest */
    } pending[REQUESTS_MOST];
    int pending_count;
    struct krc_buffer out; /* on its way to the client */
    size_t out_at, carried;
    bool ends; /* behind what is on its way */
    bool is_silent;
};

struct sim sim;

/* ---- The trace ------------------------------------------------------------------------------ */

void sim_say(const char *format, ...)
{
    va_list args;
    size_t len = strlen(sim.trace);
    if (sim.is_quiet)
        return;
    va_start(args, format);
    vsnprintf(sim.trace + len, sizeof sim.trace - len, format, args);
    va_end(args);
    len = strlen(sim.trace);
    ck_assert_uint_lt(len + 2, sizeof sim.trace);
    memcpy(sim.trace + len, "\n", 2);
}

void forget_trace(void)
{
    sim.trace[0] = '\0';
}

void check_trace(const char *expected)
{
    ck_assert_msg(strcmp(sim.trace, expected) == 0, "this happened:\n%sinstead of:\n%s", sim.trace,
                  expected);
    forget_trace();
}

static bool is_request(const char *line)
{
    for (int api = 0; api < KRC_API_COUNT; api++)
        if (strncmp(line, krc_apis[api].name, strlen(krc_apis[api].name)) == 0)
            return true;
    return false;
}

void check_handed_out(const char *expected)
{
    char *to = sim.trace;
    for (const char *line = sim.trace; *line != '\0';) {
        size_t len = strcspn(line, "\n") + 1;
        if (!is_request(line)) {
            memmove(to, line, len);
            to += len;
        }
        line += len;
    }
    *to = '\0';
    check_trace(expected);
}

int said(const char *line)
{
    int count = 0;
    for (const char *at = sim.trace; *at != '\0'; at += strcspn(at, "\n") + 1)
        count += strncmp(at, line, strlen(line)) == 0;
    return count;
}

static bool is_shown(enum krc_api_name api)
{
    return api == KRC_API_METADATA       ? sim.shows_metadata
           : api == KRC_API_API_VERSIONS ? sim.shows_greetings
                                         : true;
}

static void note_request(const struct broker_request *request)
{
    char text[512];
    sim.requests[request->frame.api]++;
    if (!is_shown(request->frame.api))
        return;
    broker_describe(request, sim.shows_details, text, sizeof text);
    sim_say("%s", text);
}

/* ---- What the core wants -------------------------------------------------------------------- */

static struct sim_link *link_of(const struct krc_conn *conn)
{
    return conn->io;
}

/* An address is the name of who is there. */
static void resolve(void *io, struct krc_conn *conn)
{
    struct krc_address list[KRC_ADDRESSES_MOST] = {{.len = 0}};
    const char *text = conn->host;
    size_t count = 0;
    (void)io;
    for (int i = 0; i < sim.host_count; i++)
        if (strcmp(sim.hosts[i].name, conn->host) == 0)
            text = sim.hosts[i].addresses;
    for (; *text != '\0'; text += *text == ' ') {
        struct krc_address *a = &list[count++];
        a->len = strcspn(text, " ");
        memcpy(a->bytes, text, a->len);
        text += a->len;
    }
    if (count == 0)
        krc_conn_failed(conn, true, "its name cannot be looked up");
    else
        krc_conn_resolved(conn, list, count);
}

static void connect_to(void *io, struct krc_conn *conn, const struct krc_address *address)
{
    const char *name = (const char *)address->bytes;
    struct sim_link *link = calloc(1, sizeof *link);
    (void)io;
    ck_assert_ptr_nonnull(link);
    link->node = name[0] == 'n' ? name[1] - '0' : 0;
    link->refuses = strcmp(name, "refuses") == 0;
    link->connect_ms = link->node != 0 || link->refuses ? sim.now_ms + 1 : INT64_MAX;
    link->conn = conn;
    link->next = sim.links;
    sim.links = link;
    conn->io = link;
    sim.connects[sim.connect_count++ % 64] = sim.now_ms;
    if (sim.shows_connects)
        sim_say("connect %s %.*s", conn->host, (int)address->len, name);
}

static void send_bytes(void *io, struct krc_conn *conn, const uint8_t *bytes, size_t len)
{
    struct sim_link *link = link_of(conn);
    (void)io;
    ck_assert_ptr_nonnull(link);
    ck_assert_uint_eq(krc_be32(bytes), len - 4);
    ck_assert_int_lt(link->pending_count, REQUESTS_MOST);
    struct pending *p = &link->pending[link->pending_count++];
    broker_take(&p->request, link->node, bytes + 4, len - 4);
    note_request(&p->request);
    p->came_ms = sim.now_ms;
    p->due_ms = sim.now_ms + 1 + broker_patience_ms(&p->request);
}

static void close_link(void *io, struct krc_conn *conn)
{
    struct sim_link *link = link_of(conn);
    (void)io;
    if (link != NULL)
        link->conn = NULL;
    conn->io = NULL;
}

static void want_token(void *io, struct krc_conn *conn)
{
    (void)io;
    if (sim.token != NULL)
        krc_conn_token(conn, sim.token);
}

static const struct krc_io_ops ops = {.resolve = resolve,
                                      .connect = connect_to,
                                      .send = send_bytes,
                                      .close = close_link,
                                      .token = want_token};

/* ---- What comes back ------------------------------------------------------------------------ */

static int take_fate(enum krc_api_name api)
{
    for (int i = 0; i < 8; i++)
        if (sim.fates[i].api == api && sim.fates[i].times > 0) {
            sim.fates[i].times--;
            return (int)sim.fates[i].fate;
        }
    return -1;
}

static void drop_first(struct sim_link *link, int at)
{
    broker_drop(&link->pending[at].request);
    link->pending_count--;
    memmove(&link->pending[at], &link->pending[at + 1],
            (size_t)(link->pending_count - at) * sizeof *link->pending);
}

static void double_it(struct krc_buffer *out, size_t start)
{
    struct krc_buffer copy = {0};
    build_append(&copy, out->data + start, out->len - start);
    build_append(out, copy.data, copy.len);
    krc_buffer_free(&copy);
}

static void spoil(struct sim_link *link, size_t start, int fate)
{
    struct krc_buffer *out = &link->out;
    if (fate == SIM_CUT) {
        out->len -= (out->len - start) / 2;
        link->ends = true;
    } else if (fate == SIM_DOUBLED) {
        double_it(out, start);
    } else if (fate == SIM_WRONG_ID) {
        out->data[start + 7] ^= 0x40;
    } else if (fate == SIM_HUGE) {
        krc_put_be32(out->data + start, 0x7FFFFFFF);
        out->len = start + 4;
    } else if (fate == SIM_DONE) {
        out->len = start;
        link->ends = true;
    }
}

static void cut_wire(struct sim_link *link)
{
    size_t left = sim.cut_after - link->carried;
    if (sim.cut_after == 0 || link->out.len - link->out_at < left)
        return;
    link->out.len = link->out_at + left;
    link->ends = !sim.stalls;
    link->is_silent = sim.stalls;
}

static void put_on_the_way(struct sim_link *link, struct broker_request *request)
{
    static const char http[] = "HTTP/1.1 400 Bad Request\r\n\r\n", tls[] = "\x15\x03\x03\0\2\2\50";
    size_t start = link->out.len;
    int fate = take_fate(request->frame.api);
    switch (fate) {
    case SIM_LOST:
        link->ends = true;
        break;
    case SIM_SILENT:
        link->is_silent = true;
        break;
    case SIM_HTTP:
        build_append(&link->out, http, sizeof http - 1);
        break;
    case SIM_TLS:
        build_append(&link->out, tls, sizeof tls - 1);
        break;
    default:
        broker_answer(request, &link->out);
        spoil(link, start, fate);
    }
    cut_wire(link);
}

static bool may_answer(const struct pending *p)
{
    return sim.now_ms >= p->came_ms + 1 + sim.delay_ms &&
           (sim.now_ms >= p->due_ms || broker_has_news(&p->request));
}

/* Whether it is answered now. */
static bool begin_and_see(struct pending *p)
{
    if (sim.now_ms >= p->came_ms + 1)
        broker_begin(&p->request);
    return may_answer(p);
}

/* In the order of the requests, unless that is to be wrong. */
static void answer_requests(struct sim_link *link)
{
    while (link->conn != NULL && link->pending_count > 0 && !link->ends && !link->is_silent &&
           !world.nodes[link->node].is_mute && begin_and_see(&link->pending[0])) {
        int at = sim.is_reversed && link->pending_count > 1 ? 1 : 0;
        put_on_the_way(link, &link->pending[at].request);
        drop_first(link, at);
    }
}

/* One byte of an answer, or all of it.  A connection may be gone after it. */
static bool deliver(struct sim_link *link)
{
    bool any = false;
    while (link->conn != NULL && link->out_at < link->out.len) {
        uint8_t *to;
        size_t room, left = link->out.len - link->out_at;
        krc_conn_space(link->conn, &to, &room);
        ck_assert_uint_gt(room, 0);
        size_t n = sim.splits ? 1 : left < room ? left : room;
        memcpy(to, link->out.data + link->out_at, n);
        link->out_at += n;
        link->carried += n;
        any = true;
        krc_conn_received(link->conn, n);
        if (sim.splits)
            return true;
    }
    if (link->conn == NULL || !link->ends)
        return any;
    krc_conn_failed(link->conn,
                    link->conn->state == KRC_CONN_GREETING && !krc_conn_is_hearing(link->conn),
                    "it closed the connection");
    return true;
}

static bool finish_connect(struct sim_link *link)
{
    if (link->conn == NULL || link->is_connected || sim.now_ms < link->connect_ms)
        return false;
    link->is_connected = true;
    if (link->refuses || !world.nodes[link->node].is_up)
        krc_conn_failed(link->conn, true, "it does not take the connection: refused");
    else
        krc_conn_connected(link->conn);
    return true;
}

static void free_link(struct sim_link *link)
{
    while (link->pending_count > 0)
        drop_first(link, 0);
    krc_buffer_free(&link->out);
    free(link);
}

static void sweep(void)
{
    for (struct sim_link **at = &sim.links; *at != NULL;) {
        struct sim_link *link = *at;
        if (link->conn != NULL) {
            at = &link->next;
            continue;
        }
        *at = link->next;
        free_link(link);
    }
}

/* Whether anything happened at this time. */
static bool carry(void)
{
    bool any = false;
    for (struct sim_link *link = sim.links; link != NULL; link = link->next) {
        any |= finish_connect(link);
        answer_requests(link);
        any |= deliver(link);
    }
    sweep();
    return any;
}

/* When something comes next. */
static int64_t next_arrival(void)
{
    int64_t next_ms = INT64_MAX;
    for (const struct sim_link *link = sim.links; link != NULL; link = link->next) {
        if (!link->is_connected)
            next_ms = krc_sooner(next_ms, link->connect_ms);
        bool answers = !link->is_silent && !world.nodes[link->node].is_mute;
        if (link->pending_count > 0 && answers) { /* the others are behind it */
            const struct pending *p = &link->pending[0];
            int64_t soon = p->came_ms + 1 + sim.delay_ms;
            bool waits = sim.now_ms >= soon && sim.now_ms < p->due_ms;
            next_ms = krc_sooner(next_ms, waits ? p->due_ms : soon);
        }
    }
    return next_ms;
}

/* ---- Time ----------------------------------------------------------------------------------- */

/* All that happens at this time; when more is due. */
static int64_t turn(void)
{
    enum { MOST = 100000 };
    int64_t next_ms;
    int turns = 0;
    do {
        ck_assert_msg(turns++ < MOST, "this does not end:\n%.2000s", sim.trace);
        next_ms = krc_cluster_tick(&sim.cluster);
        if (sim.each_turn != NULL)
            sim.each_turn();
        next_ms = krc_sooner(next_ms, krc_cluster_tick(&sim.cluster));
    } while (carry());
    ck_assert_msg(next_ms > sim.now_ms, "the next turn is due at a time that is past:\n%.2000s",
                  sim.trace);
    return next_ms;
}

void sim_run(int64_t ms)
{
    int64_t until = sim.now_ms + ms;
    for (;;) {
        int64_t next_ms = turn();
        next_ms = krc_sooner(next_ms, next_arrival());
        if (next_ms > until)
            break;
        sim.now_ms = next_ms > sim.now_ms ? next_ms : sim.now_ms + 1;
        sim.cluster.now_ms = sim.now_ms;
    }
    sim.now_ms = until;
    sim.cluster.now_ms = until;
}

void sim_run_until(const char *said)
{
    enum { MOST_MS = 60000 };
    for (int ms = 0; strstr(sim.trace, said) == NULL; ms++) {
        ck_assert_msg(ms < MOST_MS, "not said: %s; but:\n%s", said, sim.trace);
        sim_run(1);
    }
}

/* ---- Begin and end -------------------------------------------------------------------------- */

void sim_open(void)
{
    sim = (struct sim){
        .now_ms = 1000,
        .settings = {.client_id = "krc",
                     .rack = "",
                     .group = "g",
                     .read_committed = true,
                     .rebootstrap = true,
                     .fetch_max_wait_ms = 500,
                     .fetch_min_bytes = 1,
                     .fetch_max_bytes = 1 << 20,
                     .partition_max_bytes = 1 << 20,
                     .buffered_max_bytes = 64 << 20,
                     .receive_max_bytes = 100000000,
                     .request_timeout_ms = 30000,
                     .connect_timeout_ms = 10000,
                     .connect_timeout_max_ms = 30000,
                     .reconnect_backoff_ms = 50,
                     .reconnect_backoff_max_ms = 1000,
                     .retry_backoff_ms = 100,
                     .retry_backoff_max_ms = 1000,
                     .metadata_max_age_ms = 300000,
                     .rebootstrap_trigger_ms = 300000,
                     .idle_close_ms = 540000,
                     .many_partitions = 250},
    };
}

static void note(void *arg, const char *topic, const char *text)
{
    (void)arg;
    snprintf(sim.noted, sizeof sim.noted, "%s", text);
    sim_say("note of %s", topic);
}

void sim_start(const char *servers)
{
    char name[64];
    krc_error error;
    ck_assert_int_eq(
        krc_cluster_open(&sim.cluster, &sim.settings, &ops, NULL, 7, &error), KRC_OK);
    sim.is_open = true;
    sim.cluster.now_ms = sim.now_ms;
    sim.cluster.note = note;
    for (; *servers != '\0'; servers += strspn(servers, " ")) {
        int len = (int)strcspn(servers, " ");
        snprintf(name, sizeof name, "%.*s", len, servers);
        ck_assert_int_eq(krc_cluster_add_server(&sim.cluster, name, 9092, &error), KRC_OK);
        servers += len;
    }
}

void sim_close(void)
{
    if (sim.is_open)
        krc_cluster_close(&sim.cluster);
    sweep();
    ck_assert_ptr_null(sim.links);
}

void sim_host(const char *name, const char *addresses)
{
    sim.hosts[sim.host_count].name = name;
    sim.hosts[sim.host_count++].addresses = addresses;
}

void sim_fate(enum krc_api_name api, enum sim_fate fate, int times)
{
    int at = sim.fate_count++ % 8;
    sim.fates[at].api = api;
    sim.fates[at].fate = fate;
    sim.fates[at].times = times;
}

void sim_down(int32_t node)
{
    world.nodes[node].is_up = false;
    for (struct sim_link *link = sim.links; link != NULL; link = link->next)
        if (link->node == node && link->is_connected)
            link->ends = true;
}

void sim_up(int32_t node)
{
    world.nodes[node].is_up = true;
    world.nodes[node].is_mute = false;
    world.nodes[node].session = (struct world_session){0};
}
