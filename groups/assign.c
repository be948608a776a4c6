#include "groups/assign.h"

#include <stdlib.h>

#include "groups/assign_plan.h"

/* ---- The assignors --------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const struct krc_assign_member *const *x = a, *const *y = b;
    return krc_bytes_compare((*x)->id, (*y)->id);
}

/* Static members first, by their lasting names: so a restart, which gives a new id, moves
 * nothing. */
static int by_instance_or_id(const void *a, const void *b)
{
    const struct krc_assign_member *const *x = a, *const *y = b;
    bool x_lasts = (*x)->instance_id.data != NULL, y_lasts = (*y)->instance_id.data != NULL;
    if (x_lasts && y_lasts)
        return krc_bytes_compare((*x)->instance_id, (*y)->instance_id);
    return x_lasts != y_lasts ? y_lasts - x_lasts : by_id(a, b);
}

/* Members of "sticky" give up all before they join, and tell in the user data what they had. */
static int sticky_data(struct krc_buffer *out, struct krc_claims *owned, krc_error *error)
{
    if (owned->generation == KRC_NO_GENERATION)
        return KRC_OK;
    return krc_sticky_data_write(out, owned, error);
}

static int sticky_claims(const struct krc_subscription *s, struct krc_claims *claims,
                         struct krc_arena *arena, krc_error *error)
{
    return krc_sticky_data_read(s->user_data, claims, arena, error);
}

static int cooperative_data(struct krc_buffer *out, struct krc_claims *owned, krc_error *error)
{
    return krc_cooperative_data_write(out, owned->generation, error);
}

/* A subscription before v2 has no generation of its own. */
static int cooperative_claims(const struct krc_subscription *s, struct krc_claims *claims,
                              struct krc_arena *arena, krc_error *error)
{
    (void)arena, (void)error;
    *claims = (struct krc_claims){s->owned, s->owned_count, s->generation};
    if (claims->generation < 0)
        claims->generation = krc_cooperative_data_read(s->user_data);
    return KRC_OK;
}

static const struct krc_assignor assignors[] = {
    {"range", false, NULL, NULL, by_instance_or_id, krc_assign_range},
    {"roundrobin", false, NULL, NULL, by_instance_or_id, krc_assign_round_robin},
    {"sticky", false, sticky_data, sticky_claims, by_id, krc_assign_sticky},
    {"cooperative-sticky", true, cooperative_data, cooperative_claims, by_id, krc_assign_sticky},
};

const struct krc_assignor *krc_assignor_find(struct krc_bytes name)
{
    for (size_t i = 0; i < sizeof assignors / sizeof *assignors; i++)
        if (strlen(assignors[i].name) == name.len &&
            memcmp(assignors[i].name, name.data, name.len) == 0)
            return &assignors[i];
    return NULL;
}

int krc_assignor_user_data(const struct krc_assignor *assignor, struct krc_claims *owned,
                           struct krc_buffer *out, struct krc_bytes *user_data, krc_error *error)
{
    size_t start = out->len;
    *user_data = (struct krc_bytes){0};
    if (assignor->user_data != NULL)
        KRC_TRY(assignor->user_data(out, owned, error));
    if (out->len > start)
        *user_data = (struct krc_bytes){out->data + start, out->len - start};
    return KRC_OK;
}

/* ---- The plan -------------------------------------------------------------------------------- */

int krc_plan_take(const struct krc_plan *plan, void *list, int32_t count, size_t size,
                  krc_error *error)
{
    void *taken = krc_arena_take(plan->arena, (size_t)count * size);
    if (taken == NULL)
        return krc_fail_nomem(error, (size_t)count * size);
    memcpy(list, &taken, sizeof taken);
    return KRC_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct krc_plan_topic *x = a, *y = b;
    return krc_bytes_compare(x->name, y->name);
}

struct krc_plan_topic *krc_plan_find(const struct krc_plan *plan, struct krc_bytes name)
{
    struct krc_plan_topic key = {.name = name};
    return bsearch(&key, plan->topics, (size_t)plan->topic_count, sizeof key, by_name);
}

static int set_members(struct krc_plan *plan, const struct krc_assign_member *members,
                       krc_error *error)
{
    KRC_TRY(krc_plan_take(plan, &plan->members, plan->member_count, sizeof *plan->members, error));
    for (int32_t m = 0; m < plan->member_count; m++)
        plan->members[m] = &members[m];
    qsort(plan->members, (size_t)plan->member_count, sizeof *plan->members, plan->assignor->order);
    return KRC_OK;
}

static int set_topics(struct krc_plan *plan, const struct krc_assign_topic *topics, int32_t count,
                      krc_error *error)
{
    KRC_TRY(krc_plan_take(plan, &plan->topics, count, sizeof *plan->topics, error));
    for (int32_t t = 0; t < count; t++)
        if (topics[t].partition_count > 0)
            plan->topics[plan->topic_count++] = (struct krc_plan_topic){
                .name = topics[t].name, .partition_count = topics[t].partition_count};
    qsort(plan->topics, (size_t)plan->topic_count, sizeof *plan->topics, by_name);
    return KRC_OK;
}

