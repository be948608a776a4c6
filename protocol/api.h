/*
 * The requests that krc makes, with the versions it speaks of each, and frames.
 *
 * Versions are negotiated by range: the highest that both sides have.  The lowest are those of
 * Kafka 0.11, the first with transactions.
 *
 *   request frame   size int32, api key int16, api version int16, correlation id int32,
 *                   client id nullable string (int16 length in all header versions),
 *                   tagged fields (flexible versions), body
 *   response frame  size int32, correlation id int32, tagged fields (flexible versions; never of
 *                   ApiVersions), body
 */
#ifndef KRC_PROTOCOL_API_H
#define KRC_PROTOCOL_API_H

#include "protocol/api_versions.h"
#include "protocol/consumer_group_describe.h"
#include "protocol/consumer_group_heartbeat.h"
#include "protocol/describe_configs.h"
#include "protocol/describe_groups.h"
#include "protocol/describe_producers.h"
#include "protocol/describe_topic_partitions.h"
#include "protocol/describe_transactions.h"
#include "protocol/errors.h"
#include "protocol/fetch.h"
#include "protocol/find_coordinator.h"
#include "protocol/heartbeat.h"
#include "protocol/join_group.h"
#include "protocol/leave_group.h"
#include "protocol/list_groups.h"
#include "protocol/list_offsets.h"
#include "protocol/list_transactions.h"
#include "protocol/metadata.h"
#include "protocol/offset_commit.h"
#include "protocol/offset_delete.h"
#include "protocol/offset_fetch.h"
#include "protocol/offset_for_leader_epoch.h"
#include "protocol/sasl_authenticate.h"
#include "protocol/sasl_handshake.h"
#include "protocol/sync_group.h"

/* X(NAME, file's name, "Name", key, lowest, highest, first flexible version) */
#define KRC_APIS(X)                                                                              \
    X(FETCH, fetch, "Fetch", 1, 4, 18, 12)                                                       \
    X(LIST_OFFSETS, list_offsets, "ListOffsets", 2, 1, 11, 6)                                    \
    X(METADATA, metadata, "Metadata", 3, 4, 13, 9)                                               \
    X(OFFSET_COMMIT, offset_commit, "OffsetCommit", 8, 3, 10, 8)                                 \
    X(OFFSET_FETCH, offset_fetch, "OffsetFetch", 9, 1, 10, 6)                                    \
    X(FIND_COORDINATOR, find_coordinator, "FindCoordinator", 10, 0, 6, 3)                        \
    X(JOIN_GROUP, join_group, "JoinGroup", 11, 2, 9, 6)                                          \
    X(HEARTBEAT, heartbeat, "Heartbeat", 12, 1, 4, 4)                                            \
    X(LEAVE_GROUP, leave_group, "LeaveGroup", 13, 1, 5, 4)                                       \
    X(SYNC_GROUP, sync_group, "SyncGroup", 14, 1, 5, 4)                                          \
    X(DESCRIBE_GROUPS, describe_groups, "DescribeGroups", 15, 1, 6, 5)                           \
    X(LIST_GROUPS, list_groups, "ListGroups", 16, 1, 5, 3)                                       \
    X(SASL_HANDSHAKE, sasl_handshake, "SaslHandshake", 17, 0, 1, 2)                              \
    X(API_VERSIONS, api_versions, "ApiVersions", 18, 0, 4, 3)                                    \
    X(OFFSET_FOR_LEADER_EPOCH, offset_for_leader_epoch, "OffsetForLeaderEpoch", 23, 3, 4, 4)     \
    X(DESCRIBE_CONFIGS, describe_configs, "DescribeConfigs", 32, 0, 4, 4)                        \
    X(SASL_AUTHENTICATE, sasl_authenticate, "SaslAuthenticate", 36, 0, 2, 2)                     \
    X(OFFSET_DELETE, offset_delete, "OffsetDelete", 47, 0, 0, 1)                                 \
    X(DESCRIBE_PRODUCERS, describe_producers, "DescribeProducers", 61, 0, 0, 0)                  \
    X(DESCRIBE_TRANSACTIONS, describe_transactions, "DescribeTransactions", 65, 0, 0, 0)         \
    X(LIST_TRANSACTIONS, list_transactions, "ListTransactions", 66, 0, 2, 0)                     \
    X(CONSUMER_GROUP_HEARTBEAT, consumer_group_heartbeat, "ConsumerGroupHeartbeat", 68, 0, 1, 0) \
    X(CONSUMER_GROUP_DESCRIBE, consumer_group_describe, "ConsumerGroupDescribe", 69, 0, 1, 0)    \
    X(DESCRIBE_TOPIC_PARTITIONS, describe_topic_partitions, "DescribeTopicPartitions", 75, 0, 0, 0)

enum krc_api_name {
#define KRC_API_ENUM(NAME, name, text, key, lowest, highest, flexible) KRC_API_##NAME,
    KRC_APIS(KRC_API_ENUM)
#undef KRC_API_ENUM
    KRC_API_COUNT
};

struct krc_api_info {
    const char *name; /* "Fetch" */
    int16_t key, lowest, highest, first_flexible;
    krc_wire_fn *request, *response;
    size_t request_size, response_size; /* of their structs */
};
extern const struct krc_api_info krc_apis[KRC_API_COUNT];

/* The highest version that both have, -1: none. */
int16_t krc_api_version(enum krc_api_name api, int16_t broker_lowest, int16_t broker_highest);

/* Appends a whole frame to `out`; on an error `out` is as it was. */
int krc_request_write(struct krc_buffer *out, enum krc_api_name api, int16_t version,
                      int32_t correlation_id, const char *client_id, const void *request,
                      krc_error *error) KRC_MUST_USE;

/* The correlation id of a response frame, without its size: false where there are too few
 * bytes. */
bool krc_response_correlation(const uint8_t *frame, size_t len, int32_t *correlation_id);

/* Reads a response frame without its size into the API's response struct (zeroed first).  Views
 * lead into `frame`, arrays into `arena`.  KRC_E_CORRUPT: not what that version looks like; bytes
 * left behind the body are.  So is what takes many times its bytes in memory. */
int krc_response_read(const uint8_t *frame, size_t len, enum krc_api_name api, int16_t version,
                      void *response, struct krc_arena *arena, krc_error *error) KRC_MUST_USE;

#endif
