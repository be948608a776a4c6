/*
 * Patterns mean what they mean to the C library, as long as that can bear them; and what they take
 * is bounded.
 */
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/pattern.h"
#include "tests/support/run.h"

static krc_error error;

static bool matches(const char *text, const char *name)
{
    krc_pattern *p;
    ck_assert_msg(krc_pattern_new(&p, text, &error) == KRC_OK, "%s", error.message);
    bool found = krc_pattern_matches(p, name);
    krc_pattern_free(p);
    return found;
}

static void refuse(const char *text, const char *why)
{
    krc_pattern *p;
    ck_assert_int_eq(krc_pattern_new(&p, text, &error), KRC_E_INVALID);
    ck_assert_msg(strstr(error.message, why) != NULL, "%s", error.message);
}

/* ---- As the C library has it ---------------------------------------------------------------- */

static const char *const parts[] = {
    "a",     "b",      "_",      ".",     "-",     "^",     "$",      "|",          "(",
    ")",     "*",      "+",      "?",     "{2}",   "{0,1}", "{1,}",   "{,2}",       "{0}",
    "{2,3}", "{",      "}",      "{1",    "{3,2}", "[ab]",  "[^a]",   "[a-b]",      "[b-a]",
    "[]a]",  "[^]a]",  "[a-]",   "[",     "]",     "[a-",   "\\w",    "\\W",        "\\b",
    "\\B",   "\\<",    "\\>",    "\\.",   "\\",    "\\*",   "\\`",    "\\'",        "()",
    "(a|b)", "(ab)*",  "a+",     "b?",    "\\s",   "\\S",   "[.a]",   "[[:alpha:]]", "[[:punct:]b]",
    "[[.a.]-b]", "[[=a=]]", "[[:none:]]", "[a-b-_]", "[--.]", "[^-a]",
};

static const char *const names[] = {
    "",   "a",  "b",   "_",    "-",    ".",    "aa",   "ab",     "ba",     "bb",    "a.b",
    "a-b", "aab", "abab", "_a_", "a_b.", "-a-b", "..",  "aaaa",   "bbab",   "a]b",   "a)b",
    "}a",  "a b", "*",    "ab.ab-ab_ab", "bababa",
};

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static void compare(const char *text)
{
    regex_t theirs;
    krc_pattern *ours;
    int rc = krc_pattern_new(&ours, text, &error);
    if (rc < 0 && strstr(error.message, "of letters behind a backslash") != NULL)
        return; /* which the C library takes for the letter */
    int expected = regcomp(&theirs, text, REG_EXTENDED | REG_NOSUB);
    ck_assert_msg((rc == KRC_OK) == (expected == 0), "%s: %d, regcomp: %d (%s)", text, rc,
                  expected, rc < 0 ? error.message : "");
    for (size_t i = 0; rc == KRC_OK && i < sizeof names / sizeof *names; i++) {
        bool found = krc_pattern_matches(ours, names[i]);
        bool wanted = regexec(&theirs, names[i], 0, NULL, 0) == 0;
        ck_assert_msg(found == wanted, "%s %s \"%s\", to regexec it %s", text,
                      found ? "matches" : "does not match", names[i], wanted ? "does" : "does not");
    }
    if (expected == 0)
        regfree(&theirs);
    if (rc == KRC_OK)
        krc_pattern_free(ours);
}

/* To the C library a backslash in [ ] is one. */
static bool may_escape_in_a_set(const char *text)
{
    const char *set = strchr(text, '[');
    return set != NULL && strchr(set, '\\') != NULL;
}

START_TEST(as_the_c_library_has_it)
{
    char text[128];
    for (int i = 0; i < 30000; i++) {
        seed = (uint32_t)i;
        text[0] = '\0';
        for (uint32_t n = 1 + draw(7); n > 0; n--)
            strcat(text, parts[draw(sizeof parts / sizeof *parts)]);
        if (!may_escape_in_a_set(text))
            compare(text);
    }
}
END_TEST

START_TEST(as_topics_are_named)
{
    ck_assert(matches("^orders", "orders.eu"));
    ck_assert(!matches("^orders$", "orders.eu"));
    ck_assert(matches("^(eu|us)[.-]orders-[0-9]{1,3}$", "us.orders-12"));
    ck_assert(!matches("^(eu|us)[.-]orders-[0-9]{1,3}$", "us.orders-1234"));
    ck_assert(matches("^[^_]", "a"));
    ck_assert(!matches("^[^_]", "__consumer_offsets"));
}
END_TEST

