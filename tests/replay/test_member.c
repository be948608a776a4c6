/*
 * Replays as members of a group, against brokers on real sockets: what becomes of commits whose
 * answers stay away, and of what cannot be read.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/consume.h"
#include "tests/support/coordinator.h"
#include "tests/support/run.h"
#include "tests/support/serve.h"
#include "tests/support/tempdir.h"

enum { RECORDS = 5, LOOKS = 20 * 60 /* a minute of `stop` */ };

static struct world_partition *p;
static krc_config *config;
static krc_replay_options options;
static krc_error error;
static char out[512], database[540], notes[4096];
static const char *const topics[] = {"t", "u"};
static void (*script)(void); /* several times a second; NULL */
static int looks;

/* ---- A run ---------------------------------------------------------------------------------- */

/* KIP-848: whoever joins gets all; and the script has its turn. */
static bool look(void *arg)
{
    (void)arg;
    serve_lock();
    for (int i = 1; i <= GROUP_MEMBERS; i++)
        if (!group.is_classic && group_m(i)->is_there && group_m(i)->target == 0)
            group_target(i, "t-0 t-1 u-0");
    serve_unlock();
    if (script != NULL)
        script();
    return ++looks > LOOKS;
}

static void note(void *arg, const struct krc_event *event)
{
    (void)arg;
    size_t len = strlen(notes);
    snprintf(notes + len, sizeof notes - len, "%s-%d: %s\n", event->topic, (int)event->partition,
             event->message);
}

static int replay(void)
{
    looks = 0;
    notes[0] = '\0';
    int rc = krc_replay(config, &options, &error);
    ck_assert_int_le(looks, LOOKS);
    return rc;
}

static void expect_ok(int rc)
{
    ck_assert_msg(rc == 0, "%s", error.message);
}

static void set(const char *name, const char *value)
{
    expect_ok(krc_config_set(config, name, value, &error));
}

static void begin(bool is_classic)
{
    tempdir_make();
    snprintf(out, sizeof out, "%s", tempdir_path("out"));
    snprintf(database, sizeof database, "%s/krc.db", out);
    world_open();
    group_open(is_classic);
    group.interval_ms = 20;
    p = world_topic("t", 2)->partitions;
    put_plain(&p[0], RECORDS);
    put_plain(&p[1], RECORDS);
    put_plain(&world_topic("u", 1)->partitions[0], RECORDS);
    serve_begin();
    config = krc_config_new();
    ck_assert_ptr_nonnull(config);
    set("bootstrap.servers", serve_address());
    set("group.id", "g");
    set("group.protocol", is_classic ? "classic" : "consumer");
    set("heartbeat.interval.ms", "20");
    set("retry.backoff.ms", "10");
    options = (krc_replay_options){.to = out, .join = true, .topics = topics, .topic_count = 2,
                                   .stop = look, .event = note};
    script = NULL;
}

static void end(void)
{
    krc_config_free(config);
    serve_end();
    ck_assert_int_eq(group.foreign_commits, 0);
    ck_assert_int_eq(group.backward_commits, 0);
    group_close();
    world_close();
    tempdir_remove();
}

static void nothing(void)
{
}

/* ---- What came of it ------------------------------------------------------------------------ */

static void read_file(const char *name, char *text, size_t size)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", out, name);
    FILE *file = fopen(path, "rb");
    size_t len = file == NULL ? 0 : fread(text, 1, size - 1, file);
    text[len] = '\0';
    if (file != NULL)
        fclose(file);
}

/* Each record of [from, to), once, and in order. */
static void expect_file(const char *name, int from, int to)
{
    char text[8192], offset[32];
    const char *at = text;
    read_file(name, text, sizeof text);
    for (int i = from; i < to; i++) {
        snprintf(offset, sizeof offset, "\"offset\":%d,", i);
        at = strstr(at, offset);
        ck_assert_msg(at != NULL, "%s has no offset %d", name, i);
        at = strchr(at, '\n');
        ck_assert_ptr_nonnull(at);
    }
    ck_assert_str_eq(from == to ? at : at + 1, "");
}

static void expect_all(void)
{
    expect_file("t-0.00000000000000000000.jsonl", 0, RECORDS);
    expect_file("t-1.00000000000000000000.jsonl", 0, RECORDS);
    expect_file("u-0.00000000000000000000.jsonl", 0, RECORDS);
    ck_assert_int_eq(p[0].committed, RECORDS);
    ck_assert_int_eq(p[1].committed, RECORDS);
    for (int i = 1; i <= GROUP_MEMBERS; i++)
        ck_assert(!group_m(i)->is_there);
}

