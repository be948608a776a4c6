/*
 * Each error code of each API, as the answer for ever: what is asked again is asked less and less
 * often, which shows in how many requests come in a minute.
 */
#include <string.h>

#include "cluster/describe.h"
#include "security/sasl.h"
#include "tests/support/owner.h"
#include "tests/support/reader.h"
#include "tests/support/run.h"

enum {
    MINUTE_MS = 60000,
    FIRST = 2,    /* one, and one more at once */
    GROWING = 4,  /* after 100, 200, 400 and 800 ms, or a fifth less */
    LEAST_MS = 800, /* then after a second, or a fifth less */
    MOST = FIRST + GROWING + (MINUTE_MS - 1200) / LEAST_MS,
};

static const int16_t codes[] = {
#define CODE(NAME, code, retriable, meaning) code,
    KRC_KAFKA_ERRORS(CODE)
#undef CODE
};

enum { CODES = sizeof codes / sizeof *codes, OF_TOPIC = -2, SHARES = 3 };

/* One API's answers, and who asks. */
struct row {
    const char *name;
    enum krc_api_name api;
    int32_t partition; /* -1: the whole answer; OF_TOPIC */
    void (*begin)(const struct row *row);
    void (*end)(void);
};

/* ---- Who asks ------------------------------------------------------------------------------- */

static struct world_partition *p;

static void open_world(void)
{
    open_readers();
    sim.settings.fetch_max_wait_ms = 5000;
    p = &world_topic("t", 1)->partitions[0];
    put_plain(p, 5);
    p->committed = 3;
}

static void fetches(const struct row *row)
{
    (void)row;
    open_world();
    read_from("t", 0, 0);
}

static void lists_offsets(const struct row *row)
{
    (void)row;
    open_world();
    read_from("t", 0, KRC_EARLIEST);
}

static void asks_for_an_epoch(const struct row *row)
{
    (void)row;
    open_world();
    read_stored("t", 0, 3, 0);
}

static void asks_the_group(const struct row *row)
{
    (void)row;
    open_world();
    read_from("t", 0, KRC_STORED)->asks_group = true;
}

static void asks_for_the_cleanup(const struct row *row)
{
    (void)row;
    open_world();
    put_hole(p, 5);
    put_plain(p, 5);
    read_from("t", 0, 0);
}

static void authenticates(const struct row *row)
{
    (void)row;
    static struct krc_sasl_settings plain = {
        .mechanism = KRC_SASL_PLAIN, .username = "ann", .password = "secret"};
    open_world();
    world.sasl = (struct world_sasl){.mechanism = "PLAIN",
                                     .message = {(const uint8_t *)"\0ann\0secret", 11}};
    sim.settings.sasl = &plain;
    read_from("t", 0, 0);
}

/* Who is a member under another id now is one no more. */
static void (*owner_turn)(void);

static void forget_ghosts(void)
{
    const char *id = owner.member == NULL ? NULL : owner.member->member_id;
    for (int i = 1; i <= GROUP_MEMBERS && id != NULL; i++)
        if (group_m(i)->is_there && strcmp(group_m(i)->id, id) != 0)
            group_remove(i);
    owner_turn();
}

static void open_group(bool is_classic)
{
    owner_open(is_classic);
    owner_turn = sim.each_turn;
    sim.each_turn = forget_ghosts;
    group.interval_ms = 3000;
}

static void joins_classic(const struct row *row)
{
    (void)row;
    open_group(true);
    owner_join("t");
}

static void joins_consumer(const struct row *row)
{
    (void)row;
    open_group(false);
    owner_join("t");
}

static void commits(bool is_classic)
{
    open_group(is_classic);
    owner_join("t");
    owner_until(KRC_MEMBER_STABLE);
    if (!is_classic)
        group_target(1, "t-0 t-1 t-2 t-3");
    sim_run(5000);
    owner_reads("t-0", 5);
    owner_commits("t-0");
}

static void commits_classic(const struct row *row)
{
    (void)row;
    commits(true);
}

