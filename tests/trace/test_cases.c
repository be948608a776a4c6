/*
 * Cases that broke other clients, read from a scripted broker.
 */
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_topic *topic;
static struct world_partition *p;

static void begin(void)
{
    open_readers();
    topic = world_topic("t", 2);
    p = &topic->partitions[0];
}

/* ---- Transactions --------------------------------------------------------------------------- */

START_TEST(abort_markers_that_no_list_names)
{
    put_hole(p, 5);
    p->start = 5;
    put_abort(p, 1);
    put_plain(p, 4);
    put_txn(p, 1, 2);
    put_abort(p, 1);
    put_abort(p, 1);
    put_txn(p, 1, 2);
    put_commit(p, 1);
    read_from("t", 0, 5);
    sim_run(100);
    check_trace("Fetch n1 t-0@5\n"
                "Fetch n1 t-0@17\n"
                "passed 5-5 control\n"
                "records 6-9\n"
                "passed 10-11 aborted\n"
                "passed 12-12 control\n"
                "passed 13-13 control\n"
                "records 14-15\n"
                "passed 16-16 control\n"
                "caught up 17\n");
}
END_TEST

/* Whose bytes are no gzip, with a valid checksum. */
static void put_garbage(int64_t producer)
{
    struct krc_buffer batch = {0};
    build_batch_of(&batch,
                   &(struct build_batch){.base_offset = p->end,
                                         .last_delta = 2,
                                         .codec = KRC_GZIP,
                                         .transactional = true,
                                         .producer_id = producer,
                                         .count = 3},
                   build_text("this is no gzip stream"));
    put_bytes(p, &batch, p->end + 3);
    krc_buffer_free(&batch);
}

START_TEST(an_aborted_batch_is_not_decompressed)
{
    put_garbage(1);
    put_abort(p, 1);
    put_plain(p, 1);
    read_from("t", 0, 0);
    sim_run(100);
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n1 t-0@5\n"
                "passed 0-2 aborted\n"
                "passed 3-3 control\n"
                "records 4-4\n"
                "caught up 5\n");
}
END_TEST

/* An answer holds one batch of it. */
START_TEST(aborted_batches_alone)
{
    put_txn(p, 1, 5);
    sim.settings.partition_max_bytes = (int32_t)p->log.len;
    put_txn(p, 1, 5);
    put_abort(p, 1);
    struct reader *r = read_from("t", 0, 0);
    sim_run_until("caught up");
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n1 t-0@5\n"
                "passed 0-4 aborted\n"
                "Fetch n1 t-0@10\n"
                "passed 5-9 aborted\n"
                "Fetch n1 t-0@11\n"
                "passed 10-10 control\n"
                "caught up 11\n");
    ck_assert_int_eq(r->remote->max_bytes, sim.settings.partition_max_bytes);
}
END_TEST

static void lack_stable(int64_t committed)
{
    world.missing_stable = -1;
    put_plain(p, 3);
    if (committed < 3)
        put_txn(p, 1, 2);
}

START_TEST(no_last_stable_offset)
{
    lack_stable(3);
    read_to("t", 0, 0, KRC_PRESENT_END);
    sim_run(100);
    check_trace("ListOffsets n1 t-0 -1\n"
                "ListOffsets n1 t-0 -1c\n"
                "Fetch n1 t-0@0\n"
                "records 0-2\n"
                "caught up 3\n"
                "end 3\n");
}
END_TEST

START_TEST(no_last_stable_offset_in_a_transaction)
{
    lack_stable(0);
    read_to("t", 0, 0, KRC_PRESENT_END);
    sim_run(100);
    check_trace("ListOffsets n1 t-0 -1\n"
                "ListOffsets n1 t-0 -1c\n"
                "Fetch n1 t-0@0\n"
                "records 0-2\n"
                "caught up 3\n"
                "end 3\n");
}
END_TEST

/* Without an end that was asked for, the end of what is visible is asked for, too. */
START_TEST(no_last_stable_offset_to_catch_up_with)
{
    lack_stable(0);
    read_from("t", 0, 0);
    sim_run_until("caught up");
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n1 t-0@3\n"
                "records 0-2\n"
                "ListOffsets n1 t-0 -1c\n"
                "caught up 3\n");
}
END_TEST

START_TEST(behind_an_open_transaction)
{
    struct krc_standing at;
    put_txn(p, 1, 10);
    put_plain(p, 1000);
    struct reader *r = read_from("t", 0, 0);
    sim_run(2000);
    const struct krc_source *source = r->tracker.source;
    source->ops->standing(source, &at);
    ck_assert_ptr_nonnull(strstr(sim.trace, "caught up 0\n"));
    ck_assert_ptr_null(strstr(sim.trace, "records"));
    ck_assert_int_eq(reader_position(r), 0);
    ck_assert_int_eq(at.last_stable_offset, 0);
    ck_assert_int_eq(at.high_watermark, 1010);
    ck_assert_int_eq(source->ops->undecided(source), 1010);
    forget_trace();
    put_commit(p, 1);
    sim_run_until("caught up");
    ck_assert_int_eq(readers.records, 1010);
    ck_assert_int_eq(source->ops->undecided(source), 0);
}
END_TEST

