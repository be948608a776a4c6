#include <string.h>

#include "base/index.h"
#include "tests/support/run.h"

enum { KEYS = 1000 };

static struct krc_index table;
static int values[KEYS];
static bool is_in[KEYS];

static void setup(void)
{
    memset(is_in, 0, sizeof is_in);
}

static void teardown(void)
{
    krc_index_free(&table);
}

/* Keys that lie apart by a power of two, as ids of brokers or addresses do. */
static uint64_t key_of(int i)
{
    return (uint64_t)i << 20;
}

static void check(void)
{
    size_t count = 0;
    for (int i = 0; i < KEYS; i++) {
        ck_assert_ptr_eq(krc_index_find(&table, key_of(i)), is_in[i] ? &values[i] : NULL);
        count += is_in[i];
    }
    ck_assert_uint_eq(table.count, count);
    ck_assert_ptr_null(krc_index_find(&table, 1));
}

START_TEST(what_was_put_is_found)
{
    krc_error error;
    uint32_t seed = 1;
    check();
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        int k = (int)(seed >> 8) % KEYS;
        bool puts = (seed >> 28) > (i < 10000 ? 5 : 9);
        if (puts)
            ck_assert_int_eq(krc_index_put(&table, key_of(k), &values[k], &error), KRC_OK);
        else
            krc_index_remove(&table, key_of(k));
        is_in[k] = puts;
        if (i % 100 == 0)
            check();
    }
    check();
    ck_assert_uint_le(table.capacity, 2048);
}
END_TEST

START_TEST(another_value_takes_its_place)
{
    krc_error error;
    ck_assert_int_eq(krc_index_put(&table, 7, &values[0], &error), KRC_OK);
    ck_assert_int_eq(krc_index_put(&table, 7, &values[1], &error), KRC_OK);
    ck_assert_ptr_eq(krc_index_find(&table, 7), &values[1]);
    ck_assert_uint_eq(table.count, 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {what_was_put_is_found, another_value_takes_its_place};
    return run_tests("index", tests, sizeof tests / sizeof *tests, setup, teardown);
}
