/*
 * Fetch sessions (KIP-227), and topic ids in them.  A fetch is "#id/epoch", partitions with their
 * leader epoch, and "-t-1" for one that is to be forgotten.
 */
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_topic *topic;
static struct world_partition *p, *q;
static struct krc_session *session; /* the client's, with node 1 */

static void begin(void)
{
    open_readers();
    topic = world_topic("t", 3);
    p = &topic->partitions[0];
    q = &topic->partitions[1];
    sim.shows_details = true;
}

/* Two partitions that are caught up, in session 1. */
static void catch_up(void)
{
    put_plain(p, 5);
    put_plain(q, 3);
    read_from("t", 0, 0);
    read_from("t", 1, 0);
    sim_run(100);
    session = &krc_node_find(&sim.cluster, 1)->session;
}

static const char opening[] = "Fetch n1 #0/0 t-0@0e0 t-1@0e0\n"
                              "Fetch n1 #1/1 t-1@3e0 t-0@5e0\n"
                              "records 0-4\n"
                              "caught up 5\n"
                              "t-1 records 0-2\n"
                              "t-1 caught up 3\n";

START_TEST(names_what_changed)
{
    catch_up();
    check_trace(opening);
    put_plain(q, 2);
    sim_run(10);
    check_trace("Fetch n1 #1/2 t-1@5e0\n"
                "t-1 records 3-4\n"
                "t-1 caught up 5\n");
    sim_run(1000);
    check_trace("Fetch n1 #1/3\n"
                "Fetch n1 #1/4\n");
}
END_TEST

/* One that has nothing new is left out of the answer, and is caught up all the same. */
START_TEST(what_is_left_out)
{
    put_plain(p, 5);
    read_from("t", 0, 5);
    read_from("t", 1, 0);
    sim_run(600);
    check_trace("Fetch n1 #0/0 t-0@5e0 t-1@0e0\n"
                "Fetch n1 #1/1\n"
                "caught up 5\n"
                "t-1 caught up 0\n");
}
END_TEST

START_TEST(a_paused_partition_is_forgotten)
{
    catch_up();
    forget_trace();
    reader_pause(&readers.list[1], true);
    sim_run(1000);
    check_trace("Fetch n1 #1/2 -t-1\n"
                "Fetch n1 #1/3\n");
    put_plain(q, 1);
    reader_pause(&readers.list[1], false);
    sim_run(600);
    check_trace("Fetch n1 #1/4 t-1@3e0\n"
                "Fetch n1 #1/5 t-1@4e0\n"
                "t-1 records 3-3\n"
                "t-1 caught up 4\n");
}
END_TEST

START_TEST(a_closed_partition_is_forgotten)
{
    catch_up();
    forget_trace();
    krc_tracker_close(&readers.list[1].tracker);
    readers.list[1].remote = NULL;
    readers.count = 1;
    sim_run(600);
    check_trace("Fetch n1 #1/2 -t-1\n");
}
END_TEST

/* ---- Many partitions that have nothing -------------------------------------------------------- */

/* Two are many here: a fetch that finds nothing is followed by one that waits three times as
 * long. */
static void catch_up_with_many(void)
{
    sim.settings.many_partitions = 1;
    catch_up();
    sim_run(300);
    forget_trace();
}

START_TEST(many_are_asked_for_less_often)
{
    catch_up_with_many();
    sim_run(3200);
    check_trace("Fetch n1 #1/2\n"
                "Fetch n1 #1/3\n"
                "Fetch n1 #1/4\n");
    put_plain(q, 1);
    sim_run(900); /* something came: from here on it is as usual */
    check_trace("Fetch n1 #1/5 t-1@4e0\n"
                "t-1 records 3-3\n"
                "t-1 caught up 4\n"
                "Fetch n1 #1/6\n");
}
END_TEST

START_TEST(not_where_bytes_are_collected)
{
    sim.settings.fetch_min_bytes = 2;
    catch_up_with_many();
    sim_run(1000);
    check_trace("Fetch n1 #1/2\n"
                "Fetch n1 #1/3\n");
}
END_TEST

