/*
 * Where a group goes on in a copy of its log.  Both logs are written as words, a record each:
 *
 *     a       the record "a", whose time is its letter's
 *     ~a      the same in an aborted transaction, which takes two offsets
 *     !       a marker
 *     -       an offset without a record
 *     |       the committed offset
 *     @7      the log begins at offset 7
 */
#include <krc-tools.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/build.h"
#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static krc_error error;
static struct krc_migrate_options options;
static bool appended; /* TO has timestamps of its own */

static void make_folders(void)
{
    tempdir_make();
    tempdir_mkdir("from");
    tempdir_mkdir("from/t-0");
    tempdir_mkdir("to");
    tempdir_mkdir("to/t-0");
}

static void setup(void)
{
    make_folders();
    options = (struct krc_migrate_options){.window_ms = 2000};
    appended = false;
}

/* ---- Logs as words --------------------------------------------------------------------------- */

static void put_record(struct krc_buffer *log, const char *word, int64_t offset, int64_t producer,
                       bool own_time)
{
    bool is_null = *word == '0';
    struct build_record record = {.key = is_null ? (struct krc_bytes){0} : build_text(word),
                                  .value = is_null ? (struct krc_bytes){0} : build_text(word)};
    int64_t time = own_time ? 5000000 + offset : 1000000 + 1000 * *word;
    build_batch(log, &(struct build_batch){.base_offset = offset,
                                           .base_timestamp = time,
                                           .max_timestamp = time,
                                           .log_append_time = own_time,
                                           .producer_id = producer,
                                           .transactional = producer != 0,
                                           .records = &record,
                                           .count = 1});
}

static int64_t put_word(struct krc_buffer *log, const char *word, int64_t offset, bool own_time)
{
    switch (*word) {
    case '!':
        build_marker(log, offset, 70, 0, 1);
        return offset + 1;
    case '~':
        put_record(log, word + 1, offset, 71, own_time);
        build_marker(log, offset + 1, 71, 0, 0);
        return offset + 2;
    case '-':
        return offset + 1;
    default:
        put_record(log, word, offset, 0, own_time);
        return offset + 1;
    }
}

static void write_segment(const char *side, int64_t start, const struct krc_buffer *log)
{
    char path[64];
    snprintf(path, sizeof path, "%s/t-0/%020lld.log", side, (long long)start);
    tempdir_write(path, log->data, log->len);
}

/* Writes a log, and says which offset is committed. */
static int64_t write_log(const char *side, const char *words, bool own_time)
{
    struct krc_buffer log = {0};
    char text[256], *rest = text;
    int64_t offset = 0, start = 0, committed = 0;
    snprintf(text, sizeof text, "%s", words);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        if (*word == '@')
            start = offset = strtoll(word + 1, NULL, 10);
        else if (*word == '|')
            committed = offset;
        else if (*word != '\0')
            offset = put_word(&log, word, offset, own_time);
    }
    write_segment(side, start, &log);
    krc_buffer_free(&log);
    return committed;
}

/* ---- What is found --------------------------------------------------------------------------- */

static struct krc_migration migrate_offset(int64_t committed)
{
    struct krc_migration m = {.topic = "t", .committed = committed};
    krc *from = consume_open(tempdir_path("from"), NULL);
    krc *to = consume_open(tempdir_path("to"), NULL);
    ck_assert_int_eq(krc_migrate(from, to, &options, &m, &error), KRC_OK);
    krc_close(from);
    krc_close(to);
    return m;
}

static const char *describe(const struct krc_migration *m)
{
    static char text[128];
    if (m->verdict == KRC_NOT_FOUND)
        return "not found";
    int len = snprintf(text, sizeof text, "%s %lld", krc_verdict_name(m->verdict),
                       (long long)m->offset);
    if (m->verdict == KRC_BY_TIMESTAMP)
        snprintf(text + len, sizeof text - (size_t)len, ", %lld again", (long long)m->again);
    else
        snprintf(text + len, sizeof text - (size_t)len, ", %d before, %d after%s", m->before,
                 m->after, m->by_neighbours ? ", by neighbours" : "");
    return text;
}

