/*
 * What becomes of a fetch's answer.
 */
#include "cluster/cluster.h"
#include "cluster/verdict.h"
#include "records/batch.h"

/* What an answer, or its part about one partition, is good for. */
enum use {
    USELESS,  /* it may be repeated for ever */
    PUT_OFF,  /* the partition waits, or is not fetched any more */
    PROGRESS,
};

/* ---- For one partition ---------------------------------------------------------------------- */

static void stop(struct krc_remote *r, int rc, int64_t size, int16_t error_code)
{
    r->rc = rc;
    r->failed_at = r->sent_offset;
    r->failed_size = size;
    r->failed_code = error_code;
    krc_remote_ready(r);
}

static int code_of(int16_t error_code)
{
    switch (error_code) {
    case KRC_KAFKA_CORRUPT_MESSAGE:
        return KRC_E_CORRUPT;
    case KRC_KAFKA_UNSUPPORTED_COMPRESSION_TYPE:
        return KRC_E_UNSUPPORTED;
    default:
        return KRC_E_REFUSED;
    }
}

/* A replica that we were sent to may lag behind: only the leader's word counts. */
static void reset(struct krc_remote *r)
{
    if (r->preferred >= 0) {
        r->preferred = -1;
        krc_remote_repeat(r);
        return;
    }
    if (r->piece_count > 0) {
        krc_remote_wait(r); /* it is asked again, once the reader stands there */
        return;
    }
    r->out_of_range = true;
    krc_remote_ready(r);
}

static void judge(struct krc_remote *r, const struct krc_fetch_partition *p)
{
    enum krc_verdict verdict = krc_fetch_verdict(p->error_code);
    r->last_error = verdict == KRC_DO_RESET ? 0 : p->error_code; /* that one is acted on */
    switch (verdict) {
    case KRC_DO_RESET:
        reset(r);
        return;
    case KRC_DO_STOP:
        stop(r, code_of(p->error_code), 0, p->error_code);
        return;
    case KRC_DO_REFRESH:
    case KRC_DO_REOPEN:
        r->preferred = -1;
        krc_metadata_refresh(r->cluster);
        break;
    default:
        break;
    }
    if (krc_metadata_leader(r->cluster, r->topic, r->index, p->leader_id, p->leader_epoch))
        krc_remote_repeat(r);
    else
        krc_remote_wait(r);
}

/* How far whole batches reach; `*partial` is the size of the first where it is not whole. */
static int64_t end_of(struct krc_bytes records, int64_t begin, int32_t *partial)
{
    int64_t end = begin;
    *partial = 0;
    while (records.len > 0) {
        struct krc_batch_header h;
        int rc = krc_batch_parse(records.data, records.len, &h, NULL);
        if (rc < 0)
            break; /* the reader says what is wrong with it */
        if (rc == 0 || (size_t)h.size > records.len) {
            *partial = end == begin ? h.size : 0;
            break;
        }
        if (h.last_offset >= end)
            end = h.last_offset + 1;
        records.data += h.size;
        records.len -= (size_t)h.size;
    }
    return end;
}

/* Not even the first batch is whole, as before 0.10.1: asks for as much as it needs. */
static void ask_for_more(struct krc_remote *r, int32_t size)
{
    const struct krc_cluster_settings *s = &r->cluster->settings;
    if (size <= r->max_bytes || size > s->receive_max_bytes)
        stop(r, KRC_E_TOO_LARGE, size, 0);
    else
        r->max_bytes = size;
    krc_remote_repeat(r);
}

static enum use keep_piece(struct krc_session *session, struct krc_remote *r,
                           const struct krc_fetch_partition *p, struct krc_frame *frame)
{
    int32_t partial;
    int64_t end = end_of(p->records, r->sent_offset, &partial);
    if (partial > 0 && end == r->sent_offset) {
        ask_for_more(r, partial);
        return PUT_OFF;
    }
    r->max_bytes = r->cluster->settings.partition_max_bytes;
    r->pieces[r->piece_count++] = (struct krc_piece){
        .frame = frame,
        .records = p->records,
        .aborted = p->aborted,
        .aborted_count = p->aborted_count > 0 ? p->aborted_count : 0,
        .begin = r->sent_offset,
        .end = end,
        .last_stable_offset = p->last_stable_offset,
    };
    krc_frame_hold(frame);
    if (frame->readers++ == 0) {
        frame->undrained = &session->undrained;
        session->undrained++;
    }
    krc_remote_ready(r);
    r->gets_older = end == r->sent_offset;
    if (r->gets_older)
        return USELESS;
    krc_backoff_clear(&r->backoff);
    return PROGRESS;
}

