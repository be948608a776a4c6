/*
 * A cluster's groups as its coordinators tell them, and commits from outside.  Kafka's own tools
 * are held against it in tests/broker/offsets.py.
 */
#include <krc-tools.h>
#include <string.h>

#include "tests/support/consume.h"
#include "tests/support/coordinator.h"
#include "tests/support/makelog.h"
#include "tests/support/run.h"
#include "tests/support/serve.h"
#include "tests/support/tempdir.h"

static krc *handle;
static krc_config *config;
static krc_error error;
static krc_committed_list *offsets;
static krc_groups *groups;
static struct world_topic *topic;

/* How answers are changed after tests/support/serve.h has; and how often one was. */
typedef void edit_fn(enum krc_api_name api, void *response);
static edit_fn *serves, *changes;
static int edits;

static void edit_answer(enum krc_api_name api, void *response)
{
    serves(api, response);
    changes(api, response);
}

static void edit(edit_fn *fn)
{
    serves = world.edit;
    changes = fn;
    world.edit = edit_answer;
}

static void set(const char *name, const char *value)
{
    ck_assert_msg(krc_config_set(config, name, value, &error) == 0, "%s", error.message);
}

static void setup(void)
{
    world_open();
    group_open(false);
    topic = world_topic("t", 2);
    serve_begin();
    config = krc_config_new();
    ck_assert_ptr_nonnull(config);
    set("bootstrap.servers", serve_address());
    set("retry.backoff.ms", "10");
    offsets = krc_committed_new();
    groups = krc_groups_new();
    edits = 0;
    handle = NULL;
}

static void teardown(void)
{
    krc_close(handle);
    krc_config_free(config);
    krc_committed_free(offsets);
    krc_groups_free(groups);
    serve_end();
    group_close();
    world_close();
}

static int read_groups(const char *name)
{
    ck_assert_msg(krc_open(&handle, config, &error) == 0, "%s", error.message);
    return krc_group_cluster_read(handle, name, offsets, groups, &error);
}

