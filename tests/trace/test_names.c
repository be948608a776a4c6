/*
 * Names and addresses that no broker should send: they are reported once and never used.
 */
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

#define TEXT(literal) {(const uint8_t *)(literal), sizeof(literal) - 1}

static struct world_partition *p;
static char too_long[256];

/* What no topic is called. */
static struct krc_bytes bad_names[] = {
    TEXT("../../victim"), TEXT("/tmp/victim"), TEXT(".."), TEXT("."),
    TEXT(""),             TEXT("a b"),         TEXT("t\0x"), TEXT("\x1b[2Jt"),
    TEXT("t\n"),          TEXT("t\xc3\xa9"),   {(const uint8_t *)too_long, 250},
};
enum { BAD_NAMES = sizeof bad_names / sizeof *bad_names };

static void begin(void)
{
    memset(too_long, 'a', sizeof too_long);
    open_readers();
    p = &world_topic("t", 2)->partitions[0];
    put_plain(p, 5);
}

/* ---- Topics --------------------------------------------------------------------------------- */

/* The world's topic, and the same under each of those names. */
static void add_bad_topics(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    if (api != KRC_API_METADATA || r->topic_count == 0)
        return;
    struct krc_metadata_topic *topics =
        krc_arena_take(&world.arena, (BAD_NAMES + 1) * sizeof *topics);
    for (int i = 0; i <= BAD_NAMES; i++) {
        topics[i] = r->topics[0];
        if (i < BAD_NAMES)
            topics[i].name = bad_names[i];
    }
    r->topics = topics;
    r->topic_count = BAD_NAMES + 1;
}

START_TEST(topics_in_metadata)
{
    world.edit = add_bad_topics;
    read_from("t", 0, 0);
    sim.cluster.topics.all_wanted = true;
    sim_run(1000);
    krc_metadata_refresh(&sim.cluster);
    sim_run(1000);
    ck_assert_int_gt(sim.requests[KRC_API_METADATA], 1);
    ck_assert_uint_eq(sim.cluster.topics.count, 1);
    ck_assert_int_eq(readers.records, 5);
    ck_assert_int_eq(said("note of"), 1);
    ck_assert_ptr_nonnull(strstr(sim.noted, "\"../../victim\", which is not a valid topic name"));
}
END_TEST

/* Each alone, for the first is the one that is reported. */
START_TEST(each_of_those_names)
{
    ck_assert(!krc_topic_name_is_good(&sim.cluster, bad_names[_i]));
}
END_TEST

/* ---- Addresses ------------------------------------------------------------------------------ */

static const struct {
    struct krc_bytes host;
    int32_t port;
    const char *told;
} bad_addresses[] = {
    {TEXT("n1"), 65536 + 9092, "\"n1\", port 74628,"},
    {TEXT("n1"), 0, "\"n1\", port 0,"},
    {TEXT("n1"), -1, "\"n1\", port -1,"},
    {TEXT("n1"), INT32_MIN, "\"n1\", port -2147483648,"},
    {TEXT("n1\0.evil"), 9092, "\"n1\\x00.evil\", port 9092,"},
    {TEXT(""), 9092, "\"\", port 9092,"},
    {TEXT("n1\r\nforged"), 9092, "\"n1\\x0d\\x0aforged\", port 9092,"},
    {TEXT("\x1b]0;x\x07n1"), 9092, "\"\\x1b]0;x\\x07n1\", port 9092,"},
    {TEXT("n1\xe2\x80\xae"), 9092, "\"n1\\xe2\\x80\\xae\", port 9092,"},
    {TEXT("n1 n2"), 9092, "\"n1 n2\", port 9092,"},
    {TEXT("n1/x"), 9092, "\"n1/x\", port 9092,"},
    {{(const uint8_t *)too_long, 256}, 9092, "aaa\", port 9092,"},
};
enum { BAD_ADDRESSES = sizeof bad_addresses / sizeof *bad_addresses };

static int bad;

static void move_brokers(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    for (int32_t i = 0; api == KRC_API_METADATA && i < r->broker_count; i++) {
        r->brokers[i].host = bad_addresses[bad].host;
        r->brokers[i].port = bad_addresses[bad].port;
    }
}

/* They are asked for again, from the bootstrap server, and never connected to. */
START_TEST(brokers_in_metadata)
{
    char text[1000];
    bad = _i;
    world.edit = move_brokers;
    sim.shows_connects = true;
    read_from("t", 0, 0);
    sim_run(4000);
    ck_assert_int_eq(said("note of"), 1);
    ck_assert_msg(strstr(sim.noted, bad_addresses[bad].told) != NULL, "%s", sim.noted);
    sim_run(16000); /* in which it is said that this is why nothing comes */
    ck_assert_int_eq(readers.records, 0);
    ck_assert_int_eq(said("connect"), said("connect n1 n1"));
    ck_assert_int_eq(said("note of"), 2);
    krc_cluster_describe(&sim.cluster, text, sizeof text);
    ck_assert_msg(strstr(text, "this is not a valid address") != NULL, "%s", text);
    for (const char *c = text; *c != '\0'; c++)
        ck_assert(*c >= ' ' && *c <= '~');
    world.edit = NULL; /* once the brokers are where they should be, all goes on */
    sim_run(20000);
    ck_assert_int_eq(readers.records, 5);
}
END_TEST

static void move_coordinator(enum krc_api_name api, void *response)
{
    struct krc_find_coordinator_response *r = response;
    if (api != KRC_API_FIND_COORDINATOR || sim.requests[api] > 2)
        return;
    r->node_id = 3;
    r->host = bad_addresses[bad].host;
    r->port = bad_addresses[bad].port;
}

START_TEST(a_coordinator)
{
    bad = _i;
    world.edit = move_coordinator;
    sim.shows_connects = true;
    p->committed = 2;
    read_from("t", 0, KRC_STORED)->asks_group = true;
    sim_run(60000);
    ck_assert_int_eq(readers.records, 3);
    ck_assert_int_eq(said("connect"), said("connect n1 n1") + said("connect n2 n2"));
    ck_assert_msg(strstr(sim.noted, bad_addresses[bad].told) != NULL, "%s", sim.noted);
}
END_TEST

static void move_leader(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    if (api != KRC_API_FETCH)
        return;
    r->endpoints = krc_arena_take(&world.arena, sizeof *r->endpoints);
    r->endpoints[r->endpoint_count++] = (struct krc_fetch_endpoint){
        .node_id = 3, .host = bad_addresses[bad].host, .port = bad_addresses[bad].port};
}

START_TEST(a_leader_in_a_fetch)
{
    bad = _i;
    world.edit = move_leader;
    sim.shows_connects = true;
    read_from("t", 0, 0);
    sim_run(2000);
    ck_assert_int_eq(readers.records, 5);
    ck_assert_int_eq(said("connect"), said("connect n1 n1"));
    ck_assert_msg(strstr(sim.noted, bad_addresses[bad].told) != NULL, "%s", sim.noted);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names");
    TCase *tc = tcase_create("names");
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, begin, close_readers);
    tcase_add_test(tc, topics_in_metadata);
    tcase_add_loop_test(tc, each_of_those_names, 0, BAD_NAMES);
    tcase_add_loop_test(tc, brokers_in_metadata, 0, BAD_ADDRESSES);
    tcase_add_loop_test(tc, a_coordinator, 0, BAD_ADDRESSES);
    tcase_add_loop_test(tc, a_leader_in_a_fetch, 0, BAD_ADDRESSES);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
