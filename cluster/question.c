#include "cluster/question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"
#include "cluster/verdict.h"

/* ---- Lists ---------------------------------------------------------------------------------- */

static void link_question(struct krc_question **list, struct krc_question *q)
{
    q->next = *list;
    q->back = list;
    if (*list != NULL)
        (*list)->back = &q->next;
    *list = q;
}

static void unlink_question(struct krc_question *q)
{
    if (q->back == NULL)
        return;
    *q->back = q->next;
    if (q->next != NULL)
        q->next->back = q->back;
    q->next = NULL;
    q->back = NULL;
}

static void put_open(struct krc_cluster *cluster, struct krc_question *q)
{
    unlink_question(q);
    q->state = KRC_OPEN;
    link_question(&cluster->questions.open, q);
}

void krc_question_ask(struct krc_cluster *cluster, struct krc_question *q)
{
    krc_backoff_clear(&q->backoff);
    q->last_error = 0;
    put_open(cluster, q);
}

void krc_question_drop(struct krc_question *q)
{
    unlink_question(q);
    q->state = KRC_UNASKED;
}

void krc_question_send(struct krc_asked *asked, struct krc_question *q)
{
    unlink_question(q);
    q->state = KRC_SENT;
    link_question(&asked->list, q);
}

/* ---- What becomes of one -------------------------------------------------------------------- */

void krc_question_told(struct krc_question *q)
{
    unlink_question(q);
    q->state = KRC_TOLD;
    q->rc = KRC_OK;
    if (q->remote != NULL)
        krc_remote_ready(q->remote);
}

void krc_question_retry(struct krc_cluster *cluster, struct krc_question *q, int16_t error_code)
{
    put_open(cluster, q);
    q->last_error = error_code;
    krc_backoff_fail(cluster, &q->backoff);
}

void krc_question_fail(struct krc_question *q, int code, int16_t error_code)
{
    krc_question_told(q);
    q->rc = code;
    q->last_error = error_code;
}

int krc_question_explain(const struct krc_question *q, krc_error *error)
{
    static const char *const asked[KRC_QUESTION_TYPES] = {
        [KRC_ASKS_OFFSET] = "its offsets (ListOffsets)",
        [KRC_ASKS_EPOCH_END] = "where a leader epoch ends (OffsetForLeaderEpoch)",
        [KRC_ASKS_COMMITTED] = "the group's committed offset (OffsetFetch)",
        [KRC_ASKS_CLEANUP] = "its cleanup.policy (DescribeConfigs)",
    };
    bool is_late = q->rc == KRC_E_TIMEOUT;
    const struct krc_topic_partition *p = krc_topic_partition(q->topic, q->partition);
    bool has_leader = p != NULL && p->leader_id >= 0;
    int rc = krc_fail(error, q->rc, "%s-%d: asked for %s, %s %s%s%s", q->topic->name,
                      (int)q->partition, asked[q->type],
                      is_late && !has_leader ? "nobody answers: it has no leader"
                      : is_late              ? "there is no answer in time; the last one was"
                                             : "the broker answers",
                      is_late && !has_leader ? "" : krc_kafka_error_name(q->last_error),
                      is_late ? "" : ": ", is_late ? "" : krc_kafka_error_text(q->last_error));
    krc_error_at(error, q->topic->name, q->partition, -1, -1);
    return rc;
}

static void judge(struct krc_cluster *cluster, struct krc_question *q, enum krc_verdict verdict,
                  int16_t error_code)
{
    switch (verdict) {
    case KRC_DO_TAKE:
        krc_question_told(q);
        return;
    case KRC_DO_NONE:
        q->offset = -1;
        q->found_epoch = -1;
        krc_question_told(q);
        return;
    case KRC_DO_STOP:
        krc_question_fail(q, KRC_E_REFUSED, error_code);
        return;
    default:
        if (verdict != KRC_DO_RETRY)
            krc_metadata_refresh(cluster);
        krc_question_retry(cluster, q, error_code);
    }
}

