/*
 * Replays as members of a group: what becomes of commits whose answers stay away, and of what
 * cannot be read.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/consume.h"
#include "tests/support/joined.h"
#include "tests/support/run.h"
#include "tests/support/tempdir.h"

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

BOTH(reads_commits_and_leaves)
{
    joined_ok(joined_replay());
    joined_expect_all();
    ck_assert_int_eq(joined_query("SELECT count(*) FROM pending"), 0);
    joined_ok(joined_replay()); /* nothing is new */
    joined_expect_all();
    (void)is_classic;
}

/* ---- Answers that stay away ----------------------------------------------------------------- */

static bool is_asked(void)
{
    return serve_requests(KRC_API_OFFSET_COMMIT) == 1;
}

/* The group has taken it. */
BOTH(a_commit_whose_answer_is_lost)
{
    serve_lose_answer(KRC_API_OFFSET_COMMIT);
    joined_ok(joined_replay());
    joined_expect_all();
    check_says(joined.notes, "it is not ours any more");
    ck_assert_int_ge(group.next_id, 2); /* as somebody else, for the first was made to leave */
    (void)is_classic;
}

/* It has not. */
BOTH(a_commit_that_is_lost)
{
    serve_lose(KRC_API_OFFSET_COMMIT, 1);
    joined_ok(joined_replay());
    joined_expect_all();
    check_says(joined.notes, "OffsetCommit is not answered");
    ck_assert_int_ge(group.next_id, 2);
    (void)is_classic;
}

/* What is to end does not try for ever. */
BOTH(commits_that_are_always_lost)
{
    serve_lose(KRC_API_OFFSET_COMMIT, 1000);
    ck_assert_int_eq(joined_replay(), KRC_E_IO);
    check_says(joined.error.message, "OffsetCommit is not answered");
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_COMMIT), 3);
    serve_lose(KRC_API_OFFSET_COMMIT, 0);
    joined_ok(joined_replay());
    joined_expect_all();
    (void)is_classic;
}

static void kill_what_asks(pid_t child)
{
    int status;
    for (int i = 0; i < JOINED_LOOKS && !is_asked(); i++) {
        joined_look(NULL);
        usleep(10000);
    }
    ck_assert(is_asked());
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
}

/* Its member is in the group still, for as long as its session would last. */
BOTH(a_replay_that_was_killed)
{
    serve_hold(KRC_API_OFFSET_COMMIT);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        joined.options.stop = NULL; /* the group is looked after here */
        _exit(krc_replay(joined.config, &joined.options, &joined.error) == 0 ? 0 : 1);
    }
    kill_what_asks(child);
    ck_assert(group_m(1)->is_there);
    ck_assert_int_eq(joined_query("SELECT count(*) FROM pending"), 1);
    serve_hold(KRC_API_COUNT);
    joined.options.recover = true;
    joined_ok(joined_replay());
    check_says(joined.notes, "the group had taken offsets 0 to 5 from here: they stay");
    ck_assert(!group_m(1)->is_there);
    ck_assert_int_eq(joined_query("SELECT count(*) FROM pending"), 0);
    joined.options.recover = false;
    joined_ok(joined_replay());
    joined_expect_all();
    (void)is_classic;
}

static void end_session(void)
{
    if (serve_requests(KRC_API_FETCH) == 0)
        return;
    serve_lock();
    group_remove(1);
    serve_unlock();
    serve_hold(KRC_API_COUNT);
    joined.script = NULL;
}

/* The answer to a commit may say so before a heartbeat does: a classic member's, here. */
BOTH(a_session_that_has_ended)
{
    joined_set("heartbeat.interval.ms", "10000");
    serve_hold(KRC_API_FETCH);
    joined.script = end_session;
    joined_ok(joined_replay());
    joined_expect_all();
    check_says(joined.notes, is_classic ? "UNKNOWN_MEMBER_ID" : "it is not ours any more");
    (void)is_classic;
}

