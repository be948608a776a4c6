/*
 * The map of producers against a plain array, in random operations.
 */
#include <check.h>
#include <string.h>

#include "tests/support/run.h"
#include "txnfilter/producers.h"

enum { IDS = 600 };

static struct krc_producers map;
static struct {
    bool there;
    int64_t value;
} model[IDS];

static void setup(void)
{
    map = (struct krc_producers){0};
    memset(model, 0, sizeof model);
}

static void teardown(void)
{
    krc_producers_free(&map);
}

static uint32_t seed = 1;
static uint32_t random_below(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)seed * most >> 32);
}

/* Ids as brokers give them, in blocks; and far apart. */
static int64_t id_of(int i)
{
    return i < IDS / 2 ? 4000 + i : (int64_t)((uint64_t)i * 0x123456789abcdefu);
}

static void check_all(void)
{
    size_t at = 0, count = 0, walked = 0;
    int64_t id, value;
    for (int i = 0; i < IDS; i++) {
        int64_t *found = krc_producers_get(&map, id_of(i));
        ck_assert_int_eq(found != NULL, model[i].there);
        if (found != NULL)
            ck_assert_int_eq(*found, model[i].value);
        count += model[i].there;
    }
    ck_assert_uint_eq(map.count, count);
    while (krc_producers_next(&map, &at, &id, &value)) {
        ck_assert_int_eq(*krc_producers_get(&map, id), value);
        walked++;
    }
    ck_assert_uint_eq(walked, count);
}

static void one_operation(uint32_t puts)
{
    int i = (int)random_below(IDS);
    if (random_below(100) < puts) {
        int64_t value = random_below(1000);
        ck_assert_int_eq(krc_producers_put(&map, id_of(i), value, NULL), KRC_OK);
        model[i].there = true;
        model[i].value = value;
    } else {
        krc_producers_remove(&map, id_of(i));
        model[i].there = false;
    }
}

START_TEST(as_a_plain_array)
{
    check_all();
    for (int round = 0; round < 400; round++) { /* it grows, shrinks, grows again */
        for (int i = 0; i < 40; i++)
            one_operation(round % 100 < 50 ? 70 : 30);
        check_all();
    }
}
END_TEST

START_TEST(values_in_place)
{
    ck_assert_int_eq(krc_producers_put(&map, -1, 5, NULL), KRC_OK);
    *krc_producers_get(&map, -1) = 6;
    ck_assert_int_eq(*krc_producers_get(&map, -1), 6);
    ck_assert_int_eq(krc_producers_put(&map, -1, 7, NULL), KRC_OK);
    ck_assert_uint_eq(map.count, 1);
    krc_producers_remove(&map, INT64_MIN);
    krc_producers_remove(&map, -1);
    krc_producers_remove(&map, -1);
    ck_assert_uint_eq(map.count, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {as_a_plain_array, values_in_place};
    return run_tests("txnfilter/producers", tests, sizeof tests / sizeof *tests, setup, teardown);
}
