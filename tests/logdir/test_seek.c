#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "logdir/cursor.h"
#include "logdir/files.h"
#include "tests/support/build.h"
#include "tests/support/onelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"
#define FIRST_LOG "t-0/00000000000000000000.log"

static krc_error error;
static struct onelog one;
static struct krc_log_batch batches[1024];
static size_t count;

/* ---- What every seek must find ---- */

static void check_next(size_t want, const char *what, int64_t target)
{
    struct krc_log_batch batch;
    int rc = krc_reader_next(one.reader, &batch, &error);
    ck_assert_msg(rc == (want < count), "%s %lld: %d, %s", what, (long long)target, rc,
                  error.message);
    if (rc == 1)
        ck_assert_msg(batch.header.last_offset == batches[want].header.last_offset &&
                          batch.file_position == batches[want].file_position &&
                          batch.segment == batches[want].segment,
                      "%s %lld finds %lld, not %lld", what, (long long)target,
                      (long long)batch.header.last_offset,
                      (long long)batches[want].header.last_offset);
}

static void check_all_offsets(void)
{
    int64_t end = count > 0 ? batches[count - 1].header.last_offset + 2 : 2;
    size_t want = 0;
    for (int64_t target = -1; target <= end; target++) {
        while (want < count && batches[want].header.last_offset < target)
            want++;
        ck_assert_int_eq(krc_reader_seek(one.reader, target, &error), KRC_OK);
        check_next(want, "offset", target);
        if (want + 1 < count)
            check_next(want + 1, "after offset", target);
    }
}

static void check_time(int64_t target)
{
    size_t want = 0;
    while (want < count && batches[want].header.max_timestamp < target)
        want++;
    ck_assert_int_eq(krc_reader_seek_time(one.reader, target, &error), KRC_OK);
    check_next(want, "time", target);
}

static void check_all_times(void)
{
    for (size_t i = 0; i < count; i++)
        for (int d = -1; d <= 1; d++)
            check_time(batches[i].header.max_timestamp + d);
    check_time(0);
    check_time(INT64_MAX);
}

/* ---- What an index may be ---- */

static uint32_t seed = 1;

static uint32_t random_number(void)
{
    return seed = seed * 1664525 + 1013904223;
}

/* Each changes an index file's bytes, of `entry` a piece; they are stored in `file`. */
typedef void harm_fn(struct krc_buffer *file, size_t entry);

static void nothing(struct krc_buffer *file, size_t entry)
{
    (void)file;
    (void)entry;
}

static void empty(struct krc_buffer *file, size_t entry)
{
    (void)entry;
    file->len = 0;
}

static void stale(struct krc_buffer *file, size_t entry)
{
    file->len = file->len / entry / 2 * entry;
}

static void torn(struct krc_buffer *file, size_t entry)
{
    (void)entry;
    file->len -= file->len > 3 ? 3 : file->len;
}

static void padded(struct krc_buffer *file, size_t entry)
{
    static const uint8_t zeros[8000];
    (void)entry;
    build_append(file, zeros, sizeof zeros);
}

static void zeros(struct krc_buffer *file, size_t entry)
{
    (void)entry;
    if (file->len > 0)
        memset(file->data, 0, file->len);
}

static void noise(struct krc_buffer *file, size_t entry)
{
    (void)entry;
    for (size_t i = 0; i < file->len; i++)
        file->data[i] = (uint8_t)(random_number() >> 24);
}

/* Positions one byte off; timestamps one millisecond. */
static void shifted(struct krc_buffer *file, size_t entry)
{
    for (size_t i = 0; i + entry <= file->len; i += entry)
        file->data[i + 7]++;
}

/* Entries that are true of other places: each has the position (or offset) of the last. */
static void all_point_to_the_last(struct krc_buffer *file, size_t entry)
{
    if (file->len < entry)
        return;
    const uint8_t *last = file->data + (file->len / entry - 1) * entry + entry - 4;
    for (size_t i = 0; i + entry < file->len; i += entry)
        memcpy(file->data + i + entry - 4, last, 4);
}

static void backwards(struct krc_buffer *file, size_t entry)
{
    size_t n = file->len / entry;
    uint8_t other[16];
    for (size_t i = 0; i < n / 2; i++) {
        uint8_t *a = file->data + i * entry, *b = file->data + (n - 1 - i) * entry;
        memcpy(other, a, entry);
        memcpy(a, b, entry);
        memcpy(b, other, entry);
    }
}

