/*
 * A committed offset that the log no longer has, or that another topic of the same name had: where
 * reading goes on, what is said, and what the store remembers.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "store/store.h"
#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static char delivered[1024], account[256];
static struct consume_events events;
static struct krc_position at;
static krc_error error;

/* ---- The store ------------------------------------------------------------------------------- */

static struct krc_store *open_store(void)
{
    struct krc_store *store;
    int rc = krc_store_open(&store, tempdir_path("krc.db"), KRC_STORE_CREATE, &error);
    ck_assert_msg(rc == 0, "%s", error.message);
    return store;
}

/* Commits an offset, as if all below had been delivered. */
static void commit_offset_of(const char *topic, int64_t offset, int32_t epoch, uint8_t topic_id)
{
    struct krc_store *store = open_store();
    struct krc_stored row = {.offset = offset,
                             .leader_epoch = epoch,
                             .history = 1,
                             .settled = true,
                             .account = {.to = offset, .delivered = offset}};
    memset(&row.topic_id, topic_id, sizeof row.topic_id);
    ck_assert_int_eq(krc_store_begin(store, &error), 0);
    ck_assert_int_eq(krc_store_put(store, "default", topic, 0, &row, &error), 0);
    ck_assert_int_eq(krc_store_commit(store, &error), 0);
    krc_store_close(store);
}

static void commit_offset(int64_t offset, int32_t epoch, uint8_t topic_id)
{
    commit_offset_of("t", offset, epoch, topic_id);
}

static int add_reset(void *arg, const char *group, const char *topic, int32_t partition,
                     const struct krc_store_reset *reset)
{
    char *text = arg;
    ck_assert_str_eq(group, "default");
    ck_assert_str_eq(topic, "t");
    ck_assert_int_eq(partition, 0);
    ck_assert_int_gt(reset->time_ms, 1700000000000);
    size_t len = strlen(text);
    snprintf(text + len, 512 - len, "%lld>%lld lost %lld-%lld history %d: %s\n",
             (long long)reset->from, (long long)reset->to, (long long)reset->lost_from,
             (long long)reset->lost_to, (int)reset->history, reset->reason);
    return 0;
}

/* The resets as the store has them, a line each. */
static const char *stored_resets(void)
{
    static char text[512];
    text[0] = '\0';
    struct krc_store *store = open_store();
    ck_assert_int_eq(krc_store_each_reset(store, NULL, add_reset, text, &error), 0);
    krc_store_close(store);
    return text;
}

static struct krc_stored stored_offset(void)
{
    struct krc_stored row;
    struct krc_store *store = open_store();
    ck_assert_int_eq(krc_store_load(store, "default", "t", 0, &row, &error), 1);
    row.metadata = NULL;
    krc_store_close(store);
    return row;
}

static void check_stored(int64_t offset, int32_t history, const char *text)
{
    struct krc_stored row = stored_offset();
    ck_assert_int_eq(row.offset, offset);
    ck_assert_int_eq(row.history, history);
    ck_assert_str_eq(account_text(&row.account), text);
}

/* ---- The log --------------------------------------------------------------------------------- */

/* Records [from, to), in batches of five. */
static void make_records(int64_t from, int64_t to)
{
    for (int64_t base = from; base < to; base += 5)
        make_plain(base, 5);
    make_segment(from);
}

/* The leader epochs: 0 from offset 0 on, 5 from 70, 6 from `end_of_5`. */
static void make_epochs(int64_t end_of_5)
{
    char text[64];
    snprintf(text, sizeof text, "0\n3\n0 0\n5 70\n6 %lld\n", (long long)end_of_5);
    tempdir_write_text("data/t-0/leader-epoch-checkpoint", text);
}

static void make_topic_id(uint8_t id)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char text[64] = "version: 0\ntopic_id: ";
    uint8_t bytes[18] = {0};
    memset(bytes, id, 16);
    size_t len = strlen(text);
    for (int bit = 0; bit < 22 * 6; bit += 6) {
        uint32_t two = (uint32_t)bytes[bit / 8] << 8 | bytes[bit / 8 + 1];
        text[len++] = digits[two >> (10 - bit % 8) & 63];
    }
    tempdir_write_text("data/t-0/partition.metadata", text);
}

