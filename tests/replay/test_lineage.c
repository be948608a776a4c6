/*
 * Whose stretches lie before a committed offset: the text, the verdicts, and a model in which sinks
 * die at any step between writing and confirming while others go on.
 */
#include <stdio.h>
#include <string.h>

#include "replay/lineage.h"
#include "tests/support/run.h"

#define A "000000000000000a"
#define B "000000000000000b"
#define C "000000000000000c"

static struct krc_lineage lineage;

static void read_text(const char *text)
{
    krc_lineage_read(&lineage, text);
}

static void expect_text(const char *text)
{
    char *written = krc_lineage_write(&lineage);
    ck_assert_str_eq(written, text);
    free(written);
}

START_TEST(what_is_written_is_read)
{
    read_text("krc1 " A "@0 " B "@120");
    ck_assert_int_eq(lineage.count, 2);
    ck_assert_str_eq(lineage.stretches[1].sink, B);
    ck_assert_int_eq(lineage.stretches[1].from, 120);
    expect_text("krc1 " A "@0 " B "@120");
    krc_lineage_add(&lineage, B, 120);
    expect_text("krc1 " A "@0 " B "@120");
    krc_lineage_add(&lineage, A, INT64_MAX);
    expect_text("krc1 " A "@0 " B "@120 " A "@9223372036854775807");
}
END_TEST

START_TEST(other_texts_say_nothing)
{
    static const char *const texts[] = {
        NULL, "", "krc", "krc2 " A "@0", "something else", "krc1 " A, "krc1 " A "@-1",
        "krc1 00a@5", "krc1 " A "@5 and more", "krc1 " A "@99999999999999999999x",
        "krc1 000000000000000G@5"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        read_text(texts[i]);
        ck_assert_int_eq(lineage.count, 0);
        ck_assert_ptr_null(krc_lineage_last(&lineage));
    }
}
END_TEST

START_TEST(the_oldest_are_left_out)
{
    char text[KRC_LINEAGE_MOST * 40];
    read_text("");
    for (int i = 0; i < KRC_LINEAGE_MOST + 3; i++)
        krc_lineage_add(&lineage, i % 2 == 0 ? A : B, 10 * i);
    ck_assert(lineage.is_cut);
    ck_assert_int_eq(lineage.count, KRC_LINEAGE_MOST);
    ck_assert_int_eq(lineage.stretches[0].from, 30);
    char *written = krc_lineage_write(&lineage);
    snprintf(text, sizeof text, "%s", written);
    free(written);
    ck_assert_uint_lt(strlen(text), 4096); /* offset.metadata.max.bytes */
    read_text(text);
    ck_assert(lineage.is_cut);
    ck_assert_int_eq(lineage.count, KRC_LINEAGE_MOST);
}
END_TEST