/* Of the group's metadata. */
static void expect_lineage(int partition, const char *begin)
{
    const char *text = p[partition].committed_text;
    ck_assert_msg(strncmp(text, begin, strlen(begin)) == 0, "%s", text);
}

static int query(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_open(database, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    int value = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : -1;
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

BOTH(reads_commits_and_leaves)
{
    expect_ok(replay());
    expect_all();
    ck_assert_int_eq(query("SELECT count(*) FROM pending"), 0);
    expect_ok(replay()); /* nothing is new */
    expect_all();
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
    expect_ok(replay());
    expect_all();
    check_says(notes, "it is not ours any more");
    ck_assert_int_ge(group.next_id, 2); /* as somebody else, for the first was made to leave */
    (void)is_classic;
}

/* It has not. */
BOTH(a_commit_that_is_lost)
{
    serve_lose(KRC_API_OFFSET_COMMIT);
    expect_ok(replay());
    expect_all();
    check_says(notes, "OffsetCommit is not answered");
    ck_assert_int_ge(group.next_id, 2);
    (void)is_classic;
}

static void kill_what_asks(pid_t child)
{
    int status;
    for (int i = 0; i < LOOKS && !is_asked(); i++) {
        look(NULL);
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
        options.stop = NULL; /* the group is looked after here */
        _exit(krc_replay(config, &options, &error) == 0 ? 0 : 1);
    }
    kill_what_asks(child);
    ck_assert(group_m(1)->is_there);
    ck_assert_int_eq(query("SELECT count(*) FROM pending"), 1);
    serve_hold(KRC_API_COUNT);
    options.recover = true;
    expect_ok(replay());
    check_says(notes, "the group had taken offsets 0 to 5 from here: they stay");
    ck_assert(!group_m(1)->is_there);
    ck_assert_int_eq(query("SELECT count(*) FROM pending"), 0);
    options.recover = false;
    expect_ok(replay());
    expect_all();
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
    script = NULL;
}

/* The answer to a commit may say so before a heartbeat does: a classic member's, here. */
BOTH(a_session_that_has_ended)
{
    set("heartbeat.interval.ms", "10000");
    serve_hold(KRC_API_FETCH);
    script = end_session;
    expect_ok(replay());
    expect_all();
    check_says(notes, is_classic ? "UNKNOWN_MEMBER_ID" : "it is not ours any more");
    (void)is_classic;
}

/* ---- What cannot be committed, or read ------------------------------------------------------ */

/* One transaction holds rows of one partition: it is not the next one's fault. */
BOTH(a_table_whose_commit_is_refused)
{
    char to[540];
    snprintf(to, sizeof to, "sqlite:%s", tempdir_path("out.db"));
    options.to = to;
    options.follow = true;
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED, 100);
    ck_assert_int_eq(replay(), KRC_E_REFUSED);
    check_says(error.message, "TOPIC_AUTHORIZATION_FAILED");
    ck_assert_str_eq(error.topic, "t");
    ck_assert_int_eq(error.partition, 0);
    snprintf(database, sizeof database, "%s", to + strlen("sqlite:"));
    ck_assert_int_eq(query("SELECT count(*) FROM records WHERE topic = 't' AND partition = 0"), 0);
    ck_assert_int_eq(query("SELECT count(*) FROM pending"), 0);
    (void)is_classic;
}

/* It would be its for ever, and read by nobody. */
BOTH(a_partition_that_cannot_be_read)
{
    p[1].log.data[p[1].log.len - 1] ^= 1;
    options.follow = true;
    ck_assert_int_eq(replay(), KRC_E_CORRUPT);
    ck_assert_int_eq(error.partition, 1);
    ck_assert(!group_m(1)->is_there);
    ck_assert_int_le(p[1].committed, 0);
    (void)is_classic;
}

/* ---- What the group can tell no more -------------------------------------------------------- */

/* As if it had been killed before it heard. */
static void make_pending(const char *topic)
{
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT INTO pending VALUES ('%s', 0, 0, 'somebody', 1, NULL)",
             topic);
    ck_assert_int_eq(query(sql), -1);
}

