/*
 * A consumer as a member of a group: partitions come and go as the group says.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/member.h"
#include "consumer/handle.h"
#include "consumer/netsource.h"

/* ---- To join -------------------------------------------------------------------------------- */

static int check_join(const krc *handle, krc_error *error)
{
    if (handle->net == NULL)
        return krc_fail(error, KRC_E_INVALID, "only a cluster has groups that can be joined");
    if (handle->config->group_id[0] == '\0')
        return krc_fail(error, KRC_E_STATE, "group.id is not set: which group is to be joined?");
    if (handle->store != NULL)
        return krc_fail(error, KRC_E_STATE, "group %s cannot be joined: its committed offsets "
                        "decide then, and the consumer has an offset store", handle->config->group_id);
    if (handle->net->cluster.member != NULL || handle->part_count > 0 ||
        handle->subscriptions != NULL)
        return krc_fail(error, KRC_E_STATE, "group %s cannot be joined: partitions are assigned, "
                        "or subscribed to, already", handle->config->group_id);
    return KRC_OK;
}

int krc_join(krc *handle, const char *const *topics, size_t count, krc_error *error)
{
    KRC_TRY(check_join(handle, error));
    KRC_TRY(krc_net_join(handle->net, topics, count, error));
    handle->seen_generation = 0;
    handle->told_ended = false;
    return KRC_OK;
}

/* ---- What is held --------------------------------------------------------------------------- */

static void tell(krc *handle, const struct krc_held *held, enum krc_event_type type,
                 const char *text)
{
    struct krc_event event = {
        .type = type, .topic = held->topic->name, .partition = held->partition};
    snprintf(event.message, sizeof event.message, "%s", text);
    krc_push_event(handle, &event);
    handle->has_group_news |= type != KRC_EVENT_ASSIGNED;
}

static int begin(krc *handle, struct krc_held *held, krc_error *error)
{
    struct krc_part *part;
    KRC_TRY(krc_add_part(handle, held->topic, NULL, held->partition, KRC_STORED, KRC_NO_END, &part,
                         error));
    krc_member_begun(held);
    tell(handle, held, KRC_EVENT_ASSIGNED, "assigned by the group");
    handle->seen_generation = 0;
    return KRC_OK;
}

static struct krc_part *part_of(const krc *handle, const struct krc_held *held)
{
    return krc_find_part(handle, held->topic->name, held->partition);
}

static void let_go(krc *handle, struct krc_held *held)
{
    struct krc_part *part = part_of(handle, held);
    if (part != NULL)
        krc_part_remove(part);
    krc_member_let_go(handle->net->cluster.member, held);
}

static void drop(krc *handle, struct krc_held *held)
{
    tell(handle, held, KRC_EVENT_FENCED,
         "the group has given it to another member: what was not committed is delivered there");
    let_go(handle, held);
}

static bool is_out(const krc *handle, const struct krc_part *part)
{
    for (const struct krc_batch *batch = handle->out; batch != NULL; batch = batch->next)
        if (batch->part == part)
            return true;
    return false;
}

static bool is_committed(const struct krc_part *part)
{
    const struct krc_offsets *o = &part->tracker.offsets;
    return o->position < 0 || o->acknowledged == o->committed;
}

/* The application is told, and has its turn; when it comes again, and has no batch of it any more,
 * what it has acknowledged is committed.  What then is not is delivered again, elsewhere. */
static void give_up(krc *handle, struct krc_held *held)
{
    struct krc_part *part = part_of(handle, held);
    if (part != NULL && !held->seen) {
        held->seen = true;
        krc_part_pause(part, true);
        tell(handle, held, KRC_EVENT_REVOKED,
             "the group gives it to another member: what is acknowledged by the next krc_poll is "
             "committed before");
    } else if (part != NULL && (is_out(handle, part) || part->yields == KRC_PART_COMMITS)) {
        return;
    } else if (part != NULL && part->yields == KRC_PART_STAYS && !is_committed(part)) {
        part->yields = KRC_PART_WILL_COMMIT;
    } else if (part == NULL || part->yields != KRC_PART_WILL_COMMIT) {
        let_go(handle, held);
    }
}

