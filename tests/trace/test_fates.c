/*
 * Brokers whose lists of aborted transactions are wrong: a transaction's fate is its marker's.
 */
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

static struct world_partition *p;

static void begin(void)
{
    open_readers();
    p = &world_topic("t", 2)->partitions[0];
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void each_partition(void *response, void (*edit)(struct krc_fetch_partition *))
{
    struct krc_fetch_response *r = response;
    for (int32_t t = 0; t < r->topic_count; t++)
        for (int32_t i = 0; i < r->topics[t].partition_count; i++)
            edit(&r->topics[t].partitions[i]);
}

static void drop_list(struct krc_fetch_partition *partition)
{
    if (partition->aborted_count > 0)
        partition->aborted_count = 0;
}

/* It names none. */
static void name_none(enum krc_api_name api, void *response)
{
    if (api == KRC_API_FETCH)
        each_partition(response, drop_list);
}

static void drop_last(struct krc_fetch_partition *partition)
{
    if (partition->aborted_count > 1)
        partition->aborted_count = 1;
}

/* It names the first alone. */
static void name_one(enum krc_api_name api, void *response)
{
    if (api == KRC_API_FETCH)
        each_partition(response, drop_last);
}

static struct krc_fetch_aborted stale = {.producer_id = 1, .first_offset = 0};

static void add_stale(struct krc_fetch_partition *partition)
{
    partition->aborted = &stale;
    partition->aborted_count = 1;
}

/* It names a transaction of producer 1's whose marker is compacted away. */
static void name_another(enum krc_api_name api, void *response)
{
    if (api == KRC_API_FETCH)
        each_partition(response, add_stale);
}

/* ---- The marker is at hand ------------------------------------------------------------------- */

START_TEST(an_abort_that_the_list_lacks)
{
    world.edit = name_one;
    put_txn(p, 1, 3);
    put_abort(p, 1);
    put_txn(p, 1, 3);
    put_abort(p, 1);
    put_txn(p, 1, 2);
    put_txn(p, 2, 2);
    put_commit(p, 1);
    put_commit(p, 2);
    read_from("t", 0, 0);
    sim_run(100);
    check_handed_out("passed 0-2 aborted\n"
                     "passed 3-3 control\n"
                     "passed 4-6 aborted\n"
                     "passed 7-7 control\n"
                     "records 8-9\n"
                     "records 10-11\n"
                     "passed 12-12 control\n"
                     "passed 13-13 control\n"
                     "note 0 14\n"
                     "caught up 14\n");
}
END_TEST

START_TEST(a_commit_that_the_list_calls_aborted)
{
    world.edit = name_another;
    put_txn(p, 1, 3);
    put_commit(p, 1);
    put_plain(p, 1);
    read_from("t", 0, 0);
    sim_run(100);
    check_handed_out("records 0-2\n"
                     "passed 3-3 control\n"
                     "records 4-4\n"
                     "caught up 5\n");
}
END_TEST

/* ---- The marker comes with a later answer ---------------------------------------------------- */

/* Answers of one batch: of the first one's size, and others are no larger. */
static void answer_by_batches(void)
{
    put_txn(p, 1, 5);
    sim.settings.partition_max_bytes = (int32_t)p->log.len;
}

/* The answer that has it is on its way when the first one is read. */
START_TEST(the_marker_is_in_the_next_answer)
{
    world.edit = name_none;
    answer_by_batches();
    put_abort(p, 1);
    put_plain(p, 1);
    read_from("t", 0, 0);
    sim_run(100);
    check_handed_out("passed 0-4 aborted\n"
                     "passed 5-5 control\n"
                     "records 6-6\n"
                     "note 0 7\n"
                     "caught up 7\n");
}
END_TEST

/* Memory does not reach so far: what was delivered is told once its marker comes. */
START_TEST(the_marker_is_far_away)
{
    world.edit = name_none;
    answer_by_batches();
    put_txn(p, 1, 5);
    put_txn(p, 1, 5);
    put_txn(p, 2, 5);
    put_abort(p, 1);
    put_commit(p, 2);
    read_from("t", 0, 0);
    sim_run(100);
    check_handed_out("records 0-4\n"
                     "records 5-9\n"
                     "records 10-14\n"
                     "records 15-19\n"
                     "misjudged 0 20\n"
                     "passed 20-20 control\n"
                     "passed 21-21 control\n"
                     "caught up 22\n");
}
END_TEST

/* The list decides, wrongly, and the marker tells. */
START_TEST(a_commit_far_away_that_the_list_calls_aborted)
{
    world.edit = name_another;
    answer_by_batches();
    put_txn(p, 1, 5);
    put_txn(p, 1, 5);
    put_commit(p, 1);
    read_from("t", 0, 0);
    sim_run(100);
    ck_assert_int_eq(said("misjudged 0 15"), 1);
    ck_assert_int_eq(said("caught up 16"), 1);
}
END_TEST

/* What is asked for ends inside the transaction. */
START_TEST(the_marker_lies_behind_the_end)
{
    world.edit = name_none;
    answer_by_batches();
    put_abort(p, 1);
    read_to("t", 0, 0, 5);
    sim_run(100);
    ck_assert_int_eq(said("records 0-4"), 0);
    ck_assert_int_eq(said("passed 0-4 aborted"), 1);
}
END_TEST

/* The answer that was waited for is lost, or does not come: reading goes on. */
START_TEST(the_next_answer_is_lost)
{
    answer_by_batches();
    put_txn(p, 1, 5);
    put_commit(p, 1);
    read_from("t", 0, 0);
    sim_run_until("Fetch n1 t-0@5");
    sim_down(1);
    sim_run(50);
    ck_assert_int_eq(said("records 0-4"), 1);
}
END_TEST

START_TEST(the_next_answer_is_an_error)
{
    answer_by_batches();
    put_txn(p, 1, 5);
    put_commit(p, 1);
    read_from("t", 0, 0);
    sim_run_until("Fetch n1 t-0@0");
    world_fail(KRC_API_FETCH, 0, KRC_KAFKA_KAFKA_STORAGE_ERROR, 3);
    sim_run(5000);
    check_handed_out("records 0-4\n"
                     "records 5-9\n"
                     "passed 10-10 control\n"
                     "caught up 11\n");
}
END_TEST

/* Each partition's next answer is crowded out by the others': none waits for ever. */
START_TEST(many_partitions_in_long_transactions)
{
    struct world_topic *topic = world_find(krc_bytes_of("t"));
    answer_by_batches();
    sim.settings.fetch_max_bytes = sim.settings.partition_max_bytes;
    for (int i = 0; i < 2; i++) {
        struct world_partition *q = &topic->partitions[i];
        for (int k = 0; k < 6; k++)
            put_txn(q, 1, 5);
        put_commit(q, 1);
        read_from("t", i, 0);
    }
    sim_run(5000);
    ck_assert_int_eq(said("caught up 36"), 1);
    ck_assert_int_eq(said("t-1 caught up 31"), 1);
}
END_TEST

/* A seek, and a broken marker: what is not known is not told. */
START_TEST(a_seek_over_the_marker)
{
    world.edit = name_none;
    answer_by_batches();
    put_txn(p, 1, 5);
    put_txn(p, 1, 5);
    put_abort(p, 1);
    put_plain(p, 1);
    struct reader *r = read_from("t", 0, 0);
    sim_run_until("records 0-4");
    reader_seek(r, 16);
    sim_run(100);
    ck_assert_int_eq(said("misjudged"), 0);
    ck_assert_int_eq(said("records 16-16"), 1);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        an_abort_that_the_list_lacks,
        a_commit_that_the_list_calls_aborted,
        the_marker_is_in_the_next_answer,
        the_marker_is_far_away,
        a_commit_far_away_that_the_list_calls_aborted,
        the_marker_lies_behind_the_end,
        the_next_answer_is_lost,
        the_next_answer_is_an_error,
        many_partitions_in_long_transactions,
        a_seek_over_the_marker,
    };
    return run_tests("fates", tests, sizeof tests / sizeof *tests, begin, close_readers);
}
