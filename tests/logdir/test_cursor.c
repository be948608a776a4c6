#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "logdir/cursor.h"
#include "tests/support/build.h"
#include "tests/support/expected.h"
#include "tests/support/onelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"
#define FIRST_LOG "t-0/00000000000000000000.log"

static krc_error error;
static struct onelog one;
static struct krc_log_batch batches[1024];

/* The log end offset that Kafka's consumer saw: its last lines' `end`. */
static int64_t expected_end(const char *path, int32_t partition)
{
    struct expected expected;
    int64_t end = -1;
    expected_open(&expected, path);
    while (expected_next(&expected))
        if (!expected.is_record && expected.partition == partition)
            end = expected.end;
    expected_close(&expected);
    return end;
}

static void check_log(const char *folder, int64_t want_end, size_t want_batches)
{
    int rc;
    int64_t end, bytes = 0, files = 0;
    onelog_open(&one, folder);
    size_t n = onelog_headers(&one, batches, 1024, &rc, &error);
    ck_assert_int_eq(rc, 0);
    ck_assert_str_eq(krc_reader_tail(one.reader), "");
    ck_assert_uint_eq(n, want_batches);
    for (size_t i = 0; i < n; i++)
        bytes += batches[i].header.size;
    for (size_t i = 0; i < one.log->segment_count; i++)
        files += one.log->segments[i].size;
    ck_assert_int_eq(bytes, files);
    ck_assert_int_eq(krc_log_find_end(one.log, &end, &error), KRC_OK);
    ck_assert_int_eq(end, want_end);
    onelog_close(&one);
}

/* Batches as a hop from length to length counts them. */
START_TEST(every_real_log)
{
    static const struct {
        const char *name;
        int partition;
        size_t batches;
    } logs[] = {
        {"txns", 0, 127},         {"txns", 1, 127},   {"txns-open", 0, 77},
        {"txns-segments", 0, 377}, {"logappend", 0, 41}, {"trimmed", 0, 12},
        {"emptied", 0, 3},        {"never", 0, 0},    {"compacted", 0, 51},
    };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        char folder[256], expected[256];
        snprintf(folder, sizeof folder, FIXTURES "kafka-4.3.1/%s-%d", logs[i].name,
                 logs[i].partition);
        snprintf(expected, sizeof expected, "kafka-4.3.1/%s.read_uncommitted.jsonl.gz",
                 logs[i].name);
        check_log(folder, expected_end(expected, logs[i].partition), logs[i].batches);
    }
    check_log(FIXTURES "kafka-4.3.1/codec-none-0", 750, 19);
    check_log(FIXTURES "kafka-0.8.2/v0-none-0", 600, 600);
    check_log(FIXTURES "kafka-0.11-upgraded-from-0.10/v1-none-0", 300, 151);
}
END_TEST

/* Every message is a batch, and a message's offset its position. */
START_TEST(a_log_of_kafka_07)
{
    struct krc_buffer b = {0};
    int rc;
    int64_t end;
    tempdir_mkdir("t-0");
    for (int i = 0; i < 20; i++)
        build_message_07(&b, KRC_NONE, build_text("some text"));
    tempdir_write("t-0/00000000000000001000.kafka", b.data, b.len);
    int64_t next = 1000 + (int64_t)b.len;
    char second[64];
    snprintf(second, sizeof second, "t-0/%020lld.kafka", (long long)next);
    tempdir_write(second, b.data, b.len);

    onelog_open_07(&one, tempdir_path("t-0"));
    ck_assert_uint_eq(onelog_headers(&one, batches, 1024, &rc, &error), 40);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(batches[0].header.base_offset, 1000);
    ck_assert_int_eq(batches[20].header.base_offset, next);
    ck_assert_int_eq(krc_log_find_end(one.log, &end, &error), KRC_OK);
    ck_assert_int_eq(end, next + (int64_t)b.len);
    for (int i = 0; i < 40; i++) {
        struct krc_log_batch batch;
        ck_assert_int_eq(krc_reader_seek(one.reader, batches[i].header.last_offset, &error), 0);
        ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 1);
        ck_assert_int_eq(batch.header.base_offset, batches[i].header.base_offset);
    }
    onelog_close(&one);
    krc_buffer_free(&b);
}
END_TEST

/* Batches from `first` on, each of `records` records. */
static void build_log(struct krc_buffer *b, int64_t first, int count, int records)
{
    for (int i = 0; i < count; i++)
        build_plain_batch(b, &(struct build_batch){.base_offset = first + i * records}, records);
}

/* A batch of one record of `size` bytes. */
static void build_giant(struct krc_buffer *b, int64_t offset, size_t size)
{
    uint8_t *value = malloc(size);
    memset(value, 'x', size);
    struct build_record record = {.value = {value, size}};
    build_batch(b, &(struct build_batch){.base_offset = offset, .records = &record, .count = 1});
    free(value);
}