/* ---- What cannot be committed, or read ------------------------------------------------------ */

/* One transaction holds rows of one partition: it is not the next one's fault. */
BOTH(a_table_whose_commit_is_refused)
{
    char to[540];
    snprintf(to, sizeof to, "sqlite:%s", tempdir_path("out.db"));
    joined.options.to = to;
    joined.options.follow = true;
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, 100);
    ck_assert_int_eq(joined_replay(), KRC_E_REFUSED);
    check_says(joined.error.message, "TOPIC_AUTHORIZATION_FAILED");
    ck_assert_str_eq(joined.error.topic, "t");
    ck_assert_int_eq(joined.error.partition, 0);
    snprintf(joined.database, sizeof joined.database, "%s", to + strlen("sqlite:"));
    ck_assert_int_eq(joined_query("SELECT count(*) FROM records"
                                  " WHERE topic = 't' AND partition = 0"), 0);
    ck_assert_int_eq(joined_query("SELECT count(*) FROM pending"), 0);
    (void)is_classic;
}

/* It would be its for ever, and read by nobody. */
BOTH(a_partition_that_cannot_be_read)
{
    joined.p[1].log.data[joined.p[1].log.len - 1] ^= 1;
    joined.options.follow = true;
    ck_assert_int_eq(joined_replay(), KRC_E_CORRUPT);
    ck_assert_int_eq(joined.error.partition, 1);
    ck_assert(!group_m(1)->is_there);
    ck_assert_int_le(joined.p[1].committed, 0);
    (void)is_classic;
}

/* ---- Given away, and back ------------------------------------------------------------------- */

static void wait_until(bool (*is_so)(void))
{
    for (int i = 0; i < JOINED_LOOKS; i++) {
        serve_lock();
        bool so = is_so();
        serve_unlock();
        if (so)
            return;
        usleep(10000);
    }
}

static bool the_other_has_it(void)
{
    return group_m(2)->has == group_set("t-0");
}

static bool we_have_it_again(void)
{
    return group_m(1)->has == group_set("t-0 t-1 u-0");
}

/* The first answer to OffsetFetch is told when another member has had t-0, and gone. */
static void *give_away_and_back(void *arg)
{
    while (serve_requests(KRC_API_OFFSET_FETCH) == 0)
        usleep(10000);
    serve_lock();
    group_join("t u");
    group_target(2, "t-0");
    group_target(1, "t-1 u-0");
    serve_unlock();
    wait_until(the_other_has_it);
    serve_lock();
    joined.p[0].committed = 3;
    strcpy(joined.p[0].committed_text, "krc1 00000000000000bb@0");
    group_remove(2);
    group_target(1, "t-0 t-1 u-0");
    serve_unlock();
    wait_until(we_have_it_again);
    usleep(100000); /* the answer that says so is taken */
    serve_hold(KRC_API_COUNT);
    return arg;
}

START_TEST(offsets_that_were_asked_for_before)
{
    pthread_t thread;
    begin(false);
    serve_hold(KRC_API_OFFSET_FETCH);
    ck_assert_int_eq(pthread_create(&thread, NULL, give_away_and_back, NULL), 0);
    joined_ok(joined_replay());
    pthread_join(thread, NULL);
    joined_expect_file("t-0.00000000000000000000.jsonl", 0, 0);
    joined_expect_file("t-0.00000000000000000003.jsonl", 3, JOINED_RECORDS);
    joined_expect_lineage(0, "krc1 00000000000000bb@0 ");
    end();
}
END_TEST

/* ---- Partitions that the group gives to others ---------------------------------------------- */

static bool wants_all(void *arg, const char *topic, int32_t partition)
{
    (void)arg, (void)topic, (void)partition;
    return true;
}

static void make_another(void)
{
    if (serve_requests(KRC_API_OFFSET_COMMIT) == 0)
        return;
    serve_lock();
    world.topics[0].count = 3;
    put_plain(&joined.p[2], JOINED_RECORDS);
    serve_unlock();
    joined.script = NULL;
}

