#include "protocol/describe_producers.h"

/* The bytes that each takes at the least. */
enum { TOPIC_LEAST = 3, PRODUCER_LEAST = 37, PARTITION_LEAST = 9 };

/*
 * A topic to ask about:
 *      string   name
 *      [int32]  partitions
 */
static void request_topic(struct krc_wire *w, void *element)
{
    struct krc_describe_producers_request_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
    krc_wire_tags(w);
}

/*
 * DescribeProducers request:
 *      [topic]
 */
void krc_describe_producers_request(struct krc_wire *w, void *request)
{
    struct krc_describe_producers_request *r = request;
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, request_topic);
    krc_wire_tags(w);
}

/*
 * A producer:
 *      int64  producer id
 *      int32  producer epoch
 *      int32  last sequence
 *      int64  last timestamp
 *      int32  coordinator epoch
 *      int64  first offset of the open transaction, or -1
 */
static void producer(struct krc_wire *w, void *element)
{
    struct krc_described_producer *p = element;
    krc_wire_i64(w, &p->producer_id);
    krc_wire_i32(w, &p->producer_epoch);
    krc_wire_i32(w, &p->last_sequence);
    krc_wire_i64(w, &p->last_timestamp);
    krc_wire_i32(w, &p->coordinator_epoch);
    krc_wire_i64(w, &p->current_txn_start_offset);
    krc_wire_tags(w);
}

/*
 * A partition:
 *      int32       partition
 *      int16       error code
 *      string      error message, nullable
 *      [producer]
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_describe_producers_partition *p = element;
    krc_wire_i32(w, &p->index);
    krc_wire_i16(w, &p->error_code);
    krc_wire_nullable_string(w, &p->error_message);
    krc_wire_array(w, &p->producers, &p->producer_count, sizeof *p->producers, PRODUCER_LEAST,
                   producer);
    krc_wire_tags(w);
}

/*
 * A topic:
 *      string       name
 *      [partition]
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_describe_producers_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_array(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                   partition);
    krc_wire_tags(w);
}

/*
 * DescribeProducers response:
 *      int32    throttle time in ms
 *      [topic]
 */
void krc_describe_producers_response(struct krc_wire *w, void *response)
{
    struct krc_describe_producers_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
    krc_wire_tags(w);
}
