/*
 * What became of commits that a group was asked for, where the answer stayed away: whoever asked is
 * made to leave, so that nothing of it is taken any more; then the group is asked what it has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run.h"

struct leftover {
    struct krc_pending pending;
    char *topic, *member_id; /* its texts */
    int rc; /* 1: it was taken, and is confirmed; 0: it was not, and is put back; or why neither */
    krc_error why;
};

struct leftovers {
    const struct krc_place *only; /* NULL: all */
    struct leftover *list;
    size_t count;
    krc_error *error;
};

/* ---- Which ---------------------------------------------------------------------------------- */

static int gather(void *arg, const struct krc_pending *pending)
{
    struct leftovers *left = arg;
    const struct krc_place *only = left->only;
    if (only != NULL &&
        (only->partition != pending->partition || strcmp(only->topic, pending->topic) != 0))
        return 0;
    size_t size = (left->count + 1) * sizeof *left->list;
    struct leftover *list = realloc(left->list, size);
    if (list == NULL)
        return krc_fail_nomem(left->error, size);
    left->list = list;
    struct leftover *l = &list[left->count++];
    *l = (struct leftover){.pending = *pending,
                           .topic = strdup(pending->topic),
                           .member_id = strdup(pending->member_id)};
    l->pending.topic = l->topic;
    l->pending.member_id = l->member_id;
    return l->topic == NULL || l->member_id == NULL ? krc_fail_nomem(left->error, size) : 0;
}

static void forget(struct leftovers *left)
{
    for (size_t i = 0; i < left->count; i++) {
        free(left->list[i].topic);
        free(left->list[i].member_id);
    }
    free(left->list);
}

/* ---- What cannot be decided ----------------------------------------------------------------- */

static void cannot_tell(const struct krc_replay_run *run, struct leftover *l, int rc,
                        const char *what)
{
    const struct krc_pending *p = &l->pending;
    l->rc = krc_fail(&l->why, rc, "%s-%d: whether group %s took the commit of offsets %lld to %lld "
                     "from %s cannot be told: %s", p->topic, (int)p->partition,
                     run->config->group_id, (long long)krc_replay_pending_from(p),
                     (long long)p->to, run->target.path, what);
    krc_error_at(&l->why, p->topic, p->partition, p->to, -1);
}

static void cannot_tell_yet(const struct krc_replay_run *run, struct leftover *l)
{
    char what[700];
    int rc = l->rc == KRC_E_INTERRUPTED ? KRC_E_TIMEOUT : l->rc; /* to be told, other than an end */
    snprintf(what, sizeof what, "%.500s; nothing was changed, and the next run, or --recover, asks "
             "again", l->why.message);
    cannot_tell(run, l, rc, what);
}

/* Others may have them, too: that is for somebody to look at. */
static void cannot_tell_ever(const struct krc_replay_run *run, struct leftover *l, int rc,
                             const char *why)
{
    const struct krc_pending *p = &l->pending;
    char what[900];
    snprintf(what, sizeof what, "%s; nothing was changed.  They stay for good once this is done in "
             "%.300s, by sqlite3: DELETE FROM pending WHERE topic = '%s' AND partition = %d", why,
             run->target.store, p->topic, (int)p->partition);
    cannot_tell(run, l, rc, what);
}

/* ---- Asking --------------------------------------------------------------------------------- */

static void expel(struct krc_replay_run *run, struct leftover *l)
{
    l->rc = krc_net_expel(run->net, l->member_id, l->pending.is_classic, &l->why);
    if (l->rc < 0)
        cannot_tell_yet(run, l);
}

/* Whether the topic is the one that was read, as far as ids tell: with another, its offsets are
 * gone. */
static int is_same_topic(struct krc_replay_run *run, const struct leftover *l,
                         const struct krc_topic *topic, krc_error *error)
{
    struct krc_stored row;
    int rc = krc_store_load(run->target.db, krc_store_group(run->config), l->topic,
                            l->pending.partition, &row, error);
    return rc <= 0 ? rc : !krc_uuid_differs(&topic->id, &row.topic_id);
}

static struct krc_topic *find_topic(struct krc_replay_run *run, struct leftover *l)
{
    const char *name = l->topic;
    l->rc = krc_net_load_topics(run->net, &name, 1, &l->why);
    if (l->rc < 0 && l->rc != KRC_E_NOT_FOUND) {
        cannot_tell_yet(run, l);
        return NULL;
    }
    struct krc_topic *topic = krc_topic_having(&run->net->cluster, name, l->pending.partition);
    int same = topic == NULL ? 0 : is_same_topic(run, l, topic, &l->why);
    if (same > 0)
        return topic;
    if (same < 0)
        l->rc = same;
    else
        cannot_tell_ever(run, l, KRC_E_NOT_FOUND, "the topic was deleted, and its committed "
                         "offsets with it");
    return NULL;
}

