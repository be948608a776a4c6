/*
 * krc.h - read Apache Kafka topics exactly as committed.
 *
 * A consumer (`krc`) reads any number of partitions and hands out batches of records.  In
 * read_committed, the default, records of aborted transactions are left out and nothing at or
 * beyond the last stable offset is delivered.  What became of every offset is counted in an
 * account (struct krc_account): nothing is skipped silently.
 *
 *     krc_config *config = krc_config_new();
 *     krc_config_set(config, "log.dirs", "/var/lib/kafka", &error);
 *     krc_open(&krc, config, &error);
 *     krc_assign(krc, "orders", 0, KRC_EARLIEST, KRC_NO_END, &error);
 *     while (krc_poll(krc, 1000, &batch) == 1) {
 *         while (krc_next(batch, &record) == 1)
 *             use(record.offset, record.key, record.value);
 *         krc_release(batch);
 *     }
 *     krc_close(krc);
 *
 * Conventions
 *   - A function that can fail returns a negative code of enum krc_code, else 0 or what its comment
 *     says; KRC_MUST_USE marks those whose result may not be dropped.
 *   - Offsets, lengths and positions are in records, bytes and bytes; times are in milliseconds
 *     since 1970-01-01 UTC.
 *   - One thread uses a handle at a time.  There are no globals: any number of handles may live in
 *     as many threads.
 *   - What `_new` or `_open` made, `_free` or `_close` ends; both take NULL.
 *   - Strings are UTF-8 and end with a NUL; keys and values are bytes and do not.
 *   - A topic's name is 1 to 249 letters, digits, '.', '_' and '-', and neither "." nor "..",
 *     wherever it comes from.  Messages of errors and events are fit for a terminal: what is not
 *     visible, or not UTF-8, is written as \xNN.  Other strings of brokers and files are as they
 *     are.
 *   - Structs that you fill begin as {0}: what is not set means the usual.  Before version 1.0 they
 *     may grow, and the shared library's number then changes with them.
 */
#ifndef KRC_H
#define KRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define KRC_API __attribute__((visibility("default")))
#define KRC_MUST_USE __attribute__((warn_unused_result))
#define KRC_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define KRC_API
#define KRC_MUST_USE
#define KRC_PRINTF(text, first)
#endif

#define KRC_VERSION "0.1.0"

/* ---- Errors -------------------------------------------------------------------------------- */

/*
 * Every error there is: name, value, meaning.  The values are part of the ABI.
 */
#define KRC_ERRORS(X)                                                                         \
    X(KRC_E_NOMEM, -1, "out of memory")                                                       \
    X(KRC_E_INVALID, -2, "an argument or a property has no such value")                       \
    X(KRC_E_STATE, -3, "the call does not fit the state of its object")                       \
    X(KRC_E_IO, -4, "the operating system refused to read or write")                          \
    X(KRC_E_CORRUPT, -5, "bytes are not what their format demands")                           \
    X(KRC_E_TOO_LARGE, -6, "a length is over a configured limit")                             \
    X(KRC_E_UNSUPPORTED, -7, "a format, codec or property that this build does not know")     \
    X(KRC_E_NOT_FOUND, -8, "no such topic, partition, group or file")                         \
    X(KRC_E_OUT_OF_RANGE, -9, "an offset outside the log, and no policy to go on")            \
    X(KRC_E_TRUNCATED, -10, "the log was truncated below what was read of it")                \
    X(KRC_E_RECREATED, -11, "the topic was deleted and made again")                           \
    X(KRC_E_STORE, -12, "the offset store is damaged, foreign or refuses")                    \
    X(KRC_E_BUSY, -13, "another process or handle owns it")                                   \
    X(KRC_E_NO_SPACE, -14, "the disk is full")                                                \
    X(KRC_E_MISMATCH, -15, "not what the sink or the store was begun with")                   \
    X(KRC_E_AMBIGUOUS, -16, "one partition in two places")                                    \
    X(KRC_E_REFUSED, -17, "a broker refuses, and asking again would not help")                \
    X(KRC_E_TIMEOUT, -18, "no answer within the time that was given")                         \
    X(KRC_E_FENCED, -19, "the group has given the partition to another member")               \
    X(KRC_E_INTERRUPTED, -20, "the application wants an end")

enum krc_code {
    KRC_OK = 0,
#define KRC_ERROR_ENUM(name, value, text) name = value,
    KRC_ERRORS(KRC_ERROR_ENUM)
#undef KRC_ERROR_ENUM
};

/*
 * Where something went wrong, filled by the function that failed.  `message` is one sentence
 * that says what, where and, where there is something, what to do.
 */
typedef struct krc_error {
    int code;              /* a krc_code, KRC_OK while nothing failed */
    int32_t partition;     /* -1 where none is meant */
    int64_t offset;        /* -1 where none is meant: the first offset that is concerned */
    int64_t file_position; /* -1 where none is meant */
    char topic[256];       /* "" where none is meant */
    char message[1024];
} krc_error;

