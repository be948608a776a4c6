/*
 * A replay as a member of a group: partitions come and go as the group says.
 */
#include "replay/member.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/member.h"
#include "replay/job.h"

/* ---- Taking over ---------------------------------------------------------------------------- */

static int refuse_topic(const struct krc_replay_part *part, krc_error *error)
{
    return krc_fail(error, KRC_E_RECREATED, "%s-%d was deleted and made again after offsets up to "
                    "%lld were written to %s, which stay: go on with the new topic in a new target",
                    part->place.topic, (int)part->place.partition,
                    (long long)part->ledger.base.to, part->run->target.path);
}

static int refuse_back(const struct krc_replay_part *part, int64_t stored, krc_error *error)
{
    const struct krc_start *group = &part->joined.start;
    const char *id = part->run->config->group_id, *to = part->run->target.path;
    if (!group->found)
        return krc_fail(error, KRC_E_MISMATCH,
                        "group %s has no committed offset of %s-%d any more (it was deleted, or "
                        "has expired), and %s has records up to %lld: reading from the beginning "
                        "would write them again; krc offsets reset --to-offset sets one", id,
                        part->place.topic, (int)part->place.partition, to, (long long)stored);
    return krc_fail(error, KRC_E_MISMATCH,
                    "group %s was set back to offset %lld of %s-%d, and %s has records up to %lld: "
                    "going on there would write records again; set it forward, or use another "
                    "target and group", id, (long long)group->offset, part->place.topic,
                    (int)part->place.partition, to, (long long)stored);
}

/* It was restored from an older copy, or the disk has lost what it said it had. */
static int refuse_hole(const struct krc_replay_part *part, int64_t stored, int64_t reach,
                       krc_error *error)
{
    return krc_fail(error, KRC_E_MISMATCH,
                    "group %s has offsets of %s-%d up to %lld as written to %s, which has them up "
                    "to %lld only: what lies between is in no other member's output; replay it "
                    "elsewhere, without the group, and go on in a new target",
                    part->run->config->group_id, part->place.topic, (int)part->place.partition,
                    (long long)reach, part->run->target.path,
                    (long long)(stored > 0 ? stored : 0));
}

/* The group was set back, or deleted, and another member has read on from there. */
static int refuse_double(const struct krc_replay_part *part, const struct krc_stretch *owner,
                         int64_t stored, krc_error *error)
{
    return krc_fail(error, KRC_E_MISMATCH,
                    "%s-%d: %s has records up to %lld, and so has another member, from %lld on "
                    "(sink %s): group %s was set back, or deleted, in between; go on in a new target",
                    part->place.topic, (int)part->place.partition, part->run->target.path,
                    (long long)stored, (long long)owner->from, owner->sink,
                    part->run->config->group_id);
}

/* What the output has, and what the group says it has. */
static int compare(const struct krc_replay_part *part, const struct krc_start *stored,
                   krc_error *error)
{
    const struct krc_joined *joined = &part->joined;
    const char *us = part->run->sink_id;
    int64_t offset = joined->start.offset, to = stored->found ? stored->offset : -1;
    int64_t reach = krc_lineage_reach(&joined->lineage, us, offset);
    const struct krc_stretch *owner = krc_lineage_owner(&joined->lineage, to - 1, offset);
    if (stored->found && krc_uuid_differs(&stored->topic_id, &part->place.topic_id))
        return refuse_topic(part, error);
    if (stored->found && (!joined->start.found || offset < to))
        return refuse_back(part, to, error);
    if (reach > to)
        return refuse_hole(part, to, reach, error);
    if (to > part->ledger.base.from && owner != NULL && strcmp(owner->sink, us) != 0)
        return refuse_double(part, owner, to, error);
    return KRC_OK;
}

static void tell_moved(const struct krc_replay_part *part, int64_t from)
{
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = part->place.topic,
                              .partition = part->place.partition,
                              .from = from,
                              .to = part->joined.start.offset};
    snprintf(event.message, sizeof event.message, "offsets %lld to %lld are not written here: group "
             "%.200s was moved over them by somebody who does not say who has them",
             (long long)event.from, (long long)event.to, part->run->config->group_id);
    krc_replay_tell(part->run, &event);
}

int krc_replay_take_over(struct krc_replay_part *part, struct krc_start *start, krc_error *error)
{
    struct krc_joined *joined = &part->joined;
    const struct krc_stretch *last = krc_lineage_last(&joined->lineage);
    bool is_ours = last == NULL || strcmp(last->sink, part->run->sink_id) == 0;
    KRC_TRY(compare(part, start, error));
    if (start->found && joined->start.offset == start->offset && is_ours) {
        joined->stretch = last != NULL ? last->from : part->ledger.base.from;
        return 1;
    }
    if (start->found && last == NULL)
        tell_moved(part, start->offset);
    joined->stretch = -1;
    *start = joined->start;
    return 0;
}

