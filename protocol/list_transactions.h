/* ListTransactions: the transactional ids that a broker coordinates. */
#ifndef KRC_PROTOCOL_LIST_TRANSACTIONS_H
#define KRC_PROTOCOL_LIST_TRANSACTIONS_H

#include "protocol/wire.h"

struct krc_list_transactions_request {
    struct krc_bytes *states; /* "Ongoing"; none: all */
    int32_t state_count;
    int64_t *producer_ids; /* none: all */
    int32_t producer_id_count;
    /* least duration: always -1, any (v1+); pattern of the transactional id: always null (v2+) */
};

struct krc_listed_transaction {
    struct krc_bytes transactional_id;
    int64_t producer_id;
    struct krc_bytes state;
};

struct krc_list_transactions_response {
    int32_t throttle_time_ms;
    int16_t error_code;
    struct krc_bytes *unknown_states; /* of the request */
    int32_t unknown_state_count;
    struct krc_listed_transaction *transactions;
    int32_t transaction_count;
};

void krc_list_transactions_request(struct krc_wire *w, void *request);
void krc_list_transactions_response(struct krc_wire *w, void *response);

#endif
