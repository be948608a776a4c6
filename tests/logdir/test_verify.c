#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc.h"
#include "logdir/verify.h"
#include "tests/support/build.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"
#define FIRST "t-0/00000000000000000000"

static krc_error error;
static struct krc_verify_summary summary;
static struct krc_buffer bytes;
static char findings[64][1024]; /* "fault: ..." and "note: ...", the test's folder as DIR */
static size_t finding_count;

static void setup(void)
{
    tempdir_make();
}

static void teardown(void)
{
    krc_buffer_free(&bytes);
    tempdir_remove();
}

static void add_finding(void *arg, bool fault, const char *sentence)
{
    char *out = findings[finding_count++];
    const char *root = arg, *at = strstr(sentence, root);
    ck_assert_uint_le(finding_count, 64);
    if (at == NULL)
        snprintf(out, 1024, "%s: %s", fault ? "fault" : "note", sentence);
    else
        snprintf(out, 1024, "%s: %.*sDIR%s", fault ? "fault" : "note", (int)(at - sentence),
                 sentence, at + strlen(root));
}

static int verify_limited(const char *path, bool format_07, int64_t limit)
{
    char root[1024];
    snprintf(root, sizeof root, "%s", tempdir_path("%s", ""));
    root[strlen(root) - 1] = '\0';
    struct krc_log_places places = {0};
    const struct krc_verify_limits limits = {format_07, limit, limit};
    const struct krc_verify_options options = {.finding = add_finding, .arg = root};
    finding_count = 0;
    int rc = krc_log_places_find(&places, &path, 1, format_07, NULL, &error);
    if (rc == 0)
        rc = krc_verify_log(&places.list[0], &limits, &options, &summary, &error);
    krc_log_places_free(&places);
    return rc;
}

/* Verifies the partition t-0. */
static void verify(void)
{
    int rc = verify_limited(tempdir_path("t-0"), false, 8 << 20);
    ck_assert_msg(rc == 0, "%s", error.message);
}

/* Verifies, and checks that just these findings come of it. */
#define expect(...) expect_list((const char *const[]){__VA_ARGS__, NULL})
static void expect_list(const char *const *wanted)
{
    verify();
    for (size_t i = 0; i < finding_count; i++)
        ck_assert_str_eq(findings[i], wanted[i] != NULL ? wanted[i] : "");
    ck_assert_msg(wanted[finding_count] == NULL, "missing: %s", wanted[finding_count]);
}

static void expect_nothing(void)
{
    expect(NULL);
    ck_assert_int_eq(summary.faults + summary.notes, 0);
}

/* ---- Every file, every byte ---- */

#define SEGMENTS FIXTURES "kafka-4.3.1/txns-segments-0"

/* A batch's base offset and leader epoch are not under its checksum: tested by themselves. */
static bool is_unchecked(size_t at)
{
    size_t batch = 0;
    while (batch + krc_be32(bytes.data + batch + 8) + KRC_BATCH_PREFIX <= at)
        batch += krc_be32(bytes.data + batch + 8) + KRC_BATCH_PREFIX;
    return at - batch < 8 || (at - batch >= 12 && at - batch < 16);
}

static void check_flip(const char *file, size_t at)
{
    char path[256];
    snprintf(path, sizeof path, "t-0/%s", file);
    bytes.data[at] ^= (uint8_t)(at % 255 + 1);
    tempdir_write(path, bytes.data, bytes.len);
    bytes.data[at] ^= (uint8_t)(at % 255 + 1);
    verify();
    for (size_t n = 0; n < finding_count; n++)
        ck_assert_msg(strstr(findings[n], file) != NULL || strncmp(findings[n], "note", 4) == 0,
                      "%s, byte %zu: %s", file, at, findings[n]);
}

/* Changes each `step`-th byte of a file, and checks that all faults found are about it (where a
 * wrong length makes the log end early, notes tell what lies behind).  Returns of how many changes
 * nothing was found. */
