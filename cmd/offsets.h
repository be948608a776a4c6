/*
 * What the parts of `krc offsets` share.
 */
#ifndef KRC_CMD_OFFSETS_H
#define KRC_CMD_OFFSETS_H

#include <krc-tools.h>

#include "cmd/selection.h"

enum offsets_target {
    TO_NOTHING,
    TO_EARLIEST,
    TO_LATEST,
    TO_OFFSET,
    SHIFT_BY,
    TO_DATETIME,
    BY_DURATION,
    TO_CURRENT,
    FROM_FILE,
};

struct offsets_options {
    const char *store;
    const char *group; /* NULL: not named */
    const char *file;  /* of import; NULL or "-": standard input */
    struct cmd_selection selection;
    krc_config *config;
    bool has_source; /* a log folder was named */
    bool read_uncommitted;
    bool json, execute, dry_run;
    enum offsets_target target;
    const char *target_flag, *target_value;
    int64_t target_number; /* an offset, a shift, a time or a duration in ms */
};

int offsets_list(const struct offsets_options *options);
int offsets_reset(const struct offsets_options *options);

/* Rows of the store that are selected; KRC_E_NOT_FOUND where there is no store. */
int offsets_load(const struct offsets_options *options, const char *group,
                 krc_committed_list **list, krc_error *error) KRC_MUST_USE;

/* Rows of a file in CSV or JSON that are selected. */
int offsets_read(const struct offsets_options *options, const char *path, const char *group,
                 krc_committed_list **list, krc_error *error) KRC_MUST_USE;

/* A table of where each row of a plan stands now, and shall stand. */
void offsets_print_plan(const krc_committed_list *plan, const krc_committed_list *current);

#endif
