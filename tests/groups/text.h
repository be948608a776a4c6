/*
 * The text of golden/: partitions as "a:0,a:1,b:0", lists as "a,b", "-" for an empty one.
 */
#ifndef KRC_TESTS_GROUPS_TEXT_H
#define KRC_TESTS_GROUPS_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups/subscription.h"
#include "tests/support/run.h"

enum { MOST_TEXT = 4096 };

static inline struct krc_bytes bytes_of(const char *text)
{
    return (struct krc_bytes){(const uint8_t *)text, strlen(text)};
}

static inline void *take(struct krc_arena *arena, size_t count, size_t size)
{
    void *list = krc_arena_take(arena, count * size + 1);
    ck_assert_ptr_nonnull(list);
    return list;
}

static inline char *copy_text(const char *text, struct krc_arena *arena)
{
    return strcpy(take(arena, strlen(text) + 1, 1), text);
}

static inline int32_t parse_names(const char *text, struct krc_bytes **names,
                                  struct krc_arena *arena)
{
    int32_t count = 0;
    char *rest = copy_text(text, arena);
    *names = take(arena, strlen(text), sizeof **names);
    if (strcmp(text, "-") != 0)
        for (char *word; (word = strsep(&rest, ",")) != NULL;)
            (*names)[count++] = bytes_of(word);
    return count;
}

/* Partitions of one topic stand together. */
static inline int32_t parse_partitions(const char *text, struct krc_topic_partitions **topics,
                                       struct krc_arena *arena)
{
    struct krc_bytes *words;
    int32_t count = parse_names(text, &words, arena), topic_count = 0;
    *topics = take(arena, (size_t)count, sizeof **topics);
    for (int32_t i = 0; i < count; i++) {
        const char *word = (const char *)words[i].data, *colon = strchr(word, ':');
        struct krc_bytes name = {words[i].data, (size_t)(colon - word)};
        struct krc_topic_partitions *topic = *topics + topic_count - 1;
        if (topic_count == 0 || krc_bytes_compare(topic->topic, name) != 0) {
            topic = *topics + topic_count++;
            *topic = (struct krc_topic_partitions){
                .topic = name, .partitions = take(arena, (size_t)count, sizeof(int32_t))};
        }
        topic->partitions[topic->partition_count++] = atoi(colon + 1);
    }
    return topic_count;
}

static inline void print_partitions(FILE *out, const struct krc_topic_partitions *topics,
                                    int32_t count)
{
    const char *between = "";
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < topics[i].partition_count; k++, between = ",")
            fprintf(out, "%s%.*s:%d", between, (int)topics[i].topic.len,
                    (const char *)topics[i].topic.data, topics[i].partitions[k]);
    if (*between == '\0')
        fputc('-', out);
}

#endif
