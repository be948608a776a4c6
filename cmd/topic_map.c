#include "cmd/topic_map.h"

#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct topic_pair {
    const char *from, *to;
    bool is_used;
};

static bool is_name(const char *name)
{
    return krc_is_topic_name(name, strlen(name));
}

const char *topic_map_add(struct topic_map *map, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL)
        return "give the topic's names as OLD=NEW";
    *equals = '\0';
    if (!is_name(text) || !is_name(equals + 1)) {
        *equals = '=';
        return "not two valid topic names; give them as OLD=NEW";
    }
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->pairs[i].from, text) == 0) {
            *equals = '=';
            return "the topic is mapped already";
        }
    struct topic_pair *pairs = realloc(map->pairs, (map->count + 1) * sizeof *pairs);
    if (pairs == NULL)
        return "out of memory";
    map->pairs = pairs;
    pairs[map->count++] = (struct topic_pair){.from = text, .to = equals + 1};
    return NULL;
}

const char *topic_map_set_prefix(struct topic_map *map, const char *prefix)
{
    map->prefix = prefix;
    /* alone it may be "." */
    return prefix[0] != '\0' && strspn(prefix, KRC_NAME_LETTERS) == strlen(prefix)
               ? NULL
               : "give what topics' names begin with there, such as us-west.";
}

char *topic_map_name(struct topic_map *map, const char *topic)
{
    char *name = NULL;
    for (size_t i = 0; i < map->count; i++) {
        if (strcmp(map->pairs[i].from, topic) != 0)
            continue;
        map->pairs[i].is_used = true;
        return strdup(map->pairs[i].to);
    }
    return asprintf(&name, "%s%s", map->prefix == NULL ? "" : map->prefix, topic) < 0 ? NULL : name;
}

const char *topic_map_unused(const struct topic_map *map, size_t i)
{
    for (size_t at = 0; at < map->count; at++)
        if (!map->pairs[at].is_used && i-- == 0)
            return map->pairs[at].from;
    return NULL;
}

void topic_map_free(struct topic_map *map)
{
    free(map->pairs);
    *map = (struct topic_map){0};
}
