/*
 * The flags that say where records come from: the same for every subcommand that reads them.
 */
#ifndef KRC_CMD_SOURCE_H
#define KRC_CMD_SOURCE_H

#include <getopt.h>
#include <krc.h>

#include "cmd/selection.h"
#include "cmd/where.h"

struct cmd_source {
    krc_config *config;
    struct cmd_selection selection;
    struct cmd_where from, until;
    int64_t max_messages; /* 0: no limit */
    int64_t timeout_ms;   /* -1: for ever */
    bool has_log_dir, has_servers;
    bool follows;      /* a cluster, behind its present end */
    bool any_topic;    /* none has to be named */
    bool may_be_empty; /* a cluster without topics is listed, too */
    bool quiet;        /* neither notes nor the account as a table */
    bool chatty;       /* where each partition ends, too */
    bool account_json; /* the account as the last line of stderr */
    bool finished;     /* -X list or --help has said all that was wanted */
};

/* For getopt_long: what a subcommand puts into its own lists.  Its own long options without a
 * letter begin at CMD_OPT_OWN. */
#define CMD_SOURCE_LETTERS "b:d:t:p:o:ec:g:X:F:q"
#define CMD_SOURCE_OPTIONS                                                                        \
    {"bootstrap-server", required_argument, NULL, 'b'}, {"log-dir", required_argument, NULL, 'd'}, \
        {"topic", required_argument, NULL, 't'}, {"partition", required_argument, NULL, 'p'},      \
        {"offset", required_argument, NULL, 'o'},                                                  \
        {"from-beginning", no_argument, NULL, CMD_OPT_FROM_BEGINNING},                             \
        {"until", required_argument, NULL, CMD_OPT_UNTIL}, {"exit", no_argument, NULL, 'e'},       \
        {"max-messages", required_argument, NULL, 'c'}, {"group", required_argument, NULL, 'g'},   \
        {"isolation-level", required_argument, NULL, CMD_OPT_ISOLATION_LEVEL},                     \
        {"auto-offset-reset", required_argument, NULL, CMD_OPT_AUTO_OFFSET_RESET},                 \
        {"command-config", required_argument, NULL, 'F'},                                          \
        {"store", required_argument, NULL, CMD_OPT_STORE},                                         \
        {"moved-cluster", no_argument, NULL, CMD_OPT_MOVED_CLUSTER},                               \
        {"skip-corrupt", no_argument, NULL, CMD_OPT_SKIP_CORRUPT},                                 \
        {"log-format", required_argument, NULL, CMD_OPT_LOG_FORMAT},                               \
        {"timeout-ms", required_argument, NULL, CMD_OPT_TIMEOUT_MS},                               \
        {"account", required_argument, NULL, CMD_OPT_ACCOUNT},                                     \
        {"log-level", required_argument, NULL, CMD_OPT_LOG_LEVEL}, {"quiet", no_argument, NULL, 'q'}

enum {
    CMD_OPT_FROM_BEGINNING = 256,
    CMD_OPT_UNTIL,
    CMD_OPT_ISOLATION_LEVEL,
    CMD_OPT_AUTO_OFFSET_RESET,
    CMD_OPT_STORE,
    CMD_OPT_MOVED_CLUSTER,
    CMD_OPT_SKIP_CORRUPT,
    CMD_OPT_LOG_FORMAT,
    CMD_OPT_TIMEOUT_MS,
    CMD_OPT_ACCOUNT,
    CMD_OPT_LOG_LEVEL,
    CMD_OPT_OWN,
};

/* What --help says of them, and of the JSON lines. */
extern const char cmd_source_help[], cmd_json_help[];

/* CMD_DONE, or CMD_FAILED with the reason said. */
int cmd_source_init(struct cmd_source *source);
void cmd_source_free(struct cmd_source *source);

/* Takes one of the options above: CMD_DONE, or CMD_USAGE with the reason said. */
int cmd_source_option(struct cmd_source *source, int option, char *value);

/* Sets a property: CMD_DONE, or CMD_USAGE with the reason said. */
int cmd_set_property(krc_config *config, const char *name, const char *value);

/* The same of -X NAME=VALUE; and what -F's file says.  Secrets are hidden from other users. */
int cmd_set_named_property(krc_config *config, char *text);
int cmd_load_properties(krc_config *config, const char *path);

/* The value of --timeout-ms: CMD_DONE, or CMD_USAGE with the reason said.  How long is waited for
 * records is how long is waited for any answer, where that is less: once all flags are read. */
int cmd_set_timeout(const char *value, int64_t *timeout_ms);
int cmd_limit_timeout(krc_config *config, int64_t timeout_ms);

/* What cmd_select_topic and cmd_select_partitions returned of a value: CMD_DONE, or CMD_USAGE with
 * the reason said. */
int cmd_judged(const char *flag, const char *value, const char *rejection);

/* Whether the source is a cluster, once the flags are checked. */
bool cmd_source_is_cluster(const struct cmd_source *source);

/* Whether all the flags together make sense, and name a source. */
int cmd_source_check(const struct cmd_source *source, const char *command);

/* With --join the group says which partitions, and where they begin; `how` is until where they are
 * read: CMD_DONE, or CMD_USAGE where the flags say so, too. */
int cmd_source_check_join(const struct cmd_source *source, const char *command, const char *how);

/* Says what went wrong, as cmd_fail; of what --timeout-ms has ended (`gave_up`), this first. */
int cmd_fail_in_time(const struct cmd_source *source, bool gave_up, const krc_error *error);

/* Learns what the source has, and counts the partitions that are selected.  What is named and is
 * nowhere is told, and `*failed` is set.  KRC_E_NOT_FOUND: none is left. */
int cmd_source_load(const struct cmd_source *source, krc *handle, size_t *count, bool *failed,
                    krc_error *error) KRC_MUST_USE;

/* The next of them, from the source's partition `*at` on, which moves behind it.  While the source
 * waits more may come, each at its place; none goes. */
bool cmd_source_next(const struct cmd_source *source, const krc *handle, size_t *at,
                     struct krc_partition *partition);

/*
 * What is to be read: the partitions that are selected, with start and end; free the list.
 * Partitions of which that cannot be said are told and left out, and `*failed` is set.
 * KRC_E_NOT_FOUND: none is left.
 */
int cmd_source_partitions(const struct cmd_source *source, krc *handle,
                          struct krc_replay_partition **list, size_t *count, bool *failed,
                          krc_error *error) KRC_MUST_USE;

#endif
