/*
 * Where the store decides, the cluster's group may be told after, for others to see.
 */
#include <stdio.h>

#include "cluster/group_commit.h"
#include "replay/run.h"

void krc_replay_inform(struct krc_replay_part *part, const struct krc_point *point)
{
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = part->place.topic,
                              .partition = part->place.partition};
    krc_error error;
    struct krc_commit_entry entry = {.offset = point->offset, .epoch = point->epoch};
    if (part->net == NULL || part->joined.is_member || !part->run->config->group_commit ||
        part->could_not_inform || part->run->could_not_inform)
        return;
    part->is_informed = true;
    int rc = krc_replay_commit_to_group(part, &entry, &error);
    if (rc >= 0)
        return;
    part->could_not_inform = true; /* to try at each commit would take long... */
    part->run->could_not_inform |= rc == KRC_E_TIMEOUT || rc == KRC_E_IO; /* ...and of others */
    snprintf(event.message, sizeof event.message, "what is committed here is not told to group %s "
             "any more in this run: %.300s", part->run->config->group_id, error.message);
    krc_replay_tell(part->run, &event);
}
