/*
 * Each error code of Fetch, ListOffsets, OffsetForLeaderEpoch and Metadata leads to what it leads
 * to in Kafka's own consumer: FetchCollector.handleInitializeErrors, OffsetFetcherUtils
 * .handleListOffsetResponse, OffsetsForLeaderEpochUtils.handleResponse, Metadata
 * .handleMetadataResponse (Kafka 4.x).
 */
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

enum outcome {
    AGAIN,       /* it is asked again, with the metadata as it is */
    REFRESH,     /* it is asked again, and for metadata, too */
    MEASURE,     /* the log's range is asked for */
    STOP,        /* the application is told, and the position holds */
    NO_OFFSET,   /* as if there were none for that time */
};

struct row {
    int16_t code;
    enum outcome outcome;
};

/* What is not listed is thrown as unexpected.  LEADER_NOT_AVAILABLE is no answer to a fetch. */
static const struct row fetch[] = {
    {KRC_KAFKA_UNKNOWN_SERVER_ERROR, AGAIN},
    {KRC_KAFKA_OFFSET_OUT_OF_RANGE, MEASURE},
    {KRC_KAFKA_CORRUPT_MESSAGE, STOP},
    {KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION, REFRESH},
    {KRC_KAFKA_LEADER_NOT_AVAILABLE, REFRESH},
    {KRC_KAFKA_NOT_LEADER_OR_FOLLOWER, REFRESH},
    {KRC_KAFKA_REPLICA_NOT_AVAILABLE, REFRESH},
    {KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, STOP},
    {KRC_KAFKA_KAFKA_STORAGE_ERROR, REFRESH},
    {KRC_KAFKA_FENCED_LEADER_EPOCH, REFRESH},
    {KRC_KAFKA_UNKNOWN_LEADER_EPOCH, AGAIN},
    {KRC_KAFKA_OFFSET_NOT_AVAILABLE, REFRESH},
    {KRC_KAFKA_UNKNOWN_TOPIC_ID, REFRESH},
    {KRC_KAFKA_INCONSISTENT_TOPIC_ID, REFRESH},
};

/* What is not listed is tried again, and asks for metadata. */
static const struct row list_offsets[] = {
    {KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, STOP},
    {KRC_KAFKA_UNSUPPORTED_FOR_MESSAGE_FORMAT, NO_OFFSET},
};

static const struct row epoch_end[] = {
    {KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, STOP},
};

static const int16_t codes[] = {
#define CODE(NAME, code, retriable, meaning) code,
    KRC_KAFKA_ERRORS(CODE)
#undef CODE
};

static enum outcome find(const struct row *rows, size_t count, int16_t code, enum outcome others)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].code == code)
            return rows[i].outcome;
    return others;
}

/* ---- One code at a time --------------------------------------------------------------------- */

static struct world_partition *p;

static void open_world(void)
{
    open_readers();
    p = &world_topic("t", 1)->partitions[0];
    put_plain(p, 5);
}

#define CHECK(condition)                                                                     \
    ck_assert_msg(condition, "%s: not so: %s; metadata %d times, and:\n%s",                  \
                  krc_kafka_error_name(code), #condition, sim.requests[KRC_API_METADATA], sim.trace)

static void check_outcome(enum krc_api_name api, int16_t code, enum outcome outcome)
{
    const struct reader *r = &readers.list[0];
    int64_t start = reader_position(r);
    sim_run(5000);
    CHECK(sim.requests[KRC_API_METADATA] == (outcome == REFRESH ? 2 : 1));
    CHECK((strstr(sim.trace, "fails") != NULL) == (outcome == STOP));
    CHECK(sim.requests[api] >= 2 || outcome == STOP);
    CHECK(sim.requests[api] == 1 || outcome != STOP);
    CHECK(reader_position(r) == (outcome == STOP ? start : 5));
    CHECK(strstr(sim.trace, "reset") == NULL && strstr(sim.trace, "truncated") == NULL);
}

START_TEST(of_fetch)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        enum outcome outcome = find(fetch, sizeof fetch / sizeof *fetch, codes[i], STOP);
        int16_t code = codes[i];
        if (code == 0)
            continue;
        open_world();
        read_from("t", 0, 0);
        world_fail(KRC_API_FETCH, 0, code, 1);
        sim_run_until("Fetch");
        check_outcome(KRC_API_FETCH, code, outcome);
        CHECK(sim.requests[KRC_API_LIST_OFFSETS] == (outcome == MEASURE ? 2 : 0));
        close_readers();
    }
}
END_TEST

START_TEST(of_list_offsets)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        enum outcome outcome =
            find(list_offsets, sizeof list_offsets / sizeof *list_offsets, codes[i], REFRESH);
        int16_t code = codes[i];
        if (code == 0 || outcome == NO_OFFSET)
            continue;
        open_world();
        read_from("t", 0, KRC_EARLIEST);
        world_fail(KRC_API_LIST_OFFSETS, 0, code, 1);
        sim_run_until("ListOffsets");
        check_outcome(KRC_API_LIST_OFFSETS, code, outcome);
        close_readers();
    }
}
END_TEST