BOTH(a_topic_that_was_deleted)
{
    expect_ok(replay());
    make_pending("t");
    make_pending("u");
    options.recover = true;
    serve_lock();
    world.topic_count = 1;
    serve_unlock();
    ck_assert_int_eq(replay(), KRC_E_NOT_FOUND);
    check_says(error.message, "u-0: whether group g took the commit of offsets 0 to 5");
    check_says(error.message, "the topic was deleted");
    check_says(error.message, "DELETE FROM pending WHERE topic = 'u' AND partition = 0");
    check_says(notes, "t-0: the group had taken offsets 0 to 5 from here: they stay");
    ck_assert_int_eq(query("SELECT count(*) FROM pending"), 1);
    ck_assert_int_eq(query("DELETE FROM pending WHERE topic = 'u' AND partition = 0"), -1);
    expect_ok(replay());
    expect_file("u-0.00000000000000000000.jsonl", 0, RECORDS);
    (void)is_classic;
}

/* Another one has the name now: what its offsets say is not of this one. */
BOTH(a_topic_that_was_made_again)
{
    expect_ok(replay());
    make_pending("u");
    options.recover = true;
    serve_lock();
    world_recreate(&world.topics[1]);
    world.topics[1].partitions[0].committed = -1;
    serve_unlock();
    ck_assert_int_eq(replay(), KRC_E_NOT_FOUND);
    check_says(error.message, "the topic was deleted");
    expect_file("u-0.00000000000000000000.jsonl", 0, RECORDS);
    (void)is_classic;
}

BOTH(somebody_else_has_committed)
{
    expect_ok(replay());
    make_pending("t");
    options.recover = true;
    serve_lock();
    p[0].committed = 3;
    p[0].committed_text[0] = '\0';
    serve_unlock();
    ck_assert_int_eq(replay(), KRC_E_MISMATCH);
    check_says(error.message, "it has 3 now");
    expect_file("t-0.00000000000000000000.jsonl", 0, RECORDS);
    (void)is_classic;
}

BOTH(a_broker_that_does_not_tell_what_is_being_written)
{
    world_versions(KRC_API_OFFSET_FETCH, 1, 6);
    world_versions(KRC_API_OFFSET_COMMIT, 3, 9);
    ck_assert_int_eq(replay(), KRC_E_UNSUPPORTED);
    check_says(error.message, "since Kafka 2.5");
    (void)is_classic;
}

/* ---- Given away, and back ------------------------------------------------------------------- */

BOTH(nothing_to_recover)
{
    options.recover = true;
    ck_assert_int_eq(replay(), KRC_E_NOT_FOUND);
    check_says(error.message, "no replay was begun");
    ck_assert_int_ne(access(out, F_OK), 0);
    (void)is_classic;
}

