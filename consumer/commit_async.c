/*
 * A commit in a thread of its own: what is to be written is copied, written there, and taken note
 * of here.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "consumer/cluster_check.h"
#include "consumer/handle.h"

struct commit_part {
    struct krc_part *part;
    struct krc_place place;
    struct krc_ledger ledger; /* a copy */
    struct krc_point point;
    uint32_t stretch;
    bool settled;
};

struct krc_commit_work {
    struct krc_commit_work *next; /* of the handle's */
    krc *handle;                  /* NULL: it is closed */
    struct krc_store *store;
    const char *group;
    char cluster_id[64]; /* "": the store has it */
    krc_committed_fn *done;
    void *arg;
    int64_t now_ms;
    pthread_mutex_t mutex;
    pthread_cond_t over;
    bool is_over;
    bool is_noted; /* what became of it */
    int rc;
    krc_error error;
    size_t count;
    struct commit_part parts[];
};

static int put_all(struct krc_commit_work *work)
{
    KRC_TRY(krc_claim_cluster(work->store, work->group, work->cluster_id, &work->error));
    for (size_t i = 0; i < work->count; i++) {
        struct commit_part *p = &work->parts[i];
        KRC_TRY(krc_ledger_put(&p->ledger, work->store, work->group, &p->point, work->now_ms,
                               p->settled, &work->error));
    }
    return krc_store_commit(work->store, &work->error);
}

/* In the pool's thread. */
static void run(void *arg)
{
    struct krc_commit_work *work = arg;
    int rc = krc_store_begin(work->store, &work->error);
    if (rc >= 0) {
        rc = put_all(work);
        if (rc < 0)
            krc_store_rollback(work->store);
    }
    pthread_mutex_lock(&work->mutex);
    work->rc = rc;
    work->is_over = true;
    pthread_cond_signal(&work->over);
    pthread_mutex_unlock(&work->mutex);
}

/* A stretch that has ended since then is not concerned any more. */
static void take_note(struct krc_commit_work *work)
{
    if (work->is_noted)
        return;
    work->is_noted = true;
    if (work->rc >= 0 && work->handle != NULL)
        work->handle->claims_cluster = false;
    for (size_t i = 0; work->rc >= 0 && i < work->count; i++) {
        struct commit_part *p = &work->parts[i];
        krc_ledger_committed(&p->part->ledger, &p->ledger, &p->point);
        int rc = krc_tracker_committed(&p->part->tracker, p->stretch, p->point.offset,
                                       &work->error);
        if (rc < 0)
            work->rc = rc;
    }
}

static void free_work(struct krc_commit_work *work)
{
    for (size_t i = 0; i < work->count; i++)
        krc_ledger_free(&work->parts[i].ledger);
    pthread_mutex_destroy(&work->mutex);
    pthread_cond_destroy(&work->over);
    free(work);
}

static void unlink_work(krc *handle, const struct krc_commit_work *work)
{
    struct krc_commit_work **link = &handle->commits;
    while (*link != work)
        link = &(*link)->next;
    *link = work->next;
}

static void tell(krc *handle, struct krc_commit_work *work)
{
    bool was_in_callback = handle->in_callback;
    unlink_work(handle, work);
    take_note(work);
    work->error.code = work->rc < 0 ? work->rc : KRC_OK;
    if (work->rc >= 0 && krc_commits_to_group(handle))
        krc_inform_group(handle);
    handle->in_callback = true;
    if (work->done != NULL)
        work->done(work->arg, &work->error);
    handle->in_callback = was_in_callback;
    if (handle->close_asked && handle->is_embedded)
        krc_close(handle);
}

/* In the loop's thread. */
static void over(void *arg)
{
    struct krc_commit_work *work = arg;
    if (work->handle != NULL)
        tell(work->handle, work);
    free_work(work);
}

static void wait_for(struct krc_commit_work *work)
{
    pthread_mutex_lock(&work->mutex);
    while (!work->is_over)
        pthread_cond_wait(&work->over, &work->mutex);
    pthread_mutex_unlock(&work->mutex);
    take_note(work);
}

void krc_commit_wait(krc *handle)
{
    for (struct krc_commit_work *work = handle->commits; work != NULL; work = work->next)
        wait_for(work);
}

void krc_commits_forget(krc *handle)
{
    krc_commit_wait(handle);
    for (struct krc_commit_work *work = handle->commits; work != NULL; work = work->next)
        work->handle = NULL;
    handle->commits = NULL;
}

static int copy_parts(krc *handle, struct krc_commit_work *work, krc_error *error)
{
    for (struct krc_part *part = handle->changed; part != NULL; part = part->next_changed) {
        struct commit_part *p = &work->parts[work->count];
        *p = (struct commit_part){.part = part,
                                  .place = part->place,
                                  .point = krc_part_acked(part),
                                  .stretch = part->tracker.offsets.stretch,
                                  .settled = krc_part_settled(part)};
        KRC_TRY(krc_ledger_copy(&p->ledger, &part->ledger, &p->place, error));
        work->count++;
    }
    return KRC_OK;
}

static int check(krc *handle, krc_error *error)
{
    if (handle->commits != NULL && !handle->commits->is_noted)
        return krc_fail(error, KRC_E_BUSY, "a commit is under way");
    if (handle->store == NULL || handle->is_attached || handle->net == NULL)
        return krc_fail(error, KRC_E_STATE, "only the offset store of a cluster's consumer is "
                        "committed to in the background");
    return krc_refuse_sink(handle, error);
}

int krc_commit_async(krc *handle, krc_committed_fn *done, void *arg, krc_error *error)
{
    if (handle->store == NULL && krc_commits_to_group(handle))
        return krc_group_work_begin(handle, KRC_WORK_ALL, done, arg, error);
    KRC_TRY(check(handle, error));
    size_t size =
        sizeof(struct krc_commit_work) + krc_count_news(handle) * sizeof(struct commit_part);
    struct krc_commit_work *work = calloc(1, size);
    if (work == NULL)
        return krc_fail_nomem(error, size);
    *work = (struct krc_commit_work){.handle = handle,
                                     .store = handle->store,
                                     .group = krc_store_group(handle->config),
                                     .done = done,
                                     .arg = arg,
                                     .now_ms = krc_now_ms()};
    if (handle->claims_cluster)
        snprintf(work->cluster_id, sizeof work->cluster_id, "%s", krc_cluster_name(handle));
    pthread_mutex_init(&work->mutex, NULL);
    pthread_cond_init(&work->over, NULL);
    int rc = copy_parts(handle, work, error);
    if (rc >= 0)
        rc = krc_loop_work(handle->net->loop, run, over, work, error);
    if (rc < 0) {
        free_work(work);
        return rc;
    }
    work->next = handle->commits;
    handle->commits = work;
    return KRC_OK;
}
