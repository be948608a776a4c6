#include "cmd/selection.h"

#include <krc-tools.h>
#include <stdlib.h>
#include <string.h>

struct cmd_topic {
    char *name;             /* without its list */
    const char *partitions; /* NULL: none of its own */
    krc_pattern *pattern;   /* NULL: it is named in full */
};

/* The next "N" or "N-M" of a list; false at its end, or where it is none. */
static bool next_range(const char **list, int32_t *from, int32_t *to)
{
    char *end;
    if (**list < '0' || **list > '9')
        return false;
    long first = strtol(*list, &end, 10), last = first;
    if (*end == '-') {
        if (end[1] < '0' || end[1] > '9')
            return false;
        last = strtol(end + 1, &end, 10);
    }
    if (last < first || last > INT32_MAX || (*end != ',' && *end != '\0'))
        return false;
    *from = (int32_t)first;
    *to = (int32_t)last;
    *list = *end == ',' ? end + 1 : end;
    return true;
}

static bool is_list(const char *list)
{
    int32_t from, to;
    bool good = false;
    while ((good = next_range(&list, &from, &to)) && *list != '\0')
        ;
    return good;
}

static bool in_list(const char *list, int32_t partition)
{
    int32_t from, to;
    while (next_range(&list, &from, &to))
        if (partition >= from && partition <= to)
            return true;
    return false;
}

const char *cmd_select_partitions(struct cmd_selection *selection, const char *list)
{
    selection->partitions = list;
    return is_list(list) ? NULL : "partitions are given as 0 or 0,3 or 0-7";
}

static const char *fill_topic(struct cmd_selection *selection, struct cmd_topic *topic,
                              const char *text)
{
    krc_error error;
    bool is_regex = text[0] == '^';
    const char *colon = strrchr(text, ':');
    size_t len = strlen(text);
    if (colon != NULL && is_list(colon + 1)) {
        topic->partitions = colon + 1;
        len = (size_t)(colon - text);
    }
    topic->name = strndup(text, len);
    if (topic->name == NULL)
        return "out of memory";
    if (len == 0 || (colon != NULL && topic->partitions == NULL && !is_regex))
        return "a topic is given as TOPIC, TOPIC:0,3 or ^REGEX";
    if (!is_regex && !krc_is_topic_name(topic->name, len))
        return "not a valid topic name: use 1 to 249 letters, digits, '.', '_' and '-', but not "
               "\".\" or \"..\"";
    if (!is_regex || krc_pattern_new(&topic->pattern, topic->name, &error) >= 0)
        return NULL;
    const char *quote = strrchr(error.message, '"'); /* behind the text, which is told anyway */
    snprintf(selection->why, sizeof selection->why, "invalid regular expression%.300s",
             quote == NULL ? "" : quote + 1);
    return selection->why;
}

const char *cmd_select_topic(struct cmd_selection *selection, const char *text)
{
    struct cmd_topic *topics =
        realloc(selection->topics, (selection->count + 1) * sizeof *topics);
    if (topics == NULL)
        return "out of memory";
    selection->topics = topics;
    topics[selection->count] = (struct cmd_topic){0};
    return fill_topic(selection, &topics[selection->count++], text);
}

static bool matches(const struct cmd_topic *topic, const char *name)
{
    return topic->pattern != NULL ? krc_pattern_matches(topic->pattern, name)
                                  : strcmp(topic->name, name) == 0;
}

bool cmd_selects_by(const struct cmd_selection *selection, size_t i, const char *topic,
                    int32_t partition)
{
    const struct cmd_topic *chosen = &selection->topics[i];
    const char *all = selection->partitions;
    return matches(chosen, topic) && (all == NULL || in_list(all, partition)) &&
           (chosen->partitions == NULL || in_list(chosen->partitions, partition));
}

const char **cmd_selected_topics(const struct cmd_selection *selection)
{
    const char **topics = calloc(selection->count + 1, sizeof *topics);
    for (size_t i = 0; topics != NULL && i < selection->count; i++)
        topics[i] = cmd_selected_topic(selection, i);
    return topics;
}

bool cmd_selects_by_name(const struct cmd_selection *selection, const char *topic)
{
    for (size_t i = 0; i < selection->count; i++)
        if (selection->topics[i].pattern == NULL && strcmp(selection->topics[i].name, topic) == 0)
            return true;
    return false;
}

bool cmd_selects_all_of(const struct cmd_selection *selection, size_t i)
{
    return selection->partitions == NULL && selection->topics[i].partitions == NULL;
}

bool cmd_selects_more(const struct cmd_selection *selection)
{
    for (size_t i = 0; i < selection->count; i++)
        if (cmd_selects_all_of(selection, i))
            return true;
    return false;
}

const char *cmd_selected_topic(const struct cmd_selection *selection, size_t i)
{
    return selection->topics[i].name;
}

const char *cmd_selected_partitions(const struct cmd_selection *selection, size_t i)
{
    const char *own = selection->topics[i].partitions;
    return own != NULL ? own : selection->partitions;
}

bool cmd_selects(const struct cmd_selection *selection, const char *topic, int32_t partition)
{
    for (size_t i = 0; i < selection->count; i++)
        if (cmd_selects_by(selection, i, topic, partition))
            return true;
    return selection->count == 0 && (selection->partitions == NULL ||
                                     in_list(selection->partitions, partition));
}

int cmd_each_named(const struct cmd_selection *selection,
                   int (*each)(void *arg, const char *topic, int32_t partition), void *arg)
{
    for (size_t i = 0; i < selection->count; i++) {
        const struct cmd_topic *topic = &selection->topics[i];
        const char *list = cmd_selected_partitions(selection, i);
        int32_t from, to;
        while (topic->pattern == NULL && list != NULL && next_range(&list, &from, &to))
            for (int64_t partition = from; partition <= to; partition++) {
                if (!cmd_selects(selection, topic->name, (int32_t)partition))
                    continue;
                int rc = each(arg, topic->name, (int32_t)partition);
                if (rc != 0)
                    return rc;
            }
    }
    return 0;
}

void cmd_selection_free(struct cmd_selection *selection)
{
    for (size_t i = 0; i < selection->count; i++) {
        krc_pattern_free(selection->topics[i].pattern);
        free(selection->topics[i].name);
    }
    free(selection->topics);
    *selection = (struct cmd_selection){0};
}
