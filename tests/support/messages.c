#include "tests/support/messages.h"

#include <check.h>

#include "tests/support/group_messages.h"

NUMBERS(partitions, "partitions")
NUMBERS(partition_indexes, "partition_indexes")
NUMBERS(replica_nodes, "replica_nodes")
NUMBERS(isr_nodes, "isr_nodes")
NUMBERS(offline_replicas, "offline_replicas")
NUMBERS(eligible_leader_replicas, "eligible_leader_replicas")
NUMBERS(last_known_elr, "last_known_elr")
TEXTS(mechanism, "mechanisms")
TEXTS(configuration_key, "configuration_keys")

/* ---- ApiVersions --------------------------------------------------------------------------- */

static void api_versions_request(struct visit *v, void *message)
{
    struct krc_api_versions_request *r = message;
    visit_text_in(v, "client_software_name", &r->software_name, NOT_NULL, 3, EVER);
    visit_text_in(v, "client_software_version", &r->software_version, NOT_NULL, 3, EVER);
}

static void api_key(struct visit *v, void *element)
{
    struct krc_api_range *r = element;
    NUMBER("api_key", r->key);
    NUMBER("min_version", r->lowest);
    NUMBER("max_version", r->highest);
}

static void api_versions_response(struct visit *v, void *message)
{
    struct krc_api_versions_response *r = message;
    NUMBER("error_code", r->error_code);
    ARRAY("api_keys", r->ranges, r->range_count, NOT_NULL, api_key);
    NUMBER_IN("throttle_time_ms", r->throttle_time_ms, 1, EVER, 0);
}

/* ---- Fetch --------------------------------------------------------------------------------- */

static void fetch_request_partition(struct visit *v, void *element)
{
    struct krc_fetch_request_partition *p = element;
    NUMBER("partition", p->index);
    NUMBER_IN("current_leader_epoch", p->current_leader_epoch, 9, EVER, -1);
    NUMBER("fetch_offset", p->fetch_offset);
    NUMBER_IN("last_fetched_epoch", p->last_fetched_epoch, 12, EVER, -1);
    NUMBER_IN("log_start_offset", p->log_start_offset, 5, EVER, -1);
    NUMBER("partition_max_bytes", p->max_bytes);
}

static void fetch_request_topic(struct visit *v, void *element)
{
    struct krc_fetch_request_topic *t = element;
    visit_text_in(v, "topic", &t->name, NOT_NULL, 4, 12);
    visit_uuid(v, "topic_id", &t->id, 13);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, fetch_request_partition);
}

static void forgotten_topic(struct visit *v, void *element)
{
    struct krc_fetch_forgotten_topic *t = element;
    visit_text_in(v, "topic", &t->name, NOT_NULL, 7, 12);
    visit_uuid(v, "topic_id", &t->id, 13);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, partitions);
}

static void fetch_request(struct visit *v, void *message)
{
    struct krc_fetch_request *r = message;
    NUMBER("max_wait_ms", r->max_wait_ms);
    NUMBER("min_bytes", r->min_bytes);
    NUMBER("max_bytes", r->max_bytes);
    NUMBER("isolation_level", r->isolation_level);
    NUMBER_IN("session_id", r->session_id, 7, EVER, 0);
    NUMBER_IN("session_epoch", r->session_epoch, 7, EVER, -1);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, fetch_request_topic);
    ARRAY_SINCE("forgotten_topics_data", r->forgotten, r->forgotten_count, 7, forgotten_topic);
    visit_text_in(v, "rack_id", &r->rack, NOT_NULL, 11, EVER);
}

static void aborted_transaction(struct visit *v, void *element)
{
    struct krc_fetch_aborted *a = element;
    NUMBER("producer_id", a->producer_id);
    NUMBER("first_offset", a->first_offset);
}

