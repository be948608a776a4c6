/*
 * Which topics and partitions are meant: -t TOPIC, -t ^REGEX, -t TOPIC:0,2-4, -p LIST.
 */
#ifndef KRC_CMD_SELECTION_H
#define KRC_CMD_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cmd_topic;

struct cmd_selection {
    struct cmd_topic *topics;
    size_t count;           /* 0: every topic */
    const char *partitions; /* NULL: every partition */
    char why[400];          /* a regular expression that is none */
};

/* Both return NULL, or what is wrong.  The texts must outlive the selection. */
const char *cmd_select_topic(struct cmd_selection *selection, const char *text);
const char *cmd_select_partitions(struct cmd_selection *selection, const char *list);

bool cmd_selects(const struct cmd_selection *selection, const char *topic, int32_t partition);

/* The same for the i-th topic alone; and its name, or regular expression. */
bool cmd_selects_by(const struct cmd_selection *selection, size_t i, const char *topic,
                    int32_t partition);
const char *cmd_selected_topic(const struct cmd_selection *selection, size_t i);

/* The list of partitions that the i-th topic is selected with; NULL: all. */
const char *cmd_selected_partitions(const struct cmd_selection *selection, size_t i);

/* All of these, to be freed; NULL: out of memory. */
const char **cmd_selected_topics(const struct cmd_selection *selection);

/* Whether a topic is named in full, not by a regular expression. */
bool cmd_selects_by_name(const struct cmd_selection *selection, const char *topic);

/* Whether the i-th topic is selected with all of its partitions, those to come too; and whether any
 * is. */
bool cmd_selects_all_of(const struct cmd_selection *selection, size_t i);
bool cmd_selects_more(const struct cmd_selection *selection);

/* Calls `each` for every partition that is named in full, by a topic that is no regular expression
 * and a list; what is not 0 ends the walk and is returned. */
int cmd_each_named(const struct cmd_selection *selection,
                   int (*each)(void *arg, const char *topic, int32_t partition), void *arg);

void cmd_selection_free(struct cmd_selection *selection);

#endif
