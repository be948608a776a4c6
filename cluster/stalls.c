#include "cluster/stalls.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cluster/cluster.h"

enum { LOOK_MS = 1000, NOTES_MOST = 8 };

/* One look through all places: to tell what has lasted, or to describe what there is. */
struct look {
    struct krc_cluster *cluster;
    bool any;
    int notes, more; /* that were told, and that would be too many */
    char *text;      /* NULL: tells */
    size_t size;
};

static void append(struct look *look, const char *topic, const char *sentence)
{
    size_t len = strlen(look->text);
    snprintf(look->text + len, look->size - len, "%s%s%s%s", len > 0 ? "; " : "", topic,
             topic[0] == '\0' ? "" : ": ", sentence);
}

KRC_PRINTF(4, 5)
static void found(struct look *look, struct krc_stall *stall, const char *topic,
                  const char *format, ...)
{
    char sentence[512];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    look->any = true;
    if (look->text != NULL)
        append(look, topic, sentence);
    else if (!krc_stall_is_due(stall, look->cluster->now_ms))
        return;
    else if (look->notes++ < NOTES_MOST)
        krc_cluster_note(look->cluster, topic, sentence);
    else
        look->more++;
}

static void fine(const struct look *look, struct krc_stall *stall)
{
    if (look->text == NULL)
        stall->tell_ms = 0;
}

/* ---- Connections ---------------------------------------------------------------------------- */

static const char *what_it_does(const struct krc_conn *conn)
{
    static const char *const states[] = {
        [KRC_CONN_CLOSED] = "not connected",
        [KRC_CONN_RESOLVING] = "its name is being looked up",
        [KRC_CONN_CONNECTING] = "it does not take the connection",
        [KRC_CONN_GREETING] = "it takes the connection, and does not answer",
        [KRC_CONN_AUTHENTICATING] = "the authentication is not over",
        [KRC_CONN_READY] = "it does not answer",
    };
    return conn->error[0] != '\0' ? conn->error : states[conn->state];
}

/* Whether somebody would use it. */
static bool is_wanted(const struct krc_conn *conn)
{
    enum { LATELY_MS = 3000 };
    int64_t ms = conn->wanted_ms > conn->retry_at_ms ? conn->wanted_ms : conn->retry_at_ms;
    return conn->first != NULL || conn->cluster->now_ms - ms < LATELY_MS;
}

/* To describe it: not only what has gone wrong, also what is not there yet.  A fetch may wait. */
static bool is_stalled(const struct krc_conn *conn, bool describing)
{
    bool is_ill = conn->error[0] != '\0' || krc_conn_is_overdue(conn);
    bool is_awaited = conn->state != KRC_CONN_READY ||
                      (conn->first != NULL && conn->purpose != KRC_FOR_FETCHING);
    return is_wanted(conn) && (is_ill || (describing && is_awaited));
}

static void name_node(const struct krc_node *node, char *text, size_t size)
{
    bool is_v6 = strchr(node->host, ':') != NULL;
    snprintf(text, size, "%s%.200s%s:%d", is_v6 ? "[" : "", node->host, is_v6 ? "]" : "",
             (int)node->port);
}

static void look_at_node(struct look *look, struct krc_node *node)
{
    char name[240];
    const struct krc_conn *worst = NULL;
    bool describing = look->text != NULL;
    for (int i = 0; i < KRC_PURPOSES && worst == NULL; i++)
        if (node->conns[i] != NULL && is_stalled(node->conns[i], describing))
            worst = node->conns[i];
    if (worst == NULL) {
        fine(look, &node->stall);
        return;
    }
    name_node(node, name, sizeof name);
    bool is_elsewhere = !node->is_server && !worst->was_reached && worst->has_address;
    found(look, &node->stall, "", "%s: %s%s", name,
          worst->has_address ? what_it_does(worst) : krc_no_address,
          is_elsewhere ? " (its address as the broker advertises it: advertised.listeners)" : "");
}

static void look_at_nodes(struct look *look)
{
    struct krc_nodes *nodes = &look->cluster->nodes;
    if (nodes->lost[0] != '\0')
        found(look, &nodes->stall, "", "%s", nodes->lost);
    else
        fine(look, &nodes->stall);
    for (size_t i = 0; i < nodes->count && nodes->lost[0] == '\0'; i++)
        look_at_node(look, nodes->list[i]);
    for (size_t i = 0; i < nodes->server_count && nodes->count == 0; i++)
        look_at_node(look, nodes->servers[i]);
}

static void look_at_session(struct look *look, struct krc_node *node)
{
    char name[240];
    struct krc_session *session = &node->session;
    if (session->error_code == 0) {
        fine(look, &session->stall);
        return;
    }
    name_node(node, name, sizeof name);
    found(look, &session->stall, "", "%s: it answers %s to Fetch (%s)", name,
          krc_kafka_error_name(session->error_code), krc_kafka_error_text(session->error_code));
}

/* ---- Partitions ----------------------------------------------------------------------------- */

/* Why a partition does not go on; the order is that of the sentences. */
enum cause { NOTHING, NO_LEADER, OLDER_RECORDS, FETCH_ERROR, QUESTION_ERROR };

static enum cause cause_of(const struct krc_remote *r, int16_t *code)
{
    const struct krc_topic_partition *p = krc_topic_partition(r->topic, r->index);
    bool asks = r->question.state == KRC_OPEN || r->question.state == KRC_SENT;
    *code = 0;
    if (r->rc < 0 || r->paused || (r->wanted < 0 && !asks))
        return NOTHING;
    if (p != NULL && p->leader_id < 0)
        return NO_LEADER;
    *code = asks ? r->question.last_error : r->last_error;
    if (*code == KRC_KAFKA_UNSTABLE_OFFSET_COMMIT)
        return NOTHING; /* committed.c tells */
    if (*code != 0)
        return asks ? QUESTION_ERROR : FETCH_ERROR;
    return r->gets_older ? OLDER_RECORDS : NOTHING;
}

