/*
 * Clusters that are large, or say so: what an answer brings costs time and memory in proportion.
 */
#include <malloc.h>
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_partition *p;

/* Lists that are kept in order, and lose one after the other, may move all of them each time. */
static size_t moved;

void *__wrap_memmove(void *to, const void *from, size_t len);
void *__real_memmove(void *to, const void *from, size_t len);

void *__wrap_memmove(void *to, const void *from, size_t len)
{
    moved += len;
    return __real_memmove(to, from, len);
}

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

int main(void)
{
    const TTest *const tests[] = {
        a_hundred_thousand_brokers,
        a_hundred_thousand_partitions_are_closed,
    };
    return run_tests("scale", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