/* Of two logs, which are gone afterwards. */
static struct krc_migration migrate(const char *from, const char *to, const char *wanted)
{
    int64_t committed = write_log("from", from, false);
    (void)write_log("to", to, appended);
    struct krc_migration m = migrate_offset(committed);
    ck_assert_msg(strcmp(describe(&m), wanted) == 0, "%s -> %s: %s (%s)", from, to, describe(&m),
                  m.evidence);
    tempdir_remove();
    make_folders();
    return m;
}

/* ---- The record is there --------------------------------------------------------------------- */

START_TEST(the_record_itself_is_found)
{
    migrate("a b | c d", "a b c d", "exact 2, 2 before, 1 after");
    migrate("| a b", "a b", "exact 0, 0 before, 1 after");
    migrate("a b | c", "c", "exact 0, 0 before, 0 after");
    migrate("a b | c d", "@7 b - c x d", "exact 9, 1 before, 0 after");
    migrate("a b c d e f g h i j k | l m", "x c d e f g h i j k l m",
            "exact 10, 8 before, 1 after");
    struct krc_migration m = migrate("a b | ! - c", "a b c", "exact 2, 2 before, 0 after");
    ck_assert_int_eq(m.record_offset, 4);
}
END_TEST

START_TEST(markers_and_what_was_aborted_are_no_records)
{
    migrate("a b ! | c d", "a ! b ~c ! c d !", "exact 6, 2 before, 1 after");
    migrate("a ~c b ~d | ~d c d", "a b ~d c d", "exact 4, 2 before, 1 after");
}
END_TEST

START_TEST(at_the_end_it_is_behind_the_last_record)
{
    migrate("a b c |", "x a b c y", "exact 4, 3 before, 0 after");
    migrate("a b c ! |", "a b c !", "exact 3, 3 before, 0 after");
    migrate("a b p p |", "a b p p", "exact 4, 4 before, 0 after, by neighbours");
    migrate("a b p p |", "a b p p x", "exact 4, 4 before, 0 after, by neighbours");
    migrate("a b p p |", "a b p p p", "by timestamp 2, 3 again");
    migrate("a b c |", "a b x", "by timestamp 2, 0 again");
}
END_TEST

/* Where a copier went back, the first copy counts. */
START_TEST(of_copies_the_first_counts)
{
    migrate("a b c | d e", "a b c d b c d e", "exact 3, 3 before, 0 after");
    migrate("a b c | d e", "a b a b c d e", "exact 5, 3 before, 1 after");
    migrate("a b c |", "a b c b c", "exact 3, 3 before, 0 after");
}
END_TEST

START_TEST(neighbours_decide_between_repeated_records)
{
    migrate("a p p | p p e", "a p p p p e", "exact 3, 3 before, 2 after, by neighbours");
    migrate("p p | p e", "p p p e", "exact 2, 2 before, 1 after, by neighbours");
    migrate("p p | p p", "x p p p p y", "exact 3, 2 before, 1 after, by neighbours");
    migrate("a p p | p p e", "a p p p e", "by timestamp 1, 3 again");
    migrate("a p p | p p e", "a p p p p p e", "by timestamp 1, 5 again");
    migrate("a p p | p p e", "p p p e", "by timestamp 0, 3 again");
    migrate("a 0 b | 0 c", "a 0 b 0 c", "exact 3, 3 before, 1 after, by neighbours");
}
END_TEST

/* ---- It is not ------------------------------------------------------------------------------- */

START_TEST(what_was_compacted_away_there)
{
    migrate("a b | c d", "a b - d", "by timestamp 2, 0 again");
    migrate("a b | c d", "a - - d", "by timestamp 1, 0 again");
    migrate("a b | c d e", "x - - y e", "by timestamp 4, 0 again");
    /* a later record with the content of one that is gone is no proof */
    migrate("a b | c d e c", "a b - d e c", "by timestamp 2, 0 again");
    migrate("| c d e c", "d e c", "exact 0, 0 before, 0 after");
}
END_TEST