/* Keys far too small: everything seems to lie before what is sought. */
static void small_keys(struct krc_buffer *file, size_t entry)
{
    for (size_t i = 0; i + entry <= file->len; i += entry)
        memset(file->data + i, 0, entry - 4);
}

static harm_fn *const harms[] = {
    nothing, empty, stale, torn, padded, zeros, noise, shifted, all_point_to_the_last,
    backwards, small_keys,
};

static void harm_all(harm_fn *harm, const char *suffix, size_t entry)
{
    for (size_t i = 0; i < one.log->segment_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "t-0/%020lld%s",
                 (long long)one.log->segments[i].base_offset, suffix);
        if (access(tempdir_path("%s", name), F_OK) != 0)
            continue;
        struct krc_buffer file = tempdir_read(name);
        harm(&file, entry);
        tempdir_write(name, file.data, file.len);
        krc_buffer_free(&file);
    }
}

/* A FIFO, into which nobody writes, in place of each index. */
static void block_all(const char *suffix)
{
    for (size_t i = 0; i < one.log->segment_count; i++)
        ck_assert_int_eq(mkfifo(tempdir_path("t-0/%020lld%s",
                                             (long long)one.log->segments[i].base_offset, suffix),
                                0666), 0);
}

static void remove_all(const char *suffix)
{
    for (size_t i = 0; i < one.log->segment_count; i++)
        unlink(tempdir_path("t-0/%020lld%s", (long long)one.log->segments[i].base_offset, suffix));
}

static void open_copy(const char *folder)
{
    int rc;
    tempdir_make();
    tempdir_copy(folder, "t-0");
    onelog_open(&one, tempdir_path("t-0"));
    count = onelog_headers(&one, batches, 1024, &rc, &error);
    ck_assert_int_eq(rc, 0);
}

static void close_copy(void)
{
    onelog_close(&one);
    tempdir_remove();
}

static const char *const folders[] = {
    FIXTURES "kafka-4.3.1/txns-segments-0",
    FIXTURES "kafka-4.3.1/compacted-0",
    FIXTURES "kafka-4.3.1/codec-none-0",
    FIXTURES "kafka-4.3.1/logappend-0",
    FIXTURES "kafka-0.8.2/v0-gzip-0",
    FIXTURES "kafka-0.11-upgraded-from-0.10/v1-snappy-0",
};

START_TEST(every_offset_whatever_the_index)
{
    int64_t end;
    open_copy(folders[_i]);
    int64_t want_end = batches[count - 1].header.last_offset + 1;
    close_copy();
    for (size_t i = 0; i <= sizeof harms / sizeof *harms; i++) {
        open_copy(folders[_i]);
        if (i < sizeof harms / sizeof *harms)
            harm_all(harms[i], ".index", KRC_INDEX_ENTRY);
        else
            remove_all(".index");
        check_all_offsets();
        ck_assert_int_eq(krc_log_find_end(one.log, &end, &error), KRC_OK);
        ck_assert_int_eq(end, want_end);
        close_copy();
    }
}
END_TEST

START_TEST(every_time_whatever_the_index)
{
    for (size_t i = 0; i <= sizeof harms / sizeof *harms; i++) {
        open_copy(folders[_i]);
        if (i < sizeof harms / sizeof *harms)
            harm_all(harms[i], ".timeindex", KRC_TIMEINDEX_ENTRY);
        else
            remove_all(".timeindex");
        if (i % 2 == 1)
            remove_all(".index");
        check_all_times();
        close_copy();
    }
}
END_TEST

START_TEST(indexes_that_are_no_files)
{
    open_copy(folders[0]);
    remove_all(".index");
    remove_all(".timeindex");
    block_all(".index");
    block_all(".timeindex");
    check_all_offsets();
    check_all_times();
    close_copy();
}
END_TEST

