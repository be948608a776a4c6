/*
 * Names of sinks' files: what they are called, that each name leads back to what it was made of,
 * and that nothing else passes for one.
 */
#include <stdio.h>
#include <string.h>

#include "replay/sink.h"
#include "tests/support/run.h"

static const char *const topics[] = {
    "t", "orders", "with-dash", "ends-7", "7", "-", "a.b_c", "dots...", "a.h2", "a-0.h2", "x-1-2",
    "00000000000000000001", "a.00000000000000000001", "a-0.jsonl", "a-0.00000000000000000001",
};
enum { TOPICS = sizeof topics / sizeof *topics };

static void file_name(const krc_replay_options *options, const char *topic, int32_t partition,
                      int32_t history, int64_t offset, char *name, size_t size)
{
    const struct krc_sink_run run = {.options = options};
    char *copy = strdup(topic);
    const struct krc_place place = {.topic = copy, .partition = partition};
    const struct krc_sink sink = {.run = &run, .place = &place,
                                  .at = {.history = history, .file_offset = offset}};
    krc_sink_file_name(&sink, name, size);
    free(copy);
}

static void check_name(const krc_replay_options *options, const char *wanted)
{
    char name[KRC_SINK_NAME_MAX + 40];
    file_name(options, "orders", 3, 1, 42, name, sizeof name);
    ck_assert_str_eq(name, wanted);
}

START_TEST(known_names)
{
    char name[KRC_SINK_NAME_MAX + 40];
    check_name(&(krc_replay_options){.format = KRC_REPLAY_JSONL}, "orders-3.jsonl");
    check_name(&(krc_replay_options){.format = KRC_REPLAY_RAW, .compression = KRC_REPLAY_GZIP},
               "orders-3.raw.gz");
    check_name(&(krc_replay_options){.compression = KRC_REPLAY_ZSTD, .rotate_bytes = 1},
               "orders-3.00000000000000000042.jsonl.zst");
    check_name(&(krc_replay_options){.rotate_hours = 1},
               "orders-3.00000000000000000042.jsonl");
    check_name(&(krc_replay_options){.format = KRC_REPLAY_SEGMENT}, "00000000000000000042.log");
    file_name(&(krc_replay_options){.rotate_bytes = 1}, "orders", 3, 2, INT64_MAX, name,
              sizeof name);
    ck_assert_str_eq(name, "orders-3.h2.09223372036854775807.jsonl");
    krc_sink_stem("orders", 2147483647, 2147483647, name, sizeof name);
    ck_assert_str_eq(name, "orders-2147483647.h2147483647");
}
END_TEST

static void check_stem(const char *topic, int32_t partition, int32_t history)
{
    char stem[KRC_SINK_NAME_MAX];
    struct krc_sink_name name;
    krc_sink_stem(topic, partition, history, stem, sizeof stem);
    ck_assert_msg(krc_sink_parse_stem(stem, strlen(stem), &name), "%s", stem);
    ck_assert_str_eq(name.topic, topic);
    ck_assert_int_eq(name.partition, partition);
    ck_assert_int_eq(name.history, history);
}

static void check_file(const krc_replay_options *options, const char *topic, int32_t partition,
                       int32_t history, int64_t offset)
{
    char text[KRC_SINK_NAME_MAX + 40];
    struct krc_sink_name name;
    bool has_offset = options->format == KRC_REPLAY_SEGMENT || options->rotate_bytes > 0;
    file_name(options, topic, partition, history, offset, text, sizeof text);
    ck_assert_msg(krc_sink_parse_name(options, text, &name), "%s", text);
    ck_assert_int_eq(name.file_offset, has_offset ? offset : -1);
    if (options->format == KRC_REPLAY_SEGMENT)
        return;
    ck_assert_str_eq(name.topic, topic);
    ck_assert_int_eq(name.partition, partition);
    ck_assert_int_eq(name.history, history);
}

START_TEST(round_trips)
{
    static const int32_t partitions[] = {0, 1, 10, 2147483647};
    static const int32_t histories[] = {1, 2, 10, 2147483647};
    static const int64_t offsets[] = {0, 1, INT64_MAX};
    for (int i = 0; i < TOPICS * 4 * 4 * 3; i++) {
        const char *topic = topics[i % TOPICS];
        int32_t partition = partitions[i / TOPICS % 4], history = histories[i / TOPICS / 4 % 4];
        check_stem(topic, partition, history);
        for (int way = 0; way < 3 * 3 * 2; way++) {
            const krc_replay_options options = {.format = way % 3, .compression = way / 3 % 3,
                                                .rotate_bytes = way / 9};
            check_file(&options, topic, partition, history, offsets[i / TOPICS / 16]);
        }
    }
}
END_TEST