static size_t flip_each(const char *file, size_t step)
{
    size_t unseen = 0;
    char path[256];
    snprintf(path, sizeof path, "t-0/%s", file);
    bytes = tempdir_read(path);
    ck_assert_uint_gt(bytes.len, 0);
    for (size_t i = 0; i < bytes.len; i += step) {
        if (strstr(file, ".log") != NULL && is_unchecked(i))
            continue;
        check_flip(file, i);
        unseen += finding_count == 0;
    }
    tempdir_write(path, bytes.data, bytes.len);
    krc_buffer_free(&bytes);
    return unseen;
}

START_TEST(a_change_of_any_byte_is_found_where_it_is)
{
    tempdir_copy(SEGMENTS, "t-0");
    ck_assert_uint_eq(flip_each("00000000000000000118.index", 1), 0);
    ck_assert_uint_eq(flip_each("00000000000000000118.timeindex", 1), 0);
    ck_assert_uint_eq(flip_each("00000000000000000118.txnindex", 1), 0);
    ck_assert_uint_eq(flip_each("00000000000000000118.snapshot", 1), 0);
    ck_assert_uint_eq(flip_each("00000000000000000118.log", 37), 0);
    expect_nothing();
}
END_TEST

#ifdef KRC_WITH_SNAPPY /* there are batches in it */
START_TEST(a_change_of_any_byte_in_a_compacted_log)
{
    tempdir_copy(FIXTURES "kafka-4.3.1/compacted-0", "t-0");
    ck_assert_uint_eq(flip_each("00000000000000000000.index", 1), 0);
    ck_assert_uint_eq(flip_each("00000000000000000000.timeindex", 1), 0);
    /* What an entry says of missing offsets is believed. */
    ck_assert_uint_le(flip_each("00000000000000000000.txnindex", 1), 4);
    ck_assert_uint_eq(flip_each("00000000000000000566.snapshot", 1), 0);
    ck_assert_uint_eq(flip_each("00000000000000000000.log", 23), 0);
    expect_nothing();
}
END_TEST
#endif

START_TEST(a_change_of_any_byte_in_an_old_log)
{
    tempdir_copy(FIXTURES "kafka-0.11-upgraded-from-0.10/v1-gzip-0", "t-0");
    ck_assert_uint_le(flip_each("00000000000000000000.index", 1), 1);
    ck_assert_uint_le(flip_each("00000000000000000000.timeindex", 1), 2);
    ck_assert_uint_eq(flip_each("00000000000000000000.log", 41), 0);
    expect_nothing();
}
END_TEST

/* ---- Indexes ---- */

static void set_int(const char *file, size_t at, int64_t value, int width)
{
    char path[256];
    snprintf(path, sizeof path, "t-0/%s", file);
    bytes = tempdir_read(path);
    for (int i = 0; i < width; i++)
        bytes.data[at + (size_t)i] = (uint8_t)((uint64_t)value >> 8 * (width - 1 - i));
    tempdir_write(path, bytes.data, bytes.len);
    krc_buffer_free(&bytes);
}

static void resize(const char *file, size_t len)
{
    char path[256];
    snprintf(path, sizeof path, "t-0/%s", file);
    bytes = tempdir_read(path);
    while (bytes.len < len)
        build_int(&bytes, 0, 1);
    tempdir_write(path, bytes.data, len);
    krc_buffer_free(&bytes);
}

#define INDEX "00000000000000000118.index"
#define TIMES "00000000000000000118.timeindex"
#define TXNS "00000000000000000118.txnindex"

