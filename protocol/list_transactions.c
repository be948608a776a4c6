#include "protocol/list_transactions.h"

/* The bytes that each takes at the least. */
enum { PRODUCER_ID_LEAST = 8, TRANSACTION_LEAST = 11 };

static void producer_id(struct krc_wire *w, void *element)
{
    krc_wire_i64(w, element);
}

/*
 * ListTransactions request:
 *      [string]  states
 *      [int64]   producer ids
 *      int64     least duration in ms, -1                  v1+
 *      string    pattern of the transactional id, nullable  v2+
 */
void krc_list_transactions_request(struct krc_wire *w, void *request)
{
    struct krc_list_transactions_request *r = request;
    krc_wire_string_array(w, &r->states, &r->state_count);
    krc_wire_array(w, &r->producer_ids, &r->producer_id_count, sizeof *r->producer_ids,
                   PRODUCER_ID_LEAST, producer_id);
    if (w->version >= 1)
        krc_wire_i64(w, &(int64_t){-1});
    if (w->version >= 2)
        krc_wire_nullable_string(w, &(struct krc_bytes){0});
    krc_wire_tags(w);
}

/*
 * A transaction:
 *      string  transactional id
 *      int64   producer id
 *      string  state
 */
static void transaction(struct krc_wire *w, void *element)
{
    struct krc_listed_transaction *t = element;
    krc_wire_string(w, &t->transactional_id);
    krc_wire_i64(w, &t->producer_id);
    krc_wire_string(w, &t->state);
    krc_wire_tags(w);
}

/*
 * ListTransactions response:
 *      int32          throttle time in ms
 *      int16          error code
 *      [string]       states of the request that the broker does not know
 *      [transaction]
 */
void krc_list_transactions_response(struct krc_wire *w, void *response)
{
    struct krc_list_transactions_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_i16(w, &r->error_code);
    krc_wire_string_array(w, &r->unknown_states, &r->unknown_state_count);
    krc_wire_array(w, &r->transactions, &r->transaction_count, sizeof *r->transactions,
                   TRANSACTION_LEAST, transaction);
    krc_wire_tags(w);
}
