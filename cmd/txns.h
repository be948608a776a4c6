/*
 * What `krc txns` prints.
 */
#ifndef KRC_CMD_TXNS_H
#define KRC_CMD_TXNS_H

#include <krc-tools.h>

#include "cmd/table.h"

struct txns_rows {
    bool json, all;
    bool is_cluster;   /* whose partitions they are */
    bool asks_cluster; /* or whose coordinators are told, at least */
    int64_t now_ms;
    krc_transactional_ids *ids;
    struct cmd_table partitions, transactions;
};

/* The fields above the tables are set. */
void txns_begin(struct txns_rows *rows);
void txns_end(struct txns_rows *rows);

/* JSON is printed at once, tables at the end. */
void txns_add(struct txns_rows *rows, const char *topic, int32_t partition,
              const struct krc_transaction *transaction);

/* `holder`: what holds the last stable offset back; NULL: nothing. */
void txns_add_partition(struct txns_rows *rows, const char *topic, int32_t partition,
                        const struct krc_transactions *summary,
                        const struct krc_transaction *holder);
int txns_print(const struct txns_rows *rows, krc_error *error) KRC_MUST_USE;

#endif
