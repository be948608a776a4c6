/*
 * SASL on connections: before anything else is asked, again before the broker's session ends, and
 * each way to be refused.
 */
#include <string.h>

#include "security/sasl.h"
#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct krc_sasl_settings plain = {
    .mechanism = KRC_SASL_PLAIN, .username = "ann", .password = "secret"};
static const struct krc_bytes message = {(const uint8_t *)"\0ann\0secret", 11};

static void begin(void)
{
    open_readers();
    put_plain(&world_topic("t", 1)->partitions[0], 5);
    world.sasl = (struct world_sasl){.mechanism = "PLAIN", .message = message};
    plain.password = "secret";
    sim.settings.sasl = &plain;
}

static const struct krc_conn *fetching(void)
{
    return krc_node_find(&sim.cluster, 1)->conns[KRC_FOR_FETCHING];
}

/* Each server's last failure. */
static const char *why(void)
{
    static char text[700];
    krc_cluster_describe(&sim.cluster, text, sizeof text);
    return text;
}

START_TEST(comes_first)
{
    sim.shows_greetings = sim.shows_metadata = true;
    read_from("t", 0, 0);
    sim_run(100);
    check_trace("ApiVersions n1\n"
                "SaslHandshake n1\n"
                "SaslAuthenticate n1\n"
                "Metadata\n"
                "ApiVersions n1\n"
                "SaslHandshake n1\n"
                "SaslAuthenticate n1\n"
                "Fetch n1 t-0@0\n"
                "Fetch n1 t-0@5\n"
                "records 0-4\n"
                "caught up 5\n");
}
END_TEST

START_TEST(again_before_the_session_ends)
{
    world.sasl.lifetime_ms = 10000;
    read_from("t", 0, 0);
    sim_run(8000);
    ck_assert_int_eq(sim.requests[KRC_API_SASL_AUTHENTICATE], 2);
    sim_run(2000);
    ck_assert_int_eq(sim.requests[KRC_API_SASL_AUTHENTICATE], 3); /* the one that fetches */
    ck_assert_int_eq(fetching()->state, KRC_CONN_READY);
    put_plain(&world.topics[0].partitions[0], 5);
    sim_run(1000);
    ck_assert_int_eq(said("records 5-9"), 1);
    ck_assert_int_eq(sim.requests[KRC_API_API_VERSIONS], 2); /* over the same connections */
}
END_TEST

/* Nothing is sent between: what was in flight is answered first. */
START_TEST(waits_for_what_is_in_flight)
{
    world.sasl.lifetime_ms = 10000;
    sim.settings.fetch_max_wait_ms = 3000;
    read_from("t", 0, 0);
    sim_run(20000);
    ck_assert_int_ge(sim.requests[KRC_API_SASL_AUTHENTICATE], 3);
    ck_assert_int_eq(said("caught up 5"), 1);
}
END_TEST

/* What keeps a session alive is no use of the connection. */
START_TEST(idle_all_the_same)
{
    world.sasl.lifetime_ms = 10000;
    sim.settings.idle_close_ms = 30000;
    read_from("t", 0, KRC_EARLIEST);
    sim_run(1000);
    const struct krc_conn *questions = krc_node_find(&sim.cluster, 1)->conns[KRC_FOR_QUESTIONS];
    ck_assert_int_eq(questions->state, KRC_CONN_READY);
    sim_run(60000);
    ck_assert_int_eq(questions->state, KRC_CONN_CLOSED);
    ck_assert_int_eq(fetching()->state, KRC_CONN_READY);
}
END_TEST

/* ---- OAUTHBEARER ---------------------------------------------------------------------------- */

static const struct krc_sasl_settings bearer = {.mechanism = KRC_SASL_OAUTHBEARER};

static void want_bearers(void)
{
    static const char right[] = "n,,\1auth=Bearer abc\1\1";
    world.sasl = (struct world_sasl){
        .mechanism = "OAUTHBEARER", .message = {(const uint8_t *)right, sizeof right - 1}};
    sim.settings.sasl = &bearer;
    sim.settings.request_timeout_ms = 2000;
}

