/*
 * krc-tools.h - what the command `krc` needs beside krc.h.
 *
 * Not installed, and no part of the ABI: it may change with every version.
 */
#ifndef KRC_TOOLS_H
#define KRC_TOOLS_H

#include <stdio.h>

#include <krc.h>

/* How names are judged and foreign text is shown, the same as in the library. */
#include "base/names.h"
#include "base/nearest.h"
#include "base/pattern.h"
#include "base/printable.h"
#include "base/uuid.h"

/* ---- Committed offsets --------------------------------------------------------------------- */

/* Where an offset lies, as its log is now. */
enum krc_range {
    KRC_RANGE_UNKNOWN,
    KRC_IN_RANGE,
    KRC_BELOW_START, /* of the log start offset: what it names is gone */
    KRC_BEYOND_END,  /* there is no record before it, and so no lag */
};
const char *krc_range_name(enum krc_range place); /* "beyond the end"; NULL: unknown */

struct krc_committed {
    const char *group;
    const char *topic;
    int32_t partition;
    int32_t leader_epoch;   /* of the record before the offset, -1: unknown */
    int64_t offset;
    const char *metadata;   /* NULL: a text that was read says nothing of it */
    int32_t history;        /* 0: not from a store */
    int64_t commit_time_ms; /* -1: none */
    struct krc_uuid topic_id; /* all zero: unknown */
    bool is_pending;        /* a newer commit is in a transaction that is still open; `offset` is
                               the last stable one, -1: there is none */
    int64_t pending_offset; /* of that newer commit; -1: not known */
    enum krc_range range;
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

/* Copies a row into the list; 1: the list has that partition already, and stays as it is.  A topic
 * whose name is not valid is left out: wherever the row comes from, nothing is to be made of it. */
int krc_committed_add(krc_committed_list *list, const struct krc_committed *row,
                      krc_error *error) KRC_MUST_USE;

/* The first topic that was left out, fit for a terminal; NULL: none was. */
const char *krc_committed_left_out(const krc_committed_list *list);

/*
 * Adds what a text says, all of it or, on an error, who knows what: throw the list away then.
 * The text is CSV as kafka-consumer-groups.sh exports and imports it,
 *     topic,partition,offset                  or
 *     group,topic,partition,offset
 * or a JSON array of {"group", "topic", "partition", "offset", "leaderEpoch", "metadata",
 * "topicId"}, or such objects, one a line, of which group and all from leaderEpoch on may be
 * missing; groups and metadata that are not UTF-8 are "groupBase64" and "metadataBase64".  `group`
 * stands for one that is not named, and for the one that is, if that is always the same; NULL:
 * "default".
 * KRC_E_INVALID says which line and column, or which entry.
 */
int krc_committed_parse(krc_committed_list *list, const char *text, size_t len, const char *group,
                        krc_error *error) KRC_MUST_USE;

/*
 * Errors of writing stay in the stream.  A row without an offset is left out.  CSV has texts as
 * they are, unless it goes to a terminal.
 */
void krc_committed_write_csv(const krc_committed_list *list, bool with_group, FILE *out);
void krc_committed_write_json(const krc_committed_list *list, FILE *out);

/* A string of JSON, with its quotes, of a text that is UTF-8: what is not visible is escaped. */
void krc_write_json_string(const char *text, FILE *out);

/* The same after its name, "name":"text", or "name":null of NULL; of a text that is not UTF-8
 * "nameBase64":"...", as the JSON lines of records have it. */
void krc_write_json_text(const char *name, const char *text, FILE *out);

/* ---- Groups -------------------------------------------------------------------------------- */

struct krc_owned {
    const char *topic;
    int32_t partition;
};

struct krc_member {
    const char *id, *client_id, *host;
    const char *instance_id;       /* NULL: none */
    const struct krc_owned *owned; /* what is assigned to it, as far as topics are known */
    size_t owned_count;
};

struct krc_group {
    const char *id;
    const char *type;  /* "classic", "consumer" */
    const char *state; /* by Kafka's names: "Stable", "Empty", ... */
    const struct krc_member *members;
    size_t member_count;
    krc_error error;   /* its code is KRC_OK, or why not all is known of it */
};

/* A list, sorted by id, each there once.  Its groups are valid until it is freed. */
typedef struct krc_groups krc_groups;

krc_groups *krc_groups_new(void); /* NULL: out of memory */
void krc_groups_free(krc_groups *groups);

/* The i-th group, NULL beyond the last. */
const struct krc_group *krc_groups_at(const krc_groups *groups, size_t i);
const struct krc_group *krc_groups_find(const krc_groups *groups, const char *id);

/* Copies a group with all that is in it; the list does not have it yet. */
int krc_groups_add(krc_groups *groups, const struct krc_group *group,
                   krc_error *error) KRC_MUST_USE;

/* Who has a partition; NULL: nobody, as far as is known. */
const struct krc_member *krc_group_owner(const struct krc_group *group, const char *topic,
                                         int32_t partition);

/*
 * What the group log of log folders, __consumer_offsets, says of a group, or of all where `group`
 * is NULL: offsets as a coordinator that loads it would have them, where one is pending in an open
 * transaction the last stable one; and groups with their members.  Both lists are added to, and
 * thrown away on an error.
 *
 * KRC_E_NOT_FOUND: the folders have no group log.  KRC_E_CORRUPT, KRC_E_IO: its log, or a record in
 * it, which the message names.  KRC_E_UNSUPPORTED: a record of a version to come.
 */
int krc_group_log_read(const krc *krc, const char *group, krc_committed_list *offsets,
                       krc_groups *groups, krc_error *error) KRC_MUST_USE;

/*
 * The same of a cluster: what its coordinators say; they do not tell what is pending.
 * KRC_E_NOT_FOUND: it has no such group.  KRC_E_STATE: log folders.  Other errors as
 * krc_load_topics.  Of all groups, what is wrong with one stays with it, and it comes without
 * offsets.
 */
int krc_group_cluster_read(krc *krc, const char *group, krc_committed_list *offsets,
                           krc_groups *groups, krc_error *error) KRC_MUST_USE;

/*
 * Commits all of a list to a cluster's groups, by nobody in particular.  First it is seen that all
 * partitions are there (KRC_E_NOT_FOUND), and that none of the groups has members (KRC_E_BUSY,
 * which names them).  What comes after that is said with what was committed until then:
 * KRC_E_BUSY: members have come meanwhile.  KRC_E_REFUSED: the coordinator has refused some.
 * KRC_E_TIMEOUT, KRC_E_IO: there was no answer, and whether it was committed is not known.
 */
int krc_group_cluster_commit(krc *krc, const krc_committed_list *list,
                             krc_error *error) KRC_MUST_USE;

/* ---- Committed offsets of a store ------------------------------------------------------------ */

/* Whether a source has such a partition, as far as it knows, and its topic's id (NULL: not wanted),
 * all zero where it has none. */
bool krc_source_has(const krc *source, const char *topic, int32_t partition, struct krc_uuid *id);

/*
 * Adds what a store holds of a group, or of all where `group` is NULL.  `source`: the log that is
 * at hand, NULL: none.  Rows that were read from another cluster than that are KRC_E_MISMATCH where
 * the group was named; else that group is left out, and comes into `groups`, with this error.
 * Where the source's "offset.store.moved.cluster" is true, they are taken, without the topic ids
 * and leader epochs of before.
 */
int krc_committed_load(krc_committed_list *list, krc_groups *groups, const char *store,
                       const char *group, const krc *source, krc_error *error) KRC_MUST_USE;

struct krc_committed_place {
    const char *store;  /* a file, made where there is none */
    const krc *source;  /* the log that the offsets are to be read in, its topics known; NULL: none
                           is at hand */
    bool replaces;      /* the groups leave the cluster that they were read from, as a whole */
    const krc_committed_list *before; /* what the list was made from; NULL: from nothing there */
    const char *reason; /* of resets */
    int64_t now_ms;
};

/*
 * Commits all of a list to a store, in one transaction.  An offset that moves leaves a reset with
 * this reason, begins its account anew and is no longer settled.  Rows get the topic ids of the
 * source, and its cluster gets the groups.
 * KRC_E_STATE: the store is a sink's own, whose files would no longer fit.  KRC_E_MISMATCH: a group
 * was read from another cluster, and neither its "offset.store.moved.cluster" nor `replaces` says
 * that it moves; or `replaces` does, and some of its partitions are not in the list; or a row is of
 * another topic id; or an offset is not the one of `before` any more.
 */
int krc_committed_save(const krc_committed_list *list, const struct krc_committed_place *to,
                       krc_error *error) KRC_MUST_USE;

/* ---- Lag ----------------------------------------------------------------------------------- */

/* How far a group is behind in a partition. */
struct krc_lag {
    const char *topic;
    int32_t partition;
    struct krc_uuid topic_id; /* of the topic that was committed; all zero: unknown */
    int64_t committed;