/* ---- Questions that go together ------------------------------------------------------------- */

static int by_partition(const void *left, const void *right)
{
    const struct krc_question *const *a = left, *const *b = right;
    if ((*a)->topic != (*b)->topic)
        return strcmp((*a)->topic->name, (*b)->topic->name);
    return ((*a)->partition > (*b)->partition) - ((*a)->partition < (*b)->partition);
}

static size_t length(const struct krc_question *list)
{
    size_t n = 0;
    for (; list != NULL; list = list->next)
        n++;
    return n;
}

/* Those that are waited for, which lie in order, to be searched while an answer is taken. */
struct waiting {
    struct krc_cluster *cluster;
    struct krc_question **list;
    size_t count;
};

static struct waiting waiting_of(const struct krc_asked *asked)
{
    struct waiting w = {.cluster = asked->cluster};
    krc_arena_reset(&w.cluster->arena);
    w.list = krc_arena_take(&w.cluster->arena, length(asked->list) * sizeof *w.list);
    for (struct krc_question *q = asked->list; q != NULL && w.list != NULL; q = q->next)
        w.list[w.count++] = q;
    return w; /* without memory none, and all are asked again */
}

/* The one about that partition, which the answer speaks of; NULL: none, or it was told. */
static struct krc_question *find_asked(const struct waiting *w, struct krc_topic *topic,
                                       int32_t partition)
{
    struct krc_question wanted = {.topic = topic, .partition = partition}, *key = &wanted;
    struct krc_question **found =
        topic == NULL || w->count == 0
            ? NULL
            : bsearch(&key, w->list, w->count, sizeof *w->list, by_partition);
    return found == NULL || (*found)->state != KRC_SENT ? NULL : *found;
}

/* What the answer did not speak of, or that got none, is asked again. */
static void end_asked(struct krc_asked *asked)
{
    struct krc_question *q;
    while ((q = asked->list) != NULL)
        krc_question_retry(asked->cluster, q, q->last_error);
    free(asked);
}

/* There is always a first and a last offset; only a time may have none. */
static bool is_no_answer(const struct krc_question *q, int64_t offset, enum krc_verdict verdict)
{
    bool is_end = q->timestamp == KRC_TIMESTAMP_LATEST || q->timestamp == KRC_TIMESTAMP_EARLIEST;
    return q->type == KRC_ASKS_OFFSET && is_end &&
           (verdict == KRC_DO_NONE || (verdict == KRC_DO_TAKE && offset < 0));
}

static void take_answer(const struct waiting *w, struct krc_topic *topic, int32_t partition,
                        int64_t offset, int32_t epoch, enum krc_verdict verdict,
                        int16_t error_code)
{
    struct krc_question *q = find_asked(w, topic, partition);
    if (q == NULL)
        return;
    if (is_no_answer(q, offset, verdict)) {
        krc_question_retry(w->cluster, q, error_code);
        return;
    }
    q->offset = offset;
    q->found_epoch = epoch;
    judge(w->cluster, q, verdict, error_code);
}

static void offsets_told(void *arg, const struct krc_answer *answer)
{
    struct krc_asked *asked = arg;
    const struct krc_list_offsets_response *r = answer->response;
    struct waiting w = waiting_of(asked);
    for (int32_t t = 0; answer->rc >= 0 && t < r->topic_count; t++) {
        struct krc_topic *topic = krc_topic_find(asked->cluster, r->topics[t].name);
        const struct krc_list_offsets_partition *p = r->topics[t].partitions;
        for (int32_t i = 0; i < r->topics[t].partition_count; i++, p++)
            take_answer(&w, topic, p->index, p->offset, p->leader_epoch,
                        krc_list_offsets_verdict(p->error_code), p->error_code);
    }
    end_asked(asked);
}