START_TEST(where_the_copy_begins_behind_it)
{
    struct krc_migration m = migrate("a b | c d e", "@7 d e", "exact 7, 0 before, 0 after");
    check_says(m.evidence, "its log begins at offset 7");
    migrate("a b | c d e", "@7 x d e", "by timestamp 8, 0 again");
    migrate("a b | c d e", "@7 ~b ! d e", "exact 10, 0 before, 0 after");
}
END_TEST

START_TEST(a_copy_that_lags)
{
    migrate("a b c | d", "a", "by timestamp 1, 0 again");
    migrate("a b c | d", "a b c", "by timestamp 3, 0 again");
}
END_TEST

START_TEST(nothing_is_there)
{
    struct krc_migration m = migrate("a b | c d", "x y", "not found");
    check_says(m.evidence, "no record around the committed offset is there");
    migrate("a b | c d", "", "not found");
    migrate("a b |", "", "not found");
}
END_TEST

/* ---- Special offsets ------------------------------------------------------------------------- */

START_TEST(logs_without_records)
{
    struct krc_migration m = migrate("@9 |", "! !", "exact 2, 0 before, 0 after");
    check_says(m.evidence, "neither log holds a record any more");
    migrate("@9 |", "a", "not found");
    m = migrate("|", "@4 a", "exact 4, 0 before, 0 after");
    check_says(m.evidence, "nothing was processed yet");
    migrate("| b", "@4 a", "exact 4, 0 before, 0 after");
}
END_TEST

START_TEST(what_is_gone_here_may_lie_there)
{
    write_log("from", "@5 c d", false);
    write_log("to", "a b c d", false);
    struct krc_migration m = migrate_offset(3);
    ck_assert_str_eq(describe(&m), "not found");
    check_says(m.evidence, "offsets 3 to 4 were still to be read and are gone here; there they may "
                           "lie somewhere before offset 2");
    write_log("to", "! c d", false);
    m = migrate_offset(3);
    ck_assert_str_eq(describe(&m), "exact 1, 0 before, 1 after");
}
END_TEST

START_TEST(offsets_beyond_the_end)
{
    write_log("from", "a b", false);
    write_log("to", "a b", false);
    struct krc_migration m = migrate_offset(3);
    ck_assert_str_eq(describe(&m), "not found");
    check_says(m.evidence, "beyond the log's end, offset 2");
}
END_TEST

/* Its reader read uncommitted. */
START_TEST(an_offset_inside_an_open_transaction)
{
    struct krc_buffer log = {0};
    put_record(&log, "a", 0, 0, false);
    put_record(&log, "b", 1, 72, false);
    put_record(&log, "c", 2, 72, false);
    write_segment("from", 0, &log);
    krc_buffer_free(&log);
    write_log("to", "a", false);
    struct krc_migration m = migrate_offset(2);
    ck_assert_str_eq(describe(&m), "by timestamp 1, 1 again");
    m = migrate_offset(1);
    ck_assert_str_eq(describe(&m), "exact 1, 1 before, 0 after");
}
END_TEST

START_TEST(partitions_that_are_not_there)
{
    struct krc_migration m = {.topic = "t", .partition = 1};
    krc *from = consume_open(tempdir_path("from"), NULL);
    ck_assert_int_eq(krc_migrate(from, from, &options, &m, &error), KRC_OK);
    ck_assert_str_eq(describe(&m), "not found");
    check_says(m.evidence, "here: there is no partition t-1");
    krc_close(from);
}
END_TEST

/* ---- Time ------------------------------------------------------------------------------------ */

START_TEST(a_copy_with_timestamps_of_its_own)
{
    appended = true;
    struct krc_migration m = migrate("a b | c d", "x a b c d", "exact 3, 2 before, 1 after");
    ck_assert(m.timeless);
    migrate("a b | c d e c", "a b d e c", "by timestamp 2, 0 again");
    appended = false;
    options.timeless = true;
    migrate("a b | c d", "x a b c d", "exact 3, 2 before, 1 after");
}
END_TEST

/* Times of letters are not in order here; the window has to be wide enough. */
START_TEST(times_that_go_back)
{
    options.window_ms = 26000;
    migrate("z b | a y c", "z b a y c", "exact 2, 2 before, 2 after");
    migrate("z b | y a c", "a c", "exact 0, 0 before, 0 after");
}
END_TEST

