#include "cluster/topics.h"

#include <stddef.h>
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
    size_t low = 0, high = topics->sorted;
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
    free(topic->partitions);
    krc_replicas_free(&topic->replicas);
    free(topic);
}

static bool make_room(struct krc_topics *topics)
{
    size_t capacity = topics->capacity + topics->capacity / 2 + 8;
    if (topics->count < topics->capacity)
        return true;
    struct krc_topic **list = realloc(topics->list, capacity * sizeof *list);
    if (list == NULL)
        return false;
    topics->list = list;
    struct krc_topic **by_id = realloc(topics->by_id, capacity * sizeof *by_id);
    if (by_id == NULL)
        return false;
    topics->by_id = by_id;
    topics->capacity = capacity;
    return true;
}

/* Behind all others. */
static struct krc_topic *append_topic(struct krc_topics *topics, struct krc_bytes name)
{
    size_t size = offsetof(struct krc_topic, name) + name.len + 1;
    struct krc_topic *topic =
        make_room(topics) ? calloc(1, size < sizeof *topic ? sizeof *topic : size) : NULL;
    if (topic == NULL)
        return NULL;
    memcpy(topic->name, name.data, name.len);
    topic->error_code = KRC_KAFKA_UNKNOWN_SERVER_ERROR;
    topics->list[topics->count++] = topic;
    return topic;
}

