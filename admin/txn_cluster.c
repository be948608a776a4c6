/*
 * A cluster's transactions: leaders tell which producers have one open in a partition, coordinators
 * whose they are and how they stand.
 */
#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/calls.h"
#include "admin/transactional_ids.h"
#include "consumer/handle.h"
#include "consumer/take.h"

struct asking {
    krc *handle;
    struct krc_open_transactions *partitions;
    size_t count;
    krc_transactional_ids *ids;
    krc_error *error;
};

static int explain(const struct krc_call *call, krc_error *error)
{
    if (call->rc == KRC_E_NOMEM)
        return krc_fail(error, call->rc, "out of memory");
    if (call->rc == KRC_E_UNSUPPORTED)
        return krc_fail(error, call->rc, "a broker is older than Kafka 3.0, which does not tell of "
                        "transactions: it has no %s", krc_apis[call->api].name);
    return krc_call_explain(call, error);
}

static enum krc_call_verdict fail(struct krc_call *call, int rc)
{
    call->rc = rc;
    return KRC_CALL_DONE;
}

/* ---- What is open in partitions -------------------------------------------------------------- */

/* A partition's question. */
struct question {
    struct krc_open_transactions *partition;
    struct krc_describe_producers_request_topic topic;
    struct krc_describe_producers_request request;
};

static const struct krc_describe_producers_partition *
find_answer(const struct krc_describe_producers_response *r, const struct question *q)
{
    if (r->topic_count != 1 || r->topics[0].partition_count != 1 ||
        r->topics[0].partitions[0].index != q->partition->partition)
        return NULL;
    return &r->topics[0].partitions[0];
}

static bool is_open_in(const struct krc_describe_producers_partition *p,
                       const struct krc_transaction *t)
{
    for (int32_t i = 0; i < p->producer_count; i++)
        if (p->producers[i].producer_id == t->producer_id &&
            p->producers[i].current_txn_start_offset == t->first_offset)
            return true;
    return false;
}

static int add_open(struct krc_open_transactions *to,
                    const struct krc_describe_producers_partition *p)
{
    struct krc_transaction *list = calloc((size_t)p->producer_count + 1, sizeof *list);
    if (list == NULL)
        return KRC_E_NOMEM;
    to->list = list;
    for (int32_t i = 0; i < p->producer_count; i++) {
        const struct krc_described_producer *from = &p->producers[i];
        if (from->current_txn_start_offset >= 0)
            list[to->count++] = (struct krc_transaction){
                .state = KRC_TRANSACTION_HANGING, /* as long as no coordinator knows it */
                .producer_id = from->producer_id,
                .producer_epoch = (int16_t)from->producer_epoch,
                .first_offset = from->current_txn_start_offset,
                .last_offset = -1,
                .marker_offset = -1,
                .records = -1,
                .first_time_ms = -1,
                .last_time_ms = from->last_timestamp,
                .marker_time_ms = -1};
    }
    return KRC_OK;
}

/* The coordinator adds a partition before it is written to, and forgets it once the marker is
 * there.  So what it did not know hangs if it is open still, and has ended meanwhile if not. */
static void remove_ended(struct krc_open_transactions *of,
                         const struct krc_describe_producers_partition *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < of->count; i++)
        if (of->list[i].state != KRC_TRANSACTION_HANGING || is_open_in(p, &of->list[i]))
            of->list[kept++] = of->list[i];
    of->count = kept;
}

static enum krc_call_verdict take_producers(struct krc_call *call,
                                            const struct krc_answer *answer, int16_t *code)
{
    const struct question *q = call->arg;
    const struct krc_describe_producers_partition *p = find_answer(answer->response, q);
    if (p == NULL)
        return fail(call, KRC_E_CORRUPT);
    *code = p->error_code;
    if (krc_kafka_error_retriable(*code))
        return KRC_CALL_MOVED;
    if (*code != 0)
        return fail(call, KRC_E_REFUSED);
    if (q->partition->list == NULL)
        return fail(call, add_open(q->partition, p));
    remove_ended(q->partition, p);
    return fail(call, KRC_OK);
}

