#include "consumer/net.h"
#include "base/names.h"
#include "cluster/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct krc_cluster_settings settings_of(const krc_config *c)
{
    return (struct krc_cluster_settings){
        .client_id = c->client_id,
        .rack = c->client_rack,
        .group = c->group_id,
        .read_committed = !c->read_uncommitted,
        .auto_create_topics = c->auto_create_topics,
        .rebootstrap = c->rebootstrap,
        .fetch_max_wait_ms = (int32_t)c->fetch_max_wait_ms,
        .fetch_min_bytes = (int32_t)c->fetch_min_bytes,
        .fetch_max_bytes = (int32_t)c->fetch_max_bytes,
        .partition_max_bytes = (int32_t)c->partition_max_bytes,
        .buffered_max_bytes = c->buffered_max_bytes,
        .receive_max_bytes = c->max_message_bytes,
        .request_timeout_ms = c->request_timeout_ms,
        .connect_timeout_ms = c->connect_timeout_ms,
        .connect_timeout_max_ms = c->connect_timeout_max_ms,
        .reconnect_backoff_ms = c->reconnect_backoff_ms,
        .reconnect_backoff_max_ms = c->reconnect_backoff_max_ms,
        .retry_backoff_ms = c->retry_backoff_ms,
        .retry_backoff_max_ms = c->retry_backoff_max_ms,
        .metadata_max_age_ms = c->metadata_max_age_ms,
        .rebootstrap_trigger_ms = c->rebootstrap_trigger_ms,
        .idle_close_ms = c->idle_close_ms < 0 ? KRC_LONGEST_MS : c->idle_close_ms,
        .many_partitions = 250,
    };
}

static int add_server(void *arg, const char *host, uint16_t port)
{
    return krc_cluster_add_server(arg, host, port, NULL);
}

static void free_net(void *arg)
{
    struct krc_net *net = arg;
    krc_tls_context_free(net->tls);
    krc_security_free(&net->security);
    free(net);
}

/* OpenSSL is used from here on, if it is. */
static int secure(struct krc_net *net, krc_error *error)
{
    const struct krc_security *s = &net->security;
    if (s->tls)
        KRC_TRY(krc_tls_context_new(&net->tls, &s->tls_settings, error));
    krc_loop_secure(net->loop, net->tls, &s->token_source);
    return KRC_OK;
}

static int open_cluster(struct krc_net *net, krc_error *error)
{
    struct krc_cluster_settings settings = settings_of(net->config);
    KRC_TRY(krc_security_of(&net->security, net->config, error));
    if (net->security.sasl)
        settings.sasl = &net->security.sasl_settings;
    return krc_cluster_open(&net->cluster, &settings, &krc_loop_io, NULL,
                            (uint64_t)krc_loop_now_ms() ^ (uint64_t)(uintptr_t)net, error);
}

int krc_net_open(struct krc_net **out, const krc_config *config, struct uv_loop_s *uv,
                 bool (*turn)(void *arg),
                 void (*note)(void *arg, const char *topic, const char *text), void *arg,
                 krc_error *error)
{
    struct krc_net *net = calloc(1, sizeof *net);
    if (net == NULL)
        return krc_fail_nomem(error, sizeof *net);
    net->config = config;
    net->last_ms = INT64_MAX;
    int rc = open_cluster(net, error);
    if (rc < 0) {
        free_net(net);
        return rc;
    }
    net->cluster.note = note;
    net->cluster.note_arg = arg;
    net->cluster.now_ms = krc_loop_now_ms();
    rc = krc_parse_servers(config->bootstrap_servers, add_server, &net->cluster, error);
    if (rc >= 0)
        rc = krc_loop_open(&net->loop, uv, &net->cluster, turn, arg, error);
    if (rc >= 0)
        rc = secure(net, error);
    if (rc < 0) {
        krc_net_close(net);
        return rc;
    }
    net->cluster.io_arg = net->loop;
    krc_loop_buffers(net->loop, config->send_buffer_bytes, config->receive_buffer_bytes);
    *out = net;
    return KRC_OK;
}

