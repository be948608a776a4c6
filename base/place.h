/*
 * Which partition.
 */
#ifndef KRC_BASE_PLACE_H
#define KRC_BASE_PLACE_H

#include <krc.h>
#include <string.h>

struct krc_place {
    const char *topic; /* its owner's, and outlives the place */
    int32_t partition;
    struct krc_uuid topic_id; /* all zero: unknown */
};

static inline bool krc_uuid_equal(const struct krc_uuid *a, const struct krc_uuid *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

static inline bool krc_uuid_is_zero(const struct krc_uuid *id)
{
    static const struct krc_uuid zero;
    return krc_uuid_equal(id, &zero);
}

/* As far as is known: one that is not may be any. */
static inline bool krc_uuid_differs(const struct krc_uuid *a, const struct krc_uuid *b)
{
    return !krc_uuid_is_zero(a) && !krc_uuid_is_zero(b) && !krc_uuid_equal(a, b);
}

#endif
