/*
 * What was asked for and is nowhere: named, with what there is instead.
 */
#ifndef KRC_CMD_MISSING_H
#define KRC_CMD_MISSING_H

#include <krc-tools.h>

#include "cmd/selection.h"

/* Where it was looked for. */
struct cmd_known {
    const char *has_no;             /* "the cluster has no" */
    const krc *handle;              /* whose partitions are there, or NULL: */
    const krc_committed_list *list; /* those that have committed offsets */
};

/* Whether there is any partition of a topic. */
bool cmd_knows_topic(const struct cmd_known *known, const char *topic);

/* Whether there is anything that the i-th topic of a selection means. */
bool cmd_knows_selected(const struct cmd_known *known, const struct cmd_selection *selection,
                        size_t i);

/* Fills an error that says that the i-th topic of a selection means nothing there; or that a topic,
 * or partitions of it (NULL: all), are not there.  KRC_E_NOT_FOUND. */
int cmd_missing_selected(const struct cmd_known *known, const struct cmd_selection *selection,
                         size_t i, krc_error *error);
int cmd_missing_topic(const struct cmd_known *known, const char *topic, const char *partitions,
                      krc_error *error);

#endif