    /* the answer; -1: not known */
    struct krc_log_offsets log;
    enum krc_range range; /* the committed offset */
    int64_t offsets;   /* up to the last stable offset, from the committed one, or the log start
                          where that is higher; 0 where nothing in between is left to be
                          delivered: markers, aborted transactions, what was compacted away; -1
                          beyond the end */
    int64_t records;   /* that would be delivered there; only where they were to be counted */
    int64_t undecided; /* offsets beyond the last stable offset */
    bool is_recreated; /* the topic was made again: the committed offset is not about it, and lag
                          and records are not known */
    krc_error error;   /* its code is KRC_OK, or why the log is not known */
};

/*
 * Measures them, reading from each committed offset up to the first record, or, where `exact`, all.
 * `krc` reads committed only, and nothing is assigned to it; of a cluster, the topics were loaded
 * (krc_load_topics).  Errors that are not one partition's: as krc_list_offsets and krc_poll.
 */
int krc_measure_lag(krc *krc, struct krc_lag *lags, size_t count, bool exact,
                    krc_error *error) KRC_MUST_USE;

/* Fills no more than `range`, `is_recreated`, `error`, and of `log` what can be had without reading
 * it: where it begins and ends. */
int krc_locate_committed(krc *krc, struct krc_lag *lags, size_t count,
                         krc_error *error) KRC_MUST_USE;

/* ---- Migration ----------------------------------------------------------------------------- */

/* How sure it is where a group goes on elsewhere. */
enum krc_verdict {
    KRC_NOT_FOUND,    /* there is no place, and nothing is to be changed */
    KRC_BY_TIMESTAMP, /* an earlier place: records that were processed come again */
    KRC_EXACT,        /* where the record at the committed offset lies, or where nothing comes again
                         for another reason that is proven */
    KRC_SAME,         /* the offset means the same there: nothing was looked up */
};
const char *krc_verdict_name(enum krc_verdict verdict); /* "exact", "by timestamp", ... */

/* A committed offset that is to be carried from one log into a copy of it. */
struct krc_migration {
    const char *topic;
    const char *to_topic; /* its name there; NULL: the same */
    int32_t partition;
    struct krc_uuid topic_id; /* of the topic that was committed; all zero: unknown */
    int64_t committed;

