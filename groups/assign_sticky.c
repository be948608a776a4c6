/*
 * The sticky assignors.  Evenness comes first: where all members subscribe to the same topics, the
 * numbers of their partitions differ by one at most.  Then, who had a partition keeps it.
 */
#include <stdlib.h>

#include "groups/assign_plan.h"

enum { KRC_DISPUTED = KRC_NOBODY - 1 }; /* two members say that they had it */

struct sticky {
    struct krc_plan *plan;
    int32_t *had;  /* of each partition: the member that had it, KRC_NOBODY, or KRC_DISPUTED */
    int32_t *load; /* of each member: how many partitions it owns */
};

static void give(struct sticky *s, int32_t partition, int32_t member)
{
    int32_t *owner = &s->plan->owner[partition];
    if (*owner != KRC_NOBODY)
        s->load[*owner]--;
    *owner = member;
    s->load[member]++;
}

/* ---- Who had what ---------------------------------------------------------------------------- */

/* The claim of the newest generation counts; if two members make it, neither does. */
static void claim(struct sticky *s, int32_t *generations, int32_t partition, int32_t member,
                  int32_t generation)
{
    int32_t *had = &s->had[partition];
    if (*had == KRC_NOBODY || generation > generations[partition]) {
        *had = member;
        generations[partition] = generation;
    } else if (generation == generations[partition] && *had != member) {
        *had = KRC_DISPUTED;
    }
}

static void take_claims(struct sticky *s, int32_t *generations, int32_t member,
                        const struct krc_claims *claims)
{
    for (int32_t t = 0; t < claims->topic_count; t++) {
        const struct krc_topic_partitions *claimed = &claims->topics[t];
        const struct krc_plan_topic *topic = krc_plan_find(s->plan, claimed->topic);
        for (int32_t i = 0; topic != NULL && i < claimed->partition_count; i++) {
            int32_t partition = claimed->partitions[i];
            if (partition >= 0 && partition < topic->partition_count)
                claim(s, generations, topic->first + partition, member, claims->generation);
        }
    }
}

static int find_claims(struct sticky *s, krc_error *error)
{
    struct krc_plan *plan = s->plan;
    int32_t *generations;
    KRC_TRY(krc_plan_take(plan, &generations, plan->partition_count, sizeof *generations, error));
    for (int32_t p = 0; p < plan->partition_count; p++)
        s->had[p] = KRC_NOBODY;
    for (int32_t m = 0; m < plan->member_count; m++) {
        struct krc_claims claims;
        KRC_TRY(
            plan->assignor->claims(&plan->members[m]->subscription, &claims, plan->arena, error));
        take_claims(s, generations, m, &claims);
    }
    return KRC_OK;
}

/* ---- Equal subscriptions --------------------------------------------------------------------- */

static bool subscriptions_are_equal(const struct krc_plan *plan)
{
    for (int32_t t = 0; t < plan->topic_count; t++)
        if (plan->topics[t].subscriber_count != plan->member_count)
            return false;
    return true;
}

struct place {
    int32_t in_topic;  /* the partition's number there */
    int32_t partition; /* in the plan, where topics are in the order of their names */
};

static int by_number(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->in_topic != y->in_topic)
        return x->in_topic < y->in_topic ? -1 : 1;
    return x->partition < y->partition ? -1 : 1;
}

/* The partitions that somebody had, the low ones of all topics first: so what a member must give
 * up is spread over the topics. */
static int list_places(const struct sticky *s, struct place **list, int32_t *count,
                       krc_error *error)
{
    const struct krc_plan *plan = s->plan;
    KRC_TRY(krc_plan_take(plan, list, plan->partition_count, sizeof **list, error));
    *count = 0;
    for (int32_t t = 0; t < plan->topic_count; t++)
        for (int32_t i = 0; i < plan->topics[t].partition_count; i++)
            if (s->had[plan->topics[t].first + i] >= 0)
                (*list)[(*count)++] = (struct place){i, plan->topics[t].first + i};
    qsort(*list, (size_t)*count, sizeof **list, by_number);
    return KRC_OK;
}

