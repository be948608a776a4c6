/*
 * The search for a batch where nothing tells where one begins: it finds what a look at each byte
 * would, and its work is counted.
 */
#include <string.h>

#include "base/bytes.h"
#include "records/finder.h"
#include "tests/support/build.h"
#include "tests/support/run.h"

static krc_error error;
static struct krc_buffer bytes;
static int64_t lies[64]; /* where batches lie that are not good */
static int lie_count;

static void setup(void)
{
    bytes.len = 0;
    lie_count = 0;
}

static void teardown(void)
{
    krc_buffer_free(&bytes);
}

static bool may_begin(void *arg, int64_t position, const uint8_t *at, size_t len,
                      struct krc_batch_header *header)
{
    (void)arg;
    return krc_batch_parse(at, len, header, NULL) == 1 &&
           position + header->size <= (int64_t)bytes.len;
}

static int judge(void *arg, int64_t position, int64_t end, krc_error *why)
{
    (void)arg, (void)end, (void)why;
    for (int i = 0; i < lie_count; i++)
        if (lies[i] == position)
            return 0;
    return 1;
}

static const struct krc_finder_ops ops = {.may_begin = may_begin, .judge = judge};

/* Byte by byte, each place by itself. */
static int64_t find_slowly(void)
{
    struct krc_batch_header h;
    for (int64_t at = 0; at < (int64_t)bytes.len; at++) {
        if (!may_begin(NULL, at, bytes.data + at, bytes.len - (size_t)at, &h) ||
            krc_batch_check_crc(bytes.data + at, &h, NULL) < 0)
            continue;
        if (judge(NULL, at, at + h.size, NULL))
            return at;
        at += h.size - 1;
    }
    return -1;
}

/* In pieces of that size. */
static int64_t find(size_t piece, uint64_t *checksummed)
{
    struct krc_finder finder;
    int rc = 0;
    krc_finder_begin(&finder, 0, &ops, NULL);
    while (rc == 0 && finder.next < (int64_t)bytes.len) {
        size_t left = bytes.len - (size_t)finder.next, n = left < piece ? left : piece;
        rc = krc_finder_bytes(&finder, bytes.data + finder.next, n, n == left, &error);
    }
    ck_assert_msg(rc >= 0, "%s", error.message);
    if (checksummed != NULL)
        *checksummed = finder.checksummed;
    krc_finder_end(&finder);
    return rc == 1 ? finder.found : -1;
}

/* ---- What is found -------------------------------------------------------------------------- */

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

/* The begin of a batch that says how long it is, and lies. */
static void put_claim(void)
{
    int magic = (int)draw(3);
    build_int(&bytes, draw(100), 8);
    build_int(&bytes, 14 + draw(300), 4);
    build_int(&bytes, 0, 4);
    build_int(&bytes, magic, 1);
    for (uint32_t n = draw(60); n > 0; n--)
        build_int(&bytes, draw(3), 1);
}

static void put_something(void)
{
    size_t at = bytes.len;
    switch (draw(6)) {
    case 0:
        build_plain_batch(&bytes, &(struct build_batch){.base_offset = draw(100)},
                          1 + (int32_t)draw(4));
        break;
    case 1:
        build_message(&bytes, (int)draw(2), draw(100), 5, 0, build_text("key"),
                      build_text("value"));
        break;
    default:
        put_claim();
        return;
    }
    if (draw(3) == 0)
        bytes.data[bytes.len - 1] ^= 1;
    else if (draw(2) == 0)
        lies[lie_count++] = (int64_t)at;
}

START_TEST(what_a_look_at_each_byte_finds)
{
    int found = 0;
    for (int i = 0; i < 3000; i++) {
        setup();
        seed = (uint32_t)i;
        for (uint32_t n = 1 + draw(12); n > 0; n--)
            put_something();
        int64_t expected = find_slowly();
        for (size_t piece = KRC_BATCH_LOOK; piece < 2000; piece += 1 + draw(700))
            ck_assert_msg(find(piece, NULL) == expected, "seed %d, pieces of %zu", i, piece);
        found += expected >= 0;
    }
    ck_assert_int_gt(found, 1000);
    ck_assert_int_lt(found, 2900);
}
END_TEST

