#include "protocol/offset_commit.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { REQUEST_PARTITION_LEAST = 14, PARTITION_LEAST = 6, TOPIC_LEAST = 3 };

/* A topic's name until v9, its id from v10 on. */
static void topic_name(struct krc_wire *w, struct krc_bytes *name, struct krc_uuid *id)
{
    if (w->version <= 9)
        krc_wire_string(w, name);
    else
        krc_wire_uuid(w, id);
}

/*
 * A partition's offset to keep:
 *      int32   partition
 *      int64   offset
 *      int32   leader epoch  v6+
 *      string  metadata, nullable
 */
static void request_partition(struct krc_wire *w, void *element)
{
    struct krc_offset_commit_request_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i64(w, &p->committed_offset);
    krc_wire_i32_since(w, 6, &p->committed_leader_epoch, -1);
    krc_wire_nullable_string(w, &p->metadata);
    krc_wire_tags(w);
}

/*
 * A topic's offsets to keep:
 *      string or uuid  name, or id
 *      [partition]
 */
static void request_topic(struct krc_wire *w, void *element)
{
    struct krc_offset_commit_request_topic *t = element;
    topic_name(w, &t->name, &t->id);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions,
                   REQUEST_PARTITION_LEAST, request_partition);
    krc_wire_tags(w);
}

/*
 * OffsetCommit request:
 *      string   group id
 *      int32    generation, or member epoch
 *      string   member id
 *      string   instance id, nullable    v7+
 *      int64    retention time in ms, -1  v3-4
 *      [topic]
 */
void krc_offset_commit_request(struct krc_wire *w, void *request)
{
    struct krc_offset_commit_request *r = request;
    krc_wire_string(w, &r->group);
    krc_wire_i32(w, &r->member_epoch);
    krc_wire_string(w, &r->member_id);
    if (w->version >= 7)
        krc_wire_nullable_string(w, &r->instance_id);
    if (w->version <= 4)
        krc_wire_i64(w, &(int64_t){-1});
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, request_topic);
    krc_wire_tags(w);
}

/*
 * What came of a partition:
 *      int32  partition
 *      int16  error code
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_offset_commit_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i16(w, &p->error_code);
    krc_wire_tags(w);
}

/*
 * What came of a topic:
 *      string or uuid  name, or id
 *      [partition]
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_offset_commit_topic *t = element;
    topic_name(w, &t->name, &t->id);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                   partition);
    krc_wire_tags(w);
}

/*
 * OffsetCommit response:
 *      int32    throttle time in ms
 *      [topic]
 */
void krc_offset_commit_response(struct krc_wire *w, void *response)
{
    struct krc_offset_commit_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
    krc_wire_tags(w);
}
