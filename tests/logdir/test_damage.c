#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "logdir/cursor.h"
#include "tests/support/build.h"
#include "tests/support/onelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"
#define FIRST_LOG "t-0/00000000000000000000.log"

static krc_error error;
static struct onelog one;
static struct krc_log_batch batches[1024];
static struct krc_buffer bytes; /* of the log's first segment */

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

/* Writes `bytes` as the first segment and reads all. */
static size_t read_all(int *rc)
{
    tempdir_write(FIRST_LOG, bytes.data, bytes.len);
    onelog_open(&one, tempdir_path("t-0"));
    return onelog_headers(&one, batches, 1024, rc, &error);
}

/* Reads all, and checks that `good` batches and a torn tail are found. */
static void check_torn(size_t good, const char *tail)
{
    int rc;
    int64_t end;
    size_t n = read_all(&rc);
    ck_assert_msg(rc == 0 && n == good, "%zu batches, %d, %s", n, rc, error.message);
    ck_assert_msg(strstr(krc_reader_tail(one.reader), tail) != NULL, "%s",
                  krc_reader_tail(one.reader));
    ck_assert_int_eq(krc_reader_next(one.reader, batches + n, &error), 0);
    ck_assert_int_eq(krc_log_find_end(one.log, &end, &error), KRC_OK);
    ck_assert_int_eq(end, batches[n - 1].header.last_offset + 1);
    onelog_close(&one);
}

static void check_corrupt(size_t good, const char *what)
{
    int rc;
    size_t n = read_all(&rc);
    ck_assert_msg(rc == KRC_E_CORRUPT && n == good, "%zu batches, %d", n, rc);
    ck_assert_msg(strstr(error.message, what) != NULL, "%s", error.message);
    ck_assert_ptr_nonnull(strstr(error.message, tempdir_path(FIRST_LOG)));
    ck_assert_str_eq(error.topic, "t");
    ck_assert_int_eq(error.partition, 0);
    ck_assert_int_eq(error.file_position,
                     batches[n - 1].file_position + batches[n - 1].header.size);
    ck_assert_int_eq(error.offset, batches[n - 1].header.last_offset + 1);
    onelog_close(&one);
}

static void load_fixture(const char *path, struct krc_log_batch *last, size_t *count)
{
    int rc;
    char file[256];
    krc_buffer_free(&bytes);
    snprintf(file, sizeof file, FIXTURES "%s/00000000000000000000.log", path);
    FILE *in = fopen(file, "rb");
    ck_assert_ptr_nonnull(in);
    uint8_t piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;)
        build_append(&bytes, piece, n);
    fclose(in);
    *count = read_all(&rc);
    ck_assert_int_eq(rc, 0);
    *last = batches[*count - 1];
    onelog_close(&one);
}

static void append_zeros(size_t n)
{
    for (size_t i = 0; i < n; i++)
        build_int(&bytes, 0, 1);
}

/* ---- Torn tails ---- */

/* Logs whose last batch is large, small (a marker), a message, a wrapper. */
static const char *const logs[] = {
    "kafka-4.3.1/logappend-0", "kafka-4.3.1/txns-0", "kafka-0.8.2/v0-none-0",
    "kafka-0.8.2/v0-snappy-0",
};

/* Every byte of a batch's beginning and end, and some between. */
static size_t next_cut(size_t left, const struct krc_log_batch *last)
{
    return left < 150 || left + 150 > (size_t)last->header.size ? left + 1 : left + 61;
}

/* An offset begins with zeros. */
static bool has_data(const struct krc_log_batch *last, size_t left)
{
    for (size_t i = 0; i < left; i++)
        if (bytes.data[(size_t)last->file_position + i] != 0)
            return true;
    return false;
}

START_TEST(a_tail_torn_at_every_byte)
{
    struct krc_log_batch last;
    size_t count;
    load_fixture(logs[_i], &last, &count);
    for (size_t left = 1; left < (size_t)last.header.size; left = next_cut(left, &last)) {
        bytes.len = (size_t)last.file_position + left;
        check_torn(count - 1, has_data(&last, left)
                                  ? "a torn batch, as in a copy of a running broker's file"
                                  : "zeros, as in a preallocated file");
    }
    bytes.len = (size_t)last.file_position;
    check_torn(count - 1, "");
}
END_TEST

/* The same in a preallocated file: zeros follow.  A batch may itself end in some zeros, so that of
 * its last 8 bytes nobody can tell whether they are torn or damaged. */
