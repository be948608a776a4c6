#include "protocol/fetch.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* The bytes that each takes at the least, in whichever version that is. */
enum {
    REQUEST_PARTITION_LEAST = 16,
    FORGOTTEN_LEAST = 3,
    ABORTED_LEAST = 16,
    PARTITION_LEAST = 30,
    TOPIC_LEAST = 3,
    ENDPOINT_LEAST = 11,
};

/* A topic's name until v12, its id from v13 on. */
static void topic_name(struct krc_wire *w, struct krc_bytes *name, struct krc_uuid *id)
{
    if (w->version <= 12)
        krc_wire_string(w, name);
    else
        krc_wire_uuid(w, id);
}

/*
 * A partition to fetch from:
 *      int32  partition
 *      int32  current leader epoch  v9+
 *      int64  fetch offset
 *      int32  last fetched epoch    v12+
 *      int64  log start offset      v5+, of a follower
 *      int32  most bytes
 *      tags 0 and 1, of a follower  v17+, v18+
 */
static void request_partition(struct krc_wire *w, void *element)
{
    struct krc_fetch_request_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i32_since(w, 9, &p->current_leader_epoch, -1);
    krc_wire_i64(w, &p->fetch_offset);
    krc_wire_i32_since(w, 12, &p->last_fetched_epoch, -1);
    krc_wire_i64_since(w, 5, &p->log_start_offset, -1);
    krc_wire_i32(w, &p->max_bytes);
    krc_wire_tags(w);
}

/*
 * A topic to fetch from:
 *      string or uuid  name, or id
 *      [partition]
 */
static void request_topic(struct krc_wire *w, void *element)
{
    struct krc_fetch_request_topic *t = element;
    topic_name(w, &t->name, &t->id);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions,
                   REQUEST_PARTITION_LEAST, request_partition);
    krc_wire_tags(w);
}

/*
 * A topic that leaves the session:
 *      string or uuid  name, or id
 *      [int32]         partitions
 */
static void forgotten_topic(struct krc_wire *w, void *element)
{
    struct krc_fetch_forgotten_topic *t = element;
    topic_name(w, &t->name, &t->id);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
    krc_wire_tags(w);
}

/*
 * Fetch request:
 *      int32        replica id, -1  v4-14
 *      int32        longest wait in ms
 *      int32        least bytes
 *      int32        most bytes
 *      int8         isolation level
 *      int32        session id      v7+
 *      int32        session epoch   v7+
 *      [topic]
 *      [forgotten]                  v7+
 *      string       rack            v11+
 *      tags 0 cluster id, 1 replica id and epoch, of a follower  v12+, v15+
 */
void krc_fetch_request(struct krc_wire *w, void *request)
{
    struct krc_fetch_request *r = request;
    int32_t replica_id = -1;
    if (w->version <= 14)
        krc_wire_i32(w, &replica_id);
    krc_wire_i32(w, &r->max_wait_ms);
    krc_wire_i32(w, &r->min_bytes);
    krc_wire_i32(w, &r->max_bytes);
    krc_wire_i8(w, &r->isolation_level);
    if (w->version >= 7)
        krc_wire_i32(w, &r->session_id);
    krc_wire_i32_since(w, 7, &r->session_epoch, -1);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, request_topic);
    if (w->version >= 7)
        krc_wire_array(w, &r->forgotten, &r->forgotten_count, sizeof *r->forgotten, FORGOTTEN_LEAST,
                       forgotten_topic);
    if (w->version >= 11)
        krc_wire_string(w, &r->rack);
    krc_wire_tags(w);
}

/*
 * An aborted transaction:
 *      int64  producer id
 *      int64  first offset
 */
static void aborted(struct krc_wire *w, void *element)
{
    struct krc_fetch_aborted *a = element;
    krc_wire_i64(w, &a->producer_id);
    krc_wire_i64(w, &a->first_offset);
    krc_wire_tags(w);
}

