/*
 * Following a cluster: partitions are opened once metadata knows them, subscriptions find new ones,
 * and an embedded consumer is told of all in its turns of the loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/pattern.h"
#include "base/printable.h"
#include "consumer/handle.h"

struct krc_subscription {
    char *topic;
    krc_pattern *pattern; /* NULL: it is named in full */
    bool begun; /* what was there at first is assigned */
    uint64_t asked_at; /* the metadata's generation: one with all topics has to be newer */
    int64_t start, until;
    struct krc_subscription *next;
};

/* ---- Subscriptions -------------------------------------------------------------------------- */

static void free_subscription(struct krc_subscription *s)
{
    krc_pattern_free(s->pattern);
    free(s->topic);
    free(s);
}

void krc_subscriptions_free(krc *handle)
{
    for (struct krc_subscription *s; (s = handle->subscriptions) != NULL;) {
        handle->subscriptions = s->next;
        free_subscription(s);
    }
}

int krc_subscribe(krc *handle, const char *topic, int64_t start, int64_t until, krc_error *error)
{
    if (handle->net == NULL)
        return krc_fail(error, KRC_E_INVALID, "only a cluster's topics can be subscribed to");
    if (topic[0] != '^')
        KRC_TRY(krc_check_topic_name(topic, error));
    KRC_TRY(krc_refuse_member(handle, topic, error));
    if (start == KRC_STORED && handle->store == NULL && handle->config->group_id[0] == '\0')
        return krc_fail(error, KRC_E_STATE, "%s cannot start at the stored offset: neither "
                        "offset.store.file nor group.id is set", topic);
    struct krc_subscription *s = calloc(1, sizeof *s);
    if (s == NULL || (s->topic = strdup(topic)) == NULL) {
        free(s);
        return krc_fail_nomem(error, sizeof *s);
    }
    s->start = start;
    s->until = until;
    struct krc_cluster *cluster = &handle->net->cluster;
    int rc = KRC_OK;
    if (topic[0] == '^') {
        rc = krc_pattern_new(&s->pattern, topic, error);
        cluster->topics.all_wanted |= rc >= 0;
        s->asked_at = cluster->topics.generation;
        krc_metadata_want(cluster);
    } else if (krc_topic_want(cluster, topic) == NULL) {
        rc = krc_fail_nomem(error, strlen(topic));
    }
    if (rc < 0) {
        free_subscription(s);
        return rc;
    }
    s->next = handle->subscriptions;
    handle->subscriptions = s;
    handle->seen_generation = 0;
    handle->told_ended = false;
    return KRC_OK;
}

static bool matches(const krc *handle, const struct krc_subscription *s,
                    const struct krc_topic *topic)
{
    if (s->pattern == NULL)
        return strcmp(s->topic, topic->name) == 0;
    return !(topic->is_internal && handle->config->exclude_internal_topics) &&
           krc_pattern_matches(s->pattern, topic->name);
}

static int add_found(krc *handle, const struct krc_subscription *s, struct krc_topic *topic,
                     int32_t partition, krc_error *error)
{
    struct krc_part *part;
    bool is_new = s->begun;
    int64_t start = is_new && s->start != KRC_STORED ? KRC_EARLIEST : s->start;
    if (krc_find_part(handle, topic->name, partition) != NULL)
        return KRC_OK;
    KRC_TRY(krc_add_part(handle, topic, NULL, partition, start, s->until, &part, error));
    handle->found = part;
    if (is_new) {
        struct krc_event event = {.type = KRC_EVENT_ASSIGNED,
                                  .topic = topic->name,
                                  .partition = partition,
                                  .message = "found while reading, and read from its beginning"};
        krc_push_event(handle, &event);
    }
    return KRC_OK;
}

static int look_around(krc *handle, struct krc_subscription *s, krc_error *error)
{
    const struct krc_topics *topics = &handle->net->cluster.topics;
    bool any = false;
    if (s->pattern != NULL && topics->all_generation <= s->asked_at)
        return KRC_OK;
    for (size_t i = 0; i < topics->count; i++) {
        struct krc_topic *topic = topics->list[i];
        if (!topic->is_known || !matches(handle, s, topic))
            continue;
        any = true;
        for (int32_t p = 0; p < topic->partition_count; p++)
            KRC_TRY(add_found(handle, s, topic, p, error));
    }
    s->begun = s->begun || any || s->pattern != NULL;
    return KRC_OK;
}

/* ---- Metadata ------------------------------------------------------------------------------- */

