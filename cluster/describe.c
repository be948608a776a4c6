#include "cluster/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "cluster/cluster.h"

enum { AT_A_TIME = 2000 };

static void keep(struct krc_topic *topic, const struct krc_described_partition *from)
{
    struct krc_topic_partition *p = krc_topic_partition(topic, from->index);
    if (p == NULL || from->eligible_count < 0)
        return;
    int32_t *ids = realloc(p->eligible, ((size_t)from->eligible_count + 1) * sizeof *ids);
    if (ids == NULL)
        return; /* not known, then */
    for (int32_t i = 0; i < from->eligible_count; i++)
        ids[i] = from->eligible[i];
    p->eligible = ids;
    p->eligible_count = from->eligible_count;
}

static void described(void *arg, const struct krc_answer *answer)
{
    struct krc_description *d = arg;
    const struct krc_describe_topic_partitions_response *r = answer->response;
    d->in_flight = false;
    if (answer->rc < 0) {
        d->state = KRC_NOT_DESCRIBED;
        return;
    }
    for (int32_t t = 0; t < r->topic_count; t++) {
        struct krc_topic *topic = r->topics[t].name.data == NULL
                                      ? NULL
                                      : krc_topic_find(d->cluster, r->topics[t].name);
        for (int32_t i = 0; topic != NULL && i < r->topics[t].partition_count; i++)
            keep(topic, &r->topics[t].partitions[i]);
    }
    bool goes_on = r->next.topic.data != NULL &&
                   krc_is_topic_name(r->next.topic.data, r->next.topic.len);
    snprintf(d->topic, sizeof d->topic, "%.*s", goes_on ? (int)r->next.topic.len : 0,
             (const char *)r->next.topic.data);
    d->partition = r->next.partition;
    d->state = d->topic[0] == '\0' ? KRC_DESCRIBED : KRC_DESCRIBING;
}

void krc_describe_leaders(struct krc_description *d)
{
    struct krc_cluster *cluster = d->cluster;
    struct krc_conn *conn = d->in_flight ? NULL : krc_any_conn(cluster);
    if (conn == NULL)
        return;
    int16_t version = krc_conn_version(conn, KRC_API_DESCRIBE_TOPIC_PARTITIONS);
    if (version < 0) {
        d->state = KRC_DESCRIBED;
        return;
    }
    krc_arena_reset(&cluster->arena);
    struct krc_describe_topic_partitions_request request = {
        .response_partition_limit = AT_A_TIME,
        .topics = krc_arena_take(&cluster->arena,
                                 (cluster->topics.count + 1) * sizeof *request.topics)};
    for (size_t i = 0; request.topics != NULL && i < cluster->topics.count; i++)
        if (cluster->topics.list[i]->is_known &&
            strcmp(cluster->topics.list[i]->name, d->topic) >= 0)
            request.topics[request.topic_count++] = krc_bytes_of(cluster->topics.list[i]->name);
    if (d->topic[0] != '\0')
        request.cursor =
            (struct krc_topic_cursor){.topic = krc_bytes_of(d->topic), .partition = d->partition};
    krc_error error;
    d->in_flight = request.topics != NULL &&
                   krc_conn_send(conn, KRC_API_DESCRIBE_TOPIC_PARTITIONS, version, &request, 0,
                                 described, d, &error) >= 0;
    if (!d->in_flight)
        d->state = KRC_NOT_DESCRIBED;
}
