#include "protocol/describe_topic_partitions.h"

/* The bytes that each takes at the least. */
enum { REQUEST_TOPIC_LEAST = 2, PARTITION_LEAST = 20, TOPIC_LEAST = 26 };

/*
 * Where to go on:
 *      int8    -1: null, and that is all
 *      string  topic
 *      int32   partition
 */
static void cursor(struct krc_wire *w, struct krc_topic_cursor *c)
{
    int8_t present = c->topic.data != NULL ? 1 : -1;
    krc_wire_i8(w, &present);
    if (present < 0)
        return;
    krc_wire_string(w, &c->topic);
    krc_wire_i32(w, &c->partition);
    krc_wire_tags(w);
}

/*
 * A topic to ask about:
 *      string  name
 */
static void request_topic(struct krc_wire *w, void *element)
{
    krc_wire_string(w, element);
    krc_wire_tags(w);
}

/*
 * DescribeTopicPartitions request:
 *      [topic]
 *      int32    most partitions in the response
 *      cursor
 */
void krc_describe_topic_partitions_request(struct krc_wire *w, void *request)
{
    struct krc_describe_topic_partitions_request *r = request;
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, REQUEST_TOPIC_LEAST,
                   request_topic);
    krc_wire_i32(w, &r->response_partition_limit);
    cursor(w, &r->cursor);
    krc_wire_tags(w);
}

/*
 * A partition:
 *      int16    error code
 *      int32    partition
 *      int32    leader id
 *      int32    leader epoch
 *      [int32]  replicas
 *      [int32]  in-sync replicas
 *      [int32]  eligible leader replicas, nullable
 *      [int32]  the last that were known to be, nullable
 *      [int32]  offline replicas
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_described_partition *p = element;
    krc_wire_i16(w, &p->error_code);
    krc_wire_i32(w, &p->index);
    krc_wire_i32(w, &p->leader_id);
    krc_wire_i32(w, &p->leader_epoch);
    krc_wire_i32_array(w, &p->replicas, &p->replica_count);
    krc_wire_i32_array(w, &p->in_sync, &p->in_sync_count);
    krc_wire_nullable_i32_array(w, &p->eligible, &p->eligible_count);
    krc_wire_nullable_i32_array(w, &p->last_known_eligible, &p->last_known_eligible_count);
    krc_wire_i32_array(w, &p->offline, &p->offline_count);
    krc_wire_tags(w);
}

/*
 * A topic:
 *      int16        error code
 *      string       name, nullable
 *      uuid         id
 *      bool         is internal
 *      [partition]
 *      int32        operations allowed
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_described_topic *t = element;
    krc_wire_i16(w, &t->error_code);
    krc_wire_nullable_string(w, &t->name);
    krc_wire_uuid(w, &t->id);
    krc_wire_bool(w, &t->is_internal);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                   partition);
    krc_wire_i32(w, &t->authorized_operations);
    krc_wire_tags(w);
}

/*
 * DescribeTopicPartitions response:
 *      int32    throttle time in ms
 *      [topic]
 *      cursor   null: that was all
 */
void krc_describe_topic_partitions_response(struct krc_wire *w, void *response)
{
    struct krc_describe_topic_partitions_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
    cursor(w, &r->next);
    krc_wire_tags(w);
}
