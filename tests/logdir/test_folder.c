#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logdir/log.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

#define FIXTURES "tests/golden/fixtures/"

static krc_error error;
static struct krc_log_places places;

static int find(const char *path)
{
    return krc_log_places_find(&places, &path, 1, false, NULL, &error);
}

static const struct krc_log_place *place_of(const char *topic, int32_t partition)
{
    for (size_t i = 0; i < places.count; i++)
        if (strcmp(places.list[i].topic, topic) == 0 && places.list[i].partition == partition)
            return &places.list[i];
    ck_abort_msg("no %s-%d", topic, (int)partition);
}

START_TEST(a_data_folder)
{
    ck_assert_int_eq(find(FIXTURES "kafka-4.3.1"), KRC_OK);
    ck_assert_uint_eq(places.count, 18);
    for (size_t i = 1; i < places.count; i++)
        ck_assert_int_le(strcmp(places.list[i - 1].topic, places.list[i].topic), 0);
    const struct krc_log_place *place = place_of("txns", 1);
    ck_assert_str_eq(place->folder, FIXTURES "kafka-4.3.1/txns-1");
    ck_assert_str_eq(place->cluster_id, "MkU3OEVBNTcwNTJENDM2Qg");
    ck_assert_int_eq(place->high_watermark, 212);
    ck_assert_int_eq(place->log_start_offset, -1);
    ck_assert_int_eq(place->cleaned_to, -1);
    ck_assert_int_eq(place->topic_id.bytes[0], 0xb3);
    ck_assert_ptr_null(place->file);
    ck_assert_int_eq(place_of("trimmed", 0)->log_start_offset, 52);
    ck_assert_int_eq(place_of("emptied", 0)->log_start_offset, 25);
    ck_assert_int_eq(place_of("compacted", 0)->cleaned_to, 565);
    ck_assert_int_eq(place_of("__cluster_metadata", 0)->high_watermark, -1);
    krc_log_places_free(&places);
}
END_TEST

START_TEST(a_partition_folder_looks_above)
{
    ck_assert_int_eq(find(FIXTURES "kafka-4.3.1/trimmed-0/"), KRC_OK);
    ck_assert_uint_eq(places.count, 1);
    ck_assert_str_eq(places.list[0].topic, "trimmed");
    ck_assert_int_eq(places.list[0].log_start_offset, 52);
    ck_assert_int_eq(places.list[0].high_watermark, 90);
    ck_assert_str_eq(places.list[0].cluster_id, "MkU3OEVBNTcwNTJENDM2Qg");
    krc_log_places_free(&places);
}
END_TEST

START_TEST(a_single_file)
{
    ck_assert_int_eq(find(FIXTURES "kafka-4.3.1/txns-segments-0/00000000000000000233.log"), KRC_OK);
    ck_assert_uint_eq(places.count, 1);
    ck_assert_str_eq(places.list[0].topic, "txns-segments");
    ck_assert_str_eq(places.list[0].file, "00000000000000000233.log");
    ck_assert_int_eq(places.list[0].high_watermark, 980);
    struct krc_log *log;
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], false, &error), KRC_OK);
    ck_assert_uint_eq(log->segment_count, 1);
    ck_assert_int_eq(log->segments[0].base_offset, 233);
    ck_assert_int_eq(log->log_start_offset, 233);
    krc_log_close(log);
    krc_log_places_free(&places);
}
END_TEST