/* Counts the subscribers of each topic, or, where there is room for them, lists them. */
static void walk_subscriptions(struct krc_plan *plan)
{
    for (int32_t m = 0; m < plan->member_count; m++) {
        const struct krc_subscription *s = &plan->members[m]->subscription;
        for (int32_t i = 0; i < s->topic_count; i++) {
            struct krc_plan_topic *topic = krc_plan_find(plan, s->topics[i]);
            if (topic == NULL)
                continue;
            int32_t n = topic->subscriber_count, *list = topic->subscribers;
            if (list == NULL || n == 0 || list[n - 1] != m)
                topic->subscriber_count++;
            if (list != NULL)
                list[topic->subscriber_count - 1] = m;
        }
    }
}

static int set_subscribers(struct krc_plan *plan, krc_error *error)
{
    walk_subscriptions(plan);
    for (int32_t t = 0; t < plan->topic_count; t++) {
        struct krc_plan_topic *topic = &plan->topics[t];
        KRC_TRY(krc_plan_take(plan, &topic->subscribers, topic->subscriber_count,
                              sizeof *topic->subscribers, error));
        topic->subscriber_count = 0;
    }
    walk_subscriptions(plan);
    return KRC_OK;
}

/* Numbers the partitions, without those that nobody subscribes to. */
static int set_partitions(struct krc_plan *plan, krc_error *error)
{
    int32_t topics = plan->topic_count;
    int64_t partitions = 0;
    plan->topic_count = 0;
    for (int32_t t = 0; t < topics && partitions <= INT32_MAX; t++) {
        struct krc_plan_topic topic = plan->topics[t];
        if (topic.subscriber_count == 0)
            continue;
        topic.first = (int32_t)partitions;
        partitions += topic.partition_count;
        plan->topics[plan->topic_count++] = topic;
    }
    if (partitions > INT32_MAX)
        return krc_fail(error, KRC_E_TOO_LARGE,
                        "a group's topics have more than 2147483647 partitions: let its members "
                        "subscribe to fewer");
    plan->partition_count = (int32_t)partitions;
    KRC_TRY(krc_plan_take(plan, &plan->owner, plan->partition_count, sizeof *plan->owner, error));
    for (int32_t p = 0; p < plan->partition_count; p++)
        plan->owner[p] = KRC_NOBODY;
    return KRC_OK;
}

/* ---- The outcome ----------------------------------------------------------------------------- */

/* What is being collected for a member. */
struct share {
    struct krc_assignment *assignment;
    const struct krc_plan_topic *topic; /* of the last partition */
    int32_t *partitions;                /* all of them, a topic's in a row */
    int32_t partition_count;
};

static void add_partition(struct share *share, const struct krc_plan_topic *topic,
                          int32_t partition)
{
    struct krc_assignment *a = share->assignment;
    if (share->topic != topic)
        a->topics[a->topic_count++] = (struct krc_topic_partitions){
            topic->name, share->partitions + share->partition_count, 0};
    share->topic = topic;
    share->partitions[share->partition_count++] = partition;
    a->topics[a->topic_count - 1].partition_count++;
}

static int take_room(const struct krc_plan *plan, struct share *shares, krc_error *error)
{
    for (int32_t p = 0; p < plan->partition_count; p++)
        if (plan->owner[p] != KRC_NOBODY)
            shares[plan->owner[p]].partition_count++;
    for (int32_t m = 0; m < plan->member_count; m++) {
        struct share *share = &shares[m];
        int32_t topics =
            share->partition_count < plan->topic_count ? share->partition_count : plan->topic_count;
        KRC_TRY(krc_plan_take(plan, &share->partitions, share->partition_count,
                              sizeof *share->partitions, error));
        KRC_TRY(krc_plan_take(plan, &share->assignment->topics, topics,
                              sizeof *share->assignment->topics, error));
        share->partition_count = 0;
    }
    return KRC_OK;
}

static int hand_out(const struct krc_plan *plan, const struct krc_assign_member *members,
                    struct krc_assignment *assignments, krc_error *error)
{
    struct share *shares = NULL;
    KRC_TRY(krc_plan_take(plan, &shares, plan->member_count, sizeof *shares, error));
    for (int32_t m = 0; m < plan->member_count; m++) {
        shares[m].assignment = &assignments[plan->members[m] - members];
        *shares[m].assignment = (struct krc_assignment){0};
    }
    KRC_TRY(take_room(plan, shares, error));
    for (int32_t t = 0; t < plan->topic_count; t++) {
        const struct krc_plan_topic *topic = &plan->topics[t];
        for (int32_t i = 0; i < topic->partition_count; i++) {
            int32_t owner = plan->owner[topic->first + i];
            if (owner != KRC_NOBODY)
                add_partition(&shares[owner], topic, i);
        }
    }
    return KRC_OK;
}

int krc_group_assign(const struct krc_assignor *assignor, const struct krc_assign_member *members,
                     int32_t member_count, const struct krc_assign_topic *topics,
                     int32_t topic_count, struct krc_assignment *assignments,
                     struct krc_arena *arena, krc_error *error)
{
    struct krc_plan plan = {.assignor = assignor, .member_count = member_count, .arena = arena};
    KRC_TRY(set_members(&plan, members, error));
    KRC_TRY(set_topics(&plan, topics, topic_count, error));
    KRC_TRY(set_subscribers(&plan, error));
    KRC_TRY(set_partitions(&plan, error));
    if (plan.partition_count > 0)
        KRC_TRY(assignor->assign(&plan, error));
    return hand_out(&plan, members, assignments, error);
}
