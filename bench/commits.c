/*
 * What commits to an offset store cost: the partitions of a log folder are read, and committed all
 * at once; then, one commit for each record that is left, partition 0 alone.
 *
 *     commits FOLDER PARTITIONS STORE        "all MS, then one MS": the median of those
 */
#include <krc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SINGLES = 10 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(int rc, const krc_error *error)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s: %s\n", krc_code_name(rc), error->message);
    exit(1);
}

static krc *open_consumer(char **argv, int partitions)
{
    krc_error error;
    krc *consumer;
    krc_config *config = krc_config_new();
    must(krc_config_add_log_dir(config, argv[1], &error), &error);
    must(krc_config_set(config, "offset.store.file", argv[3], &error), &error);
    must(krc_open(&consumer, config, &error), &error);
    for (int i = 0; i < partitions; i++)
        must(krc_assign(consumer, "bench", i, KRC_EARLIEST, KRC_NO_END, &error), &error);
    krc_config_free(config);
    return consumer;
}

static double commit(krc *consumer)
{
    krc_error error;
    double start = now_ms();
    must(krc_commit(consumer, &error), &error);
    return now_ms() - start;
}

/* Acknowledges the batches as they come, but of partition 0 the last record of the first is left
 * SINGLES times; that batch is returned. */
static krc_batch *read_all(krc *consumer, int64_t *next)
{
    krc_error error;
    krc_batch *batch, *kept = NULL;
    struct krc_batch_info info;
    while (krc_poll(consumer, 0, &batch) == 1) {
        krc_batch_info(batch, &info);
        int64_t done = info.next_offset - (info.partition == 0 ? SINGLES : 0);
        must(krc_ack(consumer, info.topic, info.partition, done, &error), &error);
        if (info.partition != 0) {
            krc_release(batch);
            continue;
        }
        kept = batch;
        *next = done;
    }
    return kept;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    krc_error error;
    double singles[SINGLES];
    int64_t next = 0;
    if (argc != 4)
        return 2;
    krc *consumer = open_consumer(argv, atoi(argv[2]));
    krc_batch *kept = read_all(consumer, &next);
    double all = commit(consumer);
    for (int i = 0; i < SINGLES; i++) {
        must(krc_ack(consumer, "bench", 0, ++next, &error), &error);
        singles[i] = commit(consumer);
    }
    qsort(singles, SINGLES, sizeof *singles, ascending);
    printf("all %.2f ms, then one %.2f ms\n", all, singles[SINGLES / 2]);
    krc_release(kept);
    krc_close(consumer);
    return 0;
}
