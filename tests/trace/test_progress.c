/*
 * Answers without an error that are good for nothing, again and again: what is asked again is asked
 * less and less often, which shows in how many requests come in a minute.  And answers that are
 * good for something, which are never waited for.
 */
#include <limits.h>
#include <string.h>

#include "cluster/describe.h"
#include "tests/support/owner.h"
#include "tests/support/reader.h"
#include "tests/support/run.h"

enum { MINUTE_MS = 60000, MOST = 79 /* as in test_backoff.c */ };

static struct world_partition *p;

static void nothing(void)
{
}

static void begin(void)
{
    open_readers();
    sim.settings.fetch_max_wait_ms = 5000;
    p = &world_topic("t", 1)->partitions[0];
    put_plain(p, 5);
    p->committed = 3;
}

/* A minute, in which no API is asked for more than `most` times. */
static void check_minute(int most)
{
    sim.is_quiet = true;
    sim_run(MINUTE_MS);
    for (int api = 0; api < KRC_API_COUNT; api++)
        ck_assert_msg(sim.requests[api] <= most, "%s comes %d times", krc_apis[api].name,
                      sim.requests[api]);
    ck_assert_int_le(sim.connect_count, most);
}

static void check_reading(int64_t start, int most)
{
    read_from("t", 0, start);
    check_minute(most);
    close_readers();
}

/* ---- Fetch ---------------------------------------------------------------------------------- */

static int count;                 /* answers that were changed */
static enum krc_api_name edited; /* whose */

START_TEST(empty_at_once)
{
    begin();
    world.is_hasty = true;
    check_reading(5, MOST);
}
END_TEST

START_TEST(empty_at_once_without_sessions)
{
    begin();
    world.is_hasty = true;
    world.has_sessions = false;
    check_reading(5, MOST);
}
END_TEST

START_TEST(empty_at_once_though_no_wait_was_asked_for)
{
    begin();
    world.is_hasty = true;
    sim.settings.fetch_max_wait_ms = 0;
    check_reading(5, MOST);
}
END_TEST

static void throttle(enum krc_api_name api, void *response)
{
    if (api == KRC_API_FETCH)
        ((struct krc_fetch_response *)response)->throttle_time_ms = 1;
}

START_TEST(empty_and_throttled)
{
    begin();
    world.is_hasty = true;
    world.edit = throttle;
    check_reading(5, MOST);
}
END_TEST

static void name_none(enum krc_api_name api, void *response)
{
    if (api == KRC_API_FETCH)
        ((struct krc_fetch_response *)response)->topic_count = 0;
}

START_TEST(nothing_of_what_was_asked_for)
{
    begin();
    world.edit = name_none;
    check_reading(0, MOST);
}
END_TEST

static void name_another(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    for (int32_t t = 0; api == KRC_API_FETCH && t < r->topic_count; t++)
        r->topics[t].partitions[0].index = 77;
}

START_TEST(records_of_others)
{
    begin();
    world.edit = name_another;
    check_reading(0, MOST);
}
END_TEST

static struct krc_fetch_partition *first_of(void *response)
{
    struct krc_fetch_response *r = response;
    return r->topic_count == 0 ? NULL : r->topics[0].partitions;
}

/* Those that were read before. */
static void send_the_first(enum krc_api_name api, void *response)
{
    struct krc_fetch_partition *f = api == KRC_API_FETCH ? first_of(response) : NULL;
    struct krc_batch_header h;
    if (f == NULL)
        return;
    ck_assert_int_eq(krc_batch_parse(p->log.data, p->log.len, &h, NULL), 1);
    f->records = (struct krc_bytes){p->log.data, (size_t)h.size};
}

START_TEST(records_before_the_position)
{
    begin();
    put_plain(p, 5);
    world.is_hasty = true;
    world.edit = send_the_first;
    check_reading(5, MOST);
}
END_TEST

/* A batch that is never whole, and larger each time. */
static void promise_more(enum krc_api_name api, void *response)
{
    struct krc_fetch_partition *f = api == KRC_API_FETCH ? first_of(response) : NULL;
    if (f == NULL)
        return;
    uint8_t *bytes = krc_arena_take(&world.arena, p->log.len);
    memcpy(bytes, p->log.data, p->log.len);
    krc_put_be32(bytes + 8, (uint32_t)((2 << 20) + count++));
    f->records = (struct krc_bytes){bytes, p->log.len};
}

