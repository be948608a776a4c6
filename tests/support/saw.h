/*
 * Reads partition t-0 of the data folder "data" (makelog.h), and keeps what was seen.
 */
#ifndef KRC_TESTS_SAW_H
#define KRC_TESTS_SAW_H

#include "tests/support/consume.h"

extern struct saw {
    char delivered[1024], account[256];
    struct consume_events events;
    struct krc_position at;
    krc_error error; /* the last poll's */
} saw;

/* Reads all that is assigned. */
void see(krc *handle);

/* Opens the folder with one setting, and reads from `start`; from the log start in
 * read_committed. */
void see_from(int64_t start, const char *name, const char *value);
void see_committed(void);

/* The texts of consume_all and consume_account. */
void check_saw(const char *delivered, const char *account);

#endif