static void fetch_partition(struct visit *v, void *element)
{
    struct krc_fetch_partition *p = element;
    int16_t tagged = v->values == MESSAGE_BARE ? EVER : 12;
    NUMBER("partition_index", p->index);
    NUMBER("error_code", p->error_code);
    NUMBER("high_watermark", p->high_watermark);
    NUMBER("last_stable_offset", p->last_stable_offset);
    NUMBER_IN("log_start_offset", p->log_start_offset, 5, EVER, -1);
    ARRAY("aborted_transactions", p->aborted, p->aborted_count, NULLABLE, aborted_transaction);
    NUMBER_IN("preferred_read_replica", p->preferred_read_replica, 11, EVER, -1);
    visit_text(v, "records", &p->records, NULLABLE);
    NUMBER_IN("epoch", p->diverging_epoch, tagged, EVER, -1);
    NUMBER_IN("end_offset", p->diverging_end_offset, tagged, EVER, -1);
    NUMBER_IN("leader_id", p->leader_id, tagged, EVER, -1);
    NUMBER_IN("leader_epoch", p->leader_epoch, tagged, EVER, -1);
}

static void fetch_topic(struct visit *v, void *element)
{
    struct krc_fetch_topic *t = element;
    visit_text_in(v, "topic", &t->name, NOT_NULL, 4, 12);
    visit_uuid(v, "topic_id", &t->id, 13);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, fetch_partition);
}

static void node_endpoint(struct visit *v, void *element)
{
    struct krc_fetch_endpoint *e = element;
    NUMBER("node_id", e->node_id);
    visit_text(v, "host", &e->host, NOT_NULL);
    NUMBER("port", e->port);
    visit_text(v, "rack", &e->rack, NULLABLE);
}

static void fetch_response(struct visit *v, void *message)
{
    struct krc_fetch_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER_IN("error_code", r->error_code, 7, EVER, 0);
    NUMBER_IN("session_id", r->session_id, 7, EVER, 0);
    ARRAY("responses", r->topics, r->topic_count, NOT_NULL, fetch_topic);
    ARRAY_SINCE("node_endpoints", r->endpoints, r->endpoint_count, 16, node_endpoint);
}

/* ---- ListOffsets --------------------------------------------------------------------------- */

static void list_offsets_request_partition(struct visit *v, void *element)
{
    struct krc_list_offsets_request_partition *p = element;
    NUMBER("partition_index", p->index);
    NUMBER_IN("current_leader_epoch", p->current_leader_epoch, 4, EVER, -1);
    NUMBER("timestamp", p->timestamp);
}

static void list_offsets_request_topic(struct visit *v, void *element)
{
    struct krc_list_offsets_request_topic *t = element;
    visit_text(v, "name", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL,
          list_offsets_request_partition);
}

static void list_offsets_request(struct visit *v, void *message)
{
    struct krc_list_offsets_request *r = message;
    NUMBER_IN("isolation_level", r->isolation_level, 2, EVER, 0);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, list_offsets_request_topic);
    NUMBER_IN("timeout_ms", r->timeout_ms, 10, EVER, 0);
}

static void list_offsets_partition(struct visit *v, void *element)
{
    struct krc_list_offsets_partition *p = element;
    NUMBER("partition_index", p->index);
    NUMBER("error_code", p->error_code);
    NUMBER("timestamp", p->timestamp);
    NUMBER("offset", p->offset);
    NUMBER_IN("leader_epoch", p->leader_epoch, 4, EVER, -1);
}

static void list_offsets_topic(struct visit *v, void *element)
{
    struct krc_list_offsets_topic *t = element;
    visit_text(v, "name", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, list_offsets_partition);
}

static void list_offsets_response(struct visit *v, void *message)
{
    struct krc_list_offsets_response *r = message;
    NUMBER_IN("throttle_time_ms", r->throttle_time_ms, 2, EVER, 0);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, list_offsets_topic);
}

/* ---- Metadata ------------------------------------------------------------------------------ */

static void metadata_request_topic(struct visit *v, void *element)
{
    struct krc_metadata_request_topic *t = element;
    visit_uuid(v, "topic_id", &t->id, 10);
    visit_text(v, "name", &t->name, v->version >= 10 ? NULLABLE : NOT_NULL);
}

static void metadata_request(struct visit *v, void *message)
{
    struct krc_metadata_request *r = message;
    ARRAY("topics", r->topics, r->topic_count, NULLABLE, metadata_request_topic);
    visit_boolean(v, "allow_auto_topic_creation", &r->allow_auto_topic_creation, 4, EVER);
    visit_boolean(v, "include_cluster_authorized_operations",
                  &r->include_cluster_authorized_operations, 8, 10);
    visit_boolean(v, "include_topic_authorized_operations", &r->include_topic_authorized_operations,
                  8, EVER);
}