/* What is asked for anew comes no later than usual, over another connection. */
START_TEST(the_long_wait_is_cut_short)
{
    catch_up_with_many();
    sim_run(200); /* it was sent just now */
    check_trace("Fetch n1 #1/2\n");
    put_plain(&topic->partitions[2], 1);
    read_from("t", 2, 0);
    sim_run(300);
    check_trace("");
    sim_run(200);
    check_trace("Fetch n1 #1/0 t-1@3e0 t-2@0e0 t-0@5e0\n"
                "Fetch n1 #2/1 t-2@1e0\n"
                "t-2 records 0-0\n"
                "t-2 caught up 1\n");
}
END_TEST

/* One that waits after an error is no reason to wait long, and then to connect anew for it. */
START_TEST(not_where_one_waits)
{
    sim.settings.many_partitions = 1;
    world_fail(KRC_API_FETCH, 1, KRC_KAFKA_KAFKA_STORAGE_ERROR, 1000);
    put_plain(p, 5);
    read_from("t", 0, 0);
    read_from("t", 1, 0);
    sim_run(20000);
    ck_assert_int_le(sim.requests[KRC_API_API_VERSIONS], 3);
    ck_assert_int_eq(said("records 0-4"), 1);
}
END_TEST

/* ---- Errors of the whole answer ------------------------------------------------------------- */

static void check_error(int16_t code, const char *expected)
{
    catch_up();
    forget_trace();
    world_fail(KRC_API_FETCH, -1, code, 1);
    sim_run(750); /* the fetch in flight ends, the next one is refused */
    put_plain(p, 1);
    sim_run(300);
    check_trace(expected);
}

/* That is known at once. */
START_TEST(the_broker_has_forgotten_it)
{
    check_error(KRC_KAFKA_FETCH_SESSION_ID_NOT_FOUND, "Fetch n1 #1/2\n"
                                                      "Fetch n1 #0/0 t-1@3e0 t-0@5e0\n"
                                                      "Fetch n1 #2/1\n"
                                                      "Fetch n1 #2/2 t-0@6e0\n"
                                                      "records 5-5\n"
                                                      "caught up 6\n");
}
END_TEST

START_TEST(the_epoch_is_wrong)
{
    check_error(KRC_KAFKA_INVALID_FETCH_SESSION_EPOCH, "Fetch n1 #1/2\n"
                                                       "Fetch n1 #1/0 t-1@3e0 t-0@5e0\n"
                                                       "Fetch n1 #2/1\n"
                                                       "Fetch n1 #2/2 t-0@6e0\n"
                                                       "records 5-5\n"
                                                       "caught up 6\n");
}
END_TEST

START_TEST(the_session_mixes_names_and_ids)
{
    sim.shows_metadata = true;
    check_error(KRC_KAFKA_FETCH_SESSION_TOPIC_ID_ERROR, "Fetch n1 #1/2\n"
                                                        "Metadata\n"
                                                        "Fetch n1 #1/0 t-1@3e0 t-0@5e0\n"
                                                        "Fetch n1 #2/1\n"
                                                        "Fetch n1 #2/2 t-0@6e0\n"
                                                        "records 5-5\n"
                                                        "caught up 6\n");
}
END_TEST

START_TEST(any_other_error)
{
    check_error(KRC_KAFKA_UNKNOWN_SERVER_ERROR, "Fetch n1 #1/2\n"
                                                "Fetch n1 #1/0 t-1@3e0 t-0@5e0\n"
                                                "Fetch n1 #2/1\n"
                                                "Fetch n1 #2/2 t-0@6e0\n"
                                                "records 5-5\n"
                                                "caught up 6\n");
}
END_TEST

/* Such an error may come back for ever within one session. */
START_TEST(an_id_that_is_inconsistent)
{
    catch_up();
    forget_trace();
    world_fail(KRC_API_FETCH, 0, KRC_KAFKA_INCONSISTENT_TOPIC_ID, 1);
    sim_run(700);
    check_trace("Fetch n1 #1/0 t-1@3e0\n"
                "Fetch n1 #2/1 t-0@5e0\n");
}
END_TEST

START_TEST(a_lost_connection)
{
    catch_up();
    forget_trace();
    sim_down(1);
    sim_up(1);
    put_plain(p, 1);
    sim_run(500);
    check_trace("Fetch n1 #0/0 t-0@5e0 t-1@3e0\n"
                "Fetch n1 #2/1 t-0@6e0\n"
                "records 5-5\n"
                "caught up 6\n");
}
END_TEST

