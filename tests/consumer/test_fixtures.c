/*
 * Every topic of the fixtures, compared with what Kafka's own consumer read; with the files beside
 * the log removed, old, torn and lying; and from every offset, to every offset.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "tests/support/consume.h"
#include "tests/support/expected.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"

static const struct topic {
    const char *folder, *name;
    int partitions;
    const char *levels[2]; /* of the expected files; "" where the level makes no difference */
} topics[] = {
#define BOTH {"read_committed", "read_uncommitted"}
    {"kafka-4.3.1", "txns", 2, BOTH},
    {"kafka-4.3.1", "txns-open", 1, BOTH},
    {"kafka-4.3.1", "txns-segments", 1, BOTH},
    {"kafka-4.3.1", "logappend", 1, BOTH},
#ifdef KRC_WITH_SNAPPY
    {"kafka-4.3.1", "compacted", 1, BOTH},
#endif
    {"kafka-4.3.1", "trimmed", 1, BOTH},
    {"kafka-4.3.1", "emptied", 1, BOTH},
    {"kafka-4.3.1", "never", 1, BOTH},
    {"kafka-4.3.1", "codec-none", 1, {"read_committed"}},
    {"kafka-4.3.1", "codec-gzip", 1, {"read_committed"}},
    {"kafka-4.3.1", "codec-lz4", 1, {"read_committed"}},
    {"kafka-4.3.1", "codec-zstd", 1, {"read_committed"}},
#ifdef KRC_WITH_SNAPPY
    {"kafka-4.3.1", "codec-snappy", 1, {"read_committed"}},
    {"kafka-0.8.2", "v0-snappy", 1, {""}},
    {"kafka-0.11-upgraded-from-0.10", "v1-snappy", 1, {""}},
#endif
    {"kafka-0.8.2", "v0-none", 1, {""}},
    {"kafka-0.8.2", "v0-gzip", 1, {""}},
    {"kafka-0.8.2", "v0-lz4", 1, {""}},
    {"kafka-0.11-upgraded-from-0.10", "v1-none", 1, {""}},
    {"kafka-0.11-upgraded-from-0.10", "v1-gzip", 1, {""}},
    {"kafka-0.11-upgraded-from-0.10", "v1-lz4", 1, {""}},
};
#ifdef KRC_WITH_SNAPPY
enum { TRIMMED = 5 };
#else
enum { TRIMMED = 4 };
#endif
enum { TOPICS = sizeof topics / sizeof *topics };

/* The next line of a partition. */
static bool next_of(struct expected *expected, int32_t partition)
{
    while (expected_next(expected))
        if (expected->partition == partition)
            return true;
    return false;
}

/* Copies what a broker's folder holds of a topic's partition to "data". */
static void copy(const struct topic *topic, int partition)
{
    char from[256], to[256];
    snprintf(from, sizeof from, FIXTURES "%s", topic->folder);
    tempdir_copy(from, "data");
    snprintf(from, sizeof from, FIXTURES "%s/%s-%d", topic->folder, topic->name, partition);
    snprintf(to, sizeof to, "data/%s-%d", topic->name, partition);
    tempdir_copy(from, to);
}

static const char *isolation(const char *level)
{
    return level[0] != '\0' ? level : "read_committed";
}

static void expect(struct expected *expected, const struct topic *topic, const char *level)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s%s%s.jsonl.gz", topic->folder, topic->name,
             level[0] != '\0' ? "." : "", level);
    expected_open(expected, path);
}

/* The lines behind the records. */
static void check_end(krc *handle, const struct topic *topic, const struct expected *expected,
                      const char *level)
{
    struct krc_position at = consume_position(handle, topic->name, expected->partition);
    struct krc_log_offsets offsets;
    krc_error error;
    bool committed = strcmp(level, "read_committed") == 0;
    ck_assert_int_eq(at.position, expected->position);
    ck_assert_int_eq(at.read.from, expected->log_start);
    ck_assert_int_eq(at.acknowledged, at.position);
    ck_assert_int_eq(
        krc_log_offsets(handle, topic->name, expected->partition, &offsets, &error), KRC_OK);
    ck_assert_int_eq(offsets.log_start_offset, expected->log_start);
    ck_assert_int_eq(committed ? offsets.last_stable_offset : offsets.log_end_offset,
                     expected->end);
    if (committed)
        ck_assert_int_eq(at.last_stable_offset, expected->end);
}

