#include "cluster/describe.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "cluster/cluster.h"
#include "groups/subscription.h"

enum { AT_A_TIME = 2000 };

static void keep(struct krc_topic *topic, const struct krc_described_partition *from)
{
    struct krc_topic_partition *p = krc_topic_partition(topic, from->index);
    const struct krc_replica_lists lists = {
        .ids[KRC_ELIGIBLE] = from->eligible,
        .counts = {KRC_LIST_KEPT, KRC_LIST_KEPT, KRC_LIST_KEPT, from->eligible_count}};
    if (p != NULL && from->eligible_count >= 0)
        krc_replicas_set(&topic->replicas, &p->replicas, &lists);
}

/* A page that does not lead on would be asked for again and again. */
static bool leads_on(const struct krc_description *d, const struct krc_topic_cursor *next)
{
    int order = krc_bytes_compare(next->topic, krc_bytes_of(d->topic));
    return order > 0 || (order == 0 && next->partition > d->partition);
}

static enum krc_call_verdict described(struct krc_call *call, const struct krc_answer *answer,
                                       int16_t *code)
{
    struct krc_description *d = call->arg;
    const struct krc_describe_topic_partitions_response *r = answer->response;
    *code = 0;
    d->is_over = r->next.topic.data == NULL ||
                 !krc_is_topic_name(r->next.topic.data, r->next.topic.len);
    if (!d->is_over && !leads_on(d, &r->next))
        return KRC_CALL_RETRY;
    for (int32_t t = 0; t < r->topic_count; t++) {
        struct krc_topic *topic = r->topics[t].name.data == NULL
                                      ? NULL
                                      : krc_topic_find(d->cluster, r->topics[t].name);
        for (int32_t i = 0; topic != NULL && i < r->topics[t].partition_count; i++)
            keep(topic, &r->topics[t].partitions[i]);
    }
    if (!d->is_over)
        snprintf(d->topic, sizeof d->topic, "%.*s", (int)r->next.topic.len,
                 (const char *)r->next.topic.data);
    d->partition = r->next.partition;
    call->rc = KRC_OK;
    return KRC_CALL_DONE;
}

int krc_describe_put(struct krc_description *d, krc_error *error)
{
    const struct krc_topics *topics = &d->cluster->topics;
    struct krc_describe_topic_partitions_request *request = &d->request;
    size_t size = (topics->count + 1) * sizeof *request->topics;
    krc_arena_reset(&d->arena);
    *request = (struct krc_describe_topic_partitions_request){
        .response_partition_limit = AT_A_TIME, .topics = krc_arena_take(&d->arena, size)};
    if (request->topics == NULL)
        return krc_fail_nomem(error, size);
    for (size_t i = 0; i < topics->count; i++)
        if (topics->list[i]->is_known && strcmp(topics->list[i]->name, d->topic) >= 0)
            request->topics[request->topic_count++] = krc_bytes_of(topics->list[i]->name);
    if (d->topic[0] != '\0')
        request->cursor =
            (struct krc_topic_cursor){.topic = krc_bytes_of(d->topic), .partition = d->partition};
    d->call = (struct krc_call){.node_id = -1,
                                .purpose = KRC_FOR_QUESTIONS,
                                .api = KRC_API_DESCRIBE_TOPIC_PARTITIONS,
                                .request = request,
                                .take = described,
                                .arg = d};
    return KRC_OK;
}

void krc_describe_end(struct krc_description *d)
{
    krc_call_drop(&d->call);
    krc_arena_free(&d->arena);
}