START_TEST(a_token)
{
    want_bearers();
    sim.token = "abc";
    read_from("t", 0, 0);
    sim_run(100);
    ck_assert_int_eq(said("records 0-4"), 1);
}
END_TEST

START_TEST(a_token_that_never_comes)
{
    want_bearers();
    read_from("t", 0, 0);
    sim_run(2100);
    ck_assert_ptr_nonnull(strstr(why(), "there is no token to authenticate with within "
                                        "request.timeout.ms"));
    sim.token = "abc";
    sim_run(5000);
    ck_assert_int_eq(said("records 0-4"), 1);
}
END_TEST

/* ---- Refusals ------------------------------------------------------------------------------- */

/* It is told at once, and once for each attempt. */
static void check_denied(const char *reason)
{
    read_from("t", 0, 0);
    sim_run(40);
    const struct krc_conn *conn = krc_cluster_denied(&sim.cluster);
    ck_assert_ptr_nonnull(conn);
    ck_assert_str_eq(conn->error, reason);
    ck_assert_ptr_null(krc_cluster_denied(&sim.cluster));
    ck_assert_ptr_null(strstr(why(), "secret"));
    ck_assert_int_eq(sim.requests[KRC_API_METADATA], 0);
}

START_TEST(a_wrong_password)
{
    plain.password = "sesame";
    check_denied("it refuses the credentials (PLAIN, SASL_AUTHENTICATION_FAILED): Invalid "
                 "credentials");
    plain.password = "secret";
    sim_run(2000); /* it is tried again */
    ck_assert_int_eq(said("records 0-4"), 1);
}
END_TEST

START_TEST(another_mechanism)
{
    world.sasl.mechanism = "SCRAM-SHA-512";
    check_denied("it does not offer sasl.mechanism PLAIN, but GSSAPI, SCRAM-SHA-512");
}
END_TEST

START_TEST(a_listener_without)
{
    world.sasl.mechanism = NULL;
    check_denied("it takes no SASL here: this is a listener without, or security.protocol is "
                 "another");
}
END_TEST

START_TEST(a_broker_that_has_no_SaslAuthenticate)
{
    world_versions(KRC_API_SASL_AUTHENTICATE, -1, -1);
    check_denied("it is older than Kafka 1.0, whose SASL krc does not speak");
}
END_TEST

/* A listener that demands SASL ends a connection at the first request that is none of it. */
START_TEST(none_where_it_is_demanded)
{
    sim.settings.sasl = NULL;
    sim_fate(KRC_API_METADATA, SIM_LOST, 4);
    read_from("t", 0, 0);
    while (sim.requests[KRC_API_METADATA] < 3)
        sim_run(1);
    sim_run(5);
    const struct krc_conn *conn = krc_cluster_denied(&sim.cluster);
    ck_assert_ptr_nonnull(conn);
    ck_assert_str_eq(conn->error, "it closed the connection at the first request, again and again: "
                                  "a listener that demands SASL does so (security.protocol)");
}
END_TEST

/* A broker may go at any moment. */
START_TEST(none_and_a_broker_that_ends)
{
    sim.settings.sasl = NULL;
    sim_fate(KRC_API_METADATA, SIM_LOST, 2);
    read_from("t", 0, 0);
    sim_run(1000);
    ck_assert_ptr_null(krc_cluster_denied(&sim.cluster));
    ck_assert_int_eq(said("records 0-4"), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        comes_first,
        again_before_the_session_ends,
        waits_for_what_is_in_flight,
        idle_all_the_same,
        a_token,
        a_token_that_never_comes,
        a_wrong_password,
        another_mechanism,
        a_listener_without,
        a_broker_that_has_no_SaslAuthenticate,
        none_where_it_is_demanded,
        none_and_a_broker_that_ends,
    };
    return run_tests("authentication", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