START_TEST(offset_index)
{
    /* the entries: (151, 4712), (176, 8913), (205, 13121) */
    tempdir_copy(SEGMENTS, "t-0");
    set_int(INDEX, 12, 8914, 4);
    expect("fault: no batch begins at its position 8914: entry 1, byte 8 of DIR/t-0/" INDEX);
    set_int(INDEX, 12, 14000, 4);
    expect("fault: the entries do not rise: entry 1, byte 8 of DIR/t-0/" INDEX);
    set_int(INDEX, 12, 8913, 4);
    set_int(INDEX, 8, 198 - 118, 4);
    expect_nothing(); /* as if it were the last of an append */
    set_int(INDEX, 8, 175 - 118, 4);
    expect_nothing(); /* the batch's first, as Kafka 0.11 has it */
    set_int(INDEX, 8, 174 - 118, 4);
    expect("fault: its offset 174 is no batch's last one: entry 1, byte 8 of DIR/t-0/" INDEX);
    set_int(INDEX, 8, 176 - 118, 4);
    set_int(INDEX, 0, 175 - 118, 4);
    expect("fault: its offset 175 lies beyond the next entry's batch: entry 0, byte 0 of "
           "DIR/t-0/" INDEX);
    set_int(INDEX, 0, 151 - 118, 4);
    set_int(INDEX, 16, 240 - 118, 4);
    expect("fault: the segment ends before its offset 240: entry 2, byte 16 of DIR/t-0/" INDEX);
    set_int(INDEX, 16, 205 - 118, 4);
    set_int(INDEX, 20, 99999, 4);
    expect("fault: the segment ends before what entries 2 to 2 are about: byte 16 of "
           "DIR/t-0/" INDEX);
    resize(INDEX, 20);
    expect("fault: 4 bytes lie behind the last whole entry: byte 16 of DIR/t-0/" INDEX);
    resize(INDEX, 16);
    expect_nothing();
    resize(INDEX, 4096); /* as that of a segment that is written */
    expect_nothing();
}
END_TEST

/* A broker that stopped cleanly has no index of a segment that it deleted. */
START_TEST(an_index_without_its_segment)
{
    tempdir_copy(SEGMENTS, "t-0");
    ck_assert_int_eq(unlink(tempdir_path("t-0/00000000000000000000.log")), 0);
    verify();
    ck_assert_int_eq(summary.faults, 0);
    tempdir_write_text(".kafka_cleanshutdown", "");
    expect("fault: a segment is missing, of which an index is there: DIR/" FIRST ".log");
}
END_TEST

/* A running broker cuts the index of a segment that it has finished. */
START_TEST(an_index_that_is_being_cut)
{
    tempdir_copy(FIXTURES "kafka-4.3.1/txns-0", "t-0");
    resize("00000000000000000000.timeindex", (10 << 20) / 12 * 12 + 4);
    expect("note: 4 bytes lie behind the last whole entry: byte 10485756 of DIR/" FIRST
           ".timeindex");
    tempdir_write_text(".kafka_cleanshutdown", "");
    expect("fault: 4 bytes lie behind the last whole entry: byte 10485756 of DIR/" FIRST
           ".timeindex");
}
END_TEST

START_TEST(time_index)
{
    /* ends with (…3042, 205), (…3093, 232) */
    tempdir_copy(SEGMENTS, "t-0");
    set_int(TIMES, 24, 1795975733041, 8);
    expect("fault: its timestamp is 1795975733041, that of offset 205's batch 1795975733042: "
           "entry 2, byte 24 of DIR/t-0/" TIMES);
    set_int(TIMES, 24, 1795975733094, 8);
    expect("fault: the entries do not rise: entry 2, byte 24 of DIR/t-0/" TIMES);
    set_int(TIMES, 24, 1795975733042, 8);
    set_int(TIMES, 32, 150 - 118, 4);
    expect("fault: the entries do not rise: entry 2, byte 24 of DIR/t-0/" TIMES);
    set_int(TIMES, 32, 205 - 118, 4);
    set_int(TIMES, 44, 233 - 118, 4);
    expect("fault: the segment ends before what entries 3 to 3 are about: byte 36 of "
           "DIR/t-0/" TIMES);
    resize(TIMES, 36);
    expect_nothing();
}
END_TEST

