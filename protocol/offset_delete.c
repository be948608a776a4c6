#include "protocol/offset_delete.h"

/* The bytes that each takes at the least. */
enum { TOPIC_LEAST = 6, PARTITION_LEAST = 6 };

/*
 * A topic whose offsets are to go:
 *      string   name
 *      [int32]  partitions
 */
static void request_topic(struct krc_wire *w, void *element)
{
    struct krc_offset_delete_request_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
}

/*
 * OffsetDelete request:
 *      string   group id
 *      [topic]
 */
void krc_offset_delete_request(struct krc_wire *w, void *request)
{
    struct krc_offset_delete_request *r = request;
    krc_wire_string(w, &r->group);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, request_topic);
}

/*
 * What came of a partition:
 *      int32  partition
 *      int16  error code
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_offset_delete_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i16(w, &p->error_code);
}

/*
 * What came of a topic:
 *      string       name
 *      [partition]
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_offset_delete_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                   partition);
}

/*
 * OffsetDelete response:
 *      int16    error code
 *      int32    throttle time in ms
 *      [topic]
 */
void krc_offset_delete_response(struct krc_wire *w, void *response)
{
    struct krc_offset_delete_response *r = response;
    krc_wire_i16(w, &r->error_code);
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
}
