/*
 * The account is derived, not balanced: each of its numbers is compared with what Kafka's own
 * DumpLogSegments shows of the same files (tests/golden/dump).
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/support/consume.h"
#include "tests/support/expected.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"
#define DUMPS "tests/golden/dump/"

/* ---- What DumpLogSegments shows -------------------------------------------------------------- */

struct batch {
    int64_t base, last, producer;
    int64_t count;   /* as the header says */
    int64_t records; /* of those shown, at or above the log start offset */
    bool transactional, control, commit;
};

static struct batch batches[4096];
static size_t count;

static int64_t field(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    ck_assert_msg(at != NULL, "no %s in %s", name, line);
    return strtoll(at + strlen(name), NULL, 10);
}

static bool flag(const char *line, const char *name)
{
    const char *at = strstr(line, name);
    return at != NULL && strncmp(at + strlen(name), "true", 4) == 0;
}

static void read_line(const char *line, int64_t log_start)
{
    if (strncmp(line, "baseOffset: ", 12) == 0) {
        ck_assert_uint_lt(count, sizeof batches / sizeof *batches);
        batches[count++] = (struct batch){.base = field(line, "baseOffset: "),
                                          .last = field(line, "lastOffset: "),
                                          .count = field(line, "count: "),
                                          .producer = field(line, "producerId: "),
                                          .transactional = flag(line, "isTransactional: "),
                                          .control = flag(line, "isControl: ")};
    } else if (strncmp(line, "offset: ", 8) == 0) { /* of magic 0 or 1: records follow */
        batches[count++] = (struct batch){.last = field(line, "offset: "), .producer = -1};
    } else if (strncmp(line, "| offset: ", 10) == 0) {
        batches[count - 1].records += field(line, "| offset: ") >= log_start;
        batches[count - 1].commit = strstr(line, "endTxnMarker: COMMIT") != NULL;
    }
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Reads the dumps of all of a partition's segments. */
static void read_dumps(const char *folder, const char *topic, int partition, int64_t log_start)
{
    static char path[512], line[1 << 20];
    struct dirent **names;
    snprintf(path, sizeof path, DUMPS "%s/%s-%d", folder, topic, partition);
    int n = scandir(path, &names, visible, alphasort);
    ck_assert_int_gt(n, 0);
    size_t len = strlen(path);
    count = 0;
    for (int i = 0; i < n; i++) {
        snprintf(path + len, sizeof path - len, "/%s", names[i]->d_name);
        gzFile file = gzopen(path, "rb");
        ck_assert_ptr_nonnull(file);
        while (gzgets(file, line, sizeof line) != NULL)
            read_line(line, log_start);
        gzclose(file);
        free(names[i]);
    }
    free(names);
}

enum fate { PLAIN, COMMITTED, ABORTED, OPEN };

static enum fate fate_of(size_t i)
{
    if (!batches[i].transactional)
        return PLAIN;
    for (size_t j = i + 1; j < count; j++)
        if (batches[j].control && batches[j].producer == batches[i].producer)
            return batches[j].commit ? COMMITTED : ABORTED;
    return OPEN;
}

static int64_t last_stable_offset(int64_t end)
{
    for (size_t i = 0; i < count; i++)
        if (!batches[i].control && batches[i].count > 0 && fate_of(i) == OPEN)
            return batches[i].base;
    return end;
}

/* The account as it must be, in read_committed. */
static struct krc_account account_of(int64_t from, int64_t to)
{
    struct krc_account account = {.from = from, .to = to};
    for (size_t i = 0; i < count && batches[i].base < to; i++) {
        const struct batch *b = &batches[i];
        int64_t offsets = b->last + 1 - (b->base > from ? b->base : from);
        if (offsets <= 0)
            continue;
        if (b->control)
            account.control += offsets;
        else if (b->count > 0 && fate_of(i) == ABORTED)
            account.aborted += offsets;
        else
            account.delivered += b->records;
    }
    account.absent = to - from - account.delivered - account.control - account.aborted;
    return account;
}

/* ---- What krc says --------------------------------------------------------------------------- */

static const struct {
    const char *topic;
    int partition;
    bool uncommitted; /* there is an expected file of read_uncommitted */
} topics[] = {
    {"txns", 0, true},         {"txns", 1, true},       {"txns-open", 0, true},
    {"txns-segments", 0, true}, {"logappend", 0, true},
#ifdef KRC_WITH_SNAPPY
    {"compacted", 0, true},
#endif
    {"trimmed", 0, true},      {"emptied", 0, true},    {"never", 0, true},
    {"codec-none", 0, false},  {"codec-gzip", 0, false}, {"codec-lz4", 0, false},
    {"codec-zstd", 0, false},  {"__transaction_state", 0, false},
    {"__consumer_offsets", 0, false}, {"__consumer_offsets", 1, false},
    {"__cluster_metadata", 0, false},
};
enum { TOPICS = sizeof topics / sizeof *topics };

/* Reads a fixture, and its dump. */
static struct krc_position read_fixture(const char *topic, int partition)
{
    krc *handle = consume_open(FIXTURES "kafka-4.3.1", NULL);
    consume_assign(handle, topic, partition, KRC_EARLIEST, KRC_NO_END);
    ck_assert_ptr_null(strchr(consume_all(handle), '!'));
    struct krc_position at = consume_position(handle, topic, partition);
    krc_close(handle);
    read_dumps("kafka-4.3.1", topic, partition, at.read.from);
    return at;
}

START_TEST(as_the_dumps_have_it)
{
    struct krc_position at = read_fixture(topics[_i].topic, topics[_i].partition);
    int64_t end = count > 0 ? batches[count - 1].last + 1 : at.read.from;
    int64_t stable = last_stable_offset(end);
    struct krc_account wanted = account_of(at.read.from, stable);
    ck_assert_int_eq(at.last_stable_offset, stable);
    ck_assert_int_eq(at.log_end_offset, end);
    ck_assert_int_eq(at.undecided, end - stable);
    ck_assert_str_eq(account_text(&at.read), account_text(&wanted));
    ck_assert_str_eq(account_text(&at.account), account_text(&wanted));
}
END_TEST

/* delivered + aborted = read_uncommitted's records below the last stable offset, and the holes in
 * aborted batches */
START_TEST(beside_what_read_uncommitted_shows)
{
    if (!topics[_i].uncommitted)
        return;
    struct krc_position at = read_fixture(topics[_i].topic, topics[_i].partition);
    char path[256];
    struct expected expected;
    snprintf(path, sizeof path, "kafka-4.3.1/%s.read_uncommitted.jsonl.gz", topics[_i].topic);
    expected_open(&expected, path);
    int64_t records = 0, holes = 0;
    while (expected_next(&expected))
        records += expected.is_record && expected.partition == topics[_i].partition &&
                   expected.offset < at.last_stable_offset;
    expected_close(&expected);
    for (size_t i = 0; i < count; i++)
        if (!batches[i].control && batches[i].count > 0 && fate_of(i) == ABORTED)
            holes += batches[i].last - batches[i].base + 1 - batches[i].count;
    ck_assert_int_eq(at.read.delivered + at.read.aborted, records + holes);
}
END_TEST

START_TEST(old_formats_have_only_records)
{
    static const char *const old[][2] = {
        {"kafka-0.8.2", "v0-none"},
        {"kafka-0.8.2", "v0-gzip"},
        {"kafka-0.8.2", "v0-lz4"},
        {"kafka-0.11-upgraded-from-0.10", "v1-none"},
        {"kafka-0.11-upgraded-from-0.10", "v1-gzip"},
        {"kafka-0.11-upgraded-from-0.10", "v1-lz4"},
    };
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
        char path[256];
        snprintf(path, sizeof path, FIXTURES "%s", old[i][0]);
        krc *handle = consume_open(path, NULL);
        consume_assign(handle, old[i][1], 0, KRC_EARLIEST, KRC_NO_END);
        ck_assert_ptr_null(strchr(consume_all(handle), '!'));
        struct krc_account read = consume_position(handle, old[i][1], 0).read;
        krc_close(handle);
        read_dumps(old[i][0], old[i][1], 0, 0);
        int64_t records = 0;
        for (size_t b = 0; b < count; b++)
            records += batches[b].records;
        struct krc_account wanted = {
            .to = batches[count - 1].last + 1, .delivered = records};
        wanted.absent = wanted.to - records;
        ck_assert_str_eq(account_text(&read), account_text(&wanted));
    }
}
END_TEST

