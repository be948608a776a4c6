#include "admin/calls.h"

static size_t told(const struct krc_call *calls, size_t count)
{
    size_t told = 0;
    for (size_t i = 0; i < count; i++)
        told += calls[i].state == KRC_CALL_TOLD;
    return told;
}

/* Whether somebody answered at all, if only that it is to be asked again later. */
static bool any_answered(const struct krc_call *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (calls[i].state == KRC_CALL_TOLD || calls[i].error_code != 0)
            return true;
    return false;
}

int krc_make_calls(struct krc_net *net, struct krc_call *calls, size_t count, krc_error *error)
{
    int64_t deadline_ms = krc_loop_now_ms() + net->config->api_timeout_ms;
    int rc = KRC_OK;
    for (size_t i = 0; i < count; i++)
        krc_call_begin(&net->cluster, &calls[i]);
    while (rc >= 0 && told(calls, count) < count)
        rc = krc_net_wait(net, deadline_ms, "the brokers did not answer", error);
    if (rc == KRC_E_TIMEOUT && any_answered(calls, count))
        rc = KRC_OK;
    for (size_t i = 0; i < count; i++) {
        if (calls[i].state != KRC_CALL_TOLD)
            calls[i].rc = KRC_E_TIMEOUT;
        krc_call_drop(&calls[i]);
    }
    return rc;
}
