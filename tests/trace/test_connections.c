/*
 * Connections: names and addresses, waits between attempts, time-outs, beginning with the bootstrap
 * servers again.
 */
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_partition *p;

static void begin(void)
{
    open_readers();
    p = &world_topic("t", 2)->partitions[0];
    put_plain(p, 5);
    sim.shows_connects = true;
}

/* ---- Addresses ------------------------------------------------------------------------------ */

START_TEST(the_first_servers_are_dead)
{
    sim_host("gone", "");
    sim_host("dead", "refuses");
    sim_start("gone dead n1");
    read_from("t", 0, 0);
    sim_run(1000);
    ck_assert_int_eq(readers.records, 5);
}
END_TEST

/* Some take the connection and do not answer: another is tried after two seconds. */
START_TEST(servers_that_do_not_answer)
{
    sim_host("mute", "n3");
    sim_host("deaf", "hangs");
    world.nodes[3].is_up = world.nodes[3].is_mute = true;
    sim_start("mute deaf n1");
    read_from("t", 0, 0);
    sim_run(2 * KRC_CONN_PATIENCE_MS + 100);
    ck_assert_int_eq(readers.records, 5);
}
END_TEST

/* One that was well falls asleep, and another one is asked what it was asked. */
START_TEST(metadata_that_does_not_come)
{
    sim.settings.metadata_max_age_ms = 10000;
    sim_host("b", "n2");
    sim_start("b");
    read_from("t", 0, 0);
    sim_run(9000);
    uint64_t generation = sim.cluster.topics.generation;
    world.nodes[1].is_mute = world.nodes[2].is_mute = true;
    sim_run(2000); /* one of them is to be asked */
    const struct krc_conn *asked = krc_node_find(&sim.cluster, 1)->conns[KRC_FOR_QUESTIONS];
    int32_t asleep = asked != NULL && asked->in_flight > 0 ? 1 : 2;
    world.nodes[3 - asleep].is_mute = false;
    sim_run(KRC_CONN_PATIENCE_MS + 100);
    ck_assert_uint_gt(sim.cluster.topics.generation, generation);
    world.nodes[asleep].is_mute = false; /* its answer comes late, and does no harm */
    sim_run(1000);
    ck_assert_int_le(sim.requests[KRC_API_METADATA], 4);
    ck_assert_int_eq(sim.cluster.topics.asking, 0);
}
END_TEST

/* An answer that comes slowly is coming: nobody else is asked. */
START_TEST(an_answer_that_is_slow)
{
    sim.delay_ms = KRC_CONN_PATIENCE_MS - 100;
    read_from("t", 0, 0);
    sim_run(20000);
    ck_assert_int_eq(readers.records, 5);
    ck_assert_int_eq(sim.requests[KRC_API_METADATA], 1);
}
END_TEST

/* One broker is silent, another has answered: that is enough. */
START_TEST(metadata_that_one_owes)
{
    sim_host("mute", "n3");
    world.nodes[3].is_up = true;
    sim_start("mute n1");
    sim_fate(KRC_API_METADATA, SIM_SILENT, 1);
    read_from("t", 0, 0);
    sim_run(25000);
    ck_assert_int_eq(readers.records, 5);
    ck_assert_int_le(sim.requests[KRC_API_METADATA], 3);
}
END_TEST

START_TEST(a_name_with_several_addresses)
{
    sim_host("b", "refuses hangs n1");
    sim_start("b");
    read_from("t", 0, 0);
    sim_run(100);
    check_trace("connect b refuses\n"
                "connect b hangs\n");
    sim_run_until("caught up");
    check_trace("connect b n1\n"
                "connect n1 n1\n"
                "Fetch n1 t-0@0\n"
                "Fetch n1 t-0@5\n"
                "records 0-4\n"
                "caught up 5\n");
    ck_assert_int_le(sim.now_ms, 1000 + 12000 + 100); /* a fifth more than the setup time-out */
}
END_TEST

/* ---- Waits ---------------------------------------------------------------------------------- */