/* Reads a partition from a place on, and compares it with the expected lines from there on. */
static void check_partition(const char *path, const struct topic *topic, int partition,
                            const char *level, int64_t start, int64_t until)
{
    struct expected expected;
    struct krc_batch_info info;
    struct krc_record record;
    krc_batch *batch;
    int rc;
    krc *handle = consume_open(path, "isolation.level", isolation(level), NULL);
    consume_assign(handle, topic->name, partition, start, until);
    expect(&expected, topic, level);
    bool more = next_of(&expected, partition);
    while (more && expected.is_record && expected.offset < start)
        more = next_of(&expected, partition);
    while ((rc = krc_poll(handle, 0, &batch)) == 1) {
        krc_batch_info(batch, &info);
        ck_assert_str_eq(info.topic, topic->name);
        while (krc_next(batch, &record) == 1) {
            ck_assert(more);
            expected_check(&expected, &record, (int)info.timestamp_type);
            more = next_of(&expected, partition);
        }
        ck_assert_int_eq(krc_ack(handle, info.topic, partition, info.next_offset, NULL), KRC_OK);
        krc_release(batch);
    }
    ck_assert_msg(rc == 0, "%s", krc_last_error(handle)->message);
    ck_assert_msg(!more || !expected.is_record || expected.offset >= until,
                  "offset %lld of %s-%d is missing", (long long)expected.offset, topic->name,
                  partition);
    if (more && !expected.is_record && start == KRC_EARLIEST && until == KRC_NO_END)
        check_end(handle, topic, &expected, level);
    consume_account(handle, topic->name, partition);
    expected_close(&expected);
    krc_close(handle);
}

static void check_all_levels(const char *path, const struct topic *topic, int partition)
{
    for (int l = 0; l < 2 && topic->levels[l] != NULL; l++)
        check_partition(path, topic, partition, topic->levels[l], KRC_EARLIEST, KRC_NO_END);
}

START_TEST(as_kafka_reads_them)
{
    const struct topic *topic = &topics[_i];
    char path[256];
    snprintf(path, sizeof path, FIXTURES "%s", topic->folder);
    for (int p = 0; p < topic->partitions; p++)
        check_all_levels(path, topic, p);
}
END_TEST

/* ---- What was read, in short: compared with what the test above compares in full ------------- */

struct digests {
    int64_t offsets[1024];
    uint32_t digests[1024];
    int count;
    int64_t position;
    char account[256];
};

static uint32_t add_bytes(uint32_t crc, struct krc_bytes bytes)
{
    int64_t len = bytes.data == NULL ? -1 : (int64_t)bytes.len;
    crc = krc_crc32c(crc, (const uint8_t *)&len, sizeof len);
    return krc_crc32c(crc, bytes.data, bytes.len);
}

static uint32_t digest(const struct krc_record *r)
{
    const int64_t numbers[] = {r->timestamp_ms, r->leader_epoch, r->header_count};
    uint32_t crc = krc_crc32c(0, (const uint8_t *)numbers, sizeof numbers);
    crc = add_bytes(crc, r->key);
    crc = add_bytes(crc, r->value);
    return add_bytes(crc, r->headers);
}

static void read_digests(const char *path, const struct topic *topic, int partition,
                         const char *level, int64_t start, int64_t until, struct digests *out)
{
    struct krc_record record;
    krc_batch *batch;
    krc *handle = consume_open(path, "isolation.level", isolation(level), NULL);
    consume_assign(handle, topic->name, partition, start, until);
    out->count = 0;
    while (krc_poll(handle, 0, &batch) == 1) {
        while (krc_next(batch, &record) == 1 && out->count < 1024) {
            out->offsets[out->count] = record.offset;
            out->digests[out->count++] = digest(&record);
        }
        krc_release(batch);
    }
    ck_assert_int_eq(krc_last_error(handle)->code, KRC_OK);
    out->position = consume_position(handle, topic->name, partition).position;
    snprintf(out->account, sizeof out->account, "%s",
             consume_account(handle, topic->name, partition));
    krc_close(handle);
}

