/*
 * A broker for tests/cmd/hostile.sh that sends names, addresses and texts which none should.
 * Prints its address, and serves until it is ended.
 *
 *   t              5 records, led by the broker itself
 *   ../../victim   5 records, and committed by group g, as t
 *   u              5 records, led by a broker that is advertised at port 65536 + its own
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/coordinator.h"
#include "tests/support/serve.h"

static void (*serves)(enum krc_api_name api, void *response);

static void spoil_metadata(struct krc_metadata_response *r)
{
    for (int32_t i = 0; i < r->broker_count; i++)
        if (r->brokers[i].node_id == 2)
            r->brokers[i].port += 65536;
}

static void spoil(enum krc_api_name api, void *response)
{
    serves(api, response);
    if (api == KRC_API_METADATA)
        spoil_metadata(response);
}

static void add_topic(const char *name, int32_t leader)
{
    struct world_topic *topic = world_topic(name, 1);
    put_plain(&topic->partitions[0], 5);
    topic->partitions[0].leader = leader;
    topic->partitions[0].committed = 3;
}

/* What it is made of asserts, which only a running test may do. */
START_TEST(serve_for_ever)
{
    world_open();
    group_open(true);
    add_topic("t", 1);
    add_topic("../../victim", 1);
    add_topic("u", 2);
    serve_begin();
    serve_lock();
    serves = world.edit;
    world.edit = spoil;
    serve_unlock();
    puts(serve_address());
    fflush(stdout);
    for (;;)
        pause();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile");
    TCase *tc = tcase_create("hostile");
    tcase_add_test(tc, serve_for_ever);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    return 1;
}