static int compare_topics(const void *left, const void *right)
{
    const struct krc_topic *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

/* Takes in those that were appended.  Of a name that an answer has more than once, one stays. */
static void sort_names(struct krc_topics *topics)
{
    size_t kept = 0;
    if (topics->sorted == topics->count)
        return;
    qsort(topics->list, topics->count, sizeof *topics->list, compare_topics);
    for (size_t i = 0; i < topics->count; i++)
        if (kept > 0 && strcmp(topics->list[kept - 1]->name, topics->list[i]->name) == 0)
            free_topic(topics->list[i]);
        else
            topics->list[kept++] = topics->list[i];
    topics->count = topics->sorted = kept;
}

/* The topic of that name, which is added where there is none. */
static struct krc_topic *get_topic(struct krc_topics *topics, struct krc_bytes name)
{
    bool found;
    size_t at = find_place(topics, name, &found);
    struct krc_topic *topic = found ? topics->list[at] : append_topic(topics, name);
    if (found || topic == NULL)
        return topic;
    memmove(&topics->list[at + 1], &topics->list[at], (topics->sorted - at) * sizeof topic);
    topics->list[at] = topic;
    topics->sorted++;
    return topic;
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
    struct krc_topic *topic = get_topic(&cluster->topics, krc_bytes_of(name));
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

static void set_replicas(struct krc_topic *topic, struct krc_topic_partition *p,
                         const struct krc_metadata_partition *from)
{
    const struct krc_replica_lists lists = {
        .ids = {from->replicas, from->in_sync, from->offline},
        .counts = {from->replica_count, from->in_sync_count, from->offline_count, KRC_LIST_KEPT}};
    krc_replicas_set(&topic->replicas, &p->replicas, &lists);
}

/* Where most of their memory is of lists that were replaced. */
static void squeeze_replicas(struct krc_topic *topic)
{
    struct krc_replicas squeezed = {0}, *old = &topic->replicas;
    if (old->lost <= old->len / 2)
        return;
    squeezed.capacity = old->len - old->lost;
    squeezed.words = malloc(squeezed.capacity * sizeof *squeezed.words);
    if (squeezed.words == NULL)
        return;
    for (int32_t i = 0; i < topic->partition_count; i++) {
        struct krc_replica_lists lists = krc_replicas_get(old, topic->partitions[i].replicas);
        topic->partitions[i].replicas = 0;
        krc_replicas_set(&squeezed, &topic->partitions[i].replicas, &lists);
    }
    krc_replicas_free(old);
    *old = squeezed;
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
        grown[i] = (struct krc_topic_partition){.leader_id = -1, .leader_epoch = -1};
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

/* Epochs are told by brokers that may lag behind one another: an older one says nothing. */
static void take_partition(struct krc_topic *topic, const struct krc_metadata_partition *from,
                           int16_t version)
{
    struct krc_topic_partition *p = krc_topic_partition(topic, from->index);
    int32_t epoch = version >= 9 ? from->leader_epoch : -1;
    if (p == NULL || (epoch >= 0 && epoch < p->leader_epoch))
        return;
    p->error_code = from->error_code;
    set_replicas(topic, p, from);
    set_leader(p, from->leader_id, epoch);
}

/* Indexes count from 0 without a gap; an answer that says otherwise is not believed.  -1: memory is
 * short. */
static int32_t count_partitions(const struct krc_metadata_topic *from, struct krc_arena *arena)
{
    int32_t count = 0;
    struct krc_metadata_partition p;
    struct krc_wire_rows rows = from->rows;
    while (krc_wire_next(&rows, &p, arena)) {
        if (p.index >= count)
            count = p.index < INT32_MAX ? p.index + 1 : INT32_MAX;
        krc_arena_reset(arena);
    }
    if (rows.wire.rc != KRC_OK)
        return -1;
    return count <= from->partition_count ? count : 0;
}

static void take_partitions(struct krc_cluster *cluster, struct krc_topic *topic,
                            const struct krc_metadata_topic *from, struct krc_arena *arena)
{
    struct krc_metadata_partition p;
    struct krc_wire_rows rows = from->rows;
    while (krc_wire_next(&rows, &p, arena)) {
        take_partition(topic, &p, rows.wire.version);
        krc_arena_reset(arena);
    }
    if (rows.wire.rc != KRC_OK)
        krc_metadata_refresh(cluster);
    squeeze_replicas(topic);
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

/* NULL: it is none that somebody wants. */
static struct krc_topic *topic_to_take(struct krc_cluster *cluster, struct krc_bytes name)
{
    if (name.data == NULL || !krc_topic_name_is_good(cluster, name))
        return NULL;
    struct krc_topic *topic = krc_topic_find(cluster, name);
    if (topic != NULL || !cluster->topics.all_wanted)
        return topic;
    topic = append_topic(&cluster->topics, name);
    if (topic == NULL)
        krc_metadata_refresh(cluster); /* there was no memory for it */
    return topic;
}

static void take_topic(struct krc_cluster *cluster, const struct krc_metadata_topic *from,
                       struct krc_arena *arena)
{
    struct krc_topic *topic = topic_to_take(cluster, from->name);
    if (topic == NULL)
        return;
    topic->error_code = from->error_code;
    topic->is_told = true;
    if (from->error_code != 0)
        return;
    int32_t count = count_partitions(from, arena);
    topic->is_internal = from->is_internal;
    if (count >= 0 && krc_uuid_differs(&topic->id, &from->id)) {
        note_missing_partitions(cluster, topic, count);
        forget_leaders(topic);
    }
    bool is_news = !topic->is_known || count > topic->partition_count;
    if (count < 0 || !grow(topic, count)) {
        topic->error_code = KRC_KAFKA_UNKNOWN_SERVER_ERROR; /* as if it were not told */
        return;
    }
    if (!krc_uuid_is_zero(&from->id))
        topic->id = from->id;
    cluster->topics.changes += is_news;
    topic->is_known = topic->is_known || count > 0;
    if (count > 0)
        take_partitions(cluster, topic, from, arena);
}

static void take_topics(struct krc_cluster *cluster, struct krc_wire_rows rows)
{
    struct krc_arena arena = {0};
    struct krc_metadata_topic topic;
    while (krc_wire_next(&rows, &topic, &arena)) {
        take_topic(cluster, &topic, &arena);
        krc_arena_reset(&arena);
    }
    if (rows.wire.rc != KRC_OK)
        krc_metadata_refresh(cluster);
    krc_arena_free(&arena);
    sort_names(&cluster->topics);
    sort_ids(&cluster->topics);
}

/* Far more than any cluster has: what is beyond is left out. */
enum { BROKERS_MOST = 200000 };

static void note_many_brokers(struct krc_cluster *cluster, int32_t count)
{
    char text[160];
    if (count <= BROKERS_MOST || cluster->topics.told_many_brokers)
        return;
    cluster->topics.told_many_brokers = true;
    snprintf(text, sizeof text, "the cluster lists %d brokers: those after the first %d are left "
             "out, and partitions that they lead cannot be read", (int)count, BROKERS_MOST);
    krc_cluster_note(cluster, "", text);
}

static void take_brokers(struct krc_cluster *cluster, const struct krc_metadata_response *from)
{
    struct krc_nodes *nodes = &cluster->nodes;
    struct krc_metadata_broker b;
    struct krc_wire_rows rows = from->broker_rows;
    for (size_t i = 0; i < nodes->count; i++)
        nodes->list[i]->known = false;
    note_many_brokers(cluster, from->broker_count);
    for (int i = 0; i < BROKERS_MOST && krc_wire_next(&rows, &b, NULL); i++)
        (void)krc_node_learn(cluster, b.node_id, b.host, b.port, b.rack); /* else later */
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
    if (topics->has_all && topic->is_wanted && !topic->is_told)
        topic->error_code = KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    topic->is_told = false;
}

bool krc_topic_is_missing(const struct krc_topic *topic)
{
    return (topic->is_wanted || topic->is_known) && topic->error_code != 0 &&
           topic->error_code != KRC_KAFKA_UNKNOWN_SERVER_ERROR;
}

static void begin_anew(struct krc_cluster *cluster, const char *why)
{
    cluster->topics.unanswered_since_ms = -1;
    krc_nodes_forget(cluster, why);
}

static void take_metadata(struct krc_cluster *cluster, const struct krc_metadata_response *from)
{
    struct krc_topics *topics = &cluster->topics;
    bool waiting = false;
    topics->missing = 0;
    take_brokers(cluster, from);
    if (from->cluster_id.data != NULL)
        snprintf(cluster->cluster_id, sizeof cluster->cluster_id, "%.*s",
                 (int)from->cluster_id.len, (const char *)from->cluster_id.data);
    take_topics(cluster, from->rows);
    for (size_t i = 0; i < topics->count; i++) {
        judge_untold(topics, topics->list[i]);
        topics->missing += krc_topic_is_missing(topics->list[i]);
        waiting |= is_waited_for(topics->list[i]);
    }
    topics->generation++;
    if (topics->has_all)
        topics->all_generation = topics->generation;
    topics->fresh_to_ms = cluster->now_ms + cluster->settings.metadata_max_age_ms;
    krc_backoff_fail(cluster, &topics->backoff); /* until nothing asks for news for a while */
    topics->refresh |= waiting;
}

static void answered(struct krc_cluster *cluster, const struct krc_answer *answer)
{
    struct krc_topics *topics = &cluster->topics;
    topics->asking--;
    if (answer->rc < 0 && (topics->asking > 0 || topics->unanswered_since_ms < 0))
        return; /* another broker may answer, or has */
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
        topics->fault = response->error_code != 0
                            ? krc_kafka_error_text(response->error_code)
                            : "a broker answers that the cluster has no brokers";
        krc_backoff_fail(cluster, &topics->backoff);
        return;
    }
    topics->unanswered_since_ms = -1;
    topics->fault = NULL;
    take_metadata(cluster, response);
}

static void answered_by_name(void *arg, const struct krc_answer *answer)
{
    struct krc_cluster *cluster = arg;
    cluster->topics.has_all = false;
    answered(cluster, answer);
}

static void answered_all(void *arg, const struct krc_answer *answer)
{
    struct krc_cluster *cluster = arg;
    cluster->topics.has_all = true;
    answered(cluster, answer);
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
    topics->refresh = false; /* what contradicts the answer sets it again */
    topics->asking++;
    topics->again_ms = cluster->now_ms + KRC_CONN_PATIENCE_MS;
    if (rc >= 0)
        rc = krc_conn_send(conn, KRC_API_METADATA, krc_conn_version(conn, KRC_API_METADATA),
                           &request, 0, topics->all_wanted ? answered_all : answered_by_name,
                           cluster, &error);
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

/* Another broker, while one takes long. */
static int64_t ask_another(struct krc_cluster *cluster)
{
    if (cluster->now_ms < cluster->topics.again_ms)
        return cluster->topics.again_ms;
    struct krc_conn *conn = krc_another_conn(cluster);
    if (conn != NULL)
        ask(cluster, conn);
    return INT64_MAX;
}

int64_t krc_metadata_tick(struct krc_cluster *cluster)
{
    struct krc_topics *topics = &cluster->topics;
    if (topics->asking > 0 && topics->unanswered_since_ms >= 0)
        return ask_another(cluster);
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