/* "partitions 0, 2, 5 and 3 more" */
struct partitions {
    char text[80];
    int count;
};

static void add_partition(struct partitions *list, int32_t index)
{
    size_t len = strlen(list->text);
    if (list->count++ < 3)
        snprintf(list->text + len, sizeof list->text - len, "%s%d", len > 0 ? ", " : "",
                 (int)index);
}

static void end_partitions(struct partitions *list)
{
    size_t len = strlen(list->text);
    if (list->count > 3)
        snprintf(list->text + len, sizeof list->text - len, " and %d more", list->count - 3);
}

static void tell_partitions(struct look *look, struct krc_topic *topic, enum cause cause,
                            int16_t code, const struct partitions *list)
{
    const char *plural = list->count > 1 ? "s" : "";
    const char *name = krc_kafka_error_name(code), *text = krc_kafka_error_text(code);
    switch (cause) {
    case NO_LEADER:
        found(look, &topic->stall, topic->name, "partition%s %s: no broker leads %s now", plural,
              list->text, list->count > 1 ? "them" : "it");
        return;
    case OLDER_RECORDS:
        found(look, &topic->stall, topic->name, "partition%s %s: the broker answers with records "
              "before the position only", plural, list->text);
        return;
    default:
        found(look, &topic->stall, topic->name, "partition%s %s: the broker answers %s%s (%s)",
              plural, list->text, name, cause == FETCH_ERROR ? " to Fetch" : "", text);
        return;
    }
}

/* Those of one topic are told in one sentence: of the first cause. */
static void look_at_topic(struct look *look, struct krc_topic *topic)
{
    struct partitions list = {.text = ""};
    enum cause cause = NOTHING, its;
    int16_t code = 0, its_code;
    for (int32_t i = 0; i < topic->partition_count; i++) {
        const struct krc_remote *r = topic->partitions[i].remote;
        its = r == NULL ? NOTHING : cause_of(r, &its_code);
        if (cause == NOTHING && its != NOTHING) {
            cause = its;
            code = its_code;
        }
        if (its != NOTHING && its == cause && its_code == code)
            add_partition(&list, i);
    }
    end_partitions(&list);
    if (cause == NOTHING)
        fine(look, &topic->stall);
    else
        tell_partitions(look, topic, cause, code, &list);
}

/* ---- All of it ------------------------------------------------------------------------------ */

static void look_at_metadata(struct look *look)
{
    struct krc_topics *topics = &look->cluster->topics;
    if (topics->fault == NULL)
        fine(look, &topics->stall);
    else
        found(look, &topics->stall, "", "%s", topics->fault);
}

static void look_for_topics(struct look *look)
{
    const struct krc_topics *topics = &look->cluster->topics;
    for (size_t i = 0; i < topics->count; i++) {
        struct krc_topic *topic = topics->list[i];
        if (!krc_topic_is_missing(topic))
            fine(look, &topic->absence);
        else
            found(look, &topic->absence, topic->name, "the cluster answers %s (%s) for it: asked "
                  "again until it is there", krc_kafka_error_name(topic->error_code),
                  krc_kafka_error_text(topic->error_code));
    }
}

static void look_at_member(struct look *look)
{
    struct krc_membership *member = look->cluster->member;
    char why[300];
    if (krc_member_is_stalled(member, why, sizeof why))
        found(look, &member->stall, "", "group %s: %s", member->settings.group, why);
    else
        fine(look, &member->stall);
}

static void look_through(struct look *look)
{
    struct krc_cluster *cluster = look->cluster;
    look_at_nodes(look);
    look_at_metadata(look);
    if (cluster->topics.missing > 0)
        look_for_topics(look);
    for (size_t i = 0; i < cluster->nodes.count; i++)
        look_at_session(look, cluster->nodes.list[i]);
    for (size_t i = 0; i < cluster->topics.count; i++)
        if (cluster->topics.list[i]->remote_count > 0)
            look_at_topic(look, cluster->topics.list[i]);
    if (cluster->member != NULL)
        look_at_member(look);
}

int64_t krc_stalls_tick(struct krc_cluster *cluster)
{
    struct krc_stalls *stalls = &cluster->stalls;
    struct look look = {.cluster = cluster};
    char text[80];
    bool is_time = cluster->now_ms >= stalls->look_ms;
    if (is_time) {
        look_through(&look);
        stalls->look_ms = cluster->now_ms + LOOK_MS;
        stalls->any = look.any;
    }
    snprintf(text, sizeof text, "and %d more do not go on", look.more);
    if (look.more > 0)
        krc_cluster_note(cluster, "", text);
    return stalls->any || !is_time ? stalls->look_ms : INT64_MAX;
}

void krc_stalls_of_nodes(struct krc_cluster *cluster, char *text, size_t size)
{
    struct look look = {.cluster = cluster, .text = text, .size = size};
    text[0] = '\0';
    for (size_t i = 0; i < cluster->nodes.count; i++)
        look_at_node(&look, cluster->nodes.list[i]);
}

void krc_cluster_describe(struct krc_cluster *cluster, char *text, size_t size)
{
    struct look look = {.cluster = cluster, .text = text, .size = size};
    text[0] = '\0';
    look_through(&look);
    if (cluster->questions.pending[0] != '\0')
        append(&look, "", cluster->questions.pending);
}