START_TEST(a_file_in_the_working_folder)
{
    tempdir_copy(FIXTURES "kafka-4.3.1/txns-0", "copied");
    ck_assert_int_eq(chdir(tempdir_path("copied")), 0);
    ck_assert_int_eq(find("00000000000000000000.log"), KRC_OK);
    ck_assert_str_eq(places.list[0].topic, "copied"); /* the name says no partition */
    ck_assert_int_eq(places.list[0].partition, 0);
    krc_log_places_free(&places);
    ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

START_TEST(leftovers_are_no_partitions)
{
    static const char *const names[] = {
        "a-b.c-0", "a-b.c-12",
        "a-1.0123456789abcdef0123456789abcdef-delete",
        "a-1.0123456789abcdef0123456789abcdef-future",
        "a-1.0123456789abcdef0123456789abcdef-stray",
        "a-01", "a-", "-0", "a-2147483648", "b c-0", "lost+found",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tempdir_mkdir(names[i]);
    tempdir_write_text("x-0", "a file");
    ck_assert_int_eq(find(tempdir_path("%s", "")), KRC_OK);
    ck_assert_uint_eq(places.count, 2);
    ck_assert_str_eq(places.list[0].topic, "a-b.c");
    ck_assert_int_eq(places.list[0].partition, 0);
    ck_assert_int_eq(places.list[1].partition, 12);
    krc_log_places_free(&places);
}
END_TEST

START_TEST(checkpoints_find_every_partition)
{
    for (int i = 0; i < 37; i++) {
        char name[32];
        snprintf(name, sizeof name, "%c-%d", 'a' + i % 3, i / 3);
        tempdir_mkdir(name);
    }
    tempdir_write_text("replication-offset-checkpoint",
                       "0\n5\na 0 10\nb 11 21\nc 11 32\nzz 0 9\na 12 42\n");
    tempdir_write_text(".kafka_cleanshutdown", "");
    ck_assert_int_eq(find(tempdir_path("%s", "")), KRC_OK);
    ck_assert_uint_eq(places.count, 37);
    ck_assert_int_eq(place_of("a", 0)->high_watermark, 10);
    ck_assert_int_eq(place_of("b", 11)->high_watermark, 21);
    ck_assert_int_eq(place_of("c", 11)->high_watermark, 32);
    ck_assert_int_eq(place_of("a", 12)->high_watermark, 42);
    ck_assert_int_eq(place_of("a", 1)->high_watermark, -1);
    ck_assert(place_of("a", 1)->stopped_cleanly);
    krc_log_places_free(&places);
}
END_TEST

START_TEST(one_partition_in_two_folders)
{
    tempdir_mkdir("d1");
    tempdir_mkdir("d1/t-0");
    tempdir_mkdir("d2");
    tempdir_mkdir("d2/t-0");
    tempdir_mkdir("d2/t-1");
    const char *paths[] = {tempdir_path("d1"), tempdir_path("d2")};
    ck_assert_int_eq(krc_log_places_find(&places, paths, 2, false, NULL, &error), KRC_E_AMBIGUOUS);
    ck_assert_ptr_nonnull(strstr(error.message, "t-0 is there twice"));
    ck_assert_ptr_nonnull(strstr(error.message, tempdir_path("d1/t-0")));
    ck_assert_ptr_nonnull(strstr(error.message, tempdir_path("d2/t-0")));
    ck_assert_str_eq(error.topic, "t");
    ck_assert_int_eq(error.partition, 0);
    ck_assert_uint_eq(places.count, 0);
}
END_TEST

static void refuse(const char *path, int code, const char *message)
{
    ck_assert_int_eq(find(path), code);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
    ck_assert_msg(strstr(error.message, path) != NULL, "%s", error.message);
    ck_assert_uint_eq(places.count, 0);
}

START_TEST(what_is_refused)
{
    refuse(tempdir_path("nowhere"), KRC_E_NOT_FOUND, "cannot find");
    tempdir_mkdir("empty");
    refuse(tempdir_path("empty"), KRC_E_NOT_FOUND, "no Kafka logs in");
    tempdir_write_text("notes.log", "hello");
    refuse(tempdir_path("notes.log"), KRC_E_NOT_FOUND, "a segment's name is 20 digits and .log");
    tempdir_mkdir("data");
    tempdir_mkdir("data/t-0");
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n1\n");
    refuse(tempdir_path("data"), KRC_E_CORRUPT, "a checkpoint of 0 lines that should have 1");
    ck_assert_ptr_nonnull(strstr(error.message, "/data/cleaner-offset-checkpoint"));
    tempdir_write_text("data/cleaner-offset-checkpoint", "0\n0\n");
    tempdir_write_text("data/t-0/partition.metadata", "version: 0\n");
    refuse(tempdir_path("data"), KRC_E_CORRUPT, "a partition.metadata without a topic id");
}
END_TEST

START_TEST(a_data_folder_without_partitions)
{
    tempdir_write_text("meta.properties", "version=1\ncluster.id=x\n");
    ck_assert_int_eq(find(tempdir_path("%s", "")), KRC_OK);
    ck_assert_uint_eq(places.count, 0);
    krc_log_places_free(&places);
}
END_TEST

START_TEST(segments_of_a_log)
{
    ck_assert_int_eq(find(FIXTURES "kafka-4.3.1"), KRC_OK);
    struct krc_log *log;
    /* .deleted files lie beside its two segments */
    ck_assert_int_eq(krc_log_open(&log, place_of("compacted", 0), false, &error), KRC_OK);
    ck_assert_uint_eq(log->segment_count, 2);
    ck_assert_int_eq(log->segments[1].base_offset, 565);
    krc_log_close(log);

    ck_assert_int_eq(krc_log_open(&log, place_of("trimmed", 0), false, &error), KRC_OK);
    ck_assert_int_eq(log->log_start_offset, 52);
    char path[4096];
    krc_log_path(log, 0, ".index", path, sizeof path);
    ck_assert_str_eq(path, FIXTURES "kafka-4.3.1/trimmed-0/00000000000000000000.index");
    krc_log_close(log);
    krc_log_places_free(&places);
}
END_TEST

START_TEST(ends_of_leader_epochs)
{
    tempdir_mkdir("t-0");
    tempdir_write_text("t-0/leader-epoch-checkpoint", "0\n3\n2 10\n5 20\n6 30\n");
    ck_assert_int_eq(find(tempdir_path("t-0")), KRC_OK);
    struct krc_log *log;
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], false, &error), KRC_OK);
    ck_assert_uint_eq(log->segment_count, 0);
    int32_t found;
    int64_t end;
    ck_assert(!krc_log_epoch_end(log, 1, 40, &found, &end));
    ck_assert(krc_log_epoch_end(log, 2, 40, &found, &end));
    ck_assert(found == 2 && end == 20);
    ck_assert(krc_log_epoch_end(log, 4, 40, &found, &end));
    ck_assert(found == 2 && end == 20);
    ck_assert(krc_log_epoch_end(log, 9, 40, &found, &end));
    ck_assert(found == 6 && end == 40);
    krc_log_close(log);

    tempdir_write_text("t-0/leader-epoch-checkpoint", "7\n");
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], false, &error), KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "/t-0/leader-epoch-checkpoint"));
    ck_assert_str_eq(error.topic, "t");
    ck_assert_ptr_null(log);
    krc_log_places_free(&places);
}
END_TEST