START_TEST(batches_across_chunks_and_larger_than_one)
{
    struct krc_buffer b = {0};
    int rc;
    int64_t offset = 0;
    static const size_t sizes[] = {200000, 200000, 262144 - 75, 262144, 1000000, 10, 700000, 3};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++, offset += 8) {
        build_giant(&b, offset, sizes[i]);
        build_log(&b, offset + 1, 7, 1);
    }
    tempdir_mkdir("t-0");
    tempdir_write(FIRST_LOG, b.data, b.len);
    onelog_open(&one, tempdir_path("t-0"));
    size_t at = 0;
    for (struct krc_log_batch batch; (rc = krc_reader_next(one.reader, &batch, &error)) == 1;) {
        ck_assert_int_eq(batch.file_position, (int64_t)at);
        ck_assert_mem_eq(batch.bytes, b.data + at, (size_t)batch.header.size);
        ck_assert_uint_le(batch.chunk->capacity, 1100000);
        at += (size_t)batch.header.size;
    }
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(at, b.len);
    ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), 0);
    onelog_close(&one);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(a_held_chunk_outlives_the_next_call)
{
    struct krc_buffer b = {0};
    struct krc_log_batch held = {0}, batch;
    build_log(&b, 0, 20000, 1);
    tempdir_mkdir("t-0");
    tempdir_write(FIRST_LOG, b.data, b.len);
    onelog_open(&one, tempdir_path("t-0"));
    const uint8_t *recycled = NULL;
    for (int i = 0; i < 20000; i++) {
        ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 1);
        if (i == 100) {
            held = batch;
            krc_chunk_hold(held.chunk);
        }
        if (i > 15000) { /* nobody else holds one: no more memory is taken */
            ck_assert(recycled == NULL || recycled == batch.chunk->data);
            recycled = batch.chunk->data;
        }
    }
    ck_assert_mem_eq(held.bytes, b.data + held.file_position, (size_t)held.header.size);
    ck_assert_ptr_ne(held.chunk, batch.chunk);
    onelog_close(&one);
    ck_assert_mem_eq(held.bytes, b.data + held.file_position, (size_t)held.header.size);
    krc_chunk_drop(held.chunk);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(a_batch_beyond_the_limit)
{
    struct krc_buffer b = {0};
    struct krc_reader *reader;
    struct krc_log_batch batch;
    build_log(&b, 0, 1, 3);
    int64_t position = (int64_t)b.len;
    build_giant(&b, 3, 5000);
    tempdir_mkdir("t-0");
    tempdir_write(FIRST_LOG, b.data, b.len);
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_int_eq(krc_reader_open(&reader, one.log, 4096, &error), KRC_OK);
    ck_assert_int_eq(krc_reader_next(reader, &batch, &error), 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(krc_reader_next(reader, &batch, &error), KRC_E_TOO_LARGE);
        ck_assert_ptr_nonnull(strstr(error.message, "more than receive.message.max.bytes = 4096"));
        ck_assert_ptr_nonnull(strstr(error.message, "offsets 3 to 3 of t-0"));
        ck_assert_ptr_nonnull(strstr(error.message, tempdir_path(FIRST_LOG)));
        ck_assert_int_eq(error.offset, 3);
        ck_assert_int_eq(error.file_position, position);
    }
    krc_reader_close(reader);
    onelog_close(&one);

    b.data[b.len - 1] ^= 1; /* too large as it says, but is it a batch? */
    tempdir_write(FIRST_LOG, b.data, b.len);
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_int_eq(krc_reader_open(&reader, one.log, 4096, &error), KRC_OK);
    ck_assert_int_eq(krc_reader_next(reader, &batch, &error), 1);
    ck_assert_int_eq(krc_reader_next(reader, &batch, &error), KRC_E_CORRUPT);
    krc_reader_close(reader);
    onelog_close(&one);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(empty_and_missing_segments)
{
    struct krc_buffer b = {0};
    int rc;
    int64_t end;
    tempdir_mkdir("t-0");
    onelog_open(&one, FIXTURES "kafka-4.3.1/never-0");
    onelog_close(&one);
    build_log(&b, 0, 3, 2);
    tempdir_write(FIRST_LOG, b.data, b.len);
    tempdir_write("t-0/00000000000000000006.log", "", 0);
    b.len = 0;
    build_log(&b, 20, 3, 2); /* 6 to 19 are missing: the consumer's to see */
    tempdir_write("t-0/00000000000000000020.log", b.data, b.len);
    tempdir_write("t-0/00000000000000000030.log", "", 0);
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_uint_eq(onelog_headers(&one, batches, 1024, &rc, &error), 6);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(batches[3].header.base_offset, 20);
    ck_assert_uint_eq(batches[3].segment, 2);
    ck_assert_int_eq(krc_log_find_end(one.log, &end, &error), KRC_OK);
    ck_assert_int_eq(end, 30);
    onelog_close(&one);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(a_log_without_files)
{
    int64_t end;
    tempdir_write_text("log-start-offset-checkpoint", "0\n1\nt 0 17\n");
    tempdir_mkdir("t-0");
    onelog_open(&one, tempdir_path("%s", ""));
    ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), 0);
    ck_assert_int_eq(krc_walker_next(one.walker, batches, &error), 0);
    ck_assert_int_eq(krc_reader_seek(one.reader, 5, &error), KRC_OK);
    ck_assert_int_eq(krc_reader_seek_time(one.reader, 5, &error), KRC_OK);
    ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), 0);
    ck_assert_int_eq(krc_log_find_end(one.log, &end, &error), KRC_OK);
    ck_assert_int_eq(end, 17);
    onelog_close(&one);
}
END_TEST

