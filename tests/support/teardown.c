#include "tests/support/teardown.h"

#include <check.h>
#include <unistd.h>

#include "tests/support/consume.h"
#include "tests/support/tempdir.h"

struct teardown teardown;

void teardown_set(const char *name, const char *value)
{
    ck_assert_msg(krc_config_set(teardown.config, name, value, &teardown.error) == 0, "%s",
                  teardown.error.message);
}

void teardown_begin(bool is_embedded)
{
    tempdir_make();
    world_open();
    group_open(false);
    group.interval_ms = 20;
    teardown = (struct teardown){.is_embedded = is_embedded, .topic = world_topic("t", 2)};
    put_plain(&teardown.topic->partitions[0], 5);
    serve_begin();
    teardown.config = krc_config_new();
    ck_assert_ptr_nonnull(teardown.config);
    teardown_set("bootstrap.servers", serve_address());
    teardown_set("retry.backoff.ms", "10");
    teardown_set("heartbeat.interval.ms", "20");
    if (is_embedded)
        uv_loop_init(&teardown.loop);
}

static void silence_coordinators(void)
{
    struct krc_coordinator *c = teardown.handle->net->cluster.coordinators;
    for (; c != NULL; c = c->next)
        c->stall.tell_ms = 1;
}

void teardown_end(void)
{
    if (teardown.handle != NULL)
        silence_coordinators();
    krc_close(teardown.handle);
    if (teardown.is_embedded) {
        uv_run(&teardown.loop, UV_RUN_DEFAULT);
        ck_assert_int_eq(uv_loop_close(&teardown.loop), 0);
    }
    krc_config_free(teardown.config);
    serve_end();
    group_close();
    world_close();
    tempdir_remove();
}

/* ---- To open -------------------------------------------------------------------------------- */

static void keep(void *arg, krc *handle, krc_batch *batch)
{
    (void)arg, (void)handle;
    ck_assert_int_lt(teardown.batch_count, TEARDOWN_BATCHES);
    teardown.batches[teardown.batch_count++] = batch;
}

int teardown_try_to_open(const struct krc_callbacks *callbacks)
{
    return teardown.is_embedded ? krc_open_embedded(&teardown.handle, teardown.config,
                                                    &teardown.loop, callbacks, &teardown.error)
                                : krc_open(&teardown.handle, teardown.config, &teardown.error);
}

void teardown_open(void)
{
    ck_assert_msg(teardown_try_to_open(&(struct krc_callbacks){.batch = keep}) == 0, "%s",
                  teardown.error.message);
}

void teardown_assign(int64_t start, int64_t until)
{
    teardown_open();
    consume_assign(teardown.handle, "t", 0, start, until);
}

void teardown_join(bool is_classic)
{
    static const char *const t = "t";
    group_open(is_classic);
    teardown_set("group.id", "g");
    teardown_set("group.protocol", is_classic ? "classic" : "consumer");
    teardown_open();
    ck_assert_int_eq(krc_join(teardown.handle, &t, 1, &teardown.error), 0);
}

/* ---- To bring something under way ----------------------------------------------------------- */

void teardown_turn(void)
{
    krc_batch *batch;
    if (teardown.is_embedded) {
        uv_run(&teardown.loop, UV_RUN_NOWAIT);
        usleep(1000);
    } else if (krc_poll(teardown.handle, 1, &batch) == 1) {
        keep(NULL, teardown.handle, batch);
    }
}

void teardown_read(void)
{
    for (int ms = 0; ms < TEARDOWN_MS && teardown.batch_count == 0; ms++)
        teardown_turn();
    ck_assert_int_gt(teardown.batch_count, 0);
}

void teardown_until(enum krc_api_name api, int requests)
{
    for (int ms = 0; ms < TEARDOWN_MS && serve_requests(api) < requests; ms++)
        teardown_turn();
    ck_assert_int_ge(serve_requests(api), requests);
}