/* The name of a code ("KRC_E_CORRUPT") and its meaning; never NULL. */
KRC_API const char *krc_code_name(int code);
KRC_API const char *krc_code_text(int code);

/* ---- Records ------------------------------------------------------------------------------- */

/* Borrowed bytes.  `data` is NULL for null; an empty string has `len` 0 and a `data` not NULL. */
struct krc_bytes {
    const uint8_t *data;
    size_t len;
};

enum krc_timestamp_type { KRC_NO_TIMESTAMP, KRC_CREATE_TIME, KRC_LOG_APPEND_TIME };

/*
 * A record: views into its batch, valid until the batch is released.
 */
struct krc_record {
    int64_t offset;
    int64_t timestamp_ms; /* -1 where the record has none (magic 0, Kafka 0.7) */
    int32_t leader_epoch; /* of its batch; -1 where it has none (magic 0 and 1) */
    int32_t header_count;
    struct krc_bytes key;     /* data NULL: a null key */
    struct krc_bytes value;   /* data NULL: a null value, a tombstone in a compacted topic */
    struct krc_bytes headers; /* as encoded; walk them with krc_header_next */
};

struct krc_header {
    struct krc_bytes key;   /* never null */
    struct krc_bytes value; /* data NULL: a null value */
};

/*
 * Walks a record's headers in their order, repeats included:
 *     struct krc_bytes rest = record.headers;
 *     while (krc_header_next(&rest, &header)) ...
 */
KRC_API bool krc_header_next(struct krc_bytes *rest, struct krc_header *header);

struct krc_uuid {
    uint8_t bytes[16]; /* all zero: unknown */
};

/* ---- Every offset accounted for ------------------------------------------------------------ */

/*
 * What became of the offsets in [from, to): each has exactly one fate, so that
 * delivered + aborted + control + absent + lost + skipped = to - from.
 */
struct krc_account {
    int64_t from, to;
    int64_t delivered; /* of records that were handed on */
    int64_t aborted;   /* in batches of aborted transactions, holes included */
    int64_t control;   /* of control batches, emptied ones too */
    int64_t absent;    /* compacted away */
    int64_t lost;      /* gone before they were read: below the log start offset, missing files */
    int64_t skipped;   /* in corrupt batches that krc was told to skip ("skip.corrupt.batches"), and
                          in transactions that can no longer be decided because of these, or of
                          what is lost */
};

/* ---- Configuration ------------------------------------------------------------------------- */

/*
 * Properties by Kafka's names.  docs/configuration.md lists them all with defaults and meaning.
 */
typedef struct krc_config krc_config;

KRC_API krc_config *krc_config_new(void); /* NULL: out of memory */
KRC_API void krc_config_free(krc_config *config);

/* Sets a property.  KRC_E_INVALID: no such property (the message offers the nearest name), one of
 * Kafka's that does not apply (the message says why), or no such value (the message says which
 * there are).  KRC_E_UNSUPPORTED: one that this build cannot heed, and that may not be ignored.
 * `error` may be NULL here and everywhere. */
KRC_API int krc_config_set(krc_config *config, const char *name, const char *value,
                           krc_error *error) KRC_MUST_USE;

/* Adds one log folder: a broker's data folder, one TOPIC-PARTITION folder, or one .log file.
 * "log.dirs" sets several, separated by commas; this takes a path with a comma as it stands. */
KRC_API int krc_config_add_log_dir(krc_config *config, const char *path,
                                   krc_error *error) KRC_MUST_USE;

/*
 * Sets what a Java properties file says, as Kafka's own tools take one (--command-config).  What
 * krc_config_set has set, before or after, is kept; of two files the later one counts.
 *
 * Properties of Kafka's clients that do not apply to krc (deserializers, settings of producers) are
 * passed over, and `ignored` is told of each; it may be NULL.
 *
 * KRC_E_NOT_FOUND, KRC_E_IO, KRC_E_TOO_LARGE: the file.  KRC_E_INVALID: a line of it, which the
 * message names, as krc_config_set has it.  KRC_E_UNSUPPORTED: likewise.  Nothing was set then.
 */
typedef void krc_ignored_fn(void *arg, const char *name);
KRC_API int krc_config_load(krc_config *config, const char *path, krc_ignored_fn *ignored,
                            void *arg, krc_error *error) KRC_MUST_USE;

/*
 * How an application ends what takes long.  `interrupt` is asked several times a second by each
 * call that waits for a cluster or the offset store, walks a log or lists folders, in the thread
 * that calls; of krc_commit_async in libuv's pool, and of a replay with `jobs` above 1 in any, one
 * at a time.  From when it returns true
 *
 *   - such a call returns KRC_E_INTERRUPTED, and may be made again;
 *   - krc_commit and krc_leave have three more seconds for each answer, until one does not come:
 *     then KRC_E_INTERRUPTED says that it is not known whether it was committed;
 *   - an offset store that another process has locked is waited for no longer than a second: then
 *     KRC_E_BUSY;
 *   - krc_poll returns what is at hand, and where there is nothing KRC_E_INTERRUPTED, by which no
 *     partition has failed;
 *   - krc_replay ends as by its `stop`.
 *
 * It counts for what is opened, or replayed, with the configuration after; NULL: never.
 */
