/*
 * Reads a topic to its present end in the application's own event loop.  Batches are worked on for
 * a moment, some at a time, and released in another order than they came.
 *
 *     embedded HOST:PORT TOPIC
 */
#include <krc.h>
#include <stdio.h>
#include <uv.h>

enum { AT_A_TIME = 8 };

struct application {
    uv_loop_t *loop;
    krc *consumer;
    krc_batch *held[AT_A_TIME];
    int held_count;
    uv_timer_t work;
    unsigned long long records;
    bool failed;
};

/* The newest first. */
static void finish_work(struct application *app)
{
    while (app->held_count > 0) {
        krc_batch *batch = app->held[--app->held_count];
        struct krc_record record;
        while (krc_next(batch, &record) == 1)
            app->records++;
        krc_release(batch);
    }
}

static void on_timer(uv_timer_t *timer)
{
    finish_work(timer->data);
}

static void on_batch(void *arg, krc *consumer, krc_batch *batch)
{
    struct application *app = arg;
    (void)consumer;
    if (app->held_count == AT_A_TIME)
        finish_work(app);
    app->held[app->held_count++] = batch;
    uv_timer_start(&app->work, on_timer, 1, 0);
}

static void on_event(void *arg, krc *consumer, const struct krc_event *event)
{
    (void)arg;
    (void)consumer;
    if (event->type != KRC_EVENT_CAUGHT_UP)
        fprintf(stderr, "%s-%d: %s\n", event->topic, (int)event->partition, event->message);
}

static void on_failed(void *arg, krc *consumer, const krc_error *error)
{
    struct application *app = arg;
    (void)consumer;
    app->failed = true;
    fprintf(stderr, "%s: %s\n", krc_code_name(error->code), error->message);
}

/* Closing takes effect when this returns; then the loop has nothing left to do. */
static void on_ended(void *arg, krc *consumer)
{
    struct application *app = arg;
    finish_work(app);
    krc_close(consumer);
    uv_close((uv_handle_t *)&app->work, NULL);
}

static int begin(struct application *app, const char *servers, const char *topic, krc_error *error)
{
    const struct krc_callbacks callbacks = {.arg = app,
                                            .batch = on_batch,
                                            .event = on_event,
                                            .failed = on_failed,
                                            .ended = on_ended};
    krc_config *config = krc_config_new();
    if (config == NULL)
        return KRC_E_NOMEM;
    int rc = krc_config_set(config, "bootstrap.servers", servers, error);
    if (rc >= 0)
        rc = krc_open_embedded(&app->consumer, config, app->loop, &callbacks, error);
    if (rc >= 0)
        rc = krc_subscribe(app->consumer, topic, KRC_EARLIEST, KRC_PRESENT_END, error);
    krc_config_free(config);
    return rc;
}

int main(int argc, char **argv)
{
    krc_error error = {0};
    struct application app = {.loop = uv_default_loop()};
    if (argc != 3) {
        fprintf(stderr, "usage: %s HOST:PORT TOPIC\n", argv[0]);
        return 2;
    }
    uv_timer_init(app.loop, &app.work);
    app.work.data = &app;
    int rc = begin(&app, argv[1], argv[2], &error);
    if (rc < 0) {
        fprintf(stderr, "%s: %s\n", krc_code_name(rc), error.message);
        return 1;
    }
    uv_run(app.loop, UV_RUN_DEFAULT);
    uv_loop_close(app.loop);
    printf("%llu records\n", app.records);
    return app.failed;
}