START_TEST(a_batch_that_grows)
{
    begin();
    count = 0;
    world.edit = promise_more;
    check_reading(0, MOST);
}
END_TEST

/* Two replicas that name each other. */
static void send_away(enum krc_api_name api, void *response)
{
    struct krc_fetch_partition *f = api == KRC_API_FETCH ? first_of(response) : NULL;
    if (f == NULL)
        return;
    f->error_code = 0;
    f->records.len = 0;
    f->preferred_read_replica = 1 + count++ % 2;
}

START_TEST(sent_from_one_to_the_other)
{
    begin();
    sim.settings.rack = "r";
    count = 1;
    world.edit = send_away;
    check_reading(0, MOST);
}
END_TEST

/* The leader prefers one that is behind. */
START_TEST(sent_to_one_that_is_behind)
{
    begin();
    sim.settings.rack = "r";
    p->preferred = 2;
    p->follower_end = 1;
    check_reading(5, 2 * MOST);
}
END_TEST

/* Another leader in another epoch each time. */
static void name_leaders(enum krc_api_name api, void *response)
{
    struct krc_fetch_partition *f = api == KRC_API_FETCH ? first_of(response) : NULL;
    if (f == NULL)
        return;
    f->error_code = KRC_KAFKA_NOT_LEADER_OR_FOLLOWER;
    f->records.len = 0;
    f->leader_epoch = ++count;
    f->leader_id = 1 + count % 2;
}

START_TEST(a_leader_that_is_always_another)
{
    begin();
    count = 0;
    world.edit = name_leaders;
    check_reading(0, MOST);
}
END_TEST

static void diverge(enum krc_api_name api, void *response)
{
    struct krc_fetch_partition *f = api == KRC_API_FETCH ? first_of(response) : NULL;
    if (f == NULL)
        return;
    f->records.len = 0;
    f->diverging_epoch = 0;
    f->diverging_end_offset = 3;
}

START_TEST(an_epoch_that_always_ends)
{
    begin();
    world.edit = diverge;
    read_stored("t", 0, 3, 0);
    check_minute(MOST);
    close_readers();
}
END_TEST

/* ---- Questions ------------------------------------------------------------------------------ */

static void tell_no_offset(enum krc_api_name api, void *response)
{
    struct krc_list_offsets_response *r = response;
    for (int32_t t = 0; api == KRC_API_LIST_OFFSETS && t < r->topic_count; t++)
        r->topics[t].partitions[0].offset = -1;
}

static void say_nothing(enum krc_api_name api, void *response)
{
    if (api == edited)
        memset(response, 0, krc_apis[api].response_size);
}

static void check_silence(enum krc_api_name api)
{
    edited = api;
    world.edit = say_nothing;
    check_minute(MOST);
    close_readers();
}

START_TEST(no_offset)
{
    static const int64_t starts[] = {KRC_EARLIEST, KRC_LATEST};
    for (int i = 0; i < 2; i++) {
        begin();
        world.edit = tell_no_offset;
        check_reading(starts[i], MOST);
    }
}
END_TEST

START_TEST(no_end)
{
    begin();
    world.edit = tell_no_offset;
    read_to("t", 0, 0, KRC_PRESENT_END);
    check_minute(MOST);
    close_readers();
}
END_TEST

START_TEST(no_word_of_the_partition)
{
    begin();
    read_from("t", 0, KRC_EARLIEST);
    check_silence(KRC_API_LIST_OFFSETS);
    begin();
    read_stored("t", 0, 3, 0);
    check_silence(KRC_API_OFFSET_FOR_LEADER_EPOCH);
    begin();
    read_from("t", 0, KRC_STORED)->asks_group = true;
    check_silence(KRC_API_OFFSET_FETCH);
    begin();
    put_hole(p, 5);
    put_plain(p, 5);
    read_from("t", 0, 0);
    check_silence(KRC_API_DESCRIBE_CONFIGS);
    begin();
    read_from("t", 0, 0);
    check_silence(KRC_API_METADATA);
}
END_TEST