/* Doubled from reconnect.backoff.ms to reconnect.backoff.max.ms, a fifth more or less. */
START_TEST(waits_grow)
{
    int64_t wait = 50;
    bool varies = false;
    sim_host("b", "refuses");
    sim_start("b");
    read_from("t", 0, 0);
    sim_run(20000);
    ck_assert_int_gt(sim.connect_count, 15);
    for (int i = 1; i < sim.connect_count; i++) {
        int64_t waited = sim.connects[i] - sim.connects[i - 1] - 1; /* 1 ms for the refusal */
        ck_assert_int_ge(waited, wait * 8 / 10);
        ck_assert_int_le(waited, wait * 12 / 10 + 1);
        varies |= waited != wait;
        wait = wait * 2 > 1000 ? 1000 : wait * 2;
    }
    ck_assert(varies);
    ck_assert(krc_cluster_hopeless(&sim.cluster));
}
END_TEST

START_TEST(waits_begin_anew_with_success)
{
    read_from("t", 0, 0);
    sim_run(100);
    sim_down(1);
    sim_run(10000);
    sim_up(1);
    sim_run(2000);
    forget_trace();
    sim_down(1);
    sim_up(1);
    put_plain(p, 5);
    sim_run(200);
    ck_assert_int_eq(said("records 5-9"), 1);
}
END_TEST

START_TEST(a_name_that_is_unknown)
{
    char text[600];
    sim_host("nowhere", "");
    sim_start("nowhere");
    read_from("t", 0, 0);
    sim_run(3000);
    krc_cluster_describe(&sim.cluster, text, sizeof text);
    ck_assert(krc_cluster_hopeless(&sim.cluster));
    ck_assert_ptr_nonnull(strstr(text, "nowhere:9092: its name cannot be looked up"));
}
END_TEST

/* A server that hangs may still come: that is not hopeless. */
START_TEST(one_of_the_servers_may_still_come)
{
    sim_host("hangs", "hangs");
    sim_host("dead", "refuses");
    sim_start("dead hangs");
    read_from("t", 0, 0);
    sim_run(30000);
    ck_assert(!krc_cluster_hopeless(&sim.cluster));
}
END_TEST

/* ---- Time-outs ------------------------------------------------------------------------------ */

/* A fetch may wait at the broker before its time counts. */
START_TEST(a_fetch_that_is_not_answered)
{
    sim.settings.request_timeout_ms = 2000;
    sim_fate(KRC_API_FETCH, SIM_SILENT, 1);
    read_from("t", 0, 0);
    sim_run_until("Fetch");
    forget_trace();
    sim_run(2490); /* fetch.max.wait.ms beside it */
    check_trace("");
    sim_run(300);
    check_handed_out("connect n2 n2\n" /* for metadata */
                     "connect n1 n1\n"
                     "records 0-4\n"
                     "caught up 5\n");
}
END_TEST

static int open_connections(void)
{
    int count = 0;
    for (size_t i = 0; i < sim.cluster.nodes.count; i++)
        for (int k = 0; k < KRC_PURPOSES; k++)
            count += sim.cluster.nodes.list[i]->conns[k] != NULL &&
                     sim.cluster.nodes.list[i]->conns[k]->state != KRC_CONN_CLOSED;
    return count;
}

/* connections.max.idle.ms: the one for questions goes, the one that fetches stays. */
START_TEST(idle_connections)
{
    sim.settings.idle_close_ms = 5000;
    read_from("t", 0, KRC_EARLIEST);
    sim_run(1000);
    ck_assert_int_eq(open_connections(), 2);
    sim_run(6000);
    ck_assert_int_eq(open_connections(), 1);
}
END_TEST

/* ---- Beginning again ------------------------------------------------------------------------ */

/* Brokers that take connections and answer nothing are given up after
 * metadata.recovery.rebootstrap.trigger.ms. */
static void lose_all(void)
{
    sim.settings.request_timeout_ms = 3000;
    sim.settings.rebootstrap_trigger_ms = 10000;
    sim_host("b", "n3");
    world.nodes[3].is_up = true;
    sim_start("b");
    read_from("t", 0, 0);
    sim_run(1000);
    forget_trace();
    world.nodes[1].is_mute = world.nodes[2].is_mute = true;
}