/* Members keep what they had up to the `least` that each is due; the first of those who had more
 * keep one more, as many as there are partitions left over. */
static int keep_quota(struct sticky *s, int32_t least, int32_t left_over, krc_error *error)
{
    struct krc_plan *plan = s->plan;
    struct place *places;
    int32_t count, *quota;
    KRC_TRY(list_places(s, &places, &count, error));
    KRC_TRY(krc_plan_take(plan, &quota, plan->member_count, sizeof *quota, error));
    for (int32_t i = 0; i < count; i++)
        quota[s->had[places[i].partition]]++;
    for (int32_t m = 0; m < plan->member_count; m++) {
        bool one_more = quota[m] > least && left_over > 0;
        quota[m] = least + one_more;
        left_over -= one_more;
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t partition = places[i].partition, member = s->had[partition];
        if (s->load[member] < quota[member])
            give(s, partition, member);
    }
    return KRC_OK;
}

/* Who is to be given partitions: those `below` the least each is due, in turn; then those who have
 * the least, one more each. */
struct queues {
    int32_t *below, below_count, turn;
    int32_t *at_least, at_least_count, served;
};

static int set_queues(const struct sticky *s, struct queues *q, int32_t least, krc_error *error)
{
    int32_t members = s->plan->member_count;
    KRC_TRY(krc_plan_take(s->plan, &q->below, members, sizeof *q->below, error));
    KRC_TRY(krc_plan_take(s->plan, &q->at_least, members, sizeof *q->at_least, error));
    for (int32_t m = 0; m < members; m++)
        if (s->load[m] < least)
            q->below[q->below_count++] = m;
        else if (s->load[m] == least)
            q->at_least[q->at_least_count++] = m;
    return KRC_OK;
}

static int32_t next_below(const struct sticky *s, struct queues *q, int32_t least)
{
    if (q->turn == q->below_count)
        q->turn = 0;
    int32_t member = q->below[q->turn++];
    if (s->load[member] + 1 == least) {
        q->turn--;
        q->below_count--;
        memmove(q->below + q->turn, q->below + q->turn + 1,
                (size_t)(q->below_count - q->turn) * sizeof *q->below);
        q->at_least[q->at_least_count++] = member;
    }
    return member;
}

static int assign_equal(struct sticky *s, krc_error *error)
{
    struct krc_plan *plan = s->plan;
    int32_t least = plan->partition_count / plan->member_count;
    struct queues q = {0};
    KRC_TRY(keep_quota(s, least, plan->partition_count % plan->member_count, error));
    KRC_TRY(set_queues(s, &q, least, error));
    for (int32_t p = 0; p < plan->partition_count; p++)
        if (plan->owner[p] == KRC_NOBODY)
            give(s, p, q.below_count > 0 ? next_below(s, &q, least) : q.at_least[q.served++]);
    return KRC_OK;
}

/* ---- Different subscriptions ----------------------------------------------------------------- */

static int by_subscribers(const void *a, const void *b)
{
    const struct krc_plan_topic *const *x = a, *const *y = b;
    if ((*x)->subscriber_count != (*y)->subscriber_count)
        return (*x)->subscriber_count < (*y)->subscriber_count ? -1 : 1;
    return *x < *y ? -1 : 1; /* by name */
}

static bool subscribes(const struct krc_plan_topic *topic, int32_t member)
{
    int32_t low = 0, high = topic->subscriber_count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (topic->subscribers[middle] < member)
            low = middle + 1;
        else
            high = middle;
    }
    return low < topic->subscriber_count && topic->subscribers[low] == member;
}

static void keep_subscribed(struct sticky *s)
{
    for (int32_t t = 0; t < s->plan->topic_count; t++) {
        const struct krc_plan_topic *topic = &s->plan->topics[t];
        for (int32_t p = topic->first; p < topic->first + topic->partition_count; p++)
            if (s->had[p] >= 0 && subscribes(topic, s->had[p]))
                give(s, p, s->had[p]);
    }
}

