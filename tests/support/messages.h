/*
 * Every field of every request and response, by Kafka's names for them: messages are filled with
 * values, and told as text, so that two can be compared.
 */
#ifndef KRC_TESTS_MESSAGES_H
#define KRC_TESTS_MESSAGES_H

#include "protocol/api.h"

enum message_values {
    MESSAGE_FULL, /* by the rule of tests/protocol/golden/README */
    MESSAGE_BARE,
    MESSAGE_RANDOM,
};

/* A message of the arena.  What the version does not have gets what reading it is to give. */
void *message_make(enum krc_api_name api, bool response, int16_t version,
                   enum message_values values, uint64_t seed, struct krc_arena *arena);

/* A line a field; to be freed. */
char *message_text(enum krc_api_name api, bool response, int16_t version, void *message);

#endif