/* A coordinator that is none, whoever it is. */
START_TEST(a_coordinator_that_is_always_another)
{
    begin();
    world_fail_for_ever(KRC_API_OFFSET_FETCH, -1, KRC_KAFKA_NOT_COORDINATOR, 1);
    read_from("t", 0, KRC_STORED)->asks_group = true;
    check_minute(MOST);
    close_readers();
}
END_TEST

START_TEST(a_coordinator_that_is_not_there)
{
    begin();
    world.coordinator = 3;
    read_from("t", 0, KRC_STORED)->asks_group = true;
    check_minute(MOST);
    close_readers();
}
END_TEST

/* ---- Metadata ------------------------------------------------------------------------------- */

/* Before each answer. */
static void change_leader(enum krc_api_name api, void *response)
{
    (void)response;
    if (api == KRC_API_METADATA)
        world_lead(p, 1 + p->epoch % 2);
}

START_TEST(a_leader_that_never_stays)
{
    begin();
    world.edit = change_leader;
    check_reading(0, MOST);
}
END_TEST

static void recreate(enum krc_api_name api, void *response)
{
    (void)response;
    if (api == KRC_API_METADATA)
        world_recreate(&world.topics[0]);
}

START_TEST(a_topic_that_is_always_another)
{
    begin();
    world.edit = recreate;
    check_reading(0, 2 * MOST);
}
END_TEST

static void hide(enum krc_api_name api, void *response)
{
    (void)response;
    if (api == KRC_API_METADATA)
        world.is_hidden = !world.is_hidden;
}

/* As a member that follows a pattern sees it. */
static void follow_pattern(bool is_classic)
{
    owner_open(is_classic);
    group.interval_ms = 3000;
    world.edit = hide;
    owner_join("^.*");
    check_minute(MOST);
    owner_close();
}

START_TEST(a_topic_that_appears_and_vanishes)
{
    begin();
    world.edit = hide;
    check_reading(0, MOST);
    follow_pattern(true);
    follow_pattern(false);
}
END_TEST

/* Many partitions that fail at many times are asked for together. */
START_TEST(many_that_fail)
{
    begin();
    world.topics[0].count = WORLD_PARTITIONS;
    for (int i = 0; i < WORLD_PARTITIONS; i++)
        world_fail_for_ever(KRC_API_FETCH, i, KRC_KAFKA_KAFKA_STORAGE_ERROR, 1);
    for (int i = 0; i < WORLD_PARTITIONS; i++) {
        read_from("t", i, 0);
        sim_run(37);
    }
    check_minute(6 * MOST);
    close_readers();
}
END_TEST

/* ---- Groups --------------------------------------------------------------------------------- */

static void beat_at_once(enum krc_api_name api, void *response)
{
    if (api == KRC_API_CONSUMER_GROUP_HEARTBEAT)
        ((struct krc_consumer_group_heartbeat_response *)response)->heartbeat_interval_ms = -1;
}

START_TEST(no_time_between_heartbeats)
{
    owner_open(false);
    world.edit = beat_at_once;
    owner_join("t");
    check_minute(MINUTE_MS / 100);
    owner_close();
}
END_TEST

/* What was given is taken away again, and so on. */
static void change_mind(enum krc_api_name api, void *response)
{
    (void)response;
    if (api != KRC_API_CONSUMER_GROUP_HEARTBEAT || !group_m(1)->is_there)
        return;
    group_m(1)->target = ++count % 2 == 0 ? group_set("t-0 t-1") : group_set("t-2 t-3");
    group.epoch++;
}

START_TEST(a_coordinator_that_changes_its_mind)
{
    owner_open(false);
    world.edit = change_mind;
    owner_join("t");
    check_minute(MOST);
    owner_close();
}
END_TEST

static void assign_unknown(enum krc_api_name api, void *response)
{
    struct krc_consumer_group_heartbeat_response *r = response;
    if (api != KRC_API_CONSUMER_GROUP_HEARTBEAT)
        return;
    r->assignment = group_take_memory(1, sizeof *r->assignment);
    r->assignment_count = 1;
    r->assignment[0] = (struct krc_consumer_group_heartbeat_topic){
        .id = {{0xFF, 1}},
        .partitions = group_take_memory(1, sizeof(int32_t)),
        .partition_count = 1};
}