static void metadata_broker(struct visit *v, void *element)
{
    struct krc_metadata_broker *b = element;
    NUMBER("node_id", b->node_id);
    visit_text(v, "host", &b->host, NOT_NULL);
    NUMBER("port", b->port);
    visit_text(v, "rack", &b->rack, NULLABLE);
}

static void metadata_partition(struct visit *v, void *element)
{
    struct krc_metadata_partition *p = element;
    NUMBER("error_code", p->error_code);
    NUMBER("partition_index", p->index);
    NUMBER("leader_id", p->leader_id);
    NUMBER_IN("leader_epoch", p->leader_epoch, 7, EVER, -1);
    ARRAY("replica_nodes", p->replicas, p->replica_count, NOT_NULL, replica_nodes);
    ARRAY("isr_nodes", p->in_sync, p->in_sync_count, NOT_NULL, isr_nodes);
    ARRAY_SINCE("offline_replicas", p->offline, p->offline_count, 5, offline_replicas);
}

static void metadata_topic(struct visit *v, void *element)
{
    struct krc_metadata_topic *t = element;
    NUMBER("error_code", t->error_code);
    visit_text(v, "name", &t->name, v->version >= 12 ? NULLABLE : NOT_NULL);
    visit_uuid(v, "topic_id", &t->id, 10);
    visit_boolean(v, "is_internal", &t->is_internal, 1, EVER);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, metadata_partition);
    NUMBER_IN("topic_authorized_operations", t->authorized_operations, 8, EVER, INT32_MIN);
}

static void metadata_response(struct visit *v, void *message)
{
    struct krc_metadata_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("brokers", r->brokers, r->broker_count, NOT_NULL, metadata_broker);
    visit_text(v, "cluster_id", &r->cluster_id, NULLABLE);
    NUMBER("controller_id", r->controller_id);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, metadata_topic);
    NUMBER_IN("cluster_authorized_operations", r->cluster_authorized_operations, 8, 10, INT32_MIN);
    NUMBER_IN("error_code", r->error_code, 13, EVER, 0);
}

/* ---- OffsetFetch: from v8 on, what was the message is the only element of "groups" ---------- */

static struct visit in_group(const struct visit *v)
{
    return v->version >= 8 ? visit_inside(v, 0) : *v;
}

static void offset_fetch_request_topic(struct visit *v, void *element)
{
    struct krc_offset_fetch_request_topic *t = element;
    visit_text_in(v, "name", &t->name, NOT_NULL, 1, 9);
    visit_uuid(v, "topic_id", &t->id, 10);
    ARRAY("partition_indexes", t->partitions, t->partition_count, NOT_NULL, partition_indexes);
}

static void offset_fetch_request(struct visit *outer, void *message)
{
    struct krc_offset_fetch_request *r = message;
    struct visit group = in_group(outer), *v = &group;
    visit_text(v, "group_id", &r->group, NOT_NULL);
    visit_text_in(v, "member_id", &r->member_id, NULLABLE, 9, EVER);
    if (r->member_id.data != NULL)
        NUMBER("member_epoch", r->member_epoch);
    ARRAY("topics", r->topics, r->topic_count, v->version >= 2 ? NULLABLE : NOT_NULL,
          offset_fetch_request_topic);
    visit_boolean(outer, "require_stable", &r->require_stable, 7, EVER);
}

static void offset_fetch_partition(struct visit *v, void *element)
{
    struct krc_offset_fetch_partition *p = element;
    NUMBER("partition_index", p->index);
    NUMBER("committed_offset", p->committed_offset);
    NUMBER_IN("committed_leader_epoch", p->committed_leader_epoch, 5, EVER, -1);
    visit_text(v, "metadata", &p->metadata, NULLABLE);
    NUMBER("error_code", p->error_code);
}

static void offset_fetch_topic(struct visit *v, void *element)
{
    struct krc_offset_fetch_topic *t = element;
    visit_text_in(v, "name", &t->name, NOT_NULL, 1, 9);
    visit_uuid(v, "topic_id", &t->id, 10);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, offset_fetch_partition);
}

static void offset_fetch_response(struct visit *v, void *message)
{
    struct krc_offset_fetch_response *r = message;
    struct visit group = in_group(v);
    NUMBER_IN("throttle_time_ms", r->throttle_time_ms, 3, EVER, 0);
    v = &group;
    visit_text_in(v, "group_id", &r->group, NOT_NULL, 8, EVER);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, offset_fetch_topic);
    NUMBER_IN("error_code", r->error_code, 2, EVER, 0);
}

