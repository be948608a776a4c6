/*
 * Whatever keeps reading from going on is said within ten seconds, by its cause, and then twice a
 * minute; and nothing is said where all is well.
 */
#include <string.h>

#include "tests/support/owner.h"
#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_partition *p;

static void begin(void)
{
    open_readers();
    p = &world_topic("t", 4)->partitions[0];
    put_plain(p, 5);
    p->leader = 2;
}

/* It is the only note, and comes again at a decent rate while it lasts. */
static void said_in_time(const char *words)
{
    char text[600];
    sim_run(10000);
    ck_assert_msg(strstr(sim.noted, words) != NULL, "\"%s\" is not \"%s\"", sim.noted, words);
    ck_assert_int_eq(said("note of"), 1);
    krc_cluster_describe(&sim.cluster, text, sizeof text);
    ck_assert_msg(strstr(text, words) != NULL, "\"%s\" is not \"%s\"", text, words);
    sim_run(60000);
    ck_assert_int_ge(said("note of"), 2);
    ck_assert_int_le(said("note of"), 4);
}

/* Then nothing is wrong any more. */
static void well_again(void)
{
    char text[600];
    sim_run(5000);
    forget_trace();
    sim_run(60000);
    ck_assert_int_eq(said("note of"), 0);
    krc_cluster_describe(&sim.cluster, text, sizeof text);
    ck_assert_str_eq(text, "");
}

static void check(const char *words)
{
    read_from("t", 0, 0);
    said_in_time(words);
    close_readers();
}

START_TEST(where_all_is_well)
{
    begin();
    read_from("t", 0, 0);
    sim_run(1000);
    ck_assert_int_eq(readers.records, 5);
    well_again();
    close_readers();
}
END_TEST

/* ---- Brokers -------------------------------------------------------------------------------- */

START_TEST(a_leader_that_is_advertised_elsewhere)
{
    begin();
    sim_host("n2", "refuses");
    check("n2:9092: it does not take the connection: refused (its address as the broker advertises "
          "it: advertised.listeners)");
}
END_TEST

START_TEST(a_leader_that_goes)
{
    begin();
    read_from("t", 0, 0);
    sim_run(1000);
    sim_down(2);
    forget_trace();
    said_in_time("partition 0: no broker leads it now");
    sim_up(2);
    well_again();
    close_readers();
}
END_TEST

START_TEST(a_leader_that_falls_asleep)
{
    begin();
    read_from("t", 0, 0);
    sim_run(1000);
    forget_trace();
    world.nodes[2].is_mute = true;
    said_in_time("n2:9092: it does not answer");
    sim_up(2);
    well_again();
    close_readers();
}
END_TEST

START_TEST(a_server_that_does_not_answer)
{
    begin();
    sim_host("mute", "n3");
    world.nodes[3].is_up = world.nodes[3].is_mute = true;
    sim_start("mute");
    check("mute:9092: it takes the connection, and does not answer");
}
END_TEST

START_TEST(answers_that_cannot_be_read)
{
    begin();
    sim_fate(KRC_API_FETCH, SIM_WRONG_ID, 1000);
    check("n2:9092: a response answers no request, or not the oldest one");
}
END_TEST

static void name_no_brokers(enum krc_api_name api, void *response)
{
    struct krc_metadata_response *r = response;
    if (api == KRC_API_METADATA)
        r->broker_count = 0;
}

START_TEST(metadata_that_has_nothing)
{
    begin();
    world.edit = name_no_brokers;
    check("a broker answers that the cluster has no brokers");
}
END_TEST

/* ---- Partitions ----------------------------------------------------------------------------- */

static void refuse(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    if (api == KRC_API_FETCH)
        r->error_code = KRC_KAFKA_UNKNOWN_SERVER_ERROR;
}

START_TEST(an_error_of_all)
{
    begin();
    world.edit = refuse;
    check("n2:9092: it answers UNKNOWN_SERVER_ERROR to Fetch");
}
END_TEST

START_TEST(an_error_of_partitions)
{
    begin();
    for (int32_t i = 3; i >= 0; i--) {
        world_fail_for_ever(KRC_API_FETCH, i, KRC_KAFKA_KAFKA_STORAGE_ERROR, 1);
        if (i > 0)
            read_from("t", i, 0);
    }
    check("partitions 0, 1, 2 and 1 more: the broker answers KAFKA_STORAGE_ERROR to Fetch");
}
END_TEST

