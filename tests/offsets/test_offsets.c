/*
 * The state machine, step by step: what it does, what it refuses, what comes too late, and how
 * what was found gets its name.
 */
#include <check.h>
#include <string.h>

#include "offsets/offsets.h"
#include "tests/support/run.h"

static struct krc_offsets machine;
static struct krc_offset_update todo;
static krc_error error;

static void setup(void)
{
    krc_offsets_init(&machine);
    todo = (struct krc_offset_update){0};
}

static void teardown(void)
{
    ck_assert_ptr_null(krc_offsets_invariant(&machine));
}

/* An event that answers the open question. */
static int step(struct krc_offset_event event)
{
    event.match = machine.generation;
    return krc_offsets_step(&machine, &event, &todo, &error);
}

static void must(struct krc_offset_event event, enum krc_offset_state state, enum krc_ask ask)
{
    ck_assert_msg(step(event) == KRC_OK, "%s", error.message);
    ck_assert_str_eq(krc_offset_state_name(machine.state), krc_offset_state_name(state));
    ck_assert_int_eq(todo.ask, ask);
    ck_assert(!todo.stale);
    if (ask != KRC_ASK_NOTHING)
        ck_assert_uint_eq(todo.generation, machine.generation);
}

#define ON(name) (struct krc_offset_event){.type = KRC_ON_##name}
#define EVENT(name, ...) (struct krc_offset_event){.type = KRC_ON_##name, __VA_ARGS__}

static int ack(int64_t offset, struct krc_account account)
{
    struct krc_offset_event event = EVENT(ACK, .match = machine.stretch, .offset = offset,
                                          .epoch = 4, .account = account);
    return krc_offsets_step(&machine, &event, &todo, &error);
}

static int commit(int64_t offset)
{
    struct krc_offset_event event = EVENT(COMMITTED, .match = machine.stretch, .offset = offset);
    return krc_offsets_step(&machine, &event, &todo, &error);
}

static void start_at(int64_t offset)
{
    must(EVENT(ASSIGN_OFFSET, .offset = offset), KRC_FETCHING, KRC_ASK_FETCH);
    ck_assert_int_eq(todo.offset, offset);
}

/* Reads ten offsets with eight records, then two markers. */
static void read_some(void)
{
    int64_t at = machine.position;
    must(EVENT(BATCH, .offset = at + 10, .delivered = 8, .epoch = 4), KRC_FETCHING, KRC_ASK_FETCH);
    must(EVENT(PASSED, .offset = at + 12, .fate = KRC_CONTROL, .epoch = 5), KRC_FETCHING,
         KRC_ASK_FETCH);
}

static void check_failed(int rc, const char *what)
{
    ck_assert_int_eq(rc, KRC_E_STATE);
    ck_assert_int_eq(machine.state, KRC_FAILED);
    ck_assert_msg(strstr(error.message, what) != NULL, "%s", error.message);
}

/* ---- What it does --------------------------------------------------------------------------- */

START_TEST(reading_from_an_offset)
{
    start_at(100);
    read_some();
    ck_assert_int_eq(machine.position, 112);
    ck_assert_int_eq(machine.delivered_to, 110);
    ck_assert_int_eq(machine.acknowledged, 100);
    ck_assert_int_eq(machine.epoch, 5);
    ck_assert_int_eq(machine.account.delivered, 8);
    ck_assert_int_eq(machine.account.absent, 2);
    ck_assert_int_eq(machine.account.control, 2);
    must(ON(END), KRC_ENDED, KRC_ASK_NOTHING);
}
END_TEST

START_TEST(each_fate_has_its_count)
{
    start_at(0);
    for (int fate = KRC_ABORTED; fate <= KRC_SKIPPED; fate++)
        must(EVENT(PASSED, .offset = machine.position + fate + 1, .fate = (enum krc_fate)fate,
                   .epoch = -1),
             KRC_FETCHING, KRC_ASK_FETCH);
    ck_assert_int_eq(machine.account.aborted, 1);
    ck_assert_int_eq(machine.account.control, 2);
    ck_assert_int_eq(machine.account.absent, 3);
    ck_assert_int_eq(machine.account.lost, 4);
    ck_assert_int_eq(machine.account.skipped, 5);
    ck_assert_int_eq(krc_account_sum(&machine.account), 15);
    ck_assert_int_eq(machine.acknowledged, 15); /* nothing of it needs an acknowledgement */
    ck_assert_int_eq(krc_account_sum(&machine.acked), 15);
}
END_TEST

