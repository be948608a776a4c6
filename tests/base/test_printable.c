/*
 * How foreign text is shown.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"
#include "tests/support/run.h"

static const char *shown(const char *text, size_t len)
{
    static char out[400];
    size_t whole = krc_printable(out, sizeof out, text, len);
    ck_assert_uint_eq(whole, strlen(out));
    return out;
}
#define SHOWN(literal) shown(literal, sizeof(literal) - 1)

START_TEST(what_is_visible_stays)
{
    ck_assert_str_eq(SHOWN("plain ~ text, \"quoted\" \\x1b"), "plain ~ text, \"quoted\" \\x1b");
    ck_assert_str_eq(SHOWN("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xd8\xa7"),
                     "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xd8\xa7");
    ck_assert_str_eq(SHOWN(""), "");
}
END_TEST

START_TEST(what_is_not_is_escaped)
{
    ck_assert_str_eq(SHOWN("a\nb\tc\rd\0e\x7f"), "a\\x0ab\\x09c\\x0dd\\x00e\\x7f");
    ck_assert_str_eq(SHOWN("\x1b[2J\x1b]0;t\x07"), "\\x1b[2J\\x1b]0;t\\x07");
    ck_assert_str_eq(SHOWN("\xc2\x9b" "2J"), "\\xc2\\x9b2J");                 /* C1: CSI */
    ck_assert_str_eq(SHOWN("a\xe2\x80\xaegnp"), "a\\xe2\\x80\\xaegnp");       /* RLO */
    ck_assert_str_eq(SHOWN("\xe2\x81\xa6" "a\xe2\x81\xa9"),
                     "\\xe2\\x81\\xa6a\\xe2\\x81\\xa9");                      /* LRI, PDI */
    ck_assert_str_eq(SHOWN("\xd8\x9c"), "\\xd8\\x9c");                        /* ALM */
    ck_assert_str_eq(SHOWN("a\xe2\x80\x8b\xef\xbb\xbf" "b"),
                     "a\\xe2\\x80\\x8b\\xef\\xbb\\xbf" "b");                  /* zero width */
    ck_assert_str_eq(SHOWN("a\xe2\x80\xa8"), "a\\xe2\\x80\\xa8");             /* line separator */
    ck_assert_str_eq(SHOWN("\xf3\xa0\x81\xa1"), "\\xf3\\xa0\\x81\\xa1");      /* a tag */
    ck_assert_str_eq(SHOWN("\xff\xc3\xc3\xa9\xe2\x82"), "\\xff\\xc3\xc3\xa9\\xe2\\x82");
    ck_assert_str_eq(SHOWN("\xed\xa0\x80\xc0\x80"), "\\xed\\xa0\\x80\\xc0\\x80");
}
END_TEST

/* Whole characters and whole escapes, and nothing after the first that does not fit. */
START_TEST(what_does_not_fit_is_cut_off)
{
    char out[8];
    ck_assert_uint_eq(krc_printable(out, 8, "abc\xe2\x82\xac" "d", 7), 7);
    ck_assert_str_eq(out, "abc\xe2\x82\xac" "d");
    ck_assert_uint_eq(krc_printable(out, 7, "abc\xe2\x82\xac" "d", 7), 7);
    ck_assert_str_eq(out, "abc\xe2\x82\xac");
    ck_assert_uint_eq(krc_printable(out, 6, "abc\xe2\x82\xac" "d", 7), 7);
    ck_assert_str_eq(out, "abc");
    ck_assert_uint_eq(krc_printable(out, 5, "a\x1b" "b", 3), 6);
    ck_assert_str_eq(out, "a");
    ck_assert_uint_eq(krc_printable(out, 1, "a", 1), 1);
    ck_assert_str_eq(out, "");
    char *copy = krc_printable_copy("a\x1b", 2);
    ck_assert_str_eq(copy, "a\\x1b");
    free(copy);
    char text[8] = "ab\x1b\x1b" "c";
    krc_make_printable(text, sizeof text);
    ck_assert_str_eq(text, "ab\\x1b");
}
END_TEST

/* Whoever puts a sentence together need not think of it. */
START_TEST(errors_are_fit_for_a_terminal)
{
    krc_error error;
    krc_fail(&error, KRC_E_IO, "broker %s: %s", "n1\x1b[2J", "bad\nkrc: forged");
    ck_assert_str_eq(error.message, "broker n1\\x1b[2J: bad\\x0akrc: forged");
    krc_error_in(&error, "t-0 of %s", "\x07");
    ck_assert_str_eq(error.message, "t-0 of \\x07: broker n1\\x1b[2J: bad\\x0akrc: forged");
    ck_assert_int_eq(error.code, KRC_E_IO);
    krc_fail_errno(&error, "cannot open %s", "a\nb");
    ck_assert_ptr_nonnull(strstr(error.message, "cannot open a\\x0ab: "));
    char longest[2000];
    memset(longest, 0x1b, sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    krc_fail(&error, KRC_E_IO, "%s", longest);
    ck_assert_uint_eq(strlen(error.message), 1020);
    ck_assert_str_eq(error.message + 1012, "\\x1b\\x1b");
    krc_error_in(NULL, "x");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {what_is_visible_stays, what_is_not_is_escaped,
                                  what_does_not_fit_is_cut_off, errors_are_fit_for_a_terminal};
    return run_tests("printable", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
