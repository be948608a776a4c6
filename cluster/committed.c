/*
 * Questions after the committed offsets of our group: OffsetFetch, of its coordinator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"

/* Takes all questions out of the list that are the coordinator's, as failed. */
static void fail_all(struct krc_question *list, int16_t error_code)
{
    for (struct krc_question *q = list, *next; q != NULL; q = next) {
        next = q->next;
        if (q->type == KRC_ASKS_COMMITTED)
            krc_question_fail(q,
                              error_code == KRC_KAFKA_UNSUPPORTED_VERSION ? KRC_E_UNSUPPORTED
                                                                          : KRC_E_REFUSED,
                              error_code);
    }
}

/* ---- What it says --------------------------------------------------------------------------- */

/* False: out of memory. */
static bool take_metadata(const struct krc_question *q, struct krc_bytes text)
{
    if (q->metadata == NULL)
        return true;
    free(*q->metadata);
    *q->metadata =
        text.data == NULL ? NULL : strndup((const char *)text.data, text.len);
    return *q->metadata != NULL || text.data == NULL;
}

static void take_offset(struct krc_asked *asked, struct krc_question *q,
                        const struct krc_offset_fetch_partition *p, int16_t version)
{
    if (p->error_code != 0 && krc_kafka_error_retriable(p->error_code)) {
        krc_metadata_refresh(asked->cluster);
        krc_question_retry(asked->cluster, q, p->error_code);
        return;
    }
    if (p->error_code != 0) {
        krc_question_fail(q, KRC_E_REFUSED, p->error_code);
        return;
    }
    if (!take_metadata(q, p->metadata)) {
        krc_question_retry(asked->cluster, q, 0);
        return;
    }
    q->offset = p->committed_offset;
    q->found_epoch = p->committed_leader_epoch;
    q->topic_id = version >= 10 ? q->topic->id : (struct krc_uuid){{0}};
    krc_question_told(q);
}

static void take_topic(struct krc_asked *asked, const struct krc_offset_fetch_topic *from,
                       int16_t version)
{
    struct krc_topic *topic = version >= 10 ? krc_topic_find_id(asked->cluster, &from->id)
                                            : krc_topic_find(asked->cluster, from->name);
    for (int32_t i = 0; i < from->partition_count; i++)
        for (struct krc_question *q = asked->list, *next; q != NULL; q = next) {
            next = q->next;
            if (q->topic == topic && q->partition == from->partitions[i].index)
                take_offset(asked, q, &from->partitions[i], version);
        }
}

/* Which offsets are waited for, of those that were answered. */
static void describe_pending(const struct krc_cluster *cluster, char *text, size_t size)
{
    const struct krc_question *first = NULL;
    char others[40] = "";
    int count = 0;
    for (const struct krc_question *q = cluster->questions.open; q != NULL; q = q->next)
        if (q->type == KRC_ASKS_COMMITTED && q->last_error == KRC_KAFKA_UNSTABLE_OFFSET_COMMIT) {
            first = q;
            count++;
        }
    if (count > 1)
        snprintf(others, sizeof others, ", and of %d more partitions,", count - 1);
    text[0] = '\0';
    if (first != NULL)
        snprintf(text, size, "the committed offset of %s-%d%s is pending in a transaction that is "
                 "still open (krc txns lists those)", first->topic->name, (int)first->partition,
                 others);
}

/* Who waits for it shall know why nothing comes. */
static void tell_pending(struct krc_cluster *cluster)
{
    struct krc_questions *questions = &cluster->questions;
    char text[440];
    describe_pending(cluster, questions->pending, sizeof questions->pending);
    bool is_any = questions->pending[0] != '\0';
    if (!is_any)
        questions->stall.tell_ms = 0;
    if (!is_any || !krc_stall_is_due(&questions->stall, cluster->now_ms))
        return;
    snprintf(text, sizeof text, "%s: waiting until it is decided", questions->pending);
    krc_cluster_note(cluster, "", text);
}

static void fetched(void *arg, const struct krc_answer *answer)
{
    struct krc_asked *asked = arg;
    struct krc_cluster *cluster = asked->cluster;
    const struct krc_offset_fetch_response *r = answer->response;
    int16_t error_code = answer->rc < 0 ? 0 : r->error_code;
    if (answer->rc < 0 || krc_coordinator_moved(error_code))
        krc_coordinator_lost(asked->coordinator, answer->rc < 0 ? answer->why
                                                                : krc_kafka_error_name(error_code));
    else if (error_code != 0 && !krc_kafka_error_retriable(error_code))
        fail_all(asked->list, error_code);
    if (answer->rc >= 0 && error_code == 0)
        krc_coordinator_heard(asked->coordinator);
    for (int32_t t = 0; answer->rc >= 0 && error_code == 0 && t < r->topic_count; t++)
        take_topic(asked, &r->topics[t], answer->version);
    while (asked->list != NULL)
        krc_question_retry(cluster, asked->list, error_code);
    tell_pending(cluster);
    free(asked);
}

