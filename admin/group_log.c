/*
 * The group log, folded as a coordinator does that loads it: the newest record of a key counts,
 * null removes.  A commit inside a transaction takes its place where its record lies, whenever its
 * marker comes, so that of two the one with the higher offset counts; and a null behind it removes
 * it, be it decided by then or not.
 */
#include <krc-tools.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "admin/group_records.h"
#include "admin/state_log.h"
#include "base/buffer.h"
#include "base/place.h"
#include "consumer/handle.h"
#include "groups/subscription.h"
#include "store/committed.h"

/* The newest record about a group or a member, as it was written; one piece of memory. */
struct note {
    int16_t type;
    const char *group;
    const char *member; /* "": about the group */
    struct krc_bytes value;
};

struct fold {
    const krc *handle;
    const char *only; /* the group that is wanted; NULL: all */
    void *offsets;    /* a tree of struct krc_committed, see tsearch(3) */
    void *notes;      /* a tree of struct note */
    struct krc_arena arena; /* of the record, or the group, at hand */
};

/* ---- Trees --------------------------------------------------------------------------------- */

typedef int compare_fn(const void *a, const void *b);

static int by_partition(const void *a, const void *b)
{
    return krc_committed_compare(a, b);
}

/* What is about a group comes together, what is about it as a whole first. */
static int by_group(const void *left, const void *right)
{
    const struct note *a = left, *b = right;
    int order = strcmp(a->group, b->group);
    if (order == 0)
        order = strcmp(a->member, b->member);
    return order != 0 ? order : (a->type > b->type) - (a->type < b->type);
}

static void drop(void **tree, const void *key, compare_fn *compare)
{
    void *const *found = tfind(key, tree, compare);
    void *old = found != NULL ? *found : NULL;
    if (old == NULL)
        return;
    tdelete(key, tree, compare);
    free(old);
}

/* Takes over an element, in place of one that is equal; NULL stands for memory that was not to be
 * had. */
static int keep(void **tree, void *element, compare_fn *compare, krc_error *error)
{
    void **slot = element != NULL ? tsearch(element, tree, compare) : NULL;
    if (slot == NULL) {
        free(element);
        return krc_fail_nomem(error, sizeof(struct note));
    }
    if (*slot != element) {
        free(*slot);
        *slot = element;
    }
    return KRC_OK;
}

/* ---- Records ------------------------------------------------------------------------------- */

/* A string with a NUL at its end, in the arena. */
static int text(struct fold *fold, struct krc_bytes bytes, const char **out, krc_error *error)
{
    char *copy = krc_arena_take(&fold->arena, bytes.len + 1);
    if (copy == NULL)
        return krc_fail_nomem(error, bytes.len + 1);
    if (bytes.len > 0 && memchr(bytes.data, '\0', bytes.len) != NULL)
        return krc_fail(error, KRC_E_UNSUPPORTED,
                        "a name or a commit's metadata holds a NUL byte, which no text of krc's "
                        "can carry");
    if (bytes.len > 0)
        memcpy(copy, bytes.data, bytes.len);
    *out = copy;
    return KRC_OK;
}

/* The same of a topic's name.  One that is not valid stays so, whatever is in it. */
static int topic_text(struct fold *fold, struct krc_bytes name, const char **out, krc_error *error)
{
    char printable[512];
    if (krc_is_topic_name(name.data, name.len))
        return text(fold, name, out, error);
    krc_printable(printable, sizeof printable, name.data, name.len);
    return text(fold, krc_bytes_of(printable), out, error);
}

static int fold_offset(struct fold *fold, const struct krc_group_key *key, struct krc_bytes value,
                       krc_error *error)
{
    struct krc_offset_commit commit;
    struct krc_committed row = {.partition = key->partition};
    KRC_TRY(text(fold, key->group, &row.group, error));
    KRC_TRY(topic_text(fold, key->topic, &row.topic, error));
    if (value.data == NULL) {
        drop(&fold->offsets, &row, by_partition);
        return KRC_OK;
    }
    KRC_TRY(krc_offset_commit_read(value, &commit, error));
    KRC_TRY(text(fold, commit.metadata, &row.metadata, error));
    row.offset = commit.offset;
    row.leader_epoch = commit.leader_epoch;
    row.commit_time_ms = commit.commit_time_ms;
    row.topic_id = commit.topic_id;
    return keep(&fold->offsets, krc_committed_copy(&row), by_partition, error);
}