/* False: nobody is to be asked, and the error says why. */
static bool put(struct asking *a, struct krc_open_transactions *p, struct question *q,
                struct krc_call *call)
{
    struct krc_topic *topic =
        krc_topic_having(&a->handle->net->cluster, p->topic, p->partition);
    if (topic == NULL || krc_topic_partition(topic, p->partition)->leader_id < 0) {
        krc_fail(&p->error, topic == NULL ? KRC_E_NOT_FOUND : KRC_E_IO, "%s %s-%d",
                 topic == NULL ? "the cluster has no partition" : "nobody leads",
                 p->topic, (int)p->partition);
        return false;
    }
    q->partition = p;
    q->topic = (struct krc_describe_producers_request_topic){
        .name = krc_bytes_of(p->topic), .partitions = &p->partition, .partition_count = 1};
    q->request = (struct krc_describe_producers_request){.topics = &q->topic, .topic_count = 1};
    *call = (struct krc_call){.topic = topic,
                              .partition = p->partition,
                              .node_id = -1,
                              .api = KRC_API_DESCRIBE_PRODUCERS,
                              .request = &q->request,
                              .take = take_producers,
                              .arg = q};
    return true;
}

/* One partition's failure leaves the others, but for what is wrong with all. */
static int take_failure(struct asking *a, const struct krc_call *call)
{
    const struct question *q = call->arg;
    krc_error why;
    if (call->rc >= 0)
        return KRC_OK;
    if (call->rc == KRC_E_UNSUPPORTED || call->rc == KRC_E_NOMEM)
        return explain(call, a->error);
    krc_call_explain(call, &why);
    krc_fail(&q->partition->error, why.code, "%s-%d: %.900s", q->partition->topic,
             (int)q->partition->partition, why.message);
    return KRC_OK;
}

static bool has_hanging(const struct krc_open_transactions *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->list[i].state == KRC_TRANSACTION_HANGING)
            return true;
    return false;
}

/* Of partitions that have no list yet, or one with a transaction that no coordinator knows. */
static int describe_producers(struct asking *a)
{
    struct question *questions = calloc(a->count + 1, sizeof *questions);
    struct krc_call *calls = calloc(a->count + 1, sizeof *calls);
    size_t asked = 0;
    int rc = questions == NULL || calls == NULL ? krc_fail_nomem(a->error, a->count * sizeof *calls)
                                                : KRC_OK;
    for (size_t i = 0; rc >= 0 && i < a->count; i++) {
        struct krc_open_transactions *p = &a->partitions[i];
        if (p->error.code >= 0 && (p->list == NULL || has_hanging(p)))
            asked += put(a, p, &questions[asked], &calls[asked]);
    }
    if (rc >= 0)
        rc = krc_make_calls(a->handle->net, calls, asked, a->error);
    for (size_t i = 0; rc >= 0 && i < asked; i++)
        rc = take_failure(a, &calls[i]);
    free(calls);
    free(questions);
    return rc;
}

/* ---- Transactional ids ----------------------------------------------------------------------- */

static int add_listed(struct asking *a, int32_t coordinator,
                      const struct krc_listed_transaction *listed)
{
    struct krc_transactional_id *id;
    KRC_TRY(krc_transactional_ids_put(a->ids, listed->producer_id, listed->transactional_id, &id,
                                      a->error));
    id->coordinator = coordinator;
    return krc_transactional_ids_set_state(a->ids, id, listed->state, a->error);
}

