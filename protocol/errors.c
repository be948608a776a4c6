#include "protocol/errors.h"

const char *krc_kafka_error_name(int16_t code)
{
    switch (code) {
#define CASE(NAME, value, retriable, meaning) \
    case value:                               \
        return #NAME;
        KRC_KAFKA_ERRORS(CASE)
#undef CASE
    default:
        return "UNKNOWN";
    }
}

const char *krc_kafka_error_text(int16_t code)
{
    switch (code) {
#define CASE(NAME, value, retriable, meaning) \
    case value:                               \
        return meaning;
        KRC_KAFKA_ERRORS(CASE)
#undef CASE
    default:
        return "an error that is newer than this krc";
    }
}

bool krc_kafka_error_retriable(int16_t code)
{
    switch (code) {
#define CASE(NAME, value, retriable, meaning) \
    case value:                               \
        return retriable;
        KRC_KAFKA_ERRORS(CASE)
#undef CASE
    default:
        return false;
    }
}
