/*
 * Transactions that the fixture does not have; tests/cmd/txns.sh holds the fixture's against what
 * Kafka's tools show.
 */
#include <krc-tools.h>
#include <stdio.h>
#include <string.h>

#include "admin/transactional_ids.h"
#include "base/crc.h"
#include "base/bytes.h"
#include "tests/support/consume.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

static krc_error error;
static char told[1024];

/* "open 70 5-14 m-1 r10 holds; " */
static int tell(void *arg, const struct krc_transaction *t)
{
    size_t len = strlen(told);
    (void)arg;
    snprintf(told + len, sizeof told - len, "%s %lld %lld-%lld m%lld r%lld%s; ",
             krc_transaction_state_name(t->state), (long long)t->producer_id,
             (long long)t->first_offset, (long long)t->last_offset, (long long)t->marker_offset,
             (long long)t->records, t->holds_last_stable_offset ? " holds" : "");
    return 0;
}

static struct krc_transactions list_with(const char *setting, const char *value)
{
    struct krc_transactions summary;
    struct krc_log_offsets log;
    krc *handle = consume_open(tempdir_path("data"), setting, value, NULL);
    told[0] = '\0';
    ck_assert_msg(krc_list_transactions(handle, "t", 0, tell, NULL, &summary, &error) == KRC_OK,
                  "%s", error.message);
    ck_assert_int_eq(krc_log_offsets(handle, "t", 0, &log, &error), KRC_OK);
    ck_assert_int_eq(summary.last_stable_offset, log.last_stable_offset);
    ck_assert_int_eq(summary.log_start_offset, log.log_start_offset);
    ck_assert_int_eq(summary.log_end_offset, log.log_end_offset);
    krc_close(handle);
    return summary;
}

static struct krc_transactions list(void)
{
    return list_with("skip.corrupt.batches", "false");
}

START_TEST(open_ones_come_last_in_the_order_they_began)
{
    make_batch(0, 2, 70);
    make_batch(2, 2, 71);
    make_batch(4, 2, 72);
    make_batch(6, 1, 70);
    make_plain(7, 3);
    make_marker(10, 70, ABORT);
    make_batch(11, 1, 70);
    make_segment(0);
    struct krc_transactions summary = list();
    ck_assert_str_eq(told, "aborted 70 0-6 m10 r3; open 71 2-3 m-1 r2 holds; "
                           "open 72 4-5 m-1 r2; open 70 11-11 m-1 r1; ");
    ck_assert_int_eq(summary.last_stable_offset, 2);
    ck_assert_int_eq(summary.aborted, 1);
    ck_assert_int_eq(summary.open, 3);
}
END_TEST

/* The coordinator ends a transaction in each partition that was announced, written to or not; and
 * compaction leaves markers behind. */
START_TEST(a_marker_alone_is_a_transaction)
{
    make_marker(0, 70, COMMIT);
    make_marker(1, 70, ABORT);
    make_segment(0);
    struct krc_transactions summary = list();
    ck_assert_str_eq(told, "committed 70 -1--1 m0 r0; aborted 70 -1--1 m1 r0; ");
    ck_assert_int_eq(summary.last_stable_offset, 2);
}
END_TEST

/* Records below the log start offset are deleted, even if the segment still has them. */
START_TEST(below_the_log_start_nothing_is_told)
{
    make_batch(0, 2, 70);
    make_batch(2, 2, 71);
    make_marker(4, 70, COMMIT);
    make_marker(5, 71, COMMIT);
    make_batch(6, 1, 72);
    make_segment(0);
    tempdir_write_text("data/log-start-offset-checkpoint", "0\n1\nt 0 5\n");
    list();
    ck_assert_str_eq(told, "committed 71 2-3 m5 r2; open 72 6-6 m-1 r1 holds; ");
}
END_TEST

/* CASES 23's sibling: what retention took of a transaction that is open still. */
START_TEST(what_retention_took_is_in_the_snapshot)
{
    struct krc_buffer file = {0};
    static const struct {
        int64_t producer, last, start;
    } states[] = {{70, 3, 1}, {71, 4, 2}, {72, 11, 5}, {73, 6, -1}};
    build_int(&file, 1, 2);
    build_int(&file, 0, 4);
    build_int(&file, 4, 4);
    for (int i = 0; i < 4; i++) {
        build_int(&file, states[i].producer, 8);
        build_int(&file, 5, 2);
        build_int(&file, 0, 4);
        build_int(&file, states[i].last, 8);
        build_int(&file, 0, 4);
        build_int(&file, 1000, 8);
        build_int(&file, 0, 4);
        build_int(&file, states[i].start, 8);
    }
    krc_put_be32(file.data + 2, krc_crc32c(0, file.data + 6, file.len - 6));
    make_marker(10, 71, COMMIT);
    make_batch(11, 1, 72);
    make_segment(10);
    tempdir_write("data/t-0/00000000000000000012.snapshot", file.data, file.len);
    krc_buffer_free(&file);
    struct krc_transactions summary = list();
    ck_assert_str_eq(told, "committed 71 -1--1 m10 r0; open 70 1-3 m-1 r0 holds; "
                           "open 72 5-11 m-1 r1; ");
    ck_assert_int_eq(summary.last_stable_offset, 10);
}
END_TEST