typedef bool krc_interrupt_fn(void *arg);
KRC_API void krc_config_set_interrupt(krc_config *config, krc_interrupt_fn *interrupt, void *arg);

/*
 * A function that takes notes (KRC_EVENT_NOTE) about the cluster, the folders or whole topics at
 * once, while a call waits too, instead of krc_event_next: what keeps it from going on is among
 * them, said once it has lasted for five seconds and twice a minute.  It may not call functions of
 * the handle.  It counts for what is opened with the configuration after (krc_replay has its own);
 * NULL: krc_event_next has all.
 */
struct krc_event;
typedef void krc_note_fn(void *arg, const struct krc_event *event);
KRC_API void krc_config_set_note(krc_config *config, krc_note_fn *note, void *arg);

/* A property's value as text, "[hidden]" for a password, a private key and sasl.jaas.config; NULL
 * where there is no such property or it has no value. */
KRC_API const char *krc_config_get(const krc_config *config, const char *name);

/* Whether a file that holds a secret, as these properties have it, can be read by others than its
 * owner; `text` then says which. */
KRC_API bool krc_config_warning(const krc_config *config, char *text, size_t size);

/* The i-th property there is, for listings; false beyond the last. */
struct krc_property {
    const char *name;
    const char *type;          /* "int", "string", "one of: a, b", ... */
    const char *default_value; /* "" for none */
    const char *meaning;
};
KRC_API bool krc_config_property(size_t i, struct krc_property *property);

/* ---- A consumer ---------------------------------------------------------------------------- */

typedef struct krc krc;

/*
 * Opens what the configuration names: log folders ("log.dirs"), or a cluster
 * ("bootstrap.servers"), to which nothing is sent yet.  The configuration is copied.
 * KRC_E_INVALID: no source is configured, or both; or a folder's name is no topic's.
 * KRC_E_NOT_FOUND, KRC_E_IO: a folder cannot be read.  KRC_E_AMBIGUOUS: one partition lies in two
 * folders.  KRC_E_CORRUPT: a checkpoint file is no checkpoint.  KRC_E_STORE, KRC_E_BUSY: the offset
 * store.
 * KRC_E_STATE: the store is that of a replay's output.
 */
KRC_API int krc_open(krc **krc, const krc_config *config, krc_error *error) KRC_MUST_USE;

/* Ends a consumer, whatever is under way.  Batches that were not released are released.  Commits
 * nothing; the callback of a krc_commit_async that is under way is not called. */
KRC_API void krc_close(krc *krc);

/* Ends a wait in krc_poll, which returns 0.  From any thread, and from a signal handler. */
KRC_API void krc_wakeup(krc *krc);

/*
 * A cluster's topics: asks for these, or for all where `count` is 0, and waits up to
 * "default.api.timeout.ms"; krc_source_partition then lists their partitions.  Log folders list
 * theirs without it.
 * KRC_E_NOT_FOUND: the cluster has no such topic.  KRC_E_INVALID: no topic has such a name.
 * KRC_E_REFUSED: it does not let us read one.  KRC_E_TIMEOUT: no answer.  KRC_E_IO: no server is
 * within reach, or none is a Kafka broker; the message says of each why.  KRC_E_STATE: an embedded
 * consumer, which does not wait.
 */
KRC_API int krc_load_topics(krc *krc, const char *const *topics, size_t count,
                            krc_error *error) KRC_MUST_USE;

/* Asks a cluster also for the eligible leader replicas of the topics that were loaded (Kafka 4.0
 * and later; of others they stay unknown).  Errors as krc_load_topics. */
KRC_API int krc_load_eligible_leaders(krc *krc, krc_error *error) KRC_MUST_USE;

/* The i-th partition of the source, sorted by topic and number; false beyond the last. */
struct krc_partition {
    const char *topic; /* valid until krc_close */
    int32_t partition;
    struct krc_uuid topic_id;
    const char *path;       /* of its log folder; NULL: a cluster's */
    int64_t high_watermark; /* of a folder: the checkpointed one, -1: none; of a cluster: -1 */
    /* of a cluster, valid until the next call that waits or polls: */
    bool is_internal;
    int32_t leader;       /* broker's id; -1: none */
    int32_t leader_epoch; /* -1: not told */
    const int32_t *replicas, *in_sync, *offline; /* ids of brokers; the preferred leader first */
    int32_t replica_count, in_sync_count, offline_count;
    const int32_t *eligible; /* leader replicas, known after krc_load_eligible_leaders */
    int32_t eligible_count;  /* -1: not known */
};
KRC_API bool krc_source_partition(const krc *krc, size_t i, struct krc_partition *partition);