/* Whether the broker has let the fetch wait, about as long as it was asked to. */
static bool was_patient(const struct krc_session *session)
{
    int64_t waited_ms = session->cluster->now_ms - session->sent_at_ms;
    return session->wait_ms > 0 && waited_ms >= session->wait_ms / 2;
}

/* The broker has nothing at the place that was asked for, now. */
static void note_empty(struct krc_session *session, struct krc_remote *r, bool alone)
{
    if (was_patient(session))
        krc_backoff_clear(&r->backoff);
    int64_t end = r->cluster->settings.read_committed ? r->last_stable_offset
                                                      : r->high_watermark;
    if (r->empty_at == r->sent_offset && r->empty_alone == alone && r->empty_end == end)
        return;
    r->empty_at = r->sent_offset;
    r->empty_end = end;
    r->empty_alone = alone;
    krc_remote_ready(r);
}

/* The leader names a replica that is nearer.  While that one is out of reach, the leader names it
 * again and again. */
static void prefer(struct krc_remote *r, int32_t replica)
{
    struct krc_node *node = krc_node_find(r->cluster, replica);
    if (node == NULL)
        krc_metadata_refresh(r->cluster);
    if (node == NULL || krc_node_is_out_of_reach(node) || replica == r->preferred) {
        krc_remote_wait(r);
        return;
    }
    if (r->preferred >= 0) /* one that is none names another */
        krc_remote_repeat(r);
    r->preferred = replica;
    r->cluster->remotes.unplaced = true;
    r->preferred_to_ms = r->cluster->now_ms + r->cluster->settings.metadata_max_age_ms;
}

static enum use take_records(struct krc_session *session, struct krc_remote *r,
                         const struct krc_fetch_partition *p, struct krc_frame *frame, bool alone)
{
    r->last_error = 0;
    r->gets_older = false;
    r->log_start_offset = p->log_start_offset;
    r->last_stable_offset = p->last_stable_offset;
    r->high_watermark = p->high_watermark;
    if (p->preferred_read_replica >= 0 && p->records.len == 0) {
        r->empty_at = -1; /* what an older answer said of that goes with its offsets */
        prefer(r, p->preferred_read_replica);
        return PUT_OFF; /* such an answer holds no records, and is not the end */
    }
    if (p->records.len > 0)
        return keep_piece(session, r, p, frame);
    note_empty(session, r, alone);
    return USELESS;
}

static enum use take_partition(struct krc_session *session, struct krc_remote *r,
                           const struct krc_fetch_partition *p, struct krc_frame *frame,
                           bool alone)
{
    bool diverged = p->diverging_epoch >= 0 || p->diverging_end_offset >= 0;
    if (r->session != session || r->told)
        return USELESS; /* it was not asked for, or is answered twice */
    if (r->sent_turn != r->turn)
        return PUT_OFF; /* it was asked for at another position */
    r->told = true;
    if (p->error_code != 0) {
        judge(r, p);
    } else if (diverged) {
        r->new_epoch = true; /* the leader is asked where the position's epoch ends */
        krc_remote_repeat(r);
        krc_remote_ready(r);
    } else {
        return take_records(session, r, p, frame, alone);
    }
    return PUT_OFF;
}

/* ---- The whole ------------------------------------------------------------------------------ */

static struct krc_remote *find_remote(struct krc_cluster *cluster, bool by_id,
                                      const struct krc_fetch_topic *topic, int32_t index)
{
    struct krc_topic *known = by_id ? krc_topic_find_id(cluster, &topic->id)
                                    : krc_topic_find(cluster, topic->name);
    struct krc_topic_partition *p = known == NULL ? NULL : krc_topic_partition(known, index);
    return p == NULL ? NULL : p->remote;
}

static int count_filled(const struct krc_fetch_response *response)
{
    int filled = 0;
    for (int32_t t = 0; t < response->topic_count; t++)
        for (int32_t i = 0; i < response->topics[t].partition_count; i++)
            filled += response->topics[t].partitions[i].records.len > 0;
    return filled;
}

/* KIP-951: where the new leaders are that the partitions speak of. */
static void learn_endpoints(struct krc_cluster *cluster, const struct krc_fetch_response *response)
{
    for (int32_t i = 0; i < response->endpoint_count; i++) {
        const struct krc_fetch_endpoint *e = &response->endpoints[i];
        if (krc_node_find(cluster, e->node_id) == NULL)
            (void)krc_node_learn(cluster, e->node_id, e->host, e->port, e->rack); /* else later */
    }
}

/* In a session, those without news are left out. */
static void take_silence(struct krc_session *session, bool alone)
{
    for (size_t i = 0; i < session->count; i++) {
        struct krc_remote *r = session->members[i];
        if (r != NULL && !r->told && session->id != 0 && r->sent_turn == r->turn)
            note_empty(session, r, alone);
    }
}

