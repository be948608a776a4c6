/*
 * The name that somebody may have meant who wrote another one.
 */
#ifndef KRC_BASE_NEAREST_H
#define KRC_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

struct krc_nearest {
    const char *to;   /* what was written */
    const char *name; /* NULL: none was considered */
    size_t len, distance;
};

struct krc_nearest krc_nearest(const char *to);

/* The first one of those that are equally near stays.  It has to outlive the search. */
void krc_nearest_consider(struct krc_nearest *nearest, const char *name, size_t len);

/* Whether it is so near that it may well be what was meant: at most one letter in three differs,
 * and there are three. */
bool krc_nearest_is_near(const struct krc_nearest *nearest);

#endif