START_TEST(verdicts)
{
    static const struct {
        const char *text;
        int64_t committed, stretch, from, to; /* of A */
        enum krc_verdict_on_commit verdict;
    } cases[] = {
        /* nobody has moved since */
        {NULL, -1, 0, -1, 50, KRC_NOT_TAKEN},
        {"krc1 " A "@0", 50, 0, -1, 50, KRC_TAKEN},
        {"krc1 " A "@0", 50, 0, 50, 90, KRC_NOT_TAKEN},
        {"krc1 " A "@0", 90, 0, 50, 90, KRC_TAKEN},
        /* B went on from before, or from behind */
        {"krc1 " A "@0 " B "@50", 200, 0, 50, 90, KRC_NOT_TAKEN},
        {"krc1 " A "@0 " B "@90", 200, 0, 50, 90, KRC_TAKEN},
        {"krc1 " A "@0 " B "@50", 60, 0, 50, 90, KRC_NOT_TAKEN},
        /* the first commit of a stretch, never taken: B has begun where A had */
        {"krc1 " B "@0", 200, 0, -1, 90, KRC_NOT_TAKEN},
        {"krc1 " C "@0 " B "@100", 300, 100, -1, 150, KRC_NOT_TAKEN},
        {"krc1 " C "@0", 100, 100, -1, 150, KRC_NOT_TAKEN},
        /* an older stretch of A's is not this one */
        {"krc1 " A "@0 " B "@100", 300, 100, 60, 150, KRC_NOT_TAKEN},
        {"krc1 " A "@0 " B "@100 " A "@300", 350, 300, 100, 350, KRC_TAKEN},
        /* somebody else has committed, who says nothing of stretches */
        {"", 200, 0, 50, 90, KRC_UNDECIDABLE},
        {"", 50, 0, 50, 90, KRC_NOT_TAKEN},
        {"", 20, 0, 50, 90, KRC_UNDECIDABLE}, /* set back, whatever it had before */
        {NULL, -1, 0, 50, 90, KRC_UNDECIDABLE},
        {"krc1 " C "@0", 40, 100, -1, 150, KRC_UNDECIDABLE},
        {"krc1 " C "@0", 60, 100, 60, 150, KRC_UNDECIDABLE},
        {"krc1 " A "@0", 40, 0, 50, 90, KRC_UNDECIDABLE},
        {"krc1 " B "@70", 200, 0, 50, 90, KRC_UNDECIDABLE},
        {"krc1 " A "@0 " B "@70", 200, 0, 50, 90, KRC_UNDECIDABLE},
        {"krc1 ... " B "@500 " C "@600", 700, 0, 50, 90, KRC_UNDECIDABLE},
        {"krc1 ... " B "@500", 700, 400, -1, 450, KRC_UNDECIDABLE},
        {"krc1 " B "@500", 700, 400, -1, 450, KRC_NOT_TAKEN}, /* retention had come that far */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_text(cases[i].text);
        ck_assert_msg(krc_lineage_judge(&lineage, cases[i].committed, A, cases[i].stretch,
                                        cases[i].from, cases[i].to) == cases[i].verdict,
                      "case %zu", i);
    }
}
END_TEST

START_TEST(how_far_a_sink_has_come)
{
    read_text("krc1 " A "@0 " B "@50 " A "@70 " C "@90");
    ck_assert_int_eq(krc_lineage_reach(&lineage, A, 120), 90);
    ck_assert_int_eq(krc_lineage_reach(&lineage, B, 120), 70);
    ck_assert_int_eq(krc_lineage_reach(&lineage, C, 120), 120);
    ck_assert_int_eq(krc_lineage_reach(&lineage, "000000000000000d", 120), -1);
    ck_assert_str_eq(krc_lineage_owner(&lineage, 0, 120)->sink, A);
    ck_assert_str_eq(krc_lineage_owner(&lineage, 69, 120)->sink, B);
    ck_assert_int_eq(krc_lineage_owner(&lineage, 70, 120)->from, 70);
    ck_assert_str_eq(krc_lineage_owner(&lineage, 119, 120)->sink, C);
    ck_assert_ptr_null(krc_lineage_owner(&lineage, 120, 120));
    ck_assert_ptr_null(krc_lineage_owner(&lineage, -2, 120));
}
END_TEST

/* ---- A model -------------------------------------------------------------------------------- */

/* A group's offset, and sinks that each have one partition's records.  `has` is the truth of what
 * is in a sink's files once it has recovered.  A commit may reach the group after its sender has
 * died, and is taken as long as that is a member. */
enum { SINKS = 3, RECORDS = 2000 };

static struct {
    int64_t committed;
    char text[4096];
    int owner;  /* -1: nobody */
    int member; /* who may commit, as which of its lives; 0: nobody */
    int lives;
} group;

static struct {
    int member; /* 0: none */
    int64_t to;
    char text[4096];
} on_its_way;

static struct sink {
    char id[KRC_SINK_ID + 1];
    bool has[RECORDS], is_pending;
    int64_t stored, stretch; /* confirmed; -1 */
    int64_t from, to;        /* pending... */
    int asked_as;            /* ...by which of its lives */
    struct krc_lineage lineage;
} sinks[SINKS];

static unsigned random_below(unsigned n)
{
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % n);
}

static void fill(struct sink *s, int64_t from, int64_t to, bool has)
{
    for (int64_t i = from; i < to; i++)
        s->has[i] = has;
}

static void arrive(void)
{
    if (on_its_way.member != 0 && on_its_way.member == group.member) {
        group.committed = on_its_way.to;
        snprintf(group.text, sizeof group.text, "%s", on_its_way.text);
    }
    on_its_way.member = 0;
}

