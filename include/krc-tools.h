/*
 * krc-tools.h - what the command `krc` needs beside krc.h.
 *
 * Not installed, and no part of the ABI: it may change with every version.
 */
#ifndef KRC_TOOLS_H
#define KRC_TOOLS_H

#include <stdio.h>

#include <krc.h>

/* ---- Committed offsets -------------------------------------------------------------------- */

struct krc_committed {
    const char *group;
    const char *topic;
    int32_t partition;
    int32_t leader_epoch;   /* of the record before the offset, -1: unknown */
    int64_t offset;
    const char *metadata;   /* NULL: a text that was read says nothing of it */
    int32_t history;        /* 0: not from a store */
    int64_t commit_time_ms; /* -1: none */
};

/*
 * A list, sorted by group, topic and partition, each there once.  Its rows are valid until it is
 * freed.
 */
typedef struct krc_committed_list krc_committed_list;

krc_committed_list *krc_committed_new(void); /* NULL: out of memory */
void krc_committed_free(krc_committed_list *list);

/* The i-th row, NULL beyond the last. */
const struct krc_committed *krc_committed_at(const krc_committed_list *list, size_t i);
const struct krc_committed *krc_committed_find(const krc_committed_list *list, const char *group,
                                               const char *topic, int32_t partition);

/* Copies a row into the list; 1: the list has that partition already, and stays as it is. */
int krc_committed_add(krc_committed_list *list, const struct krc_committed *row,
                      krc_error *error) KRC_MUST_USE;

/* Adds what a store holds of a group, or of all where `group` is NULL. */
int krc_committed_load(krc_committed_list *list, const char *store, const char *group,
                       krc_error *error) KRC_MUST_USE;

/*
 * Adds what a text says, all of it or, on an error, who knows what: throw the list away then.
 * The text is CSV as kafka-consumer-groups.sh exports and imports it,
 *     topic,partition,offset                  or
 *     group,topic,partition,offset
 * or a JSON array of {"group", "topic", "partition", "offset", "leaderEpoch", "metadata"}, of which
 * group, leaderEpoch and metadata may be missing.  `group` stands for one that is not named; NULL:
 * "default".  Where `group` is given, naming another is an error.  KRC_E_INVALID says which line
 * and column, or which entry.
 */
int krc_committed_parse(krc_committed_list *list, const char *text, size_t len, const char *group,
                        krc_error *error) KRC_MUST_USE;

/*
 * Commits all of a list to a store, made where there is none, in one transaction.  An offset that
 * moves leaves a reset with this reason, begins its account anew and is no longer settled.
 * KRC_E_STATE: the store is a sink's own, whose files would no longer fit.
 */
int krc_committed_save(const krc_committed_list *list, const char *store, const char *reason,
                       int64_t now_ms, krc_error *error) KRC_MUST_USE;

/* Errors of writing stay in the stream. */
void krc_committed_write_csv(const krc_committed_list *list, bool with_group, FILE *out);
void krc_committed_write_json(const krc_committed_list *list, FILE *out);

/* A string of JSON, with its quotes. */
void krc_write_json_string(const char *text, FILE *out);

#endif