/* ---- Batches that do not fit ---------------------------------------------------------------- */

START_TEST(a_second_batch_that_is_cut_off)
{
    put_plain(p, 5);
    put_plain(p, 5);
    sim.settings.partition_max_bytes = (int32_t)p->log.len - 5;
    read_from("t", 0, 0);
    sim_run_until("caught up");
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n1 t-0@5\n"
                "records 0-4\n"
                "Fetch n1 t-0@10\n"
                "records 5-9\n"
                "caught up 10\n");
}
END_TEST

/* As brokers before 0.10.1 do, even the first batch. */
static void cut_off(enum krc_api_name api, void *response)
{
    struct krc_fetch_response *r = response;
    if (api != KRC_API_FETCH || r->topic_count == 0)
        return;
    size_t most = (size_t)readers.list[0].remote->max_bytes;
    struct krc_bytes *records = &r->topics[0].partitions[0].records;
    if (records->len > most)
        records->len = most;
}

START_TEST(the_only_batch_is_cut_off)
{
    put_plain(p, 5);
    sim.settings.partition_max_bytes = (int32_t)p->log.len - 5;
    put_plain(p, 1);
    world.edit = cut_off;
    struct reader *r = read_from("t", 0, 0);
    sim_run_until("records 5-5");
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n1 t-0@0\n"
                "Fetch n1 t-0@5\n"
                "records 0-4\n"
                "Fetch n1 t-0@6\n"
                "records 5-5\n"
                "caught up 6\n");
    ck_assert_int_eq(r->remote->max_bytes, sim.settings.partition_max_bytes);
}
END_TEST

START_TEST(a_message_of_12_megabytes)
{
    enum { SIZE = 12 << 20 };
    uint8_t *value = calloc(1, SIZE);
    struct build_record record = {.value = {value, SIZE}};
    build_batch(&p->log, &(struct build_batch){.base_offset = 0, .records = &record, .count = 1});
    p->end = 1;
    free(value);
    put_plain(p, 2);
    read_from("t", 0, 0);
    sim_run_until("caught up");
    check_trace("Fetch n1 t-0@0\n"
                "Fetch n1 t-0@1\n"
                "records 0-0\n"
                "Fetch n1 t-0@3\n"
                "records 1-2\n"
                "caught up 3\n");
    sim_run(1000);
    ck_assert_uint_eq(sim.cluster.frames->held, 0);
    for (const struct krc_frame *f = sim.cluster.frames->idle; f != NULL; f = f->next)
        ck_assert_uint_lt(f->chunk.capacity, SIZE);
}
END_TEST

/* ---- Positions that do not fit -------------------------------------------------------------- */

static void put_to(int64_t end)
{
    while (p->end < end)
        put_plain(p, 5);
}

START_TEST(committed_below_the_log_start)
{
    put_to(20);
    world_delete(p, 15);
    struct reader *r = read_stored("t", 0, 5, -1);
    sim_run_until("caught up");
    check_trace("Fetch n1 t-0@5\n"
                "ListOffsets n1 t-0 -2\n"
                "reset 5 15\n"
                "Fetch n1 t-0@15\n"
                "Fetch n1 t-0@20\n"
                "records 15-19\n"
                "caught up 20\n");
    ck_assert_str_eq(reader_account(r), "5-20: delivered 5, lost 10");
    world.topics[0].partitions[0].start = 8; /* a leader that has deleted less */
    put_plain(p, 5);
    forget_trace();
    sim_run(2000);
    check_handed_out("note 8 15\n"
                     "records 20-24\n"
                     "caught up 25\n");
    sim_run(2000);
    check_handed_out("");
}
END_TEST

/* Where the position goes elsewhere, the log has begun where it has begun. */
START_TEST(committed_below_the_log_start_and_on_to_the_end)
{
    reader_set("auto.offset.reset", "latest");
    put_to(100);
    world_delete(p, 15);
    read_stored("t", 0, 5, -1);
    sim_run(5000);
    ck_assert_int_eq(said("reset 5 100"), 1);
    ck_assert_int_eq(said("note"), 0);
}
END_TEST

