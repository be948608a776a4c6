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
    for (size_t i = 0; i < session->count; i++)
        if (session->members[i] != NULL) {
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
    for (struct krc_remote *r = session->cluster->remotes.list; r != NULL; r = r->next)
        for (int k = 0; k < r->piece_count; k++) {
            struct krc_frame *frame = r->pieces[k].frame;
            if (frame->undrained == &session->undrained)
                frame->undrained = NULL;
        }
}

void krc_session_end(struct krc_session *session)
{
    krc_session_reset(session, 0);
    if (session->undrained > 0)
        forget_frames(session);
    free(session->members);
    free(session->forgotten);
    session->members = NULL;
    session->forgotten = NULL;
    session->capacity = session->forgotten_capacity = 0;
}

int krc_session_forget(struct krc_session *session, const struct krc_remote *remote)
{
    if (session->forgotten_count == session->forgotten_capacity) {
        size_t capacity = session->forgotten_capacity == 0 ? 8 : 2 * session->forgotten_capacity;
        struct krc_forgotten *grown = realloc(session->forgotten, capacity * sizeof *grown);
        if (grown == NULL)
            return KRC_E_NOMEM;
        session->forgotten = grown;
        session->forgotten_capacity = capacity;
    }
    session->forgotten[session->forgotten_count++] = (struct krc_forgotten){
        .topic = remote->topic, .topic_id = remote->sent_topic_id, .index = remote->index};
    return KRC_OK;
}

/* With another id it is another partition, which stays forgotten. */
static bool is_named(const struct krc_session *session, const struct krc_forgotten *f,
                     uint32_t mark)
{
    const struct krc_topic_partition *p = krc_topic_partition(f->topic, f->index);
    return p != NULL && p->remote != NULL && p->remote->mark == mark &&
           (!session->by_id || krc_uuid_equal(&f->topic_id, &f->topic->id));
}

void krc_session_remember(struct krc_session *session, uint32_t mark)
{
    size_t kept = 0;
    for (size_t i = 0; i < session->forgotten_count; i++)
        if (!is_named(session, &session->forgotten[i], mark))
            session->forgotten[kept++] = session->forgotten[i];
    session->forgotten_count = kept;
}

void krc_session_leave(struct krc_session *session, struct krc_remote *remote)
{
    session->members[remote->member_at] = NULL;
    remote->session = NULL;
    krc_remote_answered(remote);
    if (session->id != 0 && krc_session_forget(session, remote) < 0)
        krc_session_reset(session, session->id);
}