/* "t-0@5 t-1@7" */
static const char *offsets_text(const char *name)
{
    static char text[200];
    const struct krc_committed *row;
    text[0] = '\0';
    for (size_t i = 0; (row = krc_committed_at(offsets, i)) != NULL; i++)
        if (strcmp(row->group, name) == 0)
            group_say(text, sizeof text, "%s%s-%d@%d", text[0] == '\0' ? "" : " ", row->topic,
                      (int)row->partition, (int)row->offset);
    return text;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static void check_member(const char *type)
{
    ck_assert_msg(read_groups("g") == KRC_OK, "%s", error.message);
    ck_assert_str_eq(offsets_text("g"), "t-1@7");
    ck_assert_int_eq(krc_committed_at(offsets, 0)->leader_epoch, 3);
    const struct krc_group *g = krc_groups_find(groups, "g");
    ck_assert_str_eq(g->type, type);
    ck_assert_str_eq(g->state, "Stable");
    ck_assert_uint_eq(g->member_count, 1);
    ck_assert_str_eq(g->members[0].client_id, "m1");
    ck_assert_str_eq(g->members[0].host, "/127.0.0.1");
    ck_assert_ptr_eq(krc_group_owner(g, "t", 1), &g->members[0]);
    ck_assert_ptr_null(krc_group_owner(g, "t", 0));
}

static void commit_and_join(void)
{
    topic->partitions[1].committed = 7;
    topic->partitions[1].committed_epoch = 3;
    group_target(group_join("t"), "t-1");
}

START_TEST(a_member_of_a_group)
{
    commit_and_join();
    group_m(1)->has = group_set("t-1");
    check_member("consumer");
}
END_TEST

START_TEST(a_member_of_a_classic_group)
{
    group.is_classic = true;
    commit_and_join();
    group_rebalance();
    check_member("classic");
}
END_TEST

START_TEST(brokers_without_newer_groups)
{
    group.is_classic = true;
    commit_and_join();
    group_rebalance();
    world_versions(KRC_API_CONSUMER_GROUP_DESCRIBE, -1, -1);
    check_member("classic");
}
END_TEST

START_TEST(brokers_that_know_newer_groups_and_have_none)
{
    group.is_classic = true;
    commit_and_join();
    group_rebalance();
    world_fail(KRC_API_CONSUMER_GROUP_DESCRIBE, -1, KRC_KAFKA_UNSUPPORTED_VERSION, 1);
    check_member("classic");
}
END_TEST

static void tell_of_none(enum krc_api_name api, void *response)
{
    if (api == KRC_API_CONSUMER_GROUP_DESCRIBE)
        ((struct krc_consumer_group_describe_response *)response)->groups[0].error_code =
            KRC_KAFKA_GROUP_ID_NOT_FOUND;
}

START_TEST(no_such_group)
{
    edit(tell_of_none);
    ck_assert_int_eq(read_groups("g"), KRC_E_NOT_FOUND);
    check_says(error.message, "the cluster has no group g");
}
END_TEST

START_TEST(offsets_without_a_group)
{
    edit(tell_of_none);
    topic->partitions[0].committed = 5;
    ck_assert_int_eq(read_groups("g"), KRC_OK);
    ck_assert_str_eq(offsets_text("g"), "t-0@5");
    ck_assert_ptr_null(krc_groups_at(groups, 0));
}
END_TEST

START_TEST(a_group_that_we_may_not_see)
{
    world_fail(KRC_API_CONSUMER_GROUP_DESCRIBE, -1, KRC_KAFKA_GROUP_AUTHORIZATION_FAILED, 1);
    ck_assert_int_eq(read_groups("g"), KRC_E_REFUSED);
    check_says(error.message, "group g: the broker answers GROUP_AUTHORIZATION_FAILED");
}
END_TEST

static bool is_pending(int32_t partition)
{
    return krc_committed_find(offsets, "g", "t", partition)->is_pending;
}

/* What is pending is not waited for: the last stable offset is told at once, and which it is. */
START_TEST(offsets_that_are_pending)
{
    topic->partitions[0].committed = 5;
    topic->partitions[0].is_pending = true;
    topic->partitions[1].committed = 7;
    ck_assert_msg(read_groups("g") == KRC_OK, "%s", error.message);
    ck_assert_str_eq(offsets_text("g"), "t-0@5 t-1@7");
    ck_assert(is_pending(0));
    ck_assert(!is_pending(1));
    ck_assert_int_eq(krc_committed_at(offsets, 0)->pending_offset, -1); /* nobody tells it */
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_FETCH), 2);
}
END_TEST

/* Brokers before Kafka 2.5 tell what is stable, and not that something is pending. */
START_TEST(a_broker_that_does_not_tell_what_is_pending)
{
    topic->partitions[0].committed = 5;
    topic->partitions[0].is_pending = true;
    world_versions(KRC_API_OFFSET_FETCH, 1, 6);
    ck_assert_int_eq(read_groups("g"), KRC_OK);
    ck_assert_str_eq(offsets_text("g"), "t-0@5");
    ck_assert(!is_pending(0));
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_FETCH), 1);
}
END_TEST

/* An answer that says so of the group as a whole. */
static void tell_of_the_group(enum krc_api_name api, void *response)
{
    struct krc_offset_fetch_response *r = response;
    if (api != KRC_API_OFFSET_FETCH || edits++ > 0)
        return;
    r->error_code = KRC_KAFKA_UNSTABLE_OFFSET_COMMIT;
    r->topic_count = 0;
}

START_TEST(a_group_that_is_pending)
{
    topic->partitions[0].committed = 5;
    edit(tell_of_the_group);
    ck_assert_int_eq(read_groups("g"), KRC_OK);
    ck_assert_str_eq(offsets_text("g"), "t-0@5");
    ck_assert(is_pending(0));
}
END_TEST

