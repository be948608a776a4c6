/*
 * A cluster's groups, as admin/group_change.c sees them.
 */
#ifndef KRC_ADMIN_GROUP_CLUSTER_H
#define KRC_ADMIN_GROUP_CLUSTER_H

#include <krc-tools.h>

#include "consumer/net.h"

/* Adds the group with its members; nothing where there is none. */
int krc_group_members(struct krc_net *net, const char *group, krc_groups *groups,
                      krc_error *error) KRC_MUST_USE;

#endif
