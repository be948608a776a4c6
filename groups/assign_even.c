/*
 * The assignors that do not ask what members had.
 */
#include "groups/assign_plan.h"

/* The first runs are longer by one where the numbers do not divide.  Topics with as many partitions
 * and the same subscribers are cut alike: equal keys of such topics meet at one member. */
int krc_assign_range(struct krc_plan *plan, krc_error *error)
{
    (void)error;
    for (int32_t t = 0; t < plan->topic_count; t++) {
        const struct krc_plan_topic *topic = &plan->topics[t];
        int32_t least = topic->partition_count / topic->subscriber_count;
        int32_t longer = topic->partition_count % topic->subscriber_count;
        int32_t *owner = plan->owner + topic->first;
        for (int32_t s = 0; s < topic->subscriber_count; s++)
            for (int32_t n = least + (s < longer); n > 0; n--)
                *owner++ = topic->subscribers[s];
    }
    return KRC_OK;
}

/* The turn goes around over all topics; who does not subscribe to one is passed over. */
int krc_assign_round_robin(struct krc_plan *plan, krc_error *error)
{
    (void)error;
    int32_t turn = 0;
    for (int32_t t = 0; t < plan->topic_count; t++) {
        const struct krc_plan_topic *topic = &plan->topics[t];
        int32_t s = 0;
        while (s < topic->subscriber_count && topic->subscribers[s] < turn)
            s++;
        for (int32_t i = 0; i < topic->partition_count; i++) {
            if (s == topic->subscriber_count)
                s = 0;
            plan->owner[topic->first + i] = topic->subscribers[s++];
            turn = plan->owner[topic->first + i] + 1;
        }
    }
    return KRC_OK;
}
