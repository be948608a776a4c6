/*
 * A broker for tests/cmd/hostile.sh that sends names, addresses and texts which none should.
 * Prints its address, and serves until it is ended.
 *
 * "hostile names":
 *   t              5 records, led by the broker itself
 *   ../../victim   5 records, and committed by group g, as t
 *   u              5 records, led by a broker that is advertised at port 65536 + its own
 *
 * "hostile pending": t alone, and a newer commit of it in a transaction that nobody ends.
 *
 * "hostile empty": no topic.
 *
 * "hostile orders": t, orders and orders-eu, of which g has committed t alone.
 *
 * "hostile take": t alone; the group (group.protocol=consumer) takes it from the first member once
 * all of it is committed, and "taken" is printed.
 *
 * "hostile without-Fetch", or another API: t alone; it has no version of that.
 *
 * "hostile Fetch", or another API: t alone; it falls asleep instead of answering that, and then
 * prints "asleep".
 *
 * "hostile many": t has 2,500 partitions, of which each second has a leader; of more than 1,000 at a
 * time nobody is told offsets, which are 7.
 *
 * "hostile elsewhere": t alone, of 8 records and with another id, in another cluster.
 *
 * "hostile texts": t alone, a group with a member, and an open transaction; racks, groups, members,
 * metadata and transactional ids are such texts.
 */
#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protocol/api.h"
#include "tests/support/coordinator.h"
#include "tests/support/serve.h"

/* A window's title, a line of krc's own, and what turns the direction around; visible are the last
 * two alone. */
#define BAD "\x1b]0;x\x07\nkrc: forged\xc2\x9b" "2J\xe2\x80\xae\xc3\xa9\xe6\xbc\xa2"

static const char *mode;
static void (*serves)(enum krc_api_name api, void *response);

static void spoil_names(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    for (int32_t i = 0; api == KRC_API_METADATA && i < r->broker_count; i++)
        if (r->brokers[i].node_id == 2)
            r->brokers[i].port += 65536;
}

static void add_partitions(struct krc_metadata_response *r)
{
    enum { COUNT = 2500 };
    static struct krc_metadata_partition list[COUNT];
    for (int32_t i = 0; i < COUNT; i++)
        list[i] = (struct krc_metadata_partition){.index = i, .leader_id = i % 2 == 0 ? 1 : -1};
    r->topics[0].partitions = list;
    r->topics[0].partition_count = COUNT;
}

static void tell_offsets(struct krc_list_offsets_response *r)
{
    bool too_many = r->topics[0].partition_count > 1000;
    for (int32_t i = 0; i < r->topics[0].partition_count; i++) {
        struct krc_list_offsets_partition *p = &r->topics[0].partitions[i];
        p->error_code = too_many ? KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED : 0;
        p->offset = 7;
    }
}

static void spoil_numbers(enum krc_api_name api, void *response)
{
    if (api == KRC_API_METADATA)
        add_partitions(response);
    else if (api == KRC_API_LIST_OFFSETS)
        tell_offsets(response);
}

static void spoil_offsets(struct krc_offset_fetch_response *r)
{
    for (int32_t t = 0; t < r->topic_count; t++)
        for (int32_t i = 0; i < r->topics[t].partition_count; i++)
            r->topics[t].partitions[i].metadata = build_text("m" BAD);
}

static void spoil_groups(struct krc_list_groups_response *r)
{
    if (r->group_count > 0)
        r->groups[0].group = build_text("group" BAD);
}

static void spoil_members(struct krc_describe_groups_response *r)
{
    for (int32_t i = 0; i < r->groups[0].member_count; i++) {
        struct krc_described_member *m = &r->groups[0].members[i];
        m->member_id = build_text("id" BAD);
        m->client_id = build_text("client" BAD);
        m->client_host = build_text("host" BAD);
    }
}

static void spoil_producers(struct krc_describe_producers_response *r)
{
    struct krc_described_producer *p = krc_arena_take(&world.arena, sizeof *p);
    *p = (struct krc_described_producer){.producer_id = 7, .last_timestamp = 1000,
                                         .current_txn_start_offset = 2};
    r->topics[0].partitions[0].producers = p;
    r->topics[0].partitions[0].producer_count = 1;
}

static void spoil_transactions(struct krc_list_transactions_response *r)
{
    r->transactions = krc_arena_take(&world.arena, sizeof *r->transactions);
    r->transactions[r->transaction_count++] = (struct krc_listed_transaction){
        .transactional_id = build_text("txn" BAD), .producer_id = 7,
        .state = build_text("On" BAD)};
}

