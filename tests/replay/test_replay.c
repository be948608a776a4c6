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

static int replay(void)
{
    krc_config *config = krc_config_new();
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("data"), &error), KRC_OK);
    int rc = krc_replay(config, &options, &error);
    krc_config_free(config);
    return rc;
}

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
        rotation_is_as_it_was_begun,
    };
    return run_tests("replay: replay", tests, sizeof tests / sizeof *tests, setup, make_teardown);
}
