/*
 * Where the store decides, the cluster's group may be told after, for others to see.
 */
#include <stdio.h>

#include "cluster/group_commit.h"
#include "replay/run.h"

static int commit_to_group(const struct krc_replay_part *part, const struct krc_point *point,
                           krc_error *error)
{
    struct krc_cluster *cluster = &part->net->cluster;
    struct krc_commit_entry entry = {
        .topic = krc_topic_having(cluster, part->place.topic, part->place.partition),
        .partition = part->place.partition,
        .offset = point->offset,
        .epoch = point->epoch};
    struct krc_group_commit commit = {
        .coordinator = krc_coordinator_of(cluster, KRC_GROUP, part->run->config->group_id),
        .entries = &entry,
        .count = 1};
    if (commit.coordinator == NULL)
        return krc_fail_nomem(error, 1);
    return entry.topic == NULL ? KRC_OK : krc_net_commit(part->net, &commit, error);
}

void krc_replay_inform(struct krc_replay_part *part, const struct krc_point *point)
{
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = part->place.topic,
                              .partition = part->place.partition};
    krc_error error;
    if (part->net == NULL || !part->run->config->group_commit || part->could_not_inform)
        return;
    if (commit_to_group(part, point, &error) >= 0)
        return;
    part->could_not_inform = true; /* to try at each commit would take long */
    snprintf(event.message, sizeof event.message, "what is committed here is not told to group %s "
             "any more in this run: %.300s", part->run->config->group_id, error.message);
    krc_replay_tell(part->run, &event);
}
