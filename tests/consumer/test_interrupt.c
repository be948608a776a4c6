/*
 * The application's wish for an end, at whichever moment it is looked at: what was called says so,
 * has changed nothing, and may be called again.
 */
#include <krc-tools.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/serve.h"
#include "tests/support/tempdir.h"

enum { MOMENTS = 1000 };

static krc_error error;
static int looks, moment; /* how often it was looked at, and when the answer is yes; 0: never */

static bool at_the_moment(void *arg)
{
    ck_assert_ptr_eq(arg, &looks);
    return ++looks == moment;
}

/* Once it is true it stays so. */
static bool from_the_moment(void *arg)
{
    (void)arg;
    return ++looks >= moment;
}

static void at(int when)
{
    looks = 0;
    moment = when;
}

static void break_crc(size_t position)
{
    memset(make_bytes.data + position + 17, 0xa5, 4);
}

/* Damage, for what to search, and open transactions, for headers to walk. */
static void setup(void)
{
    make_setup();
    make_plain(0, 5);
    make_batch(5, 5, 7);
    break_crc(make_plain(10, 5));
    make_plain(15, 5);
    make_segment(0);
    make_batch(20, 5, 8);
    make_marker(25, 8, COMMIT);
    make_plain(26, 4);
    make_segment(20);
    tempdir_mkdir("data/u-0");
    tempdir_mkdir("data/u-1");
}

static krc_config *configure(krc_interrupt_fn *interrupt)
{
    krc_config *config = krc_config_new();
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("data"), &error), KRC_OK);
    ck_assert_int_eq(krc_config_set(config, "skip.corrupt.batches", "true", &error), KRC_OK);
    krc_config_set_interrupt(config, interrupt, &looks);
    return config;
}

/* ---- Log folders ---------------------------------------------------------------------------- */

START_TEST(while_folders_are_listed)
{
    krc_config *config = configure(at_the_moment);
    krc *handle = NULL;
    int when = 1;
    for (at(when); krc_open(&handle, config, &error) < 0; at(++when)) {
        ck_assert_int_eq(error.code, KRC_E_INTERRUPTED);
        ck_assert_ptr_null(handle);
    }
    ck_assert_int_gt(when, 3); /* one for each partition's folder, at least */
    krc_close(handle);
    krc_config_free(config);
}
END_TEST

/* Reads all; true: it was interrupted, and went on. */
static bool read_on(krc *handle, char *text, size_t size)
{
    bool interrupted = false;
    krc_batch *batch;
    text[0] = '\0';
    for (int rc; (rc = krc_poll(handle, 0, &batch)) != 0;) {
        struct krc_batch_info info;
        if (rc < 0) {
            ck_assert_int_eq(rc, KRC_E_INTERRUPTED);
            ck_assert_int_eq(krc_last_error(handle)->code, KRC_E_INTERRUPTED);
            ck_assert(!interrupted);
            interrupted = true;
            continue;
        }
        krc_batch_info(batch, &info);
        size_t len = strlen(text);
        snprintf(text + len, size - len, "%d@%d ", (int)info.records, (int)info.base_offset);
        krc_release(batch);
    }
    ck_assert(krc_ended(handle));
    return interrupted;
}

static bool read_at(krc_config *config, int when, char *text, size_t size)
{
    krc *handle;
    at(0);
    ck_assert_int_eq(krc_open(&handle, config, &error), KRC_OK);
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    at(when);
    bool interrupted = read_on(handle, text, size);
    snprintf(text + strlen(text), size - strlen(text), "%s", consume_account(handle, "t", 0));
    krc_close(handle);
    return interrupted;
}

START_TEST(while_a_log_is_read)
{
    krc_config *config = configure(at_the_moment);
    char undisturbed[256], text[256];
    int when = 1;
    ck_assert(!read_at(config, 0, undisturbed, sizeof undisturbed));
    for (; read_at(config, when, text, sizeof text); when++) {
        ck_assert_int_lt(when, MOMENTS);
        ck_assert_str_eq(text, undisturbed);
    }
    ck_assert_int_gt(when, 3);
    krc_config_free(config);
}
END_TEST

static void no_finding(void *arg, bool fault, const char *sentence)
{
    (void)arg, (void)fault, (void)sentence;
}

static int ask_range(krc *handle)
{
    struct krc_log_offsets offsets;
    return krc_log_offsets(handle, "t", 0, &offsets, &error);
}

static int ask_time(krc *handle)
{
    int64_t offset;
    return krc_offset_for_time(handle, "t", 0, INT64_MAX, &offset, &error);
}

static int verify(krc *handle)
{
    struct krc_verify_options options = {.finding = no_finding};
    struct krc_verify_summary summary;
    return krc_verify(handle, "t", 0, &options, &summary, &error);
}

