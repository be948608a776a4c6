/*
 * What the parts of `krc offsets` share.
 */
#ifndef KRC_CMD_OFFSETS_H
#define KRC_CMD_OFFSETS_H

#include <krc-tools.h>

#include "cmd/missing.h"
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
    bool has_log_dir, has_servers;
    bool read_uncommitted;
    bool json, execute, dry_run, exact;
    enum offsets_target target;
    const char *target_flag, *target_value;
    int64_t timeout_ms;    /* that an answer is waited for; 0: as configured */
    int64_t target_number; /* an offset, a shift, a time or a duration in ms */
};

int offsets_list(const struct offsets_options *options);
int offsets_lag(const struct offsets_options *options);
int offsets_export(const struct offsets_options *options);
int offsets_import(const struct offsets_options *options);
int offsets_reset(const struct offsets_options *options);

/* Whether logs are named: a cluster, or folders. */
bool offsets_have_log(const struct offsets_options *options);

/* What they have. */
struct cmd_known offsets_logs(const struct offsets_options *options, const krc *source);

/* Opens them; NULL where none are. */
int offsets_open(const struct offsets_options *options, krc **source,
                 krc_error *error) KRC_MUST_USE;

/* What is committed, and by whom. */
struct offsets_rows {
    krc_committed_list *list;
    krc_groups *groups; /* of a store only those that are left out, with the reason */
    krc_committed_list *all; /* those that are not selected, too */
};

/*
 * Rows that are selected, of one group or of all (NULL): those of the store, or, where none is
 * named, of the source: a cluster, or folders' group log.  KRC_E_NOT_FOUND where there is no such
 * thing.  To be freed whatever it returns.
 */
int offsets_load(const struct offsets_options *options, krc *source, const char *group,
                 struct offsets_rows *rows, krc_error *error) KRC_MUST_USE;
void offsets_free(struct offsets_rows *rows);

/* Says that topics were left out of a list, where any were. */
void offsets_tell_left_out(const krc_committed_list *list);

/* Says what is wrong with single groups; whether anything was. */
bool offsets_tell_failures(const struct offsets_rows *rows);

/* Says what -t names and is not among the selected rows; whether anything is not. */
bool offsets_tell_missing(const struct offsets_options *options, const krc *source,
                          const struct offsets_rows *rows);

/* Fills an error that says so of the i-th -t. */
int offsets_missing(const struct offsets_options *options, const krc *source,
                    const krc_committed_list *all, size_t i, krc_error *error);

/* Groups of a list that are at work, whose offsets are soon others. */
void offsets_tell_members(const krc_groups *groups, const krc_committed_list *list);

/* Commits a plan there.  `before`: what it was made from, which a store has to have still; NULL:
 * from nothing there. */
int offsets_save(const struct offsets_options *options, krc *source,
                 const krc_committed_list *plan, const krc_committed_list *before,
                 const char *reason, krc_error *error) KRC_MUST_USE;

/* Rows of a file in CSV or JSON that are selected. */
int offsets_read(const struct offsets_options *options, const char *path, const char *group,
                 krc_committed_list **list, krc_error *error) KRC_MUST_USE;

/* ---- Where offsets lie in their logs: cmd/offsets_range.c ----------------------------------- */

/* "beyond the end", "pending in a transaction", ...; NULL: there is nothing to be noted. */
const char *offsets_note(enum krc_range range, bool is_pending);

/* Marks rows of a list that are out of the range of their logs, and says so; where there is no log,
 * or it does not tell, they stay as they are. */
int offsets_mark(krc *source, krc_committed_list **list, krc_error *error) KRC_MUST_USE;

/* Moves those of a plan to the nearest offset inside, and says so; or says that there is no log to
 * look at. */
int offsets_keep_all_inside(krc *source, krc_committed_list **list,
                            krc_error *error) KRC_MUST_USE;
void offsets_tell_unchecked(void);

/* The same of one offset; whether it was moved. */
bool offsets_keep_inside(const char *topic, int32_t partition, const struct krc_log_offsets *log,
                         int64_t *offset);

/* Which offsets are not the newest, for a transaction that has that is still open. */
void offsets_tell_pending(const krc_committed_list *list);

/* A table of where each row of a plan stands now, and shall stand. */
int offsets_print_plan(const krc_committed_list *plan, const krc_committed_list *current,
                       krc_error *error) KRC_MUST_USE;

#endif
