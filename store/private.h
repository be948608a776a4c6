/*
 * What the store's own files share.  sqlite3.h is included nowhere else but in a sink whose
 * tables lie in the same file.
 */
#ifndef KRC_STORE_PRIVATE_H
#define KRC_STORE_PRIVATE_H

#include <sqlite3.h>

#include "base/buffer.h"
#include "store/store.h"

/* In the file's header: "krcs", and the version of the tables. */
#define KRC_STORE_APPLICATION_ID 0x6b726373
#define KRC_STORE_SCHEMA_VERSION 2

/* The tables: of readers (as version 1 had them, and what version 2 added), of sinks, and, in an
 * application's database, where the header is not ours, the version of the others. */
extern const char krc_store_schema[], krc_store_schema_2[], krc_store_sink_schema[],
    krc_store_version_schema[];

/* Statements are prepared at their first use and kept. */
enum krc_statement {
    KRC_LOAD_OFFSET,
    KRC_EACH_OFFSET,
    KRC_PUT_OFFSET,
    KRC_PUT_HISTORY,
    KRC_DELETE_OFFSET,
    KRC_DELETE_HISTORIES,
    KRC_LOAD_EPOCHS,
    KRC_PUT_EPOCH,
    KRC_DELETE_EPOCHS,
    KRC_LOAD_CLUSTER,
    KRC_PUT_CLUSTER,
    KRC_MOVE_OFFSETS,
    KRC_MOVE_HISTORIES,
    KRC_MOVE_EPOCHS,
    KRC_ADD_RESET,
    KRC_EACH_RESET,
    KRC_LOAD_SINK,
    KRC_PUT_SINK,
    KRC_HAS_SINK,
    KRC_GET_SETTING,
    KRC_SET_SETTING,
    KRC_STATEMENTS
};

struct krc_store {
    sqlite3 *db;
    char *path;    /* for messages */
    int version;   /* of its tables: 1 only where it may not be written */
    bool attached; /* `db` is the application's */
    const struct krc_interrupt *interrupt; /* NULL: none */
    int waited_ms; /* for a lock... */
    bool ends;     /* ...since there is to be an end */
    bool nested;   /* krc_store_begin found its transaction open */
    sqlite3_stmt *statements[KRC_STATEMENTS];
    struct krc_buffer text; /* what the last load returned */
};

/* KRC_E_STORE: a column of this row, from `first` on, has a value that krc does not write.  `key`:
 * NULL where the row begins with it. */
enum krc_row_kind { KRC_OFFSETS_ROW, KRC_HISTORIES_ROW, KRC_EPOCHS_ROW, KRC_SINKS_ROW };
struct krc_row_key {
    const char *group, *topic; /* NULL: a sink has no group */
    int32_t partition;
};
int krc_store_check_row(struct krc_store *store, sqlite3_stmt *row, enum krc_row_kind kind,
                        int first, const struct krc_row_key *key, krc_error *error) KRC_MUST_USE;

/* SQL as this store needs it: "@offsets" is the table's name, "krc_offsets" in an application's
 * database, whose own tables it cannot meet there. */
struct krc_sql {
    char text[6144];
};
struct krc_sql krc_store_sql(const struct krc_store *store, const char *sql);

/* Runs statements that yield nothing; and one that yields a number, 0 where it yields none. */
int krc_store_execute(struct krc_store *store, const char *sql, const char *doing,
                      krc_error *error) KRC_MUST_USE;
int krc_store_query_number(struct krc_store *store, const char *sql, sqlite3_int64 *number,
                           krc_error *error) KRC_MUST_USE;

/* `refuse` says what is wrong where the statement finds something: with its first column. */
typedef int krc_store_refuse_fn(struct krc_store *store, krc_error *error, const char *found);
int krc_store_refuse_found(struct krc_store *store, const char *sql, krc_store_refuse_fn *refuse,
                           krc_error *error) KRC_MUST_USE;

/* KRC_E_STORE: it lacks one of these tables, "('one'), ('another')", or of those that its version
 * has. */
int krc_store_require(struct krc_store *store, const char *tables, krc_error *error) KRC_MUST_USE;
int krc_store_require_tables(struct krc_store *store, krc_error *error) KRC_MUST_USE;

/*
 * Looks at a file before SQLite does, so that one that is not ours is not even locked.
 * 1: a store.  0: nothing there, or an empty file.
 */
int krc_store_examine(const char *path, krc_error *error) KRC_MUST_USE;

/* `finding`: of several lines the last one counts, the others say which check found it. */
int krc_store_fail_damaged(struct krc_store *store, krc_error *error, const char *finding);

/* Whether the write-ahead log beside a store holds anything. */
bool krc_store_has_log(const char *path);

/* KRC_E_STORE where the file would lie on another machine: WAL's shared memory needs this one. */
int krc_store_require_local(const char *path, krc_error *error) KRC_MUST_USE;

/* The name of a network file system by statfs's f_type, and, for FUSE, by the type in
 * /proc/self/mountinfo ("fuse.sshfs"; NULL: unknown).  NULL: a local one. */
const char *krc_store_network_file_system(unsigned long f_type, const char *fuse_type);

/* The folder of a file, to be freed; NULL: out of memory. */
char *krc_store_folder(const char *path);

#endif