START_TEST(a_tail_of_zeros_from_every_byte_on)
{
    struct krc_log_batch last;
    size_t count;
    load_fixture(logs[_i], &last, &count);
    append_zeros(5000);
    uint8_t *batch = bytes.data + last.file_position;
    size_t size = (size_t)last.header.size;
    struct krc_buffer whole = {0};
    build_append(&whole, batch, size);
    for (size_t left = 1; left + 8 <= size; left = next_cut(left, &last)) {
        memcpy(batch, whole.data, left);
        memset(batch + left, 0, size - left);
        check_torn(count - 1, has_data(&last, left) ? "a torn batch and zeros, as after a crash"
                                                    : "zeros, as in a preallocated file");
    }
    krc_buffer_free(&whole);
}
END_TEST

START_TEST(zeros_behind_the_log)
{
    static const size_t zeros[] = {1, 11, 12, 60, 61, 64, 5000, 100000};
    struct krc_log_batch last;
    size_t count;
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        load_fixture(logs[_i], &last, &count);
        append_zeros(zeros[i]);
        check_torn(count, "zeros, as in a preallocated file");
    }
}
END_TEST

/* Nobody has the time to read so many zeros. */
START_TEST(a_terabyte_of_hole)
{
    const off_t size = (off_t)1 << 40;
    struct krc_damage damage;
    int rc;
    for (int broken = 0; broken < 2; broken++) {
        bytes.len = 0;
        build_plain_batch(&bytes, &(struct build_batch){0}, 2);
        size_t begin = bytes.len;
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = 2}, 2);
        bytes.data[begin + 70] ^= (uint8_t)broken;
        tempdir_write(FIRST_LOG, bytes.data, bytes.len);
        if (truncate(tempdir_path(FIRST_LOG), size) < 0)
            return; /* not on this file system */
        onelog_open(&one, tempdir_path("t-0"));
        ck_assert_uint_eq(onelog_headers(&one, batches, 1024, &rc, &error), 2 - (size_t)broken);
        ck_assert_int_eq(rc, broken ? KRC_E_CORRUPT : 0);
        if (broken)
            ck_assert_int_eq(krc_reader_resync(one.reader, &damage, &error), KRC_OK);
        else
            ck_assert_ptr_nonnull(strstr(krc_reader_tail(one.reader), "zeros"));
        onelog_close(&one);
    }
}
END_TEST

START_TEST(a_tail_says_where_and_how_much)
{
    int rc;
    build_plain_batch(&bytes, &(struct build_batch){0}, 2);
    size_t end = bytes.len;
    append_zeros(100);
    read_all(&rc);
    char sentence[512];
    snprintf(sentence, sizeof sentence,
             "the log ends at byte %zu of its last segment: the 100 bytes behind it are zeros, as "
             "in a preallocated file: %s", end, tempdir_path(FIRST_LOG));
    ck_assert_str_eq(krc_reader_tail(one.reader), sentence);
    ck_assert_int_eq(krc_reader_seek(one.reader, 0, &error), KRC_OK);
    ck_assert_str_eq(krc_reader_tail(one.reader), "");
    onelog_close(&one);
}
END_TEST

/* ---- No torn tails ---- */

static size_t begins[10];

/* Batches of 3 records from 0 on. */
static void build_ten(void)
{
    bytes.len = 0;
    for (int i = 0; i < 10; i++) {
        begins[i] = bytes.len;
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = 3 * i}, 3);
    }
}

static uint8_t *batch_at(int i)
{
    return bytes.data + begins[i];
}

START_TEST(a_damaged_last_batch_is_no_torn_tail)
{
    build_ten();
    batch_at(9)[70] ^= 1;
    check_corrupt(9, "t-0 is corrupt at offsets 27 to 29, byte ");
    append_zeros(5000);
    check_corrupt(9, "the batch's checksum 0x");
}
END_TEST

START_TEST(a_length_that_lies_is_no_torn_tail)
{
    build_ten();
    krc_put_be32(batch_at(4) + 8, 1000000);
    check_corrupt(4, "offset 12 on");
    ck_assert_ptr_nonnull(strstr(error.message, "of a batch's 1000012 bytes"));
}
END_TEST

START_TEST(garbage_is_no_torn_tail)
{
    build_ten();
    for (int i = 0; i < 500; i++)
        build_int(&bytes, 0x55, 1);
    check_corrupt(10, "offset 30 on");
    bytes.len -= 480; /* less than a header, but no header's beginning */
    check_corrupt(10, "its format, magic 85, is newer");
}
END_TEST

