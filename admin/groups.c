/*
 * Lists of groups.
 */
#include <krc-tools.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

struct krc_groups {
    struct krc_group **list;
    size_t count, capacity;
    struct krc_arena arena; /* of all that is in the list */
};

krc_groups *krc_groups_new(void)
{
    return calloc(1, sizeof(krc_groups));
}

void krc_groups_free(krc_groups *groups)
{
    if (groups == NULL)
        return;
    krc_arena_free(&groups->arena);
    free(groups->list);
    free(groups);
}

const struct krc_group *krc_groups_at(const krc_groups *groups, size_t i)
{
    return i < groups->count ? groups->list[i] : NULL;
}

/* Where a group is, or would be. */
static size_t place_of(const krc_groups *groups, const char *id)
{
    size_t low = 0, high = groups->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(groups->list[middle]->id, id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct krc_group *krc_groups_find(const krc_groups *groups, const char *id)
{
    const struct krc_group *group = krc_groups_at(groups, place_of(groups, id));
    return group != NULL && strcmp(group->id, id) == 0 ? group : NULL;
}

const struct krc_member *krc_group_owner(const struct krc_group *group, const char *topic,
                                         int32_t partition)
{
    for (size_t m = 0; m < group->member_count; m++) {
        const struct krc_member *member = &group->members[m];
        for (size_t i = 0; i < member->owned_count; i++)
            if (member->owned[i].partition == partition &&
                strcmp(member->owned[i].topic, topic) == 0)
                return member;
    }
    return NULL;
}

/* ---- Adding -------------------------------------------------------------------------------- */

/* Copying into the arena; once it has failed nothing more is copied. */
struct copying {
    struct krc_arena *arena;
    bool failed;
};

static void *copy(struct copying *c, const void *data, size_t size)
{
    void *to = c->failed ? NULL : krc_arena_take(c->arena, size);
    c->failed = to == NULL;
    return to == NULL || size == 0 ? to : memcpy(to, data, size);
}

static const char *copy_text(struct copying *c, const char *text)
{
    return text == NULL ? NULL : copy(c, text, strlen(text) + 1);
}

static void copy_member(struct copying *c, struct krc_member *member)
{
    struct krc_owned *owned =
        copy(c, member->owned, member->owned_count * sizeof *member->owned);
    member->id = copy_text(c, member->id);
    member->client_id = copy_text(c, member->client_id);
    member->host = copy_text(c, member->host);
    member->instance_id = copy_text(c, member->instance_id);
    member->owned = owned;
    for (size_t i = 0; !c->failed && i < member->owned_count; i++)
        owned[i].topic = copy_text(c, owned[i].topic);
}

static struct krc_group *copy_group(struct copying *c, const struct krc_group *group)
{
    struct krc_group *to = copy(c, group, sizeof *group);
    struct krc_member *members = copy(c, group->members, group->member_count * sizeof *members);
    for (size_t i = 0; !c->failed && i < group->member_count; i++)
        copy_member(c, &members[i]);
    const char *id = copy_text(c, group->id);
    const char *type = copy_text(c, group->type), *state = copy_text(c, group->state);
    if (c->failed)
        return NULL;
    *to = (struct krc_group){.id = id, .type = type, .state = state, .members = members,
                             .member_count = group->member_count, .error = group->error};
    return to;
}

int krc_groups_add(krc_groups *groups, const struct krc_group *group, krc_error *error)
{
    size_t at = place_of(groups, group->id);
    if (groups->count == groups->capacity) {
        size_t capacity = groups->capacity == 0 ? 16 : 2 * groups->capacity;
        struct krc_group **list = realloc(groups->list, capacity * sizeof *list);
        if (list == NULL)
            return krc_fail_nomem(error, capacity * sizeof *list);
        groups->list = list;
        groups->capacity = capacity;
    }
    struct krc_group *added = copy_group(&(struct copying){.arena = &groups->arena}, group);
    if (added == NULL)
        return krc_fail_nomem(error, sizeof *added);
    memmove(groups->list + at + 1, groups->list + at, (groups->count - at) * sizeof *groups->list);
    groups->list[at] = added;
    groups->count++;
    return KRC_OK;
}
