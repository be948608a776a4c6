/*
 * Commits that the group decides: asked for, confirmed or put back, now or after a crash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cluster/group_commit.h"
#include "replay/run.h"

/* ---- The sink's id -------------------------------------------------------------------------- */

static const char id_setting[] = "sink.id";

static int invent_id(struct krc_replay_run *run, krc_error *error)
{
    unsigned long long number;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return krc_fail_errno(error, "the system gives no random number");
    snprintf(run->sink_id, sizeof run->sink_id, "%016llx", number);
    KRC_TRY(krc_store_begin(run->target.db, error));
    int rc = krc_store_set_setting(run->target.db, id_setting, run->sink_id, error);
    if (rc >= 0)
        rc = krc_store_commit(run->target.db, error);
    if (rc < 0)
        krc_store_rollback(run->target.db);
    return rc;
}

int krc_replay_prepare_member(struct krc_replay_run *run, krc_error *error)
{
    const char *id;
    KRC_TRY(krc_store_allow_pending(run->target.db, error));
    int rc = krc_store_get_setting(run->target.db, id_setting, &id, error);
    if (rc <= 0)
        return rc < 0 ? rc : invent_id(run, error);
    snprintf(run->sink_id, sizeof run->sink_id, "%s", id);
    return KRC_OK;
}

/* ---- Cutting -------------------------------------------------------------------------------- */

/* A sink cuts its file when it is opened. */
static int cut_file(struct krc_replay_run *run, const struct krc_place *place, krc_error *error)
{
    struct krc_stored_sink stored;
    struct krc_sink sink;
    int rc = krc_store_load_sink(run->target.db, place->topic, place->partition, &stored, error);
    if (rc <= 0)
        return rc;
    rc = krc_sink_open(&sink, &run->sinks, place, &stored, stored.history, error);
    krc_sink_close(&sink);
    return rc;
}

int krc_replay_cut(struct krc_replay_run *run, const struct krc_place *place, krc_error *error)
{
    if (run->target.is_sqlite)
        return KRC_OK; /* what was not committed was rolled back */
    KRC_TRY(cut_file(run, place, error));
    return krc_target_clean(&run->target, place, error);
}

/* ---- Confirmed or put back ------------------------------------------------------------------ */

static int settle_in(struct krc_replay_run *run, const struct krc_pending *p, bool taken,
                     krc_error *error)
{
    struct krc_store *store = run->target.db;
    int64_t from = p->from > p->stretch ? p->from : p->stretch;
    if (taken)
        return krc_store_confirm(store, p->topic, p->partition, error);
    if (run->target.is_sqlite)
        KRC_TRY(krc_delete_rows(store, p->topic, p->partition, from, error));
    return krc_store_put_back(store, p->topic, p->partition, error);
}

static int settle(struct krc_replay_run *run, const struct krc_pending *p, bool taken,
                  krc_error *error)
{
    struct krc_place place = {.topic = p->topic, .partition = p->partition};
    KRC_TRY(krc_store_begin(run->target.db, error));
    int rc = settle_in(run, p, taken, error);
    if (rc >= 0)
        rc = krc_store_commit(run->target.db, error);
    if (rc < 0)
        krc_store_rollback(run->target.db);
    KRC_TRY(rc);
    return taken ? KRC_OK : krc_replay_cut(run, &place, error);
}

static int undecidable(const struct krc_replay_run *run, const struct krc_pending *p,
                       int64_t committed, krc_error *error)
{
    int rc = krc_fail(error, KRC_E_MISMATCH,
                      "%s-%d: whether group %s took the commit of offsets %lld to %lld from %s "
                      "cannot be told: it has %lld now, by somebody who does not say whose the "
                      "offsets before are; nothing was changed", p->topic, (int)p->partition,
                      run->config->group_id, (long long)(p->from > p->stretch ? p->from
                                                                              : p->stretch),
                      (long long)p->to, run->target.path, (long long)committed);
    krc_error_at(error, p->topic, p->partition, p->to, -1);
    return rc;
}

/* 1: it was taken, and is confirmed; 0: it was not, and is put back. */
static int settle_by(struct krc_replay_run *run, const struct krc_pending *p,
                     const struct krc_net_committed *now, krc_error *error)
{
    struct krc_lineage lineage;
    krc_lineage_read(&lineage, now->metadata);
    switch (krc_lineage_judge(&lineage, now->offset, run->sink_id, p->stretch, p->from, p->to)) {
    case KRC_TAKEN:
        KRC_TRY(settle(run, p, true, error));
        return 1;
    case KRC_NOT_TAKEN:
        return settle(run, p, false, error);
    case KRC_UNDECIDABLE:
        break;
    }
    return undecidable(run, p, now->offset, error);
}

static int ask_and_settle(struct krc_replay_part *part, const struct krc_pending *p,
                          krc_error *error)
{
    struct krc_replay_run *run = part->run;
    struct krc_net_committed now = {
        .topic = krc_topic_having(&run->net->cluster, p->topic, p->partition),
        .partition = p->partition};
    int rc = now.topic == NULL ? krc_fail(error, KRC_E_NOT_FOUND, "the cluster has no partition "
                                          "%s-%d any more", p->topic, (int)p->partition)
                               : krc_net_fetch_committed(run->net, &now, 1, error);
    if (rc >= 0)
        rc = settle_by(run, p, &now, error);
    free(now.metadata);
    return rc;
}

/* ---- Asking for a commit -------------------------------------------------------------------- */

int64_t krc_replay_stretch(const struct krc_replay_part *part)
{
    return part->joined.stretch >= 0 ? part->joined.stretch : part->tracker.offsets.start;
}

