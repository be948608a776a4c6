/*
 * A cluster whose brokers answer anything: nothing breaks, leaks, or goes round for ever.
 *
 * The first byte picks how it is read, and whether a group is joined besides.  Then each byte is something that happens, its lower three
 * bits say what, the others to whom:
 *
 *   0, 1, 2  an answer to the oldest request: a length int16, and the body
 *   3        a good answer of a broker that has topic "t" with two empty partitions
 *   4        time passes, 2^n milliseconds
 *   5        a connection fails
 *   6        bytes come that answer nothing: a length int8, and they
 *   7        the application seeks or pauses, or leaves the group
 */
#include <stdlib.h>
#include <string.h>

#include "consumer/netsource.h"
#include "consumer/tracker.h"
#include "groups/assign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINKS = 16, REQUESTS = 8, READERS = 2, MOST_TURNS = 10000, LIMIT = 1 << 16 };

/* A connection's other end, and the requests that lie there. */
struct link {
    struct krc_conn *conn; /* NULL: it is free */
    bool is_connected;
    struct {
        int16_t key, version;
        int32_t correlation_id;
    } requests[REQUESTS];
    int count;
};

struct fuzz {
    struct krc_cursor in;
    struct krc_cluster cluster;
    struct link links[LINKS];
    krc_config *config;
    struct krc_codecs *codecs;
    struct krc_buffer scratch, answer;
    struct krc_topic *topic;
    struct krc_member_settings member;
    struct reader {
        struct krc_place place;
        struct krc_tracker tracker;
        bool is_open;
    } readers[READERS];
};

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* ---- The driver ----------------------------------------------------------------------------- */

static void resolve(void *io, struct krc_conn *conn)
{
    (void)io;
    krc_conn_resolved(conn, &(struct krc_address){.len = 1}, 1);
}

static void connect_to(void *io, struct krc_conn *conn, const struct krc_address *address)
{
    struct fuzz *f = io;
    (void)address;
    int i = 0;
    while (i < LINKS && f->links[i].conn != NULL)
        i++;
    if (i == LINKS) {
        krc_conn_failed(conn, true, "there are too many");
        return;
    }
    f->links[i] = (struct link){.conn = conn};
    conn->io = &f->links[i];
}

static void send_bytes(void *io, struct krc_conn *conn, const uint8_t *bytes, size_t len)
{
    struct link *link = conn->io;
    (void)io;
    must(len >= 14 && krc_be32(bytes) == len - 4);
    if (link->count == REQUESTS)
        return; /* more than that are never answered */
    link->requests[link->count].key = (int16_t)krc_be16(bytes + 4);
    link->requests[link->count].version = (int16_t)krc_be16(bytes + 6);
    link->requests[link->count++].correlation_id = (int32_t)krc_be32(bytes + 8);
}

static void close_link(void *io, struct krc_conn *conn)
{
    struct link *link = conn->io;
    (void)io;
    if (link != NULL)
        link->conn = NULL;
    conn->io = NULL;
}

static const struct krc_io_ops ops = {
    .resolve = resolve, .connect = connect_to, .send = send_bytes, .close = close_link};