START_TEST(acknowledging)
{
    start_at(0);
    read_some();
    struct krc_account part = {.to = 5, .delivered = 4, .absent = 1};
    ck_assert_int_eq(ack(5, part), KRC_OK);
    ck_assert_int_eq(machine.acknowledged, 5);
    ck_assert_int_eq(machine.acked_epoch, 4);
    ck_assert_int_eq(machine.acked.delivered, 4);
    ck_assert_int_eq(commit(5), KRC_OK);
    ck_assert_int_eq(ack(10, (struct krc_account){0}), KRC_OK);
    ck_assert_int_eq(machine.acknowledged, 12); /* with the markers behind it */
    ck_assert_int_eq(machine.acked_epoch, 5);
    ck_assert_int_eq(machine.committed, 5);
    ck_assert_int_eq(commit(12), KRC_OK);
    must(EVENT(PASSED, .offset = 20, .fate = KRC_ABORTED, .epoch = -1), KRC_FETCHING,
         KRC_ASK_FETCH);
    ck_assert_int_eq(machine.acknowledged, 20);
    ck_assert_int_eq(machine.acked_epoch, 5);
}
END_TEST

START_TEST(looking_for_a_start)
{
    must(ON(ASSIGN_START), KRC_LOCATING, KRC_ASK_START);
    must(ON(RETRY), KRC_LOCATING, KRC_ASK_START);
    must(EVENT(LOCATED, .offset = 7), KRC_FETCHING, KRC_ASK_FETCH);
    ck_assert_int_eq(machine.start, 7);
    ck_assert(!todo.reset);
    must(ON(ASSIGN_END), KRC_LOCATING, KRC_ASK_END);
    ck_assert_int_eq(machine.position, -1);
    must(ON(NEW_EPOCH), KRC_LOCATING, KRC_ASK_END);
    must(EVENT(LOCATED, .offset = 90), KRC_FETCHING, KRC_ASK_FETCH);
    ck_assert_int_eq(machine.position, 90);
}
END_TEST

START_TEST(a_committed_offset_with_its_epoch)
{
    must(ON(ASSIGN_STORED), KRC_LOADING, KRC_ASK_STORED);
    must(EVENT(STORED, .offset = 100, .epoch = 5), KRC_VALIDATING, KRC_ASK_EPOCH_END);
    ck_assert_int_eq(todo.epoch, 5);
    ck_assert_int_eq(todo.offset, 100);
    ck_assert_int_eq(machine.committed, 100);
    must(ON(VALID), KRC_FETCHING, KRC_ASK_FETCH);
    ck_assert_int_eq(todo.offset, 100);
}
END_TEST

START_TEST(a_truncation_begins_a_history)
{
    must(ON(ASSIGN_STORED), KRC_LOADING, KRC_ASK_STORED);
    must(EVENT(STORED, .offset = 100, .epoch = 5), KRC_VALIDATING, KRC_ASK_EPOCH_END);
    uint32_t stretch = machine.stretch;
    must(EVENT(RESET_HERE, .offset = 80, .epoch = 5, .cause = KRC_CAUSE_TRUNCATED), KRC_FETCHING,
         KRC_ASK_FETCH);
    ck_assert(todo.reset && todo.new_history);
    ck_assert_int_eq(todo.from, 100);
    ck_assert_int_eq(todo.to, 80);
    ck_assert_int_eq(machine.start, 80);
    ck_assert_int_eq(machine.committed, -1);
    ck_assert_uint_ne(machine.stretch, stretch);
}
END_TEST

START_TEST(below_the_start_the_rest_is_lost)
{
    must(ON(ASSIGN_STORED), KRC_LOADING, KRC_ASK_STORED);
    must(EVENT(STORED_NO_EPOCH, .offset = 5, .epoch = -1), KRC_FETCHING, KRC_ASK_FETCH);
    must(ON(OUT_OF_RANGE), KRC_MEASURING, KRC_ASK_RANGE);
    must(ON(RETRY), KRC_MEASURING, KRC_ASK_RANGE);
    must(EVENT(RESET_HERE, .offset = 15, .epoch = -1, .cause = KRC_CAUSE_BELOW_START),
         KRC_FETCHING, KRC_ASK_FETCH);
    ck_assert(todo.reset && !todo.new_history);
    ck_assert_int_eq(machine.account.lost, 10);
    ck_assert_int_eq(machine.start, 5);
    ck_assert_int_eq(machine.position, 15);
    ck_assert_int_eq(machine.acknowledged, 15);
    ck_assert_int_eq(machine.committed, 5);
}
END_TEST

