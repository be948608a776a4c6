/*
 * A cluster's groups: who is in them, and what they have committed.  All are asked about at once.
 */
#include <krc-tools.h>
#include <stdlib.h>
#include <string.h>

#include "admin/calls.h"
#include "admin/group_cluster.h"
#include "consumer/handle.h"
#include "groups/subscription.h"

/* A group that is asked about. */
struct asked {
    struct reading *reading;
    char *name;
    struct krc_bytes key; /* the same */
    union {
        struct krc_consumer_group_describe_request consumer;
        struct krc_describe_groups_request classic;
        struct krc_offset_fetch_request offsets;
    } request; /* one after another */
    struct krc_arena arena; /* of what `group` holds */
    struct krc_group group; /* whose state is NULL as long as none is known */
    bool has_offsets;
    bool nameless; /* an offset's topic id is of no topic that metadata has */
    bool is_unstable;   /* some offsets are pending in open transactions */
    bool asks_unstable; /* for the last stable ones of these */
    int rc;        /* KRC_E_NOMEM: an answer could not be kept */
};

struct reading {
    struct krc_net *net;
    krc_committed_list *offsets;
    struct asked *list;
    size_t count;
    krc_error *error;
};

/* A copy that ends with a NUL; one inside of it cannot be kept.  NULL: out of memory. */
static const char *text(struct asked *g, struct krc_bytes bytes)
{
    char *copy = krc_arena_take(&g->arena, bytes.len + 1);
    if (copy == NULL)
        g->rc = KRC_E_NOMEM;
    else if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    return copy;
}

/* The same of a topic's name.  One that is not valid must not become one by being cut at a NUL. */
static const char *topic_text(struct asked *g, struct krc_bytes name)
{
    if (krc_is_topic_name(name.data, name.len))
        return text(g, name);
    size_t size = krc_printable((char[1]){0}, 1, name.data, name.len) + 1;
    char *copy = krc_arena_take(&g->arena, size);
    if (copy == NULL)
        g->rc = KRC_E_NOMEM;
    else
        krc_printable(copy, size, name.data, name.len);
    return copy;
}

