#include "protocol/consumer_group_describe.h"

/* The bytes that each takes at the least, in whichever version that is. */
enum { TOPIC_LEAST = 19, MEMBER_LEAST = 16, GROUP_LEAST = 20 };

/* What an answer says that was not asked for the operations allowed. */
enum { OPERATIONS_NOT_ASKED = INT32_MIN };

/*
 * ConsumerGroupDescribe request:
 *      [string]  group ids
 *      bool      wants the operations allowed
 */
void krc_consumer_group_describe_request(struct krc_wire *w, void *request)
{
    struct krc_consumer_group_describe_request *r = request;
    krc_wire_string_array(w, &r->groups, &r->group_count);
    krc_wire_bool(w, &(bool){false});
    krc_wire_tags(w);
}

/*
 * A topic's partitions:
 *      uuid     topic id
 *      string   topic
 *      [int32]  partitions
 */
static void topic(struct krc_wire *w, void *element)
{
    struct krc_consumer_group_topic *t = element;
    krc_wire_uuid(w, &t->id);
    krc_wire_string(w, &t->name);
    krc_wire_i32_array(w, &t->partitions, &t->partition_count);
    krc_wire_tags(w);
}

/*
 * An assignment:
 *      [topic]
 */
static void assignment(struct krc_wire *w, struct krc_consumer_group_assignment *a)
{
    krc_wire_array(w, &a->topics, &a->topic_count, sizeof *a->topics, TOPIC_LEAST, topic);
    krc_wire_tags(w);
}

/*
 * A member:
 *      string      member id
 *      string      instance id, nullable
 *      string      rack id, nullable
 *      int32       member epoch
 *      string      client id
 *      string      host of the client
 *      [string]    subscribed topics
 *      string      subscribed regular expression, nullable
 *      assignment  that it has
 *      assignment  that it is to have
 *      int8        its type  v1+
 */
static void member(struct krc_wire *w, void *element)
{
    struct krc_consumer_group_member *m = element;
    krc_wire_string(w, &m->member_id);
    krc_wire_nullable_string(w, &m->instance_id);
    krc_wire_nullable_string(w, &m->rack_id);
    krc_wire_i32(w, &m->member_epoch);
    krc_wire_string(w, &m->client_id);
    krc_wire_string(w, &m->client_host);
    krc_wire_string_array(w, &m->subscribed_topic_names, &m->subscribed_topic_name_count);
    krc_wire_nullable_string(w, &m->subscribed_topic_regex);
    assignment(w, &m->assignment);
    assignment(w, &m->target);
    if (w->version >= 1)
        krc_wire_i8(w, &m->member_type);
    else if (!w->writing)
        m->member_type = -1;
    krc_wire_tags(w);
}

/*
 * A group:
 *      int16     error code
 *      string    error message, nullable
 *      string    group id
 *      string    state
 *      int32     group epoch
 *      int32     assignment epoch
 *      string    assignor
 *      [member]
 *      int32     operations allowed
 */
static void group(struct krc_wire *w, void *element)
{
    struct krc_consumer_group *g = element;
    krc_wire_i16(w, &g->error_code);
    krc_wire_nullable_string(w, &g->error_message);
    krc_wire_string(w, &g->group);
    krc_wire_string(w, &g->state);
    krc_wire_i32(w, &g->group_epoch);
    krc_wire_i32(w, &g->assignment_epoch);
    krc_wire_string(w, &g->assignor);
    krc_wire_array(w, &g->members, &g->member_count, sizeof *g->members, MEMBER_LEAST, member);
    krc_wire_i32(w, &(int32_t){OPERATIONS_NOT_ASKED});
    krc_wire_tags(w);
}

/*
 * ConsumerGroupDescribe response:
 *      int32    throttle time in ms
 *      [group]
 */
void krc_consumer_group_describe_response(struct krc_wire *w, void *response)
{
    struct krc_consumer_group_describe_response *r = response;
    krc_wire_i32(w, &r->throttle_time_ms);
    krc_wire_array(w, &r->groups, &r->group_count, sizeof *r->groups, GROUP_LEAST, group);
    krc_wire_tags(w);
}