START_TEST(an_error_of_a_question)
{
    begin();
    world_fail_for_ever(KRC_API_LIST_OFFSETS, 0, KRC_KAFKA_LEADER_NOT_AVAILABLE, 1);
    read_to("t", 0, 0, KRC_PRESENT_END);
    said_in_time("partition 0: the broker answers LEADER_NOT_AVAILABLE");
    close_readers();
}
END_TEST

/* In whatever order they were assigned, and although others of the topic are well. */
START_TEST(between_others)
{
    begin();
    world_topic("u", 2);
    world_fail_for_ever(KRC_API_FETCH, 1, KRC_KAFKA_KAFKA_STORAGE_ERROR, 1);
    read_from("t", 1, 0);
    read_from("u", 0, 0);
    read_from("t", 2, 0);
    check("partition 1: the broker answers KAFKA_STORAGE_ERROR to Fetch");
}
END_TEST

/* Nothing ticks but what is due: it is looked for again all the same. */
START_TEST(overdue_right_after_a_look)
{
    begin();
    read_from("t", 0, 0);
    sim_run(1000);
    forget_trace();
    world.nodes[1].is_mute = world.nodes[2].is_mute = true;
    sim_run(10000);
    ck_assert_int_ge(said("note of"), 1);
    close_readers();
}
END_TEST

START_TEST(no_leader)
{
    begin();
    world_lead(p, -1);
    world_lead(p + 2, -1);
    read_from("t", 1, 0);
    read_from("t", 2, 0);
    check("partitions 0, 2: no broker leads them now");
}
END_TEST

static void send_the_first(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    struct krc_batch_header h;
    if (api != KRC_API_FETCH || r->topic_count == 0)
        return;
    ck_assert_int_eq(krc_batch_parse(p->log.data, p->log.len, &h, NULL), 1);
    r->topics[0].partitions[0].records = (struct krc_bytes){p->log.data, (size_t)h.size};
}

START_TEST(records_before_the_position)
{
    begin();
    put_plain(p, 5);
    world.edit = send_the_first;
    read_from("t", 0, 5);
    said_in_time("partition 0: the broker answers with records before the position only");
    world.edit = NULL;
    well_again();
    close_readers();
}
END_TEST

/* ---- Groups --------------------------------------------------------------------------------- */

static void check_group(bool is_classic, enum krc_api_name api, int16_t code, const char *words)
{
    owner_open(is_classic);
    if (code != 0)
        world_fail_for_ever(api, -1, code, 1);
    owner_join(code != 0 ? "t" : "^none");
    said_in_time(words);
    owner_close();
}

START_TEST(a_pattern_that_matches_nothing)
{
    check_group(false, 0, 0, "group g: no topic matches the pattern");
}
END_TEST

START_TEST(groups_that_do_not_let_us_in)
{
    check_group(false, KRC_API_CONSUMER_GROUP_HEARTBEAT, KRC_KAFKA_COORDINATOR_LOAD_IN_PROGRESS,
                "group g: the coordinator answers COORDINATOR_LOAD_IN_PROGRESS to "
                "ConsumerGroupHeartbeat");
    check_group(true, KRC_API_JOIN_GROUP, KRC_KAFKA_REBALANCE_IN_PROGRESS,
                "group g: the coordinator answers REBALANCE_IN_PROGRESS to JoinGroup");
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {where_all_is_well,
                                  a_leader_that_is_advertised_elsewhere,
                                  a_leader_that_goes,
                                  a_leader_that_falls_asleep,
                                  a_server_that_does_not_answer,
                                  answers_that_cannot_be_read,
                                  metadata_that_has_nothing,
                                  an_error_of_all,
                                  an_error_of_partitions,
                                  an_error_of_a_question,
                                  between_others,
                                  overdue_right_after_a_look,
                                  no_leader,
                                  records_before_the_position,
                                  a_pattern_that_matches_nothing,
                                  groups_that_do_not_let_us_in};
    return run_tests("stalls", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