static int32_t least_loaded(const struct sticky *s, const struct krc_plan_topic *topic)
{
    int32_t least = topic->subscribers[0];
    for (int32_t i = 1; i < topic->subscriber_count; i++)
        if (s->load[topic->subscribers[i]] < s->load[least])
            least = topic->subscribers[i];
    return least;
}

static void give_rest(struct sticky *s, const struct krc_plan_topic *topic)
{
    for (int32_t p = topic->first; p < topic->first + topic->partition_count; p++)
        if (s->plan->owner[p] == KRC_NOBODY)
            give(s, p, least_loaded(s, topic));
}

/* Of the owner's partitions of the topic, rather one that `member` had: it goes home. */
static int32_t one_to_move(const struct sticky *s, const struct krc_plan_topic *topic,
                           int32_t partition, int32_t member)
{
    for (int32_t p = topic->first; p < topic->first + topic->partition_count; p++)
        if (s->had[p] == member && s->plan->owner[p] == s->plan->owner[partition])
            return p;
    return partition;
}

/* Moves partitions to members that have fewer by two or more: each move makes it more even, so
 * that there is an end.  Returns whether there was one. */
static bool even_out(struct sticky *s, const struct krc_plan_topic *topic, bool only_new)
{
    bool moved = false;
    for (int32_t p = topic->first; p < topic->first + topic->partition_count; p++) {
        int32_t owner = s->plan->owner[p];
        if (only_new && s->had[p] == owner)
            continue;
        int32_t other = least_loaded(s, topic);
        if (s->load[owner] > s->load[other] + 1) {
            give(s, one_to_move(s, topic, p, other), other);
            moved = true;
        }
    }
    return moved;
}

static void even_out_all(struct sticky *s, struct krc_plan_topic *const *topics, bool only_new)
{
    bool moved;
    do {
        moved = false;
        for (int32_t t = 0; t < s->plan->topic_count; t++)
            moved |= even_out(s, topics[t], only_new);
    } while (moved);
}

/* Topics with few subscribers have little choice, and choose first.  What was not anybody's is
 * moved about before anybody loses what it had. */
static int assign_different(struct sticky *s, krc_error *error)
{
    struct krc_plan *plan = s->plan;
    struct krc_plan_topic **topics;
    KRC_TRY(krc_plan_take(plan, &topics, plan->topic_count, sizeof *topics, error));
    for (int32_t t = 0; t < plan->topic_count; t++)
        topics[t] = &plan->topics[t];
    qsort(topics, (size_t)plan->topic_count, sizeof *topics, by_subscribers);
    keep_subscribed(s);
    for (int32_t t = 0; t < plan->topic_count; t++)
        give_rest(s, topics[t]);
    even_out_all(s, topics, true);
    even_out_all(s, topics, false);
    return KRC_OK;
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* A partition that another member holds is nobody's in this round: that one sees that it is to give
 * it up, and the group is rebalanced again. */
static void withhold(struct sticky *s)
{
    for (int32_t p = 0; p < s->plan->partition_count; p++)
        if (s->had[p] != KRC_NOBODY && s->had[p] != s->plan->owner[p])
            s->plan->owner[p] = KRC_NOBODY;
}

int krc_assign_sticky(struct krc_plan *plan, krc_error *error)
{
    struct sticky s = {.plan = plan};
    KRC_TRY(krc_plan_take(plan, &s.had, plan->partition_count, sizeof *s.had, error));
    KRC_TRY(krc_plan_take(plan, &s.load, plan->member_count, sizeof *s.load, error));
    KRC_TRY(find_claims(&s, error));
    if (subscriptions_are_equal(plan))
        KRC_TRY(assign_equal(&s, error));
    else
        KRC_TRY(assign_different(&s, error));
    if (plan->assignor->cooperative)
        withhold(&s);
    return KRC_OK;
}