/* What is delivered and not acknowledged yet stays so over a reset. */
START_TEST(a_reset_with_records_outstanding)
{
    start_at(0);
    read_some();
    must(ON(OUT_OF_RANGE), KRC_MEASURING, KRC_ASK_RANGE);
    must(EVENT(RESET_HERE, .offset = 40, .cause = KRC_CAUSE_BELOW_START), KRC_FETCHING,
         KRC_ASK_FETCH);
    ck_assert_int_eq(machine.acknowledged, 0);
    ck_assert_int_eq(ack(10, (struct krc_account){0}), KRC_OK);
    ck_assert_int_eq(machine.acknowledged, 40);
    ck_assert_int_eq(machine.acked.lost, 28);
}
END_TEST

START_TEST(inside_the_range_after_all)
{
    start_at(5);
    must(ON(OUT_OF_RANGE), KRC_MEASURING, KRC_ASK_RANGE);
    must(ON(INSIDE), KRC_FETCHING, KRC_ASK_FETCH);
    ck_assert_int_eq(todo.offset, 5);
}
END_TEST

START_TEST(a_refused_reset_holds_the_position)
{
    start_at(5);
    must(ON(OUT_OF_RANGE), KRC_MEASURING, KRC_ASK_RANGE);
    must(EVENT(RESET_REFUSED, .cause = KRC_CAUSE_BELOW_START), KRC_FAILED, KRC_ASK_NOTHING);
    ck_assert_int_eq(machine.position, 5);
    ck_assert_int_eq(machine.cause, KRC_CAUSE_BELOW_START);
    start_at(20); /* a seek is the way out */
}
END_TEST

START_TEST(letting_go)
{
    start_at(5);
    read_some();
    must(ON(UNASSIGN), KRC_UNASSIGNED, KRC_ASK_NOTHING);
    ck_assert_int_eq(machine.position, -1);
}
END_TEST

/* ---- What comes too late -------------------------------------------------------------------- */

static void too_late(struct krc_offset_event event)
{
    struct krc_offsets before = machine;
    ck_assert_int_eq(krc_offsets_step(&machine, &event, &todo, &error), KRC_OK);
    ck_assert(todo.stale && !todo.reset);
    ck_assert_int_eq(todo.ask, KRC_ASK_NOTHING);
    before.stale++;
    ck_assert_mem_eq(&before, &machine, sizeof machine);
}

START_TEST(a_seek_wins)
{
    start_at(5);
    struct krc_offset_event fetched =
        EVENT(BATCH, .match = todo.generation, .offset = 15, .delivered = 10);
    start_at(100);
    too_late(fetched);
    must(ON(OUT_OF_RANGE), KRC_MEASURING, KRC_ASK_RANGE);
    struct krc_offset_event reset =
        EVENT(RESET_HERE, .match = todo.generation, .offset = 0, .cause = KRC_CAUSE_BEYOND_END);
    start_at(50);
    too_late(reset);
    must(ON(NEW_EPOCH), KRC_VALIDATING, KRC_ASK_EPOCH_END);
    struct krc_offset_event truncated =
        EVENT(RESET_HERE, .match = todo.generation, .offset = 3, .cause = KRC_CAUSE_TRUNCATED);
    start_at(60);
    too_late(truncated);
    ck_assert_uint_eq(machine.stale, 3);
    ck_assert_int_eq(machine.position, 60);
}
END_TEST

START_TEST(acknowledgements_of_an_earlier_stretch)
{
    start_at(0);
    read_some();
    struct krc_offset_event late_ack = EVENT(ACK, .match = machine.stretch, .offset = 10);
    struct krc_offset_event late_commit = EVENT(COMMITTED, .match = machine.stretch, .offset = 0);
    start_at(4);
    too_late(late_ack);
    too_late(late_commit);
    ck_assert_int_eq(machine.committed, -1);
}
END_TEST

