/*
 * Connections that end, or fall silent, in the middle of an answer, each after so many bytes: what
 * fits through is read, and it is never taken for a broker that will not have us.
 */
#include "tests/support/reader.h"
#include "tests/support/run.h"

enum { BATCHES = 50, RECORDS = 20 };

static size_t largest; /* batch */

static void write_batches(struct world_partition *p)
{
    for (int i = 0; i < BATCHES; i++) {
        size_t before = p->log.len;
        put_plain(p, RECORDS);
        largest = p->log.len - before > largest ? p->log.len - before : largest;
    }
}

static void read_through(size_t cut_after, bool stalls, int64_t most_ms)
{
    open_readers();
    sim.is_quiet = true;
    sim.cut_after = cut_after;
    sim.stalls = stalls;
    write_batches(&world_topic("t", 1)->partitions[0]);
    struct reader *reader = read_from("t", 0, 0);
    sim_run(most_ms);
    ck_assert_msg(reader_position(reader) == BATCHES * RECORDS, "cut after %zu: %lld", cut_after,
                  (long long)reader_position(reader));
    ck_assert_str_eq(reader_account(reader), "0-1000: delivered 1000");
    ck_assert_ptr_null(krc_cluster_denied(&sim.cluster));
    ck_assert(!krc_cluster_hopeless(&sim.cluster));
    close_readers();
}

/* From hardly more than the greeting and a batch take, to more than all there is. */
START_TEST(after_any_number_of_bytes)
{
    for (size_t cut_after = 1500; cut_after < 50000; cut_after *= 2)
        read_through(cut_after, false, 200000);
}
END_TEST

START_TEST(silent_after_any_number_of_bytes)
{
    for (size_t cut_after = 2000; cut_after < 50000; cut_after *= 4)
        read_through(cut_after, true, 3000000);
}
END_TEST

/* The full size comes back. */
START_TEST(once_it_is_mended)
{
    open_readers();
    sim.is_quiet = true;
    sim.cut_after = 3000;
    write_batches(&world_topic("t", 1)->partitions[0]);
    struct reader *reader = read_from("t", 0, 0);
    while (reader_position(reader) < 200)
        sim_run(1);
    ck_assert_int_gt(krc_node_find(&sim.cluster, 1)->session.most_bytes, 0);
    sim.cut_after = 0;
    sim_run(20000);
    ck_assert_int_eq(reader_position(reader), BATCHES * RECORDS);
    ck_assert_int_eq(krc_node_find(&sim.cluster, 1)->session.most_bytes, 0);
    close_readers();
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {after_any_number_of_bytes, silent_after_any_number_of_bytes,
                                  once_it_is_mended};
    return run_tests("cuts", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
