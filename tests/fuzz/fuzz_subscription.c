/*
 * What a group's other members send: the first byte says whether a subscription, an assignment or
 * the user data of "sticky".  What is read and written again reads the same, and no assignor
 * assigns what is not there.
 */
#include <stdlib.h>

#include "groups/assign.h"

enum { LIMIT = 1 << 22, PARTITIONS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_assigned(const struct krc_assignment *assignments, int32_t members)
{
    int32_t owners[PARTITIONS] = {0};
    for (int32_t m = 0; m < members; m++)
        for (int32_t t = 0; t < assignments[m].topic_count; t++)
            for (int32_t i = 0; i < assignments[m].topics[t].partition_count; i++)
                must(++owners[assignments[m].topics[t].partitions[i]] == 1);
}

/* Beside a member that had one partition. */
static void check_assignors(struct krc_subscription *subscription, struct krc_arena *arena)
{
    static const char *const names[] = {"range", "roundrobin", "sticky", "cooperative-sticky"};
    const struct krc_bytes a = {(const uint8_t *)"a", 1};
    struct krc_bytes topics[] = {a};
    int32_t partition = 1;
    struct krc_topic_partitions owned[] = {{a, &partition, 1}};
    const struct krc_assign_member members[] = {
        {{(const uint8_t *)"x", 1}, {0}, *subscription},
        {{(const uint8_t *)"y", 1}, {0}, {topics, 1, {0}, owned, 1, 3, {0}}},
    };
    const struct krc_assign_topic listed[] = {{a, PARTITIONS}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct krc_assignor *assignor =
            krc_assignor_find((struct krc_bytes){(const uint8_t *)names[i], strlen(names[i])});
        struct krc_assignment assignments[2];
        if (krc_group_assign(assignor, members, 2, listed, 1, assignments, arena, NULL) == KRC_OK)
            check_assigned(assignments, 2);
    }
}

static bool subscription_again(struct krc_bytes in, struct krc_buffer *out, struct krc_arena *arena)
{
    struct krc_subscription s;
    krc_error error;
    if (krc_subscription_read(in, &s, arena, &error) < 0)
        return false;
    must(krc_subscription_write(out, KRC_SUBSCRIPTION_NEWEST, &s, &error) == KRC_OK);
    check_assignors(&s, arena);
    return true;
}

static bool assignment_again(struct krc_bytes in, struct krc_buffer *out, struct krc_arena *arena)
{
    struct krc_assignment a;
    krc_error error;
    if (krc_assignment_read(in, &a, arena, &error) < 0)
        return false;
    must(krc_assignment_write(out, KRC_SUBSCRIPTION_NEWEST, &a, &error) == KRC_OK);
    return true;
}

static bool sticky_data_again(struct krc_bytes in, struct krc_buffer *out, struct krc_arena *arena)
{
    struct krc_claims claims;
    return krc_sticky_data_read(in, &claims, arena, NULL) == KRC_OK &&
           krc_sticky_data_write(out, &claims, NULL) == KRC_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool (*const again[])(struct krc_bytes, struct krc_buffer *, struct krc_arena *) = {
        subscription_again, assignment_again, sticky_data_again};
    struct krc_arena arena = {.limit = LIMIT};
    struct krc_buffer once = {0}, twice = {0};
    if (size == 0)
        return 0;
    size_t kind = data[0] % (sizeof again / sizeof *again);
    if (again[kind]((struct krc_bytes){data + 1, size - 1}, &once, &arena)) {
        krc_arena_reset(&arena);
        must(again[kind]((struct krc_bytes){once.data, once.len}, &twice, &arena));
        must(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    }
    krc_buffer_free(&once);
    krc_buffer_free(&twice);
    krc_arena_free(&arena);
    return 0;
}
