#include "cluster/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/cluster.h"

int krc_remote_open(struct krc_remote **out, struct krc_cluster *cluster, struct krc_topic *topic,
                    int32_t index, void *owner, krc_error *error)
{
    struct krc_remotes *all = &cluster->remotes;
    struct krc_topic_partition *p = krc_topic_partition(topic, index);
    struct krc_remote *remote = malloc(sizeof *remote);
    if (remote == NULL)
        return krc_fail_nomem(error, sizeof *remote);
    *remote = (struct krc_remote){
        .cluster = cluster,
        .topic = topic,
        .index = index,
        .owner = owner,
        .question = {.topic = topic, .partition = index, .remote = remote},
        .wanted = -1,
        .until = INT64_MAX,
        .preferred = -1,
        .max_bytes = cluster->settings.partition_max_bytes,
        .log_start_offset = -1,
        .last_stable_offset = -1,
        .high_watermark = -1,
        .empty_at = -1,
        .seen_topic_id = topic->id,
        .back = all->last,
    };
    p->remote = remote;
    all->unplaced = true;
    all->count++;
    topic->remote_count++;
    *all->last = remote;
    all->last = &remote->next;
    *out = remote;
    return KRC_OK;
}

static void unlist(struct krc_remotes *all, struct krc_remote *remote)
{
    *remote->back = remote->next;
    if (remote->next != NULL)
        remote->next->back = remote->back;
    else
        all->last = remote->back;
    if (all->turn == remote)
        all->turn = remote->next;
    all->count--;
}

void krc_remote_close(struct krc_remote *remote)
{
    if (remote == NULL)
        return;
    struct krc_topic_partition *p = krc_topic_partition(remote->topic, remote->index);
    krc_question_drop(&remote->question);
    krc_remote_discard(remote);
    if (remote->session != NULL)
        krc_session_leave(remote->session, remote);
    if (p != NULL && p->remote == remote)
        p->remote = NULL;
    remote->topic->remote_count--;
    krc_remote_not_ready(remote);
    unlist(&remote->cluster->remotes, remote);
    free(remote);
}

/* ---- Those that have something to be looked at ---------------------------------------------- */

struct krc_remote *krc_remote_first_ready(const struct krc_cluster *cluster)
{
    return cluster->remotes.ready;
}

void krc_remote_ready(struct krc_remote *remote)
{
    struct krc_remotes *all = &remote->cluster->remotes;
    if (remote->back_ready != NULL)
        return;
    remote->next_ready = NULL;
    remote->back_ready = all->last_ready;
    *all->last_ready = remote;
    all->last_ready = &remote->next_ready;
}

void krc_remote_not_ready(struct krc_remote *remote)
{
    struct krc_remotes *all = &remote->cluster->remotes;
    if (remote->back_ready == NULL)
        return;
    *remote->back_ready = remote->next_ready;
    if (remote->next_ready != NULL)
        remote->next_ready->back_ready = remote->back_ready;
    else
        all->last_ready = remote->back_ready;
    remote->back_ready = NULL;
}

/* ---- Pieces --------------------------------------------------------------------------------- */

void krc_remote_drained(struct krc_remote *remote)
{
    struct krc_frame *frame = remote->pieces[0].frame;
    remote->wanted = remote->pieces[0].end;
    if (--frame->readers == 0 && frame->undrained != NULL)
        --*frame->undrained;
    krc_frame_drop(frame);
    remote->pieces[0] = remote->pieces[1];
    remote->piece_count--;
}

void krc_remote_discard(struct krc_remote *remote)
{
    remote->turn++;
    while (remote->piece_count > 0)
        krc_remote_drained(remote);
    remote->wanted = -1;
    remote->empty_at = -1;
    remote->out_of_range = false;
}

