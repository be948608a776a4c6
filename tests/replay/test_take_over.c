/*
 * Replays as members of a group: what an output has, and what the group says that it has.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/consume.h"
#include "tests/support/joined.h"
#include "tests/support/run.h"

static void begin(bool is_classic)
{
    joined_begin(is_classic);
}

static void end(void)
{
    joined_end();
}

static void nothing(void)
{
}

/* ---- What is there, and what is said to be -------------------------------------------------- */

/* As kafka-consumer-groups --reset-offsets --to-current does it. */
BOTH(who_has_had_it_is_forgotten)
{
    joined_ok(joined_replay());
    joined.p[0].committed_text[0] = '\0';
    put_plain(&joined.p[0], JOINED_RECORDS);
    joined_set("commit.interval.bytes", "1");
    joined_ok(joined_replay());
    joined_expect_file("t-0.00000000000000000000.jsonl", 0, 2 * JOINED_RECORDS);
    joined_expect_lineage(0, "krc1 ");
    ck_assert_int_eq(joined_query("SELECT count(*) FROM stretches"), 0);
    (void)is_classic;
}

BOTH(an_output_that_was_restored)
{
    char command[2000];
    joined_ok(joined_replay());
    snprintf(command, sizeof command, "cp -r '%s' '%s.copy'", joined.out, joined.out);
    ck_assert_int_eq(system(command), 0);
    put_plain(&joined.p[0], JOINED_RECORDS);
    joined_ok(joined_replay());
    snprintf(command, sizeof command, "rm -r '%s' && mv '%s.copy' '%s'", joined.out, joined.out,
             joined.out);
    ck_assert_int_eq(system(command), 0);
    put_plain(&joined.p[0], JOINED_RECORDS);
    ck_assert_int_eq(joined_replay(), KRC_E_MISMATCH);
    check_says(joined.error.message, "up to 10 as written to");
    check_says(joined.error.message, "up to 5 only");
    ck_assert_int_eq(joined.p[0].committed, 2 * JOINED_RECORDS);
    (void)is_classic;
}

/* Another member has read some of the new one: its offsets say nothing of the old one's. */
BOTH(a_topic_that_another_has_read_anew)
{
    joined_ok(joined_replay());
    world_recreate(&world.topics[0]);
    put_plain(&joined.p[0], 4 * JOINED_RECORDS);
    joined.p[0].committed = 3 * JOINED_RECORDS;
    strcpy(joined.p[0].committed_text, "krc1 00000000000000bb@0");
    ck_assert_int_eq(joined_replay(), KRC_E_RECREATED);
    check_says(joined.error.message, "t-0 was deleted and made again after offsets up to 5");
    joined_expect_file("t-0.00000000000000000000.jsonl", 0, JOINED_RECORDS);
    ck_assert_int_eq(joined.p[0].committed, 3 * JOINED_RECORDS);
    (void)is_classic;
}

/* The group was set back, and another member has read on from there. */
BOTH(what_another_has_written_too)
{
    joined_ok(joined_replay());
    put_plain(&joined.p[0], JOINED_RECORDS);
    joined.p[0].committed = JOINED_RECORDS + 2;
    strcpy(joined.p[0].committed_text, "krc1 00000000000000bb@2");
    ck_assert_int_eq(joined_replay(), KRC_E_MISMATCH);
    check_says(joined.error.message, "so has another member, from 2 on (sink 00000000000000bb)");
    ck_assert_int_eq(joined.p[0].committed, JOINED_RECORDS + 2);
    (void)is_classic;
}

BOTH(moved_forward_by_hand)
{
    joined_ok(joined_replay());
    put_plain(&joined.p[0], JOINED_RECORDS);
    joined.p[0].committed = JOINED_RECORDS + 2;
    joined.p[0].committed_text[0] = '\0';
    joined_ok(joined_replay());
    check_says(joined.notes, "t-0: offsets 5 to 7 are not written here");
    joined_expect_file("t-0.00000000000000000007.jsonl", JOINED_RECORDS + 2, 2 * JOINED_RECORDS);
    (void)is_classic;
}

/* ---- What the group can tell no more -------------------------------------------------------- */

/* As if it had been killed before it heard. */
static void make_pending(const char *topic)
{
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT INTO pending VALUES ('%s', 0, 0, 'somebody', 1, NULL)",
             topic);
    ck_assert_int_eq(joined_query(sql), -1);
}