static enum krc_call_verdict take_listing(struct krc_call *call, const struct krc_answer *answer,
                                          int16_t *code)
{
    const struct krc_list_transactions_response *r = answer->response;
    *code = r->error_code;
    enum krc_call_verdict verdict = krc_call_judge(call, *code);
    for (int32_t i = 0; *code == 0 && call->rc >= 0 && i < r->transaction_count; i++)
        call->rc = add_listed(call->arg, call->node_id, &r->transactions[i]);
    return verdict;
}

/* The first error that there is. */
static int explain_first(struct asking *a, const struct krc_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (calls[i].rc < 0)
            return explain(&calls[i], a->error);
    return KRC_OK;
}

/* Of every broker, what it coordinates; only ids of these producers, or, of none, all. */
static int list_ids(struct asking *a, int64_t *producers, size_t count)
{
    const struct krc_nodes *nodes = &a->handle->net->cluster.nodes;
    struct krc_list_transactions_request request = {
        .producer_ids = producers, .producer_id_count = (int32_t)count};
    struct krc_call *calls = calloc(nodes->count + 1, sizeof *calls);
    size_t asked = 0;
    if (calls == NULL)
        return krc_fail_nomem(a->error, nodes->count * sizeof *calls);
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->list[i]->known)
            calls[asked++] = (struct krc_call){.node_id = nodes->list[i]->id,
                                               .api = KRC_API_LIST_TRANSACTIONS,
                                               .request = &request,
                                               .take = take_listing,
                                               .arg = a};
    int rc = krc_make_calls(a->handle->net, calls, asked, a->error);
    if (rc >= 0)
        rc = explain_first(a, calls, asked);
    free(calls);
    return rc;
}

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static int list_ids_of_open(struct asking *a)
{
    size_t count = 0, distinct = 0;
    for (size_t i = 0; i < a->count; i++)
        count += a->partitions[i].count;
    int64_t *producers = malloc((count + 1) * sizeof *producers), *next = producers;
    if (producers == NULL)
        return krc_fail_nomem(a->error, count * sizeof *producers);
    for (size_t i = 0; i < a->count; i++)
        for (size_t t = 0; t < a->partitions[i].count; t++)
            *next++ = a->partitions[i].list[t].producer_id;
    qsort(producers, count, sizeof *producers, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || producers[i] != producers[i - 1])
            producers[distinct++] = producers[i];
    int rc = count > 0 ? list_ids(a, producers, distinct) : KRC_OK;
    free(producers);
    return rc;
}

int krc_transactional_ids_ask(krc *handle, krc_transactional_ids *ids, krc_error *error)
{
    struct asking a = {.handle = handle, .ids = ids, .error = error};
    return list_ids(&a, NULL, 0);
}

/* ---- How they stand -------------------------------------------------------------------------- */

/* A transactional id's question. */
struct id_question {
    struct asking *asking;
    struct krc_transactional_id *id;
    struct krc_bytes name;
    struct krc_describe_transactions_request request;
};

static bool is_in(const struct krc_described_transaction *d, const struct krc_open_transactions *p)
{
    for (int32_t t = 0; t < d->topic_count; t++) {
        const struct krc_described_transaction_topic *topic = &d->topics[t];
        bool is_it = topic->name.len == strlen(p->topic) &&
                     memcmp(topic->name.data, p->topic, topic->name.len) == 0;
        for (int32_t i = 0; is_it && i < topic->partition_count; i++)
            if (topic->partitions[i] == p->partition)
                return true;
    }
    return false;
}

/* Its coordinator is going to end it. */
static void confirm(struct krc_open_transactions *p, const struct krc_described_transaction *d)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->list[i].producer_id == d->producer_id) {
            p->list[i].state = KRC_TRANSACTION_OPEN;
            p->list[i].first_time_ms = d->start_time_ms;
        }
}

