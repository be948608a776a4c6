#include "cluster/farewell.h"

/* Whoever is not known has left. */
static enum krc_call_verdict judge(struct krc_call *call, int16_t code)
{
    if (code == KRC_KAFKA_UNKNOWN_MEMBER_ID || code == KRC_KAFKA_GROUP_ID_NOT_FOUND)
        code = 0;
    return krc_call_judge(call, code);
}

static enum krc_call_verdict heard(struct krc_call *call, const struct krc_answer *answer,
                                   int16_t *code)
{
    const struct krc_consumer_group_heartbeat_response *r = answer->response;
    *code = r->error_code;
    return judge(call, *code);
}

static enum krc_call_verdict heard_classic(struct krc_call *call, const struct krc_answer *answer,
                                           int16_t *code)
{
    const struct krc_leave_group_response *r = answer->response;
    *code = r->error_code == 0 && r->member_count > 0 ? r->members[0].error_code : r->error_code;
    return judge(call, *code);
}

static void put_consumer(struct krc_farewell *farewell)
{
    bool comes_back = farewell->instance_id != NULL;
    farewell->request.consumer = (struct krc_consumer_group_heartbeat_request){
        .group = krc_bytes_of(farewell->coordinator->key),
        .member_id = krc_bytes_of(farewell->member_id),
        .member_epoch = comes_back ? KRC_MEMBER_LEAVES_FOR_NOW : KRC_MEMBER_LEAVES,
        .instance_id = {NULL, 0},
        .rebalance_timeout_ms = -1,
        .subscribed_topic_name_count = -1,
        .topic_count = -1};
    if (comes_back)
        farewell->request.consumer.instance_id = krc_bytes_of(farewell->instance_id);
}

void krc_farewell_put(struct krc_farewell *farewell)
{
    bool is_classic = farewell->is_classic;
    krc_call_drop(&farewell->call);
    if (is_classic)
        farewell->request.classic =
            (struct krc_leave_group_request){.group = krc_bytes_of(farewell->coordinator->key),
                                             .member_id = krc_bytes_of(farewell->member_id)};
    else
        put_consumer(farewell);
    farewell->call = (struct krc_call){
        .coordinator = farewell->coordinator,
        .node_id = -1,
        .purpose = KRC_FOR_QUESTIONS,
        .api = is_classic ? KRC_API_LEAVE_GROUP : KRC_API_CONSUMER_GROUP_HEARTBEAT,
        .request = &farewell->request,
        .take = is_classic ? heard_classic : heard};
}
