/*
 * The offset store: one SQLite file that holds, for each group, committed offsets with leader
 * epoch, topic id, metadata and commit time; histories with their accounts; resets; and what an
 * exactly-once sink has written.
 *
 * Everything is written between krc_store_begin and krc_store_commit: one transaction, on disk
 * (WAL, synchronous=FULL) when krc_store_commit returns.  Several processes may use one file.
 * A file that is damaged, foreign or of a newer schema is refused and stays untouched; one of an
 * older schema is upgraded when it is opened to be written, in one transaction.
 */
#ifndef KRC_STORE_STORE_H
#define KRC_STORE_STORE_H

#include "base/interrupt.h"

struct krc_store;

enum krc_store_mode {
    KRC_STORE_CREATE,    /* read and write, made where there is none */
    KRC_STORE_EXISTING,  /* read and write, KRC_E_NOT_FOUND where there is none */
    KRC_STORE_READ_ONLY, /* KRC_E_NOT_FOUND where there is none */
};

/* Reads the small tables, of offsets, accounts, sinks and settings, to see that they are whole.
 * The file's schema is not trusted: its triggers, views and checks call harmless functions only.
 * KRC_E_STORE: damaged, without one of its tables, foreign, of a newer schema, or on a network file
 * system and to be written; KRC_E_IO: may not be read or written. */
int krc_store_open(struct krc_store **store, const char *path, enum krc_store_mode mode,
                   krc_error *error) KRC_MUST_USE;

/* The same for an application that may want an end, which outlives the store (NULL: it does not): a
 * lock of another process is waited for no longer than a second then, in any call. */
int krc_store_open_until(struct krc_store **store, const char *path, enum krc_store_mode mode,
                         const struct krc_interrupt *interrupt, krc_error *error) KRC_MUST_USE;

/*
 * The same tables in an application's database, through its own connection, which has to outlive
 * the store: named krc_offsets, krc_histories and krc_resets, with their version in krc_schema, and
 * made where they are missing.  A transaction is then a part of the application's, where that is
 * open.  Sinks and settings are not kept there.
 *
 * KRC_E_STATE: a transaction is open now.  KRC_E_STORE: tables of these names that are not ours or
 * of a newer schema, some of them but not all, or a database that is an offset store itself.
 * KRC_E_BUSY, KRC_E_IO, KRC_E_NO_SPACE: SQLite's answers.
 */
int krc_store_attach(struct krc_store **store, struct sqlite3 *db, krc_error *error) KRC_MUST_USE;

void krc_store_close(struct krc_store *store); /* an application's connection stays open */

/* One transaction; they do not nest.  After a failed write or commit: krc_store_rollback.  A write
 * outside of one is KRC_E_STATE.  begin: KRC_E_BUSY where another process kept the store locked
 * for 10 s; writes and commit: KRC_E_NO_SPACE, and it may be tried again. */
int krc_store_begin(struct krc_store *store, krc_error *error) KRC_MUST_USE;
int krc_store_commit(struct krc_store *store, krc_error *error) KRC_MUST_USE;
void krc_store_rollback(struct krc_store *store);

/* A process that was killed in a commit may have left it in the kernel's memory alone, and it is
 * seen all the same: when this returns, what was seen is on disk. */
int krc_store_flush(struct krc_store *store, krc_error *error) KRC_MUST_USE;

/* One partition's committed position.  A history is a stretch in which offsets mean the same
 * records: 1, then one more after each truncation below a committed offset and each recreation. */
struct krc_stored {
    int64_t offset;           /* committed: the next to read */
    int32_t leader_epoch;     /* of the record before it, -1: unknown */
    int32_t history;          /* 1, 2, ... */
    struct krc_uuid topic_id; /* all zero: unknown */
    int64_t commit_time_ms;   /* -1: none (a sink's rows: two runs shall be alike) */
    bool settled;             /* read up to here in read_committed: every transaction that began
                                 below is decided */
    struct krc_account account; /* of this history; from = to where nothing was read yet; one
                                   that does not add up is refused */
    const char *metadata;       /* in: NULL for ""; out: valid until the next call */
};

/* 1 found, 0 none. */
int krc_store_load(struct krc_store *store, const char *group, const char *topic,
                   int32_t partition, struct krc_stored *stored, krc_error *error) KRC_MUST_USE;
int krc_store_put(struct krc_store *store, const char *group, const char *topic,
                  int32_t partition, const struct krc_stored *stored,
                  krc_error *error) KRC_MUST_USE;
/* Writes the account alone, of a history that has ended: `history`, `topic_id` and `account` of
 * `stored` are looked at. */
int krc_store_put_account(struct krc_store *store, const char *group, const char *topic,
                          int32_t partition, const struct krc_stored *stored,
                          krc_error *error) KRC_MUST_USE;
/* Forgets a partition's offset, the accounts of its histories and its leader epochs; its resets
 * stay. */
int krc_store_delete(struct krc_store *store, const char *group, const char *topic,
                     int32_t partition, krc_error *error) KRC_MUST_USE;

/* The leader epochs of what was read of a partition's newest history, rising.  Epoch -1: of what
 * lies from there on none is known. */
struct krc_stored_epoch {
    int32_t epoch;
    int64_t first_offset;
};
/* How many there are, `max` at the most. */
int krc_store_load_epochs(struct krc_store *store, const char *group, const char *topic,
                          int32_t partition, struct krc_stored_epoch *list, int max,
                          krc_error *error) KRC_MUST_USE;
/* In the place of those before. */
int krc_store_put_epochs(struct krc_store *store, const char *group, const char *topic,
                         int32_t partition, const struct krc_stored_epoch *list, int count,
                         krc_error *error) KRC_MUST_USE;

