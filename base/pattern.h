/*
 * Which topics are meant: POSIX extended regular expressions, as far as topics' names need them.
 *
 * The C library's take memory without bound, for one that repeats repetitions while it is compiled,
 * for others while they are matched.  Here a pattern becomes at most KRC_PATTERN_STEPS steps, and a
 * match is one pass over the name with the set of the steps it may be at.
 *
 * What POSIX leaves open is as in GNU's regcomp: {,n}, an empty alternative, a ) without its (, and
 * \w \W \s \S \b \B \< \> \` \'.  From elsewhere come \d \D, (?:...), (?i), which holds up to the
 * end of its group, and a backslash in [ ] like one outside.  Refused: other letters behind a
 * backslash, references back (\1), and collating elements of more than one character.
 */
#ifndef KRC_BASE_PATTERN_H
#define KRC_BASE_PATTERN_H

#include "base/error.h"

enum { KRC_PATTERN_STEPS = 50000, KRC_PATTERN_DEPTH = 200 };

struct krc_pattern;
typedef struct krc_pattern krc_pattern;

/* KRC_E_INVALID: no regular expression, or too large a one. */
int krc_pattern_new(krc_pattern **pattern, const char *text, krc_error *error) KRC_MUST_USE;
void krc_pattern_free(krc_pattern *pattern);

/* Whether it matches any part of the name. */
bool krc_pattern_matches(krc_pattern *pattern, const char *name);

#endif
