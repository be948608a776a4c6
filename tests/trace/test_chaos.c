/*
 * Whatever goes wrong while logs grow: once it is calm, each reader has been handed what is
 * committed, once, and its account is the log's.  Where logs also lose what was in them, each
 * reader is where its log ends.
 */
#include <string.h>

#include "tests/support/reader.h"
#include "tests/support/run.h"

enum { PARTS = 4, PRODUCERS = 3, STEPS = 80, RUNS = 20 };

static uint64_t state;

static uint32_t below(uint32_t most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % most;
}

/* What the account has to be, and what is open: offsets of each producer's transaction. */
static struct truth {
    struct krc_account account;
    int64_t open[PRODUCERS];
} truths[PARTS];

/* ---- What is written ------------------------------------------------------------------------ */

static void end_txn(struct world_partition *p, struct truth *t, int producer, bool commit)
{
    if (t->open[producer] == 0)
        return;
    (commit ? put_commit : put_abort)(p, producer + 1);
    *(commit ? &t->account.delivered : &t->account.aborted) += t->open[producer];
    t->account.control++;
    t->open[producer] = 0;
}

static void write_some(void)
{
    uint32_t which = below(PARTS), kind = below(6);
    struct world_partition *p = &world.topics[0].partitions[which];
    struct truth *t = &truths[which];
    int producer = (int)below(PRODUCERS);
    int32_t count = 1 + (int32_t)below(20);
    if (kind <= 1) {
        put(p, (struct build_batch){.codec = kind == 0 ? KRC_ZSTD : KRC_NONE}, count);
        t->account.delivered += count;
    } else if (kind == 2) {
        put_emptied(p, count);
        t->account.absent += count;
    } else if (kind <= 4) {
        put_txn(p, producer + 1, count);
        t->open[producer] += count;
    } else {
        end_txn(p, t, producer, below(2) == 0);
    }
}

/* What unclean elections, DeleteRecords, and people do to logs. */
static void lose_some(void)
{
    struct world_partition *p = &world.topics[0].partitions[below(PARTS)];
    struct krc_batch_header h = {.base_offset = p->start};
    uint32_t kind = below(30);
    for (size_t at = 0; at < p->log.len; at += (size_t)h.size)
        ck_assert_int_eq(krc_batch_parse(p->log.data + at, p->log.len - at, &h, NULL), 1);
    if (kind == 0) {
        world_recreate(&world.topics[0]);
    } else if (kind <= 9 && p->log.len > 0) {
        world_truncate(p, h.base_offset);
        world_lead(p, 3 - p->leader);
    } else if (kind <= 14) {
        world_delete(p, h.base_offset);
    }
}

/* ---- What goes wrong ------------------------------------------------------------------------ */

static void spoil(void)
{
    static const enum krc_api_name apis[] = {KRC_API_FETCH, KRC_API_METADATA, KRC_API_FETCH,
                                             KRC_API_OFFSET_FOR_LEADER_EPOCH,
                                             KRC_API_API_VERSIONS};
    static const enum sim_fate fates[] = {SIM_LOST, SIM_CUT, SIM_DOUBLED, SIM_WRONG_ID,
                                          SIM_SILENT};
    sim_fate(apis[below(5)], fates[below(5)], 1);
}

static void refuse(void)
{
    static const int16_t codes[] = {
        KRC_KAFKA_NOT_LEADER_OR_FOLLOWER, KRC_KAFKA_UNKNOWN_SERVER_ERROR,
        KRC_KAFKA_KAFKA_STORAGE_ERROR,    KRC_KAFKA_INCONSISTENT_TOPIC_ID,
        KRC_KAFKA_OFFSET_OUT_OF_RANGE,    KRC_KAFKA_UNKNOWN_LEADER_EPOCH,
        KRC_KAFKA_UNKNOWN_TOPIC_ID,       KRC_KAFKA_OFFSET_NOT_AVAILABLE};
    static const int16_t whole[] = {KRC_KAFKA_FETCH_SESSION_ID_NOT_FOUND,
                                    KRC_KAFKA_INVALID_FETCH_SESSION_EPOCH,
                                    KRC_KAFKA_FETCH_SESSION_TOPIC_ID_ERROR};
    if (below(3) == 0)
        world_fail(KRC_API_FETCH, -1, whole[below(3)], 1);
    else
        world_fail(KRC_API_FETCH, (int32_t)below(PARTS), codes[below(8)], 1 + (int)below(3));
}