static void epochs_told(void *arg, const struct krc_answer *answer)
{
    struct krc_asked *asked = arg;
    const struct krc_offset_for_leader_epoch_response *r = answer->response;
    struct waiting w = waiting_of(asked);
    for (int32_t t = 0; answer->rc >= 0 && t < r->topic_count; t++) {
        struct krc_topic *topic = krc_topic_find(asked->cluster, r->topics[t].name);
        const struct krc_epoch_partition *p = r->topics[t].partitions;
        for (int32_t i = 0; i < r->topics[t].partition_count; i++, p++)
            take_answer(&w, topic, p->index, p->end_offset, p->leader_epoch,
                        krc_epoch_verdict(p->error_code), p->error_code);
    }
    end_asked(asked);
}

static enum krc_cleanup cleanup_of(const struct krc_config_result *result)
{
    static const char name[] = "cleanup.policy", compact[] = "compact";
    if (result->error_code != 0)
        return KRC_CLEANUP_REFUSED;
    for (int32_t i = 0; i < result->entry_count; i++) {
        const struct krc_config_entry *e = &result->entries[i];
        if (e->name.len == sizeof name - 1 && memcmp(e->name.data, name, e->name.len) == 0)
            return e->value.data != NULL && memmem(e->value.data, e->value.len, compact,
                                                   sizeof compact - 1) != NULL
                       ? KRC_CLEANUP_COMPACT
                       : KRC_CLEANUP_DELETE;
    }
    return KRC_CLEANUP_REFUSED;
}

/* Of the topic, whichever partition asked. */
static void cleanups_told(void *arg, const struct krc_answer *answer)
{
    struct krc_asked *asked = arg;
    const struct krc_describe_configs_response *r = answer->response;
    for (int32_t i = 0; answer->rc >= 0 && i < r->result_count; i++) {
        struct krc_topic *topic = krc_topic_find(asked->cluster, r->results[i].name);
        struct krc_question *q = asked->list, *next;
        if (topic != NULL && !krc_kafka_error_retriable(r->results[i].error_code))
            topic->cleanup = cleanup_of(&r->results[i]);
        for (; q != NULL; q = next) {
            next = q->next;
            if (q->topic == topic && topic->cleanup != KRC_CLEANUP_UNKNOWN)
                krc_question_told(q);
        }
    }
    end_asked(asked);
}

/* ---- Requests ------------------------------------------------------------------------------- */

static struct krc_bytes name_of(const struct krc_question *q)
{
    return krc_bytes_of(q->topic->name);
}

static int32_t leader_epoch(const struct krc_question *q)
{
    return krc_topic_partition(q->topic, q->partition)->leader_epoch;
}

/* The questions of `list` by topic: how many of the first one's topic come first. */
static int32_t same_topic(const struct krc_question *list)
{
    int32_t count = 0;
    for (const struct krc_question *q = list; q != NULL && q->topic == list->topic; q = q->next)
        count++;
    return count;
}

static int send_offsets(struct krc_asked *asked, struct krc_conn *conn, krc_error *error)
{
    struct krc_cluster *cluster = asked->cluster;
    struct krc_list_offsets_request request = {
        .isolation_level = asked->list->read_committed,
        .timeout_ms = (int32_t)cluster->settings.request_timeout_ms};
    request.topics =
        krc_arena_take(&cluster->arena, length(asked->list) * sizeof *request.topics);
    for (const struct krc_question *q = asked->list; q != NULL && request.topics != NULL;) {
        struct krc_list_offsets_request_topic *topic = &request.topics[request.topic_count++];
        int32_t count = same_topic(q);
        topic->name = name_of(q);
        topic->partitions =
            krc_arena_take(&cluster->arena, (size_t)count * sizeof *topic->partitions);
        if (topic->partitions == NULL)
            return krc_fail_nomem(error, (size_t)count * sizeof *topic->partitions);
        for (; topic->partition_count < count; q = q->next)
            topic->partitions[topic->partition_count++] =
                (struct krc_list_offsets_request_partition){.index = q->partition,
                                                            .current_leader_epoch =
                                                                leader_epoch(q),
                                                            .timestamp = q->timestamp};
    }
    if (request.topics == NULL)
        return krc_fail_nomem(error, sizeof *request.topics);
    return krc_conn_send(conn, KRC_API_LIST_OFFSETS, krc_conn_version(conn, KRC_API_LIST_OFFSETS),
                         &request, 0, offsets_told, asked, error);
}

