/*
 * Reads partitions of tests/support/simnet.h's cluster as the public consumer does, and says what
 * it is handed and told: "records 0-4", "passed 5-5 control", "caught up 6", "truncated 100 80".
 * Those of other partitions than the first reader's have "t-1 " before them.
 */
#ifndef KRC_TESTS_READER_H
#define KRC_TESTS_READER_H

#include "consumer/netsource.h"
#include "consumer/tracker.h"
#include "tests/support/simnet.h"

enum { READERS = 8 };

struct reader {
    struct krc_place place;
    int64_t start, until;
    struct krc_start stored;
    bool asks_group;
    struct krc_topic *topic;
    struct krc_tracker tracker;
    struct krc_remote *remote; /* NULL: its topic is not known yet */
    bool is_held;              /* nobody takes what is there */
    bool is_done;
    krc_error error;
};

extern struct readers {
    krc_config *config;
    struct krc_codecs *codecs;
    struct reader list[READERS];
    int count;
    struct krc_buffer scratch;
    int64_t records; /* delivered, in all */
} readers;

/* The fixture of the tests that read: world, net and readers. */
void open_readers(void);
void close_readers(void);

/* Sets a property of what is read with; an unknown one fails the test. */
void reader_set(const char *name, const char *value);

/* Reads a partition from `start` (KRC_STORED: from `stored`, or the group's) to `until`.  The
 * first one starts the cluster, with server "n1" if none was. */
struct reader *read_to(const char *topic, int32_t partition, int64_t start, int64_t until);
struct reader *read_from(const char *topic, int32_t partition, int64_t start);
struct reader *read_stored(const char *topic, int32_t partition, int64_t offset, int32_t epoch);

void reader_seek(struct reader *reader, int64_t start);
void reader_pause(struct reader *reader, bool paused);
int64_t reader_position(const struct reader *reader);

/* "0-20: delivered 3, lost 10": what became of the offsets since the start (consume.h). */
const char *reader_account(struct reader *reader);

#endif
