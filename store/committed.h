/*
 * Rows of lists of committed offsets.
 */
#ifndef KRC_STORE_COMMITTED_H
#define KRC_STORE_COMMITTED_H

#include <krc-tools.h>

/* The order of lists: by group, topic and partition. */
int krc_committed_compare(const struct krc_committed *a, const struct krc_committed *b);

/* A row with its strings in one piece of memory, to be freed; NULL: out of memory. */
struct krc_committed *krc_committed_copy(const struct krc_committed *row);

#endif