START_TEST(a_time_index_that_passes_over_a_later_time)
{
    static const struct build_record record = {0};
    for (int i = 0; i < 3; i++)
        build_batch(&bytes, &(struct build_batch){.base_offset = i,
                                                  .base_timestamp = i == 1 ? 900 : 100 + i,
                                                  .max_timestamp = i == 1 ? 900 : 100 + i,
                                                  .records = &record,
                                                  .count = 1});
    tempdir_mkdir("t-0");
    tempdir_write(FIRST ".log", bytes.data, bytes.len);
    bytes.len = 0;
    build_int(&bytes, 102, 8);
    build_int(&bytes, 2, 4);
    tempdir_write(FIRST ".timeindex", bytes.data, bytes.len);
    expect("fault: a batch before its offset 2 has the timestamp 900, larger than its 102: entry "
           "0, byte 0 of DIR/" FIRST ".timeindex");
}
END_TEST

/* ---- Transactions ---- */

START_TEST(transaction_index)
{
    /* producer, first, marker, last stable: (8, 101, 132, 45), (9, 157, 191, 90),
     * (9, 199, 214, 90); the first transaction begins in the segment before */
    tempdir_copy(SEGMENTS, "t-0");
    set_int(TXNS, 10, 100, 8);
    expect("fault: its transaction of producer 8 begins at offset 101, not 100: entry 0, byte 0 of "
           "DIR/t-0/" TXNS);
    set_int(TXNS, 10, 101, 8);
    set_int(TXNS, 26, 46, 8);
    expect("note: last stable offsets of .txnindex entries that are not the log's at their markers, "
           "as followers write them: 1");
    set_int(TXNS, 26, 158, 8);
    expect("fault: who fetches less is not told that the transaction of producer 9, offsets 157 to "
           "190, is aborted: the last stable offset 158 of entry 0, byte 0 of DIR/t-0/" TXNS,
           "note: last stable offsets of .txnindex entries that are not the log's at their markers, "
           "as followers write them: 1");
    set_int(TXNS, 26, 157, 8);
    expect("note: last stable offsets of .txnindex entries that are not the log's at their markers, "
           "as followers write them: 1");
    set_int(TXNS, 94, 10000, 8); /* hides all that follow, too */
    verify();
    ck_assert_str_eq(findings[finding_count - 1],
                     "fault: the log ends before: the last stable offset 10000 of entry 2, byte 68 "
                     "of DIR/t-0/" TXNS);
    set_int(TXNS, 94, 90, 8);
    set_int(TXNS, 26, 45, 8);
    set_int(TXNS, 34, 1, 2);
    expect("fault: its version is 1, not 0: entry 1, byte 34 of DIR/t-0/" TXNS);
    set_int(TXNS, 34, 0, 2);
    set_int(TXNS, 36, 8, 8);
    expect("fault: no abort marker of producer 8 lies at offset 191: entry 1, byte 34 of "
           "DIR/t-0/" TXNS,
           "fault: the transaction of producer 9 that begins at offset 157 and is aborted at 191 "
           "is missing: DIR/t-0/" TXNS);
    resize(TXNS, 34); /* stale */
    expect("fault: the transaction of producer 9 that begins at offset 157 and is aborted at 191 "
           "is missing: DIR/t-0/" TXNS,
           "fault: the transaction of producer 9 that begins at offset 199 and is aborted at 214 "
           "is missing: DIR/t-0/" TXNS);
    ck_assert_int_eq(unlink(tempdir_path("t-0/" TXNS)), 0);
    verify();
    ck_assert_uint_eq(finding_count, 3);
}
END_TEST

