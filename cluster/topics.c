#include "cluster/topics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/printable.h"
#include "cluster/cluster.h"

/* ---- The table ------------------------------------------------------------------------------ */

static int compare_name(const char *name, struct krc_bytes other)
{
    size_t len = strlen(name);
    int order = memcmp(name, other.data, len < other.len ? len : other.len);
    return order != 0 ? order : (len > other.len) - (len < other.len);
}

/* Where it is, or would be. */
static size_t find_place(const struct krc_topics *topics, struct krc_bytes name, bool *found)
{
    size_t low = 0, high = topics->count;
    *found = false;
    while (low < high && !*found) {
        size_t middle = low + (high - low) / 2;
        int order = compare_name(topics->list[middle]->name, name);
        *found = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return *found ? high : low;
}

struct krc_topic *krc_topic_find(const struct krc_cluster *cluster, struct krc_bytes name)
{
    bool found;
    size_t at = find_place(&cluster->topics, name, &found);
    return found ? cluster->topics.list[at] : NULL;
}

static int compare_id(const void *left, const void *right)
{
    const struct krc_topic *const *a = left, *const *b = right;
    return memcmp((*a)->id.bytes, (*b)->id.bytes, sizeof (*a)->id.bytes);
}

struct krc_topic *krc_topic_find_id(const struct krc_cluster *cluster, const struct krc_uuid *id)
{
    struct krc_topic key = {.id = *id}, *pointer = &key;
    struct krc_topic **found =
        cluster->topics.id_count == 0
            ? NULL
            : bsearch(&pointer, cluster->topics.by_id, cluster->topics.id_count,
                      sizeof pointer, compare_id);
    return found == NULL ? NULL : *found;
}

static void sort_ids(struct krc_topics *topics)
{
    topics->id_count = 0;
    for (size_t i = 0; i < topics->count; i++)
        if (!krc_uuid_is_zero(&topics->list[i]->id))
            topics->by_id[topics->id_count++] = topics->list[i];
    if (topics->id_count > 1)
        qsort(topics->by_id, topics->id_count, sizeof *topics->by_id, compare_id);
}

static void free_topic(struct krc_topic *topic)
{
    for (int32_t i = 0; i < topic->partition_count; i++) {
        free(topic->partitions[i].replicas);
        free(topic->partitions[i].eligible);
    }
    free(topic->partitions);
    free(topic->name);
    free(topic);
}

static struct krc_topic *add_topic(struct krc_topics *topics, struct krc_bytes name, size_t at)
{
    struct krc_topic **list = realloc(topics->list, (topics->count + 1) * sizeof *list);
    if (list == NULL)
        return NULL;
    topics->list = list;
    struct krc_topic **by_id = realloc(topics->by_id, (topics->count + 1) * sizeof *by_id);
    if (by_id == NULL)
        return NULL;
    topics->by_id = by_id;
    struct krc_topic *topic = calloc(1, sizeof *topic);
    if (topic == NULL)
        return NULL;
    topic->name = strndup((const char *)name.data, name.len);
    topic->error_code = KRC_KAFKA_UNKNOWN_SERVER_ERROR;
    if (topic->name == NULL) {
        free(topic);
        return NULL;
    }
    memmove(&list[at + 1], &list[at], (topics->count - at) * sizeof *list);
    list[at] = topic;
    topics->count++;
    return topic;
}

static struct krc_topic *get_topic(struct krc_cluster *cluster, struct krc_bytes name)
{
    bool found;
    size_t at = find_place(&cluster->topics, name, &found);
    return found ? cluster->topics.list[at] : add_topic(&cluster->topics, name, at);
}

bool krc_topic_name_is_good(struct krc_cluster *cluster, struct krc_bytes name)
{
    char printable[300], text[480];
    if (krc_is_topic_name(name.data, name.len))
        return true;
    if (cluster->topics.told_bad_name)
        return false;
    cluster->topics.told_bad_name = true;
    krc_printable(printable, sizeof printable, name.data, name.len);
    snprintf(text, sizeof text, "the cluster speaks of a topic \"%s\", which is not a valid topic "
             "name: it is left out, and so are others like it", printable);
    krc_cluster_note(cluster, "", text);
    return false;
}

struct krc_topic *krc_topic_want(struct krc_cluster *cluster, const char *name)
{
    struct krc_topic *topic = get_topic(cluster, krc_bytes_of(name));
    if (topic != NULL && !topic->is_wanted) {
        topic->is_wanted = true;
        krc_metadata_want(cluster);
    }
    return topic;
}

struct krc_topic_partition *krc_topic_partition(const struct krc_topic *topic, int32_t index)
{
    return index >= 0 && index < topic->partition_count ? &topic->partitions[index] : NULL;
}

void krc_topics_free(struct krc_topics *topics)
{
    for (size_t i = 0; i < topics->count; i++)
        free_topic(topics->list[i]);
    free(topics->list);
    free(topics->by_id);
    *topics = (struct krc_topics){0};
}

struct krc_topic *krc_topic_having(const struct krc_cluster *cluster, const char *name,
                                   int32_t partition)
{
    struct krc_topic *topic = krc_topic_find(cluster, krc_bytes_of(name));
    return topic != NULL && krc_topic_partition(topic, partition) != NULL ? topic : NULL;
}

/* ---- What metadata says --------------------------------------------------------------------- */

void krc_metadata_refresh(struct krc_cluster *cluster)
{
    cluster->topics.refresh = true;
}

void krc_metadata_want(struct krc_cluster *cluster)
{
    cluster->topics.refresh = true;
    cluster->topics.backoff.failures = 0;
}

static void tell_led_anew(struct krc_topic_partition *p)
{
    if (p->remote != NULL)
        krc_remote_led_anew(p->remote);
}

static void set_leader(struct krc_topic_partition *p, int32_t leader_id, int32_t leader_epoch)
{
    bool changed = p->leader_id != leader_id || p->leader_epoch != leader_epoch;
    p->leader_id = leader_id;
    p->leader_epoch = leader_epoch;
    if (changed)
        tell_led_anew(p);
}

bool krc_metadata_leader(struct krc_cluster *cluster, struct krc_topic *topic, int32_t index,
                         int32_t leader_id, int32_t leader_epoch)
{
    struct krc_topic_partition *p = krc_topic_partition(topic, index);
    if (p == NULL || leader_epoch <= p->leader_epoch || krc_node_find(cluster, leader_id) == NULL)
        return false;
    set_leader(p, leader_id, leader_epoch);
    return true;
}

static void copy_replicas(struct krc_topic_partition *p, const struct krc_metadata_partition *from)
{
    int32_t counts[3] = {from->replica_count, from->in_sync_count, from->offline_count};
    const int32_t *lists[3] = {from->replicas, from->in_sync, from->offline};
    size_t all = 0;
    for (int i = 0; i < 3; i++)
        all += counts[i] > 0 ? (size_t)counts[i] : 0;
    int32_t *ids = realloc(p->replicas, (all + 1) * sizeof *ids);
    if (ids == NULL)
        return; /* the old ones are kept */
    int32_t *ends[3], *at = ids;
    for (int i = 0; i < 3; i++) {
        ends[i] = at;
        for (int32_t k = 0; k < counts[i]; k++)
            *at++ = lists[i][k];
    }
    p->replicas = ends[0];
    p->in_sync = ends[1];
    p->offline = ends[2];
    p->replica_count = counts[0] > 0 ? counts[0] : 0;
    p->in_sync_count = counts[1] > 0 ? counts[1] : 0;
    p->offline_count = counts[2] > 0 ? counts[2] : 0;
}

static bool grow(struct krc_topic *topic, int32_t count)
{
    if (count <= topic->partition_count)
        return true;
    struct krc_topic_partition *grown =
        realloc(topic->partitions, (size_t)count * sizeof *grown);
    if (grown == NULL)
        return false;
    for (int32_t i = topic->partition_count; i < count; i++)
        grown[i] = (struct krc_topic_partition){
            .leader_id = -1, .leader_epoch = -1, .eligible_count = -1};
    topic->partitions = grown;
    topic->partition_count = count;
    return true;
}

/* Leader epochs of a topic that was made again begin anew. */
static void forget_leaders(struct krc_topic *topic)
{
    for (int32_t i = 0; i < topic->partition_count; i++)
        set_leader(&topic->partitions[i], -1, -1);
    topic->cleanup = KRC_CLEANUP_UNKNOWN;
}

/* Who reads it shall know why nothing comes. */
static void note_leaderless(struct krc_cluster *cluster, const struct krc_topic *topic,
                            int32_t index, struct krc_topic_partition *p)
{
    char text[96];
    if (p->leader_id >= 0 || p->remote == NULL) {
        p->is_told = p->is_told && p->leader_id < 0;
        return;
    }
    snprintf(text, sizeof text, "partition %d has no leader: it is waited for", (int)index);
    if (!p->is_told)
        krc_cluster_note(cluster, topic->name, text);
    p->is_told = true;
}

/* Epochs are told by brokers that may lag behind one another: an older one says nothing. */
static void take_partition(struct krc_cluster *cluster, struct krc_topic *topic,
                           const struct krc_metadata_partition *from, int16_t version)
{
    struct krc_topic_partition *p = krc_topic_partition(topic, from->index);
    int32_t epoch = version >= 9 ? from->leader_epoch : -1;
    if (p == NULL || (epoch >= 0 && epoch < p->leader_epoch))
        return;
    p->error_code = from->error_code;
    copy_replicas(p, from);
    set_leader(p, from->leader_id, epoch);
    note_leaderless(cluster, topic, from->index, p);
}

/* Indexes count from 0 without a gap; an answer that says otherwise is not believed. */
static int32_t count_partitions(const struct krc_metadata_topic *from)
{
    int32_t count = 0;
    for (int32_t i = 0; i < from->partition_count; i++)
        if (from->partitions[i].index >= count)
            count = from->partitions[i].index + 1;
    return count <= from->partition_count ? count : 0;
}

/* A topic that was made again with fewer partitions. */
static void note_missing_partitions(struct krc_cluster *cluster, struct krc_topic *topic,
                                    int32_t count)
{
    char text[160];
    for (int32_t i = count; i < topic->partition_count; i++) {
        struct krc_topic_partition *p = &topic->partitions[i];
        p->error_code = KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
        if (p->remote == NULL || p->leader_id < 0)
            continue;
        snprintf(text, sizeof text, "it has %d partitions now: partition %d, which was read, is "
                 "gone", (int)count, (int)i);
        krc_cluster_note(cluster, topic->name, text);
    }
}

static void take_topic(struct krc_cluster *cluster, const struct krc_metadata_topic *from,
                       int16_t version)
{
    bool all = cluster->topics.all_wanted;
    if (from->name.data == NULL || !krc_topic_name_is_good(cluster, from->name))
        return;
    struct krc_topic *topic =
        all ? get_topic(cluster, from->name) : krc_topic_find(cluster, from->name);
    if (topic == NULL && all)
        krc_metadata_refresh(cluster); /* there was no memory for it */
    if (topic == NULL)
        return;
    topic->error_code = from->error_code;
    topic->told = cluster->topics.generation + 1;
    if (from->error_code != 0)
        return;
    int32_t count = count_partitions(from);
    topic->is_internal = from->is_internal;
    if (krc_uuid_differs(&topic->id, &from->id)) {
        note_missing_partitions(cluster, topic, count);
        forget_leaders(topic);
    }
    if (!krc_uuid_is_zero(&from->id))
        topic->id = from->id;
    bool is_news = !topic->is_known || count > topic->partition_count;
    if (!grow(topic, count)) {
        topic->error_code = KRC_KAFKA_UNKNOWN_SERVER_ERROR; /* as if it were not told */
        return;
    }
    cluster->topics.changes += is_news;
    topic->is_known = topic->is_known || count > 0;
    topic->missing = 0;
    for (int32_t i = 0; i < from->partition_count && count > 0; i++)
        take_partition(cluster, topic, &from->partitions[i], version);
}

static void take_brokers(struct krc_cluster *cluster, const struct krc_metadata_response *from)
{
    struct krc_nodes *nodes = &cluster->nodes;
    for (size_t i = 0; i < nodes->count; i++)
        nodes->list[i]->known = false;
    for (int32_t i = 0; i < from->broker_count; i++) {
        const struct krc_metadata_broker *b = &from->brokers[i];
        (void)krc_node_learn(cluster, b->node_id, b->host, b->port, b->rack); /* else later */
    }
    krc_nodes_sweep(cluster);
    for (size_t i = 0; i < nodes->server_count; i++)
        if (nodes->servers[i]->conns[KRC_FOR_QUESTIONS] != NULL)
            krc_conn_close(nodes->servers[i]->conns[KRC_FOR_QUESTIONS], "brokers are known");
}

/* ---- Asking --------------------------------------------------------------------------------- */

static bool is_waited_for(const struct krc_topic *topic)
{
    switch (topic->error_code) {
    case 0:
        break;
    case KRC_KAFKA_INVALID_TOPIC_EXCEPTION:
    case KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED:
        return false;
    default:
        return topic->is_wanted;
    }
    for (int32_t i = 0; i < topic->partition_count; i++)
        if (topic->partitions[i].remote != NULL && topic->partitions[i].leader_id < 0)
            return true;
    return false;
}

/* An answer that has every topic has no word of one that is not there. */
static void judge_untold(const struct krc_topics *topics, struct krc_topic *topic)
{
    if (topics->asking_all && topic->is_wanted && topic->told <= topics->generation)
        topic->error_code = KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
}

static void note_missing(struct krc_cluster *cluster, struct krc_topic *topic)
{
    char text[256];
    bool is_asked = topic->is_wanted || topic->is_known;
    if (!is_asked || topic->error_code == 0 ||
        topic->error_code == KRC_KAFKA_UNKNOWN_SERVER_ERROR ||
        topic->missing++ != KRC_TOPIC_TRIES)
        return;
    snprintf(text, sizeof text, "the cluster answers %s (%s) for it: asked again until it is there",
             krc_kafka_error_name(topic->error_code), krc_kafka_error_text(topic->error_code));
    krc_cluster_note(cluster, topic->name, text);
}

static void begin_anew(struct krc_cluster *cluster, const char *why)
{
    cluster->topics.unanswered_since_ms = -1;
    krc_nodes_forget(cluster, why);
}

static void take_metadata(struct krc_cluster *cluster, const struct krc_metadata_response *from,
                          int16_t version)
{
    struct krc_topics *topics = &cluster->topics;
    bool waiting = false;
    take_brokers(cluster, from);
    if (from->cluster_id.data != NULL)
        snprintf(cluster->cluster_id, sizeof cluster->cluster_id, "%.*s",
                 (int)from->cluster_id.len, (const char *)from->cluster_id.data);
    for (int32_t i = 0; i < from->topic_count; i++)
        take_topic(cluster, &from->topics[i], version);
    sort_ids(topics);
    for (size_t i = 0; i < topics->count; i++) {
        judge_untold(topics, topics->list[i]);
        note_missing(cluster, topics->list[i]);
        waiting |= is_waited_for(topics->list[i]);
    }
    topics->generation++;
    if (topics->asking_all)
        topics->all_generation = topics->generation;
    topics->fresh_to_ms = cluster->now_ms + cluster->settings.metadata_max_age_ms;
    krc_backoff_fail(cluster, &topics->backoff); /* until nothing asks for news for a while */
    topics->refresh |= waiting;
}

static void answered(void *arg, const struct krc_answer *answer)
{
    struct krc_cluster *cluster = arg;
    struct krc_topics *topics = &cluster->topics;
    topics->asking = false;
    if (answer->rc < 0) {
        topics->refresh = true;
        krc_backoff_fail(cluster, &topics->backoff);
        return;
    }
    const struct krc_metadata_response *response = answer->response;
    if (response->error_code == KRC_KAFKA_REBOOTSTRAP_REQUIRED && cluster->settings.rebootstrap) {
        topics->refresh = true;
        krc_backoff_repeat(cluster, &topics->backoff);
        begin_anew(cluster, "the broker asks to begin with the bootstrap servers again");
        return;
    }
    if (response->error_code != 0 || response->broker_count <= 0) {
        topics->refresh = true; /* such an answer comes from a broker that just starts */
        krc_backoff_fail(cluster, &topics->backoff);
        return;
    }
    topics->unanswered_since_ms = -1;
    take_metadata(cluster, response, answer->version);
}

static int fill_names(struct krc_cluster *cluster, struct krc_metadata_request *request)
{
    struct krc_topics *topics = &cluster->topics;
    request->topics = krc_arena_take(&cluster->arena,
                                     (topics->count + 1) * sizeof *request->topics);
    if (request->topics == NULL)
        return KRC_E_NOMEM;
    for (size_t i = 0; i < topics->count; i++)
        if (topics->list[i]->is_wanted)
            request->topics[request->topic_count++].name = krc_bytes_of(topics->list[i]->name);
    return KRC_OK;
}

static void ask(struct krc_cluster *cluster, struct krc_conn *conn)
{
    struct krc_topics *topics = &cluster->topics;
    struct krc_metadata_request request = {
        .allow_auto_topic_creation = cluster->settings.auto_create_topics};
    krc_error error;
    krc_arena_reset(&cluster->arena);
    int rc = KRC_OK;
    if (topics->all_wanted)
        request.topic_count = -1;
    else
        rc = fill_names(cluster, &request);
    topics->asking_all = topics->all_wanted;
    topics->refresh = false; /* what contradicts the answer sets it again */
    topics->asking = true;
    if (rc >= 0)
        rc = krc_conn_send(conn, KRC_API_METADATA, krc_conn_version(conn, KRC_API_METADATA),
                           &request, 0, answered, cluster, &error);
    if (rc < 0)
        answered(cluster, &(struct krc_answer){.rc = rc, .why = error.message});
}

/* No broker that is known may be connected to now: only the bootstrap servers may know better. */
static bool all_lost(const struct krc_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        const struct krc_conn *conn = nodes->list[i]->conns[KRC_FOR_QUESTIONS];
        if (conn == NULL || conn->state != KRC_CONN_CLOSED || conn->failures == 0 ||
            conn->retry_at_ms <= conn->cluster->now_ms)
            return false;
    }
    return nodes->count > 0;
}