static void spoil_transaction(struct krc_describe_transactions_response *r)
{
    static int32_t partitions[] = {0};
    struct krc_described_transaction *d = krc_arena_take(&world.arena, sizeof *d);
    d->topics = krc_arena_take(&world.arena, sizeof *d->topics);
    d->topics[d->topic_count++] = (struct krc_described_transaction_topic){
        .name = build_text("t"), .partitions = partitions, .partition_count = 1};
    d->transactional_id = build_text("txn" BAD);
    d->state = build_text("On" BAD);
    d->producer_id = 7;
    r->transactions = d;
    r->transaction_count = 1;
}

static void spoil_texts(enum krc_api_name api, void *response)
{
    if (api == KRC_API_METADATA)
        ((struct krc_metadata_response *)response)->brokers[0].rack = build_text("rack" BAD);
    else if (api == KRC_API_OFFSET_FETCH)
        spoil_offsets(response);
    else if (api == KRC_API_LIST_GROUPS)
        spoil_groups(response);
    else if (api == KRC_API_DESCRIBE_GROUPS)
        spoil_members(response);
    else if (api == KRC_API_DESCRIBE_PRODUCERS)
        spoil_producers(response);
    else if (api == KRC_API_DESCRIBE_TRANSACTIONS)
        spoil_transaction(response);
    else if (api == KRC_API_LIST_TRANSACTIONS)
        spoil_transactions(response);
}

static void spoil(enum krc_api_name api, void *response)
{
    serves(api, response);
    if (strcmp(mode, "names") == 0)
        spoil_names(api, response);
    else if (strcmp(mode, "many") == 0)
        spoil_numbers(api, response);
    else if (strcmp(mode, "texts") == 0)
        spoil_texts(api, response);
    else if (strcmp(mode, "elsewhere") == 0 && api == KRC_API_METADATA)
        ((struct krc_metadata_response *)response)->cluster_id = build_text("elsewhere");
}

static void add_topic(const char *name, int32_t leader)
{
    struct world_topic *topic = world_topic(name, 1);
    put_plain(&topic->partitions[0], 5);
    topic->partitions[0].leader = leader;
    topic->partitions[0].committed = 3;
}

/* KRC_API_COUNT: none is named so. */
static enum krc_api_name find_api(const char *name)
{
    int api = 0;
    while (api < KRC_API_COUNT && strcmp(krc_apis[api].name, name) != 0)
        api++;
    return (enum krc_api_name)api;
}

static void take_from_member(void)
{
    while (serve_requests(KRC_API_CONSUMER_GROUP_HEARTBEAT) == 0)
        poll(NULL, 0, 5);
    serve_lock();
    group_target(1, "t-0");
    serve_unlock();
    for (bool taken = false; !taken; poll(NULL, 0, 5)) {
        serve_lock();
        taken = world.topics[0].partitions[0].committed == 5;
        if (taken)
            group_target(1, "");
        serve_unlock();
    }
    puts("taken");
}

/* What it is made of asserts, which only a running test may do. */
START_TEST(serve_for_ever)
{
    world_open();
    group_open(strcmp(mode, "take") != 0);
    if (strcmp(mode, "empty") != 0)
        add_topic("t", 1);
    if (strcmp(mode, "names") == 0) {
        add_topic("../../victim", 1);
        add_topic("u", 2);
    } else if (strcmp(mode, "orders") == 0) {
        add_topic("orders", 1);
        add_topic("orders-eu", 1);
        world.topics[1].partitions[0].committed = world.topics[2].partitions[0].committed = -1;
    } else if (strcmp(mode, "elsewhere") == 0) {
        world_recreate(&world.topics[0]);
        put_plain(&world.topics[0].partitions[0], 8);
        world.topics[0].partitions[0].committed = 4;
    } else if (strcmp(mode, "pending") == 0) {
        world.topics[0].partitions[0].is_pending = true;
    } else if (strcmp(mode, "texts") == 0) {
        group_target(group_join("t"), "t-0");
        group_rebalance();
    }
    if (strncmp(mode, "without-", 8) == 0)
        world_versions(find_api(mode + 8), -1, -1);
    serve_begin();
    enum krc_api_name held = find_api(mode);
    serve_hold(held);
    serve_lock();
    serves = world.edit;
    world.edit = spoil;
    serve_unlock();
    puts(serve_address());
    fflush(stdout);
    while (held < KRC_API_COUNT && serve_requests(held) == 0)
        poll(NULL, 0, 5);
    if (held < KRC_API_COUNT)
        puts("asleep");
    if (strcmp(mode, "take") == 0)
        take_from_member();
    fflush(stdout);
    for (;;)
        pause();
}
END_TEST

int main(int argc, char **argv)
{
    mode = argc > 1 ? argv[1] : "names";
    Suite *suite = suite_create("hostile");
    TCase *tc = tcase_create("hostile");
    tcase_add_test(tc, serve_for_ever);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    return 1;
}
