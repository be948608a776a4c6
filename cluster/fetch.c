/*
 * Fetching: which partitions are asked for, of which broker, and when.
 */
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"

/* ---- What is to be fetched ------------------------------------------------------------------ */

/* Where the next fetch begins: behind what is at hand. */
static int64_t next_offset(const struct krc_remote *r)
{
    return r->piece_count > 0 ? r->pieces[r->piece_count - 1].end : r->wanted;
}

static bool is_fetchable(const struct krc_remote *r)
{
    return r->wanted >= 0 && !r->paused && r->rc >= 0 && !r->out_of_range && !r->new_epoch &&
           r->piece_count < KRC_PIECES && !krc_backoff_waits(r->cluster, &r->backoff) &&
           (next_offset(r) < r->until || r->piece_count == 0);
}

/* The leader, or for a while a replica that the leader prefers for our rack. */
static struct krc_node *node_of(struct krc_remote *r)
{
    struct krc_topic_partition *p = krc_topic_partition(r->topic, r->index);
    if (r->preferred >= 0 && r->preferred_to_ms <= r->cluster->now_ms)
        r->preferred = -1;
    struct krc_node *node = r->preferred < 0 ? NULL : krc_node_find(r->cluster, r->preferred);
    if (node != NULL && !krc_node_is_out_of_reach(node))
        return node;
    r->preferred = -1;
    node = p == NULL ? NULL : krc_node_find(r->cluster, p->leader_id);
    if (node == NULL)
        krc_metadata_refresh(r->cluster);
    return node;
}

static int32_t leader_epoch(const struct krc_remote *r)
{
    return krc_topic_partition(r->topic, r->index)->leader_epoch;
}

/* How many partitions a fetch may be about. */
static size_t most_partitions(const struct krc_session *session)
{
    enum { PARTITION_BYTES = 100 }; /* of a response, about, for one without records */
    if (session->alone > 0)
        return 1;
    return session->most_bytes > 0 ? 1 + (size_t)session->most_bytes / PARTITION_BYTES : SIZE_MAX;
}

/* The partitions to ask this broker for, in the order in which it shall serve them. */
static size_t choose(struct krc_cluster *cluster, struct krc_node *node, struct krc_remote **list)
{
    struct krc_remotes *all = &cluster->remotes;
    size_t count = 0, most = most_partitions(&node->session);
    struct krc_remote *r = all->turn;
    for (size_t i = 0; i < all->count && count < most; i++, r = r->next) {
        if (r == NULL)
            r = all->list;
        if (is_fetchable(r) && node_of(r) == node)
            list[count++] = r;
    }
    return count;
}

/* ---- The request ---------------------------------------------------------------------------- */

static bool is_as_sent(const struct krc_remote *r)
{
    return r->sent_offset == next_offset(r) && r->sent_epoch == leader_epoch(r) &&
           r->sent_max_bytes == r->max_bytes && krc_uuid_equal(&r->sent_topic_id, &r->topic->id);
}

static struct krc_fetch_request_partition describe(const struct krc_remote *r)
{
    return (struct krc_fetch_request_partition){
        .index = r->index,
        .current_leader_epoch = leader_epoch(r),
        .fetch_offset = next_offset(r),
        .last_fetched_epoch = -1,
        .log_start_offset = -1,
        .max_bytes = r->max_bytes,
    };
}

/* Names those that the broker does not know as they are; topics in runs. */
static int name_partitions(struct krc_arena *arena, struct krc_fetch_request *request,
                           struct krc_remote **list, size_t count, const struct krc_session *known)
{
    struct krc_fetch_request_partition *parts = krc_arena_take(arena, (count + 1) * sizeof *parts);
    request->topics = krc_arena_take(arena, (count + 1) * sizeof *request->topics);
    if (parts == NULL || request->topics == NULL)
        return KRC_E_NOMEM;
    const struct krc_topic *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct krc_remote *r = list[i];
        if (known->id != 0 && r->session == known && is_as_sent(r))
            continue;
        if (r->topic != last)
            request->topics[request->topic_count++] = (struct krc_fetch_request_topic){
                .name = krc_bytes_of(r->topic->name),
                .id = r->topic->id,
                .partitions = parts};
        last = r->topic;
        request->topics[request->topic_count - 1].partition_count++;
        *parts++ = describe(r);
    }
    return KRC_OK;
}

