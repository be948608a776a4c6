/*
 * Reads every committed record of a log folder and sums up what is in it: the smallest whole
 * program on krc.h.
 *
 *     checksum /var/lib/kafka [TOPIC]
 */
#include <krc.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x9e3779b97f4a7c15u;
}

static uint64_t add_batch(uint64_t sum, krc_batch *batch, uint64_t *count)
{
    struct krc_record record;
    while (krc_next(batch, &record) == 1) {
        sum = mix(sum, (uint64_t)record.offset);
        sum = mix(sum, (uint64_t)record.timestamp_ms);
        sum = mix(sum, record.key.len);
        sum = mix(sum, record.value.len);
        sum = mix(sum, record.value.len > 0 ? record.value.data[0] : 0);
        ++*count;
    }
    return sum;
}

static void print_events(krc *consumer)
{
    struct krc_event event;
    while (krc_event_next(consumer, &event) == 1)
        fprintf(stderr, "%s-%d: %s\n", event.topic, (int)event.partition, event.message);
}

/* Every partition of the topic, or of all topics but Kafka's own. */
static int assign(krc *consumer, const char *topic, krc_error *error)
{
    struct krc_partition p;
    for (size_t i = 0; krc_source_partition(consumer, i, &p); i++) {
        if (topic != NULL ? strcmp(p.topic, topic) != 0 : strncmp(p.topic, "__", 2) == 0)
            continue;
        int rc = krc_assign(consumer, p.topic, p.partition, KRC_EARLIEST, KRC_NO_END, error);
        if (rc < 0)
            return rc;
    }
    return KRC_OK;
}

static int run(krc *consumer, const char *topic, krc_error *error)
{
    krc_batch *batch;
    uint64_t sum = 0, count = 0;
    int rc = assign(consumer, topic, error);
    if (rc < 0)
        return rc;
    while ((rc = krc_poll(consumer, -1, &batch)) == 1) {
        sum = add_batch(sum, batch, &count);
        krc_release(batch);
    }
    print_events(consumer);
    if (rc < 0) {
        *error = *krc_last_error(consumer);
        return rc;
    }
    printf("%llu records, checksum %016llx\n", (unsigned long long)count, (unsigned long long)sum);
    return KRC_OK;
}

int main(int argc, char **argv)
{
    krc_error error = {0};
    krc *consumer = NULL;
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: %s LOG-FOLDER [TOPIC]\n", argv[0]);
        return 2;
    }
    krc_config *config = krc_config_new();
    if (config == NULL)
        return 1;
    int rc = krc_config_add_log_dir(config, argv[1], &error);
    if (rc >= 0)
        rc = krc_open(&consumer, config, &error);
    if (rc >= 0)
        rc = run(consumer, argv[2], &error);
    if (rc < 0)
        fprintf(stderr, "%s: %s\n", krc_code_name(rc), error.message);
    krc_close(consumer);
    krc_config_free(config);
    return rc < 0;
}