    /* the answer */
    enum krc_verdict verdict;
    int64_t offset;        /* to be committed there; -1: none was found */
    int64_t record_offset; /* of the next record that would be delivered here; -1: none */
    int before, after;     /* how many of its neighbours agree there, 8 at most */
    bool by_neighbours;    /* exact: for others have the same content, which neighbours decided */
    bool timeless;         /* timestamps differ on the copy, and were left out */
    int64_t again;         /* processed records that come again, at most, of those that are there
                              now; -1: not known */
    char evidence[512];    /* one sentence, or, where it was not found, why */
};

struct krc_migrate_options {
    bool same_offsets; /* offsets mean the same there, whatever ids say */
    bool timeless;     /* the copy has timestamps of its own */
    int64_t window_ms; /* how far timestamps go back within a log, at most */
};

/*
 * Looks for the place in a copy of the log where a group goes on as it would have gone on here:
 * none of the records that would still be delivered lies before it, and in doubt it is an earlier
 * one (admin/migrate_match.h says what that rests on).  The same offset where cluster and topic
 * are the same; else records are compared by content: key, value, headers, timestamp.
 *
 * Both read committed only, and nothing is assigned to them; of clusters the topics were loaded.
 * Either may be NULL where `same_offsets` is set.  What goes wrong with the partition is
 * KRC_NOT_FOUND with the reason; errors are those that concern all: KRC_E_NOMEM.
 */
int krc_migrate(krc *from, krc *to, const struct krc_migrate_options *options,
                struct krc_migration *migration, krc_error *error) KRC_MUST_USE;

/* ---- Transactions -------------------------------------------------------------------------- */

enum krc_transaction_state {
    KRC_TRANSACTION_OPEN,
    KRC_TRANSACTION_COMMITTED,
    KRC_TRANSACTION_ABORTED,
    KRC_TRANSACTION_DOUBTFUL, /* what was skipped as corrupt may have held its marker */
    KRC_TRANSACTION_HANGING,  /* open, and no coordinator is going to end it */
};
const char *krc_transaction_state_name(enum krc_transaction_state state);

/* A transaction as one partition has it. */
struct krc_transaction {
    enum krc_transaction_state state;
    int64_t producer_id;
    int16_t producer_epoch;    /* of its newest batch */
    int64_t first_offset;      /* of its batches of records; -1: only the marker is left */
    int64_t last_offset;       /* -1 of a cluster, too, which does not tell it */
    int64_t marker_offset;     /* -1: none */
    int64_t records;           /* that the log has of it; -1: a cluster's */
    int64_t first_time_ms;     /* when the first batch was written, or, where a cluster's
                                  coordinator knows it, when it was begun; -1: not known */
    int64_t last_time_ms;      /* of the newest batch's records; -1: not known */
    int64_t marker_time_ms;    /* -1: none, or not known */
    bool holds_last_stable_offset; /* which lies where this one begins, that has no marker yet */
};

struct krc_transactions {
    int64_t committed, aborted; /* -1: a cluster's */
    int64_t open, doubtful, hanging;
    int64_t log_start_offset, last_stable_offset;
    int64_t high_watermark; /* -1: of folders */
    int64_t log_end_offset; /* -1: of a cluster */
};

/*
 * Walks a partition of log folders and tells each transaction that reaches beyond its log start
 * offset: those with a marker in the markers' order, then those without, in the order they began.
 * What `each` returns other than 0 ends the walk, and is returned.
 * Errors as krc_log_offsets.
 */
typedef int krc_transaction_fn(void *arg, const struct krc_transaction *transaction);
int krc_list_transactions(const krc *krc, const char *topic, int32_t partition,
                          krc_transaction_fn *each, void *arg, struct krc_transactions *summary,
                          krc_error *error) KRC_MUST_USE;

/* What is known of a transactional id. */
struct krc_transactional_id {
    const char *name;
    int32_t coordinator;   /* a broker's id; -1: not known */
    const char *state;     /* of its newest transaction, as the coordinator calls it: "Ongoing",
                              "CompleteCommit", ...; NULL: not known */
    int32_t timeout_ms;    /* of its transactions; -1: not known */
    int64_t start_time_ms; /* of the transaction that is open; -1: none, or not known */
};

/* Which transactional ids producer ids belong to. */
typedef struct krc_transactional_ids krc_transactional_ids;

krc_transactional_ids *krc_transactional_ids_new(void); /* NULL: out of memory */
void krc_transactional_ids_free(krc_transactional_ids *ids);

/* NULL: not known. */
const struct krc_transactional_id *krc_transactional_id(const krc_transactional_ids *ids,
                                                        int64_t producer_id);

/* Adds what the transaction log of log folders, __transaction_state, says of them: names.  Errors
 * as krc_group_log_read. */
int krc_transactional_ids_read(const krc *krc, krc_transactional_ids *ids,
                               krc_error *error) KRC_MUST_USE;

/*
 * Adds what a cluster's brokers say of them, each of those that it coordinates: names, coordinators
 * and states.  It leaves out those that we may not DESCRIBE.  The cluster's topics were loaded, for
 * its brokers are known then.  KRC_E_UNSUPPORTED: a broker is older than Kafka 3.0.  Other errors
 * as krc_load_topics.
 */
int krc_transactional_ids_ask(krc *krc, krc_transactional_ids *ids,
                              krc_error *error) KRC_MUST_USE;

/* Transactions that are open in a cluster's partition. */
struct krc_open_transactions {
    const char *topic;
    int32_t partition;

