/*
 * What there is, and where it begins and ends: answered by folders at once, by a cluster after
 * asking it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumer/handle.h"

/* ---- Topics and brokers --------------------------------------------------------------------- */

static int refuse_waiting(krc_error *error)
{
    return krc_fail(error, KRC_E_STATE, "an embedded consumer does not wait for answers");
}

int krc_load_topics(krc *handle, const char *const *topics, size_t count, krc_error *error)
{
    if (handle->net == NULL)
        return KRC_OK;
    return handle->is_embedded ? refuse_waiting(error)
                               : krc_net_load_topics(handle->net, topics, count, error);
}

int krc_load_eligible_leaders(krc *handle, krc_error *error)
{
    if (handle->net == NULL)
        return KRC_OK;
    return handle->is_embedded ? refuse_waiting(error) : krc_net_describe(handle->net, error);
}

static void describe_log(const struct krc_log_place *place, struct krc_partition *partition)
{
    *partition = (struct krc_partition){.topic = place->topic,
                                        .partition = place->partition,
                                        .topic_id = place->topic_id,
                                        .path = place->folder,
                                        .high_watermark = place->high_watermark,
                                        .leader = -1,
                                        .leader_epoch = -1,
                                        .eligible_count = -1};
}

static void describe(const struct krc_topic *topic, int32_t index, struct krc_partition *partition)
{
    const struct krc_topic_partition *p = &topic->partitions[index];
    struct krc_replica_lists lists = krc_replicas_get(&topic->replicas, p->replicas);
    *partition = (struct krc_partition){.topic = topic->name,
                                        .partition = index,
                                        .topic_id = topic->id,
                                        .high_watermark = -1,
                                        .is_internal = topic->is_internal,
                                        .leader = p->leader_id,
                                        .leader_epoch = p->leader_epoch,
                                        .replicas = lists.ids[KRC_REPLICAS],
                                        .in_sync = lists.ids[KRC_IN_SYNC],
                                        .offline = lists.ids[KRC_OFFLINE],
                                        .replica_count = lists.counts[KRC_REPLICAS],
                                        .in_sync_count = lists.counts[KRC_IN_SYNC],
                                        .offline_count = lists.counts[KRC_OFFLINE],
                                        .eligible = lists.ids[KRC_ELIGIBLE],
                                        .eligible_count = lists.counts[KRC_ELIGIBLE]};
}

/* Whoever wants all of them asks for one after the other. */
static void begin_listing(struct krc_listed *listed, const struct krc_topics *topics, size_t i)
{
    if (listed->topic_count != topics->count || listed->changes != topics->changes ||
        i < listed->first)
        *listed =
            (struct krc_listed){.topic_count = topics->count, .changes = topics->changes};
}

static bool list_partition(struct krc_net *net, size_t i, struct krc_partition *partition)
{
    const struct krc_topics *topics = &net->cluster.topics;
    struct krc_listed *listed = &net->listed;
    begin_listing(listed, topics, i);
    for (; listed->topic < topics->count; listed->topic++) {
        const struct krc_topic *topic = topics->list[listed->topic];
        size_t count = (size_t)topic->partition_count;
        if (i - listed->first < count) {
            describe(topic, (int32_t)(i - listed->first), partition);
            return true;
        }
        listed->first += count;
    }
    return false;
}

bool krc_source_partition(const krc *handle, size_t i, struct krc_partition *partition)
{
    if (handle->net != NULL)
        return list_partition(handle->net, i, partition);
    if (i < handle->places.count)
        describe_log(&handle->places.list[i], partition);
    return i < handle->places.count;
}

bool krc_source_broker(const krc *handle, size_t i, struct krc_broker *broker)
{
    if (handle->net == NULL || i >= handle->net->cluster.nodes.count)
        return false;
    const struct krc_node *node = handle->net->cluster.nodes.list[i];
    *broker = (struct krc_broker){
        .id = node->id, .host = node->host, .port = node->port, .rack = node->rack};
    return true;
}

struct krc_cluster_here krc_handle_here(const krc *handle)
{
    return (struct krc_cluster_here){.net = handle->net,
                                     .places = &handle->places,
                                     .moved = handle->config->moved_cluster};
}

