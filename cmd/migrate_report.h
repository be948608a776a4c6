/*
 * What became of each partition of a migration: a line of JSON, on stdout and in a report file,
 * from which a later run goes on.
 */
#ifndef KRC_CMD_MIGRATE_REPORT_H
#define KRC_CMD_MIGRATE_REPORT_H

#include <krc-tools.h>
#include <stdio.h>

struct migrate_entry {
    const struct krc_committed *row;
    char *to_topic; /* its name there */
    struct krc_uuid topic_id, to_topic_id; /* the topics' by now; all zero: unknown */
    struct krc_migration result;
    bool committed;
    bool was_reported; /* an earlier run's report has it */
};

struct migrate_report {
    const char *from_group, *from, *to, *to_group; /* whose, from where, and where to */
    const char *path;
    FILE *out; /* NULL: none is wanted */
    char *text; /* what the file had before */
};

/* Reads what there is, and goes on behind it. */
int report_open(struct migrate_report *report, krc_error *error) KRC_MUST_USE;
void report_close(struct migrate_report *report);

/* Looks up what an earlier run has found of a partition, if the offset that was committed here, and
 * the topics on both sides, are still the same. */
void report_recall(const struct migrate_report *report, struct migrate_entry *entry);

/* Adds a line, and sees that it is written. */
int report_add(const struct migrate_report *report, const struct migrate_entry *entry,
               krc_error *error) KRC_MUST_USE;

void report_print(const struct migrate_report *report, const struct migrate_entry *entry,
                  FILE *out);

#endif
