#include <errno.h>
#include <string.h>

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

int main(void)
{
    const TTest *const tests[] = {
        checksums_of_the_catalogue,
        a_cursor_stays_inside,
        errors_say_what_and_why,
        a_buffer_grows_and_gives_back,
    };
    return run_tests("base", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
