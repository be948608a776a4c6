/*
 * Names that come from outside.
 */
#include <string.h>

#include "base/names.h"
#include "tests/support/run.h"

static bool is_topic(const char *name)
{
    return krc_is_topic_name(name, strlen(name));
}

START_TEST(topic_names)
{
    static const char *const good[] = {"a", "a.b", "...", "-", "A-z_0.9", "__consumer_offsets"};
    static const char *const bad[] = {"", ".", "..", "a/b", "/", "../../victim", "a b", "\xc3\xa9",
                                      "a\n", "^a", "a:0", "a\\b"};
    char name[251];
    krc_error error;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(is_topic(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(!is_topic(bad[i]), "%s", bad[i]);
        ck_assert_int_eq(krc_check_topic_name(bad[i], &error), KRC_E_INVALID);
    }
    ck_assert(!krc_is_topic_name("a\0b", 3));
    ck_assert(!krc_is_topic_name(NULL, 0));
    memset(name, 'x', sizeof name);
    ck_assert(krc_is_topic_name(name, 249));
    ck_assert(!krc_is_topic_name(name, 250));
    ck_assert_int_eq(krc_check_topic_name("t", &error), KRC_OK);
}
END_TEST

START_TEST(addresses)
{
    static const char *const good[] = {"localhost", "10.0.0.1", "::1", "fe80::1%eth0", "a_b.c-d"};
    static const char *const bad[] = {"", "a b", "[::1]", "a/b", "a\x1b", "a,b", "\xc3\xa9"};
    char name[257];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(krc_is_address(good[i], strlen(good[i]), 9092), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!krc_is_address(bad[i], strlen(bad[i]), 9092), "%s", bad[i]);
    ck_assert(!krc_is_address("a\0b", 3, 9092));
    ck_assert(krc_is_address("a", 1, 1) && krc_is_address("a", 1, 65535));
    ck_assert(!krc_is_address("a", 1, 0) && !krc_is_address("a", 1, -1));
    ck_assert(!krc_is_address("a", 1, 65536) && !krc_is_address("a", 1, 65536 + 9092));
    memset(name, 'x', sizeof name);
    ck_assert(krc_is_address(name, 255, 1) && !krc_is_address(name, 256, 1));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {topic_names, addresses};
    return run_tests("names", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
