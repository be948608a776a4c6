#include "tests/support/group_messages.h"

NUMBERS(partitions, "partitions")
NUMBERS(partition_indexes, "partition_indexes")
TEXTS(group, "groups")
TEXTS(group_id, "group_ids")
TEXTS(state_filter, "states_filter")
TEXTS(type_filter, "types_filter")
TEXTS(subscribed_topic_name, "subscribed_topic_names")
TEXTS(transactional_id, "transactional_ids")
TEXTS(transaction_state_filter, "state_filters")
TEXTS(unknown_state_filter, "unknown_state_filters")

/* ---- OffsetCommit, OffsetDelete ------------------------------------------------------------ */

static void commit_request_partition(struct visit *v, void *element)
{
    struct krc_offset_commit_request_partition *p = element;
    NUMBER("partition_index", p->index);
    NUMBER("committed_offset", p->committed_offset);
    NUMBER_IN("committed_leader_epoch", p->committed_leader_epoch, 6, EVER, -1);
    visit_text(v, "committed_metadata", &p->metadata, NULLABLE);
}

static void commit_request_topic(struct visit *v, void *element)
{
    struct krc_offset_commit_request_topic *t = element;
    visit_text_in(v, "name", &t->name, NOT_NULL, 3, 9);
    visit_uuid(v, "topic_id", &t->id, 10);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, commit_request_partition);
}

void offset_commit_request(struct visit *v, void *message)
{
    struct krc_offset_commit_request *r = message;
    visit_text(v, "group_id", &r->group, NOT_NULL);
    NUMBER("generation_id_or_member_epoch", r->member_epoch);
    visit_text(v, "member_id", &r->member_id, NOT_NULL);
    visit_text_in(v, "group_instance_id", &r->instance_id, NULLABLE, 7, EVER);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, commit_request_topic);
}

static void commit_partition(struct visit *v, void *element)
{
    struct krc_offset_commit_partition *p = element;
    NUMBER("partition_index", p->index);
    NUMBER("error_code", p->error_code);
}

static void commit_topic(struct visit *v, void *element)
{
    struct krc_offset_commit_topic *t = element;
    visit_text_in(v, "name", &t->name, NOT_NULL, 3, 9);
    visit_uuid(v, "topic_id", &t->id, 10);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, commit_partition);
}

void offset_commit_response(struct visit *v, void *message)
{
    struct krc_offset_commit_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, commit_topic);
}

/* An array of structs with this number alone. */
NUMBERS(delete_request_partition, "partition_index")

static void delete_request_topic(struct visit *v, void *element)
{
    struct krc_offset_delete_request_topic *t = element;
    visit_text(v, "name", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, delete_request_partition);
}

void offset_delete_request(struct visit *v, void *message)
{
    struct krc_offset_delete_request *r = message;
    visit_text(v, "group_id", &r->group, NOT_NULL);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, delete_request_topic);
}

static void delete_partition(struct visit *v, void *element)
{
    struct krc_offset_delete_partition *p = element;
    NUMBER("partition_index", p->index);
    NUMBER("error_code", p->error_code);
}

static void delete_topic(struct visit *v, void *element)
{
    struct krc_offset_delete_topic *t = element;
    visit_text(v, "name", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, delete_partition);
}

void offset_delete_response(struct visit *v, void *message)
{
    struct krc_offset_delete_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER("error_code", r->error_code);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, delete_topic);
}

/* ---- JoinGroup, SyncGroup, Heartbeat, LeaveGroup -------------------------------------------- */

static void join_protocol(struct visit *v, void *element)
{
    struct krc_join_group_protocol *p = element;
    visit_text(v, "name", &p->name, NOT_NULL);
    visit_text(v, "metadata", &p->metadata, NOT_NULL);
}

