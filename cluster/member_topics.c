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

/* The classic protocol leaves it to us. */
static int subscribe_by_regex(struct krc_membership *member, const char *regex, krc_error *error)
{
    if (member->regex != NULL)
        return krc_fail(error, KRC_E_INVALID, "a group is joined with one regular expression: "
                        "put %s and %s together", member->regex, regex);
    char *copy = strdup(regex);
    int rc = copy == NULL                  ? krc_fail_nomem(error, strlen(regex))
             : member->settings.is_classic ? krc_pattern_new(&member->pattern, regex, error)
                                           : KRC_OK;
    if (rc < 0) {
        free(copy);
        return rc;
    }
    member->regex = copy;
    member->cluster->topics.all_wanted = true;
    krc_metadata_want(member->cluster);
    return KRC_OK;
}

int krc_member_subscribe(struct krc_membership *member, const char *topic, krc_error *error)
{
    bool found;
    if (topic[0] == '^')
        return subscribe_by_regex(member, topic, error);
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
    krc_pattern_free(member->pattern);
    free(member->regex);
}

static bool matches(const struct krc_membership *member, const struct krc_topic *topic)
{
    return topic->is_known && !(topic->is_internal && member->settings.exclude_internal_topics) &&
           krc_pattern_matches(member->pattern, topic->name);
}

bool krc_member_knows_topics(const struct krc_membership *member)
{
    return member->regex == NULL || member->cluster->topics.all_generation > 0;
}

bool krc_member_find_topics(struct krc_membership *member)
{
    const struct krc_topics *topics = &member->cluster->topics;
    size_t before = member->topic_count;
    for (size_t i = 0; member->regex != NULL && i < topics->count; i++) {
        bool found;
        size_t at = place_of(member, topics->list[i]->name, &found);
        if (!found && matches(member, topics->list[i]))
            (void)add(member, topics->list[i]->name, at); /* else with newer metadata */
    }
    return member->topic_count > before;
}