BOTH(a_topic_that_was_deleted)
{
    joined_ok(joined_replay());
    make_pending("t");
    make_pending("u");
    joined.options.recover = true;
    serve_lock();
    world.topic_count = 1;
    serve_unlock();
    ck_assert_int_eq(joined_replay(), KRC_E_NOT_FOUND);
    check_says(joined.error.message, "u-0: whether group g took the commit of offsets 0 to 5");
    check_says(joined.error.message, "the topic was deleted");
    check_says(joined.error.message, "DELETE FROM pending WHERE topic = 'u' AND partition = 0");
    check_says(joined.notes, "t-0: the group had taken offsets 0 to 5 from here: they stay");
    ck_assert_int_eq(joined_query("SELECT count(*) FROM pending"), 1);
    ck_assert_int_eq(joined_query("DELETE FROM pending WHERE topic = 'u' AND partition = 0"), -1);
    joined_ok(joined_replay());
    joined_expect_file("u-0.00000000000000000000.jsonl", 0, JOINED_RECORDS);
    (void)is_classic;
}

/* Another one has the name now: what its offsets say is not of this one. */
BOTH(a_topic_that_was_made_again)
{
    joined_ok(joined_replay());
    make_pending("u");
    joined.options.recover = true;
    serve_lock();
    world_recreate(&world.topics[1]);
    world.topics[1].partitions[0].committed = -1;
    serve_unlock();
    ck_assert_int_eq(joined_replay(), KRC_E_NOT_FOUND);
    check_says(joined.error.message, "the topic was deleted");
    joined_expect_file("u-0.00000000000000000000.jsonl", 0, JOINED_RECORDS);
    (void)is_classic;
}

/* Somebody has written to the store: what lies outside stays as it is. */
BOTH(a_store_with_a_topic_that_cannot_be)
{
    static const char *const sql[] = {
        "UPDATE offsets SET topic = '../../u' WHERE topic = 'u'",
        "UPDATE histories SET topic = '../../u' WHERE topic = 'u'",
        "UPDATE sinks SET topic = '../../u', length = 0 WHERE topic = 'u'"};
    char outside[700];
    joined_ok(joined_replay());
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++)
        ck_assert_int_eq(joined_query(sql[i]), -1);
    snprintf(outside, sizeof outside, "%s/../../u-0.00000000000000000000.jsonl", joined.out);
    ck_assert_int_ne(access(outside, F_OK), 0);
    joined.options.recover = true;
    ck_assert_int_eq(joined_replay(), KRC_E_INVALID);
    check_says(joined.error.message, "\"../../u\" is not a valid topic name");
    ck_assert_int_ne(access(outside, F_OK), 0);
    (void)is_classic;
}

BOTH(somebody_else_has_committed)
{
    joined_ok(joined_replay());
    make_pending("t");
    joined.options.recover = true;
    serve_lock();
    joined.p[0].committed = 3;
    joined.p[0].committed_text[0] = '\0';
    serve_unlock();
    ck_assert_int_eq(joined_replay(), KRC_E_MISMATCH);
    check_says(joined.error.message, "it has 3 now");
    joined_expect_file("t-0.00000000000000000000.jsonl", 0, JOINED_RECORDS);
    (void)is_classic;
}

BOTH(a_broker_that_does_not_tell_what_is_being_written)
{
    world_versions(KRC_API_OFFSET_FETCH, 1, 6);
    world_versions(KRC_API_OFFSET_COMMIT, 3, 9);
    ck_assert_int_eq(joined_replay(), KRC_E_UNSUPPORTED);
    check_says(joined.error.message, "since Kafka 2.5");
    (void)is_classic;
}

BOTH(nothing_to_recover)
{
    joined.options.recover = true;
    ck_assert_int_eq(joined_replay(), KRC_E_NOT_FOUND);
    check_says(joined.error.message, "no replay was begun");
    ck_assert_int_ne(access(joined.out, F_OK), 0);
    (void)is_classic;
}

int main(void)
{
    const TTest *const cases[] = {who_has_had_it_is_forgotten,
                                  an_output_that_was_restored,
                                  a_topic_that_another_has_read_anew,
                                  what_another_has_written_too,
                                  moved_forward_by_hand,
                                  a_topic_that_was_deleted,
                                  a_topic_that_was_made_again,
                                  a_store_with_a_topic_that_cannot_be,
                                  somebody_else_has_committed,
                                  a_broker_that_does_not_tell_what_is_being_written,
                                  nothing_to_recover};
    return run_tests("replay/take_over", cases, sizeof cases / sizeof *cases, nothing, nothing);
}