/* The id of the cluster that a group's rows were read from: 1 known, 0 not.  It is valid until the
 * next call. */
int krc_store_load_cluster(struct krc_store *store, const char *group, const char **cluster_id,
                           krc_error *error) KRC_MUST_USE;
int krc_store_put_cluster(struct krc_store *store, const char *group, const char *cluster_id,
                          krc_error *error) KRC_MUST_USE;

/* The group's topics are in another cluster now, with their offsets: the old cluster's topic ids
 * and leader epochs are forgotten. */
int krc_store_move(struct krc_store *store, const char *group, const char *cluster_id,
                   krc_error *error) KRC_MUST_USE;

/* Every committed offset, sorted by group, topic, partition; of all groups where `group` is NULL.
 * `each` returns 0 to go on; anything else ends the walk and is returned. */
typedef int krc_store_each_fn(void *arg, const char *group, const char *topic, int32_t partition,
                              const struct krc_stored *stored);
int krc_store_each(struct krc_store *store, const char *group, krc_store_each_fn *each, void *arg,
                   krc_error *error) KRC_MUST_USE;

/* A reset: written in the transaction that commits the offset it leads to. */
struct krc_store_reset {
    int64_t time_ms;
    int32_t history;    /* the one it leads to */
    int64_t from, to;   /* the position before (-1: none) and after */
    int64_t lost_from, lost_to; /* the range lost, empty where nothing was or it is unknown */
    const char *reason; /* a sentence */
};
int krc_store_add_reset(struct krc_store *store, const char *group, const char *topic,
                        int32_t partition, const struct krc_store_reset *reset,
                        krc_error *error) KRC_MUST_USE;
typedef int krc_store_each_reset_fn(void *arg, const char *group, const char *topic,
                                    int32_t partition, const struct krc_store_reset *reset);
int krc_store_each_reset(struct krc_store *store, const char *group,
                         krc_store_each_reset_fn *each, void *arg, krc_error *error) KRC_MUST_USE;

/* How far a sink has come with a partition's history: its newest file, and how much of that is
 * committed. */
struct krc_stored_sink {
    int32_t history;
    int64_t file_offset;      /* the first offset in the newest file: part of a rotated name */
    int64_t length;           /* bytes committed */
    int64_t max_timestamp_ms; /* the largest of any batch, for rotation by the hour; -1: none */
};
/* The newest history's: 1 found, 0 none. */
int krc_store_load_sink(struct krc_store *store, const char *topic, int32_t partition,
                        struct krc_stored_sink *sink, krc_error *error) KRC_MUST_USE;
int krc_store_put_sink(struct krc_store *store, const char *topic, int32_t partition,
                       const struct krc_stored_sink *sink, krc_error *error) KRC_MUST_USE;

/* Whether the store is a sink's own, which remembers settings or files: 1 or 0. */
int krc_store_has_sink(struct krc_store *store, krc_error *error) KRC_MUST_USE;

/* Named settings (a sink remembers how it was begun).  Get: 1 found, 0 none; the value is valid
 * until the next call. */
int krc_store_get_setting(struct krc_store *store, const char *name, const char **value,
                          krc_error *error) KRC_MUST_USE;
int krc_store_set_setting(struct krc_store *store, const char *name, const char *value,
                          krc_error *error) KRC_MUST_USE;

/*
 * A sink whose group decides: what it has written is pending until the group has confirmed it, or
 * refused.  krc_store_allow_pending makes the tables for that, outside of a transaction, and
 * krc_store_require_pending refuses a store in which they were made and are gone; then,
 * within one each, krc_store_keep goes before the partition's rows are written as if they were
 * confirmed, and krc_store_confirm or krc_store_put_back follow.  A stretch that begins elsewhere
 * leaves the account of the one before in the table "stretches".
 */
struct krc_pending {
    const char *topic; /* valid during the call */
    int32_t partition;
    int64_t stretch; /* where this sink took the partition over */
    const char *member_id; /* as whom the group is asked, who is to leave before what became of it
                              is.  Valid as the topic is */
    bool is_classic;
    int64_t from, to; /* the offset before (-1: none), and the one that is pending; as the rows say,
                         not krc_store_keep's caller */
};
int krc_store_allow_pending(struct krc_store *store, krc_error *error) KRC_MUST_USE;
int krc_store_require_pending(struct krc_store *store, krc_error *error) KRC_MUST_USE;
int krc_store_keep(struct krc_store *store, const struct krc_pending *pending,
                   krc_error *error) KRC_MUST_USE;
int krc_store_confirm(struct krc_store *store, const char *topic, int32_t partition,
                      krc_error *error) KRC_MUST_USE;
int krc_store_put_back(struct krc_store *store, const char *topic, int32_t partition,
                       krc_error *error) KRC_MUST_USE;

/* `each` returns 0 to go on; anything else ends the walk and is returned. */
typedef int krc_store_pending_fn(void *arg, const struct krc_pending *pending);
int krc_store_each_pending(struct krc_store *store, krc_store_pending_fn *each, void *arg,
                           krc_error *error) KRC_MUST_USE;

/* A sink's own table is made before the first offset is committed.  KRC_E_STORE: there are offsets,
 * and the table is gone. */
int krc_store_require_sinks_table(struct krc_store *store, const char *table,
                                  krc_error *error) KRC_MUST_USE;

/* The connection, for a sink whose tables lie in the same file; and its last error as a code and a
 * sentence.  `doing`: "write an offset". */
struct sqlite3 *krc_store_connection(struct krc_store *store);
int krc_store_fail(struct krc_store *store, krc_error *error, const char *doing);

#endif
