/*
 * A migration: what the command line says of it, and what comes of it.
 */
#ifndef KRC_CMD_MIGRATE_H
#define KRC_CMD_MIGRATE_H

#include "cmd/migrate_report.h"
#include "cmd/offsets.h"
#include "cmd/topic_map.h"

/* Where offsets and logs are. */
struct migrate_place {
    const char *store, *group;
    krc_config *config;
    bool has_servers, has_logs;
    const char *name; /* for the report */
    krc *handle;      /* NULL: no log was named */
};

struct migrate {
    struct migrate_place from, to;
    struct cmd_selection selection;
    struct topic_map map;
    struct krc_migrate_options options;
    int64_t timeout_ms; /* that an answer is waited for; 0: as configured */
    bool json, execute, force, dry_run, finished;
    struct migrate_report report;
    struct offsets_rows here, there;
    struct migrate_entry *entries;
    size_t count;
    bool skipped; /* something was not found, or not moved */
    krc_error error;
};

/* From begin to end: the exit status. */
int migrate_run(struct migrate *m);

#endif