const char *krc_cluster_name(const krc *handle)
{
    struct krc_cluster_here here = krc_handle_here(handle);
    return krc_cluster_id_here(&here);
}

void krc_describe_brokers(const krc *handle, char *text, size_t size)
{
    text[0] = '\0';
    if (handle->net != NULL)
        krc_cluster_describe(&handle->net->cluster, text, size);
}

/* ---- Offsets of a folder -------------------------------------------------------------------- */

static int no_such(const char *where, const char *topic, int32_t partition, krc_error *error)
{
    int rc = krc_fail(error, KRC_E_NOT_FOUND, "%s no partition %s-%d", where, topic,
                      (int)partition);
    krc_error_at(error, topic, partition, -1, -1);
    return rc;
}

static int look_into(struct krc_logsource *source, struct krc_offset_query *q, krc_error *error)
{
    switch (q->kind) {
    case KRC_LOG_START_OFFSET:
        q->offset = source->log->log_start_offset;
        break;
    case KRC_LAST_STABLE_OFFSET:
        return krc_logsource_stable(source, &q->offset, error);
    case KRC_HIGH_WATERMARK:
        q->offset = source->log->place->high_watermark;
        break;
    case KRC_LOG_END_OFFSET:
        q->offset = source->log_end;
        break;
    case KRC_OFFSET_FOR_TIME:
        return krc_logsource_find_time(source, q->timestamp_ms, &q->offset, error);
    }
    return KRC_OK;
}

static bool is_same_partition(const struct krc_offset_query *a, const struct krc_offset_query *b)
{
    return a->partition == b->partition && strcmp(a->topic, b->topic) == 0;
}

/* Opens a partition's log aside from what is being read, for the questions about it that come
 * first; says how many that were. */
static size_t ask_folder(krc *handle, struct krc_offset_query *queries, size_t count)
{
    struct krc_logsource source = {0};
    const struct krc_log_place *place =
        krc_log_places_get(&handle->places, queries->topic, queries->partition);
    krc_error error;
    int opened = place == NULL ? no_such("the log folders have", queries->topic,
                                         queries->partition, &error)
                               : krc_logsource_open(&source, place, handle->config,
                                                    handle->codecs, &error);
    size_t i = 0;
    for (; i < count && is_same_partition(&queries[i], queries); i++) {
        int rc = opened < 0 ? opened : look_into(&source, &queries[i], &error);
        if (rc < 0)
            queries[i].error = error;
    }
    if (opened >= 0)
        krc_logsource_close(&source);
    return i;
}

/* ---- Offsets of a cluster ------------------------------------------------------------------- */

/* False: nobody is to be asked, and the query has its answer. */
static bool put(krc *handle, struct krc_offset_query *q, struct krc_question *question)
{
    struct krc_topic *topic =
        krc_topic_having(&handle->net->cluster, q->topic, q->partition);
    if (topic == NULL) {
        (void)no_such("the cluster has", q->topic, q->partition, &q->error);
        return false;
    }
    *question = (struct krc_question){
        .type = KRC_ASKS_OFFSET, .topic = topic, .partition = q->partition};
    switch (q->kind) {
    case KRC_LOG_START_OFFSET:
        question->timestamp = KRC_TIMESTAMP_EARLIEST;
        return true;
    case KRC_LAST_STABLE_OFFSET:
        question->read_committed = true;
        question->timestamp = KRC_TIMESTAMP_LATEST;
        return true;
    case KRC_HIGH_WATERMARK:
        question->timestamp = KRC_TIMESTAMP_LATEST;
        return true;
    case KRC_OFFSET_FOR_TIME:
        question->read_committed = !handle->config->read_uncommitted;
        question->timestamp = q->timestamp_ms < 0 ? 0 : q->timestamp_ms;
        return true;
    case KRC_LOG_END_OFFSET:
        break;
    }
    return false;
}

