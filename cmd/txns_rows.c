/*
 * Transactions as tables, and as JSON.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/times.h"
#include "cmd/txns.h"

/* Nobody counts what has ended in a cluster. */
static const struct cmd_column partition_columns[] = {
    {"TOPIC", true},       {"PARTITION", false}, {"COMMITTED", false}, {"ABORTED", false},
    {"OPEN", false},       {"LOG-START", false}, {"LAST-STABLE", false}, {"LOG-END", false},
    {"HELD-BY", false},    {"SINCE", true},
};
static const struct cmd_column cluster_partition_columns[] = {
    {"TOPIC", true},       {"PARTITION", false},   {"OPEN", false},
    {"HANGING", false},    {"LOG-START", false},   {"LAST-STABLE", false},
    {"HIGH-WATERMARK", false}, {"HELD-BY", false}, {"SINCE", true},
};

/* The last one is left out where no cluster is asked. */
static const struct cmd_column transaction_columns[] = {
    {"TOPIC", true},    {"PARTITION", false}, {"STATE", true},    {"PRODUCER-ID", false},
    {"EPOCH", false},   {"FIRST", false},     {"LAST", false},    {"MARKER", false},
    {"RECORDS", false}, {"SINCE", true},      {"AGE-MS", false},  {"TRANSACTIONAL-ID", true},
    {"COORDINATOR", false},
};
static const struct cmd_column cluster_transaction_columns[] = {
    {"TOPIC", true},         {"PARTITION", false},   {"STATE", true},
    {"PRODUCER-ID", false},  {"EPOCH", false},       {"FIRST", false},
    {"SINCE", true},         {"AGE-MS", false},      {"LAST-WRITE", true},
    {"TIMEOUT-MS", false},   {"COORDINATOR", false}, {"COORDINATOR-STATE", true},
    {"TRANSACTIONAL-ID", true},
};
#define WIDTH(columns) (sizeof(columns) / sizeof *(columns))

void txns_begin(struct txns_rows *rows)
{
    rows->now_ms = cmd_now_ms();
    if (rows->is_cluster) {
        cmd_table_init(&rows->partitions, cluster_partition_columns,
                       WIDTH(cluster_partition_columns));
        cmd_table_init(&rows->transactions, cluster_transaction_columns,
                       WIDTH(cluster_transaction_columns));
    } else {
        cmd_table_init(&rows->partitions, partition_columns, WIDTH(partition_columns));
        cmd_table_init(&rows->transactions, transaction_columns,
                       WIDTH(transaction_columns) - !rows->asks_cluster);
    }
}

void txns_end(struct txns_rows *rows)
{
    cmd_table_free(&rows->partitions);
    cmd_table_free(&rows->transactions);
}

/* ---- A transaction ------------------------------------------------------------------------- */

static bool is_ended(const struct krc_transaction *t)
{
    return t->state == KRC_TRANSACTION_COMMITTED || t->state == KRC_TRANSACTION_ABORTED;
}

/* How long it has been open, -1: it is not, or nobody knows. */
static int64_t age_of(const struct txns_rows *rows, const struct krc_transaction *t)
{
    bool is_open = t->state == KRC_TRANSACTION_OPEN || t->state == KRC_TRANSACTION_HANGING;
    if (!is_open || t->first_time_ms < 0)
        return -1;
    int64_t age = rows->now_ms - t->first_time_ms;
    return age < 0 ? 0 : age;
}

static struct krc_transactional_id id_of(const struct txns_rows *rows,
                                         const struct krc_transaction *t)
{
    const struct krc_transactional_id *id = krc_transactional_id(rows->ids, t->producer_id);
    return id != NULL ? *id : (struct krc_transactional_id){
                                  .coordinator = -1, .timeout_ms = -1, .start_time_ms = -1};
}

static void add_time(struct cmd_table *table, int64_t time_ms)
{
    char text[40] = "-";
    if (time_ms >= 0)
        cmd_format_datetime(time_ms, text);
    cmd_table_add(table, "%s", text);
}

static void add_text(struct cmd_table *table, const char *text)
{
    cmd_table_add(table, "%s", text == NULL ? "-" : text);
}