static void recover(struct sink *s)
{
    struct krc_lineage now;
    if (!s->is_pending)
        return;
    if (s->asked_as == group.member)
        group.member = 0; /* it is made to leave */
    krc_lineage_read(&now, group.text);
    enum krc_verdict_on_commit verdict =
        krc_lineage_judge(&now, group.committed, s->id, s->stretch, s->stored, s->to);
    ck_assert_int_ne(verdict, KRC_UNDECIDABLE);
    s->is_pending = false;
    if (verdict == KRC_TAKEN)
        s->stored = s->to;
    else
        fill(s, s->from, s->to, false);
}

static void take_over(int who)
{
    struct sink *s = &sinks[who];
    recover(s);
    krc_lineage_read(&s->lineage, group.text);
    const struct krc_stretch *last = krc_lineage_last(&s->lineage);
    bool goes_on = s->stored >= 0 && s->stored == group.committed && last != NULL &&
                   strcmp(last->sink, s->id) == 0;
    s->stretch = goes_on ? last->from : group.committed < 0 ? 0 : group.committed;
    ck_assert_int_le(s->stored, group.committed);
    ck_assert_int_le(krc_lineage_reach(&s->lineage, s->id, group.committed), s->stored);
    if (s->stored > 0) {
        const struct krc_stretch *owner =
            krc_lineage_owner(&s->lineage, s->stored - 1, group.committed);
        ck_assert(owner == NULL || strcmp(owner->sink, s->id) == 0);
    }
    group.owner = who;
    group.member = ++group.lives;
}

/* Writes, keeps, commits and confirms, unless it dies, or is fenced, on the way. */
static void commit(int who)
{
    struct sink *s = &sinks[who];
    s->from = s->stored > s->stretch ? s->stored : s->stretch;
    s->to = s->from + 1 + random_below(5);
    if (s->to > RECORDS)
        return;
    fill(s, s->from, s->to, true);
    s->is_pending = true;
    s->asked_as = group.member;
    if (random_below(6) == 0) { /* killed before it asked */
        group.owner = -1;
        return;
    }
    krc_lineage_add(&s->lineage, s->id, s->stretch);
    if (random_below(6) == 0) { /* refused, for it is suspended: the group is somebody else's */
        group.owner = -1;
        return;
    }
    char *text = krc_lineage_write(&s->lineage);
    snprintf(on_its_way.text, sizeof on_its_way.text, "%s", text);
    free(text);
    on_its_way.to = s->to;
    on_its_way.member = group.member;
    if (random_below(6) == 0) { /* killed before it arrived */
        group.owner = -1;
        return;
    }
    arrive();
    if (random_below(6) == 0) { /* killed before it heard */
        group.owner = -1;
        return;
    }
    s->is_pending = false;
    s->stored = s->to;
}

static void expect_each_once(void)
{
    for (int i = 0; i < SINKS; i++)
        recover(&sinks[i]);
    arrive();
    for (int64_t r = 0; r < RECORDS; r++) {
        int count = 0;
        for (int i = 0; i < SINKS; i++)
            count += sinks[i].has[r];
        ck_assert_int_eq(count, r < group.committed);
    }
}

/* A sink recovers when it comes again, at the latest before others have come and gone too often. */
START_TEST(each_record_is_in_one_output)
{
    for (int round = 0; round < 400; round++) {
        memset(sinks, 0, sizeof sinks);
        group.committed = -1;
        group.text[0] = '\0';
        group.owner = -1;
        group.member = 0;
        on_its_way.member = 0;
        for (int i = 0; i < SINKS; i++) {
            snprintf(sinks[i].id, sizeof sinks[i].id, "%016x", 10 + i);
            sinks[i].stored = -1;
        }
        for (int step = 0; step < 150; step++) {
            if (random_below(3) == 0)
                arrive();
            if (group.owner < 0 || random_below(4) == 0)
                take_over((int)random_below(SINKS));
            commit(group.owner);
        }
        expect_each_once();
    }
}
END_TEST

int main(void)
{
    const TTest *tests[] = {what_is_written_is_read, other_texts_say_nothing,
                            the_oldest_are_left_out, verdicts, how_far_a_sink_has_come,
                            each_record_is_in_one_output};
    return run_tests("replay/lineage", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
