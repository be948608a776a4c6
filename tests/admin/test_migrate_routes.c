/*
 * Copies of topics with several partitions: those whose keys are routed as here, and those whose
 * partitioner is another one.
 */
#include <krc-tools.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/build.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

enum { RECORDS = 3000, MOST = 64 };

static krc_error error;
static krc *from, *to;

/* How the copy is made. */
static struct copying {
    int partitions;
    int others;        /* of a hundred records, how many come from somebody else */
    bool is_rerouted;  /* by another partitioner */
    bool is_compacted; /* every third record is left */
    bool is_appended;  /* timestamps are of its own log */
    int lacks;         /* partitions that are not at hand, from this one on; 0: none */
} copying;

static struct krc_buffer logs[MOST];
static int64_t ends[MOST];

/* Two partitioners that have nothing to do with each other. */
static int route(uint32_t key, uint32_t factor)
{
    uint32_t hash = (key + 1) * factor;
    return (int)((hash ^ hash >> 15) % (uint32_t)copying.partitions);
}

static void put(int partition, uint32_t key, int number, int64_t time)
{
    char texts[2][16];
    snprintf(texts[0], sizeof texts[0], "k%u", (unsigned)key);
    snprintf(texts[1], sizeof texts[1], "v%d", number);
    struct build_record record = {.key = build_text(texts[0]), .value = build_text(texts[1])};
    build_batch(&logs[partition],
                &(struct build_batch){.base_offset = ends[partition]++,
                                      .base_timestamp = time,
                                      .max_timestamp = time,
                                      .log_append_time = time > 5000000,
                                      .records = &record,
                                      .count = 1});
}

static void write_logs(const char *side, int first, int until)
{
    char path[64];
    for (int p = first; p < until; p++) {
        snprintf(path, sizeof path, "%s/t-%d", side, p);
        tempdir_mkdir(path);
        snprintf(path, sizeof path, "%s/t-%d/%020d.log", side, p, 0);
        tempdir_write(path, logs[p].data, logs[p].len);
    }
    for (int p = 0; p < copying.partitions; p++) {
        logs[p].len = 0;
        ends[p] = 0;
    }
}

static uint32_t key_of(int number)
{
    return (uint32_t)number * 2654435761u >> 20;
}

static void make(void)
{
    tempdir_make();
    tempdir_mkdir("from");
    tempdir_mkdir("to");
    for (int i = 0; i < RECORDS; i++)
        put(route(key_of(i), 0x9e3779b1u), key_of(i), i, 1000000 + 10 * i);
    write_logs("from", 0, copying.partitions);
    for (int i = 0; i < RECORDS; i++) {
        int p = route(key_of(i), copying.is_rerouted ? 0x85ebca6bu : 0x9e3779b1u);
        if (i * 7 % 100 < copying.others)
            put(p, 1, -i, 1000000 + 10 * i);
        if (!copying.is_compacted || i % 3 == 0)
            put(p, key_of(i), i, copying.is_appended ? 9000000 + i : 1000000 + 10 * i);
    }
    write_logs("to", 0, copying.lacks > 0 ? copying.lacks : copying.partitions);
    from = consume_open(tempdir_path("from"), NULL);
    to = consume_open(tempdir_path("to"), NULL);
}

static struct krc_migration migrate(int32_t partition, int64_t committed)
{
    static const struct krc_migrate_options options = {.window_ms = 2000};
    struct krc_migration m = {.topic = "t", .partition = partition, .committed = committed};
    ck_assert_int_eq(krc_migrate(from, to, &options, &m, &error), KRC_OK);
    return m;
}

static void end(void)
{
    krc_close(from);
    krc_close(to);
    for (int p = 0; p < MOST; p++)
        krc_buffer_free(&logs[p]);
    tempdir_remove();
}

/* How many of the places are found, of partitions that are at hand. */
static int count_found(const struct copying *how, const char *why)
{
    int found = 0;
    copying = *how;
    make();
    for (int32_t p = 0; p < (copying.lacks > 0 ? copying.lacks : copying.partitions); p++)
        for (int64_t at = 10; at < RECORDS / copying.partitions / 2; at += 97) {
            struct krc_migration m = migrate(p, at);
            found += m.verdict != KRC_NOT_FOUND;
            if (m.verdict == KRC_NOT_FOUND)
                check_says(m.evidence, why);
        }
    end();
    return found;
}

/* ---- The same partitioner ------------------------------------------------------------------- */

static void check_same(const struct copying *how)
{
    ck_assert_int_gt(count_found(how, "nothing is not found"), 0);
}

START_TEST(the_same_routes)
{
    check_same(&(struct copying){.partitions = 2});
    check_same(&(struct copying){.partitions = 8});
    check_same(&(struct copying){.partitions = 8, .is_appended = true});
}
END_TEST

/* Some are missing, and there are others in between, whom no other partition has. */
START_TEST(the_same_routes_of_copies_that_are_not_whole)
{
    check_same(&(struct copying){.partitions = 3, .is_compacted = true});
    check_same(&(struct copying){.partitions = 3, .others = 80});
    check_same(&(struct copying){.partitions = 3, .is_compacted = true, .others = 10});
    check_same(&(struct copying){.partitions = 3, .lacks = 1});
}
END_TEST

/* ---- Another one ---------------------------------------------------------------------------- */

static void check_other(const struct copying *how, const char *why)
{
    ck_assert_int_eq(count_found(how, why), 0);
}

START_TEST(other_routes)
{
    check_other(&(struct copying){.partitions = 2, .is_rerouted = true}, "routed otherwise");
    check_other(&(struct copying){.partitions = 3, .is_rerouted = true}, "routed otherwise");
    check_other(&(struct copying){.partitions = 8, .is_rerouted = true}, "routed otherwise");
    check_other(&(struct copying){.partitions = 50, .is_rerouted = true}, "");
}
END_TEST

START_TEST(other_routes_of_copies_that_are_not_whole)
{
    check_other(&(struct copying){.partitions = 3, .is_rerouted = true, .is_compacted = true},
                "routed otherwise");
    check_other(&(struct copying){.partitions = 3, .is_rerouted = true, .others = 50},
                "routed otherwise");
    check_other(&(struct copying){.partitions = 3, .is_rerouted = true, .is_appended = true},
                "routed otherwise");
}
END_TEST

/* The others are not at hand: those of this side say the same, and the numbers. */
START_TEST(other_routes_of_a_single_folder)
{
    check_other(&(struct copying){.partitions = 3, .is_rerouted = true, .lacks = 1}, "");
}
END_TEST

/* The first offset is the first one anywhere: nothing was processed yet, and nothing is skipped. */
START_TEST(nothing_was_processed_yet)
{
    copying = (struct copying){.partitions = 3, .is_rerouted = true};
    make();
    struct krc_migration m = migrate(1, 0);
    ck_assert_int_eq(m.verdict, KRC_EXACT);
    ck_assert_int_eq(m.offset, 0);
    end();
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {the_same_routes,
                                  the_same_routes_of_copies_that_are_not_whole,
                                  other_routes,
                                  other_routes_of_copies_that_are_not_whole,
                                  other_routes_of_a_single_folder,
                                  nothing_was_processed_yet};
    return run_tests("admin: migration, routes", tests, sizeof tests / sizeof *tests, nothing,
                     nothing);
}
