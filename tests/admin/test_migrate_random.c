/*
 * The law of migration, over logs at random: of a record that would still be delivered from the
 * committed offset on, no copy lies before the place that is found.
 *
 * FROM has records, holes, markers and aborted transactions, and may have lost its beginning.  TO
 * is written by a copier that goes back at times and writes some again, aborts, and leaves markers;
 * then it loses its beginning, is compacted, or was not copied to the end.  Which record of FROM
 * each of TO is a copy of is known from the making.
 */
#include <krc-tools.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/build.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

enum { CASES = 600, MOST = 120, MOST_COPIES = 3 * MOST, SLACK_MS = 50 };

/* ---- Chance ---------------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t chance(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static bool happens(uint32_t percent)
{
    return chance(100) < percent;
}

/* ---- Logs ------------------------------------------------------------------------------------ */

struct record {
    int64_t offset, time;
    int key;     /* -1: null */
    int content; /* of the value, -1: null */
};

struct copy {
    int of; /* which record of FROM */
    int64_t offset;
    bool is_gone;
};

static struct record records[MOST];
static struct copy copies[MOST_COPIES];
static int record_count, copy_count;
static bool goes_back; /* the copier */
static int64_t from_start, from_end, committed;
static int alike;      /* percent of the records that are like others */
static bool own_times; /* TO has timestamps of its own */
static bool is_unsure; /* records like those at hand may be gone from FROM */
static bool is_mixed;  /* of some the first copy is gone and the second is not, so that copies are
                          in another order */
static struct krc_buffer log_bytes;

static void put(int64_t offset, const struct record *record, int64_t time, int64_t producer)
{
    char key[16], value[16];
    snprintf(key, sizeof key, "k%d", record->key);
    snprintf(value, sizeof value, "v%d", record->content);
    const struct krc_header header = {build_text("h"), build_text(value)};
    struct build_record r = {.key = record->key < 0 ? (struct krc_bytes){0} : build_text(key),
                             .value = record->content < 0 ? (struct krc_bytes){0}
                                                          : build_text(value),
                             .headers = &header,
                             .header_count = record->content % 3 == 0};
    build_batch(&log_bytes, &(struct build_batch){.base_offset = offset,
                                                  .base_timestamp = time,
                                                  .max_timestamp = time,
                                                  .log_append_time = own_times && producer != 71,
                                                  .producer_id = producer == 1 ? 0 : producer,
                                                  .transactional = producer > 1,
                                                  .records = &r,
                                                  .count = 1});
}

/* What is no record: holes, markers, aborted transactions.  Says where it ends. */
static int64_t put_others(int64_t offset, const struct record *like)
{
    while (happens(20)) {
        switch (chance(3)) {
        case 0:
            build_marker(&log_bytes, offset, 70, 0, 1);
            break;
        case 1:
            put(offset++, like, like->time, 71);
            build_marker(&log_bytes, offset, 71, 0, 0);
            break;
        default: /* a hole */
            break;
        }
        offset++;
    }
    return offset;
}

static void write_log(const char *side, int64_t start)
{
    char path[64];
    snprintf(path, sizeof path, "%s/t-0/%020lld.log", side, (long long)start);
    tempdir_write(path, log_bytes.data, log_bytes.len);
    log_bytes.len = 0;
}

static void make_records(void)
{
    int64_t time = 100000;
    uint32_t step = happens(50) ? 1 + chance(100) : 0; /* 0: all of one time */
    record_count = (int)chance(MOST);
    for (int i = 0; i < record_count; i++) {
        time += step;
        bool is_like = happens((uint32_t)alike);
        records[i] = (struct record){
            .time = is_like ? 100000 : time - (step > 0 ? chance(SLACK_MS) : 0),
            .key = happens(20) ? -1 : is_like ? (int)chance(2) : (int)chance(30),
            .content = is_like ? (int)chance(2) - 1 : 10 + i,
        };
        if (is_like && step > 0)
            records[i].time = time - time % (2 * SLACK_MS);
    }
}

static void write_from(void)
{
    int lost = happens(30) && record_count > 0 ? (int)chance((uint32_t)record_count) : 0;
    int64_t offset = chance(5) == 0 ? chance(1000) : 0;
    own_times = false;
    is_unsure = lost > 0 && alike > 0;
    from_start = offset;
    for (int i = 0; i < record_count; i++) {
        if (i == lost)
            from_start = offset;
        if (i == lost)
            log_bytes.len = 0;
        offset = put_others(offset, &records[i]);
        records[i].offset = offset;
        put(offset++, &records[i], records[i].time, 1);
    }
    from_end = offset;
    committed = from_start + chance((uint32_t)(from_end - from_start) + 1);
    write_log("from", from_start);
}

/* The copier, which at times goes back and writes some again. */
static void make_copies(void)
{
    copy_count = 0;
    goes_back = happens(50);
    for (int i = 0; i < record_count && copy_count < MOST_COPIES; i++) {
        copies[copy_count++] = (struct copy){.of = i};
        if (goes_back && happens(3))
            i -= (int)chance((uint32_t)i + 1) % 10;
    }
}

/* Of each key only the last stays, below where the cleaner has been. */
static void compact(int until)
{
    for (int i = 0; i < until; i++)
        for (int j = i + 1; j < until && records[copies[i].of].key >= 0; j++)
            copies[i].is_gone |= records[copies[j].of].key == records[copies[i].of].key;
}

