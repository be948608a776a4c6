#include "replay/committer.h"

void krc_committer_init(struct krc_committer *c, struct krc_store *store, const char *group,
                        const struct krc_new_cluster *cluster)
{
    *c = (struct krc_committer){.store = store, .group = group, .cluster = *cluster};
    c->last = &c->first;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->changed, NULL);
}

void krc_committer_free(struct krc_committer *c)
{
    pthread_mutex_destroy(&c->mutex);
    pthread_cond_destroy(&c->changed);
}

/* A sink's rows have no commit time, so that two runs to the same end are alike. */
static int put(struct krc_committer *c, const struct krc_commit *commit, krc_error *error)
{
    const struct krc_place *place = commit->ledger->place;
    if (commit->pending != NULL)
        KRC_TRY(krc_store_keep(c->store, commit->pending, error));
    KRC_TRY(krc_ledger_put(commit->ledger, c->store, c->group, &commit->point, -1, commit->settled,
                           error));
    return krc_store_put_sink(c->store, place->topic, place->partition, &commit->sink, error);
}

static int put_cluster(struct krc_committer *c, krc_error *error)
{
    if (c->cluster.id[0] == '\0')
        return KRC_OK;
    KRC_TRY(krc_store_set_setting(c->store, KRC_CLUSTER_SETTING, c->cluster.id, error));
    return c->cluster.moved ? krc_store_move(c->store, c->group, c->cluster.id, error) : KRC_OK;
}

/* `first`: NULL to put the cluster alone. */
static int put_all(struct krc_committer *c, const struct krc_commit *first, krc_error *error)
{
    if (first == NULL || !first->in_transaction)
        KRC_TRY(krc_store_begin(c->store, error));
    int rc = put_cluster(c, error);
    for (const struct krc_commit *commit = first; rc >= 0 && commit != NULL; commit = commit->next)
        rc = put(c, commit, error);
    if (rc >= 0)
        rc = krc_store_commit(c->store, error);
    if (rc < 0)
        krc_store_rollback(c->store);
    else
        c->cluster.id[0] = '\0';
    return rc;
}

int krc_committer_settle(struct krc_committer *c, krc_error *error)
{
    return c->cluster.id[0] == '\0' ? KRC_OK : put_all(c, NULL, error);
}

/* Takes all that waits, commits it without the lock, and tells those who wait. */
static void commit_those_waiting(struct krc_committer *c)
{
    struct krc_commit *first = c->first;
    krc_error error = {0};
    c->first = NULL;
    c->last = &c->first;
    c->busy = true;
    pthread_mutex_unlock(&c->mutex);
    int rc = put_all(c, first, &error);
    pthread_mutex_lock(&c->mutex);
    c->busy = false;
    for (struct krc_commit *commit = first; commit != NULL; commit = commit->next) {
        commit->rc = rc;
        commit->error = error;
        commit->done = true;
    }
    pthread_cond_broadcast(&c->changed);
}

int krc_committer_commit(struct krc_committer *c, struct krc_commit *commit, krc_error *error)
{
    commit->next = NULL;
    commit->done = false;
    pthread_mutex_lock(&c->mutex);
    *c->last = commit;
    c->last = &commit->next;
    while (!commit->done) {
        if (c->busy)
            pthread_cond_wait(&c->changed, &c->mutex);
        else
            commit_those_waiting(c);
    }
    pthread_mutex_unlock(&c->mutex);
    if (commit->rc < 0 && error != NULL)
        *error = commit->error;
    return commit->rc;
}

/* A commit that is on its way does not hold the mutex, only `busy`. */
void krc_committer_pause(struct krc_committer *c)
{
    pthread_mutex_lock(&c->mutex);
    while (c->busy)
        pthread_cond_wait(&c->changed, &c->mutex);
}

void krc_committer_resume(struct krc_committer *c)
{
    pthread_mutex_unlock(&c->mutex);
}