START_TEST(answers_after_the_end)
{
    start_at(5);
    struct krc_offset_event fetched =
        EVENT(BATCH, .match = todo.generation, .offset = 15, .delivered = 10);
    must(ON(UNASSIGN), KRC_UNASSIGNED, KRC_ASK_NOTHING);
    too_late(fetched);
    start_at(5);
    fetched.match = todo.generation;
    must(ON(ERROR), KRC_FAILED, KRC_ASK_NOTHING);
    too_late(fetched);
}
END_TEST

/* ---- What it refuses ------------------------------------------------------------------------ */

START_TEST(moves_that_are_not_in_the_table)
{
    check_failed(step(EVENT(BATCH, .offset = 5, .delivered = 5)),
                 "BATCH while UNASSIGNED, at offset -1: the state machine has no such move");
    start_at(0);
    check_failed(step(EVENT(LOCATED, .offset = 5)), "LOCATED while FETCHING, at offset 0");
    start_at(0);
    must(ON(END), KRC_ENDED, KRC_ASK_NOTHING);
    check_failed(step(EVENT(BATCH, .offset = 5, .delivered = 5)), "BATCH while ENDED");
    ck_assert_int_eq(machine.position, 0);
    start_at(0); /* a seek is the way out */
}
END_TEST

START_TEST(batches_that_cannot_be)
{
    start_at(10);
    check_failed(step(EVENT(BATCH, .offset = 15, .delivered = 6)),
                 "a batch delivers more records than it has offsets");
    start_at(10);
    check_failed(step(EVENT(BATCH, .offset = 15, .delivered = -1)), "more records than");
    start_at(10);
    check_failed(step(EVENT(BATCH, .offset = 10)), "what was read does not lie at the position");
    start_at(10);
    check_failed(step(EVENT(PASSED, .offset = 9)), "what was read does not lie at the position");
    ck_assert_int_eq(machine.position, 10);
    must(ON(ASSIGN_START), KRC_LOCATING, KRC_ASK_START);
    check_failed(step(EVENT(LOCATED, .offset = -1)), "a negative offset was located");
}
END_TEST

START_TEST(acknowledgements_that_cannot_be)
{
    start_at(10);
    read_some();
    check_failed(ack(9, (struct krc_account){0}), "acknowledged outside of what was delivered");
    start_at(10);
    read_some();
    check_failed(ack(23, (struct krc_account){0}), "acknowledged outside of what was delivered");
    start_at(10);
    read_some();
    check_failed(ack(15, (struct krc_account){.from = 10, .to = 15, .delivered = 4}),
                 "the account acknowledged is not the range's");
    start_at(10);
    read_some();
    check_failed(commit(15), "a commit of what was not acknowledged");
    ck_assert_int_eq(machine.committed, -1);
}
END_TEST

START_TEST(a_log_start_goes_back)
{
    start_at(10);
    must(EVENT(RESET_START, .cause = KRC_CAUSE_BELOW_START), KRC_LOCATING, KRC_ASK_START);
    check_failed(step(EVENT(LOCATED, .offset = 10)), "a log start offset went back");
}
END_TEST

/* ---- From what was found to the event's name ------------------------------------------------ */

static void check_event(struct krc_offset_event event, enum krc_offset_event_type type,
                        enum krc_reset_cause cause, int64_t offset, int32_t epoch)
{
    ck_assert_str_eq(krc_offset_event_name(event.type), krc_offset_event_name(type));
    ck_assert_int_eq(event.cause, cause);
    ck_assert_int_eq(event.offset, offset);
    ck_assert_int_eq(event.epoch, epoch);
}

static const struct {
    enum krc_reset_policy policy;
    enum krc_offset_event_type event;
} policies[] = {{KRC_RESET_EARLIEST, KRC_ON_RESET_START},
                {KRC_RESET_LATEST, KRC_ON_RESET_END},
                {KRC_RESET_NONE, KRC_ON_RESET_REFUSED},
                {KRC_RESET_BY_DURATION, KRC_ON_RESET_TIME}};