/* Reads on from the stored offset, and commits. */
static void read_on(const char *policy)
{
    krc *handle = consume_open(tempdir_path("data"), "offset.store.file", tempdir_path("krc.db"),
                               "auto.offset.reset", policy, NULL);
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    snprintf(delivered, sizeof delivered, "%s", consume_all(handle));
    error = *krc_last_error(handle);
    at = consume_position(handle, "t", 0);
    snprintf(account, sizeof account, "%s", consume_account(handle, "t", 0));
    consume_events(handle, &events);
    krc_error failed;
    ck_assert_msg(krc_commit(handle, &failed) == 0, "%s", failed.message);
    krc_close(handle);
}

static void check_read(const char *records, const char *fates, const char *happened)
{
    ck_assert_str_eq(delivered, records);
    ck_assert_str_eq(account, fates);
    ck_assert_str_eq(events.text, happened);
}

#define UNPROTECTED_ONLY "note 0 0" /* no topic id is known */
#define UNPROTECTED      UNPROTECTED_ONLY "; "

/* ---- Below the log start offset (16) --------------------------------------------------------- */

START_TEST(below_the_log_start)
{
    make_records(15, 20);
    commit_offset(5, -1, 0);
    read_on("nearest");
    check_read("15-19", "5-20: delivered 5, lost 10", UNPROTECTED "reset 5 15");
    check_says(events.messages, "below the log start offset: reset from 5 to 15; "
                                "offsets 5 to 14 are lost");
    check_stored(20, 1, "0-20: delivered 10, lost 10");
    ck_assert_str_eq(stored_resets(),
                     "5>15 lost 5-15 history 1: the offset lies below the log start offset: "
                     "reset from 5 to 15; offsets 5 to 14 are lost\n");
    read_on("nearest");
    check_read("", "20-20", UNPROTECTED_ONLY);
}
END_TEST

START_TEST(a_reset_is_stored_once)
{
    krc_batch *batch;
    make_records(15, 30);
    commit_offset(5, -1, 0);
    krc *handle = consume_open(tempdir_path("data"), "offset.store.file", tempdir_path("krc.db"),
                               NULL);
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    while (krc_poll(handle, 0, &batch) == 1) {
        at = consume_position(handle, "t", 0);
        ck_assert_int_eq(krc_ack(handle, "t", 0, at.position, &error), KRC_OK);
        ck_assert_int_eq(krc_commit(handle, &error), KRC_OK);
    }
    krc_close(handle);
    check_stored(30, 1, "0-30: delivered 20, lost 10");
    ck_assert_ptr_null(strchr(strchr(stored_resets(), '\n') + 1, '\n'));
}
END_TEST

START_TEST(below_the_log_start_by_policy)
{
    make_records(15, 20);
    commit_offset(5, -1, 0);
    read_on("none");
    check_read("!KRC_E_OUT_OF_RANGE", "5-5", UNPROTECTED_ONLY);
    check_says(error.message, "t-0 at offset 5");
    check_says(error.message, "below the log start offset (the log is 15 to 20)");
    check_says(error.message, "auto.offset.reset is none");
    ck_assert_int_eq(error.offset, 5);
    check_stored(5, 1, "0-5: delivered 5");
    ck_assert_str_eq(stored_resets(), "");
    read_on("earliest");
    check_read("15-19", "5-20: delivered 5, lost 10", UNPROTECTED "reset 5 15");
    commit_offset(5, -1, 0);
    read_on("latest");
    check_read("", "5-20: lost 15", UNPROTECTED "reset 5 20");
    commit_offset(5, -1, 0);
    read_on("by_duration:P1D"); /* the records are older */
    check_read("", "5-20: lost 15", UNPROTECTED "reset 5 20");
    commit_offset(5, -1, 0);
    read_on("by_duration:P30000W");
    check_read("15-19", "5-20: delivered 5, lost 10", UNPROTECTED "reset 5 15");
}
END_TEST