static struct note *copy_note(const struct note *note)
{
    size_t group = strlen(note->group) + 1, member = strlen(note->member) + 1;
    struct note *copy = malloc(sizeof *copy + group + member + note->value.len);
    if (copy == NULL)
        return NULL;
    char *names = (char *)(copy + 1);
    uint8_t *value = (uint8_t *)names + group + member;
    memcpy(names, note->group, group);
    memcpy(names + group, note->member, member);
    memcpy(value, note->value.data, note->value.len);
    *copy = (struct note){.type = note->type, .group = names, .member = names + group,
                          .value = {value, note->value.len}};
    return copy;
}

/* A value is read where it lies, so that an error says where, and again at the end. */
static int check_note(struct fold *fold, const struct note *note, krc_error *error)
{
    int32_t epoch;
    switch (note->type) {
    case KRC_CLASSIC_GROUP:
        return krc_classic_group_read(note->value, &(struct krc_classic_group){0}, &fold->arena,
                                      error);
    case KRC_CONSUMER_MEMBER:
        return krc_consumer_member_read(note->value, &(struct krc_consumer_member){0}, error);
    case KRC_CONSUMER_ASSIGNMENT:
        return krc_consumer_assignment_read(note->value, &(struct krc_consumer_assignment){0},
                                            &fold->arena, error);
    default:
        return krc_group_epoch_read(note->value, &epoch, error);
    }
}

static int fold_note(struct fold *fold, const struct krc_group_key *key, struct krc_bytes value,
                     krc_error *error)
{
    struct note note = {.type = key->type, .value = value};
    KRC_TRY(text(fold, key->group, &note.group, error));
    KRC_TRY(text(fold, key->member, &note.member, error));
    if (value.data == NULL) {
        drop(&fold->notes, &note, by_group);
        return KRC_OK;
    }
    KRC_TRY(check_note(fold, &note, error));
    return keep(&fold->notes, copy_note(&note), by_group, error);
}

static bool is_wanted(const struct fold *fold, struct krc_bytes group)
{
    return fold->only == NULL || (strlen(fold->only) == group.len &&
                                  memcmp(fold->only, group.data, group.len) == 0);
}

/* What counts as long as that is not decided is what was there before.  A later record takes the
 * place of both, as it will of this one, whenever its marker comes. */
static int fold_pending(void *arg, const struct krc_record *record, krc_error *error)
{
    struct fold *fold = arg;
    struct krc_group_key key;
    struct krc_offset_commit commit;
    krc_arena_reset(&fold->arena);
    int rc = krc_group_key_read(record->key, &key, error);
    if (rc <= 0 || !is_wanted(fold, key.group) || key.type > KRC_OFFSET_COMMIT ||
        record->value.data == NULL)
        return rc < 0 ? rc : KRC_OK;
    struct krc_committed row = {.partition = key.partition, .offset = -1, .leader_epoch = -1,
                                .metadata = "", .commit_time_ms = -1};
    KRC_TRY(text(fold, key.group, &row.group, error));
    KRC_TRY(topic_text(fold, key.topic, &row.topic, error));
    KRC_TRY(krc_offset_commit_read(record->value, &commit, error));
    void *const *found = tfind(&row, &fold->offsets, by_partition);
    if (found != NULL)
        row = *(const struct krc_committed *)*found;
    row.is_pending = true;
    row.pending_offset = commit.offset;
    return keep(&fold->offsets, krc_committed_copy(&row), by_partition, error);
}

static int fold_record(void *arg, const struct krc_record *record, krc_error *error)
{
    struct fold *fold = arg;
    struct krc_group_key key;
    krc_arena_reset(&fold->arena);
    int rc = krc_group_key_read(record->key, &key, error);
    if (rc <= 0 || !is_wanted(fold, key.group))
        return rc < 0 ? rc : KRC_OK;
    return key.type <= KRC_OFFSET_COMMIT ? fold_offset(fold, &key, record->value, error)
                                         : fold_note(fold, &key, record->value, error);
}

/* ---- What there is at the end -------------------------------------------------------------- */

/* Groups are put together from their notes, which come one after another. */
struct gathering {
    struct fold *fold;
    krc_committed_list *offsets;
    krc_groups *groups;
    struct krc_group group; /* id NULL: none yet */
    bool is_classic;
    int32_t epoch, target_epoch;
    size_t reconciled; /* members that have what the target assignment gives them */
    struct krc_buffer members, owned; /* of the group, and of a member: arrays of the structs */
    krc_error *error;
    int rc;
};

