/*
 * Commits that the group decides: kept as pending, asked for, confirmed or put back.
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
    struct krc_store *store = run->target.db;
    const char *id;
    int rc = krc_store_get_setting(store, id_setting, &id, error);
    KRC_TRY(rc);
    if (rc == 1) {
        snprintf(run->sink_id, sizeof run->sink_id, "%s", id);
        return krc_store_require_pending(store, error);
    }
    KRC_TRY(krc_store_allow_pending(store, error));
    return invent_id(run, error); /* after the tables, which it stands for */
}

/* ---- Cutting -------------------------------------------------------------------------------- */

/* A sink cuts its file when it is opened. */
int krc_replay_cut_file(struct krc_replay_run *run, const struct krc_place *place,
                        krc_error *error)
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
    KRC_TRY(krc_replay_cut_file(run, place, error));
    return krc_target_clean(&run->target, place, error);
}

/* ---- Confirmed or put back ------------------------------------------------------------------ */

static int settle_rows(struct krc_replay_run *run, const struct krc_pending *p, bool taken,
                       krc_error *error)
{
    struct krc_store *store = run->target.db;
    if (taken)
        return krc_store_confirm(store, p->topic, p->partition, error);
    if (run->target.is_sqlite)
        KRC_TRY(krc_delete_rows(store, p->topic, p->partition, krc_replay_pending_from(p), error));
    return krc_store_put_back(store, p->topic, p->partition, error);
}

int krc_replay_settle(struct krc_replay_run *run, const struct krc_pending *p, bool taken,
                      krc_error *error)
{
    struct krc_place place = {.topic = p->topic, .partition = p->partition};
    KRC_TRY(krc_store_begin(run->target.db, error));
    int rc = settle_rows(run, p, taken, error);
    if (rc >= 0)
        rc = krc_store_commit(run->target.db, error);
    if (rc < 0)
        krc_store_rollback(run->target.db);
    KRC_TRY(rc);
    return taken ? KRC_OK : krc_replay_cut(run, &place, error);
}

/* ---- Asking for a commit -------------------------------------------------------------------- */

int64_t krc_replay_stretch(const struct krc_replay_part *part)
{
    return part->joined.stretch >= 0 ? part->joined.stretch : part->tracker.offsets.start;
}

/* Another topic that has the name now has other offsets. */
static int find_topic(const struct krc_replay_part *part, struct krc_topic **topic,
                      krc_error *error)
{
    const struct krc_place *place = &part->place;
    *topic = krc_topic_having(&part->net->cluster, place->topic, place->partition);
    if (*topic == NULL)
        return krc_fail(error, KRC_E_NOT_FOUND, "the cluster has no partition %s-%d any more",
                        place->topic, (int)place->partition);
    if (krc_uuid_differs(&(*topic)->id, &place->topic_id))
        return krc_fail(error, KRC_E_RECREATED, "%s was deleted and made again: its offsets are "
                        "not committed to group %s", place->topic, part->run->config->group_id);
    return KRC_OK;
}

int krc_replay_commit_to_group(struct krc_replay_part *part, struct krc_commit_entry *entry,
                               krc_error *error)
{
    KRC_TRY(find_topic(part, &entry->topic, error));
    entry->partition = part->place.partition;
    int rc = krc_net_commit_one(part->net, entry, error);
    return rc == KRC_E_INTERRUPTED ? KRC_E_TIMEOUT : rc; /* as an answer that was not waited for */
}

int krc_replay_may_commit(const struct krc_replay_part *part, krc_error *error)
{
    struct krc_topic *topic;
    KRC_TRY(find_topic(part, &topic, error));
    if (krc_member_holds(part->net->cluster.member, topic, part->place.partition))
        return KRC_OK;
    return krc_fail(error, KRC_E_FENCED, "the group has taken %s-%d away before its offset was "
                    "committed", part->place.topic, (int)part->place.partition);
}

struct krc_pending krc_replay_pending(const struct krc_replay_part *part, int64_t offset)
{
    const struct krc_membership *member = part->net->cluster.member;
    return (struct krc_pending){.topic = part->place.topic,
                                .partition = part->place.partition,
                                .stretch = krc_replay_stretch(part),
                                .member_id = member->member_id,
                                .is_classic = member->settings.is_classic,
                                .from = part->committed.to,
                                .to = offset};
}

/* Then it was not taken, for we have left; and can join again. */
static bool is_unanswered(int rc)
{
    return rc == KRC_E_IO || rc == KRC_E_TIMEOUT;
}

/* What is to end is not to try for ever. */
static bool may_try_again(const struct krc_replay_run *run)
{
    enum { TRIES = 3 };
    return run->options->follow || run->unanswered < TRIES;
}

/* The group has not said yes.  1: it has taken the commit all the same; 0: it has not. */
static int find_out(struct krc_replay_part *part, const struct krc_pending *p,
                    const struct krc_commit_entry *entry, krc_error *error)
{
    krc_member_fenced(part->net->cluster.member, entry->error_code);
    return entry->may_arrive ? krc_replay_find_out(part, error)
                             : krc_replay_settle(part->run, p, false, error);
}

int krc_replay_decide(struct krc_replay_part *part, int64_t offset, int32_t epoch,
                      krc_error *error)
{
    struct krc_replay_run *run = part->run;
    struct krc_pending p = krc_replay_pending(part, offset);
    struct krc_commit_entry entry = {.offset = offset, .epoch = epoch};
    krc_error why;
    krc_lineage_add(&part->joined.lineage, run->sink_id, p.stretch);
    char *text = krc_lineage_write(&part->joined.lineage);
    if (text == NULL)
        return krc_fail_nomem(error, 1);
    entry.metadata = text;
    int rc = krc_replay_commit_to_group(part, &entry, &why);
    free(text);
    run->unanswered = is_unanswered(rc) ? run->unanswered + 1 : 0;
    if (rc >= 0)
        return krc_replay_settle(run, &p, true, error);
    int taken = find_out(part, &p, &entry, error);
    if (taken != 0)
        return taken < 0 ? taken : KRC_OK;
    if (error != NULL)
        *error = why;
    return is_unanswered(rc) && may_try_again(run) ? KRC_E_FENCED : rc;
}
