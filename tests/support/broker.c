#include "tests/support/coordinator.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void *take(size_t count, size_t size)
{
    void *memory = krc_arena_take(&world.arena, (count + 1) * size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static struct world_partition *partition_of(struct world_topic *topic, int32_t index)
{
    return topic != NULL && index >= 0 && index < topic->count ? &topic->partitions[index] : NULL;
}

/* What every request that only the leader answers is refused with. */
static int16_t leader_error(int32_t node, const struct world_partition *p, int32_t epoch)
{
    if (p == NULL)
        return KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION;
    if (epoch >= 0 && epoch < p->epoch)
        return KRC_KAFKA_FENCED_LEADER_EPOCH;
    if (epoch > p->epoch)
        return KRC_KAFKA_UNKNOWN_LEADER_EPOCH;
    return p->leader == node ? 0 : KRC_KAFKA_NOT_LEADER_OR_FOLLOWER;
}

/* ---- ApiVersions, Metadata ------------------------------------------------------------------ */

static void answer_api_versions(const struct broker_request *r,
                                struct krc_api_versions_response *response)
{
    const struct world_node *node = &world.nodes[r->node];
    response->error_code = world_fault(KRC_API_API_VERSIONS, -1);
    response->ranges = take(KRC_API_COUNT, sizeof *response->ranges);
    for (int api = 0; api < KRC_API_COUNT; api++)
        if (node->versions[api].lowest >= 0)
            response->ranges[response->range_count++] = node->versions[api];
}

static void add_brokers(struct krc_metadata_response *response)
{
    response->brokers = take(WORLD_NODES, sizeof *response->brokers);
    for (int32_t id = 1; id <= world.node_count; id++) {
        if (!world.nodes[id].is_up)
            continue;
        response->brokers[response->broker_count++] = (struct krc_metadata_broker){
            .node_id = id, .host = build_text(world_host(id)), .port = 9092};
    }
}

static struct krc_metadata_partition describe_partition(struct world_topic *topic, int32_t index)
{
    static int32_t replicas[] = {1, 2};
    const struct world_partition *p = &topic->partitions[index];
    bool is_led = p->leader >= 0 && world.nodes[p->leader].is_up;
    int16_t fault = world_fault(KRC_API_METADATA, index);
    return (struct krc_metadata_partition){
        .error_code = fault != 0 ? fault : is_led ? 0 : KRC_KAFKA_LEADER_NOT_AVAILABLE,
        .index = index,
        .leader_id = is_led && fault == 0 ? p->leader : -1,
        .leader_epoch = p->epoch,
        .replicas = replicas,
        .replica_count = 2,
        .in_sync = replicas,
        .in_sync_count = 2};
}

static struct krc_metadata_topic describe_topic(struct krc_bytes name, int16_t version)
{
    struct world_topic *topic = world_find(name);
    if (world.is_hidden && topic == &world.topics[world.topic_count - 1])
        topic = NULL;
    if (topic == NULL || topic->error_code != 0)
        return (struct krc_metadata_topic){
            .error_code =
                topic == NULL ? KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION : topic->error_code,
            .name = name};
    struct krc_metadata_topic told = {
        .name = name,
        .partition_count = topic->count,
        .partitions = take((size_t)topic->count, sizeof *told.partitions)};
    if (version >= 10)
        told.id = topic->id;
    for (int32_t i = 0; i < topic->count; i++)
        told.partitions[i] = describe_partition(topic, i);
    return told;
}

static void answer_metadata(const struct broker_request *r, struct krc_metadata_response *response)
{
    const struct krc_metadata_request *request = r->frame.body;
    bool all = request->topic_count < 0;
    response->error_code = world_fault(KRC_API_METADATA, -1);
    if (response->error_code != 0)
        return;
    add_brokers(response);
    response->cluster_id = build_text("world");
    response->topic_count = all ? world.topic_count - world.is_hidden : request->topic_count;
    response->topics = take((size_t)response->topic_count, sizeof *response->topics);
    for (int32_t i = 0; i < response->topic_count; i++)
        response->topics[i] =
            describe_topic(all ? build_text(world.topics[i].name) : request->topics[i].name,
                           r->frame.version);
}

/* ---- ListOffsets, OffsetForLeaderEpoch ------------------------------------------------------ */

static int64_t offset_for_time(const struct world_partition *p, int64_t timestamp)
{
    struct krc_batch_header h;
    for (size_t at = 0; at < p->log.len; at += (size_t)h.size)
        if (krc_batch_parse(p->log.data + at, p->log.len - at, &h, NULL) == 1 &&
            h.max_timestamp >= timestamp)
            return h.base_offset;
    return -1;
}

static int64_t find_offset(const struct world_partition *p, int64_t timestamp, bool committed)
{
    int64_t end = committed ? world_stable(p) : world_high(p);
    if (timestamp == KRC_TIMESTAMP_LATEST)
        return end;
    if (timestamp == KRC_TIMESTAMP_EARLIEST)
        return p->start;
    int64_t offset = offset_for_time(p, timestamp);
    return offset < end ? offset : -1;
}

static struct krc_list_offsets_partition
tell_offset(const struct broker_request *r, const struct krc_list_offsets_request_topic *topic,
            const struct krc_list_offsets_request_partition *asked)
{
    const struct krc_list_offsets_request *request = r->frame.body;
    struct world_partition *p = partition_of(world_find(topic->name), asked->index);
    int16_t fault = world_fault(KRC_API_LIST_OFFSETS, asked->index);
    struct krc_list_offsets_partition told = {
        .index = asked->index,
        .error_code =
            fault != 0 ? fault : leader_error(r->node, p, asked->current_leader_epoch),
        .timestamp = -1,
        .offset = -1,
        .leader_epoch = -1};
    if (told.error_code == 0) {
        told.offset = find_offset(p, asked->timestamp, request->isolation_level == 1);
        told.leader_epoch = p->epoch;
    }
    return told;
}

static void answer_list_offsets(const struct broker_request *r,
                                struct krc_list_offsets_response *response)
{
    const struct krc_list_offsets_request *request = r->frame.body;
    response->topic_count = request->topic_count;
    response->topics = take((size_t)request->topic_count, sizeof *response->topics);
    for (int32_t t = 0; t < request->topic_count; t++) {
        const struct krc_list_offsets_request_topic *from = &request->topics[t];
        struct krc_list_offsets_topic *to = &response->topics[t];
        to->name = from->name;
        to->partitions = take((size_t)from->partition_count, sizeof *to->partitions);
        for (; to->partition_count < from->partition_count; to->partition_count++)
            to->partitions[to->partition_count] =
                tell_offset(r, from, &from->partitions[to->partition_count]);
    }
}

static struct krc_epoch_partition tell_epoch(const struct broker_request *r,
                                             const struct krc_epoch_request_topic *topic,
                                             const struct krc_epoch_request_partition *asked)
{
    struct world_partition *p = partition_of(world_find(topic->name), asked->index);
    int16_t fault = world_fault(KRC_API_OFFSET_FOR_LEADER_EPOCH, asked->index);
    struct krc_epoch_partition told = {
        .index = asked->index,
        .error_code =
            fault != 0 ? fault : leader_error(r->node, p, asked->current_leader_epoch),
        .leader_epoch = -1,
        .end_offset = -1};
    if (told.error_code == 0)
        world_epoch_end(p, asked->leader_epoch, &told.leader_epoch, &told.end_offset);
    return told;
}

static void answer_offset_for_leader_epoch(const struct broker_request *r,
                                           struct krc_offset_for_leader_epoch_response *response)
{
    const struct krc_offset_for_leader_epoch_request *request = r->frame.body;
    response->topic_count = request->topic_count;
    response->topics = take((size_t)request->topic_count, sizeof *response->topics);
    for (int32_t t = 0; t < request->topic_count; t++) {
        const struct krc_epoch_request_topic *from = &request->topics[t];
        struct krc_epoch_topic *to = &response->topics[t];
        to->name = from->name;
        to->partitions = take((size_t)from->partition_count, sizeof *to->partitions);
        for (; to->partition_count < from->partition_count; to->partition_count++)
            to->partitions[to->partition_count] =
                tell_epoch(r, from, &from->partitions[to->partition_count]);
    }
}

/* ---- FindCoordinator, OffsetFetch, DescribeConfigs ------------------------------------------ */

static void answer_find_coordinator(const struct broker_request *r,
                                    struct krc_find_coordinator_response *response)
{
    const struct krc_find_coordinator_request *request = r->frame.body;
    response->key = request->key;
    response->error_code = world_fault(KRC_API_FIND_COORDINATOR, -1);
    response->node_id = response->error_code == 0 ? world.coordinator : -1;
    response->host = build_text(response->error_code == 0 ? world_host(world.coordinator) : "");
    response->port = response->error_code == 0 ? 9092 : -1;
}

static struct krc_offset_fetch_partition tell_committed(const struct broker_request *r,
                                                        struct world_topic *topic, int32_t index)
{
    const struct krc_offset_fetch_request *request = r->frame.body;
    const struct world_partition *p = partition_of(topic, index);
    bool is_unstable = request->require_stable && p != NULL && p->is_pending;
    int16_t fault = world_fault(KRC_API_OFFSET_FETCH, index);
    struct krc_offset_fetch_partition told = {
        .index = index,
        .error_code = is_unstable ? KRC_KAFKA_UNSTABLE_OFFSET_COMMIT : fault,
        .metadata = build_text(""),
        .committed_offset = -1,
        .committed_leader_epoch = -1};
    if (told.error_code == 0 && p != NULL) {
        told.committed_offset = p->committed;
        told.committed_leader_epoch = p->committed_epoch;
        told.metadata = build_text(p->committed_text);
    }
    return told;
}

static void answer_all_offsets(const struct broker_request *r,
                               struct krc_offset_fetch_response *response)
{
    response->group = ((const struct krc_offset_fetch_request *)r->frame.body)->group;
    response->error_code = world_fault(KRC_API_OFFSET_FETCH, -1);
    response->topics = take(WORLD_TOPICS, sizeof *response->topics);
    for (int t = 0; t < world.topic_count && response->error_code == 0; t++) {
        struct world_topic *topic = &world.topics[t];
        struct krc_offset_fetch_topic *to = &response->topics[response->topic_count++];
        *to = (struct krc_offset_fetch_topic){.name = build_text(topic->name), .id = topic->id};
        to->partitions = take((size_t)topic->count, sizeof *to->partitions);
        for (int32_t i = 0; i < topic->count; i++)
            if (topic->partitions[i].committed >= 0)
                to->partitions[to->partition_count++] = tell_committed(r, topic, i);
    }
}

static void answer_offset_fetch(const struct broker_request *r,
                                struct krc_offset_fetch_response *response)
{
    const struct krc_offset_fetch_request *request = r->frame.body;
    if (request->topic_count < 0) {
        answer_all_offsets(r, response);
        return;
    }
    response->group = request->group;
    response->error_code = r->node != world.coordinator
                               ? KRC_KAFKA_NOT_COORDINATOR
                               : world_fault(KRC_API_OFFSET_FETCH, -1);
    response->topics = take((size_t)request->topic_count, sizeof *response->topics);
    for (int32_t t = 0; t < request->topic_count && response->error_code == 0; t++) {
        const struct krc_offset_fetch_request_topic *from = &request->topics[t];
        struct krc_offset_fetch_topic *to = &response->topics[response->topic_count++];
        struct world_topic *topic =
            r->frame.version >= 10 ? world_find_id(&from->id) : world_find(from->name);
        to->name = from->name;
        to->id = from->id;
        to->partitions = take((size_t)from->partition_count, sizeof *to->partitions);
        for (; to->partition_count < from->partition_count; to->partition_count++)
            to->partitions[to->partition_count] =
                tell_committed(r, topic, from->partitions[to->partition_count]);
    }
}

static void answer_describe_configs(const struct broker_request *r,
                                    struct krc_describe_configs_response *response)
{
    const struct krc_describe_configs_request *request = r->frame.body;
    response->result_count = request->resource_count;
    response->results = take((size_t)request->resource_count, sizeof *response->results);
    for (int32_t i = 0; i < request->resource_count; i++) {
        struct krc_config_result *to = &response->results[i];
        const struct world_topic *topic = world_find(request->resources[i].name);
        int16_t fault = world_fault(KRC_API_DESCRIBE_CONFIGS, -1);
        to->type = request->resources[i].type;
        to->name = request->resources[i].name;
        to->error_code = fault != 0 ? fault
                         : topic == NULL ? KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION
                         : topic->cleanup == NULL ? KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED
                                                  : 0;
        if (to->error_code != 0)
            continue;
        to->entries = take(1, sizeof *to->entries);
        to->entries[to->entry_count++] = (struct krc_config_entry){
            .name = build_text("cleanup.policy"), .value = build_text(topic->cleanup)};
    }
}

/* ---- SaslHandshake, SaslAuthenticate -------------------------------------------------------- */

static bool is_same(struct krc_bytes a, struct krc_bytes b)
{
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static void answer_sasl_handshake(const struct broker_request *r,
                                  struct krc_sasl_handshake_response *response)
{
    const struct krc_sasl_handshake_request *request = r->frame.body;
    if (world.sasl.mechanism == NULL) {
        response->error_code = KRC_KAFKA_ILLEGAL_SASL_STATE;
        return;
    }
    response->mechanisms = take(2, sizeof *response->mechanisms);
    response->mechanisms[0] = build_text("GSSAPI");
    response->mechanisms[1] = build_text(world.sasl.mechanism);
    response->mechanism_count = 2;
    if (!is_same(request->mechanism, response->mechanisms[1]))
        response->error_code = KRC_KAFKA_UNSUPPORTED_SASL_MECHANISM;
}

static void answer_sasl_authenticate(const struct broker_request *r,
                                     struct krc_sasl_authenticate_response *response)
{
    const struct krc_sasl_authenticate_request *request = r->frame.body;
    if (!is_same(request->auth_bytes, world.sasl.message)) {
        response->error_code = KRC_KAFKA_SASL_AUTHENTICATION_FAILED;
        response->error_message = build_text("Invalid credentials");
    }
    response->session_lifetime_ms = world.sasl.lifetime_ms;
}

/* ---- DescribeProducers ---------------------------------------------------------------------- */

/* Nobody produces: world.edit may say otherwise. */
static void answer_describe_producers(const struct broker_request *r,
                                      struct krc_describe_producers_response *response)
{
    const struct krc_describe_producers_request *request = r->frame.body;
    response->topic_count = request->topic_count;
    response->topics = take((size_t)request->topic_count, sizeof *response->topics);
    for (int32_t t = 0; t < request->topic_count; t++) {
        struct krc_describe_producers_topic *to = &response->topics[t];
        to->name = request->topics[t].name;
        to->partition_count = request->topics[t].partition_count;
        to->partitions = take((size_t)to->partition_count, sizeof *to->partitions);
        for (int32_t i = 0; i < to->partition_count; i++)
            to->partitions[i].index = request->topics[t].partitions[i];
    }
}

/* ---- Requests ------------------------------------------------------------------------------- */

void broker_take(struct broker_request *r, int32_t node, const uint8_t *frame, size_t len)
{
    memset(r, 0, sizeof *r);
    r->node = node;
    uint8_t *copy = krc_arena_take(&r->arena, len); /* which the request's views lead into */
    memcpy(copy, frame, len);
    ck_assert_int_eq(frame_read_request(copy, len, &r->frame, &r->arena), KRC_OK);
    if (r->frame.api == KRC_API_FETCH && world.is_blind)
        return;
    if (r->frame.api == KRC_API_FETCH)
        broker_begin_fetch(r);
    else if (group_knows(r->frame.api))
        group_describe(r);
}

void broker_begin(struct broker_request *r)
{
    if (!r->is_begun && group_knows(r->frame.api))
        group_take(r);
    r->is_begun = true;
}

int64_t broker_patience_ms(const struct broker_request *r)
{
    enum { SYNC_MS = 60000 };
    if (r->frame.api == KRC_API_FETCH)
        return ((struct krc_fetch_request *)r->frame.body)->max_wait_ms;
    if (r->frame.api == KRC_API_JOIN_GROUP)
        return ((struct krc_join_group_request *)r->frame.body)->rebalance_timeout_ms;
    return r->frame.api == KRC_API_SYNC_GROUP ? SYNC_MS : 0;
}

void broker_drop(struct broker_request *r)
{
    krc_arena_free(&r->arena);
}

static void fill(struct broker_request *r, void *response)
{
    switch (r->frame.api) {
    case KRC_API_FETCH:
        broker_answer_fetch(r, response);
        break;
    case KRC_API_LIST_OFFSETS:
        answer_list_offsets(r, response);
        break;
    case KRC_API_METADATA:
        answer_metadata(r, response);
        break;
    case KRC_API_OFFSET_FETCH:
        answer_offset_fetch(r, response);
        break;
    case KRC_API_FIND_COORDINATOR:
        answer_find_coordinator(r, response);
        break;
    case KRC_API_API_VERSIONS:
        answer_api_versions(r, response);
        break;
    case KRC_API_OFFSET_FOR_LEADER_EPOCH:
        answer_offset_for_leader_epoch(r, response);
        break;
    case KRC_API_DESCRIBE_CONFIGS:
        answer_describe_configs(r, response);
        break;
    case KRC_API_SASL_HANDSHAKE:
        answer_sasl_handshake(r, response);
        break;
    case KRC_API_SASL_AUTHENTICATE:
        answer_sasl_authenticate(r, response);
        break;
    case KRC_API_LIST_GROUPS:
        group_tell_names(r, response);
        break;
    case KRC_API_DESCRIBE_PRODUCERS:
        answer_describe_producers(r, response);
        break;
    default: /* what the world does not have is answered with nothing */
        if (group_knows(r->frame.api))
            group_answer(r, response);
    }
}

/* A request in a version that the node does not have: only ApiVersions is answered, in v0. */
static bool is_unsupported(const struct broker_request *r)
{
    const struct krc_api_range *range = &world.nodes[r->node].versions[r->frame.api];
    return r->frame.version < range->lowest || r->frame.version > range->highest;
}

void broker_answer(struct broker_request *r, struct krc_buffer *out)
{
    krc_arena_reset(&world.arena);
    bool unsupported = is_unsupported(r);
    ck_assert_msg(!unsupported || r->frame.api == KRC_API_API_VERSIONS,
                  "%s is asked for in version %d", krc_apis[r->frame.api].name, r->frame.version);
    void *response = take(1, krc_apis[r->frame.api].response_size);
    fill(r, response);
    if (world.edit != NULL)
        world.edit(r->frame.api, response);
    if (unsupported)
        ((struct krc_api_versions_response *)response)->error_code =
            KRC_KAFKA_UNSUPPORTED_VERSION;
    frame_write_response(out, r->frame.api, unsupported ? 0 : r->frame.version,
                         r->frame.correlation_id, response);
}

/* ---- As text -------------------------------------------------------------------------------- */

KRC_PRINTF(3, 4) static void add(char *text, size_t size, const char *format, ...)
{
    va_list args;
    size_t len = strlen(text);
    va_start(args, format);
    vsnprintf(text + len, size - len, format, args);
    va_end(args);
}

static void describe_fetch(const struct krc_fetch_request *request, int16_t version, bool details,
                           char *text, size_t size)
{
    if (details)
        add(text, size, " #%d/%d", (int)request->session_id, (int)request->session_epoch);
    for (int32_t t = 0; t < request->topic_count; t++) {
        const struct krc_fetch_request_topic *from = &request->topics[t];
        const struct world_topic *topic =
            version > 12 ? world_find_id(&from->id) : world_find(from->name);
        for (int32_t i = 0; i < from->partition_count; i++) {
            const struct krc_fetch_request_partition *p = &from->partitions[i];
            add(text, size, " %s-%d@%lld", topic == NULL ? "?" : topic->name, (int)p->index,
                (long long)p->fetch_offset);
            if (details)
                add(text, size, "e%d", (int)p->current_leader_epoch);
        }
    }
    for (int32_t t = 0; t < request->forgotten_count; t++) {
        const struct krc_fetch_forgotten_topic *from = &request->forgotten[t];
        const struct world_topic *topic =
            version > 12 ? world_find_id(&from->id) : world_find(from->name);
        for (int32_t i = 0; i < from->partition_count; i++)
            add(text, size, " -%s-%d", topic == NULL ? "?" : topic->name,
                (int)from->partitions[i]);
    }
}

static void describe_list_offsets(const struct krc_list_offsets_request *request, char *text,
                                  size_t size)
{
    for (int32_t t = 0; t < request->topic_count; t++)
        for (int32_t i = 0; i < request->topics[t].partition_count; i++)
            add(text, size, " %.*s-%d %lld%s", (int)request->topics[t].name.len,
                (const char *)request->topics[t].name.data,
                (int)request->topics[t].partitions[i].index,
                (long long)request->topics[t].partitions[i].timestamp,
                request->isolation_level == 1 ? "c" : "");
}

static void describe_epochs(const struct krc_offset_for_leader_epoch_request *request, char *text,
                            size_t size)
{
    for (int32_t t = 0; t < request->topic_count; t++)
        for (int32_t i = 0; i < request->topics[t].partition_count; i++)
            add(text, size, " %.*s-%d e%d", (int)request->topics[t].name.len,
                (const char *)request->topics[t].name.data,
                (int)request->topics[t].partitions[i].index,
                (int)request->topics[t].partitions[i].leader_epoch);
}

void broker_describe(const struct broker_request *r, bool details, char *text, size_t size)
{
    enum krc_api_name api = r->frame.api;
    snprintf(text, size, "%s", krc_apis[api].name);
    if (api != KRC_API_METADATA && api != KRC_API_DESCRIBE_CONFIGS &&
        api != KRC_API_FIND_COORDINATOR)
        add(text, size, " n%d", (int)r->node);
    if (r->frame.api == KRC_API_FETCH)
        describe_fetch(r->frame.body, r->frame.version, details, text, size);
    else if (r->frame.api == KRC_API_LIST_OFFSETS)
        describe_list_offsets(r->frame.body, text, size);
    else if (r->frame.api == KRC_API_OFFSET_FOR_LEADER_EPOCH)
        describe_epochs(r->frame.body, text, size);
    else if (group_knows(r->frame.api))
        add(text, size, "%s", r->says);
}