static void remove_segment(const char *base)
{
    static const char *const suffixes[] = {"log", "index", "timeindex", "txnindex"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        ck_assert_int_eq(unlink(tempdir_path("t-0/%s.%s", base, suffixes[i])), 0);
}

START_TEST(transactions_whose_begin_or_marker_is_gone)
{
    tempdir_copy(SEGMENTS, "t-0");
    remove_segment("00000000000000000000");
    expect_nothing(); /* retention */
    remove_segment("00000000000000000412");
    expect_nothing(); /* the account tells that a segment is missing */
}
END_TEST

/* A producer's start of its transaction, in a snapshot whose checksum is then right again. */
static void set_open(const char *file, int producer, int64_t start)
{
    char path[256];
    snprintf(path, sizeof path, "t-0/%s", file);
    set_int(file, 10 + (size_t)producer * 46 + 38, start, 8);
    bytes = tempdir_read(path);
    uint32_t crc = krc_crc32c(0, bytes.data + 6, bytes.len - 6);
    krc_buffer_free(&bytes);
    set_int(file, 2, crc, 4);
}

START_TEST(producer_snapshots)
{
#define SNAPSHOT "00000000000000000118.snapshot"
    tempdir_copy(SEGMENTS, "t-0");
    set_open(SNAPSHOT, 0, -1); /* producer 8's is open from 101 on */
    expect("fault: the transaction of producer 8 that begins at offset 101 is not open here: "
           "DIR/t-0/" SNAPSHOT);
    set_open(SNAPSHOT, 0, 101);
    set_open(SNAPSHOT, 1, 110);
    expect("fault: producer 9 has no transaction open that begins at offset 110: "
           "DIR/t-0/" SNAPSHOT);
    set_open(SNAPSHOT, 1, -1);
    set_int(SNAPSHOT, 0, 2, 2);
    expect("fault: a producer snapshot of version 2, not 1: DIR/t-0/" SNAPSHOT);
    set_int(SNAPSHOT, 0, 1, 2);
    set_int(SNAPSHOT, 20, 1, 1);
    expect("fault: a producer snapshot with a wrong checksum: DIR/t-0/" SNAPSHOT);
    tempdir_write_text("t-0/" SNAPSHOT, "short");
    expect("fault: a producer snapshot of only 5 bytes: DIR/t-0/" SNAPSHOT);
    ck_assert_int_eq(unlink(tempdir_path("t-0/" SNAPSHOT)), 0);
    ck_assert_int_eq(rename(tempdir_path("t-0/00000000000000000980.snapshot"),
                            tempdir_path("t-0/00000000000000000990.snapshot")), 0);
    expect("note: the log ends at offset 980, before this snapshot: "
           "DIR/t-0/00000000000000000990.snapshot");
    tempdir_write_text(".kafka_cleanshutdown", "");
    expect("fault: the log ends at offset 980, before this snapshot: "
           "DIR/t-0/00000000000000000990.snapshot");
}
END_TEST

/* ---- Epochs and checkpoints ---- */

START_TEST(leader_epochs)
{
    tempdir_copy(SEGMENTS, "t-0");
    tempdir_write_text("t-0/leader-epoch-checkpoint", "0\n2\n0 0\n4 500\n");
    expect("fault: the batch of offsets 500 to 501 is of leader epoch 0, not 4: line 4 of "
           "DIR/t-0/leader-epoch-checkpoint");
    tempdir_write_text("t-0/leader-epoch-checkpoint", "0\n1\n0 500\n");
    expect_nothing(); /* the log start was once there */
    tempdir_write_text("t-0/leader-epoch-checkpoint", "0\n2\n0 0\n");
    ck_assert_int_eq(verify_limited(tempdir_path("t-0"), false, 8 << 20),
                     KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "a checkpoint of 1 lines that should have 2: "));
}
END_TEST