START_TEST(of_list_offsets_by_time)
{
    open_world();
    reader_set("auto.offset.reset", "by_duration:PT1H");
    world_fail(KRC_API_LIST_OFFSETS, 0, KRC_KAFKA_UNSUPPORTED_FOR_MESSAGE_FORMAT, 1);
    read_from("t", 0, KRC_STORED);
    sim_run_until("caught up");
    ck_assert_ptr_nonnull(strstr(sim.trace, "ListOffsets n1 t-0 -1c\n"));
    ck_assert_ptr_nonnull(strstr(sim.trace, "caught up 5\n"));
    close_readers();
}
END_TEST

START_TEST(of_offset_for_leader_epoch)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        enum outcome outcome =
            find(epoch_end, sizeof epoch_end / sizeof *epoch_end, codes[i], REFRESH);
        int16_t code = codes[i];
        if (code == 0)
            continue;
        open_world();
        read_stored("t", 0, 3, 0);
        world_fail(KRC_API_OFFSET_FOR_LEADER_EPOCH, 0, code, 1);
        sim_run_until("OffsetForLeaderEpoch");
        check_outcome(KRC_API_OFFSET_FOR_LEADER_EPOCH, code, outcome);
        close_readers();
    }
}
END_TEST

/* ---- Metadata ------------------------------------------------------------------------------- */

/* What shows that metadata is not what it should be is asked again; what the application has to
 * cure is not. */
START_TEST(of_a_topic)
{
    static const struct row rows[] = {
        {KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION, REFRESH},
        {KRC_KAFKA_LEADER_NOT_AVAILABLE, REFRESH},
        {KRC_KAFKA_UNKNOWN_TOPIC_ID, REFRESH},
        {KRC_KAFKA_INVALID_TOPIC_EXCEPTION, STOP},
        {KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, STOP},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int16_t code = rows[i].code;
        open_world();
        world.topics[0].error_code = code;
        read_from("t", 0, 0);
        sim_run(5000);
        int asked = sim.requests[KRC_API_METADATA];
        CHECK(rows[i].outcome == REFRESH ? asked >= 4 && asked <= 12 : asked == 1);
        CHECK(sim.requests[KRC_API_FETCH] == 0);
        world.topics[0].error_code = 0;
        sim_run(5000);
        CHECK((readers.records == 5) == (rows[i].outcome == REFRESH));
        close_readers();
    }
}
END_TEST

START_TEST(of_a_partition)
{
    static const int16_t again[] = {
        KRC_KAFKA_LEADER_NOT_AVAILABLE, KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
        KRC_KAFKA_REPLICA_NOT_AVAILABLE, KRC_KAFKA_LISTENER_NOT_FOUND,
        KRC_KAFKA_KAFKA_STORAGE_ERROR};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        int16_t code = again[i];
        open_world();
        world_fail(KRC_API_METADATA, 0, code, 3);
        read_from("t", 0, 0);
        sim_run(5000);
        CHECK(sim.requests[KRC_API_METADATA] >= 4 && sim.requests[KRC_API_METADATA] <= 5);
        CHECK(readers.records == 5);
        close_readers();
    }
}
END_TEST

/* The brokers that are known are no use any more: KIP-1102. */
START_TEST(of_all_of_it)
{
    open_world();
    world_fail(KRC_API_METADATA, -1, KRC_KAFKA_REBOOTSTRAP_REQUIRED, 1);
    sim_host("b", "n2");
    sim_start("b");
    sim.shows_connects = true;
    read_from("t", 0, 0);
    sim_run(100);
    check_trace("connect b n2\n"
                "connect n1 n1\n"
                "Fetch n1 t-0@0\n"
                "Fetch n1 t-0@5\n"
                "records 0-4\n"
                "caught up 5\n");
    forget_trace();
    world_fail(KRC_API_METADATA, -1, KRC_KAFKA_REBOOTSTRAP_REQUIRED, 1);
    world_lead(p, 2);
    sim_run(1000);
    ck_assert_ptr_nonnull(strstr(sim.trace, "connect b n2\n"));
    ck_assert_ptr_nonnull(strstr(sim.trace, "Fetch n2 t-0@5\n"));
    close_readers();
}
END_TEST

/* metadata.recovery.strategy=none: it is asked again where it was. */
START_TEST(of_all_of_it_and_no_recovery)
{
    open_world();
    sim.settings.rebootstrap = false;
    world_fail(KRC_API_METADATA, -1, KRC_KAFKA_REBOOTSTRAP_REQUIRED, 3);
    read_from("t", 0, 0);
    sim_run(3000);
    ck_assert_int_eq(sim.requests[KRC_API_METADATA], 4);
    ck_assert_int_eq(readers.records, 5);
    close_readers();
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {
        of_fetch,
        of_list_offsets,
        of_list_offsets_by_time,
        of_offset_for_leader_epoch,
        of_a_topic,
        of_a_partition,
        of_all_of_it,
        of_all_of_it_and_no_recovery,
    };
    return run_tests("errors", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