static bool is_text(struct krc_bytes bytes, const char *text)
{
    return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

/* What was said is kept, as far as there was memory. */
static enum krc_call_verdict done(struct krc_call *call)
{
    const struct asked *g = call->arg;
    call->rc = g->rc;
    return KRC_CALL_DONE;
}

/* ---- Members -------------------------------------------------------------------------------- */

/* Room for what a member owns; `count` of it is filled then. */
static struct krc_owned *room_for(struct asked *g, size_t count)
{
    struct krc_owned *list = krc_arena_take(&g->arena, (count + 1) * sizeof *list);
    if (list == NULL)
        g->rc = KRC_E_NOMEM;
    return list;
}

static void own(struct krc_owned *list, size_t *count, const char *topic,
                const int32_t *partitions, int32_t partition_count)
{
    for (int32_t i = 0; topic != NULL && i < partition_count; i++)
        list[(*count)++] = (struct krc_owned){topic, partitions[i]};
}

static struct krc_member named(struct asked *g, struct krc_bytes id, struct krc_bytes client_id,
                               struct krc_bytes host, struct krc_bytes instance_id)
{
    return (struct krc_member){.id = text(g, id),
                               .client_id = text(g, client_id),
                               .host = text(g, host),
                               .instance_id =
                                   instance_id.data == NULL ? NULL : text(g, instance_id)};
}

/* KIP-848: by name, as far as the broker knows it. */
static struct krc_member consumer_member(struct asked *g,
                                         const struct krc_consumer_group_member *from)
{
    struct krc_member member =
        named(g, from->member_id, from->client_id, from->client_host, from->instance_id);
    const struct krc_consumer_group_topic *has = from->assignment.topics;
    size_t count = 0;
    for (int32_t t = 0; t < from->assignment.topic_count; t++)
        count += (size_t)has[t].partition_count;
    struct krc_owned *owned = room_for(g, count);
    for (int32_t t = 0; owned != NULL && t < from->assignment.topic_count; t++)
        own(owned, &member.owned_count, topic_text(g, has[t].name), has[t].partitions,
            has[t].partition_count);
    member.owned = owned;
    return member;
}

/* What another program assigned is not to be read, and nothing is said of it. */
static struct krc_member classic_member(struct asked *g, const struct krc_described_member *from)
{
    struct krc_member member =
        named(g, from->member_id, from->client_id, from->client_host, from->instance_id);
    struct krc_assignment has = {0};
    size_t count = 0;
    if (from->assignment.len > 0 &&
        krc_assignment_read(from->assignment, &has, &g->arena, NULL) < 0)
        has.topic_count = 0;
    for (int32_t t = 0; t < has.topic_count; t++)
        count += (size_t)has.topics[t].partition_count;
    struct krc_owned *owned = room_for(g, count);
    for (int32_t t = 0; owned != NULL && t < has.topic_count; t++)
        own(owned, &member.owned_count, topic_text(g, has.topics[t].topic),
            has.topics[t].partitions, has.topics[t].partition_count);
    member.owned = owned;
    return member;
}

static struct krc_member *begin_group(struct asked *g, const char *type, struct krc_bytes state,
                                      int32_t count)
{
    struct krc_member *members = krc_arena_take(&g->arena, ((size_t)count + 1) * sizeof *members);
    if (members == NULL)
        g->rc = KRC_E_NOMEM;
    g->group.type = type;
    g->group.state = text(g, state);
    g->group.members = members;
    g->group.member_count = members == NULL ? 0 : (size_t)count;
    return members;
}

/* There is no such group, as both kinds of description may say of one of the other kind; or the
 * broker has none of KIP-848 at all. */
static bool is_none(int16_t code)
{
    return code == KRC_KAFKA_GROUP_ID_NOT_FOUND || code == KRC_KAFKA_UNSUPPORTED_VERSION;
}

static enum krc_call_verdict take_consumer_group(struct krc_call *call,
                                                 const struct krc_answer *answer, int16_t *code)
{
    struct asked *g = call->arg;
    const struct krc_consumer_group_describe_response *r = answer->response;
    const struct krc_consumer_group *from = r->groups;
    *code = r->group_count == 0 ? KRC_KAFKA_GROUP_ID_NOT_FOUND : from->error_code;
    if (is_none(*code))
        return done(call);
    if (*code != 0)
        return krc_call_judge(call, *code);
    struct krc_member *members = begin_group(g, "consumer", from->state, from->member_count);
    for (int32_t i = 0; members != NULL && i < from->member_count; i++)
        members[i] = consumer_member(g, &from->members[i]);
    return done(call);
}

static enum krc_call_verdict take_classic_group(struct krc_call *call,
                                                const struct krc_answer *answer, int16_t *code)
{
    struct asked *g = call->arg;
    const struct krc_describe_groups_response *r = answer->response;
    const struct krc_described_group *from = r->groups;
    *code = r->group_count == 0 ? KRC_KAFKA_GROUP_ID_NOT_FOUND : from->error_code;
    if (is_none(*code))
        return done(call);
    if (*code != 0)
        return krc_call_judge(call, *code);
    if (is_text(from->state, "Dead")) /* the same, until version 5 */
        return done(call);
    struct krc_member *members = begin_group(g, "classic", from->state, from->member_count);
    for (int32_t i = 0; members != NULL && i < from->member_count; i++)
        members[i] = classic_member(g, &from->members[i]);
    return done(call);
}

/* ---- Offsets -------------------------------------------------------------------------------- */

/* Those that are pending are the ones that the first answers did not have. */
static void add_offset(struct asked *g, const char *topic, const struct krc_uuid *id,
                       const struct krc_offset_fetch_partition *p)
{
    struct krc_committed row = {.group = g->name,
                                .topic = topic,
                                .partition = p->index,
                                .leader_epoch = p->committed_leader_epoch,
                                .offset = p->committed_offset,
                                .metadata = text(g, p->metadata),
                                .topic_id = *id,
                                .commit_time_ms = -1,
                                .is_pending = g->asks_unstable,
                                .pending_offset = -1};
    bool is_there = row.offset >= 0 || row.is_pending;
    if (!is_there || row.metadata == NULL || p->error_code != 0)
        return;
    if (krc_committed_add(g->reading->offsets, &row, NULL) < 0)
        g->rc = KRC_E_NOMEM;
    g->has_offsets = true;
}

/* What is pending is no error: it is noted. */
static int16_t without_pending(struct asked *g, int16_t code)
{
    g->is_unstable |= code == KRC_KAFKA_UNSTABLE_OFFSET_COMMIT;
    return code == KRC_KAFKA_UNSTABLE_OFFSET_COMMIT ? 0 : code;
}

static int16_t first_code(struct asked *g, const struct krc_offset_fetch_response *r)
{
    int16_t code = without_pending(g, r->error_code);
    for (int32_t t = 0; code == 0 && t < r->topic_count; t++)
        for (int32_t i = 0; code == 0 && i < r->topics[t].partition_count; i++)
            code = without_pending(g, r->topics[t].partitions[i].error_code);
    return code;
}

/* A topic that is not there any more has no offsets that would mean anything. */
static void add_offsets(struct asked *g, const struct krc_offset_fetch_topic *t, bool by_id)
{
    static const struct krc_uuid none;
    const struct krc_topic *topic =
        by_id ? krc_topic_find_id(&g->reading->net->cluster, &t->id) : NULL;
    const char *name = topic != NULL ? topic->name : by_id ? NULL : topic_text(g, t->name);
    g->nameless |= by_id && topic == NULL;
    for (int32_t i = 0; name != NULL && i < t->partition_count; i++)
        add_offset(g, name, by_id ? &t->id : &none, &t->partitions[i]);
}

static enum krc_call_verdict take_offsets(struct krc_call *call, const struct krc_answer *answer,
                                          int16_t *code)
{
    struct asked *g = call->arg;
    const struct krc_offset_fetch_response *r = answer->response;
    *code = first_code(g, r);
    /* of a group that was never there, some versions say so, and others have no offsets */
    if (*code != 0 && *code != KRC_KAFKA_GROUP_ID_NOT_FOUND)
        return krc_call_judge(call, *code);
    for (int32_t t = 0; *code == 0 && t < r->topic_count; t++)
        add_offsets(g, &r->topics[t], answer->version >= 10);
    return done(call);
}

/* ---- The questions -------------------------------------------------------------------------- */

/* Puts a group's question; false: there is none. */
typedef bool put_fn(struct asked *g, struct krc_call *call);

static bool put_consumer_group(struct asked *g, struct krc_call *call)
{
    g->request.consumer =
        (struct krc_consumer_group_describe_request){.groups = &g->key, .group_count = 1};
    *call = (struct krc_call){.api = KRC_API_CONSUMER_GROUP_DESCRIBE,
                              .request = &g->request.consumer,
                              .take = take_consumer_group};
    return true;
}

static bool put_classic_group(struct asked *g, struct krc_call *call)
{
    g->request.classic = (struct krc_describe_groups_request){.groups = &g->key, .group_count = 1};
    *call = (struct krc_call){.api = KRC_API_DESCRIBE_GROUPS,
                              .request = &g->request.classic,
                              .take = take_classic_group};
    return g->group.state == NULL;
}

/* An answer says of which offsets it is not decided yet what they are. */
static bool put_offsets(struct asked *g, struct krc_call *call)
{
    g->request.offsets = (struct krc_offset_fetch_request){
        .group = g->key, .topic_count = -1, .require_stable = true};
    *call = (struct krc_call){.api = KRC_API_OFFSET_FETCH,
                              .request = &g->request.offsets,
                              .take = take_offsets};
    return true;
}

static bool put_offsets_by_name(struct asked *g, struct krc_call *call)
{
    put_offsets(g, call);
    call->highest = 9;
    return g->nameless;
}

static bool put_last_stable_offsets(struct asked *g, struct krc_call *call)
{
    put_offsets(g, call);
    g->request.offsets.require_stable = false;
    g->asks_unstable = g->is_unstable;
    if (g->nameless)
        call->highest = 9;
    return g->is_unstable;
}

static int take_failure(struct asked *g, const struct krc_call *call)
{
    krc_error why;
    if (call->rc >= 0)
        return KRC_OK;
    if (call->rc == KRC_E_NOMEM)
        return krc_fail(g->reading->error, call->rc, "out of memory");
    if (call->rc == KRC_E_UNSUPPORTED && call->api == KRC_API_CONSUMER_GROUP_DESCRIBE)
        return KRC_OK; /* before Kafka 3.7 there were no groups of KIP-848 */
    krc_call_explain(call, &why);
    krc_fail(&g->group.error, why.code, "group %s: %.700s", g->name, why.message);
    return KRC_OK;
}

/* Puts a question about each group of which nothing went wrong yet. */
static int ask(struct reading *r, put_fn *put)
{
    struct krc_call *calls = calloc(r->count + 1, sizeof *calls);
    size_t made = 0;
    int rc = calls == NULL ? krc_fail_nomem(r->error, r->count * sizeof *calls) : KRC_OK;
    for (size_t i = 0; rc >= 0 && i < r->count; i++) {
        struct asked *g = &r->list[i];
        struct krc_call *call = &calls[made];
        if (g->group.error.code < 0 || !put(g, call))
            continue;
        call->coordinator = krc_coordinator_of(&r->net->cluster, KRC_GROUP, g->name);
        call->node_id = -1;
        call->arg = g;
        rc = call->coordinator == NULL ? krc_fail_nomem(r->error, strlen(g->name)) : KRC_OK;
        made++;
    }
    if (rc >= 0)
        rc = krc_make_calls(r->net, calls, made, r->error);
    for (size_t i = 0; rc >= 0 && i < made; i++)
        rc = take_failure(calls[i].arg, &calls[i]);
    free(calls);
    return rc;
}

static int ask_for_members(struct reading *r)
{
    KRC_TRY(ask(r, put_consumer_group));
    return ask(r, put_classic_group);
}

static int ask_for_offsets(struct reading *r)
{
    KRC_TRY(ask(r, put_offsets));
    KRC_TRY(ask(r, put_offsets_by_name));
    return ask(r, put_last_stable_offsets);
}

/* ---- Which groups --------------------------------------------------------------------------- */

static int add_name(struct reading *r, struct krc_bytes group)
{
    struct asked *list = realloc(r->list, (r->count + 1) * sizeof *list);
    if (list == NULL)
        return KRC_E_NOMEM;
    r->list = list;
    struct asked *g = &list[r->count];
    *g = (struct asked){0};
    if (group.len == 0 || memchr(group.data, '\0', group.len) == NULL) {
        g->name = strndup((const char *)group.data, group.len);
    } else { /* cut there, it would be another group */
        g->name = krc_printable_copy(group.data, group.len);
        krc_fail(&g->group.error, KRC_E_UNSUPPORTED, "group \"%.700s\" cannot be asked about: its "
                 "name holds a NUL byte", g->name == NULL ? "" : g->name);
    }
    return g->name == NULL ? KRC_E_NOMEM : (r->count++, KRC_OK);
}

/* Groups of consumers, and those that only keep offsets, which say no type of protocol. */
static bool keeps_offsets(struct krc_bytes protocol_type)
{
    return protocol_type.len == 0 || is_text(protocol_type, "consumer");
}

static enum krc_call_verdict take_names(struct krc_call *call, const struct krc_answer *answer,
                                        int16_t *code)
{
    const struct krc_list_groups_response *from = answer->response;
    *code = from->error_code;
    enum krc_call_verdict verdict = krc_call_judge(call, *code);
    for (int32_t i = 0; *code == 0 && call->rc >= 0 && i < from->group_count; i++)
        if (keeps_offsets(from->groups[i].protocol_type))
            call->rc = add_name(call->arg, from->groups[i].group);
    return verdict;
}

static int by_name(const void *left, const void *right)
{
    const struct asked *a = left, *b = right;
    return strcmp(a->name, b->name);
}

/* One that moves to another coordinator meanwhile is told by both. */
static void remove_repeated(struct reading *r)
{
    size_t kept = 0;
    if (r->count > 1)
        qsort(r->list, r->count, sizeof *r->list, by_name);
    for (size_t i = 0; i < r->count; i++)
        if (kept > 0 && by_name(&r->list[i], &r->list[kept - 1]) == 0)
            free(r->list[i].name);
        else
            r->list[kept++] = r->list[i];
    r->count = kept;
}

/* Each broker tells those that it coordinates. */
static int list_groups(struct reading *r)
{
    const struct krc_nodes *nodes = &r->net->cluster.nodes;
    struct krc_list_groups_request request = {0};
    struct krc_call *calls = calloc(nodes->count + 1, sizeof *calls);
    size_t made = 0;
    if (calls == NULL)
        return krc_fail_nomem(r->error, nodes->count * sizeof *calls);
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->list[i]->known)
            calls[made++] = (struct krc_call){.node_id = nodes->list[i]->id,
                                              .api = KRC_API_LIST_GROUPS,
                                              .request = &request,
                                              .take = take_names,
                                              .arg = r};
    int rc = krc_make_calls(r->net, calls, made, r->error);
    for (size_t i = 0; rc >= 0 && i < made; i++)
        if (calls[i].rc < 0)
            rc = krc_call_explain(&calls[i], r->error);
    free(calls);
    remove_repeated(r);
    return rc;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static int begin(struct reading *r, const char *group)
{
    if (group == NULL)
        KRC_TRY(list_groups(r));
    else if (add_name(r, krc_bytes_of(group)) < 0)
        return krc_fail_nomem(r->error, strlen(group));
    for (size_t i = 0; i < r->count; i++) {
        struct asked *g = &r->list[i];
        g->reading = r;
        g->key = krc_bytes_of(g->name);
        g->group.id = g->name;
    }
    return KRC_OK;
}

static void end(struct reading *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->list[i].name);
        krc_arena_free(&r->list[i].arena);
    }
    free(r->list);
}