void join_group_request(struct visit *v, void *message)
{
    struct krc_join_group_request *r = message;
    visit_text(v, "group_id", &r->group, NOT_NULL);
    NUMBER("session_timeout_ms", r->session_timeout_ms);
    NUMBER("rebalance_timeout_ms", r->rebalance_timeout_ms);
    visit_text(v, "member_id", &r->member_id, NOT_NULL);
    visit_text_in(v, "group_instance_id", &r->instance_id, NULLABLE, 5, EVER);
    visit_text(v, "protocol_type", &r->protocol_type, NOT_NULL);
    ARRAY("protocols", r->protocols, r->protocol_count, NOT_NULL, join_protocol);
    visit_text_in(v, "reason", &r->reason, NULLABLE, 8, EVER);
}

static void join_member(struct visit *v, void *element)
{
    struct krc_join_group_member *m = element;
    visit_text(v, "member_id", &m->member_id, NOT_NULL);
    visit_text_in(v, "group_instance_id", &m->instance_id, NULLABLE, 5, EVER);
    visit_text(v, "metadata", &m->metadata, NOT_NULL);
}

void join_group_response(struct visit *v, void *message)
{
    struct krc_join_group_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER("error_code", r->error_code);
    NUMBER("generation_id", r->generation_id);
    visit_text_in(v, "protocol_type", &r->protocol_type, NULLABLE, 7, EVER);
    visit_text(v, "protocol_name", &r->protocol_name, v->version >= 7 ? NULLABLE : NOT_NULL);
    visit_text(v, "leader", &r->leader, NOT_NULL);
    visit_boolean(v, "skip_assignment", &r->skip_assignment, 9, EVER);
    visit_text(v, "member_id", &r->member_id, NOT_NULL);
    ARRAY("members", r->members, r->member_count, NOT_NULL, join_member);
}

static void sync_assignment(struct visit *v, void *element)
{
    struct krc_sync_group_assignment *a = element;
    visit_text(v, "member_id", &a->member_id, NOT_NULL);
    visit_text(v, "assignment", &a->assignment, NOT_NULL);
}

void sync_group_request(struct visit *v, void *message)
{
    struct krc_sync_group_request *r = message;
    visit_text(v, "group_id", &r->group, NOT_NULL);
    NUMBER("generation_id", r->generation_id);
    visit_text(v, "member_id", &r->member_id, NOT_NULL);
    visit_text_in(v, "group_instance_id", &r->instance_id, NULLABLE, 3, EVER);
    visit_text_in(v, "protocol_type", &r->protocol_type, NULLABLE, 5, EVER);
    visit_text_in(v, "protocol_name", &r->protocol_name, NULLABLE, 5, EVER);
    ARRAY("assignments", r->assignments, r->assignment_count, NOT_NULL, sync_assignment);
}

void sync_group_response(struct visit *v, void *message)
{
    struct krc_sync_group_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER("error_code", r->error_code);
    visit_text_in(v, "protocol_type", &r->protocol_type, NULLABLE, 5, EVER);
    visit_text_in(v, "protocol_name", &r->protocol_name, NULLABLE, 5, EVER);
    visit_text(v, "assignment", &r->assignment, NOT_NULL);
}

void heartbeat_request(struct visit *v, void *message)
{
    struct krc_heartbeat_request *r = message;
    visit_text(v, "group_id", &r->group, NOT_NULL);
    NUMBER("generation_id", r->generation_id);
    visit_text(v, "member_id", &r->member_id, NOT_NULL);
    visit_text_in(v, "group_instance_id", &r->instance_id, NULLABLE, 3, EVER);
}

void heartbeat_response(struct visit *v, void *message)
{
    struct krc_heartbeat_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER("error_code", r->error_code);
}

/* From v3 on, the member is the only element of "members". */
void leave_group_request(struct visit *v, void *message)
{
    struct krc_leave_group_request *r = message;
    struct visit only = v->version >= 3 ? visit_inside(v, 0) : *v;
    visit_text(v, "group_id", &r->group, NOT_NULL);
    v = &only;
    visit_text(v, "member_id", &r->member_id, NOT_NULL);
    visit_text_in(v, "group_instance_id", &r->instance_id, NULLABLE, 3, EVER);
    visit_text_in(v, "reason", &r->reason, NULLABLE, 5, EVER);
}

