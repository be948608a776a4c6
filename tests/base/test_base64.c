#include <string.h>

#include "base/base64.h"
#include "tests/support/build.h"
#include "tests/support/run.h"

/* RFC 4648, section 10 */
static const char *const known[][2] = {{"", ""},
                                       {"f", "Zg=="},
                                       {"fo", "Zm8="},
                                       {"foo", "Zm9v"},
                                       {"foob", "Zm9vYg=="},
                                       {"fooba", "Zm9vYmE="},
                                       {"foobar", "Zm9vYmFy"},
                                       {"\xfb\xff\xfe", "+//+"}};

START_TEST(both_ways)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *plain = known[i][0], *letters = known[i][1];
        uint8_t to[16];
        size_t len;
        ck_assert_uint_eq(krc_base64_size(strlen(plain)), strlen(letters));
        ck_assert_ptr_eq(krc_base64_encode(to, build_text(plain)), to + strlen(letters));
        ck_assert_mem_eq(to, letters, strlen(letters));
        ck_assert(krc_base64_decode(to, &len, build_text(letters)));
        ck_assert_uint_eq(len, strlen(plain));
        ck_assert_mem_eq(to, plain, len);
    }
}
END_TEST

START_TEST(what_encoding_does_not_write)
{
    static const char *const wrong[] = {
        /* too short */
        "Z", "Zg", "Zg=", "Zm8", "Zm9vYg", "Zm9vYmE",
        /* padding that is too long, or inside */
        "=", "==", "====", "Z===", "Zg===", "Zm9v====", "Zg==Zg==", "Zm8=Zm8=", "Z=g=",
        /* bits behind the last byte */
        "Zh==", "Zm9=",
        /* no letters of it */
        "Zm9\n", "Zm 9", "\nZm9", "Zm9-", "Zm9_", "Zm9.", "Zm9\xff",
    };
    uint8_t to[16];
    size_t len;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!krc_base64_decode(to, &len, build_text(wrong[i])), "%s", wrong[i]);
    ck_assert(!krc_base64_decode(to, &len, (struct krc_bytes){(const uint8_t *)"Zm9\0", 4}));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {both_ways, what_encoding_does_not_write};
    return run_tests("base64", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
