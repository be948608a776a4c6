#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/crc.h"
#include "tests/support/run.h"

START_TEST(checksums_of_the_catalogue)
{
    ck_assert_uint_eq(krc_crc32c(0, "123456789", 9), 0xe3069283);
    ck_assert_uint_eq(krc_crc32(0, "123456789", 9), 0xcbf43926);
    ck_assert_uint_eq(krc_crc32c(krc_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
    ck_assert_uint_eq(krc_crc32c(0, "", 0), 0);
}
END_TEST

/* Of each length up to 300, and behind each. */
START_TEST(checksums_of_parts)
{
    uint8_t data[300];
    struct krc_crc_powers castagnoli, ieee;
    krc_crc32c_powers(&castagnoli);
    krc_crc32_powers(&ieee);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i + 7);
    for (size_t at = 0; at <= sizeof data; at++) {
        size_t rest = sizeof data - at;
        ck_assert_uint_eq(krc_crc_of_rest(&castagnoli, krc_crc32c(0, data, at),
                                          krc_crc32c(0, data, sizeof data), rest),
                          krc_crc32c(0, data + at, rest));
        ck_assert_uint_eq(krc_crc_of_rest(&ieee, krc_crc32(0, data, at),
                                          krc_crc32(0, data, sizeof data), rest),
                          krc_crc32(0, data + at, rest));
    }
}
END_TEST

START_TEST(checksums_over_zeros)
{
    static const uint8_t zeros[70000];
    struct krc_crc_powers castagnoli, ieee;
    krc_crc32c_powers(&castagnoli);
    krc_crc32_powers(&ieee);
    for (size_t len = 0; len < sizeof zeros; len = 3 * len + 1) {
        ck_assert_uint_eq(krc_crc_of_zeros(&castagnoli, 0x12345678, len),
                          krc_crc32c(0x12345678, zeros, len));
        ck_assert_uint_eq(krc_crc_of_zeros(&ieee, 0x12345678, len),
                          krc_crc32(0x12345678, zeros, len));
    }
    uint32_t half = krc_crc_of_zeros(&ieee, 1, (uint64_t)1 << 40);
    ck_assert_uint_eq(krc_crc_of_zeros(&ieee, half, (uint64_t)1 << 40),
                      krc_crc_of_zeros(&ieee, 1, (uint64_t)1 << 41));
}
END_TEST

START_TEST(a_cursor_stays_inside)
{
    const uint8_t bytes[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x03, 0xff};
    struct krc_cursor c = krc_cursor(bytes, sizeof bytes);
    ck_assert_int_eq(krc_get_varint(&c), 0); /* six bytes are too many for 32 bits */
    ck_assert(c.failed);
    c = krc_cursor(bytes + 6, 2);
    ck_assert_int_eq(krc_get_varint(&c), -2);
    ck_assert_int_eq(krc_get_i8(&c), -1);
    ck_assert(!c.failed);
    ck_assert_int_eq(krc_get_i32(&c), 0);
    ck_assert(c.failed);
}
END_TEST

START_TEST(errors_say_what_and_why)
{
    krc_error error;
    errno = ENOSPC;
    ck_assert_int_eq(krc_fail_errno(&error, "cannot write %s", "x"), KRC_E_NO_SPACE);
    ck_assert_str_eq(error.message, "cannot write x: No space left on device");
    ck_assert_str_eq(krc_code_name(error.code), "KRC_E_NO_SPACE");
    ck_assert_str_eq(krc_code_text(KRC_E_BUSY), "another process or handle owns it");
    krc_error_at(&error, "t", 3, 40, 500);
    krc_error_at(&error, "u", 4, 41, 501); /* the first place stays */
    ck_assert_str_eq(error.topic, "t");
    ck_assert_int_eq(error.offset, 40);
}
END_TEST

START_TEST(a_buffer_grows_and_gives_back)
{
    struct krc_buffer buffer = {0};
    ck_assert_int_eq(krc_buffer_append(&buffer, "abc", 3, NULL), KRC_OK);
    ck_assert_int_eq(krc_buffer_append(&buffer, "def", 3, NULL), KRC_OK);
    ck_assert_mem_eq(buffer.data, "abcdef", 6);
    krc_buffer_trim(&buffer, 100);
    ck_assert_uint_eq(buffer.len, 6);
    krc_buffer_trim(&buffer, 1);
    ck_assert_ptr_null(buffer.data);
    ck_assert_int_eq(krc_buffer_reserve_within(&buffer, 60, 100, NULL), KRC_OK);
    ck_assert_int_eq(krc_buffer_reserve_within(&buffer, 61, 100, NULL), KRC_OK);
    ck_assert_uint_eq(buffer.capacity, 100); /* not 120 */
    krc_buffer_free(&buffer);
}
END_TEST

START_TEST(an_arena_gives_zeroed_memory_up_to_its_limit)
{
    struct krc_arena arena = {.limit = 20000};
    uint8_t *small = krc_arena_take(&arena, 1);
    uint8_t *large = krc_arena_take(&arena, 10000); /* more than a block has left */
    ck_assert_ptr_nonnull(small);
    ck_assert_ptr_nonnull(large);
    for (size_t i = 0; i < 10000; i++)
        ck_assert_uint_eq(large[i], 0);
    ck_assert_uint_eq((uintptr_t)large % _Alignof(max_align_t), 0);
    memset(large, 1, 10000);
    *small = 2;
    ck_assert_uint_eq(large[0], 1);
    ck_assert_ptr_null(krc_arena_take(&arena, 10000));
    ck_assert_ptr_null(krc_arena_take(&arena, SIZE_MAX));
    ck_assert_ptr_nonnull(krc_arena_take(&arena, 5000));
    krc_arena_free(&arena);
    ck_assert_ptr_null(krc_arena_take(&arena, 20001)); /* the limit stays */
}
END_TEST

START_TEST(an_arena_begins_anew)
{
    struct krc_arena arena = {0};
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 1000; i++) {
            uint64_t *n = krc_arena_take(&arena, sizeof *n);
            ck_assert_ptr_nonnull(n);
            ck_assert_uint_eq(*n, 0);
            *n = UINT64_MAX;
        }
        krc_arena_reset(&arena);
        ck_assert_uint_eq(arena.total, 0);
        ck_assert_ptr_nonnull(arena.blocks);
    }
    ck_assert_ptr_nonnull(krc_arena_take(&arena, 3 << 20));
    krc_arena_reset(&arena);
    ck_assert_ptr_null(arena.blocks); /* a giant goes back */
    krc_arena_free(&arena);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        checksums_of_the_catalogue,
        checksums_of_parts,
        checksums_over_zeros,
        a_cursor_stays_inside,
        errors_say_what_and_why,
        a_buffer_grows_and_gives_back,
        an_arena_gives_zeroed_memory_up_to_its_limit,
        an_arena_begins_anew,
    };
    return run_tests("base", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