START_TEST(committed_beyond_the_log_end)
{
    put_to(90);
    struct reader *r = read_stored("t", 0, 100, -1);
    sim_run_until("caught up");
    check_trace("Fetch n1 t-0@100\n"
                "ListOffsets n1 t-0 -2\n"
                "ListOffsets n1 t-0 -1\n"
                "truncated 100 90\n"
                "Fetch n1 t-0@90\n"
                "Fetch n1\n"
                "caught up 90\n");
    ck_assert_str_eq(reader_account(r), "90-90");
}
END_TEST

START_TEST(committed_beyond_the_log_end_by_another_policy)
{
    put_to(90);
    reader_set("auto.offset.reset", "earliest");
    read_stored("t", 0, 100, -1);
    sim_run_until("records");
    ck_assert_ptr_nonnull(strstr(sim.trace, "truncated 100 0\n"));
}
END_TEST

START_TEST(committed_beyond_the_log_end_and_no_policy)
{
    put_to(90);
    reader_set("auto.offset.reset", "none");
    struct reader *r = read_stored("t", 0, 100, -1);
    sim_run_until("fails");
    check_trace("Fetch n1 t-0@100\n"
                "ListOffsets n1 t-0 -2\n"
                "ListOffsets n1 t-0 -1\n"
                "fails at 100: KRC_E_OUT_OF_RANGE\n");
    ck_assert_int_eq(reader_position(r), 100);
}
END_TEST

/* Epoch 5 ends at 80, where epoch 6 goes on. */
static void diverge(void)
{
    p->epoch = 5;
    put_to(80);
    world_lead(p, 1);
    put_to(90);
}

START_TEST(committed_in_an_epoch_that_ends_before)
{
    diverge();
    read_stored("t", 0, 100, 5);
    sim_run_until("caught up");
    check_trace("OffsetForLeaderEpoch n1 t-0 e5\n"
                "truncated 100 80\n"
                "Fetch n1 t-0@80\n"
                "Fetch n1 t-0@90\n"
                "records 80-84\n"
                "records 85-89\n"
                "caught up 90\n");
}
END_TEST

START_TEST(committed_in_an_epoch_that_the_log_lacks)
{
    p->epoch = 3;
    put_to(70);
    p->epoch = 6;
    put_to(90);
    read_stored("t", 0, 100, 5);
    sim_run_until("records");
    check_trace("OffsetForLeaderEpoch n1 t-0 e5\n"
                "truncated 100 70\n"
                "Fetch n1 t-0@70\n"
                "Fetch n1 t-0@90\n"
                "records 70-74\n"
                "records 75-79\n"
                "records 80-84\n"
                "records 85-89\n"
                "caught up 90\n");
}
END_TEST

START_TEST(what_may_not_be_validated_is_not_reset)
{
    diverge();
    world_fail(KRC_API_OFFSET_FOR_LEADER_EPOCH, 0, KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, 9);
    struct reader *r = read_stored("t", 0, 100, 5);
    sim_run(5000);
    check_trace("OffsetForLeaderEpoch n1 t-0 e5\n"
                "fails at 100: KRC_E_REFUSED\n");
    ck_assert_int_eq(reader_position(r), 100);
}
END_TEST

/* ---- Starts by time ------------------------------------------------------------------------- */

/* Nothing is committed: from 0.2 s ago on, which is 800 or a few milliseconds later. */
static void read_by_time(bool transactional)
{
    put(p, (struct build_batch){.max_timestamp = 500}, 5);
    put(p, (struct build_batch){.max_timestamp = 900, .transactional = transactional,
                                .producer_id = transactional ? 1 : 0},
        5);
    reader_set("auto.offset.reset", "by_duration:PT0.2S");
    read_from("t", 0, KRC_STORED);
    sim_run_until("caught up");
}

START_TEST(from_a_time_on)
{
    read_by_time(false);
    check_handed_out("records 5-9\n"
                     "caught up 10\n");
}
END_TEST

/* Its first record is not stable: the end of what is. */
START_TEST(from_a_time_on_that_is_not_stable)
{
    read_by_time(true);
    check_handed_out("caught up 5\n");
    put_commit(p, 1);
    sim_run(100);
    check_handed_out("records 5-9\n"
                     "passed 10-10 control\n"
                     "caught up 11\n");
}
END_TEST

/* ---- Another topic of the same name --------------------------------------------------------- */

START_TEST(a_stored_topic_is_another_one)
{
    put_to(10);
    struct reader *r = read_stored("t", 0, 8, 0);
    r->stored.topic_id = topic->id;
    world_recreate(topic);
    put_plain(p, 10);
    sim_run_until("caught up");
    check_trace("ListOffsets n1 t-0 -2c\n"
                "recreated 8 0\n"
                "Fetch n1 t-0@0\n"
                "Fetch n1 t-0@10\n"
                "records 0-9\n"
                "caught up 10\n");
}
END_TEST

