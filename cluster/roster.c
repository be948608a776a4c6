#include "cluster/roster.h"

#include <stdlib.h>

#include "base/names.h"

enum { ASSIGNMENT_VERSION = 0 }; /* what each client can read; later ones add nothing that we say */

/* ---- Members -------------------------------------------------------------------------------- */

/* Null stays null. */
static int copy(struct krc_roster *roster, struct krc_bytes *bytes, krc_error *error)
{
    if (bytes->data == NULL)
        return KRC_OK;
    uint8_t *data = krc_arena_take(&roster->arena, bytes->len + 1);
    if (data == NULL)
        return krc_fail_nomem(error, bytes->len);
    memcpy(data, bytes->data, bytes->len);
    bytes->data = data;
    return KRC_OK;
}

static int add_member(struct krc_roster *roster, const struct krc_join_group_member *from,
                      krc_error *error)
{
    struct krc_assign_member *member = &roster->members[roster->member_count++];
    struct krc_bytes metadata = from->metadata;
    *member = (struct krc_assign_member){.id = from->member_id, .instance_id = from->instance_id};
    KRC_TRY(copy(roster, &member->id, error));
    KRC_TRY(copy(roster, &member->instance_id, error));
    KRC_TRY(copy(roster, &metadata, error));
    return krc_subscription_read(metadata, &member->subscription, &roster->arena, error);
}

/* ---- Topics --------------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const struct krc_assign_topic *a = left, *b = right;
    return krc_bytes_compare(a->name, b->name);
}

static int gather_topics(struct krc_roster *roster, krc_error *error)
{
    size_t most = 1, count = 0;
    for (int32_t m = 0; m < roster->member_count; m++)
        most += (size_t)roster->members[m].subscription.topic_count;
    struct krc_assign_topic *topics = krc_arena_take(&roster->arena, most * sizeof *topics);
    if (topics == NULL)
        return krc_fail_nomem(error, most * sizeof *topics);
    for (int32_t m = 0; m < roster->member_count; m++)
        for (int32_t t = 0; t < roster->members[m].subscription.topic_count; t++)
            topics[count++].name = roster->members[m].subscription.topics[t];
    qsort(topics, count, sizeof *topics, by_name);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_name(&topics[i], &topics[i - 1]) != 0)
            topics[roster->topic_count++] = topics[i];
    roster->topics = topics;
    return KRC_OK;
}

/* Other members may subscribe to topics that we do not. */
static int want_topics(const struct krc_roster *roster, struct krc_cluster *cluster,
                       krc_error *error)
{
    for (int32_t i = 0; i < roster->topic_count; i++) {
        struct krc_bytes name = roster->topics[i].name;
        if (!krc_topic_name_is_good(cluster, name))
            continue;
        char *text = strndup((const char *)name.data, name.len);
        bool wanted = text != NULL && krc_topic_want(cluster, text) != NULL;
        free(text);
        if (!wanted)
            return krc_fail_nomem(error, name.len);
    }
    return KRC_OK;
}

int krc_roster_new(struct krc_roster **out, struct krc_cluster *cluster,
                   const struct krc_join_group_response *answer, krc_error *error)
{
    struct krc_roster *roster = calloc(1, sizeof *roster);
    if (roster == NULL)
        return krc_fail_nomem(error, sizeof *roster);
    size_t size = ((size_t)answer->member_count + 1) * sizeof *roster->members;
    roster->members = krc_arena_take(&roster->arena, size);
    int rc = roster->members == NULL ? krc_fail_nomem(error, size) : KRC_OK;
    for (int32_t i = 0; rc >= 0 && i < answer->member_count; i++)
        rc = add_member(roster, &answer->members[i], error);
    if (rc >= 0)
        rc = gather_topics(roster, error);
    if (rc >= 0)
        rc = want_topics(roster, cluster, error);
    if (rc < 0)
        krc_roster_free(roster);
    else
        *out = roster;
    return rc;
}

void krc_roster_free(struct krc_roster *roster)
{
    if (roster != NULL)
        krc_arena_free(&roster->arena);
    free(roster);
}

/* ---- The plan ------------------------------------------------------------------------------- */

/* One that is not there, or cannot be, has no partitions; -1: nothing is known of it. */
static int32_t partitions_of(const struct krc_cluster *cluster, struct krc_bytes name)
{
    if (!krc_is_topic_name(name.data, name.len))
        return 0;
    const struct krc_topic *topic = krc_topic_find(cluster, name);
    if (topic == NULL || (!topic->is_known && topic->error_code == KRC_KAFKA_UNKNOWN_SERVER_ERROR))
        return -1;
    return topic->partition_count;
}

bool krc_roster_is_known(const struct krc_roster *roster, const struct krc_cluster *cluster)
{
    for (int32_t i = 0; i < roster->topic_count; i++)
        if (partitions_of(cluster, roster->topics[i].name) < 0)
            return false;
    return true;
}

bool krc_roster_is_old(const struct krc_roster *roster, const struct krc_cluster *cluster)
{
    for (int32_t i = 0; i < roster->topic_count; i++)
        if (partitions_of(cluster, roster->topics[i].name) != roster->topics[i].partition_count)
            return true;
    return false;
}

static int write(const struct krc_roster *roster, struct krc_assignment *plan,
                 struct krc_buffer *bytes, struct krc_sync_group_assignment *list,
                 krc_error *error)
{
    size_t begin = bytes->len;
    for (int32_t m = 0; m < roster->member_count; m++) {
        size_t before = bytes->len;
        KRC_TRY(krc_assignment_write(bytes, ASSIGNMENT_VERSION, &plan[m], error));
        list[m] = (struct krc_sync_group_assignment){.member_id = roster->members[m].id,
                                                     .assignment = {NULL, bytes->len - before}};
    }
    const uint8_t *at = bytes->data + begin; /* which stays from here on */
    for (int32_t m = 0; m < roster->member_count; m++) {
        list[m].assignment.data = at;
        at += list[m].assignment.len;
    }
    return KRC_OK;
}

int krc_roster_plan(struct krc_roster *roster, const struct krc_cluster *cluster,
                    const struct krc_assignor *assignor, struct krc_buffer *bytes,
                    struct krc_sync_group_assignment *list, krc_error *error)
{
    struct krc_arena scratch = {0};
    struct krc_assignment *plan =
        krc_arena_take(&scratch, ((size_t)roster->member_count + 1) * sizeof *plan);
    int rc = plan == NULL ? krc_fail_nomem(error, sizeof *plan) : KRC_OK;
    for (int32_t i = 0; i < roster->topic_count; i++)
        roster->topics[i].partition_count = partitions_of(cluster, roster->topics[i].name);
    if (rc >= 0)
        rc = krc_group_assign(assignor, roster->members, roster->member_count, roster->topics,
                              roster->topic_count, plan, &scratch, error);
    if (rc >= 0)
        rc = write(roster, plan, bytes, list, error);
    krc_arena_free(&scratch);
    return rc;
}
