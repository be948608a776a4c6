/*
 * A cluster's groups: what they have committed, who is in them, and commits from outside.
 */
#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/place.h"
#include "cluster/group_commit.h"
#include "consumer/handle.h"
#include "groups/subscription.h"

/* Groups that brokers have told of. */
struct names {
    char **list;
    size_t count;
};

struct asking {
    struct krc_net *net;
    const char *group;
    krc_committed_list *offsets;
    krc_groups *groups;
    struct krc_arena arena; /* of what one group's answers hold */
    bool found;             /* the group that is asked for */
    bool nameless;          /* an offset's topic id is of no topic that metadata has */
    struct names *names;
    krc_error *error;
    int rc; /* of an answer that was taken */
};

/* A copy that ends with a NUL; one inside of it cannot be kept.  NULL: out of memory. */
static const char *text(struct asking *a, struct krc_bytes bytes)
{
    char *copy = krc_arena_take(&a->arena, bytes.len + 1);
    if (copy != NULL && bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    if (copy == NULL)
        a->rc = krc_fail_nomem(a->error, bytes.len);
    return copy;
}

static struct krc_call call_of(struct asking *a, enum krc_api_name api, const void *request,
                               krc_call_taker *take)
{
    return (struct krc_call){
        .coordinator = krc_coordinator_of(&a->net->cluster, KRC_GROUP, a->group),
        .node_id = -1,
        .api = api,
        .request = request,
        .take = take,
        .arg = a};
}

static int make(struct asking *a, struct krc_call *call)
{
    a->rc = KRC_OK;
    KRC_TRY(krc_net_call(a->net, call, a->error));
    return a->rc;
}

/* ---- Offsets -------------------------------------------------------------------------------- */

/* A topic that is not there any more has no offsets that would mean anything. */
static void add_offset(struct asking *a, const char *topic, const struct krc_uuid *id,
                       const struct krc_offset_fetch_partition *p)
{
    struct krc_committed row = {.group = a->group,
                                .topic = topic,
                                .partition = p->index,
                                .leader_epoch = p->committed_leader_epoch,
                                .offset = p->committed_offset,
                                .metadata = text(a, p->metadata),
                                .topic_id = *id,
                                .commit_time_ms = -1};
    if (row.offset < 0 || row.metadata == NULL)
        return;
    int rc = krc_committed_add(a->offsets, &row, a->error);
    if (rc < 0)
        a->rc = rc;
    a->found = true;
}

static int16_t first_code(const struct krc_offset_fetch_response *r)
{
    int16_t code = r->error_code;
    for (int32_t t = 0; code == 0 && t < r->topic_count; t++)
        for (int32_t i = 0; code == 0 && i < r->topics[t].partition_count; i++)
            code = r->topics[t].partitions[i].error_code;
    return code;
}

static void add_offsets(struct asking *a, const struct krc_offset_fetch_topic *t, bool by_id)
{
    static const struct krc_uuid none;
    const struct krc_topic *topic = by_id ? krc_topic_find_id(&a->net->cluster, &t->id) : NULL;
    const char *name = topic != NULL ? topic->name : by_id ? NULL : text(a, t->name);
    a->nameless |= by_id && topic == NULL;
    for (int32_t i = 0; name != NULL && a->rc >= 0 && i < t->partition_count; i++)
        add_offset(a, name, by_id ? &t->id : &none, &t->partitions[i]);
}

static enum krc_call_verdict take_offsets(struct krc_call *call, const struct krc_answer *answer,
                                          int16_t *code)
{
    struct asking *a = call->arg;
    const struct krc_offset_fetch_response *r = answer->response;
    *code = first_code(r);
    for (int32_t t = 0; *code == 0 && t < r->topic_count; t++)
        add_offsets(a, &r->topics[t], answer->version >= 10);
    /* of a group that was never there, some versions say so, and others have no offsets */
    if (*code == KRC_KAFKA_GROUP_ID_NOT_FOUND)
        return KRC_CALL_DONE;
    return krc_call_judge(call, *code);
}

/* Those of transactions that are open make it wait; then names, where an id is of no topic that
 * metadata has. */
static int read_offsets(struct asking *a)
{
    struct krc_offset_fetch_request request = {
        .group = krc_bytes_of(a->group), .topic_count = -1, .require_stable = true};
    struct krc_call call = call_of(a, KRC_API_OFFSET_FETCH, &request, take_offsets);
    a->nameless = false;
    int rc = make(a, &call);
    if (rc >= 0 && a->nameless) {
        call.highest = 9;
        rc = make(a, &call);
    }
    if (rc < 0 && call.error_code == KRC_KAFKA_UNSTABLE_OFFSET_COMMIT)
        return krc_fail(a->error, KRC_E_TIMEOUT, "group %s has offsets in a transaction that is "
                        "still open: they are not decided yet", a->group);
    return rc;
}

/* ---- Members -------------------------------------------------------------------------------- */

/* Room for what a member owns; `count` of it is filled then. */
static struct krc_owned *room_for(struct asking *a, size_t count)
{
    struct krc_owned *list = krc_arena_take(&a->arena, (count + 1) * sizeof *list);
    if (list == NULL)
        a->rc = krc_fail_nomem(a->error, count * sizeof *list);
    return list;
}

static void own(struct krc_owned *list, size_t *count, const char *topic,
                const int32_t *partitions, int32_t partition_count)
{
    for (int32_t i = 0; topic != NULL && i < partition_count; i++)
        list[(*count)++] = (struct krc_owned){topic, partitions[i]};
}

static struct krc_member named(struct asking *a, struct krc_bytes id, struct krc_bytes client_id,
                               struct krc_bytes host, struct krc_bytes instance_id)
{
    return (struct krc_member){.id = text(a, id),
                               .client_id = text(a, client_id),
                               .host = text(a, host),
                               .instance_id =
                                   instance_id.data == NULL ? NULL : text(a, instance_id)};
}

/* KIP-848: by name, as far as the broker knows it. */
static struct krc_member consumer_member(struct asking *a,
                                         const struct krc_consumer_group_member *from)
{
    struct krc_member member =
        named(a, from->member_id, from->client_id, from->client_host, from->instance_id);
    const struct krc_consumer_group_topic *has = from->assignment.topics;
    size_t count = 0;
    for (int32_t t = 0; t < from->assignment.topic_count; t++)
        count += (size_t)has[t].partition_count;
    struct krc_owned *owned = room_for(a, count);
    for (int32_t t = 0; owned != NULL && t < from->assignment.topic_count; t++)
        own(owned, &member.owned_count, text(a, has[t].name), has[t].partitions,
            has[t].partition_count);
    member.owned = owned;
    return member;
}

/* What another program assigned is not to be read, and nothing is said of it. */
static struct krc_member classic_member(struct asking *a, const struct krc_described_member *from)
{
    struct krc_member member =
        named(a, from->member_id, from->client_id, from->client_host, from->instance_id);
    struct krc_assignment has = {0};
    size_t count = 0;
    if (from->assignment.len > 0 &&
        krc_assignment_read(from->assignment, &has, &a->arena, NULL) < 0)
        has.topic_count = 0;
    for (int32_t t = 0; t < has.topic_count; t++)
        count += (size_t)has.topics[t].partition_count;
    struct krc_owned *owned = room_for(a, count);
    for (int32_t t = 0; owned != NULL && t < has.topic_count; t++)
        own(owned, &member.owned_count, text(a, has.topics[t].topic), has.topics[t].partitions,
            has.topics[t].partition_count);
    member.owned = owned;
    return member;
}

static void add_group(struct asking *a, const char *type, struct krc_bytes state,
                      const struct krc_member *members, int32_t count)
{
    struct krc_group group = {.id = a->group,
                              .type = type,
                              .state = text(a, state),
                              .members = members,
                              .member_count = (size_t)count};
    a->found = true;
    if (a->rc >= 0)
        a->rc = krc_groups_add(a->groups, &group, a->error);
}

/* There is no such group, as both kinds of description may say of one of the other kind. */
static bool is_none(int16_t code)
{
    return code == KRC_KAFKA_GROUP_ID_NOT_FOUND;
}

static enum krc_call_verdict take_consumer_group(struct krc_call *call,
                                                 const struct krc_answer *answer, int16_t *code)
{
    struct asking *a = call->arg;
    const struct krc_consumer_group_describe_response *r = answer->response;
    const struct krc_consumer_group *g = r->groups;
    *code = r->group_count == 0 ? KRC_KAFKA_GROUP_ID_NOT_FOUND : g->error_code;
    if (is_none(*code))
        return KRC_CALL_DONE;
    if (*code != 0)
        return krc_call_judge(call, *code);
    struct krc_member *members =
        krc_arena_take(&a->arena, ((size_t)g->member_count + 1) * sizeof *members);
    for (int32_t i = 0; members != NULL && i < g->member_count; i++)
        members[i] = consumer_member(a, &g->members[i]);
    add_group(a, "consumer", g->state, members, members == NULL ? 0 : g->member_count);
    return KRC_CALL_DONE;
}

static enum krc_call_verdict take_classic_group(struct krc_call *call,
                                                const struct krc_answer *answer, int16_t *code)
{
    struct asking *a = call->arg;
    const struct krc_describe_groups_response *r = answer->response;
    const struct krc_described_group *g = r->groups;
    static const char dead[] = "Dead";
    *code = r->group_count == 0 ? KRC_KAFKA_GROUP_ID_NOT_FOUND : g->error_code;
    if (is_none(*code))
        return KRC_CALL_DONE;
    if (*code != 0)
        return krc_call_judge(call, *code);
    if (g->state.len == sizeof dead - 1 && memcmp(g->state.data, dead, sizeof dead - 1) == 0)
        return KRC_CALL_DONE; /* the same, until version 5 */
    struct krc_member *members =
        krc_arena_take(&a->arena, ((size_t)g->member_count + 1) * sizeof *members);
    for (int32_t i = 0; members != NULL && i < g->member_count; i++)
        members[i] = classic_member(a, &g->members[i]);
    add_group(a, "classic", g->state, members, members == NULL ? 0 : g->member_count);
    return KRC_CALL_DONE;
}

/* A broker before Kafka 3.7 has no groups of KIP-848. */
static int read_members(struct asking *a)
{
    struct krc_bytes name = krc_bytes_of(a->group);
    struct krc_consumer_group_describe_request consumer = {.groups = &name, .group_count = 1};
    struct krc_describe_groups_request classic = {.groups = &name, .group_count = 1};
    struct krc_call call =
        call_of(a, KRC_API_CONSUMER_GROUP_DESCRIBE, &consumer, take_consumer_group);
    int rc = make(a, &call);
    if (rc != KRC_E_UNSUPPORTED && (rc < 0 || krc_groups_find(a->groups, a->group) != NULL))
        return rc;
    call = call_of(a, KRC_API_DESCRIBE_GROUPS, &classic, take_classic_group);
    return make(a, &call);
}

/* ---- Which groups --------------------------------------------------------------------------- */

static int add_name(struct asking *a, struct krc_bytes group)
{
    struct names *names = a->names;
    char **list = realloc(names->list, (names->count + 1) * sizeof *list);
    char *name = strndup((const char *)group.data, group.len);
    if (list != NULL)
        names->list = list;
    if (list == NULL || name == NULL) {
        free(name);
        return krc_fail_nomem(a->error, group.len);
    }
    list[names->count++] = name;
    return KRC_OK;
}

/* Groups of consumers, and those that only keep offsets, which say no type of protocol. */
static bool has_offsets(struct krc_bytes protocol_type)
{
    static const char consumer[] = "consumer";
    return protocol_type.len == 0 ||
           (protocol_type.len == sizeof consumer - 1 &&
            memcmp(protocol_type.data, consumer, sizeof consumer - 1) == 0);
}

static enum krc_call_verdict take_names(struct krc_call *call, const struct krc_answer *answer,
                                        int16_t *code)
{
    struct asking *a = call->arg;
    const struct krc_list_groups_response *r = answer->response;
    *code = r->error_code;
    for (int32_t i = 0; *code == 0 && a->rc >= 0 && i < r->group_count; i++)
        if (has_offsets(r->groups[i].protocol_type))
            a->rc = add_name(a, r->groups[i].group);
    return krc_call_judge(call, *code);
}

/* Each broker tells those that it coordinates. */
static int list_groups(struct asking *a)
{
    const struct krc_nodes *nodes = &a->net->cluster.nodes;
    struct krc_list_groups_request request = {0};
    for (size_t i = 0; i < nodes->count; i++) {
        struct krc_call call = {.node_id = nodes->list[i]->id,
                                .api = KRC_API_LIST_GROUPS,
                                .request = &request,
                                .take = take_names,
                                .arg = a};
        KRC_TRY(make(a, &call));
    }
    return KRC_OK;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int read_group(struct asking *a, const char *group)
{
    a->group = group;
    a->found = false;
    krc_arena_reset(&a->arena);
    KRC_TRY(read_members(a));
    KRC_TRY(read_offsets(a));
    return a->found ? KRC_OK : krc_fail(a->error, KRC_E_NOT_FOUND, "the cluster has no group %s",
                                        group);
}

/* One that was deleted since it was listed is none. */
static int read_groups(struct asking *a)
{
    int rc = list_groups(a);
    for (size_t i = 0; rc >= 0 && i < a->names->count; i++) {
        rc = read_group(a, a->names->list[i]);
        if (rc == KRC_E_NOT_FOUND)
            rc = KRC_OK;
    }
    return rc;
}

static void end(struct asking *a)
{
    for (size_t i = 0; i < a->names->count; i++)
        free(a->names->list[i]);
    free(a->names->list);
    krc_arena_free(&a->arena);
}

static int refuse_folder(const krc *handle, krc_error *error)
{
    return handle->net != NULL ? KRC_OK
                               : krc_fail(error, KRC_E_STATE, "log folders have no coordinators");
}

int krc_group_cluster_read(krc *handle, const char *group, krc_committed_list *offsets,
                           krc_groups *groups, krc_error *error)
{
    struct names names = {0};
    struct asking a = {.net = handle->net, .offsets = offsets, .groups = groups, .names = &names,
                       .error = error};
    KRC_TRY(refuse_folder(handle, error));
    KRC_TRY(krc_load_topics(handle, NULL, 0, error));
    int rc = group != NULL ? read_group(&a, group) : read_groups(&a);
    end(&a);
    return rc;
}

/* ---- Committing from outside ---------------------------------------------------------------- */

static int refuse_members(const struct krc_group *group, krc_error *error)
{
    char who[600] = "";
    for (size_t i = 0; i < group->member_count && strlen(who) < sizeof who - 100; i++) {
        size_t len = strlen(who);
        snprintf(who + len, sizeof who - len, "%s%.80s (%.40s, %.40s)", i == 0 ? "" : ", ",
                 group->members[i].id, group->members[i].client_id, group->members[i].host);
    }
    return krc_fail(error, KRC_E_BUSY, "group %s has members, and their offsets are not changed "
                    "under them; stop them first: %s", group->id, who);
}

static int check_members(struct asking *a, const char *group)
{
    a->group = group;
    krc_arena_reset(&a->arena);
    KRC_TRY(read_members(a));
    const struct krc_group *found = krc_groups_find(a->groups, group);
    return found != NULL && found->member_count > 0 ? refuse_members(found, a->error) : KRC_OK;
}

static int put_entry(struct asking *a, const struct krc_committed *row,
                     struct krc_commit_entry *entry)
{
    struct krc_topic *topic = krc_topic_having(&a->net->cluster, row->topic, row->partition);
    if (topic == NULL)
        return krc_fail(a->error, KRC_E_NOT_FOUND, "the cluster has no partition %s-%d, of which "
                        "an offset is to be committed; nothing was", row->topic,
                        (int)row->partition);
    *entry = (struct krc_commit_entry){.topic = topic,
                                       .partition = row->partition,
                                       .offset = row->offset,
                                       .epoch = row->leader_epoch,
                                       .metadata = row->metadata};
    return KRC_OK;
}

static int commit_entries(struct asking *a, struct krc_commit_entry *entries, size_t count)
{
    struct krc_group_commit commit = {
        .coordinator = krc_coordinator_of(&a->net->cluster, KRC_GROUP, a->group),
        .entries = entries,
        .count = count};
    krc_error why;
    if (commit.coordinator == NULL)
        return krc_fail_nomem(a->error, 1);
    int rc = krc_net_commit(a->net, &commit, &why);
    size_t done = 0;
    for (size_t i = 0; i < count; i++)
        done += entries[i].error_code == 0;
    if (rc == KRC_E_REFUSED)
        return krc_fail(a->error, rc, "%.600s; of group %s %zu of %zu partitions were committed",
                        why.message, a->group, done, count);
    if (rc < 0 && a->error != NULL)
        *a->error = why;
    return rc;
}

/* The rows of one group, which come together: [first, first + count). */
static int commit_group(struct asking *a, const krc_committed_list *list, size_t first,
                        size_t count)
{
    struct krc_commit_entry *entries = calloc(count, sizeof *entries);
    if (entries == NULL)
        return krc_fail_nomem(a->error, count * sizeof *entries);
    a->group = krc_committed_at(list, first)->group;
    int rc = KRC_OK;
    for (size_t i = 0; rc >= 0 && i < count; i++)
        rc = put_entry(a, krc_committed_at(list, first + i), &entries[i]);
    if (rc >= 0)
        rc = commit_entries(a, entries, count);
    free(entries);
    return rc;
}

typedef int group_fn(struct asking *a, const krc_committed_list *list, size_t first, size_t count);

static int check_group(struct asking *a, const krc_committed_list *list, size_t first,
                       size_t count)
{
    struct krc_commit_entry entry;
    for (size_t i = 0; i < count; i++)
        KRC_TRY(put_entry(a, krc_committed_at(list, first + i), &entry));
    return check_members(a, krc_committed_at(list, first)->group);
}

static int each_group(struct asking *a, const krc_committed_list *list, group_fn *each)
{
    const struct krc_committed *row;
    for (size_t first = 0; (row = krc_committed_at(list, first)) != NULL;) {
        const char *group = row->group;
        size_t count = 0;
        while ((row = krc_committed_at(list, first + count)) != NULL &&
               strcmp(row->group, group) == 0)
            count++;
        KRC_TRY(each(a, list, first, count));
        first += count;
    }
    return KRC_OK;
}

int krc_group_cluster_commit(krc *handle, const krc_committed_list *list, krc_error *error)
{
    struct names names = {0};
    struct asking a = {.net = handle->net, .groups = krc_groups_new(), .names = &names,
                       .error = error};
    int rc = a.groups == NULL ? krc_fail_nomem(error, 1) : refuse_folder(handle, error);
    if (rc >= 0)
        rc = krc_load_topics(handle, NULL, 0, error);
    if (rc >= 0)
        rc = each_group(&a, list, check_group); /* before anything is changed */
    if (rc >= 0)
        rc = each_group(&a, list, commit_group);
    end(&a);
    krc_groups_free(a.groups);
    return rc;
}
