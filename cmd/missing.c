#include "cmd/missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

struct place {
    const char *topic;
    int32_t partition;
};

static bool next(const struct cmd_known *known, size_t *at, struct place *place)
{
    struct krc_partition partition;
    if (known->handle != NULL) {
        bool more = krc_source_partition(known->handle, (*at)++, &partition);
        if (more)
            *place = (struct place){partition.topic, partition.partition};
        return more;
    }
    const struct krc_committed *row = krc_committed_at(known->list, (*at)++);
    if (row != NULL)
        *place = (struct place){row->topic, row->partition};
    return row != NULL;
}

bool cmd_knows_topic(const struct cmd_known *known, const char *topic)
{
    struct place place;
    for (size_t at = 0; next(known, &at, &place);)
        if (strcmp(place.topic, topic) == 0)
            return true;
    return false;
}

bool cmd_knows_selected(const struct cmd_known *known, const struct cmd_selection *selection,
                        size_t i)
{
    struct place place;
    for (size_t at = 0; next(known, &at, &place);)
        if (cmd_selects_by(selection, i, place.topic, place.partition))
            return true;
    return false;
}

static int missing_name(const struct cmd_known *known, const char *topic, krc_error *error)
{
    struct krc_nearest nearest = krc_nearest(topic);
    struct place place;
    for (size_t at = 0; next(known, &at, &place);)
        krc_nearest_consider(&nearest, place.topic, strlen(place.topic));
    if (!krc_nearest_is_near(&nearest))
        return cmd_error(error, KRC_E_NOT_FOUND, "%s topic \"%s\"", known->has_no, topic);
    return cmd_error(error, KRC_E_NOT_FOUND, "%s topic \"%s\"; the nearest is \"%s\"",
                     known->has_no, topic, nearest.name);
}

static int missing_partitions(const struct cmd_known *known, const char *topic,
                              const char *partitions, krc_error *error)
{
    struct place place;
    int32_t first = INT32_MAX, last = -1;
    int64_t count = 0;
    char range[64];
    for (size_t at = 0; next(known, &at, &place);) {
        if (strcmp(place.topic, topic) != 0)
            continue;
        first = place.partition < first ? place.partition : first;
        last = place.partition > last ? place.partition : last;
        count++;
    }
    if (first == last)
        snprintf(range, sizeof range, "is partition %" PRId32, first);
    else if (count == (int64_t)last - first + 1)
        snprintf(range, sizeof range, "are partitions %" PRId32 " to %" PRId32, first, last);
    else
        snprintf(range, sizeof range, "are %" PRId64 " partitions from %" PRId32 " to %" PRId32,
                 count, first, last);
    return cmd_error(error, KRC_E_NOT_FOUND, "%s partition %s of topic \"%s\"; there %s",
                     known->has_no, partitions, topic, range);
}

int cmd_missing_topic(const struct cmd_known *known, const char *topic, const char *partitions,
                      krc_error *error)
{
    return partitions != NULL && cmd_knows_topic(known, topic)
               ? missing_partitions(known, topic, partitions, error)
               : missing_name(known, topic, error);
}

int cmd_missing_selected(const struct cmd_known *known, const struct cmd_selection *selection,
                         size_t i, krc_error *error)
{
    const char *topic = cmd_selected_topic(selection, i);
    const char *partitions = cmd_selected_partitions(selection, i);
    if (topic[0] != '^')
        return cmd_missing_topic(known, topic, partitions, error);
    if (partitions == NULL)
        return cmd_error(error, KRC_E_NOT_FOUND, "%s topics that match \"%s\"", known->has_no,
                         topic);
    return cmd_error(error, KRC_E_NOT_FOUND, "%s partition %s of topics that match \"%s\"",
                     known->has_no, partitions, topic);
}