/* A buffer's elements, copied to the arena. */
static int settle(struct gathering *g, const struct krc_buffer *from, size_t size,
                  const void **list, size_t *count)
{
    void *copy = krc_arena_take(&g->fold->arena, from->len);
    if (copy == NULL)
        return krc_fail_nomem(g->error, from->len);
    if (from->len > 0)
        memcpy(copy, from->data, from->len);
    *list = copy;
    *count = from->len / size;
    return KRC_OK;
}

static const char *topic_named(const krc *handle, const struct krc_uuid *id)
{
    for (size_t i = 0; i < handle->places.count; i++)
        if (krc_uuid_equal(&handle->places.list[i].topic_id, id))
            return handle->places.list[i].topic;
    return NULL;
}

static int own_topics(struct gathering *g, struct krc_member *member,
                      const struct krc_assigned_topic *topics, int32_t count)
{
    const void *list;
    g->owned.len = 0;
    for (int32_t i = 0; i < count; i++) {
        struct krc_owned owned;
        if (topics[i].name.data != NULL)
            KRC_TRY(topic_text(g->fold, topics[i].name, &owned.topic, g->error));
        else
            owned.topic = topic_named(g->fold->handle, &topics[i].id);
        for (int32_t p = 0; owned.topic != NULL && p < topics[i].partition_count; p++) {
            owned.partition = topics[i].partitions[p];
            KRC_TRY(krc_buffer_append(&g->owned, &owned, sizeof owned, g->error));
        }
    }
    KRC_TRY(settle(g, &g->owned, sizeof(struct krc_owned), &list, &member->owned_count));
    member->owned = list;
    return KRC_OK;
}

static int name_member(struct gathering *g, struct krc_member *member, struct krc_bytes client_id,
                       struct krc_bytes host, struct krc_bytes instance_id)
{
    KRC_TRY(text(g->fold, client_id, &member->client_id, g->error));
    KRC_TRY(text(g->fold, host, &member->host, g->error));
    return instance_id.data == NULL ? KRC_OK
                                    : text(g->fold, instance_id, &member->instance_id, g->error);
}

/* Its bytes are the assignor's own affair: some have formats of theirs, and nothing is said. */
static int own_assigned(struct gathering *g, struct krc_member *member, struct krc_bytes bytes)
{
    struct krc_assignment has = {0};
    struct krc_arena *arena = &g->fold->arena;
    if (bytes.len == 0 || krc_assignment_read(bytes, &has, arena, NULL) < 0)
        return KRC_OK;
    struct krc_assigned_topic *topics =
        krc_arena_take(arena, ((size_t)has.topic_count + 1) * sizeof *topics);
    if (topics == NULL)
        return krc_fail_nomem(g->error, (size_t)has.topic_count * sizeof *topics);
    for (int32_t i = 0; i < has.topic_count; i++)
        topics[i] = (struct krc_assigned_topic){.name = has.topics[i].topic,
                                                .partitions = has.topics[i].partitions,
                                                .partition_count = has.topics[i].partition_count};
    return own_topics(g, member, topics, has.topic_count);
}

static int add_classic_member(struct gathering *g, const struct krc_classic_member *from,
                              bool is_consumer)
{
    struct krc_member member = {0};
    KRC_TRY(text(g->fold, from->id, &member.id, g->error));
    KRC_TRY(name_member(g, &member, from->client_id, from->host, from->instance_id));
    if (is_consumer)
        KRC_TRY(own_assigned(g, &member, from->assignment));
    return krc_buffer_append(&g->members, &member, sizeof member, g->error);
}

static bool is_text(struct krc_bytes bytes, const char *wanted)
{
    return bytes.len == strlen(wanted) && memcmp(bytes.data, wanted, bytes.len) == 0;
}

static int gather_classic(struct gathering *g, struct krc_bytes value)
{
    struct krc_classic_group group;
    KRC_TRY(krc_classic_group_read(value, &group, &g->fold->arena, g->error));
    g->group.type = "classic";
    g->is_classic = true;
    for (int32_t i = 0; i < group.member_count; i++)
        KRC_TRY(add_classic_member(g, &group.members[i],
                                   is_text(group.protocol_type, "consumer")));
    return KRC_OK;
}

static int gather_member(struct gathering *g, const struct note *note)
{
    struct krc_consumer_member from = {0};
    struct krc_member member = {.id = note->member};
    KRC_TRY(krc_consumer_member_read(note->value, &from, g->error));
    KRC_TRY(name_member(g, &member, from.client_id, from.host, from.instance_id));
    return krc_buffer_append(&g->members, &member, sizeof member, g->error);
}