/* Whether [start, until) of the whole is what was read. */
static bool is_part(const struct digests *whole, const struct digests *part, int64_t start,
                    int64_t until)
{
    int i = 0, j = 0;
    while (i < whole->count && whole->offsets[i] < start)
        i++;
    for (; i < whole->count && whole->offsets[i] < until; i++, j++)
        if (j >= part->count || part->offsets[j] != whole->offsets[i] ||
            part->digests[j] != whole->digests[i])
            return false;
    return j == part->count;
}

static void read_fixture(const struct topic *topic, int partition, const char *level,
                         int64_t start, int64_t until, struct digests *out)
{
    char path[256];
    snprintf(path, sizeof path, FIXTURES "%s/%s-%d", topic->folder, topic->name, partition);
    read_digests(path, topic, partition, level, start, until, out);
}

/* ---- Files beside the log -------------------------------------------------------------------- */

enum damage { REMOVED, OLD, TORN, LYING, DAMAGES, WHOLE = DAMAGES };
static const char *const suffixes[] = {".index", ".timeindex", ".txnindex", ".snapshot"};
enum { SUFFIXES = 4, ALL_SUFFIXES = SUFFIXES };

static uint32_t seed;
static uint32_t random_below(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * most >> 32);
}

/* Entries that rise as they should, and point anywhere. */
static void lie_in_index(struct krc_buffer *file)
{
    uint32_t offset = 0, position = 0;
    for (size_t at = 0; at + 8 <= file->len; at += 8) {
        krc_put_be32(file->data + at, offset += 1 + random_below(40));
        krc_put_be32(file->data + at + 4, position += random_below(4096));
    }
}

static void lie_in_timeindex(struct krc_buffer *file)
{
    uint64_t time = 1600000000000;
    uint32_t offset = 0;
    for (size_t at = 0; at + 12 <= file->len; at += 12) {
        krc_put_be64(file->data + at, time += random_below(40000000) * 1000ull);
        krc_put_be32(file->data + at + 8, offset += 1 + random_below(60));
    }
}

/* Says that transactions of every producer were aborted. */
static void lie_in_txnindex(struct krc_buffer *file)
{
    uint64_t last = 0;
    for (size_t at = 0; at + 34 <= file->len; at += 34) {
        last += random_below(30);
        memset(file->data + at, 0, 2); /* the version */
        krc_put_be64(file->data + at + 2, random_below(8));
        krc_put_be64(file->data + at + 10, last);
        krc_put_be64(file->data + at + 18, last + random_below(30));
        krc_put_be64(file->data + at + 26, random_below(200));
    }
}

/* Says that every producer has a transaction open. */
static void lie_in_snapshot(struct krc_buffer *file)
{
    for (size_t at = 10; at + 46 <= file->len; at += 46)
        krc_put_be64(file->data + at + 38, random_below(200));
    krc_put_be32(file->data + 2, krc_crc32c(0, file->data + 6, file->len - 6));
}

static void lie(struct krc_buffer *file, int suffix)
{
    static void (*const liars[])(struct krc_buffer *) = {lie_in_index, lie_in_timeindex,
                                                         lie_in_txnindex, lie_in_snapshot};
    if (suffix != 3 && file->len == 0) { /* an entry where there was none */
        ck_assert_int_eq(krc_buffer_reserve(file, 1024, NULL), KRC_OK);
        file->len = suffix == 0 ? 80 : suffix == 1 ? 120 : 340;
    }
    liars[suffix](file);
}

static size_t entry_size(int suffix)
{
    static const size_t sizes[] = {8, 12, 34, 46};
    return sizes[suffix];
}

/* Writes the fixture's file anew, changed or whole. */
static void damage_file(const char *folder, const char *name, int suffix, enum damage damage)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct krc_buffer file = fixture_read(path);
    snprintf(path, sizeof path, "data/%s/%s", strrchr(folder, '/') + 1, name);
    size_t entry = entry_size(suffix);
    if (damage == OLD)
        file.len = file.len / 2 / entry * entry;
    else if (damage == TORN)
        file.len = file.len > entry / 2 ? file.len - entry / 2 : file.len;
    else if (damage == LYING)
        lie(&file, suffix);
    if (damage == REMOVED)
        unlink(tempdir_path("%s", path));
    else
        tempdir_write(path, file.data, file.len);
    krc_buffer_free(&file);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