START_TEST(while_a_log_is_searched)
{
    static int (*const asks[])(krc *) = {ask_range, ask_time, verify};
    krc_config *config = configure(at_the_moment);
    krc *handle;
    at(0);
    ck_assert_int_eq(krc_open(&handle, config, &error), KRC_OK);
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        int when = 1;
        for (at(when); asks[i](handle) < 0; at(++when))
            ck_assert_int_eq(error.code, KRC_E_INTERRUPTED);
        ck_assert_int_gt(when, 3);
        ck_assert_int_lt(looks, when);
    }
    krc_close(handle);
    krc_config_free(config);
}
END_TEST

/* ---- A replay ------------------------------------------------------------------------------- */

static int replay(krc_config *config)
{
    static const struct krc_replay_partition t = {"t", 0, KRC_EARLIEST, KRC_NO_END};
    krc_replay_options options = {
        .to = tempdir_path("out"), .partitions = &t, .partition_count = 1};
    return krc_replay(config, &options, &error);
}

static struct krc_buffer output(void)
{
    return tempdir_read("out/t-0.jsonl");
}

/* Each run comes to another moment, and the next goes on. */
START_TEST(while_a_replay_runs)
{
    krc_config *config = configure(from_the_moment);
    int when = 0;
    do {
        at(++when);
        int rc = replay(config);
        ck_assert(rc == KRC_OK || rc == KRC_E_INTERRUPTED);
    } while (looks >= when);
    ck_assert_int_gt(when, 5);
    struct krc_buffer stopped = output();
    krc_config_free(config);
    tempdir_remove();
    setup();
    config = configure(NULL);
    ck_assert_int_eq(replay(config), KRC_OK);
    struct krc_buffer undisturbed = output();
    ck_assert_uint_gt(undisturbed.len, 0);
    ck_assert_uint_eq(stopped.len, undisturbed.len);
    ck_assert_mem_eq(stopped.data, undisturbed.data, stopped.len);
    krc_buffer_free(&stopped);
    krc_buffer_free(&undisturbed);
    krc_config_free(config);
}
END_TEST

/* ---- A cluster ------------------------------------------------------------------------------ */

static krc *open_cluster(void)
{
    krc_config *config = krc_config_new();
    krc *handle;
    world_open();
    put_plain(&world_topic("t", 1)->partitions[0], 5);
    serve_begin();
    ck_assert_int_eq(krc_config_set(config, "bootstrap.servers", serve_address(), &error), KRC_OK);
    krc_config_set_interrupt(config, at_the_moment, &looks);
    at(0);
    ck_assert_int_eq(krc_open(&handle, config, &error), KRC_OK);
    krc_config_free(config);
    return handle;
}

static void close_cluster(krc *handle)
{
    krc_close(handle);
    serve_end();
    world_close();
}

START_TEST(while_a_broker_sleeps)
{
    static const char *const topics[] = {"t"};
    struct krc_log_offsets offsets;
    krc *handle = open_cluster();
    serve_hold(KRC_API_METADATA);
    at(2);
    ck_assert_int_eq(krc_load_topics(handle, topics, 1, &error), KRC_E_INTERRUPTED);
    check_says(error.message, "stopped before the end: the cluster did not tell its topics");
    serve_hold(KRC_API_COUNT);
    at(0);
    ck_assert_int_eq(krc_load_topics(handle, topics, 1, &error), KRC_OK);
    serve_hold(KRC_API_LIST_OFFSETS);
    at(2);
    ck_assert_int_eq(krc_log_offsets(handle, "t", 0, &offsets, &error), KRC_E_INTERRUPTED);
    serve_hold(KRC_API_COUNT);
    at(0);
    ck_assert_int_eq(krc_log_offsets(handle, "t", 0, &offsets, &error), KRC_OK);
    ck_assert_int_eq(offsets.high_watermark, 5);
    close_cluster(handle);
}
END_TEST

/* What is at hand still comes. */
START_TEST(while_nothing_comes)
{
    char text[64];
    krc_batch *batch;
    krc *handle = open_cluster();
    consume_assign(handle, "t", 0, KRC_EARLIEST, KRC_NO_END);
    ck_assert_int_eq(krc_poll(handle, -1, &batch), 1);
    krc_release(batch);
    at(2);
    ck_assert_int_eq(krc_poll(handle, -1, &batch), KRC_E_INTERRUPTED);
    at(0);
    ck_assert_int_eq(krc_unassign(handle, "t", 0), KRC_OK);
    consume_assign(handle, "t", 0, 2, KRC_PRESENT_END);
    snprintf(text, sizeof text, "%s", consume_all(handle));
    ck_assert_str_eq(text, "2-4");
    close_cluster(handle);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        while_folders_are_listed, while_a_log_is_read, while_a_log_is_searched,
        while_a_replay_runs, while_a_broker_sleeps, while_nothing_comes,
    };
    return run_tests("interrupt", tests, sizeof tests / sizeof *tests, setup, make_teardown);
}