/* The latest offset is the end of what is visible: a transaction that is open there is not lost. */
START_TEST(the_latest_offset_of_an_open_transaction)
{
    make_plain(15, 10);
    make_batch(25, 5, 7);
    make_segment(15);
    commit_offset(5, -1, 0);
    read_on("latest");
    check_read("", "5-25: lost 20", UNPROTECTED "reset 5 25");
    commit_offset(100, -1, 0);
    read_on("latest");
    check_read("", "25-25", UNPROTECTED "truncated 100 25");
    read_on("by_duration:P1D");
    check_read("", "25-25", UNPROTECTED_ONLY);
    make_marker(30, 7, COMMIT);
    make_segment(30);
    read_on("latest");
    check_read("25-29", "25-31: delivered 5, control 1", UNPROTECTED_ONLY);
}
END_TEST

/* A start that was given is held to the same policy, and is no committed offset. */
START_TEST(a_given_start_below_the_log_start)
{
    make_records(15, 20);
    krc *handle = consume_open(tempdir_path("data"), "auto.offset.reset", "none", NULL);
    consume_assign(handle, "t", 0, 3, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "!KRC_E_OUT_OF_RANGE");
    krc_close(handle);
}
END_TEST

/* ---- Beyond the end (16, 17) ----------------------------------------------------------------- */

START_TEST(beyond_the_end_with_an_epoch)
{
    make_records(0, 90);
    make_epochs(80);
    commit_offset(100, 5, 0);
    read_on("nearest");
    check_read("80-89", "80-90: delivered 10", UNPROTECTED "truncated 100 80");
    check_says(events.messages, "reset from 100 to 80; what was read from there on is "
                                "gone from the log, and a new history begins");
    check_stored(90, 2, "80-90: delivered 10");
    ck_assert_ptr_eq(strstr(stored_resets(), "100>80 lost 80-80 history 2: "), stored_resets());
}
END_TEST

START_TEST(inside_the_log_but_truncated)
{
    make_records(0, 120);
    make_epochs(80);
    commit_offset(100, 5, 0);
    read_on("nearest");
    check_read("80-119", "80-120: delivered 40", UNPROTECTED "truncated 100 80");
}
END_TEST

/* The committed offset was settled; the one that reading goes on from lies inside a transaction. */
START_TEST(truncated_into_a_transaction)
{
    make_plain(0, 70);
    make_batch(70, 10, 7);
    make_plain(80, 10);
    make_segment(0);
    make_epochs(80);
    commit_offset(100, 5, 0);
    read_on("nearest");
    check_read("", "80-80", UNPROTECTED "truncated 100 80");
    ck_assert_int_eq(at.last_stable_offset, 70);
}
END_TEST

START_TEST(an_epoch_that_reaches_far_enough)
{
    make_records(0, 120);
    make_epochs(100);
    commit_offset(100, 5, 0);
    read_on("nearest");
    check_read("100-119", "100-120: delivered 20", UNPROTECTED_ONLY);
    check_stored(120, 1, "0-120: delivered 120");
}
END_TEST

START_TEST(beyond_the_end_without_an_epoch)
{
    make_records(0, 90);
    make_epochs(80);
    commit_offset(100, -1, 0);
    read_on("nearest");
    check_read("", "90-90", UNPROTECTED "truncated 100 90");
    check_says(events.messages, "beyond the log end offset: reset from 100 to 90; what was lost "
                                "is unknown, and a new history begins");
    check_stored(90, 2, "90-90");
    ck_assert_ptr_eq(strstr(stored_resets(), "100>90 lost 90-90 history 2: "), stored_resets());
}
END_TEST

START_TEST(beyond_the_end_by_policy)
{
    make_records(0, 90);
    make_epochs(80);
    commit_offset(100, 5, 0);
    read_on("none");
    check_read("!KRC_E_TRUNCATED", "100-100", UNPROTECTED_ONLY);
    check_says(error.message, "the log was truncated");
    check_says(error.message, "auto.offset.reset is none");
    check_stored(100, 1, "0-100: delivered 100");
    read_on("latest");
    check_read("", "90-90", UNPROTECTED "truncated 100 90");
    commit_offset(100, 5, 0);
    read_on("earliest");
    ck_assert_str_eq(account, "0-90: delivered 90");
    commit_offset(100, -1, 0);
    read_on("error");
    check_read("!KRC_E_OUT_OF_RANGE", "100-100", UNPROTECTED_ONLY);
    check_says(error.message, "beyond the log end offset");
}
END_TEST