int krc_replay_commit_to_group(struct krc_replay_part *part, int64_t offset, int32_t epoch,
                               const char *metadata, krc_error *error)
{
    struct krc_commit_entry entry = {
        .topic = krc_topic_having(&part->net->cluster, part->place.topic, part->place.partition),
        .partition = part->place.partition,
        .offset = offset,
        .epoch = epoch,
        .metadata = metadata};
    if (entry.topic == NULL)
        return krc_fail(error, KRC_E_NOT_FOUND, "the cluster has no partition %s-%d any more",
                        part->place.topic, (int)part->place.partition);
    return krc_net_commit_one(part->net, &entry, error);
}

int krc_replay_decide(struct krc_replay_part *part, int64_t offset, int32_t epoch,
                      krc_error *error)
{
    struct krc_replay_run *run = part->run;
    struct krc_lineage lineage = part->joined.lineage;
    struct krc_pending p = {.topic = part->place.topic,
                            .partition = part->place.partition,
                            .stretch = krc_replay_stretch(part),
                            .from = part->committed.to,
                            .to = offset};
    krc_error why;
    krc_lineage_add(&lineage, run->sink_id, p.stretch);
    char *text = krc_lineage_write(&lineage);
    if (text == NULL)
        return krc_fail_nomem(error, 1);
    int rc = krc_replay_commit_to_group(part, offset, epoch, text, &why);
    free(text);
    part->joined.lineage = lineage;
    if (rc >= 0)
        return settle(run, &p, true, error);
    int taken = ask_and_settle(part, &p, error); /* before it was refused, it may have been */
    if (taken == 0 && error != NULL)
        *error = why;
    return taken < 0 ? taken : taken > 0 ? KRC_OK : rc;
}

/* ---- After a crash -------------------------------------------------------------------------- */

struct leftover {
    char *topic;
    struct krc_pending pending;
};

struct leftovers {
    struct leftover *list;
    struct krc_net_committed *now; /* the group's, of each */
    size_t count;
    krc_error *error;
};

static int gather(void *arg, const struct krc_pending *pending)
{
    struct leftovers *left = arg;
    size_t size = (left->count + 1) * sizeof *left->list;
    struct leftover *list = realloc(left->list, size);
    char *topic = strdup(pending->topic);
    if (list != NULL)
        left->list = list;
    if (list == NULL || topic == NULL) {
        free(topic);
        return krc_fail_nomem(left->error, size);
    }
    list[left->count] = (struct leftover){topic, *pending};
    list[left->count++].pending.topic = topic;
    return 0;
}

static int ask_group(struct krc_replay_run *run, struct leftovers *left, krc_error *error)
{
    left->now = calloc(left->count + 1, sizeof *left->now);
    if (left->now == NULL)
        return krc_fail_nomem(error, left->count * sizeof *left->now);
    for (size_t i = 0; i < left->count; i++) {
        const char *topic = left->list[i].topic;
        KRC_TRY(krc_net_load_topics(run->net, &topic, 1, error));
        left->now[i].partition = left->list[i].pending.partition;
        left->now[i].topic =
            krc_topic_having(&run->net->cluster, topic, left->now[i].partition);
        if (left->now[i].topic == NULL)
            return krc_fail(error, KRC_E_NOT_FOUND, "the cluster has no partition %s-%d any more, "
                            "of which %s has a commit that the group has not confirmed", topic,
                            (int)left->now[i].partition, run->target.path);
    }
    return krc_net_fetch_committed(run->net, left->now, left->count, error);
}

static void tell(struct krc_replay_run *run, const struct krc_pending *p, bool taken)
{
    int64_t from = p->from > p->stretch ? p->from : p->stretch;
    struct krc_event event = {.type = KRC_EVENT_NOTE,
                              .topic = p->topic,
                              .partition = p->partition,
                              .from = from,
                              .to = p->to};
    snprintf(event.message, sizeof event.message,
             taken ? "the group had taken offsets %lld to %lld from here: they stay"
                   : "the group had not taken offsets %lld to %lld from here: they are cut off",
             (long long)from, (long long)p->to);
    krc_replay_tell(run, &event);
}

/* Each for itself; the first that cannot be decided is told in the end. */
static int settle_all(struct krc_replay_run *run, const struct leftovers *left, krc_error *error)
{
    int first = KRC_OK;
    for (size_t i = 0; i < left->count; i++) {
        krc_error why;
        int rc = settle_by(run, &left->list[i].pending, &left->now[i], &why);
        if (rc >= 0) {
            tell(run, &left->list[i].pending, rc > 0);
        } else if (first >= 0) {
            first = rc;
            *error = why;
        }
    }
    return first;
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
    return cut_file(cutting->run, &place, cutting->error);
}

int krc_replay_recover(struct krc_replay_run *run, krc_error *error)
{
    krc_error why;
    struct cutting cutting = {run, &why};
    struct leftovers left = {.error = &why};
    int rc = krc_store_each_pending(run->target.db, gather, &left, &why);
    if (rc >= 0 && left.count > 0)
        rc = ask_group(run, &left, &why);
    if (rc >= 0 && left.count > 0)
        rc = settle_all(run, &left, &why);
    if (rc >= 0 && !run->target.is_sqlite)
        rc = krc_store_each(run->target.db, krc_store_group(run->config), cut_tail, &cutting,
                            &why);
    for (size_t i = 0; i < left.count; i++) {
        free(left.list[i].topic);
        if (left.now != NULL)
            free(left.now[i].metadata);
    }
    free(left.list);
    free(left.now);
    if (rc < 0 && error != NULL)
        *error = why;
    return rc;
}