START_TEST(judging_a_stored_offset)
{
    check_event(krc_offsets_judge_stored(KRC_RESET_NEAREST, false, false, 0, 0),
                KRC_ON_RESET_START, KRC_CAUSE_NONE, -1, -1);
    check_event(krc_offsets_judge_stored(KRC_RESET_NONE, true, true, 100, 5), KRC_ON_STORED,
                KRC_CAUSE_NONE, 100, 5);
    check_event(krc_offsets_judge_stored(KRC_RESET_NONE, true, true, 100, -1),
                KRC_ON_STORED_NO_EPOCH, KRC_CAUSE_NONE, 100, -1);
    check_event(krc_offsets_judge_stored(KRC_RESET_NEAREST, true, false, 100, 5),
                KRC_ON_RESET_START, KRC_CAUSE_RECREATED, 100, 5);
    for (int i = 0; i < 4; i++) {
        check_event(krc_offsets_judge_stored(policies[i].policy, false, false, 0, 0),
                    policies[i].event, KRC_CAUSE_NONE, -1, -1);
        check_event(krc_offsets_judge_stored(policies[i].policy, true, false, 100, 5),
                    policies[i].event, KRC_CAUSE_RECREATED, 100, 5);
    }
}
END_TEST

START_TEST(judging_the_range)
{
    struct krc_offsets o = {.position = 15};
    ck_assert_int_eq(krc_offsets_judge_range(&o, KRC_RESET_NONE, 15, 20).type, KRC_ON_INSIDE);
    ck_assert_int_eq(krc_offsets_judge_range(&o, KRC_RESET_NONE, 0, 15).type, KRC_ON_INSIDE);
    check_event(krc_offsets_judge_range(&o, KRC_RESET_NEAREST, 16, 20), KRC_ON_RESET_HERE,
                KRC_CAUSE_BELOW_START, 16, -1);
    check_event(krc_offsets_judge_range(&o, KRC_RESET_NEAREST, 0, 14), KRC_ON_RESET_HERE,
                KRC_CAUSE_BEYOND_END, 14, -1);
    check_event(krc_offsets_judge_range(&o, KRC_RESET_LATEST, 16, 20), KRC_ON_RESET_END,
                KRC_CAUSE_BELOW_START, -1, -1);
    check_event(krc_offsets_judge_range(&o, KRC_RESET_EARLIEST, 2, 14), KRC_ON_RESET_HERE,
                KRC_CAUSE_BEYOND_END, 2, -1);
    check_event(krc_offsets_judge_range(&o, KRC_RESET_NONE, 16, 20), KRC_ON_RESET_REFUSED,
                KRC_CAUSE_BELOW_START, -1, -1);
    check_event(krc_offsets_judge_range(&o, KRC_RESET_BY_DURATION, 16, 20), KRC_ON_RESET_TIME,
                KRC_CAUSE_BELOW_START, -1, -1);
}
END_TEST

START_TEST(judging_where_an_epoch_ends)
{
    struct krc_offsets o = {.position = 100, .epoch = 5, .asked_epoch = 5, .agreed = 100};
    ck_assert_int_eq(krc_offsets_judge_epoch_end(&o, KRC_RESET_NONE, 5, 100).type, KRC_ON_VALID);
    ck_assert_int_eq(krc_offsets_judge_epoch_end(&o, KRC_RESET_NONE, 5, 101).type, KRC_ON_VALID);
    ck_assert_int_eq(krc_offsets_judge_epoch_end(&o, KRC_RESET_NONE, -1, 80).type,
                     KRC_ON_EPOCH_UNKNOWN);
    ck_assert_int_eq(krc_offsets_judge_epoch_end(&o, KRC_RESET_NONE, 5, -1).type,
                     KRC_ON_EPOCH_UNKNOWN);
    ck_assert_int_eq(krc_offsets_judge_epoch_end(&o, KRC_RESET_NONE, 6, 100).type,
                     KRC_ON_EPOCH_UNKNOWN); /* no epoch is above the one asked for */
    ck_assert(!krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 5, 80).unsure);
    ck_assert(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 4, 80).unsure);
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 4, 80), KRC_ON_RESET_HERE,
                KRC_CAUSE_TRUNCATED, 80, 4);
    for (int i = 0; i < 4; i++)
        check_event(krc_offsets_judge_epoch_end(&o, policies[i].policy, 4, 80), policies[i].event,
                    KRC_CAUSE_TRUNCATED, 80, 4);
}
END_TEST

/* What was read: e1 [0, 10), e2 [10, 20), e4 [20, 100). */
static struct krc_offsets three_epochs(void)
{
    struct krc_offsets o = {.position = 100, .epoch = 4, .asked_epoch = 4, .agreed = 100};
    krc_epochs_add(&o.epochs, 1, 0, 10);
    krc_epochs_add(&o.epochs, 2, 10, 20);
    krc_epochs_add(&o.epochs, 4, 20, 100);
    return o;
}