/* An index that leads to a batch inside a record's value, right in every respect. */
START_TEST(an_index_into_a_value)
{
    struct krc_buffer log = {0}, inner = {0};
    int rc;
    build_plain_batch(&inner, &(struct build_batch){.base_offset = 3}, 2);
    build_plain_batch(&log, &(struct build_batch){.base_offset = 0}, 1);
    struct build_record record = {.value = {inner.data, inner.len}};
    build_batch(&log, &(struct build_batch){.base_offset = 1, .records = &record, .count = 1});
    int64_t position = (int64_t)(log.len - 1 - inner.len);
    for (int i = 2; i < 10; i++)
        build_plain_batch(&log, &(struct build_batch){.base_offset = i}, 1);
    uint8_t entry[KRC_INDEX_ENTRY];
    krc_put_be32(entry, 1);
    krc_put_be32(entry + 4, (uint32_t)position);
    ck_assert_mem_eq(log.data + position, inner.data, inner.len);

    tempdir_make();
    tempdir_mkdir("t-0");
    tempdir_write(FIRST_LOG, log.data, log.len);
    tempdir_write("t-0/00000000000000000000.index", entry, sizeof entry);
    onelog_open(&one, tempdir_path("t-0"));
    count = onelog_headers(&one, batches, 1024, &rc, &error);
    ck_assert_uint_eq(count, 10);
    for (int64_t target = 5; target < 10; target++) { /* 3 and 4 it finds right there */
        ck_assert_int_eq(krc_reader_seek(one.reader, target, &error), KRC_OK);
        check_next((size_t)target, "offset", target);
    }
    close_copy();
    krc_buffer_free(&log);
    krc_buffer_free(&inner);
}
END_TEST

/* A magic 1 wrapper, whose offset is its last record's, holds all since the batch before. */
START_TEST(wrappers_hold_what_lies_before_them)
{
    struct krc_buffer log = {0}, set = {0};
    struct krc_bytes text = build_text("x");
    int rc;
    for (int i = 0; i < 5; i++)
        build_message(&set, 1, i, 1000 + i, 0, text, text);
    build_wrapper(&log, 1, 4, 1004, KRC_GZIP, (struct krc_bytes){set.data, set.len});
    build_wrapper(&log, 1, 9, 1009, KRC_GZIP, (struct krc_bytes){set.data, set.len});
    build_message(&log, 1, 10, 1010, 0, text, text);
    tempdir_make();
    tempdir_mkdir("t-0");
    tempdir_write(FIRST_LOG, log.data, log.len);
    onelog_open(&one, tempdir_path("t-0"));
    count = onelog_headers(&one, batches, 1024, &rc, &error);
    ck_assert_uint_eq(count, 3);
    check_all_offsets();
    check_all_times();
    close_copy();
    krc_buffer_free(&log);
    krc_buffer_free(&set);
}
END_TEST

/* Timestamps that do not rise: the first batch in the log's order counts. */
START_TEST(times_that_go_back)
{
    static const int64_t times[] = {50, 20, 70, 30, 30, 90, 10, 80};
    struct krc_buffer log = {0}, index = {0};
    int rc;
    for (int i = 0; i < 8; i++) {
        build_plain_batch(&log, &(struct build_batch){.base_offset = i, .base_timestamp = times[i],
                                                      .max_timestamp = times[i]}, 1);
        if (i % 3 == 2) { /* the maximum so far, as Kafka writes it: 70 at 2, 90 at 5 */
            build_int(&index, times[i], 8);
            build_int(&index, i, 4);
        }
    }
    tempdir_make();
    tempdir_mkdir("t-0");
    tempdir_write(FIRST_LOG, log.data, log.len);
    tempdir_write("t-0/00000000000000000000.timeindex", index.data, index.len);
    onelog_open(&one, tempdir_path("t-0"));
    count = onelog_headers(&one, batches, 1024, &rc, &error);
    ck_assert_uint_eq(count, 8);
    check_all_times();
    close_copy();
    krc_buffer_free(&log);
    krc_buffer_free(&index);
}
END_TEST

int main(void)
{
    int n = sizeof folders / sizeof *folders;
    Suite *suite = suite_create("logdir: seek");
    TCase *tc = tcase_create("seek");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, every_offset_whatever_the_index, 0, n);
    tcase_add_loop_test(tc, every_time_whatever_the_index, 0, n);
    tcase_add_test(tc, indexes_that_are_no_files);
    tcase_add_test(tc, an_index_into_a_value);
    tcase_add_test(tc, wrappers_hold_what_lies_before_them);
    tcase_add_test(tc, times_that_go_back);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
