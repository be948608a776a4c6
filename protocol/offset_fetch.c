#include "protocol/offset_fetch.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { REQUEST_GROUP_LEAST = 3, PARTITION_LEAST = 16, TOPIC_LEAST = 3, GROUP_LEAST = 5 };

/* A topic's name until v9, its id from v10 on. */
static void topic_name(struct krc_wire *w, struct krc_bytes *name, struct krc_uuid *id)
{
    if (w->version <= 9)
        krc_wire_string(w, name);
    else
        krc_wire_uuid(w, id);
}

/*
 * A topic to ask about:
 *      string or uuid  name, or id
 *      [int32]         partitions
 */
static void request_topic(struct krc_wire *w, void *element)
{
    struct krc_offset_fetch_request_topic *t = element;
    topic_name(w, &t->name, &t->id);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
    krc_wire_tags(w);
}

static void request_topics(struct krc_wire *w, struct krc_offset_fetch_request *r)
{
    if (w->version >= 2)
        krc_wire_nullable_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST,
                                request_topic);
    else
        krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST,
                       request_topic);
}

/*
 * A group to ask about, from v8 on:
 *      string   group id
 *      string   member id, nullable                        v9+
 *      int32    member epoch, -1 where there is no member  v9+
 *      [topic]  null: all
 */
static void request_group(struct krc_wire *w, struct krc_offset_fetch_request *r)
{
    int32_t none = -1;
    krc_wire_string(w, &r->group);
    if (w->version >= 9) {
        krc_wire_nullable_string(w, &r->member_id);
        krc_wire_i32(w, r->member_id.data != NULL ? &r->member_epoch : &none);
    }
    request_topics(w, r);
    krc_wire_tags(w);
}

/*
 * OffsetFetch request:
 *      string   group id                  v0-7
 *      [topic]  null: all (v2+)           v0-7
 *      [group]                            v8+
 *      bool     wants stable offsets only v7+
 */
void krc_offset_fetch_request(struct krc_wire *w, void *request)
{
    struct krc_offset_fetch_request *r = request;
    if (w->version <= 7) {
        krc_wire_string(w, &r->group);
        request_topics(w, r);
    } else {
        int32_t count = krc_wire_count_of_one(w, REQUEST_GROUP_LEAST);
        for (int32_t i = 0; i < count; i++)
            request_group(w, i == 0 ? r : &(struct krc_offset_fetch_request){0});
    }
    if (w->version >= 7)
        krc_wire_bool(w, &r->require_stable);
    krc_wire_tags(w);
}

/*
 * A partition's committed offset:
 *      int32   partition
 *      int64   committed offset
 *      int32   committed leader epoch  v5+
 *      string  metadata, nullable
 *      int16   error code
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_offset_fetch_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i64(w, &p->committed_offset);
    krc_wire_i32_since(w, 5, &p->committed_leader_epoch, -1);
    krc_wire_nullable_string(w, &p->metadata);
    krc_wire_i16(w, &p->error_code);
    krc_wire_tags(w);
}

/*
 * A topic's committed offsets:
 *      string or uuid  name, or id
 *      [partition]
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_offset_fetch_topic *t = element;
    topic_name(w, &t->name, &t->id);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                   partition);
    krc_wire_tags(w);
}

/*
 * A group's committed offsets, from v8 on:
 *      string   group id
 *      [topic]
 *      int16    error code
 */
static void group(struct krc_wire *w, struct krc_offset_fetch_response *r)
{
    krc_wire_string(w, &r->group);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
    krc_wire_i16(w, &r->error_code);
    krc_wire_tags(w);
}

/*
 * OffsetFetch response:
 *      int32    throttle time in ms  v3+
 *      [topic]                       v0-7
 *      int16    error code           v2-7
 *      [group]                       v8+
 */
void krc_offset_fetch_response(struct krc_wire *w, void *response)
{
    struct krc_offset_fetch_response *r = response;
    if (w->version >= 3)
        krc_wire_i32(w, &r->throttle_time_ms);
    if (w->version <= 7) {
        krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
        if (w->version >= 2)
            krc_wire_i16(w, &r->error_code);
    } else {
        int32_t count = krc_wire_count_of_one(w, GROUP_LEAST);
        for (int32_t i = 0; i < count; i++)
            group(w, i == 0 ? r : &(struct krc_offset_fetch_response){0});
    }
    krc_wire_tags(w);
}