static void name_another_topic(enum krc_api_name api, void *response)
{
    struct krc_offset_fetch_response *fetched = response;
    if (api == KRC_API_OFFSET_FETCH && fetched->topic_count > 0 && edits++ == 0)
        fetched->topics[0].id.bytes[0] ^= 1;
}

START_TEST(a_topic_id_that_metadata_does_not_have)
{
    topic->partitions[0].committed = 5;
    edit(name_another_topic);
    ck_assert_int_eq(read_groups("g"), KRC_OK);
    ck_assert_str_eq(offsets_text("g"), "t-0@5"); /* by name */
}
END_TEST

/* By name, and with a NUL behind which it would be t. */
static void commit_outside(enum krc_api_name api, void *response)
{
    static const char *const names[] = {"../../victim", "t\0x"};
    struct krc_offset_fetch_response *r = response;
    if (api != KRC_API_OFFSET_FETCH || r->topic_count == 0)
        return;
    struct krc_offset_fetch_topic *topics = krc_arena_take(&world.arena, 3 * sizeof *topics);
    for (int i = 0; i < 3; i++)
        topics[i] = r->topics[0];
    topics[0].name = build_text(names[0]);
    topics[1].name = (struct krc_bytes){(const uint8_t *)names[1], 3};
    r->topics = topics;
    r->topic_count = 3;
}

START_TEST(offsets_of_topics_that_cannot_be)
{
    topic->partitions[0].committed = 5;
    world_versions(KRC_API_OFFSET_FETCH, 1, 9);
    edit(commit_outside);
    ck_assert_int_eq(read_groups("g"), KRC_OK);
    ck_assert_str_eq(offsets_text("g"), "t-0@5");
    ck_assert_str_eq(krc_committed_left_out(offsets), "../../victim");
}
END_TEST

static void list_with_nul(enum krc_api_name api, void *response)
{
    struct krc_list_groups_response *r = response;
    if (api == KRC_API_LIST_GROUPS && r->group_count > 0)
        r->groups[0].group = (struct krc_bytes){(const uint8_t *)"g\0h", 3};
}

/* Cut at its NUL, it would be another one. */
START_TEST(a_group_whose_name_holds_a_nul)
{
    edit(list_with_nul);
    topic->partitions[0].committed = 5;
    ck_assert_int_eq(read_groups(NULL), KRC_OK);
    ck_assert_str_eq(offsets_text("g"), "");
    const struct krc_group *g = krc_groups_at(groups, 0);
    ck_assert_str_eq(g->id, "g\\x00h");
    check_says(g->error.message, "group \"g\\x00h\" cannot be asked about");
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_FETCH), 0);
}
END_TEST

START_TEST(of_folders)
{
    ck_assert_int_eq(krc_config_set(config, "bootstrap.servers", "", &error), KRC_OK);
    make_setup();
    make_plain(0, 5);
    make_segment(0);
    ck_assert_int_eq(krc_config_set(config, "log.dirs", tempdir_path("data"), &error), KRC_OK);
    ck_assert_int_eq(read_groups("g"), KRC_E_STATE);
    ck_assert_int_eq(krc_group_cluster_commit(handle, offsets, &error), KRC_E_STATE);
    make_teardown();
}
END_TEST

/* ---- Committing from outside ---------------------------------------------------------------- */

static void plan(const char *name, int32_t partition, int64_t offset)
{
    struct krc_committed row = {
        .group = "g", .topic = name, .partition = partition, .offset = offset, .leader_epoch = -1};
    ck_assert_int_eq(krc_committed_add(offsets, &row, &error), KRC_OK);
}

static int commit(void)
{
    plan("t", 0, 5);
    plan("t", 1, 7);
    ck_assert_msg(krc_open(&handle, config, &error) == 0, "%s", error.message);
    return krc_group_cluster_commit(handle, offsets, &error);
}

