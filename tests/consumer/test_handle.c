/*
 * The handle: what can be opened and assigned, polling, events, threads.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"

static krc_error error;
static krc *handle;
static krc_batch *batches[2048];

static void open_with_store(void)
{
    handle = consume_open(tempdir_path("data"), "offset.store.file", tempdir_path("krc.db"), NULL);
}

static void poll_batches(int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_msg(krc_poll(handle, 0, &batches[i]) == 1, "batch %d", i);
}

/* ---- Assigning, polling, events -------------------------------------------------------------- */

START_TEST(what_cannot_be_assigned)
{
    struct krc_position at;
    struct krc_log_offsets offsets;
    int64_t offset;
    make_plain(0, 5);
    make_segment(0);
    open_with_store();
    ck_assert_int_eq(krc_assign(handle, "t", 1, 0, KRC_NO_END, &error), KRC_E_NOT_FOUND);
    check_says(error.message, "no partition t-1");
    ck_assert_str_eq(error.topic, "t");
    ck_assert_int_eq(error.partition, 1);
    ck_assert_int_eq(krc_assign(handle, "t", 0, -4, KRC_NO_END, &error), KRC_E_INVALID);
    check_says(error.message, "t-0 cannot start at -4");
    consume_assign(handle, "t", 0, 0, KRC_NO_END);
    ck_assert_int_eq(krc_assign(handle, "t", 0, 0, KRC_NO_END, &error), KRC_E_STATE);
    check_says(error.message, "t-0 is assigned already");
    ck_assert_int_eq(krc_position(handle, "u", 0, &at), KRC_E_NOT_FOUND);
    ck_assert_int_eq(krc_log_offsets(handle, "u", 0, &offsets, &error), KRC_E_NOT_FOUND);
    check_says(error.message, "no partition u-0");
    ck_assert_int_eq(krc_offset_for_time(handle, "u", 0, 0, &offset, &error), KRC_E_NOT_FOUND);
    krc_close(handle);
}
END_TEST

START_TEST(what_cannot_be_opened)
{
    krc *none = NULL;
    krc_config *config = krc_config_new();
    ck_assert_int_eq(krc_open(&none, config, &error), KRC_E_INVALID);
    check_says(error.message, "set log.dirs");
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("gone"), &error), KRC_OK);
    ck_assert_int_eq(krc_open(&none, config, &error), KRC_E_NOT_FOUND);
    check_says(error.message, tempdir_path("gone"));
    ck_assert_ptr_null(none);
    krc_config_free(config);
    krc_close(NULL);
    krc_release(NULL);
}
END_TEST

static void check_cannot_open(int code, const char *what)
{
    krc *none = NULL;
    krc_config *config = krc_config_new();
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("data"), &error), KRC_OK);
    ck_assert_int_eq(krc_open(&none, config, &error), code);
    check_says(error.message, what);
    ck_assert_ptr_null(none);
    krc_config_free(config);
}

START_TEST(files_beside_the_logs_that_are_none)
{
    static const char *const names[] = {"replication-offset-checkpoint",
                                        "log-start-offset-checkpoint", "cleaner-offset-checkpoint"};
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "data/%s", names[i]);
        tempdir_write_text(path, "0\n1\nt 0 what\n");
        check_cannot_open(KRC_E_CORRUPT, names[i]);
        unlink(tempdir_path("%s", path));
    }
    tempdir_write_text("data/t-0/partition.metadata", "version: 0\ntopic_id: what\n");
    check_cannot_open(KRC_E_CORRUPT, "t-0/partition.metadata");
}
END_TEST

/* The leader epochs are read when the partition is: its error concerns no other. */
START_TEST(leader_epochs_that_are_none)
{
    make_plain(0, 5);
    make_segment(0);
    tempdir_write_text("data/t-0/leader-epoch-checkpoint", "0\n1\nx y\n");
    handle = consume_open(tempdir_path("data"), NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "!KRC_E_CORRUPT");
    check_says(krc_last_error(handle)->message, "leader-epoch-checkpoint");
    ck_assert_str_eq(krc_last_error(handle)->topic, "t");
    krc_close(handle);
}
END_TEST

/* Else a reader would move how far the replay's files are said to go. */
START_TEST(the_store_of_a_replay)
{
    struct krc_replay_partition partition = {"t", 0, KRC_EARLIEST, KRC_NO_END};
    krc_replay_options options = {
        .to = tempdir_path("out"), .partitions = &partition, .partition_count = 1};
    char out[512];
    snprintf(out, sizeof out, "%s", options.to);
    options.to = out;
    make_plain(0, 5);
    make_segment(0);
    krc_config *config = krc_config_new();
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("data"), &error), KRC_OK);
    ck_assert_int_eq(krc_replay(config, &options, &error), KRC_OK);
    ck_assert_int_eq(
        krc_config_set(config, "offset.store.file", tempdir_path("out/krc.db"), &error), KRC_OK);
    ck_assert_int_eq(krc_open(&handle, config, &error), KRC_E_STATE);
    check_says(error.message, "out/krc.db keeps how far the output of a replay goes");
    krc_config_free(config);
}
END_TEST