START_TEST(known_numbers)
{
    static const struct {
        const char *topic, *text;
        int64_t undecided;
    } known[] = {
        {"txns-open", NULL, 63},
        {"emptied", "25-25", 0},
        {"never", "0-0", 0},
        {"codec-none", "0-750: delivered 750", 0},
        {"trimmed", "52-90: delivered 38", 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct krc_position at = read_fixture(known[i].topic, 0);
        ck_assert_int_eq(at.undecided, known[i].undecided);
        if (known[i].text != NULL)
            ck_assert_str_eq(account_text(&at.read), known[i].text);
    }
}
END_TEST

START_TEST(undecided_ends_where_reading_was_to_end)
{
    static const int64_t untils[][2] = {{100, 0}, {136, 0}, {150, 14}, {199, 63}, {1000, 63}};
    for (size_t i = 0; i < sizeof untils / sizeof *untils; i++) {
        krc *handle = consume_open(FIXTURES "kafka-4.3.1", NULL);
        consume_assign(handle, "txns-open", 0, KRC_EARLIEST, untils[i][0]);
        consume_all(handle);
        struct krc_position at = consume_position(handle, "txns-open", 0);
        ck_assert_int_eq(at.undecided, untils[i][1]);
        ck_assert_int_eq(at.position, untils[i][0] < 136 ? untils[i][0] : 136);
        krc_close(handle);
    }
}
END_TEST

/* ---- The high watermark ---------------------------------------------------------------------- */

/* A copy whose checkpointed high watermark lies below the log end. */
static krc *open_with_high_watermark(int64_t mark)
{
    char text[64];
    tempdir_mkdir("data");
    tempdir_copy(FIXTURES "kafka-4.3.1/txns-0", "data/txns-0");
    snprintf(text, sizeof text, "0\n1\ntxns 0 %lld\n", (long long)mark);
    tempdir_write_text("data/replication-offset-checkpoint", text);
    return consume_open(tempdir_path("data"), NULL);
}

/* How many records of txns-0 Kafka's consumer got below and from an offset. */
static void expected_around(int64_t mark, int64_t *below, int64_t *from)
{
    struct expected expected;
    *below = *from = 0;
    expected_open(&expected, "kafka-4.3.1/txns.read_committed.jsonl.gz");
    while (expected_next(&expected))
        if (expected.is_record && expected.partition == 0)
            ++*(expected.offset < mark ? below : from);
    expected_close(&expected);
}

START_TEST(records_beyond_the_high_watermark)
{
    int64_t below, from;
    char note[256];
    struct consume_events events;
    struct krc_partition partition;
    expected_around(101, &below, &from);
    krc *handle = open_with_high_watermark(101);
    ck_assert(krc_source_partition(handle, 0, &partition));
    ck_assert_int_eq(partition.high_watermark, 101);
    consume_assign(handle, "txns", 0, KRC_EARLIEST, KRC_NO_END);
    consume_all(handle);
    struct krc_position at = consume_position(handle, "txns", 0);
    ck_assert_int_eq(at.high_watermark, 101);
    ck_assert_int_eq(at.position, 189);
    ck_assert_int_eq(at.read.delivered, below + from);
    consume_events(handle, &events);
    ck_assert_str_eq(events.text, "note 101 189");
    snprintf(note, sizeof note, "%lld records lie at or beyond the checkpointed high watermark 101",
             (long long)from);
    check_says(events.messages, note);
    krc_close(handle);
}
END_TEST

START_TEST(until_the_high_watermark)
{
    int64_t below, from;
    struct consume_events events;
    expected_around(101, &below, &from);
    krc *handle = open_with_high_watermark(101);
    consume_assign(handle, "txns", 0, KRC_EARLIEST, 101);
    consume_all(handle);
    struct krc_position at = consume_position(handle, "txns", 0);
    ck_assert_int_eq(at.position, 101);
    ck_assert_int_eq(at.read.delivered, below);
    consume_account(handle, "txns", 0);
    consume_events(handle, &events);
    ck_assert_str_eq(events.text, "");
    krc_close(handle);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("consumer/account");
    TCase *plain = tcase_create("dumps"), *copies = tcase_create("copies");
    tcase_add_loop_test(plain, as_the_dumps_have_it, 0, TOPICS);
    tcase_add_loop_test(plain, beside_what_read_uncommitted_shows, 0, TOPICS);
    tcase_add_test(plain, old_formats_have_only_records);
    tcase_add_test(plain, known_numbers);
    tcase_add_test(plain, undecided_ends_where_reading_was_to_end);
    tcase_add_checked_fixture(copies, tempdir_make, tempdir_remove);
    tcase_add_test(copies, records_beyond_the_high_watermark);
    tcase_add_test(copies, until_the_high_watermark);
    suite_add_tcase(suite, plain);
    suite_add_tcase(suite, copies);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
