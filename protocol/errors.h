/*
 * Kafka's error codes.
 *
 * X(NAME, code, retriable, meaning), for all of them, as Kafka's protocol guide lists them.
 */
#ifndef KRC_PROTOCOL_ERRORS_H
#define KRC_PROTOCOL_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/error_list.h"

enum krc_kafka_error {
#define KRC_KAFKA_ERROR_ENUM(NAME, code, retriable, meaning) KRC_KAFKA_##NAME = code,
    KRC_KAFKA_ERRORS(KRC_KAFKA_ERROR_ENUM)
#undef KRC_KAFKA_ERROR_ENUM
};

/* "NOT_LEADER_OR_FOLLOWER"; a code that is not known: "UNKNOWN". */
const char *krc_kafka_error_name(int16_t code);
const char *krc_kafka_error_text(int16_t code);
bool krc_kafka_error_retriable(int16_t code);

#endif