static void judge(struct krc_replay_run *run, struct leftover *l,
                  const struct krc_net_committed *now)
{
    const struct krc_pending *p = &l->pending;
    struct krc_lineage lineage;
    char why[200] = "it has no committed offset any more";
    krc_lineage_read(&lineage, now->metadata);
    switch (krc_lineage_judge(&lineage, now->offset, run->sink_id, p->stretch, p->from, p->to)) {
    case KRC_TAKEN:
        l->rc = krc_replay_settle(run, p, true, &l->why);
        l->rc = l->rc < 0 ? l->rc : 1;
        return;
    case KRC_NOT_TAKEN:
        l->rc = krc_replay_settle(run, p, false, &l->why);
        return;
    case KRC_UNDECIDABLE:
        break;
    }
    if (now->offset >= 0)
        snprintf(why, sizeof why, "it has %lld now, and %s", (long long)now->offset,
                 lineage.count > 0 ? "does not say any more whose offsets so far back were"
                                   : "by somebody who does not say whose the offsets before are");
    cannot_tell_ever(run, l, KRC_E_MISMATCH, why);
}

static void ask(struct krc_replay_run *run, struct leftover *l)
{
    struct krc_net_committed now = {.topic = find_topic(run, l),
                                    .partition = l->pending.partition};
    if (now.topic == NULL)
        return;
    l->rc = krc_net_fetch_committed(run->net, &now, 1, &l->why);
    if (l->rc < 0)
        cannot_tell_yet(run, l);
    else
        judge(run, l, &now);
    free(now.metadata);
}

/* Each for itself: what is pending are few, of partitions that were committed at that moment. */
static int settle_all(struct krc_replay_run *run, struct leftovers *left, krc_error *error)
{
    KRC_TRY(krc_store_each_pending(run->target.db, gather, left, error));
    for (size_t i = 0; i < left->count; i++) {
        struct leftover *l = &left->list[i];
        expel(run, l);
        if (l->rc >= 0)
            ask(run, l);
    }
    return KRC_OK;
}

/* ---- In a run ------------------------------------------------------------------------------- */

int krc_replay_find_out(struct krc_replay_part *part, krc_error *error)
{
    krc_error why;
    struct leftovers left = {.only = &part->place, .error = &why};
    int rc = settle_all(part->run, &left, &why);
    if (rc >= 0 && left.count > 0) {
        rc = left.list[0].rc;
        why = left.list[0].why;
    }
    forget(&left);
    if (rc < 0 && error != NULL)
        *error = why;
    return rc;
}

/* ---- Before one ----------------------------------------------------------------------------- */

static void tell(struct krc_replay_run *run, const struct leftover *l)
{
    const struct krc_pending *p = &l->pending;
    int64_t from = krc_replay_pending_from(p);
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = p->topic,
                              .partition = p->partition,
                              .from = from,
                              .to = p->to};
    snprintf(event.message, sizeof event.message,
             l->rc > 0 ? "the group had taken offsets %lld to %lld from here: they stay"
                       : "the group had not taken offsets %lld to %lld from here: they are cut off",
             (long long)from, (long long)p->to);
    krc_replay_tell(run, &event);
}

/* The first that could not be decided is told in the end. */
static int tell_all(struct krc_replay_run *run, const struct leftovers *left, krc_error *error)
{
    const struct leftover *first = NULL;
    for (size_t i = 0; i < left->count; i++) {
        const struct leftover *l = &left->list[i];
        if (l->rc >= 0)
            tell(run, l);
        else if (first == NULL)
            first = l;
    }
    if (first == NULL)
        return KRC_OK;
    *error = first->why;
    return first->rc;
}

struct cutting {
    struct krc_replay_run *run;
    krc_error *error;
};

/* What was written and not even pending when a run ended. */
static int cut_tail(void *arg, const char *group, const char *topic, int32_t partition,
                    const struct krc_stored *stored)
{
    struct cutting *cutting = arg;
    struct krc_place place = {.topic = topic, .partition = partition};
    (void)group, (void)stored;
    return krc_replay_cut_file(cutting->run, &place, cutting->error);
}

int krc_replay_recover(struct krc_replay_run *run, krc_error *error)
{
    krc_error why;
    struct cutting cutting = {run, &why};
    struct leftovers left = {.error = &why};
    int rc = settle_all(run, &left, &why);
    if (rc >= 0)
        rc = tell_all(run, &left, &why);
    if (rc >= 0 && !run->target.is_sqlite)
        rc = krc_store_each(run->target.db, krc_store_group(run->config), cut_tail, &cutting,
                            &why);
    forget(&left);
    if (rc < 0 && error != NULL)
        *error = why;
    return rc;
}