/* Follows its member's note, where the member is still there. */
static int gather_assignment(struct gathering *g, const struct note *note)
{
    struct krc_consumer_assignment from;
    struct krc_member *last =
        (struct krc_member *)(void *)(g->members.data + g->members.len) - 1;
    if (g->members.len == 0 || strcmp(last->id, note->member) != 0)
        return KRC_OK;
    KRC_TRY(krc_consumer_assignment_read(note->value, &from, &g->fold->arena, g->error));
    g->reconciled += from.state == 0 && from.member_epoch == g->target_epoch;
    return own_topics(g, last, from.topics, from.topic_count);
}

/* As Kafka judges it.  A classic group is written when its members have their assignments, and when
 * the last one has left. */
static const char *state_of(const struct gathering *g)
{
    if (g->group.member_count == 0)
        return "Empty";
    if (g->is_classic)
        return "Stable";
    if (g->epoch > g->target_epoch)
        return "Assigning";
    return g->reconciled < g->group.member_count ? "Reconciling" : "Stable";
}

static int finish_group(struct gathering *g)
{
    const void *members;
    if (g->group.type == NULL) /* notes about no group */
        return KRC_OK;
    KRC_TRY(settle(g, &g->members, sizeof(struct krc_member), &members, &g->group.member_count));
    g->group.members = members;
    g->group.state = state_of(g);
    return krc_groups_add(g->groups, &g->group, g->error);
}

static void begin_group(struct gathering *g, const char *id)
{
    krc_arena_reset(&g->fold->arena);
    g->group = (struct krc_group){.id = id};
    g->members.len = 0;
    g->is_classic = false;
    g->epoch = g->target_epoch = 0;
    g->reconciled = 0;
}

static int gather_note(struct gathering *g, const struct note *note)
{
    if (g->group.id == NULL || strcmp(g->group.id, note->group) != 0) {
        KRC_TRY(finish_group(g));
        begin_group(g, note->group);
    }
    switch (note->type) {
    case KRC_CLASSIC_GROUP:
        return gather_classic(g, note->value);
    case KRC_CONSUMER_GROUP:
        g->group.type = "consumer";
        return krc_group_epoch_read(note->value, &g->epoch, g->error);
    case KRC_CONSUMER_TARGET:
        return krc_group_epoch_read(note->value, &g->target_epoch, g->error);
    case KRC_CONSUMER_MEMBER:
        return gather_member(g, note);
    default:
        return gather_assignment(g, note);
    }
}

/* Who walks: twalk hands on no argument, and twalk_r is glibc's alone. */
static _Thread_local struct gathering *walker;

static void visit_note(const void *node, VISIT when, int depth)
{
    struct gathering *g = walker;
    (void)depth;
    const struct note *note = *(const void *const *)node;
    if ((when == postorder || when == leaf) && g->rc >= 0)
        g->rc = gather_note(g, note);
}

static void visit_offset(const void *node, VISIT when, int depth)
{
    struct gathering *g = walker;
    (void)depth;
    const struct krc_committed *row = *(const void *const *)node;
    if ((when == postorder || when == leaf) && g->rc >= 0)
        g->rc = krc_committed_add(g->offsets, row, g->error);
}

static int gather(struct fold *fold, krc_committed_list *offsets, krc_groups *groups,
                  krc_error *error)
{
    struct gathering g = {.fold = fold, .offsets = offsets, .groups = groups, .error = error};
    walker = &g;
    twalk(fold->offsets, visit_offset);
    twalk(fold->notes, visit_note);
    if (g.rc >= 0)
        g.rc = finish_group(&g);
    krc_buffer_free(&g.members);
    krc_buffer_free(&g.owned);
    return g.rc < 0 ? g.rc : KRC_OK;
}

int krc_group_log_read(const krc *handle, const char *group, krc_committed_list *offsets,
                       krc_groups *groups, krc_error *error)
{
    struct fold fold = {.handle = handle, .only = group};
    int rc = krc_state_log_read(handle, "__consumer_offsets", fold_record, fold_pending, &fold,
                                error);
    if (rc >= 0)
        rc = gather(&fold, offsets, groups, error);
    tdestroy(fold.offsets, free);
    tdestroy(fold.notes, free);
    krc_arena_free(&fold.arena);
    return rc;
}