static void wait_until(bool (*is_so)(void))
{
    for (int i = 0; i < LOOKS; i++) {
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
    p[0].committed = 3;
    strcpy(p[0].committed_text, "krc1 00000000000000bb@0");
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
    expect_ok(replay());
    pthread_join(thread, NULL);
    expect_file("t-0.00000000000000000000.jsonl", 0, 0);
    expect_file("t-0.00000000000000000003.jsonl", 3, RECORDS);
    expect_lineage(0, "krc1 00000000000000bb@0 ");
    end();
}
END_TEST

/* ---- What is there, and what is said to be -------------------------------------------------- */

/* As kafka-consumer-groups --reset-offsets --to-current does it. */
BOTH(who_has_had_it_is_forgotten)
{
    expect_ok(replay());
    p[0].committed_text[0] = '\0';
    put_plain(&p[0], RECORDS);
    set("commit.interval.bytes", "1");
    expect_ok(replay());
    expect_file("t-0.00000000000000000000.jsonl", 0, 2 * RECORDS);
    expect_lineage(0, "krc1 ");
    ck_assert_int_eq(query("SELECT count(*) FROM stretches"), 0);
    (void)is_classic;
}

BOTH(an_output_that_was_restored)
{
    char command[2000];
    expect_ok(replay());
    snprintf(command, sizeof command, "cp -r '%s' '%s.copy'", out, out);
    ck_assert_int_eq(system(command), 0);
    put_plain(&p[0], RECORDS);
    expect_ok(replay());
    snprintf(command, sizeof command, "rm -r '%s' && mv '%s.copy' '%s'", out, out, out);
    ck_assert_int_eq(system(command), 0);
    put_plain(&p[0], RECORDS);
    ck_assert_int_eq(replay(), KRC_E_MISMATCH);
    check_says(error.message, "up to 10 as written to");
    check_says(error.message, "up to 5 only");
    ck_assert_int_eq(p[0].committed, 2 * RECORDS);
    (void)is_classic;
}

/* Another member has read some of the new one: its offsets say nothing of the old one's. */
BOTH(a_topic_that_another_has_read_anew)
{
    expect_ok(replay());
    world_recreate(&world.topics[0]);
    put_plain(&p[0], 4 * RECORDS);
    p[0].committed = 3 * RECORDS;
    strcpy(p[0].committed_text, "krc1 00000000000000bb@0");
    ck_assert_int_eq(replay(), KRC_E_RECREATED);
    check_says(error.message, "t-0 was deleted and made again after offsets up to 5");
    expect_file("t-0.00000000000000000000.jsonl", 0, RECORDS);
    ck_assert_int_eq(p[0].committed, 3 * RECORDS);
    (void)is_classic;
}

/* The group was set back, and another member has read on from there. */
BOTH(what_another_has_written_too)
{
    expect_ok(replay());
    put_plain(&p[0], RECORDS);
    p[0].committed = RECORDS + 2;
    strcpy(p[0].committed_text, "krc1 00000000000000bb@2");
    ck_assert_int_eq(replay(), KRC_E_MISMATCH);
    check_says(error.message, "so has another member, from 2 on (sink 00000000000000bb)");
    ck_assert_int_eq(p[0].committed, RECORDS + 2);
    (void)is_classic;
}

BOTH(moved_forward_by_hand)
{
    expect_ok(replay());
    put_plain(&p[0], RECORDS);
    p[0].committed = RECORDS + 2;
    p[0].committed_text[0] = '\0';
    expect_ok(replay());
    check_says(notes, "t-0: offsets 5 to 7 are not written here");
    expect_file("t-0.00000000000000000007.jsonl", RECORDS + 2, 2 * RECORDS);
    (void)is_classic;
}

/* ---- The coordinator is gone ---------------------------------------------------------------- */

static bool ends;

static void see_progress(void *arg, const struct krc_replay_progress *progress)
{
    (void)arg;
    if (progress->records < 3 * RECORDS || ends)
        return;
    ends = true;
    serve_lock();
    for (int i = 1; i < WORLD_NODES; i++)
        world.nodes[i].is_mute = true;
    serve_unlock();
}

static bool stop_then(void *arg)
{
    return look(arg) || ends;
}

/* One was asked for, and it is not known what came of it; the others were not. */
BOTH(a_coordinator_that_is_gone)
{
    set("default.api.timeout.ms", "300");
    set("request.timeout.ms", "200");
    options.follow = true;
    options.progress = see_progress;
    options.stop = stop_then;
    ends = false;
    int rc = replay();
    ck_assert(rc == KRC_E_TIMEOUT || rc == KRC_E_IO);
    check_says(error.message, "cannot be told: ");
    check_says(error.message, "the next run, or --recover, asks again");
    ck_assert_int_eq(query("SELECT count(*) FROM pending"), 1);
    for (int i = 1; i < WORLD_NODES; i++)
        world.nodes[i].is_mute = false;
    options.follow = false;
    options.stop = look;
    expect_ok(replay());
    expect_all();
    (void)is_classic;
}

/* We are not to take it from the one that has the id now. */
BOTH(another_has_our_instance_id)
{
    set("group.instance.id", "i");
    world_fail(KRC_API_OFFSET_COMMIT, 0, KRC_KAFKA_FENCED_INSTANCE_ID, 1);
    ck_assert_int_eq(replay(), KRC_E_REFUSED);
    check_says(error.message, "FENCED_INSTANCE_ID");
    ck_assert_int_eq(group.next_id, 1);
    (void)is_classic;
}

int main(void)
{
    const TTest *const cases[] = {reads_commits_and_leaves,
                                  a_commit_whose_answer_is_lost,
                                  a_commit_that_is_lost,
                                  a_replay_that_was_killed,
                                  a_session_that_has_ended,
                                  a_table_whose_commit_is_refused,
                                  a_partition_that_cannot_be_read,
                                  a_topic_that_was_deleted,
                                  a_topic_that_was_made_again,
                                  somebody_else_has_committed,
                                  a_broker_that_does_not_tell_what_is_being_written,
                                  nothing_to_recover,
                                  offsets_that_were_asked_for_before,
                                  who_has_had_it_is_forgotten,
                                  an_output_that_was_restored,
                                  a_topic_that_another_has_read_anew,
                                  what_another_has_written_too,
                                  moved_forward_by_hand,
                                  a_coordinator_that_is_gone,
                                  another_has_our_instance_id};
    return run_tests("replay/member", cases, sizeof cases / sizeof *cases, nothing, nothing);
}
