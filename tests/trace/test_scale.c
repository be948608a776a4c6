/*
 * Clusters that are large, or say so: what an answer brings costs time and memory in proportion.
 */
#include <malloc.h>
#include <string.h>

#include "tests/support/moves.h"
#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_partition *p;

static void begin(void)
{
    open_readers();
    p = &world_topic("t", 1)->partitions[0];
    put_plain(p, 5);
}

/* ---- Brokers -------------------------------------------------------------------------------- */

static int32_t brokers, first_id;

/* Many more than there are, all of which have to be remembered. */
static void add_brokers(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    if (api != KRC_API_METADATA)
        return;
    struct krc_metadata_broker *list =
        krc_arena_take(&world.arena, (size_t)(r->broker_count + brokers) * sizeof *list);
    ck_assert_ptr_nonnull(list);
    memcpy(list, r->brokers, (size_t)r->broker_count * sizeof *list);
    for (int32_t i = 0; i < brokers; i++)
        list[r->broker_count++] = (struct krc_metadata_broker){
            .node_id = first_id + i, .host = build_text("n1"), .port = 9092};
    r->brokers = list;
}

/* What is in use of the heap. */
static size_t in_use(void)
{
    return mallinfo2().uordblks;
}

START_TEST(a_hundred_thousand_brokers)
{
    brokers = 100000;
    first_id = 1000;
    world.edit = add_brokers;
    size_t before = in_use();
    read_from("t", 0, 0);
    sim_run(1000);
    ck_assert_uint_eq(sim.cluster.nodes.count, (size_t)brokers + 2);
    ck_assert_int_eq(readers.records, 5);
    krc_arena_free(&world.arena);
    ck_assert_uint_lt(in_use() - before, (size_t)brokers * 600);
    for (int32_t id = 1000; id < 1000 + brokers; id += 99)
        ck_assert_int_eq(krc_node_find(&sim.cluster, id)->id, id);
    first_id = 500000; /* others come, and these go */
    krc_metadata_refresh(&sim.cluster);
    put_plain(p, 5);
    sim_run(1000);
    ck_assert_uint_eq(sim.cluster.nodes.count, (size_t)brokers + 2);
    ck_assert_ptr_null(krc_node_find(&sim.cluster, 1000));
    ck_assert_int_eq(readers.records, 10);
    ck_assert_int_le(sim.connect_count, 4);
}
END_TEST

/* What is left out is said once. */
START_TEST(a_million_brokers_are_too_many)
{
    brokers = 1000000;
    first_id = 1000;
    world.edit = add_brokers;
    size_t before = in_use();
    read_from("t", 0, 0);
    for (int round = 0; round < 2; round++) {
        krc_metadata_refresh(&sim.cluster);
        sim_run(2000);
        krc_arena_free(&world.arena);
        ck_assert_uint_eq(sim.cluster.nodes.count, 200000);
        ck_assert_int_eq(readers.records, 5);
        ck_assert_uint_lt(in_use() - before, (size_t)100 << 20);
    }
    ck_assert_int_eq(said("note of"), 1);
    ck_assert_ptr_nonnull(strstr(sim.noted, "the cluster lists 1000002 brokers: those after the "
                                            "first 200000 are left out"));
}
END_TEST

/* ---- Partitions ----------------------------------------------------------------------------- */

enum { PARTITIONS = 100000 };

/* Led by a broker that answers no fetch. */
static void add_partitions(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    if (api != KRC_API_METADATA)
        return;
    struct krc_metadata_topic *topic = r->topics;
    topic->partitions = krc_arena_take(&world.arena, PARTITIONS * sizeof *topic->partitions);
    ck_assert_ptr_nonnull(topic->partitions);
    for (topic->partition_count = 0; topic->partition_count < PARTITIONS; topic->partition_count++)
        topic->partitions[topic->partition_count] = (struct krc_metadata_partition){
            .index = topic->partition_count, .leader_id = 2, .leader_epoch = 0};
}

/* In this order: each `step`-th of those that are left, from the first on. */
static void close_all(struct krc_remote **list, int step)
{
    int left = PARTITIONS;
    moved = 0;
    for (int at = 0; left > 0; at = (at + step) % PARTITIONS) {
        while (list[at] == NULL)
            at = (at + 1) % PARTITIONS;
        krc_remote_close(list[at]);
        list[at] = NULL;
        left--;
    }
    ck_assert_uint_eq(sim.cluster.remotes.count, 0);
    ck_assert_ptr_null(sim.cluster.remotes.list);
    ck_assert_uint_le(moved, PARTITIONS);
}

