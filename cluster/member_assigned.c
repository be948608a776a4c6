/*
 * What a member was assigned, and which topics of ours that names.
 */
#include <stdlib.h>

#include "cluster/cluster.h"
#include "cluster/member_parts.h"

void krc_member_forget_assignment(struct krc_membership *member)
{
    for (size_t i = 0; i < member->assigned_count; i++)
        free(member->assigned[i].name);
    free(member->assigned);
    member->assigned = NULL;
    member->assigned_count = 0;
    member->unresolved = 0;
}

bool krc_member_assign_anew(struct krc_membership *member, size_t count)
{
    krc_member_forget_assignment(member);
    member->assigned = calloc(count + 1, sizeof *member->assigned);
    return member->assigned != NULL;
}

static void resolve(struct krc_membership *member, struct krc_assigned *a)
{
    struct krc_cluster *cluster = member->cluster;
    struct krc_topic *topic = a->name != NULL ? krc_topic_find(cluster, krc_bytes_of(a->name))
                                              : krc_topic_find_id(cluster, &a->id);
    if (topic == NULL || krc_topic_partition(topic, a->partition) == NULL)
        return;
    a->topic = topic;
    member->unresolved--;
}

bool krc_member_assign(struct krc_membership *member, struct krc_bytes name,
                       const struct krc_uuid *id, int32_t partition)
{
    struct krc_assigned *a = &member->assigned[member->assigned_count];
    *a = (struct krc_assigned){.id = *id, .partition = partition};
    if (name.data != NULL && (a->name = strndup((const char *)name.data, name.len)) == NULL)
        return false;
    member->assigned_count++;
    member->unresolved++;
    resolve(member, a);
    return true;
}

/* A topic that was made just now is not in our metadata yet. */
static void resolve_all(struct krc_membership *member)
{
    struct krc_cluster *cluster = member->cluster;
    member->resolved_at = cluster->topics.generation;
    for (size_t i = 0; i < member->assigned_count; i++)
        if (member->assigned[i].topic == NULL)
            resolve(member, &member->assigned[i]);
    if (member->unresolved > 0)
        krc_metadata_refresh(cluster);
}

void krc_member_mark_assigned(struct krc_membership *member)
{
    for (size_t i = 0; i < member->held_count; i++)
        member->held[i].is_assigned = false;
    for (size_t i = 0; i < member->assigned_count; i++) {
        const struct krc_assigned *a = &member->assigned[i];
        struct krc_held *held =
            a->topic == NULL ? NULL : krc_member_find(member, a->topic, a->partition);
        if (held != NULL)
            held->is_assigned = true;
    }
}

enum krc_member_event krc_member_judge_assignment(struct krc_membership *member)
{
    resolve_all(member);
    krc_member_mark_assigned(member);
    for (size_t i = 0; i < member->held_count; i++)
        if (member->held[i].phase != KRC_HELD_NEW && !member->held[i].is_assigned)
            return KRC_MEMBER_ON_REVOKED;
    return KRC_MEMBER_ON_ASSIGNED;
}