static enum krc_call_verdict take_description(struct krc_call *call,
                                              const struct krc_answer *answer, int16_t *code)
{
    const struct id_question *q = call->arg;
    struct asking *a = q->asking;
    const struct krc_describe_transactions_response *r = answer->response;
    if (r->transaction_count != 1)
        return fail(call, KRC_E_CORRUPT);
    const struct krc_described_transaction *d = &r->transactions[0];
    *code = d->error_code;
    if (*code == KRC_KAFKA_TRANSACTIONAL_ID_NOT_FOUND) /* it was forgotten meanwhile */
        return fail(call, KRC_OK);
    if (*code != 0)
        return krc_call_judge(call, *code);
    q->id->coordinator = call->coordinator->node_id;
    q->id->timeout_ms = d->timeout_ms;
    q->id->start_time_ms = d->start_time_ms;
    for (size_t i = 0; i < a->count; i++)
        if (is_in(d, &a->partitions[i]))
            confirm(&a->partitions[i], d);
    return fail(call, krc_transactional_ids_set_state(a->ids, q->id, d->state, a->error));
}

static int put_id(struct asking *a, struct krc_transactional_id *id, struct id_question *q,
                  struct krc_call *call)
{
    q->asking = a;
    q->id = id;
    q->name = krc_bytes_of(id->name);
    q->request = (struct krc_describe_transactions_request){
        .transactional_ids = &q->name, .transactional_id_count = 1};
    *call = (struct krc_call){
        .coordinator = krc_coordinator_of(&a->handle->net->cluster, KRC_TRANSACTION, id->name),
        .node_id = -1,
        .api = KRC_API_DESCRIBE_TRANSACTIONS,
        .request = &q->request,
        .take = take_description,
        .arg = q};
    return call->coordinator == NULL ? krc_fail_nomem(a->error, strlen(id->name)) : KRC_OK;
}

static int explain_id(struct asking *a, const struct krc_call *call)
{
    const struct id_question *q = call->arg;
    krc_error why;
    if (call->rc >= 0)
        return KRC_OK;
    if (call->error_code == KRC_KAFKA_TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        return krc_fail(a->error, call->rc, "the cluster does not let us look at transactional id "
                        "%s: that takes DESCRIBE on TransactionalId %s", q->id->name, q->id->name);
    explain(call, &why);
    return krc_fail(a->error, why.code, "transactional id %s: %.700s", q->id->name, why.message);
}

static int describe_ids(struct asking *a)
{
    size_t count = 0;
    while (krc_transactional_ids_at(a->ids, count) != NULL)
        count++;
    struct id_question *questions = calloc(count + 1, sizeof *questions);
    struct krc_call *calls = calloc(count + 1, sizeof *calls);
    int rc = questions == NULL || calls == NULL ? krc_fail_nomem(a->error, count * sizeof *calls)
                                                : KRC_OK;
    for (size_t i = 0; rc >= 0 && i < count; i++)
        rc = put_id(a, krc_transactional_ids_at(a->ids, i), &questions[i], &calls[i]);
    if (rc >= 0)
        rc = krc_make_calls(a->handle->net, calls, count, a->error);
    for (size_t i = 0; rc >= 0 && i < count; i++)
        rc = explain_id(a, &calls[i]);
    free(calls);
    free(questions);
    return rc;
}

/* ---- At the end ------------------------------------------------------------------------------ */

/* Of the record at this offset; -1: it is not to be had. */
static int64_t read_time(krc *handle, const struct krc_open_transactions *p, int64_t offset)
{
    int timeout_ms = (int)krc_least(handle->config->api_timeout_ms, INT32_MAX);
    int64_t time_ms = -1;
    struct krc_record record;
    krc_batch *batch;
    if (krc_assign(handle, p->topic, p->partition, offset, offset + 1, NULL) < 0)
        return -1;
    if (krc_poll(handle, timeout_ms, &batch) == 1) {
        if (krc_next(batch, &record) == 1 && record.offset == offset)
            time_ms = record.timestamp_ms;
        krc_release(batch);
    }
    (void)!krc_unassign(handle, p->topic, p->partition);
    return time_ms;
}

/* Of what no coordinator knows, only the log says since when. */
static void read_times(struct asking *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct krc_open_transactions *p = &a->partitions[i];
        for (size_t t = 0; p->error.code >= 0 && t < p->count; t++)
            if (p->list[t].state == KRC_TRANSACTION_HANGING)
                p->list[t].first_time_ms = read_time(a->handle, p, p->list[t].first_offset);
    }
}

