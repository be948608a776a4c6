/*
 * What a member subscribes to.
 */
#include <stdlib.h>

#include "cluster/cluster.h"
#include "cluster/member_parts.h"

/* Where a topic is among those, or would be. */
static size_t place_of(const struct krc_membership *member, const char *topic, bool *found)
{
    size_t at = 0;
    while (at < member->topic_count && strcmp(member->topics[at], topic) < 0)
        at++;
    *found = at < member->topic_count && strcmp(member->topics[at], topic) == 0;
    return at;
}

static bool add(struct krc_membership *member, const char *topic, size_t at)
{
    char *copy = strdup(topic);
    char **topics = realloc(member->topics, (member->topic_count + 1) * sizeof *topics);
    if (topics != NULL)
        member->topics = topics;
    if (topics == NULL || copy == NULL) {
        free(copy);
        return false;
    }
    memmove(&topics[at + 1], &topics[at], (member->topic_count++ - at) * sizeof *topics);
    topics[at] = copy;
    return true;
}

/* Matched here, whatever the group protocol: a broker's regular expressions are not ours. */
static int add_pattern(struct krc_membership *member, const char *regex, krc_error *error)
{
    size_t size = (member->pattern_count + 1) * sizeof *member->patterns;
    krc_pattern **patterns = realloc(member->patterns, size);
    if (patterns == NULL)
        return krc_fail_nomem(error, size);
    member->patterns = patterns;
    KRC_TRY(krc_pattern_new(&patterns[member->pattern_count], regex, error));
    member->pattern_count++;
    member->cluster->topics.all_wanted = true;
    krc_metadata_want(member->cluster);
    return KRC_OK;
}

int krc_member_subscribe(struct krc_membership *member, const char *topic, krc_error *error)
{
    bool found;
    if (topic[0] == '^')
        return add_pattern(member, topic, error);
    size_t at = place_of(member, topic, &found);
    return found || (krc_topic_want(member->cluster, topic) != NULL && add(member, topic, at))
               ? KRC_OK
               : krc_fail_nomem(error, strlen(topic));
}

void krc_member_unsubscribe(struct krc_membership *member)
{
    for (size_t i = 0; i < member->topic_count; i++)
        free(member->topics[i]);
    free(member->topics);
    for (size_t i = 0; i < member->pattern_count; i++)
        krc_pattern_free(member->patterns[i]);
    free(member->patterns);
}

static bool matches(const struct krc_membership *member, const struct krc_topic *topic)
{
    if (!topic->is_known || (topic->is_internal && member->settings.exclude_internal_topics))
        return false;
    for (size_t i = 0; i < member->pattern_count; i++)
        if (krc_pattern_matches(member->patterns[i], topic->name))
            return true;
    return false;
}

bool krc_member_knows_topics(const struct krc_membership *member)
{
    return member->pattern_count == 0 || member->cluster->topics.all_generation > 0;
}

bool krc_member_find_topics(struct krc_membership *member)
{
    const struct krc_topics *topics = &member->cluster->topics;
    size_t before = member->topic_count;
    for (size_t i = 0; member->pattern_count > 0 && i < topics->count; i++) {
        bool found;
        size_t at = place_of(member, topics->list[i]->name, &found);
        if (!found && matches(member, topics->list[i]))
            (void)add(member, topics->list[i]->name, at); /* else with newer metadata */
    }
    return member->topic_count > before;
}