/* Those that are ready to be given up are committed together. */
static void commit_before(krc *handle)
{
    bool any = false;
    krc_error error;
    for (const struct krc_part *part = handle->parts; part != NULL; part = part->next)
        any |= part->yields == KRC_PART_WILL_COMMIT;
    if (!any || handle->group_work != NULL)
        return;
    int rc = krc_group_work_begin(handle, KRC_WORK_YIELDING, NULL, NULL, &error);
    for (struct krc_part *part = handle->parts; part != NULL; part = part->next)
        if (part->yields == KRC_PART_WILL_COMMIT)
            part->yields = rc < 0 ? KRC_PART_IS_TRIED : KRC_PART_COMMITS;
    if (rc < 0)
        krc_note_topic(handle, "", error.message);
}

static int look_at(krc *handle, struct krc_held *held, krc_error *error)
{
    switch (held->phase) {
    case KRC_HELD_NEW:
        return begin(handle, held, error);
    case KRC_HELD_YIELD:
        give_up(handle, held);
        break;
    case KRC_HELD_LOST:
        drop(handle, held);
        break;
    case KRC_HELD_OURS:
        break;
    }
    return KRC_OK;
}

/* To let one go moves the others, and may change what becomes of them. */
static int look_at_all(krc *handle, struct krc_membership *member, krc_error *error)
{
    for (size_t i = member->held_count; i-- > 0;) {
        size_t before = member->held_count;
        KRC_TRY(look_at(handle, &member->held[i], error));
        if (member->held_count != before)
            i = member->held_count;
    }
    return KRC_OK;
}

/* A batch that is held for long is work that goes on; without one, the application waits for us. */
static void note_poll(krc *handle, struct krc_membership *member)
{
    if (!handle->is_embedded || handle->out == NULL)
        krc_member_polled(member);
}

int krc_group_turn(krc *handle, krc_error *error)
{
    struct krc_membership *member = handle->net->cluster.member;
    krc_error why = {0};
    int rc = KRC_OK;
    if (krc_group_work_over(handle, &rc, &why) && rc < 0)
        krc_note_topic(handle, "", why.message);
    if (handle->to_inform && handle->group_work == NULL)
        krc_inform_group(handle);
    if (member == NULL)
        return KRC_OK;
    note_poll(handle, member);
    KRC_TRY(look_at_all(handle, member, error));
    commit_before(handle);
    if (member->state != KRC_MEMBER_REFUSED || handle->told_refused)
        return KRC_OK;
    handle->told_refused = handle->is_embedded;
    return krc_member_explain(member, error);
}

/* ---- To leave ------------------------------------------------------------------------------- */

static int say_goodbye(krc *handle, int64_t deadline_ms, krc_error *error)
{
    struct krc_membership *member = handle->net->cluster.member;
    krc_member_leave(member);
    while (member->held_count > 0)
        let_go(handle, &member->held[member->held_count - 1]); /* those before it stay in place */
    return krc_net_wait_left(handle->net, deadline_ms, error);
}

void krc_part_from_group(krc *handle)
{
    enum { PATIENCE_MS = 1000 };
    if (handle->net == NULL || handle->net->cluster.member == NULL)
        return;
    int64_t deadline_ms = handle->is_embedded ? 0 : krc_loop_now_ms() + PATIENCE_MS;
    (void)say_goodbye(handle, deadline_ms, NULL); /* else the session's end says it */
}

int krc_leave(krc *handle, krc_error *error)
{
    struct krc_membership *member = handle->net == NULL ? NULL : handle->net->cluster.member;
    if (member == NULL || handle->is_embedded)
        return krc_fail(error, KRC_E_STATE, "%s", member == NULL
                        ? "no group was joined"
                        : "an embedded consumer does not wait for answers: krc_close leaves");
    int64_t deadline_ms = krc_loop_now_ms() + handle->config->api_timeout_ms;
    int committed = krc_membership_holds(member->state) ? krc_commit(handle, error) : KRC_OK;
    int left = say_goodbye(handle, deadline_ms, committed < 0 ? NULL : error);
    return krc_said(committed < 0 ? committed : left, error);
}