START_TEST(offsets_that_do_not_rise)
{
    build_ten();
    krc_put_be64(batch_at(4), 9); /* no checksum covers it */
    check_corrupt(4, "a batch of offsets 9 to 11 cannot follow offset 11");
    krc_put_be64(batch_at(4), (uint64_t)1 << 40);
    check_corrupt(4, "a batch of offsets 1099511627776 to 1099511627778 "
                     "reaches 2^31 or more beyond its segment's offset 0");
    krc_put_be64(batch_at(4), 12);
    krc_put_be64(bytes.data, (uint64_t)1 << 62);
    int rc;
    ck_assert_uint_eq(read_all(&rc), 0);
    ck_assert_int_eq(rc, KRC_E_CORRUPT);
    ck_assert_int_eq(error.offset, 0);
    onelog_close(&one);
}
END_TEST

START_TEST(a_format_of_the_future)
{
    build_ten();
    batch_at(4)[16] = 3;
    check_corrupt(4, "its format, magic 3, is newer than this version of krc");
}
END_TEST

/* A segment that is not the last ends with a whole batch. */
START_TEST(a_middle_segment_ends_whole)
{
    struct krc_buffer next = {0};
    build_plain_batch(&next, &(struct build_batch){.base_offset = 40}, 3);
    tempdir_write("t-0/00000000000000000040.log", next.data, next.len);
    build_ten();
    size_t whole = bytes.len;
    bytes.len = begins[9] + 40;
    check_corrupt(9, "offsets 27 to 39 at most");
    ck_assert_ptr_nonnull(strstr(error.message, "ends after 40 bytes of a batch's header"));
    bytes.len = whole - 1;
    check_corrupt(9, "offsets 27 to 39 at most");
    ck_assert_ptr_nonnull(strstr(error.message, "the file ends after "));
    bytes.len = whole;
    append_zeros(100);
    check_corrupt(10, "offsets 30 to 39 at most");
    bytes.len = whole;
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 38}, 3);
    check_corrupt(10, "offsets 38 to 40 reaches offset 40, where the next segment begins");
    tempdir_write("t-0/00000000000000000030.log", "", 0);
    bytes.len = whole;
    append_zeros(100);
    check_corrupt(10, "t-0 is corrupt between offsets 29 and 30, byte ");
    krc_buffer_free(&next);
}
END_TEST

/* ---- Going past ---- */

/* Reads up to the damage with both cursors, and past it. */
static void resync(size_t good, struct krc_damage *damage)
{
    int rc;
    struct krc_damage walked;
    ck_assert_uint_eq(read_all(&rc), good);
    ck_assert_int_eq(rc, KRC_E_CORRUPT);
    ck_assert_int_eq(krc_reader_next(one.reader, batches + good, &error), KRC_E_CORRUPT);
    ck_assert_int_eq(krc_reader_resync(one.reader, damage, &error), KRC_OK);
    ck_assert_int_eq(krc_walker_resync(one.walker, &walked, &error), KRC_OK);
    ck_assert_int_eq(damage->from, walked.from);
    ck_assert_int_eq(damage->to, walked.to);
    ck_assert_int_eq(damage->skip_to, walked.skip_to);
    ck_assert_int_eq(damage->bytes, walked.bytes);
    ck_assert_int_eq(damage->maybe_marker, walked.maybe_marker);
}

static void check_damage(const struct krc_damage *damage, int64_t from, int64_t skip_to,
                         int64_t to, int64_t position, int64_t length, bool maybe_marker)
{
    ck_assert_int_eq(damage->from, from);
    ck_assert_int_eq(damage->skip_to, skip_to);
    ck_assert_int_eq(damage->to, to);
    ck_assert_int_eq(damage->file_position, position);
    ck_assert_int_eq(damage->bytes, length);
    ck_assert_int_eq(damage->maybe_marker, maybe_marker);
}

static void check_rest(int64_t first, size_t count)
{
    int rc;
    ck_assert_uint_eq(onelog_headers(&one, batches, 1024, &rc, &error), count);
    ck_assert_int_eq(rc, 0);
    if (count > 0)
        ck_assert_int_eq(batches[0].header.base_offset, first);
    onelog_close(&one);
}

