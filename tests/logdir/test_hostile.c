/*
 * Files that were made so that reading them takes long.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "logdir/cursor.h"
#include "tests/support/build.h"
#include "tests/support/onelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIRST_LOG "t-0/00000000000000000000.log"

static krc_error error;
static struct onelog one;
static struct krc_buffer bytes;

static void setup(void)
{
    tempdir_make();
    tempdir_mkdir("t-0");
}

static void teardown(void)
{
    krc_buffer_free(&bytes);
    tempdir_remove();
}

static void open_log(void)
{
    tempdir_write(FIRST_LOG, bytes.data, bytes.len);
    onelog_open(&one, tempdir_path("t-0"));
}

/* A broken batch that claims what follows it, and a good one, again and again. */
static void put_claims(int pairs, int32_t size)
{
    for (int i = 0; i < pairs; i++) {
        size_t at = bytes.len;
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = 2 * i}, 1);
        krc_put_be32(bytes.data + at + 8, (uint32_t)(size - KRC_BATCH_PREFIX));
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = 2 * i + 1}, 1);
    }
}

START_TEST(batches_that_claim_what_is_not_theirs)
{
    enum { PAIRS = 2000, SIZE = 100000 };
    struct krc_log_batch batch;
    struct krc_damage damage;
    int passed = 0, rc = KRC_OK;
    put_claims(PAIRS, SIZE);
    open_log();
    while (rc >= 0) {
        rc = krc_reader_next(one.reader, &batch, &error);
        if (rc != KRC_E_CORRUPT)
            continue;
        rc = krc_reader_resync(one.reader, &damage, &error);
        passed += rc >= 0;
    }
    ck_assert_int_eq(rc, KRC_E_CORRUPT);
    ck_assert_msg(strstr(error.message, "cannot be read beyond byte") != NULL, "%s",
                  error.message);
    ck_assert_int_le((size_t)passed * SIZE / 16, bytes.len);
    ck_assert_int_gt(passed, 10);
    onelog_close(&one);
}
END_TEST

/* As many as there may be that were only damaged. */
START_TEST(every_batch_is_damaged)
{
    enum { BATCHES = 500 };
    struct krc_log_batch batch;
    struct krc_damage damage;
    for (int i = 0; i < BATCHES; i++) {
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = i}, 1);
        if (i % 10 != 0)
            bytes.data[bytes.len - 1] ^= 1;
    }
    open_log();
    int good = 0, rc;
    while ((rc = krc_reader_next(one.reader, &batch, &error)) != 0) {
        good += rc == 1;
        if (rc < 0)
            ck_assert_int_eq(krc_reader_resync(one.reader, &damage, &error), KRC_OK);
    }
    ck_assert_int_eq(good, BATCHES / 10);
    onelog_close(&one);
}
END_TEST

/* The same in one gap: each byte is summed a few times (tests/records/test_finder.c), and where
 * that does not do, it is refused. */
START_TEST(places_that_look_like_batches)
{
    enum { LEN = 3 << 20 };
    struct krc_log_batch batch;
    struct krc_damage damage;
    for (int32_t size = 32 << 10; size < LEN; size *= 8) {
        bytes.len = 0;
        build_int(&bytes, 7, 8);
        build_int(&bytes, -1, 4);
        build_int(&bytes, -1, 8);
        while (bytes.len < LEN) {
            build_int(&bytes, 256, 8);
            build_int(&bytes, size, 4);
            build_int(&bytes, 0x01020304, 4);
        }
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = 1000}, 5);
        open_log();
        ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), KRC_E_CORRUPT);
        int rc = krc_reader_resync(one.reader, &damage, &error);
        ck_assert(rc == KRC_OK || rc == KRC_E_CORRUPT);
        if (rc == KRC_OK)
            ck_assert_int_eq(damage.to, 1000);
        else
            ck_assert_ptr_nonnull(strstr(error.message, "look like the begin of one"));
        onelog_close(&one);
    }
}
END_TEST

/* A batch, a hole of a terabyte, and another batch. */
START_TEST(a_hole_of_a_terabyte)
{
    static const int64_t behind = INT64_C(1) << 40;
    struct krc_log_batch batch;
    struct krc_damage damage;
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 0}, 5);
    tempdir_write(FIRST_LOG, bytes.data, bytes.len);
    bytes.len = 0;
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 10}, 5);
    int fd = open(tempdir_path(FIRST_LOG), O_WRONLY);
    bool is_written = pwrite(fd, bytes.data, bytes.len, behind) == (ssize_t)bytes.len;
    close(fd);
    if (!is_written)
        return; /* the file system has none so large */
    onelog_open(&one, tempdir_path("t-0"));
    ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 1);
    ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), KRC_E_CORRUPT);
    ck_assert_int_eq(krc_reader_resync(one.reader, &damage, &error), KRC_OK);
    ck_assert_int_eq(damage.to, 10);
    ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 1);
    ck_assert_int_eq(batch.file_position, behind);
    ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 0);
    onelog_close(&one);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        batches_that_claim_what_is_not_theirs,
        every_batch_is_damaged,
        places_that_look_like_batches,
        a_hole_of_a_terabyte,
    };
    return run_tests("logdir: hostile", tests, sizeof tests / sizeof *tests, setup, teardown);
}