/* ---- What is held --------------------------------------------------------------------------- */

static struct krc_replay_part *part_of(const struct krc_replay_job *job,
                                       const struct krc_held *held)
{
    for (size_t i = 0; i < job->count; i++)
        if (job->parts[i]->place.topic == held->topic->name &&
            job->parts[i]->place.partition == held->partition)
            return job->parts[i];
    return NULL;
}

static void begin(struct krc_replay_job *job, struct krc_held *held,
                  const struct krc_net_committed *committed)
{
    struct krc_joined joined = {.is_member = true,
                                .start = {.found = committed->offset >= 0,
                                          .offset = committed->offset,
                                          .epoch = committed->epoch,
                                          .topic_id = committed->topic_id},
                                .stretch = -1};
    krc_lineage_read(&joined.lineage, committed->metadata);
    if (joined.lineage.count == 0 && committed->offset >= 0)
        joined.lineage.is_cut = true; /* somebody was here before */
    krc_member_begun(held);
    krc_replay_begin_part(job, held->topic, held->partition, KRC_STORED, KRC_NO_END, &joined);
}

static size_t gather_new(const struct krc_membership *member, struct krc_net_committed *list)
{
    size_t count = 0;
    for (size_t i = 0; i < member->held_count; i++)
        if (member->held[i].phase == KRC_HELD_NEW)
            list[count++] = (struct krc_net_committed){.topic = member->held[i].topic,
                                                       .partition = member->held[i].partition};
    return count;
}

/* While the group is asked for offsets, it may take back what it gave; and give it again, when
 * others may have committed since. */
static int begin_new(struct krc_replay_job *job, krc_error *error)
{
    struct krc_membership *member = job->net->cluster.member;
    struct krc_net_committed *list = calloc(member->held_count + 1, sizeof *list);
    if (list == NULL)
        return krc_fail_nomem(error, member->held_count * sizeof *list);
    size_t count = gather_new(member, list);
    uint64_t asked = member->given;
    int rc = krc_net_fetch_committed(job->net, list, count, error);
    for (size_t i = 0; i < count; i++) {
        struct krc_held *held = krc_member_find(member, list[i].topic, list[i].partition);
        if (rc >= 0 && held != NULL && held->phase == KRC_HELD_NEW && held->number <= asked)
            begin(job, held, &list[i]);
        free(list[i].metadata);
    }
    free(list);
    return rc;
}

/* Finishes with one, committed or not, and lets it go.  What is done on the way may change what is
 * held. */
static void let_go(struct krc_replay_job *job, const struct krc_held *held)
{
    struct krc_membership *member = job->net->cluster.member;
    struct krc_topic *topic = held->topic;
    int32_t partition = held->partition;
    struct krc_replay_part *part = part_of(job, held);
    krc_error error;
    if (part != NULL)
        krc_replay_end_part(job, part,
                            held->phase == KRC_HELD_LOST
                                ? krc_fail(&error, KRC_E_FENCED, "it is not ours any more: what is "
                                           "not committed is written by who has it")
                                : KRC_OK,
                            &error);
    struct krc_held *still = krc_member_find(member, topic, partition);
    if (still != NULL && still->phase != KRC_HELD_NEW)
        krc_member_let_go(member, still);
}

static struct krc_held *first_to_go(const struct krc_membership *member)
{
    for (size_t i = 0; i < member->held_count; i++)
        if (member->held[i].phase == KRC_HELD_YIELD || member->held[i].phase == KRC_HELD_LOST)
            return &member->held[i];
    return NULL;
}

int krc_replay_member_turn(struct krc_replay_job *job, krc_error *error)
{
    struct krc_membership *member = job->net->cluster.member;
    const struct krc_held *held;
    krc_member_polled(member);
    if (member->state == KRC_MEMBER_REFUSED)
        return krc_member_explain(member, error);
    if (member->news == job->seen_news)
        return KRC_OK;
    job->seen_news = member->news;
    while ((held = first_to_go(member)) != NULL)
        let_go(job, held);
    return begin_new(job, error);
}

bool krc_replay_member_is_done(const struct krc_replay_job *job)
{
    const struct krc_membership *member = job->net->cluster.member;
    return !job->run->options->follow && job->count == 0 && member->held_count > 0 &&
           member->held_count == member->assigned_count && member->state == KRC_MEMBER_STABLE &&
           member->news == job->seen_news;
}

void krc_replay_member_leave(struct krc_replay_job *job)
{
    enum { PATIENCE_MS = 1000 };
    krc_error error; /* the session's end says it, then */
    krc_member_leave(job->net->cluster.member);
    (void)!krc_net_wait_left(job->net, krc_loop_now_ms() + PATIENCE_MS, &error);
}