/*
 * A partition's tags:
 *      0 diverging epoch  int32 epoch, int64 end offset
 *      1 current leader   int32 leader id, int32 leader epoch
 *      2 snapshot, of a follower
 */
enum { DIVERGING_EPOCH = 0, CURRENT_LEADER = 1 };
static const uint32_t partition_tags[] = {DIVERGING_EPOCH, CURRENT_LEADER};

static bool partition_tag(struct krc_wire *w, uint32_t tag, void *message)
{
    struct krc_fetch_partition *p = message;
    switch (tag) {
    case DIVERGING_EPOCH:
        if (w->writing && p->diverging_epoch == -1 && p->diverging_end_offset == -1)
            return false;
        krc_wire_i32(w, &p->diverging_epoch);
        krc_wire_i64(w, &p->diverging_end_offset);
        break;
    case CURRENT_LEADER:
        if (w->writing && p->leader_id == -1 && p->leader_epoch == -1)
            return false;
        krc_wire_i32(w, &p->leader_id);
        krc_wire_i32(w, &p->leader_epoch);
        break;
    default:
        return false;
    }
    krc_wire_tags(w);
    return true;
}

/*
 * What came of a partition:
 *      int32      partition
 *      int16      error code
 *      int64      high watermark
 *      int64      last stable offset
 *      int64      log start offset        v5+
 *      [aborted]  nullable
 *      int32      preferred read replica  v11+
 *      bytes      records, nullable
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_fetch_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i16(w, &p->error_code);
    krc_wire_i64(w, &p->high_watermark);
    krc_wire_i64(w, &p->last_stable_offset);
    krc_wire_i64_since(w, 5, &p->log_start_offset, -1);
    krc_wire_nullable_array(w, &p->aborted, &p->aborted_count, sizeof *p->aborted, ABORTED_LEAST,
                            aborted);
    krc_wire_i32_since(w, 11, &p->preferred_read_replica, -1);
    krc_wire_nullable_bytes(w, &p->records);
    if (!w->writing) {
        p->diverging_epoch = p->leader_id = p->leader_epoch = -1;
        p->diverging_end_offset = -1;
    }
    krc_wire_known_tags(w, partition_tags, COUNT_OF(partition_tags), partition_tag, p);
}

/*
 * What came of a topic:
 *      string or uuid  name, or id
 *      [partition]
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_fetch_topic *t = element;
    topic_name(w, &t->name, &t->id);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                   partition);
    krc_wire_tags(w);
}

/*
 * Where a new leader is:
 *      int32   node id
 *      string  host
 *      int32   port
 *      string  rack, nullable
 */
static void endpoint(struct krc_wire *w, void *element)
{
    struct krc_fetch_endpoint *e = element;
    krc_wire_i32(w, &e->node_id);
    krc_wire_string(w, &e->host);
    krc_wire_i32(w, &e->port);
    krc_wire_nullable_string(w, &e->rack);
    krc_wire_tags(w);
}

enum { NODE_ENDPOINTS = 0 };
static const uint32_t response_tags[] = {NODE_ENDPOINTS};

static bool response_tag(struct krc_wire *w, uint32_t tag, void *message)
{
    struct krc_fetch_response *r = message;
    if (tag != NODE_ENDPOINTS || w->version < 16 || (w->writing && r->endpoint_count == 0))
        return false;
    krc_wire_array(w, &r->endpoints, &r->endpoint_count, sizeof *r->endpoints, ENDPOINT_LEAST,
                   endpoint);
    return true;
}

/*
 * Fetch response:
 *      int32       throttle time in ms
 *      int16       error code  v7+
 *      int32       session id  v7+
 *      [topic]
 *      tag 0       [endpoint]  v16+
 */
void krc_fetch_response(struct krc_wire *w, void *response)
{
    struct krc_fetch_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    if (w->version >= 7) {
        krc_wire_i16(w, &r->error_code);
        krc_wire_i32(w, &r->session_id);
    }
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
    krc_wire_known_tags(w, response_tags, COUNT_OF(response_tags), response_tag, r);
}
