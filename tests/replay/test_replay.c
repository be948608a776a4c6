/*
 * krc_replay as a program calls it; what the command shows is in tests/cmd/replay.sh.
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

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

static int replay_with(const char *property, const char *value)
{
    krc_config *config = krc_config_new();
    ck_assert_int_eq(krc_config_add_log_dir(config, tempdir_path("data"), &error), KRC_OK);
    ck_assert_int_eq(krc_config_set(config, property, value, &error), KRC_OK);
    int rc = krc_replay(config, &options, &error);
    krc_config_free(config);
    return rc;
}

static int replay(void)
{
    return replay_with("group.id", "");
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
    ck_assert_int_eq(replay_with("offset.store.file", store), KRC_E_MISMATCH);
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
    ck_assert_int_eq(replay_with("offset.store.file", store), KRC_OK);
    ck_assert_int_eq(krc_commit(handle, &error), KRC_E_STATE);
    check_says(error.message, "krc.db keeps how far the output of a replay goes");
    krc_close(handle);
}
END_TEST

/* Another group's offsets would have it begin anew, and cut off what was written. */
START_TEST(the_group_is_as_it_was_begun)
{
    ck_assert_int_eq(replay_with("group.id", "g"), KRC_OK);
    ck_assert_int_eq(replay(), KRC_E_MISMATCH);
    check_says(error.message, "group.id \"g\", and this run has \"default\"");
    ck_assert_int_eq(replay_with("group.id", "g"), KRC_OK);
}
END_TEST

static size_t count_lines(const char *path)
{
    struct krc_buffer file = tempdir_read(path);
    size_t lines = 0;
    for (size_t i = 0; i < file.len; i++)
        lines += file.data[i] == '\n';
    krc_buffer_free(&file);
    return lines;
}

static void delete_from(const char *table)
{
    sqlite3 *db;
    char sql[64];
    snprintf(sql, sizeof sql, "DELETE FROM %s", table);
    ck_assert_int_eq(sqlite3_open(tempdir_path("out/krc.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(a_store_that_was_meddled_with)
{
    ck_assert_int_eq(replay(), KRC_OK);
    delete_from("offsets");
    ck_assert_int_eq(replay(), KRC_E_STORE);
    check_says(error.message, "krc.db does not say of t-0 both");
    ck_assert_uint_eq(count_lines("out/t-0.jsonl"), 5);
}
END_TEST

START_TEST(topics_that_cannot_be)
{
    static const char *const names[] = {"../../t", "/tmp/t", "..", "", "a b"};
    const char *topics[1];
    options.topics = topics;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        partitions[0].topic = topics[0] = names[i];
        options.partition_count = 1;
        options.topic_count = 0;
        ck_assert_int_eq(replay(), KRC_E_INVALID);
        check_says(error.message, "is not a valid topic name");
        options.partition_count = 0;
        options.topic_count = 1;
        options.join = true;
        ck_assert_int_eq(replay(), KRC_E_INVALID);
        check_says(error.message, "is not a valid topic name");
        options.join = false;
    }
    ck_assert_int_ne(access(tempdir_path("out"), F_OK), 0);
}
END_TEST

START_TEST(a_partition_twice)
{
    partitions[1] = partitions[0];
    options.partition_count = options.jobs = 2;
    ck_assert_int_eq(replay(), KRC_E_INVALID);
    check_says(error.message, "t-0 is wanted twice");
}
END_TEST

/* One partition that cannot be read keeps no other from being written. */
START_TEST(a_limit_and_a_partition_that_cannot_be_opened)
{
    tempdir_write_text("data/t-0/leader-epoch-checkpoint", "0\n1\nx y\n");
    tempdir_mkdir("data/u-0");
    make_plain(0, 5);
    tempdir_write("data/u-0/00000000000000000000.log", make_bytes.data, make_bytes.len);
    partitions[1] = (struct krc_replay_partition){"u", 0, KRC_EARLIEST, KRC_NO_END};
    options.partition_count = 2;
    options.max_records = 3;
    ck_assert_int_eq(replay(), KRC_E_CORRUPT);
    ck_assert_uint_eq(count_lines("out/u-0.jsonl"), 3);
}
END_TEST

static void delete_next_segment(void *arg, const struct krc_replay_progress *progress)
{
    (void)arg;
    if (progress->records > 0)
        unlink(tempdir_path("data/t-0/00000000000000000005.log"));
}

/* As a running broker may do. */
START_TEST(a_segment_that_is_deleted_meanwhile)
{
    make_plain(5, 5);
    make_segment(5);
    tempdir_mkdir("data/u-0");
    make_plain(0, 5);
    tempdir_write("data/u-0/00000000000000000000.log", make_bytes.data, make_bytes.len);
    partitions[1] = (struct krc_replay_partition){"u", 0, KRC_EARLIEST, KRC_NO_END};
    options.partition_count = 2;
    options.progress = delete_next_segment;
    ck_assert_int_eq(replay(), KRC_E_IO);
    check_says(error.message, "00000000000000000005.log");
    ck_assert_uint_eq(count_lines("out/t-0.jsonl"), 5);
    ck_assert_uint_eq(count_lines("out/u-0.jsonl"), 5);
}
END_TEST

START_TEST(a_codec_that_this_build_may_lack)
{
    tempdir_copy("tests/golden/fixtures/kafka-4.3.1/codec-snappy-0", "data/codec-snappy-0");
    partitions[1] = partitions[0];
    partitions[0].topic = "codec-snappy";
    options.partition_count = 2;
    int rc = replay();
    ck_assert_msg(rc == KRC_OK || rc == KRC_E_UNSUPPORTED, "%s", error.message);
    ck_assert_uint_eq(count_lines("out/t-0.jsonl"), 5);
}
END_TEST

START_TEST(rotation_is_as_it_was_begun)
{
    options.rotate_bytes = 100;
    options.rotate_hours = 1;
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
        the_group_is_as_it_was_begun,
        a_store_that_was_meddled_with,
        topics_that_cannot_be,
        a_partition_twice,
        a_limit_and_a_partition_that_cannot_be_opened,
        a_segment_that_is_deleted_meanwhile,
        a_codec_that_this_build_may_lack,
        rotation_is_as_it_was_begun,
    };
    return run_tests("replay: replay", tests, sizeof tests / sizeof *tests, setup, make_teardown);
}