/* The i-th broker of a cluster that is known; false beyond the last. */
struct krc_broker {
    int32_t id;
    const char *host; /* valid until the next call that waits or polls, as `rack` */
    int32_t port;
    const char *rack; /* NULL: none */
};
KRC_API bool krc_source_broker(const krc *krc, size_t i, struct krc_broker *broker);

/* Which cluster the source is of; "" where that is not known (yet). */
KRC_API const char *krc_cluster_name(const krc *krc);

/* Offsets to be looked up. */
enum krc_offset_kind {
    KRC_LOG_START_OFFSET,
    KRC_LAST_STABLE_OFFSET, /* where read_committed ends */
    KRC_HIGH_WATERMARK,     /* a folder's checkpointed one */
    KRC_LOG_END_OFFSET,     /* of folders; no client can ask a cluster for it */
    KRC_OFFSET_FOR_TIME,    /* of the first record with a timestamp at or after `timestamp_ms`; the
                               end of what the isolation level shows where there is none */
};
struct krc_offset_query {
    const char *topic;
    int32_t partition;
    enum krc_offset_kind kind;
    int64_t timestamp_ms;
    int64_t offset; /* the answer, -1: there is none */
    krc_error error; /* its code is KRC_OK, or why this one has no answer; KRC_E_TIMEOUT: others
                        had one in time */
};

/* Looks them up, those of a cluster together, waiting up to "default.api.timeout.ms".  The topics
 * of a cluster are those of krc_load_topics.  Errors that are not one query's: as
 * krc_load_topics. */
KRC_API int krc_list_offsets(krc *krc, struct krc_offset_query *queries, size_t count,
                             krc_error *error) KRC_MUST_USE;

/* Where a log begins and ends. */
struct krc_log_offsets {
    int64_t log_start_offset;
    int64_t last_stable_offset; /* where read_committed ends */
    int64_t high_watermark;     /* a folder's checkpointed one; -1 where there is none */
    int64_t log_end_offset;
};

/* Of a folder, this reads the headers of the whole log to find its last stable offset.
 * KRC_E_NOT_FOUND: no such partition.  KRC_E_CORRUPT, KRC_E_IO: the log.  Of a cluster: as
 * krc_list_offsets, and the log end offset is -1. */
KRC_API int krc_log_offsets(krc *krc, const char *topic, int32_t partition,
                            struct krc_log_offsets *offsets, krc_error *error) KRC_MUST_USE;

/* The first offset whose record's timestamp is at or after `timestamp_ms`; the end of what the
 * isolation level shows where there is none.  Errors as krc_log_offsets. */
KRC_API int krc_offset_for_time(krc *krc, const char *topic, int32_t partition,
                                int64_t timestamp_ms, int64_t *offset,
                                krc_error *error) KRC_MUST_USE;

/* Where reading starts, beside an offset of 0 or more. */
enum {
    KRC_LATEST = -1,   /* the end of what the isolation level shows */
    KRC_EARLIEST = -2, /* the log start offset */
    KRC_STORED = -3,   /* the committed offset; where there is none, by "auto.offset.reset" */
};

/* For `until`: no end; and the end of what the isolation level shows, as it is when reading
 * begins. */
#define KRC_NO_END INT64_MAX
#define KRC_PRESENT_END KRC_LATEST

/*
 * Adds a partition to what krc_poll reads, from `start` to `until` (exclusive; KRC_NO_END,
 * KRC_PRESENT_END).  An offset outside the log is not an error here: krc_poll then acts by
 * "auto.offset.reset", and krc_event_next tells.  A cluster's partition is waited for where it is
 * not known yet.
 * KRC_E_NOT_FOUND: the folders have no such partition.  KRC_E_INVALID: no topic has such a name,
 * or no partition, or place to start, such a number.  KRC_E_STATE: it is assigned already, or
 * KRC_STORED without an offset store and, of a cluster, without a "group.id".
 */
KRC_API int krc_assign(krc *krc, const char *topic, int32_t partition, int64_t start,
                       int64_t until, krc_error *error) KRC_MUST_USE;

/*
 * Assigns all partitions of a cluster's topic, or of all topics that a regular expression matches,
 * which begins with a ^ (internal topics only where "exclude.internal.topics" is false): a POSIX
 * extended one, with \d and (?i) besides; it need not match up to the end of the name.  References
 * back (\1), and one whose repetitions come to more than 50,000 steps, are refused.  Partitions and
 * topics that are made while it runs are added as they are found, from their beginning (KRC_STORED:
 * as stored), and KRC_EVENT_ASSIGNED tells.
 * A topic that is not there is waited for, and a KRC_EVENT_NOTE says so.
 * KRC_E_INVALID: no topic has such a name, no regular expression, or no cluster.  KRC_E_STATE:
 * KRC_STORED without an offset store and without a "group.id".
 */
KRC_API int krc_subscribe(krc *krc, const char *topic, int64_t start, int64_t until,
                          krc_error *error) KRC_MUST_USE;

