/*
 * Real logs are clean, and shown as Kafka's own DumpLogSegments shows them.
 */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "logdir/verify.h"
#include "tests/support/build.h"
#include "tests/support/run.h"

#define FIXTURES "tests/golden/fixtures/"
#define DUMPS "tests/golden/dump/"

static struct krc_verify_summary summary;
static struct krc_buffer bytes;

static void teardown(void)
{
    krc_buffer_free(&bytes);
}

static void fail_at_finding(void *arg, bool fault, const char *sentence)
{
    (void)arg;
    ck_abort_msg("%s: %s", fault ? "fault" : "note", sentence);
}

static void verify(const char *path, enum krc_dump dump, FILE *out)
{
    krc_error error;
    struct krc_log_places places = {0};
    const struct krc_verify_limits limits = {false, 8 << 20, 8 << 20};
    const struct krc_verify_options options = {dump, out, fail_at_finding, NULL};
    int rc = krc_log_places_find(&places, &path, 1, false, NULL, &error);
    if (rc == 0)
        rc = krc_verify_log(&places.list[0], &limits, &options, &summary, &error);
    ck_assert_msg(rc == 0, "%s: %s", path, error.message);
    krc_log_places_free(&places);
}

static void read_dump(const char *path)
{
    gzFile in = gzopen(path, "rb");
    static char piece[1 << 16];
    ck_assert_msg(in != NULL, "%s", path);
    for (int n; (n = gzread(in, piece, sizeof piece)) > 0;)
        build_append(&bytes, piece, (size_t)n);
    gzclose(in);
}

/* Appends the dumps of all segments, in order: names have the same length. */
static void read_dumps(const char *partition)
{
    char path[1024];
    struct dirent **names;
    snprintf(path, sizeof path, DUMPS "%s", partition);
    int n = scandir(path, &names, NULL, alphasort);
    ck_assert_int_gt(n, 2);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, DUMPS "%s/%s", partition, names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            read_dump(path);
        free(names[i]);
    }
    free(names);
    build_append(&bytes, "", 1);
}

/* A text that may hold any bytes, cut off at its beginning line by line. */
struct text {
    const char *p, *end;
};

static struct text dump_text(void)
{
    return (struct text){(const char *)bytes.data, (const char *)bytes.data + bytes.len - 1};
}

static bool next_line(struct text *text, struct text *line)
{
    if (text->p == text->end)
        return false;
    const char *newline = memchr(text->p, '\n', (size_t)(text->end - text->p));
    ck_assert_ptr_nonnull(newline);
    *line = (struct text){text->p, newline};
    text->p = newline + 1;
    return true;
}

static const char *find(struct text in, const char *part)
{
    return memmem(in.p, (size_t)(in.end - in.p), part, strlen(part));
}

static bool begins(struct text in, const char *with)
{
    size_t len = strlen(with);
    return (size_t)(in.end - in.p) >= len && memcmp(in.p, with, len) == 0;
}

static int64_t count_lines(const char *begin, const char *part)
{
    int64_t n = 0;
    struct text text = dump_text(), line;
    while (next_line(&text, &line))
        n += begins(line, begin) && find(line, part) != NULL;
    return n;
}

/* `got` begins with `want`, which is cut off. */
static void match(const char *partition, struct text *got, struct text want)
{
    size_t len = (size_t)(want.end - want.p);
    ck_assert_msg((size_t)(got->end - got->p) >= len && memcmp(got->p, want.p, len) == 0,
                  "%s:\n%.*s\n%.200s", partition, (int)len, want.p, got->p);
    got->p += len;
}

static void skip_to_line(struct text *got, const char *begin)
{
    while (got->p < got->end && !(got->p[0] == '\n' && begins((struct text){got->p + 1, got->end},
                                                              begin)))
        got->p++;
}

/* krc shows a message of an old format without its validity and checksum, and KRaft's control
 * records by their type alone.  Where the dump was made without keys and values, what more krc
 * shows of a record is passed over. */
