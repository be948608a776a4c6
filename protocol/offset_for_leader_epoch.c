#include "protocol/offset_for_leader_epoch.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { REQUEST_PARTITION_LEAST = 12, PARTITION_LEAST = 18, TOPIC_LEAST = 3 };

/*
 * A partition to ask about:
 *      int32  partition
 *      int32  current leader epoch
 *      int32  leader epoch
 */
static void request_partition(struct krc_wire *w, void *element)
{
    struct krc_epoch_request_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i32(w, &p->current_leader_epoch);
    krc_wire_i32(w, &p->leader_epoch);
    krc_wire_tags(w);
}

/*
 * A topic to ask about:
 *      string       name
 *      [partition]
 */
static void request_topic(struct krc_wire *w, void *element)
{
    struct krc_epoch_request_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions,
                   REQUEST_PARTITION_LEAST, request_partition);
    krc_wire_tags(w);
}

/*
 * OffsetForLeaderEpoch request:
 *      int32    replica id, -1
 *      [topic]
 */
void krc_offset_for_leader_epoch_request(struct krc_wire *w, void *request)
{
    struct krc_offset_for_leader_epoch_request *r = request;
    krc_wire_i32(w, &(int32_t){-1});
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, request_topic);
    krc_wire_tags(w);
}

/*
 * A partition's answer:
 *      int16  error code
 *      int32  partition
 *      int32  leader epoch
 *      int64  end offset
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_epoch_partition *p = element;
    krc_wire_i16(w, &p->error_code);
    krc_wire_i32(w, &p->index);
    krc_wire_i32(w, &p->leader_epoch);
    krc_wire_i64(w, &p->end_offset);
    krc_wire_tags(w);
}

/*
 * A topic's answers:
 *      string       name
 *      [partition]
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_epoch_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                   partition);
    krc_wire_tags(w);
}

/*
 * OffsetForLeaderEpoch response:
 *      int32    throttle time in ms
 *      [topic]
 */
void krc_offset_for_leader_epoch_response(struct krc_wire *w, void *response)
{
    struct krc_offset_for_leader_epoch_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
    krc_wire_tags(w);
}