START_TEST(a_topic_is_made_again_while_it_is_read)
{
    put_to(10);
    struct reader *r = read_from("t", 0, 0);
    sim_run_until("caught up");
    forget_trace();
    world_recreate(topic);
    put_plain(p, 20);
    sim_run_until("caught up");
    ck_assert_ptr_nonnull(strstr(sim.trace, "recreated 10 0\n"));
    ck_assert_ptr_nonnull(strstr(sim.trace, "records 0-19\n"));
    ck_assert_str_eq(reader_account(r), "0-20: delivered 20");
    ck_assert(krc_uuid_equal(&r->place.topic_id, &topic->id));
}
END_TEST

/* The group's offset is that of the topic with this id. */
START_TEST(a_groups_offset)
{
    put_to(10);
    p->committed = 5;
    p->committed_epoch = 0;
    read_from("t", 0, KRC_STORED)->asks_group = true;
    sim_run_until("caught up");
    check_trace("FindCoordinator\n"
                "OffsetFetch n1\n"
                "OffsetForLeaderEpoch n1 t-0 e0\n"
                "Fetch n1 t-0@5\n"
                "Fetch n1 t-0@10\n"
                "records 5-9\n"
                "caught up 10\n");
}
END_TEST

START_TEST(a_group_without_an_offset)
{
    put_to(10);
    p->committed = 5;
    world_recreate(topic); /* and with it what was committed by its id */
    put_to(3);
    read_from("t", 0, KRC_STORED)->asks_group = true;
    sim_run_until("caught up");
    check_trace("FindCoordinator\n"
                "OffsetFetch n1\n"
                "ListOffsets n1 t-0 -2c\n"
                "Fetch n1 t-0@0\n"
                "Fetch n1 t-0@5\n"
                "records 0-4\n"
                "caught up 5\n");
}
END_TEST

/* ---- Seeks ---------------------------------------------------------------------------------- */

static struct reader *seek_amid(struct reader *r, const char *said)
{
    sim.delay_ms = 50;
    sim_run_until(said);
    forget_trace();
    reader_seek(r, 3);
    sim_run_until("caught up");
    ck_assert_ptr_nonnull(strstr(sim.trace, "records 3-4\n"));
    ck_assert_ptr_null(strstr(sim.trace, "records 0"));
    ck_assert_ptr_null(strstr(sim.trace, "reset"));
    ck_assert_ptr_null(strstr(sim.trace, "truncated"));
    ck_assert_str_eq(reader_account(r), "3-10: delivered 7");
    return r;
}

START_TEST(seek_amid_a_fetch)
{
    put_to(10);
    seek_amid(read_from("t", 0, 0), "Fetch");
}
END_TEST

START_TEST(seek_amid_a_reset)
{
    put_to(10);
    seek_amid(read_stored("t", 0, 100, -1), "ListOffsets n1 t-0 -2");
}
END_TEST

START_TEST(seek_amid_a_look_for_the_start)
{
    put_to(10);
    seek_amid(read_from("t", 0, KRC_LATEST), "ListOffsets");
}
END_TEST

START_TEST(seek_amid_a_validation)
{
    put_to(10);
    seek_amid(read_stored("t", 0, 100, 0), "OffsetForLeaderEpoch");
}
END_TEST

START_TEST(seek_amid_a_groups_offset)
{
    put_to(10);
    p->committed = 100;
    struct reader *r = read_from("t", 0, KRC_STORED);
    r->asks_group = true;
    seek_amid(r, "OffsetFetch");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        abort_markers_that_no_list_names,
        an_aborted_batch_is_not_decompressed,
        aborted_batches_alone,
        no_last_stable_offset,
        no_last_stable_offset_in_a_transaction,
        no_last_stable_offset_to_catch_up_with,
        a_second_batch_that_is_cut_off,
        the_only_batch_is_cut_off,
        committed_below_the_log_start, committed_below_the_log_start_and_on_to_the_end,
        committed_beyond_the_log_end,
        committed_beyond_the_log_end_by_another_policy,
        committed_beyond_the_log_end_and_no_policy,
        committed_in_an_epoch_that_ends_before,
        committed_in_an_epoch_that_the_log_lacks,
        what_may_not_be_validated_is_not_reset,
        from_a_time_on,
        from_a_time_on_that_is_not_stable,
        a_stored_topic_is_another_one,
        a_topic_is_made_again_while_it_is_read,
        a_groups_offset,
        a_group_without_an_offset,
        behind_an_open_transaction,
        a_message_of_12_megabytes,
        seek_amid_a_fetch,
        seek_amid_a_reset,
        seek_amid_a_look_for_the_start,
        seek_amid_a_validation,
        seek_amid_a_groups_offset,
    };
    return run_tests("cases", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
