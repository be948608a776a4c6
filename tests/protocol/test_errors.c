#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "protocol/errors.h"
#include "tests/support/run.h"

START_TEST(errors_are_those_of_kafka)
{
    FILE *in = fopen("tests/protocol/golden/errors", "r");
    int16_t code, next = -1;
    char name[64], again[16];
    ck_assert_ptr_nonnull(in);
    while (fscanf(in, "%" SCNd16 " %63s %15s", &code, name, again) == 3) {
        ck_assert_int_eq(code, next++);
        ck_assert_str_eq(krc_kafka_error_name(code), name);
        ck_assert_int_eq(krc_kafka_error_retriable(code), strcmp(again, "retriable") == 0);
        ck_assert_uint_gt(strlen(krc_kafka_error_text(code)), 5);
    }
    fclose(in);
    ck_assert_int_eq(next, 134);
}
END_TEST

START_TEST(a_code_that_is_not_known_is_no_error_of_its_own)
{
    ck_assert_str_eq(krc_kafka_error_name(134), "UNKNOWN");
    ck_assert_str_eq(krc_kafka_error_name(-2), "UNKNOWN");
    ck_assert(!krc_kafka_error_retriable(134));
    ck_assert_str_eq(krc_kafka_error_text(134), krc_kafka_error_text(INT16_MIN));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        errors_are_those_of_kafka,
        a_code_that_is_not_known_is_no_error_of_its_own,
    };
    return run_tests("errors", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