static void commits_consumer(const struct row *row)
{
    (void)row;
    commits(false);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static struct krc_call call;
static struct krc_farewell farewell;
static struct krc_description description;
static int16_t code_now;

static enum krc_call_verdict take(struct krc_call *taken, const struct krc_answer *answer,
                                  int16_t *code)
{
    (void)answer;
    *code = code_now;
    return krc_call_judge(taken, *code);
}

static const void *request_of(enum krc_api_name api)
{
    static struct krc_bytes key = {(const uint8_t *)"g", 1};
    static struct krc_describe_groups_request groups = {.groups = &key, .group_count = 1};
    static struct krc_consumer_group_describe_request consumers = {.groups = &key,
                                                                   .group_count = 1};
    static struct krc_offset_delete_request deletion = {.group = {(const uint8_t *)"g", 1}};
    static struct krc_describe_transactions_request transactions;
    static struct krc_describe_producers_request producers;
    static struct krc_list_transactions_request list_transactions;
    static struct krc_list_groups_request list_groups;
    switch (api) {
    case KRC_API_DESCRIBE_GROUPS:
        return &groups;
    case KRC_API_CONSUMER_GROUP_DESCRIBE:
        return &consumers;
    case KRC_API_OFFSET_DELETE:
        return &deletion;
    case KRC_API_DESCRIBE_TRANSACTIONS:
        return &transactions;
    case KRC_API_DESCRIBE_PRODUCERS:
        return &producers;
    case KRC_API_LIST_TRANSACTIONS:
        return &list_transactions;
    default:
        return &list_groups;
    }
}

static void begin_call(const struct row *row)
{
    open_group(true);
    sim_start("n1");
    call = (struct krc_call){.node_id = -1, .api = row->api, .take = take};
    call.request = request_of(row->api);
}

static void calls_any(const struct row *row)
{
    begin_call(row);
    krc_call_begin(&sim.cluster, &call);
}

static void calls_leader(const struct row *row)
{
    begin_call(row);
    call.topic = krc_topic_want(&sim.cluster, "t");
    krc_call_begin(&sim.cluster, &call);
}

static void calls_coordinator(const struct row *row)
{
    begin_call(row);
    call.coordinator = krc_coordinator_of(&sim.cluster, KRC_GROUP, "g");
    krc_call_begin(&sim.cluster, &call);
}

static void leaves(const struct row *row)
{
    begin_call(row);
    farewell = (struct krc_farewell){
        .coordinator = krc_coordinator_of(&sim.cluster, KRC_GROUP, "g"),
        .is_classic = row->api == KRC_API_LEAVE_GROUP,
        .member_id = "somebody"};
    krc_farewell_put(&farewell);
    krc_call_begin(&sim.cluster, &farewell.call);
}


static void describes(const struct row *row)
{
    begin_call(row);
    krc_topic_want(&sim.cluster, "t");
    description = (struct krc_description){.cluster = &sim.cluster};
    ck_assert_int_eq(krc_describe_put(&description, NULL), KRC_OK);
    krc_call_begin(&sim.cluster, &description.call);
}

static void end_calls(void)
{
    krc_call_drop(&call);
    krc_call_drop(&farewell.call);
    krc_describe_end(&description);
    description = (struct krc_description){.cluster = NULL};
    owner_close();
}

/* ---- What they are answered ----------------------------------------------------------------- */

static enum krc_api_name api_now;

/* Where the world has no faults of its own. */
static void fail_otherwise(enum krc_api_name api, void *response)
{
    if (api != api_now)
        return;
    if (api == KRC_API_SASL_HANDSHAKE)
        ((struct krc_sasl_handshake_response *)response)->error_code = code_now;
    else if (api == KRC_API_SASL_AUTHENTICATE)
        ((struct krc_sasl_authenticate_response *)response)->error_code = code_now;
}

static const struct row rows[] = {
    {"Fetch", KRC_API_FETCH, -1, fetches, close_readers},
    {"Fetch of a partition", KRC_API_FETCH, 0, fetches, close_readers},
    {"ListOffsets", KRC_API_LIST_OFFSETS, 0, lists_offsets, close_readers},
    {"OffsetForLeaderEpoch", KRC_API_OFFSET_FOR_LEADER_EPOCH, 0, asks_for_an_epoch, close_readers},
    {"Metadata", KRC_API_METADATA, -1, fetches, close_readers},
    {"Metadata of a topic", KRC_API_METADATA, OF_TOPIC, fetches, close_readers},
    {"Metadata of a partition", KRC_API_METADATA, 0, fetches, close_readers},
    {"ApiVersions", KRC_API_API_VERSIONS, -1, fetches, close_readers},
    {"FindCoordinator", KRC_API_FIND_COORDINATOR, -1, asks_the_group, close_readers},
    {"FindCoordinator of a member", KRC_API_FIND_COORDINATOR, -1, joins_classic, owner_close},
    {"OffsetFetch", KRC_API_OFFSET_FETCH, -1, asks_the_group, close_readers},
    {"OffsetFetch of a partition", KRC_API_OFFSET_FETCH, 0, asks_the_group, close_readers},
    {"DescribeConfigs", KRC_API_DESCRIBE_CONFIGS, -1, asks_for_the_cleanup, close_readers},
    {"SaslHandshake", KRC_API_SASL_HANDSHAKE, -1, authenticates, close_readers},
    {"SaslAuthenticate", KRC_API_SASL_AUTHENTICATE, -1, authenticates, close_readers},
    {"JoinGroup", KRC_API_JOIN_GROUP, -1, joins_classic, owner_close},
    {"SyncGroup", KRC_API_SYNC_GROUP, -1, joins_classic, owner_close},
    {"Heartbeat", KRC_API_HEARTBEAT, -1, joins_classic, owner_close},
    {"ConsumerGroupHeartbeat", KRC_API_CONSUMER_GROUP_HEARTBEAT, -1, joins_consumer, owner_close},
    {"OffsetCommit", KRC_API_OFFSET_COMMIT, 0, commits_classic, owner_close},
    {"OffsetCommit (KIP-848)", KRC_API_OFFSET_COMMIT, 0, commits_consumer, owner_close},
    {"LeaveGroup", KRC_API_LEAVE_GROUP, -1, leaves, end_calls},
    {"ConsumerGroupHeartbeat to leave", KRC_API_CONSUMER_GROUP_HEARTBEAT, -1, leaves, end_calls},
    {"DescribeGroups", KRC_API_DESCRIBE_GROUPS, -1, calls_coordinator, end_calls},
    {"ConsumerGroupDescribe", KRC_API_CONSUMER_GROUP_DESCRIBE, -1, calls_coordinator, end_calls},
    {"ListGroups", KRC_API_LIST_GROUPS, -1, calls_any, end_calls},
    {"OffsetDelete", KRC_API_OFFSET_DELETE, -1, calls_coordinator, end_calls},
    {"DescribeTransactions", KRC_API_DESCRIBE_TRANSACTIONS, -1, calls_coordinator, end_calls},
    {"ListTransactions", KRC_API_LIST_TRANSACTIONS, -1, calls_any, end_calls},
    {"DescribeProducers", KRC_API_DESCRIBE_PRODUCERS, -1, calls_leader, end_calls},
    {"DescribeTopicPartitions", KRC_API_DESCRIBE_TOPIC_PARTITIONS, -1, describes, end_calls},
};

static void fail_for_ever(const struct row *row, int16_t code, int every)
{
    code_now = code;
    api_now = row->api;
    world.edit = fail_otherwise;
    if (row->partition == OF_TOPIC)
        world.topics[0].error_code = code;
    else
        world_fail_for_ever(row->api, row->partition, code, every);
}

/* To be measured, a log is asked for its begin and its end; to join as somebody new, a coordinator
 * is asked for a name first. */
static int most_of(enum krc_api_name api)
{
    return api == KRC_API_LIST_OFFSETS || api == KRC_API_JOIN_GROUP ? 2 * MOST : MOST;
}

static void check_row(const struct row *row, int16_t code, int every)
{
    row->begin(row);
    fail_for_ever(row, code, every);
    memset(sim.requests, 0, sizeof sim.requests);
    sim.is_quiet = true;
    sim_run(MINUTE_MS);
    for (int api = 0; api < KRC_API_COUNT; api++)
        ck_assert_msg(sim.requests[api] <= most_of((enum krc_api_name)api),
                      "%s, %d in %d answers with %s: %s comes %d times", row->name, 1, every,
                      krc_kafka_error_name(code), krc_apis[api].name, sim.requests[api]);
    row->end();
}

/* A share of the rows. */
static void check_rows(size_t share, int every)
{
    for (size_t r = share; r < sizeof rows / sizeof *rows; r += SHARES)
        for (int i = 0; i < CODES; i++)
            if (codes[i] != 0)
                check_row(&rows[r], codes[i], every);
}

#define EACH(name, share)       \
    START_TEST(name)            \
    {                           \
        check_rows(share, 1);   \
    }                           \
    END_TEST

/* What is good for nothing between errors does not begin the waits anew. */
#define EVERY_SECOND(name, share) \
    START_TEST(name)              \
    {                             \
        check_rows(share, 2);     \
    }                             \
    END_TEST

EACH(each_answer_is_an_error, 0)
EACH(each_answer_is_an_error_of_others, 1)
EACH(each_answer_is_an_error_of_the_rest, 2)
EVERY_SECOND(every_second_answer_is_an_error, 0)
EVERY_SECOND(every_second_answer_is_an_error_of_others, 1)
EVERY_SECOND(every_second_answer_is_an_error_of_the_rest, 2)

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {each_answer_is_an_error,
                                  each_answer_is_an_error_of_others,
                                  each_answer_is_an_error_of_the_rest,
                                  every_second_answer_is_an_error,
                                  every_second_answer_is_an_error_of_others,
                                  every_second_answer_is_an_error_of_the_rest};
    return run_tests("backoff", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