/* One that was deleted since it was listed is none. */
static int take_groups(struct reading *r, krc_groups *groups)
{
    int rc = KRC_OK;
    for (size_t i = 0; rc >= 0 && i < r->count; i++) {
        const struct krc_group *group = &r->list[i].group;
        if (group->state != NULL || group->error.code < 0)
            rc = krc_groups_add(groups, group, r->error);
    }
    return rc;
}

/* What is wrong with the one group that was asked about. */
static int check_group(const struct asked *g, krc_error *error)
{
    if (g->group.error.code < 0) {
        if (error != NULL)
            *error = g->group.error;
        return g->group.error.code;
    }
    if (g->group.state == NULL && !g->has_offsets)
        return krc_fail(error, KRC_E_NOT_FOUND, "the cluster has no group %s", g->name);
    return KRC_OK;
}

int krc_group_members(struct krc_net *net, const char *group, krc_groups *groups,
                      krc_error *error)
{
    struct reading r = {.net = net, .error = error};
    int rc = begin(&r, group);
    if (rc >= 0)
        rc = ask_for_members(&r);
    if (rc >= 0)
        rc = check_group(&r.list[0], error);
    if (rc == KRC_E_NOT_FOUND)
        rc = KRC_OK;
    else if (rc >= 0)
        rc = take_groups(&r, groups);
    end(&r);
    return rc;
}

int krc_group_cluster_read(krc *handle, const char *group, krc_committed_list *offsets,
                           krc_groups *groups, krc_error *error)
{
    struct reading r = {.net = handle->net, .offsets = offsets, .error = error};
    if (handle->net == NULL)
        return krc_fail(error, KRC_E_STATE, "log folders have no coordinators");
    KRC_TRY(krc_load_topics(handle, NULL, 0, error));
    int rc = begin(&r, group);
    if (rc >= 0)
        rc = ask_for_members(&r);
    if (rc >= 0)
        rc = ask_for_offsets(&r);
    if (rc >= 0 && group != NULL)
        rc = check_group(&r.list[0], error);
    if (rc >= 0)
        rc = take_groups(&r, groups);
    end(&r);
    return rc;
}