static int open_files(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

START_TEST(one_descriptor_a_cursor)
{
    tempdir_mkdir("t-0");
    struct krc_buffer b = {0};
    for (int i = 0; i < 50; i++) {
        char name[64];
        b.len = 0;
        build_log(&b, 10 * i, 5, 2);
        snprintf(name, sizeof name, "t-0/%020d.log", 10 * i);
        tempdir_write(name, b.data, b.len);
    }
    int before = open_files(), rc;
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_int_eq(open_files(), before);
    ck_assert_uint_eq(onelog_headers(&one, batches, 240, &rc, &error), 240);
    ck_assert_int_eq(krc_reader_seek(one.reader, 7, &error), KRC_OK);
    ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), 1);
    ck_assert_int_eq(open_files(), before + 2);
    onelog_close(&one);
    ck_assert_int_eq(open_files(), before);
    krc_buffer_free(&b);
}
END_TEST

static void two_segments(void)
{
    struct krc_buffer b = {0};
    tempdir_mkdir("t-0");
    build_log(&b, 0, 6000, 1);
    tempdir_write(FIRST_LOG, b.data, b.len);
    b.len = 0;
    build_log(&b, 6000, 6000, 1);
    tempdir_write("t-0/00000000000000006000.log", b.data, b.len);
    krc_buffer_free(&b);
}

static int read_on(int64_t *last)
{
    struct krc_log_batch batch;
    int rc;
    while ((rc = krc_reader_next(one.reader, &batch, &error)) == 1)
        *last = batch.header.last_offset;
    return rc;
}

START_TEST(files_that_shrink)
{
    int64_t last = -1;
    two_segments();
    /* the last one: what is left of it is the log */
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_int_eq(truncate(tempdir_path("t-0/00000000000000006000.log"), 79 * 100), 0);
    ck_assert_int_eq(read_on(&last), 0);
    ck_assert_int_ge(last, 6000);
    ck_assert_int_lt(last, 6110);
    onelog_close(&one);

    /* while its beginning is in the chunk already, and then to nothing */
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_int_eq(krc_reader_seek(one.reader, 6000, &error), KRC_OK);
    ck_assert_int_eq(truncate(tempdir_path("t-0/00000000000000006000.log"), 0), 0);
    ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), 0);
    onelog_close(&one);

    /* another one: no */
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), 1);
    ck_assert_int_eq(truncate(tempdir_path(FIRST_LOG), 1000), 0);
    ck_assert_int_eq(read_on(&last), KRC_E_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "the segment shrank from"));
    ck_assert_ptr_nonnull(strstr(error.message, tempdir_path(FIRST_LOG)));
    ck_assert_str_eq(error.topic, "t");
    onelog_close(&one);
}
END_TEST

START_TEST(files_that_grow)
{
    struct krc_buffer b = {0};
    int rc;
    tempdir_mkdir("t-0");
    build_log(&b, 0, 3, 1);
    tempdir_write(FIRST_LOG, b.data, b.len);
    onelog_open(&one, tempdir_path("t-0"));
    build_log(&b, 3, 3, 1);
    tempdir_write(FIRST_LOG, b.data, b.len);
    ck_assert_uint_eq(onelog_headers(&one, batches, 1024, &rc, &error), 3);
    ck_assert_int_eq(rc, 0); /* as it was when it was opened */
    onelog_close(&one);
    krc_buffer_free(&b);
}
END_TEST

START_TEST(files_that_cannot_be_opened)
{
    two_segments();
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_int_eq(unlink(tempdir_path(FIRST_LOG)), 0);
    ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), KRC_E_IO);
    ck_assert_int_eq(error.code, KRC_E_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "cannot open"));
    ck_assert_ptr_nonnull(strstr(error.message, tempdir_path(FIRST_LOG)));
    ck_assert_ptr_nonnull(strstr(error.message, "No such file"));
    ck_assert_str_eq(error.topic, "t");
    ck_assert_int_eq(error.partition, 0);
    ck_assert_int_eq(krc_walker_next(one.walker, batches, &error), KRC_E_IO);
    onelog_close(&one);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        every_real_log,
        a_log_of_kafka_07,
        batches_across_chunks_and_larger_than_one,
        a_held_chunk_outlives_the_next_call,
        a_batch_beyond_the_limit,
        empty_and_missing_segments,
        a_log_without_files,
        one_descriptor_a_cursor,
        files_that_shrink,
        files_that_grow,
        files_that_cannot_be_opened,
    };
    return run_tests("logdir: cursor", tests, sizeof tests / sizeof *tests, tempdir_make,
                     tempdir_remove);
}
