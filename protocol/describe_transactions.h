/* DescribeTransactions: where the transactions of transactional ids stand. */
#ifndef KRC_PROTOCOL_DESCRIBE_TRANSACTIONS_H
#define KRC_PROTOCOL_DESCRIBE_TRANSACTIONS_H

#include "protocol/wire.h"

struct krc_describe_transactions_request {
    struct krc_bytes *transactional_ids;
    int32_t transactional_id_count;
};

struct krc_described_transaction_topic {
    struct krc_bytes name;
    int32_t *partitions;
    int32_t partition_count;
};

struct krc_described_transaction {
    int16_t error_code;
    struct krc_bytes transactional_id;
    struct krc_bytes state; /* "Ongoing" */
    int32_t timeout_ms;
    int64_t start_time_ms; /* -1: none is open */
    int64_t producer_id;
    int16_t producer_epoch;
    struct krc_described_transaction_topic *topics; /* that have no marker of it yet */
    int32_t topic_count;
};

struct krc_describe_transactions_response {
    int32_t throttle_time_ms;
    struct krc_described_transaction *transactions;
    int32_t transaction_count;
};

void krc_describe_transactions_request(struct krc_wire *w, void *request);
void krc_describe_transactions_response(struct krc_wire *w, void *response);

#endif
