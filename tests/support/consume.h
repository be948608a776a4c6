/*
 * Reads log folders through the public API, and tells what happened as text, so that a test's
 * expectation is a line.
 */
#ifndef KRC_TESTS_CONSUME_H
#define KRC_TESTS_CONSUME_H

#include <krc.h>

/* Opens a folder; what cannot be opened fails the test.  Settings follow: name, value, ...,
 * NULL. */
krc *consume_open(const char *path, ...) __attribute__((sentinel));

/* Assigns a partition; what cannot be assigned fails the test. */
void consume_assign(krc *handle, const char *topic, int32_t partition, int64_t start,
                    int64_t until);

/* Reads to the end or the first error and acknowledges each batch: the offsets delivered, "0-4 7",
 * with "!KRC_E_..." behind them after an error.  The text is valid until the next call. */
const char *consume_all(krc *handle);

/* The events there are, without those of CAUGHT_UP: "lost 5 15; note 7 7", and their messages. */
struct consume_events {
    char text[1024];
    char messages[8192]; /* a line each */
};
void consume_events(krc *handle, struct consume_events *events);

/* "5-20: delivered 3, lost 10, ..." of what was read; fates without offsets are left out.  Fails
 * where the account does not add up. */
const char *consume_account(krc *handle, const char *topic, int32_t partition);

/* The same of an account at hand. */
const char *account_text(const struct krc_account *account);

struct krc_position consume_position(krc *handle, const char *topic, int32_t partition);

/* Fails the test where a piece of text is missing. */
void check_says(const char *message, const char *piece);

#endif
