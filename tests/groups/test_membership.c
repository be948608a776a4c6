/*
 * The table of group membership: each row is taken, all else is refused, and what the table is for
 * holds in whatever order things happen.
 */
#include "groups/membership.h"
#include "tests/support/run.h"

static const struct row {
    enum krc_member_state in, to;
    enum krc_member_event on;
    enum krc_member_doing doing;
} rows[] = {
#define ROW(in, on, to, doing) \
    {KRC_MEMBER_##in, KRC_MEMBER_##to, KRC_MEMBER_ON_##on, KRC_MEMBER_DO_##doing},
    KRC_MEMBER_TABLE(ROW)
#undef ROW
};

enum { ROWS = sizeof rows / sizeof *rows };

static const struct row *row_of(int state, int event)
{
    for (int i = 0; i < ROWS; i++)
        if ((int)rows[i].in == state && (int)rows[i].on == event)
            return &rows[i];
    return NULL;
}

START_TEST(rows_are_taken_and_all_else_is_refused)
{
    int taken = 0;
    for (int s = 0; s < KRC_MEMBER_STATE_COUNT; s++)
        for (int e = 0; e < KRC_MEMBER_EVENT_COUNT; e++) {
            enum krc_member_state state = (enum krc_member_state)s;
            enum krc_member_doing doing = krc_membership_step(&state, (enum krc_member_event)e);
            const struct row *row = row_of(s, e);
            ck_assert_int_eq(doing, row == NULL ? KRC_MEMBER_DO_nothing : row->doing);
            ck_assert_int_eq(state, row == NULL ? s : (int)row->to);
            taken += row != NULL;
        }
    ck_assert_int_eq(taken, ROWS);
}
END_TEST

START_TEST(names)
{
    ck_assert_str_eq(krc_member_state_name(KRC_MEMBER_OUT), "OUT");
    ck_assert_str_eq(krc_member_state_name(KRC_MEMBER_REFUSED), "REFUSED");
    ck_assert_str_eq(krc_member_event_name(KRC_MEMBER_ON_JOIN), "JOIN");
    ck_assert_str_eq(krc_member_event_name(KRC_MEMBER_ON_LEAVE), "LEAVE");
}
END_TEST

/* Which states lie on a way from one of them. */
static void reach(int from, bool *reached)
{
    reached[from] = true;
    for (int i = 0; i < ROWS; i++)
        if ((int)rows[i].in == from && !reached[rows[i].to])
            reach((int)rows[i].to, reached);
}

START_TEST(each_state_is_reached_and_has_a_way_out_and_back)
{
    for (int s = 0; s < KRC_MEMBER_STATE_COUNT; s++) {
        bool from_out[KRC_MEMBER_STATE_COUNT] = {false}, onward[KRC_MEMBER_STATE_COUNT] = {false};
        reach(KRC_MEMBER_OUT, from_out);
        reach(s, onward);
        ck_assert_msg(from_out[s], "%s is not reached",
                      krc_member_state_name((enum krc_member_state)s));
        ck_assert(onward[KRC_MEMBER_OUT]);
        ck_assert(onward[KRC_MEMBER_STABLE]);
    }
}
END_TEST

/* A way out is one step: whoever is not out yet can leave. */
START_TEST(whoever_is_in_can_leave)
{
    for (int s = 0; s < KRC_MEMBER_STATE_COUNT; s++) {
        enum krc_member_state state = (enum krc_member_state)s;
        enum krc_member_doing doing = krc_membership_step(&state, KRC_MEMBER_ON_LEAVE);
        ck_assert_int_eq(state, KRC_MEMBER_OUT);
        if (krc_membership_holds((enum krc_member_state)s))
            ck_assert_int_eq(doing, KRC_MEMBER_DO_leave); /* the coordinator is told */
    }
}
END_TEST

/* Who holds can lose it, at any time; and who holds nothing is not sent to fetch, or sync. */
START_TEST(what_is_held_can_be_lost)
{
    static const struct {
        enum krc_member_event on;
        enum krc_member_state to;
    } losses[] = {{KRC_MEMBER_ON_FENCED, KRC_MEMBER_DROPPING},
                  {KRC_MEMBER_ON_DENIED, KRC_MEMBER_REFUSED},
                  {KRC_MEMBER_ON_LATE, KRC_MEMBER_AWAY}};
    for (int s = 0; s < KRC_MEMBER_STATE_COUNT; s++)
        for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
            enum krc_member_state state = (enum krc_member_state)s;
            bool holds = krc_membership_holds(state);
            (void)krc_membership_step(&state, losses[i].on);
            ck_assert_int_eq(state, holds ? losses[i].to : (enum krc_member_state)s);
            ck_assert(!holds || !krc_membership_holds(state));
        }
}
END_TEST

START_TEST(nobody_holds_who_is_not_a_member)
{
    ck_assert(!krc_membership_holds(KRC_MEMBER_OUT));
    ck_assert(!krc_membership_holds(KRC_MEMBER_DROPPING));
    ck_assert(!krc_membership_holds(KRC_MEMBER_AWAY));
    ck_assert(!krc_membership_holds(KRC_MEMBER_REFUSED));
    ck_assert(krc_membership_holds(KRC_MEMBER_JOINING)); /* of a cooperative group */
    ck_assert(krc_membership_holds(KRC_MEMBER_RETURNING));
}
END_TEST

/* From where nobody holds, only a join, which begins with nothing, leads back; and whoever was
 * thrown out has let go of all before it. */
START_TEST(nothing_is_held_across_a_loss)
{
    for (int i = 0; i < ROWS; i++)
        if (!krc_membership_holds(rows[i].in) && krc_membership_holds(rows[i].to)) {
            ck_assert_int_eq(rows[i].to, KRC_MEMBER_JOINING);
            ck_assert(rows[i].on == KRC_MEMBER_ON_JOIN || rows[i].on == KRC_MEMBER_ON_DROPPED);
        } else if (krc_membership_holds(rows[i].in) && !krc_membership_holds(rows[i].to)) {
            ck_assert(rows[i].doing == KRC_MEMBER_DO_drop_all ||
                      rows[i].doing == KRC_MEMBER_DO_leave);
        }
}
END_TEST

/* While something is being given up, only its end, or its loss, goes on to join or to rest. */
START_TEST(nothing_is_joined_before_it_is_given_up)
{
    static const enum krc_member_state giving[] = {KRC_MEMBER_YIELDING, KRC_MEMBER_RETURNING};
    for (int i = 0; i < ROWS; i++)
        for (size_t k = 0; k < sizeof giving / sizeof *giving; k++)
            if (rows[i].in == giving[k] &&
                (rows[i].to == KRC_MEMBER_JOINING || rows[i].to == KRC_MEMBER_STABLE))
                ck_assert(rows[i].on == KRC_MEMBER_ON_GIVEN_UP ||
                          rows[i].on == KRC_MEMBER_ON_GIVEN_UP_TO_JOIN);
}
END_TEST

static void nothing(void)
{
}

int main(void)
{
    const TTest *const tests[] = {rows_are_taken_and_all_else_is_refused,
                                  names,
                                  each_state_is_reached_and_has_a_way_out_and_back,
                                  whoever_is_in_can_leave,
                                  what_is_held_can_be_lost,
                                  nobody_holds_who_is_not_a_member,
                                  nothing_is_held_across_a_loss,
                                  nothing_is_joined_before_it_is_given_up};
    return run_tests("groups/membership", tests, sizeof tests / sizeof *tests, nothing, nothing);
}