/* The connection may be gone before all of it is there. */
static void deliver(struct link *link, const uint8_t *bytes, size_t len)
{
    while (link->conn != NULL && len > 0) {
        uint8_t *to;
        size_t room;
        krc_conn_space(link->conn, &to, &room);
        must(room > 0);
        size_t n = len < room ? len : room;
        memcpy(to, bytes, n);
        bytes += n;
        len -= n;
        krc_conn_received(link->conn, n);
    }
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void ignore_event(void *arg, const struct krc_event *event,
                         const struct krc_offset_update *reset)
{
    (void)arg, (void)event, (void)reset;
}

static void ignore_note(void *arg, const char *topic, const char *text)
{
    (void)arg, (void)topic, (void)text;
}

static void open_reader(struct fuzz *f, int i)
{
    struct reader *r = &f->readers[i];
    struct krc_source *source;
    struct krc_start stored = {.found = true, .offset = 5, .epoch = 2};
    if (r->is_open || krc_topic_partition(f->topic, i) == NULL)
        return;
    r->place = (struct krc_place){.topic = "t", .partition = i, .topic_id = f->topic->id};
    if (krc_netsource_new(&source, &f->cluster, f->topic, i, f->config, f->codecs, r, NULL) < 0)
        return;
    source->asks_group = i == 1;
    krc_tracker_open(&r->tracker, &r->place, source, ignore_event, NULL);
    r->is_open = true;
    must(krc_tracker_assign(&r->tracker, KRC_STORED, i == 0 ? &stored : NULL, NULL) == KRC_OK);
    krc_remote_ready(krc_netsource_of(source)->remote);
}

/* Takes what is there; a batch is walked to its end. */
static bool take_one(struct fuzz *f, struct reader *r)
{
    struct krc_item item;
    struct krc_record record;
    krc_error error;
    int rc = krc_tracker_next(&r->tracker, &f->scratch, &item, &error);
    must(krc_offsets_invariant(&r->tracker.offsets) == NULL);
    while (rc >= 0 && item.type == KRC_ITEM_RECORDS && krc_records_next(&item.records, &record))
        must(record.offset <= item.batch.header.last_offset || item.batch.header.magic < 2);
    return rc >= 0 && item.type != KRC_ITEM_WAIT && item.type != KRC_ITEM_END;
}

/* What a group gives is begun, and let go as soon as it has to be. */
static void own(struct krc_membership *member)
{
    krc_member_polled(member);
    for (size_t i = 0; i < member->held_count; i++) {
        if (member->held[i].phase == KRC_HELD_OURS)
            continue;
        if (member->held[i].phase == KRC_HELD_NEW)
            krc_member_begun(&member->held[i]);
        else
            krc_member_let_go(member, &member->held[i]);
        i = SIZE_MAX; /* the others have moved */
    }
}

static void read_all(struct fuzz *f)
{
    struct krc_remote *remote;
    if (f->cluster.member != NULL)
        own(f->cluster.member);
    for (int i = 0; i < READERS; i++)
        open_reader(f, i);
    for (int turns = 0; (remote = krc_remote_first_ready(&f->cluster)) != NULL; turns++) {
        must(turns < MOST_TURNS);
        if (!take_one(f, remote->owner))
            krc_remote_not_ready(remote);
    }
}

/* All that happens at this time. */
static void turn(struct fuzz *f)
{
    int64_t next_ms;
    bool any;
    int turns = 0;
    do {
        must(turns++ < MOST_TURNS);
        any = false;
        krc_cluster_tick(&f->cluster);
        read_all(f);
        next_ms = krc_cluster_tick(&f->cluster);
        for (int i = 0; i < LINKS; i++) {
            struct link *link = &f->links[i];
            if (link->conn == NULL || link->is_connected)
                continue;
            link->is_connected = any = true;
            krc_conn_connected(link->conn);
        }
    } while (any);
    must(next_ms > f->cluster.now_ms);
}

/* ---- What happens --------------------------------------------------------------------------- */

static enum krc_api_name api_of(int16_t key)
{
    int api = 0;
    while (krc_apis[api].key != key)
        api++;
    return (enum krc_api_name)api;
}

static void answer_with(struct fuzz *f, struct link *link, struct krc_bytes body)
{
    enum krc_api_name api = api_of(link->requests[0].key);
    bool tags = api != KRC_API_API_VERSIONS &&
                link->requests[0].version >= krc_apis[api].first_flexible;
    size_t head = tags ? 9 : 8;
    must(krc_buffer_reserve(&f->answer, head + body.len, NULL) == KRC_OK);
    krc_put_be32(f->answer.data, (uint32_t)(head - 4 + body.len));
    krc_put_be32(f->answer.data + 4, (uint32_t)link->requests[0].correlation_id);
    if (tags)
        f->answer.data[8] = 0;
    if (body.len > 0)
        memcpy(f->answer.data + head, body.data, body.len);
    link->count--;
    memmove(&link->requests[0], &link->requests[1], sizeof link->requests - sizeof *link->requests);
    deliver(link, f->answer.data, head + body.len);
}

static struct krc_bytes text(const char *string)
{
    return (struct krc_bytes){(const uint8_t *)string, strlen(string)};
}

static void fill_metadata(struct krc_metadata_response *response)
{
    static struct krc_metadata_broker brokers[2];
    static struct krc_metadata_partition partitions[READERS];
    static struct krc_metadata_topic topic;
    for (int i = 0; i < 2; i++)
        brokers[i] =
            (struct krc_metadata_broker){.node_id = i + 1, .host = text("b"), .port = 9092 + i};
    for (int i = 0; i < READERS; i++)
        partitions[i] =
            (struct krc_metadata_partition){.index = i, .leader_id = 1, .leader_epoch = 2};
    topic = (struct krc_metadata_topic){.name = text("t"),
                                        .id = {{1}},
                                        .partitions = partitions,
                                        .partition_count = READERS};
    *response = (struct krc_metadata_response){
        .brokers = brokers, .broker_count = 2, .topics = &topic, .topic_count = 1};
}

static void fill_versions(struct krc_api_versions_response *response)
{
    static struct krc_api_range ranges[KRC_API_COUNT];
    for (int api = 0; api < KRC_API_COUNT; api++)
        ranges[api] = (struct krc_api_range){krc_apis[api].key, krc_apis[api].lowest,
                                             krc_apis[api].highest};
    *response =
        (struct krc_api_versions_response){.ranges = ranges, .range_count = KRC_API_COUNT};
}

static void fill_coordinator(struct krc_find_coordinator_response *response)
{
    *response =
        (struct krc_find_coordinator_response){.node_id = 1, .host = text("b"), .port = 9092};
}

/* Others say nothing, with success. */
static void answer_well(struct fuzz *f, struct link *link)
{
    enum krc_api_name api = api_of(link->requests[0].key);
    struct krc_buffer body = {0};
    struct krc_wire w = {.writing = true,
                         .flexible = link->requests[0].version >= krc_apis[api].first_flexible,
                         .version = link->requests[0].version,
                         .out = &body};
    void *response = calloc(1, krc_apis[api].response_size);
    must(response != NULL);
    if (api == KRC_API_METADATA)
        fill_metadata(response);
    else if (api == KRC_API_API_VERSIONS)
        fill_versions(response);
    else if (api == KRC_API_FIND_COORDINATOR)
        fill_coordinator(response);
    krc_apis[api].response(&w, response);
    must(w.rc == KRC_OK);
    free(response);
    answer_with(f, link, (struct krc_bytes){body.data, body.len});
    krc_buffer_free(&body);
}

static struct krc_bytes take(struct fuzz *f, size_t len)
{
    struct krc_bytes bytes = {f->in.p, len < krc_left(&f->in) ? len : krc_left(&f->in)};
    f->in.p += bytes.len;
    return bytes;
}

static size_t take_length(struct fuzz *f, size_t bytes)
{
    size_t length = 0;
    struct krc_bytes be = take(f, bytes);
    for (size_t i = 0; i < be.len; i++)
        length = length << 8 | be.data[i];
    return length;
}

static void act(struct fuzz *f, unsigned which)
{
    struct reader *r = &f->readers[which % READERS];
    static const int64_t starts[] = {KRC_EARLIEST, KRC_LATEST, KRC_STORED, 0, 3, 1000000};
    struct krc_remote *remote;
    if (which == 31 && f->cluster.member != NULL)
        krc_member_leave(f->cluster.member);
    if (!r->is_open)
        return;
    remote = krc_netsource_of(r->tracker.source)->remote;
    which /= READERS;
    if (which >= 8) {
        krc_remote_pause(remote, which % 2 == 0);
        return;
    }
    must(krc_tracker_assign(&r->tracker, starts[which % 6], NULL, NULL) == KRC_OK);
    krc_remote_ready(remote);
}

static struct link *pick_link(struct fuzz *f, unsigned which, bool has_requests)
{
    for (unsigned i = 0; i < LINKS; i++) {
        struct link *link = &f->links[(which + i) % LINKS];
        if (link->conn != NULL && (link->count > 0 || !has_requests))
            return link;
    }
    return NULL;
}

static void happen(struct fuzz *f)
{
    unsigned byte = (unsigned)take_length(f, 1), which = byte >> 3;
    bool answers = byte % 8 <= 3;
    struct link *link = pick_link(f, which, answers);
    switch (byte % 8) {
    case 3:
        if (link != NULL)
            answer_well(f, link);
        break;
    case 4:
        f->cluster.now_ms += INT64_C(1) << which % 24;
        break;
    case 5:
        if (link != NULL)
            krc_conn_failed(link->conn, which % 2 == 0, "it broke");
        break;
    case 6: {
        struct krc_bytes raw = take(f, take_length(f, 1));
        if (link != NULL)
            deliver(link, raw.data, raw.len);
        break;
    }
    case 7:
        act(f, which);
        break;
    default: {
        struct krc_bytes body = take(f, take_length(f, 2));
        if (link != NULL)
            answer_with(f, link, body);
    }
    }
}

/* ---- One input ------------------------------------------------------------------------------ */

static void join_group(struct fuzz *f, bool is_classic)
{
    f->member = (struct krc_member_settings){
        .group = "g", .instance_id = "", .rack = "", .server_assignor = "",
        .is_classic = is_classic, .session_timeout_ms = 45000, .heartbeat_interval_ms = 3000,
        .max_poll_interval_ms = 300000, .assignor_count = 2};
    f->member.assignors[0] = krc_assignor_find(text("cooperative-sticky"));
    f->member.assignors[1] = krc_assignor_find(text("sticky"));
    struct krc_membership *member;
    must(krc_member_open(&member, &f->cluster, &f->member, NULL) == KRC_OK);
    must(krc_member_subscribe(member, "t", NULL) == KRC_OK);
    krc_member_join(member);
}

static bool set_up(struct fuzz *f, unsigned how)
{
    static const char *const policies[] = {"earliest", "latest", "none", "nearest"};
    struct krc_cluster_settings settings = {
        .client_id = "krc", .rack = how & 1 ? "r" : "", .group = "g",
        .read_committed = !(how & 2), .rebootstrap = !(how & 4),
        .many_partitions = 2, .fetch_max_wait_ms = 500, .fetch_min_bytes = 1, .fetch_max_bytes = 4096,
        .partition_max_bytes = 4096, .buffered_max_bytes = LIMIT, .receive_max_bytes = LIMIT,
        .request_timeout_ms = 30000, .connect_timeout_ms = 10000, .connect_timeout_max_ms = 30000,
        .reconnect_backoff_ms = 50, .reconnect_backoff_max_ms = 1000, .retry_backoff_ms = 100,
        .retry_backoff_max_ms = 1000, .metadata_max_age_ms = 300000,
        .rebootstrap_trigger_ms = 300000, .idle_close_ms = 540000};
    f->config = krc_config_new();
    f->codecs = krc_codecs_new();
    must(f->config != NULL && f->codecs != NULL);
    must(krc_config_set(f->config, "isolation.level",
                        how & 2 ? "read_uncommitted" : "read_committed", NULL) == KRC_OK);
    must(krc_config_set(f->config, "auto.offset.reset", policies[how >> 4 & 3], NULL) == KRC_OK);
    must(krc_config_set(f->config, "skip.corrupt.batches", how & 8 ? "true" : "false", NULL) ==
         KRC_OK);
    must(krc_config_set(f->config, "decompressed.batch.max.bytes", "65536", NULL) == KRC_OK);
    must(krc_cluster_open(&f->cluster, &settings, &ops, f, 7, NULL) == KRC_OK);
    f->cluster.note = ignore_note;
    f->cluster.now_ms = 1;
    must(krc_cluster_add_server(&f->cluster, "b", 9092, NULL) == KRC_OK);
    f->topic = krc_topic_want(&f->cluster, "t");
    if (how & 0x40)
        join_group(f, how & 0x80);
    return f->topic != NULL;
}

static void tear_down(struct fuzz *f)
{
    for (int i = 0; i < READERS; i++)
        if (f->readers[i].is_open)
            krc_tracker_close(&f->readers[i].tracker);
    krc_cluster_close(&f->cluster);
    krc_codecs_free(f->codecs);
    krc_config_free(f->config);
    krc_buffer_free(&f->scratch);
    krc_buffer_free(&f->answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f = {.in = krc_cursor(data, size)};
    if (size == 0)
        return 0;
    must(set_up(&f, (unsigned)take_length(&f, 1)));
    turn(&f);
    while (krc_left(&f.in) > 0) {
        happen(&f);
        turn(&f);
    }
    tear_down(&f);
    return 0;
}