static int name_forgotten(struct krc_arena *arena, struct krc_fetch_request *request,
                          struct krc_session *session)
{
    size_t count = session->forgotten_count;
    request->forgotten = krc_arena_take(arena, (count + 1) * sizeof *request->forgotten);
    if (request->forgotten == NULL)
        return KRC_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        struct krc_forgotten *f = &session->forgotten[i];
        request->forgotten[request->forgotten_count++] = (struct krc_fetch_forgotten_topic){
            .name = krc_bytes_of(f->topic->name),
            .id = f->topic_id,
            .partitions = &f->index,
            .partition_count = 1};
    }
    return KRC_OK;
}

/* Members that are not asked for now, or whose topic has another id, leave the broker's session. */
static int forget_members(struct krc_session *session, uint32_t mark)
{
    for (size_t i = 0; i < session->count; i++) {
        struct krc_remote *r = session->members[i];
        if (r == NULL)
            continue;
        bool renamed = session->by_id && !krc_uuid_equal(&r->sent_topic_id, &r->topic->id);
        if (r->mark == mark && !renamed)
            continue;
        r->session = NULL;
        if (session->id != 0 && krc_session_forget(session, r) < 0)
            return KRC_E_NOMEM;
    }
    return KRC_OK;
}

static int set_members(struct krc_session *session, struct krc_remote **list, size_t count)
{
    if (count > session->capacity) {
        struct krc_remote **members = realloc(session->members, count * sizeof *members);
        if (members == NULL)
            return KRC_E_NOMEM;
        session->members = members;
        session->capacity = count;
    }
    for (size_t i = 0; i < count; i++) {
        struct krc_remote *r = list[i];
        session->members[i] = r;
        r->member_at = i;
        r->session = session;
        r->in_flight = true;
        r->sent_turn = r->turn;
        r->sent_offset = next_offset(r);
        r->sent_epoch = leader_epoch(r);
        r->sent_max_bytes = r->max_bytes;
        r->sent_topic_id = r->topic->id;
    }
    session->count = count;
    return KRC_OK;
}

/* Topics are named by their ids from 13 on, which needs all of them. */
static int16_t version_for(const struct krc_conn *conn, struct krc_remote **list, size_t count)
{
    int16_t version = krc_conn_version(conn, KRC_API_FETCH);
    for (size_t i = 0; i < count; i++)
        if (version > 12 && krc_uuid_is_zero(&list[i]->topic->id))
            version = 12;
    return version;
}

/* A partition is a member of one session: it may have been led, or preferred, elsewhere. */
static void leave_others(struct krc_session *session, struct krc_remote **list, size_t count,
                         uint32_t mark)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i]->session != NULL && list[i]->session != session)
            krc_session_leave(list[i]->session, list[i]);
        list[i]->mark = mark;
    }
    krc_session_remember(session, mark);
}

/*
 * How long the broker may let a fetch wait.  It goes through all the partitions of one that finds
 * nothing, twice, so where nothing comes of many it is asked less often: half as often from
 * `many_partitions` on, a third as often from twice as many.  Not where it collects
 * fetch.min.bytes: there the time that was set bounds how late the few records come that it has.
 */
static int32_t patience(const struct krc_session *session, size_t count)
{
    enum { MOST_TIMES = 8 };
    const struct krc_cluster_settings *s = &session->cluster->settings;
    int64_t times = krc_sooner(MOST_TIMES, 1 + (int64_t)(count / s->many_partitions));
    bool somebody_waits = session->cluster->remotes.wake_ms != INT64_MAX; /* after an error */
    if (!session->nothing_came || somebody_waits || session->undrained > 0 ||
        s->fetch_min_bytes > 1)
        return s->fetch_max_wait_ms;
    return (int32_t)krc_sooner(INT32_MAX, s->fetch_max_wait_ms * times);
}