/*
 * Joins "group.id" as a member ("group.protocol", "group.instance.id" and so on): the group gives
 * it partitions of these topics, a leading ^ makes it a regular expression as krc_subscribe's, and
 * takes them away again as members come and go.  They are read from the group's committed offset;
 * krc_commit commits there, as a member.
 *
 *   KRC_EVENT_ASSIGNED  the partition is read from now on, as if by krc_assign
 *   KRC_EVENT_REVOKED   it goes to another member: nothing more of it is delivered.  What is
 *                       acknowledged is committed, and the partition given up, by the first
 *                       krc_poll after the one that raised this for which no batch of it is out
 *   KRC_EVENT_FENCED    it is gone already: nothing of it can be acknowledged or committed any
 *                       more, and what was not is delivered to another member
 *
 * krc_poll returns 0 as soon as it has raised one of the last two.  The group hears of us only
 * while krc_poll, or another call that waits, runs (an embedded consumer: while its loop does): a
 * member that does not poll for longer than "session.timeout.ms" is fenced.
 *
 * krc_poll returns KRC_E_REFUSED, or KRC_E_UNSUPPORTED, where the group will not have us.
 * KRC_E_INVALID: no cluster, no topic has such a name, no regular expression, or a classic
 * member's "heartbeat.interval.ms" is not below its "session.timeout.ms".
 * KRC_E_STATE: no "group.id", an offset store, or something is assigned or subscribed to.
 */
KRC_API int krc_join(krc *krc, const char *const *topics, size_t count,
                     krc_error *error) KRC_MUST_USE;

/* Commits what is acknowledged, leaves the group, and waits until its coordinator knows; a static
 * member ("group.instance.id") may come again for its partitions.  krc_close leaves, too, but
 * commits nothing, and waits for a second at most.
 * KRC_E_STATE: no group was joined, or an embedded consumer.  Errors as krc_commit. */
KRC_API int krc_leave(krc *krc, krc_error *error) KRC_MUST_USE;

/* Reads a partition no more.  What was not committed of it is not any more either; batches that are
 * out stay valid.  KRC_E_NOT_FOUND: it is not assigned. */
KRC_API int krc_unassign(krc *krc, const char *topic, int32_t partition) KRC_MUST_USE;

/* Goes on elsewhere: an offset, KRC_EARLIEST or KRC_LATEST; `until` stays.  It wins over all that
 * is under way, and begins another account; what was delivered before cannot be acknowledged any
 * more.
 * KRC_E_NOT_FOUND: not assigned.  KRC_E_INVALID: no such place. */
KRC_API int krc_seek(krc *krc, const char *topic, int32_t partition, int64_t offset,
                     krc_error *error) KRC_MUST_USE;

/* A paused partition is not fetched, and krc_poll returns nothing of it.  KRC_E_NOT_FOUND: not
 * assigned. */
KRC_API int krc_pause(krc *krc, const char *topic, int32_t partition) KRC_MUST_USE;
KRC_API int krc_resume(krc *krc, const char *topic, int32_t partition) KRC_MUST_USE;

/* Records of one partition, borrowed until released. */
typedef struct krc_batch krc_batch;

/*
 * The next batch of records: 1 a batch; 0 nothing within `timeout_ms` (-1: wait for ever), after
 * krc_wakeup, or because every assigned partition has ended (krc_ended; log folders always end);
 * negative: an error, explained by krc_last_error.  An error concerns one partition, which is not
 * read further and whose position holds where the error lies; the others go on at the next call.
 * A cluster that is out of reach is no error: it is tried again until it answers.
 * Partitions of a cluster take turns; those of log folders come one after the other.
 * KRC_E_MISMATCH: the offset store's rows of this group were read from another cluster (of log
 * folders, krc_assign says so).  KRC_E_STATE: an embedded consumer has callbacks instead.
 */
KRC_API int krc_poll(krc *krc, int timeout_ms, krc_batch **batch) KRC_MUST_USE;

/* Whether each assigned partition has reached its end or failed. */
KRC_API bool krc_ended(const krc *krc);

/* Why nothing comes: what each broker said last, as a sentence in `text`; "" where all is well. */
KRC_API void krc_describe_brokers(const krc *krc, char *text, size_t size);

/* What made the last krc_poll fail; valid until the next call with this handle. */
KRC_API const krc_error *krc_last_error(const krc *krc);

/* The next record of a batch: 1 a record, 0 the end.  A batch is checked as a whole before it is
 * handed out, so this cannot fail. */
KRC_API int krc_next(krc_batch *batch, struct krc_record *record) KRC_MUST_USE;

struct krc_batch_info {
    const char *topic; /* valid until krc_close */
    int32_t partition;
    int32_t leader_epoch;          /* -1: none */
    int64_t base_offset;           /* of the batch as it is stored: records to be delivered may
                                      begin later and end earlier */
    int64_t next_offset;           /* to acknowledge when all of it is done with */
    int32_t records;               /* that krc_next delivers */
    enum krc_timestamp_type timestamp_type;
};
KRC_API void krc_batch_info(const krc_batch *batch, struct krc_batch_info *info);