/* CASES: the checksum's bytes overwritten; the batch's offsets are named and skipped. */
START_TEST(past_a_wrong_checksum)
{
    struct krc_damage damage;
    build_ten();
    int64_t begin = (int64_t)begins[4], size = (int64_t)begins[5] - begin;
    memset(batch_at(4) + 17, 0xff, 4);
    check_corrupt(4, "offsets 12 to 14");
    resync(4, &damage);
    check_damage(&damage, 12, 15, 15, begin, size, false);
    check_rest(15, 5);

    /* it lies about its last offset */
    krc_put_be32(batch_at(4) + 23, 10);
    resync(4, &damage);
    check_damage(&damage, 12, 15, 15, begin, size, true);
    check_rest(15, 5);
    krc_put_be32(batch_at(4) + 23, 2);
    krc_put_be32(batch_at(4) + 57, 2);
    resync(4, &damage);
    check_damage(&damage, 12, 15, 15, begin, size, false);
    check_rest(15, 5);
}
END_TEST

START_TEST(past_a_hole_behind_the_damage)
{
    struct krc_damage damage;
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 0}, 3);
    size_t broken = bytes.len;
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 5}, 3);
    int64_t size = (int64_t)(bytes.len - broken);
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 20}, 3);
    bytes.data[broken + 80] ^= 1;
    resync(1, &damage);
    check_damage(&damage, 3, 8, 20, (int64_t)broken, size, true); /* three small records, or not */
    check_rest(20, 1);
}
END_TEST

/* CASES: lengths of -1 and 9, a count of 0x7fffffff.  The next batch is found byte by byte. */
START_TEST(past_lengths_and_counts_that_cannot_be)
{
    static const uint32_t lengths[] = {0xffffffff, 9, 0x7fffffff, 60};
    struct krc_damage damage;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        build_ten();
        krc_put_be32(batch_at(4) + 8, lengths[i]);
        resync(4, &damage);
        ck_assert_int_eq(damage.from, 12);
        ck_assert_int_eq(damage.to, 15);
        ck_assert_int_eq(damage.bytes, (int64_t)(begins[5] - begins[4]));
        ck_assert(damage.maybe_marker);
        check_rest(15, 5);
    }
    build_ten();
    krc_put_be32(batch_at(4) + 57, 0x7fffffff);
    check_corrupt(4, "a record count of 2147483647 does not fit");
    resync(4, &damage);
    ck_assert_int_eq(damage.skip_to, 15);
    check_rest(15, 5);
}
END_TEST

/* A length that is wrong, but might be right: the walker does not read so much. */
START_TEST(past_a_length_that_only_the_checksum_refutes)
{
    struct krc_damage damage;
    struct krc_log_batch batch;
    build_ten();
    krc_put_be32(batch_at(4) + 8, 300);
    tempdir_write(FIRST_LOG, bytes.data, bytes.len);
    onelog_open(&one, tempdir_path("t-0"));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 1);
    ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), KRC_E_CORRUPT);
    ck_assert_int_eq(krc_reader_resync(one.reader, &damage, &error), KRC_OK);
    check_damage(&damage, 12, 15, 15, (int64_t)begins[4], (int64_t)(begins[5] - begins[4]), true);
    ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 1);
    ck_assert_int_eq(batch.header.base_offset, 15);
    onelog_close(&one);
}
END_TEST

/* Both cursors see that what lies there does not go on where the batch's offsets end. */
START_TEST(past_a_length_that_leads_to_a_later_batch)
{
    struct krc_damage damage;
    build_ten();
    krc_put_be32(batch_at(4) + 8, (uint32_t)(begins[7] - begins[4] - KRC_BATCH_PREFIX));
    check_corrupt(4, "t-0 is corrupt at offsets 12 to 14");
    resync(4, &damage);
    check_damage(&damage, 12, 15, 15, (int64_t)begins[4], (int64_t)(begins[5] - begins[4]), true);
    check_rest(15, 5);
    krc_put_be32(batch_at(4) + 8, (uint32_t)(bytes.len - begins[4] - KRC_BATCH_PREFIX));
    resync(4, &damage);
    check_damage(&damage, 12, 15, 15, (int64_t)begins[4], (int64_t)(begins[5] - begins[4]), true);
    check_rest(15, 5);
}
END_TEST

START_TEST(past_several_batches)
{
    struct krc_damage damage;
    build_ten();
    memset(batch_at(3) + 5, 0xa5, begins[6] - begins[3]);
    resync(3, &damage);
    check_damage(&damage, 9, 21, 21, (int64_t)begins[3], (int64_t)(begins[7] - begins[3]), true);
    check_rest(21, 3);
}
END_TEST