static int by_first_offset(const void *left, const void *right)
{
    const struct krc_transaction *a = left, *b = right;
    return (a->first_offset > b->first_offset) - (a->first_offset < b->first_offset);
}

enum { KINDS = 3 };
static const enum krc_offset_kind kinds[KINDS] = {KRC_LOG_START_OFFSET, KRC_LAST_STABLE_OFFSET,
                                                  KRC_HIGH_WATERMARK};

/* The transactions were asked for before: the first may have ended since. */
static void mark_holder(struct krc_open_transactions *p)
{
    const struct krc_transactions *s = &p->summary;
    if (p->count == 0 || s->last_stable_offset >= s->high_watermark)
        return;
    int64_t first = p->list[0].first_offset;
    p->list[0].holds_last_stable_offset =
        s->last_stable_offset == (first > s->log_start_offset ? first : s->log_start_offset);
}

static void summarise(struct krc_open_transactions *p, const struct krc_offset_query *answers)
{
    struct krc_transactions *s = &p->summary;
    *s = (struct krc_transactions){.committed = -1,
                                   .aborted = -1,
                                   .log_start_offset = answers[0].offset,
                                   .last_stable_offset = answers[1].offset,
                                   .high_watermark = answers[2].offset,
                                   .log_end_offset = -1};
    for (int i = 0; p->error.code >= 0 && i < KINDS; i++)
        p->error = answers[i].error;
    qsort(p->list, p->count, sizeof *p->list, by_first_offset);
    for (size_t i = 0; i < p->count; i++)
        ++*(p->list[i].state == KRC_TRANSACTION_HANGING ? &s->hanging : &s->open);
    mark_holder(p);
}

static int ask_offsets(struct asking *a)
{
    struct krc_offset_query *queries = calloc(a->count * KINDS + 1, sizeof *queries);
    size_t asked = 0;
    if (queries == NULL)
        return krc_fail_nomem(a->error, a->count * KINDS * sizeof *queries);
    for (size_t i = 0; i < a->count; i++)
        for (int k = 0; a->partitions[i].error.code >= 0 && k < KINDS; k++)
            queries[asked++] = (struct krc_offset_query){.topic = a->partitions[i].topic,
                                                         .partition = a->partitions[i].partition,
                                                         .kind = kinds[k]};
    int rc = krc_list_offsets(a->handle, queries, asked, a->error);
    const struct krc_offset_query *answers = queries;
    for (size_t i = 0; rc >= 0 && i < a->count; i++)
        if (a->partitions[i].error.code >= 0) {
            summarise(&a->partitions[i], answers);
            answers += KINDS;
        }
    free(queries);
    return rc;
}

int krc_ask_transactions(krc *handle, struct krc_open_transactions *partitions, size_t count,
                         krc_transactional_ids *ids, krc_error *error)
{
    struct asking a = {.handle = handle, .partitions = partitions, .count = count, .ids = ids,
                       .error = error};
    for (size_t i = 0; i < count; i++) {
        partitions[i].list = NULL;
        partitions[i].count = 0;
        partitions[i].error = (krc_error){.code = KRC_OK};
    }
    KRC_TRY(describe_producers(&a));
    KRC_TRY(list_ids_of_open(&a));
    KRC_TRY(describe_ids(&a));
    KRC_TRY(describe_producers(&a));
    read_times(&a);
    return ask_offsets(&a);
}

void krc_open_transactions_free(struct krc_open_transactions *partitions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(partitions[i].list);
}