START_TEST(the_same_log)
{
    options.same_offsets = true;
    struct krc_migration m = {.topic = "t", .committed = 17};
    ck_assert_int_eq(krc_migrate(NULL, NULL, &options, &m, &error), KRC_OK);
    ck_assert_int_eq(m.verdict, KRC_SAME);
    ck_assert_int_eq(m.offset, 17);
}
END_TEST

/* ---- Many of one time ------------------------------------------------------------------------ */

enum { MANY = 30000 };

/* Records of one time, each as its number modulo `cycle`, from `first` on. */
static void write_many(const char *side, int first, int cycle)
{
    struct krc_buffer log = {0};
    static struct build_record records[MANY];
    static char texts[MANY][12];
    for (int i = first; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "%d", i % cycle);
        records[i - first] = (struct build_record){.offset_delta = i - first,
                                                   .value = build_text(texts[i])};
    }
    build_batch(&log, &(struct build_batch){.base_timestamp = 1000,
                                            .max_timestamp = 1000,
                                            .records = records,
                                            .count = MANY - first});
    write_segment(side, 0, &log);
    krc_buffer_free(&log);
}

START_TEST(thousands_of_one_time)
{
    write_many("from", 0, MANY);
    write_many("to", 11000, MANY);
    struct krc_migration m = migrate_offset(12000);
    ck_assert_str_eq(describe(&m), "exact 1000, 8 before, 8 after");
    m = migrate_offset(MANY);
    ck_assert_str_eq(describe(&m), "exact 19000, 8 before, 0 after");
    m = migrate_offset(100); /* its neighbours are gone as well */
    ck_assert_str_eq(describe(&m), "exact 0, 0 before, 0 after");
}
END_TEST

/* No record is like no other; what comes again and again is never taken for what it is not. */
START_TEST(thousands_that_are_alike)
{
    write_many("from", 0, 1);
    write_many("to", 10000, 1);
    struct krc_migration m = migrate_offset(15000);
    ck_assert_int_eq(m.verdict, KRC_BY_TIMESTAMP);
    ck_assert_int_eq(m.offset, 0);
    ck_assert_int_eq(m.again, MANY - 10000);
    m = migrate_offset(MANY - 20);
    ck_assert_int_eq(m.verdict, KRC_BY_TIMESTAMP);
    ck_assert_int_eq(m.offset, 0);
}
END_TEST

/* A copy that holds the last of three rounds alone looks like the first from anywhere within. */
START_TEST(rounds_that_come_again)
{
    write_many("from", 0, 10000);
    write_many("to", 20000, 10000);
    struct krc_migration m = migrate_offset(5000);
    ck_assert_int_eq(m.verdict, KRC_BY_TIMESTAMP);
    ck_assert_int_eq(m.offset, 0);
    m = migrate_offset(25000);
    ck_assert_int_le(m.offset, 5000);
}
END_TEST

/* The copy begins behind the window, and what comes again there lies further on. */
START_TEST(what_comes_again_behind_the_window)
{
    write_many("from", 0, 20000);
    write_many("to", 18000, 20000);
    struct krc_migration m = migrate_offset(1);
    ck_assert_int_eq(m.verdict, KRC_BY_TIMESTAMP);
    ck_assert_int_eq(m.offset, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_record_itself_is_found,
        markers_and_what_was_aborted_are_no_records,
        at_the_end_it_is_behind_the_last_record,
        of_copies_the_first_counts,
        neighbours_decide_between_repeated_records,
        what_was_compacted_away_there,
        where_the_copy_begins_behind_it,
        a_copy_that_lags,
        nothing_is_there,
        logs_without_records,
        what_is_gone_here_may_lie_there,
        offsets_beyond_the_end,
        an_offset_inside_an_open_transaction,
        partitions_that_are_not_there,
        a_copy_with_timestamps_of_its_own,
        times_that_go_back,
        the_same_log,
        thousands_of_one_time,
        thousands_that_are_alike,
        rounds_that_come_again,
        what_comes_again_behind_the_window,
    };
    return run_tests("admin: migration", tests, sizeof tests / sizeof *tests, setup,
                     tempdir_remove);
}
