/*
 * What an error code of a broker's answer about a partition leads to: what Kafka's own consumer
 * does, but for RESET, which is the reset policy's matter (offsets/judge.c).
 */
#ifndef KRC_CLUSTER_VERDICT_H
#define KRC_CLUSTER_VERDICT_H

#include <stdint.h>

enum krc_verdict {
    KRC_DO_TAKE,    /* no error */
    KRC_DO_RETRY,   /* ask again after a while */
    KRC_DO_REFRESH, /* the same, with newer metadata */
    KRC_DO_REOPEN,  /* the same, in a new fetch session */
    KRC_DO_RESET,   /* the offset is out of range */
    KRC_DO_NONE,    /* there is no such offset */
    KRC_DO_STOP,    /* asking again would not help */
};

/* V(code, of Fetch, of ListOffsets, of OffsetForLeaderEpoch); all others are the last row. */
#define KRC_VERDICTS(V)                                             \
    V(NONE, TAKE, TAKE, TAKE)                                       \
    V(OFFSET_OUT_OF_RANGE, RESET, REFRESH, REFRESH)                 \
    V(NOT_LEADER_OR_FOLLOWER, REFRESH, REFRESH, REFRESH)            \
    V(LEADER_NOT_AVAILABLE, REFRESH, REFRESH, REFRESH)              \
    V(REPLICA_NOT_AVAILABLE, REFRESH, REFRESH, REFRESH)             \
    V(KAFKA_STORAGE_ERROR, REFRESH, REFRESH, REFRESH)               \
    V(FENCED_LEADER_EPOCH, REFRESH, REFRESH, REFRESH)               \
    V(OFFSET_NOT_AVAILABLE, REFRESH, REFRESH, REFRESH)              \
    V(UNKNOWN_TOPIC_OR_PARTITION, REFRESH, REFRESH, REFRESH)        \
    V(UNKNOWN_TOPIC_ID, REFRESH, REFRESH, REFRESH)                  \
    V(INCONSISTENT_TOPIC_ID, REOPEN, REFRESH, REFRESH)              \
    V(UNKNOWN_LEADER_EPOCH, RETRY, REFRESH, REFRESH)                \
    V(UNKNOWN_SERVER_ERROR, RETRY, REFRESH, REFRESH)                \
    V(UNSUPPORTED_FOR_MESSAGE_FORMAT, STOP, NONE, REFRESH)          \
    V(TOPIC_AUTHORIZATION_FAILED, STOP, STOP, STOP)                 \
    V(CORRUPT_MESSAGE, STOP, REFRESH, REFRESH)                      \
    V(UNSUPPORTED_COMPRESSION_TYPE, STOP, REFRESH, REFRESH)         \
    V(OTHERS, STOP, REFRESH, REFRESH)

enum krc_verdict krc_fetch_verdict(int16_t error_code);
enum krc_verdict krc_list_offsets_verdict(int16_t error_code);
enum krc_verdict krc_epoch_verdict(int16_t error_code);

#endif