static void leave_member(struct visit *v, void *element)
{
    struct krc_leave_group_member *m = element;
    visit_text(v, "member_id", &m->member_id, NOT_NULL);
    visit_text(v, "group_instance_id", &m->instance_id, NULLABLE);
    NUMBER("error_code", m->error_code);
}

void leave_group_response(struct visit *v, void *message)
{
    struct krc_leave_group_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER("error_code", r->error_code);
    ARRAY_SINCE("members", r->members, r->member_count, 3, leave_member);
}

/* ---- DescribeGroups, ListGroups ------------------------------------------------------------- */

void describe_groups_request(struct visit *v, void *message)
{
    struct krc_describe_groups_request *r = message;
    ARRAY("groups", r->groups, r->group_count, NOT_NULL, group);
}

static void described_member(struct visit *v, void *element)
{
    struct krc_described_member *m = element;
    visit_text(v, "member_id", &m->member_id, NOT_NULL);
    visit_text_in(v, "group_instance_id", &m->instance_id, NULLABLE, 4, EVER);
    visit_text(v, "client_id", &m->client_id, NOT_NULL);
    visit_text(v, "client_host", &m->client_host, NOT_NULL);
    visit_text(v, "member_metadata", &m->metadata, NOT_NULL);
    visit_text(v, "member_assignment", &m->assignment, NOT_NULL);
}

static void described_group(struct visit *v, void *element)
{
    struct krc_described_group *g = element;
    NUMBER("error_code", g->error_code);
    visit_text_in(v, "error_message", &g->error_message, NULLABLE, 6, EVER);
    visit_text(v, "group_id", &g->group, NOT_NULL);
    visit_text(v, "group_state", &g->state, NOT_NULL);
    visit_text(v, "protocol_type", &g->protocol_type, NOT_NULL);
    visit_text(v, "protocol_data", &g->protocol_name, NOT_NULL);
    ARRAY("members", g->members, g->member_count, NOT_NULL, described_member);
}

void describe_groups_response(struct visit *v, void *message)
{
    struct krc_describe_groups_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("groups", r->groups, r->group_count, NOT_NULL, described_group);
}

void list_groups_request(struct visit *v, void *message)
{
    struct krc_list_groups_request *r = message;
    ARRAY_SINCE("states_filter", r->states, r->state_count, 4, state_filter);
    ARRAY_SINCE("types_filter", r->types, r->type_count, 5, type_filter);
}

static void listed_group(struct visit *v, void *element)
{
    struct krc_listed_group *g = element;
    visit_text(v, "group_id", &g->group, NOT_NULL);
    visit_text(v, "protocol_type", &g->protocol_type, NOT_NULL);
    visit_text_in(v, "group_state", &g->state, NOT_NULL, 4, EVER);
    visit_text_in(v, "group_type", &g->type, NOT_NULL, 5, EVER);
}

void list_groups_response(struct visit *v, void *message)
{
    struct krc_list_groups_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER("error_code", r->error_code);
    ARRAY("groups", r->groups, r->group_count, NOT_NULL, listed_group);
}

/* ---- ConsumerGroupHeartbeat, ConsumerGroupDescribe ------------------------------------------ */

static void heartbeat_topic(struct visit *v, void *element)
{
    struct krc_consumer_group_heartbeat_topic *t = element;
    visit_uuid(v, "topic_id", &t->id, 0);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, partitions);
}

