/*
 * Committing to the cluster's group: what is acknowledged is copied, sent, and taken note of when
 * the answer has come.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/group_commit.h"
#include "consumer/handle.h"

struct krc_group_work {
    krc *handle;
    bool informs; /* of what an offset store has; else the member is the store */
    enum krc_work what;
    struct krc_group_commit commit;
    krc_committed_fn *done; /* NULL: nobody is to be told */
    void *arg;
    uint32_t *stretches; /* of each entry's partition, as it was then */
    struct krc_commit_entry entries[];
};

bool krc_commits_to_group(const krc *handle)
{
    return handle->net != NULL && handle->config->group_id[0] != '\0' &&
           (handle->store == NULL || handle->config->group_commit);
}

/* What the group is to be told of a partition; false: nothing new. */
static bool news_of(const struct krc_part *part, bool informs, struct krc_commit_entry *entry)
{
    const struct krc_offsets *o = &part->tracker.offsets;
    int64_t offset = informs ? o->committed : o->acknowledged;
    if (o->position < 0 || offset < 0 || offset == (informs ? part->informed : o->committed))
        return false;
    *entry = (struct krc_commit_entry){
        .topic = part->topic,
        .partition = part->place.partition,
        .offset = offset,
        .epoch = offset == o->acknowledged ? o->acked_epoch : -1};
    return true;
}

static int by_topic(const void *left, const void *right)
{
    const struct krc_commit_entry *a = left, *b = right;
    int order = strcmp(a->topic->name, b->topic->name);
    return order != 0 ? order : (a->partition > b->partition) - (a->partition < b->partition);
}

static struct krc_part *part_of(const struct krc_group_work *work, size_t i)
{
    return krc_find_part(work->handle, work->entries[i].topic->name, work->entries[i].partition);
}

/* The news of those that changed: all that may have some, where the group is the store. */
static void add_entries(struct krc_group_work *work)
{
    const krc *handle = work->handle;
    struct krc_commit_entry *entries = work->entries;
    size_t *count = &work->commit.count;
    if (work->informs)
        for (const struct krc_part *p = handle->parts; p != NULL; p = p->next)
            *count += news_of(p, true, &entries[*count]);
    else
        for (const struct krc_part *p = handle->changed; p != NULL; p = p->next_changed)
            if (work->what == KRC_WORK_ALL || p->yields == KRC_PART_WILL_COMMIT)
                *count += news_of(p, false, &entries[*count]);
    qsort(entries, *count, sizeof *entries, by_topic);
    for (size_t i = 0; i < *count; i++)
        work->stretches[i] = part_of(work, i)->tracker.offsets.stretch;
}

static int new_work(krc *handle, struct krc_group_work **out, krc_error *error)
{
    size_t count = handle->part_count;
    size_t size = sizeof(struct krc_group_work) + count * sizeof(struct krc_commit_entry);
    struct krc_group_work *work = calloc(1, size);
    if (work == NULL)
        return krc_fail_nomem(error, size);
    work->handle = handle;
    work->informs = handle->store != NULL;
    work->commit.entries = work->entries;
    work->commit.member = handle->net->cluster.member;
    work->commit.coordinator =
        krc_coordinator_of(&handle->net->cluster, KRC_GROUP, handle->config->group_id);
    work->stretches = calloc(count + 1, sizeof *work->stretches);
    *out = work;
    return work->stretches == NULL || work->commit.coordinator == NULL ? krc_fail_nomem(error, size)
                                                                      : KRC_OK;
}

static void free_work(struct krc_group_work *work)
{
    if (work == NULL)
        return;
    krc_group_commit_end(&work->commit);
    free(work->stretches);
    free(work);
}

