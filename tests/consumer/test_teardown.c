/*
 * Consumers that are closed while requests, commits and a group's rebalance are under way: nothing
 * may be raised into memory that is freed already.  AddressSanitizer detects it (VARIANT=asan).
 */
#include <krc-tools.h>

#include "tests/support/consume.h"
#include "tests/support/run.h"
#include "tests/support/teardown.h"
#include "tests/support/tempdir.h"

static const char *const t = "t";

/* krc_close ends a commit without calling its callback. */
static void unexpected(void *arg, const krc_error *why)
{
    (void)arg;
    ck_abort_msg("the callback of a commit was called after krc_close: %s", why->message);
}

static void commit_async(void)
{
    ck_assert_int_eq(krc_ack(teardown.handle, "t", 0, 5, &teardown.error), 0);
    ck_assert_int_eq(krc_commit_async(teardown.handle, unexpected, NULL, &teardown.error), 0);
}

static void nothing(void)
{
}

static struct world_partition *first(void)
{
    return teardown.topic->partitions;
}

/* ---- Requests ------------------------------------------------------------------------------- */

CLOSED_DURING(a_greeting)
{
    serve_hold(KRC_API_API_VERSIONS);
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    teardown_until(KRC_API_API_VERSIONS, 1);
}

CLOSED_DURING(a_metadata_request)
{
    serve_hold(KRC_API_METADATA);
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    teardown_until(KRC_API_METADATA, 1);
}

CLOSED_DURING(a_fetch)
{
    serve_hold(KRC_API_FETCH);
    teardown_assign(0, KRC_NO_END);
    teardown_until(KRC_API_FETCH, 1);
}

CLOSED_DURING(a_fetch_with_a_batch_out)
{
    teardown_assign(0, KRC_NO_END);
    teardown_read();
    serve_hold(KRC_API_FETCH);
    teardown_until(KRC_API_FETCH, 2);
}

CLOSED_DURING(an_offset_lookup)
{
    serve_hold(KRC_API_LIST_OFFSETS);
    teardown_assign(KRC_LATEST, KRC_NO_END);
    teardown_until(KRC_API_LIST_OFFSETS, 1);
}

CLOSED_DURING(a_cleanup_policy_lookup)
{
    teardown.topic->cleanup = "delete";
    put_hole(first(), 5);
    put_plain(first(), 5);
    serve_hold(KRC_API_DESCRIBE_CONFIGS);
    teardown_assign(0, KRC_NO_END);
    teardown_until(KRC_API_DESCRIBE_CONFIGS, 1);
}

static void commit_three(void)
{
    first()->committed = 3;
    first()->committed_epoch = 0;
    teardown_set("group.id", "g");
}

CLOSED_DURING(an_epoch_lookup)
{
    commit_three();
    serve_hold(KRC_API_OFFSET_FOR_LEADER_EPOCH);
    teardown_assign(KRC_STORED, KRC_NO_END);
    teardown_until(KRC_API_OFFSET_FOR_LEADER_EPOCH, 1);
}

CLOSED_DURING(a_committed_offset_lookup)
{
    commit_three();
    serve_hold(KRC_API_OFFSET_FETCH);
    teardown_assign(KRC_STORED, KRC_NO_END);
    teardown_until(KRC_API_OFFSET_FETCH, 1);
}

CLOSED_DURING(a_coordinator_lookup)
{
    commit_three();
    serve_hold(KRC_API_FIND_COORDINATOR);
    teardown_assign(KRC_STORED, KRC_NO_END);
    teardown_until(KRC_API_FIND_COORDINATOR, 1);
}

CLOSED_DURING(a_commit_while_no_broker_answers)
{
    commit_three();
    teardown_assign(KRC_STORED, KRC_NO_END);
    teardown_read();
    serve_lock();
    for (int i = 1; i < WORLD_NODES; i++)
        world.nodes[i].is_mute = true;
    serve_unlock();
    commit_async();
    teardown_until(KRC_API_OFFSET_COMMIT, 1);
}

/* ---- Commits -------------------------------------------------------------------------------- */

CLOSED_DURING(a_commit_to_the_group)
{
    commit_three();
    teardown_assign(KRC_STORED, KRC_NO_END);
    teardown_read();
    serve_hold(KRC_API_OFFSET_COMMIT);
    commit_async();
    teardown_until(KRC_API_OFFSET_COMMIT, 1);
}

CLOSED_DURING(a_commit_without_coordinator)
{
    teardown_set("group.id", "g");
    teardown_assign(0, KRC_NO_END);
    teardown_read();
    serve_hold(KRC_API_FIND_COORDINATOR);
    commit_async();
    teardown_until(KRC_API_FIND_COORDINATOR, 1);
}

CLOSED_DURING(a_commit_to_the_store)
{
    teardown_set("offset.store.file", tempdir_path("store.db"));
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    teardown_read();
    commit_async();
}

CLOSED_DURING(a_commit_to_the_group_after_the_store)
{
    teardown_set("offset.store.file", tempdir_path("store.db"));
    teardown_set("commit.to.group", "true");
    teardown_set("group.id", "g");
    teardown_set("default.api.timeout.ms", "100");
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    teardown_read();
    serve_hold(KRC_API_OFFSET_COMMIT);
    ck_assert_int_eq(krc_ack(teardown.handle, "t", 0, 5, &teardown.error), 0);
    ck_assert_int_eq(krc_commit(teardown.handle, &teardown.error), 0);
    teardown_until(KRC_API_OFFSET_COMMIT, 1);
}