void consumer_group_heartbeat_request(struct visit *v, void *message)
{
    struct krc_consumer_group_heartbeat_request *r = message;
    visit_text(v, "group_id", &r->group, NOT_NULL);
    visit_text(v, "member_id", &r->member_id, NOT_NULL);
    NUMBER("member_epoch", r->member_epoch);
    visit_text(v, "instance_id", &r->instance_id, NULLABLE);
    visit_text(v, "rack_id", &r->rack_id, NULLABLE);
    NUMBER("rebalance_timeout_ms", r->rebalance_timeout_ms);
    ARRAY("subscribed_topic_names", r->subscribed_topic_names, r->subscribed_topic_name_count,
          NULLABLE, subscribed_topic_name);
    visit_text_in(v, "subscribed_topic_regex", &r->subscribed_topic_regex, NULLABLE, 1, EVER);
    visit_text(v, "server_assignor", &r->server_assignor, NULLABLE);
    ARRAY("topic_partitions", r->topics, r->topic_count, NULLABLE, heartbeat_topic);
}

/* The array lies in a struct that may be null, and itself may not. */
void consumer_group_heartbeat_response(struct visit *v, void *message)
{
    struct krc_consumer_group_heartbeat_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER("error_code", r->error_code);
    visit_text(v, "error_message", &r->error_message, NULLABLE);
    visit_text(v, "member_id", &r->member_id, NULLABLE);
    NUMBER("member_epoch", r->member_epoch);
    NUMBER("heartbeat_interval_ms", r->heartbeat_interval_ms);
    ARRAY("topic_partitions", r->assignment, r->assignment_count, NULLABLE, heartbeat_topic);
}

void consumer_group_describe_request(struct visit *v, void *message)
{
    struct krc_consumer_group_describe_request *r = message;
    ARRAY("group_ids", r->groups, r->group_count, NOT_NULL, group_id);
}

static void consumer_group_topic(struct visit *v, void *element)
{
    struct krc_consumer_group_topic *t = element;
    visit_uuid(v, "topic_id", &t->id, 0);
    visit_text(v, "topic_name", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, partitions);
}

static void consumer_group_member(struct visit *v, void *element)
{
    struct krc_consumer_group_member *m = element;
    visit_text(v, "member_id", &m->member_id, NOT_NULL);
    visit_text(v, "instance_id", &m->instance_id, NULLABLE);
    visit_text(v, "rack_id", &m->rack_id, NULLABLE);
    NUMBER("member_epoch", m->member_epoch);
    visit_text(v, "client_id", &m->client_id, NOT_NULL);
    visit_text(v, "client_host", &m->client_host, NOT_NULL);
    ARRAY("subscribed_topic_names", m->subscribed_topic_names, m->subscribed_topic_name_count,
          NOT_NULL, subscribed_topic_name);
    visit_text(v, "subscribed_topic_regex", &m->subscribed_topic_regex, NULLABLE);
    ARRAY("topic_partitions", m->assignment.topics, m->assignment.topic_count, NOT_NULL,
          consumer_group_topic);
    ARRAY("topic_partitions", m->target.topics, m->target.topic_count, NOT_NULL,
          consumer_group_topic);
    NUMBER_IN("member_type", m->member_type, 1, EVER, -1);
}

static void consumer_group(struct visit *v, void *element)
{
    struct krc_consumer_group *g = element;
    NUMBER("error_code", g->error_code);
    visit_text(v, "error_message", &g->error_message, NULLABLE);
    visit_text(v, "group_id", &g->group, NOT_NULL);
    visit_text(v, "group_state", &g->state, NOT_NULL);
    NUMBER("group_epoch", g->group_epoch);
    NUMBER("assignment_epoch", g->assignment_epoch);
    visit_text(v, "assignor_name", &g->assignor, NOT_NULL);
    ARRAY("members", g->members, g->member_count, NOT_NULL, consumer_group_member);
}

void consumer_group_describe_response(struct visit *v, void *message)
{
    struct krc_consumer_group_describe_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("groups", r->groups, r->group_count, NOT_NULL, consumer_group);
}

/* ---- DescribeProducers ---------------------------------------------------------------------- */

static void producers_request_topic(struct visit *v, void *element)
{
    struct krc_describe_producers_request_topic *t = element;
    visit_text(v, "name", &t->name, NOT_NULL);
    ARRAY("partition_indexes", t->partitions, t->partition_count, NOT_NULL, partition_indexes);
}