/* ---- FindCoordinator: from v4 on, likewise of "coordinator_keys" and "coordinators" -------- */

static void find_coordinator_request(struct visit *v, void *message)
{
    struct krc_find_coordinator_request *r = message;
    struct visit in_keys = visit_inside(v, 0);
    if (v->version <= 3)
        visit_text(v, "key", &r->key, NOT_NULL);
    else
        visit_text(&in_keys, "coordinator_keys", &r->key, NOT_NULL);
    NUMBER_IN("key_type", r->key_type, 1, EVER, 0);
}

static void find_coordinator_response(struct visit *v, void *message)
{
    struct krc_find_coordinator_response *r = message;
    struct visit only = v->version >= 4 ? visit_inside(v, 0) : *v;
    NUMBER_IN("throttle_time_ms", r->throttle_time_ms, 1, EVER, 0);
    v = &only;
    visit_text_in(v, "key", &r->key, NOT_NULL, 4, EVER);
    NUMBER("error_code", r->error_code);
    visit_text_in(v, "error_message", &r->error_message, NULLABLE, 1, EVER);
    NUMBER("node_id", r->node_id);
    visit_text(v, "host", &r->host, NOT_NULL);
    NUMBER("port", r->port);
}

/* ---- SaslHandshake, SaslAuthenticate ------------------------------------------------------- */

static void sasl_handshake_request(struct visit *v, void *message)
{
    struct krc_sasl_handshake_request *r = message;
    visit_text(v, "mechanism", &r->mechanism, NOT_NULL);
}

static void sasl_handshake_response(struct visit *v, void *message)
{
    struct krc_sasl_handshake_response *r = message;
    NUMBER("error_code", r->error_code);
    ARRAY("mechanisms", r->mechanisms, r->mechanism_count, NOT_NULL, mechanism);
}

static void sasl_authenticate_request(struct visit *v, void *message)
{
    struct krc_sasl_authenticate_request *r = message;
    visit_text(v, "auth_bytes", &r->auth_bytes, NOT_NULL);
}

static void sasl_authenticate_response(struct visit *v, void *message)
{
    struct krc_sasl_authenticate_response *r = message;
    NUMBER("error_code", r->error_code);
    visit_text(v, "error_message", &r->error_message, NULLABLE);
    visit_text(v, "auth_bytes", &r->auth_bytes, NOT_NULL);
    NUMBER_IN("session_lifetime_ms", r->session_lifetime_ms, 1, EVER, 0);
}

/* ---- OffsetForLeaderEpoch ------------------------------------------------------------------ */

static void epoch_request_partition(struct visit *v, void *element)
{
    struct krc_epoch_request_partition *p = element;
    NUMBER("partition", p->index);
    NUMBER("current_leader_epoch", p->current_leader_epoch);
    NUMBER("leader_epoch", p->leader_epoch);
}

static void epoch_request_topic(struct visit *v, void *element)
{
    struct krc_epoch_request_topic *t = element;
    visit_text(v, "topic", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, epoch_request_partition);
}

static void offset_for_leader_epoch_request(struct visit *v, void *message)
{
    struct krc_offset_for_leader_epoch_request *r = message;
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, epoch_request_topic);
}

static void epoch_partition(struct visit *v, void *element)
{
    struct krc_epoch_partition *p = element;
    NUMBER("error_code", p->error_code);
    NUMBER("partition", p->index);
    NUMBER("leader_epoch", p->leader_epoch);
    NUMBER("end_offset", p->end_offset);
}

static void epoch_topic(struct visit *v, void *element)
{
    struct krc_epoch_topic *t = element;
    visit_text(v, "topic", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, epoch_partition);
}

static void offset_for_leader_epoch_response(struct visit *v, void *message)
{
    struct krc_offset_for_leader_epoch_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, epoch_topic);
}

/* ---- DescribeConfigs ----------------------------------------------------------------------- */

static void config_resource(struct visit *v, void *element)
{
    struct krc_describe_configs_resource *r = element;
    NUMBER("resource_type", r->type);
    visit_text(v, "resource_name", &r->name, NOT_NULL);
    ARRAY("configuration_keys", r->keys, r->key_count, NULLABLE, configuration_key);
}

