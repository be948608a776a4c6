/*
 * Assignments: what Kafka's assignors made of the same groups (golden/README), and laws that hold
 * whatever they made.
 */
#include "groups/assign.h"
#include "tests/groups/text.h"

enum { MOST_MEMBERS = 16, MOST_TOPICS = 8, NOBODY = -1, SEVERAL = -2 };

struct group {
    const struct krc_assignor *assignor;
    struct krc_assign_topic topics[MOST_TOPICS];
    int32_t topic_count;
    struct krc_assign_member members[MOST_MEMBERS];
    struct krc_claims owned[MOST_MEMBERS];
    struct krc_assignment kafka[MOST_MEMBERS]; /* what Kafka's made of it */
    struct krc_assignment ours[MOST_MEMBERS];
    int32_t member_count;
    int32_t kafka_count;
};

static struct krc_arena arena;
static struct krc_buffer out;
static struct group group;
static int groups_checked, groups_same;
static krc_error error;

static void setup(void)
{
    arena = (struct krc_arena){0};
    out = (struct krc_buffer){0};
}

static void teardown(void)
{
    krc_arena_free(&arena);
    krc_buffer_free(&out);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static struct krc_bytes name_of(const char *text)
{
    return bytes_of(copy_text(text, &arena));
}

static void begin_group(const char *assignor)
{
    group = (struct group){.assignor = krc_assignor_find(bytes_of(assignor))};
    ck_assert_ptr_nonnull(group.assignor);
    krc_arena_reset(&arena);
}

static void add_topic(const char *name, int32_t partitions)
{
    group.topics[group.topic_count++] = (struct krc_assign_topic){name_of(name), partitions};
}

/* What it owned is told as its assignor tells it. */
static void tell_owned(struct krc_assign_member *m, struct krc_claims *owned)
{
    struct krc_bytes data;
    out.len = 0;
    ck_assert_int_eq(krc_assignor_user_data(group.assignor, owned, &out, &data, &error), KRC_OK);
    if (data.data != NULL)
        m->subscription.user_data =
            (struct krc_bytes){memcpy(take(&arena, data.len, 1), data.data, data.len), data.len};
    m->subscription.generation = owned->generation;
    if (group.assignor->cooperative) {
        m->subscription.owned = owned->topics;
        m->subscription.owned_count = owned->topic_count;
    }
}

static struct krc_assign_member *add_member(const char *id, const char *instance,
                                            int32_t generation, const char *topics,
                                            const char *owned)
{
    struct krc_assign_member *m = &group.members[group.member_count];
    struct krc_claims *claims = &group.owned[group.member_count++];
    ck_assert_int_le(group.member_count, MOST_MEMBERS);
    m->id = name_of(id);
    if (strcmp(instance, "-") != 0)
        m->instance_id = name_of(instance);
    m->subscription.topic_count = parse_names(topics, &m->subscription.topics, &arena);
    claims->topic_count = parse_partitions(owned, &claims->topics, &arena);
    claims->generation = generation;
    tell_owned(m, claims);
    return m;
}

static void assign(void)
{
    ck_assert_int_eq(krc_group_assign(group.assignor, group.members, group.member_count,
                                      group.topics, group.topic_count, group.ours, &arena, &error),
                     KRC_OK);
}

static const char *text_of(const struct krc_assignment *a)
{
    static char text[MOST_TEXT];
    FILE *in = fmemopen(text, sizeof text, "w");
    print_partitions(in, a->topics, a->topic_count);
    fclose(in);
    return text;
}

/* "a:0,a:1 b:0 -", a word for each member */
static void check_ours(const char *expected)
{
    char text[MOST_TEXT] = "";
    for (int32_t m = 0; m < group.member_count; m++)
        sprintf(text + strlen(text), "%s%s", m > 0 ? " " : "", text_of(&group.ours[m]));
    ck_assert_str_eq(text, expected);
}

/* ---- What can be said of an assignment ------------------------------------------------------- */

static bool has(const struct krc_topic_partitions *topics, int32_t count, struct krc_bytes topic,
                int32_t partition)
{
    for (int32_t t = 0; t < count; t++)
        for (int32_t i = 0; i < topics[t].partition_count; i++)
            if (krc_bytes_compare(topics[t].topic, topic) == 0 &&
                topics[t].partitions[i] == partition)
                return true;
    return false;
}

static bool subscribes(int32_t member, struct krc_bytes topic)
{
    const struct krc_subscription *s = &group.members[member].subscription;
    for (int32_t i = 0; i < s->topic_count; i++)
        if (krc_bytes_compare(s->topics[i], topic) == 0)
            return true;
    return false;
}

static int32_t owner_in(const struct krc_assignment *assignments, struct krc_bytes topic,
                        int32_t partition)
{
    int32_t owner = NOBODY;
    for (int32_t m = 0; m < group.member_count; m++)
        if (has(assignments[m].topics, assignments[m].topic_count, topic, partition))
            owner = owner == NOBODY ? m : SEVERAL;
    return owner;
}

/* The only one that claims it in the newest generation of those that do. */
static int32_t holder_of(struct krc_bytes topic, int32_t partition)
{
    int32_t holder = NOBODY, newest = INT32_MIN;
    for (int32_t m = 0; m < group.member_count; m++) {
        const struct krc_claims *claims = &group.owned[m];
        if (!has(claims->topics, claims->topic_count, topic, partition) ||
            claims->generation < newest)
            continue;
        holder = claims->generation > newest ? m : SEVERAL;
        newest = claims->generation;
    }
    return holder;
}

static int32_t load_in(const struct krc_assignment *assignments, int32_t member)
{
    int32_t load = 0;
    for (int32_t t = 0; t < assignments[member].topic_count; t++)
        load += assignments[member].topics[t].partition_count;
    return load;
}

/* The differences between all pairs of members: 0 is perfect. */
static int32_t unevenness(const struct krc_assignment *assignments)
{
    int32_t sum = 0;
    for (int32_t m = 0; m < group.member_count; m++)
        for (int32_t other = 0; other < m; other++)
            sum += abs(load_in(assignments, m) - load_in(assignments, other));
    return sum;
}

static int32_t moves(const struct krc_assignment *assignments)
{
    int32_t count = 0;
    for (int32_t t = 0; t < group.topic_count; t++)
        for (int32_t p = 0; p < group.topics[t].partition_count; p++) {
            int32_t holder = holder_of(group.topics[t].name, p);
            count += holder >= 0 && subscribes(holder, group.topics[t].name) &&
                     owner_in(assignments, group.topics[t].name, p) != holder;
        }
    return count;
}

static bool has_subscriber(struct krc_bytes topic)
{
    for (int32_t m = 0; m < group.member_count; m++)
        if (subscribes(m, topic))
            return true;
    return false;
}

/* Each partition has one subscriber of its topic, or, for one round of a cooperative group, nobody
 * because another may still hold it. */
static void check_owners(void)
{
    for (int32_t t = 0; t < group.topic_count; t++)
        for (int32_t p = 0; p < group.topics[t].partition_count; p++) {
            struct krc_bytes topic = group.topics[t].name;
            int32_t owner = owner_in(group.ours, topic, p), holder = holder_of(topic, p);
            ck_assert_int_ne(owner, SEVERAL);
            if (owner == NOBODY)
                ck_assert(!has_subscriber(topic) ||
                          (group.assignor->cooperative && holder != NOBODY));
            else
                ck_assert(subscribes(owner, topic));
            if (group.assignor->cooperative && owner != NOBODY && holder != NOBODY)
                ck_assert_int_eq(owner, holder);
        }
}

/* ---- Against Kafka --------------------------------------------------------------------------- */

static bool is_same(void)
{
    for (int32_t m = 0; m < group.member_count; m++) {
        char kafka[MOST_TEXT];
        strcpy(kafka, text_of(&group.kafka[m]));
        if (strcmp(text_of(&group.ours[m]), kafka) != 0)
            return false;
    }
    return true;
}

/* Kafka's sticky assignors walk through hash tables of members, which hold one-letter ids in their
 * order: then the outcome is the same.  Else it is no less even, and moves no more. */
static bool ids_are_letters(void)
{
    for (int32_t m = 0; m < group.member_count; m++)
        if (group.members[m].id.len > 1)
            return false;
    return true;
}

static int32_t total(const struct krc_assignment *assignments)
{
    int32_t sum = 0;
    for (int32_t m = 0; m < group.member_count; m++)
        sum += load_in(assignments, m);
    return sum;
}

static bool gives_all(const struct krc_assignment *assignments)
{
    int32_t all = 0;
    for (int32_t t = 0; t < group.topic_count; t++)
        if (has_subscriber(group.topics[t].name))
            all += group.topics[t].partition_count;
    return total(assignments) == all;
}

static void check_group(void)
{
    ck_assert_int_eq(group.kafka_count, group.member_count);
    assign();
    check_owners();
    if (group.assignor->claims == NULL || ids_are_letters())
        ck_assert(is_same());
    ck_assert_int_le(moves(group.ours), moves(group.kafka));
    if (gives_all(group.ours) && gives_all(group.kafka))
        ck_assert_int_le(unevenness(group.ours), unevenness(group.kafka));
    groups_checked++;
    groups_same += is_same();
}

static void take_line(char *line)
{
    char first[64], second[64], topics[64], owned[1024];
    int number;
    if (sscanf(line, "assign %63s", first) == 1) {
        begin_group(first);
    } else if (sscanf(line, "topic %63s %d", first, &number) == 2) {
        add_topic(first, number);
    } else if (sscanf(line, "member %63s %63s %d %63s %1023s", first, second, &number, topics,
                      owned) == 5) {
        add_member(first, second, number, topics, owned);
    } else if (sscanf(line, "is %1023s", owned) == 1) {
        struct krc_assignment *a = &group.kafka[group.kafka_count++];
        a->topic_count = parse_partitions(owned, &a->topics, &arena);
    } else {
        ck_assert_str_eq(line, "end\n");
        check_group();
    }
}

START_TEST(assignments_are_those_of_kafka)
{
    char *line = NULL;
    size_t room = 0;
    FILE *in = fopen("tests/groups/golden/assignments", "r");
    ck_assert_ptr_nonnull(in);
    while (getline(&line, &room, in) > 0)
        take_line(line);
    ck_assert_int_eq(groups_checked, 484);
    ck_assert_int_ge(groups_same * 100, groups_checked * 98);
    free(line);
    fclose(in);
}
END_TEST

/* sticky|cooperative-sticky, owned, generation, the user data that Kafka's assignor makes of them
 */
START_TEST(user_data_is_that_of_kafka)
{
    char *line = NULL, name[32], owned[256], hex[512];
    size_t room = 0;
    int lines = 0;
    FILE *in = fopen("tests/groups/golden/bytes", "r");
    ck_assert_ptr_nonnull(in);
    for (; getline(&line, &room, in) > 0; krc_arena_reset(&arena)) {
        struct krc_claims claims = {0};
        struct krc_bytes data;
        if (sscanf(line, "%31s %255s %d %511s", name, owned, &claims.generation, hex) != 4 ||
            strstr(name, "sticky") == NULL)
            continue;
        char text[512] = "x";
        out.len = 0;
        claims.topic_count = parse_partitions(owned, &claims.topics, &arena);
        ck_assert_int_eq(
            krc_assignor_user_data(krc_assignor_find(bytes_of(name)), &claims, &out, &data, &error),
            KRC_OK);
        for (size_t i = 0; i < data.len; i++)
            sprintf(text + 1 + 2 * i, "%02x", data.data[i]);
        ck_assert_str_eq(data.data != NULL ? text : "null", hex);
        lines++;
    }
    ck_assert_int_eq(lines, 18);
    free(line);
    fclose(in);
}
END_TEST

/* ---- By hand --------------------------------------------------------------------------------- */

START_TEST(names_of_assignors)
{
    ck_assert_str_eq(krc_assignor_find(bytes_of("range"))->name, "range");
    ck_assert(krc_assignor_find(bytes_of("cooperative-sticky"))->cooperative);
    ck_assert(!krc_assignor_find(bytes_of("sticky"))->cooperative);
    ck_assert_ptr_null(krc_assignor_find(bytes_of("uniform")));
    ck_assert_ptr_null(krc_assignor_find((struct krc_bytes){0}));
}
END_TEST

START_TEST(static_members_come_first)
{
    begin_group("range");
    add_topic("a", 3);
    add_member("x", "-", -1, "a", "-");
    add_member("z", "one", -1, "a", "-");
    add_member("y", "two", -1, "a", "-");
    assign();
    check_ours("a:2 a:0 a:1");
}
END_TEST

/* A partition is taken from who holds it in one round, and given in the next. */
START_TEST(cooperative_groups_move_in_two_rounds)
{
    begin_group("cooperative-sticky");
    add_topic("a", 4);
    add_member("x", "-", 1, "a", "a:0,a:1,a:2,a:3");
    add_member("y", "-", -1, "a", "-");
    assign();
    check_ours("a:0,a:1 -");
    begin_group("cooperative-sticky");
    add_topic("a", 4);
    add_member("x", "-", 2, "a", "a:0,a:1");
    add_member("y", "-", 2, "a", "-");
    assign();
    check_ours("a:0,a:1 a:2,a:3");
}
END_TEST

START_TEST(the_newest_claim_counts)
{
    begin_group("sticky");
    add_topic("a", 2);
    add_member("x", "-", 4, "a", "a:0,a:1");
    add_member("y", "-", 5, "a", "a:0");
    assign();
    check_ours("a:1 a:0");
}
END_TEST

START_TEST(disputed_partitions_are_withheld)
{
    begin_group("cooperative-sticky");
    add_topic("a", 4);
    add_member("x", "-", 5, "a", "a:0,a:1");
    add_member("y", "-", 5, "a", "a:1,a:2");
    assign();
    check_ours("a:0 a:2,a:3");
    group.members[1].subscription.generation = 6;
    assign();
    check_ours("a:0,a:3 a:1,a:2");
}
END_TEST

/* Of a subscription before version 2, the generation is in the user data. */
START_TEST(an_old_subscription_has_its_generation_in_the_user_data)
{
    begin_group("cooperative-sticky");
    add_topic("a", 2);
    add_member("x", "-", 5, "a", "a:0");
    struct krc_assign_member *m = add_member("y", "-", 6, "a", "a:0,a:1");
    m->subscription.generation = KRC_NO_GENERATION;
    assign();
    check_ours("- a:0");
}
END_TEST

START_TEST(what_others_send_may_be_nonsense)
{
    begin_group("sticky");
    add_topic("a", 3);
    add_topic("empty", 0);
    add_topic("nobody's", 9);
    add_member("x", "-", 5, "a,a,gone", "gone:0,a:-1,a:3,a:2147483647,a:0,a:0,a:0");
    struct krc_assign_member *m = add_member("y", "-", 5, "empty,a", "a:1");
    assign();
    check_ours("a:0,a:2 a:1");
    m->subscription.user_data = bytes_of("nonsense");
    assign();
    check_ours("a:0,a:2 a:1");
    m->subscription.topic_count = 0;
    assign();
    check_ours("a:0,a:1,a:2 -");
}
END_TEST

START_TEST(groups_without_members_or_partitions)
{
    static const char *const names[] = {"range", "roundrobin", "sticky", "cooperative-sticky"};
    for (int i = 0; i < 4; i++) {
        begin_group(names[i]);
        assign();
        add_topic("a", 2);
        assign();
        group.topic_count = 0;
        add_member("x", "-", 1, "a", "a:0");
        assign();
        check_ours("-");
    }
}
END_TEST

START_TEST(limits_hold)
{
    struct krc_arena small = {.limit = 1024};
    begin_group("range");
    add_topic("a", 1000);
    add_topic("b", INT32_MAX);
    add_member("x", "-", -1, "a", "-");
    ck_assert_int_eq(krc_group_assign(group.assignor, group.members, 1, group.topics, 2, group.ours,
                                      &small, &error),
                     KRC_E_NOMEM);
    krc_arena_free(&small);
    group.members[0].subscription.topic_count =
        parse_names("a,b", &group.members[0].subscription.topics, &arena);
    ck_assert_int_eq(krc_group_assign(group.assignor, group.members, 1, group.topics, 2, group.ours,
                                      &arena, &error),
                     KRC_E_TOO_LARGE);
}
END_TEST

enum { LARGE_TOPICS = 100, LARGE_MEMBERS = 100, LARGE_PARTITIONS = 100 };

/* 10,000 partitions that one of 100 members had; unless subscriptions are equal, each member lacks
 * one topic. */
static void check_large(const char *assignor, bool equal)
{
    static struct krc_assign_topic topics[LARGE_TOPICS];
    static struct krc_assign_member members[LARGE_MEMBERS];
    static struct krc_assignment results[LARGE_MEMBERS];
    static char names[LARGE_MEMBERS][8];
    struct krc_topic_partitions *owned = take(&arena, LARGE_TOPICS, sizeof *owned);
    for (int32_t i = 0; i < LARGE_TOPICS; i++) {
        sprintf(names[i], "n%d", i);
        topics[i] = (struct krc_assign_topic){bytes_of(names[i]), LARGE_PARTITIONS};
        owned[i] = (struct krc_topic_partitions){
            bytes_of(names[i]), take(&arena, LARGE_PARTITIONS, sizeof(int32_t)), LARGE_PARTITIONS};
        for (int32_t p = 0; p < LARGE_PARTITIONS; p++)
            owned[i].partitions[p] = p;
    }
    for (int32_t m = 0; m < LARGE_MEMBERS; m++) {
        struct krc_subscription *s = &members[m].subscription;
        members[m].id = bytes_of(names[m]);
        *s = (struct krc_subscription){.generation = 1,
                                       .topics = take(&arena, LARGE_TOPICS, sizeof *s->topics)};
        for (int32_t i = 0; i < LARGE_TOPICS; i++)
            if (equal || i != m)
                s->topics[s->topic_count++] = topics[i].name;
    }
    members[7].subscription.owned = owned;
    members[7].subscription.owned_count = LARGE_TOPICS;
    struct krc_claims claims = {owned, LARGE_TOPICS, 1};
    out.len = 0;
    ck_assert_int_eq(krc_sticky_data_write(&out, &claims, &error), KRC_OK);
    if (strcmp(assignor, "sticky") == 0)
        members[7].subscription.user_data = (struct krc_bytes){out.data, out.len};
    ck_assert_int_eq(krc_group_assign(krc_assignor_find(bytes_of(assignor)), members, LARGE_MEMBERS,
                                      topics, LARGE_TOPICS, results, &arena, &error),
                     KRC_OK);
    for (int32_t m = 0; m < LARGE_MEMBERS; m++)
        ck_assert_int_eq(load_in(results, m), strcmp(assignor, "sticky") == 0 || m == 7 ? 100 : 0);
}

START_TEST(large_groups)
{
    check_large("sticky", true);
    check_large("sticky", false);
    check_large("cooperative-sticky", true);
    check_large("cooperative-sticky", false);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        assignments_are_those_of_kafka,
        user_data_is_that_of_kafka,
        names_of_assignors,
        static_members_come_first,
        cooperative_groups_move_in_two_rounds,
        the_newest_claim_counts,
        disputed_partitions_are_withheld,
        an_old_subscription_has_its_generation_in_the_user_data,
        what_others_send_may_be_nonsense,
        groups_without_members_or_partitions,
        limits_hold,
        large_groups,
    };
    return run_tests("assign", tests, sizeof tests / sizeof *tests, setup, teardown);
}
