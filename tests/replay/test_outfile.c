/*
 * Files that grow by commits; gzip and zstd themselves say what is in the frames.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records/batch.h"
#include "replay/outfile.h"
#include "tests/support/build.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static struct krc_outfile out;
static krc_error error;
static int folder;

static void setup(void)
{
    tempdir_make();
    folder = open(tempdir_path("."), O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(folder, 0);
}

static void teardown(void)
{
    krc_outfile_free(&out);
    close(folder);
    tempdir_remove();
}

static void open_at(int64_t length, int codec)
{
    krc_outfile_free(&out);
    krc_outfile_init(&out, codec);
    int rc = krc_outfile_open(&out, folder, "DIR", "file", length, &error);
    ck_assert_msg(rc == KRC_OK, "%s", error.message);
}

static void put(const char *text)
{
    build_append(&out.plain, text, strlen(text));
    ck_assert_int_eq(krc_outfile_spill(&out, &error), KRC_OK);
}

static void flush(void)
{
    ck_assert_int_eq(krc_outfile_flush(&out, &error), KRC_OK);
    struct krc_buffer file = tempdir_read("file");
    ck_assert_uint_eq(file.len, (size_t)out.length);
    krc_buffer_free(&file);
}

static void expect(const char *wanted)
{
    struct krc_buffer file = tempdir_read("file");
    build_append(&file, "", 1);
    ck_assert_msg(file.len == strlen(wanted) + 1 && memcmp(file.data, wanted, file.len) == 0,
                  "expected \"%s\", got \"%.*s\"", wanted, (int)file.len - 1,
                  (const char *)file.data);
    krc_buffer_free(&file);
}

/* ---- Plain files ----------------------------------------------------------------------------- */

START_TEST(grows_by_commits)
{
    open_at(0, KRC_NONE);
    put("one");
    flush();
    put("two");
    flush();
    ck_assert_int_eq(out.length, 6);
    open_at(6, KRC_NONE);
    put("three");
    flush();
    expect("onetwothree");
}
END_TEST

START_TEST(what_was_not_committed_is_cut_away)
{
    tempdir_write_text("file", "committed, and more");
    open_at(9, KRC_NONE);
    expect("committed");
    put("!");
    flush();
    expect("committed!");
    put("in memory alone");
    open_at(10, KRC_NONE);
    expect("committed!");
    open_at(0, KRC_NONE); /* nothing of it was committed */
    expect("");
}
END_TEST

static void refused(int64_t length, int code, const char *says)
{
    krc_outfile_init(&out, KRC_NONE);
    ck_assert_int_eq(krc_outfile_open(&out, folder, "DIR", "file", length, &error), code);
    check_says(error.message, says);
}

START_TEST(a_file_that_is_shorter_than_was_committed)
{
    tempdir_write_text("file", "four");
    refused(5, KRC_E_CORRUPT, "DIR/file has 4 bytes, but 5 were committed");
    expect("four");
}
END_TEST

START_TEST(a_file_that_is_gone)
{
    refused(5, KRC_E_CORRUPT, "DIR/file is gone, but 5 bytes of it were committed");
    ck_assert_int_ne(access(tempdir_path("file"), F_OK), 0);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
    tempdir_write_text("other", "not ours");
    ck_assert_int_eq(symlink("other", tempdir_path("file")), 0);
    refused(0, KRC_E_IO, "cannot open DIR/file");
    refused(3, KRC_E_IO, "cannot open DIR/file");
    struct krc_buffer other = tempdir_read("other");
    ck_assert_uint_eq(other.len, 8);
    krc_buffer_free(&other);
}
END_TEST

START_TEST(a_folder_in_its_place)
{
    tempdir_mkdir("file");
    refused(0, KRC_E_IO, "cannot open DIR/file");
}
END_TEST

/* ---- Frames: each commit's can be read alone ------------------------------------------------- */

enum { COMMITS = 6 };
static int64_t ends[COMMITS + 1];
static struct krc_buffer plain[COMMITS];

/* Of these sizes, the first is of one byte, and some go out in several pieces. */
static const int sizes[COMMITS] = {1, 70000, 300 << 10, 2, 900 << 10, 4096};

