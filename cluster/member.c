#include "cluster/member_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "cluster/cluster.h"
#include "cluster/roster.h"

/* ---- What is held --------------------------------------------------------------------------- */

static int compare(const struct krc_topic *a_topic, int32_t a, const struct krc_topic *b_topic,
                   int32_t b)
{
    int order = a_topic == b_topic ? 0 : strcmp(a_topic->name, b_topic->name);
    return order != 0 ? order : (a > b) - (a < b);
}

/* Where a partition is, or would be. */
static size_t place_of(const struct krc_membership *member, const struct krc_topic *topic,
                       int32_t partition)
{
    size_t low = 0, high = member->held_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct krc_held *held = &member->held[middle];
        if (compare(held->topic, held->partition, topic, partition) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct krc_held *krc_member_find(const struct krc_membership *member, const struct krc_topic *topic,
                                int32_t partition)
{
    size_t at = place_of(member, topic, partition);
    struct krc_held *held = at < member->held_count ? &member->held[at] : NULL;
    return held != NULL && held->topic == topic && held->partition == partition ? held : NULL;
}

bool krc_member_holds(const struct krc_membership *member, const struct krc_topic *topic,
                      int32_t partition)
{
    const struct krc_held *held = krc_member_find(member, topic, partition);
    return krc_membership_holds(member->state) && member->member_id != NULL && held != NULL &&
           held->phase != KRC_HELD_LOST;
}

/* Without memory it is not begun; but told to us again, after the next heartbeat. */
static void hold(struct krc_membership *member, struct krc_topic *topic, int32_t partition)
{
    size_t at = place_of(member, topic, partition);
    struct krc_held *held = realloc(member->held, (member->held_count + 1) * sizeof *held);
    if (held == NULL) {
        member->tells_all = true;
        return;
    }
    member->held = held;
    memmove(&held[at + 1], &held[at], (member->held_count++ - at) * sizeof *held);
    held[at] = (struct krc_held){.topic = topic,
                                 .partition = partition,
                                 .phase = KRC_HELD_NEW,
                                 .number = ++member->given};
    member->news++;
}

static void remove_held(struct krc_membership *member, struct krc_held *held)
{
    size_t after = member->held_count - (size_t)(held - member->held) - 1;
    memmove(held, held + 1, after * sizeof *held);
    member->held_count--;
}

static bool any_in(const struct krc_membership *member, enum krc_held_phase phase)
{
    for (size_t i = 0; i < member->held_count; i++)
        if (member->held[i].phase == phase)
            return true;
    return false;
}

/* Those that were not begun yet need no care. */
static void let_all_go(struct krc_membership *member, enum krc_held_phase phase)
{
    for (size_t i = member->held_count; i-- > 0;) {
        struct krc_held *held = &member->held[i];
        if (held->phase == KRC_HELD_NEW) {
            remove_held(member, held);
            continue;
        }
        if (held->phase == phase || held->phase == KRC_HELD_LOST)
            continue;
        held->phase = phase;
        held->seen = false;
    }
    member->news++;
}

/* ---- What the machine says is to be done ---------------------------------------------------- */

static void share(struct krc_membership *member)
{
    uint64_t before = member->news;
    krc_member_mark_assigned(member);
    for (size_t i = member->held_count; i-- > 0;) {
        struct krc_held *held = &member->held[i];
        if (held->is_assigned)
            continue;
        member->news += held->phase != KRC_HELD_YIELD;
        if (held->phase == KRC_HELD_NEW)
            remove_held(member, held);
        else if (held->phase == KRC_HELD_OURS)
            held->phase = KRC_HELD_YIELD;
    }
    for (size_t i = 0; i < member->assigned_count; i++) {
        const struct krc_assigned *a = &member->assigned[i];
        if (a->topic != NULL && krc_member_find(member, a->topic, a->partition) == NULL)
            hold(member, a->topic, a->partition);
    }
    if (member->state == KRC_MEMBER_STABLE && member->news != before)
        member->tells_held = true;
}

static void beat(struct krc_membership *member)
{
    if (member->settings.is_classic)
        krc_member_beat_classic(member);
    else
        krc_member_beat_consumer(member);
}

/* Whether it is too soon for another request: make_request makes it later. */
static bool must_wait(struct krc_membership *member)
{
    if (!krc_backoff_waits(member->cluster, &member->backoff))
        return false;
    krc_call_drop(&member->call);
    member->event = KRC_MEMBER_EVENT_COUNT;
    member->beat_ms = member->backoff.not_before_ms;
    return true;
}

static void join(struct krc_membership *member)
{
    member->tells_all = true;
    if (must_wait(member))
        return;
    if (member->settings.is_classic)
        krc_member_join_classic(member);
    else
        krc_member_beat_consumer(member);
}

static void join_anew(struct krc_membership *member)
{
    member->epoch = member->settings.is_classic ? -1 : 0;
    krc_member_forget_assignment(member);
    join(member);
}

static void drop_all(struct krc_membership *member)
{
    krc_call_drop(&member->call);
    let_all_go(member, KRC_HELD_LOST);
    krc_member_forget_assignment(member);
    member->losses++;
}

/* A static member of a classic group does not say it: its partitions wait for it, until its session
 * ends. */
static void say_goodbye(struct krc_membership *member)
{
    const struct krc_member_settings *settings = &member->settings;
    bool is_static = settings->instance_id[0] != '\0';
    if (member->member_id == NULL || (settings->is_classic && is_static))
        return;
    krc_call_drop(&member->farewell.call);
    free(member->farewell_id);
    member->farewell_id = member->member_id;
    member->member_id = NULL;
    member->farewell = (struct krc_farewell){.coordinator = member->coordinator,
                                             .is_classic = settings->is_classic,
                                             .member_id = member->farewell_id,
                                             .instance_id = is_static ? settings->instance_id
                                                                      : NULL};
    krc_farewell_put(&member->farewell);
    member->farewell.call.again = KRC_NEVER; /* else the session's end says it */
    if (!settings->is_classic) /* behind heartbeats, which would have us join again */
        member->farewell.call.purpose = KRC_FOR_GROUP;
    krc_call_begin(member->cluster, &member->farewell.call);
}

static void leave(struct krc_membership *member)
{
    drop_all(member);
    say_goodbye(member);
}

static void perform(struct krc_membership *member, enum krc_member_doing doing)
{
    switch (doing) {
    case KRC_MEMBER_DO_nothing: /* answers of an earlier state are not waited for */
    case KRC_MEMBER_DO_go_on:
        return;
    case KRC_MEMBER_DO_join:
        join(member);
        return;
    case KRC_MEMBER_DO_join_anew:
        join_anew(member);
        return;
    case KRC_MEMBER_DO_sync:
        krc_member_sync_classic(member);
        return;
    case KRC_MEMBER_DO_share:
        share(member);
        return;
    case KRC_MEMBER_DO_tell:
        member->tells_held = true;
        return;
    case KRC_MEMBER_DO_give_up_all:
        let_all_go(member, KRC_HELD_YIELD);
        return;
    case KRC_MEMBER_DO_drop_all:
        drop_all(member);
        return;
    case KRC_MEMBER_DO_leave:
        leave(member);
        return;
    }
}

/* To join again may come to the same again; only a heartbeat that is answered well shows that it
 * did not. */
static bool joins_again(enum krc_member_event event, enum krc_member_doing doing)
{
    return event != KRC_MEMBER_ON_JOIN && event != KRC_MEMBER_ON_NAMED &&
           (doing == KRC_MEMBER_DO_join || doing == KRC_MEMBER_DO_join_anew);
}

static void step(struct krc_membership *member, enum krc_member_event event)
{
    enum krc_member_state before = member->state;
    enum krc_member_doing doing = krc_membership_step(&member->state, event);
    if (joins_again(event, doing))
        krc_backoff_repeat(member->cluster, &member->backoff);
    perform(member, doing);
    member->news += member->state != before;
}

/* The event that follows of itself, once nothing is left to be let go; _EVENT_COUNT: none. */
static enum krc_member_event what_follows(const struct krc_membership *member)
{
    switch (member->state) {
    case KRC_MEMBER_YIELDING:
    case KRC_MEMBER_RETURNING:
        if (any_in(member, KRC_HELD_YIELD))
            break;
        return member->settings.is_classic ? KRC_MEMBER_ON_GIVEN_UP_TO_JOIN
                                          : KRC_MEMBER_ON_GIVEN_UP;
    case KRC_MEMBER_DROPPING:
        if (any_in(member, KRC_HELD_LOST))
            break;
        return KRC_MEMBER_ON_DROPPED;
    default:
        break;
    }
    return KRC_MEMBER_EVENT_COUNT;
}

static void on(struct krc_membership *member, enum krc_member_event event)
{
    while (event != KRC_MEMBER_EVENT_COUNT) {
        step(member, event);
        event = what_follows(member);
    }
}

void krc_member_deny(struct krc_membership *member, int16_t code, struct krc_bytes message)
{
    member->error_code = code;
    snprintf(member->why, sizeof member->why, "%.*s", (int)(message.len < 250 ? message.len : 250),
             message.data == NULL ? "" : (const char *)message.data);
}

int krc_member_explain(const struct krc_membership *member, krc_error *error)
{
    if (member->call.rc == KRC_E_UNSUPPORTED && !member->settings.is_classic)
        return krc_fail(error, KRC_E_UNSUPPORTED,
                        "group %s cannot be joined with group.protocol=consumer: the broker has no "
                        "ConsumerGroupHeartbeat (Kafka 4.0 and later do): use "
                        "group.protocol=classic",
                        member->settings.group);
    if (member->call.rc == KRC_E_UNSUPPORTED) {
        int rc = krc_call_explain(&member->call, error);
        krc_error_in(error, "group %s cannot be joined", member->settings.group);
        return rc;
    }
    return krc_fail(error, KRC_E_REFUSED, "group %s cannot be joined: the coordinator answers %s "
                    "(%s)", member->settings.group, krc_kafka_error_name(member->error_code),
                    member->why[0] != '\0' ? member->why
                                            : krc_kafka_error_text(member->error_code));
}

/* ---- Requests ------------------------------------------------------------------------------- */

bool krc_member_name_us(struct krc_membership *member, struct krc_bytes member_id)
{
    char *copy = strndup((const char *)member_id.data, member_id.len);
    if (copy == NULL)
        return false;
    free(member->member_id);
    member->member_id = copy;
    return true;
}

void krc_member_forget_name(struct krc_membership *member)
{
    free(member->member_id);
    member->member_id = NULL;
}

void krc_member_send(struct krc_membership *member, enum krc_api_name api, const void *request,
                    int64_t wait_ms, krc_call_taker *take)
{
    member->event = KRC_MEMBER_EVENT_COUNT;
    krc_call_drop(&member->call);
    member->call = (struct krc_call){.coordinator = member->coordinator,
                                    .node_id = -1,
                                    .purpose = KRC_FOR_GROUP,
                                    .api = api,
                                    .request = request,
                                    .wait_ms = (int32_t)wait_ms,
                                    .again = KRC_NEVER,
                                    .take = take,
                                    .arg = member};
    krc_call_begin(member->cluster, &member->call);
}

/* An answer that changes nothing, of a coordinator that knows us. */
static void note_calm(struct krc_membership *member, enum krc_member_state before)
{
    bool is_in = before == KRC_MEMBER_STABLE || before == KRC_MEMBER_YIELDING ||
                 before == KRC_MEMBER_RETURNING;
    if (is_in && member->state == before && !member->tells_held)
        krc_backoff_clear(&member->backoff);
}

/* An answer came, or none: its event; or the request is to be made again, later. */
static void take_answer(struct krc_membership *member)
{
    struct krc_call *call = &member->call;
    enum krc_member_event event = member->event;
    enum krc_member_state before = member->state;
    int rc = call->rc;
    call->state = KRC_CALL_IDLE;
    member->last_error = call->error_code;
    member->event = KRC_MEMBER_EVENT_COUNT;
    member->beat_ms = member->cluster->now_ms + member->interval_ms;
    if (rc >= 0) {
        on(member, event);
        note_calm(member, before);
        return;
    }
    member->tells_all = true;
    if (rc != KRC_E_IO) {
        member->error_code = call->error_code;
        on(member, KRC_MEMBER_ON_DENIED);
        return;
    }
    krc_backoff_fail(member->cluster, &member->backoff);
    member->beat_ms = member->backoff.not_before_ms;
}

/* The request that this state makes, when it is time for one. */
static void make_request(struct krc_membership *member)
{
    switch (member->state) {
    case KRC_MEMBER_JOINING:
        join(member);
        return;
    case KRC_MEMBER_SYNCING:
        krc_member_sync_classic(member);
        return;
    case KRC_MEMBER_STABLE:
    case KRC_MEMBER_YIELDING:
    case KRC_MEMBER_RETURNING:
        beat(member);
        return;
    default:
        return;
    }
}

/* ---- Time ----------------------------------------------------------------------------------- */

void krc_member_polled(struct krc_membership *member)
{
    member->polled_ms = member->cluster->now_ms;
    if (member->state == KRC_MEMBER_AWAY)
        on(member, KRC_MEMBER_ON_BACK);
}

static bool may_share(const struct krc_membership *member)
{
    return member->state == KRC_MEMBER_STABLE || member->state == KRC_MEMBER_YIELDING;
}

static void tell_topics(struct krc_membership *member, bool has_more)
{
    member->tells_all |= has_more;
    member->tells_held |= has_more; /* at once, not with the next heartbeat */
}

/* Metadata has changed: what was assigned may be known now, a pattern may match more, and a classic
 * group's leader may have to assign anew. */
static void follow_metadata(struct krc_membership *member)
{
    uint64_t generation = member->cluster->topics.generation;
    if (!may_share(member) || member->resolved_at == generation)
        return;
    if (member->unresolved > 0)
        on(member, krc_member_judge_assignment(member));
    member->resolved_at = generation;
    bool has_more = krc_member_find_topics(member);
    if (!member->settings.is_classic)
        tell_topics(member, has_more);
    else if (has_more || krc_member_plan_is_old(member))
        on(member, krc_member_is_cooperative(member) ? KRC_MEMBER_ON_REBALANCE
                                                  : KRC_MEMBER_ON_REBALANCE_EAGER);
}

static int64_t late_ms(const struct krc_membership *member)
{
    return member->polled_ms + member->settings.max_poll_interval_ms;
}

/* It would seem that others take what we have. */
static void tell_late(struct krc_membership *member)
{
    char text[200];
    snprintf(text, sizeof text, "the application was away for longer than max.poll.interval.ms "
             "(%lld): the group is left, and joined again when it comes",
             (long long)member->settings.max_poll_interval_ms);
    if (!member->told_late)
        krc_cluster_note(member->cluster, "", text);
    member->told_late = true;
}

/* KIP-848: what is held now is told at once. */
static void beat_early(struct krc_membership *member)
{
    if (member->call.state != KRC_CALL_IDLE || !member->tells_held || !may_share(member) ||
        member->settings.is_classic || member->cluster->now_ms >= member->beat_ms ||
        member->backoff.not_before_ms == member->beat_ms)
        return;
    krc_backoff_repeat(member->cluster, &member->backoff);
    krc_member_hurry(member);
}

int64_t krc_member_tick(struct krc_membership *member)
{
    int64_t now_ms = member->cluster->now_ms;
    if (krc_membership_holds(member->state) && now_ms >= late_ms(member)) {
        tell_late(member);
        on(member, KRC_MEMBER_ON_LATE);
    }
    if (member->call.state == KRC_CALL_TOLD)
        take_answer(member);
    follow_metadata(member);
    beat_early(member);
    if (member->call.state == KRC_CALL_IDLE && now_ms >= member->beat_ms)
        make_request(member);
    if (!krc_membership_holds(member->state))
        return INT64_MAX;
    return member->call.state == KRC_CALL_IDLE ? krc_sooner(member->beat_ms, late_ms(member))
                                              : late_ms(member);
}

/* ---- What it waits for ---------------------------------------------------------------------- */

bool krc_member_is_stalled(const struct krc_membership *member, char *why, size_t size)
{
    const struct krc_call *call = &member->call;
    bool is_joining = member->state == KRC_MEMBER_JOINING || member->state == KRC_MEMBER_SYNCING;
    bool has_none = member->pattern_count > 0 && member->topic_count == 0;
    *why = '\0';
    if (has_none && krc_membership_holds(member->state))
        snprintf(why, size, "no topic matches the pattern");
    else if (is_joining && member->last_error != 0 && !member->told_waiting)
        snprintf(why, size, "the coordinator answers %s to %s (%s)",
                 krc_kafka_error_name(member->last_error), krc_apis[call->api].name,
                 krc_kafka_error_text(member->last_error));
    else if (is_joining && call->state == KRC_CALL_SENT && member->settings.is_classic)
        snprintf(why, size, "it is rebalancing: %s",
                 call->api == KRC_API_SYNC_GROUP ? "the member that leads it has not assigned yet"
                                                 : "not all of its members have joined again yet");
    else if (member->unresolved > 0)
        snprintf(why, size, "it gives partitions that metadata does not have yet");
    return *why != '\0';
}

/* ---- For the owner -------------------------------------------------------------------------- */

int krc_member_open(struct krc_membership **out, struct krc_cluster *cluster,
                   const struct krc_member_settings *settings, krc_error *error)
{
    struct krc_membership *member = calloc(1, sizeof *member);
    if (member == NULL)
        return krc_fail_nomem(error, sizeof *member);
    member->cluster = cluster;
    member->settings = *settings;
    member->event = KRC_MEMBER_EVENT_COUNT;
    member->interval_ms = settings->heartbeat_interval_ms;
    member->epoch = settings->is_classic ? -1 : 0;
    member->coordinator = krc_coordinator_of(cluster, KRC_GROUP, settings->group);
    if (member->coordinator == NULL) {
        free(member);
        return krc_fail_nomem(error, 1);
    }
    cluster->member = member;
    *out = member;
    return KRC_OK;
}

void krc_member_close(struct krc_membership *member)
{
    if (member == NULL)
        return;
    krc_call_drop(&member->call);
    krc_call_drop(&member->farewell.call);
    krc_member_forget_assignment(member);
    krc_roster_free(member->roster);
    krc_member_unsubscribe(member);
    free(member->member_id);
    free(member->farewell_id);
    free(member->held);
    krc_buffer_free(&member->bytes);
    krc_arena_free(&member->arena);
    member->cluster->member = NULL;
    free(member);
}

void krc_member_join(struct krc_membership *member)
{
    member->polled_ms = member->cluster->now_ms;
    on(member, KRC_MEMBER_ON_JOIN);
}

void krc_member_leave(struct krc_membership *member)
{
    on(member, KRC_MEMBER_ON_LEAVE);
}

bool krc_member_has_left(const struct krc_membership *member)
{
    const struct krc_call *call = &member->farewell.call;
    return call->state == KRC_CALL_IDLE || call->state == KRC_CALL_TOLD;
}

void krc_member_fenced(struct krc_membership *member, int16_t error_code)
{
    if (error_code == KRC_KAFKA_FENCED_INSTANCE_ID) {
        krc_member_deny(member, error_code, (struct krc_bytes){NULL, 0});
        on(member, KRC_MEMBER_ON_DENIED);
    } else {
        krc_member_forget_name(member);
        on(member, KRC_MEMBER_ON_FENCED);
    }
}

void krc_member_hurry(struct krc_membership *member)
{
    int64_t now_ms = member->cluster->now_ms, first_ms = member->backoff.not_before_ms;
    member->beat_ms = first_ms > now_ms ? first_ms : now_ms;
}

void krc_member_begun(struct krc_held *held)
{
    if (held->phase == KRC_HELD_NEW)
        held->phase = KRC_HELD_OURS;
}

void krc_member_let_go(struct krc_membership *member, struct krc_held *held)
{
    remove_held(member, held);
    on(member, what_follows(member));
    if (may_share(member) && member->assigned_count > member->held_count)
        on(member, krc_member_judge_assignment(member)); /* it may have become ours again */
}