/* Changes the files of one kind, or all; every other file is the fixture's. */
static void damage_files(const struct topic *topic, int partition, int which, enum damage damage)
{
    char folder[256], source[300];
    snprintf(folder, sizeof folder, "%s/%s-%d", topic->folder, topic->name, partition);
    snprintf(source, sizeof source, FIXTURES "%s", folder);
    DIR *dir = opendir(source);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        for (int suffix = 0; suffix < SUFFIXES; suffix++)
            if (ends_with(entry->d_name, suffixes[suffix]))
                damage_file(folder, entry->d_name, suffix,
                            which == suffix || which == ALL_SUFFIXES ? damage : WHOLE);
    closedir(dir);
}

static void check_damaged(const struct topic *topic, int partition, const char *level)
{
    static struct digests whole, part;
    char path[256];
    snprintf(path, sizeof path, "%s", tempdir_path("data"));
    read_fixture(topic, partition, level, KRC_EARLIEST, KRC_NO_END, &whole);
    read_digests(path, topic, partition, level, KRC_EARLIEST, KRC_NO_END, &part);
    ck_assert(is_part(&whole, &part, 0, KRC_NO_END));
    ck_assert_int_eq(part.position, whole.position);
    ck_assert_str_eq(part.account, whole.account);
    /* seeks look into indexes */
    for (int64_t start = 20; start < whole.position && whole.count > 0; start += 57) {
        if (start < whole.offsets[0])
            continue;
        read_digests(path, topic, partition, level, start, KRC_NO_END, &part);
        ck_assert(is_part(&whole, &part, start, KRC_NO_END));
        ck_assert_int_eq(part.position, whole.position);
    }
}

START_TEST(damaged_companions)
{
    const struct topic *topic = &topics[_i];
    seed = 42;
    for (int p = 0; p < topic->partitions; p++) {
        tempdir_make();
        copy(topic, p);
        for (int which = 0; which <= ALL_SUFFIXES; which++)
            for (int damage = 0; damage < DAMAGES; damage++) {
                damage_files(topic, p, which, (enum damage)damage);
                for (int l = 0; l < 2 && topic->levels[l] != NULL; l++)
                    check_damaged(topic, p, topic->levels[l]);
            }
        tempdir_remove();
    }
}
END_TEST

/* Times are looked up in the .timeindex, and lead to the same offset without it. */
START_TEST(times_with_damaged_companions)
{
    const struct topic *topic = &topics[_i];
    krc_error error;
    seed = 7;
    tempdir_make();
    copy(topic, 0);
    int64_t times[24], offsets[24];
    for (int i = 0; i < 24; i++)
        times[i] = i < 12 ? 1600000000000 + i * 100000000000 / 6 : 1795975730000 + i * 211;
    for (int round = 0; round <= DAMAGES; round++) {
        if (round > 0)
            damage_files(topic, 0, ALL_SUFFIXES, (enum damage)(DAMAGES - round));
        krc *handle = consume_open(tempdir_path("data"), NULL);
        for (int i = 0; i < 24; i++) {
            int64_t offset;
            ck_assert_int_eq(
                krc_offset_for_time(handle, topic->name, 0, times[i], &offset, &error), KRC_OK);
            if (round == 0)
                offsets[i] = offset;
            ck_assert_int_eq(offset, offsets[i]);
        }
        krc_close(handle);
    }
    tempdir_remove();
}
END_TEST

/* ---- From every offset, to every offset ------------------------------------------------------ */

static void check_every_offset(const struct topic *topic, int partition, const char *level)
{
    static struct digests whole, part;
    read_fixture(topic, partition, level, KRC_EARLIEST, KRC_NO_END, &whole);
    int64_t step = whole.position > 500 ? 7 : 1;
    for (int64_t at = 0; at <= whole.position; at += step) {
        read_fixture(topic, partition, level, at, KRC_NO_END, &part);
        ck_assert(is_part(&whole, &part, at, KRC_NO_END));
        ck_assert_int_eq(part.position, whole.position);
        read_fixture(topic, partition, level, KRC_EARLIEST, at, &part);
        ck_assert(is_part(&whole, &part, 0, at));
        ck_assert_int_eq(part.position, at);
    }
}

START_TEST(from_every_offset)
{
    for (int p = 0; p < topics[_i].partitions; p++) {
        check_every_offset(&topics[_i], p, "read_committed");
        check_every_offset(&topics[_i], p, "read_uncommitted");
    }
}
END_TEST