static void add_row(struct txns_rows *rows, const struct krc_transaction *t)
{
    struct cmd_table *table = &rows->transactions;
    struct krc_transactional_id id = id_of(rows, t);
    cmd_table_add_number(table, t->last_offset);
    cmd_table_add_number(table, t->marker_offset);
    cmd_table_add_number(table, t->records);
    add_time(table, t->first_time_ms);
    cmd_table_add_number(table, age_of(rows, t));
    add_text(table, id.name);
    if (rows->asks_cluster)
        cmd_table_add_number(table, id.coordinator);
}

static void add_cluster_row(struct txns_rows *rows, const struct krc_transaction *t)
{
    struct cmd_table *table = &rows->transactions;
    struct krc_transactional_id id = id_of(rows, t);
    add_time(table, t->first_time_ms);
    cmd_table_add_number(table, age_of(rows, t));
    add_time(table, t->last_time_ms);
    cmd_table_add_number(table, id.timeout_ms);
    cmd_table_add_number(table, id.coordinator);
    add_text(table, id.state);
    add_text(table, id.name);
}

static void print_number(const char *name, int64_t number)
{
    printf(number < 0 ? ",\"%s\":null" : ",\"%s\":%" PRId64, name, number);
}

static void print_text(const char *name, const char *text)
{
    putchar(',');
    krc_write_json_text(name, text, stdout);
}

static void print_json(const struct txns_rows *rows, const char *topic, int32_t partition,
                       const struct krc_transaction *t)
{
    struct krc_transactional_id id = id_of(rows, t);
    fputs("{\"topic\":", stdout);
    krc_write_json_string(topic, stdout);
    printf(",\"partition\":%" PRId32 ",\"state\":\"%s\"", partition,
           krc_transaction_state_name(t->state));
    print_number("producerId", t->producer_id);
    print_number("producerEpoch", t->producer_epoch);
    print_text("transactionalId", id.name);
    print_number("firstOffset", t->first_offset);
    print_number("lastOffset", t->last_offset);
    print_number("markerOffset", t->marker_offset);
    print_number("records", t->records);
    print_number("startTime", t->first_time_ms);
    print_number("lastTime", t->last_time_ms);
    print_number("markerTime", t->marker_time_ms);
    print_number("ageMs", age_of(rows, t));
    printf(",\"holdsLastStableOffset\":%s", t->holds_last_stable_offset ? "true" : "false");
    print_number("coordinator", id.coordinator);
    print_text("coordinatorState", id.state);
    print_number("timeoutMs", id.timeout_ms);
    fputs("}\n", stdout);
}

void txns_add(struct txns_rows *rows, const char *topic, int32_t partition,
              const struct krc_transaction *t)
{
    struct cmd_table *table = &rows->transactions;
    if (rows->json) {
        print_json(rows, topic, partition, t);
        return;
    }
    if (is_ended(t) && !rows->all)
        return;
    cmd_table_add(table, "%s", topic);
    cmd_table_add_number(table, partition);
    cmd_table_add(table, "%s", krc_transaction_state_name(t->state));
    cmd_table_add_number(table, t->producer_id);
    cmd_table_add_number(table, t->producer_epoch);
    cmd_table_add_number(table, t->first_offset);
    if (rows->is_cluster)
        add_cluster_row(rows, t);
    else
        add_row(rows, t);
}

/* ---- A partition --------------------------------------------------------------------------- */

void txns_add_partition(struct txns_rows *rows, const char *topic, int32_t partition,
                        const struct krc_transactions *s, const struct krc_transaction *holder)
{
    struct cmd_table *table = &rows->partitions;
    cmd_table_add(table, "%s", topic);
    cmd_table_add_number(table, partition);
    if (!rows->is_cluster) {
        cmd_table_add_number(table, s->committed);
        cmd_table_add_number(table, s->aborted);
    }
    cmd_table_add_number(table, s->open);
    if (rows->is_cluster)
        cmd_table_add_number(table, s->hanging);
    cmd_table_add_number(table, s->log_start_offset);
    cmd_table_add_number(table, s->last_stable_offset);
    cmd_table_add_number(table, rows->is_cluster ? s->high_watermark : s->log_end_offset);
    cmd_table_add_number(table, holder == NULL ? -1 : holder->producer_id);
    add_time(table, holder == NULL ? -1 : holder->first_time_ms);
}

int txns_print(const struct txns_rows *rows, krc_error *error)
{
    if (rows->json)
        return KRC_OK;
    int rc = cmd_table_print(&rows->partitions, stdout, error);
    if (rc < 0 || rows->transactions.count == 0)
        return rc;
    putchar('\n');
    return cmd_table_print(&rows->transactions, stdout, error);
}