START_TEST(an_epoch_that_the_log_lacks_does_not_vouch_for_the_one_before)
{
    struct krc_offsets o = three_epochs();
    /* the log's e1 reaches to 90, but what was read of it ended at 10 */
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 1, 90), KRC_ON_RESET_HERE,
                KRC_CAUSE_TRUNCATED, 10, 1);
    /* even where it reaches beyond the position */
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 1, 200), KRC_ON_RESET_HERE,
                KRC_CAUSE_TRUNCATED, 10, 1);
    /* of e3 nothing was read: e2 decides */
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 3, 50), KRC_ON_DIVERGED,
                KRC_CAUSE_TRUNCATED, 20, 2);
    o.asked_epoch = 2;
    o.agreed = 20;
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 2, 15), KRC_ON_RESET_HERE,
                KRC_CAUSE_TRUNCATED, 15, 2);
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 2, 30), KRC_ON_RESET_HERE,
                KRC_CAUSE_TRUNCATED, 20, 2);
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 1, 15), KRC_ON_RESET_HERE,
                KRC_CAUSE_TRUNCATED, 10, 1);
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, 0, 15), KRC_ON_RESET_HERE,
                KRC_CAUSE_TRUNCATED, 0, -1);
    /* that they part is known, only not where */
    check_event(krc_offsets_judge_epoch_end(&o, KRC_RESET_NEAREST, -1, -1), KRC_ON_RESET_HERE,
                KRC_CAUSE_TRUNCATED, 20, 2);
}
END_TEST

/* Of a log of 100 epochs, every third was read. */
START_TEST(too_many_epochs_are_merged_to_the_safe_side)
{
    struct krc_epochs epochs = {0};
    int64_t end;
    for (int32_t e = 0; e < 99; e += 3)
        krc_epochs_add(&epochs, e, 10 * e, 10 * e + 30);
    ck_assert_int_eq(epochs.count, KRC_EPOCHS_MAX);
    for (int32_t e = 0; e < 99; e += 3) {
        int32_t floor = krc_epochs_floor(&epochs, e, &end);
        ck_assert_int_le(floor, e);
        ck_assert_int_le(end, 10 * e + 30);
        ck_assert(floor == e || end <= 10 * e); /* one that was merged is begun before */
    }
    ck_assert_int_eq(krc_epochs_floor(&epochs, 96, &end), 96);
    ck_assert_int_eq(end, 990);
    krc_epochs_cut(&epochs, 975);
    ck_assert_int_eq(krc_epochs_floor(&epochs, 1000, &end), 96);
    ck_assert_int_eq(end, 975);
    krc_epochs_cut(&epochs, 960);
    ck_assert_int_eq(krc_epochs_floor(&epochs, 96, &end), 93);
    ck_assert_int_eq(end, 960);
    krc_epochs_add(&epochs, 93, 960, 961); /* goes on */
    krc_epochs_add(&epochs, 90, 961, 962); /* goes back, and is not believed */
    krc_epochs_add(&epochs, 97, 970, 980); /* behind a hole */
    ck_assert_int_eq(krc_epochs_floor(&epochs, 96, &end), 93);
    ck_assert_int_eq(end, 962);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        reading_from_an_offset,
        each_fate_has_its_count,
        acknowledging,
        looking_for_a_start,
        a_committed_offset_with_its_epoch,
        a_truncation_begins_a_history,
        below_the_start_the_rest_is_lost,
        a_reset_with_records_outstanding,
        inside_the_range_after_all,
        a_refused_reset_holds_the_position,
        letting_go,
        a_seek_wins,
        acknowledgements_of_an_earlier_stretch,
        answers_after_the_end,
        moves_that_are_not_in_the_table,
        batches_that_cannot_be,
        acknowledgements_that_cannot_be,
        a_log_start_goes_back,
        judging_a_stored_offset,
        judging_the_range,
        judging_where_an_epoch_ends,
        an_epoch_that_the_log_lacks_does_not_vouch_for_the_one_before,
        too_many_epochs_are_merged_to_the_safe_side,
    };
    return run_tests("offsets", tests, sizeof tests / sizeof *tests, setup, teardown);
}
