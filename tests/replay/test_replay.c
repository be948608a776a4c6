/*
 * krc_replay as a program calls it; what the command shows is in tests/cmd/replay.sh.
 */
#include <check.h>
#include <stdio.h>

#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static krc_error error;
static char out[512];
static struct krc_replay_partition partitions[2];
static krc_replay_options options;

static void setup(void)
{
    make_setup();
    snprintf(out, sizeof out, "%s", tempdir_path("out"));
    partitions[0] = (struct krc_replay_partition){"t", 0, KRC_EARLIEST, KRC_NO_END};
    options = (krc_replay_options){.to = out, .partitions = partitions, .partition_count = 1};
    make_plain(0, 5);
    make_segment(0);
}

static int replay_with(const char *store)
{
    krc_config *config = krc_config_new();
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("data"), &error), KRC_OK);
    ck_assert_int_eq(krc_config_set(config, "offset.store.file", store, &error), KRC_OK);
    int rc = krc_replay(config, &options, &error);
    krc_config_free(config);
    return rc;
}

static int replay(void)
{
    return replay_with("");
}

/* To go on from a reader's offsets would leave out what lies before them. */
START_TEST(a_store_that_a_reader_has_used)
{
    char store[512];
    snprintf(store, sizeof store, "%s", tempdir_path("krc.db"));
    krc *handle = consume_open(tempdir_path("data"), "offset.store.file", store, NULL);
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "0-4");
    ck_assert_int_eq(krc_commit(handle, &error), KRC_OK);
    ck_assert_int_eq(replay_with(store), KRC_E_MISMATCH);
    check_says(error.message, "krc.db holds offsets that no replay committed");
    krc_close(handle);
    ck_assert_int_eq(replay(), KRC_OK);
}
END_TEST

/* A reader that opened it before moves nothing there. */
START_TEST(a_store_that_a_reader_is_about_to_use)
{
    char store[512];
    snprintf(store, sizeof store, "%s", tempdir_path("krc.db"));
    krc *handle = consume_open(tempdir_path("data"), "offset.store.file", store, NULL);
    consume_assign(handle, "t", 0, KRC_STORED, 3);
    ck_assert_str_eq(consume_all(handle), "0-2");
    ck_assert_int_eq(replay_with(store), KRC_OK);
    ck_assert_int_eq(krc_commit(handle, &error), KRC_E_STATE);
    check_says(error.message, "krc.db keeps how far the output of a replay goes");
    krc_close(handle);
}
END_TEST

START_TEST(rotation_is_as_it_was_begun)
{
    options.rotate_bytes = 100;
    options.rotate_hourly = true;
    ck_assert_int_eq(replay(), KRC_OK);
    options.rotate_bytes = 200;
    ck_assert_int_eq(replay(), KRC_E_MISMATCH);
    check_says(error.message, "rotation \"100, 1h\", and this run has \"200, 1h\"");
    options.rotate_bytes = 0;
    ck_assert_int_eq(replay(), KRC_E_MISMATCH);
    options.rotate_bytes = 100;
    ck_assert_int_eq(replay(), KRC_OK);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_store_that_a_reader_has_used,
        a_store_that_a_reader_is_about_to_use,
        rotation_is_as_it_was_begun,
    };
    return run_tests("replay: replay", tests, sizeof tests / sizeof *tests, setup, make_teardown);
}