/* Each question is an entry of its own: a topic may be named more than once. */
static int send(struct krc_asked *asked, struct krc_conn *conn, int16_t version, krc_error *error)
{
    struct krc_cluster *cluster = asked->cluster;
    struct krc_offset_fetch_request request = {.group = krc_bytes_of(cluster->settings.group),
                                               .require_stable = true};
    size_t count = 0;
    for (struct krc_question *q = asked->list; q != NULL; q = q->next)
        count++;
    request.topics = krc_arena_take(&cluster->arena, count * sizeof *request.topics);
    if (request.topics == NULL)
        return krc_fail_nomem(error, count * sizeof *request.topics);
    for (struct krc_question *q = asked->list; q != NULL; q = q->next)
        request.topics[request.topic_count++] = (struct krc_offset_fetch_request_topic){
            .name = krc_bytes_of(q->topic->name),
            .id = q->topic->id,
            .partitions = &q->partition,
            .partition_count = 1};
    return krc_conn_send(conn, KRC_API_OFFSET_FETCH, version, &request, 0, fetched, asked, error);
}

static bool has_id(const struct krc_question *q)
{
    return !krc_uuid_is_zero(&q->topic->id);
}

/* Version 10 and later name topics by id; before 7 there is no require_stable. */
static int16_t version_for(const struct krc_conn *conn, const struct krc_question *list)
{
    int16_t version = krc_conn_version(conn, KRC_API_OFFSET_FETCH);
    for (; list != NULL; list = list->next) {
        if (version >= 10 && !has_id(list))
            version = 9;
        if (version < 7 && list->stable)
            version = -1;
    }
    return version;
}

static void fetch_offsets(struct krc_coordinator *c, struct krc_conn *conn)
{
    struct krc_cluster *cluster = c->cluster;
    struct krc_asked *asked = calloc(1, sizeof *asked);
    krc_error error;
    if (asked == NULL)
        return;
    asked->cluster = cluster;
    asked->coordinator = c;
    for (struct krc_question *q = cluster->questions.open, *next; q != NULL; q = next) {
        next = q->next;
        if (q->type == KRC_ASKS_COMMITTED && !krc_backoff_waits(cluster, &q->backoff))
            krc_question_send(asked, q);
    }
    krc_arena_reset(&cluster->arena);
    int16_t version = version_for(conn, asked->list);
    if (version >= 0 && send(asked, conn, version, &error) >= 0)
        return;
    if (version < 0)
        fail_all(asked->list, KRC_KAFKA_UNSUPPORTED_VERSION);
    while (asked->list != NULL)
        krc_question_retry(cluster, asked->list, 0);
    free(asked);
}

/* ---- Time ----------------------------------------------------------------------------------- */

/* The first time at which a question is to be put; INT64_MAX: there is none. */
static int64_t due_ms(const struct krc_cluster *cluster)
{
    int64_t at = INT64_MAX;
    for (const struct krc_question *q = cluster->questions.open; q != NULL; q = q->next)
        if (q->type == KRC_ASKS_COMMITTED)
            at = krc_sooner(at, q->backoff.not_before_ms);
    return at;
}

int64_t krc_committed_tick(struct krc_cluster *cluster)
{
    int64_t next_ms = INT64_MAX, due = due_ms(cluster);
    if (due > cluster->now_ms)
        return due;
    struct krc_coordinator *c =
        krc_coordinator_of(cluster, KRC_GROUP, cluster->settings.group);
    if (c == NULL)
        return cluster->now_ms + cluster->settings.retry_backoff_ms;
    struct krc_conn *conn = krc_coordinator_conn(c, KRC_FOR_QUESTIONS, &next_ms);
    if (conn != NULL)
        fetch_offsets(c, conn);
    else if (c->error_code != 0)
        fail_all(cluster->questions.open, c->error_code);
    if (due_ms(cluster) == INT64_MAX) /* where all have failed: who waits is to look soon */
        next_ms = cluster->now_ms + 1;
    return next_ms;
}