/* No checksum covers the base offset.  Behind damage nothing tells which offset comes next: a batch
 * is believed only if the one behind it does not contradict it. */
START_TEST(past_a_wrong_base_offset_behind_the_damage)
{
    struct krc_damage damage;
    build_ten();
    memset(batch_at(4) + 17, 0xff, 4);
    krc_put_be64(batch_at(5), 4096);
    resync(4, &damage);
    check_damage(&damage, 12, 18, 18, (int64_t)begins[4], (int64_t)(begins[6] - begins[4]), true);
    check_rest(18, 4);

    build_ten(); /* a byte was put into the base offset, all behind it is whole */
    build_int(&bytes, 0, 1);
    memmove(batch_at(4) + 6, batch_at(4) + 5, bytes.len - begins[4] - 6);
    batch_at(4)[5] = 7;
    resync(4, &damage);
    check_damage(&damage, 12, 15, 15, (int64_t)begins[4], (int64_t)(begins[5] + 1 - begins[4]),
                 true);
    check_rest(15, 5);
}
END_TEST

/* Bytes that were put in between, longer than what is read at a time. */
START_TEST(past_garbage)
{
    static const size_t lengths[] = {1, 16383, 16384, 16400, 40000};
    struct krc_damage damage;
    uint32_t seed = 7;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        bytes.len = 0;
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = 0}, 3);
        size_t begin = bytes.len;
        for (size_t n = 0; n < lengths[i]; n++) {
            seed = seed * 1664525 + 1013904223;
            build_int(&bytes, seed >> 24, 1);
        }
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = 3}, 3);
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = 6}, 3);
        resync(1, &damage);
        ck_assert_int_eq(damage.from, 3);
        ck_assert_int_eq(damage.to, 3);
        ck_assert_int_eq(damage.file_position, (int64_t)begin);
        ck_assert_int_eq(damage.bytes, (int64_t)lengths[i]);
        check_rest(3, 2);
    }
}
END_TEST

START_TEST(past_the_end_of_a_segment)
{
    struct krc_damage damage;
    struct krc_buffer next = {0};
    build_plain_batch(&next, &(struct build_batch){.base_offset = 40}, 3);
    tempdir_write("t-0/00000000000000000040.log", next.data, next.len);
    build_ten();
    int64_t begin = (int64_t)begins[9], size = (int64_t)bytes.len - begin;
    bytes.len -= 10;
    resync(9, &damage);
    check_damage(&damage, 27, 40, 40, begin, size - 10, true);
    check_rest(40, 1);
    krc_buffer_free(&next);
}
END_TEST

START_TEST(past_the_end_of_the_log)
{
    struct krc_damage damage;
    int64_t end;
    build_ten();
    int64_t begin = (int64_t)begins[9], size = (int64_t)bytes.len - begin;
    batch_at(9)[70] ^= 1;
    resync(9, &damage);
    check_damage(&damage, 27, 30, 30, begin, size, true); /* nobody confirms its offsets */
    ck_assert_int_eq(krc_log_find_end(one.log, &end, &error), KRC_OK);
    ck_assert_int_eq(end, 30);
    check_rest(0, 0);
    memset(batch_at(9), 0x55, (size_t)size);
    resync(9, &damage);
    check_damage(&damage, 27, 27, 27, begin, size, true);
    check_rest(0, 0);
}
END_TEST

/* A broken marker, and a broken batch of one record that is too large for one. */
START_TEST(what_may_have_been_a_marker)
{
    struct krc_damage damage;
    char text[200];
    memset(text, 'x', sizeof text);
    struct build_record record = {.value = {(const uint8_t *)text, sizeof text}};
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 0}, 1);
    size_t marker = bytes.len;
    build_marker(&bytes, 1, 7, 0, 1);
    size_t data = bytes.len;
    build_batch(&bytes, &(struct build_batch){.base_offset = 2, .records = &record, .count = 1});
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 3}, 1);
    bytes.data[marker + 70] ^= 1;
    resync(1, &damage);
    check_damage(&damage, 1, 2, 2, (int64_t)marker, (int64_t)(data - marker), true);
    onelog_close(&one);
    bytes.data[marker + 70] ^= 1;
    bytes.data[data + 100] ^= 1;
    /* the walker does not read a large batch: it is the reader who finds it broken */
    int rc;
    tempdir_write(FIRST_LOG, bytes.data, bytes.len);
    onelog_open(&one, tempdir_path("t-0"));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), 1);
    ck_assert_int_eq(rc = krc_reader_next(one.reader, batches, &error), KRC_E_CORRUPT);
    ck_assert_int_eq(krc_reader_resync(one.reader, &damage, &error), KRC_OK);
    ck_assert(!damage.maybe_marker);
    ck_assert_int_eq(krc_reader_next(one.reader, batches, &error), 1);
    ck_assert_int_eq(batches[0].header.base_offset, 3);
    onelog_close(&one);
}
END_TEST