    /* the answer */
    struct krc_transaction *list; /* in the order they began; see krc_open_transactions_free */
    size_t count;
    struct krc_transactions summary;
    krc_error error; /* its code is KRC_OK, or why they are not known */
};

/*
 * Asks the partitions' leaders for them, and the coordinators whose they are, adding to `ids`,
 * which is empty before.  `krc` reads uncommitted, nothing is assigned to it, and the topics were
 * loaded.
 *
 * One is hanging where it stays open after all coordinators have said that its producer is none of
 * theirs, or has nothing to end in that partition.  A transactional id that we may not DESCRIBE
 * seems to be nobody's, too.
 *
 * KRC_E_UNSUPPORTED, and other errors that are not one partition's: as krc_transactional_ids_ask.
 * KRC_E_REFUSED: we may not look at a transactional id.
 */
int krc_ask_transactions(krc *krc, struct krc_open_transactions *partitions, size_t count,
                         krc_transactional_ids *ids, krc_error *error) KRC_MUST_USE;
void krc_open_transactions_free(struct krc_open_transactions *partitions, size_t count);

/* ---- Records as text ----------------------------------------------------------------------- */

/* Bytes that grow as more are added. */
typedef struct krc_text krc_text;

krc_text *krc_text_new(void); /* NULL: out of memory */
void krc_text_free(krc_text *text);

/* What was added since it was cleared; valid until the next call. */
struct krc_bytes krc_text_bytes(const krc_text *text);
void krc_text_clear(krc_text *text);

int krc_text_add(krc_text *text, const void *data, size_t len, krc_error *error) KRC_MUST_USE;
int krc_text_add_number(krc_text *text, int64_t number, krc_error *error) KRC_MUST_USE;
int krc_text_add_json_string(krc_text *text, const char *string, krc_error *error) KRC_MUST_USE;

/* A record as a line of JSON (replay/json.h says how), after its partition was named. */
int krc_text_name_partition(krc_text *text, const char *topic, int32_t partition,
                            krc_error *error) KRC_MUST_USE;
int krc_text_add_json(krc_text *text, const struct krc_record *record,
                      enum krc_timestamp_type type, bool base64, krc_error *error) KRC_MUST_USE;

/*
 * A partition's digest, 0 before the first record, with one more record.  It is the CRC-32C of
 *     offset       int64
 *     timestamp    int64   -1: none
 *     key length   int32   -1: null
 *     key
 *     value length int32   -1: null
 *     value
 * of all records in their order, numbers big-endian.
 */
uint32_t krc_digest_record(uint32_t digest, const struct krc_record *record);

/* ---- Verification -------------------------------------------------------------------------- */

/* What is printed of each batch on the way, as Kafka's DumpLogSegments prints it. */
enum krc_dump {
    KRC_DUMP_NOTHING,
    KRC_DUMP_BATCHES,
    KRC_DUMP_RECORDS, /* batches and records, as with --print-data-log */
};

struct krc_verify_options {
    enum krc_dump dump;
    FILE *out; /* of the dump; errors of writing stay in it */
    /* One sentence on what is wrong and where; not a fault: all is well, but it should be known. */
    void (*finding)(void *arg, bool fault, const char *sentence);
    void *arg;
};

struct krc_verify_summary {
    int64_t segments, bytes, batches, records;
    int64_t markers; /* of transactions' ends */
    int64_t log_start_offset, log_end_offset;
    int64_t faults, notes;
};

/*
 * Reads everything of a partition of log folders and checks it: batches and records, and against
 * them the indexes, producer snapshots, leader epochs and checkpoints.  What is wrong are findings;
 * an error means that not all could be read.  KRC_E_NOT_FOUND: no such partition.
 * KRC_E_TOO_LARGE: a batch beyond "receive.message.max.bytes".
 */
int krc_verify(const krc *krc, const char *topic, int32_t partition,
               const struct krc_verify_options *options, struct krc_verify_summary *summary,
               krc_error *error) KRC_MUST_USE;

#endif