/* Named as partitions, but of no topic that there can be: reported once and left out. */
static int notes;
static char noted[512];

static void note(void *arg, const char *topic, const char *text)
{
    ck_assert_ptr_null(arg);
    ck_assert_str_eq(topic, "");
    snprintf(noted, sizeof noted, "%s", text);
    notes++;
}

START_TEST(folders_of_no_valid_topic)
{
    static const char *const names[] = {"..-0", ".-1", "a b-0", "t\x1b[2J-0", "\xc3\xa9-0"};
    tempdir_mkdir("data");
    tempdir_mkdir("data/t-0");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_int_eq(mkdir(tempdir_path("data/%s", names[i]), 0777), 0);
    ck_assert_msg(find(tempdir_path("data")) == KRC_OK, "%s", error.message);
    ck_assert_uint_eq(places.count, 1);
    ck_assert_str_eq(places.list[0].topic, "t");
    notes = 0;
    krc_log_places_tell(&places, note, NULL);
    ck_assert_int_eq(notes, 1);
    ck_assert_ptr_nonnull(strstr(noted, "not of a valid topic name"));
    ck_assert_ptr_null(strchr(noted, '\x1b'));
    krc_log_places_free(&places);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[300];
        snprintf(file, sizeof file, "data/%s/00000000000000000000.log", names[i]);
        tempdir_write_text(file, "");
        ck_assert_int_eq(find(tempdir_path("data/%s", names[i])), KRC_E_INVALID);
        ck_assert_ptr_nonnull(strstr(error.message, "is not a valid topic name"));
        ck_assert_ptr_null(strchr(error.message, '\x1b'));
    }
    tempdir_write_text("data/t-0/00000000000000000000.log", "");
    ck_assert_int_eq(find(tempdir_path("data/t-0")), KRC_OK);
    krc_log_places_tell(&places, note, NULL);
    ck_assert_int_eq(notes, 1);
    krc_log_places_free(&places);
}
END_TEST

START_TEST(the_wrong_format)
{
    tempdir_mkdir("t-0");
    tempdir_write_text("t-0/00000000000000000000.kafka", "");
    const char *path = tempdir_path("t-0");
    struct krc_log *log;
    ck_assert_int_eq(find(path), KRC_OK);
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], false, &error), KRC_E_INVALID);
    ck_assert_ptr_nonnull(strstr(error.message, "set the log format to 0.7"));
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], true, &error), KRC_OK);
    ck_assert_uint_eq(log->segment_count, 1);
    krc_log_close(log);
    krc_log_places_free(&places);

    tempdir_mkdir("u-0");
    tempdir_write_text("u-0/00000000000000000000.log", "");
    path = tempdir_path("u-0");
    ck_assert_int_eq(krc_log_places_find(&places, &path, 1, true, NULL, &error), KRC_OK);
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], true, &error), KRC_E_INVALID);
    ck_assert_ptr_nonnull(strstr(error.message, "the log format is said to be 0.7, but"));
    krc_log_places_free(&places);
    path = tempdir_path("u-0/00000000000000000000.log");
    ck_assert_int_eq(krc_log_places_find(&places, &path, 1, true, NULL, &error), KRC_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.message, "20 digits and .kafka"));
}
END_TEST

