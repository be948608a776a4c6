/*
 * Members of a classic group name topics to one another: names that are not valid are reported once
 * and never used, and the group goes on.
 */
#include <string.h>

#include "groups/subscription.h"
#include "tests/support/owner.h"
#include "tests/support/run.h"

static const char bad_name[] = "../../victim\x1b[2J";

static void begin(void)
{
    owner_open(true);
}

static void check_note(void)
{
    ck_assert_int_eq(said("note of"), 1);
    ck_assert_ptr_nonnull(
        strstr(sim.noted, "\"../../victim\\x1b[2J\", which is not a valid topic name"));
    ck_assert_ptr_null(krc_topic_find(&sim.cluster, build_text(bad_name)));
}

static struct krc_bytes kept(struct krc_buffer *bytes)
{
    uint8_t *copy = krc_arena_take(&world.arena, bytes->len + 1);
    memcpy(copy, bytes->data, bytes->len);
    struct krc_bytes view = {copy, bytes->len};
    krc_buffer_free(bytes);
    return view;
}

/* The group's leader gives us partitions of such a topic beside t-1. */
static void assign_outside(enum krc_api_name api, void *response)
{
    struct krc_sync_group_response *r = response;
    struct krc_buffer bytes = {0};
    int32_t partitions[] = {0, 1};
    struct krc_topic_partitions topics[] = {{.topic = build_text(bad_name), .partition_count = 2},
                                            {.topic = build_text("t"), .partition_count = 1}};
    struct krc_assignment assignment = {.topics = topics, .topic_count = 2};
    if (api != KRC_API_SYNC_GROUP || r->error_code != 0)
        return;
    topics[0].partitions = partitions;
    topics[1].partitions = &partitions[1];
    ck_assert_int_eq(krc_assignment_write(&bytes, 0, &assignment, NULL), KRC_OK);
    r->assignment = kept(&bytes);
}

START_TEST(an_assignment)
{
    world.edit = assign_outside;
    owner_join("t");
    owner_until(KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-1");
    ck_assert_uint_eq(owner.member->unresolved, 0); /* nothing is asked for again and again */
    sim_run(20000);
    ck_assert_str_eq(owner_has(), "t-1");
    check_note();
}
END_TEST

/* We lead the group, and another member subscribes to such a topic beside u. */
static void subscribe_outside(enum krc_api_name api, void *response)
{
    struct krc_join_group_response *r = response;
    struct krc_buffer bytes = {0};
    struct krc_bytes topics[] = {build_text(bad_name), build_text("u")};
    struct krc_subscription s = {.topics = topics, .topic_count = 2, .generation = -1};
    if (api != KRC_API_JOIN_GROUP || r->member_count < 2)
        return;
    ck_assert_int_eq(krc_subscription_write(&bytes, 1, &s, NULL), KRC_OK);
    struct krc_bytes metadata = kept(&bytes);
    for (int32_t i = 0; i < r->member_count; i++)
        if (krc_bytes_compare(r->members[i].member_id, r->leader) != 0)
            r->members[i].metadata = metadata;
}

START_TEST(a_subscription)
{
    owner_join("t");
    owner_until(KRC_MEMBER_STABLE);
    world.edit = subscribe_outside;
    int other = group_join("u");
    sim_run(20000);
    ck_assert_int_eq(owner.member->state, KRC_MEMBER_STABLE);
    ck_assert_str_eq(owner_has(), "t-0,t-1,t-2,t-3");
    ck_assert_int_eq(group_m(other)->has, group_set("u-0 u-1 u-2 u-3"));
    check_note();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {an_assignment, a_subscription};
    return run_tests("group/names", tests, sizeof tests / sizeof *tests, begin, owner_close);
}