/* ---- Epochs, and brokers without ------------------------------------------------------------ */

START_TEST(the_epoch_wraps)
{
    catch_up();
    forget_trace();
    session->epoch = INT32_MAX - 1; /* one fetch is in flight */
    world.nodes[1].session.epoch = INT32_MAX;
    sim_run(1500);
    check_trace("Fetch n1 #1/2147483647\n"
                "Fetch n1 #1/1\n"
                "Fetch n1 #1/2\n");
}
END_TEST

START_TEST(no_session_is_to_be_had)
{
    world.has_sessions = false;
    catch_up();
    check_trace("Fetch n1 #0/0 t-0@0e0 t-1@0e0\n"
                "Fetch n1 #0/0 t-1@3e0 t-0@5e0\n"
                "records 0-4\n"
                "caught up 5\n"
                "t-1 records 0-2\n"
                "t-1 caught up 3\n");
    sim_run(600);
    check_trace("Fetch n1 #0/0 t-0@5e0 t-1@3e0\n");
}
END_TEST

/* The broker closes it: it answers with no session. */
static void close_session(enum krc_api_name api, void *response)
{
    if (api == KRC_API_FETCH && sim.requests[api] == 3)
        ((struct krc_fetch_response *)response)->session_id = 0;
}

START_TEST(the_broker_closes_it)
{
    world.edit = close_session;
    catch_up();
    forget_trace();
    put_plain(p, 1);
    sim_run(10);
    forget_trace();
    put_plain(p, 1);
    sim_run(10);
    check_trace("Fetch n1 #0/0 t-1@3e0 t-0@7e0\n"
                "records 6-6\n"
                "caught up 7\n");
}
END_TEST

START_TEST(brokers_before_sessions)
{
    world_versions(KRC_API_FETCH, 4, 6);
    catch_up();
    check_handed_out("records 0-4\n"
                     "caught up 5\n"
                     "t-1 records 0-2\n"
                     "t-1 caught up 3\n");
}
END_TEST

/* ---- Ids ------------------------------------------------------------------------------------ */

/* The old id is forgotten, the new one named. */
START_TEST(a_topic_has_another_id)
{
    catch_up();
    forget_trace();
    world_recreate(topic);
    put_plain(p, 2);
    sim_run(600);
    ck_assert_int_eq(said("recreated 5 0"), 1);
    ck_assert_int_eq(said("t-1 recreated 3 0"), 1);
    ck_assert_int_eq(said("records 0-1"), 1);
    ck_assert_int_eq(world.nodes[1].session.count, 2);
    for (int i = 0; i < 2; i++)
        ck_assert(krc_uuid_equal(&world.nodes[1].session.parts[i].id, &topic->id));
}
END_TEST

/* One topic without an id: all are named by name. */
START_TEST(a_topic_without_an_id)
{
    struct world_topic *other = world_topic("u", 1);
    other->id = (struct krc_uuid){{0}};
    put_plain(&other->partitions[0], 2);
    catch_up();
    sim_run(10);
    ck_assert(session->by_id);
    read_from("u", 0, 0);
    sim_run(1200);
    ck_assert(!session->by_id);
    ck_assert_int_eq(said("u-0 records 0-1"), 1);
    ck_assert_int_eq(said("records 0-4"), 1);
    ck_assert_int_eq(said("t-1 records 0-2"), 1);
    put_plain(p, 1);
    sim_run(20);
    ck_assert_int_eq(said("records 5-5"), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        names_what_changed,
        what_is_left_out,
        a_paused_partition_is_forgotten,
        a_closed_partition_is_forgotten,
        many_are_asked_for_less_often,
        not_where_bytes_are_collected,
        the_long_wait_is_cut_short,
        not_where_one_waits,
        the_broker_has_forgotten_it,
        the_epoch_is_wrong,
        the_session_mixes_names_and_ids,
        any_other_error,
        an_id_that_is_inconsistent,
        a_lost_connection,
        the_epoch_wraps,
        no_session_is_to_be_had,
        the_broker_closes_it,
        brokers_before_sessions,
        a_topic_has_another_id,
        a_topic_without_an_id,
    };
    return run_tests("sessions", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
