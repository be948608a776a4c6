#include "protocol/list_offsets.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { REQUEST_PARTITION_LEAST = 12, PARTITION_LEAST = 22, TOPIC_LEAST = 3 };

/*
 * A partition to ask about:
 *      int32  partition
 *      int32  current leader epoch  v4+
 *      int64  timestamp
 */
static void request_partition(struct krc_wire *w, void *element)
{
    struct krc_list_offsets_request_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i32_since(w, 4, &p->current_leader_epoch, -1);
    krc_wire_i64(w, &p->timestamp);
    krc_wire_tags(w);
}

/*
 * A topic to ask about:
 *      string       name
 *      [partition]
 */
static void request_topic(struct krc_wire *w, void *element)
{
    struct krc_list_offsets_request_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions,
                   REQUEST_PARTITION_LEAST, request_partition);
    krc_wire_tags(w);
}

/*
 * ListOffsets request:
 *      int32    replica id, -1
 *      int8     isolation level  v2+
 *      [topic]
 *      int32    time-out in ms   v10+
 */
void krc_list_offsets_request(struct krc_wire *w, void *request)
{
    struct krc_list_offsets_request *r = request;
    krc_wire_i32(w, &(int32_t){-1});
    if (w->version >= 2)
        krc_wire_i8(w, &r->isolation_level);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, request_topic);
    if (w->version >= 10)
        krc_wire_i32(w, &r->timeout_ms);
    krc_wire_tags(w);
}

/*
 * A partition's answer:
 *      int32  partition
 *      int16  error code
 *      int64  timestamp
 *      int64  offset
 *      int32  leader epoch  v4+
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_list_offsets_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i16(w, &p->error_code);
    krc_wire_i64(w, &p->timestamp);
    krc_wire_i64(w, &p->offset);
    krc_wire_i32_since(w, 4, &p->leader_epoch, -1);
    krc_wire_tags(w);
}

/*
 * A topic's answers:
 *      string       name
 *      [partition]
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_list_offsets_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                   partition);
    krc_wire_tags(w);
}

/*
 * ListOffsets response:
 *      int32    throttle time in ms  v2+
 *      [topic]
 */
void krc_list_offsets_response(struct krc_wire *w, void *response)
{
    struct krc_list_offsets_response *r = response;
    if (w->version >= 2)
        krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
    krc_wire_tags(w);
}