static void write_commits(void)
{
    unsigned random = 1;
    open_at(0, out.compressor.codec);
    for (int i = 0; i < COMMITS; i++) {
        plain[i].len = 0;
        while ((int)plain[i].len < sizes[i]) {
            char piece[32];
            random = random * 1103515245 + 12345;
            int n = snprintf(piece, sizeof piece, "%x,", random >> 8);
            build_append(&plain[i], piece, (size_t)n);
        }
        for (size_t at = 0; at < plain[i].len; at += 50000) {
            size_t left = plain[i].len - at;
            build_append(&out.plain, plain[i].data + at, left < 50000 ? left : 50000);
            ck_assert_int_eq(krc_outfile_spill(&out, &error), KRC_OK);
        }
        flush();
        ends[i + 1] = out.length;
    }
}

static void check_unpacked(const char *tool, struct krc_bytes packed, struct krc_bytes wanted)
{
    char command[1024];
    tempdir_write("frame", packed.data, packed.len);
    snprintf(command, sizeof command, "%s -dc < %s > %s", tool, tempdir_path("frame"),
             tempdir_path("text"));
    ck_assert_int_eq(system(command), 0);
    struct krc_buffer got = tempdir_read("text");
    ck_assert_uint_eq(got.len, wanted.len);
    ck_assert_int_eq(memcmp(got.data, wanted.data, got.len), 0);
    krc_buffer_free(&got);
}

static void check_frames(const char *tool, int codec)
{
    struct krc_buffer whole = {0};
    out.compressor.codec = codec;
    write_commits();
    struct krc_buffer file = tempdir_read("file");
    for (int i = 0; i < COMMITS; i++) {
        struct krc_bytes frame = {file.data + ends[i], (size_t)(ends[i + 1] - ends[i])};
        ck_assert_uint_gt(frame.len, 0);
        check_unpacked(tool, frame, (struct krc_bytes){plain[i].data, plain[i].len});
        build_append(&whole, plain[i].data, plain[i].len);
        krc_buffer_free(&plain[i]);
    }
    check_unpacked(tool, (struct krc_bytes){file.data, file.len},
                   (struct krc_bytes){whole.data, whole.len});
    krc_buffer_free(&file);
    krc_buffer_free(&whole);
}

START_TEST(gzip_members)
{
    check_frames("gzip", KRC_GZIP);
}
END_TEST

START_TEST(zstd_frames)
{
    check_frames("zstd -q", KRC_ZSTD);
}
END_TEST

static void check_cut_back(const char *tool, int codec)
{
    open_at(0, codec);
    put("kept");
    flush();
    int64_t committed = out.length;
    for (int i = 0; i < 100000; i++)
        put("spilled, and never committed ");
    ck_assert_int_gt(out.length, committed);
    open_at(committed, codec);
    put(" for good");
    flush();
    int64_t length = out.length;
    flush(); /* nothing came since: no empty frame */
    ck_assert_int_eq(out.length, length);
    struct krc_buffer file = tempdir_read("file");
    check_unpacked(tool, (struct krc_bytes){file.data, file.len}, build_text("kept for good"));
    krc_buffer_free(&file);
}

START_TEST(half_a_frame_is_cut_away)
{
    check_cut_back("gzip", KRC_GZIP);
    check_cut_back("zstd -q", KRC_ZSTD);
}
END_TEST

/* The same output through the same file object, closed in the middle of a frame. */
START_TEST(another_file_begins_with_another_frame)
{
    open_at(0, KRC_ZSTD);
    for (int i = 0; i < 100000; i++)
        put("of the first file ");
    krc_outfile_close(&out);
    ck_assert_int_eq(krc_outfile_open(&out, folder, "DIR", "file", 0, &error), KRC_OK);
    put("second");
    flush();
    struct krc_buffer file = tempdir_read("file");
    check_unpacked("zstd -q", (struct krc_bytes){file.data, file.len}, build_text("second"));
    krc_buffer_free(&file);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        grows_by_commits,
        what_was_not_committed_is_cut_away,
        a_file_that_is_shorter_than_was_committed,
        a_file_that_is_gone,
        a_link_is_not_followed,
        a_folder_in_its_place,
        gzip_members,
        zstd_frames,
        half_a_frame_is_cut_away,
        another_file_begins_with_another_frame,
    };
    return run_tests("replay: outfile", tests, sizeof tests / sizeof *tests, setup, teardown);
}
