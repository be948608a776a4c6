/*
 * What the parts of `krc read` share.
 */
#ifndef KRC_CMD_READ_H
#define KRC_CMD_READ_H

#include <krc-tools.h>

#include "cmd/account.h"
#include "cmd/format.h"
#include "cmd/source.h"

enum read_output { READ_DELIMITED, READ_FORMAT, READ_JSON, READ_DIGEST };

struct read_options {
    struct cmd_source source;
    enum read_output output;
    struct cmd_format format; /* of DELIMITED and FORMAT */
    bool base64;              /* JSON: all byte strings */
    bool unbuffered;
    bool shows_offsets; /* at the end */
    bool commits, joins;
};

/* What was delivered of a partition. */
struct read_tally {
    int64_t records;
    uint32_t digest;
};

struct reading {
    const struct read_options *options;
    krc *krc;
    krc_text *out; /* what stdout has not taken yet */
    struct krc_replay_partition *parts;
    struct cmd_account *ended; /* of histories that have ended while they were read */
    size_t ended_count;
    struct read_tally *tallies; /* one for each */
    size_t count;
    size_t at;        /* the one whose batches come now */
    int64_t left;     /* records until -c is reached */
    bool commits;
    bool failed;      /* something was told that makes it exit status 1 */
    bool lossy;
    bool stopped;     /* -c was reached, in partition `at` */
    bool is_group_store;  /* a cluster's group is all that is committed to */
    bool is_last_commit;  /* which is waited for */
    krc_error commit_error; /* of a commit that was not waited for; code 0 */
    int64_t commit_at_ms; /* when to commit next */
    int64_t commit_interval_ms;
    int64_t taken_at_ms;  /* when something came last */
    bool gave_up;         /* nothing came for --timeout-ms */
    bool ending;          /* all is read and committed */
};

/* Prints one record, into `out`. */
int read_print(struct reading *r, const struct krc_batch_info *batch,
               const struct krc_record *record, krc_error *error) KRC_MUST_USE;

/* Lines at the end, into `out`: --digest's and -O's. */
int read_print_digests(struct reading *r, krc_error *error) KRC_MUST_USE;
int read_print_offsets(struct reading *r, krc_error *error) KRC_MUST_USE;

/* Hands `out` to stdout. */
int read_flush(struct reading *r, krc_error *error) KRC_MUST_USE;

#endif