/* A batch whose records hold others: it is the first, though they end before. */
START_TEST(the_one_that_begins_first)
{
    struct krc_buffer inner = {0};
    build_plain_batch(&inner, &(struct build_batch){.base_offset = 7}, 3);
    build_int(&bytes, 0, 5);
    build_message(&bytes, 1, 3, 5, 0, build_text("k"), (struct krc_bytes){inner.data, inner.len});
    ck_assert_int_eq(find(bytes.len, NULL), 5);
    lies[lie_count++] = 5;
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 9}, 3);
    ck_assert_int_eq(find(bytes.len, NULL), find_slowly());
    bytes.data[5 + 30] ^= 1;
    ck_assert_int_gt(find(bytes.len, NULL), 5);
    krc_buffer_free(&inner);
}
END_TEST

/* ---- How much is done ----------------------------------------------------------------------- */

/* Every eighth byte begins what says that it has so many bytes. */
static void put_claims(size_t len, int32_t size)
{
    while (bytes.len < len) {
        build_int(&bytes, 1, 8);
        build_int(&bytes, size, 4);
        build_int(&bytes, 0x01020304, 4);
    }
}

START_TEST(each_byte_is_summed_once)
{
    enum { LEN = 1 << 20 };
    uint64_t checksummed;
    put_claims(LEN, 100 << 10);
    ck_assert_int_eq(find(16 << 10, &checksummed), -1);
    ck_assert_uint_le(checksummed, KRC_FINDER_SUMS * LEN);
    ck_assert_uint_gt(checksummed, LEN / 2);
    int64_t good = (int64_t)bytes.len;
    build_plain_batch(&bytes, &(struct build_batch){.base_offset = 9}, 3);
    ck_assert_int_eq(find(16 << 10, &checksummed), good);
    ck_assert_uint_le(checksummed, KRC_FINDER_SUMS * bytes.len);
}
END_TEST

START_TEST(too_many_places_are_refused)
{
    struct krc_finder finder;
    put_claims(6 << 20, 5 << 20);
    krc_finder_begin(&finder, 0, &ops, NULL);
    ck_assert_int_eq(krc_finder_bytes(&finder, bytes.data, bytes.len, true, &error),
                     KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "look like the begin of one"));
    ck_assert_uint_le(finder.capacity, KRC_FINDER_PLACES);
    krc_finder_end(&finder);
}
END_TEST

/* Zeros are not read: neither before a batch, nor as part of one. */
START_TEST(over_zeros)
{
    enum { ZEROS = 100000 };
    static const uint8_t zeros[ZEROS];
    struct krc_finder finder;
    build_message(&bytes, 1, 3, 5, 0, build_text("k"), (struct krc_bytes){zeros, ZEROS});
    size_t head = bytes.len - ZEROS;
    krc_finder_begin(&finder, 0, &ops, NULL);
    ck_assert_int_eq(krc_finder_bytes(&finder, bytes.data, head, true, &error), 0);
    ck_assert_int_eq(krc_finder_zeros(&finder, ZEROS - 1, &error), 0);
    ck_assert_int_eq(krc_finder_zeros(&finder, 1, &error), 1);
    ck_assert_int_eq(finder.found, 0);
    ck_assert_uint_lt(finder.checksummed, 100);
    krc_finder_end(&finder);
    krc_finder_begin(&finder, 0, &ops, NULL);
    ck_assert_int_eq(krc_finder_zeros(&finder, INT64_C(1) << 40, &error), 0);
    ck_assert_int_eq(finder.next, INT64_C(1) << 40);
    krc_finder_end(&finder);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        what_a_look_at_each_byte_finds,
        the_one_that_begins_first,
        each_byte_is_summed_once,
        too_many_places_are_refused,
        over_zeros,
    };
    return run_tests("finder", tests, sizeof tests / sizeof *tests, setup, teardown);
}