/* Gives a batch back; its records are invalid from now on.  In any order.  NULL is fine. */
KRC_API void krc_release(krc_batch *batch);

/*
 * Says that everything below `next_offset` is done with; krc_commit commits no more than that.
 * Cumulative: never goes back.  Offsets behind the last acknowledged batch that hold nothing to
 * deliver (markers, aborted transactions) are acknowledged with it.  An offset inside a batch
 * counts while that batch is held; once it is released, only up to the batch's begin; of more
 * than 32 batches that were released without one, not every begin is kept: up to one before it.
 * KRC_E_INVALID: below what was acknowledged, or beyond what was delivered.  KRC_E_NOT_FOUND: not
 * assigned.
 */
KRC_API int krc_ack(krc *krc, const char *topic, int32_t partition, int64_t next_offset,
                    krc_error *error) KRC_MUST_USE;

/*
 * Commits what was acknowledged.  Where there is an offset store, it decides: offsets, accounts and
 * resets go there in one transaction on disk, and the cluster's group is informed after, where
 * "commit.to.group" says so (a KRC_EVENT_NOTE tells where that fails).  Without one the group is
 * the store, in which there are offsets, leader epochs and no accounts.
 *
 * KRC_E_STATE: neither a store nor a "group.id" of a cluster, or a replay has begun to use the
 * store.  KRC_E_MISMATCH: the store has another offset than this handle read or committed last, for
 * another process commits for the same group, or the offset was reset; nothing was committed, nor
 * will be: close the handle.  KRC_E_NO_SPACE, KRC_E_STORE, KRC_E_IO: nothing was committed; may be
 * tried again.  Of a group: KRC_E_FENCED, a partition is not ours any more; KRC_E_REFUSED, the
 * coordinator does not take them, from somebody who is no member while there are some, above all;
 * KRC_E_TIMEOUT, it is not known whether they were committed.
 */
KRC_API int krc_commit(krc *krc, krc_error *error) KRC_MUST_USE;

struct sqlite3;

/*
 * Keeps committed offsets in the application's own SQLite database instead of a store's file:
 * krc_assign(KRC_STORED) reads them through this connection and krc_commit writes them through it,
 * inside the transaction that is open there, so that results and offsets are committed together:
 *
 *     sqlite3_exec(db, "BEGIN IMMEDIATE", ...);
 *     ... insert what was made of the records ...
 *     krc_ack(krc, "orders", 0, info.next_offset, &error);
 *     krc_commit(krc, &error);
 *     sqlite3_exec(db, "COMMIT", ...);
 *
 * Where no transaction is open, krc_commit uses one of its own.  Inside one, krc_commit that fails
 * has changed nothing and the transaction can go on, unless SQLite itself has rolled it back (on a
 * full disk, for one), which sqlite3_get_autocommit tells.
 *
 * When a transaction with a krc_commit in it is rolled back, the handle is ahead of what is stored:
 * close it, open another, and go on from KRC_STORED.  The same goes for a COMMIT that fails, unless
 * it is tried again.
 *
 * The tables (krc_offsets, krc_histories, krc_resets, krc_schema; docs/store.md) are made where
 * they are missing, in a transaction of their own.  `db` is of the SQLite library krc is linked
 * to; its settings count (busy timeout, "synchronous", "trusted_schema"); it stays open, and is
 * closed after the handle.  Several handles may share it, in one thread.
 *
 * KRC_E_STATE: the handle has a store, a partition is assigned, or a transaction is open in `db`.
 * KRC_E_STORE: other tables have these names, one of them is gone, or a newer krc made them, or
 * `db` is a store's file.
 * KRC_E_BUSY: it is locked, for longer than the connection's busy timeout.
 * KRC_E_IO, KRC_E_NO_SPACE: it cannot be read or written.
 */
KRC_API int krc_store_sqlite_attach(krc *krc, struct sqlite3 *db, krc_error *error) KRC_MUST_USE;

/*
 * The same without waiting: the writing is done in a thread of libuv's pool, and `done` is called
 * by the next krc_poll after that, or on the application's loop, with KRC_OK or an error as
 * krc_commit's.  What is acknowledged meanwhile is for the next commit.  A krc_close in it
 * only makes krc_poll return KRC_E_STATE: it is to be called again then.  Where a group is the
 * store, it is the coordinator's answer that is not waited for.
 * KRC_E_BUSY: one is under way.  KRC_E_STATE: no store and no "group.id", a store in the
 * application's own database, or log folders.
 */
typedef void krc_committed_fn(void *arg, const krc_error *error);
KRC_API int krc_commit_async(krc *krc, krc_committed_fn *done, void *arg,
                             krc_error *error) KRC_MUST_USE;

