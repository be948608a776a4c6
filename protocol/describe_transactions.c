#include "protocol/describe_transactions.h"

/* The bytes that each takes at the least. */
enum { TOPIC_LEAST = 3, TRANSACTION_LEAST = 28 };

/*
 * DescribeTransactions request:
 *      [string]  transactional ids
 */
void krc_describe_transactions_request(struct krc_wire *w, void *request)
{
    struct krc_describe_transactions_request *r = request;
    krc_wire_string_array(w, &r->transactional_ids, &r->transactional_id_count);
    krc_wire_tags(w);
}

/*
 * A topic in a transaction:
 *      string   name
 *      [int32]  partitions
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_described_transaction_topic *t = element;
    krc_wire_string(w, &t->name);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
    krc_wire_tags(w);
}

/*
 * A transaction:
 *      int16    error code
 *      string   transactional id
 *      string   state
 *      int32    time-out in ms
 *      int64    start, ms since 1970
 *      int64    producer id
 *      int16    producer epoch
 *      [topic]
 */
static void transaction(struct krc_wire *w, void *element)
{
    struct krc_described_transaction *t = element;
    krc_wire_i16(w, &t->error_code);
    krc_wire_string(w, &t->transactional_id);
    krc_wire_string(w, &t->state);
    krc_wire_i32(w, &t->timeout_ms);
    krc_wire_i64(w, &t->start_time_ms);
    krc_wire_i64(w, &t->producer_id);
    krc_wire_i16(w, &t->producer_epoch);
    krc_wire_array(w, &t->topics, &t->topic_count, sizeof *t->topics, TOPIC_LEAST, topic);
    krc_wire_tags(w);
}

/*
 * DescribeTransactions response:
 *      int32          throttle time in ms
 *      [transaction]
 */
void krc_describe_transactions_response(struct krc_wire *w, void *response)
{
    struct krc_describe_transactions_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->transactions, &r->transaction_count, sizeof *r->transactions,
                   TRANSACTION_LEAST, transaction);
    krc_wire_tags(w);
}