START_TEST(checkpoints_beyond_the_end)
{
    tempdir_copy(SEGMENTS, "t-0");
    tempdir_write_text("replication-offset-checkpoint", "0\n1\nt 0 980\n");
    expect_nothing();
    tempdir_write_text("replication-offset-checkpoint", "0\n1\nt 0 981\n");
    expect("note: the log ends at offset 980, before its 981 in replication-offset-checkpoint: "
           "DIR/t-0");
    tempdir_write_text(".kafka_cleanshutdown", "");
    tempdir_write_text("log-start-offset-checkpoint", "0\n1\nt 0 1000\n");
    tempdir_write_text("cleaner-offset-checkpoint", "0\n1\nt 0 2000\n");
    expect("fault: the log ends at offset 980, before its 1000 in log-start-offset-checkpoint: "
           "DIR/t-0",
           "fault: the log ends at offset 980, before its 981 in replication-offset-checkpoint: "
           "DIR/t-0",
           "fault: the log ends at offset 980, before its 2000 in cleaner-offset-checkpoint: "
           "DIR/t-0");
}
END_TEST

/* ---- The log ---- */

START_TEST(a_torn_tail_is_a_fault_after_a_clean_stop)
{
    tempdir_copy(FIXTURES "kafka-4.3.1/logappend-0", "t-0");
    ck_assert_int_eq(unlink(tempdir_path("t-0/00000000000000000099.snapshot")), 0);
    resize("00000000000000000000.log", 14500);
    verify();
    ck_assert_uint_ge(finding_count, 1);
    for (size_t i = 0; i < finding_count; i++)
        ck_assert_int_eq(strncmp(findings[i], "note: ", 6), 0);
    tempdir_write_text(".kafka_cleanshutdown", "");
    verify();
    ck_assert_int_ge(summary.faults, 1);
    ck_assert_int_eq(summary.notes, 0);
    ck_assert_msg(strstr(findings[finding_count - 1], "are a torn batch, as in a copy") != NULL,
                  "%s", findings[finding_count - 1]);
}
END_TEST

START_TEST(a_preallocated_log)
{
    tempdir_copy(FIXTURES "kafka-4.3.1/txns-0", "t-0");
    resize("00000000000000000000.log", 64 << 10);
    resize("00000000000000000000.index", 10 << 20);
    resize("00000000000000000000.timeindex", (10 << 20) / 12 * 12);
    expect("note: the log ends at byte 31871 of its last segment: the 33665 bytes behind it are "
           "zeros, as in a preallocated file: DIR/" FIRST ".log");
}
END_TEST

START_TEST(bytes_behind_a_gzip_stream)
{
    struct krc_buffer records = {0}, payload = {0};
    const struct build_record record = {.value = build_text("v")};
    build_records(&records, &record, 1);
    build_compress(&payload, KRC_GZIP, (struct krc_bytes){records.data, records.len});
    build_append(&payload, "junk", 4);
    build_batch_of(&bytes, &(struct build_batch){.base_offset = 7, .codec = KRC_GZIP, .count = 1},
                   (struct krc_bytes){payload.data, payload.len});
    krc_buffer_free(&records);
    krc_buffer_free(&payload);
    tempdir_mkdir("t-0");
    tempdir_write(FIRST ".log", bytes.data, bytes.len);
    expect("note: batch of offsets 7 to 7: 4 bytes follow its compressed records: byte 0 of "
           "DIR/" FIRST ".log");
}
END_TEST

START_TEST(records_that_cannot_be_read_behind_a_right_checksum)
{
    static const struct build_record record = {0};
    struct build_batch batch = {.codec = KRC_ZSTD, .last_delta = 2, .count = 3};
    build_batch_of(&bytes, &batch, build_text("no zstd"));
    batch = (struct build_batch){.base_offset = 3, .control = true, .transactional = true,
                                 .producer_id = 9, .records = &record, .count = 1};
    build_batch(&bytes, &batch);
    tempdir_mkdir("t-0");
    tempdir_write(FIRST ".log", bytes.data, bytes.len);
    verify();
    ck_assert_uint_eq(finding_count, 2);
    ck_assert_msg(strncmp(findings[0], "fault: batch of offsets 0 to 2: ", 32) == 0 &&
                      strstr(findings[0], ": byte 0 of DIR/" FIRST ".log") != NULL,
                  "%s", findings[0]);
    ck_assert_msg(strncmp(findings[1], "fault: batch of offsets 3 to 3: its control record's key "
                                       "is too short", 69) == 0, "%s", findings[1]);
    ck_assert_int_eq(summary.batches, 2);
}
END_TEST

