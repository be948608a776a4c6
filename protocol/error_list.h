/*
 * Kafka's error codes, as of Kafka 4.3: X(NAME, code, retriable, meaning).
 *
 * Source of names, codes and of what may be tried again: Kafka's protocol guide.
 */
#ifndef KRC_PROTOCOL_ERROR_LIST_H
#define KRC_PROTOCOL_ERROR_LIST_H

/* clang-format off */
#define KRC_KAFKA_ERRORS(X)                                                                       \
    X(UNKNOWN_SERVER_ERROR, -1, false, "the broker met an error that it did not foresee")         \
    X(NONE, 0, false, "no error")                                                                 \
    X(OFFSET_OUT_OF_RANGE, 1, false, "the offset lies outside the partition's log")               \
    X(CORRUPT_MESSAGE, 2, true,                                                                   \
      "a batch is damaged, too large, or lacks a key that compaction needs")                      \
    X(UNKNOWN_TOPIC_OR_PARTITION, 3, true, "the broker has no such topic or partition")           \
    X(INVALID_FETCH_SIZE, 4, false, "the size to fetch is not possible")                          \
    X(LEADER_NOT_AVAILABLE, 5, true, "the partition is electing a leader")                        \
    X(NOT_LEADER_OR_FOLLOWER, 6, true,                                                            \
      "the broker does not lead the partition, or has no replica of it")                          \
    X(REQUEST_TIMED_OUT, 7, true, "the request took longer than allowed")                         \
    X(BROKER_NOT_AVAILABLE, 8, false, "the broker cannot be reached")                             \
    X(REPLICA_NOT_AVAILABLE, 9, true, "the broker's replica of the partition is not ready")       \
    X(MESSAGE_TOO_LARGE, 10, false, "a batch is larger than the broker accepts")                  \
    X(STALE_CONTROLLER_EPOCH, 11, false, "another controller has taken over")                     \
    X(OFFSET_METADATA_TOO_LARGE, 12, false, "it is longer than offset.metadata.max.bytes")        \
    X(NETWORK_EXCEPTION, 13, true, "the connection broke before the answer")                      \
    X(COORDINATOR_LOAD_IN_PROGRESS, 14, true, "the coordinator is still loading its state")       \
    X(COORDINATOR_NOT_AVAILABLE, 15, true, "there is no coordinator at present")                  \
    X(NOT_COORDINATOR, 16, true, "another broker is the coordinator")                             \
    X(INVALID_TOPIC_EXCEPTION, 17, false,                                                         \
      "the topic's name is not allowed, or the topic not open to this")                           \
    X(RECORD_LIST_TOO_LARGE, 18, false, "a batch is larger than a segment may be")                \
    X(NOT_ENOUGH_REPLICAS, 19, true, "too few replicas are in sync: nothing was written")         \
    X(NOT_ENOUGH_REPLICAS_AFTER_APPEND, 20, true,                                                 \
      "it was written, but too few replicas are in sync")                                         \
    X(INVALID_REQUIRED_ACKS, 21, false, "acks has no such value")                                 \
    X(ILLEGAL_GENERATION, 22, false, "the group has moved on to another generation")              \
    X(INCONSISTENT_GROUP_PROTOCOL, 23, false, "the member shares no protocol with its group")     \
    X(INVALID_GROUP_ID, 24, false, "the group id is not allowed")                                 \
    X(UNKNOWN_MEMBER_ID, 25, false, "the group has no such member")                               \
    X(INVALID_SESSION_TIMEOUT, 26, false,                                                         \
      "the session time-out is outside what the broker allows")                                   \
    X(REBALANCE_IN_PROGRESS, 27, false, "the group is rebalancing: join again")                   \
    X(INVALID_COMMIT_OFFSET_SIZE, 28, false, "the offsets to commit are too large")               \
    X(TOPIC_AUTHORIZATION_FAILED, 29, false, "not allowed on this topic")                         \
    X(GROUP_AUTHORIZATION_FAILED, 30, false, "not allowed on this group")                         \
    X(CLUSTER_AUTHORIZATION_FAILED, 31, false, "not allowed on this cluster")                     \
    X(INVALID_TIMESTAMP, 32, false, "a record's timestamp is too far off")                        \
    X(UNSUPPORTED_SASL_MECHANISM, 33, false, "the broker does not offer this SASL mechanism")     \
    X(ILLEGAL_SASL_STATE, 34, false, "the request does not fit the state of the authentication")  \
    X(UNSUPPORTED_VERSION, 35, false, "the broker does not speak this version of the request")    \
    X(TOPIC_ALREADY_EXISTS, 36, false, "there is such a topic already")                           \
    X(INVALID_PARTITIONS, 37, false, "a topic needs at least one partition")                      \
    X(INVALID_REPLICATION_FACTOR, 38, false,                                                      \
      "the replication factor is below 1 or above the number of brokers")                         \
    X(INVALID_REPLICA_ASSIGNMENT, 39, false, "the replicas cannot be placed so")                  \
    X(INVALID_CONFIG, 40, false, "a property or its value is not allowed")                        \
    X(NOT_CONTROLLER, 41, true, "another broker is the controller")                               \
    X(INVALID_REQUEST, 42, false, "the broker cannot make sense of the request")                  \
    X(UNSUPPORTED_FOR_MESSAGE_FORMAT, 43, false, "the partition's message format cannot do this") \
    X(POLICY_VIOLATION, 44, false, "a policy of the cluster forbids it")                          \
    X(OUT_OF_ORDER_SEQUENCE_NUMBER, 45, false, "a producer's batches do not follow each other")   \
    X(DUPLICATE_SEQUENCE_NUMBER, 46, false, "a producer's batch was written before")              \
    X(INVALID_PRODUCER_EPOCH, 47, false, "the producer's epoch is an old one")                    \
    X(INVALID_TXN_STATE, 48, false, "the transaction's state does not allow it")                  \
    X(INVALID_PRODUCER_ID_MAPPING, 49, false,                                                     \
      "the producer id belongs to another transactional id")                                      \
    X(INVALID_TRANSACTION_TIMEOUT, 50, false,                                                     \
      "the transaction's time-out is longer than the broker allows")                              \
    X(CONCURRENT_TRANSACTIONS, 51, true, "the transactional id is busy with another operation")   \
    X(TRANSACTION_COORDINATOR_FENCED, 52, false, "the transaction has another coordinator now")   \
    X(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 53, false, "not allowed on this transactional id")   \
    X(SECURITY_DISABLED, 54, false, "the cluster has security switched off")                      \
    X(OPERATION_NOT_ATTEMPTED, 55, false, "not tried, for something else in the request failed")  \
    X(KAFKA_STORAGE_ERROR, 56, true, "the broker cannot read or write its disk")                  \
    X(LOG_DIR_NOT_FOUND, 57, false, "the broker has no such data folder")                         \
    X(SASL_AUTHENTICATION_FAILED, 58, false, "the credentials were refused")                      \
    X(UNKNOWN_PRODUCER_ID, 59, false, "nothing is known of the producer any more")                \
    X(REASSIGNMENT_IN_PROGRESS, 60, false, "the partition's replicas are being moved")            \
    X(DELEGATION_TOKEN_AUTH_DISABLED, 61, false, "delegation tokens are switched off")            \
    X(DELEGATION_TOKEN_NOT_FOUND, 62, false, "there is no such delegation token")                 \
    X(DELEGATION_TOKEN_OWNER_MISMATCH, 63, false, "the delegation token belongs to another")      \
    X(DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, 64, false,                                            \
      "this connection may not ask for delegation tokens")                                        \
    X(DELEGATION_TOKEN_AUTHORIZATION_FAILED, 65, false, "not allowed on this delegation token")   \
    X(DELEGATION_TOKEN_EXPIRED, 66, false, "the delegation token has run out")                    \
    X(INVALID_PRINCIPAL_TYPE, 67, false, "there is no such type of principal")                    \
    X(NON_EMPTY_GROUP, 68, false, "the group has members")                                        \
    X(GROUP_ID_NOT_FOUND, 69, false, "there is no such group")                                    \
    X(FETCH_SESSION_ID_NOT_FOUND, 70, true, "the broker has forgotten the fetch session")         \
    X(INVALID_FETCH_SESSION_EPOCH, 71, true, "the fetch session is at another epoch")             \
    X(LISTENER_NOT_FOUND, 72, true, "the leader has no listener of this name")                    \
    X(TOPIC_DELETION_DISABLED, 73, false, "topics cannot be deleted here")                        \
    X(FENCED_LEADER_EPOCH, 74, true, "the leader epoch is older than the broker's")               \
    X(UNKNOWN_LEADER_EPOCH, 75, true, "the leader epoch is newer than the broker's")              \
    X(UNSUPPORTED_COMPRESSION_TYPE, 76, false, "the codec needs a newer version of the request")  \
    X(STALE_BROKER_EPOCH, 77, false, "the broker has registered anew since")                      \
    X(OFFSET_NOT_AVAILABLE, 78, true, "a new leader does not know the end of its log yet")        \
    X(MEMBER_ID_REQUIRED, 79, false, "join again, with the member id given")                      \
    X(PREFERRED_LEADER_NOT_AVAILABLE, 80, true, "the preferred replica cannot lead")              \
    X(GROUP_MAX_SIZE_REACHED, 81, false, "the group is full")                                     \
    X(FENCED_INSTANCE_ID, 82, false, "another member has taken over this group.instance.id")      \
    X(ELIGIBLE_LEADERS_NOT_AVAILABLE, 83, true, "no replica that may lead is available")          \
    X(ELECTION_NOT_NEEDED, 84, true, "the partition needs no election")                           \
    X(NO_REASSIGNMENT_IN_PROGRESS, 85, false, "no replicas are being moved")                      \
    X(GROUP_SUBSCRIBED_TO_TOPIC, 86, false, "the group reads the topic whose offsets were to go") \
    X(INVALID_RECORD, 87, false, "the broker refuses a record")                                   \
    X(UNSTABLE_OFFSET_COMMIT, 88, true,                                                           \
      "an open transaction may still change the committed offset")                                \
    X(THROTTLING_QUOTA_EXCEEDED, 89, true, "more was asked for than the quota allows")            \
    X(PRODUCER_FENCED, 90, false, "a newer producer has the transactional id")                    \
    X(RESOURCE_NOT_FOUND, 91, false, "there is no such resource")                                 \
    X(DUPLICATE_RESOURCE, 92, false, "a resource is named twice")                                 \
    X(UNACCEPTABLE_CREDENTIAL, 93, false, "the credential does not meet the rules")               \
    X(INCONSISTENT_VOTER_SET, 94, false, "sender or receiver is not among the voters")            \
    X(INVALID_UPDATE_VERSION, 95, false, "the version to update to is not possible")              \
    X(FEATURE_UPDATE_FAILED, 96, false, "the features could not be updated")                      \
    X(PRINCIPAL_DESERIALIZATION_FAILURE, 97, false,                                               \
      "a forwarded request's principal cannot be read")                                           \
    X(SNAPSHOT_NOT_FOUND, 98, false, "there is no such snapshot")                                 \
    X(POSITION_OUT_OF_RANGE, 99, false, "the position lies outside the snapshot")                 \
    X(UNKNOWN_TOPIC_ID, 100, true, "the broker has no topic of this id")                          \
    X(DUPLICATE_BROKER_REGISTRATION, 101, false, "another broker has this id")                    \
    X(BROKER_ID_NOT_REGISTERED, 102, false, "no broker of this id is registered")                 \
    X(INCONSISTENT_TOPIC_ID, 103, true, "the partition's log belongs to another topic id")        \
    X(INCONSISTENT_CLUSTER_ID, 104, false, "the broker belongs to another cluster")               \
    X(TRANSACTIONAL_ID_NOT_FOUND, 105, false, "there is no such transactional id")                \
    X(FETCH_SESSION_TOPIC_ID_ERROR, 106, true, "the fetch session mixes topic ids and names")     \
    X(INELIGIBLE_REPLICA, 107, false, "a replica may not be in sync")                             \
    X(NEW_LEADER_ELECTED, 108, false, "the change was made, and the leader is another")           \
    X(OFFSET_MOVED_TO_TIERED_STORAGE, 109, false, "the offset lies in remote storage")            \
    X(FENCED_MEMBER_EPOCH, 110, false,                                                            \
      "the group has fenced the member: drop all partitions and join again")                      \
    X(UNRELEASED_INSTANCE_ID, 111, false, "another member still has this group.instance.id")      \
    X(UNSUPPORTED_ASSIGNOR, 112, false, "the group does not know the assignor")                   \
    X(STALE_MEMBER_EPOCH, 113, false, "the member has not heard of its newest epoch yet")         \
    X(MISMATCHED_ENDPOINT_TYPE, 114, false,                                                       \
      "a broker was asked for a controller, or a controller for a broker")                        \
    X(UNSUPPORTED_ENDPOINT_TYPE, 115, false, "there is no such type of endpoint")                 \
    X(UNKNOWN_CONTROLLER_ID, 116, false, "there is no such controller")                           \
    X(UNKNOWN_SUBSCRIPTION_ID, 117, false, "the telemetry subscription is out of date")           \
    X(TELEMETRY_TOO_LARGE, 118, false, "the telemetry is larger than the broker accepts")         \
    X(INVALID_REGISTRATION, 119, false, "the controller refuses the broker's registration")       \
    X(TRANSACTION_ABORTABLE, 120, false, "the transaction can only be aborted")                   \
    X(INVALID_RECORD_STATE, 121, false, "the delivery cannot be acknowledged so")                 \
    X(SHARE_SESSION_NOT_FOUND, 122, true, "the broker has forgotten the share session")           \
    X(INVALID_SHARE_SESSION_EPOCH, 123, true, "the share session is at another epoch")            \
    X(FENCED_STATE_EPOCH, 124, false, "the share group's state is at another epoch")              \
    X(INVALID_VOTER_KEY, 125, false, "the voter's key is not that of the receiver")               \
    X(DUPLICATE_VOTER, 126, false, "the voter is one already")                                    \
    X(VOTER_NOT_FOUND, 127, false, "there is no such voter")                                      \
    X(INVALID_REGULAR_EXPRESSION, 128, false, "the regular expression is not well formed")        \
    X(REBOOTSTRAP_REQUIRED, 129, false,                                                           \
      "what is known of the cluster is too old: start from the bootstrap servers")                \
    X(STREAMS_INVALID_TOPOLOGY, 130, false, "the streams topology is not possible")               \
    X(STREAMS_INVALID_TOPOLOGY_EPOCH, 131, false, "the streams topology's epoch is not possible") \
    X(STREAMS_TOPOLOGY_FENCED, 132, false, "the streams topology's epoch is an old one")          \
    X(SHARE_SESSION_LIMIT_REACHED, 133, true, "the broker has no room for another share session")
/* clang-format on */

#endif