/* Where a partition stands. */
struct krc_position {
    int64_t position;           /* the next offset to be read */
    int64_t acknowledged;       /* below this everything is acknowledged */
    int64_t committed;          /* -1: nothing was committed yet */
    int64_t last_stable_offset; /* -1: not known yet */
    int64_t high_watermark;     /* -1: not known */
    int64_t log_end_offset;     /* -1: not known (yet; never of a cluster) */
    int64_t lag; /* offsets from `position` to the end of what is visible; -1: not known yet */
    int32_t leader_epoch;       /* of the batch before `acknowledged`, -1: none */
    int64_t undecided; /* offsets between the last stable offset and the end that was asked for */
    struct krc_account read;         /* of [start, position) */
    struct krc_account account;      /* of [start, acknowledged) */
};
/* KRC_E_NOT_FOUND: not assigned. */
KRC_API int krc_position(const krc *krc, const char *topic, int32_t partition,
                         struct krc_position *position) KRC_MUST_USE;

/*
 * What happened besides records.  Offsets: `from` and `to` frame the range that the event is about.
 */
#define KRC_EVENTS(X)                                                                          \
    X(KRC_EVENT_CAUGHT_UP, "caught up") /* the end, as it is or as asked for: at `from` */     \
    X(KRC_EVENT_RESET, "reset")         /* moved from `from` to `to`, by policy */             \
    X(KRC_EVENT_LOST, "lost")           /* [from, to) is gone */                               \
    X(KRC_EVENT_SKIPPED, "skipped")     /* [from, to) is corrupt, or cannot be decided */      \
    X(KRC_EVENT_TRUNCATED, "truncated") /* the log was truncated at `to`; was at `from` */     \
    X(KRC_EVENT_RECREATED, "recreated") /* another topic of the same name; was at `from` */    \
    X(KRC_EVENT_NOTE, "note")           /* nothing is lost, but it should be known */          \
    X(KRC_EVENT_ASSIGNED, "assigned")   /* a partition that was found while it runs, or that the
                                           group gives */                                      \
    X(KRC_EVENT_REVOKED, "revoked")     /* the group gives the partition to another member */  \
    X(KRC_EVENT_FENCED, "fenced")       /* it has: the partition is not ours any more */       \
    X(KRC_EVENT_MISJUDGED, "misjudged") /* a transaction's marker, at `to`, shows that its records
                                           from `from` on were delivered though it was aborted, or
                                           left out though it was committed: the broker's list of
                                           aborted transactions is wrong */

enum krc_event_type {
#define KRC_EVENT_ENUM(name, text) name,
    KRC_EVENTS(KRC_EVENT_ENUM)
#undef KRC_EVENT_ENUM
};

struct krc_event {
    enum krc_event_type type;
    const char *topic;  /* "": it is about the whole consumer; valid until krc_close */
    int32_t partition;  /* -1: it is about the whole topic, or consumer (NOTE) */
    int64_t from, to;
    struct krc_account account; /* TRUNCATED, RECREATED: of what was read of the history that has
                                   ended; the next one's begins anew */
    char message[512]; /* one sentence */
};

/* "reset", "lost" and so on, as above. */
KRC_API const char *krc_event_name(enum krc_event_type type);

/* The next event: 1 an event, 0 none left.  Events are raised by krc_poll. */
KRC_API int krc_event_next(krc *krc, struct krc_event *event) KRC_MUST_USE;

/* ---- In an event loop ---------------------------------------------------------------------- */

struct uv_loop_s;

/* Called from the loop, one at a time; any may be NULL. */
struct krc_callbacks {
    void *arg;
    /* A batch, to be released by krc_release, now or later.  While batches of
     * "buffered.max.bytes" are held, nothing more is fetched. */
    void (*batch)(void *arg, krc *krc, krc_batch *batch);
    void (*event)(void *arg, krc *krc, const struct krc_event *event);
    /* A partition has failed, as krc_poll says it. */
    void (*failed)(void *arg, krc *krc, const krc_error *error);
    /* Each assigned partition has reached its end or failed. */
    void (*ended)(void *arg, krc *krc);
};

/*
 * Opens a cluster in the application's own libuv loop (`uv_loop_t` is a struct uv_loop_s).  All
 * functions but krc_poll and those that wait (krc_load_topics, krc_list_offsets, krc_log_offsets,
 * krc_offset_for_time) may be called, from the loop's thread, in callbacks too.  krc_close may be
 * called in a callback, and takes effect when that returns; the loop has to run on until it ends of
 * itself, so that sockets are closed (also after krc_open_embedded has failed).  A krc_commit_async
 * that is under way is waited for by krc_commit, krc_assign with KRC_STORED, krc_unassign and
 * krc_close.
 * Errors as krc_open; KRC_E_INVALID: log folders, which are read with krc_poll.
 */
KRC_API int krc_open_embedded(krc **krc, const krc_config *config, struct uv_loop_s *loop,
                              const struct krc_callbacks *callbacks, krc_error *error) KRC_MUST_USE;

/* ---- Replay: exactly once into files or a SQLite table ------------------------------------- */

/*
 * Writes partitions out so that no record is there twice and none is missing, whatever happens:
 * stopped at any instant and called again with the same options, the result is byte for byte that
 * of one undisturbed call.
 *
 * Output is flushed to disk, then one transaction stores its length, the position and the account.
 * The next call cuts the output back to that length and goes on from that position.
 */