/* Kafka's longest topic name has 249 characters; a folder of another's may have longer ones. */
START_TEST(long_topics)
{
    char topic[300], stem[400];
    struct krc_sink_name name;
    const krc_replay_options rotated = {.rotate_bytes = 1, .compression = KRC_REPLAY_ZSTD};
    memset(topic, 't', sizeof topic);
    topic[249] = '\0';
    check_stem(topic, 2147483647, 2147483647);
    check_file(&rotated, topic, 2147483647, 2147483647, INT64_MAX);
    topic[249] = 't';
    for (int len = 250; len < 300; len++) {
        int n = snprintf(stem, sizeof stem, "%.*s-0", len, topic);
        ck_assert_int_eq(krc_sink_parse_stem(stem, (size_t)n, &name), len <= 255);
    }
}
END_TEST

START_TEST(no_two_stems_are_alike)
{
    static const int32_t numbers[] = {1, 2, 3};
    char stems[TOPICS * 9][KRC_SINK_NAME_MAX];
    int count = 0;
    for (int t = 0; t < TOPICS; t++)
        for (int i = 0; i < 9; i++, count++)
            krc_sink_stem(topics[t], numbers[i % 3], numbers[i / 3], stems[count],
                          sizeof stems[count]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(stems[i], stems[j]);
}
END_TEST

START_TEST(what_is_no_stem)
{
    static const char *const bad[] = {
        "", "-", "0", "-0", "t", "t-", "t0", "t-x", "t-00", "t-01", "t--", "t-1x", "t-+1", "t- 1",
        "t-2147483648", "t-9999999999", "t-99999999999999999999", "t-0.h", "t-0.h0", "t-0.h1",
        "t-0.h02", "t-0.h2147483648", "t-0.H2", "t-0h2", "t-0.h2.h3", ".h2", "-0.h2", "t.h2",
    };
    struct krc_sink_name name;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!krc_sink_parse_stem(bad[i], strlen(bad[i]), &name), "%s", bad[i]);
}
END_TEST

START_TEST(what_is_no_name)
{
    static const krc_replay_options plain = {0}, rotated = {.rotate_bytes = 1},
        packed = {.compression = KRC_REPLAY_GZIP}, segment = {.format = KRC_REPLAY_SEGMENT};
    static const struct {
        const krc_replay_options *options;
        const char *name;
    } bad[] = {
        {&plain, ""}, {&plain, "."}, {&plain, ".."}, {&plain, "jsonl"}, {&plain, ".jsonl"},
        {&plain, "-0.jsonl"}, {&plain, "t-0"}, {&plain, "t-0jsonl"}, {&plain, "t-0.raw"},
        {&plain, "t-0.jsonl.gz"}, {&plain, "t-0.jsonl.tmp"}, {&plain, "krc.db"},
        {&plain, "t-0.00000000000000000001.jsonl"}, {&plain, "t-0..jsonl"},
        {&packed, "t-0.jsonl"}, {&packed, ".jsonl.gz"}, {&packed, "t-0.gz"},
        {&rotated, "t-0.jsonl"}, {&rotated, ".00000000000000000001.jsonl"},
        {&rotated, "00000000000000000001.jsonl"}, {&rotated, "t-000000000000000000001.jsonl"},
        {&rotated, "t-0.0000000000000000001.jsonl"}, {&rotated, "t-0.0000000000000000000x.jsonl"},
        {&rotated, "t-0.09223372036854775808.jsonl"}, {&rotated, "t-0.99999999999999999999.jsonl"},
        {&segment, "1.log"}, {&segment, "t-0.log"}, {&segment, "x00000000000000000001.log"},
        {&segment, "000000000000000000001.log"}, {&segment, "00000000000000000001.index"},
        {&segment, "00000000000000000001.log.deleted"}, {&segment, "+0000000000000000001.log"},
        {&segment, "09223372036854775808.log"},
    };
    struct krc_sink_name name;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!krc_sink_parse_name(bad[i].options, bad[i].name, &name), "%s", bad[i].name);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        known_names, round_trips,     long_topics,
        no_two_stems_are_alike, what_is_no_stem, what_is_no_name,
    };
    return run_tests("replay: names", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
