/*
 * Where a partition's records go: a series of files, or rows of a SQLite table.
 *
 * A sink takes what the tracker yields and says when a commit is due; that depends on the data
 * alone.  After krc_sink_flush everything taken is on disk, and what the sink says of itself is to
 * be stored in the same transaction as the position.
 */
#ifndef KRC_REPLAY_SINK_H
#define KRC_REPLAY_SINK_H

#include "consumer/tracker.h"
#include "replay/outfile.h"
#include "store/store.h"

/* What all sinks of a run share. */
struct krc_sink_run {
    const krc_replay_options *options;
    int64_t commit_interval;
    bool read_uncommitted;
    int folder;              /* DIR's descriptor; -1 for SQLite */
    const char *folder_path; /* DIR */
    struct krc_store *store;
    struct krc_insert *insert; /* SQLite, else NULL */
};

struct krc_sink {
    const struct krc_sink_run *run;
    const struct krc_place *place;
    struct krc_stored_sink at;    /* where it is: stored at a commit */
    struct krc_outfile file;
    int segment_folder;           /* DIR/TOPIC-PARTITION's descriptor, -1 */
    struct krc_buffer json_start; /* what each line begins with */
    struct krc_buffer row;        /* SQLite: a row's headers */
    int64_t uncommitted;          /* bytes of output since the last commit */
    bool full;                    /* the next batch begins another file */
    bool in_transaction;          /* SQLite */
};

/* `stored` is what the store has of this partition, NULL for nothing; `history` is the one that is
 * read now. */
int krc_sink_open(struct krc_sink *sink, const struct krc_sink_run *run,
                  const struct krc_place *place, const struct krc_stored_sink *stored,
                  int32_t history, krc_error *error) KRC_MUST_USE;
void krc_sink_close(struct krc_sink *sink);

/* Whether what was taken so far has to be committed before this batch is taken. */
bool krc_sink_due_before(const struct krc_sink *sink, const struct krc_item *item);

/* Takes an item: RECORDS or PASSED. */
int krc_sink_take(struct krc_sink *sink, struct krc_item *item, krc_error *error) KRC_MUST_USE;

/* Whether a commit is due now, at the end of an item. */
bool krc_sink_due(const struct krc_sink *sink);

/* Hands to the system what was taken so far, and keeps no memory for more. */
int krc_sink_rest(struct krc_sink *sink, krc_error *error) KRC_MUST_USE;

/* All that was taken is on disk, or in the transaction that is to be committed. */
int krc_sink_flush(struct krc_sink *sink, krc_error *error) KRC_MUST_USE;
void krc_sink_committed(struct krc_sink *sink);
void krc_sink_roll_back(struct krc_sink *sink); /* the transaction, if one is open */

/* ---- Names of files: replay/names.c -------------------------------------------------------- */

enum { KRC_SINK_NAME_MAX = 320 };

/* "jsonl.zst", "log", ... */
void krc_sink_extension(const krc_replay_options *options, char *text, size_t size);

/* TOPIC-PARTITION, with .h2 and so on for a later history. */
void krc_sink_stem(const char *topic, int32_t partition, int32_t history, char *text, size_t size);

/* The name of a sink's present file: in DIR, or for segments in its folder. */
void krc_sink_file_name(const struct krc_sink *sink, char *text, size_t size);

/* What a name says; false where it is no sink's. */
struct krc_sink_name {
    char topic[256];
    int32_t partition;
    int32_t history;
    int64_t file_offset; /* -1: the name has none */
};
bool krc_sink_parse_stem(const char *text, size_t len, struct krc_sink_name *name);
bool krc_sink_parse_name(const krc_replay_options *options, const char *text,
                         struct krc_sink_name *name);

/* ---- Rows: replay/sqlite.c ----------------------------------------------------------------- */

/* Makes the table of records, and the statement that fills it. */
int krc_insert_open(struct krc_insert **insert, struct krc_store *store,
                    krc_error *error) KRC_MUST_USE;
void krc_insert_close(struct krc_insert *insert);
int krc_insert_row(struct krc_insert *insert, const struct krc_place *place, int32_t history,
                   const struct krc_record *record, enum krc_timestamp_type type,
                   struct krc_bytes headers, krc_error *error) KRC_MUST_USE;

/* Deletes those from an offset on, of any history. */
int krc_delete_rows(struct krc_store *store, const char *topic, int32_t partition, int64_t from,
                    krc_error *error) KRC_MUST_USE;

/* What stands behind each value of a raw file. */
struct krc_bytes krc_sink_delimiter(const krc_replay_options *options);

#endif