enum krc_replay_format {
    KRC_REPLAY_JSONL,   /* a JSON object a line */
    KRC_REPLAY_RAW,     /* values, with a delimiter behind each */
    KRC_REPLAY_SEGMENT, /* log segments: batches as they are, aborted ones left out */
};
enum krc_replay_compression { KRC_REPLAY_PLAIN, KRC_REPLAY_GZIP, KRC_REPLAY_ZSTD };

struct krc_replay_partition {
    const char *topic;
    int32_t partition;
    int64_t start; /* as in krc_assign; looked at only while nothing of it was written yet */
    int64_t until; /* as in krc_assign; of a cluster that is not followed, KRC_NO_END is the present
                      end */
};

/* How far it has come: numbers of this call. */
struct krc_replay_progress {
    int64_t records;
    int64_t bytes;         /* of batches read */
    int64_t offsets;       /* passed, of: */
    int64_t total_offsets; /* as the logs were when they were opened; grows as they are */
};

/* What became of a partition, each time its replay ends: once, but as often as a group takes it from
 * a member. */
struct krc_replay_result {
    const char *topic;
    int32_t partition;
    int32_t history;
    struct krc_account account; /* of all that was ever read into this sink's history */
    int64_t undecided;
};

typedef struct krc_replay_options {
    const char *to; /* a folder, made where there is none, or "sqlite:FILE" */
    enum krc_replay_format format;
    enum krc_replay_compression compression;
    bool base64;          /* jsonl: all byte strings in base64 */
    struct krc_bytes delimiter; /* raw: behind each value, up to 32 bytes; data NULL: a newline */
    int64_t rotate_bytes; /* another file when one has so many; 0: never */
    int rotate_hours;     /* another file when a batch's time enters a later span of so many hours,
                             counted from 1970 (UTC): 1 for each hour, 24 for each day; 0: never */
    int jobs;             /* partitions at a time, 1 and above; SQLite: 1 */
    int64_t max_records;  /* end when the output holds so many, of all these partitions; 0: no
                             limit; goes with one job.  Segments end before a batch that holds
                             more */
    bool new_history;     /* go on into new files where the log was truncated below what was
                             written, or the topic made again; without it that is an error */
    bool follow;          /* a cluster: go on behind the end, until `stop` says so; commits also
                             after a second without data */
    const struct krc_replay_partition *partitions;
    size_t partition_count;
    bool join;            /* a cluster: instead, the partitions that "group.id" gives, see below */
    bool recover;         /* join: do no more than see what became of the last commits */
    const char *const *topics; /* join: as in krc_join */
    size_t topic_count;
    bool (*stop)(void *arg); /* asked several times a second: true ends.  Following, what was taken
                                is committed; else the next call goes on from the last commit */
    bool (*wants)(void *arg, const char *topic, int32_t partition); /* following, and no member:
                                whether to add a partition that was found meanwhile */
    void *arg; /* for the callbacks, any of which may be NULL; they come one at a time, with
                  `jobs` above 1 from any thread */
    void (*progress)(void *arg, const struct krc_replay_progress *progress);
    void (*event)(void *arg, const struct krc_event *event);
    void (*result)(void *arg, const struct krc_replay_result *result);
    void (*failure)(void *arg, const krc_error *error); /* each partition's that fails */
} krc_replay_options;

/*
 * Replays.  The store is "offset.store.file", or krc.db in the folder, or the SQLite file itself.
 * Goes on with other partitions after one has failed, and returns the first failure.
 *
 * As a member of a group (`join`), several replays on several machines share topics, each with an
 * output of its own.  There the group's committed offset decides: what was written is flushed,
 * stored as pending, committed to the group, and then confirmed, or, where the group refuses
 * (another member has the partition), cut off again.  A replay that was killed asks the group when
 * it is called again (or with `recover`): so no record is in two outputs, and none is in none,
 * whoever dies when.  Each partition has a file for each stretch of it (its first offset is in the
 * name), and an account of the newest; a partition is read from the group's committed offset, or by
 * "auto.offset.reset".  Where one cannot be read, the member leaves.  Neither segments nor
 * "offset.store.file" go with it, nor brokers before Kafka 2.5, which do not tell of a commit that
 * is still being written (KRC_E_UNSUPPORTED).
 *
 * KRC_E_BUSY: another process writes there; the message names it.  KRC_E_MISMATCH: the output was
 * begun with other options, from another cluster, or folder or store hold other things; of a
 * member, other things than the group says, or it does not say what it has.
 * KRC_E_TRUNCATED, KRC_E_RECREATED: see new_history.  KRC_E_NO_SPACE: the disk is full; nothing is
 * lost, call again when there is room.  KRC_E_CORRUPT: a batch of the source, or output that is
 * shorter than what was committed.  KRC_E_INVALID: options that do not go together,
 * or no topic has such a name.
 */
KRC_API int krc_replay(const krc_config *config, const krc_replay_options *options,
                       krc_error *error) KRC_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
