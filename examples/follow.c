/*
 * Follows a topic, prints its values, and keeps its place in a SQLite file: started again it goes
 * on where it was.  Ctrl-C ends it cleanly.
 *
 *     follow HOST:PORT TOPIC offsets.db
 */
#include <krc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static krc *volatile running;
static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
    if (running != NULL)
        krc_wakeup(running);
}

static void print_events(krc *consumer)
{
    struct krc_event event;
    while (krc_event_next(consumer, &event) == 1)
        if (event.type != KRC_EVENT_CAUGHT_UP)
            fprintf(stderr, "%s-%d: %s\n", event.topic, (int)event.partition, event.message);
}

/* Prints a batch, and says that it is done with. */
static int take(krc *consumer, krc_batch *batch, krc_error *error)
{
    struct krc_batch_info info;
    struct krc_record record;
    krc_batch_info(batch, &info);
    while (krc_next(batch, &record) == 1) {
        fwrite(record.value.data, 1, record.value.len, stdout);
        putchar('\n');
    }
    krc_release(batch);
    return krc_ack(consumer, info.topic, info.partition, info.next_offset, error);
}

/* What was printed is committed when nothing has come for a second, and at the end. */
static int follow(krc *consumer, krc_error *error)
{
    krc_batch *batch;
    while (!stopped) {
        int rc = krc_poll(consumer, 1000, &batch);
        print_events(consumer);
        if (rc < 0) {
            *error = *krc_last_error(consumer);
            return rc;
        }
        if (rc == 1)
            rc = take(consumer, batch, error);
        else if (fflush(stdout) == 0)
            rc = krc_commit(consumer, error);
        if (rc < 0)
            return rc;
    }
    return fflush(stdout) == 0 ? krc_commit(consumer, error) : KRC_E_IO;
}

static int configure(krc_config *config, char **argv, krc_error *error)
{
    int rc = krc_config_set(config, "bootstrap.servers", argv[1], error);
    return rc < 0 ? rc : krc_config_set(config, "offset.store.file", argv[3], error);
}

int main(int argc, char **argv)
{
    krc_error error = {0};
    krc *consumer = NULL;
    krc_config *config = krc_config_new();
    if (argc != 4 || config == NULL) {
        fprintf(stderr, "usage: %s HOST:PORT TOPIC STORE\n", argv[0]);
        krc_config_free(config);
        return 2;
    }
    int rc = configure(config, argv, &error);
    if (rc >= 0)
        rc = krc_open(&consumer, config, &error);
    if (rc >= 0)
        rc = krc_load_topics(consumer, (const char *[]){argv[2]}, 1, &error);
    if (rc >= 0)
        rc = krc_subscribe(consumer, argv[2], KRC_STORED, KRC_NO_END, &error);
    running = consumer;
    signal(SIGINT, on_signal);
    if (rc >= 0)
        rc = follow(consumer, &error);
    running = NULL;
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", krc_code_name(rc), error.message);
    krc_close(consumer);
    krc_config_free(config);
    return rc < 0;
}