static int send_epochs(struct krc_asked *asked, struct krc_conn *conn, krc_error *error)
{
    struct krc_cluster *cluster = asked->cluster;
    struct krc_offset_for_leader_epoch_request request = {0};
    request.topics =
        krc_arena_take(&cluster->arena, length(asked->list) * sizeof *request.topics);
    for (const struct krc_question *q = asked->list; q != NULL && request.topics != NULL;) {
        struct krc_epoch_request_topic *topic = &request.topics[request.topic_count++];
        int32_t count = same_topic(q);
        topic->name = name_of(q);
        topic->partitions =
            krc_arena_take(&cluster->arena, (size_t)count * sizeof *topic->partitions);
        if (topic->partitions == NULL)
            return krc_fail_nomem(error, (size_t)count * sizeof *topic->partitions);
        for (; topic->partition_count < count; q = q->next)
            topic->partitions[topic->partition_count++] =
                (struct krc_epoch_request_partition){.index = q->partition,
                                                     .current_leader_epoch = leader_epoch(q),
                                                     .leader_epoch = q->epoch};
    }
    if (request.topics == NULL)
        return krc_fail_nomem(error, sizeof *request.topics);
    return krc_conn_send(conn, KRC_API_OFFSET_FOR_LEADER_EPOCH,
                         krc_conn_version(conn, KRC_API_OFFSET_FOR_LEADER_EPOCH), &request, 0,
                         epochs_told, asked, error);
}

static int send_cleanups(struct krc_asked *asked, struct krc_conn *conn, krc_error *error)
{
    static struct krc_bytes key = {(const uint8_t *)"cleanup.policy", 14};
    struct krc_cluster *cluster = asked->cluster;
    struct krc_describe_configs_request request = {0};
    request.resources =
        krc_arena_take(&cluster->arena, length(asked->list) * sizeof *request.resources);
    if (request.resources == NULL)
        return krc_fail_nomem(error, sizeof *request.resources);
    const struct krc_topic *last = NULL;
    for (const struct krc_question *q = asked->list; q != NULL; q = q->next) {
        if (q->topic != last)
            request.resources[request.resource_count++] = (struct krc_describe_configs_resource){
                .type = KRC_RESOURCE_TOPIC, .name = name_of(q), .keys = &key, .key_count = 1};
        last = q->topic;
    }
    return krc_conn_send(conn, KRC_API_DESCRIBE_CONFIGS,
                         krc_conn_version(conn, KRC_API_DESCRIBE_CONFIGS), &request, 0,
                         cleanups_told, asked, error);
}

/* ---- Whom to ask ---------------------------------------------------------------------------- */

static const enum krc_api_name apis[KRC_QUESTION_TYPES] = {
    [KRC_ASKS_OFFSET] = KRC_API_LIST_OFFSETS,
    [KRC_ASKS_EPOCH_END] = KRC_API_OFFSET_FOR_LEADER_EPOCH,
    [KRC_ASKS_COMMITTED] = KRC_API_OFFSET_FETCH,
    [KRC_ASKS_CLEANUP] = KRC_API_DESCRIBE_CONFIGS,
};

/* NULL: nobody can be asked now. */
static struct krc_conn *conn_for(struct krc_cluster *cluster, const struct krc_question *q)
{
    if (q->type == KRC_ASKS_CLEANUP)
        return krc_any_conn(cluster);
    struct krc_topic_partition *p = krc_topic_partition(q->topic, q->partition);
    struct krc_node *node = p == NULL ? NULL : krc_node_find(cluster, p->leader_id);
    if (node == NULL) {
        krc_metadata_refresh(cluster);
        return NULL;
    }
    return krc_node_conn(node, KRC_FOR_QUESTIONS);
}

