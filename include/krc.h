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
 *     krc_assign(krc, "orders", 0, KRC_EARLIEST);
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
 *     as many threads.  Only krc_wakeup may be called from elsewhere.
 *   - What `_new` or `_open` made, `_free` or `_close` ends; both take NULL.
 *   - Strings are UTF-8 and end with a NUL; keys and values are bytes and do not.
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

/* ---- Errors ------------------------------------------------------------------------------- */

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
    X(KRC_E_UNSUPPORTED, -7, "a format or codec that this build does not read")               \
    X(KRC_E_NOT_FOUND, -8, "no such topic, partition, group or file")                         \
    X(KRC_E_OUT_OF_RANGE, -9, "an offset outside the log, and no policy to go on")            \
    X(KRC_E_TRUNCATED, -10, "the log was truncated below what was read of it")                \
    X(KRC_E_RECREATED, -11, "the topic was deleted and made again")                           \
    X(KRC_E_STORE, -12, "the offset store is damaged, foreign or refuses")                    \
    X(KRC_E_BUSY, -13, "another process or handle owns it")                                   \
    X(KRC_E_NO_SPACE, -14, "the disk is full")                                                \
    X(KRC_E_MISMATCH, -15, "this run differs from the one that began the sink")               \
    X(KRC_E_AMBIGUOUS, -16, "one partition in two places")                                    \
    X(KRC_E_INTERRUPTED, -17, "stopped from outside")

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

/* ---- Records ------------------------------------------------------------------------------ */

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

#ifdef __cplusplus
}
#endif

#endif
