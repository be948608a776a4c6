/*
 * What topics are called elsewhere: --map-topic OLD=NEW, --topic-prefix PREFIX.
 */
#ifndef KRC_CMD_TOPIC_MAP_H
#define KRC_CMD_TOPIC_MAP_H

#include <stddef.h>

struct topic_pair;

struct topic_map {
    struct topic_pair *pairs;
    size_t count;
    const char *prefix; /* of those that no pair names; NULL: none */
};

/* Both return NULL, or what is wrong.  The texts must outlive the map; the first is cut in two. */
const char *topic_map_add(struct topic_map *map, char *text);
const char *topic_map_set_prefix(struct topic_map *map, const char *prefix);

/* The name there, to be freed; NULL: out of memory. */
char *topic_map_name(struct topic_map *map, const char *topic);

/* The i-th topic that a pair names and nobody has asked for; NULL: there are no more. */
const char *topic_map_unused(const struct topic_map *map, size_t i);

void topic_map_free(struct topic_map *map);

#endif