static int send(struct krc_node *node, struct krc_conn *conn, struct krc_remote **list,
                size_t count, krc_error *error)
{
    struct krc_cluster *cluster = conn->cluster;
    const struct krc_cluster_settings *s = &cluster->settings;
    struct krc_session *session = &node->session;
    int16_t version = version_for(conn, list, count);
    bool by_id = version > 12;
    if (session->count > 0 && session->by_id != by_id)
        krc_session_reset(session, session->id);
    session->by_id = by_id;
    int32_t wait_ms = patience(session, count);
    struct krc_fetch_request request = {
        .max_wait_ms = wait_ms,
        .min_bytes = s->fetch_min_bytes,
        .max_bytes = session->most_bytes > 0 ? session->most_bytes : s->fetch_max_bytes,
        .isolation_level = s->read_committed,
        .rack = krc_bytes_of(s->rack),
    };
    uint32_t mark = ++cluster->remotes.mark;
    leave_others(session, list, count, mark);
    if (forget_members(session, mark) < 0 ||
        name_partitions(&cluster->arena, &request, list, count, session) < 0 ||
        name_forgotten(&cluster->arena, &request, session) < 0 ||
        set_members(session, list, count) < 0)
        return krc_fail_nomem(error, count * sizeof *list);
    request.session_id = session->id;
    request.session_epoch = session->epoch;
    KRC_TRY(krc_conn_send(conn, KRC_API_FETCH, version, &request, wait_ms, krc_session_fetched,
                          session, error));
    session->forgotten_count = 0;
    session->sent_count = count;
    session->in_flight = true;
    session->sent_at_ms = cluster->now_ms;
    session->wait_ms = wait_ms;
    struct krc_remotes *all = &cluster->remotes;
    all->turn = all->turn != NULL ? all->turn->next : all->list->next;
    return KRC_OK;
}

/* ---- Time ----------------------------------------------------------------------------------- */

static bool has_room(const struct krc_cluster *cluster, const struct krc_session *session)
{
    size_t held = cluster->frames->held;
    return session->undrained < KRC_PIECES &&
           (held == 0 || (int64_t)held + cluster->settings.fetch_max_bytes <=
                             cluster->settings.buffered_max_bytes);
}

static bool is_asked_for(const struct krc_remote *r, const struct krc_session *session)
{
    return r->session == session && r->in_flight && r->sent_turn == r->turn &&
           r->sent_offset == next_offset(r);
}

bool krc_remote_expects_more(struct krc_remote *r)
{
    int64_t stable = r->pieces[0].last_stable_offset;
    if (r->piece_count != 1 || (stable >= 0 && next_offset(r) >= stable) || !is_fetchable(r))
        return false;
    struct krc_node *node = node_of(r);
    if (node == NULL)
        return false;
    const struct krc_session *session = &node->session;
    return session->in_flight ? is_asked_for(r, session)
                              : !krc_backoff_waits(r->cluster, &session->backoff) &&
                                    has_room(r->cluster, session);
}

/* When the answer would be there if the broker were not asked to wait for longer than was set. */
static int64_t usual_end(const struct krc_session *session)
{
    return session->sent_at_ms + session->cluster->settings.fetch_max_wait_ms;
}

/* Something else is to be fetched while the broker waits for longer than was set: a connection is
 * served in order, so it is given up. */