void krc_net_close(struct krc_net *net)
{
    if (net == NULL)
        return;
    krc_cluster_close(&net->cluster);
    if (net->loop == NULL)
        free_net(net);
    else
        krc_loop_close(net->loop, free_net, net);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

int krc_net_check(struct krc_net *net, krc_error *error)
{
    const struct krc_conn *conn = krc_cluster_denied(&net->cluster);
    if (conn == NULL)
        return KRC_OK;
    return krc_fail(error, KRC_E_REFUSED, "broker %s:%d: %s", conn->host, (int)conn->port,
                    conn->error);
}

/* Nobody to ask, or nobody who answers in time. */
static int give_up(struct krc_net *net, const char *what, krc_error *error)
{
    char who[700];
    bool hopeless = krc_cluster_hopeless(&net->cluster);
    krc_cluster_describe(&net->cluster, who, sizeof who);
    if (hopeless)
        return krc_fail(error, KRC_E_IO, "the cluster is out of reach: %s", who);
    return krc_fail(error, KRC_E_TIMEOUT, "%s within %lld ms (default.api.timeout.ms): %s", what,
                    (long long)net->config->api_timeout_ms, who);
}

enum { LOOK_MS = 50, FINISH_MS = 3000 };

int64_t krc_net_look_ms(const struct krc_net *net, int64_t deadline_ms)
{
    return net->config->interrupt.is_asked == NULL
               ? deadline_ms
               : krc_sooner(deadline_ms, krc_loop_now_ms() + LOOK_MS);
}

int krc_net_check_interrupt(struct krc_net *net, const char *what, krc_error *error)
{
    char who[700];
    if (!krc_is_interrupted(&net->config->interrupt))
        return KRC_OK;
    krc_cluster_describe(&net->cluster, who, sizeof who);
    return krc_fail(error, KRC_E_INTERRUPTED, "stopped before the end: %s%s%s", what,
                    who[0] == '\0' ? "" : ": ", who);
}

/* Where there is an end to be made, what is to be sent still has its turn. */
static int take_turn(struct krc_net *net, int64_t deadline_ms, const char *what, int interrupted,
                     krc_error *error)
{
    KRC_TRY(krc_net_check(net, error));
    if (krc_loop_now_ms() >= deadline_ms || krc_cluster_hopeless(&net->cluster))
        return give_up(net, what, error);
    krc_loop_wait(net->loop, interrupted < 0 ? 0 : krc_net_look_ms(net, deadline_ms));
    return interrupted;
}

int krc_net_wait(struct krc_net *net, int64_t deadline_ms, const char *what,
                 krc_error *error)
{
    return take_turn(net, deadline_ms, what, krc_net_check_interrupt(net, what, error), error);
}

int krc_net_finish(struct krc_net *net, int64_t deadline_ms, const char *what, krc_error *error)
{
    int interrupted = krc_net_check_interrupt(net, what, error);
    int64_t now_ms = krc_loop_now_ms();
    if (interrupted == KRC_OK)
        net->last_ms = INT64_MAX;
    else if (net->last_ms == INT64_MAX)
        net->last_ms = now_ms + FINISH_MS;
    return take_turn(net, deadline_ms, what, now_ms < net->last_ms ? KRC_OK : interrupted, error);
}

void krc_net_finished(struct krc_net *net)
{
    net->last_ms = INT64_MAX;
}

/* ---- Topics --------------------------------------------------------------------------------- */

enum { TRIES = 4 }; /* a topic that was just made is not known to each broker at once */

/* 1: it is there; 0: not yet. */
static int judge_topic(const struct krc_topic *topic, unsigned answers, krc_error *error)
{
    switch (topic->error_code) {
    case 0:
        return 1;
    case KRC_KAFKA_UNKNOWN_TOPIC_OR_PARTITION:
        if (answers < TRIES)
            return KRC_OK;
        return krc_fail(error, KRC_E_NOT_FOUND, "the cluster has no topic \"%s\"",
                        topic->name);
    case KRC_KAFKA_INVALID_TOPIC_EXCEPTION:
        return krc_fail(error, KRC_E_NOT_FOUND, "\"%s\" is not a valid topic name, "
                        "the cluster answers", topic->name);
    case KRC_KAFKA_TOPIC_AUTHORIZATION_FAILED:
        return krc_fail(error, KRC_E_REFUSED, "the cluster does not let us read topic %s: %s",
                        topic->name, krc_kafka_error_text(topic->error_code));
    default:
        return KRC_OK;
    }
}

/* 1: all are there; 0: not yet. */
static int judge_topics(struct krc_net *net, const char *const *names, size_t count,
                        unsigned answers, krc_error *error)
{
    int all = 1;
    for (size_t i = 0; i < count; i++) {
        struct krc_bytes name = {(const uint8_t *)names[i], strlen(names[i])};
        const struct krc_topic *topic = krc_topic_find(&net->cluster, name);
        int rc = judge_topic(topic, answers, error);
        KRC_TRY(rc);
        all &= rc;
    }
    return all;
}

int krc_net_load_topics(struct krc_net *net, const char *const *names, size_t count,
                        krc_error *error)
{
    struct krc_cluster *cluster = &net->cluster;
    uint64_t before = cluster->topics.generation;
    int64_t deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
    for (size_t i = 0; i < count; i++) {
        KRC_TRY(krc_check_topic_name(names[i], error));
        if (krc_topic_want(cluster, names[i]) == NULL)
            return krc_fail_nomem(error, strlen(names[i]));
    }
    cluster->topics.all_wanted |= count == 0;
    krc_metadata_want(cluster);
    for (;;) {
        uint64_t answers = cluster->topics.generation - before;
        int rc = answers == 0 ? 0 : judge_topics(net, names, count, (unsigned)answers, error);
        if (rc != 0)
            return rc < 0 ? rc : KRC_OK;
        KRC_TRY(krc_net_wait(net, deadline_ms, "the cluster did not tell its topics", error));
    }
}

/* ---- Questions ------------------------------------------------------------------------------ */

static bool all_told(const struct krc_question *questions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (questions[i].state != KRC_TOLD)
            return false;
    return true;
}

static bool any_told(const struct krc_question *questions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (questions[i].state == KRC_TOLD)
            return true;
    return false;
}

/* Whether what is not answered is not going to be: metadata has said often enough since `before`
 * that nobody leads these partitions. */
static bool nobody_leads(const struct krc_net *net, uint64_t before,
                         const struct krc_question *questions, size_t count)
{
    if (net->cluster.topics.generation < before + TRIES)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct krc_topic_partition *p =
            krc_topic_partition(questions[i].topic, questions[i].partition);
        bool has_whom_to_ask = questions[i].type == KRC_ASKS_COMMITTED || /* the coordinator */
                               (p != NULL && p->leader_id >= 0);
        if (questions[i].state != KRC_TOLD && has_whom_to_ask)
            return false;
    }
    return true;
}