START_TEST(a_commit_that_timed_out)
{
    teardown_begin(false);
    commit_three();
    teardown_set("default.api.timeout.ms", "100");
    teardown_assign(KRC_STORED, KRC_NO_END);
    teardown_read();
    serve_hold(KRC_API_OFFSET_COMMIT);
    ck_assert_int_eq(krc_ack(teardown.handle, "t", 0, 5, &teardown.error), 0);
    ck_assert_int_eq(krc_commit(teardown.handle, &teardown.error), KRC_E_TIMEOUT);
    ck_assert_int_ge(serve_requests(KRC_API_OFFSET_COMMIT), 1);
    teardown_end();
}
END_TEST

/* ---- A group -------------------------------------------------------------------------------- */

CLOSED_DURING(a_join)
{
    serve_hold(KRC_API_CONSUMER_GROUP_HEARTBEAT);
    teardown_join(false);
    teardown_until(KRC_API_CONSUMER_GROUP_HEARTBEAT, 1);
}

CLOSED_DURING(a_join_classic)
{
    serve_hold(KRC_API_JOIN_GROUP);
    teardown_join(true);
    teardown_until(KRC_API_JOIN_GROUP, 1);
}

CLOSED_DURING(a_join_without_coordinator)
{
    serve_hold(KRC_API_FIND_COORDINATOR);
    teardown_join(false);
    teardown_until(KRC_API_FIND_COORDINATOR, 1);
}

CLOSED_DURING(a_sync)
{
    serve_hold(KRC_API_SYNC_GROUP);
    teardown_join(true);
    teardown_until(KRC_API_SYNC_GROUP, 1);
}

static void until_member(void)
{
    for (int ms = 0; ms < TEARDOWN_MS && teardown.handle->part_count == 0; ms++)
        teardown_turn();
    ck_assert_uint_gt(teardown.handle->part_count, 0);
}

CLOSED_DURING(a_heartbeat)
{
    teardown_join(true);
    until_member();
    serve_hold(KRC_API_HEARTBEAT);
    teardown_until(KRC_API_HEARTBEAT, serve_requests(KRC_API_HEARTBEAT) + 1);
}

CLOSED_DURING(a_leave_request)
{
    teardown_join(true);
    until_member();
    serve_hold(KRC_API_LEAVE_GROUP);
}

CLOSED_DURING(a_members_commit)
{
    teardown_join(true);
    until_member();
    teardown_read();
    serve_hold(KRC_API_OFFSET_COMMIT);
    commit_async();
    teardown_until(KRC_API_OFFSET_COMMIT, 1);
}

/* ---- Calls that wait ------------------------------------------------------------------------ */

START_TEST(offset_lookups_that_timed_out)
{
    struct krc_log_offsets log;
    teardown_begin(false);
    teardown_set("default.api.timeout.ms", "100");
    teardown_assign(KRC_EARLIEST, KRC_NO_END);
    ck_assert_int_eq(krc_load_topics(teardown.handle, &t, 1, &teardown.error), 0);
    serve_hold(KRC_API_LIST_OFFSETS);
    ck_assert_int_eq(krc_log_offsets(teardown.handle, "t", 0, &log, &teardown.error),
                     KRC_E_TIMEOUT);
    teardown_end();
}
END_TEST

START_TEST(metadata_that_timed_out)
{
    teardown_begin(false);
    teardown_set("default.api.timeout.ms", "100");
    serve_hold(KRC_API_METADATA);
    teardown_open();
    ck_assert_int_eq(krc_load_topics(teardown.handle, &t, 1, &teardown.error), KRC_E_TIMEOUT);
    teardown_end();
}
END_TEST

START_TEST(groups_that_timed_out)
{
    static const enum krc_api_name apis[] = {KRC_API_LIST_GROUPS, KRC_API_FIND_COORDINATOR,
                                             KRC_API_CONSUMER_GROUP_DESCRIBE, KRC_API_OFFSET_FETCH};
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++) {
        teardown_begin(false);
        teardown_set("default.api.timeout.ms", "100");
        group_join("t");
        teardown_open();
        krc_committed_list *offsets = krc_committed_new();
        krc_groups *groups = krc_groups_new();
        serve_hold(apis[i]);
        ck_assert_int_lt(krc_group_cluster_read(teardown.handle, i == 0 ? NULL : "g", offsets,
                                                groups, &teardown.error), 0);
        ck_assert_int_ge(serve_requests(apis[i]), 1);
        krc_committed_free(offsets);
        krc_groups_free(groups);
        teardown_end();
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_greeting, a_metadata_request, a_fetch, a_fetch_with_a_batch_out, an_offset_lookup,
        a_cleanup_policy_lookup, an_epoch_lookup, a_committed_offset_lookup, a_coordinator_lookup,
        a_commit_while_no_broker_answers, a_commit_to_the_group, a_commit_without_coordinator,
        a_commit_to_the_store, a_commit_to_the_group_after_the_store, a_commit_that_timed_out,
        a_join, a_join_classic, a_join_without_coordinator, a_sync, a_heartbeat, a_leave_request,
        a_members_commit, offset_lookups_that_timed_out, metadata_that_timed_out,
        groups_that_timed_out,
    };
    return run_tests("consumer/teardown", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