/* Nobody writes into the FIFOs: whoever opens one to read it waits for ever. */
static void make_fifo(const char *path)
{
    unlink(tempdir_path("%s", path));
    ck_assert_int_eq(mkfifo(tempdir_path("%s", path), 0666), 0);
}

START_TEST(small_files_that_are_no_files)
{
    static const char *const names[] = {"t-0/partition.metadata", "meta.properties",
                                        "log-start-offset-checkpoint",
                                        "replication-offset-checkpoint",
                                        "cleaner-offset-checkpoint"};
    struct krc_log *log;
    tempdir_mkdir("t-0");
    tempdir_write_text("t-0/00000000000000000000.log", "");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make_fifo(names[i]);
        ck_assert_int_eq(find(tempdir_path("t-0")), KRC_E_CORRUPT);
        ck_assert_ptr_nonnull(strstr(error.message, "this is no regular file: "));
        ck_assert_ptr_nonnull(strstr(error.message, names[i]));
        unlink(tempdir_path("%s", names[i]));
    }
    make_fifo("t-0/leader-epoch-checkpoint");
    ck_assert_int_eq(find(tempdir_path("t-0")), KRC_OK);
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], false, &error), KRC_E_CORRUPT);
    ck_assert_ptr_nonnull(strstr(error.message, "t-0/leader-epoch-checkpoint"));
    krc_log_places_free(&places);
}
END_TEST

static void refuse_segment(void)
{
    struct krc_log *log;
    ck_assert_int_eq(find(tempdir_path("t-0")), KRC_OK);
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], false, &error), KRC_E_IO);
    ck_assert_ptr_nonnull(strstr(error.message, "is no regular file: "));
    ck_assert_ptr_nonnull(strstr(error.message, "t-0/00000000000000000005.log"));
    ck_assert_str_eq(error.topic, "t");
    krc_log_places_free(&places);
}

START_TEST(segments_that_are_no_files)
{
    static const char path[] = "t-0/00000000000000000005.log";
    tempdir_mkdir("t-0");
    tempdir_write_text("t-0/00000000000000000000.log", "");
    make_fifo(path);
    refuse_segment();
    unlink(tempdir_path(path));
    ck_assert_int_eq(symlink("nowhere", tempdir_path(path)), 0);
    refuse_segment();
    unlink(tempdir_path(path));
    tempdir_mkdir(path);
    refuse_segment();
    rmdir(tempdir_path(path));
    struct krc_log *log; /* a link to a file is one */
    ck_assert_int_eq(symlink("00000000000000000000.log", tempdir_path(path)), 0);
    ck_assert_int_eq(find(tempdir_path("t-0")), KRC_OK);
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], false, &error), KRC_OK);
    ck_assert_uint_eq(log->segment_count, 2);
    krc_log_close(log);
    krc_log_places_free(&places);
}
END_TEST

START_TEST(a_folder_that_vanished)
{
    tempdir_mkdir("t-0");
    tempdir_write_text("t-0/00000000000000000000.log", "");
    ck_assert_int_eq(find(tempdir_path("t-0")), KRC_OK);
    unlink(tempdir_path("t-0/00000000000000000000.log"));
    rmdir(tempdir_path("t-0"));
    struct krc_log *log;
    ck_assert_int_eq(krc_log_open(&log, &places.list[0], false, &error), KRC_E_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(error.message, "cannot read the folder"));
    krc_log_places_free(&places);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_data_folder, a_partition_folder_looks_above, a_single_file, a_file_in_the_working_folder,
        leftovers_are_no_partitions, checkpoints_find_every_partition,
        one_partition_in_two_folders, what_is_refused, a_data_folder_without_partitions,
        segments_of_a_log, ends_of_leader_epochs, folders_of_no_valid_topic, the_wrong_format,
        small_files_that_are_no_files,
        segments_that_are_no_files, a_folder_that_vanished,
    };
    return run_tests("logdir: folder", tests, sizeof tests / sizeof *tests, tempdir_make,
                     tempdir_remove);
}