void krc_remote_want(struct krc_remote *remote, int64_t offset)
{
    const struct krc_piece *first = &remote->pieces[0];
    bool has_it = remote->piece_count > 0 && first->begin <= offset && offset < first->end;
    bool awaits_it = remote->piece_count == 0 && remote->in_flight &&
                     remote->sent_turn == remote->turn && remote->sent_offset == offset;
    if (remote->wanted == offset)
        return;
    if (!has_it && !awaits_it)
        krc_remote_discard(remote);
    remote->wanted = offset;
    remote->out_of_range = false;
}

static void wake_later(struct krc_remote *remote)
{
    struct krc_remotes *all = &remote->cluster->remotes;
    if (krc_backoff_waits(remote->cluster, &remote->backoff))
        all->wake_ms = krc_sooner(all->wake_ms, remote->backoff.not_before_ms);
}

void krc_remote_wait(struct krc_remote *remote)
{
    krc_backoff_fail(remote->cluster, &remote->backoff);
    wake_later(remote);
}

void krc_remote_repeat(struct krc_remote *remote)
{
    krc_backoff_repeat(remote->cluster, &remote->backoff);
    wake_later(remote);
}

void krc_remote_pause(struct krc_remote *remote, bool paused)
{
    if (paused && !remote->paused)
        krc_remote_discard(remote); /* what is kept for nobody would hold the others up */
    remote->paused = paused;
    krc_remote_ready(remote);
}

int krc_remote_explain(const struct krc_remote *r, krc_error *error)
{
    int rc;
    if (r->failed_size > 0 && r->failed_size <= r->cluster->settings.receive_max_bytes)
        rc = krc_fail(error, r->rc,
                      "%s-%d: %s sends only a part of the batch at offset %lld: the batch has %lld "
                      "bytes, and %lld were asked for",
                      r->topic->name, (int)r->index, krc_remote_broker(r), (long long)r->failed_at,
                      (long long)r->failed_size, (long long)r->max_bytes);
    else if (r->failed_size > 0)
        rc = krc_fail(error, r->rc,
                      "%s-%d: what lies at offset %lld comes in %lld bytes, over "
                      "receive.message.max.bytes (%lld): raise that",
                      r->topic->name, (int)r->index, (long long)r->failed_at,
                      (long long)r->failed_size,
                      (long long)r->cluster->settings.receive_max_bytes);
    else
        rc = krc_fail(error, r->rc, "%s-%d: %s answers a fetch at offset %lld with %s: %s",
                      r->topic->name, (int)r->index, krc_remote_broker(r),
                      (long long)r->failed_at, krc_kafka_error_name(r->failed_code),
                      krc_kafka_error_text(r->failed_code));
    krc_error_at(error, r->topic->name, r->index, r->failed_at, -1);
    return rc;
}

const char *krc_remote_broker(const struct krc_remote *remote)
{
    struct krc_cluster *cluster = remote->cluster;
    struct krc_topic_partition *p = krc_topic_partition(remote->topic, remote->index);
    struct krc_node *node =
        krc_node_find(cluster, remote->preferred >= 0 ? remote->preferred : p->leader_id);
    if (node == NULL)
        return "a broker that is gone";
    snprintf(cluster->text, sizeof cluster->text, "%s:%d", node->host, (int)node->port);
    return cluster->text;
}

void krc_remote_answered(struct krc_remote *remote)
{
    remote->in_flight = false;
    if (remote->awaited)
        krc_remote_ready(remote);
    remote->awaited = false;
}

/* ---- News ----------------------------------------------------------------------------------- */

/* What the old leader sent, or answered, may not be in the new one's log. */
void krc_remote_led_anew(struct krc_remote *remote)
{
    enum krc_question_type asked = remote->question.type;
    if (asked == KRC_ASKS_OFFSET || asked == KRC_ASKS_EPOCH_END)
        krc_question_drop(&remote->question);
    krc_remote_discard(remote);
    remote->preferred = -1;
    remote->cluster->remotes.unplaced = true;
    remote->backoff.not_before_ms = 0;
    remote->new_epoch = true;
    krc_remote_ready(remote);
}