/* What cannot be read may have been anybody's marker. */
START_TEST(what_was_skipped_leaves_doubt)
{
    make_batch(0, 2, 70);
    size_t marker = make_marker(2, 71, COMMIT);
    make_batch(3, 2, 70);
    make_marker(5, 70, COMMIT);
    make_bytes.data[marker + 70] ^= 1;
    make_segment(0);
    krc *handle = consume_open(tempdir_path("data"), NULL);
    struct krc_transactions summary;
    ck_assert_int_eq(krc_list_transactions(handle, "t", 0, tell, NULL, &summary, &error),
                     KRC_E_CORRUPT);
    ck_assert_int_eq(krc_list_transactions(handle, "t", 1, tell, NULL, &summary, &error),
                     KRC_E_NOT_FOUND);
    krc_close(handle);
    summary = list_with("skip.corrupt.batches", "true");
    ck_assert_str_eq(told, "doubtful 70 0-1 m-1 r2; committed 70 3-4 m5 r2; ");
    ck_assert_int_eq(summary.doubtful, 1);
    ck_assert_int_eq(summary.last_stable_offset, 6);
}
END_TEST

static int stop(void *arg, const struct krc_transaction *t)
{
    (void)t;
    ++*(int *)arg;
    return 7;
}

START_TEST(a_listing_can_be_ended)
{
    struct krc_transactions summary;
    int calls = 0;
    make_marker(0, 70, COMMIT);
    make_marker(1, 70, ABORT);
    make_segment(0);
    krc *handle = consume_open(tempdir_path("data"), NULL);
    ck_assert_int_eq(krc_list_transactions(handle, "t", 0, stop, &calls, &summary, &error), 7);
    ck_assert_int_eq(calls, 1);
    krc_close(handle);
}
END_TEST

/* ---- Transactional ids ----------------------------------------------------------------------- */

static struct krc_bytes literal(const char *bytes, size_t len)
{
    return (struct krc_bytes){(const uint8_t *)bytes, len};
}
#define BYTES(text) literal(text, sizeof(text) - 1)

START_TEST(states_of_both_versions)
{
    struct krc_transaction_note note;
    struct krc_arena arena = {0};
    struct krc_bytes id;
    ck_assert_int_eq(krc_transaction_key_read(BYTES("\0\0\0\3abc"), &id, &error), 1);
    ck_assert_mem_eq(id.data, "abc", 3);
    ck_assert_int_eq(krc_transaction_key_read(BYTES("\0\1\0\3abc"), &id, &error), 0);
    ck_assert_int_eq(krc_transaction_key_read(BYTES("\0\0\0\4abc"), &id, &error), KRC_E_CORRUPT);
#define FIELDS "\0\0\0\0\0\0\0\x2a\0\5\0\0\xea\x60\1"
#define TIMES "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2"
    ck_assert_int_eq(krc_transaction_note_read(
                         BYTES("\0\0" FIELDS "\0\0\0\1\0\1t\0\0\0\1\0\0\0\7" TIMES), &note, &arena,
                         &error), 0);
    ck_assert_int_eq(note.producer_id, 42);
    ck_assert_int_eq(note.previous_producer_id, -1);
    ck_assert_int_eq(krc_transaction_note_read(
                         BYTES("\0\1" FIELDS "\0" TIMES "\3\0\x8\0\0\0\0\0\0\0\x29\1\x8\0\0\0\0\0"
                               "\0\0\x2b\2\2\0\2"), &note, &arena, &error), 0);
    ck_assert_int_eq(note.previous_producer_id, 41);
    ck_assert_int_eq(note.next_producer_id, 43);
    ck_assert_int_eq(krc_transaction_note_read(BYTES("\0\2" FIELDS "\0" TIMES "\0"), &note, &arena,
                                               &error), KRC_E_UNSUPPORTED);
    ck_assert_int_eq(krc_transaction_note_read(BYTES("\0\1" FIELDS "\x9\2t"), &note, &arena,
                                               &error), KRC_E_CORRUPT);
    krc_arena_free(&arena);
}
END_TEST

START_TEST(ids_of_the_fixture)
{
    krc_transactional_ids *ids = krc_transactional_ids_new();
    krc *handle = consume_open("tests/golden/fixtures/kafka-4.3.1", NULL);
    ck_assert_int_eq(krc_transactional_ids_read(handle, ids, &error), KRC_OK);
    ck_assert_str_eq(krc_transactional_id(ids, 4)->name, "txns-open-tx-0");
    ck_assert_ptr_null(krc_transactional_id(ids, 123456));
    krc_transactional_ids_free(ids);
    krc_close(handle);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        open_ones_come_last_in_the_order_they_began,
        a_marker_alone_is_a_transaction,
        below_the_log_start_nothing_is_told,
        what_retention_took_is_in_the_snapshot,
        what_was_skipped_leaves_doubt,
        a_listing_can_be_ended,
        states_of_both_versions,
        ids_of_the_fixture,
    };
    return run_tests("admin: transactions", tests, sizeof tests / sizeof *tests, make_setup,
                     make_teardown);
}
