#include "protocol/consumer_group_heartbeat.h"

/* The bytes that one takes at the least. */
enum { TOPIC_LEAST = 18 };

/*
 * A topic's partitions:
 *      uuid     topic id
 *      [int32]  partitions
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_consumer_group_heartbeat_topic *t = element;
    krc_wire_uuid(w, &t->id);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
    krc_wire_tags(w);
}

/*
 * ConsumerGroupHeartbeat request:
 *      string    group id
 *      string    member id
 *      int32     member epoch
 *      string    instance id, nullable
 *      string    rack id, nullable
 *      int32     rebalance time-out in ms, or -1
 *      [string]  subscribed topics, nullable
 *      string    subscribed regular expression, nullable  v1+
 *      string    assignor, nullable
 *      [topic]   what the member has, nullable
 */
void krc_consumer_group_heartbeat_request(struct krc_wire *w, void *request)
{
    struct krc_consumer_group_heartbeat_request *r = request;
    krc_wire_string(w, &r->group);
    krc_wire_string(w, &r->member_id);
    krc_wire_i32(w, &r->member_epoch);
    krc_wire_nullable_string(w, &r->instance_id);
    krc_wire_nullable_string(w, &r->rack_id);
    krc_wire_i32(w, &r->rebalance_timeout_ms);
    krc_wire_nullable_string_array(w, &r->subscribed_topic_names, &r->subscribed_topic_name_count);
    if (w->version >= 1)
        krc_wire_nullable_string(w, &r->subscribed_topic_regex);
    krc_wire_nullable_string(w, &r->server_assignor);
    krc_wire_nullable_array(w, &r->topics, &r->topic_count, sizeof *r->topics, TOPIC_LEAST, topic);
    krc_wire_tags(w);
}

/*
 * An assignment:
 *      int8     -1: null, and that is all
 *      [topic]
 */
static void assignment(struct krc_wire *w, struct krc_consumer_group_heartbeat_response *r)
{
    int8_t present = r->assignment_count >= 0 ? 1 : -1;
    krc_wire_i8(w, &present);
    if (present >= 0) {
        krc_wire_array(w, &r->assignment, &r->assignment_count, sizeof *r->assignment, TOPIC_LEAST,
                       topic);
        krc_wire_tags(w);
    } else if (!w->writing) {
        r->assignment_count = -1;
    }
}

/*
 * ConsumerGroupHeartbeat response:
 *      int32       throttle time in ms
 *      int16       error code
 *      string      error message, nullable
 *      string      member id, nullable
 *      int32       member epoch
 *      int32       time until the next heartbeat in ms
 *      assignment
 */
void krc_consumer_group_heartbeat_response(struct krc_wire *w, void *response)
{
    struct krc_consumer_group_heartbeat_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_i16(w, &r->error_code);
    krc_wire_nullable_string(w, &r->error_message);
    krc_wire_nullable_string(w, &r->member_id);
    krc_wire_i32(w, &r->member_epoch);
    krc_wire_i32(w, &r->heartbeat_interval_ms);
    assignment(w, r);
    krc_wire_tags(w);
}