static void confuse(void)
{
    static const int16_t codes[] = {KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                                    KRC_KAFKA_LEADER_NOT_AVAILABLE, 0, 0};
    if (below(2) == 0)
        world_fail(KRC_API_METADATA, -1, KRC_KAFKA_REBOOTSTRAP_REQUIRED, 1);
    else
        world.topics[0].error_code = codes[below(4)];
}

static void go_wrong(void)
{
    struct world_partition *p = &world.topics[0].partitions[below(PARTS)];
    struct reader *r = &readers.list[below(PARTS)];
    switch (below(10)) {
    case 0:
        world_lead(p, 1 + (int32_t)below(2));
        break;
    case 1:
        p->preferred = below(2) == 0 ? -1 : 3 - p->leader;
        break;
    case 2:
        sim_down(1 + (int32_t)below(2));
        break;
    case 3:
        sim_up(1);
        sim_up(2);
        break;
    case 4:
        spoil();
        break;
    case 5:
        refuse();
        break;
    case 6:
        if (r->remote != NULL)
            reader_pause(r, !r->is_held);
        break;
    case 7:
        sim.delay_ms = (int64_t)below(100);
        break;
    case 8:
        confuse();
        break;
    default:
        krc_metadata_refresh(&sim.cluster);
    }
}

static void calm_down(bool loses)
{
    memset(world.faults, 0, sizeof world.faults);
    memset(sim.fates, 0, sizeof sim.fates);
    world.topics[0].error_code = 0;
    sim.delay_ms = 0;
    sim_up(1);
    sim_up(2);
    for (int i = 0; i < PARTS; i++)
        for (int producer = 0; producer < PRODUCERS; producer++) {
            truths[i].open[producer] += loses; /* it may be open again */
            end_txn(&world.topics[0].partitions[i], &truths[i], producer, true);
        }
    for (int i = 0; i < PARTS; i++)
        reader_pause(&readers.list[i], false);
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static void run_once(uint64_t seed, bool loses)
{
    state = seed;
    memset(truths, 0, sizeof truths);
    open_readers();
    world_topic("t", PARTS)->cleanup = "compact";
    sim.settings.request_timeout_ms = 2000;
    sim.settings.rack = below(2) == 0 ? "" : "r";
    sim.settings.fetch_max_bytes = sim.settings.partition_max_bytes = 300 + (int32_t)below(2000);
    world.has_sessions = below(4) > 0;
    for (int32_t i = 0; i < PARTS; i++)
        read_from("t", i, 0);
    sim_run(100);
    for (int i = 0; i < STEPS; i++) {
        write_some();
        if (below(2) == 0)
            go_wrong();
        if (loses)
            lose_some();
        sim_run((int64_t)below(300));
        forget_trace();
    }
    calm_down(loses);
    for (int i = 0; i < 30; i++) {
        forget_trace();
        sim_run(1000);
    }
}

static void check_account(uint64_t seed, int i)
{
    const struct krc_account *is = &readers.list[i].tracker.offsets.account;
    struct krc_account *was = &truths[i].account;
    was->to = world.topics[0].partitions[i].end;
    ck_assert_msg(memcmp(is, was, sizeof *is) == 0,
                  "seed %llu, partition %d: %s; not to %lld: delivered %lld, aborted %lld, "
                  "control %lld, absent %lld",
                  (unsigned long long)seed, i, reader_account(&readers.list[i]),
                  (long long)was->to, (long long)was->delivered, (long long)was->aborted,
                  (long long)was->control, (long long)was->absent);
}

/* From the start to the end as it is now. */
static void read_again(struct reader *r)
{
    r->tracker.source->until = KRC_PRESENT_END;
    reader_seek(r, 0);
}

START_TEST(once_it_is_calm)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        run_once(seed, false);
        for (int i = 0; i < PARTS; i++) {
            check_account(seed, i);
            read_again(&readers.list[i]);
        }
        forget_trace();
        sim_run(5000);
        for (int i = 0; i < PARTS; i++) {
            ck_assert(readers.list[i].is_done);
            check_account(seed, i);
        }
        close_readers();
    }
}
END_TEST

/* Where logs lose what was in them, readers end where the logs do. */
START_TEST(once_it_is_calm_behind_losses)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        run_once(seed, true);
        for (int i = 0; i < PARTS; i++) {
            (void)reader_account(&readers.list[i]); /* it adds up */
            ck_assert_msg(reader_position(&readers.list[i]) == world.topics[0].partitions[i].end,
                          "seed %llu, partition %d: %lld, not %lld", (unsigned long long)seed, i,
                          (long long)reader_position(&readers.list[i]),
                          (long long)world.topics[0].partitions[i].end);
        }
        close_readers();
    }
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {once_it_is_calm, once_it_is_calm_behind_losses};
    return run_tests("chaos", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