/* A time behind the last record that is visible has no offset: then the end is meant. */
static bool wants_end(const krc *handle, const struct krc_offset_query *q,
                      struct krc_question *question)
{
    if (q->kind != KRC_OFFSET_FOR_TIME || q->offset >= 0 || q->error.code < 0)
        return false;
    question->timestamp = KRC_TIMESTAMP_LATEST;
    question->read_committed = !handle->config->read_uncommitted;
    return true;
}

/* Puts the questions together; `again`: for the ends. */
static int ask_round(krc *handle, struct krc_offset_query *queries, size_t count, bool again,
                     struct krc_question *questions, struct krc_offset_query **of,
                     krc_error *error)
{
    size_t asked = 0;
    for (size_t i = 0; i < count; i++)
        if ((!again || queries[i].error.code >= 0) && put(handle, &queries[i], &questions[asked]) &&
            (!again || wants_end(handle, &queries[i], &questions[asked])))
            of[asked++] = &queries[i];
    KRC_TRY(krc_net_ask(handle->net, questions, asked, error));
    for (size_t i = 0; i < asked; i++) {
        of[i]->offset = questions[i].rc < 0 ? -1 : questions[i].offset;
        if (questions[i].rc < 0)
            (void)krc_question_explain(&questions[i], &of[i]->error);
    }
    return KRC_OK;
}

static int ask_cluster(krc *handle, struct krc_offset_query *queries, size_t count,
                       krc_error *error)
{
    struct krc_question *questions = calloc(count + 1, sizeof *questions);
    struct krc_offset_query **of = calloc(count + 1, sizeof *of);
    int rc = questions == NULL || of == NULL ? krc_fail_nomem(error, count * sizeof *questions)
                                             : KRC_OK;
    for (int again = 0; rc >= 0 && again < 2; again++)
        rc = ask_round(handle, queries, count, again, questions, of, error);
    free(questions);
    free(of);
    return rc;
}

/* ---- Both ----------------------------------------------------------------------------------- */

int krc_list_offsets(krc *handle, struct krc_offset_query *queries, size_t count,
                     krc_error *error)
{
    for (size_t i = 0; i < count; i++) {
        queries[i].offset = -1;
        queries[i].error = (krc_error){.code = KRC_OK, .partition = -1, .offset = -1,
                                       .file_position = -1};
    }
    if (handle->is_embedded)
        return refuse_waiting(error);
    if (handle->net != NULL)
        return ask_cluster(handle, queries, count, error);
    for (size_t i = 0; i < count;)
        i += ask_folder(handle, &queries[i], count - i);
    return KRC_OK;
}

/* The first query's error that there is. */
static int first_error(const struct krc_offset_query *queries, size_t count, krc_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (queries[i].error.code < 0) {
            if (error != NULL)
                *error = queries[i].error;
            return queries[i].error.code;
        }
    return KRC_OK;
}

int krc_log_offsets(krc *handle, const char *topic, int32_t partition,
                    struct krc_log_offsets *offsets, krc_error *error)
{
    enum { KINDS = KRC_LOG_END_OFFSET + 1 };
    struct krc_offset_query queries[KINDS];
    for (int kind = 0; kind < KINDS; kind++)
        queries[kind] = (struct krc_offset_query){
            .topic = topic, .partition = partition, .kind = (enum krc_offset_kind)kind};
    KRC_TRY(krc_list_offsets(handle, queries, KINDS, error));
    *offsets = (struct krc_log_offsets){
        .log_start_offset = queries[KRC_LOG_START_OFFSET].offset,
        .last_stable_offset = queries[KRC_LAST_STABLE_OFFSET].offset,
        .high_watermark = queries[KRC_HIGH_WATERMARK].offset,
        .log_end_offset = queries[KRC_LOG_END_OFFSET].offset,
    };
    return first_error(queries, KINDS, error);
}

int krc_offset_for_time(krc *handle, const char *topic, int32_t partition, int64_t timestamp_ms,
                        int64_t *offset, krc_error *error)
{
    struct krc_offset_query query = {.topic = topic,
                                     .partition = partition,
                                     .kind = KRC_OFFSET_FOR_TIME,
                                     .timestamp_ms = timestamp_ms};
    KRC_TRY(krc_list_offsets(handle, &query, 1, error));
    *offset = query.offset;
    return first_error(&query, 1, error);
}