static bool is_time_to_begin_anew(const struct krc_cluster *cluster)
{
    const struct krc_topics *topics = &cluster->topics;
    return cluster->settings.rebootstrap && cluster->nodes.count > 0 &&
           (all_lost(&cluster->nodes) ||
            (topics->unanswered_since_ms >= 0 &&
             cluster->now_ms - topics->unanswered_since_ms >=
                 cluster->settings.rebootstrap_trigger_ms));
}

int64_t krc_metadata_tick(struct krc_cluster *cluster)
{
    struct krc_topics *topics = &cluster->topics;
    if (topics->asking)
        return INT64_MAX;
    if (!topics->refresh && cluster->now_ms < topics->fresh_to_ms)
        return topics->fresh_to_ms;
    if (krc_backoff_waits(cluster, &topics->backoff))
        return topics->backoff.not_before_ms;
    if (cluster->now_ms - topics->backoff.not_before_ms >= cluster->settings.retry_backoff_max_ms)
        krc_backoff_clear(&topics->backoff);
    if (topics->unanswered_since_ms < 0)
        topics->unanswered_since_ms = cluster->now_ms;
    if (is_time_to_begin_anew(cluster))
        begin_anew(cluster, "no broker answers");
    struct krc_conn *conn = krc_any_conn(cluster);
    if (conn != NULL)
        ask(cluster, conn);
    return INT64_MAX; /* connections have times of their own */
}