/* In whatever order they are closed, and though the broker is to forget them. */
START_TEST(a_hundred_thousand_partitions_are_closed)
{
    static const int steps[] = {1, PARTITIONS - 1, 7919};
    static struct krc_remote *list[PARTITIONS];
    krc_error error;
    world.edit = add_partitions;
    world.is_blind = true;
    sim.is_quiet = true;
    sim_start("n1");
    struct krc_topic *topic = krc_topic_want(&sim.cluster, "t");
    for (int round = 0; round < 3; round++) {
        sim_fate(KRC_API_FETCH, SIM_SILENT, 1);
        sim_run(1000);
        ck_assert_int_eq(topic->partition_count, PARTITIONS);
        for (int i = 0; i < PARTITIONS; i++) {
            ck_assert_int_eq(krc_remote_open(&list[i], &sim.cluster, topic, i, NULL, &error),
                             KRC_OK);
            krc_remote_want(list[i], 0);
            list[i]->new_epoch = false; /* its reader has looked */
        }
        sim_run(3000);
        ck_assert_ptr_nonnull(list[PARTITIONS - 1]->session);
        list[0]->session->id = round; /* as if it had one */
        close_all(list, steps[round]);
        krc_conn_close(krc_node_find(&sim.cluster, 2)->conns[KRC_FOR_FETCHING], "the next round");
    }
}
END_TEST

/* ---- What is kept of metadata --------------------------------------------------------------- */

static int32_t replication;

static void add_replicas(enum krc_api_name api, void *response)
{
    static int32_t ids[] = {1, 2, 3};
    struct krc_metadata_response *r = response;
    add_partitions(api, response);
    for (int32_t i = 0; api == KRC_API_METADATA && i < PARTITIONS; i++) {
        struct krc_metadata_partition *told = &r->topics[0].partitions[i];
        told->replicas = told->in_sync = ids;
        told->replica_count = replication;
        told->in_sync_count = i % 2 + 1;
    }
}

static void check_replicas(const struct krc_topic *topic, int32_t index)
{
    struct krc_replica_lists lists =
        krc_replicas_get(&topic->replicas, topic->partitions[index].replicas);
    ck_assert_int_eq(lists.counts[KRC_REPLICAS], replication);
    ck_assert_int_eq(lists.counts[KRC_IN_SYNC], index % 2 + 1);
    ck_assert_int_eq(lists.counts[KRC_OFFLINE], 0);
    ck_assert_int_eq(lists.counts[KRC_ELIGIBLE], KRC_LIST_UNKNOWN);
    ck_assert_int_eq(lists.ids[KRC_REPLICAS][replication - 1], replication);
    ck_assert_int_eq(lists.ids[KRC_IN_SYNC][index % 2], index % 2 + 1);
}

/* However often they change. */
START_TEST(partitions_take_little_more_than_their_answer)
{
    size_t before = in_use();
    world.edit = add_replicas;
    sim.is_quiet = true;
    sim_start("n1");
    struct krc_topic *topic = krc_topic_want(&sim.cluster, "t");
    for (int round = 0; round < 8; round++) {
        replication = 2 + round % 2;
        krc_metadata_refresh(&sim.cluster);
        sim_run(2000);
        krc_arena_free(&world.arena);
        ck_assert_int_eq(topic->partition_count, PARTITIONS);
        ck_assert_uint_le(in_use() - before, (size_t)PARTITIONS * 120);
        check_replicas(topic, 0);
        check_replicas(topic, PARTITIONS - 1);
    }
}
END_TEST

enum { TOPICS = 20000 };

/* The last name first, and each twice. */
static void add_topics(enum krc_api_name api, void *response)
{
    static char names[TOPICS][16];
    struct krc_metadata_response *r = response;
    if (api != KRC_API_METADATA)
        return;
    r->topics = krc_arena_take(&world.arena, TOPICS * 2 * sizeof *r->topics);
    ck_assert_ptr_nonnull(r->topics);
    for (r->topic_count = 0; r->topic_count < TOPICS * 2; r->topic_count++) {
        int i = TOPICS - 1 - r->topic_count / 2;
        snprintf(names[i], sizeof names[i], "t%05d", i);
        r->topics[r->topic_count].name = build_text(names[i]);
    }
}

START_TEST(twenty_thousand_topics_are_sorted_once)
{
    char name[16];
    world.edit = add_topics;
    sim.is_quiet = true;
    sim_start("n1");
    sim.cluster.topics.all_wanted = true;
    for (int round = 0; round < 2; round++) {
        moved = 0;
        krc_metadata_refresh(&sim.cluster);
        sim_run(2000);
        ck_assert_uint_eq(sim.cluster.topics.count, TOPICS);
        ck_assert_uint_le(moved, TOPICS * 64);
        for (int i = 0; i < TOPICS; i++) {
            snprintf(name, sizeof name, "t%05d", i);
            ck_assert_str_eq(sim.cluster.topics.list[i]->name, name);
        }
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_hundred_thousand_brokers,
        a_million_brokers_are_too_many,
        a_hundred_thousand_partitions_are_closed,
        partitions_take_little_more_than_their_answer,
        twenty_thousand_topics_are_sorted_once,
    };
    return run_tests("scale", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
