/*
 * Calls of a cluster that are waited for, and joining a group of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "cluster/group_commit.h"
#include "consumer/config_values.h"
#include "consumer/net.h"

int krc_net_call(struct krc_net *net, struct krc_call *call, krc_error *error)
{
    int64_t deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
    int rc = KRC_OK;
    krc_call_begin(&net->cluster, call);
    while (rc >= 0 && call->state != KRC_CALL_TOLD)
        rc = krc_net_wait(net, deadline_ms, "there was no answer", error);
    if (call->state == KRC_CALL_TOLD && call->rc < 0)
        rc = krc_call_explain(call, error);
    krc_call_drop(call);
    return rc;
}

int krc_net_commit(struct krc_net *net, struct krc_group_commit *commit, krc_error *error)
{
    int64_t deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
    int rc = krc_group_commit_begin(commit, &net->cluster, error);
    while (rc >= 0 && commit->call.state != KRC_CALL_TOLD)
        rc = krc_net_finish(net, deadline_ms, "the group's coordinator did not answer", error);
    if (commit->call.state == KRC_CALL_TOLD)
        krc_net_finished(net);
    if (commit->call.state == KRC_CALL_TOLD && commit->call.rc < 0)
        rc = krc_group_commit_explain(commit, error);
    krc_group_commit_end(commit);
    return rc;
}

int krc_net_commit_one(struct krc_net *net, struct krc_commit_entry *entry, krc_error *error)
{
    struct krc_cluster *cluster = &net->cluster;
    struct krc_group_commit commit = {
        .member = cluster->member,
        .coordinator = krc_coordinator_of(cluster, KRC_GROUP, net->config->group_id),
        .entries = entry,
        .count = 1,
        .once = cluster->member != NULL};
    entry->may_arrive = false;
    if (commit.coordinator == NULL)
        return krc_fail_nomem(error, 1);
    int rc = krc_net_commit(net, &commit, error);
    entry->may_arrive = commit.call.was_sent;
    return rc;
}

/* Of partition.assignment.strategy, which was checked when it was set. */
static int assignors_of(const krc_config *config, const struct krc_assignor **list)
{
    const char *text = krc_config_text(config, "partition.assignment.strategy");
    struct krc_bytes name;
    int count = 0;
    while (count < KRC_ASSIGNORS_MOST && (list[count] = krc_next_assignor(&text, &name)) != NULL)
        count++;
    return count;
}

static struct krc_member_settings settings_of(const krc_config *c)
{
    struct krc_member_settings settings = {
        .group = c->group_id,
        .instance_id = krc_config_text(c, "group.instance.id"),
        .rack = c->client_rack,
        .server_assignor = krc_config_text(c, "group.remote.assignor"),
        .is_classic = c->group_protocol == 0,
        .exclude_internal_topics = c->exclude_internal_topics != 0,
        .session_timeout_ms = c->session_timeout_ms,
        .heartbeat_interval_ms = c->heartbeat_interval_ms,
        .max_poll_interval_ms = c->max_poll_interval_ms,
    };
    settings.assignor_count = assignors_of(c, settings.assignors);
    return settings;
}

int krc_net_join(struct krc_net *net, const char *const *topics, size_t count, krc_error *error)
{
    struct krc_member_settings settings = settings_of(net->config);
    struct krc_membership *member;
    if (settings.is_classic && settings.heartbeat_interval_ms >= settings.session_timeout_ms)
        return krc_fail(error, KRC_E_INVALID, "heartbeat.interval.ms (%lld) has to be below "
                        "session.timeout.ms (%lld), and should be a third of it",
                        (long long)settings.heartbeat_interval_ms,
                        (long long)settings.session_timeout_ms);
    for (size_t i = 0; i < count; i++)
        if (topics[i][0] != '^')
            KRC_TRY(krc_check_topic_name(topics[i], error));
    KRC_TRY(krc_member_open(&member, &net->cluster, &settings, error));
    int rc = KRC_OK;
    for (size_t i = 0; rc >= 0 && i < count; i++)
        rc = krc_member_subscribe(member, topics[i], error);
    if (rc < 0) {
        krc_member_close(member);
        return rc;
    }
    net->cluster.now_ms = krc_loop_now_ms();
    krc_member_join(member);
    return KRC_OK;
}

int krc_net_expel(struct krc_net *net, const char *member_id, bool is_classic, krc_error *error)
{
    struct krc_farewell farewell = {
        .coordinator = krc_coordinator_of(&net->cluster, KRC_GROUP, net->config->group_id),
        .is_classic = is_classic,
        .member_id = member_id};
    if (farewell.coordinator == NULL)
        return krc_fail_nomem(error, 1);
    krc_farewell_put(&farewell);
    return krc_net_call(net, &farewell.call, error);
}

int krc_net_wait_left(struct krc_net *net, int64_t deadline_ms, krc_error *error)
{
    int rc = KRC_OK;
    while (rc >= 0 && !krc_member_has_left(net->cluster.member))
        rc = krc_net_finish(net, deadline_ms, "the group's coordinator did not answer", error);
    return rc;
}

/* ---- What the group has committed ----------------------------------------------------------- */

static int take_answers(const struct krc_question *questions, struct krc_net_committed *list,
                        size_t count, krc_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (questions[i].rc < 0)
            return krc_question_explain(&questions[i], error);
        list[i].offset = questions[i].offset;
        list[i].epoch = questions[i].found_epoch;
        list[i].topic_id = questions[i].topic_id;
    }
    return KRC_OK;
}

int krc_net_fetch_committed(struct krc_net *net, struct krc_net_committed *list, size_t count,
                            krc_error *error)
{
    struct krc_question *questions = calloc(count + 1, sizeof *questions);
    if (questions == NULL)
        return krc_fail_nomem(error, count * sizeof *questions);
    for (size_t i = 0; i < count; i++)
        questions[i] = (struct krc_question){.type = KRC_ASKS_COMMITTED,
                                             .topic = list[i].topic,
                                             .partition = list[i].partition,
                                             .stable = true,
                                             .metadata = &list[i].metadata};
    int rc = krc_net_ask(net, questions, count, error);
    if (rc >= 0)
        rc = take_answers(questions, list, count, error);
    free(questions);
    if (rc == KRC_E_UNSUPPORTED)
        rc = krc_fail(error, rc, "the broker does not tell that a commit is being written "
                      "(OffsetFetch version 7, since Kafka 2.5): without that, what a member has "
                      "written cannot be told from what it has not");
    return rc;
}