START_TEST(as_people_write_them)
{
    ck_assert(matches("^a\\d+$", "a12"));
    ck_assert(!matches("^a\\d+$", "ad"));
    ck_assert(matches("^a\\D$", "ad"));
    ck_assert(matches("^(?:ab)+$", "abab"));
    ck_assert(matches("^(?i)orders-[a-c]\\.x", "ORDERS-B.X"));
    ck_assert(!matches("^(?i)orders-[^a-c]", "ORDERS-B"));
    ck_assert(matches("^((?i)a)b$", "Ab"));
    ck_assert(!matches("^((?i)a)b$", "AB"));
    ck_assert(matches("^(?i:a)b$", "Ab"));
    ck_assert(!matches("^(?i:a)b$", "AB"));
    ck_assert(matches("^(?i)(a|b)+$", "aBbA"));
    ck_assert(matches("^[\\w.\\-]+$", "a.b-c"));
    ck_assert(!matches("^[\\w.\\-]+$", "a b"));
    ck_assert(matches("^[^\\d]$", "a"));
    ck_assert(!matches("^[^\\d]$", "1"));
    ck_assert(matches("^[a\\D]$", "b"));
    refuse("^[\\p]", "of letters behind a backslash");
    refuse("^[a-\\d]", "a range that ends with a class");
    refuse("^a(?=b)", "only i and : are known");
    refuse("^a(?!b)", "only i and : are known");
    refuse("^(?)", "only i and : are known");
    refuse("^(?:a", "a ( without its )");
    refuse("^(?i)*", "a repetition of nothing");
    refuse("^\\p{Lu}", "there are \\d \\s \\w \\b and their capitals");
    refuse("^\\Aa\\z", "write other characters as they are");
}
END_TEST

/* ---- What is bounded ------------------------------------------------------------------------ */

/* The C library takes twice the memory for each of these. */
START_TEST(repetitions_of_repetitions)
{
    char text[2100] = "^a";
    memset(text + 2, '+', 2000);
    ck_assert(matches(text, "aaa"));
    ck_assert(!matches(text, "b"));
    strcpy(text, "^a");
    for (int i = 0; i < 100; i++)
        strcat(text, i % 2 == 0 ? "{0,1}" : "*");
    ck_assert(matches(text, "b"));
    refuse("^(((a{1,200}){1,200}){1,200}){1,200}", "its repetitions make it too large");
    refuse("^(a{1,32767}){1,32767}", "its repetitions make it too large");
    ck_assert(matches("^a{30000}|b", "b"));
}
END_TEST

/* It would take memory for each of its states, of which there are as many as names that differ. */
START_TEST(what_may_begin_anywhere)
{
    char name[250];
    krc_pattern *p;
    ck_assert_int_eq(krc_pattern_new(&p, "^.*a.{200}$", &error), KRC_OK);
    int found = 0;
    for (int i = 0; i < 300; i++) {
        for (size_t k = 0; k < sizeof name - 1; k++)
            name[k] = "ab"[draw(2)];
        name[sizeof name - 1] = '\0';
        bool wanted = name[sizeof name - 1 - 201] == 'a';
        ck_assert(krc_pattern_matches(p, name) == wanted);
        found += wanted;
    }
    ck_assert_int_gt(found, 100);
    krc_pattern_free(p);
}
END_TEST

START_TEST(groups_in_groups)
{
    char text[2 * 1000 + 2];
    memset(text, '(', 1000);
    text[1000] = 'a';
    memset(text + 1001, ')', 1000);
    text[2001] = '\0';
    refuse(text, "too many ( in each other");
    text[1000 + 1 + 200] = '\0';
    ck_assert(matches(text + 800, "a"));
}
END_TEST

START_TEST(many_branches)
{
    static char text[70000] = "^(none";
    for (int i = 0; i < 4000; i++)
        snprintf(text + strlen(text), 20, "|topic%d", i);
    strcat(text, ")$");
    ck_assert(matches(text, "topic3999"));
    ck_assert(matches(text, "none"));
    ck_assert(!matches(text, "topic4000"));
}
END_TEST

START_TEST(what_is_refused)
{
    refuse("^(", "invalid regular expression \"^(\": a ( without its )");
    refuse("^[a", "a [ without its ]");
    refuse("^(a)\\1", "a reference back");
    refuse("^*", "a repetition of nothing");
    refuse("^a{40000}", "more than 32767 times");
    refuse("^a\\", "a backslash without a character");
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {
        as_the_c_library_has_it, as_topics_are_named, as_people_write_them,
        repetitions_of_repetitions, what_may_begin_anywhere, groups_in_groups, many_branches,
        what_is_refused,
    };
    return run_tests("pattern", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
