/*
 * Whether two partitions hold the same records at all: samples of either one are looked for in the
 * other.  A copy that routes keys in another way has as many partitions, and some of the same
 * records in each; a place that is found by those would skip all that was routed elsewhere.
 *
 * Records may be missing from a copy for better reasons (retention, compaction, not copied yet),
 * and others may have come from elsewhere.  So what is missing is looked for in the other
 * partitions of the same topic: to find it there is the proof.  Where there is none, two thirds of
 * the samples of one side at the least have to be on the other.
 */
#ifndef KRC_ADMIN_MIGRATE_SAMPLE_H
#define KRC_ADMIN_MIGRATE_SAMPLE_H

#include "admin/migrate_search.h"

enum { KRC_SAMPLES = 64, KRC_MISSES = 16 };

struct krc_sample {
    size_t there, missing; /* contents of the window; not counted are those that lie before the
                              other log begins or behind its end */
    struct krc_mark misses[KRC_MISSES]; /* some of these, spread over all */
    size_t miss_count, elsewhere; /* and of them, how many other partitions have */
};

/* Looks in `search->to` for what the window of the search has. */
int krc_sample_take(struct krc_search *search, struct krc_sample *sample,
                    krc_error *error) KRC_MUST_USE;

/* Looks for the misses in the topic's other partitions there, until most are found. */
int krc_sample_look_elsewhere(const struct krc_search *search, struct krc_sample *sample,
                              krc_error *error) KRC_MUST_USE;

/* Most of what is missing lies in other partitions. */
bool krc_sample_is_elsewhere(const struct krc_sample *sample);

/* Two thirds, at the least, are there. */
bool krc_sample_agrees(const struct krc_sample *sample);

#endif