int krc_net_ask(struct krc_net *net, struct krc_question *questions, size_t count,
                krc_error *error)
{
    int64_t deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
    uint64_t before = net->cluster.topics.generation;
    int rc = KRC_OK;
    for (size_t i = 0; i < count; i++)
        krc_question_ask(&net->cluster, &questions[i]);
    while (rc >= 0 && !all_told(questions, count))
        rc = nobody_leads(net, before, questions, count)
                 ? krc_fail(error, KRC_E_TIMEOUT, "nobody leads the partitions that are asked for")
                 : krc_net_wait(net, deadline_ms, "the brokers did not answer", error);
    bool any = rc == KRC_E_TIMEOUT && any_told(questions, count);
    for (size_t i = 0; rc < 0 && i < count; i++) {
        bool is_late = questions[i].state != KRC_TOLD;
        krc_question_drop(&questions[i]);
        if (is_late)
            questions[i].rc = KRC_E_TIMEOUT;
    }
    return any ? KRC_OK : rc;
}

int krc_net_describe(struct krc_net *net, krc_error *error)
{
    struct krc_description d = {.cluster = &net->cluster};
    int rc = KRC_OK;
    while (rc >= 0 && !d.is_over) {
        rc = krc_describe_put(&d, error);
        if (rc >= 0)
            rc = krc_net_call(net, &d.call, error);
    }
    krc_describe_end(&d);
    return rc == KRC_E_UNSUPPORTED ? KRC_OK : rc; /* before Kafka 3.7 nobody can tell */
}