int krc_group_work_begin(krc *handle, enum krc_work what, krc_committed_fn *done, void *arg,
                         krc_error *error)
{
    struct krc_group_work *work = NULL;
    if (handle->group_work != NULL)
        return krc_fail(error, KRC_E_BUSY, "a commit is under way");
    int rc = new_work(handle, &work, error);
    if (rc >= 0) {
        work->what = what;
        work->done = done;
        work->arg = arg;
        add_entries(work);
        if (work->commit.count > 0) {
            rc = krc_group_commit_begin(&work->commit, &handle->net->cluster, error);
        } else {
            work->commit.call.state = KRC_CALL_TOLD; /* there is nothing to be asked */
            krc_loop_wake(handle->net->loop);
        }
    }
    if (rc >= 0)
        handle->group_work = work;
    else
        free_work(work);
    return rc;
}

/* What was held then was lost meanwhile: a partition of that name is another one. */
static bool is_of_before(const struct krc_group_work *work)
{
    const struct krc_membership *member = work->commit.member;
    return member != NULL && member->losses != work->commit.losses;
}

/* A stretch that has ended since then, or a partition that is gone, is not concerned any more. */
static int take_note(struct krc_group_work *work, krc_error *error)
{
    int rc = work->commit.call.rc;
    bool is_gone = is_of_before(work);
    if (rc < 0)
        rc = krc_group_commit_explain(&work->commit, error);
    for (size_t i = 0; i < work->commit.count; i++) {
        struct krc_part *part = is_gone ? NULL : part_of(work, i);
        bool committed = rc >= 0 || (rc == KRC_E_REFUSED && work->entries[i].error_code == 0);
        krc_error illegal;
        if (part == NULL || !committed)
            continue;
        part->informed = work->entries[i].offset;
        if (work->informs)
            continue;
        struct krc_point point = krc_part_acked(part);
        krc_ledger_committed(&part->ledger, &part->ledger, &point);
        int noted = krc_tracker_committed(&part->tracker, work->stretches[i],
                                          work->entries[i].offset, &illegal);
        if (noted < 0 && rc >= 0 && error != NULL)
            *error = illegal;
        rc = rc < 0 ? rc : noted;
    }
    return rc;
}

static void end_yielding(krc *handle)
{
    for (struct krc_part *part = handle->parts; part != NULL; part = part->next)
        if (part->yields == KRC_PART_COMMITS)
            part->yields = KRC_PART_IS_TRIED;
}

/* The answer has come, or nobody waits for it any more (`rc` and `error` say why). */
static int end_work(krc *handle, int rc, krc_error *error)
{
    struct krc_group_work *work = handle->group_work;
    handle->group_work = NULL;
    if (rc >= 0)
        rc = take_note(work, error);
    end_yielding(handle);
    error->code = rc < 0 ? rc : KRC_OK;
    bool was_in_callback = handle->in_callback;
    handle->in_callback = true;
    if (work->done != NULL)
        work->done(work->arg, error);
    handle->in_callback = was_in_callback;
    free_work(work);
    return rc;
}

bool krc_group_work_over(krc *handle, int *rc, krc_error *error)
{
    if (handle->group_work == NULL || handle->group_work->commit.call.state != KRC_CALL_TOLD)
        return false;
    krc_net_finished(handle->net);
    *rc = end_work(handle, KRC_OK, error);
    return true;
}

int krc_group_work_wait(krc *handle, krc_error *error)
{
    krc_error why = {0};
    int64_t deadline_ms = krc_loop_now_ms() + handle->config->api_timeout_ms;
    int rc = KRC_OK;
    while (handle->group_work != NULL && !krc_group_work_over(handle, &rc, &why)) {
        int waited = krc_net_finish(handle->net, deadline_ms,
                                    "the group's coordinator did not answer", &why);
        if (waited < 0)
            rc = end_work(handle, waited, &why);
    }
    if (rc < 0 && error != NULL)
        *error = why;
    return rc;
}

void krc_group_work_forget(krc *handle)
{
    if (handle->group_work != NULL)
        free_work(handle->group_work);
    handle->group_work = NULL;
}