void krc_note_topic(void *arg, const char *topic, const char *text)
{
    struct krc_event event = {.type = KRC_EVENT_NOTE, .topic = topic, .partition = -1};
    krc *handle = arg;
    snprintf(event.message, sizeof event.message, "%s", text);
    if (handle->config->note == NULL) {
        krc_push_event(handle, &event);
        return;
    }
    krc_make_printable(event.message, sizeof event.message);
    handle->config->note(handle->config->note_arg, &event);
}

/* A topic that we may not read, or whose name is none, will not be there later. */
static int refuse(struct krc_part *part, krc_error *error)
{
    int16_t code = part->topic->error_code;
    int rc = krc_fail(error, KRC_E_REFUSED, "%s-%d cannot be read: the cluster answers %s (%s)",
                      part->place.topic, (int)part->place.partition, krc_kafka_error_name(code),
                      krc_kafka_error_text(code));
    krc_error_at(error, part->place.topic, part->place.partition, -1, -1);
    return rc;
}

/* What is wrong with the store is wrong with all partitions, and told once. */
static void end_waiting(krc *handle)
{
    for (struct krc_part *part = handle->parts; part != NULL; part = part->next)
        if (part->state == KRC_PART_WAITS)
            krc_part_end(part);
}

static int open_known(struct krc_part *part, krc_error *error)
{
    const struct krc_topic *topic = part->topic;
    krc_part_place(part);
    if (part->state != KRC_PART_WAITS)
        return KRC_OK;
    int rc = KRC_OK;
    if (topic->error_code == KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED ||
        topic->error_code == KRC_KAFKA_INVALID_TOPIC_EXCEPTION)
        rc = refuse(part, error);
    else if (topic->is_known && krc_topic_partition(topic, part->place.partition) != NULL)
        rc = krc_part_open(part, error);
    if (rc < 0)
        krc_part_end(part);
    if (rc == KRC_E_MISMATCH)
        end_waiting(part->krc);
    return rc;
}

int krc_follow_metadata(krc *handle, krc_error *error)
{
    uint64_t generation = handle->net->cluster.topics.generation;
    KRC_TRY(krc_net_check(handle->net, error));
    KRC_TRY(krc_group_turn(handle, error));
    if (generation == 0 || generation == handle->seen_generation)
        return KRC_OK;
    for (struct krc_subscription *s = handle->subscriptions; s != NULL; s = s->next)
        KRC_TRY(look_around(handle, s, error));
    for (struct krc_part *part = handle->parts; part != NULL; part = part->next)
        KRC_TRY(open_known(part, error));
    handle->seen_generation = generation; /* after an error the others are still to be looked at */
    return KRC_OK;
}

/* ---- In the application's loop -------------------------------------------------------------- */

static void tell_failed(krc *handle, const krc_error *error)
{
    handle->error = *error;
    if (handle->callbacks.failed != NULL)
        handle->callbacks.failed(handle->callbacks.arg, handle, error);
}

static void tell_events(krc *handle)
{
    struct krc_event event;
    while (!handle->close_asked && handle->callbacks.event != NULL &&
           krc_event_next(handle, &event) == 1)
        handle->callbacks.event(handle->callbacks.arg, handle, &event);
}

static void tell_ended(krc *handle)
{
    if (handle->close_asked || handle->told_ended || !krc_ended(handle))
        return;
    handle->told_ended = true;
    if (handle->callbacks.ended != NULL)
        handle->callbacks.ended(handle->callbacks.arg, handle);
}

/* Hands out what is ready, but leaves the loop its turn after a while. */
static bool deliver(krc *handle)
{
    enum { MOST = 64 };
    krc_error error;
    krc_batch *batch;
    int rc = krc_follow_metadata(handle, &error);
    if (rc < 0)
        tell_failed(handle, &error);
    for (int i = 0; i < MOST && !handle->close_asked; i++) {
        rc = krc_next_batch(handle, &batch, &error);
        tell_events(handle);
        if (handle->close_asked)
            return false;
        if (rc < 0)
            tell_failed(handle, &error);
        else if (rc == 0)
            return false;
        else if (handle->callbacks.batch != NULL)
            handle->callbacks.batch(handle->callbacks.arg, handle, batch);
        else
            krc_release(batch);
    }
    return !handle->close_asked;
}

bool krc_embedded_turn(void *arg)
{
    krc *handle = arg;
    handle->in_callback = true;
    bool more = deliver(handle);
    tell_ended(handle);
    handle->in_callback = false;
    if (!handle->close_asked)
        return more;
    krc_close(handle);
    return false;
}