START_TEST(a_topic_id_that_nobody_knows)
{
    owner_open(false);
    group.interval_ms = 3000;
    world.edit = assign_unknown;
    owner_join("t");
    check_minute(MOST);
    owner_close();
}
END_TEST

/* The description of partitions, page by page. */
static void tell_the_same_page(enum krc_api_name api, void *response)
{
    if (api == KRC_API_DESCRIBE_TOPIC_PARTITIONS)
        ((struct krc_describe_topic_partitions_response *)response)->next =
            (struct krc_topic_cursor){.topic = build_text("t"), .partition = 1};
}

static struct krc_description description;

static void turn_pages(void)
{
    if (description.call.state != KRC_CALL_TOLD || description.is_over)
        return;
    ck_assert_int_eq(krc_describe_put(&description, NULL), KRC_OK);
    krc_call_begin(&sim.cluster, &description.call);
}

START_TEST(a_page_that_leads_nowhere)
{
    begin();
    sim_start("n1");
    krc_topic_want(&sim.cluster, "t");
    description = (struct krc_description){.cluster = &sim.cluster};
    world.edit = tell_the_same_page;
    sim.each_turn = turn_pages;
    ck_assert_int_eq(krc_describe_put(&description, NULL), KRC_OK);
    krc_call_begin(&sim.cluster, &description.call);
    check_minute(MOST);
    ck_assert_int_gt(sim.requests[KRC_API_DESCRIBE_TOPIC_PARTITIONS], 1);
    krc_describe_end(&description);
    close_readers();
}
END_TEST

/* ---- Connections ---------------------------------------------------------------------------- */

/* One that ends instead of an answer, or with one that cannot be read. */
START_TEST(no_answer_that_can_be_read)
{
    static const enum sim_fate fates[] = {SIM_LOST, SIM_DONE, SIM_CUT, SIM_WRONG_ID, SIM_HUGE,
                                          SIM_HTTP};
    static const enum krc_api_name apis[] = {KRC_API_FETCH, KRC_API_METADATA, KRC_API_API_VERSIONS,
                                             KRC_API_LIST_OFFSETS};
    for (int i = 0; i < 6 * 4; i++) {
        begin();
        sim_fate(apis[i % 4], fates[i / 4], INT_MAX);
        check_reading(KRC_EARLIEST, 2 * MOST);
    }
}
END_TEST

/* ---- Answers that are good for something ---------------------------------------------------- */

/* The broker answers at once, batch by batch: no fetch waits. */
START_TEST(records_are_never_waited_for)
{
    enum { BATCHES = 300 };
    struct krc_batch_header h;
    begin();
    world.is_hasty = true;
    for (int i = 1; i < BATCHES; i++)
        put_plain(p, 5);
    ck_assert_int_eq(krc_batch_parse(p->log.data, p->log.len, &h, NULL), 1);
    sim.settings.partition_max_bytes = sim.settings.fetch_max_bytes = h.size;
    sim.is_quiet = true;
    read_from("t", 0, 0);
    sim_run(3 * BATCHES);
    ck_assert_int_eq(readers.records, 5 * BATCHES);
    close_readers();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        empty_at_once,
        empty_at_once_without_sessions,
        empty_at_once_though_no_wait_was_asked_for,
        empty_and_throttled,
        nothing_of_what_was_asked_for,
        records_of_others,
        records_before_the_position,
        a_batch_that_grows,
        sent_from_one_to_the_other,
        sent_to_one_that_is_behind,
        a_leader_that_is_always_another,
        an_epoch_that_always_ends,
        no_offset,
        no_end,
        no_word_of_the_partition,
        a_coordinator_that_is_always_another,
        a_coordinator_that_is_not_there,
        a_leader_that_never_stays,
        a_topic_that_is_always_another,
        a_topic_that_appears_and_vanishes,
        many_that_fail,
        no_time_between_heartbeats,
        a_coordinator_that_changes_its_mind,
        a_topic_id_that_nobody_knows,
        a_page_that_leads_nowhere,
        no_answer_that_can_be_read,
        records_are_never_waited_for,
    };
    return run_tests("progress", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