/* A broker that answers at once, and has nothing, may do so again and again. */
static void pace(struct krc_session *session, enum use use)
{
    if (use == PROGRESS || was_patient(session))
        krc_backoff_clear(&session->backoff);
    else if (use == USELESS)
        krc_backoff_repeat(session->cluster, &session->backoff);
}

static void take_response(struct krc_session *session, const struct krc_fetch_response *response,
                          struct krc_frame *frame)
{
    struct krc_cluster *cluster = session->cluster;
    enum use use = USELESS, got;
    bool alone = count_filled(response) == 0, reopen = false;
    session->nothing_came = alone;
    learn_endpoints(cluster, response);
    for (int32_t t = 0; t < response->topic_count; t++)
        for (int32_t i = 0; i < response->topics[t].partition_count; i++) {
            const struct krc_fetch_partition *p = &response->topics[t].partitions[i];
            struct krc_remote *r =
                find_remote(cluster, session->by_id, &response->topics[t], p->index);
            reopen |= krc_fetch_verdict(p->error_code) == KRC_DO_REOPEN;
            session->nothing_came &= p->error_code == 0;
            got = r == NULL ? USELESS : take_partition(session, r, p, frame, alone);
            use = got > use ? got : use;
        }
    if (response->throttle_time_ms == 0)
        take_silence(session, alone);
    pace(session, use);
    if (reopen)
        krc_session_reset(session, session->id);
}

/* The connection did not last for the whole of it.  However little is asked for, a broker gives a
 * whole batch. */
static void ask_for_less(struct krc_session *session, size_t came)
{
    int64_t half = krc_sooner((int64_t)came, session->cluster->settings.fetch_max_bytes) / 2;
    session->most_bytes = half > 0 ? (int32_t)half : 1;
}

/* No answer came.  One that was too large is somebody's batch: whose, shows when each partition is
 * fetched alone. */
static void lost(struct krc_session *session, const struct krc_answer *answer)
{
    struct krc_remote *first = session->count > 0 ? session->members[0] : NULL;
    if (answer->rc == KRC_E_TOO_LARGE && session->sent_count == 1) {
        if (first != NULL && first->sent_turn == first->turn)
            stop(first, KRC_E_TOO_LARGE, answer->size, 0);
    } else if (answer->rc == KRC_E_TOO_LARGE) {
        session->alone = (int)session->sent_count;
    } else if (answer->came > 0 && !session->is_cut) {
        ask_for_less(session, answer->came);
    }
    for (size_t i = 0; i < session->count && !session->is_cut; i++)
        if (session->members[i] != NULL)
            session->members[i]->preferred = -1;
    krc_session_reset(session, 0);
    krc_backoff_fail(session->cluster, &session->backoff);
}

/* An error of the whole answer: the session is given up. */
static void refused(struct krc_session *session, int16_t error_code)
{
    struct krc_cluster *cluster = session->cluster;
    bool is_gone = error_code == KRC_KAFKA_FETCH_SESSION_ID_NOT_FOUND;
    if (error_code == KRC_KAFKA_FETCH_SESSION_TOPIC_ID_ERROR)
        krc_metadata_refresh(cluster);
    session->error_code = error_code;
    krc_session_reset(session, is_gone ? 0 : session->id);
    if (is_gone)
        krc_backoff_repeat(cluster, &session->backoff);
    else
        krc_backoff_fail(cluster, &session->backoff);
}

static void go_on(struct krc_session *session, int32_t id)
{
    if (session->alone > 0)
        session->alone--;
    session->most_bytes = session->most_bytes < session->cluster->settings.fetch_max_bytes / 2
                              ? 2 * session->most_bytes
                              : 0;
    if (session->epoch == 0 || id == 0)
        session->id = id;
    session->epoch = session->id == 0 ? 0 : session->epoch == INT32_MAX ? 1 : session->epoch + 1;
}

void krc_session_fetched(void *arg, const struct krc_answer *answer)
{
    struct krc_session *session = arg;
    const struct krc_fetch_response *response = answer->response;
    session->in_flight = false;
    if (answer->rc < 0) {
        lost(session, answer);
        return;
    }
    if (response->error_code != 0) {
        refused(session, response->error_code);
        return;
    }
    session->error_code = 0;
    go_on(session, response->session_id);
    for (size_t i = 0; i < session->count; i++) {
        if (session->members[i] == NULL)
            continue;
        krc_remote_answered(session->members[i]);
        session->members[i]->told = false;
    }
    take_response(session, response, answer->frame);
}