/* The broker is too old for it: what cannot be known is answered so, but where a log begins or ends
 * no reader can do without. */
static void tell_unknown(struct krc_question *q)
{
    if (q->type == KRC_ASKS_OFFSET) {
        krc_question_fail(q, KRC_E_UNSUPPORTED, KRC_KAFKA_UNSUPPORTED_VERSION);
        return;
    }
    q->offset = -1;
    q->found_epoch = -1;
    if (q->type == KRC_ASKS_CLEANUP)
        q->topic->cleanup = KRC_CLEANUP_REFUSED;
    krc_question_told(q);
}

/* Moves the open questions that go with the first one to `asked`, sorted; a second one about the
 * same partition stays. */
static int gather(struct krc_cluster *cluster, struct krc_question *first, struct krc_conn *conn,
                  struct krc_asked *asked, krc_error *error)
{
    size_t most = length(cluster->questions.open), count = 0;
    struct krc_question **list = krc_arena_take(&cluster->arena, most * sizeof *list);
    if (list == NULL)
        return krc_fail_nomem(error, most * sizeof *list);
    for (struct krc_question *q = first; q != NULL; q = q->next)
        if (q->type == first->type && q->read_committed == first->read_committed &&
            !krc_backoff_waits(cluster, &q->backoff) && conn_for(cluster, q) == conn)
            list[count++] = q;
    qsort(list, count, sizeof *list, by_partition);
    for (size_t i = count; i-- > 0;) {
        bool twice = i > 0 && by_partition(&list[i - 1], &list[i]) == 0;
        if (twice && list[i]->type != KRC_ASKS_CLEANUP)
            continue;
        krc_question_send(asked, list[i]);
    }
    return KRC_OK;
}

static void ask_together(struct krc_cluster *cluster, struct krc_question *first,
                         struct krc_conn *conn)
{
    static int (*const senders[])(struct krc_asked *, struct krc_conn *, krc_error *) = {
        [KRC_ASKS_OFFSET] = send_offsets,
        [KRC_ASKS_EPOCH_END] = send_epochs,
        [KRC_ASKS_CLEANUP] = send_cleanups,
    };
    krc_error error;
    enum krc_question_type type = first->type;
    struct krc_asked *asked = calloc(1, sizeof *asked);
    if (asked == NULL) {
        krc_question_retry(cluster, first, 0);
        return;
    }
    asked->cluster = cluster;
    krc_arena_reset(&cluster->arena);
    int rc = gather(cluster, first, conn, asked, &error);
    if (rc >= 0)
        rc = senders[type](asked, conn, &error);
    if (rc < 0 && asked->list == NULL)
        krc_question_retry(cluster, first, 0);
    if (rc < 0)
        end_asked(asked);
}

static bool ask_one_group(struct krc_cluster *cluster, int64_t *next_ms)
{
    for (struct krc_question *q = cluster->questions.open; q != NULL; q = q->next) {
        if (q->type == KRC_ASKS_COMMITTED)
            continue;
        if (krc_backoff_waits(cluster, &q->backoff)) {
            *next_ms = krc_sooner(*next_ms, q->backoff.not_before_ms);
            continue;
        }
        struct krc_conn *conn = conn_for(cluster, q);
        if (conn == NULL)
            continue;
        if (krc_conn_version(conn, apis[q->type]) >= 0) {
            ask_together(cluster, q, conn);
            return true;
        }
        tell_unknown(q);
        *next_ms = cluster->now_ms + 1; /* nothing has to arrive: who waits is to look soon */
        return true;
    }
    return false;
}

int64_t krc_questions_tick(struct krc_cluster *cluster)
{
    int64_t next_ms = krc_committed_tick(cluster);
    while (ask_one_group(cluster, &next_ms))
        ;
    return next_ms;
}