static void describe_configs_request(struct visit *v, void *message)
{
    struct krc_describe_configs_request *r = message;
    ARRAY("resources", r->resources, r->resource_count, NOT_NULL, config_resource);
}

static void config_entry(struct visit *v, void *element)
{
    struct krc_config_entry *e = element;
    visit_text(v, "name", &e->name, NOT_NULL);
    visit_text(v, "value", &e->value, NULLABLE);
}

static void config_result(struct visit *v, void *element)
{
    struct krc_config_result *r = element;
    NUMBER("error_code", r->error_code);
    visit_text(v, "error_message", &r->error_message, NULLABLE);
    NUMBER("resource_type", r->type);
    visit_text(v, "resource_name", &r->name, NOT_NULL);
    ARRAY("configs", r->entries, r->entry_count, NOT_NULL, config_entry);
}

static void describe_configs_response(struct visit *v, void *message)
{
    struct krc_describe_configs_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("results", r->results, r->result_count, NOT_NULL, config_result);
}

/* ---- DescribeTopicPartitions --------------------------------------------------------------- */

static void topic_request(struct visit *v, void *element)
{
    visit_text(v, "name", element, NOT_NULL);
}

static void topic_cursor(struct visit *v, struct krc_topic_cursor *c)
{
    visit_text(v, "topic_name", &c->topic, NULLABLE);
    if (c->topic.data != NULL)
        NUMBER("partition_index", c->partition);
}

static void describe_topic_partitions_request(struct visit *v, void *message)
{
    struct krc_describe_topic_partitions_request *r = message;
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, topic_request);
    NUMBER("response_partition_limit", r->response_partition_limit);
    topic_cursor(v, &r->cursor);
}

static void described_partition(struct visit *v, void *element)
{
    struct krc_described_partition *p = element;
    NUMBER("error_code", p->error_code);
    NUMBER("partition_index", p->index);
    NUMBER("leader_id", p->leader_id);
    NUMBER("leader_epoch", p->leader_epoch);
    ARRAY("replica_nodes", p->replicas, p->replica_count, NOT_NULL, replica_nodes);
    ARRAY("isr_nodes", p->in_sync, p->in_sync_count, NOT_NULL, isr_nodes);
    ARRAY("eligible_leader_replicas", p->eligible, p->eligible_count, NULLABLE,
          eligible_leader_replicas);
    ARRAY("last_known_elr", p->last_known_eligible, p->last_known_eligible_count, NULLABLE,
          last_known_elr);
    ARRAY("offline_replicas", p->offline, p->offline_count, NOT_NULL, offline_replicas);
}

static void described_topic(struct visit *v, void *element)
{
    struct krc_described_topic *t = element;
    NUMBER("error_code", t->error_code);
    visit_text(v, "name", &t->name, NULLABLE);
    visit_uuid(v, "topic_id", &t->id, 0);
    visit_boolean(v, "is_internal", &t->is_internal, 0, EVER);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, described_partition);
    NUMBER("topic_authorized_operations", t->authorized_operations);
}

static void describe_topic_partitions_response(struct visit *v, void *message)
{
    struct krc_describe_topic_partitions_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, described_topic);
    topic_cursor(v, &r->next);
}

/* -------------------------------------------------------------------------------------------- */

static void visit(struct visit *v, enum krc_api_name api, bool response, void *message)
{
    static visit_fn *const all[KRC_API_COUNT][2] = {
#define BOTH(NAME, name, text, key, lowest, highest, flexible) {name##_request, name##_response},
        KRC_APIS(BOTH)
#undef BOTH
    };
    all[api][response](v, message);
}

void *message_make(enum krc_api_name api, bool response, int16_t version,
                   enum message_values values, uint64_t seed, struct krc_arena *arena)
{
    struct visit v = {.values = values, .arena = arena, .seed = &seed, .version = version};
    const struct krc_api_info *info = &krc_apis[api];
    void *message = visit_take(&v, response ? info->response_size : info->request_size);
    visit(&v, api, response, message);
    return message;
}

char *message_text(enum krc_api_name api, bool response, int16_t version, void *message)
{
    char *text_told = NULL;
    size_t len;
    FILE *out = open_memstream(&text_told, &len);
    ck_assert_ptr_nonnull(out);
    visit(&(struct visit){.out = out, .version = version}, api, response, message);
    fclose(out);
    return text_told;
}