static bool stop_after_metadata(void *arg)
{
    static int seen;
    if (joined.script != NULL)
        seen = serve_requests(KRC_API_METADATA);
    return joined_look(arg) ||
           (joined.script == NULL && serve_requests(KRC_API_METADATA) > seen + 5);
}

/* It is not ours before the group says so. */
START_TEST(a_partition_that_is_made_meanwhile)
{
    begin(false);
    joined_set("metadata.max.age.ms", "50");
    joined.options.follow = true;
    joined.options.wants = wants_all;
    joined.options.stop = stop_after_metadata;
    joined.script = make_another;
    joined_ok(joined_replay());
    joined_expect_file("t-2.00000000000000000000.jsonl", 0, 0);
    ck_assert_ptr_null(strstr(joined.notes, "t-2"));
    end();
}
END_TEST

/* ---- The coordinator is gone ---------------------------------------------------------------- */

static bool ends;

static void see_progress(void *arg, const struct krc_replay_progress *progress)
{
    (void)arg;
    if (progress->records < 3 * JOINED_RECORDS || ends)
        return;
    ends = true;
    serve_lock();
    for (int i = 1; i < WORLD_NODES; i++)
        world.nodes[i].is_mute = true;
    serve_unlock();
}

static bool stop_then(void *arg)
{
    return joined_look(arg) || ends;
}

/* One was asked for, and it is not known what came of it; the others were not. */
BOTH(a_coordinator_that_is_gone)
{
    joined_set("default.api.timeout.ms", "300");
    joined_set("request.timeout.ms", "200");
    joined.options.follow = true;
    joined.options.progress = see_progress;
    joined.options.stop = stop_then;
    ends = false;
    int rc = joined_replay();
    ck_assert(rc == KRC_E_TIMEOUT || rc == KRC_E_IO);
    check_says(joined.error.message, "cannot be told: ");
    check_says(joined.error.message, "the next run, or --recover, asks again");
    ck_assert_int_eq(joined_query("SELECT count(*) FROM pending"), 1);
    for (int i = 1; i < WORLD_NODES; i++)
        world.nodes[i].is_mute = false;
    joined.options.follow = false;
    joined.options.stop = joined_look;
    joined_ok(joined_replay());
    joined_expect_all();
    (void)is_classic;
}

/* We are not to take it from the one that has the id now. */
BOTH(another_has_our_instance_id)
{
    joined_set("group.instance.id", "i");
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_FENCED_INSTANCE_ID, 1);
    ck_assert_int_eq(joined_replay(), KRC_E_REFUSED);
    check_says(joined.error.message, "FENCED_INSTANCE_ID");
    ck_assert_int_eq(group.next_id, 1);
    (void)is_classic;
}

/* A new, empty one would have commits forgotten that are pending. */
BOTH(a_table_of_pending_commits_that_is_gone)
{
    joined_ok(joined_replay());
    joined_query("DROP TABLE pending_offsets");
    ck_assert_int_eq(joined_replay(), KRC_E_STORE);
    check_says(joined.error.message, joined.database);
    check_says(joined.error.message, "has no table \"pending_offsets\"");
    (void)is_classic;
}

int main(void)
{
    const TTest *const cases[] = {reads_commits_and_leaves,
                                  a_commit_whose_answer_is_lost,
                                  a_commit_that_is_lost,
                                  commits_that_are_always_lost,
                                  a_replay_that_was_killed,
                                  a_session_that_has_ended,
                                  a_table_whose_commit_is_refused,
                                  a_partition_that_cannot_be_read,
                                  offsets_that_were_asked_for_before,
                                  a_partition_that_is_made_meanwhile,
                                  a_coordinator_that_is_gone,
                                  another_has_our_instance_id,
                                  a_table_of_pending_commits_that_is_gone};
    return run_tests("replay/member", cases, sizeof cases / sizeof *cases, nothing, nothing);
}