START_TEST(past_damage_among_wrappers)
{
    struct krc_damage damage;
    struct krc_bytes set = build_text("not looked at");
    build_wrapper(&bytes, 1, 4, 0, KRC_GZIP, set);
    size_t size = bytes.len;
    build_wrapper(&bytes, 1, 9, 0, KRC_GZIP, set);
    build_wrapper(&bytes, 1, 14, 0, KRC_GZIP, set);
    bytes.data[size + 30] ^= 1;
    check_corrupt(1, "offsets 5 to 9");
    resync(1, &damage);
    check_damage(&damage, 5, 10, 10, (int64_t)size, (int64_t)size, true);
    int rc;
    ck_assert_uint_eq(onelog_headers(&one, batches, 1024, &rc, &error), 1);
    ck_assert_int_eq(batches[0].header.last_offset, 14);
    onelog_close(&one);
}
END_TEST

START_TEST(past_damage_in_kafka_07)
{
    struct krc_damage damage;
    struct krc_log_batch batch;
    for (int i = 0; i < 5; i++)
        build_message_07(&bytes, KRC_NONE, build_text("some text"));
    int64_t size = (int64_t)bytes.len / 5;
    krc_put_be32(bytes.data + 2 * size, 7000);
    tempdir_write("t-0/00000000000000000000.kafka", bytes.data, bytes.len);
    onelog_open_07(&one, tempdir_path("t-0"));
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 1);
    ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "00000000000000000000.kafka"));
    ck_assert_int_eq(krc_reader_resync(one.reader, &damage, &error), KRC_OK);
    check_damage(&damage, 2 * size, 3 * size, 3 * size, 2 * size, size, true);
    ck_assert_int_eq(krc_reader_next(one.reader, &batch, &error), 1);
    ck_assert_int_eq(batch.header.base_offset, 3 * size);
    onelog_close(&one);
}
END_TEST

/* What is broken before the offset that is sought does not matter; what may hold it does. */
START_TEST(seeks_around_damage)
{
    build_ten();
    memset(batch_at(4) + 17, 0xff, 4);
    int rc;
    read_all(&rc);
    for (int64_t target = 0; target <= 30; target++) {
        struct krc_log_batch batch;
        ck_assert_int_eq(krc_reader_seek(one.reader, target, &error), KRC_OK);
        rc = krc_reader_next(one.reader, &batch, &error);
        if (target == 30) {
            ck_assert_int_eq(rc, 0);
        } else if (target / 3 == 4) {
            ck_assert_int_eq(rc, KRC_E_CORRUPT);
            ck_assert_int_eq(error.offset, 12);
        } else {
            ck_assert_int_eq(rc, 1);
            ck_assert_int_eq(batch.header.base_offset, target / 3 * 3);
        }
    }
    onelog_close(&one);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_terabyte_of_hole,
        a_tail_says_where_and_how_much,
        a_damaged_last_batch_is_no_torn_tail,
        a_length_that_lies_is_no_torn_tail,
        garbage_is_no_torn_tail,
        offsets_that_do_not_rise,
        a_format_of_the_future,
        a_middle_segment_ends_whole,
        past_a_wrong_checksum,
        past_a_hole_behind_the_damage,
        past_lengths_and_counts_that_cannot_be,
        past_a_length_that_only_the_checksum_refutes,
        past_a_length_that_leads_to_a_later_batch,
        past_several_batches,
        past_a_wrong_base_offset_behind_the_damage,
        past_garbage,
        past_the_end_of_a_segment,
        past_the_end_of_the_log,
        what_may_have_been_a_marker,
        past_damage_among_wrappers,
        past_damage_in_kafka_07,
        seeks_around_damage,
    };
    int n = sizeof logs / sizeof *logs;
    Suite *suite = suite_create("logdir: damage");
    TCase *tc = tcase_create("damage");
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_tail_torn_at_every_byte, 0, n);
    tcase_add_loop_test(tc, a_tail_of_zeros_from_every_byte_on, 0, n);
    tcase_add_loop_test(tc, zeros_behind_the_log, 0, n);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