START_TEST(what_there_is)
{
    struct krc_partition p;
    size_t n = 0;
    handle = consume_open(FIXTURES "kafka-4.3.1", NULL);
    for (; krc_source_partition(handle, n, &p); n++)
        if (strcmp(p.topic, "txns") == 0 && p.partition == 1) {
            ck_assert_int_eq(p.high_watermark, 212);
            check_says(p.path, "kafka-4.3.1/txns-1");
        }
    ck_assert_uint_eq(n, 18);
    krc_close(handle);
}
END_TEST

/* One partition's error is not the others'. */
START_TEST(an_error_of_one_partition)
{
    make_plain(0, 5);
    make_plain(5, 5);
    make_bytes.data[make_bytes.len / 2 + 17] ^= 1;
    make_plain(10, 5);
    make_segment(0);
    tempdir_copy(FIXTURES "kafka-4.3.1/codec-none-0", "data/codec-none-0");
    handle = consume_open(tempdir_path("data"), NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    consume_assign(handle, "codec-none", 0, 740, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "0-4 !KRC_E_CORRUPT");
    ck_assert_str_eq(krc_last_error(handle)->topic, "t");
    ck_assert_str_eq(consume_all(handle), "740-749");
    ck_assert_str_eq(consume_all(handle), "");
    ck_assert_str_eq(consume_account(handle, "t", 0), "0-5: delivered 5");
    ck_assert_str_eq(consume_account(handle, "codec-none", 0), "740-750: delivered 10");
    krc_close(handle);
}
END_TEST

START_TEST(the_end_is_told_once)
{
    struct krc_event event;
    make_plain(0, 5);
    make_segment(0);
    handle = consume_open(tempdir_path("data"), NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, 3);
    poll_batches(1);
    ck_assert_int_eq(krc_event_next(handle, &event), 0);
    ck_assert_int_eq(krc_poll(handle, 0, &batches[1]), 0);
    ck_assert_int_eq(krc_poll(handle, 0, &batches[1]), 0);
    ck_assert_int_eq(krc_event_next(handle, &event), 1);
    ck_assert_int_eq(event.type, KRC_EVENT_CAUGHT_UP);
    ck_assert_str_eq(event.topic, "t");
    ck_assert_int_eq(event.from, 3);
    ck_assert_int_eq(krc_event_next(handle, &event), 0);
    krc_close(handle);
}
END_TEST

/* Every other batch is lost: more events than are kept. */
START_TEST(events_nobody_reads)
{
    struct krc_event event;
    int count = 0;
    for (int i = 0; i < 1500; i++)
        make_plain(i * 10, 1);
    make_segment(0);
    handle = consume_open(tempdir_path("data"), NULL);
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    consume_all(handle);
    ck_assert_int_eq(krc_event_next(handle, &event), 1);
    ck_assert_int_eq(event.type, KRC_EVENT_NOTE);
    check_says(event.message, "476 older events were dropped"); /* of 1499 and the end */
    while (krc_event_next(handle, &event) == 1)
        count++;
    ck_assert_int_eq(count, 1024);
    ck_assert_int_eq(event.type, KRC_EVENT_CAUGHT_UP);
    ck_assert_str_eq(consume_account(handle, "t", 0), "0-14991: delivered 1500, lost 13491");
    krc_close(handle);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

static void *read_topic(void *topic)
{
    static const char *const levels[] = {"read_committed", "read_uncommitted"};
    intptr_t count = 0;
    for (int round = 0; round < 6; round++) {
        krc_config *config = krc_config_new();
        krc *mine;
        krc_batch *batch;
        struct krc_record record;
        if (krc_config_set(config, "log.dirs", FIXTURES "kafka-4.3.1", NULL) < 0 ||
            krc_config_set(config, "isolation.level", levels[round % 2], NULL) < 0 ||
            krc_open(&mine, config, NULL) < 0)
            return NULL;
        if (krc_assign(mine, topic, 0, KRC_EARLIEST, KRC_NO_END, NULL) < 0)
            return NULL;
        while (krc_poll(mine, 0, &batch) == 1) {
            while (krc_next(batch, &record) == 1)
                count++;
            krc_release(batch);
        }
        krc_close(mine);
        krc_config_free(config);
    }
    return (void *)count;
}

START_TEST(handles_in_threads)
{
    static char names[3][16] = {"codec-zstd", "codec-gzip", "codec-lz4"};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_topic, names[i]), 0);
    for (int i = 0; i < 3; i++) {
        void *count;
        ck_assert_int_eq(pthread_join(threads[i], &count), 0);
        ck_assert_int_eq((intptr_t)count, 6 * 750);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        what_cannot_be_assigned,
        what_cannot_be_opened,
        files_beside_the_logs_that_are_none,
        leader_epochs_that_are_none,
        the_store_of_a_replay,
        what_there_is,
        an_error_of_one_partition,
        the_end_is_told_once,
        events_nobody_reads,
        handles_in_threads,
    };
    return run_tests("consumer/handle", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