void describe_producers_request(struct visit *v, void *message)
{
    struct krc_describe_producers_request *r = message;
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, producers_request_topic);
}

static void described_producer(struct visit *v, void *element)
{
    struct krc_described_producer *p = element;
    NUMBER("producer_id", p->producer_id);
    NUMBER("producer_epoch", p->producer_epoch);
    NUMBER("last_sequence", p->last_sequence);
    NUMBER("last_timestamp", p->last_timestamp);
    NUMBER("coordinator_epoch", p->coordinator_epoch);
    NUMBER("current_txn_start_offset", p->current_txn_start_offset);
}

static void producers_partition(struct visit *v, void *element)
{
    struct krc_describe_producers_partition *p = element;
    NUMBER("partition_index", p->index);
    NUMBER("error_code", p->error_code);
    visit_text(v, "error_message", &p->error_message, NULLABLE);
    ARRAY("active_producers", p->producers, p->producer_count, NOT_NULL, described_producer);
}

static void producers_topic(struct visit *v, void *element)
{
    struct krc_describe_producers_topic *t = element;
    visit_text(v, "name", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, producers_partition);
}

void describe_producers_response(struct visit *v, void *message)
{
    struct krc_describe_producers_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("topics", r->topics, r->topic_count, NOT_NULL, producers_topic);
}

/* ---- DescribeTransactions, ListTransactions ------------------------------------------------- */

void describe_transactions_request(struct visit *v, void *message)
{
    struct krc_describe_transactions_request *r = message;
    ARRAY("transactional_ids", r->transactional_ids, r->transactional_id_count, NOT_NULL,
          transactional_id);
}

static void transaction_topic(struct visit *v, void *element)
{
    struct krc_described_transaction_topic *t = element;
    visit_text(v, "topic", &t->name, NOT_NULL);
    ARRAY("partitions", t->partitions, t->partition_count, NOT_NULL, partitions);
}

static void described_transaction(struct visit *v, void *element)
{
    struct krc_described_transaction *t = element;
    NUMBER("error_code", t->error_code);
    visit_text(v, "transactional_id", &t->transactional_id, NOT_NULL);
    visit_text(v, "transaction_state", &t->state, NOT_NULL);
    NUMBER("transaction_timeout_ms", t->timeout_ms);
    NUMBER("transaction_start_time_ms", t->start_time_ms);
    NUMBER("producer_id", t->producer_id);
    NUMBER("producer_epoch", t->producer_epoch);
    ARRAY("topics", t->topics, t->topic_count, NOT_NULL, transaction_topic);
}

void describe_transactions_response(struct visit *v, void *message)
{
    struct krc_describe_transactions_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    ARRAY("transaction_states", r->transactions, r->transaction_count, NOT_NULL,
          described_transaction);
}

static void producer_id_filter(struct visit *v, void *element)
{
    int64_t *id = element;
    NUMBER("producer_id_filters", *id);
}

void list_transactions_request(struct visit *v, void *message)
{
    struct krc_list_transactions_request *r = message;
    ARRAY("state_filters", r->states, r->state_count, NOT_NULL, transaction_state_filter);
    ARRAY("producer_id_filters", r->producer_ids, r->producer_id_count, NOT_NULL,
          producer_id_filter);
}

static void listed_transaction(struct visit *v, void *element)
{
    struct krc_listed_transaction *t = element;
    visit_text(v, "transactional_id", &t->transactional_id, NOT_NULL);
    NUMBER("producer_id", t->producer_id);
    visit_text(v, "transaction_state", &t->state, NOT_NULL);
}

void list_transactions_response(struct visit *v, void *message)
{
    struct krc_list_transactions_response *r = message;
    NUMBER("throttle_time_ms", r->throttle_time_ms);
    NUMBER("error_code", r->error_code);
    ARRAY("unknown_state_filters", r->unknown_states, r->unknown_state_count, NOT_NULL,
          unknown_state_filter);
    ARRAY("transaction_states", r->transactions, r->transaction_count, NOT_NULL,
          listed_transaction);
}
