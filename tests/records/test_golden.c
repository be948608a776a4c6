/*
 * Logs that real brokers wrote, against what Kafka's own readers made of them.
 */
#include <stdio.h>
#include <string.h>

#include "records/records.h"
#include "tests/support/expected.h"
#include "tests/support/run.h"

enum { LIMIT = 16 << 20 };

struct walk {
    struct krc_buffer log, scratch;
    struct krc_codecs *codecs;
    size_t at;
    struct krc_batch_header header;
    struct krc_records records;
};

static struct walk walk_begin(const char *path)
{
    struct walk walk = {.log = fixture_read(path), .codecs = krc_codecs_new()};
    ck_assert_ptr_nonnull(walk.codecs);
    return walk;
}

static void walk_end(struct walk *walk)
{
    krc_codecs_free(walk->codecs);
    krc_buffer_free(&walk->log);
    krc_buffer_free(&walk->scratch);
}

static bool walk_next(struct walk *walk)
{
    const uint8_t *bytes = walk->log.data + walk->at;
    size_t left = walk->log.len - walk->at;
    krc_error error = {0};
    if (left == 0)
        return false;
    ck_assert_msg(krc_batch_parse(bytes, left, &walk->header, &error) == 1, "%s", error.message);
    ck_assert_uint_le(walk->header.size, left);
    ck_assert_msg(krc_batch_check_crc(bytes, &walk->header, &error) == KRC_OK, "%s",
                  error.message);
    ck_assert_msg(krc_records_open(&walk->records, bytes, &walk->header, walk->codecs, LIMIT,
                                   &walk->scratch, &error) == KRC_OK,
                  "%s", error.message);
    walk->at += (size_t)walk->header.size;
    return true;
}

/* All data records of a partition's segments against the lines of this partition. */
static void compare(const char *folder, const char *topic, int32_t partition, const char *file,
                    const char *const *segments)
{
    char path[300];
    struct expected expected;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    expected_open(&expected, path);
    bool more = expected_next(&expected);
    while (more && expected.partition != partition)
        more = expected_next(&expected);
    int64_t first = expected.offset;
    for (; *segments != NULL; segments++) {
        snprintf(path, sizeof path, "%s/%s-%d/000000000000000%s.log", folder, topic, partition,
                 *segments);
        struct walk walk = walk_begin(path);
        while (walk_next(&walk)) {
            struct krc_record record;
            int32_t n = 0;
            for (; krc_records_next(&walk.records, &record); n++) {
                if (walk.header.control || record.offset < first)
                    continue; /* markers; records below the log start */
                ck_assert_msg(more, "%s: too many records", path);
                expected_check(&expected, &record, walk.records.timestamp_type);
                more = expected_next(&expected);
            }
            ck_assert_int_eq(n, walk.records.count);
        }
        walk_end(&walk);
    }
    ck_assert_msg(!more || !expected.is_record || expected.partition != partition,
                  "%s: records are missing from %s", path, expected.line);
    expected_close(&expected);
}

#define SEGMENTS(...) (const char *const[]){__VA_ARGS__, NULL}
#define FIRST SEGMENTS("00000")

static const char *const codecs[] = {
    "none", "gzip", "lz4", "zstd",
#ifdef KRC_WITH_SNAPPY
    "snappy",
#endif
};
enum { CODECS = sizeof codecs / sizeof codecs[0] };

START_TEST(magic_2)
{
    for (int i = 0; i < CODECS; i++) {
        char topic[32], file[64];
        snprintf(topic, sizeof topic, "codec-%s", codecs[i]);
        snprintf(file, sizeof file, "codec-%s.read_committed.jsonl.gz", codecs[i]);
        compare("kafka-4.3.1", topic, 0, file, FIRST);
    }
}
END_TEST

START_TEST(magic_0_and_1)
{
    for (int i = 0; i < CODECS; i++) {
        char topic[32], file[64];
        if (strcmp(codecs[i], "zstd") == 0)
            continue; /* younger than these formats */
        snprintf(topic, sizeof topic, "v0-%s", codecs[i]);
        snprintf(file, sizeof file, "v0-%s.jsonl.gz", codecs[i]);
        compare("kafka-0.8.2", topic, 0, file, FIRST);
        snprintf(topic, sizeof topic, "v1-%s", codecs[i]);
        snprintf(file, sizeof file, "v1-%s.jsonl.gz", codecs[i]);
        compare("kafka-0.11-upgraded-from-0.10", topic, 0, file, FIRST);
    }
}
END_TEST

START_TEST(transactions_read_uncommitted)
{
    compare("kafka-4.3.1", "txns", 0, "txns.read_uncommitted.jsonl.gz", FIRST);
    compare("kafka-4.3.1", "txns", 1, "txns.read_uncommitted.jsonl.gz", FIRST);
    compare("kafka-4.3.1", "txns-open", 0, "txns-open.read_uncommitted.jsonl.gz", FIRST);
    compare("kafka-4.3.1", "logappend", 0, "logappend.read_uncommitted.jsonl.gz", FIRST);
    compare("kafka-4.3.1", "trimmed", 0, "trimmed.read_uncommitted.jsonl.gz", FIRST);
#ifdef KRC_WITH_SNAPPY /* their producers use every codec */
    compare("kafka-4.3.1", "compacted", 0, "compacted.read_uncommitted.jsonl.gz",
            SEGMENTS("00000", "00565"));
    compare("kafka-4.3.1", "txns-segments", 0, "txns-segments.read_uncommitted.jsonl.gz",
            SEGMENTS("00000", "00118", "00233", "00412", "00557", "00698", "00894"));
#endif
}
END_TEST

START_TEST(internal_topics_open)
{
    static const char *const paths[] = {
        "kafka-4.3.1/__consumer_offsets-0/00000000000000000000.log",
        "kafka-4.3.1/__consumer_offsets-1/00000000000000000000.log",
        "kafka-4.3.1/__transaction_state-0/00000000000000000000.log",
        "kafka-4.3.1/__cluster_metadata-0/00000000000000000000.log",
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct walk walk = walk_begin(paths[i]);
        int64_t next = 0;
        while (walk_next(&walk)) {
            ck_assert_int_eq(walk.header.base_offset, next);
            next = walk.header.last_offset + 1;
        }
        ck_assert_int_gt(next, 0);
        walk_end(&walk);
    }
}
END_TEST

START_TEST(markers_of_real_transactions)
{
    struct walk walk = walk_begin("kafka-4.3.1/txns-0/00000000000000000000.log");
    int seen[2] = {0};
    while (walk_next(&walk)) {
        int type;
        const uint8_t *bytes = walk.log.data + walk.at - walk.header.size;
        ck_assert_int_eq(krc_batch_control_type(bytes, &walk.header, &type, NULL), KRC_OK);
        ck_assert_int_eq(type == KRC_CONTROL_NONE, !walk.header.control);
        if (type != KRC_CONTROL_NONE) {
            ck_assert(type == KRC_CONTROL_ABORT || type == KRC_CONTROL_COMMIT);
            ck_assert(walk.header.transactional && walk.header.producer_id >= 0);
            seen[type]++;
        }
    }
    ck_assert_int_gt(seen[KRC_CONTROL_ABORT], 0);
    ck_assert_int_gt(seen[KRC_CONTROL_COMMIT], 0);
    walk_end(&walk);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {magic_2, magic_0_and_1, transactions_read_uncommitted,
                                  internal_topics_open, markers_of_real_transactions};
    return run_tests("records: golden", tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