static void cut_short(struct krc_cluster *cluster, struct krc_node *node)
{
    struct krc_session *session = &node->session;
    struct krc_remotes *all = &cluster->remotes;
    int32_t id = session->id;
    struct krc_remote *r = all->list;
    if (!session->in_flight || cluster->now_ms < usual_end(session) ||
        cluster->now_ms >= session->sent_at_ms + session->wait_ms)
        return;
    while (r != NULL && (!is_fetchable(r) || node_of(r) != node || is_asked_for(r, session)))
        r = r->next;
    if (r == NULL)
        return;
    session->nothing_came = false;
    session->is_cut = true;
    krc_conn_close(node->conns[KRC_FOR_FETCHING], "something else is to be fetched");
    session->is_cut = false;
    krc_backoff_clear(&session->backoff);
    krc_session_reset(session, id);
}

static void fetch_from(struct krc_cluster *cluster, struct krc_node *node)
{
    struct krc_session *session = &node->session;
    krc_error error;
    cut_short(cluster, node);
    if (session->in_flight || krc_backoff_waits(cluster, &session->backoff) ||
        !has_room(cluster, session))
        return;
    krc_arena_reset(&cluster->arena);
    struct krc_remote **list =
        krc_arena_take(&cluster->arena, (cluster->remotes.count + 1) * sizeof *list);
    size_t count = list == NULL ? 0 : choose(cluster, node, list);
    struct krc_conn *conn = count == 0 ? NULL : krc_node_conn(node, KRC_FOR_FETCHING);
    if (conn != NULL && send(node, conn, list, count, &error) < 0) {
        krc_session_reset(session, session->id);
        krc_backoff_fail(cluster, &session->backoff);
    }
}

/* When the first of those that wait may go on. */
static int64_t next_wake(struct krc_cluster *cluster)
{
    struct krc_remotes *all = &cluster->remotes;
    if (all->wake_ms > cluster->now_ms)
        return all->wake_ms;
    all->wake_ms = INT64_MAX;
    for (const struct krc_remote *r = all->list; r != NULL; r = r->next)
        if (krc_backoff_waits(cluster, &r->backoff))
            all->wake_ms = krc_sooner(all->wake_ms, r->backoff.not_before_ms);
    return all->wake_ms;
}

/* Whether there is a connection to where it is fetched from. */
static bool is_placed(const struct krc_remote *r)
{
    const struct krc_topic_partition *p = krc_topic_partition(r->topic, r->index);
    const struct krc_node *node =
        p == NULL ? NULL
                  : krc_node_find(r->cluster, r->preferred >= 0 ? r->preferred : p->leader_id);
    return node != NULL && node->conns[KRC_FOR_FETCHING] != NULL;
}

/* Brokers that nothing was fetched from are approached; which they are changes seldom. */
static void place_remotes(struct krc_cluster *cluster)
{
    struct krc_remotes *all = &cluster->remotes;
    if (!all->unplaced && all->placed_at == cluster->topics.generation)
        return;
    all->placed_at = cluster->topics.generation;
    all->unplaced = false;
    for (struct krc_remote *r = all->list; r != NULL; r = r->next) {
        struct krc_node *node = is_fetchable(r) ? node_of(r) : NULL;
        if (node != NULL)
            krc_node_approach(node);
        all->unplaced |= !is_placed(r);
    }
}

static int64_t fetch_next(const struct krc_session *session, int64_t next_ms)
{
    const struct krc_cluster *cluster = session->cluster;
    if (krc_backoff_waits(cluster, &session->backoff))
        next_ms = krc_sooner(next_ms, session->backoff.not_before_ms);
    if (session->in_flight && usual_end(session) > cluster->now_ms)
        next_ms = krc_sooner(next_ms, usual_end(session));
    return next_ms;
}

int64_t krc_fetch_tick(struct krc_cluster *cluster)
{
    int64_t next_ms = next_wake(cluster);
    place_remotes(cluster);
    for (struct krc_conn *conn = cluster->nodes.conns; conn != NULL; conn = conn->next)
        if (conn->purpose == KRC_FOR_FETCHING) {
            fetch_from(cluster, conn->node);
            next_ms = fetch_next(&conn->node->session, next_ms);
        }
    return next_ms;
}
