/*
 * Runs a test program's tests, each with its own set-up where there is one.
 */
#ifndef KRC_TESTS_RUN_H
#define KRC_TESTS_RUN_H

#include <check.h>
#include <stdlib.h>

static inline int run_tests(const char *name, const TTest *const *tests, size_t count,
                            SFun setup, SFun teardown)
{
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create(name);
    tcase_set_timeout(tc, 120); /* seconds, for machines under load and sanitizers */
    tcase_add_checked_fixture(tc, setup, teardown);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tc, tests[i]);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
