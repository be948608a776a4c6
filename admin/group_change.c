/*
 * Commits to a cluster's groups from outside: by nobody in particular, while they have no members.
 */
#include <krc-tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin/group_cluster.h"
#include "cluster/group_commit.h"
#include "consumer/handle.h"

struct changing {
    struct krc_net *net;
    const krc_committed_list *list;
    krc_error *error;
};

/* The rows of one group, which come together. */
struct rows {
    const char *group;
    size_t first, count;
};

/* ---- Before anything is changed -------------------------------------------------------------- */

static int refuse_members(const struct krc_group *group, krc_error *error)
{
    char who[600] = "", more[40] = "";
    size_t named = 0;
    for (; named < group->member_count && strlen(who) < sizeof who - 200; named++) {
        const struct krc_member *member = &group->members[named];
        size_t len = strlen(who);
        snprintf(who + len, sizeof who - len, "%s%.80s (%.40s, %.40s)", named == 0 ? "" : ", ",
                 member->id, member->client_id, member->host);
    }
    if (named < group->member_count)
        snprintf(more, sizeof more, " and %zu more", group->member_count - named);
    return krc_fail(error, KRC_E_BUSY, "group %s has members, and their offsets are not changed "
                    "under them; stop them first: %s%s", group->id, who, more);
}

static int check_members(struct changing *c, const char *group)
{
    krc_groups *groups = krc_groups_new();
    if (groups == NULL)
        return krc_fail_nomem(c->error, 1);
    int rc = krc_group_members(c->net, group, groups, c->error);
    const struct krc_group *found = krc_groups_find(groups, group);
    if (rc >= 0 && found != NULL && found->member_count > 0)
        rc = refuse_members(found, c->error);
    krc_groups_free(groups);
    return rc;
}

static int put_entry(struct changing *c, const struct krc_committed *row,
                     struct krc_commit_entry *entry)
{
    struct krc_topic *topic = krc_topic_having(&c->net->cluster, row->topic, row->partition);
    if (topic == NULL)
        return krc_fail(c->error, KRC_E_NOT_FOUND, "the cluster has no partition %s-%d, of which "
                        "an offset is to be committed; nothing was", row->topic,
                        (int)row->partition);
    *entry = (struct krc_commit_entry){.topic = topic,
                                       .partition = row->partition,
                                       .offset = row->offset,
                                       .epoch = row->leader_epoch,
                                       .metadata = row->metadata};
    return KRC_OK;
}

static int check_group(struct changing *c, const struct rows *rows)
{
    struct krc_commit_entry entry;
    for (size_t i = 0; i < rows->count; i++)
        KRC_TRY(put_entry(c, krc_committed_at(c->list, rows->first + i), &entry));
    return check_members(c, rows->group);
}

/* ---- Committing ------------------------------------------------------------------------------ */

enum { MOST_NAMED = 600, LONGEST_NAME = 300 /* a topic's has 249 letters at most */ };

/* "t-0, t-3 and 5 more" */
static void name_committed(const struct krc_commit_entry *entries, size_t count,
                           char text[static MOST_NAMED])
{
    size_t len = 0, left = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (entries[i].error_code != 0)
            continue;
        if (len + LONGEST_NAME > MOST_NAMED)
            left++;
        else
            len += (size_t)snprintf(text + len, MOST_NAMED - len, "%s%s-%d", len == 0 ? "" : ", ",
                                    entries[i].topic->name, (int)entries[i].partition);
    }
    if (left > 0)
        snprintf(text + len, MOST_NAMED - len, " and %zu more", left);
}

/* A request that was refused as a whole leaves no code with any. */
static bool any_refused(const struct krc_commit_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].error_code != 0)
            return true;
    return false;
}

/* What became of all, as far as it is known. */
static int explain(struct changing *c, const struct rows *rows,
                   const struct krc_commit_entry *entries, const krc_error *why)
{
    char which[MOST_NAMED] = "";
    const char *before = rows->first > 0 ? "; the groups that come before it were committed" : "";
    if (why->code == KRC_E_TIMEOUT || why->code == KRC_E_IO)
        return krc_fail(c->error, why->code, "%.800s; whether the offsets of group %.100s were "
                        "committed is not known%s", why->message, rows->group, before);
    if (any_refused(entries, rows->count))
        name_committed(entries, rows->count, which);
    return krc_fail(c->error, why->code, "%.400s; committed of it: %s%s", why->message,
                    which[0] == '\0' ? "none" : which, before);
}

static int commit_entries(struct changing *c, const struct rows *rows,
                          struct krc_commit_entry *entries)
{
    struct krc_group_commit commit = {
        .coordinator = krc_coordinator_of(&c->net->cluster, KRC_GROUP, rows->group),
        .entries = entries,
        .count = rows->count};
    krc_error why;
    if (commit.coordinator == NULL)
        return krc_fail_nomem(c->error, 1);
    int rc = krc_net_commit(c->net, &commit, &why);
    if (rc < 0 && commit.call.error_code == KRC_KAFKA_UNKNOWN_MEMBER_ID) { /* members have come */
        krc_error members;
        rc = check_members(&(struct changing){.net = c->net, .error = &members}, rows->group);
        if (rc < 0)
            why = members;
        rc = why.code;
    }
    return rc < 0 ? explain(c, rows, entries, &why) : rc;
}

static int commit_group(struct changing *c, const struct rows *rows)
{
    struct krc_commit_entry *entries = calloc(rows->count, sizeof *entries);
    if (entries == NULL)
        return krc_fail_nomem(c->error, rows->count * sizeof *entries);
    int rc = KRC_OK;
    for (size_t i = 0; rc >= 0 && i < rows->count; i++)
        rc = put_entry(c, krc_committed_at(c->list, rows->first + i), &entries[i]);
    if (rc >= 0)
        rc = commit_entries(c, rows, entries);
    free(entries);
    return rc;
}

/* ---- All of a list --------------------------------------------------------------------------- */

typedef int rows_fn(struct changing *c, const struct rows *rows);

static int each_group(struct changing *c, rows_fn *each)
{
    const struct krc_committed *row;
    for (size_t first = 0; (row = krc_committed_at(c->list, first)) != NULL;) {
        struct rows rows = {.group = row->group, .first = first};
        while ((row = krc_committed_at(c->list, first + rows.count)) != NULL &&
               strcmp(row->group, rows.group) == 0)
            rows.count++;
        KRC_TRY(each(c, &rows));
        first += rows.count;
    }
    return KRC_OK;
}

int krc_group_cluster_commit(krc *handle, const krc_committed_list *list, krc_error *error)
{
    struct changing c = {.net = handle->net, .list = list, .error = error};
    if (handle->net == NULL)
        return krc_fail(error, KRC_E_STATE, "log folders have no coordinators");
    KRC_TRY(krc_load_topics(handle, NULL, 0, error));
    KRC_TRY(each_group(&c, check_group)); /* before anything is changed */
    return each_group(&c, commit_group);
}