/* Behind the last stable offset of txns-open nothing is delivered, wherever reading begins. */
START_TEST(from_behind_the_last_stable_offset)
{
    static struct digests part;
    for (int64_t at = 136; at <= 199; at++) {
        read_fixture(&topics[1], 0, "read_committed", at, KRC_NO_END, &part);
        ck_assert_int_eq(part.count, 0);
        ck_assert_int_eq(part.position, at);
    }
}
END_TEST

/* ---- Kafka's own topics ---------------------------------------------------------------------- */

/* Takes a string with its length in 16 bits off a commit's key. */
static struct krc_bytes take_string(const uint8_t **at)
{
    struct krc_bytes s = {*at + 2, krc_be16(*at)};
    *at += 2 + s.len;
    return s;
}

static bool says(const char *line, const char *name, struct krc_bytes text)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "\"%s\":\"%.*s\"", name, (int)text.len,
             (const char *)text.data);
    return strstr(line, wanted) != NULL;
}

/* The offset committed last for the group, topic and partition of a line, or -1.
 *   key:   int16 version 0 or 1, group, topic, int32 partition
 *   value: int16 version, int64 offset, ... */
static int64_t committed_offset(const struct expected *line)
{
    struct krc_record record;
    krc_batch *batch;
    int64_t found = -1;
    krc *handle = consume_open(FIXTURES "kafka-4.3.1", NULL);
    consume_assign(handle, "__consumer_offsets", 0, KRC_EARLIEST, KRC_NO_END);
    consume_assign(handle, "__consumer_offsets", 1, KRC_EARLIEST, KRC_NO_END);
    while (krc_poll(handle, 0, &batch) == 1) {
        while (krc_next(batch, &record) == 1) {
            const uint8_t *key = record.key.data;
            if (krc_be16(key) > 1)
                continue;
            key += 2;
            bool ours = says(line->line, "group", take_string(&key)) &&
                        says(line->line, "topic", take_string(&key)) &&
                        (int32_t)krc_be32(key) == line->partition;
            if (ours)
                found = record.value.data == NULL ? -1 : (int64_t)krc_be64(record.value.data + 2);
        }
        krc_release(batch);
    }
    ck_assert_int_eq(krc_last_error(handle)->code, KRC_OK);
    krc_close(handle);
    return found;
}

/* A line of groups.jsonl has "offset", but is no record: this reads lines, not fields. */
START_TEST(committed_offsets_of_groups)
{
    char text[4096] = "";
    FILE *pipe = popen("gzip -dc " FIXTURES "expected/kafka-4.3.1/groups.jsonl.gz", "r");
    ck_assert_ptr_nonnull(pipe);
    int lines = 0;
    while (fgets(text, sizeof text, pipe) != NULL) {
        struct expected line = {.line = text};
        line.partition = (int32_t)strtol(strstr(text, "\"partition\":") + 12, NULL, 10);
        int64_t offset = strtoll(strstr(text, "\"offset\":") + 9, NULL, 10);
        ck_assert_msg(committed_offset(&line) == offset, "%s", text);
        lines++;
    }
    pclose(pipe);
    ck_assert_int_gt(lines, 5);
}
END_TEST

START_TEST(the_transaction_log)
{
    krc *handle = consume_open(FIXTURES "kafka-4.3.1", NULL);
    consume_assign(handle, "__transaction_state", 0, KRC_EARLIEST, KRC_NO_END);
    const char *delivered = consume_all(handle);
    ck_assert_ptr_null(strchr(delivered, '!'));
    struct krc_position at = consume_position(handle, "__transaction_state", 0);
    ck_assert_int_eq(at.position, 432);
    ck_assert_int_eq(at.read.delivered + at.read.absent, 432);
    krc_close(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("consumer/fixtures");
    TCase *tc = tcase_create("fixtures");
    tcase_set_timeout(tc, 300);
    tcase_add_loop_test(tc, as_kafka_reads_them, 0, TOPICS);
    tcase_add_loop_test(tc, damaged_companions, 0, TOPICS);
    tcase_add_loop_test(tc, times_with_damaged_companions, 0, TOPICS);
    tcase_add_loop_test(tc, from_every_offset, 0, TRIMMED);
    tcase_add_test(tc, from_behind_the_last_stable_offset);
    tcase_add_test(tc, committed_offsets_of_groups);
    tcase_add_test(tc, the_transaction_log);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