START_TEST(a_broken_batch_is_told_once_and_passed)
{
    tempdir_copy(SEGMENTS, "t-0");
    set_int("00000000000000000118.log", 8913 + 70, 0x55, 1);
    verify();
    ck_assert_uint_eq(finding_count, 1);
    ck_assert_msg(strstr(findings[0], "t-0 is corrupt at offsets ") != NULL &&
                      strstr(findings[0], ", byte 8913 of DIR/t-0/00000000000000000118.log: the "
                                          "batch's checksum 0x") != NULL,
                  "%s", findings[0]);
    ck_assert_int_eq(summary.batches, 376);
    ck_assert_int_eq(summary.log_end_offset, 980);
}
END_TEST

/* Nobody writes into these: whoever opens one to read it waits for ever. */
START_TEST(files_that_are_no_files)
{
    static const char *const files[] = {INDEX, TIMES, TXNS, "00000000000000000118.snapshot"};
    tempdir_copy(SEGMENTS, "t-0");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        unlink(tempdir_path("t-0/%s", files[i]));
        ck_assert_int_eq(mkfifo(tempdir_path("t-0/%s", files[i]), 0666), 0);
    }
    verify();
    ck_assert_uint_ge(finding_count, 4);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char fault[256];
        size_t n = 0;
        snprintf(fault, sizeof fault, "fault: this is no regular file: DIR/t-0/%s", files[i]);
        while (n < finding_count && strcmp(findings[n], fault) != 0)
            n++;
        ck_assert_msg(n < finding_count, "missing: %s", fault);
    }
}
END_TEST

START_TEST(a_batch_over_the_limit)
{
    tempdir_copy(SEGMENTS, "t-0");
    ck_assert_int_eq(verify_limited(tempdir_path("t-0"), false, 200),
                     KRC_E_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(error.message, "receive.message.max.bytes"));
}
END_TEST

START_TEST(kafka_07)
{
    build_message_07(&bytes, KRC_NONE, build_text("one"));
    build_message_07(&bytes, KRC_GZIP, build_text("no gzip"));
    tempdir_mkdir("t-0");
    tempdir_write(FIRST ".kafka", bytes.data, bytes.len);
    ck_assert_int_eq(verify_limited(tempdir_path("t-0"), true, 8 << 20), 0);
    ck_assert_uint_eq(finding_count, 1);
    ck_assert_msg(strstr(findings[0], ": byte 12 of DIR/" FIRST ".kafka") != NULL, "%s",
                  findings[0]);
    ck_assert_int_eq(summary.batches, 2);
    ck_assert_int_eq(summary.records, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_change_of_any_byte_is_found_where_it_is,
#ifdef KRC_WITH_SNAPPY
        a_change_of_any_byte_in_a_compacted_log,
#endif
        a_change_of_any_byte_in_an_old_log,
        offset_index,
        time_index,
        a_time_index_that_passes_over_a_later_time,
        an_index_without_its_segment,
        an_index_that_is_being_cut,
        transaction_index,
        transactions_whose_begin_or_marker_is_gone,
        producer_snapshots,
        leader_epochs,
        checkpoints_beyond_the_end,
        a_torn_tail_is_a_fault_after_a_clean_stop,
        a_preallocated_log,
        bytes_behind_a_gzip_stream,
        records_that_cannot_be_read_behind_a_right_checksum,
        a_broken_batch_is_told_once_and_passed,
        files_that_are_no_files,
        a_batch_over_the_limit,
        kafka_07,
    };
    return run_tests("verify", tests, sizeof tests / sizeof *tests, setup, teardown);
}
