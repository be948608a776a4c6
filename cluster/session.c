#include "cluster/session.h"

#include <stdlib.h>

#include "cluster/cluster.h"

void krc_session_init(struct krc_session *session, struct krc_cluster *cluster)
{
    *session = (struct krc_session){.cluster = cluster};
}

/* After a request that got no answer, or an error: nothing is known of what the broker keeps. */
void krc_session_reset(struct krc_session *session, int32_t id)
{
    for (size_t i = 0; i < session->count; i++) {
        session->members[i]->session = NULL;
        krc_remote_answered(session->members[i]);
    }
    session->count = 0;
    session->forgotten_count = 0;
    session->id = id;
    session->epoch = 0;
}

/* Responses that are still being read are not counted any more. */
static void forget_frames(struct krc_session *session)
{
    struct krc_remotes *all = &session->cluster->remotes;
    for (size_t i = 0; i < all->count; i++)
        for (int k = 0; k < all->list[i]->piece_count; k++) {
            struct krc_frame *frame = all->list[i]->pieces[k].frame;
            if (frame->undrained == &session->undrained)
                frame->undrained = NULL;
        }
}

void krc_session_end(struct krc_session *session)
{
    krc_session_reset(session, 0);
    forget_frames(session);
    free(session->members);
    free(session->forgotten);
    session->members = NULL;
    session->forgotten = NULL;
    session->capacity = 0;
}

int krc_session_forget(struct krc_session *session, const struct krc_remote *remote)
{
    struct krc_forgotten *grown =
        realloc(session->forgotten, (session->forgotten_count + 1) * sizeof *grown);
    if (grown == NULL)
        return KRC_E_NOMEM;
    session->forgotten = grown;
    grown[session->forgotten_count++] = (struct krc_forgotten){
        .topic = remote->topic, .topic_id = remote->sent_topic_id, .index = remote->index};
    return KRC_OK;
}

/* With another id it is another partition, which stays forgotten. */
void krc_session_remember(struct krc_session *session, const struct krc_remote *remote)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->forgotten_count; i++) {
        const struct krc_forgotten *f = &session->forgotten[i];
        bool is_it = f->topic == remote->topic && f->index == remote->index &&
                     (!session->by_id || krc_uuid_equal(&f->topic_id, &remote->topic->id));
        if (!is_it)
            session->forgotten[kept++] = *f;
    }
    session->forgotten_count = kept;
}

void krc_session_leave(struct krc_session *session, struct krc_remote *remote)
{
    size_t at = 0;
    while (at < session->count && session->members[at] != remote)
        at++;
    if (at == session->count)
        return;
    session->count--;
    for (; at < session->count; at++)
        session->members[at] = session->members[at + 1];
    remote->session = NULL;
    krc_remote_answered(remote);
    if (session->id != 0 && krc_session_forget(session, remote) < 0)
        krc_session_reset(session, session->id);
}