START_TEST(begins_again_after_a_while)
{
    lose_all();
    sim_run(10000);
    ck_assert_int_eq(said("connect b"), 0);
    sim_run(6000); /* it began with the first request that was not answered */
    ck_assert_int_ge(said("connect b"), 1);
    world.nodes[1].is_mute = world.nodes[2].is_mute = false;
    put_plain(p, 5);
    sim_run(5000);
    ck_assert_int_eq(said("records 5-9"), 1);
}
END_TEST

START_TEST(does_not_begin_again)
{
    sim.settings.rebootstrap = false; /* metadata.recovery.strategy=none */
    lose_all();
    sim_run(60000);
    ck_assert_int_eq(said("connect b"), 0);
}
END_TEST

/* An answer stops that clock. */
START_TEST(an_answer_between)
{
    lose_all();
    sim_run(7000);
    world.nodes[1].is_mute = world.nodes[2].is_mute = false;
    sim_run(3000);
    world.nodes[1].is_mute = world.nodes[2].is_mute = true;
    sim_run(8000);
    ck_assert_int_eq(said("connect b"), 0);
    sim_run(10000);
    ck_assert_int_ge(said("connect b"), 1);
}
END_TEST

/* Brokers that all refuse are given up at once. */
START_TEST(all_brokers_refuse)
{
    sim_host("b", "n3");
    sim_start("b");
    world.nodes[3].is_up = true;
    read_from("t", 0, 0);
    sim_run(1000);
    forget_trace();
    sim_down(1);
    sim_down(2);
    sim_run(1000);
    ck_assert_int_ge(said("connect b"), 1);
    sim_up(1);
    sim_up(2);
    put_plain(p, 5);
    sim_run(3000);
    ck_assert_int_eq(said("records 5-9"), 1);
}
END_TEST

/* A broker that moved, and one that is no more. */
START_TEST(brokers_come_and_go)
{
    world.nodes[3].is_up = true;
    world.node_count = 3;
    read_from("t", 0, 0);
    sim_run(100);
    ck_assert_uint_eq(sim.cluster.nodes.count, 3);
    sim_down(3);
    put_plain(p, 5);
    world_lead(p, 2);
    sim_run(1000);
    ck_assert_uint_eq(sim.cluster.nodes.count, 2);
    ck_assert_int_eq(said("records 5-9"), 1);
}
END_TEST

/* metadata.max.age.ms */
START_TEST(metadata_grows_old)
{
    sim.settings.metadata_max_age_ms = 10000;
    read_from("t", 0, 0);
    sim_run(9000);
    ck_assert_int_eq(sim.requests[KRC_API_METADATA], 1);
    sim_run(2000);
    ck_assert_int_eq(sim.requests[KRC_API_METADATA], 2);
    world.topics[0].count = 3;
    sim_run(10000);
    ck_assert_int_eq(readers.list[0].topic->partition_count, 3);
}
END_TEST

/* An answer that names no broker is none: it is asked for again. */
static void name_no_broker(enum krc_api_name api, void *response)
{
    if (api == KRC_API_METADATA && sim.requests[api] == 2)
        *(struct krc_metadata_response *)response = (struct krc_metadata_response){0};
}

START_TEST(metadata_without_brokers)
{
    world.edit = name_no_broker;
    read_from("t", 0, 0);
    sim_run(500);
    krc_metadata_refresh(&sim.cluster);
    sim_run(2000);
    ck_assert_int_eq(sim.requests[KRC_API_METADATA], 3);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_first_servers_are_dead,
        servers_that_do_not_answer, metadata_that_does_not_come,
                                  an_answer_that_is_slow, metadata_that_one_owes,
        a_name_with_several_addresses,
        waits_grow,
        waits_begin_anew_with_success,
        a_name_that_is_unknown,
        one_of_the_servers_may_still_come,
        a_fetch_that_is_not_answered,
        idle_connections,
        begins_again_after_a_while,
        does_not_begin_again,
        an_answer_between,
        all_brokers_refuse,
        brokers_come_and_go,
        metadata_grows_old,
        metadata_without_brokers,
    };
    return run_tests("connections", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
