/*
 * Calls of a cluster that are waited for, and joining a group of it.
 */
#include <stdlib.h>
#include <string.h>

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
