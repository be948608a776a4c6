/*
 * The fields of what concerns groups and transactions, for messages.c.
 */
#ifndef KRC_TESTS_GROUP_MESSAGES_H
#define KRC_TESTS_GROUP_MESSAGES_H

#include "tests/support/visit.h"

visit_fn offset_commit_request, offset_commit_response;
visit_fn offset_delete_request, offset_delete_response;
visit_fn join_group_request, join_group_response;
visit_fn sync_group_request, sync_group_response;
visit_fn heartbeat_request, heartbeat_response;
visit_fn leave_group_request, leave_group_response;
visit_fn describe_groups_request, describe_groups_response;
visit_fn list_groups_request, list_groups_response;
visit_fn consumer_group_heartbeat_request, consumer_group_heartbeat_response;
visit_fn consumer_group_describe_request, consumer_group_describe_response;
visit_fn describe_producers_request, describe_producers_response;
visit_fn describe_transactions_request, describe_transactions_response;
visit_fn list_transactions_request, list_transactions_response;

#endif