static void check_committed(int64_t first, int64_t second)
{
    serve_lock();
    ck_assert_int_eq(topic->partitions[0].committed, first);
    ck_assert_int_eq(topic->partitions[1].committed, second);
    serve_unlock();
}

START_TEST(an_empty_group_is_moved)
{
    ck_assert_msg(commit() == KRC_OK, "%s", error.message);
    check_committed(5, 7);
}
END_TEST

START_TEST(members_are_not_moved)
{
    for (int i = 0; i < GROUP_MEMBERS; i++)
        group_join("t");
    ck_assert_int_eq(commit(), KRC_E_BUSY);
    check_says(error.message, "group g has members");
    check_says(error.message, "(m1, /127.0.0.1), ");
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_COMMIT), 0);
    check_committed(-1, -1);
}
END_TEST

/* A member joins once the group was seen to be empty. */
static void join_later(enum krc_api_name api, void *response)
{
    (void)response;
    if (api == KRC_API_CONSUMER_GROUP_DESCRIBE && edits++ == 0)
        group_join("t");
}

START_TEST(members_that_come_meanwhile)
{
    edit(join_later);
    ck_assert_int_eq(commit(), KRC_E_BUSY);
    check_says(error.message, "group g has members");
    check_says(error.message, "(m1, /127.0.0.1)");
    check_says(error.message, "committed of it: none");
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_COMMIT), 1);
    check_committed(-1, -1);
}
END_TEST

START_TEST(some_are_refused)
{
    world_fail(KRC_API_OFFSET_COMMIT, 1, KRC_KAFKA_OFFSET_METADATA_TOO_LARGE, 1);
    ck_assert_int_eq(commit(), KRC_E_REFUSED);
    check_says(error.message, "t-1: offset 7");
    check_says(error.message, "OFFSET_METADATA_TOO_LARGE");
    check_says(error.message, "committed of it: t-0");
    check_committed(5, -1);
}
END_TEST

START_TEST(a_group_that_we_may_not_change)
{
    world_fail(KRC_API_OFFSET_COMMIT, -1, KRC_KAFKA_GROUP_AUTHORIZATION_FAILED, 1);
    ck_assert_int_eq(commit(), KRC_E_REFUSED);
    check_says(error.message, "GROUP_AUTHORIZATION_FAILED");
    check_says(error.message, "committed of it: none");
    check_committed(-1, -1);
}
END_TEST

START_TEST(no_answer)
{
    set("default.api.timeout.ms", "500");
    serve_hold(KRC_API_OFFSET_COMMIT);
    ck_assert_int_eq(commit(), KRC_E_TIMEOUT);
    check_says(error.message, "whether the offsets of group g were committed is not known");
}
END_TEST

START_TEST(no_such_partition)
{
    plan("t", 2, 1);
    ck_assert_int_eq(commit(), KRC_E_NOT_FOUND);
    check_says(error.message, "no partition t-2");
    ck_assert_int_eq(serve_requests(KRC_API_OFFSET_COMMIT), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_member_of_a_group, a_member_of_a_classic_group, brokers_without_newer_groups,
        brokers_that_know_newer_groups_and_have_none, no_such_group, offsets_without_a_group,
        a_group_that_we_may_not_see, offsets_that_are_pending,
        a_broker_that_does_not_tell_what_is_pending, a_group_that_is_pending,
        a_topic_id_that_metadata_does_not_have, offsets_of_topics_that_cannot_be,
        a_group_whose_name_holds_a_nul, of_folders,
        an_empty_group_is_moved, members_are_not_moved, members_that_come_meanwhile,
        some_are_refused, a_group_that_we_may_not_change, no_answer, no_such_partition};
    return run_tests("admin: groups of a cluster", tests, sizeof tests / sizeof *tests, setup,
                     teardown);
}