static void write_to(bool with_own_times)
{
    int64_t offset = chance(500), start = offset;
    int lost = happens(40) && copy_count > 0 ? (int)chance((uint32_t)copy_count) : 0;
    if (happens(20) && copy_count > 0)
        copy_count = (int)chance((uint32_t)copy_count);
    bool is_compacted = happens(40);
    if (is_compacted)
        compact(copy_count);
    is_mixed = goes_back && (is_compacted || lost > 0);
    own_times = with_own_times;
    for (int i = 0; i < copy_count; i++) {
        const struct record *record = &records[copies[i].of];
        if (i == lost) {
            start = offset;
            log_bytes.len = 0;
        }
        copies[i].is_gone |= i < lost;
        offset = put_others(offset, record);
        copies[i].offset = offset++;
        if (!copies[i].is_gone)
            put(copies[i].offset, record, own_times ? 200000 + i : record->time, 1);
    }
    for (int i = 0; i < lost && i < copy_count; i++)
        copies[i].is_gone = true;
    write_log("to", start);
}

/* ---- What has to be true --------------------------------------------------------------------- */

static bool is_left(const struct copy *copy)
{
    return records[copy->of].offset >= committed;
}

/* The first copy of what is left; INT64_MAX: none. */
static int64_t first_left(void)
{
    for (int i = 0; i < copy_count; i++)
        if (!copies[i].is_gone && is_left(&copies[i]))
            return copies[i].offset;
    return INT64_MAX;
}

/* The first copy of the record at the committed offset; -1: it is not there, or there is no such
 * record. */
static int64_t copy_of_next(void)
{
    int next = 0;
    while (next < record_count && records[next].offset < committed)
        next++;
    for (int i = 0; i < copy_count; i++)
        if (copies[i].of == next && !copies[i].is_gone)
            return copies[i].offset;
    return -1;
}

/* Whether of each record that is left, and was copied, a copy lies there or behind, or is still to
 * come from a copier that went back before it. */
static bool has_all(int64_t offset)
{
    int64_t last[MOST] = {0};
    for (int i = 0; i < copy_count; i++)
        if (!copies[i].is_gone && is_left(&copies[i]))
            last[copies[i].of] = copies[i].offset + 1;
    for (int i = 0; copy_count > 0 && i <= copies[copy_count - 1].of; i++)
        if (last[i] > 0 && last[i] <= offset)
            return false;
    return true;
}

/* First copies before what is left. */
static int64_t count_again(int64_t from)
{
    int64_t count = 0, left = first_left();
    bool seen[MOST] = {false};
    for (int i = 0; i < copy_count && copies[i].offset < left; i++) {
        if (copies[i].is_gone)
            continue;
        count += !seen[copies[i].of] && copies[i].offset >= from;
        seen[copies[i].of] = true;
    }
    return count;
}

static int found[4];

static void check_law(int number, const struct krc_migration *m)
{
    char what[512];
    int64_t next = copy_of_next();
    bool is_known = alike == 0 && !is_mixed && next >= 0;
    found[m->verdict]++;
    snprintf(what, sizeof what, "case %d: %s %lld, copies of the next at %lld, of what is left at "
             "%lld (%.300s)", number, krc_verdict_name(m->verdict), (long long)m->offset,
             (long long)next, (long long)first_left(), m->evidence);
    if (m->verdict == KRC_NOT_FOUND) {
        ck_assert_msg(!is_known || committed < from_start, "%s", what);
        return;
    }
    ck_assert_msg(has_all(m->offset), "%s", what);
    if (is_mixed)
        return;
    ck_assert_msg(m->offset <= first_left(), "%s", what);
    if (is_unsure || m->again < 0)
        return;
    ck_assert_msg(count_again(m->offset) <= m->again, "%s: %lld again, not %lld", what,
                  (long long)count_again(m->offset), (long long)m->again);
    ck_assert_msg(!is_known || (m->verdict == KRC_EXACT && m->offset == next), "%s", what);
}

static void run_case(int number, bool with_own_times)
{
    static const struct krc_migrate_options options = {.window_ms = 4 * SLACK_MS};
    krc_error error;
    tempdir_make();
    tempdir_mkdir("from");
    tempdir_mkdir("from/t-0");
    tempdir_mkdir("to");
    tempdir_mkdir("to/t-0");
    make_records();
    write_from();
    make_copies();
    write_to(with_own_times);
    krc *from = consume_open(tempdir_path("from"), NULL);
    krc *to = consume_open(tempdir_path("to"), NULL);
    struct krc_migration m = {.topic = "t", .committed = committed};
    ck_assert_int_eq(krc_migrate(from, to, &options, &m, &error), KRC_OK);
    check_law(number, &m);
    krc_close(from);
    krc_close(to);
    tempdir_remove();
}

static void run_cases(int percent_alike, bool with_own_times)
{
    alike = percent_alike;
    memset(found, 0, sizeof found);
    for (int i = 0; i < CASES; i++) {
        state = (uint64_t)i;
        run_case(i, with_own_times);
    }
    ck_assert_int_gt(found[KRC_NOT_FOUND], 0);
    ck_assert_int_gt(found[KRC_BY_TIMESTAMP], CASES / 50);
    ck_assert_int_gt(found[KRC_EXACT], CASES / 3);
    krc_buffer_free(&log_bytes);
}

START_TEST(of_records_that_differ)
{
    run_cases(0, false);
}
END_TEST

START_TEST(of_records_some_of_which_are_alike)
{
    run_cases(30, false);
}
END_TEST

START_TEST(of_records_most_of_which_are_alike)
{
    run_cases(90, false);
}
END_TEST

START_TEST(with_timestamps_of_the_copy)
{
    run_cases(0, true);
    run_cases(30, true);
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {
        of_records_that_differ,
        of_records_some_of_which_are_alike,
        of_records_most_of_which_are_alike,
        with_timestamps_of_the_copy,
    };
    return run_tests("admin: migration at random", tests, sizeof tests / sizeof *tests, nothing,
                     nothing);
}