static void compare_line(const char *partition, struct text *got, struct text want, bool values)
{
    static const char valid[] = " isValid: true crc: ", json[] = " LeaderChange: {";
    const char *cut = begins(want, "| ") ? find(want, valid) : NULL;
    if (cut != NULL) {
        match(partition, got, (struct text){want.p, cut});
        want.p = cut + strlen(valid);
        want.p += strspn(want.p, "0123456789");
    }
    const char *leader = find(want, json);
    if (begins(want, "Dumping ")) /* another path */
        skip_to_line(got, "Log starting offset: ");
    else if (leader != NULL) {
        match(partition, got, (struct text){want.p, leader});
        static const char type[] = " controlType: LEADER_CHANGE(2)";
        match(partition, got, (struct text){type, type + strlen(type)});
    } else {
        match(partition, got, want);
    }
    while (!values && begins(want, "| ") && got->p + 1 < got->end &&
           !begins(*got, "\n| offset: ") && !begins(*got, "\nbaseOffset: "))
        got->p++;
    ck_assert_int_eq(*got->p++, '\n');
}

static void compare_dump(const char *partition, struct text got, bool values)
{
    struct text text = dump_text(), line;
    while (next_line(&text, &line))
        compare_line(partition, &got, line, values);
    ck_assert_ptr_eq(got.p, got.end);
}

static void check_fixture(const char *partition)
{
    char path[1024], *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    snprintf(path, sizeof path, FIXTURES "%s", partition);
    verify(path, KRC_DUMP_RECORDS, out);
    fclose(out);
    bytes.len = 0;
    read_dumps(partition);
    compare_dump(partition, (struct text){text, text + len},
                 strstr(partition, "/codec-") == NULL);
    ck_assert_int_eq(summary.batches, count_lines("", " position: "));
    ck_assert_int_eq(summary.records, count_lines("| offset: ", " keySize: "));
    ck_assert_int_eq(summary.markers, count_lines("| offset: ", " endTxnMarker: "));
    free(text);
}

/* Without snappy a log that has it is not clean. */
static bool is_readable(const char *partition)
{
#ifdef KRC_WITH_SNAPPY
    (void)partition;
    return true;
#else
    return strstr(partition, "snappy") == NULL && strstr(partition, "compacted") == NULL;
#endif
}

START_TEST(real_logs_are_clean_and_shown_as_kafka_shows_them)
{
    static const char *const folders[] = {"kafka-4.3.1", "kafka-0.8.2",
                                          "kafka-0.11-upgraded-from-0.10"};
    int partitions = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[512];
        struct dirent **names;
        snprintf(path, sizeof path, DUMPS "%s", folders[i]);
        int n = scandir(path, &names, NULL, alphasort);
        for (int j = 0; j < n; j++) {
            snprintf(path, sizeof path, "%s/%s", folders[i], names[j]->d_name);
            if (names[j]->d_name[0] != '.') {
                partitions++;
                if (is_readable(path))
                    check_fixture(path);
            }
            free(names[j]);
        }
        free(names);
    }
    ck_assert_int_eq(partitions, 26);
}
END_TEST

#ifdef KRC_WITH_SNAPPY
START_TEST(batches_alone)
{
    char *printed;
    size_t len;
    FILE *out = open_memstream(&printed, &len);
    verify(FIXTURES "kafka-4.3.1/compacted-0", KRC_DUMP_BATCHES, out);
    fclose(out);
    read_dumps("kafka-4.3.1/compacted-0");
    struct text text = dump_text(), line, got = {printed, printed + len};
    while (next_line(&text, &line))
        if (!begins(line, "| "))
            compare_line("compacted-0", &got, line, true);
    ck_assert_ptr_eq(got.p, got.end);
    free(printed);
}
END_TEST
#endif

int main(void)
{
    const TTest *const tests[] = {
        real_logs_are_clean_and_shown_as_kafka_shows_them,
#ifdef KRC_WITH_SNAPPY
        batches_alone,
#endif
    };
    return run_tests("dump", tests, sizeof tests / sizeof *tests, NULL, teardown);
}