/* ---- Topics made again (18) ------------------------------------------------------------------ */

START_TEST(a_topic_made_again)
{
    make_records(0, 90);
    make_topic_id(2);
    commit_offset(40, -1, 1);
    read_on("nearest");
    check_read("0-89", "0-90: delivered 90", "recreated 40 0");
    check_says(events.messages, "deleted and made again: it has another id: reset from 40 to 0");
    check_stored(90, 2, "0-90: delivered 90");
    ck_assert_int_eq(stored_offset().topic_id.bytes[7], 2);
    ck_assert_ptr_eq(strstr(stored_resets(), "40>0 lost 0-0 history 2: "), stored_resets());
    read_on("nearest");
    check_read("", "90-90", "");
}
END_TEST

/* The old topic's account ends where the new one's begins, and yet they are not one. */
START_TEST(accounts_of_two_histories)
{
    make_records(0, 40);
    make_topic_id(2);
    commit_offset(40, -1, 1);
    read_on("latest");
    check_read("", "40-40", "recreated 40 40");
    check_stored(40, 2, "40-40");
}
END_TEST

START_TEST(a_topic_made_again_by_policy)
{
    make_records(0, 90);
    make_topic_id(2);
    commit_offset(40, 0, 1);
    read_on("none");
    check_read("!KRC_E_RECREATED", "40-40", "");
    check_says(error.message, "deleted and made again");
    check_stored(40, 1, "0-40: delivered 40");
    read_on("latest");
    check_read("", "90-90", "recreated 40 90");
}
END_TEST

START_TEST(the_same_topic)
{
    make_records(0, 90);
    make_topic_id(2);
    commit_offset(40, -1, 2);
    read_on("nearest");
    check_read("40-89", "40-90: delivered 50", "");
    check_stored(90, 1, "0-90: delivered 90");
}
END_TEST

/* No id in the store, or none beside the log: the offset is used, and it is said once. */
START_TEST(an_unknown_topic_id)
{
    make_records(0, 90);
    make_topic_id(2);
    commit_offset(40, -1, 0);
    tempdir_mkdir("data/u-0");
    commit_offset_of("u", 0, -1, 3);
    krc *handle = consume_open(tempdir_path("data"), "offset.store.file", tempdir_path("krc.db"),
                               NULL);
    consume_assign(handle, "t", 0, KRC_STORED, KRC_NO_END);
    consume_assign(handle, "u", 0, KRC_STORED, KRC_NO_END);
    ck_assert_str_eq(consume_all(handle), "40-89");
    consume_events(handle, &events);
    ck_assert_str_eq(events.text, UNPROTECTED_ONLY);
    check_says(events.messages, "no topic id is known");
    krc_close(handle);
}
END_TEST

/* ---- No committed offset --------------------------------------------------------------------- */

START_TEST(no_committed_offset)
{
    make_records(15, 20);
    read_on("none");
    check_read("!KRC_E_NOT_FOUND", "-1--1", "");
    check_says(error.message, "no committed offset");
    read_on("latest");
    check_read("", "20-20", "");
    check_stored(20, 1, "20-20");
}
END_TEST

START_TEST(no_committed_offset_is_no_reset)
{
    make_records(15, 20);
    read_on("nearest");
    check_read("15-19", "15-20: delivered 5", "");
    ck_assert_str_eq(stored_resets(), "");
    check_stored(20, 1, "15-20: delivered 5");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        below_the_log_start,
        a_reset_is_stored_once,
        below_the_log_start_by_policy,
        the_latest_offset_of_an_open_transaction,
        a_given_start_below_the_log_start,
        beyond_the_end_with_an_epoch,
        inside_the_log_but_truncated,
        truncated_into_a_transaction,
        an_epoch_that_reaches_far_enough,
        beyond_the_end_without_an_epoch,
        beyond_the_end_by_policy,
        a_topic_made_again,
        accounts_of_two_histories,
        a_topic_made_again_by_policy,
        the_same_topic,
        an_unknown_topic_id,
        no_committed_offset,
        no_committed_offset_is_no_reset,
    };
    return run_tests("consumer/resets", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
