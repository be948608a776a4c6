#include "protocol/metadata.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { REQUEST_TOPIC_LEAST = 2, BROKER_LEAST = 11, PARTITION_LEAST = 18, TOPIC_LEAST = 9 };

/* What an answer says that was not asked for the operations allowed. */
enum { OPERATIONS_NOT_ASKED = INT32_MIN };

/*
 * A topic to ask about:
 *      uuid    id    v10+
 *      string  name, nullable v10+
 */
static void request_topic(struct krc_wire *w, void *element)
{
    struct krc_metadata_request_topic *t = element;
    if (w->version >= 10) {
        krc_wire_uuid(w, &t->id);
        krc_wire_nullable_string(w, &t->name);
    } else {
        krc_wire_string(w, &t->name);
    }
    krc_wire_tags(w);
}

/*
 * Metadata request:
 *      [topic]  null: all
 *      bool     may create topics
 *      bool     wants the operations allowed on the cluster  v8-10
 *      bool     wants those allowed on topics                v8+
 */
void krc_metadata_request(struct krc_wire *w, void *request)
{
    struct krc_metadata_request *r = request;
    krc_wire_nullable_array(w, &r->topics, &r->topic_count, sizeof *r->topics, REQUEST_TOPIC_LEAST,
                            request_topic);
    krc_wire_bool(w, &r->allow_auto_topic_creation);
    if (w->version >= 8 && w->version <= 10)
        krc_wire_bool(w, &r->include_cluster_authorized_operations);
    if (w->version >= 8)
        krc_wire_bool(w, &r->include_topic_authorized_operations);
    krc_wire_tags(w);
}

/*
 * A broker:
 *      int32   node id
 *      string  host
 *      int32   port
 *      string  rack, nullable
 */
static void broker(struct krc_wire *w, void *element)
{
    struct krc_metadata_broker *b = element;
    krc_wire_i32(w, &b->node_id);
    krc_wire_string(w, &b->host);
    krc_wire_i32(w, &b->port);
    krc_wire_nullable_string(w, &b->rack);
    krc_wire_tags(w);
}

/*
 * A partition:
 *      int16    error code
 *      int32    partition
 *      int32    leader id
 *      int32    leader epoch      v7+
 *      [int32]  replicas
 *      [int32]  in-sync replicas
 *      [int32]  offline replicas  v5+
 */
static void partition(struct krc_wire *w, void *element)
{
    struct krc_metadata_partition *p = element;
    krc_wire_i16(w, &p->error_code);
    krc_wire_i32(w, &p->index);
    krc_wire_i32(w, &p->leader_id);
    krc_wire_i32_since(w, 7, &p->leader_epoch, -1);
    krc_wire_i32_array(w, &p->replicas, &p->replica_count);
    krc_wire_i32_array(w, &p->in_sync, &p->in_sync_count);
    if (w->version >= 5)
        krc_wire_i32_array(w, &p->offline, &p->offline_count);
    krc_wire_tags(w);
}

/*
 * A topic:
 *      int16        error code
 *      string       name, nullable v12+
 *      uuid         id                  v10+
 *      bool         is internal
 *      [partition]
 *      int32        operations allowed  v8+
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_metadata_topic *t = element;
    krc_wire_i16(w, &t->error_code);
    if (w->version >= 12)
        krc_wire_nullable_string(w, &t->name);
    else
        krc_wire_string(w, &t->name);
    if (w->version >= 10)
        krc_wire_uuid(w, &t->id);
    krc_wire_bool(w, &t->is_internal);
    krc_wire_rows(w, &t->partitions, &t->partition_count, sizeof *t->partitions, PARTITION_LEAST,
                  partition, &t->rows);
    krc_wire_i32_since(w, 8, &t->authorized_operations, OPERATIONS_NOT_ASKED);
    krc_wire_tags(w);
}

static void cluster_operations(struct krc_wire *w, int32_t *operations)
{
    if (w->version <= 10)
        krc_wire_i32_since(w, 8, operations, OPERATIONS_NOT_ASKED);
    else if (!w->writing)
        *operations = OPERATIONS_NOT_ASKED;
}

/*
 * Metadata response:
 *      int32     throttle time in ms
 *      [broker]
 *      string    cluster id, nullable
 *      int32     controller id
 *      [topic]
 *      int32     operations allowed on the cluster  v8-10
 *      int16     error code                         v13+
 */
void krc_metadata_response(struct krc_wire *w, void *response)
{
    struct krc_metadata_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_rows(w, &r->brokers, &r->broker_count, sizeof *r->brokers, BROKER_LEAST, broker,
                  &r->broker_rows);
    krc_wire_nullable_string(w, &r->cluster_id);
    krc_wire_i32(w, &r->controller_id);
    krc_wire_rows(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic, &r->rows);
    cluster_operations(w, &r->cluster_authorized_operations);
    if (w->version >= 13)
        krc_wire_i16(w, &r->error_code);
    krc_wire_tags(w);
}
